"""`lns generate` and `lns convert`: make a puzzle, and take puzzles and boards from one file format to another."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.formats.registry import overview
from lns.instances.generate import KINDS
from lns.instances.text import count_of
from lns.terminal import options as opt
from lns.terminal.inputs import print_notes, puzzle_of_board
from lns.terminal.output import DONE, picked, print_json, print_text

if TYPE_CHECKING:
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle

ATTEMPTS, PROOF_SECONDS = 12, 10.0  # of candidates of --unique, and of the proof for each

_EXAMPLES = """\
examples:
  lns generate like-e2                                        16x16, 5 border and 17 inner colours, to stdout
  lns generate like-e2 --width 12 --seed 3 -o p.txt           12x12, another puzzle for each seed
  lns generate like-e2 --width 12 --height 20 -o p.txt --solution p.solution.txt
  lns generate uniform --width 7 --colours 5 --fix-corners    as in Benoist & Bourreau 2008, with pinned corners
  lns generate balanced-torus --width 8 --colours 9           as in Bailleux 2025
  lns generate tetravex --width 6 --colours 10 -o p.json      no frame, and pieces may not be turned
  lns generate unframed --width 8 -o p.json                   no frame
  lns generate triangle --side 8 -o p.json                    rows of 1, 3, 5, ... cells, as Cuvillier & Szymkowiak 2010
  lns generate diamond --side 4 -o p.json                     rows of 1, 3, 5, 7, 5, 3, 1 cells
  lns generate --unique max --width 10 --height 8             one solution up to rotation, proven (Jolivet 2008)
  lns generate --from-3-partition 3 3 4 3 4 3                 solvable if the numbers split into triples of equal sum

