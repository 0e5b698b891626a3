"""Beam search in a fixed order: of all children of all prefixes of one length, the best ``width`` are kept.

The value of a prefix is the number of favoured half-edges that it has used, minus ``break_cost`` for each break. While
pieces fit everywhere the beam thus uses up the favoured colours, as the quotas of the constructor do, and later it
avoids breaks. Ties are broken at random. A prefix is stored as its parent and one placement; the pieces used and the
colours shown are kept in a `Population`. The exact tails of the prefixes that reach the cut are searched, the best
first.
"""

from __future__ import annotations

import numpy as np

from lns.construct.beam_kernel import BeamPlan, LayerWorkspace, Paths, extend_layer
from lns.construct.candidates import MAX_FAVOURED, CandidateTables, Int64Array, build_tables
from lns.construct.population import new_population
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, RIGHT, IntArray, Puzzle
from lns.params import BeamParams
from lns.rng import RandomState, generator


def beam_tables(
    puzzle: Puzzle, order: IntArray, cut: int, favoured: tuple[int, ...], random: RandomState
) -> CandidateTables:
    """The candidates of beams, which may break anywhere and favour some colours; ``random`` orders equal ones."""
    return build_tables(puzzle, order, np.ones(puzzle.cells, dtype=bool), favoured, generator(random), cut)


class BeamSearch:
    """One beam, from the empty board to prefixes of ``cut`` cells; it may be stopped and resumed between two layers.

    ``order``: int32 (cells,), cells by depth; ``cut``: length of complete prefixes; ``tables``: those of `beam_tables`,
    for one beam or several; ``random`` is advanced.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        order: IntArray,
        cut: int,
        tables: CandidateTables,
        params: BeamParams,
        random: RandomState,
    ) -> None:
        self.puzzle, self.cut, self.params, self.random = puzzle, cut, params, random
        cells, width = puzzle.cells, params.width
        row, column = np.divmod(order.astype(np.int64), puzzle.width)
        self._plan = BeamPlan(
            tables=tables,
            row=row,
            column=column,
            break_cost=params.break_cost,
            fan_out=params.fan_out,
            min_value=-params.break_cost * (cells + 1),
        )
        self._current, self._extended = (new_population(width, puzzle.width, puzzle.height) for _ in range(2))
        children = width * params.fan_out
        self._work = LayerWorkspace(
            parent=np.zeros(children, dtype=np.int32),
            candidate=np.zeros(children, dtype=np.int64),
            value=np.zeros(children, dtype=np.int64),
            sorted=np.zeros(children, dtype=np.int32),
            counts=np.zeros(MAX_FAVOURED * cells - self._plan.min_value + 1, dtype=np.int64),
        )
        # how the prefixes of each layer arose: index of the prefix in the layer before, and piece on the layer's cell
        self._parent, self._placed = np.zeros((cut, width), dtype=np.int32), np.zeros((cut, width), dtype=np.int16)
        self.depth = 0  # length of the prefixes
        self.prefix_count = 1  # 0 if no prefix of the last layer could be extended

    def run(self, children: int) -> int:
        """Grow layer by layer, up to the cut, until at least this many children were generated; return their number."""
        generated = 0
        while generated < children and self.depth < self.cut and self.prefix_count:
            parent, placed = self._parent[self.depth], self._placed[self.depth]
            selected, more = extend_layer(
                self._plan, self.depth, self._current, self.prefix_count, self._extended, self._work, parent, placed,
                self.random,
            )  # fmt: skip
            generated += more
            if selected:
                self._current, self._extended = self._extended, self._current
                self.depth += 1
            self.prefix_count = selected
        return generated

    def paths(self, count: int) -> Paths:
        """The first ``count`` prefixes of the last layer that is not empty: int16 (count, depth), oriented pieces."""
        paths = np.empty((count, self.depth), dtype=np.int16)
        index = np.arange(count)
        for depth in range(self.depth - 1, -1, -1):
            paths[:, depth] = self._placed[depth, index]
            index = self._parent[depth, index]
        return paths

    @property
    def values(self) -> Int64Array:
        """Values of the current prefixes, int64 (prefix_count,), best first."""
        return self._current.gain[: self.prefix_count]

    def resume(self, paths: Paths, values: Int64Array) -> None:
        """Continue from legal prefixes, int16 (n, depth), and their values, int64 (n,): see `paths` and `values`.

        Raises InputError if a prefix of this length cannot have such a value.
        """
        count, depth = paths.shape
        if not -self.params.break_cost * depth <= values.min() <= values.max() <= MAX_FAVOURED * depth:
            raise InputError("checkpoint: the value of a prefix of the beam is out of range")
        self.depth, self.prefix_count = depth, count
        right, down, used, gain = self._current
        gain[:count] = values
        right[:], down[:], used[:] = 0, 0, 0
        indexes = np.arange(count)
        for at, oriented in enumerate(paths.T.astype(np.int64)):
            quads, piece = self.puzzle.oriented[oriented], oriented >> 2
            right[:count, self._plan.row[at]] = quads[:, RIGHT] * self._plan.tables.colour_count
            down[:count, self._plan.column[at]] = quads[:, DOWN]
            used[indexes, piece >> 6] |= np.uint64(1) << (piece & 63).astype(np.uint64)
            self._parent[at, :count], self._placed[at, :count] = indexes, oriented
