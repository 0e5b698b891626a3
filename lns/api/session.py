"""One call of `solve` or `resume`: islands search, a recorder observes them, rules end the search.

The search is supervised in a thread of its own. The calling thread waits for it, delivers callbacks and shows the
progress, so that Ctrl-C ends the search in order, and `solve` also works in a thread and in Jupyter.
"""

from __future__ import annotations

import logging
import queue
import threading

from lns.api.arguments import SessionSpec
from lns.api.progress import progress_view
from lns.api.result import IslandSummary, Result
from lns.api.stopping import MaxTime, SearchProgress
from lns.engine import FoundBoard
from lns.engines import kernel_count, main_kernel
from lns.exact.kernels.cache import is_compiled
from lns.instances.board import Board
from lns.instances.pairing import pairing
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.runs.directory import RunDirectory
from lns.runs.history import UNLIMITED_S
from lns.runs.recorder import MemoryRecorder, Recorder
from lns.version import __version__
from lns.worker_pool import WorkersGone

log = logging.getLogger("lns")

TICK_S = 0.1  # between two looks of the calling thread


class SearchSession:
    """Searches until time, steps, target or a rule end it, or Ctrl-C or `lns stop` does.

    Parameters
    ----------
    spec : SessionSpec
        Rules, callback and progress.
    puzzle : Puzzle
        Puzzle as it was given, without pins.
    archipelago : Archipelago
        Islands that search.
    recorder : Recorder or MemoryRecorder
        Observer that keeps what is found.
    directory : RunDirectory or None
        Where the run is recorded.
    seconds : float
        Seconds of search at most.
    target : int or None
        Score that was asked for.
    """

    def __init__(
        self,
        spec: SessionSpec,
        puzzle: Puzzle,
        archipelago: Archipelago,
        recorder: Recorder | MemoryRecorder,
        directory: RunDirectory | None,
        *,
        seconds: float,
        target: int | None,
    ) -> None:
        self.puzzle, self.archipelago, self.recorder = puzzle, archipelago, recorder
        self._spec, self._directory, self._seconds, self._target = spec, directory, seconds, target
        self._interrupted = False
        self._found: queue.SimpleQueue[FoundBoard] = queue.SimpleQueue()
        self._ended_by_rule: str | None = None
        self._improved_at = 0.0
        self._why = "failed"
        self._failure: BaseException | None = None
        self._done = threading.Event()
        self._placements_before = archipelago.statistics.placements  # of earlier sessions
        self._steps_before = {number: island.steps for number, island in archipelago.islands.items()}
        recorder.on_best = self._improved

    def run(self) -> Result:
        """Search. Raises what the engine or a callback raised, after everything is saved."""
        puzzle, archipelago, spec = self.puzzle, self.archipelago, self._spec
        log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", puzzle.name, puzzle.width, puzzle.height,
                 puzzle.renumbered().colours, puzzle.max_score, puzzle.sha256)  # fmt: skip
        if (possible := pairing(puzzle)).odd_colours:
            log.warning("%s", possible)
        if pins := len(archipelago.search.puzzle.clues) - len(puzzle.clues):
            log.info("%d cells of the start board are pinned", pins)
        if not is_compiled(main_kernel(archipelago.search.engine)):
            log.info("compiling the kernels (once after an install or upgrade)")
        shown = min([self._seconds, *(rule.seconds for rule in spec.rules if isinstance(rule, MaxTime))])
        self._progress = progress_view(
            spec.progress, shown if shown < UNLIMITED_S else None, kernels=kernel_count(archipelago.search.engine)
        )
        with self._progress:
            self._supervise()
        if self._failure is not None:
            raise self._failure
        if self._interrupted and spec.raise_interrupt:
            raise KeyboardInterrupt
        return self._result()

    def _supervise(self) -> None:
        """Wait for the thread of the search; Ctrl-C and an error of a callback end it in order."""
        deliver, failure = True, None
        threading.Thread(target=self._search, name="lns-search", daemon=True).start()
        while True:
            try:
                done = self._done.wait(TICK_S)  # Ctrl-C during `join` marks a running thread as dead in Python 3.11
                self._deliver(deliver)
                if done:
                    self._deliver(deliver)  # what came between the last delivery and the end
                    break
            except KeyboardInterrupt:
                if self._interrupted:
                    self.archipelago.kill()
                    raise
                self._interrupted = True
                self.archipelago.stop()
            except BaseException as error:
                if failure is not None:
                    raise
                deliver, failure = False, error
                self.archipelago.stop()
        if failure is not None:
            raise failure

    def _deliver(self, deliver: bool) -> None:
        """In the calling thread: callbacks for new bests, and the line of progress."""
        while not self._found.empty():
            found = self._found.get()
            if deliver and self._spec.on_improve is not None:
                self._spec.on_improve(found)
        archipelago = self.archipelago
        if not archipelago.has_begun:
            return  # the progress view says that kernels are compiled or loaded
        statistics, score = archipelago.statistics, archipelago.best_score if archipelago.best_score >= 0 else "-"
        rate = (statistics.placements - self._placements_before) / max(archipelago.elapsed, 0.5) / 1e6
        line = f"best {score} of {self.puzzle.max_score}, {rate:.1f} M {statistics.unit}/s"
        self._progress.show(line, archipelago.elapsed)

    def _result(self) -> Result:
        archipelago, best, history = self.archipelago, self.recorder.best, self.recorder.history
        puzzle, board = self.puzzle, None
        if best:
            board = Board.from_pairs(best["placements"], puzzle.width, puzzle.height).of(puzzle)
        return Result(
            puzzle=puzzle,
            board=board,
            score=-1 if board is None else verify(puzzle, board).score,
            why=self._why,
            statistics=archipelago.statistics,
            elapsed_s=history.elapsed_s,
            history=history,
            seed=archipelago.search.seed,
            islands={
                number: IslandSummary(number, island.best_score, island.steps, island.statistics)
                for number, island in sorted(archipelago.islands.items())
            },
            record=dict(best),
            target=self._target,
            run_dir=None if self._directory is None else str(self._directory.path),
            write_errors=list(self.recorder.write_errors),
        )

    # -- in the thread of the search ---------------------------------------------------------------------------------

    def _search(self) -> None:
        archipelago, recorder = self.archipelago, self.recorder
        possible = pairing(self.puzzle).best_possible
        target = possible if self._target is None else min(self._target, possible)
        try:
            recorder.begin(archipelago, __version__)
            why = "failed"
            try:
                why = archipelago.run(self._seconds, target, self._after_round, steps=self._spec.most_steps)
                if self._interrupted:
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
        if self._directory is not None and self._directory.stop_wanted:
            archipelago.stop()
        rule = self._spec.stop
        if rule is not None and (why := rule(self._where())):
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
        self._found.put(FoundBoard(found.board.of(self.puzzle), found.score, found.origin))
