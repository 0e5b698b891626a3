"""`lns verify`, `lns show`, `lns instances` and `lns params`: what a board, a puzzle or the parameters are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.text import count_of, printable
from lns.terminal import options as opt
from lns.terminal.inputs import print_notes, puzzle_of_board, read_board
from lns.terminal.output import (
    ANSWER_IS_NO,
    DONE,
    picked,
    print_answer,
    print_error,
    print_json,
    print_text,
    print_wrapped,
)

if TYPE_CHECKING:
    from lns.instances.board import Board
    from lns.instances.draw.terminal import Colour
    from lns.instances.puzzle import Puzzle
    from lns.instances.verify import Verification

LINES_BELOW = 4  # of the terminal, for the caption, the legend and the prompt


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS, opt.JSON,
    epilog="Exit status: 0 the board is valid, 1 it breaks a rule, 2 BOARD or INSTANCE cannot be read.",
)  # fmt: skip
def verify(args: argparse.Namespace) -> int:
    from lns.instances.verify import verify

    puzzle, board, document, notes = read_board(args)
    found = verify(puzzle, board)
    facts = picked(found, "valid score max_score problems placed cells full")
    facts |= {"mismatches": len(found.mismatches)} | picked(found, "seams rim_faults") | picked(puzzle, "name sha256")
    facts |= {"format": document.format, "notes": notes}
    print_answer(args, facts, _judgement(puzzle, found, notes))
    return DONE if found.valid else ANSWER_IS_NO


def _judgement(puzzle: Puzzle, found: Verification, notes: list[str]) -> Iterator[str]:
    """What the verifier found, line by line."""
    clues = f", {count_of(len(puzzle.clues), 'clue')}" if puzzle.clues else ""
    yield f"puzzle      {printable(puzzle.name)}, {puzzle.shape_and_rules}{clues}, sha256 {puzzle.sha256[:12]}…"
    mismatches = count_of(len(found.mismatches), "mismatch", "mismatches")
    yield f"board       {found.placed} of {found.cells} cells filled, {mismatches}"
    yield f"score       {found.score} of {found.max_score} matched inner edges"
    if found.rim_faults:
        yield (
            f"rim         {count_of(found.rim_faults, 'side')} not grey, which the score does not count; with "
            f"them {found.conflicts} conflicts ({found.max_score - found.conflicts})"
        )
    yield from (f"note        {note}" for note in notes)
    if found.valid:
        yield "valid       " + ("yes" if found.full else "yes, as far as it goes: the board is not full")
    else:
        yield f"valid       NO: {count_of(len(found.problems), 'problem')}"
        yield from (f"  {problem}" for problem in found.problems)


@opt.command(
    opt.BOARD.but("a file with a board, a run directory, a viewer URL, or an instance, whose pieces are drawn"),
    opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    opt.value("--svg", "FILE", None, "write an SVG picture"),
    opt.value("--tikz", "FILE", None, "write a LaTeX document with a TikZ picture"),
    opt.flag("--url", "print the viewer URL of the board"),
    opt.flag("--open", "open the SVG picture in the browser: that of --svg, or a temporary one"),
    opt.flag("--numbers", "write piece numbers, from 1, into the SVG picture"), opt.FORCE,
    opt.choice("--colour --color", ("auto", "always", "never", "truecolor", "256"),
               "colours in the terminal (default auto: what the terminal supports, letters if it supports none)"),
    opt.JSON,
    epilog="""\
examples:
  lns show runs/mine                                draw the best board of a run, with the score
  lns show best.json --svg board.svg --numbers      write a picture with piece numbers; mismatches are red
  lns show best.json --open                         show the picture in the browser
  lns show "https://e2.bucas.name/#puzzle=..." --tikz board.tex
  lns show like-e2-16x16                            the pieces, colours and clues of a shipped instance
