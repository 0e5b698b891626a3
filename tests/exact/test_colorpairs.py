"""ColorPairs with every switch against row scan, brute force and published counts."""

from dataclasses import fields, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.exact.colorpairs.kernel import ColorPairs
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import count, solve
from lns.instances.generate import corner_cells, like_e2, uniform
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle
from tests.exact.small_regions import run_script

SWITCHES = [field.name for field in fields(Options) if field.name != "heuristic"]

options = st.builds(Options, heuristic=st.sampled_from(Heuristic), **{name: st.booleans() for name in SWITCHES})


@given(st.integers(0, 1 << 30), options)
@settings(max_examples=150, deadline=None)
def test_every_configuration_counts_what_brute_force_counts(seed: int, chosen: Options) -> None:
    puzzle = small_puzzle(seed, largest=12)
    outcome = count(puzzle, options=chosen)
    assert outcome.solutions == count_solutions(puzzle)
    assert outcome.status is (SolveStatus.SOLVED if outcome.solutions else SolveStatus.INFEASIBLE)


@given(st.integers(0, 1 << 30), st.integers(4, 6), st.integers(3, 6), st.integers(4, 7), options)
@settings(max_examples=40, deadline=None)
def test_every_configuration_counts_what_the_row_scan_counts(
    seed: int, width: int, height: int, colours: int, chosen: Options
) -> None:
    puzzle = uniform(width, height, colours, seed).with_clues(corner_cells(width, height)).puzzle
    scanned = count(puzzle, solver="rowscan", nodes=1_000_000)
    if scanned.status is SolveStatus.SOLVED:
        assert count(puzzle, options=chosen).solutions == scanned.solutions


def test_each_part_changes_the_tree_but_not_the_count() -> None:
    puzzle = uniform(7, 7, 6, 1).with_clues(corner_cells(7, 7)).puzzle
    reference = count(puzzle)
    saved = {}
    for name in SWITCHES:
        flipped = replace(Options(), **{name: not getattr(Options(), name)})
        outcome = count(puzzle, options=flipped)
        assert outcome.solutions == reference.solutions
        saved[name] = outcome.nodes / reference.nodes
    assert saved["backjumping"] > 1.05  # off: more nodes
    assert saved["preemption"] > 1.0 and saved["instantiation"] > 1.0
    assert saved["shaving"] < 0.5 < saved["quick_shaving"] < 0.8
    assert saved["random_cell"] != 1.0
    assert saved["shared_edges"] < 1.0 and saved["single_colours"] < 1.0  # on: fewer
    assert saved["opposite"] != 1.0 and saved["motifs"] != 1.0


def test_the_random_cell_depends_on_the_seed_only() -> None:
    puzzle = uniform(6, 6, 5, 1).with_clues(corner_cells(6, 6)).puzzle
    chosen = Options(heuristic=Heuristic.MIN_OFFER, random_cell=True)
    nodes = []
    for seed in (1, 1, 2):
        search = ColorPairs(puzzle, chosen, seed)
        search.advance(1 << 40, False)
        nodes.append((search.nodes, search.solutions))
    assert nodes[0] == nodes[1] and nodes[0][0] != nodes[2][0] and nodes[0][1] == nodes[2][1]


def test_cycles_and_values_change_the_tree() -> None:
    puzzle = like_e2(4, 4, 3, 3, seed=1).puzzle
    plain = count(puzzle, fix_corner=True, options=Options(shaving=False))
    with_cycles = count(puzzle, fix_corner=True, options=Options(shaving=False, cycles=True))
    assert with_cycles.nodes < plain.nodes and with_cycles.solutions == plain.solutions
    clued = uniform(6, 6, 6, 2).with_clues(corner_cells(6, 6)).puzzle
    assert solve(clued, options=Options(values=True)).nodes != solve(clued).nodes


def test_pauses_change_nothing_and_the_search_is_deterministic() -> None:
    puzzle = uniform(6, 6, 5, 2).with_clues(corner_cells(6, 6)).puzzle
    whole, pieces = ColorPairs(puzzle), ColorPairs(puzzle)
    whole.advance(1 << 40, False)
    shares = []
    while not pieces.exhausted:
        shares.append(pieces.explored)
        pieces.advance(97, False)
    assert (whole.nodes, whole.solutions, whole.details) == (pieces.nodes, pieces.solutions, pieces.details)
    assert all(a <= b + 1e-9 for a, b in pairwise(shares)) and 0.0 < shares[-1] < 1.0


def test_ctrl_c_returns_the_result_so_far() -> None:
    puzzle = uniform(9, 9, 8, 1).with_clues(corner_cells(9, 9)).puzzle

    def interrupt(progress: object) -> None:
        raise KeyboardInterrupt

    outcome = count(puzzle, on_progress=interrupt)
    assert outcome.status is SolveStatus.INTERRUPTED and outcome.nodes > 0


_TINY = """
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.solvers import count
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle
every = Options(shaving=True, values=True, single_colours=True, shared_edges=True, cycles=True)
for seed in range(40):
    puzzle = small_puzzle(seed, largest=9)
    expected = count_solutions(puzzle)
    assert count(puzzle, solver="rowscan").solutions == expected, seed
    for options in {chosen}:
        assert count(puzzle, options=options).solutions == expected, seed
"""


# Without jit numpy checks every index of the same code. Numba's own check of ColorPairs takes minutes to compile:
# NUMBA_BOUNDSCHECK=1 python -m tests.fuzz_exact
@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "chosen"),
    [
        ("NUMBA_DISABLE_JIT", "(Options(), every, Options(heuristic=Heuristic.MIN_OFFER, backjumping=False))"),
        ("NUMBA_BOUNDSCHECK", "()"),
    ],
)
def test_kernels_without_jit_and_with_bounds_checks(variable: str, chosen: str) -> None:
    run_script(_TINY.format(chosen=chosen), variable)
