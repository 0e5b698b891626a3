"""The plain row-scan backtracker (seed 000's "doc_smith", seed 003's zig-zag): fixed row-major order, no reasoning."""

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
            next_word=np.zeros(puzzle.cells, dtype=np.uint32),
            chosen=np.zeros(puzzle.cells + puzzle.width, dtype=np.uint64),
            free=self.tables.free.copy(),
            first=np.zeros(puzzle.cells, dtype=np.uint64),
            counters=np.zeros(5, dtype=np.int64),
        )
        self.counters = self.state.counters
        self.state.next_word[0] = self.tables.starts[self.tables.bases[0]]

    @property
    def explored(self) -> float:
        """Share of the tree that is done, as if sibling subtrees were equal (taken pieces count as children)."""
        return 1.0 if self.exhausted else explored_share(self._open_path())

    def _open_path(self) -> Iterator[tuple[int, int]]:
        words, state, tables = self.tables.candidates, self.state, self.tables
        depth = int(state.counters[DEPTH])
        for cell in range(depth + 1):
            left = state.chosen[cell + self.puzzle.width - 1] >> 32 if cell % self.puzzle.width else 0
            up = state.chosen[cell] >> 16 & 0xFFFF
            start = int(tables.starts[int(tables.bases[cell]) + int(left) + int(up)])
            length = int(np.argmin(words[start:] != 0))
            yield max(0, int(state.next_word[cell]) - start - (cell < depth)), length

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
        words = self.state.first
        return self.tables.kinds.board((((words & 0x1FFF) - 1) * 4 + (words >> 13 & 3)).astype(np.int64).tolist())
