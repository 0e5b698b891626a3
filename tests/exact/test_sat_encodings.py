"""The encodings against brute force: every model is a board, every board is found once, sizes are the papers'."""

from __future__ import annotations

import io
import resource

import numpy as np
import pytest

from exact.sat.clauses import exactly_one_counters
from exact.sat.dimacs import read_answer, write
from exact.sat.encodings import ENCODINGS, encode
from exact.sat.search import Job, search
from exact.solver_protocol import SolverMessage
from instances.generate import balanced_torus, uniform
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from tests.exact.brute import all_boards
from tests.exact.puzzles import small_puzzle

pytest.importorskip("pysat")
from pysat.formula import CNF
from pysat.solvers import Solver


def last_message(puzzle: Puzzle, **job: object) -> SolverMessage:
    messages: list[SolverMessage] = []
    search(messages.append, puzzle, Job(sat_solver="cadical195", **job))  # type: ignore[arg-type]
    return messages[-1]


@pytest.mark.parametrize("name", ENCODINGS)
def test_models_are_the_boards_of_brute_force(name: str) -> None:
    for seed in range(30):
        puzzle = small_puzzle(seed, largest=9)
        boards = all_boards(puzzle)
        message = last_message(puzzle, encoding=name, count_all=True)
        assert message.exhausted
        assert message.solutions == len(boards), (name, seed)
        if boards:
            assert message.placements is not None


@pytest.mark.parametrize("name", ENCODINGS)
def test_one_cell_and_one_row(name: str) -> None:
    single = Puzzle(np.zeros((1, 4), dtype=np.int32), 1, 1)
    row = Puzzle(np.array([[0, 1, 0, 0], [0, 2, 0, 1], [0, 0, 0, 2]], dtype=np.int32), 3, 1)
    for puzzle in (single, row):
        message = last_message(puzzle, encoding=name, count_all=True)
        assert message.solutions == len(all_boards(puzzle))


@pytest.mark.parametrize(
    ("name", "variables", "clauses"),
    [
        ("half-3", 15_000, 97_000),
        ("full-2", 49_000, 155_000),
        ("half-2", 51_000, 180_000),
        ("full-4", 672_000, 2_010_000),
    ],
)
def test_sizes_are_those_of_bailleux2025_at_8x8(name: str, variables: int, clauses: int) -> None:
    encoding = encode(name, balanced_torus(8, 8, seed=1).puzzle)
    assert encoding.variables == pytest.approx(variables, rel=0.02)
    assert sum(encoding.sizes().values()) == pytest.approx(clauses, rel=0.02)


def test_sizes_are_those_of_cuvillier2010() -> None:
    encoding = encode("triangles", uniform(16, 16, 17, seed=0).puzzle)
    assert encoding.variables == 84_992
    assert sum(encoding.sizes().values()) == 17_846_752


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_sequential_counter_says_exactly_one(n: int) -> None:
    formula = CNF(
        from_clauses=[
            row for b in exactly_one_counters(np.arange(1, n + 1, dtype=np.int32)[None], n + 1) for row in b.tolist()
        ]
    )
    with Solver(name="glucose4", bootstrap_with=formula) as solver:
        models = {tuple(literal > 0 for literal in model[:n]) for model in solver.enum_models()}
    assert models == {tuple(i == j for i in range(n)) for j in range(n)}
    assert len(formula.clauses) == (3 * n - 4 + 1 if n > 1 else 1)


@pytest.mark.parametrize("name", ENCODINGS)
def test_dimacs_round_trip(name: str) -> None:
    puzzle = uniform(4, 3, 4, seed=5).puzzle
    encoding = encode(name, puzzle)
    file = io.StringIO()
    clauses = write(encoding, file)
    formula = CNF(from_string=file.getvalue())
    assert formula.nv <= encoding.variables
    assert len(formula.clauses) == clauses
    assert all(line.isascii() for line in formula.comments)
    with Solver(name="cadical195", bootstrap_with=formula) as solver:
        assert solver.solve()
        answer = "c hello\ns SATISFIABLE\nv " + " ".join(map(str, solver.get_model())) + "\nv 0\n"
    judged = verify(puzzle, encoding.board(read_answer(answer, "answer") or []))
    assert judged.valid
    assert judged.score == puzzle.max_score


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("SAT\n1 -2 0\n", [1, -2]),
        ("s UNSATISFIABLE\n", None),
        ("UNSAT\n", None),
        ("s SATISFIABLE\nv 3 -1\nv 2 0\n", [3, -1, 2]),
    ],
)
def test_answers_of_solvers(text: str, model: list[int] | None) -> None:
    assert read_answer(text, "x") == model


@pytest.mark.parametrize("text", ["", "s UNKNOWN\n", "v 1 x 0\n", "s SATISFIABLE\n", "INDET\n"])
def test_text_without_an_answer_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_answer(text, "x")


def test_a_large_formula_takes_little_memory() -> None:
    """The 17.8M clauses of Cuvillier & Szymkowiak 2010 are made block by block, with far less than 1 GB of memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    encoding = encode("triangles", uniform(16, 16, 17, seed=0).puzzle)
    assert sum(len(block) for block in encoding.clauses()) == 17_846_752
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB


def test_restricted_decisions_find_the_same_number() -> None:
    for seed in range(12):
        puzzle = small_puzzle(seed, largest=9)
        message = last_message(puzzle, encoding="triangles", count_all=True, restricted=True)
        assert message.solutions == len(all_boards(puzzle))
