"""The region re-solve: free some cells of a board, refill them as well as possible, and report what was proven."""

from __future__ import annotations

from collections.abc import Iterable

from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region, checked_cells, verify_rest, with_clues
from lns.exact.region.region_search import Budget, RegionSearch
from lns.exact.region.result import OnImprove, OnProgress, RegionResult, RegionStatus
from lns.exact.region.scheme import is_band
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify

__all__ = ["OnImprove", "OnProgress", "RegionOptions", "RegionResult", "RegionStatus", "resolve"]

_DEFAULTS = RegionOptions()


def resolve(
    puzzle: Puzzle,
    board: Board,
    cells: Iterable[int],
    *,
    donors: Iterable[int] = (),
    target: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    options: RegionOptions = _DEFAULTS,
    on_progress: OnProgress | None = None,
    on_improve: OnImprove | None = None,
) -> RegionResult:
    """Find the best refill of a region, the rest of the board staying as it is, and prove it if the budget allows.

    Empty cells of the region are filled, from the pieces that are not on the board. Empty cells elsewhere stay empty
    and count no matches. Clue cells get the piece of their clue; if an identical piece is on a clue's cell, the two
    pieces exchange numbers.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board
        It may be incomplete, and may break rules inside the region.
    cells : iterable of int
        The cells to be freed, at most 256 without those of clues.
    donors : iterable of int
        More cells to be freed, usually apart from the region: their pieces and those of `cells` may exchange places.
    target : int, optional
        Stop at this score of the whole board instead of searching for the best.
    nodes : int, optional
        Budget of nodes. The result then does not depend on the speed of the machine.
    seconds : float, optional
        Limit of elapsed time, without compilation.
    options : RegionOptions
        Order, bounds and prices; the optimum does not depend on them.
    on_progress : callable, optional
        Called now and then with score, bound, nodes and seconds.
    on_improve : callable, optional
        Called with every better board when it is found; the board is verified.

    Returns
    -------
    RegionResult
        After Ctrl-C with what is known, and the status INTERRUPTED.

    Raises
    ------
    InputError
        If the region is empty or too large, names a cell twice or off the board, or overlaps the donors; if the board
        has another shape than the puzzle or breaks a rule outside the region.

    Notes
    -----
    Branch and bound with at most r mismatches, in fixed orders or by ColorPairs (`lns.exact.region.dynamic_search`).
    With a target, r is what it allows; else r rises from a lower bound (`lns.exact.region.kernel`) until a refill is
    found. Search schemes limit where mismatches may be placed (`lns.exact.region.scheme`, after Kucherov et al. 2014),
    in bands spend curves too (`lns.exact.region.scheme`, after Dvoretzky & Motzkin 1947), and long searches in the
    static order use cost-to-go tables with Lagrangian prices (`lns.exact.region.searches`, after Held & Karp 1971).
    """
    region = checked_cells(puzzle, cells)
    donor_cells = [int(cell) for cell in donors]
    overlap = set(region) & set(donor_cells)
    if overlap:
        raise InputError(f"the donors overlap the region at {puzzle.cell_label(min(overlap))}; expected other cells")
    region = checked_cells(puzzle, [*region, *donor_cells])
    if set(region) <= {clue.cell for clue in puzzle.fixed}:
        return _only_clues(puzzle, board, region)
    question = Region(puzzle, board, region, options.halved_from)
    ways = ["dynamic" if options.order == "dynamic" else "scheme"]
    if ways == ["scheme"] and target is None and options.curves and is_band(puzzle, question.plan.cells):
        ways.insert(0, "cyclic")
    if options.order == "auto" and (nodes is None or nodes > options.dynamic_after):
        ways.append("dynamic")
    return RegionSearch(question, options, *ways).run(target, Budget(nodes, seconds), on_progress, on_improve)


def _only_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> RegionResult:
    """The result for a region that has only clue cells."""
    before = verify(puzzle, board)
    after = with_clues(puzzle, board, cells)
    score = verify_rest(puzzle, after).score
    improved = score > before.score or bool(before.violations)
    status = RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL
    return RegionResult(status, after, score, before.score, score, nodes=0, seconds=0.0, cells=tuple(cells))
