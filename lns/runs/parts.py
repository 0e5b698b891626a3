"""What each part of the search took and what it brought: for `--stats` and for the page of a run."""

from __future__ import annotations

from dataclasses import dataclass

from lns.runs.account import Account, Operator


@dataclass(frozen=True)
class Part:
    """``work``: nodes of the constructor, or what takes as long (tabu: moves evaluated); ``share``: of all parts' work.

    ``boards``: in the log; ``bests``: new bests among them; ``edges``: by how many those were better, all together.
    """

    name: str
    work: int
    share: float
    boards: int
    bests: int
    edges: int

    @property
    def edges_per_1e9(self) -> float | None:
        """Gain for the work; None where no work is counted."""
        return self.edges / self.work * 1e9 if self.work else None

    @property
    def boards_per_1e9(self) -> float | None:
        return self.boards / self.work * 1e9 if self.work else None


def parts(account: Account, efforts: dict[str, int]) -> list[Part]:
    """One for each name that worked or brought a board, the most work first."""
    total = max(1, sum(efforts.values()))
    found = []
    for name in account.operators.keys() | efforts.keys():
        did, work = account.operators.get(name, Operator()), efforts.get(name, 0)
        found.append(Part(name, work, work / total, did.boards, did.bests, did.edges))
    return sorted(found, key=lambda part: (-part.work, part.name))
