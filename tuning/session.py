"""One session of a study: worker processes search, then validate, while this process watches them."""

from __future__ import annotations

import logging
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from lns.worker_pool import WorkerLost, WorkerPool
from lns_support.errors import InputError
from lns_support.text import count_of, printable
from tuning import validate
from tuning.objective import Trace
from tuning.sampler import STARTUP_TRIALS
from tuning.study import FINISHED, Study, trial_value
from tuning.worker import CALIBRATION_TRIALS, MAX_FAILURES, search_task, validation_task

log = logging.getLogger("lns")

Task = tuple[Callable[..., float], tuple[Any, ...]]

TICK_S = 1.0  # between two reports of progress
GRACE_S = 10.0  # for the steps in progress when a session stops
TYPICAL_TRIAL = 0.5  # cost of a trial after the first ones, as a part of its long runs on all pairs: many end early
VALIDATION_MARGIN = 1.1  # the validation gets its expected seconds times this
_PHASES = {"defaults": "the defaults", "validation": "test on held-out pairs"}


@dataclass(frozen=True)
class StudyProgress:
    """State of a session.

    Parameters
    ----------
    phase : str
        'defaults', 'search', 'validation' or, at the end, 'report'.
    done, total : int
        Runs made of the phase and in all; trials finished and 0 in the search and the report.
    completed, pruned, running : int
        Number of trials in each state.
    best : float or None
        Value of the best trial in edges above the defaults, None before the first.
    best_trial : int
        Its number, -1 before the first.
    elapsed_s : float
        Seconds since the session began.
    """

    phase: str
    done: int
    total: int
    completed: int
    pruned: int
    running: int
    best: float | None
    best_trial: int
    elapsed_s: float

    def __str__(self) -> str:
        if self.phase == "report":
            return f"writing the report of {count_of(self.done, 'trial')}"
        if self.phase in _PHASES:
            return f"{_PHASES[self.phase]}: {self.done} of {self.total} runs made"
        best = "no trial yet"
        if self.best is not None:
            best = f"best {self.best:+.2f} edges over the defaults (trial {self.best_trial})"
        return f"{best}; {count_of(self.done, 'trial')}, {self.pruned} ended early"


