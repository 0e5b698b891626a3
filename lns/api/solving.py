"""`solve`, `resume` and `polish`: the main job, from Python and from the command line alike."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import Executor
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
    default_workers,
    refuse_import_of_main,
    resumed_workers,
    where_to_search,
)
from lns.api.files import read_puzzle
from lns.api.kept_params import DEFAULTS
from lns.api.result import Result
from lns.api.session import SearchSession
from lns.api.starting import read_start
from lns.api.stopping import NoImprovement, SearchProgress, StopRule, length_of
from lns.api.takes import takes
from lns.engine import FoundBoard
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import read_text
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of
from lns.islands import Archipelago
from lns.rounds import Search
from lns.runs.board_log import BoardLog
from lns.runs.directory import RunDirectory, RunSettings
from lns.runs.files import PARAMETERS, RunLog, format_duration
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.recorder import MemoryRecorder, Recorder
from lns.runs.recover import recover

log = logging.getLogger("lns")

DRAWN_SEEDS = 10**9  # a random seed is drawn below it, so that it is short enough to type


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
        A board of another puzzle or one that breaks a rule, bad pins, unknown engine or parameter, a run directory that
        is in use: one sentence that says what was found and what was expected.

    Notes
    -----
    Workers are processes that import the main module anew. A script therefore calls this function under
    ``if __name__ == "__main__":``; notebooks and the interactive interpreter need no such care.

    Examples
    --------
    >>> import lns
    >>> puzzle, _ = lns.generate("like-e2", width=4, seed=1)
    >>> lns.solve(puzzle, time=5, progress=None).score <= puzzle.max_score
    True
    """
    refuse_import_of_main("lns.solve")
    puzzle, notes = read_puzzle(spec.puzzle)
    spec.check(puzzle)
    start = read_start(spec, puzzle)
    searched = puzzle.with_clues({*puzzle.clues, *start.clues}) if start.clues else puzzle
    chosen, params_source, params_note = choose_parameters(spec.params, searched, spec.engine)
    least = (chosen.engine.search_floor or -1) if spec.min_score is None else spec.min_score
    instance, logged_from, seconds = spec.name_of(puzzle), min(least, puzzle.max_score), spec.seconds
    seed = secrets.randbelow(DRAWN_SEEDS) if spec.seed is None else spec.seed
    with contextlib.ExitStack() as stack:
        searching = _where_to_search(stack, spec, spec.checkpoint_s)
        workers = default_workers(spec.engine, searching) if spec.workers is None else spec.workers
        history, directory = RunHistory(seconds), None
        recorder: Recorder | MemoryRecorder
        if spec.run_dir is None:
            recorder = MemoryRecorder(puzzle, history, instance=instance, seed=seed)
        else:
            settings = RunSettings(
                params_source=params_source, instance=instance, seed=seed, engine=spec.engine,
                target=-1 if spec.target is None else spec.target, min_score=logged_from,
                checkpoint_s=spec.checkpoint_s, pins=start.clues,
            )  # fmt: skip
            directory = RunDirectory.create(Path(spec.run_dir), puzzle, chosen, settings)
            stack.enter_context(directory)
            stack.enter_context(_run_log(directory))
            board_log = BoardLog(directory.path)
            stack.callback(board_log.close)
            recorder = Recorder(directory, history, board_log, [])
        archipelago = Archipelago(
            Search(searched, chosen, seed, spec.engine, directory.settings.operators if directory else None), workers,
            start=None if start.board is None else FoundBoard(start.board, start.score, "start"),
            min_score=logged_from, executor=searching, grows=spec.grows,
        )  # fmt: skip
        for note in (*spec.notes, *notes):
            log.info("%s: %s", puzzle.name, note)
        for note in start.notes:
            log.info("start board: %s", note)
        if params_note:
            log.log(logging.WARNING if params_source == DEFAULTS else logging.INFO, "%s", params_note)
        if start.board is not None:
            recorder.record_known_best(start.board, start.score, "start")
            log.info("the start board has score %d of %d", start.score, puzzle.max_score)
        all_cores = spec.workers is None and spec.executor is None and workers > 1
        log.info(
            "%s%s, seed %d%s, %s", count_of(workers, "worker"), " (one for each core)" * all_cores,
            seed, " (drawn at random)" * (spec.seed is None), _plan(seconds) + _patience(spec),
        )  # fmt: skip
        session = SearchSession(spec, puzzle, archipelago, recorder, directory, seconds=seconds, target=spec.target)
        return session.run()


class NoTimeLeft(InputError):
    """A run cannot be resumed without a time: its own is used up, or not known. ``reason`` says which."""

    def __init__(self, history: RunHistory, run_dir: str | os.PathLike[str]) -> None:
        self.reason = "nothing of it was saved, nor how long it was to last"
        if history.budget_s:
            self.reason = f"its time is used up ({format_duration(history.elapsed_s)})"
        super().__init__(f"{self.reason}; expected time, the seconds more to search", run_dir)


