"""The search with prices: bounds by `exact.region.cost_to_go`, from both ends of the region towards a cut in its
middle.

Let C be the units that a refill costs before the cut and V, W the least that the parts before and after it cost
(pieces reusable, the colours at the cut given). With R units in all there are R - V - W to waste, and one of the parts
wastes at most half of them. So two searches, one from each end, miss nothing: each holds its own first part to V plus
half of the waste. (A joint at the cut shows one search the colour on its one side, and the other search that on the
other; where they differ, the refill pays a mismatch that neither first part counts, and V and W change by no more.)
The prices come from subgradient steps: dearer what the cheapest refill lays twice, cheaper what it leaves out; equal
pieces share one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.region.cost_to_go import UNIT, fill, make_rest, trace, track
from exact.region.kernel import BALANCE, LOOK, PRICED, ROOM, load_region, start_search
from exact.region.order import set_order
from exact.region.plan import make_work
from exact.region.state import RegionPlan, RegionWork

Ints = npt.NDArray[np.int64]

LIMIT = 1 << 21  # colourings per depth: four rows of Eternity II
STEPS = 60  # subgradient steps
_PATIENCE = 6  # steps without a better bound before the step shrinks
_MOST = 10_000  # units that all prices together may reach: tables are of 16 bits


@dataclass
class _End:
    """A search from one end of the region."""

    plan: RegionPlan
    work: RegionWork
    order: Ints
    cut: int  # depth


class LagrangianSearch:
    """The priced searches of one region.

    ``steps``: about how long `set_prices` takes; 0 = too many joints are open at once, there is no room for the tables.
    """

    def __init__(
        self,
        plan: RegionPlan,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        orders: tuple[Ints, Ints],
        spare: int,
    ) -> None:
        self.used, self.board, self.spare = used, board, spare
        self.twin = plan.twin
        self.free = (used == 0) & (plan.of_clue == 0) & (plan.kind_of_piece >= 0)
        self.ends = []
        steps = []
        for order in orders:
            own = copy.deepcopy(plan)
            set_order(own, order, 0)
            work = make_work(own, spare)
            self.ends.append(_End(own, work._replace(rest=make_rest(own, work, used, LIMIT)), order, 0))
            steps.append(STEPS * int(track(own, self.ends[-1].work.rest, LIMIT)))
        self.steps = max(steps) if min(steps) > 0 else 0
        self._cut()
        self.sum = 0  # units, of the prices of all free pieces
        self.bound = -1  # mismatches that every refill has at least
        self.tables: list[npt.NDArray[np.int16]] = []

    def _cut(self) -> None:
        """Where both ends track the same joints, as near to the middle as can be; without such a place, one end."""
        first, last = self.ends
        n = len(first.order)
        for cut in sorted(range(1, n), key=lambda depth: abs(2 * depth - n)):
            if set(first.order[:cut]) == set(last.order[n - cut :]) and set(_joints(first, cut)) == set(
                _joints(last, n - cut)
            ):
                first.cut, last.cut = cut, n - cut
                return
        self.ends = [first]

    # -- prices ----------------------------------------------------------------------------------------------------

    def set_prices(self, goal: int, stop: Callable[[], bool]) -> None:
        """Raise the bound by better prices, until it exceeds ``goal`` mismatches or the steps are over."""
        prices = self._better(goal, stop)
        self.bound = int(np.ceil(self._bound(prices) - 1e-9))
        for other in self.ends[1:]:
            self._load(other, prices)
            fill(other.plan, other.work, len(other.order))
        if len(self.ends) == 2:
            self.tables = [_table(one).copy() for one in self.ends]

    def _better(self, goal: int, stop: Callable[[], bool]) -> Ints:
        """The best prices of the subgradient steps, in units by piece."""
        plan, work = self.ends[0].plan, self.ends[0].work
        lowest = 0 if self.spare else -_MOST // len(plan.cells)
        at, direction = np.zeros(len(self.used)), np.zeros(len(self.used))
        best, best_prices = -np.inf, at.astype(np.int64)
        scale, waited = 1.0, 0
        for _ in range(STEPS):
            whole = np.rint(at).astype(np.int64)
            bound = self._bound(whole)
            if bound > best + 0.01:
                best, best_prices, waited = bound, whole, 0
            else:
                waited += 1
                if waited == _PATIENCE:
                    scale, waited, at = 0.6 * scale, 0, best_prices.astype(float)
            uses = np.zeros(len(at), dtype=np.int64)
            trace(plan, work, uses)
            wrong = self._shared(np.where(self.free, uses - 1.0, 0.0))
            if best > goal or stop() or not wrong.any():
                break
            direction = 0.7 * wrong + 0.3 * (direction if direction.any() else wrong)
            at = at + scale * (goal + 1.5 - bound) * UNIT / (direction**2).sum() * direction
            at = np.clip(at, lowest, _MOST // len(plan.cells))
        return best_prices

    def _shared(self, wrong: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The mean over equal pieces: they must have one price. The two searches lay them in orders of their own, and
        are sure to find the same refill only if it costs both the same."""
        for twin in np.unique(self.twin[self.free & (self.twin >= 0)]):
            equal = self.free & (self.twin == twin)
            wrong[equal] = wrong[equal].mean()
        return wrong

    def _bound(self, prices: Ints) -> float:
        """Mismatches at least with these prices; fills the tables of the first end."""
        end = self.ends[0]
        self._load(end, prices)
        fill(end.plan, end.work, len(end.order))
        self.sum = int(prices[self.free].sum())
        return (int(end.work.rest.need[end.work.rest.at[0]]) - self.sum) / UNIT

    def _load(self, end: _End, prices: Ints) -> None:
        load_region(end.plan, end.work, self.used, self.board)
        end.work.rest.price[:] = prices[end.work.oriented >> 2]

    # -- searches --------------------------------------------------------------------------------------------------

    def begin(self, end: int, r: int, balance: int, look: int) -> tuple[RegionPlan, RegionWork]:
        """Start the search for at most ``r`` mismatches from one end, for `search_region` to go on with."""
        plan, work, cut = self.ends[end].plan, self.ends[end].work, self.ends[end].cut
        load_region(plan, work, self.used, self.board)
        room = r * UNIT + self.sum
        if len(self.ends) == 2:
            before, after = self._needs(end)
            waste = room - before - after
            share = waste // 2 if end == 0 else waste - waste // 2 - 1
            _table(self.ends[end])[...] = np.maximum(after, room - before - share)
            fill(plan, work, cut)
        work.state[[BALANCE, LOOK, PRICED, ROOM]] = balance, look, 1, room
        start_search(plan, work, r)
        return plan, work

    def _needs(self, end: int) -> tuple[Ints, Ints]:
        """Units that the part before the cut and the one after it cost at least, by the colours at the cut."""
        mine, other = self.ends[end], self.ends[1 - end]
        axes = [_joints(other, other.cut)[::-1].index(joint) for joint in _joints(mine, mine.cut)[::-1]]
        return self.tables[1 - end].transpose(axes).astype(np.int64), self.tables[end].astype(np.int64)


def _joints(end: _End, depth: int) -> list[int]:
    rest = end.work.rest
    return [int(joint) for joint in rest.joint[depth, : rest.tracked[depth]]]


def _table(end: _End) -> npt.NDArray[np.int16]:
    """The table at the cut, one axis for each joint, the last joint first."""
    rest = end.work.rest
    shape = [int(rest.radix[joint]) for joint in _joints(end, end.cut)][::-1]
    begin = int(rest.at[end.cut])
    return rest.need[begin : begin + int(np.prod(shape))].reshape(shape)
