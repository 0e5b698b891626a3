"""The searches of one region for a refill with at most r mismatches: in fixed orders, in a dynamic order, with prices.

*Spend curves* split "at most r mismatches" in another way than search schemes. The blocks of a region (its columns,
say) form a cycle, and each block gets a share of r. Every mismatch of a refill is charged to one block. If a refill has
at most r mismatches, then from *some* block on, going round the cycle, no prefix of blocks has more mismatches than its
shares allow (the cycle lemma: A. Dvoretzky and T. Motzkin, "A problem of arrangements", Duke Mathematical Journal 14,
1947). So the region is searched once from each block, with the spend curve "after these blocks, at most the sum of
their shares". Each search allows most mismatches only when much of the region is filled and few candidates are left. No
search need start at a block with share 0: if all prefixes keep within their shares from there, they do from the next.

With *Lagrangian prices* and cost-to-go bounds (`lns.exact.region.cost_to_go`), the region is searched from both ends
towards a cut. Let V and W be the least units that the cells before and after the cut cost, if pieces may be reused and
the colours at the cut are given. A refill may cost R units, so R - V - W can be wasted, and the cells on one side of
the cut waste at most half of that. So two searches, one from each end, find every refill: each limits the cells up to
the cut to their least cost plus half of the waste. (At the cut, each search uses the colours on its own side of the
joints. Where the two sides differ, the refill pays a mismatch that neither search counts before the cut, and V and W
change by no more.) Prices are set by subgradient steps: the price of a piece rises if the cheapest refill repeats it
and falls if the refill leaves it out. Identical pieces have one price.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.colorpairs.state import State, Switches, Tables, counter
from lns.exact.region.cost_to_go import UNIT, add_cheapest_refill, fill_tables, plan_tables
from lns.exact.region.dynamic_search import DOM_DEG, search_dynamic
from lns.exact.region.kernel import search_region, start_search
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region, bit_sets, make_dynamic_state, make_state, with_slots
from lns.exact.region.scheme import RegionShape, SearchScheme, direct_scheme, make_scheme, orders_from_both_ends
from lns.exact.region.state import EXHAUSTED, FOUND, PAUSED, Ints, RegionPlan, RegionState, Spending
from lns.instances.puzzle import Puzzle

MAX_TABLE = 1 << 21  # most entries of one cost table: enough for regions of four rows of Eternity II
STEPS = 60  # most subgradient steps of `set_prices`
_PATIENCE = 6  # number of subgradient steps without a better bound before the step length shrinks
_MAX_PRICES = 10_000  # units; most that the prices of a refill's pieces may add up to, as cost tables have 16 bits
_UNFINISHED = 3.0  # factor: a search that was stopped is expected to take this many times its nodes so far
_GROWTH = math.log(5.0)  # logarithm: each mismatch more is expected to take five times as many nodes
_MAX_STEP = 400_000  # most nodes of one step, 50 to 200 ms in the dynamic order, so that time limits hold
_BLOCKS_WITHOUT_SHARE = ((1, 1), (2, 1), (0, 0))  # how many at a cycle's start and end, in order of trial


class Search:
    """A search of one region for refills with at most r mismatches, in parts that run one after the other.

    By default there is one part, in the fixed orders of a search scheme; with ``curves``, a part for each spend curve.
    ``state``: the state to use; several searches may share one if only one of them runs at a time.
    """

    NODE_COST = 1  # number of nodes in a fixed order that take as long as a node of this search
    scheme: SearchScheme

    def __init__(
        self,
        region: Region,
        options: RegionOptions,
        curves: list[SpendCurve] | None = None,
        state: RegionState | None = None,
    ) -> None:
        self.region, self.options, self.curves = region, options, curves
        self.plan, self.state = region.plan, state or make_state(region)
        self.parts = 1 if curves is None else len(curves)
        self.known: int | None = None  # r, the most mismatches, of the last search recorded
        self.cost = 0.0  # node equivalents of the last search recorded

    def record(self, r: int, nodes: int, *, ended: bool = True) -> None:
        """Record the cost of a search for at most ``r`` mismatches, times `_UNFINISHED` unless the search ``ended``."""
        self.known, self.cost = r, nodes * self.NODE_COST * (1.0 if ended else _UNFINISHED)

    def log_cost(self, r: int) -> float:
        """Return the logarithm of the expected node equivalents of a search for at most ``r`` mismatches."""
        return math.log(max(1.0, self.cost)) + (0.0 if self.known is None else _GROWTH * (r - self.known))

    def start(self, r: int) -> None:
        """Start a search for at most ``r`` mismatches."""
        self.r, self.part = r, 0
        self._begin()

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; return (status, nodes searched).

        FOUND: ``state.refill`` has ``counters[BEST]`` mismatches. EXHAUSTED: no refill has at most r mismatches.
        PAUSED: neither is known yet, so call again.
        """
        most, searched = min(node_budget, _MAX_STEP), 0
        while True:
            counters = self.state.counters
            before = int(counters[counter.NODES])
            self._search(before + most - searched)
            searched += int(counters[counter.NODES]) - before
            if counters[counter.BEST] >= 0:
                return FOUND, searched
            if not counters[counter.EXHAUSTED]:
                return PAUSED, searched
            self.part += 1
            if self.part >= self.parts:
                return EXHAUSTED, searched
            self._begin()
            if searched >= most:
                return PAUSED, searched

    def _begin(self) -> None:
        """Make the scheme and the plan of the current part, and start its search."""
        curve = self.curves[self.part] if self.curves else None
        order = self._scheme_number() if curve is None else curve.order.tobytes()
        self.scheme, self.plan = _planned(self.region.shape, order)
        if curve is not None:
            self.scheme = self.scheme._replace(limit=np.repeat(curve.caps(self.r), curve.lengths))
        self._start()

    def _search(self, node_budget: int) -> None:
        """Continue the current part until its counter NODES reaches ``node_budget``."""
        search_region(self.plan, self.state, self.scheme, node_budget)

    def _scheme_number(self) -> int:
        """Return the number of mismatches for which the search scheme is made; -1 = a scheme of one stage."""
        return self.region.shape.round_up(self.r) if self.options.curves and self.r >= 0 else -1

    def _start(self) -> None:
        """Start the search of the current part by the scheme."""
        self.state.counters[counter.BALANCE] = self.options.balance
        start_search(self.plan, self.state, self.scheme, self.r)


