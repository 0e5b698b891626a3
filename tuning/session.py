"""One session of a study: worker processes run the defaults, search and validate, while this process watches them.

A trial is run on all pairs with short budgets, and pruned as soon as the signed-rank test says that it is worse than
the best trial. The best third of the trials that finish their short runs is promoted: they continue the same runs to
the long budget. The value of a promoted trial is its mean difference to the defaults at that budget. Optuna records
the other finished trials as pruned, and ranks them lower. The first trials always have long runs, from which the rank
correlation between short and long runs is computed.
"""

from __future__ import annotations

import logging
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from lns.instances.errors import InputError
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.runs.files import format_duration
from lns.tuning import validate
from lns.tuning.objective import Pair, Stopped, Trace, TrialRun, worth_difference
from lns.tuning.sampler import STARTUP_TRIALS
from lns.tuning.storage import storage_errors
from lns.tuning.study import DEFAULT_PAIRS, DEFAULT_RUN_S, Study, StudyRequest, open_study, trial_value
from lns.worker_pool import InProcessExecutor, WorkerLost, WorkerPool, Workers, stop_requested

log = logging.getLogger("lns")

Task = tuple[Callable[..., float], tuple[Any, ...]]

PROMOTED_ONE_IN = 3  # of this many trials that finished their short runs, one is promoted to long runs
MAX_FAILURES = 5  # number of failed trials in a row after which a worker stops
CALIBRATION_TRIALS = 6  # number of first trials, which have long runs whatever their short runs show
TICK_S = 1.0  # seconds between two reports of progress
LOSSES_S = 3600.0  # `MAX_FAILURES` losses per worker within this number of seconds end a session
GRACE_S = 10.0  # seconds that the steps in progress have to end when a session stops
TYPICAL_TRIAL = 0.5  # share of its possible long runs that a later trial costs on average, as many trials end early
START_S, VALIDATION_MARGIN = 15.0, 1.1  # seconds planned to validate: START_S + VALIDATION_MARGIN x those of the runs
LEAST_RUN_S = 1.0  # least seconds of a long run that is shortened so that enough runs fit into the first session
SOLVED_S = 0.1  # least seconds assumed for a run (even if solved at once) and the work until the next run


# -- the work of one process ------------------------------------------------------------------------------------------


class NoBoard(Exception):
    """Raised if a candidate makes no board within the budget on a pair where the defaults make one."""


