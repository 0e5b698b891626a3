"""Runs a command of the user at each new best board, beside the search."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lns.instances.text import printable
from lns.runs.files import BEST

if TYPE_CHECKING:
    from lns.engine import FoundBoard

log = logging.getLogger("lns")

LONGEST_S = 600.0  # a command that takes longer is killed
LAST_S = 10.0  # at the end of the search: how long to wait for the command of the last best
SOON_S = 0.4  # the same after a signal; then the command is ended, for which as long is waited


class Notifier:
    """Runs a shell command for each new best, one at a time, in a thread of its own. A context manager.

    While the command runs, further bests are remembered; the newest of them is told next. The search neither waits for
    the command nor fails with it.

    Parameters
    ----------
    command : str
        Shell command. Its environment has LNS_SCORE, LNS_MAX_SCORE, LNS_BEST and LNS_RUN_DIR.
    run_dir : Path
        Run directory.
    interrupted : callable, optional
        Whether a signal has ended the search: its end then waits for the command no longer than for a moment.
    """

    def __init__(self, command: str, run_dir: Path, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._command, self._directory, self._interrupted = command, run_dir.resolve(), interrupted
        self._process: subprocess.Popen[bytes] | None = None
        self._wake = threading.Condition()
        self._next: FoundBoard | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="lns-on-best", daemon=True)

    def __call__(self, found: FoundBoard) -> None:
        """Tell the command about a new best; returns at once."""
        with self._wake:
            self._next = found
            self._wake.notify()

    def __enter__(self) -> Notifier:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()
        began = time.monotonic()
        while self._thread.is_alive() and time.monotonic() - began < (SOON_S if self._interrupted() else LAST_S):
            self._thread.join(0.05)
        if self._thread.is_alive() and self._interrupted():
            with self._wake:
                self._next = None
            if self._process is not None and self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGTERM)
            self._thread.join(SOON_S)
        if self._thread.is_alive():
            log.warning("the command of --on-best still runs after %.3g s; it is left alone", time.monotonic() - began)

    def _serve(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._next is not None or self._closed)
                found, self._next = self._next, None
            if found is None:
                return
            try:
                with tempfile.TemporaryFile() as output:
                    self._run(found, output.fileno())
            except OSError as error:
                log.warning("the command of --on-best cannot be run: %s", error.strerror)

    def _run(self, found: FoundBoard, output: int) -> None:
        """Run the command about one board; what it prints goes to the file ``output``."""
        puzzle = found.board.puzzle
        told = {"SCORE": str(found.score), "MAX_SCORE": "" if puzzle is None else str(puzzle.max_score)}
        told |= {"BEST": str(self._directory / BEST), "RUN_DIR": str(self._directory)}
        self._process = process = subprocess.Popen(
            self._command, shell=True, env=os.environ | {f"LNS_{name}": value for name, value in told.items()},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.warning("the command of --on-best took more than %g s and was killed", LONGEST_S)
            return
        if status == -signal.SIGTERM and self._interrupted():
            log.warning("the command of --on-best still ran and was ended")
        elif status:
            printed = os.pread(output, 2000, max(0, os.fstat(output).st_size - 2000))
            lines = printed.decode(errors="replace").strip().splitlines()
            said = f": {printable(lines[-1], 200)}" if lines else ""
            log.warning("the command of --on-best ended with status %d%s", status, said)
