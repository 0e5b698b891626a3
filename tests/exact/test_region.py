"""The region re-solve: its search schemes and spend curves miss no refill, and its guarantees."""

import dataclasses

import numpy as np
import pytest

from lns.exact.region.options import RegionOptions
from lns.exact.region.region_search import Reports
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve, warm_up
from lns.exact.region.searches import DynamicSearch, LagrangianSearch
from lns.exact.region.windows import rows, window
from lns.instances.board import EMPTY, Board
from lns.instances.errors import BoardError, InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.small_regions import published, run_script
from tests.instances.small_puzzles import planted


def shuffled_inside() -> tuple[Puzzle, Board, list[int]]:
    """A board of 8 x 8 cells whose inner pieces are shuffled, and these cells."""
    puzzle, board = planted(3, 8, 8, 6)
    inner = window(puzzle, 6, 6, 1, 1)
    return puzzle, board.with_pieces(inner, np.random.default_rng(0).permutation(board.placements[inner])), inner


@pytest.mark.parametrize("order", ["static", "dynamic"])
def test_budgets_are_deterministic_and_bounds_hold(order: str) -> None:
    puzzle, shuffled, inner = shuffled_inside()
    options = RegionOptions(order)
    first, second = (resolve(puzzle, shuffled, inner, nodes=30_000, options=options) for _ in range(2))
    assert first.nodes == second.nodes <= 30_000 and first.board == second.board and first.bound == second.bound
    assert first.score_before < first.score <= first.bound <= puzzle.max_score
    assert first.status in (RegionStatus.IMPROVED, RegionStatus.IMPROVED_OPTIMAL)
    assert first.work == first.nodes * (DynamicSearch.NODE_COST if order == "dynamic" else 1)
    nothing = resolve(puzzle, shuffled, inner, nodes=1, options=options)
    assert nothing.status == RegionStatus.BUDGET_SPENT and nothing.nodes <= 1 and nothing.board == shuffled
    assert nothing.bound >= puzzle.max_score - 1
    assert resolve(puzzle, shuffled, inner, seconds=0.001, options=options).seconds < 1
    assert resolve(puzzle, shuffled, inner, options=options, target=first.score).score >= first.score


def test_a_target_that_the_given_board_reaches_ends_at_once() -> None:
    puzzle, board = planted(3, 8, 8, 6)
    damaged = board.with_pieces([9, 18, 10, 19], board.placements[[10, 19, 9, 18]])
    score, middle = verify(puzzle, damaged).score, list(range(24, 40))
    for order in ("static", "dynamic"):
        for target in (score, score - 5, 1):
            reached = resolve(puzzle, damaged, middle, target=target, options=RegionOptions(order))
            assert (reached.status, reached.nodes, reached.score) == (RegionStatus.TARGET_REACHED, 0, score)
            assert reached.board == damaged and not reached.proven and not reached.improved
    refilled = resolve(puzzle, damaged, range(32), target=score + 1)
    assert refilled.score > score and (refilled.status == RegionStatus.TARGET_REACHED or refilled.proven)
    filled = resolve(puzzle, damaged.with_pieces([9, 30], EMPTY), [9, 30], target=1)
    assert filled.board.placed == 64 and filled.status in (RegionStatus.TARGET_REACHED, RegionStatus.IMPROVED_OPTIMAL)


def test_without_a_refill_the_given_board_is_returned() -> None:
    """Not the start of the search, which has the piece of the clue twice."""
    puzzle, board = planted(11, 6, 6, 5, clues=3)
    clue = next(clue for clue in puzzle.clues if not any(puzzle.rim_sides(clue.cell)))
    other = next(cell for cell in range(36) if cell != clue.cell and not any(puzzle.rim_sides(cell)))
    given, dynamic = board.with_pieces([other, clue.cell], [clue.oriented, EMPTY]), RegionOptions("dynamic")
    for options in ({"nodes": 0}, {"nodes": 0, "target": 1}, {"seconds": 0.0}, {"nodes": 0, "options": dynamic}):
        result = resolve(puzzle, given, [clue.cell, other, 14], **options)  # type: ignore[arg-type]
        assert result.status == RegionStatus.BUDGET_SPENT and result.board == given
        assert result.score == result.score_before == verify(puzzle, given).score <= result.bound
    found = resolve(puzzle, given, [clue.cell, other])
    judged = verify(puzzle, found.board)
    assert found.proven and found.score == judged.score and not judged.violations


