"""The connection to a Dask cluster: its address, and whether its workers have the versions of this process."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import json
import logging
import re
import signal
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from lns import params as parameters
from lns.exact.optional_deps import require
from lns.instances.errors import InputError
from lns.instances.text import printable
from lns.params import Params
from lns.version import __version__

if TYPE_CHECKING:
    from distributed import Client

ANSWER_S = 10.0  # for an answer of the scheduler
_LOGGERS = ("distributed", *(f"distributed.{part}" for part in ("client", "nanny", "worker", "core")), "tornado")


@contextlib.contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Client]:
    """A client of the cluster at ``address``, closed on exit.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT`` or ``tls://HOST:PORT`` of a scheduler, or ``local`` for a cluster on this machine.
    workers : int, optional
        Workers of a local cluster; by default one for each core.

    Raises
    ------
    InputError
        The address is none, nobody answers there, or Dask is not installed.
    """
    require("cluster", "--cluster")
    check_address(address)
    from distributed import Client, LocalCluster

    with _quiet(), contextlib.ExitStack() as stack:
        target: Any = address
        if address == "local":
            target = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
            )
        try:
            client = stack.enter_context(Client(target, timeout=ANSWER_S, set_as_default=False))
        except Exception as error:  # of the network, of TLS, or of Dask's own checks
            why = printable(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
            raise InputError(f"no Dask scheduler answers at {address} ({why}); expected one of this version") from None
        if address == "local":
            client.run(_ignore_signals)
        yield client


def check_address(address: str) -> None:
    """Raise InputError if ``address`` cannot be that of a cluster."""
    try:
        parts = urlsplit(address)
        is_scheduler = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and bool(parts.port)
    except ValueError:  # a port that is no number
        is_scheduler = False
    if address != "local" and not (is_scheduler and re.fullmatch(r"(tcp|tls)://[^/\s@]+", address)):
        raise InputError(
            f"no address of a cluster: {printable(address, 100)}; expected tcp://HOST:PORT, tls://HOST:PORT or local"
        )


def _ignore_signals() -> None:
    """In the main thread of a local worker: Ctrl-C in the terminal ends the search in order, not its workers."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the log of Dask, which tells in many lines what `lns` says in one."""
    levels = {logger: logger.level for logger in map(logging.getLogger, _LOGGERS)}
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def is_client(executor: object) -> bool:
    """Whether ``executor`` is a client of Dask."""
    return any(
        kind.__module__.startswith("distributed.") and kind.__name__ == "Client" for kind in type(executor).__mro__
    )


# -- versions --------------------------------------------------------------------------------------------------------


def parameter_digest() -> str:
    """Digest of the names and defaults of all parameters: equal in processes that search alike."""
    return hashlib.sha256(json.dumps(parameters.to_dict(Params()), sort_keys=True).encode()).hexdigest()[:12]


def _described() -> dict[str, str]:
    """Versions of packages, and the digest of the parameters; "" for what is not there. Sent as its code."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"lns": "", "parameters": ""}
    try:
        from lns.cluster_client import parameter_digest
        from lns.version import __version__

        found = {"lns": __version__, "parameters": parameter_digest()}
    except ImportError:
        pass
    for name in ("numba", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def differences(client: Client, addresses: list[str]) -> dict[str, str]:
    """A sentence on each worker that differs from this process in a version or in the parameters."""
    sent: Any = types.FunctionType(_described.__code__, {"__builtins__": builtins}, _described.__name__)
    sent.__module__ = "__main__"  # pickled as its code, for workers without this package
    versions: Any = client.get_versions()
    pythons = {at: str(versions["workers"].get(at, {}).get("packages", {}).get("python")) for at in addresses}
    own = {"python": str(versions["client"]["packages"]["python"]), **_described()}
    alike = [address for address in addresses if pythons[address] == own["python"]]  # others could not read the code
    described = cast(dict[str, Any], client.run(sent, workers=alike, on_error="ignore")) if alike else {}
    problems = {}
    for address in addresses:
        theirs = {"python": pythons[address], **described.get(address, {})}
        other = [name for name, version in theirs.items() if name != "parameters" and version != own[name]]
        if other:
            found = ", ".join(
                printable(f"{name} {theirs[name]}" if theirs[name] else f"no {name}", 60) for name in other
            )
            expected = ", ".join(f"{name} {own[name]}" for name in other)
            problems[address] = f"worker {address} has {printable(found, 200)}; expected {expected}, as here"
        elif theirs.get("parameters", own["parameters"]) != own["parameters"]:
            problems[address] = f"worker {address} has other parameters; expected the lns {__version__} that runs here"
    return problems
