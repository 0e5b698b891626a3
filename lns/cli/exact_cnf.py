"""`lns exact cnf` and `lns exact decode`: write a formula for SAT solvers, and read their answer as a board."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lns.terminal.inputs import add_puzzle_options, print_notes, read_puzzle
from lns.terminal.options import board_lines, check_board_file, check_files
from lns.terminal.output import print_text
from lns_support.text import count_of


def add_cnf_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instance", metavar="INSTANCE", help="a puzzle file, or the name of a shipped instance")
    add_puzzle_options(parser)
    parser.add_argument(
        "--encoding",
        required=True,
        metavar="NAME",
        help="encoding: full-4, full-2, half-3, half-2 (each also with -pairs: at most one pair by pair) or triangles",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the formula to FILE (default: to stdout)"
    )
    parser.add_argument(
        "--sizes", action="store_true", help="print only the number of variables and of clauses by family"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object about the formula to stdout (with -o or --sizes)"
    )
    parser.epilog = "Comments at the head of the file explain the variables."


def run_cnf(args: argparse.Namespace) -> int:
    from exact.sat.dimacs import write
    from exact.sat.encodings import encode
    from lns.terminal.output import DONE, print_json
    from lns_support.errors import InputError
    from lns_support.files import atomic_file, behind_links

    if args.json and args.output is None and not args.sizes:
        raise InputError("--json and the formula both go to stdout; expected -o FILE or --sizes")
    check_files(args.force, args.output)
    document = read_puzzle(args, args.instance)
    assert document.puzzle is not None
    print_notes(document.notes)
    encoding = encode(args.encoding, document.puzzle)
    if args.output is None and not args.sizes:
        write(encoding, sys.stdout)
        return DONE
    sizes = {name: count for name, count in encoding.sizes().items() if count}
    clauses = sum(sizes.values())
    if args.output is not None and not args.sizes:
        with atomic_file(behind_links(args.output), "ascii") as file:
            write(encoding, file)
    if args.json:
        print_json(
            {
                "encoding": encoding.name,
                "instance": args.instance,
                "instance_sha256": encoding.puzzle.sha256,
                "variables": encoding.variables,
                "clauses": clauses,
                "families": sizes,
                "output": None if args.sizes else os.fspath(args.output),
            }
        )
        return DONE
    formula = f"{count_of(encoding.variables, 'variable')}, {count_of(clauses, 'clause')}"
    print_text(f"{encoding.name} of {encoding.puzzle.name}: {formula}")
    for name, count in sizes.items():
        print_text(f"  {count:>12,}  {name}")
    return DONE


def add_decode_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "answer",
        metavar="ANSWER",
        help="a file with the output of the solver, or the result file of minisat; - is stdin",
    )
    parser.add_argument("instance", metavar="INSTANCE", help="the puzzle of the formula")
    add_puzzle_options(parser)
    parser.add_argument("--encoding", required=True, metavar="NAME", help="the encoding of the formula")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the board to FILE (.json, .url or .solution.txt)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = "Exit status: 0 the board is perfect, 1 it is not or there is none, 2 bad input."


def _answer_bytes(path: Path) -> bytes:
    """A SAT solver's answer, which may be longer than a puzzle; devices, which may have no end, are refused."""
    from lns_support.files import open_to_read

    with open_to_read(path) as file:
        return file.read() or b""


def run_decode(args: argparse.Namespace) -> int:
    from exact.sat.dimacs import read_answer
    from exact.sat.encodings import encode
    from instances.formats import url_if_any, write
    from instances.verify import verify
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns_support.errors import InputError

    document = read_puzzle(args, args.instance)
    puzzle = document.puzzle
    assert puzzle is not None
    print_notes(document.notes)
    check_board_file(args.output, puzzle, args.force)
    encoding = encode(args.encoding, puzzle)
    raw = sys.stdin.buffer.read() if args.answer == "-" else _answer_bytes(Path(args.answer))
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError:
        raise InputError("not a text of ASCII characters; expected a SAT solver's answer", args.answer) from None
    model = read_answer(text, args.answer)
    if model is None:
        if args.json:
            print_json({"status": "infeasible", "valid": False, "score": None, "placements": None, "url": None})
        else:
            print_text("the solver says that there is no solution")
        return ANSWER_IS_NO
    unknown = next((literal for literal in model if abs(literal) > encoding.variables), None)
    if unknown is not None:
        raise InputError(
            f"variable {abs(unknown)} is of another formula; {encoding.name} of {puzzle.name} has the variables "
            f"1 to {encoding.variables}",
            args.answer,
        )
    board = encoding.board(model)
    verification = verify(puzzle, board)
    perfect = verification.complete and verification.score == puzzle.max_score
    if args.output is not None and perfect:
        write(args.output, None, puzzle, board, instance=args.instance)
    if args.json:
        print_json(
            {
                "status": "solved" if perfect else "not a solution",
                "valid": verification.valid,
                "score": verification.score,
                "max_score": puzzle.max_score,
                "problems": list(verification.problems),
                "placements": board.without_blanks(puzzle).pairs(),
                "url": url_if_any(puzzle, board) if perfect else None,
            }
        )
    elif perfect:
        print_text(
            f"a perfect board: {verification.score} of {puzzle.max_score}", *board_lines(puzzle, board), sep="\n"
        )
    else:
        print_text(
            f"not a solution of {puzzle.name}: {count_of(verification.placed, 'piece')}, "
            f"score {verification.score} of {puzzle.max_score}"
        )
        for problem in verification.problems[:5]:
            print_text(f"  {problem}")
    return DONE if perfect else ANSWER_IS_NO
