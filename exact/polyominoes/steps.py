"""A search recorded step by step: every tested placement, and why it was given up.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III: the recorded steps, branches and depth.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from lns.exact.cover.kernel import LEVEL, NOTHING, last_choice
from lns.exact.polyominoes.grid import Cell
from lns.exact.polyominoes.search import FillingSearch


class StepOutcome(IntEnum):
    """What becomes of a tested placement."""

    STAYS = 0
    """The search goes on below it."""
    NO_PLACE = 1
    """A cell or a piece has no place left."""
    ZONE = 2
    """It leaves a zone that no pieces can fill."""
    FILLING = 3
    """The grid is filled."""


class Step(NamedTuple):
    """A tested placement: the pieces of its level and of deeper ones are taken off, then this one is placed."""

    level: int
    """Pieces placed before it."""
    piece: str
    cells: tuple[Cell, ...]
    outcome: StepOutcome


class StepRecorder:
    """Records what a search places.

    Parameters
    ----------
    search : FillingSearch

    Attributes
    ----------
    steps : list of Step
    """

    def __init__(self, search: FillingSearch) -> None:
        self.search = search
        self.steps: list[Step] = []

    def record(self, most: int, *, count_all: bool = False) -> None:
        """Go on until ``most`` steps are recorded, to the end, or to the first filling unless ``count_all``."""
        search = self.search
        while len(self.steps) < most and not search.exhausted and (count_all or not search.solutions):
            nodes, pruned, solutions = search.nodes, search.pruned, search.solutions
            search.advance(1, True)  # a filling ends the call, so that it is seen before the next placement
            if search.nodes > nodes:
                self.steps.append(self._last(search.pruned > pruned))
            elif self.steps and search.solutions > solutions:  # only now the search sees that the grid is filled
                self.steps[-1] = self.steps[-1]._replace(outcome=StepOutcome.FILLING)

    def placed(self) -> list[tuple[str, tuple[Cell, ...]]]:
        """Name and cells of the pieces that are placed now."""
        levels = range(int(self.search.counters[LEVEL]))
        return [self._piece(level) for level in levels if self.search.state.chosen[level] != NOTHING]

    def _last(self, zone: bool) -> Step:
        """The placement that was just tested; ``zone``: it was rejected by the test of zones."""
        level, _, stays = last_choice(self.search.state)
        rejected = StepOutcome.ZONE if zone else StepOutcome.NO_PLACE
        return Step(level, *self._piece(level), StepOutcome.STAYS if stays else rejected)

    def _piece(self, level: int) -> tuple[str, tuple[Cell, ...]]:
        """Name and cells of the piece at a level; equal pieces are told apart by their order."""
        model, chosen = self.search.model, self.search.state.chosen
        kinds = [int(model.item[model.begin[chosen[i] + 1] - 1]) - model.cells for i in range(level + 1)]
        option = int(chosen[level])
        *cells, _ = model.item[model.begin[option] : model.begin[option + 1]].tolist()
        name = model.names[kinds[level]][kinds[:level].count(kinds[level])]
        return name, tuple(model.grid.free[cell] for cell in cells)