class Worker:
    """Runs trials of a study; ``runs_s`` is the time spent inside of runs, in seconds."""

    def __init__(self, study: Study) -> None:
        self.study, self.runs_s = study, 0.0
        self._live: dict[str, tuple[TrialRun, Trace]] = {}  # runs of the current trial, which may be continued

    def trace(self, params: Params, pair: Pair, budget: int, *, shared: bool) -> Trace:
        """Return the run of ``params`` on ``pair``, stored or made now.

        If ``shared``, a new run is stored for all processes. Raises Stopped if the worker is asked to stop.
        """
        study, key = self.study, self.study.key(params, pair)
        run, trace = self._live.get(key, (None, study.run_of(params, pair, budget)))
        if trace is None or not trace.covers(budget):
            run = run or TrialRun(study.plan.engine, params, pair, study.plan.short)
            began = time.monotonic()
            try:
                trace = run.advance(budget, stop_requested)
            finally:
                self.runs_s += time.monotonic() - began
            self._live[key] = run, trace
            if shared:
                study.runs.add(key, trace)
        return trace

    def run_defaults(self, first: int) -> None:
        """Make the missing runs of the defaults on all pairs, each worker beginning with another pair ``first``.

        A short run sets the floor of its pair, the score from which boards count in all other runs on this pair.
        """
        study, plan = self.study, self.study.plan
        for i in range(plan.pairs):
            study.runs.refresh()
            pair = study.pairs[(first + i) % plan.pairs]
            self.trace(study.base, pair, plan.short, shared=True)
            for floored in (each for each in study.training if each.seed == pair.seed):
                self.trace(study.base, floored, plan.nodes, shared=True)
            self._live.clear()
        study.runs.refresh()
        if not study.training:
            raise InputError(
                f"the defaults make no board within a short run of {plan.short:,} nodes on any pair, so trials "
                "cannot be compared; expected a new study with a longer --run-seconds or more --nodes"
            )

    def search(self, first: int, max_trials: int | None) -> None:
        """Run trials until asked to stop or the study has ``max_trials``. Raises Stopped if asked during a run."""
        self.run_defaults(first)
        failures = 0
        while not stop_requested() and (trial := self.study.next_trial(max_trials)) is not None:
            error = self._tell(trial)
            failures = 0 if error is None else failures + 1
            if error is not None and failures == MAX_FAILURES:
                raise error

    def _tell(self, trial: optuna.Trial) -> Exception | None:
        """Run one trial and tell optuna its result; return the error if it failed. Raises Stopped if asked to stop."""
        tell = self.study.optuna.tell
        try:
            tell(trial, self._run_trial(trial))
        except Stopped:
            self.study.requeue(trial)
            raise
        except optuna.TrialPruned:
            tell(trial, state=TrialState.PRUNED)
        except (NoBoard, InputError) as error:  # InputError: the engine refuses these parameters
            trial.set_user_attr("no_board" if isinstance(error, NoBoard) else "refused", str(error)[:500])
            tell(trial, state=TrialState.PRUNED)
        except Exception as error:
            trial.set_user_attr("error", f"{type(error).__name__}: {error}"[:500])
            tell(trial, state=TrialState.FAIL)
            return error
        finally:
            self._live.clear()
        return None

    def _run_trial(self, trial: optuna.Trial) -> float:
        """Run a trial; return its value, the mean difference to the defaults in long runs, in edges.

        Raises TrialPruned if the trial is pruned or not promoted; NoBoard and Stopped come from its runs.
        """
        study, plan = self.study, self.study.plan
        params, pairs = study.params_of(trial), study.training
        before = study.trials()[trial.number]  # holds the steps of an earlier attempt, if any
        short = self._evaluate(trial, before, params, plan.short, 0)
        trial.set_user_attr("short", short)
        if _is_first(before):  # stored, but not reported as steps, as the trial may not be promoted
            long = fmean(self._difference(params, pair, plan.nodes, shared=True) for pair in pairs)
            trial.set_user_attr("long", long)
        others = [other.user_attrs["short"] for other in study.trials() if "short" in other.user_attrs]
        is_promoted = sum(other > short for other in others) < len(others) / PROMOTED_ONE_IN
        if not is_promoted and len(pairs) not in before.intermediate_values:
            trial.report(short, len(pairs))  # the last value is what the sampler ranks the trial by
            raise optuna.TrialPruned
        return self._evaluate(trial, before, params, plan.nodes, len(pairs))

    def _difference(self, params: Params, pair: Pair, budget: int, *, shared: bool = False) -> float:
        """Return the difference to the defaults in worth on a pair. Raises NoBoard if the candidate made no board."""
        candidate = self.trace(params, pair, budget, shared=shared)
        if not candidate.has_board(budget):
            raise NoBoard(pair.label)
        return worth_difference(candidate, self.trace(self.study.base, pair, budget, shared=True), budget)

    def _evaluate(
        self, trial: optuna.Trial, before: FrozenTrial, params: Params, budget: int, first_step: int
    ) -> float:
        """Return the mean difference to the defaults; report the differences not in ``before`` as steps of ``trial``.

        Raises TrialPruned as soon as the trial, unless it is one of the first, is significantly worse than the best
        trial on these pairs; NoBoard and Stopped come from its runs.
        """
        known, is_first = before.intermediate_values, _is_first(before)
        study, values, now = self.study.optuna, dict[int, float](), copy(before)
        now.intermediate_values = values  # the pruner sees only runs of this budget, as long runs contain short ones
        for step, pair in enumerate(self.study.training, first_step):
            if step in known:
                values[step] = known[step]
            else:
                values[step] = self._difference(params, pair, budget)
                trial.report(values[step], step)
            if not is_first and step + 1 not in known and study.pruner.prune(study, now):
                trial.report(fmean(values.values()), step + 1)  # the last value is what the sampler ranks the trial by
                raise optuna.TrialPruned
        return fmean(values.values())


def _is_first(trial: FrozenTrial) -> bool:
    """Return whether a trial, or its first attempt if it was retried, is one of the first `CALIBRATION_TRIALS`."""
    number: int = trial.system_attrs.get("failed_trial", trial.number)
    return number < CALIBRATION_TRIALS


