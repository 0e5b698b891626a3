"""`lns exact cnf` and `lns exact decode`: write a formula for SAT solvers, and read their answer as a board."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError
from lns.instances.files import atomic_file, behind_links, open_to_read
from lns.instances.text import count_of
from lns.terminal import options as opt
from lns.terminal.inputs import check_board_file, read_puzzles
from lns.terminal.output import ANSWER_IS_NO, DONE, board_lines, picked, print_answer

ENCODING = opt.value(
    "--encoding", "NAME", None,
    "encoding: full-4, full-2, half-3, half-2 (each also with -pairs: at most one pair by pair) or triangles",
    required=True,
)  # fmt: skip


@opt.command(
    opt.INSTANCE, *opt.PUZZLE_OPTIONS, ENCODING, opt.OUTPUT.but("write the formula to FILE (default: to stdout)"),
    opt.flag("--sizes", "print only the number of variables and of clauses by family"), opt.FORCE,
    opt.JSON.but("print one JSON object about the formula to stdout (with -o or --sizes)"),
    epilog="Comments at the head of the file explain the variables.",
    interruptible=True,
)  # fmt: skip
def cnf(args: argparse.Namespace) -> int:
    from lns.exact.sat.encodings import encode

    if args.json and args.output is None and not args.sizes:
        raise InputError("--json and the formula both go to stdout; expected -o FILE or --sizes")
    opt.check_files(args.force, args.output)
    [puzzle] = read_puzzles(args, [args.instance], named=False)
    encoding = encode(args.encoding, puzzle)
    if args.output is None and not args.sizes:
        encoding.write(sys.stdout)
        return DONE
    sizes = {name: count for name, count in encoding.sizes().items() if count}
    clauses = sum(sizes.values())
    if args.output is not None and not args.sizes:
        with atomic_file(behind_links(args.output), "ascii") as file:
            encoding.write(file)
    facts = {
        "encoding": encoding.name,
        "instance": args.instance,
        "instance_sha256": puzzle.sha256,
        "variables": encoding.variables,
        "clauses": clauses,
        "families": sizes,
        "output": None if args.sizes else os.fspath(args.output),
    }
    formula = f"{count_of(encoding.variables, 'variable')}, {count_of(clauses, 'clause')}"
    families = (f"  {count:>12,}  {name}" for name, count in sizes.items())
    print_answer(args, facts, [f"{encoding.name} of {puzzle.name}: {formula}", *families])
    return DONE


@opt.command(
    opt.argument("answer", "ANSWER", "a file with the output of the solver, or the result file of minisat; - is stdin"),
    opt.INSTANCE.but("the puzzle of the formula"), *opt.PUZZLE_OPTIONS,
    ENCODING.but("the encoding of the formula"), opt.OUTPUT,
    opt.FORCE, opt.JSON,
    epilog="Exit status: 0 the board is perfect, 1 it is not or there is none, 2 bad input.",
    interruptible=True,
)  # fmt: skip
def decode(args: argparse.Namespace) -> int:
    from lns.exact.sat.clauses import read_answer
    from lns.exact.sat.encodings import encode
    from lns.instances.formats import url_if_any, write
    from lns.instances.verify import verify

    [puzzle] = read_puzzles(args, [args.instance], named=False)
    check_board_file(args.output, puzzle, args.force)
    encoding = encode(args.encoding, puzzle)
    model = read_answer(_answer_text(args.answer), args.answer)
    facts: dict[str, Any] = {"status": "infeasible", "valid": False, "score": None, "placements": None, "url": None}
    if model is None:
        print_answer(args, facts, ["the solver says that there is no solution"])
        return ANSWER_IS_NO
    unknown = next((literal for literal in model if abs(literal) > encoding.variables), None)
    if unknown is not None:
        raise InputError(
            f"variable {abs(unknown)} is of another formula; {encoding.name} of {puzzle.name} has the variables "
            f"1 to {encoding.variables}",
            args.answer,
        )
    board = encoding.board(model)
    found = verify(puzzle, board)
    perfect = found.complete and found.score == puzzle.max_score
    score = f"{found.score} of {puzzle.max_score}"
    if args.output is not None and perfect:
        write(args.output, None, puzzle, board, instance=args.instance)
    facts = {"status": "solved" if perfect else "not a solution"} | picked(found, "valid score max_score problems")
    url = url_if_any(puzzle, board) if perfect else None
    facts |= {"placements": board.without_blanks(puzzle).pairs(), "url": url}
    if perfect:
        lines = [f"a perfect board: {score}", *board_lines(puzzle, board)]
    else:
        lines = [f"not a solution of {puzzle.name}: {count_of(found.placed, 'piece')}, score {score}"]
        lines += [f"  {problem}" for problem in found.problems[:5]]
    print_answer(args, facts, lines)
    return DONE if perfect else ANSWER_IS_NO


def _answer_text(path: str) -> str:
    """A SAT solver's answer, which may be longer than a puzzle; devices, which may have no end, are refused."""
    if path == "-":
        raw = sys.stdin.buffer.read()
    else:
        with open_to_read(Path(path)) as file:
            raw = file.read() or b""
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError:
        raise InputError("not a text of ASCII characters; expected a SAT solver's answer", path) from None
