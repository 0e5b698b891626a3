"""The plain row-scan backtracker: fixed row-major order, no deductions.

It is the "doc_smith backtracker" of Benoist & Bourreau 2008 (6) and the zig-zag of Jolivet 2008 (2.1).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exact.driver import CountedSearch, explored_share
from exact.rowscan.kernel import DEEPEST, DEPTH, EXHAUSTED, NODES, SOLUTIONS, ScanState, scan
from exact.rowscan.tables import build_tables
from instances.board import Board
from instances.puzzle import Puzzle


class RowScan(CountedSearch):
    """A paused row scan of ``puzzle``; `exact.driver.run_search` runs it."""

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.tables = build_tables(puzzle)
        self.state = ScanState(
            next_index=np.zeros(puzzle.cells, dtype=np.uint32),
            chosen=np.zeros(puzzle.cells + puzzle.width, dtype=np.uint64),
            free=self.tables.free.copy(),
            first=np.zeros(puzzle.cells, dtype=np.uint64),
            counters=np.zeros(5, dtype=np.int64),
        )
        self.counters = self.state.counters
        self.state.next_index[0] = self.tables.starts[self.tables.bases[0]]

    @property
    def explored(self) -> float:
        """Share of the tree that is searched, as if sibling subtrees had equal sizes (used pieces count too)."""
        return 1.0 if self.exhausted else explored_share(self._open_path())

    def _open_path(self) -> Iterator[tuple[int, int]]:
        candidates, state, tables = self.tables.candidates, self.state, self.tables
        depth = int(state.counters[DEPTH])
        for cell in range(depth + 1):
            left = state.chosen[cell + self.puzzle.width - 1] >> 32 if cell % self.puzzle.width else 0
            up = state.chosen[cell] >> 16 & 0xFFFF
            start = int(tables.starts[int(tables.bases[cell]) + int(left) + int(up)])
            length = int(np.argmin(candidates[start:] != 0))
            yield max(0, int(state.next_index[cell]) - start - (cell < depth)), length

    @property
    def details(self) -> dict[str, float]:
        return {"deepest": float(self.state.counters[DEEPEST] + (self.solutions > 0))}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` placements, or to the end, or to the next solution when ``stop_at_first``."""
        if self.exhausted:
            return
        tables = self.tables
        scan(tables.candidates, tables.starts, tables.bases, self.puzzle.width, self.state, budget, stop_at_first)

    def first_board(self) -> Board | None:
        """The first solution found, None before there is one."""
        if self.solutions == 0:
            return None
        chosen = self.state.first
        return self.tables.classes.board((((chosen & 0x1FFF) - 1) * 4 + (chosen >> 13 & 3)).astype(np.int64).tolist())
