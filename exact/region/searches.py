"""The searches of one region for a refill with at most r mismatches: in fixed orders, in a dynamic order, with prices.

With Lagrangian prices and cost-to-go bounds (`lns.exact.region.cost_to_go`), the region is searched from both ends
towards a cut. Let C be the units that a refill costs before the cut, and V and W the least that the parts before and
after it cost (pieces reusable, colours at the cut given). Of R units in all, R - V - W can be wasted, and one of the
two parts wastes at most half of that. So two searches, one from each end, find every refill: each limits its own first
part to V plus half of the waste. (At the cut, one search uses the colours on its side of a joint and the other those on
the other side. Where they differ, the refill pays a mismatch that neither first part counts, and V and W change by no
more.)

Prices are set by subgradient steps: a piece that the cheapest refill repeats becomes more expensive, one that it leaves
out cheaper. Identical pieces have one price.

References
----------
M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees: Part II", Mathematical Programming
1, 1971.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lns.exact.region import scalar
from lns.exact.region.cost_to_go import UNIT, add_cheapest_refill, fill_tables, plan_tables
from lns.exact.region.dynamic_search import search_dynamic
from lns.exact.region.dynamic_state import DynamicArrays, make_arrays, members_of, switches_of
from lns.exact.region.kernel import search_region, start_search
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region, make_slots, make_state
from lns.exact.region.scheme import (
    RegionShape,
    SearchScheme,
    SpendCurves,
    block_scheme,
    direct_scheme,
    make_scheme,
    make_spend_curves,
    orders_from_both_ends,
)
from lns.exact.region.state import EXHAUSTED, FOUND, PAUSED, Ints, RegionPlan, RegionState

MAX_TABLE = 1 << 21  # entries of a table: four rows of Eternity II
STEPS = 60  # subgradient steps
_PATIENCE = 6  # steps without a better bound before the step length shrinks
_MAX_PRICES = 10_000  # units; limit of the sum of all prices, since tables have 16 bits
_UNFINISHED = 3.0  # a search that was stopped is expected to take so many times the nodes that it had
_GROWTH = math.log(5.0)  # one more mismatch costs about five times as many nodes
_MAX_STEP = 400_000  # nodes of one step, 50 to 200 ms in the dynamic order, so that time limits hold


class Search:
    """Searches of one region for refills with at most r mismatches, in parts that run one after the other.

    Parameters
    ----------
    region : Region
    options : RegionOptions
    curves : SpendCurves, optional
        Search by these, a part from each start; otherwise by a search scheme, in one part.
    state : RegionState, optional
        The state of another search of the region, of which only one runs at a time.
    """

    NODE_COST = 1  # nodes in a fixed order that take as long as one node
    scheme: SearchScheme

    def __init__(
        self,
        region: Region,
        options: RegionOptions,
        curves: SpendCurves | None = None,
        state: RegionState | None = None,
    ) -> None:
        self.region, self.options, self.curves = region, options, curves
        self.plan, self.state = region.plan, state or make_state(region)
        self.parts = 1 if curves is None else len(curves.starts)
        self.known: tuple[int, float] | None = None  # r of the last search recorded, and what it cost

    def record(self, r: int, nodes: int, *, ended: bool = True) -> None:
        """Record the nodes of a search for at most ``r`` mismatches; one that has not ended is taken to need more."""
        self.known = r, nodes * self.NODE_COST * (1.0 if ended else _UNFINISHED)

    @property
    def cost(self) -> float:
        """The node equivalents that were recorded last; 0 if none were."""
        return self.known[1] if self.known else 0.0

    def log_cost(self, r: int) -> float:
        """Logarithm of the expected node equivalents of a search for at most ``r`` mismatches."""
        return math.log(max(1.0, self.cost)) + (_GROWTH * (r - self.known[0]) if self.known else 0.0)

    def copy(self) -> Self:
        """A search of the same region with its own state."""
        other = copy(self)
        other.state = make_state(self.region)
        return other

    def start(self, r: int) -> None:
        """Start a search for at most ``r`` mismatches."""
        self.r, self.part = r, 0
        self._begin()

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched).

        FOUND: ``state.refill`` has ``scalars[BEST]`` mismatches. EXHAUSTED: no refill has at most r. PAUSED: call
        again.
        """
        most, searched = min(node_budget, _MAX_STEP), 0
        while True:
            scalars = self.state.scalars
            before = int(scalars[scalar.NODES])
            self._search(before + most - searched)
            searched += int(scalars[scalar.NODES]) - before
            if scalars[scalar.BEST] >= 0:
                return FOUND, searched
            if not scalars[scalar.FINISHED]:
                return PAUSED, searched
            self.part += 1
            if self.part >= self.parts:
                return EXHAUSTED, searched
            self._begin()
            if searched >= most:
                return PAUSED, searched

    def _begin(self) -> None:
        """Begin the current part."""
        raise NotImplementedError

    def _search(self, node_budget: int) -> None:
        """Continue the part until its NODES reach ``node_budget``."""
        raise NotImplementedError

    def _scheme_number(self) -> int:
        """For how many mismatches the scheme is made; -1: one stage."""
        return self.region.shape.round_up(self.r) if self.options.curves and self.r >= 0 else -1

    def _start(self) -> None:
        """Start the search of the current part by the scheme."""
        self.state.scalars[[scalar.BALANCE, scalar.LOOKAHEAD]] = self.options.balance, self.options.lookahead
        start_search(self.plan, self.state, self.scheme, self.r)


