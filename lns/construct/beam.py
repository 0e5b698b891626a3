"""Beam search in a fixed order: of all children of all prefixes of one length, the best ``width`` are kept.

The value of a prefix is the number of favoured half-edges that it has used, minus ``break_cost`` for each break. While
pieces fit everywhere the beam thus uses up the favoured colours, as the quotas of the constructor do, and later it
avoids breaks. Ties are broken at random. A prefix is stored as its parent and one placement; the pieces used and the
colours shown are kept in a `Population`. The exact tails of the prefixes that reach the cut are searched, the best
first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, RIGHT, IntArray, Puzzle
from lns.construct.beam_kernel import BeamHistory, BeamPlan, LayerWorkspace, Paths, extend_layer
from lns.construct.candidates import MAX_FAVOURED, build_tables
from lns.construct.population import new_population
from lns.params import BeamParams
from lns.rng import RandomState, generator
from lns_support.errors import InputError


class BeamSearch:
    """One beam, from the empty board to prefixes of ``cut`` cells; it may be stopped and resumed between two layers.

    Parameters
    ----------
    puzzle : Puzzle
    order : int32 (cells,)
        Cells by depth.
    cut : int
        Length of complete prefixes.
    favoured : tuple of int
        Favoured colours.
    params : BeamParams
    random : RandomState
        Is advanced by the search.

    Attributes
    ----------
    depth : int
        Length of the prefixes.
    prefix_count : int
        Their number; 0 if no prefix of the last layer could be extended.
    """

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
        cells, width = puzzle.cells, params.width
        row, column = np.divmod(order.astype(np.int64), puzzle.width)
        self._plan = BeamPlan(
            tables=build_tables(puzzle, order, np.ones(cells, dtype=bool), favoured, generator(random), cut),
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
        self._history = BeamHistory(
            parent=np.zeros((cut, width), dtype=np.int32), placed=np.zeros((cut, width), dtype=np.int16)
        )
        self.depth, self.prefix_count = 0, 1

    def run(self, children: int) -> int:
        """Grow layer by layer, up to the cut, until at least this many children were generated; return their number."""
        generated = 0
        while generated < children and self.depth < self.cut and self.prefix_count:
            selected, more = extend_layer(
                self._plan, self.depth, self._current, self.prefix_count, self._extended, self._work, self._history,
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
            paths[:, depth] = self._history.placed[depth, index]
            index = self._history.parent[depth, index]
        return paths

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """Values of the current prefixes, int64 (prefix_count,), best first."""
        return self._current.gain[: self.prefix_count]

    def resume(self, paths: Paths, values: npt.NDArray[np.int64]) -> None:
        """Continue from legal prefixes of equal length.

        Parameters
        ----------
        paths : int16 (n, depth)
            As `paths` returned them.
        values : int64 (n,)
            As `values` returned them.

        Raises
        ------
        InputError
            If a prefix of this length cannot have such a value.
        """
        count, depth = paths.shape
        least, most = -self.params.break_cost * depth, MAX_FAVOURED * depth
        if not (least <= values.min() and values.max() <= most):
            raise InputError(
                f"checkpoint: the value of a prefix of the beam is out of range; expected {least} to {most}"
            )
        self.depth, self.prefix_count = depth, count
        self._current.gain[:count] = values
        for array in (self._current.right, self._current.down, self._current.used):
            array[:] = 0
        indexes = np.arange(count)
        for at in range(depth):
            quads, piece = self.puzzle.oriented[paths[:, at]], (paths[:, at] >> 2).astype(np.int64)
            self._current.right[:count, self._plan.row[at]] = quads[:, RIGHT] * self._plan.tables.colour_count
            self._current.down[:count, self._plan.column[at]] = quads[:, DOWN]
            self._current.used[indexes, piece >> 6] |= np.uint64(1) << (piece & 63).astype(np.uint64)
            self._history.parent[at, :count] = indexes
            self._history.placed[at, :count] = paths[:, at]
