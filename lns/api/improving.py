"""A region of a board, freed and re-solved exactly, with the proof of what it can hold at best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from exact.region import windows
from exact.region.options import RegionOptions
from exact.region.resolve import resolve
from exact.region.result import RegionResult, RegionStatus
from exact.region.warmup import warm_up
from instances.board import Board
from instances.verify import verify
from lns.api.files import BoardSource, PuzzleSource, load_board, load_puzzle
from lns_support.errors import BoardError, InputError

DEFAULT_SECONDS = 60.0


def improve(
    puzzle: PuzzleSource | None,
    board: BoardSource,
    cells: Iterable[int] | None = None,
    *,
    donors: int = 0,
    target: int | None = None,
    time: float | None = None,
    nodes: int | None = None,
    order: str = "auto",
    backjumping: bool = True,
    on_improve: Callable[[Board], None] | None = None,
    on_progress: Callable[[int, int, int, float], None] | None = None,
) -> RegionResult:
    """Free cells of a board and refill them as well as possible; the rest stays as it is.

    Parameters
    ----------
    puzzle : Puzzle, str, path-like or None
        Puzzle of the board; ``None`` if the board knows it.
    board : Board, str or path-like
        Board to improve. Empty cells among ``cells`` are filled.
    cells : iterable of int, optional
        Cells to free, from 0, as the functions of `lns.cells` return them. By default the cells around the mismatches.
    donors : int
        Further cells to free, elsewhere, whose pieces carry the colours that the region lacks.
    target : int, optional
        Matched inner edges to reach; the search ends there, or proves that no refill reaches it.
    time : float, optional
        Seconds at most. A minute by default, unless ``nodes`` is given.
    nodes : int, optional
        Nodes at most: the same answer on every machine.
    order : {"auto", "static", "dynamic"}
        Fill cell after cell, or the most constrained cell first; ``"auto"``: static, and in long searches
        both in turns.
    backjumping : bool
        Whether the dynamic order, chosen by name, jumps back over decisions that have no part in a conflict.
    on_improve : callable, optional
        Called with each better board as it is found, verified.
    on_progress : callable, optional
        Called now and then with (score, bound, nodes, seconds).

    Returns
    -------
    RegionResult
        ``board``, ``score``, ``bound`` and ``status``. ``result.proven`` says that no refill of the region is better.

    Raises
    ------
    InputError
        Cells off the board, a board of another puzzle, or one that breaks a rule outside the region.

    Examples
    --------
    >>> import lns
    >>> puzzle, solution = lns.generate("like-e2", width=6, seed=3)
    >>> lns.improve(puzzle, solution, lns.cells.rows(puzzle, 2, 4)).status.value
    'optimal'
    """
    known = None if puzzle is None else load_puzzle(puzzle)
    given = load_board(board, known)
    known = known or given.puzzle
    if known is None:
        raise InputError("this board does not know its puzzle; expected it as an argument")
    if target is not None and target > known.max_score:
        raise InputError(f"target {target} is more than a board of {known.name} can have: {known.max_score}")
    region = windows.around_mismatches(known, given) if cells is None else list(cells)
    if not region and cells is None:
        if not verify(known, given).complete:
            raise BoardError("the board has no mismatch; expected cells to free")
        best = known.max_score
        return RegionResult(RegionStatus.OPTIMAL, given.of(known), best, best, best, 0, 0.0, ())
    extra = windows.choose_donors(known, given, region, donors) if donors else []
    warm_up(order)
    result = resolve(
        known,
        given,
        region,
        donors=extra,
        target=target,
        nodes=nodes,
        seconds=DEFAULT_SECONDS if time is None and nodes is None else time,
        options=RegionOptions(order=order, backjumping=backjumping),
        on_progress=on_progress,
        on_improve=on_improve,
    )
    return replace(result, board=result.board.of(known))
