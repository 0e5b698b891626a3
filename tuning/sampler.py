"""Optuna's samplers, with chance that restarts and several processes cannot repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, CmaEsSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState, create_trial

from exact.extras import need
from instances.errors import InputError
from lns.names import SAMPLERS
from tuning.space import Variable

STARTUP = 20  # trials drawn at random before anything is modelled; every other one of them near the base
KEPT = 0.75  # chance of a parameter to stay as the base has it, in a trial near it


def check_sampler(kind: str) -> None:
    """Raises InputError when there is no such sampler, or its package is missing."""
    if kind not in SAMPLERS:
        raise InputError(f"'sampler': '{kind[:20]}'; expected one of {', '.join(SAMPLERS)}")
    if kind == "cmaes":
        need("cma", "--sampler cmaes")


class Seeded(BaseSampler):
    """A sampler whose chance depends on the study's seed and the number of the trial alone.

    One with a single seed would draw the same numbers again after every restart, and in every process. ``kind``: one
    of `SAMPLERS`, which all draw the same first `STARTUP` trials, while 'random' goes on as it began. ``base``: values
    by name of what is to be beaten. Among many parameters hardly a random trial comes near it, and TPE, which follows
    the best it has seen, would not look there again. ``space``: the parameters that are searched.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float], space: Sequence[Variable]) -> None:
        self._kind, self._seed, self._base = kind, seed, base
        self._always: dict[str, BaseDistribution] = {one.name: one.distribution for one in space if not one.when}
        self._kept: set[str] = set()
        self._model: BaseSampler = RandomSampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        chance = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        first = trial.number < STARTUP
        near = trial.number % 2 == 1 and (first or self._kind == "random")
        stays = np.random.default_rng(chance.spawn(1)[0]).random(len(self._base)) < KEPT
        self._kept = {name for name, one in zip(self._base, stays, strict=True) if near and one}
        if self._kind == "cmaes" and not first:  # it cannot draw what is there only sometimes
            self._kept = self._base.keys() - self._always.keys()
        self._model = self._seeded(study, int(chance.generate_state(1)[0]))

    def _seeded(self, study: optuna.Study, seed: int) -> BaseSampler:
        if self._kind == "random":
            return RandomSampler(seed=seed)
        if self._kind == "cmaes":
            return CmaEsSampler(
                seed=seed,
                n_startup_trials=STARTUP,
                consider_pruned_trials=True,  # by their last value
                source_trials=self._told(study),  # begins around the best of them
                with_margin=True,  # for whole numbers of few values
                warn_independent_sampling=False,
            )
        return TPESampler(n_startup_trials=STARTUP, multivariate=True, group=True, constant_liar=True, seed=seed)

    def _told(self, study: optuna.Study) -> list[FrozenTrial]:
        """The trials so far in the parameters that all have, also those that were given up."""
        told = []
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
            if trial.intermediate_values and self._always.keys() <= trial.params.keys():
                params = {name: trial.params[name] for name in self._always}
                value = trial.intermediate_values[max(trial.intermediate_values)]
                told.append(create_trial(params=params, distributions=self._always, value=value))
        return told

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        if self._kind == "cmaes":
            return {} if "fixed_params" in trial.system_attrs else self._always
        space: dict[str, BaseDistribution] = self._model.infer_relative_search_space(study, trial)
        return space

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        values: dict[str, Any] = self._model.sample_relative(study, trial, search_space)
        return values

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name in self._kept:
            return self._base[param_name]
        return self._model.sample_independent(study, trial, param_name, param_distribution)
