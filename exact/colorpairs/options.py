"""The parts of ColorPairs (Benoist & Bourreau 2008) that can be switched off, so that their effect can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from lns.instances.arguments import checked_class
from lns.instances.errors import InputError
from lns.instances.text import unknown


class ColorPairsHeuristic(IntEnum):
    """How ColorPairs chooses the colour pair to branch on (Benoist & Bourreau 2008, 5.1).

    ROW_MAJOR, meant for few colours, is not in the paper: it takes the first cell with two known sides, row by row.
    """

    MIN_OFFER = 0
    MIN_EXPECTED_OFFER = 1
    MIN_EXPECTED_GAP = 2
    MIN_EXPECTED_RATIO = 3
    MAX_EXPECTED_FILTERING = 4
    ROW_MAJOR = 5

    @property
    def label(self) -> str:
        """The name of the heuristic on the command line, such as 'min-expected-gap'."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> ColorPairsHeuristic:
        """Return the heuristic whose `label` is ``label``. Raises InputError if there is none."""
        labels = {heuristic.label: heuristic for heuristic in cls}
        if label not in labels:
            raise InputError(unknown("heuristic", label, labels))
        return labels[label]


@checked_class
@dataclass(frozen=True)
class ColorPairsOptions:
    """The heuristic of the solver ColorPairs, and which parts of the solver are switched on.

    By default the parts up to `backjumping` are on and the others off. Numbers in parentheses: sections of the paper.

    Parameters
    ----------
    heuristic : ColorPairsHeuristic
        How the colour pair to branch on is chosen (5.1).
    motifs : bool
        Decide cells of the motifs 3 and 4 before those that the heuristic chooses (5.1), except with ROW_MAJOR. Cells
        of the motifs 1 and 2, with four and three known sides, come before both: preemption rests while there are any.
    instantiation : bool
        If only one free piece has a colour pair and only one cell demands it, decide that cell next (3.1).
    opposite : bool
        Use colour pairs of opposite sides too, not only of consecutive sides (3.2).
    preemption : bool
        If as many cells demand a colour pair as free pieces have it, offer these to no other colour pair (4.1).
    backjumping : bool
        Use conflict-directed backjumping (5.2).
    shaving : bool
        Before a cell is chosen, try pieces on each cell with two or more known sides, with all filters (5.1).
    quick_shaving : bool
        Shave only cells where at most one piece passes a test of each colour pair by itself (not in the paper).
    values : bool
        Try first the pieces that other colour pairs are least likely to use (5.1).
    single_colours : bool
        Compare offer and demand of single colours too (end of 3.2).
    shared_edges : bool
        Bound the edges that free pieces of one colour can share (4.2). Ignored on boards without frame or with mates.
    cycles : bool
        Refute chains of rim pieces that close too early (4.2). Ignored under other rules than those of Eternity II.
    random_cell : bool
        Decide a random cell of those that demand the chosen colour pair, as in the paper (5.1), not the first.

    References
    ----------
    T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008.
    """

    heuristic: ColorPairsHeuristic = ColorPairsHeuristic.MIN_EXPECTED_GAP
    motifs: bool = True
    instantiation: bool = True
    opposite: bool = True
    preemption: bool = True
    backjumping: bool = True
    shaving: bool = False
    quick_shaving: bool = False
    values: bool = False
    single_colours: bool = False
    shared_edges: bool = False
    cycles: bool = False
    random_cell: bool = False


# shorter names of both classes, for use within `lns.exact`
Heuristic = ColorPairsHeuristic
Options = ColorPairsOptions
