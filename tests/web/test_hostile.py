"""A server in a process of its own, attacked over real sockets: it refuses, writes nothing and lives."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.web.browsing import ROOT, Site
from tests.web.hostile import Target, answer_time, attack, exchange, request

SECRET = "these words are in no answer"


@pytest.fixture(scope="module")
def target(site: Site) -> Target:
    address = urlsplit(site.address)
    assert address.port is not None
    unknown = Target(address.port, parse_qs(address.query)["key"][0], "")
    page = exchange(unknown, request(unknown, "GET", "/runs")).decode()
    token = re.search(r'name="token" content="([^"]+)"', page)
    assert token is not None
    return Target(unknown.port, unknown.key, token[1])


def test_three_hundred_requests_are_refused_and_nothing_is_written(site: Site, target: Target) -> None:
    (site.root / "secret.txt").write_text(SECRET)
    answers = attack(target, SECRET)
    assert not answers.wrong, answers.wrong
    assert answers.total >= 300
    assert [path.name for path in site.root.iterdir()] == ["secret.txt"]
    assert (site.root / "secret.txt").read_text() == SECRET
    assert exchange(target, request(target, "GET", "/api/setup")).startswith(b"HTTP/1.1 200")


def test_a_thousand_open_connections_do_not_stop_the_server(target: Target) -> None:
    seconds, statuses = answer_time(target, streams=120, idle=440, half=440)
    assert seconds < 10
    assert statuses == {200: 100, 503: 20}
    again, _ = answer_time(target, streams=1, idle=0, half=0)
    assert again < 10, "and those that were closed are forgotten"


LIMITED = """
import sys
from lns.cli.main import main
from lns.web import server
server.SILENT_S, server.MOST_CONNECTIONS = 1.0, 20
sys.exit(main(["web", "--port", "0"]))
"""
"""`lns web` with limits that a test can wait for."""


def test_silent_connections_and_those_beyond_the_limit_are_closed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITED],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    try:
        port = urlsplit(process.stdout.readline().split()[-1]).port
        with ExitStack() as stack:
            some = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(25)]
            for connection in some:
                assert connection.recv(1) == b"", "closed by the server, without a word"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        process.stdout.close()
