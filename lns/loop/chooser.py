"""Which operator comes next: the one learner of the loop.

The value of an operator is the number of new boards that it finds for what the construction pays for one. So a record
made at one score is used at the next one too, where a board has another price; old records are forgotten. A board that
was known when it was found counts nothing, and one that the construction finds later counts nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lns.engine import Saved
from lns.loop.pool import Operator

MEMORY = 8.0  # prices after which a record counts half
PRIOR_PRICES = 0.5  # an operator is worth what all are worth, until it has paid so many prices
PRIOR_ALL, PRIOR_ALL_PRICES = 0.1, 0.5  # boards, and for what price: all operators together, before the first call
MAX_PRIOR = 0.5  # no operator is worth as much as the construction for what others have gained
DOUBT = {False: 1.0, True: 0.5}  # standard deviations, for operators that leave proofs or do not
SHARES = {"regrow": 0.5}  # of the search, for operators that need more than the floor to gain anything
MIN_COST = 100_000.0  # node equivalents that a call of an operator is taken to cost before the first one


class Chooser(Saved):
    """The records of all operators, each float64 (operators,), and the choice among them.

    ``gained``, ``paid``: new boards, and their cost in prices; old ones are forgotten. ``cost``, ``calls``, ``new``,
    ``later``: node equivalents, calls, new boards, and how many of these the construction found later, in all. ``on``:
    False for an operator that failed. Each may cost the share ``floor`` of the search though it gains nothing.
    """

    SAVED = ("gained", "paid", "cost", "calls", "new", "later", "on")

    def __init__(self, operators: Sequence[Operator], floor: float) -> None:
        self.floor = np.array([SHARES.get(operator.name, floor) for operator in operators])
        self._doubt = np.array([DOUBT[operator.proves] for operator in operators])
        count = len(operators)
        self.gained, self.paid, self.cost, self.calls, self.new, self.later = np.zeros((6, count))
        self.on = np.ones(count, dtype=bool)

    def values(self, main: int | None) -> npt.NDArray[np.float64]:
        """Value of each operator; 1 for ``main``. Some of the standard deviation is taken off: a gain may be luck."""
        others = np.arange(len(self.gained)) != (-1 if main is None else main)
        rate = (self.gained[others].sum() + PRIOR_ALL) / (self.paid[others].sum() + PRIOR_ALL_PRICES)
        rate = rate if main is None else min(rate, MAX_PRIOR)
        gained = self.gained - self._doubt * np.sqrt(self.gained) + PRIOR_PRICES * rate
        return np.where(others, gained / (self.paid + PRIOR_PRICES), 1.0)

    def order(self, rng: np.random.Generator, main: int | None) -> list[int]:
        """The operators in the order in which they are asked for something to do.

        First those that will have cost less than their floor after one call more; then a random order in which the
        first one has the share of the time that its value has of all. ``main``: the construction, whose value is 1;
        those that are worth less are left out. None: the time is shared by value.
        """
        total, values = self.cost.sum(), self.values(main)
        is_main = np.arange(len(values)) == main
        mean_cost = (self.cost + MIN_COST) / (self.calls + 1)
        due = np.flatnonzero(self.on & ~is_main & (self.cost + mean_cost < self.floor * total))
        rest = np.flatnonzero(self.on & ((values >= 1.0) | (main is None)))
        keys = rng.exponential(size=len(rest)) * mean_cost[rest] / values[rest]
        return [*due[np.argsort(self.cost[due], kind="stable")].tolist(), *rest[np.argsort(keys)].tolist()]

    def record(self, number: int, cost: float, price: float, gained: int) -> None:
        """Record a call of an operator that cost so many node equivalents when a board had a price; 0: unknown."""
        if price:
            paid = cost / price
            keep = 0.5 ** (paid / MEMORY)
            self.gained[number] = keep * self.gained[number] + gained
            self.paid[number] = keep * self.paid[number] + paid
        self.cost[number] += cost
        self.calls[number] += 1
        self.new[number] += gained

    def found_later(self, number: int) -> None:
        """The construction has found a board that this operator had found."""
        self.gained[number] = max(0.0, self.gained[number] - 1)
        self.later[number] += 1

    def counts(self, names: Sequence[str]) -> list[dict[str, int]]:
        """New boards, those that the construction found later, and failures, of each operator that has some."""
        columns = self.new, self.later, ~self.on
        return [{name: int(value) for name, value in zip(names, column, strict=True) if value} for column in columns]
