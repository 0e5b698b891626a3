"""The sampler of a study. Restarts and several processes draw different random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from lns_support.optional_deps import require
from tuning.cmaes import Observation, propose
from tuning.space import Variable

STARTUP_TRIALS = 20  # random trials before a model is used; every other one is near the base
KEEP_PROBABILITY = 0.75  # of a parameter to keep the value of the base, in a trial near it


def check_sampler(kind: str) -> None:
    """Raise InputError if the package of the sampler ``kind`` is not installed."""
    if kind == "cmaes":
        require("cma", "--sampler cmaes")


class SeededSampler(BaseSampler):
    """A sampler whose random numbers depend only on the seed of the study and the number of the trial.

    A sampler with one seed would draw the same numbers again after every restart and in every process.

    The first `STARTUP_TRIALS` trials are the same for every ``kind``. Every other one of them keeps most values of
    ``base``: with many parameters a random trial is hardly ever near the base, and TPE, which follows the best trials,
    would not look there again.

    Parameters
    ----------
    kind : str
        One of `tuning.SAMPLERS`; 'random' continues as in the first trials.
    seed : int
        Seed of the study.
    base : mapping of str to float
        Values of the parameters that the candidates are compared with.
    space : sequence of Variable
        Parameters that are searched.
    """

    def __init__(self, kind: str, seed: int, base: Mapping[str, float], space: Sequence[Variable]) -> None:
        self._kind, self._seed, self._base = kind, seed, base
        lows = {variable.name: variable.low for variable in space}
        self._unconditional = [
            variable
            for variable in space
            if not variable.when or lows.get(f"{variable.section}.{variable.when}", 0) > 0
        ]
        self._kept: set[str] = set()  # parameters that keep the value of the base in the current trial
        self._trial_seed = 0
        self._model: BaseSampler = RandomSampler(seed=seed)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(trial.number,))
        near = trial.number % 2 == 1 and (trial.number < STARTUP_TRIALS or self._kind == "random")
        keep = np.random.default_rng(sequence.spawn(1)[0]).random(len(self._base)) < KEEP_PROBABILITY
        self._kept = {name for name, kept in zip(self._base, keep, strict=True) if near and kept}
        self._trial_seed = int(sequence.generate_state(1)[0])
        self._model = (
            TPESampler(
                n_startup_trials=STARTUP_TRIALS, multivariate=True, group=True, constant_liar=True,
                seed=self._trial_seed,
            )
            if self._kind == "tpe"
            else RandomSampler(seed=self._trial_seed)
        )  # fmt: skip

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        if self._kind == "cmaes":
            return {variable.name: variable.distribution for variable in self._unconditional}
        space: dict[str, BaseDistribution] = self._model.infer_relative_search_space(study, trial)
        return space

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if self._kind == "cmaes":
            if trial.number < STARTUP_TRIALS:
                return {}
            return propose(self._unconditional, *self._observations(study), self._trial_seed)
        values: dict[str, Any] = self._model.sample_relative(study, trial, search_space)
        return values

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name in self._kept:
            return self._base[param_name]
        return self._model.sample_independent(study, trial, param_name, param_distribution)

    def _observations(self, study: optuna.Study) -> tuple[list[Observation], list[Observation]]:
        """The finished trials: the random ones, and those proposed since, without those that were tried again.

        Complete trials rank above pruned ones, as for TPE; trials that the engine refused, or that made no
        board where the defaults made one, rank lowest.
        """
        first: list[Observation] = []
        later: list[Observation] = []
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
            if any(variable.name not in trial.params for variable in self._unconditional):
                continue
            steps = trial.intermediate_values
            if trial.state == TrialState.COMPLETE:
                rank_key = 2, trial.value or 0.0
            elif steps and "no_board" not in trial.user_attrs:
                rank_key = 1, steps[max(steps)]
            else:
                rank_key = 0, 0.0
            if trial.number < STARTUP_TRIALS:
                first.append((trial.params, rank_key))
            elif "fixed_params" not in trial.system_attrs:
                later.append((trial.params, rank_key))
        return first, later
