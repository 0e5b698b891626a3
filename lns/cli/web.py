"""`lns web`: runs, boards, games and polyominoes in the browser."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from lns.exact.optional_deps import require
from lns.instances.errors import InputError
from lns.terminal.options import argument, command, flag, value, whole_number
from lns.terminal.output import DONE, print_error, print_text

PASSWORD_VARIABLE = "LNS_WEB_PASSWORD"
_LEAST_PASSWORD = 8


@command(
    argument("what", "RUN_DIR|BOARD|INSTANCE", "what to show first: a run directory, a directory with runs, or a board "
             "or puzzle (default: the runs below the working directory)", nargs="?"),
    value("--port", "N", whole_number, "port (default 8040, or the next free one)"),
    flag("--open", "open the page in the browser"),
    value("--host", "ADDRESS", None, "listen on this address instead of 127.0.0.1; asks for a password, as others can "
          "then reach the page", default="127.0.0.1"),
    epilog="Prints the address and serves until Ctrl-C, which ends all jobs in order; runs are saved and can be "
    f"resumed. Needs the extra 'web'. With --host the password is asked for, or taken from {PASSWORD_VARIABLE}.",
)  # fmt: skip
def web(args: argparse.Namespace) -> int:
    require("web", "lns web")
    from lns.web.guard import Access, is_loopback
    from lns.web.server import listen, prepare, serve

    if args.port is not None and args.port > 65535:
        raise InputError(f"--port {args.port} is no port; expected 0 to 65535")
    password = None if is_loopback(args.host) else _password(args.host)
    opened = listen(args.host, args.port)
    with opened:
        access = Access(args.host, opened.getsockname()[1], password)
        server = prepare(args.what, access)
        with contextlib.suppress(KeyboardInterrupt):
            serve(server, opened, browse=args.open, announce=_announce)
    return DONE


def _announce(address: str) -> None:
    print_text(f"lns web: {address}", flush=True)
    print_error("Ctrl-C ends it")


def _password(host: str) -> str:
    """The password for a server that others can reach, after a word on what that means."""
    import getpass

    print_error(
        f"lns: on {host} everybody who can reach this machine can open the page. With the password they can read the "
        "runs below this directory and start searches on this machine. The connection is not encrypted: whoever "
        "listens on the way learns the password. `ssh -L 8040:127.0.0.1:8040 MACHINE` is safer and needs no --host."
    )
    given = os.environ.get(PASSWORD_VARIABLE)
    if given is None:
        if not sys.stdin.isatty():
            raise InputError(f"--host {host} needs a password; expected it in {PASSWORD_VARIABLE}, or a terminal")
        given = getpass.getpass("password for the page: ")
    if len(given) < _LEAST_PASSWORD:
        raise InputError(f"the password has {len(given)} characters; expected {_LEAST_PASSWORD} or more")
    return given
