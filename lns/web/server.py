"""Opens the socket, prints the address and serves until Ctrl-C."""

from __future__ import annotations

import contextlib
import resource
import socket
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import uvicorn

from instances.formats import read
from lns.runs.files import SETTINGS
from lns.web.app import make_app
from lns.web.connections import Connection, Limits
from lns.web.guard import Access
from lns.web.handlers import Server
from lns.web.runs import Runs
from lns.web.wire import document_to_json
from lns_support.errors import InputError

DEFAULT_PORT = 8040
MOST_CONNECTIONS = 4000
"""Open connections, if the system allows twice as many files: some are left for the jobs."""
_NEXT_PORTS = 20
_MOST_FILES = 8192


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
