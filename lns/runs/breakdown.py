"""Cost and gains of each part of the search, for `--stats` and the page of a run."""

from __future__ import annotations

from dataclasses import dataclass

from lns.engine import Statistics
from lns.runs.history import PartGains, RunHistory


@dataclass(frozen=True)
class Part:
    """Cost and gains of one part of the search."""

    name: str
    node_equivalents: int  # cost in placements of the constructor
    share: float  # of the cost of all parts
    boards: int  # in the log
    bests: int  # new bests among them
    edges: int  # by which those raised the best score
    new_boards: int = 0  # of the wanted score when they were found
    found_later: int = 0  # how many of these the construction found later
    failures: int = 0  # islands on which the part was switched off because it failed

    @property
    def edges_per_1e9(self) -> float | None:
        """Edges gained for 10^9 node equivalents; None if the part has no cost."""
        return self.edges / self.node_equivalents * 1e9 if self.node_equivalents else None

    @property
    def boards_per_1e9(self) -> float | None:
        """Logged boards for 10^9 node equivalents; None if the part has no cost."""
        return self.boards / self.node_equivalents * 1e9 if self.node_equivalents else None


def parts(
    history: RunHistory, node_equivalents_by_part: dict[str, int], statistics: Statistics | None = None
) -> list[Part]:
    """Cost and gains of every part that has a cost or a board.

    Parameters
    ----------
    history : RunHistory
        History of the run.
    node_equivalents_by_part : dict of str to int
        Cost of each part (`Statistics.node_equivalents_by_part`).
    statistics : Statistics, optional
        What the operators found.

    Returns
    -------
    list of Part
        The most expensive first.
    """
    total = max(1, sum(node_equivalents_by_part.values()))
    result, done = [], statistics or Statistics()
    for name in history.gains_by_part.keys() | node_equivalents_by_part.keys() | done.failures.keys():
        gains, cost = history.gains_by_part.get(name, PartGains()), node_equivalents_by_part.get(name, 0)
        found = (of.get(name, 0) for of in (done.new_boards, done.found_later, done.failures))
        result.append(Part(name, cost, cost / total, gains.boards, gains.bests, gains.edges, *found))
    return sorted(result, key=lambda part: (-part.node_equivalents, part.name))