def test_a_region_with_a_hole_never_ends_worse() -> None:
    puzzle, board = planted(3, 8, 8, 6)
    cells, improvements = range(8, 56), list[Board]()
    for nodes in (0, 5000):
        result = resolve(puzzle, board.with_pieces(18, EMPTY), cells, nodes=nodes)
        assert result.board == board and result.proven and result.improved
    given = board.with_pieces([18, 19, 27, 35, 36, 44], EMPTY)
    reports, before = Reports(improve=improvements.append), verify(puzzle, given).score
    for options in (RegionOptions("static"), RegionOptions("dynamic")):
        result = resolve(puzzle, given, cells, nodes=500, options=options, reports=reports)
        assert result.board.placed == 64 and before <= result.score == verify(puzzle, result.board).score
        assert verify(puzzle, result.board).complete
    assert all(verify(puzzle, better).score > before for better in improvements)


def test_an_illegal_board_is_never_proven_the_best() -> None:
    puzzle, board = planted(22, 4, 4, 6)
    given = board.with_pieces(10, board.placements[9] >> 2 << 2)  # is placed twice
    result = resolve(puzzle, given, [5, 6, 9, 10], nodes=1)
    assert result.board == given and result.score == result.bound and not result.proven and not result.legal
    legal = resolve(puzzle, given, [5, 6, 9, 10])
    assert legal.proven and legal.legal and legal.score == puzzle.max_score


def test_the_result_does_not_depend_on_step_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, shuffled, _ = shuffled_inside()

    def results() -> list[RegionResult]:
        return [
            dataclasses.replace(resolve(puzzle, shuffled, rows(puzzle, 2, 5), nodes=40_000, options=each), seconds=0.0)
            for each in (RegionOptions(), RegionOptions(prices=True), RegionOptions(order="dynamic"))
        ]

    expected = results()
    monkeypatch.setattr("lns.exact.driver.STEP_SECONDS", 0.0)  # a hundred nodes at a time
    assert results() == expected


