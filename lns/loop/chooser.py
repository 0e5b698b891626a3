"""The choice of the next operator: the only part of the loop that learns.

The value of an operator is the number of new boards that it finds at the price of a board: the mean cost of a board by
construction or, without one, by all operators. So values measured at one score still hold at the next, where the price
is higher; old measurements fade. Only gains count (`Pool.offer`), until the construction finds the same board.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lns.engine import Saved
from lns.instances.errors import InputError
from lns.loop.construction import Construction
from lns.loop.pool import Operator, Pool

log = logging.getLogger("lns")

MEMORY = 8.0  # what an operator gained and paid counts half after it has paid this many prices of a board
PRIOR_PRICES = 0.5  # weight of the mean value of all operators in the value of one operator, in prices of a board
PRIOR_ALL, PRIOR_ALL_PRICES = 0.1, 0.5  # new boards and prices paid from which the mean value of all operators starts
MAX_PRIOR = 0.5  # the mean value of all operators is capped at this; the value of the construction is 1
DOUBT = {False: 1.0, True: 0.5}  # by `Operator.proves`: standard deviations subtracted from the boards gained
SHARES = {"regrow": 0.5}  # by operator: floor (share of the search), where the usual floor is too small to gain a board
MIN_COST = 100_000.0  # assumed cost of an operator's first call, in node equivalents
SHARE_WITHOUT_PREFIX = 0.75  # a construction that reaches no exact tail has precedence up to this share of the search


class Chooser(Saved):
    """The records of all operators, as arrays with an entry for each operator, and the choice among the operators.

    ``gained``, ``paid``: new boards, and prices of a board spent; both fade. ``cost``, ``calls``, ``new``, ``later``:
    totals of node equivalents, calls, new boards, and new boards that the construction found later. ``on``: False for
    an operator that failed. An operator may cost the share ``floor`` of the search even if it gains nothing.
    """

    SAVED = ("gained", "paid", "cost", "calls", "new", "later", "on")

    def __init__(self, operators: Sequence[Operator], floor: float) -> None:
        self.operators = operators
        self.makers = [number for number, operator in enumerate(operators) if operator.makes_boards]
        self.construction = next((one for one in operators if isinstance(one, Construction)), None)
        self.floor = np.array([SHARES.get(operator.name, floor) for operator in operators])
        self._doubt = np.array([DOUBT[operator.proves] for operator in operators])
        count = len(operators)
        self.gained, self.paid, self.cost, self.calls, self.new, self.later = np.zeros((6, count))
        self.on = np.ones(count, dtype=bool)

    def values(self, main: int | None) -> npt.NDArray[np.float64]:
        """Return the value of each operator, 1 for ``main``. As gains may be luck, standard deviations are deducted."""
        others = np.arange(len(self.gained)) != (-1 if main is None else main)
        rate = (self.gained[others].sum() + PRIOR_ALL) / (self.paid[others].sum() + PRIOR_ALL_PRICES)
        rate = rate if main is None else min(rate, MAX_PRIOR)
        gained = self.gained - self._doubt * np.sqrt(self.gained) + PRIOR_PRICES * rate
        return np.where(others, gained / (self.paid + PRIOR_PRICES), 1.0)

    def by_value(self, rng: np.random.Generator, main: int | None) -> list[int]:
        """Return the indexes of the operators that did not fail, those of much value and little time so far first.

        First come operators that stay below their floor even after one more call, then operators in a random order that
        makes the time of an operator proportional to its value. ``main``: index of the construction, whose value is 1;
        the second group then has no operators of less value. If ``main`` is None, all operators share the time.
        """
        total, values = self.cost.sum(), self.values(main)
        is_main = np.arange(len(values)) == main
        mean_cost = (self.cost + MIN_COST) / (self.calls + 1)
        due = np.flatnonzero(self.on & ~is_main & (self.cost + mean_cost < self.floor * total))
        rest = np.flatnonzero(self.on & ((values >= 1.0) | (main is None)))
        keys = rng.exponential(size=len(rest)) * mean_cost[rest] / values[rest]
        return [*due[np.argsort(self.cost[due], kind="stable")].tolist(), *rest[np.argsort(keys)].tolist()]

    def order(self, rng: np.random.Generator, pool: Pool, new_board_share: float) -> list[int]:
        """Return the indexes of the operators in the order in which they are asked for something to do.

        With a construction, the others must be worth as much. Without one, the boards of the pool are improved until
        `Pool.is_tired`; then a whole board is made with probability ``new_board_share``.
        """
        construction, main = self.construction, None
        if construction is not None:
            main = self.operators.index(construction)
            if construction.constructor is None:
                return [main]  # before the first call of the construction, the price of a board is not known
            if construction.no_prefix_found and self.cost[main] > SHARE_WITHOUT_PREFIX * self.cost.sum():
                main = None
        elif pool.is_tired:
            if rng.random() < new_board_share:
                return self.makers + self.by_value(rng, None)
            pool.rest(rng)
        # the certificate comes first, since it limits itself to its own share of the search
        proofs = [number for number, one in enumerate(self.operators) if one.name == "certificate" and self.on[number]]
        return proofs + self.by_value(rng, main)

    def record(self, number: int, cost: float, price: float, gained: int) -> None:
        """Record a call of operator ``number``: its cost, the price of a board (0: unknown), and the boards gained."""
        if price:
            paid = cost / price
            keep = 0.5 ** (paid / MEMORY)
            self.gained[number] = keep * self.gained[number] + gained
            self.paid[number] = keep * self.paid[number] + paid
        self.cost[number] += cost
        self.calls[number] += 1
        self.new[number] += gained

    def switch_off(self, number: int, error: Exception) -> None:
        """Ask operator ``number`` no more, as it raised ``error``; raise this if it makes boards or was the last."""
        self.on[number] = False
        if self.operators[number].makes_boards or not self.on.any():
            raise error
        told = isinstance(error, InputError | AssertionError) and str(error)
        message = str(error) if told else f"{type(error).__name__}: {error}"
        log.warning("operator '%s' is switched off for this run: %s", self.operators[number].name, message)

    def found_later(self, number: int) -> None:
        """Take a gained board from operator ``number``, as the construction has found the same board."""
        self.gained[number] = max(0.0, self.gained[number] - 1)
        self.later[number] += 1

    def counts(self) -> list[dict[str, int]]:
        """Return by operator, without zeros: new boards; those that the construction found later; 1 for a failure."""
        columns, names = (self.new, self.later, ~self.on), [operator.name for operator in self.operators]
        return [{name: int(value) for name, value in zip(names, column, strict=True) if value} for column in columns]