@lru_cache(maxsize=512)
def _planned(shape: RegionShape, order: int | bytes) -> tuple[SearchScheme, RegionPlan]:
    """Return a scheme, made for ``order`` mismatches (int) or of one cell order (bytes of int64), and its plan."""
    scheme = (
        make_scheme(shape, order) if isinstance(order, int) else direct_scheme(np.frombuffer(order, np.int64).copy())
    )
    return scheme, with_slots(shape.plan, scheme)


class DynamicSearch(Search):
    """A search by ColorPairs in a dynamic order: by a scheme, or by spend curves if the region is scattered."""

    NODE_COST = 6

    def __init__(self, region: Region, options: RegionOptions) -> None:
        plan, curves = region.plan, None
        if options.curves and (plan.around >= 0).sum() < 2 * len(plan.cells):  # the region is scattered
            curves = make_spend_curves(region.puzzle, plan.cells)[0]
        super().__init__(region, options, curves)
        chosen = {name: getattr(options, name) for name in ("backjumping", "pairs", "preemption", "instantiation")}
        heuristic = DOM_DEG if options.heuristic == "dom-deg" else int(Heuristic.of(options.heuristic))
        self._switches = Switches.of(Options())._replace(heuristic=heuristic, **chosen)
        self._preempts = True if options.preemption or options.instantiation else None
        self._empty: tuple[Tables, State, Spending] | None = None  # ColorPairs arrays before the first decision

    def _begin(self) -> None:
        if self._empty is None:
            self._empty = make_dynamic_state(self.region)
        if self.curves is None:
            self.scheme = make_scheme(self.region.shape, self._scheme_number())
        else:
            curve = self.curves[self.part]  # its blocks become the stages
            self.scheme = direct_scheme(curve.order, np.cumsum(curve.lengths) - curve.lengths)
        self._tables, pairs, spending = self._empty
        self._pairs = deepcopy(pairs)
        place, begin = np.argsort(self.scheme.members), self.scheme.first_member[:, None]
        block, cell = np.nonzero((place >= begin) & (place < begin + self.scheme.length[:, None]))
        members = bit_sets(len(self.scheme.length), self._tables.words, block, cell)
        self.spending = deepcopy(spending)._replace(members=members)
        self._by_bits = self.state._replace(shows=self.plan.quads[spending.origin].ravel())
        self._start()
        if self.curves is not None:
            caps = self.curves[self.part].caps(self.r)
            for stage, cap in enumerate(caps.tolist()):  # each task is followed by that of the next stage
                self.state.task[stage] = stage, cap, stage + 1, 0
            self.state.counters[counter.TASKS] = len(caps)

    def _search(self, node_budget: int) -> None:
        search_dynamic(
            self._tables, self._pairs, self.spending, self.plan, self._by_bits, self.scheme, self._switches,
            self._preempts, node_budget,
        )  # fmt: skip


