"""Opens the socket, prints the address and serves until Ctrl-C; a slow client keeps no other one out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from lns.instances.errors import InputError
from lns.instances.formats import read
from lns.runs.files import SETTINGS
from lns.web.app import make_app
from lns.web.guard import Access
from lns.web.handlers import Server
from lns.web.runs import Runs
from lns.web.wire import document_to_json

DEFAULT_PORT = 8040
MOST_CONNECTIONS = 4000
"""Open connections, if the system allows twice as many files: some are left for the jobs."""
_NEXT_PORTS = 20
_MOST_FILES = 8192
WAIT_S = 20.0
"""Seconds that the server waits for a whole request, for the rest of a body, or for a client that does not read."""
MOST_BODIES, MOST_BODIES_OF_ADDRESS = 100, 20
"""Requests of which a part of the body is missing: each may hold as much memory as a body may have."""
_LAST_WORDS_S = 1.0


def prepare(what: str | None, access: Access) -> Server:
    """What is served: a run directory, a directory with runs, or a board or puzzle (file, URL, shipped name).

    Without ``what`` it is the working directory. Raises InputError if it is none of these.
    """
    if what is None or (Path(what).is_dir() and not (Path(what) / SETTINGS).is_file()):
        return Server(access, Runs(Path(what or ".")))
    if Path(what).is_dir():
        path = Path(what).resolve()
        return Server(access, Runs(path.parent), start="/runs?" + urlencode({"name": path.name}, errors="replace"))
    document = read(what)
    if document.puzzle is None:
        raise InputError("; ".join([*document.notes, "this board does not say which puzzle it is of"]), what)
    return Server(access, Runs(Path()), opened=document_to_json(document), start="/board?opened=1")


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on a port, 0 for any that is free; None tries `DEFAULT_PORT` and some after it.

    Raises InputError if the port is in use, or there is no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _NEXT_PORTS) if port is None else [port]
    for number in ports:
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, number))
        except OSError as error:
            opened.close()
            problem = error.strerror or str(error)
            continue
        opened.listen(2048)
        return opened
    asked = f"port {port}" if port is not None else f"ports {ports[0]} to {ports[-1]}"
    raise InputError(f"{asked} of {host} cannot be used ({problem}); expected another --port, or 0 for any free one")


def serve(server: Server, opened: socket.socket, *, browse: bool, announce: Callable[[str], None]) -> None:
    """Serve on a socket until SIGINT or SIGTERM; then end all jobs in order.

    ``announce`` gets the address once the server answers; ``browse`` opens it in the user's browser.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _MOST_FILES:  # a file for each open connection
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(_MOST_FILES, hard), hard))
    files = min(_MOST_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    limits = Limits(min(MOST_CONNECTIONS, files // 2))
    config = uvicorn.Config(
        make_app(server), log_level="error", access_log=False, server_header=False, ws="none", lifespan="off",
        timeout_keep_alive=20, timeout_graceful_shutdown=3, h11_max_incomplete_event_size=32_768,
        http=cast(Any, partial(Connection, limits)), backlog=files // 4,
        proxy_headers=False,  # a client may not choose the address that it is counted under
    )  # fmt: skip
    _Uvicorn(config, server, browse, announce).run(sockets=[opened])


# -- connections -------------------------------------------------------------------------------------------------------


class Waiting:
    """Connections whose clients the server waits for, so many in all and by address.

    One too many ends the one that has waited longest, of the address that has most of them.
    """

    def __init__(self, most: int, most_of_address: int) -> None:
        self._most, self._most_of_address = most, most_of_address
        self._by_address: dict[str, dict[Connection, None]] = {}
        self._count = 0

    def add(self, connection: Connection) -> None:
        """Add a connection, and end another if these are too many."""
        own = self._by_address.setdefault(connection.address, {})
        own[connection] = None
        self._count += 1
        if len(own) <= self._most_of_address:
            if self._count <= self._most:
                return
            own = max(self._by_address.values(), key=len)
        next(iter(own)).end("too many requests are unfinished; this one made room for others")

    def remove(self, connection: Connection) -> None:
        """Take a connection out."""
        own = self._by_address[connection.address]
        del own[connection]
        self._count -= 1
        if not own:
            del self._by_address[connection.address]


class Limits:
    """What the connections of a server share. One beyond the ``most`` in all is closed at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.bodies = Waiting(min(MOST_BODIES, most // 4), MOST_BODIES_OF_ADDRESS)
        self.others = Waiting(most // 2, most // 4)


class Connection(H11Protocol):
    """A connection that is ended if its client takes too long, or to make room for others."""

    def __init__(self, limits: Limits, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._limits = limits
        self._waiting: Waiting | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if len(self.connections) > self._limits.most:
            transport.abort()
        else:
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # what is wrong comes after an answer
            self.transport.close()
        if self.cycle is not None:  # there is no other answer
            self._disconnect()

    def end(self, why: str) -> None:
        """Close the connection; a client in the middle of a body is told why."""
        self._wait(None)
        if self._is_in_body and not (self.cycle.response_started or self.transport.is_closing()):
            words = json.dumps({"error": why}).encode()
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nconnection: close\r\n"
                b"content-length: %d\r\n\r\n%s" % (len(words), words)
            )
            self._disconnect()
            self.loop.call_later(_LAST_WORDS_S, self.transport.abort)
            self.transport.close()
        else:
            self.transport.abort()

    def _disconnect(self) -> None:
        """Tell the application that its client is gone."""
        self.cycle.disconnected = True
        self.cycle.message_event.set()

    @property
    def _is_in_body(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    def _look(self) -> None:
        """Note whether the server waits for the client: always, except while it answers a whole request."""
        answers = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        if self.transport.is_closing() and self._waiting is not None:
            return  # until it is closed, however slowly the client reads
        if self._is_in_body:
            self._wait(self._limits.bodies)
        else:
            self._wait(None if answers and self.conn.their_state is not h11.IDLE else self._limits.others)

    def _wait(self, waiting: Waiting | None) -> None:
        """Wait among the connections ``waiting`` from now on, unless it does so already; None: for nothing."""
        if waiting is self._waiting:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting is not None:
            self._waiting.remove(self)
        self._waiting = waiting
        if waiting is not None:
            self._timer = self.loop.call_later(WAIT_S, self.end, f"the request was not whole after {WAIT_S:g} s")
            waiting.add(self)


class _Uvicorn(uvicorn.Server):
    """Uvicorn that announces its address and ends the jobs before it ends."""

    def __init__(self, config: uvicorn.Config, server: Server, browse: bool, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._served, self._browse, self._announce = server, browse, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            address = self._served.access.address
            self._announce(address)
            if self._browse:
                webbrowser.open(address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.closing.set()
        await self._served.jobs.close()
        await super().shutdown(sockets)
