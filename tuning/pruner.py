"""When a trial is given up: as soon as it is worse than the best one on the pairs that both were run on."""

from __future__ import annotations

import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial
from scipy.stats import wilcoxon

LEAST = 4  # pairs before anything is given up
WORSE = 0.1  # p-value from which on a trial counts as worse


class PairedPruner(BasePruner):
    """One-sided Wilcoxon signed-rank test against the best trial, over the steps of the present phase alone.

    Steps 0 to ``pairs`` - 1 are the short runs, those from ``pairs`` on the long ones of the same pairs: both together
    would count every pair twice, and long runs would be condemned for what the short ones showed.
    """

    def __init__(self, pairs: int) -> None:
        self._pairs = pairs

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        try:
            best = study.best_trial.intermediate_values
        except ValueError:  # none is complete
            return False
        mine = trial.intermediate_values
        is_long = max(mine) >= self._pairs
        shared = [step for step in mine if step in best and (step >= self._pairs) == is_long]
        return is_worse([mine[step] - best[step] for step in shared])


def is_worse(differences: list[float]) -> bool:
    """Whether the trial that these differences to the best one are of is to be given up."""
    if len(differences) < LEAST or sum(differences) >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < WORSE)
