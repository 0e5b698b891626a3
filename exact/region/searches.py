"""The searches of one region for a refill with at most r mismatches: in fixed orders, and in a dynamic order."""

from __future__ import annotations

from copy import copy, deepcopy
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from exact.region import scalar
from exact.region.dynamic_search import search_dynamic
from exact.region.dynamic_state import DynamicArrays, make_arrays, members_of, switches_of
from exact.region.kernel import search_region, start_search
from exact.region.options import RegionOptions
from exact.region.plan import make_slots, make_state
from exact.region.scheme import RegionShape, SearchScheme, cached_scheme, direct_scheme
from exact.region.spend_curves import SpendCurves, block_scheme, make_spend_curves
from exact.region.state import EXHAUSTED, FOUND, PAUSED, RegionState

_MAX_STEP = 400_000  # nodes of one step, 50 to 200 ms in the dynamic order, so that time limits hold


class Search:
    """Searches of one region for refills with at most r mismatches, in parts that run one after the other.

    Parameters
    ----------
    shape : RegionShape
    used : ndarray of uint8 (pieces,)
        1 for pieces outside the region.
    board : ndarray of int32 (cells,)
        Oriented pieces outside the region, -1 elsewhere.
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
        shape: RegionShape,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        options: RegionOptions,
        curves: SpendCurves | None = None,
        state: RegionState | None = None,
    ) -> None:
        self.shape, self.plan, self.used, self.board = shape, shape.plan, used, board
        self.options, self.curves = options, curves
        self.state = state or make_state(shape.plan, used, board, shape.spare)
        self.parts = 1 if curves is None else len(curves.starts)

    def copy(self) -> Self:
        """A search of the same region with its own state."""
        other = copy(self)
        other.state = make_state(self.shape.plan, self.used, self.board, self.shape.spare)
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
        return self.shape.round_up(self.r) if self.options.curves and self.r >= 0 else -1

    def _start(self) -> None:
        """Start the search of the current part by the scheme."""
        self.state.scalars[[scalar.BALANCE, scalar.LOOKAHEAD]] = self.options.balance, self.options.lookahead
        start_search(self.plan, self.state, self.scheme, self.r)


class StaticSearch(Search):
    """Searches in fixed orders: the stages of a search scheme, or one order from each start of spend curves."""

    def _begin(self) -> None:
        scheme, slots = self._scheme()
        self.scheme, self.plan = scheme, self.plan._replace(**slots)
        self._start()

    def _scheme(self) -> tuple[SearchScheme, dict[str, Any]]:
        curves = self.curves
        if curves is None:
            return _slots(self.shape, self._scheme_number())
        scheme, slots = _slots(self.shape, np.roll(curves.order, -curves.starts[self.part]).tobytes())
        return scheme._replace(limit=np.minimum(self.r, self.r * curves.curve[self.part] // curves.total)), slots

    def _search(self, node_budget: int) -> None:
        search_region(self.plan, self.state, self.scheme, node_budget)


@lru_cache(maxsize=512)
def _slots(shape: RegionShape, order: int | bytes) -> tuple[SearchScheme, dict[str, Any]]:
    """The scheme for at most so many mismatches (-1: one stage), or of one order of int64, and its arrays by slot."""
    if isinstance(order, int):
        scheme = cached_scheme(shape, order)
    else:
        scheme = direct_scheme(np.frombuffer(order, dtype=np.int64).copy())
    return scheme, make_slots(shape.plan, scheme)


class DynamicSearch(Search):
    """Searches by ColorPairs in a dynamic order: by a scheme, or by spend curves if the region is scattered."""

    NODE_COST = 6

    def __init__(
        self,
        shape: RegionShape,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        options: RegionOptions,
    ) -> None:
        curves = None
        if options.curves and (shape.plan.around >= 0).sum() < 2 * len(shape.plan.cells):  # it has no small blocks
            curves = next(iter(make_spend_curves(shape.puzzle, shape.plan.cells).values()))
        super().__init__(shape, used, board, options, curves)
        self.switches = switches_of(options)
        self._preempts = True if options.preemption or options.instantiation else None
        self._empty: DynamicArrays | None = None  # before the first decision

    def _begin(self) -> None:
        if self._empty is None:
            self._empty = make_arrays(self.plan, self.used, self.board, self.shape.puzzle.turns)
        if self.curves is None:
            self.scheme = cached_scheme(self.shape, self._scheme_number())
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
        tables, pairs, spending = self.arrays
        search_dynamic(
            tables, pairs, spending, self.plan, self._by_bits, self.scheme, self.switches, self._preempts, node_budget
        )
