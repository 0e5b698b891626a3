"""The work of one process of a study: first the runs of the defaults, then one trial after another.

A trial is run on all pairs with short budgets, and pruned as soon as the signed-rank test says that it is worse than
the best trial (`tuning.pruner.PairedPruner`). The best third of the trials that finish their short runs is promoted:
it continues the same runs to the long budget. The value of such a trial is its mean difference to the defaults there.
To optuna all other trials are pruned and so rank below. The first trials have long runs in any case, from which the
rank correlation between short and long runs is computed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import optuna
from optuna.trial import TrialState

from lns.params import Params
from lns.worker_pool import stop_requested
from lns_support.errors import InputError
from tuning.objective import Pair, Stopped, Trace, TrialRun, worth_difference
from tuning.run_store import RunKey
from tuning.space import suggest_params
from tuning.storage import storage_errors
from tuning.study import Study, first_number

PROMOTED_ONE_IN = 3  # of all trials that finished their short runs, one in so many is promoted
MAX_FAILURES = 5  # consecutive trials that fail, after which the worker stops
CALIBRATION_TRIALS = 6  # the first trials, which have long runs whatever their short runs show


class NoBoard(Exception):
    """A candidate makes no board within the budget on a pair where the defaults make one."""


class Worker:
    """Runs trials of a study.

    Parameters
    ----------
    study : Study
        The open study.

    Attributes
    ----------
    runs_s : float
        Seconds spent inside of runs.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self.runs_s = 0.0
        self._live: dict[RunKey, TrialRun] = {}  # engines of the current trial, to continue short runs to long ones

    def trace(self, params: Params, pair: Pair, budget: int) -> Trace:
        """The run of ``params`` on ``pair``, from the run store or made now. Raises Stopped when asked to stop."""
        study, key = self.study, self.study.key(params, pair)
        stored = study.run_store.get(key)
        if stored is not None and stored.covers(budget):
            return stored
        run = self._live.get(key)
        if run is None:
            run = self._live[key] = TrialRun(study.plan.engine, params, pair, study.plan.short)
        began = time.monotonic()
        try:
            trace = run.advance(budget, stop_requested)
        finally:
            self.runs_s += time.monotonic() - began
        study.run_store.add(key, trace)
        return trace

    def clear(self) -> None:
        """Release the engines of the last trial."""
        self._live.clear()

    def run_defaults(self, first: int) -> None:
        """Make the runs of the defaults on all pairs, from pair ``first`` on, so that workers share them.

        A short run sets the floor of the pair, from which the boards of all other runs count.
        """
        study = self.study
        for i in range(study.plan.pairs):
            study.run_store.refresh()
            pair = study.pairs[(first + i) % study.plan.pairs]
            if self.trace(study.base, pair, study.plan.short).has_board(study.plan.short):
                floored = study.with_floor(pair)
                assert floored is not None
                self.trace(study.base, floored, study.plan.nodes)
            self.clear()
        study.run_store.refresh()
        if not study.training:
            raise InputError(
                f"the defaults make no board within a short run of {study.plan.short:,} nodes on any pair, so trials "
                "cannot be compared; expected a new study with a longer --run-seconds or more --nodes"
            )

    def run_trial(self, trial: optuna.Trial) -> float:
        """Run a trial; its value, the mean difference to the defaults in long runs, in edges.

        Raises
        ------
        optuna.TrialPruned
            The trial was pruned or not promoted.
        NoBoard
            The trial makes no board where the defaults make one.
        Stopped
            The worker was asked to stop.
        """
        study, plan = self.study, self.study.plan
        params = suggest_params(trial, study.space, study.base)
        short = self._evaluate(trial, params, plan.short, 0)
        trial.set_user_attr("short", short)
        if first_number(trial) < CALIBRATION_TRIALS:
            trial.set_user_attr("long", fmean(self._differences(params, plan.nodes)))
        if not self._is_promoted(short):
            trial.report(short, len(study.training))  # as in `_evaluate`
            raise optuna.TrialPruned
        return self._evaluate(trial, params, plan.nodes, len(study.training))

    def _differences(self, params: Params, budget: int) -> Iterator[float]:
        """Differences to the defaults in the worth of the boards, pair by pair. Raises NoBoard."""
        for pair in self.study.training:
            candidate, default = (self.trace(either, pair, budget) for either in (params, self.study.base))
            if not candidate.has_board(budget):
                raise NoBoard(pair.label)
            yield worth_difference(candidate, default, budget)

    def _evaluate(self, trial: optuna.Trial, params: Params, budget: int, first_step: int) -> float:
        """Mean difference to the defaults; each pair is reported to ``trial`` as a step.

        Raises TrialPruned as soon as the trial is significantly worse than the best one, NoBoard, or Stopped.
        """
        differences = []
        for step, value in enumerate(self._differences(params, budget), first_step):
            differences.append(value)
            trial.report(value, step)
            if first_number(trial) >= CALIBRATION_TRIALS and trial.should_prune():
                trial.report(fmean(differences), step + 1)  # the sampler ranks pruned trials by their last value
                raise optuna.TrialPruned
        return fmean(differences)

    def _is_promoted(self, short: float) -> bool:
        """Whether a trial with the mean difference ``short`` in short runs is among the best third."""
        others = [trial.user_attrs["short"] for trial in self.study.trials() if "short" in trial.user_attrs]
        return bool(sum(other > short for other in others) < len(others) / PROMOTED_ONE_IN)


