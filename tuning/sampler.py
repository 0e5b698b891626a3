"""What proposes the trials of a study, with chance that restarts and several processes cannot repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from lns_support.optional_deps import require
from tuning.cmaes import Told, propose
from tuning.space import Variable

STARTUP = 20  # trials drawn at random before anything is modelled; every other one of them near the base
KEPT = 0.75  # chance of a parameter to stay as the base has it, in a trial near it


def check_sampler(kind: str) -> None:
    """Raises InputError when the package of a sampler is missing."""
    if kind == "cmaes":
        require("cma", "--sampler cmaes")


class Seeded(BaseSampler):
    """A sampler whose chance depends on the study's seed and the number of the trial alone.

    One with a single seed would draw the same numbers again after every restart, and in every process. ``kind``: one
    of `tuning.SAMPLERS`, which all draw the same first `STARTUP` trials; 'random' goes on as it began. ``base``:
    values by name of what is to be beaten. Among many parameters hardly a random trial comes near it, and TPE, which
    follows the best it has seen, would not look there again. ``space``: the parameters that are searched.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float], space: Sequence[Variable]) -> None:
        self._kind, self._seed, self._base = kind, seed, base
        least = {one.name: one.low for one in space}
        self._always = [one for one in space if not one.when or least.get(f"{one.section}.{one.when}", 0) > 0]
        self._kept: set[str] = set()
        self._chance = 0
        self._model: BaseSampler = RandomSampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        chance = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number % 2 == 1 and (trial.number < STARTUP or self._kind == "random")
        stays = np.random.default_rng(chance.spawn(1)[0]).random(len(self._base)) < KEPT
        self._kept = {name for name, one in zip(self._base, stays, strict=True) if near and one}
        self._chance = int(chance.generate_state(1)[0])
        self._model = (
            TPESampler(n_startup_trials=STARTUP, multivariate=True, group=True, constant_liar=True, seed=self._chance)
            if self._kind == "tpe"
            else RandomSampler(seed=self._chance)
        )

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        if self._kind == "cmaes":
            return {one.name: one.distribution for one in self._always}
        space: dict[str, BaseDistribution] = self._model.infer_relative_search_space(study, trial)
        return space

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if self._kind == "cmaes":
            return {} if trial.number < STARTUP else propose(self._always, *self._told(study), self._chance)
        values: dict[str, Any] = self._model.sample_relative(study, trial, search_space)
        return values

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name in self._kept:
            return self._base[param_name]
        return self._model.sample_independent(study, trial, param_name, param_distribution)

    def _told(self, study: optuna.Study) -> tuple[list[Told], list[Told]]:
        """The finished trials: those of the beginning, and those that were proposed since, but not those tried again.

        The whole ones are better than those given up, as to TPE; the worst are those that the engine refused.
        """
        first: list[Told] = []
        later: list[Told] = []
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
            if any(one.name not in trial.params for one in self._always):
                continue
            steps = trial.intermediate_values
            if trial.state == TrialState.COMPLETE:
                merit = 2, trial.value or 0.0
            else:
                merit = (1, steps[max(steps)]) if steps else (0, 0.0)
            if trial.number < STARTUP:
                first.append((trial.params, merit))
            elif "fixed_params" not in trial.system_attrs:
                later.append((trial.params, merit))
        return first, later
