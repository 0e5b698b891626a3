"""Optuna's sampler, with chance that restarts and several processes cannot repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import FrozenTrial

STARTUP = 20  # trials drawn at random before the sampler models anything; every other one of them near the base
KEPT = 0.75  # chance of a parameter to stay as the base has it, in a trial near it


class SeededTPE(BaseSampler):
    """TPE whose chance depends on the study's seed and the number of the trial alone.

    A sampler with one seed would draw the same numbers again after every restart, and in every process. ``base``:
    values by name of what is to be beaten. Among many parameters hardly a random trial comes near it, and TPE, which
    follows the best it has seen, would not look there again.
    """

    def __init__(self, seed: int, base: Mapping[str, float]) -> None:
        self._seed, self._base = seed, base
        self._kept: set[str] = set()
        self._tpe = TPESampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        chance = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number < STARTUP and trial.number % 2 == 1
        stays = np.random.default_rng(chance.spawn(1)[0]).random(len(self._base)) < KEPT
        self._kept = {name for name, one in zip(self._base, stays, strict=True) if near and one}
        seed = int(chance.generate_state(1)[0])
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
        if param_name in self._kept:
            return self._base[param_name]
        return self._tpe.sample_independent(study, trial, param_name, param_distribution)
