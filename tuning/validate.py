"""Whether a candidate is really better: runs on pairs that no trial has seen, and what may be concluded from them.

The few best trials were chosen for being lucky on the training pairs too; their differences to the defaults on held-out
pairs are not biased by that. P-values are of the one-sided Wilcoxon signed-rank test, divided by the candidate's share
of `ALPHA`. Shares are given when candidates are chosen and never change: the k-th choice has 1 / (k (k + 1)) of it,
which sums up to 1 over all choices that there may be; so what was once called better remains so.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import wilcoxon

from lns import params as parameters
from lns.params import Params
from lns.runs.files import utc_now
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.version import __version__
from tuning.plan import LEAST_PAIRS, params_digest
from tuning.study import BEST, FINISHED, Study, value_of

CANDIDATES = 3  # that one session validates
ALPHA = 0.05
RESAMPLES = 10_000

_CHOSEN = "chosen"  # attribute of the study: (share of each, numbers of the trials) of each choice


@dataclass(frozen=True)
class Verdict:
    """A paired comparison on held-out pairs, candidate less defaults.

    ``differences``: of the objective; ``edges``: mean difference of the scores alone; ``low``, ``high``: 95% confidence
    interval of the mean difference (bootstrap percentiles); ``p``: corrected; ``cost``: processor seconds of a run, the
    median, as a multiple of the defaults'.
    """

    trial: int
    differences: tuple[float, ...]
    edges: float
    low: float
    high: float
    p: float
    cost: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.differences))

    @property
    def better(self) -> bool:
        """Significantly so by ranks, and by an interval above 0: ranks alone do not see a rare disaster."""
        return len(self.differences) >= LEAST_PAIRS and self.p < ALPHA and self.edges >= 0 < self.low

    def __str__(self) -> str:
        return (
            f"trial {self.trial}: {self.mean:+.2f} ({self.low:+.2f} to {self.high:+.2f}) on {len(self.differences)} "
            f"held-out pairs, {self.edges:+.2f} edges, p = {self.p:.2g}, {self.cost:.2f} x the seconds a run"
        )


@dataclass(frozen=True)
class Conclusion:
    """What the held-out pairs show.

    ``verdicts``: on the candidates whose runs are all there, best first; ``pending``: runs still to be made.
    """

    verdicts: tuple[Verdict, ...]
    pending: int

    @property
    def winner(self) -> Verdict | None:
        """The best one of those that are better than the defaults."""
        return next((one for one in self.verdicts if one.better), None)


def compare(trial: int, differences: Sequence[float], edges: float, cost: float, share: float, seed: int) -> Verdict:
    """What ``differences`` show. ``share``: of the chance to look better, that this candidate has."""
    values = np.asarray(differences, dtype=np.float64)
    p = 1.0
    if values.any():
        p = float(wilcoxon(values, alternative="greater", zero_method="zsplit").pvalue)
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
    means = chance.choice(values, size=(RESAMPLES, len(values))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Verdict(trial, tuple(values.tolist()), edges, float(low), float(high), min(1.0, p / share), cost)


def choose(study: Study) -> list[FrozenTrial]:
    """The trials to validate: the best few that beat the defaults at the long budget, and all chosen before."""
    with study.alone():
        _choose(study)
    return chosen(study)


def _choose(study: Study) -> None:
    if new := promising(study):
        choices = _choices(study)
        study.optuna.set_user_attr(_CHOSEN, [*choices, (share_of(len(choices) + 1, len(new)), new)])


def promising(study: Study) -> list[int]:
    """Numbers of the trials that would be chosen now, besides those chosen before."""
    before = chosen(study)
    best_before = max(map(value_of, before), default=0.0)
    seen = {study.plan.base, *(params_digest(study.params_of(trial)) for trial in before)}
    better = [trial for trial in study.trials(TrialState.COMPLETE) if value_of(trial) > best_before]
    new: list[int] = []
    for trial in sorted(better, key=value_of, reverse=True):
        if len(new) == CANDIDATES:
            break
        digest = params_digest(study.params_of(trial))
        if digest not in seen:
            seen.add(digest)
            new.append(trial.number)
    return new


def share_of(choice: int, candidates: int) -> float:
    """The share of `ALPHA` that each of the candidates of a choice has, counted from 1."""
    return 1 / (choice * (choice + 1) * candidates)


def _choices(study: Study) -> list[tuple[float, list[int]]]:
    """(share of `ALPHA` of each, numbers of the trials) of every choice, in turn."""
    return [(share, numbers) for share, numbers in study.optuna.user_attrs.get(_CHOSEN, [])]


def chosen(study: Study) -> list[FrozenTrial]:
    """All trials that were ever chosen."""
    trials = study.trials()
    return [trials[number] for _, numbers in _choices(study) for number in numbers]


def missing(study: Study, candidates: Sequence[FrozenTrial]) -> list[tuple[Params, int]]:
    """(parameters, index of the held-out pair) of the runs still to be made, the defaults' first.

    Each process begins with another pair, so that several on one study do not make the same runs.
    """
    wanted = [study.base, *(study.params_of(trial) for trial in candidates)] if candidates else []
    pairs = study.held_out
    found = []
    for params in wanted:
        for i in range(len(pairs)):
            index = (os.getpid() + i) % len(pairs)
            trace = study.run_store.get(study.key(params, pairs[index]))
            if trace is None or not trace.covers(study.plan.nodes):
                found.append((params, index))
    return found


def conclude(study: Study) -> Conclusion:
    """What may be concluded from the runs that are there."""
    candidates, budget = chosen(study), study.plan.nodes
    shares = {number: share for share, numbers in _choices(study) for number in numbers}
    found = []
    for trial in candidates:
        params = study.params_of(trial)
        differences = study.differences(params, study.held_out, budget)
        if differences is None:
            continue
        ours, theirs = (
            [trace for pair in study.held_out if (trace := study.run_store.get(study.key(one, pair)))]
            for one in (params, study.base)
        )
        edges = float(np.mean([a.score_at(budget) - b.score_at(budget) for a, b in zip(ours, theirs, strict=True)]))
        cost = statistics.median(one.seconds for one in ours) / max(
            1e-9,
            statistics.median(one.seconds for one in theirs),  # the first run of a process loads the kernels
        )
        found.append(compare(trial.number, differences, edges, cost, shares[trial.number], study.plan.seed))
    return Conclusion(tuple(sorted(found, key=lambda one: -one.mean)), len(missing(study, candidates)))


def write_best(study: Study, found: Conclusion) -> None:
    """Write best_params.toml if a candidate is better than the defaults; take one that does not hold away if none is.

    While runs of the validation are missing an older one stays.
    """
    path, plan, winner = study.path / BEST, study.plan, found.winner
    if winner is None:
        if not found.pending:
            path.unlink(missing_ok=True)
        return
    header = [
        f"# command: {plan.command}",
        f"# study: {plan.subject}, {plan.engine} engine, {plan.nodes:,} nodes a run, {plan.pairs} training pairs, "
        f"seed {plan.seed}, {len(study.trials(*FINISHED))} trials, lns {__version__}, {utc_now()}",
        f"# evidence: {winner}",
        "# (objective, 95% confidence interval; Wilcoxon signed rank, one-sided, corrected for the candidates tried)",
    ]
    atomic_write(path, "\n".join(header) + "\n\n" + parameters.to_toml(_params_of(study, winner)))


def best_file(study: Study, found: Conclusion) -> Path | None:
    """Where the winner's parameters are; None without one, or where no session lived to write them."""
    path, winner = study.path / BEST, found.winner
    if winner is None or not path.exists():
        return None
    try:
        return path if parameters.load(path) == _params_of(study, winner) else None
    except InputError:  # damaged; the next session writes it again
        return None


def _params_of(study: Study, verdict: Verdict) -> Params:
    return study.params_of(study.trials()[verdict.trial])
