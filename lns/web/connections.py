"""Connections of `lns web`: a client that sends or reads slowly keeps no other one out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

WAIT_S = 20.0
"""Seconds that the server waits for a whole request, for the rest of a body, or for a client that does not read."""
MOST_BODIES, MOST_BODIES_OF_ADDRESS = 100, 20
"""Requests of which a part of the body is missing: each may hold as much memory as a body may have."""
_LAST_WORDS_S = 1.0


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
