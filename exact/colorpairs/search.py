"""ColorPairs as a paused search of a puzzle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lns.exact.colorpairs import counter
from lns.exact.colorpairs.kernel import prepare, search
from lns.exact.colorpairs.options import Options
from lns.exact.colorpairs.state import Switches, build_tables, empty_state
from lns.exact.driver import CountedSearch, explored_share
from lns.exact.piece_classes import merge_duplicates
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle


class ColorPairs(CountedSearch):
    """A paused ColorPairs search (Benoist & Bourreau 2008); `lns.exact.driver.run_search` runs it.

    Parameters
    ----------
    puzzle : Puzzle
    options : Options, optional
        Parts of the method to switch on or off.
    seed : int, optional
        Random seed, used by ``options.random_cell`` only.

    Raises
    ------
    InputError
        If there are more colours than the tables take.
    """

    COUNTER_INDEXES = counter.NODES, counter.SOLUTIONS, counter.EXHAUSTED

    def __init__(self, puzzle: Puzzle, options: Options | None = None, seed: int = 0) -> None:
        self.puzzle = puzzle
        self.options = Options() if options is None else options
        if min(puzzle.width, puzzle.height) < 2 or puzzle.rules:  # the rim is not a closed ring of pieces
            self.options = replace(self.options, cycles=False)
        if not puzzle.framed:  # sides on the rim are joined to nothing
            self.options = replace(self.options, shared_edges=False)
        self.classes = merge_duplicates(puzzle)
        self._tables, self._class_of_piece = build_tables(self.classes, self.options)
        self._state = empty_state(self._tables, self.options, any_pair=puzzle.framed, seed=seed)
        self.counters = self._state.counters
        self._switches = Switches.of(self.options)
        first_piece = {number: piece for piece, number in reversed(list(enumerate(self._class_of_piece)))}
        clues = [
            (cell, first_piece[number] * 4 + turn) for cell, (number, turn) in sorted(self.classes.clue_class.items())
        ]
        self._empty = puzzle.cells - len(clues)
        cells, values = np.array(clues, dtype=np.int32).reshape(-1, 2).T.copy()
        if not prepare(self._tables, self._state, cells, values):
            self._state.counters[counter.EXHAUSTED] = 1
        elif self._empty == 0:
            self._state.first_solution[:] = self._state.grid
            self._state.counters[[counter.SOLUTIONS, counter.EXHAUSTED]] = 1

    @property
    def explored(self) -> float:
        """Share of the tree that is searched, as if sibling subtrees had equal sizes."""
        if self.exhausted:
            return 1.0
        depth = int(self.counters[counter.DEPTH])
        ends = [0, *self._state.frame_end[: depth + 1].tolist()]
        following = self._state.frame_next[: depth + 1].tolist()
        return explored_share(
            (max(0, following[level] - ends[level] - (level < depth)), ends[level + 1] - ends[level])
            for level in range(depth + 1)
        )

    @property
    def details(self) -> dict[str, float]:
        """Counts of the method so far, by name."""
        names = "deepest", "contradictions", "preemptions", "levels_jumped", "shaving_tests"
        return {name: float(self.counters[getattr(counter, name.upper())]) for name in names}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes, or to the end, or to the next solution when ``stop_at_first``."""
        if not self.exhausted:
            shaving = True if self.options.shaving or self.options.quick_shaving else None
            search(self._tables, self._state, self._switches, self._empty, budget, stop_at_first, shaving)

    def first_board(self) -> Board | None:
        """The first solution found, None before there is one."""
        if self.solutions == 0:
            return None
        oriented = [self._class_of_piece[value >> 2] * 4 + (value & 3) for value in self._state.first_solution.tolist()]
        return self.classes.board(oriented)
