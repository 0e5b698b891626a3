"""A server in a process of its own, attacked over real sockets: it refuses, writes nothing and lives."""

import contextlib
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.instances.hostile_files import TEXTS
from tests.web.browsing import Site, served
from tests.web.hostile import (
    NO_JOBS,
    Target,
    answer_time,
    attack,
    attack_at_random,
    exchange,
    open_sockets,
    request,
    slow_client,
    slow_starts,
    status_of,
)

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


def test_hostile_requests_are_refused_and_nothing_is_written(site: Site, target: Target) -> None:
    (site.root / "secret.txt").write_text(SECRET)
    answers = attack(target, SECRET)
    assert not answers.wrong, answers.wrong
    assert sum(answers.by_status.values()) >= 180 > answers.by_status[0] * 10, answers.by_status
    assert [path.name for path in site.root.iterdir()] == ["secret.txt"]
    assert (site.root / "secret.txt").read_text() == SECRET
    assert exchange(target, request(target, "GET", "/api/setup"), whole=True).startswith(b"HTTP/1.1 200")


def test_a_thousand_open_connections_do_not_stop_the_server(target: Target) -> None:
    seconds, statuses = answer_time(target, streams=120, idle=440, half=440)
    assert seconds < 10
    assert statuses == {200: 100, 503: 20}
    again, _ = answer_time(target, streams=1, idle=0, half=0)
    assert again < 10, "and those that were closed are forgotten"


def test_silent_connections_and_those_beyond_the_limit_are_closed(tmp_path: Path) -> None:
    with served(tmp_path, changed="server.WAIT_S, server.MOST_CONNECTIONS = 1.0, 20") as site, ExitStack() as stack:
        port = urlsplit(site.address).port
        some = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(25)]
        for connection in some:
            assert connection.recv(1) == b"", "closed by the server, without a word"


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


@pytest.mark.parametrize("number", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_half_logins_keep_no_other_out(number: int, tmp_path: Path) -> None:
    """They are ended for others, the oldest first, whatever their number."""
    said = tmp_path / "said.txt"
    with locked(tmp_path, "server.WAIT_S, server.MOST_CONNECTIONS = 600.0, 400", said) as (target, _):
        start = slow_starts(target)["half of a login"].replace(b"host:", b"x-forwarded-for: 10.0.0.9\r\nhost:", 1)
        with ExitStack() as stack:
            for at in range(number):
                stack.enter_context(slow_client(target, start))
                if at % 15 == 14:  # so many that it has not yet read are too few to be ended
                    assert others_answered(target) < 20
            expected, end = number - 200, time.monotonic() + 10.0  # the last ones are ended meanwhile
            while said.read_text().count(DROPPED) < expected and time.monotonic() < end:
                time.sleep(0.1)
            assert 0 <= said.read_text().count(DROPPED) - expected <= 3, (
                "the last pages and uploads were waited for too"
            )
    assert f"a request of 127.0.0.1 for /login {DROPPED}" in said.read_text(), "a client cannot choose its address"
    assert "Traceback" not in said.read_text()


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
