"""The chooser: time goes to what gains more than the construction, and every operator has its floor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from lns.loop.chooser import Chooser

PRICE = 1e7


def chooser_of(count: int, floor: float = 0.0, proves: tuple[int, ...] = ()) -> Chooser:
    operators: list[Any] = [SimpleNamespace(name=f"operator-{i}", proves=i in proves) for i in range(count)]
    return Chooser(operators, floor)


def simulate(
    chooser: Chooser,
    costs: list[float],
    chances: list[float],
    calls: int,
    main: int | None = None,
) -> np.ndarray:
    """The share of the cost that each operator has, if a call costs so much and gains a board with such a chance."""
    rng = np.random.default_rng(1)
    for _ in range(calls):
        number = chooser.order(rng, main)[0]
        chooser.record(number, costs[number], PRICE, int(rng.random() < chances[number]))
    return chooser.cost / chooser.cost.sum()


def test_time_goes_to_the_operator_that_gains() -> None:
    shares = simulate(chooser_of(3), [5e5, 5e5, 5e5], [0.0, 0.2, 0.0], 1000)
    assert shares[1] > 4 * shares[0] and shares[0] > 0


def test_equal_gains_for_the_same_cost_have_equal_time_however_long_a_call_is() -> None:
    shares = simulate(chooser_of(2), [1e6, 1e4], [0.1, 0.001], 20_000)
    assert 0.35 < shares[0] < 0.65


def test_old_gains_are_forgotten() -> None:
    chooser = chooser_of(2)
    for _ in range(20):
        chooser.record(0, PRICE / 10, PRICE, 1)
    assert chooser.values(None)[0] > 3.0
    for _ in range(100):
        chooser.record(0, PRICE, PRICE, 0)
    assert chooser.values(None)[0] < 0.1
    assert chooser.new.tolist() == [20, 0] and chooser.calls.tolist() == [120, 0], "but counted"


def test_gains_are_worth_what_the_construction_pays_for_a_board() -> None:
    values = []
    for price in (PRICE, 10 * PRICE):
        chooser = chooser_of(1)
        for _ in range(20):
            chooser.record(0, PRICE, price, 1)
        values.append(chooser.values(None)[0])
    assert values[1] > 5 * values[0]


def test_nothing_is_learnt_while_the_price_of_a_board_is_unknown() -> None:
    chooser = chooser_of(2)
    before = chooser.values(None).tolist()
    chooser.record(0, PRICE, 0.0, 1)
    assert chooser.values(None).tolist() == before and chooser.new[0] == chooser.calls[0] == 1
    assert chooser.cost.tolist() == [PRICE, 0.0], "but it has cost something"


def test_an_operator_that_was_never_called_is_worth_what_all_are_worth() -> None:
    low, high = chooser_of(2), chooser_of(2)
    for _ in range(10):
        low.record(0, PRICE, PRICE, 0)
        high.record(0, PRICE, PRICE, 3)
    assert low.values(None)[1] < 0.1 < 1.0 < high.values(None)[1]


def test_of_two_that_gain_alike_the_one_that_proves_has_the_benefit_of_the_doubt() -> None:
    chooser = chooser_of(2, proves=(1,))
    assert chooser.values(None)[0] == chooser.values(None)[1], "nothing gained, nothing to doubt"
    for number in (0, 1):
        chooser.record(number, PRICE, PRICE, 1)
    assert chooser.values(None)[1] > chooser.values(None)[0]


def test_beside_the_construction_no_operator_has_more_than_its_floor_while_it_is_worth_less() -> None:
    chooser = chooser_of(4, floor=0.01)
    shares = simulate(chooser, [1e6, 1e6, 1e5, 1e6], [0.1, 0.02, 0.001, 0.0], 3000, main=0)
    assert ((shares[1:] > 0.005) & (shares[1:] <= 0.011)).all(), "each is worth a fifth of the construction or less"
    assert (chooser.values(0)[1:] < 1.0).all() and chooser.values(0)[0] == 1.0


def test_beside_the_construction_an_operator_that_is_worth_more_has_time_beyond_its_floor() -> None:
    shares = simulate(chooser_of(3, floor=0.01), [1e6, 1e6, 1e6], [0.1, 0.4, 0.02], 3000, main=0)
    assert shares[1] > 0.4 and shares[0] > 0.1 and shares[2] <= 0.011


def test_without_a_floor_what_is_worth_nothing_costs_nothing() -> None:
    chooser = chooser_of(2)
    chooser.record(1, 10 * PRICE, PRICE, 0)
    assert chooser.order(np.random.default_rng(1), 0) == [0]
    chooser.on[0] = False
    assert chooser.order(np.random.default_rng(1), None) == [1], "nor what was switched off"


def test_boards_that_the_construction_finds_later_are_no_gain_any_more() -> None:
    chooser, names = chooser_of(3), ("a", "b", "c")
    chooser.record(1, PRICE, PRICE, 2)
    before = chooser.values(0)[1]
    for _ in range(3):
        chooser.found_later(1)
    chooser.on[2] = False
    assert chooser.values(0)[1] < before and chooser.gained[1] == 0
    assert chooser.counts(names) == [{"b": 2}, {"b": 3}, {"c": 1}]


def test_a_chooser_continues_from_its_state() -> None:
    chooser, again = chooser_of(3, floor=0.01), chooser_of(3, floor=0.01)
    simulate(chooser, [1e6, 1e5, 1e6], [0.1, 0.2, 0.3], 100, main=0)
    chooser.on[1] = False
    again.restore(chooser.state())
    assert np.array_equal(again.state()["records"], chooser.state()["records"])
    orders = [one.order(np.random.default_rng(7), 0) for one in (chooser, again)]
    assert orders[0] == orders[1] and 1 not in orders[0]
