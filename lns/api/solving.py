"""`solve` and `resume`: the main job, from Python and from the command line alike."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.board import Board
from instances.pairing import pairing
from instances.puzzle import Clue, Puzzle
from instances.verify import verify
from lns import cells
from lns import params as parameters
from lns.api.arguments import (
    check_arguments,
    check_workers,
    choose_parameters,
    default_workers,
    most_workers,
    refuse_import_of_main,
    resumed_workers,
    search_seconds,
    where_to_search,
)
from lns.api.files import BoardSource, PuzzleSource, read_board, read_puzzle
from lns.api.kept_params import DEFAULTS
from lns.api.progress import ProgressView, progress_view
from lns.api.result import IslandSummary, Result
from lns.api.session import RunRecorder, SearchSession
from lns.api.starting import full_start, pinned
from lns.api.stopping import StopRule, length_of
from lns.engine import FoundBoard
from lns.engines import kernel_count, main_kernel
from lns.islands import Archipelago
from lns.params import Params
from lns.rounds import Search
from lns.runs.board_log import BoardLog
from lns.runs.directory import RunDirectory, RunSettings
from lns.runs.files import PARAMETERS, RunLog, format_duration
from lns.runs.history import UNLIMITED_S, RunHistory
from lns.runs.recorder import MemoryRecorder, Recorder
from lns.runs.recover import recover
from lns_support.arguments import checked
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.kernel_cache import is_compiled
from lns_support.text import count_of

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("lns")

DRAWN_SEEDS = 10**9  # a random seed is drawn below it, so that it is short enough to type
Pins = str | Iterable[int]
OnImprove = Callable[[FoundBoard], object]
Progress = str | bool | ProgressView | None


@checked
def solve(
    puzzle: PuzzleSource,
    *,
    time: float | None = None,
    workers: int | None = None,
    seed: int | None = None,
    start: BoardSource | None = None,
    pins: Pins | None = None,
    params: Params | dict[str, Any] | str | os.PathLike[str] | None = None,
    engine: str = "auto",
    target: int | None = None,
    steps: int | None = None,
    stop: StopRule | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    min_score: int | None = None,
    checkpoint_s: float = 60.0,
    on_improve: OnImprove | None = None,
    progress: Progress = "auto",
    raise_interrupt: bool = False,
    executor: Executor | Client | None = None,
    instance: str | None = None,
    start_format: str | None = None,
    start_number: int | None = None,
    notes: Sequence[str] = (),
) -> Result:
    """Search for the best full board of a puzzle.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads. Of a board only the pieces and the official clues that it holds are taken;
        ``start`` begins with a board.
    time : float, optional
        Seconds of search at most; the compilation of kernels does not count. A minute by default, no limit if
        ``steps`` or ``stop`` is given.
    workers : int, optional
        Islands: independent searches that tell each other their best boards, a process each. By default one for each
        core that this process may use; one in all if an ``executor`` is given that is no client of a cluster, or if an
        operator is registered in this process only.
    seed : int, optional
        Random seed. One worker with the same seed and version makes the same search. By default it is drawn at random;
        ``Result.seed`` and ``best.json`` have it.
    start : Board, str or path-like, optional
        Board to polish first. Empty cells are filled; the result is never worse.
    pins : str or iterable of int, optional
        Cells of the start board that stay: numbers from 0, or a text such as ``"3,10-20,r0-11"`` (``r``: rows).
    params : Params, dict, str or path-like, optional
        Parameters: an object, nested dicts as in TOML, or a TOML file; ``"default"`` for the defaults. Without it,
        those that `lns.tune` has proved better for this puzzle or its family on this machine, else the defaults.
    engine : {"auto", "construct", "beam", "tabu", "lns"}
        The whole loop, or one part alone.
    target : int, optional
        Matched inner edges at which the search ends; a perfect board always ends it.
    steps : int, optional
        Steps of each island: a limit that does not depend on the speed of the machine.
    stop : StopRule, optional
        Rule that ends the search, such as ``MaxTime(600) | NoImprovement(120)``.
    run_dir : str or path-like, optional
        New directory for best board, log, checkpoints. Without it nothing is written.
    min_score : int, optional
        Boards of at least this score go into the log of the run directory; by default the best so far less one.
    checkpoint_s : float
        Seconds between two checkpoints of a run directory.
    on_improve : callable, optional
        Called with each new best (a `FoundBoard`: ``board``, ``score``, ``origin``), in the calling thread.
    progress : {"auto", "terminal", "notebook", "none"}, bool or ProgressView
        How to show where the search is; False: not at all. ``"auto"``: a bar of tqdm in a notebook, a line on a
        terminal, else nothing.
    raise_interrupt : bool
        Whether Ctrl-C, after it has ended the search in order, raises KeyboardInterrupt; by default the result is
        returned.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Searches the islands instead of processes on this machine. Workers of a Dask cluster keep their islands, and
        ``workers`` is by default the number of their threads, also of those that join later. To other executors the
        state of an island travels with each round of two seconds.
    instance : str, optional
        How ``best.json`` and ``run.json`` name the puzzle; by default the source, or the puzzle's name.
    start_format : str, optional
        Format of the start board, as for `load_board`.
    start_number : int, optional
        Which of several boards in ``start``, from 1.
    notes : sequence of str
        Sentences on how the puzzle was read, for the log.

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
    if instance is None and not isinstance(puzzle, Puzzle):
        instance = os.fspath(puzzle)
    puzzle, noticed = read_puzzle(puzzle)
    notes = (*notes, *noticed)
    instance = puzzle.name if instance is None or "\n" in instance else instance
    all_cores, drawn = workers is None, seed is None
    seed = secrets.randbelow(DRAWN_SEEDS) if seed is None else seed
    check_arguments(
        puzzle,
        workers=workers,
        most=most_workers(executor),
        seed=seed,
        engine=engine,
        target=target,
        steps=steps,
        min_score=min_score,
        checkpoint_s=checkpoint_s,
    )
    begun, begun_score, clues, start_notes = _start(puzzle, start, pins, start_format, start_number)
    searched = puzzle.with_clues({*puzzle.clues, *clues}) if clues else puzzle
    chosen, params_source, params_note = choose_parameters(params, searched, engine)
    logged_from = min((chosen.engine.search_floor or -1) if min_score is None else min_score, puzzle.max_score)
    seconds = search_seconds(time, steps, stop)
    most_steps = _most_steps(steps, stop)
    with contextlib.ExitStack() as stack:
        searching = _where_to_search(stack, executor, checkpoint_s)
        grows = workers is None and most_steps is None
        workers = default_workers(engine, searching) if workers is None else workers
        history = RunHistory(seconds)
        directory: RunDirectory | None = None
        recorder: RunRecorder
        if run_dir is None:
            recorder = MemoryRecorder(puzzle, history, instance=instance, seed=seed)
        else:
            settings = RunSettings(
                params_source=params_source, instance=instance, seed=seed, engine=engine,
                target=-1 if target is None else target, min_score=logged_from, checkpoint_s=checkpoint_s, pins=clues,
            )  # fmt: skip
            directory = RunDirectory.create(Path(run_dir), puzzle, chosen, settings)
            stack.enter_context(directory)
            stack.enter_context(_run_log(directory))
            board_log = BoardLog(directory.path)
            stack.callback(board_log.close)
            recorder = Recorder(directory, history, board_log, [])
        archipelago = Archipelago(
            Search(searched, chosen, seed, engine, directory.settings.operators if directory else None), workers,
            start=FoundBoard(begun, begun_score, "start") if begun is not None else None, min_score=logged_from,
            executor=searching, grows=grows,
        )  # fmt: skip
        for note in notes:
            log.info("%s: %s", puzzle.name, note)
        for note in start_notes:
            log.info("start board: %s", note)
        if params_note:
            log.log(logging.WARNING if params_source == DEFAULTS else logging.INFO, "%s", params_note)
        if begun is not None:
            recorder.record_known_best(begun, begun_score, "start")
            log.info("the start board has score %d of %d", begun_score, puzzle.max_score)
        log.info(
            "%s%s, seed %d%s, %s", count_of(workers, "worker"),
            " (one for each core)" * (all_cores and executor is None and workers > 1),
            seed, " (drawn at random)" * drawn, _plan(seconds) + _patience(stop),
        )  # fmt: skip
        return _run(
            puzzle, archipelago, recorder, directory, target=target, seconds=seconds, steps=most_steps, stop=stop,
            pins=len(clues), on_improve=on_improve, progress=progress, raise_interrupt=raise_interrupt,
        )  # fmt: skip


