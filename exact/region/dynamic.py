"""The dynamic search of a region as `exact.region.resolve` uses it: all starts of a schedule, one after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.dynamic_moves import by_number, make_dynamic_state
from exact.region.dynamic_search import BACKJUMPING, LINES, search_dynamic, start_dynamic
from exact.region.kernel import (
    BALANCE,
    BEST,
    FINISHED,
    FOUND,
    NODES,
    NONE,
    OPEN,
    RUNNING,
    START,
    load_region,
    start_search,
)
from exact.region.spend_curves import SpendCurves
from exact.region.state import RIM, Ints, RegionPlan, RegionWork
from instances.puzzle import Puzzle

STEP = 400_000  # nodes between two looks at the clock: 50 to 200 ms


def is_compact(puzzle: Puzzle, cells: Ints) -> bool:
    """Whether the dynamic order is the quicker one for these cells, as measured (docs/windows.md).

    It is in a block nearly square: less than half as long again as wide, three quarters of it in the region. A static
    order lives on a frontier that stays short, and on prices, which need one.
    """
    short, long = sorted(len(np.unique(line)) for line in np.divmod(cells, puzzle.width))
    return 2 * long < 3 * short and 4 * len(cells) >= 3 * short * long


class DynamicSearch:
    """Searches of one region, the most urgent cell first (`exact.region.dynamic_search`).

    A schedule's order only tells where mismatches may be spent; the cells are decided in an order of their own, which
    ``plan.order`` shows after a find, beside ``work.found``.
    """

    def __init__(
        self,
        plan: RegionPlan,
        work: RegionWork,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        *,
        balance: int,
        backjumping: bool,
    ) -> None:
        self.plan, self.work, self.used, self.board = plan, work, used, board
        self.balance, self.backjumping = balance, backjumping
        self.laid = work._replace(free=np.zeros_like(work.free))
        self.urgency = make_dynamic_state(plan, work)

    def sweep(self, schedule: SpendCurves, r: int, node_budget: int) -> tuple[int, int]:
        """Go on with the sweep for at most ``r`` mismatches; as `exact.region.sweep.sweep`, begun by `begin_sweep`."""
        state, made = self.work.state, 0
        node_budget = min(node_budget, STEP)
        while state[START] < len(schedule.shifts):
            if not state[RUNNING]:
                if not self._begin(schedule, int(state[START]), r):
                    return NONE, made
                state[RUNNING] = 1
            before = int(state[NODES])
            search_dynamic(self.plan, self.work, self.laid, self.urgency, before + node_budget - made)
            made += int(state[NODES]) - before
            if state[BEST] >= 0:
                state[RUNNING] = 0
                return FOUND, made
            if not state[FINISHED]:
                return OPEN, made
            state[START] += 1
            state[RUNNING] = 0
        return NONE, made

    def _begin(self, schedule: SpendCurves, start: int, r: int) -> bool:
        """Stand at the root of one start; False when some kind of piece is too few."""
        plan, work, urgency = self.plan, self.work, self.urgency
        if not load_region(plan, work, self.used, self.board):
            return False
        allowed = np.minimum(r, r * schedule.curve[start] // schedule.total)
        cap, line = np.unique(allowed, return_inverse=True)  # one line per height of the curve
        line_of = np.zeros(len(line), dtype=np.int64)
        line_of[np.roll(schedule.order, -schedule.shifts[start])] = line
        beyond = np.where(plan.around >= 0, line_of[np.maximum(plan.around, 0)], 0)
        inner = plan.around != RIM
        urgency.line[plan.joint_at[inner]] = np.maximum(line_of[:, None], beyond)[inner]
        urgency.cap[: len(cap)] = cap
        by_number(plan, urgency)
        work.state[[BALANCE, LINES, BACKJUMPING]] = self.balance, len(cap), self.backjumping
        start_search(plan, work, r)
        start_dynamic(plan, work, self.laid, urgency)
        return True
