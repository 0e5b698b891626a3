"""What a solver in a child process tells its parent, and how that becomes an answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exact.outcome import Status
from exact.process import Ended, Ending
from exact.solvers import Answer
from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify

TELL_SECONDS = 0.2
"""How often a child that counts tells where it is."""


@dataclass(frozen=True)
class Told:
    """What is known so far; the last one has ``exhausted`` set when there is nothing more to find.

    ``placements``: oriented piece by cell of the first board found. ``details["own_seconds"]`` of the last one: time
    for the model and the search, without starting Python and importing the library.
    """

    solutions: int
    nodes: int
    placements: list[int] | None
    exhausted: bool
    details: dict[str, float]


def require_solution(puzzle: Puzzle, board: Board, who: str) -> None:
    """Raises RuntimeError when ``board`` is no perfect board: the library's answer is worth nothing then."""
    judged = verify(puzzle, board)
    if not (judged.valid and judged.full and judged.score == puzzle.max_score):
        raise RuntimeError(f"{who} gave a board that is no solution: {judged.problems or judged.mismatches}")


def answer_of(puzzle: Puzzle, told: list[Told], ended: Ended, count_all: bool) -> Answer:
    """The child's last words as an `Answer`; only a finished child may say 'infeasible'."""
    last = told[-1] if told else Told(0, 0, None, False, {})
    done = ended.how is Ending.FINISHED and last.exhausted
    if ended.how is Ending.INTERRUPTED:
        status = Status.INTERRUPTED
    elif done or (last.solutions and not count_all):
        status = Status.SOLVED if last.solutions else Status.INFEASIBLE
    else:
        status = Status.BUDGET_SPENT
    board = None
    if last.placements is not None:
        board = Board(np.array(last.placements, dtype=np.int32), puzzle.width, puzzle.height)
    details = last.details | {"peak_megabytes": ended.peak_bytes / 1e6}
    if ended.how is Ending.MEMORY:
        details["memory_spent"] = 1.0
    seconds = details.pop("own_seconds", ended.seconds) if ended.how is Ending.FINISHED else ended.seconds
    return Answer(status, last.solutions, last.nodes, seconds, board, details)
