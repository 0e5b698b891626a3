"""Solvers that run in a child process: the messages of the child, and how they become an `Answer`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exact.outcome import NODES_UNKNOWN, Answer, SolveStatus, require_solution
from exact.piece_classes import distinct_count
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.child_process import Emit, ExitReason, ProcessResult, run_in_process

REPORT_SECONDS = 0.2
"""Least time between two messages of a child that finds many boards."""


@dataclass(frozen=True)
class SolverMessage:
    """The state of a child's search.

    Parameters
    ----------
    solutions : int
        Boards found that differ in their colours.
    nodes : int
        Nodes so far, or `NODES_UNKNOWN`.
    placements : list of int or None
        The first board found: piece*4 + rotation by cell.
    exhausted : bool
        Set in the last message if the search is complete.
    details : dict
        Figures of the method; ``own_seconds`` and ``processor_seconds`` are the time of model and search, without the
        start of Python and the import of the library.
    boards : list of list of int
        The boards found since the last message, where all boards are to be listed.
    """

    solutions: int
    nodes: int
    placements: list[int] | None
    exhausted: bool
    details: dict[str, float]
    boards: list[list[int]] = field(default_factory=list)


class SolverReporter:
    """Used in the child: verifies and counts the boards of a library, and sends messages to the parent.

    Parameters
    ----------
    emit : callable
        Sends a message.
    puzzle : Puzzle
    solver : str
        The library's name.
    duplicates_distinct : bool
        The library finds a board once for each way to swap duplicate pieces.
    list_boards : bool
        All boards are sent, not only the first.

    Attributes
    ----------
    found : int
        Boards found by the library.
    details : dict
        Figures of the method; the caller may add to them at any time.
    """

    def __init__(
        self, emit: Emit, puzzle: Puzzle, solver: str, *, duplicates_distinct: bool = False, list_boards: bool = False
    ) -> None:
        self._emit, self._puzzle, self._solver = emit, puzzle, solver
        self._duplicates_distinct, self._list_boards = duplicates_distinct, list_boards
        self._began, self._processor_began, self._reported = time.perf_counter(), _processor_seconds(), 0.0
        self._unsent: list[list[int]] = []
        self._first: list[int] | None = None
        self.found = 0
        self.details: dict[str, float] = {}

    def add_board(self, board: Board, nodes: int) -> None:
        """Count a board that was found after ``nodes`` nodes. Raises RuntimeError if it is not a solution."""
        require_solution(self._puzzle, board, self._solver)
        placements = board.placements.tolist()
        self.found += 1
        self._first = placements if self._first is None else self._first
        if self._list_boards:
            self._unsent.append(placements)
        if self.found == 1 or time.perf_counter() - self._reported > REPORT_SECONDS:
            self.report(nodes)

    def report(self, nodes: int, *, exhausted: bool = False) -> None:
        """Send a message; the last one has ``exhausted`` set if the search is complete."""
        self._reported = time.perf_counter()
        times = {
            "own_seconds": self._reported - self._began,
            "processor_seconds": _processor_seconds() - self._processor_began,
        }
        solutions = distinct_count(self.found, self._puzzle) if self._duplicates_distinct else self.found
        self._emit(SolverMessage(solutions, nodes, self._first, exhausted, self.details | times, self._unsent))
        self._unsent = []


def _processor_seconds() -> float:
    """Processor time of this process and of its children that ended."""
    return sum(os.times()[:4])


def solve_in_child(
    task: Callable[..., None],
    puzzle: Puzzle,
    request: Request,
    *arguments: Any,
    prepare: Callable[[], None] | None = None,
) -> Answer:
    """Run ``task(emit, puzzle, *arguments)`` in a child process within the limits of ``request``.

    The limits are of model and search: the start of Python, imports and compilation do not count.

    Parameters
    ----------
    task : callable
        A function at the top of a module, which sends a `SolverMessage` now and then (see `SolverReporter`).
    puzzle : Puzzle
    request : Request
        Limits and ``on_solution``.
    *arguments
        Further arguments of the task; they are pickled.
    prepare : callable, optional
        A function at the top of a module, called in the child before the limits begin: it imports or compiles the
        library.

    Returns
    -------
    Answer
        What the last message says. Only a child that finished may have the status 'infeasible'.

    Raises
    ------
    ChildProcessError
        If the child crashes.
    InputError
        If the task raises it.
    """
    last = SolverMessage(0, NODES_UNKNOWN, None, False, {})

    def receive(message: SolverMessage) -> None:
        nonlocal last
        last = message
        for placements in message.boards:
            if request.on_solution is not None:
                request.on_solution(_board(puzzle, placements))

    limits: dict[str, Any] = {"seconds": request.seconds, "memory": request.memory, "processor": request.processor_time}
    ended = run_in_process(task, puzzle, *arguments, receive=receive, prepare=prepare, **limits)
    return _answer(puzzle, last, ended, request)


def _answer(puzzle: Puzzle, last: SolverMessage, ended: ProcessResult, request: Request) -> Answer:
    """The last message of a child as an `Answer`."""
    complete = ended.reason is ExitReason.FINISHED and last.exhausted
    if ended.reason is ExitReason.INTERRUPTED:
        status = SolveStatus.INTERRUPTED
    elif complete or (last.solutions and not request.count_all):
        status = SolveStatus.SOLVED if last.solutions else SolveStatus.INFEASIBLE
    else:
        status = SolveStatus.BUDGET_SPENT
    board = None if last.placements is None else _board(puzzle, last.placements)
    details = dict(last.details)
    if ended.peak_bytes:
        details["peak_megabytes"] = ended.peak_bytes / 1e6
    if ended.reason is ExitReason.MEMORY:
        details["memory_spent"] = 1.0
    own_seconds = details.pop("own_seconds", ended.seconds)
    if not request.processor_time:
        seconds = own_seconds if ended.reason is ExitReason.FINISHED else ended.seconds
    elif ended.reason is ExitReason.TIME and request.seconds is not None:
        seconds = request.seconds
    else:
        seconds = details.get("processor_seconds", 0.0)
    return Answer(status, last.solutions, last.nodes, seconds, board, details)


def _board(puzzle: Puzzle, placements: list[int]) -> Board:
    return Board(np.array(placements, dtype=np.int32), puzzle.width, puzzle.height)
