"""Validation: whether the best trials beat the defaults on pairs that no trial was run on.

The best trials were partly lucky on the training pairs; differences to the defaults on held-out pairs do not have this
bias. P-values are from the one-sided Wilcoxon signed-rank test, divided by the candidate's share of the level `ALPHA`.
Shares are fixed when candidates are chosen: the candidates of the k-th choice share 1 / (k (k + 1)). Over all choices
this sums up to 1, so the level holds over any number of sessions, and a verdict never changes. A gain that is
certainly smaller than `MIN_EFFECT` is no reason to leave the defaults, however significant.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from optuna.trial import FrozenTrial, TrialState
from scipy.stats import wilcoxon

from lns import params as parameters
from lns.instances.errors import InputError
from lns.instances.files import atomic_write
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.runs.files import utc_now
from lns.tuning.objective import Trace, difference
from lns.tuning.study import BEST_FILE, CHOICES, MAX_COMMAND, MIN_HELD_OUT_PAIRS, Study, params_digest, trial_value
from lns.version import __version__

MAX_CANDIDATES = 3  # most candidates that one session chooses
ALPHA = 0.05  # significance level of all tests of a study together
MIN_EFFECT = 0.05  # a candidate whose confidence interval is wholly below this, in edges, is not better
RESAMPLES = 10_000  # number of resamples of the bootstrap


@dataclass(frozen=True)
class Verdict:
    """Paired comparison of a candidate with the defaults on the held-out pairs."""

    trial: int  # number of the trial
    differences: tuple[float, ...]  # `objective.difference` of candidate and defaults on each pair, in edges
    edges: float  # mean difference of the scores alone, in edges
    low: float  # lower end of the 95% confidence interval of the mean difference (percentile bootstrap)
    high: float  # upper end of this interval
    p: float  # p-value, divided by the candidate's share of `ALPHA`
    cost: float  # median processor seconds of a run, divided by the median of the defaults
    pairs: tuple[str, ...] = ()  # names of the pairs of ``differences``
    left_out: tuple[str, ...] = ()  # names of the pairs where the defaults made no board within the budget
    lost: tuple[str, ...] = ()  # names of the pairs on which the defaults made a board and the candidate made none
    is_solved: bool = False  # whether candidate and defaults found perfect boards in all runs: only time can differ

    @property
    def mean(self) -> float:
        """Mean of ``differences``, in edges; 0 if there are none."""
        return float(np.mean(self.differences)) if self.differences else 0.0

    @property
    def better(self) -> bool:
        """Whether the candidate is better than the defaults beyond `doubt`.

        Both the test of ranks and the confidence interval must show a gain, as ranks alone overlook a rare large loss.
        The interval must be above 0 and reach `MIN_EFFECT`, and the scores alone must not have fallen.
        """
        return not self.doubt

    @property
    def negligible(self) -> bool:
        """Whether the mean is at least 0, but the whole confidence interval is below `MIN_EFFECT`."""
        compared = not self.lost and len(self.differences) >= MIN_HELD_OUT_PAIRS
        return compared and self.mean >= 0 and self.high < MIN_EFFECT

    @property
    def doubt(self) -> str:
        """The reason why the candidate is not called better, as the end of a sentence; "" if it is called better."""
        if self.lost:
            return f"it made no board on {', '.join(self.lost)}, where the defaults made one"
        if len(self.differences) < MIN_HELD_OUT_PAIRS:
            return (
                f"{count_of(len(self.differences), 'held-out pair')} with boards cannot show anything; "
                f"at least {MIN_HELD_OUT_PAIRS} can"
            )
        if self.is_solved and self.low <= 0:
            return f"both solved every pair, {'but it was later' if self.high < 0 else 'and it was not clearly sooner'}"
        if self.mean < 0:
            return "it was worse" if self.high < 0 else "it was worse, though that may be chance"
        if self.negligible:
            return f"the gain is less than {MIN_EFFECT} edges"
        if self.low <= 0:
            return "that may be chance, as the interval includes 0"
        if self.p >= ALPHA:
            return f"that may be chance: p = {self.p:.2g}, corrected for the number of candidates, is not below {ALPHA}"
        if self.edges < 0:
            return f"its boards came earlier, but scored lower ({signed(self.edges)} edges)"
        return ""

    @property
    def effect(self) -> str:
        """The mean difference with its confidence interval, in words."""
        pairs = count_of(len(self.differences), "held-out pair")
        return f"{signed(self.mean)} edges on {pairs} (95% interval {signed(self.low)} to {signed(self.high)})"

    def __str__(self) -> str:
        return (
            f"trial {self.trial}: {self.effect}; scores alone {signed(self.edges)}; p = {self.p:.2g}; "
            f"a run takes {self.cost:.2f} x the seconds of the defaults"
        )


def signed(edges: float) -> str:
    """Return a signed difference with two decimals, or with one significant digit if it would be shown as zero."""
    return f"{edges:+.2f}" if not edges or abs(edges) >= 0.005 else f"{edges:+.1g}"


@dataclass(frozen=True)
class Conclusion:
    """Result of the validation so far."""

    verdicts: tuple[Verdict, ...]  # verdicts on the candidates whose runs are complete, best first
    pending: int  # number of runs of the validation that are still missing

    @property
    def winner(self) -> Verdict | None:
        """The verdict on the best candidate that is better than the defaults; None if there is none."""
        return next((verdict for verdict in self.verdicts if verdict.better), None)


def compare(trial: int, differences: Sequence[float], edges: float, cost: float, share: float, seed: int) -> Verdict:
    """Return the verdict on a candidate with these differences and this share of `ALPHA`; resample with ``seed``."""
    values = np.asarray(differences, dtype=np.float64)
    p, low, high = 1.0, 0.0, 0.0
    if values.any():
        p = float(wilcoxon(values, alternative="greater", zero_method="zsplit").pvalue)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
        means = rng.choice(values, size=(RESAMPLES, len(values))).mean(axis=1)
        low, high = map(float, np.percentile(means, [2.5, 97.5]))
    return Verdict(trial, tuple(values.tolist()), edges, low, high, min(1.0, p / share), cost)


def choose_candidates(study: Study) -> list[FrozenTrial]:
    """Choose the `new_candidates`, if there are any, as candidates; return all candidates so far."""
    with study.exclusive():
        if new := new_candidates(study):
            choices = _choices(study)
            share = alpha_share(len(choices) + 1, len(new))
            study.optuna.set_user_attr(CHOICES, [*choices, (share, new)])
    return candidates_of(study)


def new_candidates(study: Study) -> list[int]:
    """Return the numbers of the trials to choose now: the best that beat the defaults and all earlier candidates."""
    earlier = candidates_of(study)
    bar = max(map(trial_value, earlier), default=0.0)
    seen, new = {study.plan.base_digest, *(params_digest(study.params_of(trial)) for trial in earlier)}, list[int]()
    for trial in sorted(study.trials(TrialState.COMPLETE), key=trial_value, reverse=True):
        digest = params_digest(study.params_of(trial))
        if trial_value(trial) > bar and digest not in seen and len(new) < MAX_CANDIDATES:
            seen.add(digest)
            new.append(trial.number)
    return new


def alpha_share(choice: int, candidates: int) -> float:
    """Return the share of `ALPHA` that each of the ``candidates`` of a choice gets; ``choice`` counts from 1."""
    return 1 / (choice * (choice + 1) * candidates)


def _choices(study: Study) -> list[tuple[float, list[int]]]:
    """Return (share of `ALPHA` of each candidate, numbers of the trials) for every choice of candidates, in order."""
    return [(share, numbers) for share, numbers in study.optuna.user_attrs.get(CHOICES, [])]


def candidates_of(study: Study) -> list[FrozenTrial]:
    """Return all trials chosen as candidates so far."""
    trials = study.trials()
    return [trials[number] for _, numbers in _choices(study) for number in numbers]


def missing_runs(study: Study, candidates: Sequence[FrozenTrial]) -> list[tuple[Params, int]]:
    """Return (parameters, index of the held-out pair) of each missing run, the runs of the defaults first.

    Each process starts at another pair, so that several processes on one study do not make the same runs.
    """
    all_params = [study.base, *map(study.params_of, candidates)] if candidates else []
    first, count = os.getpid(), study.plan.held_out
    order = [(first + i) % count for i in range(count)]
    nodes, pairs = study.plan.nodes, study.held_out
    return [(each, index) for each in all_params for index in order if not study.run_of(each, pairs[index], nodes)]


def conclude(study: Study) -> Conclusion:
    """Return the verdicts on the candidates whose held-out runs are complete, and the number of missing runs."""
    trials = study.trials()
    verdicts = [_verdict(study, trials[number], share) for share, numbers in _choices(study) for number in numbers]
    best_first = sorted((one for one in verdicts if one is not None), key=lambda verdict: -verdict.mean)
    return Conclusion(tuple(best_first), len(missing_runs(study, candidates_of(study))))


def _verdict(study: Study, trial: FrozenTrial, share: float) -> Verdict | None:
    """Return the verdict on a candidate from pairs where it and the defaults made boards; None if a run is missing."""
    params, budget = study.params_of(trial), study.plan.nodes
    both, labels, left_out, lost = list[tuple[Trace, Trace]](), [], [], []
    for pair in study.held_out:
        run, default = (study.run_of(either, pair, budget) for either in (params, study.base))
        if run is None or default is None:
            return None
        if not default.has_board(budget):
            left_out.append(pair.label)
        elif not run.has_board(budget):
            lost.append(pair.label)
        else:
            labels.append(pair.label)
            both.append((run, default))
    scores = [run.score_at(budget) - default.score_at(budget) for run, default in both]
    # medians, as the first run of each process also loads the kernels
    seconds = [statistics.median(run.seconds for run in runs) for runs in zip(*both, strict=True)]
    edges, cost = float(np.mean(scores)) if scores else 0.0, seconds[0] / max(1e-9, seconds[1]) if seconds else 0.0
    differences = [difference(run, default, budget) for run, default in both]
    verdict = compare(trial.number, differences, edges, cost, share, study.plan.seed)
    solved = all(run.exhausted for runs in both for run in runs)
    return replace(verdict, pairs=tuple(labels), left_out=tuple(left_out), lost=tuple(lost), is_solved=solved)


def write_best(study: Study, conclusion: Conclusion) -> None:
    """Write best_params.toml if a candidate is better than the defaults; else remove an older file.

    An older file stays while runs of the validation are missing.
    """
    path, plan, winner = study.path / BEST_FILE, study.plan, conclusion.winner
    if winner is None:
        if not conclusion.pending:
            path.unlink(missing_ok=True)
        return
    header = [
        f"# command: {printable(plan.command, MAX_COMMAND)}",
        f"# study: {plan.subject}, {plan.engine} engine, {plan.nodes:,} nodes a run, {plan.pairs} training pairs, "
        f"seed {plan.seed}, {len(study.finished)} trials, lns {__version__}, {utc_now()}",
        f"# evidence: {winner}",
        "# (objective, 95% confidence interval; Wilcoxon signed rank, one-sided, corrected for the candidates tried)",
    ]
    atomic_write(path, "\n".join(header) + "\n\n" + parameters.to_toml(winning_params(study, winner)))


def written_best(study: Study, conclusion: Conclusion) -> Path | None:
    """Return the path of best_params.toml if it holds the winner; None without a winner or before it is written."""
    path, winner = study.path / BEST_FILE, conclusion.winner
    if winner is None or not path.exists():
        return None
    try:
        return path if parameters.load(path) == winning_params(study, winner) else None
    except InputError:  # the file is damaged; the next session writes it again
        return None


def winning_params(study: Study, verdict: Verdict) -> Params:
    """Return the parameters of the candidate that ``verdict`` is about."""
    return study.params_of(study.trials()[verdict.trial])
