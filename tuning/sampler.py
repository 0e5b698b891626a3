"""The search space of a study, and its sampler, which draws new random numbers after a restart and in each process.

The space is read from the parameter dataclasses, whose fields have the ranges (`lns.params.option`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import optuna
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, PartialFixedSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

from lns.params import Params

STARTUP_TRIALS = 20  # number of random trials before a model is used; every second one is near the base
KEEP_PROBABILITY = 0.75  # probability, in a trial near the base, that a parameter keeps the value of the base
_MODELS: dict[str, Callable[..., BaseSampler]] = {
    "random": RandomSampler,
    "tpe": partial(TPESampler, n_startup_trials=STARTUP_TRIALS, multivariate=True, group=True, constant_liar=True),
}

Space = Mapping[str, IntDistribution | FloatDistribution]
"""Range of each searched parameter, both ends included, by name, such as ``construct.tail``."""


def search_space(params: Params, engine: str) -> dict[str, IntDistribution | FloatDistribution]:
    """Return the ranges of the parameters that are tuned for ``engine``, by name, in the order of ``params``."""
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
    """Return ``base`` with a trial's values of the parameters in ``space``. Raises KeyError if a value is missing."""
    sections: dict[str, dict[str, Any]] = {}
    for name in space:
        section, _, field = name.partition(".")
        sections.setdefault(section, {})[field] = values[name]
    changed = {name: dataclasses.replace(getattr(base, name), **of) for name, of in sections.items()}
    return dataclasses.replace(base, **changed)


def values_of(params: Params, space: Space) -> dict[str, float]:
    """Return the values that ``params`` has for the parameters in ``space``, except those outside of their ranges."""
    values = {name: attrgetter(name)(params) for name in space}
    return {name: value for name, value in values.items() if space[name].low <= value <= space[name].high}


class SeededSampler(PartialFixedSampler):
    """A sampler whose random numbers depend only on the seed of the study and the number of the trial.

    A sampler seeded only once would draw the same numbers again after every restart and in every process.

    The first `STARTUP_TRIALS` trials are the same for every ``kind`` of `tuning.SAMPLERS`; 'random' draws all trials
    like these. Every second of them keeps most values of ``base``: with many parameters a random trial is hardly ever
    near the base, and TPE, which follows the best trials, would not search there again.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float]) -> None:
        super().__init__({}, RandomSampler(seed=seed))
        self._kind, self._seed, self._base = kind, seed, base

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Initialise this sampler anew for a trial, with those values of the base fixed that the trial keeps."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number % 2 == 1 and (trial.number < STARTUP_TRIALS or self._kind == "random")
        keep = np.random.default_rng(sequence.spawn(1)[0]).random(len(self._base)) < KEEP_PROBABILITY
        kept = {name: self._base[name] for name, is_kept in zip(self._base, keep, strict=True) if near and is_kept}
        super().__init__(kept, _MODELS[self._kind](seed=int(sequence.generate_state(1)[0])))
