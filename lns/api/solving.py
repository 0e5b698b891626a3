"""`solve`, `resume` and `polish`: search for the best board, for callers in Python and for the command line.

Islands search, a recorder saves what islands find, and rules end the search; a separate thread controls all these. The
calling thread waits, calls callbacks and shows progress. So Ctrl-C stops and saves the search, and `solve` also works
in threads and in Jupyter.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import queue
import secrets
import threading
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from lns import cells
from lns import params as parameters
from lns.api.arguments import (
    DEFAULT_SECONDS,
    Pins,
    ResumeSpec,
    RunSpec,
    SessionSpec,
    choose_parameters,
    log_choice,
    takes,
)
from lns.api.files import BoardSource, PuzzleSource, known_puzzle, load_board, read_puzzle
from lns.api.result import Result, progress_view
from lns.api.stopping import Certified, MaxTime, NoImprovement, SearchProgress, StopRule
from lns.cores import available_cores, max_workers
from lns.engine import FoundBoard
from lns.engines import kernel_count, main_kernel
from lns.exact.kernels.cache import is_compiled
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.pairing import pairing
from lns.instances.text import count_of
from lns.islands import Archipelago
from lns.rounds import Search
from lns.runs.directory import RunDirectory, RunSettings, with_pins
from lns.runs.files import RunLog, format_duration, logged_by, origin_in_words
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.recorder import Recorder, Recovered, recover
from lns.worker_pool import UNGUARDED, WORKER_NAME, Workers, WorkersGone

log = logging.getLogger("lns")

DRAWN_SEEDS = 10**9  # drawn random seeds are below this number, so that they are short enough to type
TICK_S = 0.1  # seconds between two checks by the calling thread whether the search has ended


@takes(RunSpec)
def solve(spec: RunSpec) -> Result:
    """Search for the best full board of a puzzle.

    Returns
    -------
    Result
        Best board, score, statistics, and why the search ended.

    Raises
    ------
    InputError
        A board of another puzzle or one that breaks a rule, impossible pins, unknown engine or parameter, a run
        directory that is not empty. The message is one sentence on what was found and what was expected.

    Notes
    -----
    Workers are processes that import the main module anew. A script should therefore call this function under
    ``if __name__ == "__main__":``; notebooks and the interactive interpreter need no such care.

    Examples
    --------
    >>> import lns
    >>> puzzle, _ = lns.generate("like-e2", width=4, seed=1)
    >>> lns.solve(puzzle, time=5, progress=None).score <= puzzle.max_score
    True
    """
    _refuse_import_of_main("lns.solve")
    puzzle, notes = read_puzzle(spec.puzzle)
    spec.check(puzzle)
    start, pins, start_notes = spec.start_board(puzzle)
    pinned = with_pins(puzzle, pins)
    params, source, params_note = choose_parameters(spec.params, pinned, spec.engine)
    least = (params.engine.search_floor or -1) if spec.min_score is None else spec.min_score
    settings = RunSettings(
        params=parameters.to_dict(params), params_source=source, instance=spec.name_of(puzzle), engine=spec.engine,
        checkpoint_s=spec.checkpoint_s,
        seed=secrets.randbelow(DRAWN_SEEDS) if spec.seed is None else spec.seed, pins=pins,
        target=-1 if spec.target is None else spec.target, min_score=min(least, puzzle.max_score),
    )  # fmt: skip
    history = RunHistory(spec.seconds)
    with contextlib.ExitStack() as stack:
        executor = _executor(stack, spec)
        workers = _default_workers(spec.engine, executor) if spec.workers is None else spec.workers
        directory = None
        if spec.run_dir is not None:
            directory = stack.enter_context(RunDirectory.create(Path(spec.run_dir), puzzle, settings))
            stack.enter_context(logged_by(RunLog(directory.path)))
            settings = directory.settings
        for note in (*spec.notes, *notes):
            log.info("%s: %s", puzzle.name, note)
        for note in start_notes:
            log.info("%s", note)
        log_choice(source, params_note)
        all_cores = spec.workers is None and spec.executor is None and workers > 1
        log.info(
            "%s%s, seed %d%s, %s", count_of(workers, "worker"), " (one for each core)" * all_cores, settings.seed,
            " (drawn at random)" * (spec.seed is None), _plan(history.budget_s) + _patience(spec),
        )  # fmt: skip
        recorder = Recorder(puzzle, settings, history, directory)
        return SearchSession(spec, recorder, workers, executor, Recovered(history, {}, [], start)).run()


@takes(ResumeSpec)
def resume(spec: ResumeSpec) -> Result:
    """Continue a run where it stopped, on this or another machine.

    Returns
    -------
    Result
        Result of the whole run, earlier sessions included.

    Raises
    ------
    InputError
        ``run_dir`` is no run directory, damaged, of another version or in use, or no time is left and ``time`` is None.
    """
    _refuse_import_of_main("lns.resume")
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(RunDirectory.open(Path(spec.run_dir)))
        stack.enter_context(logged_by(RunLog(directory.path)))
        history, _ = directory.last_status
        if spec.time is None and not history.remaining_s:
            used = f"its time is used up ({format_duration(history.elapsed_s)})"
            if not history.budget_s:
                used = "how long it was to last is not known, as status.json cannot be read"
            raise InputError(f"{used}; say how much longer with --time", spec.run_dir)
        recovered = recover(directory)
        settings, seconds = directory.settings, history.remaining_s if spec.time is None else spec.seconds
        executor = _executor(stack, spec)
        workers = spec.workers or resumed_workers(executor, history)
        if missing := parameters.omitted_names(settings.params):
            log.warning("the run is of another version, without %s: its defaults are taken", ", ".join(missing))
        plan = _resumed_plan(history, spec.time) + _patience(spec)
        log.info("going on at %s of search; %s", format_duration(history.elapsed_s), plan)
        history.budget_s = history.elapsed_s + seconds
        recorder = Recorder(directory.puzzle, settings, history, directory, recovered.recent)
        return SearchSession(spec, recorder, workers, executor, recovered).run()


@checked
def polish(
    puzzle: PuzzleSource | None,
    board: BoardSource,
    *,
    free: Pins | None = None,
    stop: StopRule | None = None,
    **how: Any,
) -> Result:
    """Free and refill parts of a board, up to half of it, until no window around its mismatches can be improved.

    Parameters
    ----------
    puzzle : Puzzle, str, path-like or None
        Puzzle of the board; ``None`` if the board knows it.
    board : Board, str or path-like
        Full or partial board that breaks no rule.
    free : str or iterable of int, optional
        Cells that may change: indices from 0, or a text such as ``"3,10-20,r8-15"``; the other cells must match each
        other. By default any cell may change, but at least half of the cells keep their pieces.
    stop : StopRule, optional
        Further rule that ends the search.
    **how
        As for `lns.solve`: ``time`` (a minute by default), ``workers``, ``seed``, ``run_dir``, ``progress``, ...

    Returns
    -------
    Result
        ``why`` tells, for instance, that no window around the mismatches has a better refill.

    Raises
    ------
    InputError
        As for `lns.solve`, or the board is empty.
    """
    board = load_board(board, puzzle)
    puzzle = known_puzzle(board)
    if board.placed == 0:
        raise InputError("the board is empty; expected one to polish")
    if free is not None:
        if how.get("pins") is not None:
            raise InputError("free and pins both say which cells may change; expected one of them")
        freed = set(cells.parse(free, puzzle) if isinstance(free, str) else free) | set(puzzle.holes)
        how["pins"] = [cell for cell in range(puzzle.cells) if cell not in freed and board.placements[cell] >= 0]
    rule = Certified() if stop is None else Certified() | stop
    return solve(puzzle, start=board, engine="polish", stop=rule, **{"time": DEFAULT_SECONDS} | how)


class SearchSession:
    """One session of a search, ended by its time, steps, target or stop rule, by Ctrl-C or by `lns stop`.

    ``found`` holds what earlier sessions left, or the start board; the best board in it is recorded at once.
    """

    def __init__(
        self, spec: SessionSpec, recorder: Recorder, workers: int, executor: Executor | None, found: Recovered
    ) -> None:
        settings, history, best = recorder.settings, found.history, found.best
        self.puzzle, self.recorder, target = recorder.puzzle, recorder, settings.target
        searched = with_pins(self.puzzle, settings.pins)
        origin = history.improvements[-1].origin if history else "start"
        self.archipelago = archipelago = Archipelago(
            Search(searched, settings.parameters, settings.seed, settings.engine, settings.operators or None), workers,
            start=best._replace(origin=origin) if best else None, min_score=settings.min_score, executor=executor,
            grows=spec.workers is None and spec.most_steps is None, islands=found.islands,
            other_statistics=history.other_statistics,
        )  # fmt: skip
        if best is not None:
            recorder.record_known_best(best)
        self._spec, self._seconds = spec, history.remaining_s
        self._target = target if target >= 0 else None
        self._interrupted, self._ended_by_rule = False, ""
        self._found: queue.SimpleQueue[FoundBoard] = queue.SimpleQueue()
        self._improved_at = 0.0
        self._ended: Future[str] = Future()  # gets the reason why the search ended
        self._placements_before = archipelago.statistics.placements  # placements made by earlier sessions
        self._steps_before = {number: island.steps for number, island in archipelago.islands.items()}
        recorder.on_best = self._improved

    def run(self) -> Result:
        """Search and return the result. Raises exceptions of the engine or a callback after everything is saved."""
        puzzle, search, spec = self.puzzle, self.archipelago.search, self._spec
        log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", puzzle.name, puzzle.width, puzzle.height,
                 puzzle.renumbered().colours, puzzle.max_score, puzzle.sha256)  # fmt: skip
        if (possible := pairing(puzzle)).odd_colours:
            log.warning("%s", possible)
        if pins := len(search.puzzle.clues) - len(puzzle.clues):
            log.info("%d cells of the start board are pinned", pins)
        if not is_compiled(main_kernel(search.engine)):
            log.info("compiling the kernels (once after an install or upgrade)")
        shown = min([self._seconds, *(rule.seconds for rule in spec.rules if isinstance(rule, MaxTime))])
        seconds = shown if shown < UNLIMITED_S else None
        self._progress = progress_view(spec.progress, seconds, kernels=kernel_count(search.engine))
        with self._progress:
            self._supervise()
        why = self._ended.result()
        if self._interrupted and spec.raise_interrupt:
            raise KeyboardInterrupt
        return self._result(why)

    def _supervise(self) -> None:
        """Run the search in a thread and wait for it; Ctrl-C or an error of a callback stops and saves the search."""
        failure: BaseException | None = None
        threading.Thread(target=self._search, name="lns-search", daemon=True).start()
        while True:
            try:
                with contextlib.suppress(TimeoutError):
                    self._ended.exception(TICK_S)
                ended = self._ended.done()
                self._deliver(failure is None)
                if ended:
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
                failure = error
                self.archipelago.stop()
        if failure is not None:
            raise failure

    def _deliver(self, to_callback: bool) -> None:
        """Pass new best boards to the callback if ``to_callback``, and show progress, both in the calling thread."""
        while not self._found.empty():
            found = self._found.get()
            if to_callback and self._spec.on_improve is not None:
                self._spec.on_improve(found)
        archipelago = self.archipelago
        if not archipelago.has_begun:
            return  # before the first step the progress view says that kernels are compiled or loaded
        statistics, elapsed = archipelago.statistics, archipelago.elapsed
        score = archipelago.best_score if archipelago.best_score >= 0 else "-"
        rate = (statistics.placements - self._placements_before) / max(elapsed, 0.5) / 1e6
        self._progress.show(f"best {score} of {self.puzzle.max_score}, {rate:.1f} M {statistics.unit}/s", elapsed)

    def _result(self, why: str) -> Result:
        puzzle, archipelago, recorder, directory = self.puzzle, self.archipelago, self.recorder, self.recorder.directory
        best = recorder.best
        return Result(
            puzzle=puzzle,
            board=Board.from_pairs(best["placements"], puzzle.width, puzzle.height).of(puzzle) if best else None,
            score=best.get("score", -1),
            why=why,
            statistics=archipelago.statistics,
            elapsed_s=recorder.history.elapsed_s,
            history=recorder.history,
            seed=archipelago.search.seed,
            islands={number: replace(one, state=b"") for number, one in sorted(archipelago.islands.items())},
            record=dict(best),
            target=self._target,
            run_dir=None if directory is None else str(directory.path),
            write_errors=recorder.write_errors,
        )

    # -- what runs in the thread of the search -----------------------------------------------------------------------

    def _search(self) -> None:
        archipelago, recorder = self.archipelago, self.recorder
        possible = pairing(self.puzzle).best_possible
        target, why = possible if self._target is None else min(self._target, possible), "failed"
        try:
            recorder.begin(archipelago)
            try:
                why = archipelago.run(self._seconds, target, self._after_round, steps=self._spec.most_steps)
                ended_by_rule = self._ended_by_rule if why == "stopped" else ""
                why = "interrupted" if self._interrupted else ended_by_rule or why
            except WorkersGone:
                why = "cluster lost"
                raise
            finally:  # runs also if the engine fails, so that the boards found so far are saved
                recorder.end(archipelago, why)
        except BaseException as error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(why)

    def _after_round(self, archipelago: Archipelago) -> None:
        directory, rule = self.recorder.directory, self._spec.stop
        self.recorder.on_round(archipelago)
        if directory is not None and directory.stop_wanted:
            archipelago.stop()
        if rule is not None and (why := rule(self._where())):
            self._ended_by_rule = why
            archipelago.stop()

    def _where(self) -> SearchProgress:
        archipelago, elapsed = self.archipelago, self.archipelago.elapsed
        steps = (archipelago.steps_of(one) - self._steps_before.get(one, 0) for one in range(archipelago.workers))
        certificate = archipelago.statistics.certificate_of(archipelago.best_score).values()
        is_certified = bool(certificate) and all(shape["proven"] == shape["windows"] for shape in certificate)
        since = elapsed - self._improved_at
        return SearchProgress(elapsed, min(steps, default=0), archipelago.best_score, since, is_certified)

    def _improved(self, found: FoundBoard) -> None:
        self._improved_at = self.archipelago.elapsed
        seconds = self.recorder.history.elapsed_s
        said = origin_in_words(found.origin)
        log.info("%8.1f s  %d of %d  (%s)", seconds, found.score, self.puzzle.max_score, said)
        self._found.put(FoundBoard(found.board.of(self.puzzle), found.score, found.origin))


# -- executor and workers --------------------------------------------------------------------------------------------


def _executor(stack: contextlib.ExitStack, spec: SessionSpec) -> Executor | None:
    """Return the executor of ``spec``; for a Dask client, a new `DaskWorkers` object that ``stack`` closes."""
    if spec.executor is None or isinstance(spec.executor, Executor):
        return spec.executor
    from lns.cluster import DaskWorkers

    return stack.enter_context(DaskWorkers(spec.executor))


def _default_workers(engine: str, executor: Executor | None) -> int:
    """Return the default of ``workers`` (see `RunSpec`): a cluster's threads, 1 for another executor, or the cores."""
    if executor is not None:
        return max(1, executor.capacity if isinstance(executor, Workers) else 0)
    if engine == "lns":
        from lns.neighbourhoods.operators import REGISTERED

        if REGISTERED:
            return 1
    return available_cores()