""",
)  # fmt: skip
def show(args: argparse.Namespace) -> int:
    from lns.instances import formats
    from lns.instances.draw import svg, tikz
    from lns.runs.directory import board_source

    source = board_source(args.board)
    opt.check_files(args.force, args.svg, args.tikz)
    if args.numbers and args.svg is None and not args.open:
        raise InputError("--numbers is for the SVG picture; expected --svg FILE or --open with it")
    if args.puzzle is None and args.clues is not None:  # BOARD is the instance
        document = formats.read_puzzle(source, args.puzzle_format or args.format, args.clues)
        notes = list(document.notes)
    else:
        known, of_puzzle = puzzle_of_board(args)
        document = formats.read(source, puzzle=known, format=args.format, number=args.number)
        if document.puzzle is None:
            document = formats.read_board(source, known, args.format, args.number)  # raises, with the reason
        notes = [*of_puzzle, *document.notes]
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None
    print_notes(notes)
    if args.url and board is None:
        raise InputError(f"this is a puzzle (format {document.format}); a viewer URL needs a board", source)
    url = formats.viewer_url(puzzle, board) if args.url and board is not None else None

    picture = args.svg
    if args.svg is not None or args.open:
        text = svg.render(puzzle, board, piece_numbers=args.numbers)
        picture = _temporary(text) if args.svg is None else args.svg
        if args.svg is not None:
            write_output(args.svg, text)
    if args.tikz is not None:
        write_output(args.tikz, tikz.render(puzzle, board))
    if args.json:
        print_json(_facts(puzzle, board) | {"svg": picture, "tikz": args.tikz, "url": url, "notes": notes})
    elif picture or args.tikz or args.url:
        print_text(*filter(None, (picture, args.tikz, url)), sep="\n")
    else:
        _draw(puzzle, board, args.colour)
    if args.open:
        _open(picture)
    return DONE


def _draw(puzzle: Puzzle, board: Board | None, choice: str) -> None:
    import shutil

    from lns.instances.draw import summary, terminal
    from lns.instances.draw.scene import scene
    from lns.instances.verify import verify

    columns, lines = shutil.get_terminal_size((80, 24))
    height = lines - LINES_BELOW if sys.stdout.isatty() else None
    shape: dict[str, Any] = {"colour": colour_of(choice), "width": columns, "height": height}
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


def colour_of(choice: str) -> Colour:
    """The colours of a drawing on stdout, as --colour and the terminal have it."""
    from lns.instances.draw import terminal

    if choice == "auto":
        return terminal.capability(sys.stdout)
    if choice == "never" or not terminal.encodes(sys.stdout):
        return "none"
    if choice == "always":
        return terminal.richest()
    return "256" if choice == "256" else "truecolor"


def _facts(puzzle: Puzzle, board: Board | None) -> dict[str, Any]:
    from lns.instances.draw.summary import summarise
    from lns.instances.verify import verify

    counts = summarise(puzzle)
    facts = picked(puzzle, "name sha256 width height max_score")
    facts |= {"pieces": picked(counts, "corners edges inner"), "half_edges": picked(counts, "along_rim inside")}
    facts |= picked(puzzle, "holes framed turns")
    facts["clues"] = [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues]
    if board is not None:
        found = verify(puzzle, board)
        facts |= picked(found, "score valid placed rim_faults") | {"mismatches": len(found.mismatches)}
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


@opt.command(
    opt.JSON, epilog="A name stands for its file wherever a command takes an INSTANCE: lns solve like-e2-16x16."
)
def instances(args: argparse.Namespace) -> int:
    from lns.instances.formats import load_puzzle, shipped_instances

    paths = shipped_instances()
    puzzles = {name: load_puzzle(str(path)) for name, path in paths.items()}
    widest = max(map(len, puzzles))
    rows, lines = [], []
    for name, puzzle in sorted(puzzles.items(), key=lambda entry: (entry[1].cells, entry[0])):
        size, clues = f"{puzzle.width} x {puzzle.height}", len(puzzle.clues)
        held = f", {count_of(clues, 'clue')}" if clues else ""
        numbers = f"{puzzle.colours:>2} colours, {puzzle.max_score:>3} inner edges{held}"
        lines.append(f"{name:<{widest}}  {size:>7}  {numbers}")
        shape = picked(puzzle, "width height colours") | {"clues": clues} | picked(puzzle, "max_score sha256")
        rows.append({"name": name} | shape | {"path": str(paths[name])})
    print_answer(args, {"instances": rows}, lines)
    return DONE


@opt.command(opt.PARAMS.but("print the values in FILE instead of the defaults"), opt.JSON)
def params(args: argparse.Namespace) -> int:
    from lns import params as parameters

    values = parameters.load(args.params) if args.params else parameters.Params()
    print_answer(args, parameters.to_dict(values), [parameters.to_toml(values).removesuffix("\n")])
    return DONE
