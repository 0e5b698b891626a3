"""The search space of a study and its sampler: restarts and several processes draw different random numbers.

The space is read from the parameter dataclasses (`lns.params.option` has the ranges).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

from lns.params import Params

STARTUP_TRIALS = 20  # random trials before a model is used; every other one is near the base
KEEP_PROBABILITY = 0.75  # of a parameter to keep the value of the base, in a trial near it

Space = Mapping[str, IntDistribution | FloatDistribution]
"""Range of each searched parameter, both ends included, by its name, such as ``construct.tail``."""


def search_space(params: Params, engine: str) -> dict[str, IntDistribution | FloatDistribution]:
    """The tunable parameters of the components that ``engine`` uses, in their order in ``params``."""
    space = {}
    for section, component in vars(params).items():
        for spec in dataclasses.fields(component) if engine in component.engines else ():
            facts, tune = spec.metadata, spec.metadata["tune"]
            if tune is not False and engine in (facts["engines"] or component.engines):
                low, high = (facts["low"], facts["high"]) if tune is True else tune
                kind = IntDistribution if isinstance(spec.default, int) else FloatDistribution
                space[f"{section}.{spec.name}"] = kind(low, high, log=facts["log"])
    return space


def with_values(base: Params, space: Space, values: Mapping[str, Any]) -> Params:
    """``base`` with the values of a trial for all names of ``space``. Raises KeyError if one is missing."""
    sections: dict[str, dict[str, Any]] = {}
    for name in space:
        section, _, field = name.partition(".")
        sections.setdefault(section, {})[field] = values[name]
    changed = {name: dataclasses.replace(getattr(base, name), **of) for name, of in sections.items()}
    return dataclasses.replace(base, **changed)


def values_of(params: Params, space: Space) -> dict[str, float]:
    """The values of ``space`` in ``params`` by name, without those out of range."""
    values = {name: attrgetter(name)(params) for name in space}
    return {name: value for name, value in values.items() if space[name].low <= value <= space[name].high}


class SeededSampler(BaseSampler):
    """A sampler whose random numbers depend only on the seed of the study and the number of the trial.

    A sampler with one seed would draw the same numbers again after every restart and in every process.

    The first `STARTUP_TRIALS` trials are the same for every ``kind`` of `tuning.SAMPLERS`; 'random' goes on like them.
    Every other one keeps most values of ``base``: with many parameters a random trial is hardly ever near the base, and
    TPE, which follows the best trials, would not look there again.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float]) -> None:
        self._kind, self._seed, self._base = kind, seed, base
        self._kept: set[str] = set()  # parameters that keep the value of the base in the current trial
        self._model: BaseSampler = RandomSampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number % 2 == 1 and (trial.number < STARTUP_TRIALS or self._kind == "random")
        keep = np.random.default_rng(sequence.spawn(1)[0]).random(len(self._base)) < KEEP_PROBABILITY
        self._kept = {name for name, kept in zip(self._base, keep, strict=True) if near and kept}
        seed = int(sequence.generate_state(1)[0])
        self._model = RandomSampler(seed=seed)
        if self._kind == "tpe":
            self._model = TPESampler(
                n_startup_trials=STARTUP_TRIALS, multivariate=True, group=True, constant_liar=True, seed=seed
            )

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
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
