"""Access control: requests from other sites, and requests without the key, are refused before any route sees them.

But links on other sites may open pages, and `OPEN_PATHS` need no key. Requests of a page carry the key, a secret in the
printed address, as a cookie; requests that change something carry the token of the page, too. A server that other
machines can reach prints no key but sends it to those who know a password.
"""

from __future__ import annotations

import hmac
import html
import ipaddress
import json
import logging
import re
import secrets
import socket
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.responses import JSONResponse as _JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lns.instances.text import printable

log = logging.getLogger("lns")

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_TRIES, MOST_TRIES_IN_ALL = 10, 100
"""Most wrong passwords within a minute, from one address and from all; after these even a right one is refused."""
_MINUTE = 60.0
MAX_BODY = 1_000_000  # most bytes of the body of a request
MAX_FORM = 10_000  # most bytes of a sent password form, which is read before the sender is known
TOKEN_HEADER = "x-lns-token"
OPEN_PATHS = ("/static/", "/login")
"""Beginnings of paths that need no key: scripts and styles, which hold no user data, and the password form."""

_OWN_PATH = re.compile(r"/(?![/\\])[!-~]*")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would give sent forms the origin "null", which is refused
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_number() -> str:
    """Return the IPv4 address by which other machines reach this one, or else its host name; nothing is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # an address for documentation (RFC 5737); only the route is looked up
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


def is_same(given: str, secret: str) -> bool:
    """Return whether ``given`` is the secret, in a time that does not reveal where the two differ."""
    return hmac.compare_digest(given.encode(), secret.encode())


@dataclass
class Access:
    """The address and the secrets of one server."""

    host: str  # the host name or IP address that the server listens on
    port: int
    password: str | None = None  # asked for if other machines can reach the server; None: the printed key is enough
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The secret that opens all pages; printed address and login put it in a cookie. Changes need `token`, too."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The secret that each page holds and sends with every change; pages of other sites do not know it."""
    _wrong: list[tuple[float, str]] = field(default_factory=list)  # time and sender's address of each wrong password

    @property
    def cookie(self) -> str:
        """Name of the cookie with the key; it contains the port, since all ports of a host share their cookies."""
        return f"lns-{self.port}"

    @property
    def address(self) -> str:
        """The URL that the user opens; if the server listens on all addresses, its host is that of `own_number`."""
        host = own_number() if self.host in ("0.0.0.0", "::", "") else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/" + ("" if self.password else f"?key={self.key}")

    def knows_host(self, header: str) -> bool:
        """Return whether a Host header names this server.

        If another site's name is made to resolve to this machine (DNS rebinding), that site's pages send its name. So
        only `LOOPBACK`, IP addresses, ``host`` and this machine's name are accepted; a server that only this machine
        can reach accepts nothing but `LOOPBACK` and ``host``.
        """
        name, _, port = header.rpartition(":")
        if not name or not port.isdecimal() or int(port[:6]) != self.port:
            return False
        if name.lower() in LOOPBACK:
            return True
        try:
            number = ipaddress.ip_address(name.strip("[]"))
            return not is_loopback(self.host) or number == ipaddress.ip_address(self.host)
        except ValueError:
            return not is_loopback(self.host) and name.lower() in (self.host.lower(), socket.gethostname().lower())

    def admits(self, password: str, address: str = "") -> bool:
        """Return whether ``password``, sent from ``address``, is right; False after too many wrong ones in a minute."""
        now = time.monotonic()
        self._wrong = [(at, who) for at, who in self._wrong if now - at < _MINUTE]
        of_address = sum(who == address for _, who in self._wrong)
        if self.password is None or of_address >= MOST_TRIES or len(self._wrong) >= MOST_TRIES_IN_ALL:
            return False
        if is_same(password, self.password):
            return True
        self._wrong.append((now, address))
        return False


