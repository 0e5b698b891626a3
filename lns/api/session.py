"""One call of `solve` or `resume`: islands search, a recorder observes them, rules end the search.

The search is supervised in a thread of its own. The calling thread waits for it, delivers callbacks and shows the
progress, so that Ctrl-C ends the search in order, and `solve` also works in a thread and in Jupyter.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Any, Protocol

from instances.board import Board
from instances.puzzle import Puzzle
from lns.api.progress import ProgressView
from lns.api.stopping import SearchProgress, StopRule
from lns.engine import FoundBoard
from lns.islands import Archipelago
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.worker_pool import WorkersGone
from lns_support.version import __version__

log = logging.getLogger("lns")

TICK_S = 0.1  # between two looks of the calling thread


class RunRecorder(Protocol):
    """What observes a search: `lns.runs.recorder.Recorder`, or `lns.runs.recorder.MemoryRecorder`."""

    history: RunHistory
    on_best: Callable[[FoundBoard], None]

    @property
    def best(self) -> dict[str, Any]: ...

    @property
    def write_errors(self) -> list[str]: ...

    def record_known_best(self, board: Board, score: int, origin: str) -> None: ...

    def begin(self, archipelago: Archipelago, version: str) -> None: ...

    def on_round(self, archipelago: Archipelago) -> None: ...

    def end(self, archipelago: Archipelago, why: str) -> None: ...


class SearchSession:
    """Searches until time, steps, target or a rule end it, or Ctrl-C does.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle as it was given, without pins.
    archipelago : Archipelago
        Islands that search.
    recorder : RunRecorder
        Observer that keeps what is found.
    target : int
        Score at which the search ends.
    seconds : float
        Seconds of search at most.
    steps : int or None
        Steps of each island at most, in this call.
    stop : StopRule or None
        Further rule.
    stop_wanted : callable
        Whether somebody asked for the end from outside, as `lns stop` does.
    on_improve : callable or None
        Called in the calling thread with each new best board.
    progress : ProgressView
        Shows where the search is.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        archipelago: Archipelago,
        recorder: RunRecorder,
        *,
        target: int,
        seconds: float = UNLIMITED_S,
        steps: int | None = None,
        stop: StopRule | None = None,
        stop_wanted: Callable[[], bool] = lambda: False,
        on_improve: Callable[[FoundBoard], object] | None = None,
        progress: ProgressView,
    ) -> None:
        self.puzzle, self.archipelago, self.recorder = puzzle, archipelago, recorder
        self.target, self.seconds, self.steps = target, seconds, steps
        self.interrupted = False
        self._stop, self._stop_wanted = stop, stop_wanted
        self._on_improve, self._progress = on_improve, progress
        self._events: queue.SimpleQueue[FoundBoard] = queue.SimpleQueue()
        self._ended_by_rule: str | None = None
        self._improved_at = 0.0
        self._why = "failed"
        self._failure: BaseException | None = None
        self._done = threading.Event()
        self._placements_before = archipelago.statistics.placements  # of earlier sessions
        self._steps_before = {number: island.steps for number, island in archipelago.islands.items()}
        recorder.on_best = self._improved

    def run(self) -> str:
        """Search; returns why it ended. Raises what the engine or a callback raised, after everything is saved."""
        thread = threading.Thread(target=self._search, name="lns-search", daemon=True)
        callback_failure: BaseException | None = None
        with self._progress:
            thread.start()
            while True:
                try:
                    done = self._done.wait(TICK_S)  # Ctrl-C during `join` marks a running thread as dead in Python 3.11
                    self._deliver()
                    if done:
                        self._deliver()  # what came between the last delivery and the end
                        break
                except KeyboardInterrupt:
                    if self.interrupted:
                        self.archipelago.kill()
                        raise
                    self.interrupted = True
                    self.archipelago.stop()
                except BaseException as error:
                    if callback_failure is not None:
                        raise
                    callback_failure = error
                    self._on_improve = None
                    self.archipelago.stop()
        if callback_failure is not None:
            raise callback_failure
        if self._failure is not None:
            raise self._failure
        return self._why

    def _deliver(self) -> None:
        """In the calling thread: callbacks for new bests, and the line of progress."""
        while not self._events.empty():
            found = self._events.get()
            if self._on_improve is not None:
                self._on_improve(found)
        archipelago = self.archipelago
        if not archipelago.has_begun:
            return  # the progress view says that kernels are compiled or loaded
        statistics, score = archipelago.statistics, archipelago.best_score if archipelago.best_score >= 0 else "-"
        rate = (statistics.placements - self._placements_before) / max(archipelago.elapsed, 0.5) / 1e6
        self._progress.show(
            f"best {score} of {self.puzzle.max_score}, {rate:.1f} M {statistics.unit}/s", archipelago.elapsed
        )

    # -- in the thread of the search ---------------------------------------------------------------------------------

    def _search(self) -> None:
        archipelago, recorder = self.archipelago, self.recorder
        try:
            recorder.begin(archipelago, __version__)
            why = "failed"
            try:
                why = archipelago.run(self.seconds, self.target, self._after_round, steps=self.steps)
                if self.interrupted:
                    why = "interrupted"
                elif why == "stopped" and self._ended_by_rule:
                    why = self._ended_by_rule
            except WorkersGone:
                why = "cluster lost"
                raise
            finally:  # also when the engine fails: what was found is kept
                recorder.end(archipelago, why)
            self._why = why
        except BaseException as error:
            self._failure = error
        finally:
            self._done.set()

    def _after_round(self, archipelago: Archipelago) -> None:
        self.recorder.on_round(archipelago)
        if self._stop_wanted():
            archipelago.stop()
        if self._stop is not None and (why := self._stop(self._where())):
            self._ended_by_rule = why
            archipelago.stop()

    def _where(self) -> SearchProgress:
        archipelago = self.archipelago
        steps = min(
            (archipelago.steps_of(number) - self._steps_before.get(number, 0) for number in range(archipelago.workers)),
            default=0,
        )
        elapsed = archipelago.elapsed
        certificate = archipelago.statistics.certificate_of(archipelago.best_score).values()
        is_certified = bool(certificate) and all(shape["proven"] == shape["windows"] for shape in certificate)
        return SearchProgress(elapsed, steps, archipelago.best_score, elapsed - self._improved_at, is_certified)

    def _improved(self, found: FoundBoard) -> None:
        self._improved_at = self.archipelago.elapsed
        seconds = self.recorder.history.elapsed_s
        log.info("%8.1f s  %d of %d  (%s)", seconds, found.score, self.puzzle.max_score, found.origin)
        self._events.put(FoundBoard(found.board.of(self.puzzle), found.score, found.origin))
