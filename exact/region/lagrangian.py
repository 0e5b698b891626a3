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

from exact.region.cost_to_go import UNIT, add_cheapest_refill, fill_tables, make_tables, plan_tables
from exact.region.kernel import BALANCE, LOOKAHEAD, PRICED, UNITS, load_region, start_search
from exact.region.order import with_order
from exact.region.plan import make_state
from exact.region.scheme import direct_scheme
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
    order: Ints
    cut: int


class LagrangianSearch:
    """The searches of one region with prices, one from each end.

    Parameters
    ----------
    plan : RegionPlan
    used : ndarray of uint8 (pieces,)
        1 for pieces outside the region.
    board : ndarray of int32 (cells,)
        Oriented pieces outside the region, -1 elsewhere.
    orders : tuple of two int64 arrays (n,)
        The orders of the cells from one end and from the other.
    spare : int
        Free pieces that will be left over.

    Attributes
    ----------
    steps : int
        Estimated steps of `set_prices`; 0 if the tables would be too large or have too many open joints.
    bound : int
        Mismatches that every refill has at least, once prices are set; -1 before.
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
        self.scheme = direct_scheme(np.arange(len(plan.cells), dtype=np.int64))
        self.identical = plan.identical
        self.free = (used == 0) & (plan.is_clue == 0) & (plan.kind_of_piece >= 0)
        self.ends = []
        steps = []
        for order in orders:
            own_plan = with_order(plan, order)
            state = make_state(own_plan, spare)
            self.ends.append(
                _End(own_plan, state._replace(tables=make_tables(own_plan, state, used, MAX_TABLE)), order, 0)
            )
            steps.append(STEPS * int(plan_tables(own_plan, self.ends[-1].state.tables, MAX_TABLE)))
        self.steps = max(steps) if min(steps) > 0 else 0
        self._choose_cut()
        self.price_sum = 0  # units, of all free pieces
        self.bound = -1
        self.tables: list[npt.NDArray[np.int16]] = []

    def _choose_cut(self) -> None:
        """Cut nearest to the middle where both searches have the same open joints; without such a cut, use one end."""
        first, last = self.ends
        n = len(first.order)
        for cut in sorted(range(1, n), key=lambda depth: abs(2 * depth - n)):
            if set(first.order[:cut]) == set(last.order[n - cut :]) and set(_open_joints(first, cut)) == set(
                _open_joints(last, n - cut)
            ):
                first.cut, last.cut = cut, n - cut
                return
        self.ends = [first]

    # -- prices ----------------------------------------------------------------------------------------------------

    def set_prices(self, goal: int, stop: Callable[[], bool]) -> None:
        """Improve the prices until the bound exceeds ``goal`` mismatches, ``stop()`` is true or the steps are over."""
        prices = self._optimize_prices(goal, stop)
        self.bound = int(np.ceil(self._price_bound(prices) - 1e-9))
        for other in self.ends[1:]:
            self._load(other, prices)
            fill_tables(other.plan, other.state, len(other.order))
        if len(self.ends) == 2:
            self.tables = [_table_at_cut(end).copy() for end in self.ends]

    def _optimize_prices(self, goal: int, stop: Callable[[], bool]) -> Ints:
        """int64 (pieces,): the prices with the best bound among the subgradient steps, in units."""
        plan, state = self.ends[0].plan, self.ends[0].state
        lowest = 0 if self.spare else -_MAX_PRICES // len(plan.cells)
        prices, direction = np.zeros(len(self.used)), np.zeros(len(self.used))
        best, best_prices = -np.inf, prices.astype(np.int64)
        scale, waited = 1.0, 0
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
            gradient = self._average_identical(np.where(self.free, uses - 1.0, 0.0))
            if best > goal or stop() or not gradient.any():
                break
            direction = 0.7 * gradient + 0.3 * (direction if direction.any() else gradient)
            prices = prices + scale * (goal + 1.5 - bound) * UNIT / (direction**2).sum() * direction
            prices = np.clip(prices, lowest, _MAX_PRICES // len(plan.cells))
        return best_prices

    def _average_identical(self, gradient: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Replace the entries of identical pieces by their mean, so that they keep one price.

        The two searches place identical pieces in different orders; both find the same refill only if it costs the same
        in both.
        """
        for group in np.unique(self.identical[self.free & (self.identical >= 0)]):
            members = self.free & (self.identical == group)
            gradient[members] = gradient[members].mean()
        return gradient

    def _price_bound(self, prices: Ints) -> float:
        """The bound on mismatches by these prices; fills the tables of the first end."""
        end = self.ends[0]
        self._load(end, prices)
        fill_tables(end.plan, end.state, len(end.order))
        self.price_sum = int(prices[self.free].sum())
        return (int(end.state.tables.cost[end.state.tables.cost_start[0]]) - self.price_sum) / UNIT

    def _load(self, end: _End, prices: Ints) -> None:
        load_region(end.plan, end.state, self.used, self.board)
        end.state.tables.price[:] = prices[end.state.oriented >> 2]

    # -- searches --------------------------------------------------------------------------------------------------

    def start(self, end: int, r: int, balance: int, lookahead: int) -> tuple[RegionPlan, RegionState]:
        """Start the search from one end for at most ``r`` mismatches, to be continued by `search_region`."""
        plan, state, cut = self.ends[end].plan, self.ends[end].state, self.ends[end].cut
        load_region(plan, state, self.used, self.board)
        units = r * UNIT + self.price_sum
        if len(self.ends) == 2:
            before, after = self._costs_at_cut(end)
            waste = units - before - after
            share = waste // 2 if end == 0 else waste - waste // 2 - 1
            _table_at_cut(self.ends[end])[...] = np.maximum(after, units - before - share)
            fill_tables(plan, state, cut)
        state.scalars[[BALANCE, LOOKAHEAD, PRICED, UNITS]] = balance, lookahead, 1, units
        start_search(plan, state, self.scheme, r)
        return plan, state

    def _costs_at_cut(self, end: int) -> tuple[Ints, Ints]:
        """Least units of the part before the cut and of the part after it, by the colours at the cut."""
        this, other = self.ends[end], self.ends[1 - end]
        axes = [_open_joints(other, other.cut)[::-1].index(joint) for joint in _open_joints(this, this.cut)[::-1]]
        return self.tables[1 - end].transpose(axes).astype(np.int64), self.tables[end].astype(np.int64)


def _open_joints(end: _End, depth: int) -> list[int]:
    tables = end.state.tables
    return [int(joint) for joint in tables.open_joint[depth, : tables.open_count[depth]]]


def _table_at_cut(end: _End) -> npt.NDArray[np.int16]:
    """The table at the cut as a view with an axis for each joint, the last joint first."""
    tables = end.state.tables
    shape = [int(tables.radix[joint]) for joint in _open_joints(end, end.cut)][::-1]
    begin = int(tables.cost_start[end.cut])
    return tables.cost[begin : begin + int(np.prod(shape))].reshape(shape)
