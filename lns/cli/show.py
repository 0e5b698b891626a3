"""`lns show`: draw a board or a puzzle in the terminal or to a file."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from lns.terminal.inputs import add_board_options, add_puzzle_options, print_notes, puzzle_of_board
from lns.terminal.options import check_files
from lns.terminal.output import print_error, print_text, print_wrapped
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.draw.terminal import Colour
    from instances.puzzle import Puzzle

LINES_BELOW = 4  # of the terminal, for the caption, the legend and the prompt

_EXAMPLES = """\
examples:
  lns show runs/mine                                draw the best board of a run, with the score
  lns show best.json --svg board.svg --numbers      write a picture with piece numbers; mismatches are red
  lns show best.json --open                         show the picture in the browser
  lns show "https://e2.bucas.name/#puzzle=..." --tikz board.tex
  lns show like-e2-16x16                            the pieces, colours and clues of a shipped instance
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "board",
        metavar="BOARD",
        help="a file with a board, a run directory, a viewer URL, or an instance, whose pieces are drawn",
    )
    parser.add_argument(
        "--puzzle", metavar="INSTANCE", help="the puzzle of BOARD: a file or the name of a shipped instance"
    )
    add_board_options(parser)
    add_puzzle_options(parser)
    parser.add_argument("--svg", metavar="FILE", help="write an SVG picture")
    parser.add_argument("--tikz", metavar="FILE", help="write a LaTeX document with a TikZ picture")
    parser.add_argument("--url", action="store_true", help="print the viewer URL of the board")
    parser.add_argument(
        "--open", action="store_true", help="open the SVG picture in the browser: that of --svg, or a temporary one"
    )
    parser.add_argument("--numbers", action="store_true", help="write piece numbers, from 1, into the SVG picture")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument(
        "--colour",
        "--color",
        choices=("auto", "always", "never", "truecolor", "256"),
        default="auto",
        help="colours in the terminal (default auto: what the terminal supports, letters if it supports none)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")


def run(args: argparse.Namespace) -> int:
    from instances.draw import svg, tikz
    from instances.formats import read, read_board, read_puzzle, viewer_url
    from lns.runs.find import board_source
    from lns.terminal.output import DONE, print_json
    from lns_support.files import write_output

    args.board = board_source(args.board)
    check_files(args.force, args.svg, args.tikz)
    if args.numbers and args.svg is None and not args.open:
        raise InputError("--numbers is for the SVG picture; expected --svg FILE or --open with it")
    notes: tuple[str, ...] = ()
    if args.puzzle is None and args.clues is not None:  # BOARD is the instance
        known = None
        document = read_puzzle(args.board, args.puzzle_format or args.format, args.clues)
    else:
        known, notes = puzzle_of_board(args)
        document = read(args.board, puzzle=known, format=args.format, number=args.number)
    if document.puzzle is None:
        document = read_board(args.board, known, args.format, args.number)  # raises, with the reason
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    print_notes((*notes, *document.notes))
    if args.url and board is None:
        raise InputError(f"this is a puzzle (format {document.format}); a viewer URL needs a board", args.board)
    url = viewer_url(puzzle, board) if args.url and board is not None else None

    picture = args.svg
    if args.svg is not None or args.open:
        text = svg.render(puzzle, board, piece_numbers=args.numbers)
        picture = _temporary(text) if args.svg is None else args.svg
        if args.svg is not None:
            write_output(args.svg, text)
    if args.tikz is not None:
        write_output(args.tikz, tikz.render(puzzle, board))
    if args.json:
        print_json(
            {**_facts(puzzle, board), "svg": picture, "tikz": args.tikz, "url": url, "notes": [*notes, *document.notes]}
        )
    else:
        for path in filter(None, (picture, args.tikz)):
            print_text(path)
        if args.url:
            print_text(url)
        if not (picture or args.tikz or args.url):
            _draw(puzzle, board, args.colour)
    if args.open:
        _open(picture)
    return DONE


def _draw(puzzle: Puzzle, board: Board | None, choice: str) -> None:
    import shutil

    from instances.draw import summary, terminal
    from instances.draw.scene import scene
    from instances.verify import verify

    columns, lines = shutil.get_terminal_size((80, 24))
    height = lines - LINES_BELOW if sys.stdout.isatty() else None
    shape: dict[str, Any] = {"colour": _colour(choice), "width": columns, "height": height}
    sys.stdout.write(terminal.render(puzzle, board, **shape))
    print(terminal.legend(puzzle, board, **shape))
    print(scene(puzzle, board).caption)
    if board is None:
        print_wrapped(summary.describe(puzzle).removesuffix("\n"), indent=12)
        return
    problems = verify(puzzle, board).problems
    for problem in problems[:5]:
        print_text(f"  {problem}")
    if len(problems) > 5:
        print_text(f"  and {len(problems) - 5} more (`lns verify` names them all)")


def _colour(choice: str) -> Colour:
    from instances.draw import terminal

    if choice == "auto":
        return terminal.capability(sys.stdout)
    if choice == "never" or not terminal.encodes(sys.stdout):
        return "none"
    if choice == "always":
        return terminal.richest()
    return "256" if choice == "256" else "truecolor"


def _facts(puzzle: Puzzle, board: Board | None) -> dict[str, Any]:
    from instances.draw.summary import summarise
    from instances.verify import verify

    counts = summarise(puzzle)
    facts: dict[str, Any] = {
        "name": puzzle.name,
        "sha256": puzzle.sha256,
        "width": puzzle.width,
        "height": puzzle.height,
        "max_score": puzzle.max_score,
        "pieces": {"corners": counts.corners, "edges": counts.edges, "inner": counts.inner},
        "half_edges": {"along_rim": counts.along_rim, "inside": counts.inside},
        "holes": list(puzzle.holes),
        "framed": puzzle.framed,
        "turns": puzzle.turns,
        "clues": [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues],
    }
    if board is not None:
        verification = verify(puzzle, board)
        facts |= {"score": verification.score, "valid": verification.valid, "placed": verification.placed}
        facts |= {"mismatches": len(verification.mismatches), "rim_faults": verification.rim_faults}
    return facts


def _temporary(text: str) -> str:
    """Write a picture that outlives this program, as the browser reads it later; the system clears its folder."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", prefix="lns-", suffix=".svg", delete=False, encoding="utf-8") as file:
        file.write(text)
    return file.name


def _open(picture: str) -> None:
    import webbrowser
    from pathlib import Path

    if not webbrowser.open(Path(picture).resolve().as_uri()):
        print_error(f"lns: no browser was found; the picture is {picture}")