def search_task(path: Path, first: int, max_trials: int | None, storage: str | None = None) -> float:
    """Run trials in a worker process until asked to stop or until the study has ``max_trials`` (None: no limit).

    The runs of the defaults begin with the pair of index ``first``, modulo the number of pairs. Returns the seconds
    spent inside of runs.
    """
    with storage_errors(storage):
        worker = Worker(open_study(path, StudyRequest(storage=storage)))
        with suppress(Stopped):
            worker.search(first, max_trials)
        return worker.runs_s


@lru_cache(maxsize=1)
def _opened(path: Path, storage: str | None) -> Study:
    return open_study(path, StudyRequest(storage=storage))


def validation_task(path: Path, params: Params, index: int, storage: str | None = None) -> float:
    """Make and store, in a worker process, one long run of ``params`` on the held-out pair with this index.

    Returns the seconds spent inside of runs.
    """
    with storage_errors(storage):
        worker = Worker(_opened(path, storage))
        worker.study.runs.refresh()
        with suppress(Stopped):
            worker.trace(params, worker.study.held_out[index], worker.study.plan.nodes, shared=True)
        return worker.runs_s


# -- the process that watches the workers ------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyProgress:
    """How far a session is."""

    phase: str  # 'defaults', 'search', 'validation' or, at the end, 'report'
    done: int  # number of runs made in the phase; in the search and the report, number of finished trials
    total: int  # number of runs that the phase needs; 0 in the search and the report
    pruned: int  # number of trials that ended early
    running: int  # number of trials that are running
    best: float | None  # value of the best trial, in edges above the defaults; None before the first value
    best_trial: int  # number of the best trial; -1 before the first value
    elapsed_s: float  # seconds since the session began
    runs: int = 0  # number of runs made so far by the running trials
    max_trials: int | None = None  # number of trials at which the search ends
    left_s: float | None = None  # estimated seconds until ``max_trials``, None if unknown

    def __str__(self) -> str:
        if self.phase == "report":
            return f"writing the report of {count_of(self.done, 'trial')}"
        if self.total:
            what = "the defaults" if self.phase == "defaults" else "test on held-out pairs"
            return f"{what}: {self.done} of {self.total} runs made"
        best = "no trial yet"
        if self.best is not None:
            best = f"best {self.best:+.2f} edges over the defaults (trial {self.best_trial})"
        trials = count_of(self.done, "trial") if self.max_trials is None else f"{self.done} of {self.max_trials} trials"
        now = f", {count_of(self.runs, 'run')} of the next" if self.running else ""
        left = "" if not self.left_s else f"; all trials take about {format_duration(self.left_s)} more"
        return f"{best}; {trials}, {self.pruned} ended early{now}{left}"


