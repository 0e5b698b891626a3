"""The page of runs: all runs, one run and its log; a search started, stopped and resumed."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from instances import formats
from instances.formats import shipped_instances
from lns.api.files import PuzzleSource
from lns.api.files import read_puzzle as load_instance
from lns.params import Params, from_dict, to_dict
from lns.runs.directory import take_run_directory
from lns.runs.files import STOP, open_regular
from lns.runs.run_summary import load_summary
from lns.web.guard import JSONResponse
from lns.web.routes.shared import Handler, Server, json_fields, number_in_address, stream
from lns.web.runs import LOOK_S
from lns.web.wire import MAX_TEXT, find_shipped, puzzle_to_json, read_puzzle
from lns_support.cores import max_workers
from lns_support.errors import InputError
from lns_support.text import printable

EVERY_S = 1.0
"""Seconds between two updates of a run."""
_MAX_RUN_SECONDS = 366 * 86400.0


async def get_runs(server: Server, request: Request) -> Response:
    """All runs, a line each."""
    return JSONResponse({"runs": await asyncio.to_thread(server.runs.facts)})


async def get_run(server: Server, request: Request) -> Response:
    """One run."""
    return JSONResponse(await asyncio.to_thread(server.runs.details, request.query_params.get("name", "")))


async def get_log(server: Server, request: Request) -> Response:
    """Lines of a log."""
    query = request.query_params
    first, count = number_in_address(query.get("first", "-200")), number_in_address(query.get("count", "200"))
    return JSONResponse(await asyncio.to_thread(server.runs.log, query.get("name", ""), first, count))


async def watch_runs(server: Server, request: Request) -> Response:
    """All runs again and again, whenever one has changed."""

    async def changes() -> AsyncGenerator[dict[str, Any]]:
        last = ""
        while True:
            runs = await asyncio.to_thread(server.runs.facts)
            if (text := json.dumps(runs)) != last:
                last = text
                yield {"runs": runs}
            else:
                yield {}
            await asyncio.sleep(EVERY_S)

    return stream(server, changes())


async def watch_run(server: Server, request: Request) -> Response:
    """One run again and again, whenever a file of it has changed."""
    name = request.query_params.get("name", "")
    server.runs.path(name)

    async def changes() -> AsyncGenerator[dict[str, Any]]:
        last: tuple[int, ...] | None = None
        rounds = 0
        while True:
            stamp = await asyncio.to_thread(server.runs.stamp, name)
            if stamp != last or rounds >= LOOK_S / EVERY_S:
                last, rounds = stamp, 0
                yield await asyncio.to_thread(server.runs.details, name)
            else:
                yield {}
            rounds += 1
            await asyncio.sleep(EVERY_S)

    return stream(server, changes())


async def get_params(server: Server, request: Request) -> Response:
    """All parameters with their meaning, default and range."""
    sections = {}
    for section in dataclasses.fields(Params):
        component = getattr(Params(), section.name)
        sections[section.name] = {
            "about": (type(component).__doc__ or "").strip(),
            "parameters": [
                {
                    "name": spec.name,
                    "default": getattr(component, spec.name),
                    "about": spec.metadata["doc"],
                    "low": spec.metadata["low"],
                    "high": spec.metadata["high"],
                }
                for spec in dataclasses.fields(component)
            ],
        }
    return JSONResponse({"sections": sections})


async def start_run(server: Server, request: Request) -> Response:
    """Start a search in a new run directory below the root."""
    fields = await json_fields(request)
    clues = fields.text("clues", 300, default="")
    values: dict[str, Any] = {
        "file": "",
        "clues": clues if clues in ("", *formats.CLUE_WORDS) else str(server.runs.inside(clues)),
        "start": "start" in fields and fields.get("start") is True,
    }
    instance = fields.get("instance")
    source: PuzzleSource
    if isinstance(instance, dict):
        source = read_puzzle(fields, "instance")
        values["instance"] = puzzle_to_json(source)
    else:
        values["instance"] = name = fields.text("instance", MAX_TEXT)
        if name in shipped_instances():
            source = find_shipped(name)
        elif formats.is_url(name):
            source = values["file"] = name
        elif (path := server.runs.inside(name)).is_file():
            source = values["file"] = str(path)
        else:
            raise InputError("there is no shipped instance and no file below the directory served of this name")
    if values["start"] and not values["file"]:
        raise InputError("this instance has no board to begin with; expected a file or viewer URL of a board")
    puzzle, notes = await asyncio.to_thread(load_instance, source, None, values["clues"] or None)
    params = fields.get("params")
    if not isinstance(params, dict):
        raise InputError("'params' is no object; expected {section: {name: value}}")
    from_dict(params)
    folder = server.runs.root if server.runs.root.name == "runs" else server.runs.root / "runs"
    values |= {
        "time": fields.number("time", 0.1, _MAX_RUN_SECONDS),
        "workers": fields.integer("workers", 1, max_workers()),
        "seed": fields.integer("seed", 0, 2**53),
        "engine": fields.text("engine", 20),
        "target": None if fields.get("target") is None else fields.integer("target", 0, puzzle.max_score),
        "params": params,
    }
    path = take_run_directory(puzzle, folder)
    try:
        job = await server.jobs.start("run", values | {"run_dir": str(path)}, values["time"], stays=True)
    except InputError:
        path.rmdir()
        if folder != server.runs.root:
            with suppress(OSError):
                folder.rmdir()
        raise
    run = path.relative_to(server.runs.root).as_posix()
    return JSONResponse({"id": job.id, "run": run, "notes": [printable(note, 500) for note in notes]})


async def resume_run(server: Server, request: Request) -> Response:
    """Go on with a run."""
    fields = await json_fields(request)
    path = server.runs.path(fields.text("name", 1000))
    seconds = None if fields.get("time") is None else fields.number("time", 0.1, _MAX_RUN_SECONDS)
    workers = None if fields.get("workers") is None else fields.integer("workers", 1, max_workers())
    values = {"run_dir": str(path), "time": seconds, "workers": workers}
    job = await server.jobs.start("resume", values, seconds or _MAX_RUN_SECONDS, stays=True)
    return JSONResponse({"id": job.id})


async def estimate_run(server: Server, request: Request) -> Response:
    """Measure how long each score takes with the puzzle and the parameters of a run, as a job."""
    fields = await json_fields(request)
    seconds = fields.number("time", 1, 86400)
    puzzle, params = await asyncio.to_thread(server.runs.puzzle_and_params, fields.text("name", 1000))
    values = {"puzzle": puzzle_to_json(puzzle), "params": to_dict(params), "time": seconds, "seed": 1}
    job = await server.jobs.start("estimate", values, seconds)
    return JSONResponse({"id": job.id})


async def stop_run(server: Server, request: Request) -> Response:
    """Ask a run to stop and save, as `lns stop` does."""
    fields = await json_fields(request)
    name = fields.text("name", 1000)
    path = server.runs.path(name)
    if (await asyncio.to_thread(load_summary, path)).state != "running":
        raise InputError("this run is not going on")
    open_regular(path / STOP, os.O_WRONLY | os.O_APPEND).close()
    return JSONResponse({})


READS: dict[str, Handler] = {
    "params": get_params,
    "runs": get_runs,
    "run": get_run,
    "log": get_log,
    "watch/runs": watch_runs,
    "watch/run": watch_run,
}
CHANGES: dict[str, Handler] = {
    "run/start": start_run,
    "run/resume": resume_run,
    "run/stop": stop_run,
    "run/estimate": estimate_run,
}
