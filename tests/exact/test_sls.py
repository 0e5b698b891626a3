"""The local searches: random 3-SAT of known behaviour, small puzzles, recorded steps."""

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from lns.exact.outcome import SolveStatus
from lns.exact.sat.clauses import simplify
from lns.exact.sat.encodings import encode
from lns.exact.sat.local_search import RULES, LocalSearch
from lns.exact.solvers import count, solve
from lns.instances.errors import InputError
from lns.instances.generate import uniform

ALL_FOUR = np.array([[1, 2], [-1, 2], [1, -2], [-1, -2]], dtype=np.int32)  # all clauses of two variables


def random_3sat(variables: int, clauses: int, seed: int) -> npt.NDArray[np.int32]:
    random = np.random.default_rng(seed)
    rows = np.array([random.choice(variables, 3, replace=False) for _ in range(clauses)]) + 1
    return (rows * random.choice([-1, 1], rows.shape)).astype(np.int32)


def steps_to_a_model(clauses: npt.NDArray[np.int32], rule: str, seed: int, most: int) -> int:
    search = LocalSearch([clauses], int(np.abs(clauses).max()), rule, seed)
    search.advance(most, True)
    model = np.array(search.model())
    assert search.solutions and (np.sign(clauses) == np.sign(model[np.abs(clauses) - 1])).any(axis=1).all(), seed
    return search.nodes


@pytest.mark.parametrize("rule", RULES)
def test_random_3sat_below_the_threshold_is_solved(rule: str) -> None:
    """The random walk, and so DCRWalk, is linear only below 2.7 clauses a variable (Alekhnovich & Ben-Sasson)."""
    ratio, steps = (2.4, 2_000_000) if rule == "dcrwalk" else (3.8, 100_000)
    for seed in range(10):
        steps_to_a_model(random_3sat(150, int(150 * ratio), seed), rule, seed, steps)


def test_simplified_formulas_have_the_same_models() -> None:
    """Ten variables, with units, against the list of all assignments."""
    forced = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        pairs = random_3sat(10, 9, seed)[:, :2]
        unit = (random.integers(1, 11, (2, 1)) * random.choice([-1, 1], (2, 1))).astype(np.int32)
        blocks = [random_3sat(10, 12, seed + 100), pairs, unit]
        simple = simplify(blocks, 10)
        assert models(simple.blocks, len(simple.kept), simple.model) == models(blocks, 10)
        forced = max(forced, len(simple.forced))
    assert forced > 2


def models(
    blocks: list[npt.NDArray[np.int32]], variables: int, told: Callable[[list[int]], list[int]] = list
) -> set[tuple[int, ...]]:
    """All models, as `told` tells each."""
    found = set()
    for signs in product((-1, 1), repeat=variables):
        value = np.array(signs, dtype=np.int32)
        if all((np.sign(block) == value[np.abs(block) - 1]).any(axis=1).all() for block in blocks):
            found.add(tuple(told([sign * at for at, sign in enumerate(signs, 1)])))
    return found


def test_unsatisfiable_formulas_are_never_solved_nor_simplified() -> None:
    blocks = [np.array([[1], [-2]], dtype=np.int32), np.array([[-1, 2]], dtype=np.int32)]
    simple = simplify(blocks, 2)
    assert [block.tolist() for block in simple.blocks] == [block.tolist() for block in blocks]
    assert simple.kept.tolist() == [1, 2] and not len(simple.forced)
    for rule in RULES:
        search = LocalSearch([ALL_FOUR], 2, rule)
        search.advance(10_000, True)
        assert (search.nodes, search.solutions) == (10_000, 0)


@pytest.mark.parametrize(
    ("rule", "puzzle_seed", "seed", "raw", "simplified"),
    [
        ("irots", 1, 0, 341_584, 3_353),
        ("irots", 2, 0, 204_989, 279),
        ("dcrwalk", 1, 0, None, 205_663),
        ("adaptnovelty+", 1, 0, 1_054, 891),
        ("adaptg2wsat", 2, 1, 2_314, 730),
        ("rsaps", 2, 1, 1_950, 460),
    ],
)
def test_the_formula_as_it_is_takes_more_steps(
    rule: str, puzzle_seed: int, seed: int, raw: int | None, simplified: int
) -> None:
    """Nine pieces, two colours, recorded steps; DCRWalk does not solve the raw formula in 500,000 steps."""
    puzzle = uniform(3, 3, 2, puzzle_seed).puzzle
    outcome = solve(puzzle, solver=f"sls:{rule}-raw", nodes=500_000, seed=seed)
    assert (outcome.nodes if outcome.board else None) == raw
    assert outcome.details["variables"] == encode("triangles", puzzle).variables
    assert solve(puzzle, solver=f"sls:{rule}", nodes=500_000, seed=seed).nodes == simplified


def test_the_same_seed_gives_the_same_walk() -> None:
    puzzle = uniform(4, 4, 4, seed=1).puzzle
    runs = [solve(puzzle, solver="sls:adaptg2wsat", nodes=5_000, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].details == runs[1].details and runs[0].nodes == runs[1].nodes
    assert runs[0].status in (SolveStatus.SOLVED, SolveStatus.BUDGET_SPENT)
    with pytest.raises(InputError, match="sls:rsaps-raw finds one solution and proves nothing, so it cannot count"):
        count(puzzle, solver="sls:rsaps-raw")