class NoTimeLeft(InputError):
    """A run cannot be resumed without a time: its own is used up, or not known. ``reason`` says which."""

    def __init__(self, history: RunHistory, run_dir: str | os.PathLike[str]) -> None:
        self.reason = "nothing of it was saved, nor how long it was to last"
        if history.budget_s:
            self.reason = f"its time is used up ({format_duration(history.elapsed_s)})"
        super().__init__(f"{self.reason}; expected time, the seconds more to search", run_dir)


@checked
def resume(
    run_dir: str | os.PathLike[str],
    *,
    time: float | None = None,
    workers: int | None = None,
    steps: int | None = None,
    stop: StopRule | None = None,
    on_improve: OnImprove | None = None,
    progress: Progress = "auto",
    raise_interrupt: bool = False,
    executor: Executor | Client | None = None,
) -> Result:
    """Go on with a run where it was, also on another machine.

    Parameters
    ----------
    run_dir : str or path-like
        Run directory that `solve` made; it may have been moved.
    time : float, optional
        Seconds more, instead of what is left of the time that was asked for.
    workers : int, optional
        Islands; by default as many as last time. With fewer the others wait for a later call.
    steps, stop, on_improve, progress, raise_interrupt, executor
        As for `solve`.

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
        directory = stack.enter_context(RunDirectory.open(Path(run_dir)))
        stack.enter_context(_run_log(directory))
        recovered = recover(directory)
        stack.callback(recovered.board_log.close)
        history, settings = recovered.history, directory.settings
        seconds = history.remaining_s if time is None else search_seconds(time, steps, stop)
        if seconds <= 0:
            raise NoTimeLeft(history, run_dir)
        if workers is not None:
            check_workers(workers, most_workers(executor))
        most_steps = _most_steps(steps, stop)
        searching = _where_to_search(stack, executor, settings.checkpoint_s)
        grows = workers is None and most_steps is None
        workers = workers or resumed_workers(searching, history)
        if missing := parameters.omitted_names(read_text(directory.path / PARAMETERS)):
            log.warning("%s is of another version, without %s: its defaults are taken", PARAMETERS, ", ".join(missing))
        plan = _resumed_plan(history, time) + _patience(stop)
        log.info("going on at %s of search; %s", format_duration(history.elapsed_s), plan)
        history.budget_s = history.elapsed_s + seconds
        best = recovered.best
        origin = history.improvements[-1].origin if history.improvements else "start"
        archipelago = Archipelago(
            Search(directory.pinned_puzzle, directory.params, settings.seed, settings.engine, settings.operators),
            workers, start=FoundBoard(best.board, best.score, origin) if best else None,
            min_score=settings.min_score, islands=recovered.islands, executor=searching, grows=grows,
            other_statistics=history.other_statistics,
        )  # fmt: skip
        recorder = Recorder(directory, history, recovered.board_log, recovered.recent)
        if best is not None:
            recorder.record_known_best(best.board, best.score, recovered.origin)
        return _run(
            directory.puzzle, archipelago, recorder, directory,
            target=settings.target if settings.target >= 0 else None, seconds=seconds, steps=most_steps, stop=stop,
            pins=len(settings.pins), on_improve=on_improve, progress=progress, raise_interrupt=raise_interrupt,
        )  # fmt: skip


def _most_steps(steps: int | None, stop: StopRule | None) -> int | None:
    """Steps of each island at most, by the argument ``steps`` and by the rule; None without a limit."""
    limits = (steps, None if stop is None else stop.max_steps)
    return min((limit for limit in limits if limit is not None), default=None)


def _where_to_search(
    stack: contextlib.ExitStack, executor: Executor | Client | None, checkpoint_s: float
) -> Executor | None:
    """Where rounds are searched. Workers of a cluster are closed with ``stack``, also if the search never begins."""
    searching = where_to_search(executor, checkpoint_s)
    if searching is not None and searching is not executor:
        stack.enter_context(searching)
    return searching


def _run(
    puzzle: Puzzle,
    archipelago: Archipelago,
    recorder: RunRecorder,
    directory: RunDirectory | None,
    *,
    target: int | None,
    seconds: float,
    steps: int | None,
    stop: StopRule | None,
    pins: int,
    on_improve: OnImprove | None,
    progress: Progress,
    raise_interrupt: bool,
) -> Result:
    log.info("%s: %d x %d, %d colours, best possible %d, sha256 %.12s", puzzle.name, puzzle.width, puzzle.height,
             puzzle.renumbered().colours, puzzle.max_score, puzzle.sha256)  # fmt: skip
    possible = pairing(puzzle)
    if possible.odd_colours:
        log.warning("%s", possible)
    if pins:
        log.info("%d cells of the start board are pinned", pins)
    if not is_compiled(main_kernel(archipelago.search.engine)):
        log.info("compiling the kernels (once after an install or upgrade)")
    shown = min(seconds, (None if stop is None else stop.max_seconds) or seconds)
    session = SearchSession(
        puzzle, archipelago, recorder, seconds=seconds,
        target=possible.best_possible if target is None else min(target, possible.best_possible),
        steps=steps, stop=stop,
        stop_wanted=(lambda: False) if directory is None else lambda: directory.stop_wanted,
        on_improve=on_improve,
        progress=progress_view(
            progress, shown if shown < UNLIMITED_S else None, kernels=kernel_count(archipelago.search.engine)
        ),
    )  # fmt: skip
    why = session.run()
    if session.interrupted and raise_interrupt:
        raise KeyboardInterrupt
    return _result(puzzle, archipelago, recorder, directory, why, target)


def _result(
    puzzle: Puzzle,
    archipelago: Archipelago,
    recorder: RunRecorder,
    directory: RunDirectory | None,
    why: str,
    target: int | None,
) -> Result:
    best = recorder.best
    board = Board.from_pairs(best["placements"], puzzle.width, puzzle.height).of(puzzle) if best else None
    return Result(
        puzzle=puzzle,
        board=board,
        score=-1 if board is None else verify(puzzle, board).score,
        why=why,
        statistics=archipelago.statistics,
        elapsed_s=recorder.history.elapsed_s,
        history=recorder.history,
        seed=archipelago.search.seed,
        islands={
            number: IslandSummary(number, island.best_score, island.steps, island.statistics)
            for number, island in sorted(archipelago.islands.items())
        },
        record=dict(best),
        target=target,
        run_dir=None if directory is None else str(directory.path),
        write_errors=list(recorder.write_errors),
    )


def _start(
    puzzle: Puzzle, start: BoardSource | None, pins: Pins | None, start_format: str | None, start_number: int | None
) -> tuple[Board | None, int, tuple[Clue, ...], tuple[str, ...]]:
    """(full start board or None, its score or -1, clues that keep the pinned cells, notes on how it was read)."""
    if start is None:
        if pins is not None:
            raise InputError("pins keep cells of a start board; expected a start board beside them")
        return None, -1, (), ()
    given, notes = read_board(start, puzzle, start_format, start_number)
    full, score = full_start(puzzle, given, None if isinstance(start, Board) else os.fspath(start))
    if pins is None:
        return full, score, (), notes
    named = cells.parse(pins, puzzle) if isinstance(pins, str) else list(pins)
    return full, score, pinned(puzzle, given, full, named), notes


def _plan(seconds: float) -> str:
    return f"{format_duration(seconds)} of search" if seconds < UNLIMITED_S else "no time limit"


def _patience(stop: StopRule | None) -> str:
    """What ends the search where it finds nothing better, behind its plan; "" if nothing does."""
    seconds = None if stop is None else stop.max_seconds_without_gain
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