class TuningSession:
    """A session of search and validation, of at most ``seconds``; it searches until the study has ``max_trials``.

    ``seconds`` include the validation; None means no limit. ``on_progress`` is called about once a second with a
    `StudyProgress`. ``interrupted`` says whether the session was asked to stop.
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
        self._pool: Workers = InProcessExecutor()  # the workers of the current or the last phase
        self._began = time.monotonic()
        self._runs_s = self._workers_s = 0.0  # seconds that workers spent inside of runs, and in all
        self._said: set[object] = set()  # keys of the messages that were logged
        self._losses: list[float] = []  # when workers died, in seconds since the session was made

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
        self._pool.ask_to_stop()

    def kill(self) -> None:
        """Kill the worker processes."""
        self._pool.kill()

    def run(self) -> None:
        """Finish the validation of earlier sessions, search, then validate the new candidates.

        Raises InputError if worker processes die again and again or the engine's sources have changed, OSError if a run
        cannot be written, and any other error of the search.
        """
        study, most, now = self.study, self.max_trials, os.getpid()  # the id lets each session begin at another pair
        self._validate(validate.candidates_of(study))
        if not self.interrupted and (most is None or len(study.finished) < most):
            firsts = (now + number * study.plan.pairs // self.workers for number in range(self.workers))
            tasks: list[Task] = [(search_task, (study.path, each, most, study.storage)) for each in firsts]
            self._work(tasks, self.search_end, "search")
        if not self.interrupted:
            self._validate(validate.choose_candidates(study))

    def _validate(self, candidates: Sequence[FrozenTrial]) -> None:
        study = self.study
        runs = validate.missing_runs(study, candidates)
        tasks: list[Task] = [(validation_task, (study.path, *run, study.storage)) for run in runs]
        self._work(tasks, lambda: self._time_limit, "validation")
        study.runs.refresh()

    def _work(self, tasks: list[Task], end_of_phase: Callable[[], float], phase: str) -> None:
        """Run ``tasks`` in the workers until `elapsed` is ``end_of_phase()``; rerun each task whose worker died."""
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
                        self.count_lost_worker(error)
                        if end == math.inf:
                            waiting[pool.submit(task, *args)] = (task, args)
                    except Exception as error:
                        if phase == "search" or isinstance(error, OSError | InputError):
                            raise
                        log.warning("a run of the validation failed: %s", error)  # the run's candidate gets no verdict
                if end == math.inf and (self.interrupted or self.elapsed >= end_of_phase()):
                    end = time.monotonic() + GRACE_S
                    pool.ask_to_stop()
                self.on_progress(self.progress(phase))
        finally:
            pool.shutdown()
            self._workers_s += (time.monotonic() - began) * self.workers

    def count_lost_worker(self, error: WorkerLost) -> None:
        """Log that a worker died. Raises InputError if too many died within `LOSSES_S`; a few a week are normal."""
        self._losses = [at for at in self._losses if self.elapsed - at < LOSSES_S] + [self.elapsed]
        log.warning("%s; it is replaced", error)
        if len(self._losses) == MAX_FAILURES * self.workers:
            raise InputError(
                f"worker processes die again and again ({error}); "
                f"expected memory and permissions for {self.workers} of them"
            )

    def progress(self, phase: str) -> StudyProgress:
        """Return how far the session is in ``phase``; also log failed trials and pairs with too short a budget."""
        study, plan, most = self.study, self.study.plan, self.max_trials
        study.runs.refresh()
        states = TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING, TrialState.FAIL
        completed, pruned, running, failed = map(study.trials, states)
        for trial in (trial for trial in failed if "error" in trial.user_attrs):
            what = printable(str(trial.user_attrs["error"]))
            self._say(trial.number, f"trial {trial.number} failed: {what}; its parameters: {trial.params}")
        best, left = max(completed, key=trial_value, default=None), None
        done, total, missing = len(completed) + len(pruned), 0, self._missing_defaults()
        if phase == "search":
            if most is not None and (run_s := self._run_seconds()) is not None:
                left = self._seconds_of_trials(run_s, most)
            if missing:
                phase, done, total = "defaults", plan.pairs - missing, plan.pairs
            elif empty := study.left_out:
                self._say(
                    "no board",
                    f"the defaults make no board within the {plan.short:,} nodes of a short run on {len(empty)} of "
                    f"{plan.pairs} pairs, which are left out: {', '.join(pair.label for pair in empty)}; expected a "
                    "new study with a longer --run-seconds or more --nodes",
                )
        elif phase == "validation":
            candidates = validate.candidates_of(study)
            total = (len(candidates) + 1) * plan.held_out
            done = total - len(validate.missing_runs(study, candidates))
        self._forecast()
        return StudyProgress(
            phase=phase, done=done, total=total, pruned=len(pruned), running=len(running), max_trials=most, left_s=left,
            best=None if best is None else best.value, best_trial=-1 if best is None else best.number,
            elapsed_s=self.elapsed, runs=sum(len(trial.intermediate_values) for trial in running),
        )  # fmt: skip

    def _say(self, what: object, message: str, level: int = logging.WARNING) -> None:
        """Log ``message`` unless a message with the same key ``what`` was logged before."""
        if what not in self._said:
            self._said.add(what)
            log.log(level, "%s", message)

    def check_time(self) -> None:
        """Log, before the first run, whether the time limit suffices for a verdict, if the time of a run is known.

        Raises InputError if the limit is too short even for the missing runs of the defaults and one trial.
        """
        plan, missing, run_s = self.study.plan, self._missing_defaults(), self._run_seconds()
        if missing and plan.nodes_per_s and run_s is not None:
            needed = run_s * (missing + plan.pairs) / self.workers
            if needed > self._time_limit:
                raise InputError(
                    f"--time {self._time_limit:.0f} is too short: the defaults and one trial take about "
                    f"{format_duration(needed)}, and a verdict {format_duration(self._seconds_to_verdict(run_s))}; "
                    "expected more, or a smaller --run-seconds or --pairs in a new study"
                )
        self._forecast()

    def _forecast(self) -> None:
        """Log once, when the time of a run is known, whether the limits of time and trials allow a verdict."""
        if (run_s := self._run_seconds()) is None or "forecast" in self._said:
            return
        plan, needed = self.study.plan, self._seconds_to_verdict(run_s)
        takes, level = f"about {format_duration(needed)} with {count_of(self.workers, 'worker')}", logging.WARNING
        if needed > self._time_limit:
            trials = (self._time_limit * self.workers / run_s - self._missing_defaults()) / plan.pairs
            message = (
                f"too short for a verdict: it takes {takes} (the defaults, the first {STARTUP_TRIALS} trials, and the "
                f"test of one candidate on {plan.held_out} held-out pairs), and this session has "
                f"{format_duration(self._time_limit)}, for about {count_of(max(0, round(trials)), 'trial')}; the same "
                "command continues the study"
            )
        elif (self.max_trials or STARTUP_TRIALS) < STARTUP_TRIALS > len(self.study.finished):
            message = (
                f"too few trials for a good search: the first {STARTUP_TRIALS} are drawn at random, and only later "
                f"ones learn from them; --trials {STARTUP_TRIALS} takes {takes}"
            )
        elif needed:
            message, level = f"a verdict takes {takes}; more time finds better parameters", logging.INFO
        else:
            return
        self._say("forecast", message, level)

    def _seconds_to_verdict(self, run_s: float) -> float:
        """Estimate the seconds to a verdict: runs of the defaults, random trials, and the test of one candidate."""
        test = 0 if validate.candidates_of(self.study) else 2 * self.study.plan.held_out
        return self._seconds_of_trials(run_s, STARTUP_TRIALS) + run_s * test / self.workers

    def _seconds_of_trials(self, run_s: float, trials: int) -> float:
        """Estimate the seconds until the study has ``trials`` trials in all, missing runs of the defaults included."""
        finished = len(self.study.finished)
        missing, whole = max(0, trials - finished), max(0, CALIBRATION_TRIALS - finished)
        runs = min(missing, whole) + TYPICAL_TRIAL * max(0, missing - whole)
        return run_s * (self._missing_defaults() + self.study.plan.pairs * runs) / self.workers

    def _run_seconds(self) -> float | None:
        """Return the seconds of a long run, measured or from the plan's nodes per second; None if both are unknown."""
        if runs := self.study.default_runs:
            return max(SOLVED_S, statistics.median(trace.wall_s for trace in runs))
        plan = self.study.plan
        return plan.nodes / plan.nodes_per_s if plan.nodes_per_s else None

    def _missing_defaults(self) -> int:
        """Count training pairs with a missing run of the defaults: a short one or, if that made a board, a long one."""
        return self.study.plan.pairs - len(self.study.default_runs) - len(self.study.left_out)

    def search_end(self) -> float:
        """Return the value of `elapsed` at which the search ends, so that new candidates can still be tested.

        The test gets at most half of the session's time, and none while there are no new candidates.
        """
        study, candidates = self.study, len(validate.new_candidates(self.study))
        if not candidates or self._missing_defaults():
            return self._time_limit
        made = sum(study.run_of(study.base, pair, study.plan.nodes) is not None for pair in study.held_out)
        missing = (candidates + 1) * study.plan.held_out - made
        needed = START_S + VALIDATION_MARGIN * (self._run_seconds() or 0.0) * missing / self.workers
        return self._time_limit - min(self._time_limit / 2, needed)


def fitting_run_seconds(request: StudyRequest, time: float, workers: int) -> float:
    """Return the seconds of a new study's long runs: `DEFAULT_RUN_S`, or less to fit the first trials into ``time``."""
    fitting = time * workers / ((request.pairs or DEFAULT_PAIRS) * (1 + CALIBRATION_TRIALS))
    if fitting >= DEFAULT_RUN_S:
        return DEFAULT_RUN_S
    seconds = max(LEAST_RUN_S, float(f"{fitting:.2g}"))
    log.warning(
        "runs of %g s instead of %g s, so that the defaults and %d trials fit into this session; --run-seconds sets "
        "another length", seconds, DEFAULT_RUN_S, CALIBRATION_TRIALS,
    )  # fmt: skip
    return seconds
