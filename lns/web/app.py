"""The routes: pages, scripts and styles, and what the pages ask for. Answers are JSON, event streams or pages."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from exact.polyominoes.shapes import WEIGHTS
from exact.trace import TRACED
from instances import formats
from instances.draw import svg
from instances.formats import shipped_instances
from lns.api.files import generate
from lns.engines import ENGINES
from lns.params import Params, from_dict
from lns.runs.directory import new_run_directory
from lns.runs.files import STOP
from lns.terminal.options import max_workers
from lns.web import polyominoes
from lns.web.access import Access
from lns.web.guard import Guard, refuse, with_key
from lns.web.jobs import MAX_SECONDS, MOST_JOBS, Jobs
from lns.web.recording import colours
from lns.web.runs import Runs
from lns.web.wire import (
    board_to_json,
    decode_upload,
    document_to_json,
    facts,
    find_shipped,
    parse_text,
    puzzle_to_json,
    read_board,
    read_cells,
    read_puzzle,
)
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, json_object

log = logging.getLogger("lns")

HOME = Path(__file__).parent
PAGES = {
    "runs": "Runs",
    "board": "Board",
    "play": "Play",
    "polyominoes": "Polyominoes",
    "steps": "Step by step",
}
"""Page by the last part of its address, in the order of the menu."""
EVERY_S = 1.0
"""Seconds between two updates of a run."""
MOST_STREAMS = 100
_MAX_RUN_SECONDS = 366 * 86400.0

Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Server:
    """What the routes share.

    Attributes
    ----------
    access : Access
    runs : Runs
    jobs : Jobs
    opened : dict or None
        The puzzle or board that was named on the command line.
    start : str
        Address of the first page.
    """

    access: Access
    runs: Runs
    jobs: Jobs = field(default_factory=Jobs)
    opened: dict[str, Any] | None = None
    start: str = "/runs"
    streams: int = 0
    closing: asyncio.Event = field(default_factory=asyncio.Event)


def make_app(server: Server) -> Starlette:
    """The application.

    Parameters
    ----------
    server : Server
        What it serves.

    Returns
    -------
    Starlette
    """
    routes = [
        Route("/", _first(server)),
        Route("/login", _login(server), methods=["GET", "POST"]),
        *(Route(f"/{name}", _page(server, name)) for name in PAGES),
        Mount("/static", StaticFiles(directory=HOME / "static")),
        *(Route(f"/api/{path}", _safely(server, handler), methods=["GET"]) for path, handler in READS.items()),
        *(Route(f"/api/{path}", _safely(server, handler), methods=["POST"]) for path, handler in CHANGES.items()),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=server.access)])
    app.add_exception_handler(404, _not_found)
    return app


async def _not_found(request: Request, error: Exception) -> Response:
    return refuse(404, "there is nothing at this address")


def _safely(server: Server, handler: Callable[[Server, Request], Awaitable[Response]]) -> Handler:
    """The handler with bad input answered by status 400 and its sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(server, request)
        except InputError as error:
            return refuse(400, str(error)[:2000])
        except OSError as error:
            return refuse(400, f"{error.strerror or error}")
        except (MemoryError, RecursionError):
            return refuse(400, "the request needs more memory than it may have")

    return answer


def _first(server: Server) -> Handler:
    async def first(request: Request) -> Response:
        return RedirectResponse(server.start, 303)

    return first


def _page(server: Server, name: str) -> Handler:
    async def page(request: Request) -> Response:
        return HTMLResponse(render_page(name, server.access.token))

    return page


def render_page(name: str, token: str) -> str:
    """The HTML of a page."""
    layout = Template((HOME / "pages" / "layout.html").read_text(encoding="utf-8"))
    body = (HOME / "pages" / f"{name}.html").read_text(encoding="utf-8")
    menu = "".join(
        f'<a href="/{other}"{" aria-current=page" if other == name else ""}>{escape(title)}</a>'
        for other, title in PAGES.items()
    )
    return layout.substitute(title=escape(PAGES[name]), menu=menu, body=body, token=escape(token), script=name)


