"""One session of a study, as `lns tune` holds it: workers search, then validate; the parent only watches."""

from __future__ import annotations

import logging
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from lns.worker_pool import WorkerLost, WorkerPool
from lns_support.errors import InputError
from tuning import validate
from tuning.objective import Trace
from tuning.study import FINISHED, Study, value_of
from tuning.worker import FAILURES, hold_out, search

log = logging.getLogger("lns")

Task = tuple[Callable[..., float], tuple[Any, ...]]

TICK_S = 1.0
GRACE_S = 10.0  # for a step that is under way
RESERVE = 1.1  # of the seconds that validation is expected to take


@dataclass(frozen=True)
class StudyProgress:
    """Where a session stands. ``best``: edges above the defaults of trial ``number``, None before the first one."""

    phase: str  # 'defaults', 'search' or 'validation'
    done: int  # runs, or trials while searching
    of: int  # runs, 0 while searching
    whole: int
    stopped: int
    running: int
    best: float | None
    number: int
    elapsed_s: float

    def __str__(self) -> str:
        if self.phase != "search":
            return f"{self.phase}: {self.done} of {self.of} runs made"
        best = (
            "no trial yet"
            if self.best is None
            else f"best {self.best:+.2f} edges expected over the defaults (trial {self.number})"
        )
        return f"{best}; {self.done} trials, {self.whole} whole, {self.stopped} given up early, {self.running} running"


