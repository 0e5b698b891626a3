"""CMA-ES over the parameters of a study, computed from the trials of the study alone.

Uses the package `cmaes`, started around the best random trials. Optuna's own CMA-ES sampler keeps its state as a pickle
in the journal, so a study from somebody else could run any code, and it draws the first generation from a distribution
that moves. Here the state is rebuilt from the trials for each new one, which takes milliseconds.

References
----------
N. Hansen, A. Ostermeier: Completely derandomized self-adaptation in evolution strategies. Evol. Comput. 9, 2001.
M. Nomura et al.: Warm starting CMA-ES for hyperparameter optimization. AAAI 35, 2021.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tuning.space import Variable

Values = Mapping[str, float]
Observation = tuple[Values, tuple[int, float]]
"""Values of a finished trial by name, and its rank key; a larger key is a better trial."""
MIN_RANDOM_TRIALS = 10  # the best tenth of the random trials is the start; fewer have none


def propose(
    space: Sequence[Variable], first: Sequence[Observation], later: Sequence[Observation], seed: int
) -> dict[str, float]:
    """Values for the next trial.

    Parameters
    ----------
    space : sequence of Variable
        Parameters to be proposed.
    first : sequence of Observation
        The random trials.
    later : sequence of Observation
        The trials proposed by this function, in order; consecutive ones form generations.
    seed : int
        Random seed of this proposal.

    Returns
    -------
    dict of str to float
        Value by name; empty where there are too few random trials or the search has converged.
    """
    import cmaes  # an extra

    if len(first) < MIN_RANDOM_TRIALS:
        return {}
    mean, sigma, cov = cmaes.get_warm_start_mgd(_ranked(space, first))
    bounds = np.array([[0.0, 1.0]] * len(space))
    search = cmaes.CMA(mean=mean, sigma=sigma, cov=cov, bounds=bounds, seed=seed % 2**32)
    size = search.population_size
    for end in range(size, len(later) + 1, size):
        search.tell(_ranked(space, later[end - size : end]))
    if search.should_stop():
        return {}
    return {variable.name: _value(variable, float(x)) for variable, x in zip(space, search.ask(), strict=True)}


def _ranked(space: Sequence[Variable], trials: Sequence[Observation]) -> list[tuple[npt.NDArray[np.float64], float]]:
    """Position of each trial in the unit cube, and its rank from 0, the best; rank keys have no common scale."""
    best_first = sorted(trials, key=lambda trial: trial[1], reverse=True)
    points = [np.array([_position(variable, values[variable.name]) for variable in space]) for values, _ in best_first]
    return [(point, float(rank)) for rank, point in enumerate(points)]


def _bounds(variable: Variable) -> tuple[float, float]:
    """Bounds in the unit cube's scale, logarithmic if the variable is; integers get a margin of one half."""
    margin = 0.5 if variable.type is int else 0.0
    low, high = variable.low - margin, variable.high + margin
    return (math.log(low), math.log(high)) if variable.log else (low, high)


def _position(variable: Variable, value: float) -> float:
    """Position of ``value`` between the bounds, from 0 to 1."""
    low, high = _bounds(variable)
    return ((math.log(value) if variable.log else value) - low) / (high - low)


def _value(variable: Variable, position: float) -> float:
    """The value at ``position``, from 0 to 1, clipped to the range of the variable."""
    low, high = _bounds(variable)
    value = low + position * (high - low)
    value = math.exp(value) if variable.log else value
    value = min(max(value, variable.low), variable.high)
    return round(value) if variable.type is int else value
