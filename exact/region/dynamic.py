"""The search of a region by ColorPairs in a dynamic order (`exact.region.dynamic_search`), in steps."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Heuristic, Options
from exact.colorpairs.state import Switches
from exact.region.dynamic_moves import show_surroundings
from exact.region.dynamic_search import search_dynamic, start_dynamic
from exact.region.dynamic_state import DOM_DEG, DynamicArrays, Parts, make_arrays, members_of
from exact.region.kernel import (
    BALANCE,
    BEST,
    EXHAUSTED,
    FINISHED,
    FOUND,
    NODES,
    PAUSED,
    TASKS,
    load_region,
    start_search,
)
from exact.region.scheme import RegionShape, scheme_for
from exact.region.spend_curves import SpendCurves, block_caps, block_scheme, make_spend_curves
from exact.region.state import Ints, RegionPlan, RegionState

if TYPE_CHECKING:
    from exact.region.options import RegionOptions

MAX_STEP = 400_000  # nodes of one step, 50 to 200 ms, so that time limits hold


class DynamicSearch:
    """Searches of one region for refills with at most r mismatches: by a scheme, or by spend curves if it is scattered.

    Parameters
    ----------
    shape : RegionShape
    state : RegionState
    used : ndarray of uint8 (pieces,)
        1 for pieces outside the region.
    board : ndarray of int32 (cells,)
        Oriented pieces outside the region, -1 elsewhere.
    options : RegionOptions
    """

    NODE_COST = 6  # nodes in a fixed order that take as long as one node

    def __init__(
        self,
        shape: RegionShape,
        state: RegionState,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        options: RegionOptions,
    ) -> None:
        self.shape, self.plan, self.state, self.used, self.board = shape, shape.plan, state, used, board
        self.options = options
        self.curves: SpendCurves | None = None
        if options.curves and is_scattered(self.plan):
            self.curves = next(iter(make_spend_curves(shape.puzzle, self.plan.cells).values()))
        self._empty: DynamicArrays | None = None  # before the first decision
        self.parts = _parts(options)
        self._preempts = True if options.preemption or options.instantiation else None

    def copy(self, state: RegionState) -> DynamicSearch:
        """A search of the same region with its own state."""
        return DynamicSearch(self.shape, state, self.used, self.board, self.options)

    def start(self, r: int) -> bool:
        """Start a search for at most ``r`` mismatches. Returns False if there are too few pieces of some kind."""
        self.r = r
        self._next_start = 0
        return self._begin()

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched) as `StaticSearch.advance`."""
        scalars = self.state.scalars
        before = int(scalars[NODES])
        budget = before + min(node_budget, MAX_STEP)
        search_dynamic(*self.arrays, self.plan, self.state, self.scheme, self.parts, self._preempts, budget)
        searched = int(scalars[NODES]) - before
        if scalars[BEST] >= 0:
            return FOUND, searched
        if not scalars[FINISHED]:
            return PAUSED, searched
        self._next_start += 1
        if self.curves is None or self._next_start >= len(self.curves.starts):
            return EXHAUSTED, searched
        self._begin()
        return PAUSED, searched

    def _begin(self) -> bool:
        """Begin the search by the scheme, or by the spend curve of the next start."""
        if not load_region(self.plan, self.state, self.used, self.board):
            self.state.scalars[[FINISHED, BEST]] = 1, -1
            return False
        self.state.scalars[BALANCE] = self.options.balance
        if self.curves is None:
            self.scheme = scheme_for(self.shape, self.r if self.options.curves else -1)
        else:
            self.scheme = block_scheme(self.curves, self._next_start)
        if self._empty is None:
            turns = self.shape.puzzle.turns
            self._empty = make_arrays(self.plan, self.used, self.board, self.parts.heuristic, turns)
            show_surroundings(*self._empty, self.plan)
        tables, pairs, spending = self._empty
        spending = deepcopy(spending)._replace(members=members_of(self.scheme, tables.words))
        self.arrays = DynamicArrays(tables, deepcopy(pairs), spending)
        start_search(self.plan, self.state, self.scheme, self.r)
        start_dynamic(*self.arrays, self.state, self.r)
        if self.curves is not None:
            _chain_stages(self.state, block_caps(self.curves, self._next_start, self.r))
        return True


def _chain_stages(state: RegionState, caps: Ints) -> None:
    """Let stage after stage be filled, each up to its cap."""
    for stage, cap in enumerate(caps.tolist()):
        state.task[stage] = stage, cap, stage + 1 if stage + 1 < len(caps) else -1, 0
    state.scalars[TASKS] = len(caps)
    state.tasks_before[0] = 0


def is_scattered(plan: RegionPlan) -> bool:
    """Whether the cells of a region have fewer than two neighbours in it on average, so that it has no small blocks."""
    return int((plan.around >= 0).sum()) < 2 * len(plan.cells)


def _parts(options: RegionOptions) -> Parts:
    heuristic = DOM_DEG if options.heuristic == "dom-deg" else int(Heuristic.of(options.heuristic))
    return Parts(
        backjumping=options.backjumping,
        pairs=options.pairs,
        preemption=options.preemption,
        instantiation=options.instantiation,
        heuristic=heuristic,
        switches=Switches.of(Options(heuristic=Heuristic(max(heuristic, 0)), preemption=False)),
    )