class _End(NamedTuple):
    """One end of a region, with the plan and state of the search from there; ``cut``: depth at which the ends meet."""

    plan: RegionPlan
    state: RegionState
    cut: int = 0

    def open_joints(self, depth: int) -> list[int]:
        tables = self.state.tables
        return [int(joint) for joint in tables.open_joint[depth, : tables.open_count[depth]]]

    def table_at_cut(self) -> npt.NDArray[np.int16]:
        """Return a view of the cost table of depth ``cut``, with an axis for each open joint, the last joint first."""
        tables = self.state.tables
        shape = [int(tables.radix[joint]) for joint in self.open_joints(self.cut)][::-1]
        begin = int(tables.cost_start[self.cut])
        return tables.cost[begin : begin + int(np.prod(shape))].reshape(shape)


class LagrangianSearch(Search):
    """A search of one region with prices, in one part from each end, or in one part if there is no cut.

    ``steps``: estimated steps of filling tables in `set_prices`, 0 if the tables would be too large or have too many
    open joints; ``bound``: by the prices, every refill has at least so many mismatches; -1 before they are set.
    """

    def __init__(self, region: Region, options: RegionOptions) -> None:
        self.scheme = direct_scheme(np.arange(len(region.plan.cells), dtype=np.int64))
        self.ends, steps = [], []
        for order in orders_from_both_ends(region.puzzle, region.plan.cells):
            plan = with_slots(region.plan, direct_scheme(order))
            self.ends.append(_End(plan, make_state(region, MAX_TABLE)))
            steps.append(STEPS * int(plan_tables(plan, self.ends[-1].state.tables, MAX_TABLE)))
        super().__init__(region, options, None, self.ends[0].state)
        self.steps = max(steps) if min(steps) > 0 else 0
        self.ends = self._cut_ends()
        self.parts = len(self.ends)
        self.price_sum = 0  # sum of the prices of all free pieces, in units
        self.bound = -1
        self.tables: list[npt.NDArray[np.int16]] = []

    def _cut_ends(self) -> list[_End]:
        """Return both ends, cut nearest to the middle where they have the same open joints; without a cut, one end."""
        first, last = self.ends
        n = len(first.plan.order)
        for cut in sorted(range(1, n), key=lambda depth: abs(2 * depth - n)):
            meet = set(first.plan.order[:cut]) == set(last.plan.order[n - cut :])
            if meet and set(first.open_joints(cut)) == set(last.open_joints(n - cut)):
                return [first._replace(cut=cut), last._replace(cut=n - cut)]
        return [first]

    def set_prices(self, goal: int, stop: Callable[[], bool]) -> None:
        """Improve the prices until the bound exceeds ``goal`` mismatches, ``stop()`` is true or STEPS are done."""
        prices = self._optimize_prices(goal, stop)
        self.bound = int(np.ceil(self._price_bound(prices) - 1e-9))
        for other in self.ends[1:]:
            self._fill(other, prices)
        if len(self.ends) == 2:
            self.tables = [end.table_at_cut().copy() for end in self.ends]

    def _optimize_prices(self, goal: int, stop: Callable[[], bool]) -> Ints:
        """Return the prices with the best bound among the subgradient steps: int64 (pieces,), in units."""
        plan, state = self.ends[0].plan, self.ends[0].state
        free = self.region.free
        most = _MAX_PRICES // len(plan.cells)
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
            prices = np.clip(prices, 0 if self.region.shape.spare else -most, most)
        return best_prices

    def _price_bound(self, prices: Ints) -> float:
        """Fill the cost tables of the first end with ``prices`` and return their lower bound on the mismatches."""
        self._fill(self.ends[0], prices)
        self.price_sum = int(prices[self.region.free].sum())
        tables = self.ends[0].state.tables
        return (int(tables.cost[tables.cost_start[0]]) - self.price_sum) / UNIT

    def _fill(self, end: _End, prices: Ints) -> None:
        end.state.tables.price[:] = prices[end.state.oriented >> 2]
        fill_tables(end.plan, end.state, len(end.plan.order))

    def _begin(self) -> None:
        """Begin the current part, the search from one end of the region."""
        end = self.ends[self.part]
        self.plan, self.state = end.plan, end.state
        units = self.r * UNIT + self.price_sum
        if self.parts == 2:
            other = self.ends[1 - self.part]  # its table has the least cost before the cut, by the colours at the cut
            theirs = other.open_joints(other.cut)[::-1]
            axes = [theirs.index(joint) for joint in end.open_joints(end.cut)[::-1]]
            before: Ints = self.tables[1 - self.part].transpose(axes).astype(np.int64)
            after = self.tables[self.part].astype(np.int64)
            waste = units - before - after
            share = waste // 2 if self.part == 0 else waste - waste // 2 - 1
            end.table_at_cut()[...] = np.maximum(after, units - before - share)
            fill_tables(end.plan, end.state, end.cut)
        end.state.counters[[counter.PRICED, counter.UNITS]] = 1, units
        self._start()