def search_task(path: Path, first: int, max_trials: int | None, storage: str | None = None) -> float:
    """Task of a worker process: run trials until asked to stop or until the study has ``max_trials``.

    Parameters
    ----------
    path : Path
        Directory of the study.
    first : int
        Index of the pair with which the runs of the defaults begin.
    max_trials : int or None
        Trials that the study shall have in all, None for no limit.
    storage : str, optional
        URL of the storage that has the trials.

    Returns
    -------
    float
        Seconds spent inside of runs.
    """
    with storage_errors(storage):
        study = Study(path, storage=storage)
        worker = Worker(study)
        failures = 0
        try:
            worker.run_defaults(first)
            while not stop_requested() and (trial := study.next_trial(max_trials)) is not None:
                error = _run(worker, trial)
                failures = 0 if error is None else failures + 1
                if error is not None and failures == MAX_FAILURES:
                    raise error
        except Stopped:
            pass
        return worker.runs_s


def _run(worker: Worker, trial: optuna.Trial) -> Exception | None:
    """Run one trial and record the result in the study; the error if it failed. Raises Stopped."""
    study = worker.study
    try:
        value = worker.run_trial(trial)
    except optuna.TrialPruned:
        study.optuna.tell(trial, state=TrialState.PRUNED)
    except Stopped:
        study.requeue(trial)
        raise
    except NoBoard as error:
        trial.set_user_attr("no_board", str(error)[:500])
        study.optuna.tell(trial, state=TrialState.PRUNED)
    except InputError as error:  # values that the engine refuses on this board rank lowest
        trial.set_user_attr("refused", str(error)[:500])
        study.optuna.tell(trial, state=TrialState.PRUNED)
    except Exception as error:
        trial.set_user_attr("error", f"{type(error).__name__}: {error}"[:500])
        study.optuna.tell(trial, state=TrialState.FAIL)
        return error
    else:
        study.optuna.tell(trial, value)
    finally:
        worker.clear()
    return None


@lru_cache(maxsize=1)
def _worker(path: Path, storage: str | None) -> Worker:
    return Worker(Study(path, storage=storage))


def validation_task(path: Path, params: Params, index: int, storage: str | None = None) -> float:
    """Task of a worker process: one long run of ``params`` on the held-out pair ``index``, into the run store.

    Returns the seconds spent inside of runs.
    """
    with storage_errors(storage):
        worker = _worker(path, storage)
        worker.study.run_store.refresh()
        before = worker.runs_s
        try:
            worker.trace(params, worker.study.held_out[index], worker.study.plan.nodes)
        except Stopped:
            pass
        finally:
            worker.clear()
        return worker.runs_s - before
