"""Search with Lagrangian prices: cost-to-go bounds, and searches from both ends of the region towards a cut.

Let C be the units that a refill costs before the cut, and V and W the least that the parts before and after the cut
cost (pieces reusable, colours at the cut given). Of R units in all, R - V - W can be wasted, and one of the two parts
wastes at most half of that. So two searches, one from each end, find every refill: each limits its own first part to V
plus half of the waste. (At the cut, one search uses the colours on its side of a joint and the other those on the other
side. Where they differ, the refill pays a mismatch that neither first part counts, and V and W change by no more.)

Prices are set by subgradient steps: a piece that the cheapest refill repeats becomes more expensive, one that it leaves
out cheaper. Identical pieces have one price.

References
----------
M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees: Part II", Mathematical Programming
1, 1971.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.region import scalar
from exact.region.cost_to_go import UNIT, add_cheapest_refill, fill_tables, make_tables, plan_tables
from exact.region.options import RegionOptions
from exact.region.plan import make_state, with_order
from exact.region.scheme import RegionShape, direct_scheme
from exact.region.searches import StaticSearch
from exact.region.spend_curves import orders_from_both_ends
from exact.region.state import Ints, RegionPlan, RegionState

MAX_TABLE = 1 << 21  # entries of a table: four rows of Eternity II
STEPS = 60  # subgradient steps
_PATIENCE = 6  # steps without a better bound before the step length shrinks
_MAX_PRICES = 10_000  # units; limit of the sum of all prices, since tables have 16 bits


@dataclass
class _End:
    """A search from one end of the region; ``cut``: depth of the cut in its order."""

    plan: RegionPlan
    state: RegionState
    cut: int = 0


class LagrangianSearch(StaticSearch):
    """The searches of one region with prices, a part from each end.

    Parameters
    ----------
    shape, used, board, options
        As for `exact.region.searches.Search`.

    Attributes
    ----------
    steps : int
        Estimated steps of `set_prices`; 0 if the tables would be too large or have too many open joints.
    bound : int
        Mismatches that every refill has at least, once prices are set; -1 before.
    """

    def __init__(
        self,
        shape: RegionShape,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        options: RegionOptions,
    ) -> None:
        plan, spare = shape.plan, shape.spare
        self.scheme = direct_scheme(np.arange(len(plan.cells), dtype=np.int64))
        self.free = (used == 0) & (plan.is_clue == 0) & (plan.kind_of_piece >= 0)
        self.ends = []
        steps = []
        for order in orders_from_both_ends(shape.puzzle, plan.cells):
            own_plan = with_order(plan, order)
            state = make_state(own_plan, used, board, spare)
            state = state._replace(tables=make_tables(own_plan, state, used, MAX_TABLE))
            steps.append(STEPS * int(plan_tables(own_plan, state.tables, MAX_TABLE)))
            self.ends.append(_End(own_plan, state))
        super().__init__(shape, used, board, options, None, self.ends[0].state)
        self.steps = max(steps) if min(steps) > 0 else 0
        self._choose_cut()
        self.parts = len(self.ends)
        self.price_sum = 0  # units, of all free pieces
        self.bound = -1
        self.tables: list[npt.NDArray[np.int16]] = []

    def _choose_cut(self) -> None:
        """Cut nearest to the middle where both searches have the same open joints; without such a cut, use one end."""
        first, last = self.ends
        n = len(first.plan.order)
        for cut in sorted(range(1, n), key=lambda depth: abs(2 * depth - n)):
            meet = set(first.plan.order[:cut]) == set(last.plan.order[n - cut :])
            if meet and set(_open_joints(first, cut)) == set(_open_joints(last, n - cut)):
                first.cut, last.cut = cut, n - cut
                return
        self.ends = [first]

    # -- prices ----------------------------------------------------------------------------------------------------

    def set_prices(self, goal: int, stop: Callable[[], bool]) -> None:
        """Improve the prices until the bound exceeds ``goal`` mismatches, ``stop()`` is true or the steps are over."""
        prices = self._optimize_prices(goal, stop)
        self.bound = int(np.ceil(self._price_bound(prices) - 1e-9))
        for other in self.ends[1:]:
            self._fill(other, prices)
        if len(self.ends) == 2:
            self.tables = [_table_at_cut(end).copy() for end in self.ends]

    def _optimize_prices(self, goal: int, stop: Callable[[], bool]) -> Ints:
        """int64 (pieces,): the prices with the best bound among the subgradient steps, in units."""
        plan, state = self.ends[0].plan, self.ends[0].state
        lowest = 0 if self.shape.spare else -_MAX_PRICES // len(plan.cells)
        prices, direction = np.zeros(len(self.used)), np.zeros(len(self.used))
        best, best_prices = -np.inf, prices.astype(np.int64)
        scale, waited = 1.0, 0
        groups = [self.free & (plan.identical == each) for each in np.unique(plan.identical[self.free]) if each >= 0]
        for _ in range(STEPS):
            rounded = np.rint(prices).astype(np.int64)
            bound = self._price_bound(rounded)
            if bound > best + 0.01:
                best, best_prices, waited = bound, rounded, 0
            else:
                waited += 1
                if waited == _PATIENCE:
                    scale, waited, prices = 0.6 * scale, 0, best_prices.astype(float)
            uses = np.zeros(len(prices), dtype=np.int64)
            add_cheapest_refill(plan, state, uses)
            gradient = np.where(self.free, uses - 1.0, 0.0)
            for group in groups:  # both searches find the same refill only if identical pieces keep one price
                gradient[group] = gradient[group].mean()
            if best > goal or stop() or not gradient.any():
                break
            direction = 0.7 * gradient + 0.3 * (direction if direction.any() else gradient)
            prices = prices + scale * (goal + 1.5 - bound) * UNIT / (direction**2).sum() * direction
            prices = np.clip(prices, lowest, _MAX_PRICES // len(plan.cells))
        return best_prices

    def _price_bound(self, prices: Ints) -> float:
        """The bound on mismatches by these prices; fills the tables of the first end."""
        self._fill(self.ends[0], prices)
        self.price_sum = int(prices[self.free].sum())
        tables = self.ends[0].state.tables
        return (int(tables.cost[tables.cost_start[0]]) - self.price_sum) / UNIT

    def _fill(self, end: _End, prices: Ints) -> None:
        end.state.tables.price[:] = prices[end.state.oriented >> 2]
        fill_tables(end.plan, end.state, len(end.plan.order))

    # -- searches --------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin the search from the next end."""
        end = self.ends[self.part]
        self.plan, self.state = end.plan, end.state
        units = self.r * UNIT + self.price_sum
        if self.parts == 2:
            before, after = self._costs_at_cut()
            waste = units - before - after
            share = waste // 2 if self.part == 0 else waste - waste // 2 - 1
            _table_at_cut(end)[...] = np.maximum(after, units - before - share)
            fill_tables(end.plan, end.state, end.cut)
        end.state.scalars[[scalar.PRICED, scalar.UNITS]] = 1, units
        self._start()

    def _costs_at_cut(self) -> tuple[Ints, Ints]:
        """Least units of the part before the cut and of the part after it, by the colours at the cut."""
        this, other = self.ends[self.part], self.ends[1 - self.part]
        axes = [_open_joints(other, other.cut)[::-1].index(joint) for joint in _open_joints(this, this.cut)[::-1]]
        return self.tables[1 - self.part].transpose(axes).astype(np.int64), self.tables[self.part].astype(np.int64)


def _open_joints(end: _End, depth: int) -> list[int]:
    tables = end.state.tables
    return [int(joint) for joint in tables.open_joint[depth, : tables.open_count[depth]]]


def _table_at_cut(end: _End) -> npt.NDArray[np.int16]:
    """The table at the cut as a view with an axis for each joint, the last joint first."""
    tables = end.state.tables
    shape = [int(tables.radix[joint]) for joint in _open_joints(end, end.cut)][::-1]
    begin = int(tables.cost_start[end.cut])
    return tables.cost[begin : begin + int(np.prod(shape))].reshape(shape)