Without numbers of colours, there are as many as leave about one solution besides the planted one. The planted solution
is written only with --solution.
"""


@opt.command(
    opt.argument("kind", "KIND", ", ".join(KINDS), nargs="?"),
    opt.value("--unique", "HOW", None, "instead of KIND: a puzzle with a single solution and m+n-2 or max colours "
              "(HOW)"),
    opt.TIME.but("stop the proofs of --unique after S seconds, or like 10m "
                 f"(default {ATTEMPTS * PROOF_SECONDS:.0f})"),
    opt.value("--from-3-partition", "A", int, "instead of KIND: the 3-partition problem of 3m numbers of sum m*S, each "
              "strictly between S/4 and S/2", nargs="+"),
    opt.value("--width", "W", int, "number of columns (default: --height, or 16)"),
    opt.value("--height", "H", int, "number of rows (default: --width)"),
    opt.value("--colours", "K", int, "number of colours of a puzzle of another kind than like-e2"),
    opt.value("--side", "N", int, "rows of a triangle (default 16), cells along a side of a diamond (11)"),
    opt.value("--border-colours --rim-colours", "B", int, "number of colours between border pieces of a like-e2 "
              "puzzle"),
    opt.value("--inner-colours", "I", int, "number of its other colours"),
    opt.value("--clues", "N", int, "pin N pieces of the planted solution as clues (default 0)", default=0),
    opt.flag("--fix-corners", "pin the corner pieces too"),
    opt.value("--seed", "S", int, "random seed (default 0)", default=0),
    opt.OUTPUT.but("write the puzzle to FILE (default: to stdout)", type=None),
    opt.value("--solution", "FILE", None, "write the planted solution to FILE"),
    opt.value("--format", "F", None, "format of the puzzle: benoist (squares only), quads, json, ... (default: by "
              "name, shape and rules)"),
    opt.FORCE, opt.JSON.but("print one JSON object about the puzzle to stdout"),
    epilog=_EXAMPLES,
)  # fmt: skip
def generate(args: argparse.Namespace) -> int:
    from lns.api.files import generate
    from lns.instances.formats import render

    opt.check_files(args.force, args.output, args.solution)
    if sum(way is not None for way in (args.kind, args.unique, args.from_3_partition)) != 1:
        raise InputError(f"expected one of KIND ({', '.join(KINDS)}), --unique and --from-3-partition")
    if args.time is not None and args.unique is None:
        raise InputError("--time is for the proofs of --unique; expected it with --unique only")
    solution: Board | None
    if args.kind is None:
        puzzle, solution = _constructed(args)
    else:
        shape = {name: getattr(args, name) for name in ("width", "height", "side", "seed")}
        colours = {name: getattr(args, name) for name in ("colours", "border_colours", "inner_colours")}
        puzzle, solution = generate(args.kind, **shape, **colours, clues=args.clues, fix_corners=args.fix_corners)
    width, height = puzzle.width, puzzle.height
    form = args.format
    if form is None and args.output is None:
        form = "json" if puzzle.rules else "benoist" if width == height else "quads"
    text, left_out = render(form, puzzle, None, path=args.output)
    if left_out:  # without a clue that was requested it would be another puzzle
        raise InputError("; ".join(left_out) + "; expected a format that carries them (json)", args.output)
    if args.output is not None:
        write_output(args.output, text)
    if args.solution is not None and solution is not None:
        write_output(args.solution, render("solution", puzzle, solution)[0])
    if args.json:
        clues = [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues]
        facts = picked(puzzle, "name width height colours") | {"clues": clues, "seed": args.seed}
        facts |= picked(puzzle, "max_score sha256") | picked(args, "output solution")
        print_json(facts | {"text": text if args.output is None else None})
    elif args.output is None:
        sys.stdout.write(text)
    else:
        counts = (count_of(puzzle.piece_count, "piece"), count_of(puzzle.colours, "colour"))
        print_text(f"{args.output}: {', '.join((puzzle.name, *counts, count_of(len(puzzle.clues), 'clue')))}")
    return DONE


def _constructed(args: argparse.Namespace) -> tuple[Puzzle, Board | None]:
    """The constructions of Jolivet 2008: a single solution, proven by ColorPairs, or a 3-partition problem."""
    from lns.instances.generate import three_partition, uniform, unique

    if args.side is not None:
        raise InputError("--side is for the kinds triangle and diamond; expected none here")
    given = [args.colours, args.border_colours, args.inner_colours]
    if any(value is not None for value in given) or args.clues or args.fix_corners:
        raise InputError("--unique and --from-3-partition choose their own colours and have no clues; expected neither")
    if args.from_3_partition is not None:
        if args.solution is not None or args.width is not None or args.height is not None:
            raise InputError("--from-3-partition plants no solution and has its own size; expected neither")
        return three_partition(args.from_3_partition, args.seed), None
    from lns.cli.exact import announce_compilation
    from lns.exact.outcome import Outcome, SolveStatus
    from lns.exact.solvers import count, counted_rotations
    from lns.terminal.progress import live_line

    def counted(puzzle: Puzzle, seconds: float | None) -> Outcome:
        outcome = count(puzzle, fix_corner=True, seconds=seconds)
        if outcome.status is SolveStatus.INTERRUPTED:
            raise KeyboardInterrupt
        return outcome

    side = next((side for side in (args.width, args.height) if side is not None), 16)
    width, height = (side if given is None else given for given in (args.width, args.height))
    announce_compilation("colorpairs")
    counted(uniform(2, 2).puzzle, None)  # ColorPairs is compiled or loaded for it, before the clock starts
    seconds = ATTEMPTS * PROOF_SECONDS if args.time is None else args.time
    began = time.monotonic()
    with live_line(seconds, quiet=args.json) as line:
        made = 0
        while made < ATTEMPTS and (left := seconds - (time.monotonic() - began)) > 0:
            planted = unique(width, height, args.unique, args.seed, made)
            made += 1
            line.begin(f"proving that candidate {made} of {ATTEMPTS} has one solution")
            outcome = counted(planted.puzzle, min(PROOF_SECONDS, left))
            copies = counted_rotations(planted.puzzle, planted.solution)
            if outcome.status is SolveStatus.SOLVED and outcome.solutions == copies:
                return planted.puzzle, planted.solution
    raise InputError(
        f"no {width} x {height} puzzle by '{args.unique}' was proven unique in {count_of(made, 'attempt')} and "
        f"{time.monotonic() - began:.0f} s; expected a smaller board (10x10 works)"
    )


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
    from lns.instances.formats import read, render, source_name, with_clues
    from lns.instances.formats.registry import examples, facts

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
    from lns.instances.symmetry import View, puzzle_in_view

    return puzzle_in_view(puzzle, View(0, mirrored=True)) if mirror else puzzle


def _check_mirrored(args: argparse.Namespace, puzzle: Puzzle) -> None:
    """Raise InputError if the board of IN is one of ``puzzle`` as it is."""
    from lns.instances.formats import read, source_name

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
    from lns.instances.symmetry import View, board_from_view, rotate_board, rotate_puzzle

    if mirror and board is not None:
        board = board_from_view(board, View(0, mirrored=True))
    puzzle = _mirrored(puzzle, mirror)
    if board is None or puzzle.width != puzzle.height or puzzle.holes:
        puzzle = rotate_puzzle(puzzle, turns)
    elif turns:
        rotate_puzzle(puzzle, turns)  # raises if pieces may not be turned
    return puzzle, None if board is None else rotate_board(board, turns).with_blanks(puzzle)
