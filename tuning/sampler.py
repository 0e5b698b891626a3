"""Optuna's sampler, with chance that restarts and several processes cannot repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import FrozenTrial

STARTUP = 20  # trials drawn at random before the sampler models anything


class SeededTPE(BaseSampler):
    """TPE whose chance depends on the study's seed and the number of the trial alone.

    A sampler with one seed would draw the same numbers again after every restart, and in every process.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._tpe = TPESampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        seed = int(np.random.SeedSequence(self._seed, spawn_key=(trial.number,)).generate_state(1)[0])
        self._tpe = TPESampler(n_startup_trials=STARTUP, multivariate=True, group=True, constant_liar=True, seed=seed)

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        space: dict[str, BaseDistribution] = self._tpe.infer_relative_search_space(study, trial)
        return space

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        values: dict[str, Any] = self._tpe.sample_relative(study, trial, search_space)
        return values

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._tpe.sample_independent(study, trial, param_name, param_distribution)
