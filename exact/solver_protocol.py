"""What a solver in a child process tells its parent, and how that becomes an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exact.outcome import NODES_UNKNOWN, Answer, SolveStatus, require_solution
from exact.piece_multiplicity import distinct_count
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.child_process import Emit, ExitReason, ProcessResult, run_in_process

TELL_SECONDS = 0.2
"""How often a child that counts tells where it is."""


@dataclass(frozen=True)
class SolverMessage:
    """What is known so far; the last one has ``exhausted`` set when there is nothing more to find.

    ``placements``: oriented piece by cell of the first board found; ``boards``: those found since the last message,
    where all are asked for. ``nodes`` may be `NODES_UNKNOWN`. ``details["own_seconds"]`` and
    ``["processor_seconds"]``: time
    for the model and the search, without starting Python and importing the library.
    """

    solutions: int
    nodes: int
    placements: list[int] | None
    exhausted: bool
    details: dict[str, float]
    boards: list[list[int]] = field(default_factory=list)


class SolverReporter:
    """A child's side: verifies and counts the boards of a library, and tells the parent now and then.

    ``who`` is the library's name; ``details`` may grow until the end.
    ``twins_apart``: it finds a board once for each way to swap identical pieces. ``listing``: all boards are wanted.
    """

    def __init__(
        self, emit: Emit, puzzle: Puzzle, who: str, *, twins_apart: bool = False, listing: bool = False
    ) -> None:
        self._emit, self._puzzle, self._who = emit, puzzle, who
        self._twins_apart, self._listing = twins_apart, listing
        self._began, self._processor_began, self._told = time.perf_counter(), time.process_time(), 0.0
        self._fresh: list[list[int]] = []
        self._first: list[int] | None = None
        self.found = 0
        self.details: dict[str, float] = {}

    def board(self, board: Board, nodes: int) -> None:
        """A board was found after ``nodes`` nodes. Raises RuntimeError when it is no solution."""
        require_solution(self._puzzle, board, self._who)
        placements = board.placements.tolist()
        self.found += 1
        self._first = placements if self._first is None else self._first
        if self._listing:
            self._fresh.append(placements)
        if self.found == 1 or time.perf_counter() - self._told > TELL_SECONDS:
            self.tell(nodes)

    def tell(self, nodes: int, *, exhausted: bool = False) -> None:
        """Say what is known; the last time with ``exhausted``, if nothing is left to find."""
        self._told = time.perf_counter()
        spent = {
            "own_seconds": self._told - self._began,
            "processor_seconds": time.process_time() - self._processor_began,
        }
        solutions = distinct_count(self.found, self._puzzle) if self._twins_apart else self.found
        told = SolverMessage(solutions, nodes, self._first, exhausted, self.details | spent, self._fresh)
        self._emit(told)
        self._fresh = []


def solve_in_child(task: Callable[..., None], puzzle: Puzzle, request: Request, *arguments: Any) -> Answer:
    """Run ``task(emit, puzzle, *arguments)`` in a child within the limits of ``request``; what it told, as an answer.

    Raises ChildProcessError when the child crashes.
    """
    told = [SolverMessage(0, NODES_UNKNOWN, None, False, {})]

    def receive(message: SolverMessage) -> None:
        told[:] = [message]
        for placements in message.boards:
            if request.each is not None:
                request.each(_board(puzzle, placements))

    limits: dict[str, Any] = {"seconds": request.seconds, "memory": request.memory, "processor": request.processor}
    ended = run_in_process(task, puzzle, *arguments, receive=receive, **limits)
    return _answer(puzzle, told[0], ended, request)


def _answer(puzzle: Puzzle, last: SolverMessage, ended: ProcessResult, request: Request) -> Answer:
    """The child's last words as an `Answer`; only a finished child may say 'infeasible'."""
    done = ended.reason is ExitReason.FINISHED and last.exhausted
    if ended.reason is ExitReason.INTERRUPTED:
        status = SolveStatus.INTERRUPTED
    elif done or (last.solutions and not request.count_all):
        status = SolveStatus.SOLVED if last.solutions else SolveStatus.INFEASIBLE
    else:
        status = SolveStatus.BUDGET_SPENT
    board = None if last.placements is None else _board(puzzle, last.placements)
    details = dict(last.details)
    if ended.peak_bytes:
        details["peak_megabytes"] = ended.peak_bytes / 1e6
    if ended.reason is ExitReason.MEMORY:
        details["memory_spent"] = 1.0
    own = details.pop("own_seconds", ended.seconds)
    if not request.processor:
        seconds = own if ended.reason is ExitReason.FINISHED else ended.seconds
    elif ended.reason is ExitReason.TIME and request.seconds is not None:
        seconds = request.seconds
    else:
        seconds = details.get("processor_seconds", 0.0)
    return Answer(status, last.solutions, last.nodes, seconds, board, details)


def _board(puzzle: Puzzle, placements: list[int]) -> Board:
    return Board(np.array(placements, dtype=np.int32), puzzle.width, puzzle.height)