def resumed_workers(executor: Executor | None, history: RunHistory) -> int:
    """Return the number of workers: a cluster's threads, else as in the last session, or one per core if too many."""
    if isinstance(executor, Workers) and executor.capacity:
        return executor.capacity
    last = history.sessions[-1].workers if history.sessions else 1
    return last if last <= max_workers() else available_cores()


def _refuse_import_of_main(function: str) -> None:
    """Raise InputError if a new process calls ``function`` as it imports the script: workers would start workers.

    A worker process of `lns` exits with the status `UNGUARDED` instead, so that its parent reports the error once.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        if process.name.startswith(WORKER_NAME):
            raise SystemExit(UNGUARDED)
        raise InputError(
            f"{function} was called while a worker imports the main module; expected the call in the script under "
            "if __name__ == '__main__':"
        )


# -- sentences for the log -------------------------------------------------------------------------------------------


def _plan(seconds: float) -> str:
    return f"{format_duration(seconds)} of search" if seconds < UNLIMITED_S else "no time limit"


def _patience(spec: SessionSpec) -> str:
    """Return the clause of the logged plan on the shortest `NoImprovement` rule; "" without such a rule."""
    rules = sorted((rule for rule in spec.rules if isinstance(rule, NoImprovement)), key=lambda rule: rule.seconds)
    return f"; it ends after {rules[0].length} without a better board" if rules else ""


def _resumed_plan(history: RunHistory, time: float | None) -> str:
    """Return in words how long a resumed run still searches; with a new ``time`` also say what the plan was before."""
    if time is None:
        return history.remaining_in_words
    left = f", {history.remaining_in_words}" if history.has_time_limit else ""
    was = f"the plan was {_plan(history.budget_s)}{left}; " if history.budget_s else ""
    return f"{was}now {_plan(time)} more"
