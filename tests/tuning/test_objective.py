"""The objective: what a trace is worth, and that a run is the same every time and in parts."""

from __future__ import annotations

import pytest

from instances.generate import family
from lns import costs
from lns.params import from_dict
from tuning.objective import EARLY, Pair, Run, Stopped, Trace, difference

QUICK = from_dict({"construct": {"population": 200}})
TRACE = Trace(((50, 100), (52, 400), (53, 900)), 1000, False, 0.5)


def test_the_score_at_a_budget_is_that_of_the_steps_that_were_over_by_then():
    assert [TRACE.score_at(budget) for budget in (99, 100, 399, 400, 1000)] == [0, 50, 50, 52, 53]


def test_reaching_the_target_early_is_worth_a_part_of_an_edge():
    assert TRACE.value(1000, 52) == pytest.approx(53 + EARLY * 0.6)
    assert TRACE.value(1000, 54) == pytest.approx(53)
    assert TRACE.value(500, 53) == pytest.approx(52)  # reached, but too late for this budget


def test_the_difference_to_oneself_is_nothing_and_an_earlier_or_better_one_is_positive():
    assert difference(TRACE, TRACE, 1000) == 0
    assert 0 < difference(Trace(((53, 200),), 1000, False, 0.5), TRACE, 1000) < 1
    assert difference(Trace(((54, 999),), 1000, False, 0.5), TRACE, 1000) == pytest.approx(1 + EARLY * (0.9 - 0.999))


def test_a_trace_covers_what_it_reached_or_everything_when_nothing_is_left():
    assert TRACE.covers(1000) and not TRACE.covers(1001)
    assert Trace(((60, 10),), 10, True, 0.1).covers(10**12)


def test_a_run_is_the_same_every_time_and_when_it_is_continued():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    whole = Run("auto", QUICK, pair, 500_000).advance(2_000_000, lambda: False)
    parts = Run("auto", QUICK, pair, 500_000)
    for budget in (500_000, 1_000_000, 2_000_000):
        trace = parts.advance(budget, lambda: False)
    assert (trace.rises, trace.work, trace.ended) == (whole.rises, whole.work, whole.ended)
    assert whole.score_at(2_000_000) > 45


@pytest.mark.parametrize("engine", ["auto", "construct"])
def test_a_dearer_measurement_counts_once_it_is_made(engine):
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    dear = from_dict({"construct": {"population": 2000}})
    runs = [Run(engine, params, pair, 500_000) for params in (QUICK, dear)]
    first, same = (run.advance(1, lambda: False) for run in runs)
    assert first.rises == same.rises != (), "a first board costs no measurement"
    cheap, other = (run.advance(run.trace.work + 1, lambda: False) for run in runs)
    dearer = 2000 - QUICK.construct.population
    assert other.work - cheap.work == pytest.approx(costs.measuring(dearer, 36), rel=0.1)


def test_a_run_stops_when_told_to():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    with pytest.raises(Stopped):
        Run("auto", QUICK, pair, 500_000).advance(10**12, lambda: True)