@takes(ResumeSpec)
def resume(spec: ResumeSpec) -> Result:
    """Go on with a run where it was, also on another machine.

    Returns
    -------
    Result
        Of the whole run: earlier sessions count.

    Raises
    ------
    InputError
        No run directory, one of another version or damaged, or one that another process works in.
    """
    refuse_import_of_main("lns.resume")
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(RunDirectory.open(Path(spec.run_dir)))
        stack.enter_context(_run_log(directory))
        recovered = recover(directory)
        stack.callback(recovered.board_log.close)
        history, settings, best = recovered.history, directory.settings, recovered.best
        seconds = history.remaining_s if spec.time is None else spec.seconds
        if seconds <= 0:
            raise NoTimeLeft(history, spec.run_dir)
        spec.check_workers()
        searching = _where_to_search(stack, spec, settings.checkpoint_s)
        workers = spec.workers or resumed_workers(searching, history)
        if missing := parameters.omitted_names(read_text(directory.path / PARAMETERS)):
            log.warning("%s is of another version, without %s: its defaults are taken", PARAMETERS, ", ".join(missing))
        plan = _resumed_plan(history, spec.time) + _patience(spec)
        log.info("going on at %s of search; %s", format_duration(history.elapsed_s), plan)
        history.budget_s = history.elapsed_s + seconds
        origin = history.improvements[-1].origin if history.improvements else "start"
        archipelago = Archipelago(
            Search(directory.pinned_puzzle, directory.params, settings.seed, settings.engine, settings.operators),
            workers, start=FoundBoard(best.board, best.score, origin) if best else None,
            min_score=settings.min_score, islands=recovered.islands, executor=searching, grows=spec.grows,
            other_statistics=history.other_statistics,
        )  # fmt: skip
        recorder = Recorder(directory, history, recovered.board_log, recovered.recent)
        if best is not None:
            recorder.record_known_best(best.board, best.score, recovered.origin)
        target = settings.target if settings.target >= 0 else None
        puzzle = directory.puzzle
        return SearchSession(spec, puzzle, archipelago, recorder, directory, seconds=seconds, target=target).run()


class Certified(StopRule):
    """End when every window around the damage of the best board is proven to have no better refill."""

    def __call__(self, progress: SearchProgress) -> str | None:
        return "all listed regions are proven: nothing better within them" if progress.is_certified else None


@checked
def polish(
    puzzle: Puzzle, board: Board, *, free: Pins | None = None, stop: StopRule | None = None, **how: Any
) -> Result:
    """Free parts of a board and repair them, from ten cells to half of them, until nothing better is within reach.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the board.
    board : Board
        Full or partial; it breaks no rule.
    free : str or iterable of int, optional
        Cells that may change: numbers from 0, or a text such as ``"3,10-20,r8-15"``; the others must match each other.
        By default any may, but at least half of them stay.
    stop : StopRule, optional
        Rule that ends the search too.
    **how
        As for `lns.solve`: ``time`` (a minute by default), ``workers``, ``seed``, ``run_dir``, ``progress``, ...

    Returns
    -------
    Result
        ``why`` says whether the time was over, or all listed regions are proven.

    Raises
    ------
    InputError
        As for `lns.solve`; or the board is empty.
    """
    if board.placed == 0:
        raise InputError("the board is empty; expected one to polish")
    if free is not None:
        freed = set(cells.parse(free, puzzle) if isinstance(free, str) else free) | set(puzzle.holes)
        how["pins"] = [cell for cell in range(puzzle.cells) if cell not in freed and board.placements[cell] >= 0]
    rule = Certified() if stop is None else Certified() | stop
    return solve(puzzle, start=board, engine="polish", stop=rule, **{"time": DEFAULT_SECONDS} | how)


def _where_to_search(stack: contextlib.ExitStack, spec: SessionSpec, checkpoint_s: float) -> Executor | None:
    """Where rounds are searched. Workers of a cluster are closed with ``stack``, also if the search never begins."""
    searching = where_to_search(spec.executor, checkpoint_s)
    if searching is not None and searching is not spec.executor:
        stack.enter_context(searching)
    return searching


def _plan(seconds: float) -> str:
    return f"{format_duration(seconds)} of search" if seconds < UNLIMITED_S else "no time limit"


def _patience(spec: SessionSpec) -> str:
    """What ends the search where it finds nothing better, behind its plan; "" if nothing does."""
    seconds = min((rule.seconds for rule in spec.rules if isinstance(rule, NoImprovement)), default=None)
    return "" if seconds is None else f"; it ends after {length_of(seconds)} without a better board"


def _resumed_plan(history: RunHistory, time: float | None) -> str:
    """What a resumed run was to do, and what it does now."""
    if time is None:
        return history.remaining_in_words
    now = f"now {_plan(time)} more"
    if not history.budget_s:
        return now
    if not history.has_time_limit:
        return f"the plan had no time limit, {now}"
    if history.remaining_s < 1:
        return f"the plan of {_plan(history.budget_s)} is used up, {now}"
    return f"the plan was {_plan(history.budget_s)}, {history.remaining_in_words}; {now}"


@contextlib.contextmanager
def _run_log(directory: RunDirectory) -> Iterator[None]:
    """Messages of the logger ``lns`` go to run.log too."""
    handler, level = RunLog(directory.path), log.level
    log.addHandler(handler)
    if log.getEffectiveLevel() > logging.INFO:
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
        handler.close()
