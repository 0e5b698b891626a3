"""A server in a process of its own, attacked over real sockets: it refuses, writes nothing and lives."""

import contextlib
import copy
import json
import random
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import lns
from lns.exact.polyominoes.grid import NO_WEIGHT
from lns.web.app import PAGES, READS
from lns.web.tasks import PAGE_TASKS
from tests.instances.hostile_files import TEXTS
from tests.web.browsing import Site, served
from tests.web.page import fields

MARKUP = "<script>alert(1)</script>"
OUTSIDE = (
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fguard.py", "/static//etc/passwd", "/secret.txt", "/%00",
    "/..%2fsecret.txt", "/static/vendor/../../app.py", "//etc/passwd", "/api/../secret.txt",
)  # fmt: skip
"""Paths that lead to no page."""
RAW = (
    b"\x16\x03\x01 no http at all\r\n\r\n",
    b"GET /runs\r\n\r\n",
    b"GET /runs HTTP/1.1\r\nhost: evil\r\nhost: x\r\n\r\n",
)
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

    secret: str  # which no answer may show, as no page may show markup of a request
    by_status: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, content: bytes, answer: bytes) -> None:
        """Judge the answer to a request: it must not be a fault, nor show what no page may."""
        status = status_of(answer)
        self.by_status[status] += 1
        markup = b"content-type: text/html" in answer.lower() and MARKUP.encode() in answer
        if status >= 500 or self.secret.encode() in answer or markup:
            self.wrong.append(f"{content[:3000]!r}: {answer[:300]!r}")


def request(target: Target, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    """The bytes of a request of a page of the server; a header of ``headers`` replaces its own, "" leaves it out."""
    own = {"host": target.host, "cookie": target.cookie, "x-lns-token": target.token, "origin": f"http://{target.host}",
           "content-length": str(len(body))}  # fmt: skip
    lines = [f"{name}: {value}" for name, value in (own | (headers or {})).items() if value != ""]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "connection: close", "", ""]).encode() + body


def connect(target: Target) -> socket.socket:
    return socket.create_connection(("127.0.0.1", target.port), timeout=_TIMEOUT_S)


def exchange(target: Target, content: bytes, *, whole: bool = False) -> bytes:
    """Send bytes, after which nothing comes if they are not ``whole``; all that comes back until the server closes."""
    parts = []
    with connect(target) as connection:
        with suppress(OSError):  # it was closed before all was sent
            connection.sendall(content)
            if not whole:
                connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                parts.append(part)
    return b"".join(parts)


def status_of(answer: bytes) -> int:
    """The status of an answer, 0 if there is none."""
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0


# -- at random ---------------------------------------------------------------------------------------------------------

ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 1.5, 1e308, float("nan"), float("inf"), 10**30, 2**63, "", "x", "\ud800", "\0", "²", "٣",
    "../secret.txt", MARKUP, "x" * 3000, [], [[]], [None], {}, {"width": 2}, {"": ""}, "like-e2-5x5", "best", "json",
)  # fmt: skip
ODD_BYTES = (
    b"\r\n", b"\n", b"\0", b"\xb2", b"\xff\xfe", b"\xed\xa0\x80", b"%", b"%00", b"%ff", b"&a=b" * 200, b":", b"9" * 30,
    b"-1", b"x" * 9000, b"\x80", b"{" * 2000, b"\t", b" HTTP/1.1", b"transfer-encoding: chunked\r\n",
)  # fmt: skip
ODD_LETTERS = ("²", "٣", "\ud800", "\0", "é", "9", "-", "\n", " ", ",", "{", "[", "\u202e", "99999999", "_")
NO_JOBS = """
from lns.web.jobs import Jobs
from lns.instances.errors import InputError
async def start(*_, **__):
    raise InputError("no job is started here")
Jobs.start = start
"""
"""What a server runs first so that requests which happen to be right start nothing."""


