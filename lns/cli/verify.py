"""`lns verify`: the independent judge on the command line."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", metavar="BOARD", help="a file with a board, or a viewer URL")
    parser.add_argument("--puzzle", metavar="INSTANCE", help="what it is a board of: a file or a shipped instance")
    parser.add_argument("--format", metavar="F", help="format of BOARD; guessed by its content otherwise")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.epilog = "Exit status: 0 valid, 1 a rule is broken, 2 BOARD or INSTANCE cannot be used."


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle, read_board
    from instances.verify import verify
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns_support.text import printable

    puzzle = None if args.puzzle is None else load_puzzle(args.puzzle)
    document = read_board(args.board, puzzle, args.format)
    assert document.puzzle is not None and document.board is not None
    judged = verify(document.puzzle, document.board)
    status = DONE if judged.valid else ANSWER_IS_NO
    if args.json:
        print_json(
            {
                "valid": judged.valid,
                "score": judged.score,
                "max_score": judged.max_score,
                "problems": list(judged.problems),
                "placed": judged.placed,
                "cells": judged.cells,
                "full": judged.full,
                "mismatches": len(judged.mismatches),
                "name": document.puzzle.name,
                "sha256": document.puzzle.sha256,
                "format": document.format,
                "notes": list(document.notes),
            }
        )
        return status
    puzzle = document.puzzle
    clues = f", {len(puzzle.clues)} clue{'s' * (len(puzzle.clues) > 1)}" if puzzle.clues else ""
    shape = f"{puzzle.width} x {puzzle.height}{clues}"
    print(f"puzzle      {printable(puzzle.name)}, {shape}, sha256 {puzzle.sha256[:12]}…")
    print(f"board       {judged.placed} of {judged.cells} cells filled, {len(judged.mismatches)} mismatches")
    print(f"score       {judged.score} of {judged.max_score} matched inner edges")
    for note in document.notes:
        print(f"note        {note}")
    if judged.valid:
        print("valid       " + ("yes" if judged.full else "yes, as far as it goes: the board is not full"))
    else:
        print(f"valid       NO: {len(judged.problems)} problem{'s' * (len(judged.problems) > 1)}")
        for problem in judged.problems:
            print(f"  {problem}")
    return status
