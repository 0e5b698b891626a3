"""The switches of ColorPairs: each part of seed 000 can be taken away, so that its worth can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum

from lns_support.errors import InputError


class Heuristic(IntEnum):
    """Which pair is the most urgent (seed 000, 5.1).

    ROW_MAJOR is not the paper's: the first surrounded cell in reading order, for loose puzzles (docs/seed-000.md).
    """

    MIN_OFFER = 0
    MIN_EXPECTED_OFFER = 1
    MIN_EXPECTED_GAP = 2
    MIN_EXPECTED_RATIO = 3
    MAX_EXPECTED_FILTERING = 4
    ROW_MAJOR = 5

    @property
    def label(self) -> str:
        """The paper's name in the form of the command line: 'min-expected-gap'."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> Heuristic:
        """Raises InputError for an unknown name."""
        labels = {heuristic.label: heuristic for heuristic in cls}
        if label not in labels:
            near = get_close_matches(label, labels, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(labels)
            raise InputError(f"unknown heuristic '{label}': {hint}")
        return labels[label]


@dataclass(frozen=True)
class Options:
    """The default: MinExpectedGap and all filters, without shaving and the bounds of 4.2 (docs/seed-000.md).

    heuristic: which demanded pair to branch on; motifs: special motifs 3 and 4 come first (5.1; 1 and 2,
    cells with three or four known sides, always do: preemption rests on it);
    instantiation: a pair with one piece and one cell is placed at once (3.1); opposite: opposite pairs too (3.2);
    preemption: pieces taken by a pair with as many pieces as cells (4.1); backjumping: conflict-directed (5.2);
    shaving: try every piece of every surrounded cell at each node (5.1); values: try probable pieces first (5.1);
    single_colours: offer and demand of single colours (end of 3.2); shared_edges: the bound 2 h(N) and
    cycles: chains of rim pieces that close too early (both 4.2).
    """

    heuristic: Heuristic = Heuristic.MIN_EXPECTED_GAP
    motifs: bool = True
    instantiation: bool = True
    opposite: bool = True
    preemption: bool = True
    backjumping: bool = True
    shaving: bool = False
    values: bool = False
    single_colours: bool = False
    shared_edges: bool = False
    cycles: bool = False
