"""`lns exact isomorphic`: test whether two sets of pieces are equal up to a renaming of colours."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from lns.terminal.options import duration
from lns.terminal.output import print_text
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.puzzle import IntArray

_SHOWN = 20  # pieces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="a puzzle file, or the name of a shipped instance")
    parser.add_argument(
        "second", metavar="B", nargs="?", help="the puzzle to compare with (default: all shipped instances)"
    )
    parser.add_argument("--rename-grey", action="store_true", help="allow the border colour, grey, to be renamed too")
    parser.add_argument(
        "--time", type=duration, default=60.0, metavar="S", help="give up after S seconds, or like 10m (default 60)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with the renaming to stdout")
    parser.epilog = (
        "Only the pieces are compared, in any order; if they differ, also with those of B in a mirror. "
        "Exit status: 0 equal, 1 not equal (or equal in a mirror), 2 bad input or undecided in time."
    )


def _moved_pieces(first: IntArray, second: IntArray, renaming: dict[int, int], *, turns: bool) -> list[tuple[int, int]]:
    """The pieces, from 1, that have another number in the second puzzle; of identical ones as few as possible."""
    from instances.piece_set import ranked

    numbers: dict[tuple[int, ...], list[int]] = {}
    same = {colour: colour for colour in second.ravel().tolist()}
    for number, form in enumerate(ranked(second.tolist(), same, turns=turns), start=1):
        numbers.setdefault(form, []).append(number)
    forms = ranked(first.tolist(), renaming, turns=turns)
    moving = []
    for number, form in enumerate(forms, start=1):
        if number in numbers[form]:
            numbers[form].remove(number)
        else:
            moving.append(number)
    return [(number, numbers[forms[number - 1]].pop(0)) for number in moving]


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle, shipped_instances
    from instances.piece_set import find_renaming
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns.terminal.progress import live_line

    deadline = time.monotonic() + args.time

    def check() -> None:
        if time.monotonic() >= deadline:
            raise InputError(f"undecided after {args.time:g} s; expected more time (--time)", args.first)

    puzzle = load_puzzle(args.first)
    first = puzzle.pieces
    names = list(shipped_instances()) if args.second is None else [args.second]
    found: tuple[str, IntArray, dict[int, int]] | None = None
    with live_line(args.time, quiet=args.json) as line:
        for mirrored, name in ((mirrored, name) for mirrored in (False, True) for name in names):
            other = load_puzzle(name)
            if other.turns != puzzle.turns:
                continue  # what may be turned is another set
            second = other.pieces[:, [0, 3, 2, 1] if mirrored else slice(None)]
            line.begin(f"comparing with {name}{' in a mirror' * mirrored}")
            renaming = find_renaming(first, second, turns=puzzle.turns, keep_grey=not args.rename_grey, check=check)
            if renaming is not None:
                found = name, second, renaming
                break
    if found is None:
        if args.json:
            print_json({"isomorphic": False, "mirrored": False, "with": args.second, "renaming": None})
        elif args.second is None:
            print_text(f"{args.first} is none of the {len(names)} shipped instances, up to a renaming of colours")
        else:
            print_text(f"{args.first} and {args.second} are different sets of pieces under every renaming of colours")
        return ANSWER_IS_NO
    name, second, renaming = found
    moved = _moved_pieces(first, second, renaming, turns=puzzle.turns)
    if args.json:
        colours = {str(a): b for a, b in sorted(renaming.items())}
        same = {"isomorphic": not mirrored, "mirrored": mirrored}
        print_json(same | {"with": name, "renaming": colours, "moved_pieces": moved})
    else:
        mirror = "mirror images: with left and right exchanged they are " * mirrored
        print_text(f"{args.first} and {name} are {mirror}the same pieces up to this renaming of colours:")
        print_text("  " + ", ".join(f"{a} -> {b}" for a, b in sorted(renaming.items())))
        shown = ", ".join(f"{a} -> {b}" for a, b in moved[:_SHOWN]) + ", ..." * (len(moved) > _SHOWN)
        print_text(f"pieces by number, from 1: {shown or 'all the same'}")
    return ANSWER_IS_NO if mirrored else DONE
