"""Refuses every request that does not come from a page of this server, before any route sees it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import JSONResponse as _JSONResponse
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lns.web.access import Access
from lns_support.text import printable

log = logging.getLogger("lns")

MAX_BODY = 1_000_000
"""Bytes of a request's body."""
MAX_FORM = 10_000
"""Bytes of the form with the password, which is read before anybody is known."""
MAX_HEADERS = 16_384
MAX_FIELDS = 100  # in an address
TOKEN_HEADER = "x-lns-token"
OPEN_PATHS = ("/static/", "/login")
"""Without the key: scripts and styles, which hold nothing of the user's, and the form for the password."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class JSONResponse(_JSONResponse):
    """JSON in ASCII: names of files that are no UTF-8, and lone surrogates of requests, cannot be sent as UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode()


class TooLarge(Exception):
    """The body of a request has more bytes than it may have."""


class Guard:
    """ASGI middleware: Host, Origin, key, token, size of the body, and the headers of every answer.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    access : Access
        The secrets.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = self._with_headers(send, cached=scope["path"].startswith("/static/"))
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        most = _most_bytes(scope["path"])
        try:
            await self._app(scope, _limited(receive, most), answer)
        except TooLarge:
            await refuse(413, f"the request has more than {most:,} bytes")(scope, receive, answer)
        except ClientDisconnect:
            client = scope["client"][0] if scope.get("client") else "somebody"
            log.warning("a request of %s for %s ended before its body was whole", client, printable(scope["path"], 60))

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is refused; None for one that may go on."""
        access, headers, path = self._access, Headers(scope=scope), scope["path"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
            return refuse(431, "the headers are too long")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not access.knows_host(hosts[0]):
            return refuse(421, "this server does not go by that name; open the address that `lns web` printed")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return refuse(405, "expected GET or POST")
        if "origin" in headers and headers["origin"] != f"http://{hosts[0]}":
            return refuse(403, "the request comes from a page of another site")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not link or path.startswith("/api/"):  # a link of another site may lead to a page; it changes nothing
                return refuse(403, "the request comes from a page of another site")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12:
            return refuse(400, "the length of the body is no number")
        if int(length) > (most := _most_bytes(path)):
            return refuse(413, f"the request has {int(length):,} bytes; expected at most {most:,}")
        if scope["query_string"].count(b"&") >= MAX_FIELDS:
            return refuse(400, f"the address has more than {MAX_FIELDS} fields")
        if path.startswith(OPEN_PATHS):
            return None
        return self._unknown(scope, headers) or self._unasked(scope, headers)

    def _unknown(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """The answer to a request without the key; a key in the address becomes a cookie."""
        access = self._access
        given = cookie_parser(headers.get("cookie", "")).get(access.cookie, "")
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["method"] == "GET" and "key" in query and access.password is None:
            if not access.has_key(query["key"][0]):
                return refuse(403, "the key in the address is not the one of this server; it has a new one each time")
            rest = urlencode({name: values for name, values in query.items() if name != "key"}, doseq=True)
            return with_key(access, RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303))
        if access.has_key(given):
            return None
        if access.password is not None and scope["method"] == "GET" and not scope["path"].startswith("/api/"):
            return RedirectResponse("/login", 303)
        return refuse(403, "the key is missing; open the address that `lns web` printed")

    def _unasked(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """The answer to a change without the token."""
        if scope["method"] != "POST" or self._access.has_token(headers.get(TOKEN_HEADER, "")):
            return None
        return refuse(403, "the token is missing or of an earlier server; load the page again")

    @staticmethod
    def _with_headers(send: Send, cached: bool) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers["cache-control"] = "no-cache" if cached else "no-store"
            await send(message)

        return answer


def refuse(status: int, sentence: str) -> Response:
    """An answer that says in one sentence what was wrong."""
    return JSONResponse({"error": sentence}, status)


def with_key(access: Access, response: Response) -> Response:
    """The answer with the key as a cookie, which scripts do not see and other sites send with a link only.

    Not "strict": the printed address, clicked in a terminal that is itself a web page, would then open without its key.
    """
    response.set_cookie(access.cookie, access.key, httponly=True, samesite="lax", path="/")
    return response


def _most_bytes(path: str) -> int:
    return MAX_FORM if path.startswith(OPEN_PATHS) else MAX_BODY


def _limited(receive: Receive, most: int) -> Receive:
    """``receive`` that raises TooLarge once a body without a stated length has more than ``most`` bytes."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLarge
        return message

    return limited
