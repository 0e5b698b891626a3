"""Adaptive choice among operators: work goes where edges were gained for it.

An operator's weight is its gains per node, both forgotten little by little. One that was never lucky keeps a share: a
small gain is believed of it beforehand. As the weights are per node, what costs little is tried often: at equal luck
all operators get the same work, not the same number of tries. (After the adaptive weights of Ropke & Pisinger 2006,
section 3.4, with scores by nodes instead of by segments.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns_support.errors import InputError

BELIEF = 0.3  # edges that every operator is believed to have gained
OVERHEAD = 40_000  # nodes that setting up one re-solve takes the time of (`process_time`, 16 cells of a 16x16 board)


class Choice:
    """Weights of ``count`` operators. ``memory``: nodes of one operator after which its past counts for half."""

    def __init__(self, count: int, memory: float) -> None:
        self.memory = memory
        self.gains = np.zeros(count)
        self.nodes = np.zeros(count)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Gains per node."""
        return (self.gains + BELIEF) / (self.nodes + OVERHEAD)

    def draw(self, chance: np.random.Generator) -> int:
        """The number of an operator, by weight."""
        weights = self.weights
        return int(chance.choice(len(weights), p=weights / weights.sum()))

    def learn(self, number: int, gain: int, nodes: int) -> None:
        """Operator ``number`` has gained ``gain`` edges (a loss counts as nothing) with ``nodes``."""
        spent = nodes + OVERHEAD
        keep = 0.5 ** (spent / self.memory)
        self.gains[number] = keep * self.gains[number] + max(gain, 0)
        self.nodes[number] = keep * self.nodes[number] + spent

    def state(self) -> npt.NDArray[np.float64]:
        """Shape (2, count)."""
        return np.array([self.gains, self.nodes])

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Raises InputError for numbers that no weights can have."""
        values = np.asarray(state, dtype=np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1e18).all()):
            raise InputError("the saved weights of operators are out of range")
        self.gains, self.nodes = values.copy()