class SpendCurve(NamedTuple):
    """The blocks of a cycle from one block on: the order of the n cells, and the sum of shares after each block."""

    order: Ints  # int64 (n,): indices of the region's cells, block after block
    lengths: Ints  # int64 (blocks,): number of cells of each block
    shares: Ints  # int64 (blocks,): sum of the shares of all blocks up to each block

    @classmethod
    def from_start(cls, blocks: list[Ints], shares: Ints, start: int) -> SpendCurve:
        """Make the spend curve of a cycle of blocks that begins at block ``start``."""
        turned = blocks[start:] + blocks[:start]
        return cls(np.concatenate(turned), np.array([*map(len, turned)]), np.cumsum(np.roll(shares, -start)))

    def caps(self, r: int) -> Ints:
        """Return the most mismatches after each block, int64 (blocks,), for at most ``r`` in the region."""
        caps: Ints = r * self.shares // self.shares[-1]
        return np.minimum(r, caps)


def is_band(puzzle: Puzzle, cells: Ints) -> bool:
    """Return whether a region, 2 cells wide or more, is at least twice as long and fills most (0.9) of a rectangle."""
    rows, columns = (np.unique(part) for part in np.divmod(cells, puzzle.width))
    box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    longer, shorter = max(len(rows), len(columns)), min(len(rows), len(columns))
    return bool(longer >= 2 * shorter > 2 and 10 * len(cells) >= 9 * box)


def make_spend_curves(puzzle: Puzzle, cells: Ints) -> list[list[SpendCurve]]:
    """Return the cycles of blocks worth trying, the most promising first, each as the spend curves of its starts.

    ``cells``: the region's free cells on the board. A block's share is its number of cells; 0 at some cycles' ends.
    """
    rows, columns = np.divmod(cells, puzzle.width)
    height, width = len(np.unique(rows)), len(np.unique(columns))
    axes = [(columns, rows), (rows, columns)]
    if height > width:
        axes.reverse()
    if max(height, width) >= 2 * min(height, width):
        axes = axes[:1]
    cycles = []
    for head, tail in _BLOCKS_WITHOUT_SHARE:
        for along, across in axes:
            if head + tail > 0 and len(np.unique(along)) < head + tail + 3:
                continue
            for sign in (-1, 1):
                order = np.lexsort((across, sign * along)).astype(np.int64)
                blocks = np.split(order, np.flatnonzero(np.diff(along[order])) + 1)
                shares = np.array([*map(len, blocks)])
                shares[:head] = shares[len(shares) - tail :] = 0
                starts = np.flatnonzero(shares).tolist()
                cycles.append([SpendCurve.from_start(blocks, shares, start) for start in starts])
    return cycles
