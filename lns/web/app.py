"""The web application: the pages and the addresses that they call; `Guard` checks each request first.

Each address below ``/api/`` has a handler. A handler in `READS` (GET, changes nothing) gets the query of the address, a
handler in `CHANGES` (POST) gets the fields of the request's JSON object. A handler returns the answer, as values for
JSON, or an asynchronous generator of events, and raises InputError for bad input. A handler that is a plain function is
called in a thread; a handler that starts or stops jobs is a coroutine function.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from lns.api.arguments import ResumeSpec, RunSpec, choose_parameters
from lns.api.files import read_puzzle as load_instance
from lns.cores import available_cores, max_workers
from lns.engines import ENGINES
from lns.exact.optional_deps import EXTRAS, is_installed
from lns.exact.polyominoes.grid import NO_WEIGHT, WEIGHTS
from lns.exact.polyominoes.levels import find_level, levels
from lns.exact.registry import all_solvers
from lns.exact.trace import TRACED
from lns.instances import formats
from lns.instances.draw import svg
from lns.instances.errors import InputError
from lns.instances.files import decode
from lns.instances.generate import of_kind
from lns.instances.json_values import JsonFields, json_object
from lns.instances.text import parse_integer, printable
from lns.params import Params, to_dict
from lns.runs.directory import take_run_directory
from lns.runs.files import STOP, open_regular
from lns.runs.history import UNLIMITED_S
from lns.runs.run_summary import load_summary
from lns.web import wire
from lns.web.guard import Access, Guard, JSONResponse, own_path, refuse, with_key
from lns.web.jobs import MAX_SECONDS, Jobs
from lns.web.runs import Runs
from lns.web.tasks import PAGE_TASKS

PAGES = {"runs": "Runs", "board": "Board", "play": "Play", "polyominoes": "Polyominoes", "steps": "Step by step"}
"""Title of each page by the last part of its address, in the order of the menu."""
EVERY_S = 1.0  # seconds between two checks whether a watched run has changed
_MOST_GAME_PIECES = 256
_GAMES = {
    "square": ("uniform", ("width", "height")),
    "rectangle": ("uniform", ("width", "height")),
    "triangle": ("triangle", ("side",)),
    "diamond": ("diamond", ("side",)),
    "scramble squares": ("unframed", ("width", "height")),  # each colour also gets a mate
    **{kind: (kind, ("width", "height")) for kind in ("unframed", "tetravex", "macmahon")},
}
"""By the shape of a game: the kind of its puzzle (see `of_kind`), and the request's fields that hold the size."""

Query = Mapping[str, str]
Events = AsyncGenerator[dict[str, Any]]


@dataclass
class Server:
    """The state of a server: its secrets, runs, jobs and first page."""

    access: Access
    runs: Runs
    jobs: Jobs = field(default_factory=Jobs)
    opened: dict[str, Any] | None = None  # JSON of the puzzle or board that the command line names
    start: str = "/runs"  # path and query of the page that opens first
    closing: asyncio.Event = field(default_factory=asyncio.Event)


def number_in(query: Query, name: str, default: str, low: int = 0) -> int:
    """Return the parameter ``name`` of a query, if absent ``default``, as a whole number.

    Raises InputError for other text and for numbers below ``low`` or above 10^12.
    """
    return parse_integer(query.get(name, default), low, 10**12, f"'{name}'")


# -- handlers for all pages --------------------------------------------------------------------------------------------


def get_setup(server: Server, query: Query) -> Any:
    """Return what a page loads once, when it opens: colours, solvers, instances, limits and other choices."""
    solvers = []
    for name, entry in all_solvers().items():
        needs = None if entry.extra is None or is_installed(entry.extra) else EXTRAS[entry.extra][1]
        solvers.append({"name": name, "about": entry.description, "needs": needs})
    return {
        **wire.colours(),
        "solvers": solvers,
        "traced": [solver for solver in solvers if solver["name"] in TRACED],
        "weights": [*WEIGHTS, NO_WEIGHT],
        "levels": [[name, len(grid.loose)] for name, grid in levels().items()],
        "instances": list(formats.shipped_instances()),
        "games": list(_GAMES),
        "engines": list(ENGINES),
        "formats": {name: form.holds for name, form in formats.FORMATS.items()},
        "max_workers": max_workers(),
        "cores": available_cores(),
        "files": server.runs.files(),
        "root": str(server.runs.root),
    }


