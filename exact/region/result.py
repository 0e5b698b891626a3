"""The result of a region re-solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lns.instances.board import Board


class RegionStatus(StrEnum):
    """How a re-solve ended. The first three are proofs."""

    OPTIMAL = "optimal"  # no refill is better than the given board
    IMPROVED_OPTIMAL = "improved and optimal"  # a refill has a better score, or is the first legal one; none is better
    TARGET_REFUTED = "target refuted"  # no refill reaches the target
    TARGET_REACHED = "target reached"  # by a refill or by the given board; not proven optimal
    IMPROVED = "improved"  # a refill is better; not proven optimal
    BUDGET_SPENT = "budget spent"
    INTERRUPTED = "interrupted"  # by Ctrl-C; the board may have improved


@dataclass(frozen=True)
class RegionResult:
    """The result of `lns.exact.region.resolve.resolve`.

    The score is never lower than that of the given board, unless the given board breaks a rule, or has the piece of a
    clue on another cell while the clue's cell is empty.

    Parameters
    ----------
    status : RegionStatus
    board : Board
        The best refill found, verified, or the given board if none is better.
    score, score_before : int
        Matched inner edges of the whole board, now and as given.
    bound : int
        No refill of the region has a higher score.
    nodes : int
        Pieces placed by the search.
    seconds : float
        Elapsed time, without compilation.
    cells : tuple of int
        The freed cells, donors included.
    legal : bool
        Whether `board` breaks no rule.
    work : int
        `nodes`, each placement in the dynamic order counted as the placements in fixed orders that take as long.
    check : str or None
        What a second solver says of `bound` as the search gave it, where it was asked (`lns.exact.sat.refill`):
        "proved", "open" (its time was over) or "contradicted": by `board`, which scores more. That is a fault of the
        search.
    check_solver : str or None
        Which solver that is.
    check_seconds : float
        Its elapsed time.
    """

    status: RegionStatus
    board: Board
    score: int
    score_before: int
    bound: int
    nodes: int
    seconds: float
    cells: tuple[int, ...]
    legal: bool = True
    work: int = 0
    check: str | None = None
    check_solver: str | None = None
    check_seconds: float = 0.0

    @property
    def proven(self) -> bool:
        """Whether `board` is legal and no refill of the region is better."""
        return self.legal and self.score == self.bound and self.check != "contradicted"

    @property
    def improved(self) -> bool:
        """Whether the score is higher than that of the given board, which may have broken a rule."""
        return self.score > self.score_before


OnProgress = Callable[[int, int, int, float], None]
"""Receives score, bound, nodes and seconds."""

OnImprove = Callable[[Board], None]
"""Receives a better board, verified."""
