"""Adaptive choice among operators: an operator that gains more edges for its nodes is chosen more often.

The weight of an operator is its gain per node, where old gains and nodes are forgotten exponentially. A prior gain
keeps the weight of an operator without gains above zero. Weights are per node, so of two operators with equal gains per
call the cheaper one is called more often. After the adaptive weights of Ropke & Pisinger 2006, section 3.4, with scores
by nodes instead of by segments.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.engine import saved_record

PRIOR_GAIN = 0.3  # edges that every operator is assumed to have gained before the first call
OVERHEAD = int(node_equivalents.REGION_SETUP / node_equivalents.REGION_NODE)  # placements as long as one set-up


class OperatorWeights:
    """Weights of the operators.

    Parameters
    ----------
    count : int
        Number of operators.
    memory : float
        Nodes of one operator after which its past counts half.
    """

    def __init__(self, count: int, memory: float) -> None:
        self.memory = memory
        self.gains = np.zeros(count)
        self.nodes = np.zeros(count)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Gains per node, float64 (count,)."""
        return (self.gains + PRIOR_GAIN) / (self.nodes + OVERHEAD)

    def draw(self, rng: np.random.Generator) -> int:
        """Index of an operator, drawn in proportion to the weights."""
        weights = self.weights
        return int(rng.choice(len(weights), p=weights / weights.sum()))

    def update(self, number: int, gain: int, nodes: int) -> None:
        """Record a call of operator ``number``: ``gain`` edges (a loss counts as 0) for ``nodes`` nodes."""
        spent = nodes + OVERHEAD
        keep = 0.5 ** (spent / self.memory)
        self.gains[number] = keep * self.gains[number] + max(gain, 0)
        self.nodes[number] = keep * self.nodes[number] + spent

    def state(self) -> npt.NDArray[np.float64]:
        """Gains and nodes, float64 (2, count)."""
        return np.array([self.gains, self.nodes])

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Continue from `state`. Raises InputError as `saved_record` does."""
        self.gains, self.nodes = saved_record(state, (2, len(self.gains)), "operator weights")
