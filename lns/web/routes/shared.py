"""What the routes of all pages share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from lns.web.access import Access
from lns.web.guard import refuse
from lns.web.jobs import Jobs
from lns.web.runs import Runs
from lns.web.wire import decode_upload
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, json_object

MOST_STREAMS = 100


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


Handler = Callable[[Server, Request], Awaitable[Response]]
"""Answers a request of a page. Raises InputError for bad input."""


async def json_fields(request: Request) -> JsonFields:
    """The JSON object of a request. Raises InputError if it is none."""
    body = await request.body()
    if not body:
        raise InputError("the request is empty; expected a JSON object")
    return JsonFields(json_object(decode_upload(body)))


def number_in_address(text: str) -> int:
    """A whole number of the address, 0 for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 12 else 0


def stream(server: Server, events: AsyncGenerator[dict[str, Any]]) -> Response:
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
            yield "event: end\ndata: {}\n\n"
        except InputError as error:
            yield f"data: {json.dumps({'type': 'error', 'error': str(error)[:2000]})}\n\nevent: end\ndata: {{}}\n\n"
        finally:
            await events.aclose()

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
