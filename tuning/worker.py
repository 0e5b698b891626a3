"""The work of one process of a study: first the runs of the defaults, then one trial after another.

A trial is run on all pairs with short budgets, and pruned as soon as the signed-rank test says that it is worse than
the best trial. The best third of the trials that finish their short runs is promoted: it continues the same runs to
the long budget. The value of such a trial is its mean difference to the defaults there. To optuna all other trials are
pruned and so rank below. The first trials have long runs in any case, from which the rank correlation between short and
long runs is computed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from copy import copy
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import optuna
from optuna.trial import FrozenTrial, TrialState

from lns.instances.errors import InputError
from lns.params import Params
from lns.tuning.objective import Pair, Stopped, Trace, TrialRun, worth_difference
from lns.tuning.plan import StudyRequest
from lns.tuning.storage import RunKey, storage_errors
from lns.tuning.study import Study, open_study
from lns.worker_pool import stop_requested

PROMOTED_ONE_IN = 3  # of all trials that finished their short runs, one in so many is promoted
MAX_FAILURES = 5  # consecutive trials that fail, after which the worker stops
CALIBRATION_TRIALS = 6  # the first trials, which have long runs whatever their short runs show


class NoBoard(Exception):
    """A candidate makes no board within the budget on a pair where the defaults make one."""


class Worker:
    """Runs trials of a study; ``runs_s`` are the seconds spent inside of runs."""

    def __init__(self, study: Study) -> None:
        self.study, self.runs_s = study, 0.0
        self._live: dict[RunKey, tuple[TrialRun, Trace]] = {}  # of the current trial, to continue short runs

    def trace(self, params: Params, pair: Pair, budget: int, *, shared: bool) -> Trace:
        """The run of ``params`` on ``pair``, stored or made now; stored for all processes if ``shared``.

        Raises Stopped when asked to stop.
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
        """Make the runs of the defaults on all pairs, from pair ``first`` on, so that workers share them.

        A short run sets the floor of the pair, from which the boards of all other runs count.
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
        """Run trials until asked to stop, by Stopped, or until the study has ``max_trials``."""
        self.run_defaults(first)
        failures = 0
        while not stop_requested() and (trial := self.study.next_trial(max_trials)) is not None:
            error = self._tell(trial)
            failures = 0 if error is None else failures + 1
            if error is not None and failures == MAX_FAILURES:
                raise error

    def _tell(self, trial: optuna.Trial) -> Exception | None:
        """Run one trial and tell the result to optuna; the error if it failed. Raises Stopped."""
        tell = self.study.optuna.tell
        try:
            tell(trial, self._run_trial(trial))
        except Stopped:
            self.study.requeue(trial)
            raise
        except optuna.TrialPruned:
            tell(trial, state=TrialState.PRUNED)
        except (NoBoard, InputError) as error:  # values that the engine refuses on this board rank lowest
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
        """Run a trial; its value, the mean difference to the defaults in long runs, in edges.

        Raises TrialPruned if it is pruned or not promoted, NoBoard, or Stopped.
        """
        study, plan = self.study, self.study.plan
        params, pairs = study.params_of(trial), study.training
        before = study.trials()[trial.number]  # with the steps of an earlier attempt
        short = self._evaluate(trial, before, params, plan.short, 0)
        trial.set_user_attr("short", short)
        if _is_first(before):  # not all are promoted: runs, not steps, are what it goes on with
            long = fmean(self._difference(params, pair, plan.nodes, shared=True) for pair in pairs)
            trial.set_user_attr("long", long)
        others = [other.user_attrs["short"] for other in study.trials() if "short" in other.user_attrs]
        is_promoted = sum(other > short for other in others) < len(others) / PROMOTED_ONE_IN
        if not is_promoted and len(pairs) not in before.intermediate_values:
            trial.report(short, len(pairs))  # as in `_evaluate`
            raise optuna.TrialPruned
        return self._evaluate(trial, before, params, plan.nodes, len(pairs))

    def _difference(self, params: Params, pair: Pair, budget: int, *, shared: bool = False) -> float:
        """Difference to the defaults in the worth of the boards of a pair. Raises NoBoard."""
        candidate = self.trace(params, pair, budget, shared=shared)
        if not candidate.has_board(budget):
            raise NoBoard(pair.label)
        return worth_difference(candidate, self.trace(self.study.base, pair, budget, shared=True), budget)

    def _evaluate(
        self, trial: optuna.Trial, before: FrozenTrial, params: Params, budget: int, first_step: int
    ) -> float:
        """Mean difference to the defaults; each pair is reported to ``trial`` as a step, unless it was ``before``.

        Raises TrialPruned as soon as the trial is significantly worse than the best one on these pairs, NoBoard, or
        Stopped.
        """
        known, is_first = before.intermediate_values, _is_first(before)
        study, values, now = self.study.optuna, dict[int, float](), copy(before)
        now.intermediate_values = values  # of these runs alone: short ones say the same as the long ones
        for step, pair in enumerate(self.study.training, first_step):
            if step in known:
                values[step] = known[step]
            else:
                values[step] = self._difference(params, pair, budget)
                trial.report(values[step], step)
            if not is_first and step + 1 not in known and study.pruner.prune(study, now):
                trial.report(fmean(values.values()), step + 1)  # by its last value the sampler ranks it
                raise optuna.TrialPruned
        return fmean(values.values())


def _is_first(trial: FrozenTrial) -> bool:
    """Whether a trial, or its first attempt if it was tried again, is one of the first."""
    number: int = trial.system_attrs.get("failed_trial", trial.number)
    return number < CALIBRATION_TRIALS


def search_task(path: Path, first: int, max_trials: int | None, storage: str | None = None) -> float:
    """Task of a worker process: run trials until asked to stop or until the study has ``max_trials``, if not None.

    ``first`` is the index of the pair with which the runs of the defaults begin. Returns the seconds spent inside of
    runs.
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
    """Task of a worker process: one long run of ``params`` on the held-out pair ``index``, which is stored.

    Returns the seconds spent inside of runs.
    """
    with storage_errors(storage):
        worker = Worker(_opened(path, storage))
        worker.study.runs.refresh()
        with suppress(Stopped):
            worker.trace(params, worker.study.held_out[index], worker.study.plan.nodes, shared=True)
        return worker.runs_s
