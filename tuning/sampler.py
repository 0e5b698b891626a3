"""The search space of a study and its sampler: restarts and several processes draw different random numbers.

The space is read from the parameter dataclasses (`lns.params.option` has the ranges).

CMA-ES uses the package `cmaes`, started around the best random trials. Optuna's own CMA-ES sampler keeps its state as a
pickle in the journal, so a study from somebody else could run any code, and it draws the first generation from a
distribution that moves. Here the state is rebuilt from the trials for each new one, which takes milliseconds.

References
----------
N. Hansen, A. Ostermeier: Completely derandomized self-adaptation in evolution strategies. Evol. Comput. 9, 2001.
M. Nomura et al.: Warm starting CMA-ES for hyperparameter optimization. AAAI 35, 2021.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from lns.exact.optional_deps import require
from lns.params import Params

STARTUP_TRIALS = 20  # random trials before a model is used; every other one is near the base
KEEP_PROBABILITY = 0.75  # of a parameter to keep the value of the base, in a trial near it
MIN_RANDOM_TRIALS = 10  # the best tenth of the random trials is the start of CMA-ES; fewer have none

Observation = tuple[Mapping[str, float], tuple[int, float]]
"""Values of a finished trial by name, and its rank key; a larger key is a better trial."""

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


# -- samplers ---------------------------------------------------------------------------------------------------------


def check_sampler(kind: str) -> None:
    """Raise InputError if the package of the sampler ``kind`` is not installed."""
    if kind == "cmaes":
        require("cma", "--sampler cmaes")


class SeededSampler(BaseSampler):
    """A sampler whose random numbers depend only on the seed of the study and the number of the trial.

    A sampler with one seed would draw the same numbers again after every restart and in every process.

    The first `STARTUP_TRIALS` trials are the same for every ``kind`` of `tuning.SAMPLERS`; 'random' goes on like them.
    Every other one keeps most values of ``base``: with many parameters a random trial is hardly ever near the base, and
    TPE, which follows the best trials, would not look there again.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float], space: Space) -> None:
        self._kind, self._seed, self._base, self._space = kind, seed, base, space
        self._kept: set[str] = set()  # parameters that keep the value of the base in the current trial
        self._trial_seed = 0
        self._model: BaseSampler = RandomSampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number % 2 == 1 and (trial.number < STARTUP_TRIALS or self._kind == "random")
        keep = np.random.default_rng(sequence.spawn(1)[0]).random(len(self._base)) < KEEP_PROBABILITY
        self._kept = {name for name, kept in zip(self._base, keep, strict=True) if near and kept}
        self._trial_seed = seed = int(sequence.generate_state(1)[0])
        if self._kind == "tpe":
            self._model = TPESampler(
                n_startup_trials=STARTUP_TRIALS, multivariate=True, group=True, constant_liar=True, seed=seed
            )
        else:
            self._model = RandomSampler(seed=seed)

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        if self._kind == "cmaes":
            return dict(self._space)
        space: dict[str, BaseDistribution] = self._model.infer_relative_search_space(study, trial)
        return space

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if self._kind != "cmaes":
            values: dict[str, Any] = self._model.sample_relative(study, trial, search_space)
            return values
        if trial.number < STARTUP_TRIALS:
            return {}
        return propose(self._space, *observations(study), self._trial_seed)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name in self._kept:
            return self._base[param_name]
        return self._model.sample_independent(study, trial, param_name, param_distribution)


def observations(study: optuna.Study) -> tuple[list[Observation], list[Observation]]:
    """The finished trials: the random ones, and those that CMA-ES proposed since, without those tried again.

    Complete trials rank above pruned ones, as for TPE; trials that the engine refused, or that made no board where the
    defaults made one, rank lowest.
    """
    first, later = list[Observation](), list[Observation]()
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
        steps, rank_key = trial.intermediate_values, (0, 0.0)
        if trial.state == TrialState.COMPLETE:
            rank_key = 2, trial.value or 0.0
        elif steps and "no_board" not in trial.user_attrs:
            rank_key = 1, steps[max(steps)]
        if trial.number < STARTUP_TRIALS:
            first.append((trial.params, rank_key))
        elif "failed_trial" not in trial.system_attrs:
            later.append((trial.params, rank_key))
    return first, later


def position(value: float, of: IntDistribution | FloatDistribution) -> float:
    """Position of a value in its range, from 0 to 1."""
    low, high = _ends(of)
    return ((math.log(value) if of.log else value) - low) / (high - low)


def value_at(position: float, of: IntDistribution | FloatDistribution) -> float:
    """The value at a position in its range, from 0 to 1."""
    low, high = _ends(of)
    value = low + position * (high - low)
    value = min(max(math.exp(value) if of.log else value, of.low), of.high)
    return round(value) if isinstance(of, IntDistribution) else value


def _ends(of: IntDistribution | FloatDistribution) -> tuple[float, float]:
    """Ends of a range on its scale; integers get a margin of one half."""
    margin = 0.5 if isinstance(of, IntDistribution) else 0.0
    low, high = of.low - margin, of.high + margin
    return (math.log(low), math.log(high)) if of.log else (low, high)


def propose(space: Space, first: Sequence[Observation], later: Sequence[Observation], seed: int) -> dict[str, float]:
    """Values by name for the next trial, by CMA-ES with a random ``seed`` of this proposal.

    The search starts around the best of the random trials ``first``; of ``later`` ones, which this function proposed,
    consecutive trials form generations. Empty where there are too few random trials or the search has converged.
    """
    import cmaes  # an extra

    def ranked(trials: Sequence[Observation]) -> list[tuple[npt.NDArray[np.float64], float]]:
        """Position of each trial in the unit cube, and its rank from 0, the best; rank keys have no common scale."""
        best_first = [values for values, _ in sorted(trials, key=lambda trial: trial[1], reverse=True)]
        points = (np.array([position(values[name], of) for name, of in space.items()]) for values in best_first)
        return [(point, float(rank)) for rank, point in enumerate(points)]

    if len(first) < MIN_RANDOM_TRIALS:
        return {}
    mean, sigma, cov = cmaes.get_warm_start_mgd(ranked(first))
    bounds = np.array([[0.0, 1.0]] * len(space))
    search = cmaes.CMA(mean=mean, sigma=sigma, cov=cov, bounds=bounds, seed=seed % 2**32)
    size = search.population_size
    for end in range(size, len(later) + 1, size):
        search.tell(ranked(later[end - size : end]))
    if search.should_stop():
        return {}
    return {name: value_at(float(x), space[name]) for name, x in zip(space, search.ask(), strict=True)}