def right_requests(rng: random.Random) -> dict[str, dict[str, Any]]:
    """Requests that the server would grant, by address; those for jobs too."""
    both = copy.deepcopy(rng.choice(_games()))
    name, job = rng.choice(list(TEXTS)), rng.choice(list(PAGE_TASKS))
    of_job = {
        "target": None, "cells": [0, 1], "height": 2, "width": 2, "nodes": 5, "solver": "colorpairs", "most": 9,
        "page": False, "text": "aab\nabb\n", "weight": NO_WEIGHT, "placed": 3, "seed": 3, "time": 1,
    }  # fmt: skip
    cut = dict.fromkeys(("smallest", "largest", "longest", "thinnest"))
    return {
        "document": {"text": TEXTS[name], "known": rng.choice(("", "yes")), "format": rng.choice(("", name)), **both},
        "render": {**both, "format": rng.choice(("svg", "url", *TEXTS))},
        "check": both,
        "game": {"shape": rng.choice(("square", "triangle")), "width": 3, "height": 3, "side": 3, "colours": 4},
        "polyomino/read": {"text": "aab\nabb\n"},
        "polyomino/cut": {"width": 4, "height": 4, "seed": 1, "pieces": 3, "distinct": False, **cut},
        "job": {"kind": job, **both, **of_job},
        "job/stop": {"id": "x"},
        "run/start": {"instance": rng.choice(("like-e2-5x5", "x")), "params": {"search": {}}, "time": 1,
                      "workers": 1, "seed": 1, "engine": "lns", "target": None},
        "run/resume": {"name": "x", "time": 1, "workers": 1},
        "run/stop": {"name": "x"},
        "run/estimate": {"name": "x", "time": 3},
    }  # fmt: skip


@cache
def _games() -> list[dict[str, Any]]:
    """Puzzles of several kinds and their boards, as a page sends them."""
    made = [lns.generate(kind, width=3, seed=2) for kind in ("like-e2", "tetravex", "unframed")]
    return [fields(puzzle, board) for puzzle, board in (*made, lns.generate("triangle", side=3, seed=2))]


def damage(rng: random.Random, values: dict[str, Any]) -> None:
    """Make one value of a request, or of an object or list in it, odd or absent."""
    place: Any = values
    while place:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        found = place[key]
        if isinstance(found, dict | list) and rng.random() < 0.6:
            place = found
            continue
        match found:
            case str() if found and rng.random() < 0.6:
                at = rng.randrange(len(found))
                place[key] = found[:at] + rng.choice(ODD_LETTERS) + found[at + rng.randrange(2) :]
            case int() if rng.random() < 0.6:
                place[key] = found + rng.choice((-1, 1, -10, 10, 1000, 10**9, 2**40, 0.5))
            case _ if rng.random() < 0.2:
                del place[key]
            case _:
                place[key] = rng.choice(ODD_VALUES)
        return


def odd_request(target: Target, rng: random.Random) -> bytes:
    """A request of a page, its values, its bytes, or neither, changed at random; or one of no page."""
    if rng.random() < 0.02:
        return rng.choice(RAW)
    method = rng.choice((*["GET"] * 4, *["POST"] * 14, "HEAD", "PUT", "get", "BREW", ""))
    if method == "GET":
        path = rng.choice([*(f"/{page}" for page in PAGES), *(f"/api/{name}" for name in READS), "/login", *OUTSIDE])
        names = rng.choices(("name", "id", "first", "count", "key"), k=rng.randrange(3))
        query = "&".join(
            f"{name}={rng.choice(('1', '-1', '%b2', '%ED%A0%80', '%00', '%', MARKUP, '..%2fsecret.txt'))}"
            for name in names
        )
        content = request(target, method, f"{path}?{query}")
    else:
        path, values = rng.choice(list(right_requests(rng).items()))
        for _ in range(rng.choice((1, 1, 2))):
            damage(rng, values)
        coding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-32"))
        content = request(target, method, f"/api/{path}", json.dumps(values).encode(coding))
    changed = bytearray(content)
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        at = rng.randrange(len(changed))
        changed[at : at + rng.choice((0, 0, 1, 5))] = rng.choice(ODD_BYTES)
    return bytes(changed)


