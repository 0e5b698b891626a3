"""What each part of the search took and what it brought: for `--stats` and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass

from lns.runs.history import PartGains, RunHistory


@dataclass(frozen=True)
class Part:
    """What one part of the search cost and gained.

    ``node_equivalents``: its cost in placements of the constructor (tabu: moves evaluated); ``share``: of all parts.
    ``boards``: boards in the log; ``bests``: new bests among them; ``edges``: by how many edges those raised the best.
    """

    name: str
    node_equivalents: int
    share: float
    boards: int
    bests: int
    edges: int

    @property
    def edges_per_1e9(self) -> float | None:
        """Gain for the effort; None where none is counted."""
        return self.edges / self.node_equivalents * 1e9 if self.node_equivalents else None

    @property
    def boards_per_1e9(self) -> float | None:
        return self.boards / self.node_equivalents * 1e9 if self.node_equivalents else None


def parts(history: RunHistory, node_equivalents_by_part: dict[str, int]) -> list[Part]:
    """One for each name that worked or brought a board, the most effort first."""
    total = max(1, sum(node_equivalents_by_part.values()))
    found = []
    for name in history.operators.keys() | node_equivalents_by_part.keys():
        did, node_equivalents = history.operators.get(name, PartGains()), node_equivalents_by_part.get(name, 0)
        found.append(Part(name, node_equivalents, node_equivalents / total, did.boards, did.bests, did.edges))
    return sorted(found, key=lambda part: (-part.node_equivalents, part.name))