class JSONResponse(_JSONResponse):
    """A JSON response in ASCII, since lone surrogates, as in file names not in UTF-8, cannot be encoded in UTF-8."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode()


class Guard:
    """ASGI middleware that checks Host, Origin, key, token and size of each request, and adds `_HEADERS` to answers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"
                MutableHeaders(scope=message).update(_HEADERS | {"cache-control": kept})
            await send(message)

        try:
            refusal = self._refusal(scope)
            shows_pages = "text/html" in Headers(scope=scope).get("accept", "")
            if refusal is not None and refusal.status_code >= 400 and shows_pages:
                said = html.escape(json.loads(bytes(refusal.body))["error"])
                page = f"<!doctype html><html lang=en><meta charset=utf-8><title>lns</title><p>{said}</p></html>"
                refusal = HTMLResponse(page, refusal.status_code)
            await (refusal or self._app)(scope, receive, answer)
        except ClientDisconnect:
            client = scope["client"][0] if scope.get("client") else "somebody"
            log.warning("a request of %s for %s ended before its body was whole", client, printable(scope["path"], 60))

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer that refuses or redirects a request; None if the request may go on."""
        access, headers, path = self._access, Headers(scope=scope), scope["path"]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not access.knows_host(hosts[0]):
            return refuse(421, "this server does not go by that name; open the address that `lns web` printed")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return refuse(405, "expected GET or POST")
        if "origin" in headers and headers["origin"] != f"http://{hosts[0]}":
            return refuse(403, "the request comes from a page of another site")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not link or path.startswith("/api/"):  # a link on another site may open a page, as this changes nothing
                return refuse(403, "the request comes from a page of another site")
        length, most = headers.get("content-length", "0"), MAX_FORM if path.startswith(OPEN_PATHS) else MAX_BODY
        if "transfer-encoding" in headers or not length.isdecimal() or len(length) > 12:
            return refuse(411, "the request does not state the length of its body")
        if int(length) > most:
            return refuse(413, f"the request has {int(length):,} bytes; expected at most {most:,}")
        if path.startswith(OPEN_PATHS):
            return None
        query = parse_qs(asked := scope["query_string"].decode("latin-1"))
        if scope["method"] == "GET" and "key" in query and access.password is None:  # the key moves to a cookie
            if not is_same(query["key"][0], access.key):
                return refuse(403, "the key in the address is not the one of this server; it has a new one each time")
            rest = urlencode({name: values for name, values in query.items() if name != "key"}, doseq=True)
            return with_key(access, RedirectResponse(own_path(f"{path}?{rest}"), 303))
        if not is_same(cookie_parser(headers.get("cookie", "")).get(access.cookie, ""), access.key):
            if access.password is not None and scope["method"] == "GET" and not path.startswith("/api/"):
                return RedirectResponse(f"/login?{urlencode({'next': own_path(f'{path}?{asked}')})}", 303)
            return refuse(403, "the key is missing; open the address that `lns web` printed")
        if scope["method"] == "POST" and not is_same(headers.get(TOKEN_HEADER, ""), access.token):
            return refuse(403, "the token is missing or of an earlier server; load the page again")
        return None


def own_path(text: str) -> str:
    """Return ``text`` if it is a path of this server, with or without a query, and otherwise "/"."""
    return text.removesuffix("?") if _OWN_PATH.fullmatch(text) else "/"


def refuse(status: int, sentence: str) -> Response:
    """Return an answer with an HTTP status and, as JSON, a sentence that says what was wrong."""
    return JSONResponse({"error": sentence}, status)


def with_key(access: Access, response: Response) -> Response:
    """Return ``response`` with the key as a cookie, which scripts cannot read.

    From other sites, browsers send the cookie with links only ("lax"). If it were "strict", they would not send it when
    the printed address is clicked in a terminal that is itself a web page.
    """
    response.set_cookie(access.cookie, access.key, httponly=True, samesite="lax", path="/")
    return response
