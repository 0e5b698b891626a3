"""Exit statuses, and what a command prints: JSON on stdout, messages on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

DONE, ANSWER_IS_NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130  # 128 + the signal's number for other signals
OUTPUT_CLOSED = 141  # 128 + SIGPIPE: whoever read stdout closed it before the whole answer was written


def print_error(line: str) -> None:
    """Print ``line`` on stderr. A closed or full stderr is no error: the work goes on."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """Print ``value`` on stdout as one line of JSON, the whole output of a command called with `--json`."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def discard(stream: TextIO) -> None:
    """Send the rest of ``stream`` to the null device; else Python flushes it again at its end and exits with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
