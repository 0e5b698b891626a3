"""What a region re-solve answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from instances.board import Board


class RegionStatus(StrEnum):
    """How a re-solve ended. The first three are proofs."""

    OPTIMAL = "optimal"  # the board was the best possible already
    IMPROVED_OPTIMAL = "improved and optimal"  # improved: a better score, or a rule kept that the board broke
    TARGET_REFUTED = "target refuted"  # no refill reaches the target
    TARGET_REACHED = "target reached"  # by a refill or by the board as it was; not proven to be the best
    IMPROVED = "improved"  # not proven to be the best
    BUDGET_SPENT = "budget spent"
    INTERRUPTED = "interrupted"  # Ctrl-C; the board may have improved


@dataclass(frozen=True)
class RegionResult:
    """``score``, ``score_before``: matched inner edges of the whole board. ``bound``: the most that any refill
    of the region can give, as far as proven. ``board``: a refill, verified, or the board as it was given. ``legal``:
    whether it breaks no rule.

    A refill never has fewer matches than the board as it was given, unless that breaks a rule, or leaves the cell of a
    clue empty and has its piece on another one.
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

    @property
    def proven(self) -> bool:
        """Whether ``board`` is legal and no refill of the region is better."""
        return self.legal and self.score == self.bound

    @property
    def improved(self) -> bool:
        """Whether it has more matches than the board as it was given; that may have broken a rule."""
        return self.score > self.score_before


OnProgress = Callable[[int, int, int, float], None]  # score, bound, nodes, seconds
OnImprove = Callable[[Board], None]
