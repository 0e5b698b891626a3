"""The tasks of jobs. Each takes the checked fields of a request and a function that sends messages, and returns the
fields of the last message; boards are lists of oriented pieces as in `lns.web.wire`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import Verification, verify
from lns.web import polyominoes
from lns.web.wire import board_to_json, find_shipped, puzzle_to_json, read_board, read_cells, read_puzzle
from lns_support.json_values import JsonFields

if TYPE_CHECKING:
    from lns.estimate import Measurement

Fields = dict[str, Any]


class Send(Protocol):
    """Sends a message to the page."""

    def __call__(self, **message: Any) -> None: ...


def improve(values: Fields, send: Send) -> Fields:
    """Free cells of a board and refill them, with a proof."""
    from exact.region.warmup import is_ready
    from lns.api.improving import improve

    puzzle, board = _puzzle_and_board(values)
    fields = JsonFields(values)
    cells = read_cells(fields, puzzle) or None
    if not is_ready("auto"):
        _say_compiling(send)
    result = improve(
        puzzle,
        board,
        cells,
        time=fields.number("time", 0.1, 86400),
        target=values.get("target"),
        on_improve=lambda better: send(
            type="board", board=board_to_json(puzzle, better), score=verify(puzzle, better).score
        ),
        on_progress=lambda score, bound, nodes, seconds: send(
            type="progress", score=score, bound=bound, nodes=nodes, seconds=seconds
        ),
    )
    return {
        "status": str(result.status),
        "board": board_to_json(puzzle, result.board),
        "cells": list(result.cells),
        "score": result.score,
        "score_before": result.score_before,
        "bound": result.bound,
        "proven": result.proven,
        "nodes": result.nodes,
        "seconds": result.seconds,
    }


def windows(values: Fields, send: Send) -> Fields:
    """Re-solve all windows of a shape, one after the other."""
    from exact.region.warmup import warm_up
    from exact.region.windows import sweep_windows

    puzzle, board = _puzzle_and_board(values)
    fields = JsonFields(values)
    height, width = fields.integer("height", 1, puzzle.height), fields.integer("width", 1, puzzle.width)
    seconds = fields.number("time", 0.1, 86400)
    warm_up("auto")
    began = time.monotonic()
    outcomes = {"proven": 0, "improved": 0, "open": 0}
    for window in sweep_windows(
        puzzle,
        board,
        height,
        width,
        nodes=fields.integer("nodes", 1, 10**9),
        seconds=lambda: seconds - (time.monotonic() - began),
    ):
        result = window.result
        outcome = "improved" if result.improved else "proven" if result.proven else "open"
        outcomes[outcome] += 1
        board = result.board
        better = {"board": board_to_json(puzzle, board), "score": result.score} if result.improved else {}
        send(type="window", row=window.row, column=window.column, outcome=outcome, **better)
    return {
        "status": "done",
        "board": board_to_json(puzzle, board),
        "score": verify(puzzle, board).score,
        "windows": outcomes,
        "total": (puzzle.height - height + 1) * (puzzle.width - width + 1),
        "seconds": time.monotonic() - began,
    }


def solve(values: Fields, send: Send) -> Fields:
    """Search for a perfect board by a chosen exact solver; with a board, for one that keeps its pieces."""
    from exact.registry import find_solver
    from exact.solvers import solve
    from lns.api.starting import placed_as_clues
    from lns_support.kernel_cache import is_compiled

    fields = JsonFields(values)
    puzzle = read_puzzle(fields)
    solver = fields.text("solver", 60)
    searched = puzzle
    if values.get("board") is not None:
        board = read_board(fields, puzzle)
        checked = verify(puzzle, board)
        if checked.mismatches or checked.violations:
            return {
                "status": "infeasible",
                "because": _why_not(puzzle, checked),
                "board": None,
                "solver": solver,
                "nodes": 0,
                "seconds": 0.0,
            }
        searched = placed_as_clues(puzzle, board)
    module = find_solver(solver).kernel_module
    if module is not None and not is_compiled(module):
        _say_compiling(send)
    outcome = solve(
        searched,
        solver,
        seconds=fields.number("time", 0.1, 86400),
        on_progress=lambda now: send(
            type="progress", nodes=now.nodes, solutions=now.solutions, seconds=now.seconds, explored=now.explored
        ),
    )
    return {
        "status": str(outcome.status),
        "solutions": outcome.solutions,
        "nodes": outcome.nodes,
        "seconds": outcome.seconds,
        "solver": solver,
        "board": None if outcome.board is None else board_to_json(puzzle, outcome.board),
        "details": outcome.details,
    }


def trace(values: Fields, send: Send) -> Fields:
    """Record the first steps of an exact search."""
    from exact.trace import trace
    from lns.api.starting import placed_as_clues
    from lns.web.recording import page, trace_to_json

    fields = JsonFields(values)
    puzzle = read_puzzle(fields)
    if values.get("board") is not None:
        puzzle = placed_as_clues(puzzle, read_board(fields, puzzle))
    found = trace(puzzle, values["solver"], steps=values["most"])
    if values["page"]:
        return {"html": page(puzzle, found)}
    return {"puzzle": puzzle_to_json(puzzle), "trace": trace_to_json(found)}


def estimate(values: Fields, send: Send) -> Fields:
    """Measure how often boards of each score come, on one core, and extrapolate."""
    from lns.estimate import estimate
    from lns.params import from_dict
    from lns_support.kernel_cache import is_compiled

    if not is_compiled("lns.construct.kernel"):
        _say_compiling(send)
    shown = 0.0

    def report(measured: Measurement) -> None:
        nonlocal shown
        if measured.seconds - shown > 0.5:
            shown = measured.seconds
            send(type="progress", seconds=measured.seconds, text=measured.in_words)

    fields = JsonFields(values)
    seconds = fields.number("time", 1, 86400)
    result = estimate(read_puzzle(fields), from_dict(values["params"]), values["seed"], seconds, on_step=report)
    return {
        "status": "interrupted" if result.interrupted else "done",
        "seconds": result.seconds,
        "measured_score": result.measured_score,
        "rows": [[row.score, row.count, row.expected, row.low, row.high] for row in result.rows if isfinite(row.high)],
    }


def run(values: Fields, send: Send) -> Fields:
    """Search for the best board, in a run directory."""
    from lns.api.files import read_puzzle as load_instance
    from lns.api.solving import solve

    puzzle, notes = load_instance(_instance(values), clues=values["clues"] or None)
    result = solve(
        puzzle,
        notes=notes,
        start=values["file"] if values["start"] else None,
        instance=values["instance"] if isinstance(values["instance"], str) else None,
        time=values["time"],
        workers=values["workers"],
        seed=values["seed"],
        engine=values["engine"],
        target=values["target"],
        params=values["params"],
        run_dir=values["run_dir"],
        progress="none",
    )
    return {"status": result.why, "score": result.score}


def start(values: Fields, send: Send) -> Fields:
    """`run` in the directory that the server has made for it; without a run it is removed."""
    try:
        return run(values, send)
    finally:
        with suppress(OSError):
            Path(values["run_dir"]).rmdir()


def resume(values: Fields, send: Send) -> Fields:
    """Go on with a run."""
    from lns.api.solving import resume

    result = resume(values["run_dir"], time=values["time"], workers=values["workers"], progress="none")
    return {"status": result.why, "score": result.score}


def _instance(values: Fields) -> Puzzle | str:
    """The puzzle of a run, or what holds it: a viewer URL, or a file that the server has found below its root."""
    given = values["instance"]
    if isinstance(given, dict):
        return read_puzzle(JsonFields({"puzzle": given}))
    return str(values["file"]) or find_shipped(given)


def _puzzle_and_board(values: Fields) -> tuple[Puzzle, Board]:
    fields = JsonFields(values)
    puzzle = read_puzzle(fields)
    return puzzle, read_board(fields, puzzle)


def _why_not(puzzle: Puzzle, checked: Verification) -> str:
    """Why a board cannot be part of a perfect one."""
    if checked.violations:
        return checked.violations[0]
    one, other = checked.mismatches[0]
    return f"{puzzle.cell_label(one)} and {puzzle.cell_label(other)} do not match"


def _say_compiling(send: Send) -> None:
    send(type="note", text="compiling the search, once for this installation: about a minute of an idle core")


TASKS: dict[str, Callable[[Fields, Send], Fields]] = {
    "improve": improve,
    "windows": windows,
    "solve": solve,
    "estimate": estimate,
    "run": start,
    "resume": resume,
    "trace": trace,
    "fill": polyominoes.fill,
    "level": polyominoes.level,
}
"""Task by the kind of its job."""
