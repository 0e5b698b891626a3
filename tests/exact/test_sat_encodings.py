"""The encodings against brute force: every model is a board, every board is found once, sizes are the papers'."""

import io
import resource
import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.paper.bailleux2025 import PAPER
from lns.exact.sat.clauses import read_answer
from lns.exact.sat.encodings import ENCODINGS, Bailleux, Encoding, encode
from lns.exact.sat.search import run_sat, search, search_by_program
from lns.instances.errors import InputError
from lns.instances.generate import balanced_torus, uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.counting import PROVEN
from tests.exact.puzzles import last_message, small_puzzles

pytest.importorskip("pysat")
from pysat.formula import CNF
from pysat.solvers import Solver


@pytest.mark.parametrize(("name", "restricted"), [*((name, False) for name in ENCODINGS), ("triangles", True)])
def test_models_are_the_boards_of_brute_force(name: str, restricted: bool) -> None:
    for puzzle, boards in small_puzzles(30, 9):
        found = last_message(search, puzzle, Request(True), name, restricted)
        assert found.status in PROVEN and found.solutions == len(boards), puzzle
        assert (found.board is not None) == bool(boards)


def size(encoding: Encoding) -> tuple[int, int]:
    """Variables and clauses."""
    return encoding.variables, sum(encoding.sizes().values())


@pytest.mark.parametrize(
    ("name", "n", "relative"),
    [(name, n, 0.0) for name in ("half-3", "full-2", "half-2") for n in PAPER[name]]
    + [("full-4", n, 0.07 if n < 7 else 0.02) for n in (5, 6, 7, 8)],  # its tuples depend on the puzzle
)
def test_sizes_are_those_of_bailleux2025(name: str, n: int, relative: float) -> None:
    """Figures 4 to 7, in thousands: less than one unit of the last printed digit away."""
    for own, printed in zip(size(encode(name, balanced_torus(n, n, seed=1).puzzle)), PAPER[name][n], strict=False):
        unit = 1.0 if float(printed).is_integer() else 0.1
        assert abs(own / 1000 - printed) < max(unit, relative * printed), (own, printed)