async def start_job(server: Server, fields: JsonFields) -> Any:
    """Check the fields of a request for a job, start the job and return its id."""
    kind = fields.text("kind", 20)
    if kind not in PAGE_TASKS:
        raise InputError(f"there is no job of this kind; expected one of {', '.join(PAGE_TASKS)}")
    seconds = fields.number("time", 0.1, MAX_SECONDS)
    next(PAGE_TASKS[kind](fields))
    return {"id": (await server.jobs.start(kind, fields.values, seconds)).id}


async def stop_job(server: Server, fields: JsonFields) -> Any:
    """Ask a job to end with its result so far."""
    server.jobs.find(fields.text("id", 40)).stop()
    return {}


# -- handlers for boards, games and polyominoes ------------------------------------------------------------------------


def read_document(server: Server, fields: JsonFields) -> Any:
    """Return the puzzle or board in the request's text, which may have any format."""
    puzzle = wire.read_puzzle(fields) if fields.text("known", 5, default="") == "yes" else None
    text = decode(fields.text("text", wire.MAX_TEXT).encode(errors="surrogatepass"), "the file")
    form, name = fields.text("format", 60, default="") or None, fields.text("name", 200, default="")
    return wire.document_to_json(wire.parse_text(text, puzzle, form, name))


def render_document(server: Server, fields: JsonFields) -> Any:
    """Return a board or puzzle as text in a format, as an SVG image, or as a viewer URL."""
    puzzle = wire.read_puzzle(fields)
    board, form = wire.read_board(fields, puzzle), fields.text("format", 60)
    if form == "svg":
        return {"text": svg.render(puzzle, board), "notes": []}
    text, notes = formats.render(form, puzzle, board, instance=puzzle.name)
    return {"text": text, "notes": list(notes)}


def make_game(server: Server, fields: JsonFields) -> Any:
    """Make the puzzle of a new game, and the planted solution from which it was cut."""
    shape, colour_count = fields.text("shape", 20), fields.integer("colours", 2, 21)
    if shape not in _GAMES:
        raise InputError(f"there is no shape of this name; expected one of {', '.join(_GAMES)}")
    kind, names = _GAMES[shape]
    size = [fields.integer(name, 1, 64) for name in names]
    made = of_kind(kind, size[0], size[-1], colour_count, seed=secrets.randbelow(10**9))
    if shape == "scramble squares":
        made = made.with_mates(made.puzzle.colours)
    puzzle = made.puzzle
    if puzzle.piece_count > _MOST_GAME_PIECES:
        raise InputError(f"a game of {puzzle.piece_count} pieces; expected at most {_MOST_GAME_PIECES}")
    return {"puzzle": wire.puzzle_to_json(puzzle), "solution": wire.board_to_json(puzzle, made.solution)}


# -- handlers for runs -------------------------------------------------------------------------------------------------


async def _changes(look: Callable[[], dict[str, Any]]) -> Events:
    """Call ``look`` every `EVERY_S` seconds; yield its result if that has changed since the last call, else {}."""
    last = ""
    while True:
        found = await asyncio.to_thread(look)
        text = json.dumps(found)
        yield found if text != last else {}
        last = text
        await asyncio.sleep(EVERY_S)


def get_params(server: Server, query: Query) -> Any:
    """Return all parameters of a search, by section, with their meaning, default and range."""
    sections = {}
    for section in dataclasses.fields(Params):
        component = getattr(Params(), section.name)
        specs = dataclasses.fields(component)
        parameters = [{"name": spec.name, "default": spec.default, **spec.metadata} for spec in specs]
        sections[section.name] = {"about": (type(component).__doc__ or "").strip(), "parameters": parameters}
    return {"sections": sections}


