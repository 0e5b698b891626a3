"""Hostile requests against a server on a real socket: what they are, and what the server answers."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from lns.web.app import CHANGES, READS
from lns.web.routes.pages import PAGES

MARKUP = "<script>alert(1)</script>"
OUTSIDE = (
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fguard.py", "/static//etc/passwd", "/secret.txt", "/%00",
    "/..%2fsecret.txt", "/static/vendor/../../app.py", "//etc/passwd", "/api/../secret.txt",
)  # fmt: skip
"""Paths that lead to no page."""
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Target:
    """A server: its port, and what a page of it knows."""

    port: int
    key: str
    token: str

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"lns-{self.port}={self.key}"


@dataclass
class Answers:
    """What came back: how often each status (0: the connection was closed), and what should not have."""

    by_status: dict[int, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.by_status.values())


def request(target: Target, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    """The bytes of a request of a page of the server; a header of ``headers`` replaces its own, "" leaves it out."""
    own = {"host": target.host, "cookie": target.cookie, "x-lns-token": target.token, "origin": f"http://{target.host}",
           "content-length": str(len(body))}  # fmt: skip
    lines = [f"{name}: {value}" for name, value in (own | (headers or {})).items() if value != ""]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "connection: close", "", ""]).encode() + body


def exchange(target: Target, content: bytes) -> bytes:
    """Send bytes; all that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", target.port), timeout=_TIMEOUT_S) as connection:
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was closed before all was sent
        parts = []
        try:
            while part := connection.recv(65_536):
                parts.append(part)
        except ConnectionResetError:
            pass
    return b"".join(parts)


def requests(target: Target) -> Iterator[bytes]:
    """More than 300 requests that must all be refused."""
    get, post = "GET", "POST"
    reads = [f"/api/{name}" for name in READS if name not in ("setup", "params", "runs", "opened", "watch/runs")]
    names = ["../secret.txt", "/etc/passwd", "%2e%2e%2fsecret.txt", "a%00b", MARKUP, "x" * 5000, "..%5c..%5cx", "."]
    for path, name in itertools.product(reads, names):
        quoted = name.replace("<", "%3C").replace(">", "%3E")
        yield request(target, get, f"{path}?name={quoted}&id={quoted}")
    for path in OUTSIDE:
        yield request(target, get, path)
    hosts = (
        "evil.example",
        "127.0.0.1",
        f"evil.example:{target.port}",
        "127.0.0.1:1",
        f"{target.host}.evil",
        "x" * 400,
    )
    for path in (f"/{page}" for page in PAGES):
        for host in hosts:
            yield request(target, get, path, headers={"host": host})
        yield request(target, get, path, headers={"cookie": ""})
        yield request(target, get, f"{path}?key=wrong", headers={"cookie": ""})
        yield request(target, get, path, headers={"cookie": f"lns-{target.port}=wrong"})
    for path in (f"/api/{name}" for name in CHANGES):
        for origin in ("http://evil.example", "null", f"https://{target.host}", "http://127.0.0.1:1"):
            yield request(target, post, path, b"{}", {"origin": origin})
        for token in ("wrong", ""):
            yield request(target, post, path, b"{}", {"x-lns-token": token})
        yield request(target, post, path, b"{}", {"sec-fetch-site": "cross-site"})
        for body in (b"", b"{", b"[]", b"null", b'{"a":' * 10_000, b"\xff\xfe", b'{"text": 1}', b'{"kind": "run"}',
                     json.dumps({"kind": MARKUP, "name": MARKUP, "instance": MARKUP}).encode(),
                     json.dumps({"name": "../..", "instance": "../secret.txt", "params": {}}).encode()):  # fmt: skip
            yield request(target, post, path, body)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"):
        yield request(target, method, "/api/runs")
    yield request(target, post, "/api/document", b"x" * 1_000_001)
    yield request(target, post, "/api/document", b"x", {"content-length": "99999999999999999999"})
    yield request(target, post, "/api/document", b"x", {"content-length": "-1"})
    yield request(target, get, "/runs", headers={"x-long": "y" * 20_000})
    yield request(target, get, "/runs", headers={"x-long": "y" * 200_000})
    yield request(target, get, "/runs", headers={"upgrade": "websocket", "host": "evil.example"})
    chunk = b"186a0\r\n" + b"x" * 100_000 + b"\r\n"
    chunked = {"content-length": "", "transfer-encoding": "chunked"}
    yield request(target, post, "/api/document", chunk * 11 + b"0\r\n\r\n", chunked)
    yield b"GET /runs HTTP/1.1\r\nhost: " + target.host.encode() + b"\r\nhost: evil\r\n\r\n"
    yield b"\x16\x03\x01 no http at all\r\n\r\n"
    yield b"GET /runs\r\n\r\n"


def attack(target: Target, secret: str) -> Answers:
    """Send all requests, one after the other; an answer that is no refusal, or shows ``secret`` or markup, is wrong."""
    answers = Answers()
    for content in requests(target):
        answer = exchange(target, content)
        head, _, body = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0
        answers.by_status[status] = answers.by_status.get(status, 0) + 1
        first = content[:120].decode(errors="replace").splitlines()[0]
        markup = b"content-type: text/html" in head.lower() and MARKUP.encode() in body
        if 0 < status < 400 or status >= 500 or secret.encode() in answer or markup:
            answers.wrong.append(f"{first}: {status} {body[:80]!r}")
    return answers


def answer_time(target: Target, streams: int, idle: int, half: int) -> tuple[float, dict[int, int]]:
    """Seconds that a page waits while connections are open: event streams, silent ones, and unfinished requests.

    Also how many of the streams got which status.
    """
    statuses: dict[int, int] = {}
    with ExitStack() as open_connections:
        asked = []
        for number in range(streams + idle + half):
            connection = socket.create_connection(("127.0.0.1", target.port), timeout=_TIMEOUT_S)
            open_connections.enter_context(connection)
            if number < streams:
                connection.sendall(request(target, "GET", "/api/watch/runs"))
                asked.append(connection)
            elif number < streams + half:
                connection.sendall(b"GET /runs HTTP/1.1\r\nhost: ")
        for connection in asked:
            status = int(connection.recv(64).split()[1])
            statuses[status] = statuses.get(status, 0) + 1
        began = time.perf_counter()
        answer = exchange(target, request(target, "GET", "/runs"))
        seconds = time.perf_counter() - began
        if not answer.startswith(b"HTTP/1.1 200"):
            raise AssertionError(f"the page is not answered: {answer[:60]!r}")
    return seconds, statuses
