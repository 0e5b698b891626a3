"""The application: pages, and the handlers at their addresses, behind the guard."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from lns.web.guard import Guard, JSONResponse, refuse, with_key
from lns.web.handlers import CHANGES, READS, Fields, Server
from lns_support.errors import InputError
from lns_support.files import decode
from lns_support.json_values import json_object

MOST_STREAMS = 100
PAGES = {
    "runs": "Runs",
    "board": "Board",
    "play": "Play",
    "polyominoes": "Polyominoes",
    "steps": "Step by step",
}
"""Page by the last part of its address, in the order of the menu."""
_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^(?:import|export) .*?from "\./([a-z_/]+\.js)";$', re.MULTILINE)
Answer = Callable[[Request], Awaitable[Response]]


def make_app(server: Server) -> Starlette:
    """The application that serves ``server``."""
    routes = [
        Route("/", _answer(lambda request: RedirectResponse(server.start, 303))),
        Route("/login", login_form(server), methods=["GET", "POST"]),
        *(Route(f"/{name}", _page(name, server)) for name in PAGES),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
        *(Route(f"/api/{path}", _handled(server, handler), methods=["GET"]) for path, handler in READS.items()),
        *(Route(f"/api/{path}", _handled(server, handler), methods=["POST"]) for path, handler in CHANGES.items()),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=server.access)])
    app.add_exception_handler(404, _not_found)
    return app


def _handled(server: Server, handler: Callable[[Server, Any], Any]) -> Answer:
    """The answer of a handler; bad input is answered by status 400 and a sentence."""

    async def answer(request: Request) -> Response:
        try:
            given = await _fields(request) if request.method == "POST" else _query(request)
            if inspect.iscoroutinefunction(handler):
                found = await handler(server, given)
            else:
                found = await asyncio.to_thread(handler, server, given)
        except InputError as error:
            return refuse(400, str(error)[:2000])
        except OSError as error:
            return refuse(400, f"{error.strerror or error}")
        except (MemoryError, RecursionError):
            return refuse(400, "the request needs more memory than it may have")
        return _stream(server, found) if isinstance(found, AsyncGenerator) else JSONResponse(found)

    return answer


def _query(request: Request) -> dict[str, str]:
    """The fields of an address; a stream that is opened again says in a header what it has seen."""
    seen = request.headers.get("last-event-id")
    return {**request.query_params, **({"first": seen} if seen else {})}


async def _fields(request: Request) -> Fields:
    """The JSON object of a request. Raises InputError if it is none."""
    body = await request.body()
    if not body:
        raise InputError("the request is empty; expected a JSON object")
    return Fields(json_object(decode(body, "the file")))


async def _not_found(request: Request, error: Exception) -> Response:
    return refuse(404, "there is nothing at this address")


# -- event streams -----------------------------------------------------------------------------------------------------


def _stream(server: Server, events: AsyncGenerator[dict[str, Any]]) -> Response:
    """An event stream that ends with the page, with the events, or with the server."""
    if server.streams >= MOST_STREAMS:
        return refuse(503, "too many pages are open")

    async def lines() -> AsyncIterator[str]:
        try:
            async for event in events:
                if server.closing.is_set():
                    break
                number = event.get("number")
                if event:
                    yield (f"id: {number}\n" if number else "") + f"data: {json.dumps(event)}\n\n"
                else:
                    yield ": \n\n"  # nothing new; tells whether the page is still there
        except InputError as error:
            yield f"data: {json.dumps({'type': 'error', 'error': str(error)[:2000]})}\n\n"
        finally:
            await events.aclose()
        yield "event: end\ndata: {}\n\n"

    return _Stream(server, lines())


class _Stream(StreamingResponse):
    """An event stream that counts as open from its request on, not only once its first event is sent."""

    def __init__(self, server: Server, lines: AsyncIterator[str]) -> None:
        super().__init__(lines, media_type="text/event-stream")
        self._server = server
        server.streams += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._server.streams -= 1


# -- pages -------------------------------------------------------------------------------------------------------------


def _answer(make: Callable[[Request], Response]) -> Answer:
    async def answer(request: Request) -> Response:
        return make(request)

    return answer


def _page(name: str, server: Server) -> Answer:
    return _answer(lambda request: HTMLResponse(render_page(name, server.access.token)))


def render_page(name: str, token: str) -> str:
    """The HTML of a page."""
    body = _template(name).substitute(free_pieces=_template("free_pieces").template)
    menu = "".join(
        f'<a href="/{other}"{" aria-current=page" if other == name else ""}>{escape(title)}</a>'
        for other, title in PAGES.items()
    )
    preloads = "".join(f'<link rel="modulepreload" href="/static/{script}">' for script in _imported(f"{name}.js"))
    return _template("layout").substitute(
        title=escape(PAGES[name]), menu=menu, body=body, token=escape(token), script=name, preloads=preloads
    )


@cache
def _imported(script: str) -> tuple[str, ...]:
    """The scripts that a script imports, and those that these import: a browser then loads all of them at once."""
    found: dict[str, None] = {}
    waiting = [script]
    while waiting:
        text = (_HERE / "static" / waiting.pop()).read_text(encoding="utf-8")
        new = [name for name in _IMPORT.findall(text) if name not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return tuple(found)


def _template(name: str) -> Template:
    return Template((_HERE / "pages" / f"{name}.html").read_text(encoding="utf-8"))


def login_form(server: Server) -> Answer:
    """Asks for the password and gives the key for it."""

    async def login(request: Request) -> Response:
        access, wrong = server.access, ""
        if access.password is None:
            return RedirectResponse("/", 303)
        if request.method == "POST":
            form = parse_qs((await request.body()).decode("latin-1"))
            address = request.client.host if request.client else ""
            if access.admits(form.get("password", [""])[0], address):
                return with_key(access, RedirectResponse("/", 303))
            await asyncio.sleep(0.5)
            wrong = "This is not the password, or there were too many wrong ones in the last minute."
        return HTMLResponse(_template("login").substitute(wrong=wrong), 403 if wrong else 200)

    return login
