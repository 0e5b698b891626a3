"""When trials are given up: on paired differences, and on those of the present phase alone."""

from __future__ import annotations

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState, create_trial

from tuning.pruner import PairedPruner, is_worse

PAIRS = 10


def _pruned(best, mine):
    """Whether a trial with the steps ``mine`` is given up, where the best one has ``best``."""
    study = optuna.create_study(direction="maximize")
    if best:
        study.add_trial(create_trial(value=1.0, intermediate_values=dict(enumerate(best))))
    trial = create_trial(state=TrialState.RUNNING, intermediate_values=dict(enumerate(mine)))
    return PairedPruner(lambda: PAIRS).prune(study, trial)


def test_a_worse_trial_is_pruned_and_an_equal_or_better_one_is_not():
    assert _pruned([1.0] * 20, [0.0] * 4)
    assert not _pruned([1.0] * 20, [0.0] * 3)
    assert not _pruned([1.0] * 20, [1.0] * 10)
    assert not _pruned([1.0] * 20, [2.0] * 10)
    assert not _pruned([], [0.0] * 10)  # none is complete yet


def test_one_great_win_outweighs_small_losses():
    assert is_worse([-0.1] * 9) and not is_worse([-0.1] * 9 + [9.0])


def test_long_runs_are_not_pruned_because_of_short_ones():
    best, short = [1.0] * 20, [0.5] * 6 + [1.5] * 4
    assert not _pruned(best, short)
    assert not _pruned(best, [0.5] * PAIRS + [1.0])
    assert not _pruned(best, [0.5] * PAIRS + [1.1] * PAIRS)
    assert _pruned(best, [1.5] * PAIRS + [0.5] * 4)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_equal_long_runs_are_pruned_at_the_level_of_the_test_whatever_the_short_runs_showed(correlation):
    """At one look, all pairs in: the share of trials as good as the best in long runs that are given up."""
    chance, level, trials = np.random.default_rng(4), 0.1, 400
    given_up = 0
    for _ in range(trials):
        best, mine = chance.normal(size=(2, PAIRS))
        noise = np.sqrt(1 - correlation**2) * chance.normal(size=(2, PAIRS))
        long_best, long_mine = correlation * np.stack([best, mine]) + noise
        given_up += _pruned([*(best + 1), *long_best], [*mine, *long_mine])  # its short runs are an edge worse
    assert given_up / trials < level * 1.5
