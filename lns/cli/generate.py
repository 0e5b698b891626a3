"""`lns generate`: make puzzles with a planted solution, which depend only on the random seed."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from instances.generate import KINDS
from lns.terminal import options as opt
from lns.terminal.output import DONE, print_json, print_text
from lns_support.errors import InputError
from lns_support.text import count_of

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle

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
    from instances.formats import render
    from lns.api.files import generate
    from lns_support.files import write_output

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
        print_json(
            {
                "name": puzzle.name,
                "width": width,
                "height": height,
                "colours": puzzle.colours,
                "clues": [[clue.cell, clue.piece, clue.rotation] for clue in puzzle.clues],
                "seed": args.seed,
                "max_score": puzzle.max_score,
                "sha256": puzzle.sha256,
                "output": args.output,
                "solution": args.solution,
                "text": text if args.output is None else None,
            }
        )
    elif args.output is None:
        sys.stdout.write(text)
    else:
        counts = (count_of(puzzle.piece_count, "piece"), count_of(puzzle.colours, "colour"))
        print_text(f"{args.output}: {', '.join((puzzle.name, *counts, count_of(len(puzzle.clues), 'clue')))}")
    return DONE


def _constructed(args: argparse.Namespace) -> tuple[Puzzle, Board | None]:
    """The constructions of Jolivet 2008: a single solution, proven by ColorPairs, or a 3-partition problem."""
    from instances.generate import three_partition, uniform, unique

    if args.side is not None:
        raise InputError("--side is for the kinds triangle and diamond; expected none here")
    given = [args.colours, args.border_colours, args.inner_colours]
    if any(value is not None for value in given) or args.clues or args.fix_corners:
        raise InputError("--unique and --from-3-partition choose their own colours and have no clues; expected neither")
    if args.from_3_partition is not None:
        if args.solution is not None or args.width is not None or args.height is not None:
            raise InputError("--from-3-partition plants no solution and has its own size; expected neither")
        return three_partition(args.from_3_partition, args.seed), None
    from exact.outcome import Outcome, SolveStatus
    from exact.solvers import count, counted_rotations
    from lns.cli.exact import announce_compilation
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
