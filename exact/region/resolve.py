"""The region re-solve: free some cells of a board, refill them as well as possible, and report what was proven."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from lns.exact.kernels.cache import is_compiled
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region, checked_cells, verify_rest, with_clues
from lns.exact.region.region_search import Budget, RegionSearch, Reports
from lns.exact.region.searches import is_band
from lns.instances.board import Board
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle, refuse_copies
from lns.instances.records import Records
from lns.instances.verify import verify

_DEFAULTS, _NO_REPORTS = RegionOptions(), Reports()
_KERNELS = {
    "static": ("lns.exact.region.kernel", "lns.exact.region.scheme", "lns.exact.region.cost_to_go"),
    "dynamic": ("lns.exact.region.dynamic_search",),
}
_ORDERS = {"auto": ("static", "dynamic")}


class RegionStatus(StrEnum):
    """How a re-solve ended. The first three members stand for proofs."""

    OPTIMAL = "optimal"  # no refill is better than the given board
    IMPROVED_OPTIMAL = "improved and optimal"  # a better refill or the first legal one was found; none is better still
    TARGET_REFUTED = "target refuted"  # no refill reaches the target score
    TARGET_REACHED = "target reached"  # a refill or the given board reaches the target score; not proven optimal
    IMPROVED = "improved"  # a refill better than the given board was found; not proven optimal
    BUDGET_SPENT = "budget spent"
    INTERRUPTED = "interrupted"  # stopped by Ctrl-C; the board may have improved


@dataclass(frozen=True)
class RegionResult(Records):
    """The result of `lns.exact.region.resolve.resolve`.

    The score is never lower than that of the given board, unless the given board breaks a rule, or has the piece of a
    clue on another cell while the clue's cell is empty.

    Parameters
    ----------
    status : RegionStatus
        Whether the search ended, and with which proof.
    board : Board
        The board with the best refill found, verified; the given board if none is better or fills more cells.
    score, score_before : int
        Number of matched inner edges of `board`, and of the given board.
    bound : int
        An upper bound on the score: no refill of the region gives the board a higher one.
    nodes : int
        Number of placements that the search tried.
    seconds : float
        Elapsed time of the search, without compilation.
    cells : tuple of int
        The cells of the region, those of clues included.
    legal : bool
        Whether `board` breaks no rule.
    work : int
        `nodes` in node equivalents: a node in the dynamic order counts as the nodes in fixed orders that take as long.
    check : str or None
        The verdict of a second solver, if one was asked (`lns.exact.sat.refill`), on `bound` as the search gave it:
        "proved", "open" (out of time), or "contradicted": `board` scores more than that bound, so the search has a
        fault.
    check_solver : str or None
        Name of the second solver.
    check_seconds : float
        Elapsed time of the second solver, in seconds.
    """

    columns = "status score score_before bound proven check nodes seconds"
    status: RegionStatus
    board: Board
    score: int
    score_before: int
    bound: int
    nodes: int
    seconds: float
    cells: tuple[int, ...]
    legal: bool = True
    work: int = 0
    check: str | None = None
    check_solver: str | None = None
    check_seconds: float = 0.0

    @property
    def proven(self) -> bool:
        """Whether `board` is legal and no refill of the region is better."""
        return self.legal and self.score == self.bound and self.check != "contradicted"

    @property
    def improved(self) -> bool:
        """Whether the score is higher than that of the given board, which may have broken a rule."""
        return self.score > self.score_before


def resolve(
    puzzle: Puzzle,
    board: Board,
    cells: Iterable[int],
    *,
    target: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    options: RegionOptions = _DEFAULTS,
    reports: Reports = _NO_REPORTS,
) -> RegionResult:
    """Find the best refill of a region, the rest of the board staying as it is, and prove it if the budget allows.

    Empty cells of the region are filled, from the pieces that are not on the board. Empty cells elsewhere stay empty
    and count no matches. Clue cells get the piece of their clue; if an identical piece is on a clue's cell, the two
    pieces exchange numbers.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle of the board.
    board : Board
        It may be incomplete, and may break rules inside the region.
    cells : iterable of int
        The cells to be freed, next to each other or not, at most 256 without those of clues.
    target : int, optional
        Stop at this score of the whole board instead of searching for the best.
    nodes : int, optional
        Budget of nodes. Without `seconds`, the result then does not depend on the speed of the machine.
    seconds : float, optional
        Limit of elapsed time, without compilation.
    options : RegionOptions
        Order, bounds and prices; the optimum does not depend on them.
    reports : Reports
        Functions that are called during the search.

    Returns
    -------
    RegionResult
        The result; after Ctrl-C it has the best board and bound so far, and the status INTERRUPTED.

    Raises
    ------
    InputError
        If the puzzle has copies; if the region is empty or too large, or names a cell twice or off the board; if the
        board has another shape than the puzzle, breaks a rule outside the region, or leaves too few pieces for its rim.

    Notes
    -----
    Branch and bound with at most r mismatches, in fixed orders or by ColorPairs (`lns.exact.region.dynamic_search`).
    With a target, r is the mismatches that it allows; else r rises from a lower bound (`lns.exact.region.kernel`) until
    a refill is found. Search schemes limit where mismatches may be placed (`lns.exact.region.scheme`, after Kucherov et
    al. 2014), in bands spend curves too (`lns.exact.region.searches`, after Dvoretzky & Motzkin 1947). Long searches in
    the static order use cost-to-go tables with Lagrangian prices (`lns.exact.region.searches`, after Held & Karp 1971).
    """
    refuse_copies(puzzle, "a search of a region")
    region = checked_cells(puzzle, cells)
    if set(region) <= {clue.cell for clue in puzzle.fixed}:
        return _only_clues(puzzle, board, region)
    question = Region(puzzle, board, region, options.halved_from)
    ways = ["dynamic" if options.order == "dynamic" else "scheme"]
    if ways == ["scheme"] and target is None and options.curves and is_band(puzzle, question.plan.cells):
        ways.insert(0, "cyclic")
    if options.order == "auto" and (nodes is None or nodes > options.dynamic_after):
        ways.append("dynamic")
    search = RegionSearch(question, options, *ways)
    return _result(search, search.run(target, Budget(nodes, seconds), reports))


def _only_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> RegionResult:
    """Return the result for a region that has only clue cells."""
    before = verify(puzzle, board)
    after = with_clues(puzzle, board, cells)
    score = verify_rest(puzzle, after).score
    improved = score > before.score or bool(before.violations)
    status = RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL
    return RegionResult(status, after, score, before.score, score, nodes=0, seconds=0.0, cells=tuple(cells))


def _result(search: RegionSearch, ended: bool) -> RegionResult:
    """Return the result of a search; ``ended``: whether it ended without Ctrl-C."""
    region, allowed, incumbent, lower_bound = search.region, search.allowed, search.incumbent, search.lower_bound
    given, total = region.verification, region.base + region.joints
    has_refill = incumbent <= region.joints
    improved = has_refill and (total - incumbent > given.score or bool(given.violations))
    replaced = improved or (has_refill and search.best.placed > region.given.placed)
    status = (
        (RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL) if has_refill and lower_bound >= incumbent
        else RegionStatus.INTERRUPTED if not ended
        else RegionStatus.TARGET_REACHED if has_refill and allowed is not None and incumbent <= allowed
        else RegionStatus.IMPROVED if improved
        else RegionStatus.TARGET_REFUTED if allowed is not None and lower_bound > allowed
        else RegionStatus.BUDGET_SPENT
    )  # fmt: skip
    score = total - incumbent if replaced else given.score
    return RegionResult(
        status=status,
        board=search.best if replaced else region.given,
        score=score,
        score_before=given.score,
        bound=max(total - min(lower_bound, incumbent), score),
        nodes=search.budget.nodes,
        work=search.budget.work,
        seconds=search.budget.elapsed,
        cells=tuple(region.cells),
        legal=has_refill or not given.violations,
    )


def is_ready(order: str) -> bool:
    """Return whether the machine code that `warm_up` needs for an order of `RegionOptions` is in the cache on disk."""
    return all(is_compiled(module) for each in _ORDERS.get(order, (order,)) for module in _KERNELS[each])


@cache
def warm_up(order: str) -> None:
    """Compile or load the kernels for an order of `RegionOptions` by short searches of a small board, with prices too.

    The machine code depends neither on the board nor on the region. Raises InputError if the order is unknown, and
    KeyboardInterrupt on Ctrl-C; the next call then starts again.
    """
    puzzle, solution = uniform(4, 4, 3, 1)
    board = solution.with_pieces([5, 6], solution.placements[[6, 5]])
    RegionOptions(order)  # raises InputError if the order is unknown
    for each in _ORDERS.get(order, (order,)):
        options = RegionOptions(order=each, prices=True)
        if resolve(puzzle, board, range(16), nodes=100, options=options).status is RegionStatus.INTERRUPTED:
            raise KeyboardInterrupt
