"""Who may use the page: the key in the address, the token of changes, the password, and the names of this server."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import time
from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_TRIES, MOST_TRIES_IN_ALL = 10, 100
"""Wrong passwords a minute, of an address and in all, after which no password is looked at for the rest of it."""
_MINUTE = 60.0


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class Access:
    """The secrets of one server.

    Attributes
    ----------
    host : str
        Address that the server listens on.
    port : int
        Its port.
    password : str or None
        Asked for in place of the key if the server can be reached from elsewhere.
    key : str
        Who knows it may read; it is part of the printed address and then a cookie.
    token : str
        Part of each page; who changes something sends it along, which a page of another site cannot.
    """

    host: str
    port: int
    password: str | None = None
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self._wrong: list[tuple[float, str]] = []

    @property
    def cookie(self) -> str:
        """Name of the cookie; cookies of all ports of a host are in one place."""
        return f"lns-{self.port}"

    @property
    def address(self) -> str:
        """What the user opens."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + ("" if self.password else f"?key={self.key}")

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        A page of another site whose name was made to lead here (DNS rebinding) sends that name. From elsewhere only
        numbers and the name of this machine are accepted, from this machine the names of `LOOPBACK` and the address
        that the server listens on.
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

    def has_key(self, value: str) -> bool:
        """Whether ``value`` is the key."""
        return hmac.compare_digest(value.encode(), self.key.encode())

    def has_token(self, value: str) -> bool:
        """Whether ``value`` is the token."""
        return hmac.compare_digest(value.encode(), self.token.encode())

    def admits(self, password: str, address: str = "") -> bool:
        """Whether ``password``, sent from ``address``, is the password; False after too many wrong ones in a minute."""
        now = time.monotonic()
        self._wrong = [(at, who) for at, who in self._wrong if now - at < _MINUTE]
        of_address = sum(who == address for _, who in self._wrong)
        if self.password is None or of_address >= MOST_TRIES or len(self._wrong) >= MOST_TRIES_IN_ALL:
            return False
        if hmac.compare_digest(password.encode(), self.password.encode()):
            return True
        self._wrong.append((now, address))
        return False
