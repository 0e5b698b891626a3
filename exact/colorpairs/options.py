"""The parts of ColorPairs (Benoist & Bourreau 2008) that can be switched off, so that their effect can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from lns.instances.arguments import checked_class
from lns.instances.errors import InputError
from lns.instances.text import unknown


class ColorPairsHeuristic(IntEnum):
    """How ColorPairs, and no other solver, chooses the pair to branch on (Benoist & Bourreau 2008, 5.1).

    ROW_MAJOR is not in the paper: it takes the first surrounded cell in reading order, for puzzles with few colours.
    """

    MIN_OFFER = 0
    MIN_EXPECTED_OFFER = 1
    MIN_EXPECTED_GAP = 2
    MIN_EXPECTED_RATIO = 3
    MAX_EXPECTED_FILTERING = 4
    ROW_MAJOR = 5

    @property
    def label(self) -> str:
        """The name on the command line, such as 'min-expected-gap'."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> ColorPairsHeuristic:
        """Return the heuristic with a `label`. Raises InputError if there is none."""
        labels = {heuristic.label: heuristic for heuristic in cls}
        if label not in labels:
            raise InputError(unknown("heuristic", label, labels))
        return labels[label]


@checked_class
@dataclass(frozen=True)
class ColorPairsOptions:
    """Parts of ColorPairs; other solvers have none of them.

    The default is MinExpectedGap with all filters, without shaving and the bounds of 4.2.

    Parameters
    ----------
    heuristic : ColorPairsHeuristic
        Which demanded pair to branch on (5.1).
    motifs : bool
        Cells of the motifs 3 and 4 come before the heuristic (5.1). Motifs 1 and 2, cells with three or four known
        sides, always come first, because preemption requires it.
    instantiation : bool
        If a pair has one piece and one cell, the piece is placed there at once (3.1).
    opposite : bool
        Pairs of opposite sides are used too (3.2).
    preemption : bool
        Pieces of a pair with as many pieces as cells are not offered to other pairs (4.1).
    backjumping : bool
        Conflict-directed backjumping (5.2).
    shaving : bool
        Try every value of every surrounded cell at each node, with all filters (5.1).
    quick_shaving : bool
        Not in the paper: try only cells where at most one value passes a test of single pairs, without further filters.
    values : bool
        Try the most probable pieces first (5.1).
    single_colours : bool
        Offer and demand of single colours (end of 3.2).
    shared_edges : bool
        The bound 2 h(N) on edges between free pieces (4.2); left out without frame and with mates.
    cycles : bool
        Chains of rim pieces that close too early (4.2); left out under other rules than those of Eternity II.
    random_cell : bool
        The cell of the chosen pair is drawn at random, as in the paper (5.1), instead of the first one.

    References
    ----------
    T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008; the numbers
    are its sections.
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


# Their names within `lns.exact`:
Heuristic = ColorPairsHeuristic
Options = ColorPairsOptions
