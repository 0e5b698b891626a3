"""`lns verify`: check a board with the independent verifier."""

from __future__ import annotations

import argparse

from lns.terminal.inputs import add_board_options, add_puzzle_options, puzzle_of_board
from lns.terminal.output import print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", metavar="BOARD", help="a file with a board, a run directory, or a viewer URL")
    parser.add_argument(
        "--puzzle", metavar="INSTANCE", help="the puzzle of BOARD: a file or the name of a shipped instance"
    )
    add_board_options(parser)
    add_puzzle_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = "Exit status: 0 the board is valid, 1 it breaks a rule, 2 BOARD or INSTANCE cannot be read."


def run(args: argparse.Namespace) -> int:
    from instances.formats import read_board
    from instances.verify import verify
    from lns.runs.find import board_source
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns_support.text import count_of, printable

    puzzle, notes = puzzle_of_board(args)
    document = read_board(board_source(args.board), puzzle, args.format, args.number)
    notes += document.notes
    assert document.puzzle is not None and document.board is not None
    verification = verify(document.puzzle, document.board)
    status = DONE if verification.valid else ANSWER_IS_NO
    if args.json:
        print_json(
            {
                "valid": verification.valid,
                "score": verification.score,
                "max_score": verification.max_score,
                "problems": list(verification.problems),
                "placed": verification.placed,
                "cells": verification.cells,
                "full": verification.full,
                "mismatches": len(verification.mismatches),
                "seams": verification.seams,
                "rim_faults": verification.rim_faults,
                "name": document.puzzle.name,
                "sha256": document.puzzle.sha256,
                "format": document.format,
                "notes": list(notes),
            }
        )
        return status
    puzzle = document.puzzle
    clues = f", {count_of(len(puzzle.clues), 'clue')}" if puzzle.clues else ""
    shape = f"{puzzle.shape_and_rules}{clues}"
    print_text(f"puzzle      {printable(puzzle.name)}, {shape}, sha256 {puzzle.sha256[:12]}…")
    print_text(
        f"board       {verification.placed} of {verification.cells} cells filled, "
        f"{count_of(len(verification.mismatches), 'mismatch', 'mismatches')}"
    )
    print_text(f"score       {verification.score} of {verification.max_score} matched inner edges")
    if verification.rim_faults:
        print_text(
            f"rim         {count_of(verification.rim_faults, 'side')} not grey, which the score does not count; with "
            f"them {verification.conflicts} conflicts ({verification.max_score - verification.conflicts})"
        )
    for note in notes:
        print_text(f"note        {note}")
    if verification.valid:
        print_text("valid       " + ("yes" if verification.full else "yes, as far as it goes: the board is not full"))
    else:
        print_text(f"valid       NO: {count_of(len(verification.problems), 'problem')}")
        for problem in verification.problems:
            print_text(f"  {problem}")
    return status
