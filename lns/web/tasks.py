"""The tasks of jobs.

A task takes the fields of a request, checks them, and returns what does the work: a function that gets another one for
messages to the page, and returns the fields of the last message. The server calls only the first half.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from exact.registry import find_solver
from exact.trace import TRACED
from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.web import polyominoes
from lns.web.wire import board_to_json, puzzle_to_json, read_board, read_cells, read_puzzle
from lns_support.errors import InputError
from lns_support.json_values import JsonFields
from lns_support.kernel_cache import is_compiled
from lns_support.optional_deps import require

if TYPE_CHECKING:
    from lns.estimate import Measurement

MOST_STEPS = 50_000
"""Steps of a search that a page records."""
Answer = dict[str, Any]


class Send(Protocol):
    """Sends a message to the page."""

    def __call__(self, **message: Any) -> None: ...


Work = Callable[[Send], Answer]


def improve(fields: JsonFields) -> Work:
    """Free cells of a board and refill them, with a proof."""
    puzzle = read_puzzle(fields)
    board, cells, seconds = read_board(fields, puzzle), read_cells(fields, puzzle), _seconds(fields)
    target = None if fields.get("target") is None else fields.integer("target", 0, puzzle.max_score)

    def work(send: Send) -> Answer:
        from exact.region.warmup import is_ready
        from lns.api.improving import improve

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
            "score": result.score,
            "score_before": result.score_before,
            "bound": result.bound,
            "proven": result.proven,
            "nodes": result.nodes,
            "seconds": result.seconds,
        }

    return work


def windows(fields: JsonFields) -> Work:
    """Re-solve all windows of a shape, one after the other."""
    puzzle = read_puzzle(fields)
    given, seconds, nodes = read_board(fields, puzzle), _seconds(fields), fields.integer("nodes", 1, 10**9)
    height, width = fields.integer("height", 1, puzzle.height), fields.integer("width", 1, puzzle.width)

    def work(send: Send) -> Answer:
        from exact.region.warmup import warm_up
        from exact.region.windows import sweep_windows

        warm_up("auto")
        board, outcomes, began = given, {"proven": 0, "improved": 0, "open": 0}, time.monotonic()
        left = lambda: seconds - (time.monotonic() - began)  # noqa: E731
        for window in sweep_windows(puzzle, board, height, width, nodes=nodes, seconds=left):
            result = window.result
            outcome = "improved" if result.improved else "proven" if result.proven else "open"
            outcomes[outcome] += 1
            board = result.board
            better = _board(puzzle, board) if result.improved else {}
            send(type="window", row=window.row, column=window.column, outcome=outcome, **better)
        return {
            "status": "done",
            **_board(puzzle, board),
            "windows": outcomes,
            "total": (puzzle.height - height + 1) * (puzzle.width - width + 1),
            "seconds": time.monotonic() - began,
        }

    return work


def solve(fields: JsonFields) -> Work:
    """Search for a perfect board by a chosen exact solver; with a board, for one that keeps its pieces."""
    puzzle, board = _puzzle_and_start(fields)
    solver, seconds = fields.text("solver", 60), _seconds(fields)
    entry = find_solver(solver)
    if entry.extra is not None:
        require(entry.extra, f"the solver {solver}")

    def work(send: Send) -> Answer:
        from exact.solvers import solve

        if board is not None and (because := _why_not(puzzle, board)):
            impossible = {"status": "infeasible", "because": because, "board": None}
            return impossible | {"solver": solver, "nodes": 0, "seconds": 0.0}
        searched = _kept(puzzle, board)
        _say_if_compiling(send, entry.kernel_module is None or is_compiled(entry.kernel_module))
        outcome = solve(
            searched, solver, seconds=seconds,
            on_progress=lambda now: send(
                type="progress", nodes=now.nodes, solutions=now.solutions, seconds=now.seconds, explored=now.explored
            ),
        )  # fmt: skip
        return {
            "status": str(outcome.status),
            "solutions": outcome.solutions,
            "nodes": outcome.nodes,
            "seconds": outcome.seconds,
            "solver": solver,
            "board": None if outcome.board is None else board_to_json(puzzle, outcome.board),
            "details": outcome.details,
        }

    return work


def trace(fields: JsonFields) -> Work:
    """Record the first steps of an exact search."""
    puzzle, board = _puzzle_and_start(fields)
    solver, most = fields.text("solver", 60), fields.integer("most", 1, MOST_STEPS)
    as_page = fields.boolean("page", default=False)
    if solver not in TRACED:
        raise InputError(f"this solver cannot be watched; expected one of {', '.join(TRACED)}")

    def work(send: Send) -> Answer:
        from exact.trace import trace
        from lns.web.recording import page, trace_to_json

        searched = _kept(puzzle, board)
        found = trace(searched, solver, steps=most)
        if as_page:
            return {"html": page(searched, found)}
        return {"puzzle": puzzle_to_json(searched), "trace": trace_to_json(found)}

    return work


def estimate(fields: JsonFields) -> Work:
    """Measure how often boards of each score come, on one core, and extrapolate."""
    puzzle, params, seed = read_puzzle(fields), fields.get("params"), fields.integer("seed", 0, 2**53)
    seconds = _seconds(fields)

    def work(send: Send) -> Answer:
        from lns.estimate import estimate
        from lns.params import from_dict

        _say_if_compiling(send, is_compiled("lns.construct.kernel"))
        shown = 0.0

        def report(measured: Measurement) -> None:
            nonlocal shown
            if measured.seconds - shown > 0.5:
                shown = measured.seconds
                send(type="progress", seconds=measured.seconds, text=measured.in_words)

        result = estimate(puzzle, from_dict(params), seed, seconds, on_step=report)
        rows = [[row.score, row.count, row.expected, row.low, row.high] for row in result.rows if isfinite(row.high)]
        status = "interrupted" if result.interrupted else "done"
        return {"status": status, "seconds": result.seconds, "measured_score": result.measured_score, "rows": rows}

    return work


def run(fields: JsonFields) -> Work:
    """Search for the best board in the directory that the server has made; without a run it is removed.

    The server has checked the fields: ``source``, a puzzle or what holds it, ``clues``, and arguments of `lns.solve`.
    """
    source, clues, how = fields.get("source"), fields.get("clues"), fields.get("how")

    def work(send: Send) -> Answer:
        from lns.api import files, solving

        try:
            given = read_puzzle(fields, "source") if isinstance(source, dict) else source
            puzzle, notes = files.read_puzzle(given, clues=clues)
            result = solving.solve(puzzle, notes=notes, progress="none", **how)
            return {"status": result.why, "score": result.score}
        finally:
            with suppress(OSError):
                Path(how["run_dir"]).rmdir()

    return work


def resume(fields: JsonFields) -> Work:
    """Go on with a run."""
    run_dir, seconds, workers = fields.get("run_dir"), fields.get("time"), fields.get("workers")

    def work(send: Send) -> Answer:
        from lns.api.solving import resume

        result = resume(run_dir, time=seconds, workers=workers, progress="none")
        return {"status": result.why, "score": result.score}

    return work


PAGE_TASKS: dict[str, Callable[[JsonFields], Work]] = {
    "improve": improve,
    "windows": windows,
    "solve": solve,
    "trace": trace,
    "fill": polyominoes.fill,
    "level": polyominoes.level,
}
"""The tasks whose fields come from a page as they are."""
TASKS = PAGE_TASKS | {"estimate": estimate, "run": run, "resume": resume}
"""Task by the kind of its job."""


def _seconds(fields: JsonFields) -> float:
    return fields.number("time", 0.1, 86400)


def _puzzle_and_start(fields: JsonFields) -> tuple[Puzzle, Board | None]:
    puzzle = read_puzzle(fields)
    return puzzle, None if fields.get("board") is None else read_board(fields, puzzle)


def _kept(puzzle: Puzzle, board: Board | None) -> Puzzle:
    """The puzzle with the pieces of a board as clues."""
    from lns.api.starting import placed_as_clues

    return puzzle if board is None else placed_as_clues(puzzle, board)


def _why_not(puzzle: Puzzle, board: Board) -> str:
    """Why a board cannot be part of a perfect one; "" if nothing tells."""
    checked = verify(puzzle, board)
    if checked.violations:
        return checked.violations[0]
    for one, other in checked.mismatches:
        return f"{puzzle.cell_label(one)} and {puzzle.cell_label(other)} do not match"
    return ""


def _board(puzzle: Puzzle, board: Board) -> Answer:
    return {"board": board_to_json(puzzle, board), "score": verify(puzzle, board).score}


def _say_if_compiling(send: Send, is_ready: bool) -> None:
    if not is_ready:
        send(type="note", text="compiling the search, once for this installation: about a minute of an idle core")
