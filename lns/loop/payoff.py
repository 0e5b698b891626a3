"""What an operator of the loop brings for its cost, learnt while the search runs.

The unit of cost is the *price* of a board: what the construction pays for one board of the wanted score, in node
equivalents. So a record made at one score is used at the next one too, where a board has another price; old records are
forgotten, since an operator may gain more or less for a price there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.engine import saved_record

PRIOR_GAIN, PRIOR_PRICES = 0.5, 0.25  # what an operator without evidence counts as having gained, and for how much:
# so each of them may cost a quarter of a price before it has gained anything
MEMORY = 8.0  # prices after which a record counts half


class Payoffs:
    """Boards gained and prices paid, of each operator.

    Parameters
    ----------
    names : sequence of str
        The operators.

    Attributes
    ----------
    gained, paid : float64 (operators,)
        Boards of the wanted score, and their cost in prices; old ones are forgotten.
    cost, tries, gains : int64 (operators,)
        Node equivalents, calls, and boards gained, in all.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.gained, self.paid = np.zeros(len(names)), np.zeros(len(names))
        self.cost, self.tries, self.gains = (np.zeros(len(names), dtype=np.int64) for _ in range(3))

    def record(self, number: int, cost: float, price: float, gained: bool) -> None:
        """Record a call of operator ``number`` that cost ``cost`` node equivalents when a board cost ``price``."""
        paid = cost / max(price, 1.0)
        keep = 0.5 ** (paid / MEMORY)
        self.gained[number] = keep * self.gained[number] + gained
        self.paid[number] = keep * self.paid[number] + paid
        self.cost[number] += int(cost)
        self.tries[number] += 1
        self.gains[number] += gained

    def value(self, number: int) -> float:
        """Boards that operator ``number`` gains for the price of one; the construction has 1."""
        return float((self.gained[number] + PRIOR_GAIN) / (self.paid[number] + PRIOR_PRICES))

    def pays(self, number: int, share: float, total: float) -> bool:
        """Whether to call operator ``number`` now.

        Parameters
        ----------
        number : int
            The operator.
        share : float
            Share of ``total`` that it may cost even if it gains less than the construction.
        total : float
            Node equivalents of the whole search.
        """
        return self.value(number) >= 1.0 or self.cost[number] < share * total

    def state(self) -> npt.NDArray[np.float64]:
        """The record of all operators, float64 (5, operators)."""
        return np.array([self.gained, self.paid, self.cost, self.tries, self.gains], dtype=np.float64)

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Continue from `state`. Raises InputError as `saved_record` does."""
        self.gained, self.paid, *counts = saved_record(state, (5, len(self.names)), "payoffs of the operators")
        self.cost, self.tries, self.gains = (row.astype(np.int64) for row in counts)