@dataclass
class TuningSession:
    """``seconds``: for search and validation; ``trials``: that the study shall have; None: no limit."""

    study: Study
    workers: int
    seconds: float | None
    trials: int | None
    on_tick: Callable[[StudyProgress], None]
    interrupted: bool = False
    _pool: WorkerPool | None = None
    _runs_s: float = 0.0
    _all_s: float = 0.0
    _began: float = field(default_factory=time.monotonic)
    _told: set[int] = field(default_factory=set)
    _warned: bool = False
    _lost: int = 0
    _runs_by_then: int = 0

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def _end(self) -> float:
        return math.inf if self.seconds is None else self.seconds

    @property
    def overhead(self) -> float | None:
        """Part of the workers' time, from start to end, that was not spent inside of runs; None where none reported."""
        return 1 - self._runs_s / self._all_s if self._runs_s else None

    def stop(self) -> None:
        """End at the next step; what is finished is kept."""
        self.interrupted = True
        if self._pool is not None:
            self._pool.ask_to_stop()

    def kill(self) -> None:
        if self._pool is not None:
            self._pool.kill()

    def check_time(self) -> None:
        """Raises InputError when ``seconds`` cannot hold what is missing of the defaults' runs, and one trial."""
        plan, missing = self.study.plan, self._defaults_missing()
        if not missing or not plan.nodes_per_s:
            return
        needed = plan.nodes / plan.nodes_per_s * (missing + plan.pairs) / self.workers
        if needed > self._end:
            raise InputError(
                f"--time {self._end:.0f} is no time: the defaults and one trial alone take about {needed:.0f} s; "
                "expected more, or a smaller --run-seconds or --pairs in a new study"
            )

    def run(self) -> None:
        """Finish an earlier validation, search, validate.

        Raises InputError when the workers cannot be kept alive, or the engine's sources have changed; OSError when a
        run cannot be written; and what else fails in them while they search.
        """
        self._validate(validate.chosen(self.study))
        if not self.interrupted:
            self._search()
        if not self.interrupted:
            self._validate(validate.choose(self.study))

    def _search(self) -> None:
        if self.trials is not None and len(self.study.trials(*FINISHED)) >= self.trials:
            return
        begin = os.getpid()  # sessions of one study begin at different pairs
        tasks: list[Task] = [
            (search, (self.study.path, begin + number * self.study.plan.pairs // self.workers, self.trials))
            for number in range(self.workers)
        ]
        self._work(tasks, lambda: self.elapsed >= self._search_end(), "search")

    def _validate(self, candidates: Sequence[FrozenTrial]) -> None:
        tasks: list[Task] = [(hold_out, (self.study.path, *run)) for run in validate.missing(self.study, candidates)]
        self._work(tasks, lambda: self.elapsed >= self._end, "validation")
        self.study.run_store.refresh()

    def _work(self, tasks: list[Task], over: Callable[[], bool], phase: str) -> None:
        """Have the workers do ``tasks`` until ``over``; one whose worker died is done again."""
        if not tasks:
            return
        began = time.monotonic()
        pool = self._pool = WorkerPool(self.workers)
        if self.interrupted:
            pool.ask_to_stop()
        waiting: dict[Future[float], Task] = {pool.submit(task, *args): (task, args) for task, args in tasks}
        try:
            asked = False
            end = float("inf")
            while waiting and time.monotonic() < end:
                done, _ = wait(waiting, timeout=TICK_S, return_when=FIRST_COMPLETED)
                for future in done:
                    task, args = waiting.pop(future)
                    try:
                        self._runs_s += future.result()
                    except WorkerLost as error:
                        self._handle_lost_worker(error)
                        if not asked:
                            waiting[pool.submit(task, *args)] = (task, args)
                    except Exception as error:
                        if phase == "search" or isinstance(error, OSError | InputError):
                            raise
                        log.warning("a run of the validation failed: %s", error)  # no verdict then on this candidate
                if not asked and (self.interrupted or over()):
                    asked, end = True, time.monotonic() + GRACE_S
                    pool.ask_to_stop()
                self.on_tick(self.status(phase))
        finally:
            pool.shutdown()
            self._pool = None
            self._all_s += (time.monotonic() - began) * self.workers

    def _handle_lost_worker(self, error: WorkerLost) -> None:
        """Count the workers that died with no run finished in between: over a week some others will."""
        run_store = self.study.run_store
        run_store.refresh()
        self._lost = self._lost + 1 if run_store.lines == self._runs_by_then else 1
        self._runs_by_then = run_store.lines
        log.warning("%s; a new one takes over", error)
        if self._lost == FAILURES * self.workers:
            raise InputError(
                f"no worker stays alive ({error}); expected memory and rights to run {self.workers} of them"
            )

    # -- what is known so far ----------------------------------------------------------------------------------------

    def status(self, phase: str) -> StudyProgress:
        study = self.study
        study.run_store.refresh()
        trials = study.trials()
        self._complain()
        whole = [trial for trial in trials if trial.state == TrialState.COMPLETE]
        pruned = sum(trial.state == TrialState.PRUNED for trial in trials)
        best = max(whole, key=value_of, default=None)
        done, of = len(whole) + pruned, 0
        if phase == "search" and not self._defaults_missing():
            self._check_budget()
        if phase == "search" and (missing := self._defaults_missing()):
            phase, done, of = "defaults", study.plan.pairs - missing, study.plan.pairs
        elif phase == "validation":
            candidates = validate.chosen(study)
            of = (len(candidates) + 1) * study.plan.held_out
            done = of - len(validate.missing(study, candidates))
        return StudyProgress(
            phase,
            done,
            of,
            len(whole),
            pruned,
            sum(trial.state == TrialState.RUNNING for trial in trials),
            None if best is None else best.value,
            -1 if best is None else best.number,
            self.elapsed,
        )

    def _check_budget(self) -> None:
        """Say once where the defaults have no board within a short run: such runs tell nothing of a trial."""
        short = self.study.plan.short
        empty = sum(not trace.score_at(short) for trace in self._defaults())
        if empty and not self._warned:
            self._warned = True
            log.warning(
                "the defaults made no board within the %s nodes of a short run on %d of %d pairs; "
                "a study with a longer --run-seconds or more --nodes is the better one",
                f"{short:,}", empty, len(self.study.pairs),
            )  # fmt: skip

    def _complain(self) -> None:
        for trial in self.study.trials(TrialState.FAIL):
            error = trial.user_attrs.get("error")
            if error and trial.number not in self._told:
                self._told.add(trial.number)
                log.warning("trial %d failed: %s; its parameters: %s", trial.number, error, trial.params)

    def _defaults_missing(self) -> int:
        return len(self.study.pairs) - len(self._defaults())

    def _defaults(self) -> list[Trace]:
        study = self.study
        known = [study.run_store.get(study.key(study.base, pair)) for pair in study.pairs]
        return [trace for trace in known if trace is not None and trace.covers(study.plan.nodes)]

    def _search_end(self) -> float:
        """When to stop searching, so that the validation of what is promising now is over in time.

        It gets half of the time at most, and none while nothing is promising.
        """
        if self._defaults_missing():
            return self._end
        run_s = statistics.median(trace.wall_s for trace in self._defaults())
        return self._end - min(self._end / 2, self._validation_s(run_s))

    def _validation_s(self, run_s: float) -> float:
        candidates = len(validate.promising(self.study))
        if not candidates:
            return 0.0
        runs = (candidates + 1) * self.study.plan.held_out
        known = [self.study.run_store.get(self.study.key(self.study.base, pair)) for pair in self.study.held_out]
        runs -= sum(trace is not None for trace in known)
        return RESERVE * run_s * runs / self.workers
