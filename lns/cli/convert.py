"""`lns convert`: convert a puzzle or a board from one file format to another."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from lns.terminal.inputs import add_puzzle_options, puzzle_of_board
from lns.terminal.options import check_new_file, positive_number
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from instances.formats.registry import overview

    parser.add_argument(
        "input", nargs="?", metavar="IN", help="a file, a viewer URL, or the name of a shipped instance"
    )
    parser.add_argument("output", nargs="?", metavar="OUT", help="the file to write; - is stdout and needs --to")
    parser.add_argument("--list", action="store_true", help="list all formats, with an example line each, and end")
    parser.add_argument(
        "--from", "--format", dest="from_format", metavar="F",
        help="format of IN (default: recognised by its content); of a puzzle --puzzle-format is the same",
    )  # fmt: skip
    parser.add_argument("--to", dest="to_format", metavar="F", help="format of OUT (default: by its extension)")
    parser.add_argument("--puzzle", metavar="INSTANCE", help="the puzzle of the board in IN")
    add_puzzle_options(parser)
    parser.add_argument(
        "--number",
        metavar="N",
        type=positive_number,
        help="which board of IN, where it has several (default: the first)",
    )
    parser.add_argument(
        "--turn", metavar="DEGREES", type=int, choices=(90, 180, 270), default=0, help="turn the board clockwise"
    )
    parser.add_argument("--mirror", action="store_true", help="mirror the pieces and the board, left to right")
    parser.add_argument(
        "--letters",
        metavar="ORDER",
        help="order of the letters of a viewer URL that is written: jef, jblackwood, marie",
    )
    parser.add_argument("--force", action="store_true", help="overwrite OUT if it exists")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object about the conversion, or of --list, to stdout"
    )
    parser.epilog = (
        f"formats of puzzles:\n{overview('puzzle')}\n"
        f"formats of boards:\n{overview('board')}\n"
        "--list shows a line of each, and of the dialects that pieces, cells and clues read\n"
        'json of a puzzle: {"width": 2, "height": 2, "pieces": [[up, right, down, left], ...]}, grey 0; it may have\n'
        '  "clues": [[cell, piece, rotation], ...], all from 0, and "name"; docs/how-to/own-instance.md has more\n'
        "extensions: .txt benoist, or quads for a rectangle; .solution.txt; .csv csv16; .url; .json best or json"
    )


def run(args: argparse.Namespace) -> int:
    from instances.formats import read, render
    from instances.formats.reading import with_clues
    from instances.formats.sources import source_name
    from lns.terminal.output import DONE, print_error, print_json, print_text
    from lns_support.files import write_output

    if args.list:
        from instances.formats.registry import examples, facts

        if args.json:
            print_json(facts())
        else:
            print_text(examples())
        return DONE
    if args.input is None or args.output is None:
        raise InputError("IN and OUT are missing; expected both, or --list")
    to_format = _with_letters(args)
    if args.output == "-" and args.to_format is None:
        raise InputError("OUT is - and says no format; expected --to FORMAT")
    if args.output == "-" and args.json:
        raise InputError("OUT is - and --json writes to stdout too; expected one of them")
    path = None if args.output == "-" else args.output
    check_new_file(path, args.force)

    clues_of_input = args.puzzle is None and args.clues is not None
    known, notes_of_puzzle = puzzle_of_board(args) if args.puzzle is not None else (None, ())
    from_format = args.from_format or (args.puzzle_format if args.puzzle is None else None)
    try:
        document = read(
            args.input, puzzle=known and _mirrored(known, args.mirror), format=from_format, number=args.number
        )
    except InputError:
        if known is not None and args.mirror:
            _check_mirrored(args, known)
        raise
    if clues_of_input and document.puzzle is not None:
        document = with_clues(document, args.clues)
    puzzle = document.puzzle or (known and _mirrored(known, args.mirror))
    if puzzle is None:
        reasons = "; ".join(document.notes)
        raise InputError(f"{reasons}; expected the puzzle with it (--puzzle INSTANCE)", source_name(args.input))
    puzzle, board = _transformed(puzzle, document.board, args.turn // 90, args.mirror)
    text, left_out = render(
        to_format,
        puzzle,
        board,
        path=path,
        instance=args.puzzle,
    )
    notes = [f"read {document.format}: {_what(puzzle.width, puzzle.height, document.board is not None)}"]
    notes += [*notes_of_puzzle, *document.notes, *left_out]
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_output(path, text)
    for note in notes:
        print_error(f"lns: {note}")
    if args.json:
        print_json(
            {
                "out": args.output,
                "from": document.format,
                "width": puzzle.width,
                "height": puzzle.height,
                "board": document.board is not None,
                "notes": notes,
            }
        )
    return DONE


def _with_letters(args: argparse.Namespace) -> str | None:
    """The format of OUT, with the letters of --letters. Raises InputError if it is no viewer URL."""
    to: str | None = args.to_format
    if args.letters is None:
        return to
    if to != "url" and not (to is None and args.output.lower().endswith(".url")):
        raise InputError("--letters is for viewer URLs; expected OUT.url, or --to url")
    return f"url:{args.letters}"


def _mirrored(puzzle: Puzzle, mirror: bool) -> Puzzle:
    from instances.symmetry import View, puzzle_in_view

    return puzzle_in_view(puzzle, View(0, mirrored=True)) if mirror else puzzle


def _check_mirrored(args: argparse.Namespace, puzzle: Puzzle) -> None:
    """Raise InputError if the board of IN is one of ``puzzle`` as it is."""
    from instances.formats import read
    from instances.formats.sources import source_name

    try:
        read(args.input, puzzle=puzzle, format=args.from_format, number=args.number)
    except InputError:
        return
    raise InputError(
        f"the board shows the pieces of {puzzle.name} itself; expected no --mirror, which is for a board of their "
        "mirror images",
        source_name(args.input),
    )


def _transformed(puzzle: Puzzle, board: Board | None, turns: int, mirror: bool) -> tuple[Puzzle, Board | None]:
    """Puzzle and board, mirrored, then turned. The clues of a square stay where they are if its board is turned."""
    from instances.symmetry import View, board_from_view, rotate_board, rotate_puzzle

    if mirror and board is not None:
        board = board_from_view(board, View(0, mirrored=True))
    puzzle = _mirrored(puzzle, mirror)
    if board is None or puzzle.width != puzzle.height or puzzle.holes:
        puzzle = rotate_puzzle(puzzle, turns)
    elif turns:
        rotate_puzzle(puzzle, turns)  # raises if pieces may not be turned
    return puzzle, None if board is None else rotate_board(board, turns).with_blanks(puzzle)


def _what(width: int, height: int, has_board: bool) -> str:
    return f"{'a board' if has_board else 'a puzzle'} of {width} x {height}"
