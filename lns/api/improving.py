"""`improve`: find the best refill of a region of a board, and prove that no refill is better."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from lns.api.files import BoardSource, PuzzleSource, known_puzzle, load_board
from lns.exact.optional_deps import require
from lns.exact.region import windows
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import checked_cells
from lns.exact.region.region_search import Reports
from lns.exact.region.resolve import RegionResult, RegionStatus, is_ready, resolve, warm_up
from lns.exact.sat.refill import SOLVER, CheckAnswer, check_refills
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import BoardError, InputError
from lns.instances.puzzle import Puzzle, refuse_copies
from lns.instances.verify import Verification, verify

log = logging.getLogger("lns")

DEFAULT_SECONDS = 60.0
REPAIR_NODES = 200_000  # most nodes of each of the two searches of `legal_refill`
MOST_CELLS = 64  # most cells that a search of `legal_refill` frees


@checked
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
    heuristic: str = "dom-deg",
    preemption: bool = False,
    instantiation: bool = False,
    check: bool = False,
    on_improve: Callable[[Board], None] | None = None,
    on_progress: Callable[[int, int, int, float], None] | None = None,
) -> RegionResult:
    """Free cells of a board and refill them as well as possible; the other cells keep their pieces.

    Parameters
    ----------
    puzzle : Puzzle, str, path-like or None
        Puzzle of the board; ``None`` if the board knows it.
    board : Board, str or path-like
        Board to improve. Empty cells among ``cells`` are filled.
    cells : iterable of int, optional
        Cells to free, from 0, as the functions of `lns.cells` return them. By default the cells around the mismatches.
    donors : int
        Number of further cells to free, outside the region, whose pieces carry the colours that the region lacks.
    target : int, optional
        Score at which the search ends; if no refill reaches this score, the search may prove that.
    time : float, optional
        Time limit in seconds. A minute by default, unless ``nodes`` is given.
    nodes : int, optional
        Node limit, which gives the same answer on every machine.
    order : {"auto", "static", "dynamic"}
        Order in which cells are filled: ``"static"``: fixed; ``"dynamic"``: the most constrained cell next; ``"auto"``:
        static, and in long searches static and dynamic by turns.
    backjumping : bool
        Whether the dynamic order jumps back over decisions that have no part in a conflict.
    heuristic : str
        How the dynamic order chooses the next cell: ``"dom-deg"`` (fewest candidates divided by open neighbours), or
        the label of an `lns.ColorPairsHeuristic`.
    preemption, instantiation : bool
        In the dynamic order, once no further mismatch is allowed: whether pieces that one cell needs are kept from
        the others; whether a cell with one candidate is filled at once.
    check : bool
        Whether a second, independent solver then checks that no refill scores more than ``bound``: ``check`` of the
        result is ``"proved"``, ``"open"`` or ``"contradicted"``. This solver has the same time limit, a minute without
        one, and needs python-sat.
    on_improve : callable, optional
        Called with each better board, verified, as soon as it is found.
    on_progress : callable, optional
        Called now and then with (score, bound, nodes, seconds).

    Returns
    -------
    RegionResult
        ``board``, ``score``, ``bound`` and ``status``; ``proven``: whether it is proven that no refill is better.

    Raises
    ------
    InputError
        Cells off the board, a board of another puzzle, or one that breaks a rule outside the region; an unknown order
        or heuristic.

    Examples
    --------
    >>> import lns
    >>> puzzle, solution = lns.generate("like-e2", width=6, seed=3)
    >>> lns.improve(puzzle, solution, lns.cells.rows(puzzle, 2, 4)).status.value
    'optimal'
    """
    for name, value in (("time", time), ("nodes", nodes), ("donors", donors), ("target", target)):
        if value is not None and not value >= 0:
            raise InputError(f"{name} is {value}; expected 0 or more")
    given = load_board(board, puzzle)
    known = known_puzzle(given)
    refuse_copies(known, "improve")
    if check:
        require("sat", "the check")
    if target is not None and target > known.max_score:
        raise InputError(f"target {target} is more than a board of {known.name} can have: {known.max_score}")
    before = verify(known, given)
    if cells is not None:
        region = checked_cells(known, cells)
    else:
        region = sorted({*windows.around_mismatches(known, given)} | {*before.faulty} - {*known.holes})
    if not region and cells is None:
        if not before.complete:
            raise BoardError("the board has no mismatch; expected cells to free")
        best = known.max_score
        perfect = RegionResult(RegionStatus.OPTIMAL, given.of(known), best, best, best, 0, 0.0, ())
        return replace(perfect, check=CheckAnswer.PROVED, check_solver=SOLVER) if check else perfect
    others = windows.choose_donors(known, given, region, donors) if donors else []
    options = RegionOptions(
        order, backjumping=backjumping, heuristic=heuristic, preemption=preemption, instantiation=instantiation
    )
    prepare(order)
    seconds = DEFAULT_SECONDS if time is None and nodes is None else time
    start, spent = legal_refill(known, given, before, {*region, *others}, nodes)
    result = resolve(
        known, start, [*region, *others], target=target, nodes=None if nodes is None else nodes - spent,
        seconds=seconds, options=options, reports=Reports(on_progress, on_improve),
    )  # fmt: skip
    if before.violations:
        result = _compared_with_given(result, before.score, spent)
    if check:
        result = _checked(known, given, result, DEFAULT_SECONDS if seconds is None else seconds)
    return replace(result, board=result.board.of(known))


def prepare(order: str) -> None:
    """Load or compile the kernels of a region search; if they are compiled, a message says so first."""
    if not is_ready(order):
        log.info("compiling the kernels, once for this installation: about a minute of an idle core ...")
    warm_up(order)


def legal_refill(
    puzzle: Puzzle, board: Board, before: Verification, region: Collection[int], nodes: int | None = None
) -> tuple[Board, int]:
    """Refill the cells of a board that break a rule, so that a search of the region begins with a legal board.

    A first short search frees these cells; a second one also frees their neighbours in the region, unless that makes
    more than `MOST_CELLS`. Both together take at most half of ``nodes``. ``before`` is the verification of ``board``.
    Returns a board and the number of nodes searched. The given board is returned if it is legal, breaks a rule outside
    the region or on more than `MOST_CELLS` cells, or if no legal refill is found.
    """
    faulty = [cell for cell in before.faulty if cell in region]
    if not before.violations or len(faulty) < len(before.faulty) or len(faulty) > MOST_CELLS:
        return board, 0
    near = sorted(windows.with_neighbours(puzzle, faulty) & {*region} - {*puzzle.holes})
    budget = REPAIR_NODES if nodes is None else min(REPAIR_NODES, nodes // 4)
    spent = 0
    for cells in (faulty, near if len(near) <= MOST_CELLS else faulty) if budget else ():
        try:
            result = resolve(puzzle, board, cells, nodes=budget)
        except BoardError:  # raised if the piece of a clue lies on a cell that is not freed
            break
        spent += result.nodes
        if result.legal:
            board = result.board
    return board, spent


def _compared_with_given(result: RegionResult, score_before: int, spent: int) -> RegionResult:
    """Return ``result`` compared with the given illegal board, and with the ``spent`` nodes of `legal_refill` added."""
    improved, status = result.score > score_before, result.status
    if status in (RegionStatus.OPTIMAL, RegionStatus.IMPROVED_OPTIMAL):
        status = RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL
    elif status in (RegionStatus.IMPROVED, RegionStatus.BUDGET_SPENT):
        better = improved and (result.legal or status is RegionStatus.IMPROVED)
        status = RegionStatus.IMPROVED if better else RegionStatus.BUDGET_SPENT
    return replace(result, status=status, score_before=score_before, nodes=result.nodes + spent)


def _checked(puzzle: Puzzle, given: Board, result: RegionResult, seconds: float) -> RegionResult:
    """Return ``result`` with a second solver's answer, and with its board if that scores more than the bound."""
    result = replace(result, check=CheckAnswer.OPEN, check_solver=SOLVER)
    if result.status == RegionStatus.INTERRUPTED:
        return result
    found = check_refills(puzzle, given, result.cells, result.bound, seconds)
    result = replace(result, check=found.answer, check_seconds=found.seconds)
    if found.interrupted:
        return replace(result, status=RegionStatus.INTERRUPTED)
    if found.board is None:
        return result
    score = verify(puzzle, found.board).score
    status = RegionStatus.IMPROVED if score > result.score_before else RegionStatus.BUDGET_SPENT
    return replace(result, status=status, board=found.board, score=score, bound=puzzle.max_score, legal=True)