def drop(target: Target, content: bytes, rng: random.Random) -> None:
    """Send a part of a request and leave, in order or by a reset."""
    with connect(target) as connection:
        if rng.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):
            connection.sendall(content[: rng.randrange(len(content))])


def attack_at_random(target: Target, count: int, seed: str, secret: str) -> Answers:
    """Send odd requests, a fifth of them dropped before their end; every hundredth time a page must be answered."""
    rng, answers = random.Random(seed), Answers(secret)
    for number in range(count):
        content = odd_request(target, rng)
        if number % 5 == 0:
            drop(target, content, rng)
            continue
        answers.add(content, exchange(target, content))
        if number % 100 == 0 and (said := status_of(exchange(target, request(target, "GET", "/runs")))) != 200:
            answers.wrong.append(f"a page is answered by {said}")
    return answers


# -- slowly ------------------------------------------------------------------------------------------------------------


def slow_starts(target: Target) -> dict[str, bytes]:
    """By kind of slow client what it sends before it sends, and reads, nothing more."""
    begun = b"x" * 1000
    whole = request(target, "GET", "/static/common.js").replace(b"connection: close\r\n", b"")
    known_to_nobody = {"cookie": "", "x-lns-token": "", "content-length": "9000", "x-forwarded-for": "10.0.0.9"}
    return {
        "silent": b"",
        "half of a header": b"GET /runs HTTP/1.1\r\nhost: ",
        "half of a login": request(target, "POST", "/login", begun, known_to_nobody),
        "half of an upload": request(target, "POST", "/api/document", begun, {"content-length": "900000"}),
        "half of what is refused": request(target, "POST", "/api/document", begun, known_to_nobody),
        "half of a chunk": request(
            target, "POST", "/login", b"ff\r\nx", {"transfer-encoding": "chunked", "content-length": ""}
        ),
        "half of a second request": whole + b"GET /runs HTTP/1.1\r\n",
        "reads nothing": whole.replace(b"common.js", b"vendor/uplot.js") * 40,
    }


def slow_client(target: Target, start: bytes) -> socket.socket:
    """A connection that has sent a part, or that does not read."""
    connection = connect(target)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    with suppress(OSError):  # the server reads no more, or has closed it
        connection.send(start)
    return connection


def open_sockets(pid: int) -> int:
    """Sockets of a process."""
    found = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found += str(file.readlink()).startswith("socket:")
    return found


def answer_time(target: Target, streams: int, idle: int, half: int) -> float:
    """Seconds that a page waits while connections are open: event streams, silent ones, and unfinished requests."""
    sent = [request(target, "GET", "/api/watch/runs")] * streams + [b"GET /runs HTTP/1.1\r\nhost: "] * half
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(target)) for _ in range(streams + half + idle)]
        for connection, content in zip(connections, sent, strict=False):
            connection.sendall(content)
        assert all(status_of(connection.recv(64)) == 200 for connection in connections[:streams])
        began = time.perf_counter()
        answer = exchange(target, request(target, "GET", "/runs"))
        seconds = time.perf_counter() - began
        assert status_of(answer) == 200, answer[:60]
    return seconds


# -- tests ------------------------------------------------------------------------------------------------------------


SECRET = "these words are in no answer"


@pytest.fixture(scope="module")
def target(site: Site) -> Target:
    return known(site)


def known(site: Site) -> Target:
    """A server, with what its page knows."""
    address = urlsplit(site.address)
    assert address.port is not None
    return with_token(Target(address.port, parse_qs(address.query)["key"][0], ""))


def with_token(target: Target) -> Target:
    page = exchange(target, request(target, "GET", "/runs")).decode()
    token = re.search(r'name="token" content="([^"]+)"', page)
    assert token is not None, page
    return replace(target, token=token[1])


