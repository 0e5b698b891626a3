"""The search of a region by ColorPairs in a dynamic order (`exact.region.dynamic_search`), in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Heuristic, Options
from exact.colorpairs.state import Switches
from exact.region.dynamic_moves import show_surroundings
from exact.region.dynamic_search import search_dynamic, start_dynamic
from exact.region.dynamic_state import DOM_DEG, Parts, make_arrays, members_of
from exact.region.kernel import BALANCE, BEST, EXHAUSTED, FINISHED, FOUND, NODES, PAUSED, load_region, start_search
from exact.region.scheme import RegionShape, scheme_for
from exact.region.state import RegionState

if TYPE_CHECKING:
    from exact.region.options import RegionOptions

MAX_STEP = 400_000  # nodes of one step, 50 to 200 ms, so that time limits hold


class DynamicSearch:
    """Searches of one region for refills with at most r mismatches.

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

    NODE_COST = 8  # node equivalents of a node

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
        self.parts = _parts(options)

    def copy(self, state: RegionState) -> DynamicSearch:
        """A search of the same region with its own state."""
        return DynamicSearch(self.shape, state, self.used, self.board, self.options)

    def start(self, r: int) -> bool:
        """Start a search for at most ``r`` mismatches. Returns False if there are too few pieces of some kind."""
        self.scheme = scheme_for(self.shape, r if self.options.curves else -1)
        if not load_region(self.plan, self.state, self.used, self.board):
            self.state.scalars[[FINISHED, BEST]] = 1, -1
            return False
        self.state.scalars[BALANCE] = self.options.balance
        turns = self.shape.puzzle.turns
        self.arrays = make_arrays(self.plan, self.used, self.board, self.parts.heuristic, turns)
        t, s, p = self.arrays
        p = p._replace(members=members_of(self.scheme, t.words))
        self.arrays = self.arrays._replace(spending=p)
        show_surroundings(t, s, p, self.plan)
        start_search(self.plan, self.state, self.scheme, r)
        start_dynamic(t, s, p, self.state, r)
        return True

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched) as `StaticSearch.advance`."""
        scalars = self.state.scalars
        before = int(scalars[NODES])
        budget = before + min(node_budget, MAX_STEP)
        search_dynamic(*self.arrays, self.plan, self.state, self.scheme, self.parts, budget)
        status = FOUND if scalars[BEST] >= 0 else EXHAUSTED if scalars[FINISHED] else PAUSED
        return status, int(scalars[NODES]) - before


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
