"""Exit statuses, and functions that print answers on stdout and messages on stderr."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lns.instances.text import escape_controls, printable

if TYPE_CHECKING:
    from lns.exact.outcome import SolveStatus
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle

DONE, ANSWER_IS_NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130  # exit statuses; 130 is 128 + SIGINT (Ctrl-C)
FAULT = 70  # exit status of an error in the program itself (EX_SOFTWARE in sysexits.h)
OUTPUT_CLOSED = 141  # exit status 128 + SIGPIPE if stdout was closed before the whole answer was written
NO_URL = "- (a viewer URL has no letter for some of the colours)"


def print_text(*values: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print text that may hold untrusted names and paths: control characters are escaped, line ends stay."""
    print(*(escape_controls(str(value)) for value in values), sep=sep, end=end, flush=flush)


def print_wrapped(text: str, *, indent: int = 0) -> None:
    """Print text as `print_text` does; on a terminal wrap long lines, the continuations indented."""
    print_text(wrapped(text, sys.stdout, indent=indent))


def terminal_width() -> int | None:
    """Return the width of the terminal in columns; None if stdout is no terminal."""
    return _columns() if sys.stdout.isatty() else None


def _columns() -> int:
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def wrapped(text: str, stream: TextIO, *, indent: int = 0) -> str:
    """Return ``text``; if ``stream`` is a terminal, with long lines wrapped and the continuations indented."""
    if not stream.isatty():
        return text
    wrapper = textwrap.TextWrapper(
        _columns(), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(line if len(line) <= wrapper.width else wrapper.fill(line) for line in text.split("\n"))


def command_name() -> str:
    """Return how a shell calls this program: "lns" or, if no "lns" is on the PATH, as this process was started."""
    started = Path(sys.argv[0])
    as_module = started.parts[-2:] == ("lns", "__main__.py")
    if shutil.which("lns") or not (as_module or started.name == "lns"):
        return "lns"
    return f"{shlex.quote(sys.executable)} -m lns" if as_module else shlex.quote(sys.argv[0])


def print_error(line: str) -> None:
    """Print ``line`` on stderr, control characters escaped. A closed or full stderr is no error: the work goes on."""
    try:
        print(wrapped(escape_controls(line), sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def print_failures(errors: Iterable[Exception]) -> int:
    """Print each error on stderr; return the exit status: `DONE` if there are no errors, else `BAD_INPUT`."""
    status = DONE
    for error in errors:
        print_error(f"lns: {printable(str(error), 2000)}")
        status = BAD_INPUT
    return status


def picked(thing: object, *names: str) -> dict[str, Any]:
    """Return attributes of an object as a dict, by name; each argument may hold several names, separated by spaces."""
    return {name: getattr(thing, name) for name in " ".join(names).split()}


def print_answer(args: Namespace, facts: dict[str, Any], lines: Iterable[object]) -> None:
    """Print the answer of a command: its ``facts`` as JSON with ``--json``, else its ``lines``.

    If lines take work to make, ``lines`` may be a generator, which is not started with ``--json``.
    """
    if args.json:
        print_json(facts)
    else:
        for line in lines:
            print_text(line)


def board_lines(puzzle: Puzzle, board: Board) -> list[str]:
    """Return lines with the viewer URL of a board, or with its placements if there are too many colours for a URL."""
    from lns.instances.formats import url_if_any

    if url := url_if_any(puzzle, board):
        return [f"url         {url}", *["note        the viewer shows mates as mismatches"] * bool(puzzle.mates)]
    return [f"url         {NO_URL}", f"placements  {json.dumps(board.without_blanks(puzzle).pairs())}"]


def status_of(status: SolveStatus) -> int:
    """Return the exit status of a command whose exact search ended with ``status``."""
    from lns.exact.outcome import SolveStatus

    return {SolveStatus.INTERRUPTED: INTERRUPTED, SolveStatus.INFEASIBLE: ANSWER_IS_NO}.get(status, DONE)


def print_json(value: dict[str, Any]) -> None:
    """Print ``value`` on stdout as one line of JSON, the whole output of a command called with `--json`."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def discard(stream: TextIO) -> None:
    """Send further output of ``stream`` to the null device; else Python would fail to flush it at exit (status 120)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
