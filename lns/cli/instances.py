"""`lns instances`: list the shipped instances."""

from __future__ import annotations

import argparse

from lns.terminal.output import print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = "A name stands for its file wherever a command takes an INSTANCE: lns solve like-e2-16x16."


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle, shipped_instances
    from lns.terminal.output import DONE, print_json
    from lns_support.text import count_of

    puzzles = {name: load_puzzle(str(path)) for name, path in shipped_instances().items()}
    ordered = sorted(puzzles.items(), key=lambda entry: (entry[1].cells, entry[0]))
    if args.json:
        rows = [
            {
                "name": name,
                "width": puzzle.width,
                "height": puzzle.height,
                "colours": puzzle.colours,
                "clues": len(puzzle.clues),
                "max_score": puzzle.max_score,
                "sha256": puzzle.sha256,
                "path": str(shipped_instances()[name]),
            }
            for name, puzzle in ordered
        ]
        print_json({"instances": rows})
        return DONE
    widest = max(map(len, puzzles))
    for name, puzzle in ordered:
        size = f"{puzzle.width} x {puzzle.height}"
        clues = f", {count_of(len(puzzle.clues), 'clue')}" if puzzle.clues else ""
        print_text(
            f"{name:<{widest}}  {size:>7}  {puzzle.colours:>2} colours, {puzzle.max_score:>3} inner edges{clues}"
        )
    return DONE
