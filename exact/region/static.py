"""The search of a region in static orders: the stages of a search scheme, each in a fixed order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from exact.region.kernel import (
    BALANCE,
    BEST,
    EXHAUSTED,
    FINISHED,
    FOUND,
    LOOKAHEAD,
    NODES,
    PAUSED,
    load_region,
    search_region,
    start_search,
)
from exact.region.order import make_slots
from exact.region.scheme import RegionShape, SearchScheme, cached_scheme
from exact.region.state import RegionState


class StaticSearch:
    """Searches of one region by search schemes.

    Parameters
    ----------
    shape : RegionShape
    state : RegionState
    used : ndarray of uint8 (pieces,)
        1 for pieces outside the region.
    board : ndarray of int32 (cells,)
        Oriented pieces outside the region, -1 elsewhere.
    balance, lookahead : int
        0 switches that bound off.
    curves : bool
        Whether mismatches are allowed gradually. Without, there is one stage.
    """

    NODE_COST = 1  # nodes in a fixed order that take as long as one node

    def __init__(
        self,
        shape: RegionShape,
        state: RegionState,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        *,
        balance: int,
        lookahead: int,
        curves: bool,
    ) -> None:
        self.shape, self.plan = shape, shape.plan
        self.state, self.used, self.board = state, used, board
        self.balance, self.lookahead, self.curves = balance, lookahead, curves

    def copy(self, state: RegionState) -> StaticSearch:
        """A search of the same region with its own state."""
        return StaticSearch(
            self.shape,
            state,
            self.used,
            self.board,
            balance=self.balance,
            lookahead=self.lookahead,
            curves=self.curves,
        )

    def start(self, r: int) -> bool:
        """Start a search for at most ``r`` mismatches. Returns False if there are too few pieces of some kind."""
        most = self.shape.round_up(r) if self.curves and r >= 0 else -1
        return self.load(*_slots(self.shape, most), r)

    def load(self, scheme: SearchScheme, slots: dict[str, Any], r: int) -> bool:
        """As `start`, by any scheme; ``slots``: its arrays by slot."""
        self.scheme = scheme
        self.plan = self.plan._replace(**slots)
        if not load_region(self.plan, self.state, self.used, self.board):
            return False
        self.state.scalars[[BALANCE, LOOKAHEAD]] = self.balance, self.lookahead
        start_search(self.plan, self.state, self.scheme, r)
        return True

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched).

        FOUND: ``state.refill`` has ``scalars[BEST]`` mismatches. EXHAUSTED: no refill has at most r. PAUSED: call
        again.
        """
        scalars = self.state.scalars
        before = int(scalars[NODES])
        search_region(self.plan, self.state, self.scheme, before + node_budget)
        status = FOUND if scalars[BEST] >= 0 else EXHAUSTED if scalars[FINISHED] else PAUSED
        return status, int(scalars[NODES]) - before


@lru_cache(maxsize=256)
def _slots(shape: RegionShape, most: int) -> tuple[SearchScheme, dict[str, Any]]:
    """The scheme for at most ``most`` mismatches and its arrays by slot; -1: one stage."""
    scheme = cached_scheme(shape, most)
    return scheme, make_slots(shape.plan, scheme)
