"""The application: pages, and the handlers at their addresses, behind the guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
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

from lns.instances.errors import InputError
from lns.instances.files import decode
from lns.instances.json_values import JsonFields, json_object
from lns.web.guard import Guard, JSONResponse, own_path, refuse, with_key
from lns.web.handlers import CHANGES, READS, Events, Server
from lns.web.wire import template

PAGES = {
    "runs": "Runs",
    "board": "Board",
    "play": "Play",
    "polyominoes": "Polyominoes",
    "steps": "Step by step",
}
"""Page by the last part of its address, in the order of the menu."""
_HERE = Path(__file__).parent


def make_app(server: Server) -> Starlette:
    """The application that serves ``server``."""
    site = Site(server)
    routes = [
        Route("/", site.first_page),
        Route("/login", site.login, methods=["GET", "POST"]),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
        Route("/api/{path:path}", site.answer, methods=["GET", "POST"]),
        Route("/{name}", site.page),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=server.access)])
    app.add_exception_handler(404, _not_found)
    return app


async def _not_found(request: Request, error: Exception | None = None) -> Response:
    return refuse(404, "there is nothing at this address")


class Site:
    """What answers at the addresses of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def first_page(self, request: Request) -> Response:
        """Leads to the page that is shown first."""
        return RedirectResponse(self._server.start, 303)

    async def page(self, request: Request) -> Response:
        """A page by its name."""
        if (name := request.path_params["name"]) not in PAGES:
            return await _not_found(request)
        return HTMLResponse(render_page(name, self._server.access.token))

    async def login(self, request: Request) -> Response:
        """Asks for the password, gives the key for it, and leads to the page that was asked for."""
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
        return HTMLResponse(template("login").substitute(wrong=wrong), 403 if wrong else 200)

    async def answer(self, request: Request) -> Response:
        """The answer of a handler; bad input is answered by status 400 and a sentence."""
        path, found = request.path_params["path"], None
        try:
            if request.method == "POST" and path in CHANGES:
                found = await _called(CHANGES[path], self._server, await _fields(request))
            elif request.method != "POST" and path in READS:
                found = await _called(READS[path], self._server, _query(request))
            else:
                return await _not_found(request)
        except InputError as error:
            return refuse(400, str(error)[:2000])
        except OSError as error:
            return refuse(400, f"{error.strerror or error}")
        except (MemoryError, RecursionError):
            return refuse(400, "the request needs more memory than it may have")
        if not isinstance(found, AsyncGenerator):
            return JSONResponse(found)
        return _Stream(self._server, found)


async def _called(handler: Callable[..., Any], *given: object) -> Any:
    return await (handler(*given) if iscoroutinefunction(handler) else asyncio.to_thread(handler, *given))


def _query(request: Request) -> dict[str, str]:
    """The fields of an address; a stream that is opened again says in a header what it has seen."""
    seen = request.headers.get("last-event-id")
    return {**request.query_params, **({"first": seen} if seen else {})}


async def _fields(request: Request) -> JsonFields:
    """The JSON object of a request. Raises InputError if it is none."""
    return JsonFields(json_object(decode(await request.body(), "the file")))


class _Stream(StreamingResponse):
    """An event stream that ends with the page, with the events, or with the server."""

    def __init__(self, server: Server, events: Events) -> None:
        super().__init__(self._lines(events), media_type="text/event-stream")
        self._server = server

    async def _lines(self, events: Events) -> AsyncIterator[str]:
        try:
            async for event in events:
                if self._server.closing.is_set():
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


def render_page(name: str, token: str) -> str:
    """The HTML of a page."""
    body = template(name).substitute(free_pieces=template("free_pieces").template)
    menu = "".join(
        f'<a href="/{other}"{" aria-current=page" if other == name else ""}>{escape(title)}</a>'
        for other, title in PAGES.items()
    )
    return template("layout").substitute(
        title=escape(PAGES[name]), menu=menu, body=body, token=escape(token), script=name
    )