def test_the_time_limit_holds_when_nodes_are_slow() -> None:
    puzzle, board = planted(1, 40, 40, 60)
    inner = np.array([40 * row + column for row in range(1, 39) for column in range(1, 39)])
    rng = np.random.default_rng(0)
    shuffled = board.with_pieces(inner, rng.permutation(board.placements[inner]))
    scattered = rng.permutation(inner[(inner // 40 + inner) % 2 == 0])[:256].tolist()
    warm_up("static")
    assert resolve(puzzle, shuffled, scattered, seconds=0.5).seconds < 4


def test_ctrl_c_during_the_warm_up_is_raised_and_the_warm_up_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    warm_up.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(LagrangianSearch, "set_prices", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warm_up("static")
    warm_up("static")
    assert warm_up.cache_info().currsize == 1


def test_placing_a_clue_may_lower_the_score() -> None:
    puzzle, board = planted(11, 6, 6, 5, clues=3)
    clue = next(clue for clue in puzzle.clues if not any(puzzle.rim_sides(clue.cell)))
    right = clue.piece * 4 + clue.rotation
    puzzle = puzzle.with_clues([dataclasses.replace(clue, rotation=clue.rotation ^ 2)])
    result = resolve(puzzle, board, [clue.cell])
    assert result.board.placements[clue.cell] == right ^ 2 and result.score < result.score_before
    assert result.status == RegionStatus.IMPROVED_OPTIMAL and result.proven and not result.improved


def test_a_target_above_the_price_bound_is_refuted_without_a_search() -> None:
    puzzle, shuffled, _ = shuffled_inside()
    priced = resolve(puzzle, shuffled, rows(puzzle, 2, 4), options=RegionOptions(prices=True), nodes=1).bound
    assert verify(puzzle, shuffled).score < priced < puzzle.max_score
    refuted = resolve(puzzle, shuffled, rows(puzzle, 2, 4), options=RegionOptions(prices=True), target=priced + 1)
    assert (refuted.status, refuted.nodes, refuted.bound) == (RegionStatus.TARGET_REFUTED, 0, priced)
    assert refuted.board == shuffled


@pytest.mark.parametrize("order", ["static", "dynamic"])
def test_what_no_piece_can_fill_on_a_rim_of_an_ordinary_colour_is_refused(order: str) -> None:
    puzzle, board = planted(1, 3, 3, 4, framed=False, rim=1)
    given, options = board.with_pieces([0, 4], [EMPTY, board.placements[0]]), RegionOptions(order)
    assert not puzzle.fits(0)[board.placements[4] & ~3 :][:4].any(), "the middle piece is left"
    with pytest.raises(BoardError, match=r"no refill is legal: .* with colour 1 for the rim"):
        resolve(puzzle, given, [0], options=options)
    result = resolve(puzzle, given, [0, 4], options=options)
    assert result.proven and verify(puzzle, result.board).complete


def test_invalid_regions_raise_one_sentence() -> None:
    puzzle, board = planted(2, 20, 20, 9)
    twice = board.with_pieces(30, board.placements[31])
    for given, cells, said in (
        (board, [], "no cell"),
        (board, [3, 400], "cell 400, off the board"),
        (board, [3, 3], r"names row 0, column 3 .* twice"),
        (board, range(257), "257 cells; expected at most 256"),
        (Board.empty(planted(2, 4, 4, 3)[0]), [3], "expected 20 x 20 as in planted-2"),
        (twice, [3], "is placed twice"),
    ):
        with pytest.raises(InputError, match=said):
            resolve(puzzle, given, cells)
    assert resolve(puzzle, twice, [30], nodes=1000).board.placements[30] != board.placements[31]
    with pytest.raises(InputError, match="rows 3-20 of a board with 20 rows; expected A-B"):
        rows(puzzle, 3, 21)
    with pytest.raises(InputError, match="'urgent' is not known; expected one of auto, static, dynamic"):
        RegionOptions("urgent")


@pytest.mark.parametrize("variable", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.slow)])
def test_the_kernels_without_jit_and_with_bounds_checking(variable: str) -> None:
    script = (
        "from tests.fuzz_region import *\n"
        "for seed in range(0, 60, 3):\n"
        "    window = random_window(seed, seed % 2)\n"
        "    if len(window.cells) > 6: continue\n"
        "    for order in ('static', 'dynamic'): check(window, best_score(window), order=order)\n"
    )
    run_script(script, variable)


def test_two_damaged_rows_of_the_published_470_boards_are_the_best_possible() -> None:
    for number in range(2):
        puzzle, board = published(number)
        result = resolve(puzzle, board, rows(puzzle, 1, 4), nodes=50_000_000)
        assert result.status == RegionStatus.OPTIMAL and result.score == result.bound == 470


@pytest.mark.slow
def test_prices_are_set_in_long_searches_and_prove_the_same() -> None:
    for number, first, best in ((18, 1, 464), (42, 12, 461)):
        puzzle, board = published(number)
        cells, without = rows(puzzle, first, first + 3), RegionOptions(prices=False)
        result = resolve(puzzle, board, cells, nodes=30_000_000)
        assert result.proven and result.score == best and result.nodes < 10_000_000
        assert not resolve(puzzle, board, cells, nodes=10_000_000, options=without).proven