def test_a_thousand_open_connections_do_not_stop_the_server(target: Target) -> None:
    assert answer_time(target, streams=120, idle=440, half=440) < 10
    assert answer_time(target, streams=1, idle=0, half=0) < 10, "and those that were closed are forgotten"


def test_silent_connections_and_those_beyond_the_limit_are_closed(tmp_path: Path) -> None:
    with served(tmp_path, changed="server.WAIT_S, server.MOST_CONNECTIONS = 600.0, 20") as site, ExitStack() as stack:
        port = urlsplit(site.address).port
        some = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(25)]
        end = time.monotonic() + 10.0
        while sum(map(is_closed, some)) < 15:
            assert time.monotonic() < end, "half of the limit may wait"
            time.sleep(0.1)
        assert known(site).token, "a page is answered"


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection, without a word."""
    connection.setblocking(False)
    with suppress(BlockingIOError):
        return connection.recv(1) == b""
    return False


@pytest.mark.parametrize("number", [800, pytest.param(10_000, marks=pytest.mark.slow)])
def test_odd_and_dropped_requests_give_no_traceback(number: int, tmp_path: Path) -> None:
    root, said = tmp_path / "root", tmp_path / "said.txt"
    root.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    with served(root, said=said, changed=NO_JOBS) as site:
        answers = attack_at_random(known(site), number, "odd", SECRET)
        time.sleep(0.5)  # the last that was dropped
    assert not answers.wrong, answers.wrong
    assert len(answers.by_status) > 6, answers.by_status
    lines = said.read_text().splitlines()
    assert any(DROPPED in line for line in lines)
    assert [line for line in lines if DROPPED not in line] == ["Ctrl-C ends it"]
    assert not list(root.iterdir())


@pytest.mark.parametrize("number", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_slow_clients_are_closed_and_keep_no_other_out(number: int, tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    with locked(tmp_path, "server.WAIT_S = 3.0", said) as (target, pid), ExitStack() as stack:
        before, starts = open_sockets(pid), slow_starts(target)
        for _ in range(number):
            for start in starts.values():
                stack.enter_context(slow_client(target, start))
        assert others_answered(target) < 10
        deadline = time.monotonic() + 30
        while open_sockets(pid) > before:
            assert time.monotonic() < deadline, f"{open_sockets(pid) - before} are still open"
            time.sleep(0.1)
        assert others_answered(target) < 10
    lines = said.read_text().splitlines()
    assert sum(DROPPED in line for line in lines) == 2 * number, "a login and an upload"
    assert any(f"a request of 127.0.0.1 for /login {DROPPED}" in line for line in lines), "no address of its choice"


PASSWORD = "long enough"
DROPPED = "ended before its body was whole"


@contextlib.contextmanager
def locked(root: Path, changed: str, said: Path) -> Iterator[tuple[Target, int]]:
    """A server with a password, which listens on 127.0.0.1 only: by this name of it, it does not know that."""
    with served(root, "--host", "127.1", changed=changed or "pass", password=PASSWORD, said=said) as site:
        port = urlsplit(site.address).port
        assert port is not None
        answer = exchange(unknown := Target(port, "", ""), logs_in(unknown)).decode()
        found = re.search(rf"set-cookie: lns-{port}=([^;]+);", answer)
        assert found is not None, answer
        yield with_token(Target(port, found[1], "")), site.pid


def logs_in(target: Target) -> bytes:
    return request(target, "POST", "/login", f"password={PASSWORD.replace(' ', '+')}".encode(), {"cookie": ""})


def others_answered(target: Target) -> float:
    """Seconds until a page, a login and an upload are answered, the slowest of them."""
    upload = json.dumps({"text": TEXTS["json"]}).encode()
    seconds = []
    for content, status in (
        (request(target, "GET", "/runs"), 200),
        (logs_in(target), 303),
        (request(target, "POST", "/api/document", upload), 200),
    ):
        began = time.perf_counter()
        answer = exchange(target, content, whole=True)
        assert status_of(answer) == status, answer
        seconds.append(time.perf_counter() - began)
    return max(seconds)
