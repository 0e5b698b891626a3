"""The pages themselves, and the form for the password."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lns.web.guard import with_key
from lns.web.routes.shared import Server

_HOME = Path(__file__).parents[1] / "pages"
_STATIC = Path(__file__).parents[1] / "static"
_IMPORT = re.compile(r'^(?:import|export) .*?from "\./([a-z_/]+\.js)";$', re.MULTILINE)
PAGES = {
    "runs": "Runs",
    "board": "Board",
    "play": "Play",
    "polyominoes": "Polyominoes",
    "steps": "Step by step",
}
"""Page by the last part of its address, in the order of the menu."""

Answer = Callable[[Request], Awaitable[Response]]


def first_page(server: Server) -> Answer:
    """Leads to the page that is shown first."""

    async def first(request: Request) -> Response:
        return RedirectResponse(server.start, 303)

    return first


def page_of(server: Server, name: str) -> Answer:
    """A page by its name."""

    async def page(request: Request) -> Response:
        return HTMLResponse(render_page(name, server.access.token))

    return page


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
        here = waiting.pop()
        text = (_STATIC / here).read_text(encoding="utf-8")
        for name in _IMPORT.findall(text):
            if name not in found:
                found[name] = None
                waiting.append(name)
    return tuple(found)


def _template(name: str) -> Template:
    return Template((_HOME / f"{name}.html").read_text(encoding="utf-8"))


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
