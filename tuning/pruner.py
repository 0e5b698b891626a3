"""The pruner of a study: a trial is stopped as soon as it is worse than the best trial on the pairs run so far."""

from __future__ import annotations

from collections.abc import Callable

import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial
from scipy.stats import wilcoxon

MIN_PAIRS = 4  # below so many pairs no trial is pruned
P_WORSE = 0.1  # p-value below which a trial counts as worse


class PairedPruner(BasePruner):
    """One-sided Wilcoxon signed-rank test against the best trial, over the steps of the current phase.

    Steps 0 to ``pairs`` - 1 are the short runs and later steps the long runs of the same pairs. The phases are not
    mixed: together they would count each pair twice, and a bad short run would speak against a good long one.

    Parameters
    ----------
    pairs : callable
        Returns the number of pairs of a trial, which is known once the defaults have been run.
    """

    def __init__(self, pairs: Callable[[], int]) -> None:
        self._pairs = pairs

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        try:
            best = study.best_trial.intermediate_values
        except ValueError:  # no trial is complete yet
            return False
        values = trial.intermediate_values
        pairs = self._pairs()
        is_long = max(values) >= pairs
        shared = [step for step in values if step in best and (step >= pairs) == is_long]
        return is_worse([values[step] - best[step] for step in shared])


def is_worse(differences: list[float]) -> bool:
    """Whether a trial with these differences to the best one is significantly worse than it."""
    if len(differences) < MIN_PAIRS or sum(differences) >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < P_WORSE)
