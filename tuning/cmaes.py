"""CMA-ES over the parameters of a study (N. Hansen, A. Ostermeier, Evol. Comput. 9, 2001), from its trials alone.

By the package `cmaes`, begun around the best of the random trials (M. Nomura et al., AAAI 35, 2021). Optuna's sampler
of that name keeps its state as a pickle in the journal, so that a study of somebody else could run any code, and draws
the first generation from a distribution that moves. Here the state is made again for each trial, in milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tuning.space import Variable

Values = Mapping[str, float]
Told = tuple[Values, tuple[int, float]]  # of a trial, and its merit
LEAST = 10  # random trials: a tenth of them is what the search begins around


def propose(space: Sequence[Variable], first: Sequence[Told], later: Sequence[Told], seed: int) -> dict[str, float]:
    """Values of ``space`` for one trial more; {} where too little is known yet, or the search has converged.

    ``first``: the random trials; ``later``: those that were proposed, in their order: every so many are a generation.
    """
    import cmaes  # an extra

    if len(first) < LEAST:
        return {}
    mean, sigma, cov = cmaes.get_warm_start_mgd(_ranked(space, first))
    bounds = np.array([[0.0, 1.0]] * len(space))
    search = cmaes.CMA(mean=mean, sigma=sigma, cov=cov, bounds=bounds, seed=seed % 2**32)
    size = search.population_size
    for end in range(size, len(later) + 1, size):
        search.tell(_ranked(space, later[end - size : end]))
    if search.should_stop():
        return {}
    return {one.name: _value(one, float(share)) for one, share in zip(space, search.ask(), strict=True)}


def _ranked(space: Sequence[Variable], told: Sequence[Told]) -> list[tuple[npt.NDArray[np.float64], float]]:
    """Where each trial lies in the unit cube, and its rank, 0 the best: merits have no common scale."""
    best_first = sorted(told, key=lambda one: one[1], reverse=True)
    points = [np.array([_share(one, values[one.name]) for one in space]) for values, _ in best_first]
    return [(point, float(rank)) for rank, point in enumerate(points)]


def _bounds(variable: Variable) -> tuple[float, float]:
    """As a share is reckoned: of whole numbers each has as much room."""
    margin = 0.5 if variable.kind is int else 0.0
    low, high = variable.low - margin, variable.high + margin
    return (math.log(low), math.log(high)) if variable.log else (low, high)


def _share(variable: Variable, value: float) -> float:
    """Where ``value`` lies between the bounds, from 0 to 1."""
    low, high = _bounds(variable)
    return ((math.log(value) if variable.log else value) - low) / (high - low)


def _value(variable: Variable, share: float) -> float:
    low, high = _bounds(variable)
    value = low + share * (high - low)
    value = math.exp(value) if variable.log else value
    value = min(max(value, variable.low), variable.high)
    return round(value) if variable.kind is int else value