async def start_run(server: Server, fields: JsonFields) -> Any:
    """Start a search as a job, in a new run directory below the directory that is served."""
    clues, begins = fields.text("clues", 300, default=""), fields.boolean("start", default=False)
    if clues not in ("", *formats.CLUE_WORDS):
        clues = str(server.runs.inside(clues))
    instance, shipped = fields.text("instance", wire.MAX_TEXT), formats.shipped_instances()
    if begins and instance in shipped:
        raise InputError("this instance has no board to begin with; expected a file or viewer URL of a board")
    if formats.is_url(instance):
        source = instance
    elif (path := shipped.get(instance) or server.runs.inside(instance)).is_file():
        source = str(path)
    else:
        raise InputError("there is no shipped instance and no file below the directory served of this name")
    puzzle, notes = await asyncio.to_thread(load_instance, source, None, clues or None)
    how = {name: fields.get(name) for name in ("time", "workers", "seed", "engine", "target", "params")}
    if not isinstance(how["params"], dict):  # a string would be taken as the name of a parameter file
        raise InputError("'params' is no object; expected {section: {name: value}}")
    how |= {"start": source if begins else None, "instance": instance}
    spec = RunSpec(puzzle, **how)
    spec.check(puzzle)
    choose_parameters(spec.params, puzzle, spec.engine)
    root = server.runs.root
    path = take_run_directory(puzzle, root if root.name == "runs" else root / "runs")
    values = {"source": source, "clues": clues or None, "how": how | {"run_dir": str(path)}}
    try:
        job = await server.jobs.start("run", values, spec.seconds, stays=True)
    except InputError:
        with suppress(OSError):
            path.rmdir()
        raise
    said = [printable(note, 500) for note in notes]
    return {"id": job.id, "run": path.relative_to(root).as_posix(), "notes": said}


async def resume_run(server: Server, fields: JsonFields) -> Any:
    """Start a job that continues a run which has ended."""
    path = server.runs.path(fields.text("name", 1000))
    how = {"run_dir": str(path), "time": fields.get("time"), "workers": fields.get("workers")}
    spec = ResumeSpec(**how)
    seconds = UNLIMITED_S if spec.time is None else spec.seconds
    return {"id": (await server.jobs.start("resume", how, seconds, stays=True)).id}


async def estimate_run(server: Server, fields: JsonFields) -> Any:
    """Start a job that measures how long boards of each score take, with the puzzle and the parameters of a run."""
    seconds = fields.number("time", 1, MAX_SECONDS)
    run = await asyncio.to_thread(load_summary, server.runs.path(fields.text("name", 1000)))
    params = to_dict(run.settings.parameters)
    values = {"puzzle": wire.puzzle_to_json(run.puzzle), "params": params, "time": seconds, "seed": 1}
    return {"id": (await server.jobs.start("estimate", values, seconds)).id}


def stop_run(server: Server, fields: JsonFields) -> Any:
    """Ask a run to save its state and stop, as `lns stop` does."""
    path = server.runs.path(fields.text("name", 1000))
    if load_summary(path).state != "running":
        raise InputError("this run is not going on")
    open_regular(path / STOP, os.O_WRONLY | os.O_APPEND).close()
    return {}


READS: dict[str, Callable[[Server, Query], Any]] = {
    "setup": get_setup,
    "params": get_params,
    "runs": lambda server, query: {"runs": server.runs.facts()},
    "run": lambda server, query: server.runs.details(query.get("name", "")),
    "log": lambda server, query: server.runs.log(
        query.get("name", ""), number_in(query, "first", "-200", -(10**12)), number_in(query, "count", "200")
    ),
    "watch/runs": lambda server, query: _changes(lambda: {"runs": server.runs.facts()}),
    "watch/run": lambda server, query: _changes(lambda: server.runs.details(query.get("name", ""))),
    "opened": lambda server, query: server.opened,
    "instance": lambda server, query: wire.document_to_json(
        formats.Document("shipped", wire.find_shipped(query.get("name", "")), None)
    ),
    "polyomino/level": lambda server, query: wire.grid_to_json(find_level(query.get("name", "")[:40])),
    "watch/job": lambda server, query: server.jobs.find(query.get("id", "")).events(number_in(query, "first", "0")),
}
CHANGES: dict[str, Callable[[Server, JsonFields], Any]] = {
    "run/start": start_run,
    "run/resume": resume_run,
    "run/stop": stop_run,
    "run/estimate": estimate_run,
    "document": read_document,
    "render": render_document,
    "check": lambda server, fields: wire.facts(puzzle := wire.read_puzzle(fields), wire.read_board(fields, puzzle)),
    "game": make_game,
    "polyomino/read": lambda server, fields: wire.grid_to_json(wire.read_grid(fields)),
    "polyomino/cut": lambda server, fields: wire.grid_to_json(wire.cut_random_grid(fields)),
    "job": start_job,
    "job/stop": stop_job,
}