def _login(server: Server) -> Handler:
    async def login(request: Request) -> Response:
        access, wrong = server.access, ""
        if access.password is None:
            return RedirectResponse("/", 303)
        if request.method == "POST":
            form = parse_qs((await request.body()).decode("latin-1"), max_num_fields=5)
            if access.admits(form.get("password", [""])[0]):
                return with_key(access, RedirectResponse("/", 303))
            await asyncio.sleep(0.5)
            wrong = "This is not the password, or there were too many wrong ones in the last minute."
        text = Template((HOME / "pages" / "login.html").read_text(encoding="utf-8")).substitute(wrong=wrong)
        return HTMLResponse(text, 403 if wrong else 200)

    return login


# -- requests that change nothing ----------------------------------------------------------------------------------


async def get_setup(server: Server, request: Request) -> Response:
    """What a page needs once: colours, solvers, instances, limits."""
    from exact.registry import all_solvers
    from lns_support.optional_deps import EXTRAS, is_installed

    solvers = [
        {
            "name": name,
            "about": entry.description,
            "needs": None if entry.extra is None or is_installed(entry.extra) else EXTRAS[entry.extra][1],
        }
        for name, entry in all_solvers().items()
    ]
    return JSONResponse(
        {
            **colours(),
            "solvers": solvers,
            "traced": list(TRACED),
            "weights": [*WEIGHTS, polyominoes.NO_WEIGHT],
            "instances": list(shipped_instances()),
            "engines": list(ENGINES),
            "formats": {name: form.holds for name, form in formats.FORMATS.items()},
            "max_workers": max_workers(),
            "max_jobs": MOST_JOBS,
            "root": str(server.runs.root),
        }
    )


async def get_opened(server: Server, request: Request) -> Response:
    """The board or puzzle of the command line, or null."""
    return JSONResponse(server.opened)


async def get_instance(server: Server, request: Request) -> Response:
    """A shipped instance."""
    puzzle = find_shipped(request.query_params.get("name", ""))
    return JSONResponse({"format": "shipped", "puzzle": puzzle_to_json(puzzle), "board": None, "notes": [],
                         **facts(puzzle, None)})  # fmt: skip


async def get_runs(server: Server, request: Request) -> Response:
    """All runs, a line each."""
    return JSONResponse({"runs": await asyncio.to_thread(server.runs.facts)})


async def get_run(server: Server, request: Request) -> Response:
    """One run."""
    return JSONResponse(await asyncio.to_thread(server.runs.details, request.query_params.get("name", "")))


async def get_log(server: Server, request: Request) -> Response:
    """Lines of a log."""
    query = request.query_params
    first, count = _number(query.get("first", "-200")), _number(query.get("count", "200"))
    return JSONResponse(await asyncio.to_thread(server.runs.log, query.get("name", ""), first, count))


async def watch_runs(server: Server, request: Request) -> Response:
    """All runs again and again, whenever one has changed."""

    async def changes() -> AsyncIterator[dict[str, Any]]:
        last = ""
        while True:
            runs = await asyncio.to_thread(server.runs.facts)
            if (text := json.dumps(runs)) != last:
                last = text
                yield {"runs": runs}
            else:
                yield {}
            await asyncio.sleep(EVERY_S)

    return _stream(server, request, changes())


async def watch_run(server: Server, request: Request) -> Response:
    """One run again and again, whenever a file of it has changed."""
    name = request.query_params.get("name", "")
    server.runs.path(name)

    async def changes() -> AsyncIterator[dict[str, Any]]:
        last: tuple[int, ...] | None = None
        rounds = 0
        while True:
            stamp = await asyncio.to_thread(server.runs.stamp, name)
            if stamp != last or rounds % 5 == 0:  # a run that died changes no file
                last = stamp
                yield await asyncio.to_thread(server.runs.details, name)
            else:
                yield {}
            rounds += 1
            await asyncio.sleep(EVERY_S)

    return _stream(server, request, changes())


async def watch_job(server: Server, request: Request) -> Response:
    """The messages of a job as they come."""
    job = server.jobs.find(request.query_params.get("id", ""))
    first = _number(request.headers.get("last-event-id") or request.query_params.get("first", "0"))
    return _stream(server, request, server.jobs.events(job, max(0, first)))