def test_sizes_are_those_of_cuvillier2010_and_take_little_memory() -> None:
    """The clauses are made block by block, with far less than 1 GB of memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    encoding = encode("triangles", uniform(16, 16, 17, seed=0).puzzle)
    assert size(encoding) == (84_992, 17_846_752)
    assert sum(len(block) for block in encoding.clauses()) == 17_846_752
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB


def test_pairs_take_more_clauses_and_no_auxiliary_variables() -> None:
    puzzle, cells = balanced_torus(6, 6, seed=1).puzzle, 36
    for name in ("full-2", "half-3", "half-2"):
        counters, pairs = size(encode(name, puzzle)), size(encode(f"{name}-pairs", puzzle))
        assert pairs[0] < counters[0] and pairs[1] > counters[1]
    half = encode("half-3-pairs", puzzle).sizes()
    assert half["one piece a cell"] == half["one cell a piece"] == cells + cells * (cells * (cells - 1) // 2)


def propagated(name: str, puzzle: Puzzle, assumed: list[int]) -> tuple[bool, set[int]]:
    """What unit propagation makes of assumptions: whether there is no conflict, and the literals it derives."""
    encoding = encode(name, puzzle)
    with Solver(name="minisat22") as solver:
        for block in encoding.clauses():
            solver.append_formula(block.tolist(), no_return=True)
        consistent, literals = solver.propagate(assumptions=assumed)
    return consistent, set(literals)


def kept_values(encoding: Encoding, cell: int, values: Sequence[tuple[int, int]]) -> list[int]:
    """Assumptions that leave a cell the values (piece, rotation), as far as the variables can say it."""
    assert isinstance(encoding, Bailleux)
    allowed = np.zeros((encoding.pieces, 4), dtype=np.bool_)
    allowed[tuple(np.transpose(values))] = True
    if encoding.merged:
        return (-encoding.value[cell][~allowed]).tolist()
    gone = -encoding.piece[cell, ~allowed.any(axis=1)], -encoding.rotation[cell, ~allowed.any(axis=0)]
    return np.concatenate(gone).tolist()


RED, GREEN, BLUE, BLACK = 1, 2, 3, 4


def three_kinds() -> Puzzle:
    """3x3 without frame; pieces 0 and 1 are red and green, 2 and 3 blue and black, the others have all four colours."""
    pieces = [(RED, RED, GREEN, GREEN), (RED, GREEN, RED, GREEN), (BLUE, BLUE, BLACK, BLACK)]
    pieces += [(BLUE, BLACK, BLUE, BLACK), (RED, GREEN, BLUE, BLACK), (RED, BLUE, GREEN, BLACK)]
    pieces += [(RED, BLACK, BLUE, GREEN), (GREEN, RED, BLUE, BLACK), (BLUE, RED, GREEN, BLACK)]
    return Puzzle(np.array(pieces, dtype=np.int32), 3, 3, framed=False)


@pytest.mark.parametrize(
    ("name", "finds"),
    [(f"{base}{way}", base != "half-3") for base in ("full-4", "full-2", "half-2", "half-3") for way in ("", "-pairs")],
)
def test_half_3_misses_that_two_domains_share_no_colour(name: str, finds: bool) -> None:
    """The example of Bailleux 2025, 2.3.2: one cell keeps pieces without red and green, the next only such with them.

    Consistency empties the second domain; all encodings but HALF-3 see it by unit propagation.
    """
    puzzle = three_kinds()
    encoding = encode(name, puzzle)
    left = kept_values(encoding, 3, list(product((2, 3), range(4))))
    right = kept_values(encoding, 4, list(product((0, 1), range(4))))
    assert propagated(name, puzzle, left)[0] and propagated(name, puzzle, right)[0]
    assert propagated(name, puzzle, left + right)[0] == (not finds)


def test_halves_propagate_colours_that_full_encodings_lack() -> None:
    """Bailleux 2025, 2.2.2: HALF-2 forbids a colour of an edge and so its pieces on both cells at once."""
    half = encode("half-2", three_kinds())
    assert isinstance(half, Bailleux)
    edge = half.edges[3, 1]
    consistent, derived = propagated("half-2", half.puzzle, [-int(half.colour[edge, hue]) for hue in (RED, GREEN)])
    assert consistent and {-int(v) for v in half.value[3:5, :2].reshape(-1)} <= derived


@pytest.mark.parametrize("name", ENCODINGS)
def test_dimacs_round_trip(name: str) -> None:
    puzzle = uniform(4, 3, 4, seed=5).puzzle
    encoding = encode(name, puzzle)
    file = io.StringIO()
    clauses = encoding.write(file)
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


def test_answers_of_solvers() -> None:
    assert read_answer("SAT\n1 -2 0\n", "x") == [1, -2]
    assert read_answer("s SATISFIABLE\nv 3 -1\nv 2 0\n", "x") == [3, -1, 2]
    assert read_answer("s UNSATISFIABLE\n", "x") is read_answer("UNSAT\n", "x") is None
    for text in ("", "s UNKNOWN\n", "v 1 x 0\n", "s SATISFIABLE\n", "INDET\n"):
        with pytest.raises(InputError):
            read_answer(text, "x")


@pytest.mark.skipif(shutil.which("minisat") is None, reason="the program minisat is not installed")
def test_a_program_of_its_own_finds_boards_and_proves_that_there_are_none(tmp_path: Path) -> None:
    for puzzle, boards in small_puzzles(20, 9):
        asked = Request(sat_solver="program:minisat -verb=1")
        found = last_message(search_by_program, puzzle, asked, "triangles", tmp_path)
        assert found.status is (SolveStatus.SOLVED if boards else SolveStatus.INFEASIBLE) and found.nodes >= 0


@pytest.mark.parametrize(
    ("asked", "restricted", "sentence"),
    [
        (Request(sat_solver="program:no-such-solver"), False, "the program 'no-such-solver' is not installed"),
        (Request(True, sat_solver="program:minisat"), False, "answers once"),
        (Request(True, sat_solver="kissat"), False, "cannot count"),
        (Request(sat_solver="glucos4"), False, "did you mean 'glucose4'"),
        (Request(sat_solver="minisat"), True, "takes no decisions from outside; expected cadical195"),
    ],
)
def test_what_a_sat_solver_cannot_do_is_told(asked: Request, restricted: bool, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run_sat("triangles" + "-restricted" * restricted, uniform(3, 3, 3, seed=1).puzzle, asked)
