"""The dynamic order with and without backjumping, against a plain search and against the static order."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from lns.exact.colorpairs.explain import last_conflict
from lns.exact.colorpairs.state import State
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region
from lns.exact.region.region_search import Reports
from lns.exact.region.resolve import RegionStatus, resolve
from lns.exact.region.searches import DynamicSearch, Search, make_spend_curves
from lns.exact.region.state import EXHAUSTED, FOUND, PAUSED
from lns.exact.region.windows import rows, window
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.small_regions import run_script
from tests.fuzz_region import Window, best_score
from tests.instances.small_puzzles import planted, with_mates

DYNAMIC = RegionOptions("dynamic")


def shuffled(seed: int, colours: int, clues: int = 0, kind: int = 0) -> tuple[Puzzle, Board]:
    """A 6 x 7 board whose inner pieces, except clues, are shuffled and rotated; kind: 1 has mates, 2 a rim, 3 both."""
    puzzle, board = planted(seed, 6, 7, colours, clues=clues, framed=kind < 2, rim=kind // 2)
    puzzle = with_mates(puzzle, board, seed) if kind % 2 else puzzle
    fixed = {clue.cell for clue in puzzle.clues}
    inner = [cell for cell in range(42) if not any(puzzle.rim_sides(cell)) and cell not in fixed]
    rng = np.random.default_rng(seed)
    pieces = rng.permutation(board.placements[inner]) // 4
    return puzzle, board.with_pieces(inner, 4 * pieces + rng.integers(0, 4, len(inner)))


def test_larger_regions_agree_with_the_static_order() -> None:
    for seed in range(60):
        puzzle, board = shuffled(seed, 2 + seed % 5, clues=seed % 3, kind=seed // 2 % 4)
        rng = np.random.default_rng(seed)
        cells = rng.permutation(42)[: int(rng.integers(10, 15))].tolist() if seed % 2 else window(puzzle, 3, 4, 2, 1)
        expected = resolve(puzzle, board, cells)
        assert expected.proven
        for part in ({}, {"backjumping": False}, {"curves": False}, {"preemption": True}):
            result = resolve(puzzle, board, cells, options=RegionOptions("dynamic", **part))
            assert result.proven and result.score == expected.score == verify(puzzle, result.board).score


def ask(search: Search, r: int, nodes: int) -> tuple[int, int]:
    """Whether there is a refill with at most ``r`` mismatches, and the nodes of the answer."""
    search.start(r)
    return search.advance(nodes)


def test_backjumping_skips_nodes_but_no_refill() -> None:
    """Without backjumping the same tree is searched, and the static order has the same answer."""
    saved = 0
    for seed in [*range(60), 240, 453, 492, 538, 672]:  # the last ones once showed errors in the explanations
        puzzle, board = shuffled(seed, 2 + seed % 3, kind=seed // 8 % 4 * (seed < 60))
        cells = np.random.default_rng(seed).permutation(42)[:20].tolist() if seed % 8 else rows(puzzle, 2, 5)
        region, jumps = Region(puzzle, board, cells), RegionOptions(curves=seed % 3 > 0)
        steps = replace(jumps, backjumping=False)
        kinds = (Search, steps), (DynamicSearch, steps), (DynamicSearch, jumps)
        for r in range(12):
            static, stepped, jumped = (ask(kind(region, options), r, 50_000) for kind, options in kinds)
            if PAUSED in (static[0], stepped[0], jumped[0]):
                break
            assert jumped[0] == stepped[0] == static[0] and jumped[1] <= stepped[1], (seed, r, static, stepped, jumped)
            saved += stepped[1] - jumped[1]
            if jumped[0] == FOUND:
                break
    assert saved > 100


def test_auto_gives_both_orders_turns_and_has_the_same_answers() -> None:
    expected, both = [], 0
    for seed in range(24):
        puzzle, board = shuffled(seed, 2 + seed % 5)
        cells = window(puzzle, 4, 4, 1, 1) if seed % 2 else np.random.default_rng(seed).permutation(42)[:14].tolist()
        expected.append((puzzle, board, cells, resolve(puzzle, board, cells)))
    options = RegionOptions("auto", dynamic_after=500)
    for puzzle, board, cells, alone in expected:
        result = resolve(puzzle, board, cells, options=options)
        assert result.proven and result.score == alone.score
        target = resolve(puzzle, board, cells, target=alone.score + 1, options=options)
        assert target.bound <= alone.score, "one edge more is refuted"
        again = resolve(puzzle, board, cells, target=alone.score + 1, options=options)
        assert again.nodes == target.nodes and again.work == target.work
        assert target.nodes <= target.work <= DynamicSearch.NODE_COST * target.nodes
        assert alone.work == alone.nodes, "in fixed orders"
        both += target.nodes < target.work < DynamicSearch.NODE_COST * target.nodes
    assert both > 5


def test_ctrl_c_returns_the_best_board_so_far() -> None:
    puzzle, board = shuffled(3, 6)
    seen: list[int] = []

    def stop(score: int, bound: int, nodes: int, seconds: float) -> None:
        seen.append(score)
        if score > verify(puzzle, board).score:
            raise KeyboardInterrupt

    result = resolve(puzzle, board, rows(puzzle, 1, 6), options=DYNAMIC, reports=Reports(progress=stop))
    assert result.status == RegionStatus.INTERRUPTED and result.score == seen[-1] > result.score_before
    assert verify(puzzle, result.board).score == result.score <= result.bound


def test_cyclic_curves_agree_with_the_scheme_in_bands() -> None:
    compared = 0
    for seed in range(40):
        puzzle, board = shuffled(seed, 2 + seed % 4)
        cells = rows(puzzle, 2, 4) if seed % 2 else window(puzzle, 3, 6, 1 + seed % 4, 0)
        region = Region(puzzle, board, cells)
        cycles = make_spend_curves(puzzle, region.plan.cells)
        for r in range(10):
            by_scheme, _ = ask(Search(region, RegionOptions()), r, 200_000)
            cyclic, _ = ask(Search(region, RegionOptions(), cycles[(1 + seed % 6) % len(cycles)]), r, 200_000)
            if PAUSED in (by_scheme, cyclic):
                break
            assert cyclic == by_scheme, (seed, r)
            compared += 1
            if cyclic == FOUND:
                break
    assert compared > 60


def check_explanations(seed: int) -> int:
    """Search a small region and check that no refill agrees with an explanation; kernels must run without jit.

    Without a search scheme, so that every explanation is one against all refills.
    """
    puzzle, board = shuffled(seed, 2 + seed % 5, clues=seed % 3, kind=seed // 2 % 4)
    cells = np.random.default_rng(seed).permutation(42)[:6].tolist() if seed % 4 else window(puzzle, 2, 3, 2, 1)
    heuristic = "dom-deg" if seed % 3 else "min-expected-gap"
    filters = {"preemption": True, "instantiation": seed % 2 > 0}
    options = RegionOptions(balance=False, curves=False, heuristic=heuristic, **filters)
    cells = [cell for cell in cells if cell not in {clue.cell for clue in puzzle.clues}]
    region = Region(puzzle, board, cells)
    dynamic = DynamicSearch(region, options)
    checked, r, total = 0, -1, region.base + region.joints

    def check_explanation(state: State, words: int, depth: int) -> int:
        nonlocal checked
        conflict = int(state.conflict[depth * words])
        spending = dynamic.spending
        chosen = [int(spending.cell[earlier]) for earlier in range(depth) if conflict >> earlier & 1]
        decided = [cells[cell] for cell in chosen]
        agreed = board.with_pieces(decided, [spending.origin[state.grid[cell]] for cell in chosen])
        agreeing = best_score(Window(puzzle, agreed, [cell for cell in cells if cell not in decided]))
        assert conflict < 1 << int(depth) and (agreeing is None or agreeing < total - r), (seed, depth, decided)
        checked += 1
        return int(last_conflict(state, words, depth))

    with mock.patch("lns.exact.colorpairs.explain.last_conflict", check_explanation):
        status = EXHAUSTED
        while status == EXHAUSTED and r < region.joints:
            r += 1
            status, _ = ask(dynamic, r, 300)
    return checked


@pytest.mark.slow
def test_every_explanation_holds() -> None:
    script = "from tests.exact.test_region_dynamic import *; assert sum(map(check_explanations, range(100))) > 1000"
    run_script(script, "NUMBA_DISABLE_JIT")