class StaticSearch(Search):
    """Searches in fixed orders: the stages of a search scheme, or one order from each start of spend curves."""

    def _begin(self) -> None:
        curves = self.curves
        if curves is None:
            self.scheme, slots = _slots(self.region.shape, self._scheme_number())
        else:
            order = np.roll(curves.order, -curves.starts[self.part])
            scheme, slots = _slots(self.region.shape, order.tobytes())
            limit = np.minimum(self.r, self.r * curves.curve[self.part] // curves.total)
            self.scheme = scheme._replace(limit=limit)
        self.plan = self.plan._replace(**slots)
        self._start()

    def _search(self, node_budget: int) -> None:
        search_region(self.plan, self.state, self.scheme, node_budget)


@lru_cache(maxsize=512)
def _slots(shape: RegionShape, order: int | bytes) -> tuple[SearchScheme, dict[str, Any]]:
    """The scheme for at most so many mismatches (-1: one stage), or of one order of int64, and its arrays by slot."""
    if isinstance(order, int):
        scheme = make_scheme(shape, order)
    else:
        scheme = direct_scheme(np.frombuffer(order, dtype=np.int64).copy())
    return scheme, make_slots(shape.plan, scheme)


class DynamicSearch(Search):
    """Searches by ColorPairs in a dynamic order: by a scheme, or by spend curves if the region is scattered.

    Parameters
    ----------
    region : Region
    options : RegionOptions
    """

    NODE_COST = 6

    def __init__(self, region: Region, options: RegionOptions) -> None:
        plan, curves = region.plan, None
        if options.curves and (plan.around >= 0).sum() < 2 * len(plan.cells):  # it has no small blocks
            curves = make_spend_curves(region.puzzle, plan.cells)[0]
        super().__init__(region, options, curves)
        self.switches = switches_of(options)
        self._preempts = True if options.preemption or options.instantiation else None
        self._empty: DynamicArrays | None = None  # before the first decision

    def _begin(self) -> None:
        if self._empty is None:
            self._empty = make_arrays(self.region)
        if self.curves is None:
            self.scheme = make_scheme(self.region.shape, self._scheme_number())
        else:
            self.scheme, caps = block_scheme(self.curves, self.part, self.r)
        tables, pairs, spending = self._empty
        spending = deepcopy(spending)._replace(members=members_of(self.scheme, tables.words))
        self.arrays = DynamicArrays(tables, deepcopy(pairs), spending)
        self._by_bits = self.state._replace(shows=self.plan.quads[spending.origin].ravel())
        self._start()
        if self.curves is not None:
            for stage, cap in enumerate(caps.tolist()):  # one after the other; after the last one the region is full
                self.state.task[stage] = stage, cap, stage + 1, 0
            self.state.scalars[scalar.TASKS] = len(caps)

    def _search(self, node_budget: int) -> None:
        search_dynamic(*self.arrays, self.plan, self._by_bits, self.scheme, self.switches, self._preempts, node_budget)


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
    region : Region
    options : RegionOptions

    Attributes
    ----------
    steps : int
        Estimated steps of `set_prices`; 0 if the tables would be too large or have too many open joints.
    bound : int
        Mismatches that every refill has at least, once prices are set; -1 before.
    """

    def __init__(self, region: Region, options: RegionOptions) -> None:
        self.scheme = direct_scheme(np.arange(len(region.plan.cells), dtype=np.int64))
        self.ends = []
        steps = []
        for order in orders_from_both_ends(region.puzzle, region.plan.cells):
            plan = region.plan._replace(**make_slots(region.plan, direct_scheme(order)))
            end = _End(plan, make_state(region, MAX_TABLE))
            steps.append(STEPS * int(plan_tables(end.plan, end.state.tables, MAX_TABLE)))
            self.ends.append(end)
        super().__init__(region, options, None, self.ends[0].state)
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
        free = self.region.free
        lowest = 0 if self.region.shape.spare else -_MAX_PRICES // len(plan.cells)
        prices, direction = np.zeros((2, len(free)))
        best, best_prices = -np.inf, prices.astype(np.int64)
        scale, waited = 1.0, 0
        groups = [free & (plan.identical == each) for each in np.unique(plan.identical[free]) if each >= 0]
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
            gradient = np.where(free, uses - 1.0, 0.0)
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
        self.price_sum = int(prices[self.region.free].sum())
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
