"""What each part of the search took and what it brought: for `--stats` and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass

from lns.runs.history import Operator, RunHistory


@dataclass(frozen=True)
class Part:
    """``effort``: nodes of the constructor, or what takes as long (tabu: moves evaluated); ``share``: of all effort.

    ``boards``: in the log; ``bests``: new bests among them; ``edges``: by how many those were better, all together.
    """

    name: str
    effort: int
    share: float
    boards: int
    bests: int
    edges: int

    @property
    def edges_per_1e9(self) -> float | None:
        """Gain for the effort; None where none is counted."""
        return self.edges / self.effort * 1e9 if self.effort else None

    @property
    def boards_per_1e9(self) -> float | None:
        return self.boards / self.effort * 1e9 if self.effort else None


def parts(history: RunHistory, efforts: dict[str, int]) -> list[Part]:
    """One for each name that worked or brought a board, the most effort first."""
    total = max(1, sum(efforts.values()))
    found = []
    for name in history.operators.keys() | efforts.keys():
        did, effort = history.operators.get(name, Operator()), efforts.get(name, 0)
        found.append(Part(name, effort, effort / total, did.boards, did.bests, did.edges))
    return sorted(found, key=lambda part: (-part.effort, part.name))
