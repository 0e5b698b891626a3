"""The region re-solve as one call: free these cells, refill them as well as possible, say what was proven."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from exact.driver import StepSizer
from exact.region.budget import Budget
from exact.region.dynamic import DynamicSearch, is_compact
from exact.region.kernel import BEST, FINISHED, FOUND, NODES, NONE, OPEN, search_region
from exact.region.lagrangian import LagrangianSearch
from exact.region.options import RegionOptions
from exact.region.plan import checked_cells, make_work, plan_region
from exact.region.result import OnImprove, OnProgress, RegionResult, RegionStatus
from exact.region.spend_curves import SpendCurves, both_ways, schedules
from exact.region.state import RegionPlan, RegionWork
from exact.region.sweep import begin_sweep, sweep
from exact.region.validation import check_pieces, checked, filled, with_clues
from instances.board import EMPTY, Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError

__all__ = ["OnImprove", "OnProgress", "RegionOptions", "RegionResult", "RegionStatus", "resolve"]

_FIRST_TRY = 100_000  # nodes for a refill better than the incumbent, before the proof by deepening begins
_TRY_ALL = 20_000  # a level that cost less than this tries all schedules, to learn which is the best
_TRY_SOME = 1_000_000
_GROWTH = math.log(5.0)  # one more mismatch costs about five times more nodes
_STEPS_OF_A_NODE = 25  # of filling tables, in the time of a node without them
_PATIENCE = 0.5  # nodes before prices are set, as a share of what setting them takes
_FIRST_LOOK = 50_000  # nodes before that is found out
_NEVER = 1 << 62
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
    """The best refill of ``cells`` and ``donors``, the rest of ``board`` staying as it is.

    ``cells``, ``donors``: cell numbers; the pieces on all of them may move among all of them. Empty cells of the region
    are filled (from the pieces that lie nowhere), empty cells elsewhere stay empty and count nothing. Clue cells keep
    their clue; an identical piece on the cell of a clue changes names with the clue's. ``target``: a score to reach,
    instead of the best; ``nodes``: budget, same answer on every machine; ``seconds``: a limit that only stops.
    ``balance``, ``look``, ``curves``: switches of the two bounds and of the spend curves, for measuring; the optimum
    does not depend on them. ``prices``: True = set from the start, False = never, None = when the search turns out
    long. ``order``: "static" = cell after cell along the region; "dynamic" = the most urgent cell first, with or
    without
    ``backjumping`` (no prices, and ``look`` is part of it); "auto" = urgent where that is quicker, in compact regions,
    without jumps. ``keep`` is called with every better board as it is found, verified, so that it can be saved long
    before the end.
    Raises InputError for an unusable region, donors that overlap, a board of another shape or that breaks a rule
    outside the region.
    """
    region = checked_cells(puzzle, cells)
    extra = [int(cell) for cell in donors]
    overlap = set(region) & set(extra)
    if overlap:
        raise InputError(f"the donors overlap the region at {puzzle.cell_label(min(overlap))}; expected other cells")
    region = checked_cells(puzzle, [*region, *extra])
    if set(region) <= {clue.cell for clue in puzzle.clues}:
        return _only_clues(puzzle, board, region)
    search = _Resolve(puzzle, board, region, options)
    dynamic, prices = options.order == "dynamic", options.prices
    if dynamic or (options.order == "auto" and not prices and is_compact(puzzle, search.plan.cells)):
        search.use_dynamic_order(options.backjumping and dynamic)
        prices = False
    return search.run(target, prices, Budget(nodes, seconds), on_progress, on_improve)


class _Resolve:
    """One question. Mismatches are counted on the joints of the region; score = ``base`` + joints - mismatches."""

    def __init__(self, puzzle: Puzzle, board: Board, cells: list[int], options: RegionOptions) -> None:
        self.puzzle = puzzle
        self.given = board
        self.cells = cells
        self.judged = verify(puzzle, board)
        self.bounds = int(options.balance), int(options.lookahead)
        start = with_clues(puzzle, board, cells)
        clue_cells = {clue.cell for clue in puzzle.clues}
        free = np.array([cell for cell in cells if cell not in clue_cells], dtype=np.int64)
        outside = start.placements.copy()
        outside[free] = EMPTY
        self.outside = outside
        rest = checked(puzzle, Board(outside, puzzle.width, puzzle.height))
        self.plan: RegionPlan = plan_region(puzzle, free.tolist(), filled=outside >= 0)
        self.joints = int((self.plan.demand == 2).sum()) - _inner_joints(self.plan)
        self.base = rest.score
        self.used = np.zeros(puzzle.cells, dtype=np.uint8)
        self.used[outside[outside >= 0] >> 2] = 1
        self.spare = max(0, int((self.used == 0).sum()) - len(free))
        check_pieces(self.plan, self.used)
        self.work = make_work(self.plan, self.spare)
        self.priced: LagrangianSearch | None = None
        self.dynamic: DynamicSearch | None = None
        self.schedules: list[SpendCurves] = schedules(puzzle, self.plan.cells, curves=options.curves)
        self.best = start
        begun = self.judged if start == board else verify(puzzle, start)
        lies = start.placements[free] >= 0
        if lies.any() and not lies.all() and not begun.violations:  # what lies is to be kept until a refill is better
            self.best = filled(puzzle, start, free.tolist())
            begun = verify(puzzle, self.best)
        # mismatches of the incumbent; one more than possible where it is none
        self.incumbent = (
            self.base + self.joints - begun.score if lies.any() and not begun.violations else self.joints + 1
        )
        self.refuted = -1  # no refill has at most this many mismatches

    def use_dynamic_order(self, backjumping: bool) -> None:
        """Search in a dynamic order from now on, also with mismatches anywhere: in some squares that is quicker."""
        if len(self.schedules) > 1:
            self.schedules += schedules(self.puzzle, self.plan.cells, curves=False)
        self.dynamic = DynamicSearch(
            self.plan, self.work, self.used, self.outside, balance=self.bounds[0], backjumping=backjumping
        )

    # -- the question ----------------------------------------------------------------------------------------------

    def run(
        self,
        target: int | None,
        prices: bool | None,
        meter: Budget,
        on_progress: OnProgress | None,
        on_improve: OnImprove | None,
    ) -> RegionResult:
        # mismatches that the target allows; -1 = it is out of reach, None = the best is asked for
        self.enough = None if target is None else max(-1, min(self.joints, self.base + self.joints - target))
        interrupted = False
        self.meter, self.on_progress, self.on_improve = meter, on_progress, on_improve
        self.costs: dict[str, tuple[int, float]] = {}  # schedule -> (r, nodes that refuting r took)
        least = self._least()
        meter.start()
        try:
            self.patience = {None: _FIRST_LOOK, True: 0, False: _NEVER}[prices]
            self._refute(min(least, self.incumbent) - 1)
            self._search()
        except KeyboardInterrupt:
            interrupted = True
        return self._result(interrupted)

    def _least(self) -> int:
        """Mismatches that every refill has at least, by the bound at the root. Loads the machine code too."""
        _compile(self)
        return int(self.work.bound[0]) * self.bounds[0]

    def _search(self) -> None:
        """Tries for a better refill, each a little longer, between the levels of a proof by deepening."""
        effort = _FIRST_TRY
        while not self._settled and not self.meter.spent:
            if self.meter.nodes >= self.patience:
                self._consider_prices()
                continue
            if self._aim > self.refuted + 1 and self._attempt(self._ranked(self._aim)[0], self._aim, effort) == FOUND:
                continue
            while not self._settled and not self.meter.spent:
                before = self.meter.nodes
                self._level(self.refuted + 1)
                if self.meter.nodes - before > effort or self.meter.nodes >= self.patience:
                    break  # the next level will be longer still: try for more again
            effort *= 4

    @property
    def _aim(self) -> int:
        """Mismatches that the next find may have."""
        return self.incumbent - 1 if self.enough is None else min(self.incumbent - 1, self.enough)

    @property
    def _settled(self) -> bool:
        """Whether nothing is left to find: none is better, or the target is reached or refuted."""
        return self._aim <= self.refuted or (self.enough is not None and self.incumbent <= self.enough)

    def _level(self, r: int) -> None:
        """Decide whether some refill has at most ``r`` mismatches; while levels are cheap, find the best schedule."""
        ranked = self._ranked(r)
        if self._attempt(ranked[0], r, None) != NONE or self.priced is not None:
            return
        cost = int(self.costs[ranked[0].name][1])
        for schedule in ranked[1 : len(ranked) if cost < _TRY_ALL else 3 if cost < _TRY_SOME else 1]:
            if self._settled or self.meter.spent or self.meter.nodes >= self.patience:
                break
            if self._attempt(schedule, r, cost) == NONE:
                cost = int(self.costs[schedule.name][1])

    def _ranked(self, r: int) -> list[SpendCurves]:
        """Cheapest first, by what an earlier level cost; untried ones keep their place behind."""

        def cost(schedule: SpendCurves) -> float:
            level, nodes = self.costs.get(schedule.name, (r, math.inf))
            return (math.log(nodes) if nodes else -math.inf) + _GROWTH * (r - level)

        return sorted(self.schedules, key=cost)

    def _attempt(self, schedule: SpendCurves, r: int, limit: int | None) -> int:
        """Sweep for at most ``r`` mismatches within ``limit`` nodes: FOUND, NONE or OPEN."""
        if self.priced is not None:
            return self._priced_attempt(self.priced, r, limit)
        began = self.meter.nodes
        limit = min(self.patience - began, _NEVER if limit is None else limit)
        begin_sweep(self.work)
        while True:
            status, made = self.sweep(schedule, r, self.meter.step(limit - (self.meter.nodes - began)))
            self.meter.count(made)
            spent = self.meter.nodes - began
            if status == FOUND:
                self._take(self.plan, self.work)
                return FOUND
            if status == NONE:
                self.costs[schedule.name] = r, spent
                self._refute(r)
                return NONE
            if self.meter.spent or spent >= limit:
                self.costs[schedule.name] = r, 3.0 * spent
                return OPEN
            self._tell()

    def sweep(self, schedule: SpendCurves, r: int, node_budget: int) -> tuple[int, int]:
        """Go on with the sweep: (status, nodes made)."""
        if self.dynamic is not None:
            return self.dynamic.sweep(schedule, r, node_budget)
        return sweep(
            self.plan, self.work, self.used, self.outside, schedule.order, schedule.shifts, schedule.curve,
            schedule.total, r, *self.bounds, node_budget,
        )  # fmt: skip

    # -- prices ----------------------------------------------------------------------------------------------------

    def _consider_prices(self) -> None:
        """Set prices now, or find out when it will be worth its time."""
        orders = both_ways(self.puzzle, self.plan.cells)
        priced = LagrangianSearch(self.plan, self.used, self.outside, orders, self.spare)
        cost = priced.steps // _STEPS_OF_A_NODE
        if priced.steps == 0:
            self.patience = _NEVER
            return
        if 0 < self.patience < _PATIENCE * cost:
            affordable = self.meter.limit is None or cost <= self.meter.limit
            self.patience = math.ceil(_PATIENCE * cost) if affordable else _NEVER
            return
        priced.set_prices(self._aim, lambda: self.meter.spent)
        self.priced, self.patience, self.meter.pace = priced, _NEVER, StepSizer()
        self._refute(min(priced.bound, self.incumbent) - 1)

    def _priced_attempt(self, priced: LagrangianSearch, r: int, limit: int | None) -> int:
        """The same with prices: a search from each end."""
        began = self.meter.nodes
        most = _NEVER if limit is None else limit
        for end in range(len(priced.ends)):
            plan, work = priced.begin(end, r, *self.bounds)
            while not work.state[FINISHED]:
                before = int(work.state[NODES])
                search_region(plan, work, before + self.meter.step(most - (self.meter.nodes - began)))
                self.meter.count(int(work.state[NODES]) - before)
                if work.state[BEST] >= 0:
                    self._take(plan, work)
                    return FOUND
                if not work.state[FINISHED] and (self.meter.spent or self.meter.nodes - began >= most):
                    return OPEN
                self._tell()
        self._refute(r)
        return NONE

    # -- what is known ---------------------------------------------------------------------------------------------

    def _refute(self, r: int) -> None:
        if r > self.refuted:
            self.refuted = r
        self._tell()

    def _tell(self) -> None:
        if self.on_progress is not None:
            total = self.base + self.joints
            bound = total - min(self.refuted + 1, self.incumbent)
            self.on_progress(total - self.incumbent, bound, self.meter.nodes, self.meter.elapsed)

    def _take(self, plan: RegionPlan, work: RegionWork) -> None:
        """Make the refill that was found the incumbent."""
        placements = self.outside.copy()
        placements[plan.cells[plan.order]] = work.found
        board = Board(placements, self.puzzle.width, self.puzzle.height)
        mismatches = int(work.state[BEST])
        judged = verify(self.puzzle, board)
        if judged.score != self.base + self.joints - mismatches or judged.violations:
            raise AssertionError(f"a refill with {mismatches} mismatches does not verify: {judged}")
        if mismatches < self.incumbent:
            self.best, self.incumbent = board, mismatches
            if self.on_improve is not None:
                self.on_improve(board)
            self._tell()

    def _result(self, interrupted: bool) -> RegionResult:
        total, before, enough = self.base + self.joints, self.judged.score, self.enough
        if self.refuted >= self.joints and self.incumbent > self.joints:
            raise AssertionError("every refill was refuted")
        bound = total - min(self.refuted + 1, self.incumbent)
        found = self.incumbent <= self.joints
        proven = found and self.refuted + 1 >= self.incumbent
        reached = found and enough is not None and self.incumbent <= enough
        improved = found and (total - self.incumbent > before or bool(self.judged.violations))
        taken = improved or (found and self.best.placed > self.given.placed)
        status = (
            (RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL) if proven
            else RegionStatus.INTERRUPTED if interrupted
            else RegionStatus.TARGET_REACHED if reached
            else RegionStatus.IMPROVED if improved
            else RegionStatus.TARGET_REFUTED if enough is not None and self.refuted >= enough
            else RegionStatus.BUDGET_SPENT
        )  # fmt: skip
        score = total - self.incumbent if taken else before
        return RegionResult(
            status,
            self.best if taken else self.given,
            score,
            before,
            max(bound, score),
            self.meter.nodes,
            self.meter.elapsed,
            tuple(self.cells),
            legal=found or not self.judged.violations,
        )


def _only_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> RegionResult:
    """The result for a region in which nothing can change."""
    before = verify(puzzle, board)
    after = with_clues(puzzle, board, cells)
    judged = verify(puzzle, after)
    checked(puzzle, after)
    improved = judged.score > before.score or bool(before.violations)
    status = RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL
    return RegionResult(status, after, judged.score, before.score, judged.score, 0, 0.0, tuple(cells))


def _compile(search: _Resolve) -> None:
    """Load the machine code before the clock starts."""
    begin_sweep(search.work)
    search.sweep(search.schedules[0], -1, 0)


def _inner_joints(plan: RegionPlan) -> int:
    """Joints with both cells in the region: seen from both sides."""
    return int((plan.around >= 0).sum()) // 2
