"""The process of a job: it reads a request from stdin, does its task and writes messages to stdout as lines of JSON.

The last message has the type "done" or "error". SIGINT and SIGTERM end the task with its result so far, if any.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
from pathlib import Path
from typing import IO, Any

from lns.exact.child_process import die_with_parent
from lns.instances.errors import InputError
from lns.instances.json_values import JsonFields
from lns.instances.text import escape_controls
from lns.terminal.signals import interrupt_on_signal, signal_handler

log = logging.getLogger("lns")
_INTERRUPTED = {"type": "done", "status": "interrupted"}


def main() -> None:
    """Do the task of the request that is read from stdin."""
    die_with_parent()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # printed text goes to stderr, not between the messages
    request = json.loads(sys.stdin.readline())
    sys.stdin.close()
    sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    log.addHandler(_Notes(out))
    log.setLevel(logging.INFO)
    with signal_handler(interrupt_on_signal) as received:
        final = _work(request, out)
    if received and final["type"] == "error":  # an imported library may turn the interrupt into an error of its own
        final = _INTERRUPTED
    _write(out, final)


def _work(request: dict[str, Any], out: IO[str]) -> dict[str, Any]:
    """Do the task of a request and return its last message; write the other messages to ``out``."""
    try:
        from lns.web.tasks import TASKS, done

        task = TASKS[request["kind"]](JsonFields(request["fields"]))
        return {"type": "done", **done(task, lambda **message: _write(out, message))}
    except KeyboardInterrupt:
        return _INTERRUPTED
    except InputError as error:
        sentence = escape_controls(str(error))[:2000]
    except MemoryError:
        sentence = "the job needs more memory than a job may have"
    except Exception as error:
        sentence = f"{type(error).__name__}: {escape_controls(str(error))[:500]}"
    return {"type": "error", "error": sentence}


class _Notes(logging.Handler):
    """Sends log messages to the page, such as that a library is being compiled."""

    def __init__(self, out: IO[str]) -> None:
        super().__init__()
        self._out = out

    def emit(self, record: logging.LogRecord) -> None:
        _write(self._out, {"type": "note", "text": escape_controls(record.getMessage())[:2000]})


def _write(out: IO[str], message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
