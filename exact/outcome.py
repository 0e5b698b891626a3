"""What every exact solver answers: the same few fields, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify

NODES_UNKNOWN = -1
"""Nodes of a library that does not tell them."""


class SolveStatus(StrEnum):
    """How a search ended. Only SOLVED and INFEASIBLE are statements about the puzzle."""

    SOLVED = "solved"  # a solution was found, and, when counting, all of them were
    INFEASIBLE = "infeasible"  # the whole tree was searched: no solution
    BUDGET_SPENT = "budget spent"  # nodes or time ran out; `solutions` is a lower bound
    INTERRUPTED = "interrupted"  # Ctrl-C; `solutions` is a lower bound


@dataclass(frozen=True)
class Answer:
    """A solver's own result for one puzzle; identical pieces swapped are one solution. ``nodes``: see `Outcome`.

    ``spent``: how much of the budget of nodes is gone, where that may limit something else (conflicts).
    """

    status: SolveStatus
    solutions: int
    nodes: int
    seconds: float
    board: Board | None
    details: dict[str, float] = field(default_factory=dict)
    spent: int | None = None


@dataclass(frozen=True)
class Outcome:
    """``solutions`` counted under ``convention``; ``seconds`` without compilation.

    ``nodes``: in the method's own unit, or `NODES_UNKNOWN`: placements; decisions of a SAT solver; branches of
    CP-SAT; steps
    of a local search.

    ``board``: the first solution found, verified, or None. ``details``: figures of the method (depths, prunings…).
    """

    status: SolveStatus
    solutions: int
    nodes: int
    seconds: float
    convention: str
    board: Board | None = None
    details: dict[str, float] = field(default_factory=dict)


def require_solution(puzzle: Puzzle, board: Board, who: str) -> None:
    """Raises RuntimeError when ``board`` is no perfect board: the answer of ``who`` is worth nothing then."""
    judged = verify(puzzle, board)
    if not (judged.complete and judged.score == puzzle.max_score):
        raise RuntimeError(f"{who} gave a board that is no solution: {judged.problems or judged.mismatches}")