def _stream(server: Server, request: Request, events: AsyncIterator[dict[str, Any]]) -> Response:
    """An event stream that ends with the page, with the events, or with the server."""
    if server.streams >= MOST_STREAMS:
        return refuse(503, "too many pages are open")

    async def lines() -> AsyncIterator[str]:
        server.streams += 1
        try:
            async for event in events:
                if server.closing.is_set():
                    break
                number = event.get("number")
                if event:
                    yield (f"id: {number}\n" if number else "") + f"data: {json.dumps(event)}\n\n"
                else:
                    yield ": \n\n"  # nothing new; tells whether the page is still there
            yield "event: end\ndata: {}\n\n"
        except InputError as error:
            yield f"data: {json.dumps({'type': 'error', 'error': str(error)[:2000]})}\n\nevent: end\ndata: {{}}\n\n"
        finally:
            server.streams -= 1
            if hasattr(events, "aclose"):
                await events.aclose()

    return StreamingResponse(lines(), media_type="text/event-stream")


# -- requests that change or compute something -----------------------------------------------------------------------


async def read_document(server: Server, request: Request) -> Response:
    """A puzzle or board from text in any format."""
    fields = await _fields(request)
    puzzle = read_puzzle(fields) if fields.text("known", 5, default="") == "yes" else None
    text = decode_upload(fields.text("text", 1_000_000).encode(errors="surrogatepass"))
    document = await asyncio.to_thread(
        parse_text, text, puzzle, fields.text("format", 60, default="") or None, fields.text("name", 200, default="")
    )
    return JSONResponse(document_to_json(document))


async def render_document(server: Server, request: Request) -> Response:
    """A board or puzzle as text in a format, as SVG, or as a viewer URL."""
    fields = await _fields(request)
    puzzle = read_puzzle(fields)
    board = read_board(fields, puzzle)
    form = fields.text("format", 60)
    if form == "svg":
        return JSONResponse({"text": svg.render(puzzle, board), "notes": []})
    if form == "url":
        return JSONResponse({"text": formats.viewer_url(puzzle, board) + "\n", "notes": []})
    text, notes = formats.render(form, puzzle, board, instance=puzzle.name)
    return JSONResponse({"text": text, "notes": list(notes)})


async def check_board(server: Server, request: Request) -> Response:
    """What the verifier says of a board."""
    fields = await _fields(request)
    puzzle = read_puzzle(fields)
    return JSONResponse(facts(puzzle, read_board(fields, puzzle)))


async def make_game(server: Server, request: Request) -> Response:
    """A new game: a puzzle and the board that it was cut from."""
    fields = await _fields(request)
    shape, colour_count = fields.text("shape", 20), fields.integer("colours", 2, 21)
    if shape not in GAMES:
        raise InputError(f"there is no shape of this name; expected one of {', '.join(GAMES)}")
    kind, names = GAMES[shape]
    size: dict[str, Any] = {name: fields.integer(name, 1, 64) for name in names}
    puzzle, solution = await asyncio.to_thread(
        partial(generate, kind, seed=secrets.randbelow(10**9), colours=colour_count, **size)
    )
    if puzzle.piece_count > MOST_GAME_PIECES:
        raise InputError(f"a game of {puzzle.piece_count} pieces; expected at most {MOST_GAME_PIECES}")
    return JSONResponse({"puzzle": puzzle_to_json(puzzle), "solution": board_to_json(puzzle, solution)})


async def read_polyominoes(server: Server, request: Request) -> Response:
    """A grid of polyominoes from its picture."""
    return JSONResponse(polyominoes.grid_to_json(polyominoes.read_grid(await _fields(request))))


async def cut_polyominoes(server: Server, request: Request) -> Response:
    """A grid cut into random polyominoes."""
    return JSONResponse(await asyncio.to_thread(polyominoes.cut, await _fields(request)))


async def start_job(server: Server, request: Request) -> Response:
    """Start a job of a page."""
    fields = await _fields(request)
    kind = fields.text("kind", 20)
    if kind not in JOB_KINDS:
        raise InputError(f"there is no job of this kind; expected one of {', '.join(JOB_KINDS)}")
    seconds = fields.number("time", 0.1, MAX_SECONDS)
    values = JOB_KINDS[kind](fields)
    job = await server.jobs.start(kind, values | {"time": seconds}, seconds)
    return JSONResponse({"id": job.id})


async def stop_job(server: Server, request: Request) -> Response:
    """End a job with its result so far."""
    fields = await _fields(request)
    server.jobs.stop(server.jobs.find(fields.text("id", 40)))
    return JSONResponse({})


