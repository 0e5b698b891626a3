"""Jobs of all pages: started with checked fields, watched and stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from exact.registry import find_solver
from exact.trace import TRACED
from lns.web import polyominoes
from lns.web.guard import JSONResponse
from lns.web.jobs import MAX_SECONDS
from lns.web.routes.shared import Handler, Server, json_fields, number_in_address, stream
from lns.web.wire import puzzle_to_json, read_board, read_cells, read_puzzle
from lns_support.errors import InputError
from lns_support.json_values import JsonFields
from lns_support.optional_deps import require

MOST_STEPS = 50_000
"""Steps of a search that a page records."""


async def watch_job(server: Server, request: Request) -> Response:
    """The messages of a job as they come."""
    job = server.jobs.find(request.query_params.get("id", ""))
    first = number_in_address(request.headers.get("last-event-id") or request.query_params.get("first", "0"))
    return stream(server, server.jobs.events(job, max(0, first)))


async def start_job(server: Server, request: Request) -> Response:
    """Start a job of a page."""
    fields = await json_fields(request)
    kind = fields.text("kind", 20)
    if kind not in JOB_KINDS:
        raise InputError(f"there is no job of this kind; expected one of {', '.join(JOB_KINDS)}")
    seconds = fields.number("time", 0.1, MAX_SECONDS)
    values = JOB_KINDS[kind](fields)
    job = await server.jobs.start(kind, values | {"time": seconds}, seconds)
    return JSONResponse({"id": job.id})


async def stop_job(server: Server, request: Request) -> Response:
    """End a job with its result so far."""
    fields = await json_fields(request)
    server.jobs.stop(server.jobs.find(fields.text("id", 40)))
    return JSONResponse({})


def _improve_fields(fields: JsonFields) -> dict[str, Any]:
    puzzle = read_puzzle(fields)
    read_board(fields, puzzle)
    target = fields.get("target")
    if target is not None:
        target = fields.integer("target", 0, puzzle.max_score)
    return {"puzzle": puzzle_to_json(puzzle), "board": fields.get("board"), "target": target,
            "cells": read_cells(fields, puzzle)}  # fmt: skip


def _windows_fields(fields: JsonFields) -> dict[str, Any]:
    puzzle = read_puzzle(fields)
    read_board(fields, puzzle)
    return {
        "puzzle": puzzle_to_json(puzzle),
        "board": fields.get("board"),
        "height": fields.integer("height", 1, puzzle.height),
        "width": fields.integer("width", 1, puzzle.width),
        "nodes": fields.integer("nodes", 1, 10**9),
    }


def _solve_fields(fields: JsonFields) -> dict[str, Any]:
    puzzle = read_puzzle(fields)
    if fields.get("board") is not None:
        read_board(fields, puzzle)
    solver = fields.text("solver", 60)
    if (extra := find_solver(solver).extra) is not None:
        require(extra, f"the solver {solver}")
    return {"puzzle": puzzle_to_json(puzzle), "board": fields.get("board"), "solver": solver}


def _trace_fields(fields: JsonFields) -> dict[str, Any]:
    puzzle = read_puzzle(fields)
    if fields.get("board") is not None:
        read_board(fields, puzzle)
    if (solver := fields.text("solver", 60)) not in TRACED:
        raise InputError(f"this solver cannot be watched; expected one of {', '.join(TRACED)}")
    return {
        "puzzle": puzzle_to_json(puzzle),
        "board": fields.get("board"),
        "solver": solver,
        "most": fields.integer("most", 1, MOST_STEPS),
        "page": fields.boolean("page", default=False),
    }


JOB_KINDS: dict[str, Callable[[JsonFields], dict[str, Any]]] = {
    "improve": _improve_fields,
    "windows": _windows_fields,
    "solve": _solve_fields,
    "trace": _trace_fields,
    "fill": polyominoes.check_fill,
    "level": lambda fields: {"placed": fields.integer("placed", 0, 11), "seed": fields.integer("seed", 0, 10**6)},
}
"""The jobs of a page, and what checks their fields."""

READS: dict[str, Handler] = {"watch/job": watch_job}
CHANGES: dict[str, Handler] = {"job": start_job, "job/stop": stop_job}
