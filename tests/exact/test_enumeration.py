"""The solvers in this process and xcover: boards of brute force, each once; pauses; exact cover; blocks."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from lns.cli.main import main
from lns.exact.blocks import Blocks
from lns.exact.cover.search import CODES, Cover, build, run_xcover
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.piece_classes import assignments_per_board
from lns.exact.rowscan import RowScan
from lns.exact.solvers import count
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from tests.exact.brute import all_boards
from tests.exact.puzzles import small_puzzle, small_puzzles
from tests.shared_data import shared


def sorted_colours(puzzle: Puzzle, boards: list[Board]) -> list[tuple[tuple[int, ...], ...]]:
    """The boards as colours by cell, sorted."""
    return sorted(tuple(map(tuple, puzzle.turned[board.placements].tolist())) for board in boards)


@pytest.mark.parametrize("solver", ["auto", "colorpairs", "rowscan", "dlx", "dlx:binary", "xcc:counted", "blocks"])
def test_boards_of_brute_force(solver: str) -> None:
    several = 0
    for puzzle, expected in small_puzzles(120):
        if solver == "blocks" and (puzzle.width % 2 or puzzle.height % 2):
            continue
        boards: list[Board] = []
        outcome = count(puzzle, solver=solver, on_solution=boards.append)
        assert sorted_colours(puzzle, boards) == sorted(expected), puzzle
        assert outcome.solutions == len(boards)
        assert outcome.status is (SolveStatus.SOLVED if boards else SolveStatus.INFEASIBLE)
        several += len(boards) > 1
    assert several >= 3


@pytest.mark.parametrize(("solver", "package"), [("cp", "ortools"), ("xcc", "xcover"), ("sat:half-2", "pysat")])
def test_boards_of_libraries(solver: str, package: str) -> None:
    pytest.importorskip(package)
    puzzle = uniform(4, 4, 3, seed=5).puzzle
    boards: list[Board] = []
    outcome = count(puzzle, solver=solver, on_solution=boards.append)
    assert sorted_colours(puzzle, boards) == sorted(all_boards(puzzle))
    assert outcome.solutions == len(boards) == 8


SEARCHES: dict[str, Callable[[], RowScan | Cover | Blocks]] = {
    "rowscan": lambda: RowScan(uniform(5, 5, 4, 3).puzzle),
    "dlx": lambda: Cover(uniform(4, 4, 3, 2).puzzle),
    "blocks": lambda: Blocks(uniform(4, 4, 3, 4).puzzle),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_pauses_change_nothing_and_nodes_by_level_add_up(name: str) -> None:
    whole, paused, shares = SEARCHES[name](), SEARCHES[name](), [0.0]
    while not whole.exhausted:
        whole.advance(1 << 20, False)
    while not paused.exhausted:
        shares.append(paused.explored)
        before = paused.nodes
        paused.advance(whole.nodes // 40, False)
        assert paused.exhausted or paused.nodes == before + whole.nodes // 40, "a budget of nodes is exact"
    assert shares == sorted(shares) and 0.0 < shares[-1] <= 1.0
    assert (whole.nodes, whole.solutions) == (paused.nodes, paused.solutions)
    if not isinstance(whole, RowScan):
        levels = whole.state.per_level.tolist()
        assert (sum(levels), levels[-1]) == (whole.nodes, whole.solutions) and levels == paused.state.per_level.tolist()


def test_a_spent_budget_keeps_the_solutions_found() -> None:
    puzzle = uniform(5, 5, 3, seed=1).puzzle
    boards: list[Board] = []
    whole = count(puzzle, solver="rowscan")
    cut = count(puzzle, solver="rowscan", on_solution=boards.append, nodes=whole.nodes // 2)
    assert cut.status is SolveStatus.BUDGET_SPENT
    assert cut.nodes == whole.nodes // 2
    assert 0 < cut.solutions == len(set(sorted_colours(puzzle, boards))) < whole.solutions


# -- exact cover and blocks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("all_four", [False, True])
def test_the_size_of_the_matrix_is_known_before_it_is_built(code: str, all_four: bool) -> None:
    """Among the puzzles are clues, boards of one row, duplicate and symmetric pieces."""
    for seed in range(60):
        puzzle = small_puzzle(seed, 12)
        nodes = len(build(puzzle, code, all_four=all_four).item)
        assert len(build(puzzle, code, all_four=all_four, most=nodes).item) == nodes
        with pytest.raises(InputError, match=f"takes a matrix of {nodes:,} nodes"):
            build(puzzle, code, all_four=all_four, most=nodes - 1)


def test_what_is_too_large_for_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """uniform(16, 16, 2) has 1.1e10 blocks on one inner place; counting them would take hours in one kernel call."""
    with pytest.raises(InputError, match=r"1600 pieces and 20 colours takes a matrix of 35\d,\d{3},\d{3} nodes"):
        Cover(uniform(40, 40, 20, 1).puzzle)
    with pytest.raises(InputError, match="even width and height"):
        Blocks(uniform(5, 4, 4).puzzle)
    monkeypatch.setattr("lns.exact.blocks.MAX_BLOCKS", 1500)
    with pytest.raises(InputError, match="more than 1,500 blocks of 2x2 pieces"):
        Blocks(uniform(6, 6, 2, 1).puzzle)
    pytest.importorskip("xcover")
    with pytest.raises(InputError, match=r"takes a matrix of \d,\d{3},\d{3} nodes; expected at most 4,000,000"):
        run_xcover(uniform(24, 24, 5, 1).puzzle, Request())


def test_all_four_rotations_of_symmetric_pieces_count() -> None:
    """Jolivet 2008 counts equal rotations of a symmetric piece separately."""
    corner, edge, centre = [0, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 1]
    puzzle = Puzzle(np.array([corner] * 4 + [edge] * 4 + [centre], dtype=np.int32), 3, 3)
    for all_four, rotations in ((True, 4), (False, 1)):
        search = Cover(puzzle, all_four=all_four)
        search.advance(1 << 20, False)
        assert search.exhausted and search.solutions == assignments_per_board(puzzle) * rotations == 576 * rotations


def test_blocks_and_absent_pairs_of_eternity_2(capsys: pytest.CaptureFixture[str]) -> None:
    """Published counts of blocks: 5,248 at corners, 292,012 on edges, 4,059,952 inside."""
    assert main(["exact", "pieces", str(shared("instances", "eternity2.txt")), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["blocks"] == {"corners": 5_248, "edges": 292_012, "inside": 4_059_952}
    assert {name: len(pairs) for name, pairs in told["absent_pairs"].items()} == {"beside": 20, "opposite": 8}
    assert [20, 20] in told["absent_pairs"]["beside"] and [7, 7] in told["absent_pairs"]["opposite"]
    assert main(["exact", "pieces", "like-e2-5x5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "pairs       beside: 2 on no inner piece: 4-5, 7-4" in lines and "2x2 blocks" not in lines[-1]
