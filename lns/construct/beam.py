"""A beam in a fixed order: of all children of all prefixes of one length, the best ``width`` live on.

A child's values is the favoured half-edges that its prefix has used, less ``break`` for each break spent: while pieces
fit everywhere the beam uses up the favoured colours, as the quotas of the constructor do, and later it saves breaks.
Chance decides among equals. A prefix is kept as its parent and one placement; pieces used and colours shown stand in a
population of their own. The prefixes that reach the cut are finished exactly, the best first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, RIGHT, IntArray, Puzzle
from lns.construct.beam_kernel import LayerWorkspace, Paths, extend_layer
from lns.construct.candidate_tables import build_tables
from lns.construct.packed_candidate import MAX_FAVOURED
from lns.construct.population import new_population
from lns.params import BeamParams
from lns.rng import RandomState, generator
from lns_support.errors import InputError


class BeamSearch:
    """One beam, resumable between two layers: from the empty board to prefixes of ``cut`` cells, or to none."""

    def __init__(
        self,
        puzzle: Puzzle,
        order: IntArray,
        cut: int,
        favoured: tuple[int, ...],
        params: BeamParams,
        random: RandomState,
    ) -> None:
        self.puzzle, self.order, self.cut, self.params, self.random = puzzle, order, cut, params, random
        everywhere = np.ones(puzzle.cells, dtype=bool)
        self._tables = build_tables(puzzle, order, everywhere, favoured, generator(random), cut)
        width, cells = params.width, puzzle.cells
        self._now, self._after = (new_population(width, puzzle.width, puzzle.height) for _ in range(2))
        least = -params.break_cost * (cells + 1)
        children = width * params.fan_out
        self._room = LayerWorkspace(
            np.zeros(children, dtype=np.int32),
            np.zeros(children, dtype=np.int64),
            np.zeros(children, dtype=np.int64),
            np.zeros(children, dtype=np.int32),
            np.zeros(MAX_FAVOURED * cells - least + 1, dtype=np.int64),
            least,
        )
        self._parent = np.zeros((cut, width), dtype=np.int32)
        self._laid = np.zeros((cut, width), dtype=np.int16)
        self.depth, self.prefix_count = 0, 1

    def run(self, children: int) -> int:
        """Grow layer by layer until about so many children were looked at; how many were. Ends at the cut, or dead."""
        seen = 0
        while seen < children and self.depth < self.cut and self.prefix_count:
            row, column = divmod(int(self.order[self.depth]), self.puzzle.width)
            live, born = extend_layer(
                self._tables, self.depth, row, column, self._now, self.prefix_count, self._after, self.params.break_cost,
                self.params.fan_out, self._room, self._parent[self.depth], self._laid[self.depth], self.random,
            )  # fmt: skip
            seen += born
            if live:
                self._now, self._after = self._after, self._now
                self.depth += 1
            self.prefix_count = live
        return seen

    def paths(self, count: int) -> Paths:
        """The oriented pieces by depth of the first ``count`` prefixes of the last living layer: (count, depth)."""
        paths = np.empty((count, self.depth), dtype=np.int16)
        at = np.arange(count)
        for depth in range(self.depth - 1, -1, -1):
            paths[:, depth] = self._laid[depth, at]
            at = self._parent[depth, at]
        return paths

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """Of the prefixes of the last layer, (alive,), the best first."""
        return self._now.gain[: self.prefix_count]

    def resume(self, paths: Paths, values: npt.NDArray[np.int64]) -> None:
        """Go on from legal prefixes of equal length, (n, depth) oriented pieces, as ``paths`` and ``values`` gave them.

        Raises InputError for what no prefix is values.
        """
        count, depth = paths.shape
        least, most = -self.params.break_cost * depth, MAX_FAVOURED * depth
        if not (least <= values.min() and values.max() <= most):
            raise InputError("the saved beam holds prefixes of a values that there is not")
        self.depth, self.prefix_count = depth, count
        self._now.gain[:count] = values
        for population in (self._now.right, self._now.down, self._now.used):
            population[:] = 0
        rows = np.arange(count)
        for at in range(depth):
            row, column = divmod(int(self.order[at]), self.puzzle.width)
            quads, piece = self.puzzle.oriented[paths[:, at]], (paths[:, at] >> 2).astype(np.int64)
            self._now.right[:count, row] = quads[:, RIGHT] * self._tables.colour_count
            self._now.down[:count, column] = quads[:, DOWN]
            self._now.used[rows, piece >> 6] |= np.uint64(1) << (piece & 63).astype(np.uint64)
            self._parent[at, :count] = rows
            self._laid[at, :count] = paths[:, at]
