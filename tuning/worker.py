"""What one process of a study does: the defaults' runs first, then trial after trial until it is told to stop.

A trial is run on all pairs with short budgets, and given up as soon as the signed-rank test says that it is worse than
the best one (PairedPruner). The best third of those that got through goes on to the long budget, on the same pairs;
its value is its mean difference to the defaults there. To optuna the others are pruned, and so rank behind; also the
first ones, whose long runs are made for the sake of the rank correlation alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import optuna
from optuna.trial import TrialState

from lns.params import Params
from lns.worker_pool import stop_requested
from lns_support.errors import InputError
from tuning.objective import Pair, Stopped, Trace, TrialRun, promised
from tuning.run_store import Key
from tuning.space import suggest
from tuning.study import Study, place_of

PROMOTED = 3  # of all trials that finished their short runs, one in so many goes on
FAILURES = 5  # in a row, and the worker gives up
FIRST = 6  # trials that have long runs whatever the short ones show: how both agree is read off them


class Worker:
    """Runs trials of ``study``; engines of the trial under way are kept, to go on from short to long."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.runs_s = 0.0
        self._live: dict[Key, TrialRun] = {}

    def trace(self, params: Params, pair: Pair, budget: int) -> Trace:
        """The run of ``params`` on ``pair``, from the ledger or made now. Raises Stopped when told to."""
        study, key = self.study, self.study.key(params, pair)
        known = study.run_store.get(key)
        if known is not None and known.covers(budget):
            return known
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

    def forget(self) -> None:
        """Let go of the engines of a trial that is over."""
        self._live.clear()

    def run_defaults(self, first: int) -> None:
        """The long runs of the defaults on all pairs, from pair ``first`` on, so that workers share them."""
        study = self.study
        for i in range(len(study.pairs)):
            study.run_store.refresh()
            self.trace(study.base, study.pairs[(first + i) % len(study.pairs)], study.plan.nodes)
            self.forget()

    def run_trial(self, trial: optuna.Trial) -> float:
        """The value of a trial: edges above the defaults at the long budget. Raises TrialPruned, Stopped."""
        study, plan = self.study, self.study.plan
        params = suggest(trial, study.space, study.base)
        short = self._judged(trial, params, plan.short, 0)
        trial.set_user_attr("short", short)
        if place_of(trial) < FIRST:
            trial.set_user_attr("long", _mean(list(self._differences(params, plan.nodes))))
        if not self._goes_on(short):
            trial.report(short, plan.pairs)  # as in `_judged`
            raise optuna.TrialPruned
        return self._judged(trial, params, plan.nodes, plan.pairs)

    def _differences(self, params: Params, budget: int) -> Iterator[float]:
        """To the defaults, pair by pair, of what is to be expected."""
        for pair in self.study.pairs:
            ours, theirs = (self.trace(one, pair, budget) for one in (params, self.study.base))
            yield promised(ours, theirs, budget)

    def _judged(self, trial: optuna.Trial, params: Params, budget: int, first_step: int) -> float:
        """Mean difference to the defaults, told step by step. Raises TrialPruned as soon as it is worse, Stopped."""
        found = []
        for step, one in enumerate(self._differences(params, budget), first_step):
            found.append(one)
            trial.report(one, step)
            if place_of(trial) >= FIRST and trial.should_prune():
                trial.report(_mean(found), step + 1)  # the sampler ranks those given up by their last value
                raise optuna.TrialPruned
        return _mean(found)

    def _goes_on(self, short: float) -> bool:
        others = [one.user_attrs["short"] for one in self.study.trials() if "short" in one.user_attrs]
        return bool(sum(other > short for other in others) < len(others) / PROMOTED)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def search(path: Path, first: int, most_trials: int | None) -> float:
    """Task of a worker: until told to stop, or the study has ``most_trials``; seconds inside of runs.

    ``first``: with which pair it begins the defaults' runs.
    """
    study = Study(path)
    worker = Worker(study)
    failures = 0
    try:
        worker.run_defaults(first)
        while not stop_requested() and (trial := study.ask(most_trials)) is not None:
            error = _run(worker, trial)
            failures = 0 if error is None else failures + 1
            if error is not None and failures == FAILURES:
                raise error
    except Stopped:
        pass
    return worker.runs_s


def _run(worker: Worker, trial: optuna.Trial) -> Exception | None:
    """One trial, told to the study; the error if it failed. Raises Stopped."""
    study = worker.study
    try:
        value = worker.run_trial(trial)
    except optuna.TrialPruned:
        study.optuna.tell(trial, state=TrialState.PRUNED)
    except Stopped:
        study.give_up(trial)
        raise
    except InputError as error:  # values that the engine cannot take on this board: as bad as can be
        trial.set_user_attr("refused", str(error)[:500])
        study.optuna.tell(trial, state=TrialState.PRUNED)
    except Exception as error:
        trial.set_user_attr("error", f"{type(error).__name__}: {error}"[:500])
        study.optuna.tell(trial, state=TrialState.FAIL)
        return error
    else:
        study.optuna.tell(trial, value)
    finally:
        worker.forget()
    return None


@lru_cache(maxsize=1)
def _worker(path: Path) -> Worker:
    return Worker(Study(path))


def hold_out(path: Path, params: Params, index: int) -> float:
    """Task of a worker: one long run on a held-out pair, into the ledger; seconds inside of runs."""
    worker = _worker(path)
    worker.study.run_store.refresh()
    before = worker.runs_s
    try:
        worker.trace(params, worker.study.held_out[index], worker.study.plan.nodes)
    except Stopped:
        pass
    finally:
        worker.forget()
    return worker.runs_s - before