class TuningSession:
    """A session of search and validation.

    Parameters
    ----------
    study : Study
        The open study.
    workers : int
        Number of worker processes.
    seconds : float or None
        Time limit, validation included; None for none.
    max_trials : int or None
        Trials that the study shall have in all; None for no limit.
    on_progress : callable
        Called about once a second with a `StudyProgress`.

    Attributes
    ----------
    interrupted : bool
        Whether it was asked to stop.
    """

    def __init__(
        self,
        study: Study,
        workers: int,
        seconds: float | None,
        max_trials: int | None,
        on_progress: Callable[[StudyProgress], None],
    ) -> None:
        self.study, self.workers, self.max_trials, self.on_progress = study, workers, max_trials, on_progress
        self.interrupted = False
        self._time_limit = math.inf if seconds is None else seconds
        self._pool: WorkerPool | None = None
        self._began = time.monotonic()
        self._runs_s = self._workers_s = 0.0  # that workers spent inside of runs, and that they existed
        self._said: set[object] = set()  # the failed trials and warnings that were logged
        self._lost_in_a_row = self._runs_at_last_loss = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the session was made."""
        return time.monotonic() - self._began

    @property
    def overhead(self) -> float | None:
        """Fraction of the workers' time, start-up included, that was spent outside of runs; None without any run."""
        return 1 - self._runs_s / self._workers_s if self._runs_s else None

    def stop(self) -> None:
        """End the session at the next step of each run; finished runs are kept."""
        self.interrupted = True
        if self._pool is not None:
            self._pool.ask_to_stop()

    def kill(self) -> None:
        """Kill the worker processes."""
        if self._pool is not None:
            self._pool.kill()

    def run(self) -> None:
        """Finish the validation of an earlier session, search, validate.

        Raises
        ------
        InputError
            Worker processes die again and again, or the engine's sources have changed.
        OSError
            A run cannot be written.
        Exception
            What else fails in the search.
        """
        self._validate(validate.candidates_of(self.study))
        if not self.interrupted:
            self._search()
        if not self.interrupted:
            self._validate(validate.choose_candidates(self.study))

    def _search(self) -> None:
        study, first = self.study, os.getpid()  # so that sessions of one study begin at different pairs
        if self.max_trials is not None and len(study.trials(*FINISHED)) >= self.max_trials:
            return
        firsts = (first + number * study.plan.pairs // self.workers for number in range(self.workers))
        tasks: list[Task] = [(search_task, (study.path, each, self.max_trials, study.storage)) for each in firsts]
        self._work(tasks, self._search_end, "search")

    def _validate(self, candidates: Sequence[FrozenTrial]) -> None:
        study = self.study
        tasks: list[Task] = [
            (validation_task, (study.path, *run, study.storage)) for run in validate.missing_runs(study, candidates)
        ]
        if study.storage is not None:  # other machines begin elsewhere
            random.Random(os.getpid()).shuffle(tasks)
        self._work(tasks, lambda: self._time_limit, "validation")
        study.run_store.refresh()

    def _work(self, tasks: list[Task], end_of_phase: Callable[[], float], phase: str) -> None:
        """Run ``tasks`` in the workers until the second ``end_of_phase``; one whose worker died is run again."""
        if not tasks:
            return
        began = time.monotonic()
        pool = self._pool = WorkerPool(self.workers)
        if self.interrupted:
            pool.ask_to_stop()
        waiting: dict[Future[float], Task] = {pool.submit(task, *args): (task, args) for task, args in tasks}
        try:
            end = math.inf
            while waiting and time.monotonic() < end:
                done, _ = wait(waiting, timeout=TICK_S, return_when=FIRST_COMPLETED)
                for future in done:
                    task, args = waiting.pop(future)
                    try:
                        self._runs_s += future.result()
                    except WorkerLost as error:
                        self._handle_lost_worker(error)
                        if end == math.inf:
                            waiting[pool.submit(task, *args)] = (task, args)
                    except Exception as error:
                        if phase == "search" or isinstance(error, OSError | InputError):
                            raise
                        log.warning("a run of the validation failed: %s", error)  # its candidate gets no verdict
                if end == math.inf and (self.interrupted or self.elapsed >= end_of_phase()):
                    end = time.monotonic() + GRACE_S
                    pool.ask_to_stop()
                self.on_progress(self.progress(phase))
        finally:
            pool.shutdown()
            self._pool = None
            self._workers_s += (time.monotonic() - began) * self.workers

    def _handle_lost_worker(self, error: WorkerLost) -> None:
        """Count the workers that died without a finished run in between; single losses are normal over a week."""
        run_store = self.study.run_store
        run_store.refresh()
        self._lost_in_a_row = self._lost_in_a_row + 1 if run_store.lines == self._runs_at_last_loss else 1
        self._runs_at_last_loss = run_store.lines
        log.warning("%s; it is replaced", error)
        if self._lost_in_a_row == MAX_FAILURES * self.workers:
            raise InputError(
                f"worker processes die again and again ({error}); "
                f"expected memory and permissions for {self.workers} of them"
            )

    # -- what is known so far ----------------------------------------------------------------------------------------

    def progress(self, phase: str) -> StudyProgress:
        """The state of the session in ``phase``; also logs failed trials and a budget that is too short."""
        study = self.study
        study.run_store.refresh()
        trials = study.trials()
        completed = [trial for trial in trials if trial.state == TrialState.COMPLETE]
        pruned = sum(trial.state == TrialState.PRUNED for trial in trials)
        best = max(completed, key=trial_value, default=None)
        done, total, missing = len(completed) + pruned, 0, self._missing_defaults()
        self._warn(trials, phase, missing)
        if phase == "search" and missing:
            phase, done, total = "defaults", study.plan.pairs - missing, study.plan.pairs
        elif phase == "validation":
            candidates = validate.candidates_of(study)
            total = (len(candidates) + 1) * study.plan.held_out
            done = total - len(validate.missing_runs(study, candidates))
        return StudyProgress(
            phase=phase,
            done=done,
            total=total,
            completed=len(completed),
            pruned=pruned,
            running=sum(trial.state == TrialState.RUNNING for trial in trials),
            best=None if best is None else best.value,
            best_trial=-1 if best is None else best.number,
            elapsed_s=self.elapsed,
        )

    def _warn(self, trials: Sequence[FrozenTrial], phase: str, missing: int) -> None:
        """Say once what is wrong: failed trials, too little time, defaults without a board in a short run."""
        study, short = self.study, self.study.plan.short
        for trial in trials:
            error = trial.user_attrs.get("error") if trial.state == TrialState.FAIL else None
            if error and self._is_new(trial.number):
                what = printable(str(error))
                log.warning("trial %d failed: %s; its parameters: %s", trial.number, what, trial.params)
        if (run_s := self._run_seconds()) is not None:
            self._forecast(run_s)
        empty = [] if phase != "search" or missing else study.left_out
        if empty and self._is_new("short"):
            log.warning(
                "the defaults make no board within the %s nodes of a short run on %d of %d pairs, which are left out: "
                "%s; expected a new study with a longer --run-seconds or more --nodes",
                f"{short:,}", len(empty), study.plan.pairs, ", ".join(pair.label for pair in empty),
            )  # fmt: skip

    def _is_new(self, what: object) -> bool:
        is_new = what not in self._said
        self._said.add(what)
        return is_new

    def check_time(self) -> None:
        """Say before the first run whether the time limit is long enough for a verdict, as far as that is known.

        Raises
        ------
        InputError
            The time limit is too short even for the missing runs of the defaults and one trial.
        """
        plan, missing, run_s = self.study.plan, self._missing_defaults(), self._run_seconds()
        if run_s is None:
            return
        needed = run_s * (missing + plan.pairs) / self.workers
        if missing and plan.nodes_per_s and needed > self._time_limit:
            raise InputError(
                f"--time {self._time_limit:.0f} is too short: the defaults and one trial take about "
                f"{in_minutes(needed)}, and a verdict {in_minutes(self._seconds_to_verdict(run_s))}; "
                "expected more, or a smaller --run-seconds or --pairs in a new study"
            )
        self._forecast(run_s)

    def _forecast(self, run_s: float) -> None:
        """Say once whether the limits allow a verdict, where a run takes ``run_s``."""
        if not self._is_new("forecast"):
            return
        plan, needed, workers = self.study.plan, self._seconds_to_verdict(run_s), count_of(self.workers, "worker")
        if needed > self._time_limit:
            runs = self._time_limit * self.workers / run_s - self._missing_defaults()
            log.warning(
                "too short for a verdict: it takes about %s with %s (the defaults, the first %d trials, and the test "
                "of one candidate on %d held-out pairs), and this session has %s, for about %s; the same command "
                "continues the study", in_minutes(needed), workers, STARTUP_TRIALS, plan.held_out,
                in_minutes(self._time_limit), count_of(max(0, round(runs / plan.pairs)), "trial"),
            )  # fmt: skip
        elif (self.max_trials or STARTUP_TRIALS) < STARTUP_TRIALS > len(self.study.trials(*FINISHED)):
            log.warning(
                "too few trials for a good search: the first %d are drawn at random, and only later ones learn from "
                "them; --trials %d takes about %s with %s", STARTUP_TRIALS, STARTUP_TRIALS, in_minutes(needed), workers,
            )  # fmt: skip
        elif needed:
            log.info("a verdict takes about %s with %s; more time finds better parameters", in_minutes(needed), workers)

    def _seconds_to_verdict(self, run_s: float) -> float:
        """About how long until the study can say anything: defaults, random trials, and the test of one candidate."""
        study, plan = self.study, self.study.plan
        finished = len(study.trials(*FINISHED))
        whole = max(0, CALIBRATION_TRIALS - finished)
        short = max(0, STARTUP_TRIALS - finished) - whole
        runs = self._missing_defaults() + plan.pairs * (whole + TYPICAL_TRIAL * short)
        if not validate.candidates_of(study):
            runs += 2 * plan.held_out
        return run_s * runs / self.workers

    def _run_seconds(self) -> float | None:
        """Seconds of a long run: measured where some were made, else by the rate that the study began with."""
        if runs := self._default_runs():
            return statistics.median(trace.wall_s for trace in runs)
        plan = self.study.plan
        return plan.nodes / plan.nodes_per_s if plan.nodes_per_s else None

    def _missing_defaults(self) -> int:
        """Number of the training pairs on which the defaults are to be run; a short run without a board is enough."""
        return self.study.plan.pairs - len(self._default_runs()) - len(self.study.left_out)

    def _default_runs(self) -> list[Trace]:
        """The long runs of the defaults on the training pairs that are complete."""
        return [run for pair in self.study.pairs if (run := self.study.long_default_run(pair)) is not None]

    def _search_end(self) -> float:
        """Second of the session at which the search ends, so that the test of the new candidates fits into the limit.

        The test gets half of the time at most, and none while there are no new candidates.
        """
        study, runs = self.study, self._default_runs()
        candidates = len(validate.new_candidates(study))
        if not candidates or not runs or self._missing_defaults():
            return self._time_limit
        keys = (study.key(study.base, pair) for pair in study.held_out)
        missing = (candidates + 1) * study.plan.held_out - sum(study.run_store.get(key) is not None for key in keys)
        needed = VALIDATION_MARGIN * statistics.median(run.wall_s for run in runs) * missing / self.workers
        return self._time_limit - min(self._time_limit / 2, needed)


def in_minutes(seconds: float) -> str:
    """A duration in words of one unit, such as "40 s", "25 minutes" or "3.5 hours"."""
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{math.ceil(seconds / 60)} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.1f} hours"
