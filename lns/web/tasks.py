"""The tasks that jobs do.

A task is a generator. It checks the fields of a request, yields once to receive the function that sends messages to the
page, does the work, and returns the fields of the last message. The server itself runs only the check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import nullcontext, suppress
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

from lns.exact.driver import Progress
from lns.exact.execution import Request, run_search
from lns.exact.kernels.cache import is_compiled
from lns.exact.optional_deps import require
from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes.grid import NO_WEIGHT, WEIGHTS
from lns.exact.polyominoes.levels import random_level
from lns.exact.polyominoes.model import FillingSearch, build_model
from lns.exact.registry import find_solver
from lns.exact.trace import TRACED
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.json_values import JsonFields
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.terminal.output import picked
from lns.web import wire
from lns.web.wire import board_to_json, puzzle_to_json, read_board, read_cells, read_grid, read_puzzle

MOST_STEPS = 50_000  # most steps of an exact search that a page may record
MOST_PLACEMENTS = 5_000  # most recorded steps of a search for a filling of a polyomino grid
_SHOW_S = 0.2
Result = dict[str, Any]


class Send(Protocol):
    """A function that sends a message, given as keywords, to the page."""

    def __call__(self, **message: Any) -> None: ...


Task = Generator[None, Send, Result]


def improve(fields: JsonFields) -> Task:
    """Free cells of a board and refill them as well as possible, with a proof if the search ends in time."""
    puzzle = read_puzzle(fields)
    board, cells, seconds = read_board(fields, puzzle), read_cells(fields, puzzle), _seconds(fields)
    target = None if fields.get("target") is None else fields.integer("target", 0, puzzle.max_score)
    send = yield
    from lns.api.improving import improve
    from lns.exact.region.resolve import is_ready

    _say_if_compiling(send, is_ready("auto"))
    result = improve(
        puzzle, board, cells or None, time=seconds, target=target,
        on_improve=lambda better: send(type="board", **_board(puzzle, better)),
        on_progress=lambda score, bound, nodes, seconds: send(
            type="progress", score=score, bound=bound, nodes=nodes, seconds=seconds
        ),
    )  # fmt: skip
    return {
        "status": str(result.status),
        **_board(puzzle, result.board),
        "cells": list(result.cells),
        **picked(result, "score", "score_before", "bound", "proven", "nodes", "seconds"),
    }


def windows(fields: JsonFields) -> Task:
    """Re-solve all windows of a given height and width on a board, one by one, or as many as the time allows."""
    puzzle = read_puzzle(fields)
    given, seconds, nodes = read_board(fields, puzzle), _seconds(fields), fields.integer("nodes", 1, 10**9)
    height, width = fields.integer("height", 1, puzzle.height), fields.integer("width", 1, puzzle.width)
    send = yield
    from lns.exact.region.resolve import warm_up
    from lns.exact.region.windows import sweep_windows

    warm_up("auto")
    board, outcomes, began = given, {"proven": 0, "improved": 0, "open": 0}, time.monotonic()
    left = lambda: seconds - (time.monotonic() - began)  # noqa: E731
    for window in sweep_windows(puzzle, board, height, width, nodes=nodes, seconds=left):
        result = window.result
        outcomes[window.outcome] += 1
        board = result.board
        better = _board(puzzle, board) if result.improved else {}
        send(type="window", row=window.row, column=window.column, outcome=window.outcome, **better)
    return {
        "status": "done",
        **_board(puzzle, board),
        "windows": outcomes,
        "total": (puzzle.height - height + 1) * (puzzle.width - width + 1),
        "seconds": time.monotonic() - began,
    }


def solve(fields: JsonFields) -> Task:
    """Search for a perfect board with a chosen exact solver; the pieces of a given board stay in place."""
    puzzle, board = _puzzle_and_start(fields)
    solver, seconds = fields.text("solver", 60), _seconds(fields)
    entry = find_solver(solver)
    if entry.extra is not None:
        require(entry.extra, f"the solver {solver}")
    send = yield
    from lns.exact.solvers import solve

    if board is not None and (because := _why_not(puzzle, board)):
        impossible = {"status": "infeasible", "because": because, "board": None}
        return impossible | {"solver": solver, "nodes": 0, "seconds": 0.0}
    searched = _kept(puzzle, board)
    _say_if_compiling(send, entry.kernel_module is None or is_compiled(entry.kernel_module))
    outcome = solve(
        searched, solver, seconds=seconds,
        on_progress=lambda now: send(type="progress", **picked(now, "nodes", "solutions", "seconds", "explored")),
    )  # fmt: skip
    return {
        "status": str(outcome.status),
        "solver": solver,
        "board": None if outcome.board is None else board_to_json(puzzle, outcome.board),
        **picked(outcome, "solutions", "nodes", "seconds", "details"),
    }


def trace(fields: JsonFields) -> Task:
    """Record the first steps of an exact search; the pieces of a given board stay in place."""
    puzzle, board = _puzzle_and_start(fields)
    solver, most = fields.text("solver", 60), fields.integer("most", 1, MOST_STEPS)
    as_page = fields.boolean("page", default=False)
    if solver not in TRACED:
        raise InputError(f"this solver cannot be watched; expected one of {', '.join(TRACED)}")
    yield
    from lns.exact.trace import trace

    searched = _kept(puzzle, board)
    found = trace(searched, solver, steps=most)
    if as_page:
        return {"html": wire.page(searched, found)}
    return {"puzzle": puzzle_to_json(searched), "trace": wire.trace_to_json(found)}


def fill(fields: JsonFields) -> Task:
    """Fill a grid with polyominoes; record the first steps, and send the placed pieces during the search."""
    grid, weight = read_grid(fields), fields.text("weight", 40)
    if weight not in (NO_WEIGHT, *WEIGHTS):
        raise InputError(f"unknown weight; expected {NO_WEIGHT}, {', '.join(WEIGHTS)}")
    zones, dead_ends = fields.boolean("zones", default=True), fields.boolean("dead_ends", default=True)
    count_all, seconds = fields.boolean("count", default=False), _seconds(fields)
    send = yield
    model = build_model(grid, reduced=count_all)
    search = FillingSearch(model, weight, zones=zones, dead_ends=dead_ends)
    search.advance(0, True)  # compiles the search before its time is measured
    began = time.perf_counter()
    recorder, status = wire.record(search, MOST_PLACEMENTS, count_all=count_all)
    spent, shown = time.perf_counter() - began, 0.0

    def report(now: Progress) -> None:
        nonlocal shown
        if now.seconds - shown > _SHOW_S:
            shown = now.seconds
            counts = picked(now, "nodes", "solutions", "seconds", "explored")
            send(type="progress", pruned=search.pruned, placed=recorder.placed_as_json(), **counts)

    if status is SolveStatus.BUDGET_SPENT:
        outcome = run_search(search, Request(count_all, seconds=seconds, on_progress=report))
        status, spent = outcome.status, spent + outcome.seconds
    ended = search.ended
    return {
        "status": str(status),
        "seconds": spent,
        "options": model.options,
        "pieces": len(grid.loose),
        **picked(search, "solutions", "nodes", "pruned", "branches", "deepest"),
        "filling": None if ended is None else ended.first_filling(),
        "steps": recorder.as_json(),
    }


def level(fields: JsonFields) -> Task:
    """Make a level of the game IQ Puzzler Pro: a grid with some placed pieces that has a filling."""
    placed, seed = fields.integer("placed", 0, 11), fields.integer("seed", 0, 10**6)
    yield
    return {"status": "done", **wire.grid_to_json(random_level(placed, seed))}


class _Progress(nullcontext[Any]):
    """Sends the progress of a measurement to the page, at most twice a second."""

    def __init__(self, send: Send) -> None:
        super().__init__(self)
        self._send, self._shown = send, 0.0

    def show(self, line: str, elapsed: float) -> None:
        if elapsed - self._shown > 0.5:
            self._shown = elapsed
            self._send(type="progress", seconds=elapsed, text=line)


def estimate(fields: JsonFields) -> Task:
    """Measure on one core how often boards of the lower scores are found, and extrapolate to higher scores."""
    puzzle, params, seed = read_puzzle(fields), fields.get("params"), fields.integer("seed", 0, 2**53)
    seconds = _seconds(fields)
    send = yield
    from lns.api.estimating import estimate
    from lns.params import from_dict

    _say_if_compiling(send, is_compiled("lns.construct.kernel"))
    how: dict[str, Any] = {"time": seconds, "seed": seed, "params": from_dict(params)}
    result = estimate(puzzle, progress=_Progress(send), **how)
    rows = [[row.score, row.count, row.expected, row.low, row.high] for row in result.rows if isfinite(row.high)]
    status = "interrupted" if result.interrupted else "done"
    return {"status": status, "seconds": result.seconds, "measured_score": result.measured_score, "rows": rows}


def run(fields: JsonFields) -> Task:
    """Search for the best board, in a run directory that the server has made; remove the directory if it stays empty.

    The server has checked the fields: ``source``, which names the puzzle, ``clues``, and ``how``, the other fields of a
    `lns.api.arguments.RunSpec`.
    """
    source, clues, how = fields.get("source"), fields.get("clues"), fields.get("how")
    yield
    from lns.api import files, solving

    try:
        puzzle, notes = files.read_puzzle(source, clues=clues)
        result = solving.solve(puzzle, notes=notes, progress="none", **how)
        return {"status": result.why, "score": result.score}
    finally:
        with suppress(OSError):
            Path(how["run_dir"]).rmdir()


def resume(fields: JsonFields) -> Task:
    """Continue the run of a run directory."""
    how = {name: fields.get(name) for name in ("run_dir", "time", "workers")}
    yield
    from lns.api.solving import resume

    result = resume(**how, progress="none")
    return {"status": result.why, "score": result.score}


_OF_PAGES: tuple[Callable[[JsonFields], Task], ...] = (improve, windows, solve, trace, fill, level)
PAGE_TASKS = {task.__name__: task for task in _OF_PAGES}
"""By name: the tasks whose fields a page sends. The server makes the fields of the other tasks."""
TASKS = PAGE_TASKS | {"estimate": estimate, "run": run, "resume": resume}
"""By name: all tasks. The name of a task is the kind of its jobs."""


def done(task: Task, send: Send) -> Result:
    """Check the fields of a task, do its work, which sends messages by ``send``, and return its result."""
    next(task)
    try:
        task.send(send)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise AssertionError("a task waits once")


def _seconds(fields: JsonFields) -> float:
    return fields.number("time", 0.1, 86400)


def _puzzle_and_start(fields: JsonFields) -> tuple[Puzzle, Board | None]:
    puzzle = read_puzzle(fields)
    return puzzle, None if fields.get("board") is None else read_board(fields, puzzle)


def _kept(puzzle: Puzzle, board: Board | None) -> Puzzle:
    """Return the puzzle with the pieces of a board, if one is given, as clues."""
    from lns.api.files import placed_as_clues

    return puzzle if board is None else placed_as_clues(puzzle, board)


def _why_not(puzzle: Puzzle, board: Board) -> str:
    """Return why no perfect board has all pieces of this board in their places; "" if no reason is found."""
    checked = verify(puzzle, board)
    if checked.violations:
        return checked.violations[0]
    for one, other in checked.mismatches:
        return f"{puzzle.cell_label(one)} and {puzzle.cell_label(other)} do not match"
    return ""


def _board(puzzle: Puzzle, board: Board) -> Result:
    return {"board": board_to_json(puzzle, board), "score": verify(puzzle, board).score}


def _say_if_compiling(send: Send, is_ready: bool) -> None:
    if not is_ready:
        send(type="note", text="compiling the search, once for this installation: about a minute of an idle core")
