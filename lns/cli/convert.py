"""`lns convert`: convert a puzzle or a board from one file format to another."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from instances.formats.registry import overview
from lns.terminal import options as opt
from lns.terminal.inputs import print_notes, puzzle_of_board
from lns.terminal.output import DONE, print_json, print_text
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


@opt.command(
    opt.argument("input", "IN", "a file, a viewer URL, or the name of a shipped instance", nargs="?"),
    opt.argument("output", "OUT", "the file to write; - is stdout and needs --to", nargs="?"),
    opt.flag("--list", "list all formats, with an example line each, and end"),
    opt.value("--from --format", "F", None, "format of IN (default: recognised by its content); of a puzzle "
              "--puzzle-format is the same", dest="from_format"),
    opt.value("--to", "F", None, "format of OUT (default: by its extension)", dest="to_format"),
    opt.PUZZLE.but("the puzzle of the board in IN"), *opt.PUZZLE_OPTIONS,
    opt.BOARD_OPTIONS[1].but("which board of IN, where it has several (default: the first)"),
    opt.value("--turn", "DEGREES", int, "turn the board clockwise", choices=(90, 180, 270), default=0),
    opt.flag("--mirror", "mirror the pieces and the board, left to right"),
    opt.value("--letters", "ORDER", None, "order of the letters of a viewer URL that is written: jef, jblackwood, "
              "marie"),
    opt.FORCE.but("overwrite OUT if it exists"),
    opt.JSON.but("print one JSON object about the conversion, or of --list, to stdout"),
    epilog=f"formats of puzzles:\n{overview('puzzle')}\nformats of boards:\n{overview('board')}\n"
    "--list shows a line of each, and of the dialects that pieces, cells and clues read\n"
    'json of a puzzle: {"width": 2, "height": 2, "pieces": [[up, right, down, left], ...]}, grey 0; it may have\n'
    '  "clues": [[cell, piece, rotation], ...], all from 0, and "name"; docs/how-to/own-instance.md has more\n'
    "extensions: .txt benoist, or quads for a rectangle; .solution.txt; .csv csv16; .url; .json best or json",
)  # fmt: skip
def convert(args: argparse.Namespace) -> int:
    from instances.formats import read, render
    from instances.formats.reading import with_clues
    from instances.formats.registry import examples, facts
    from instances.formats.sources import source_name
    from lns_support.files import write_output

    if args.list:
        if args.json:
            print_json(facts())
        else:
            print_text(examples())
        return DONE
    to_format, path = _output(args)
    opt.check_files(args.force, path)
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
    if args.puzzle is None and args.clues is not None and document.puzzle is not None:
        document = with_clues(document, args.clues)
    puzzle = document.puzzle or (known and _mirrored(known, args.mirror))
    if puzzle is None:
        reasons = "; ".join(document.notes)
        raise InputError(f"{reasons}; expected the puzzle with it (--puzzle INSTANCE)", source_name(args.input))
    puzzle, board = _transformed(puzzle, document.board, args.turn // 90, args.mirror)
    text, left_out = render(to_format, puzzle, board, path=path, instance=args.puzzle)
    what = "a puzzle" if document.board is None else "a board"
    notes = [f"read {document.format}: {what} of {puzzle.width} x {puzzle.height}"]
    notes += [*notes_of_puzzle, *document.notes, *left_out]
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_output(path, text)
    print_notes(notes)
    if args.json:
        shape = {"width": puzzle.width, "height": puzzle.height, "board": document.board is not None}
        print_json({"out": args.output, "from": document.format, **shape, "notes": notes})
    return DONE


def _output(args: argparse.Namespace) -> tuple[str | None, str | None]:
    """Format and path of OUT, None for stdout. Raises InputError for options that do not go together."""
    if args.input is None or args.output is None:
        raise InputError("IN and OUT are missing; expected both, or --list")
    to: str | None = args.to_format
    if args.letters is not None:
        if to != "url" and not (to is None and args.output.lower().endswith(".url")):
            raise InputError("--letters is for viewer URLs; expected OUT.url, or --to url")
        to = f"url:{args.letters}"
    if args.output != "-":
        return to, args.output
    if args.to_format is None:
        raise InputError("OUT is - and says no format; expected --to FORMAT")
    if args.json:
        raise InputError("OUT is - and --json writes to stdout too; expected one of them")
    return to, None


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
