"""In which order the regions of an operator are re-solved: in fixed orders, or by ColorPairs in a dynamic one.

Both searches are exact, so they give the same answers; which one is cheaper depends on size and shape. It is learnt:
each operator uses the order that has cost less for each region that it decided, and now and then the other one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.engine import saved_record

ORDERS = ("static", "dynamic")
"""Orders of `exact.region.options.RegionOptions`; the second is ColorPairs."""
TRY_OTHER = 8  # each eighth region is searched in the other order
_PRIOR_DECIDED = 0.5  # so that an order that has decided no region has a cost too


class OrderChoice:
    """What the regions of each operator have cost in each order.

    Parameters
    ----------
    operators : int
        Number of operators.

    Attributes
    ----------
    cost : float64 (operators, 2)
        Node equivalents of all regions in each of `ORDERS`.
    tries, decided : int64 (operators, 2)
        Number of these regions, and how many were decided within their budget.
    """

    def __init__(self, operators: int) -> None:
        self.cost = np.zeros((operators, len(ORDERS)))
        self.tries, self.decided = (np.zeros((operators, len(ORDERS)), dtype=np.int64) for _ in range(2))

    def next_order(self, operator: int) -> str:
        """The order in which the next region of an operator is searched."""
        tries = self.tries[operator]
        if not tries.all():
            return ORDERS[int(np.argmin(tries))]
        cheaper = int(np.argmin(self.cost[operator] / (self.decided[operator] + _PRIOR_DECIDED)))
        return ORDERS[1 - cheaper if tries.sum() % TRY_OTHER == 0 else cheaper]

    def record(self, operator: int, order: str, cost: float, decided: bool) -> None:
        """Record a region that was searched in an order: its node equivalents, and whether it was decided."""
        number = ORDERS.index(order)
        self.cost[operator, number] += cost
        self.tries[operator, number] += 1
        self.decided[operator, number] += decided

    def state(self) -> npt.NDArray[np.float64]:
        """Costs, tries and decided regions: float64 (3, operators, 2)."""
        return np.array([self.cost, self.tries, self.decided])

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Continue from `state`. Raises InputError as `saved_record` does."""
        self.cost, *counts = saved_record(state, (3, *self.cost.shape), "costs of orders")
        self.tries, self.decided = (row.astype(np.int64) for row in counts)
