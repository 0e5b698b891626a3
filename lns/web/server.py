"""The web server: it opens the socket, announces its address and serves until Ctrl-C; slow clients block no others."""

from __future__ import annotations

import asyncio
import contextlib
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
from lns.web.app import Server, make_app
from lns.web.guard import Access
from lns.web.runs import Runs
from lns.web.wire import document_to_json

DEFAULT_PORT = 8040
MOST_CONNECTIONS = 4000
"""Most open connections; fewer if the process may not open twice as many files, since jobs need files, too."""
_NEXT_PORTS = 20
_MOST_FILES = 8192
WAIT_S = 20.0
"""Most seconds that the server waits for a request, for the rest of its body, or for a client to read the answer."""


def prepare(what: str | None, access: Access) -> Server:
    """Make the server for a run directory, a directory with runs, or a board or puzzle (file, URL, shipped name).

    ``what`` names one of these; None is the working directory. Raises InputError if ``what`` names none of these.
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
    """Return a socket that listens on ``port``; 0 takes any free port, None tries `DEFAULT_PORT` and the ports above.

    Raises InputError if no such port can be used, or if ``host`` is no address of this machine.
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
    """Serve on a socket until SIGINT or SIGTERM; then ask all jobs to end, and wait for them.

    ``announce`` is called with the address once the server answers; with ``browse`` the user's browser opens it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _MOST_FILES:  # each open connection counts as an open file
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(_MOST_FILES, hard), hard))
    files = min(_MOST_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    most = min(MOST_CONNECTIONS, files // 2)
    config = uvicorn.Config(
        make_app(server), log_level="error", access_log=False, server_header=False, ws="none", lifespan="off",
        timeout_keep_alive=20, timeout_graceful_shutdown=3, h11_max_incomplete_event_size=32_768,
        http=cast(Any, partial(Connection, most, {})), backlog=files // 4,
        proxy_headers=False,  # otherwise clients could forge the address by which wrong passwords are counted
    )  # fmt: skip
    _Uvicorn(config, server, browse, announce).run(sockets=[opened])


class Connection(H11Protocol):
    """An HTTP connection that is ended if its client takes too long, or to make room for other connections.

    If ``most`` connections are open, a new one is closed at once. ``waiting`` holds all connections that wait for their
    clients, at most ``most // 2``; if there are more, the connection that has waited longest is ended.
    """

    def __init__(self, most: int, waiting: dict[Connection, None], **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._most, self._waiting = most, waiting
        self._state: object = None  # state of the client for which the server waits; None: no wait
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most:
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
        else:  # too late, as an answer has begun already
            self.transport.close()
        if self.cycle is not None:  # stop the application from waiting for the rest of the request
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _look(self) -> None:
        """Start the wait for the client, or end it while a whole request is being answered and the client reads."""
        state = self.conn.their_state
        answers = self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused
        self._wait(None if answers and state not in (h11.IDLE, h11.SEND_BODY) else state)

    def _wait(self, state: object) -> None:
        """Start the time limit of the wait in a ``state`` of the client, unless it runs already; None ends the wait."""
        if state is self._state:
            return
        self._state = state
        self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        if state is not None:
            self._timer = self.loop.call_later(WAIT_S, self._end)
            self._waiting[self] = None
            if len(self._waiting) > self._most // 2:
                next(iter(self._waiting))._end()

    def _end(self) -> None:
        self._wait(None)
        self.transport.abort()


class _Uvicorn(uvicorn.Server):
    """A server of uvicorn that announces its address, and ends all jobs before it ends."""

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
