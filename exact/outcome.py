"""The result that every exact solver returns, with the same fields for all methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.verify import verify


class SolveStatus(StrEnum):
    """How a search ended. Only SOLVED and INFEASIBLE are statements about the puzzle."""

    SOLVED = "solved"  # a solution was found or, when counting, all solutions
    INFEASIBLE = "infeasible"  # the search was complete: the puzzle has no solution
    BUDGET_SPENT = "budget spent"  # nodes, time or memory ran out; `Outcome.solutions` is a lower bound
    INTERRUPTED = "interrupted"  # Ctrl-C ended the search; `Outcome.solutions` is a lower bound


@dataclass(frozen=True)
class Outcome(Records):
    """What a solver returns for a puzzle, and the result of `lns.exact.solve` and `lns.exact.count`.

    Parameters
    ----------
    status : SolveStatus
        How the search ended; 'solved' and 'infeasible' are proven.
    solutions : int
        Boards found that differ in their colours: boards that differ only by swapping duplicate pieces count once.
    nodes : int or None
        Nodes in the solver's own unit: placements of a tree search; decisions of a SAT solver; branches of CP-SAT;
        steps of a local search. None if the solver does not report them.
    seconds : float
        Time of the search, without compilation.
    board : Board or None
        The first solution found; `lns.exact.solve` and `lns.exact.count` verify it.
    details : dict
        Statistics of the search by name, such as its deepest level. ``budget_spent`` is how much of the budget of nodes
        was spent, for solvers where this budget limits something other than nodes (conflicts).
    convention : str
        Whether rotated copies of a board count, in words. Solvers leave it empty; `solve_request` fills it in.
    answered_by : str
        The solver that answered for 'auto'; empty for other solvers, and if none answered.
    """

    columns = "status solutions nodes seconds answered_by"
    status: SolveStatus
    solutions: int
    nodes: int | None
    seconds: float
    board: Board | None = None
    details: dict[str, float] = field(default_factory=dict)
    convention: str = ""
    answered_by: str = ""


Answer = Outcome  # another name of `Outcome`, for solvers written by users


def require_solution(puzzle: Puzzle, board: Board, solver: str) -> None:
    """Raise RuntimeError if ``board``, which ``solver`` returned, is not a perfect board of ``puzzle``."""
    result = verify(puzzle, board)
    if not (result.complete and result.score == puzzle.max_score):
        raise RuntimeError(f"{solver} returned a board that is not a solution: {result.problems or result.mismatches}")
