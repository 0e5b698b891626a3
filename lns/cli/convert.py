"""`lns convert`: convert a puzzle or a board from one file format to another."""

from __future__ import annotations

import argparse
import sys

from lns.terminal.options import check_new_file
from lns_support.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from instances.formats.registry import overview

    parser.add_argument("input", metavar="IN", help="a file, a viewer URL, or the name of a shipped instance")
    parser.add_argument("output", metavar="OUT", help="the file to write; - is stdout and needs --to")
    parser.add_argument(
        "--from", dest="from_format", metavar="F", help="format of IN (default: recognised by its content)"
    )
    parser.add_argument("--to", dest="to_format", metavar="F", help="format of OUT (default: by its extension)")
    parser.add_argument("--puzzle", metavar="INSTANCE", help="the puzzle of the board in IN")
    parser.add_argument("--force", action="store_true", help="overwrite OUT if it exists")
    parser.add_argument("--json", action="store_true", help="print one JSON object about the conversion to stdout")
    parser.epilog = (
        f"formats of puzzles:\n{overview('puzzle')}\n"
        f"formats of boards:\n{overview('board')}\n"
        'json of a puzzle: {"width": 2, "height": 2, "pieces": [[up, right, down, left], ...]}, grey 0; it may have\n'
        '  "clues": [[cell, piece, rotation], ...], all from 0, and "name"; docs/how-to/own-instance.md has more\n'
        "extensions: .txt benoist, or quads for a rectangle; .solution.txt; .csv csv16; .url; .json best or json"
    )


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle, read, render
    from instances.formats.reading import source_name
    from lns.terminal.output import DONE, print_error, print_json
    from lns_support.files import atomic_write

    if args.output == "-" and args.to_format is None:
        raise InputError("OUT is - and says no format; expected --to FORMAT")
    if args.output == "-" and args.json:
        raise InputError("OUT is - and --json writes to stdout too; expected one of them")
    path = None if args.output == "-" else args.output
    check_new_file(path, args.force)

    known = None if args.puzzle is None else load_puzzle(args.puzzle)
    document = read(args.input, puzzle=known, format=args.from_format)
    puzzle = document.puzzle or known
    if puzzle is None:
        reasons = "; ".join(document.notes)
        raise InputError(f"{reasons}; expected the puzzle with it (--puzzle INSTANCE)", source_name(args.input))
    text, left_out = render(
        args.to_format,
        puzzle,
        document.board,
        path=path,
        instance=args.puzzle,
    )
    notes = [f"read {document.format}: {_what(puzzle.width, puzzle.height, document.board is not None)}"]
    notes += [*document.notes, *left_out]
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        atomic_write(path, text)
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


def _what(width: int, height: int, has_board: bool) -> str:
    return f"{'a board' if has_board else 'a puzzle'} of {width} x {height}"