# -- serving the addresses --------------------------------------------------------------------------------------------


def make_app(server: Server) -> Starlette:
    """Make the web application that serves the pages and addresses of ``server``."""
    site = Site(server)
    routes = [
        Route("/", lambda request: RedirectResponse(server.start, 303)),
        Route("/login", site.login, methods=["GET", "POST"]),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        Route("/api/{path:path}", site.answer, methods=["GET", "POST"]),
        Route("/{name}", site.page),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=server.access)])
    app.add_exception_handler(404, _not_found)
    return app


async def _not_found(request: Request, error: Exception | None = None) -> Response:
    return refuse(404, "there is nothing at this address")


class Site:
    """What a server answers to requests for a page, for the login, and for an address below ``/api/``."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def page(self, request: Request) -> Response:
        """Return the page that the last part of the address names."""
        if (name := request.path_params["name"]) not in PAGES:
            return await _not_found(request)
        return HTMLResponse(render_page(name, self._server.access.token))

    async def login(self, request: Request) -> Response:
        """Return the password form; after the right password, a redirect to the wanted page and the key as a cookie."""
        access, wrong, asked = self._server.access, "", own_path(request.query_params.get("next", "/"))
        if access.password is None:
            return RedirectResponse(asked, 303)
        if request.method == "POST":
            form = parse_qs((await request.body()).decode("latin-1"))
            address = request.client.host if request.client else ""
            if access.admits(form.get("password", [""])[0], address):
                return with_key(access, RedirectResponse(asked, 303))
            await asyncio.sleep(0.5)
            wrong = "This is not the password, or there were too many wrong ones in the last minute."
        return HTMLResponse(wire.template("login").substitute(wrong=wrong), 403 if wrong else 200)

    async def answer(self, request: Request) -> Response:
        """Return the answer of the handler of an address; for bad input, status 400 and a sentence."""
        handlers: dict[str, Callable[..., Any]] = CHANGES if request.method == "POST" else READS
        handler = handlers.get(request.path_params["path"])
        if handler is None:
            return await _not_found(request)
        try:
            if handlers is CHANGES:
                given: Any = JsonFields(json_object(decode(await request.body(), "the file")))
            else:
                seen = request.headers.get("last-event-id")  # the last event that a reconnecting page has seen
                given = {**request.query_params, **({"first": seen} if seen else {})}
            if iscoroutinefunction(handler):
                found = await handler(self._server, given)
            else:
                found = await asyncio.to_thread(handler, self._server, given)
        except InputError as error:
            return refuse(400, str(error)[:2000])
        except OSError as error:
            return refuse(400, f"{error.strerror or error}")
        except (MemoryError, RecursionError):
            return refuse(400, "the request needs more memory than it may have")
        if isinstance(found, AsyncGenerator):
            return StreamingResponse(_stream(self._server, found), media_type="text/event-stream")
        return JSONResponse(found)


async def _stream(server: Server, events: Events) -> AsyncIterator[str]:
    """Yield the text of an event stream, which ends with ``events``, or when the page closes or the server ends."""
    try:
        async for event in events:
            if server.closing.is_set():
                break
            number = event.get("number")
            if event:
                yield (f"id: {number}\n" if number else "") + f"data: {json.dumps(event)}\n\n"
            else:
                yield ": \n\n"  # sent for an empty event, as sending shows whether the page is still open
    except InputError as error:
        yield f"data: {json.dumps({'type': 'error', 'error': str(error)[:2000]})}\n\n"
    finally:
        await events.aclose()
    yield "event: end\ndata: {}\n\n"


def render_page(name: str, token: str) -> str:
    """Return the HTML of the page ``name``; ``token`` is the secret that the page sends with every change."""
    body = wire.template(name).substitute(free_pieces=wire.template("free_pieces").template)
    menu = "".join(
        f'<a href="/{other}"{" aria-current=page" if other == name else ""}>{escape(title)}</a>'
        for other, title in PAGES.items()
    )
    return wire.template("layout").substitute(
        title=escape(PAGES[name]), menu=menu, body=body, token=escape(token), script=name
    )