async def start_run(server: Server, request: Request) -> Response:
    """Start a search in a new run directory below the root."""
    fields = await _fields(request)
    values: dict[str, Any] = {"file": ""}
    instance = fields.get("instance")
    if isinstance(instance, dict):
        puzzle = read_puzzle(fields, "instance")
        values["instance"] = puzzle_to_json(puzzle)
    else:
        name = fields.text("instance", 300)
        path = server.runs.inside(name)
        if name in shipped_instances():
            puzzle = find_shipped(name)
        elif path.is_file():
            puzzle, values["file"] = formats.load_puzzle(str(path)), str(path)
        else:
            raise InputError("there is no shipped instance and no file below the directory served of this name")
        values["instance"] = name
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
        "run_dir": str(folder / new_run_directory(puzzle).name),
    }
    job = await server.jobs.start("run", values, values["time"], stays=True)
    run = Path(values["run_dir"]).relative_to(server.runs.root).as_posix()
    return JSONResponse({"id": job.id, "run": run})


async def resume_run(server: Server, request: Request) -> Response:
    """Go on with a run."""
    fields = await _fields(request)
    path = server.runs.path(fields.text("name", 1000))
    seconds = None if fields.get("time") is None else fields.number("time", 0.1, _MAX_RUN_SECONDS)
    workers = None if fields.get("workers") is None else fields.integer("workers", 1, max_workers())
    values = {"run_dir": str(path), "time": seconds, "workers": workers}
    job = await server.jobs.start("resume", values, seconds or _MAX_RUN_SECONDS, stays=True)
    return JSONResponse({"id": job.id})


async def stop_run(server: Server, request: Request) -> Response:
    """Ask a run to stop and save, as `lns stop` does."""
    import os

    from lns.runs.files import open_regular

    fields = await _fields(request)
    name = fields.text("name", 1000)
    path = server.runs.path(name)
    if server.runs.details(name)["state"] != "running":
        raise InputError("this run is not going on")
    open_regular(path / STOP, os.O_WRONLY | os.O_APPEND).close()
    return JSONResponse({})


async def get_params(server: Server, request: Request) -> Response:
    """All parameters with their meaning, default and range."""
    import dataclasses

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
    from exact.registry import find_solver
    from lns_support.optional_deps import require

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
        "most": fields.integer("most", 1, 20_000),
        "page": fields.boolean("page", default=False),
    }


async def _fields(request: Request) -> JsonFields:
    """The JSON object of a request. Raises InputError if it is none."""
    body = await request.body()
    if not body:
        raise InputError("the request is empty; expected a JSON object")
    return JsonFields(json_object(decode_upload(body)))


def _number(text: str) -> int:
    """A whole number of the address, 0 for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 12 else 0


MOST_GAME_PIECES = 256
GAMES = {
    "square": ("uniform", ("width", "height")),
    "rectangle": ("uniform", ("width", "height")),
    "triangle": ("triangle", ("side",)),
    "diamond": ("diamond", ("side",)),
}
"""Kind of puzzle by the shape of a game, and what gives its size."""
JOB_KINDS: dict[str, Callable[[JsonFields], dict[str, Any]]] = {
    "improve": _improve_fields,
    "windows": _windows_fields,
    "solve": _solve_fields,
    "trace": _trace_fields,
    "fill": polyominoes.check_fill,
    "level": lambda fields: {"placed": fields.integer("placed", 0, 11), "seed": fields.integer("seed", 0, 10**6)},
}
"""The jobs of a page, and what checks their fields."""

READS = {
    "setup": get_setup,
    "opened": get_opened,
    "instance": get_instance,
    "params": get_params,
    "runs": get_runs,
    "run": get_run,
    "log": get_log,
    "watch/runs": watch_runs,
    "watch/run": watch_run,
    "watch/job": watch_job,
}
CHANGES = {
    "document": read_document,
    "render": render_document,
    "check": check_board,
    "game": make_game,
    "polyomino/read": read_polyominoes,
    "polyomino/cut": cut_polyominoes,
    "job": start_job,
    "job/stop": stop_job,
    "run/start": start_run,
    "run/resume": resume_run,
    "run/stop": stop_run,
}
