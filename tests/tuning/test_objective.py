"""The objective: what a trace is worth, and that a run is the same every time and in parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instances.generate import family
from lns import node_equivalents
from lns.params import from_dict
from tuning.objective import EARLY_BONUS, MIN_STEPS, Pair, Stopped, Trace, TrialRun, difference, expected_difference

QUICK = from_dict({"construct": {"population": 200}})
TRACE = Trace(((50, 100), (52, 400), (53, 900)), 1000, False, 0.5)


def test_the_score_at_a_budget_is_that_of_the_steps_that_were_over_by_then():
    assert [TRACE.score_at(budget) for budget in (99, 100, 399, 400, 1000)] == [0, 50, 50, 52, 53]


def test_reaching_the_target_early_is_worth_a_part_of_an_edge():
    assert TRACE.value(1000, 52) == pytest.approx(53 + EARLY_BONUS * 0.6)
    assert TRACE.value(1000, 54) == pytest.approx(53)
    assert TRACE.value(500, 53) == pytest.approx(52)  # reached, but too late for this budget


def test_the_difference_to_itself_is_0_and_that_of_an_earlier_or_better_run_is_positive():
    assert difference(TRACE, TRACE, 1000) == 0
    assert 0 < difference(Trace(((53, 200),), 1000, False, 0.5), TRACE, 1000) < 1
    assert difference(Trace(((54, 999),), 1000, False, 0.5), TRACE, 1000) == pytest.approx(
        1 + EARLY_BONUS * (0.001 - 0.099) / 2
    ), "of 53 it was later by 0.099, of 54 earlier by 0.001 of the budget"


def test_the_difference_is_antisymmetric():
    """Or a candidate no different from the defaults would look a little better, or worse, than they are."""
    chance = np.random.default_rng(5)

    def trace():
        at = np.sort(chance.integers(1, 1000, 6)).tolist()
        best_scores = tuple(zip((50 + np.cumsum(chance.integers(1, 3, 6))).tolist(), at, strict=True))
        expected_scores = tuple(zip((50 + chance.normal(size=6).cumsum()).tolist(), at, strict=True))
        return Trace(best_scores, 1000, False, 0.5, 0.5, expected_scores)

    for _ in range(50):
        one, other = trace(), trace()
        for compared in (difference, expected_difference):
            assert compared(one, other, 900) == pytest.approx(-compared(other, one, 900))


def test_trials_are_compared_by_their_expected_best_scores():
    expected_scores = ((50.0, 100), (51.5, 300), (51.25, 500), (52.75, 900))
    told = replace(TRACE, expected_scores=expected_scores)
    assert [told.expected_at(budget) for budget in (99, 100, 400, 600, 1000)] == [0, 50, 51.5, 51.25, 52.75]
    assert told.expected_value(1000, 51) == pytest.approx(52.75 + EARLY_BONUS * 0.7)
    assert told.expected_value(1000, 51.5) == pytest.approx(52.75 + EARLY_BONUS * 0.1), "it fell below that again"
    assert told.expected_value(600, 51.5) == pytest.approx(51.25)
    assert expected_difference(told, told, 1000) == 0
    lucky = replace(told, best_scores=((56, 50),))
    assert expected_difference(lucky, told, 1000) == 0 < difference(lucky, told, 1000)
    assert expected_difference(TRACE, replace(TRACE, best_scores=TRACE.best_scores[:1]), 1000) == pytest.approx(
        3 + EARLY_BONUS * 0.1 / 2
    ), "where nothing is foretold the score counts"


@pytest.mark.slow
def test_expected_best_scores_match_the_scores_on_average_and_vary_less():
    pair = Pair(family("like-e2:11x11")(3).puzzle, 0, "")
    traces = [
        TrialRun("construct", QUICK, replace(pair, seed=seed), 5_000_000).advance(40_000_000, lambda: False)
        for seed in range(8)
    ]
    scores = np.array([trace.score_at(40_000_000) for trace in traces])
    expected_scores = np.array([trace.expected_at(40_000_000) for trace in traces])
    assert len({round(float(hope), 2) for hope in expected_scores}) > 1 and expected_scores.std() < scores.std()
    assert abs(expected_scores.mean() - scores.mean()) < 1, (expected_scores, scores)


def test_the_expected_best_score_after_a_perfect_board_is_the_best_possible():
    pair = Pair(family("like-e2:4x4")(3).puzzle, 5, "")
    trace = TrialRun("auto", QUICK, pair, 100_000).advance(10**7, lambda: False)
    assert trace.exhausted and trace.expected_at(10**7) == pair.puzzle.max_score == trace.score_at(10**7)


def test_engines_without_expected_scores_are_compared_by_their_scores():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    for engine in ("tabu", "beam", "lns"):
        trace = TrialRun(engine, QUICK, pair, 100_000).advance(5_000_000, lambda: False)
        assert not trace.expected_scores and trace.expected_at(5_000_000) == trace.score_at(5_000_000) > 0


def test_a_step_of_a_tabu_walk_is_a_small_part_of_the_shortest_budget():
    pair = Pair(family("like-e2:8x8")(3).puzzle, 5, "")
    run = TrialRun("tabu", QUICK, pair, 400_000)
    assert 0 < run.advance(1, lambda: False).nodes <= 400_000 / MIN_STEPS * 1.1
    assert run.advance(400_000, lambda: False).score_at(400_000) > 0


def test_without_expected_scores_the_bonus_of_a_perfect_board_uses_earlier_scores():
    pair = Pair(family("like-e2:5x5")(3).puzzle, 5, "")
    trace = TrialRun("tabu", QUICK, pair, 100_000).advance(10**9, lambda: False)
    assert trace.score_at(10**9) == pair.puzzle.max_score and not trace.expected_scores and len(trace.best_scores) > 1
    at, target = trace.best_scores[-2][1], trace.best_scores[-2][0]
    assert trace.expected_value(10**9, target) == pytest.approx(pair.puzzle.max_score + EARLY_BONUS * (1 - at / 10**9))


def test_a_trace_covers_what_it_reached_or_everything_when_nothing_is_left():
    assert TRACE.covers(1000) and not TRACE.covers(1001)
    assert Trace(((60, 10),), 10, True, 0.1).covers(10**12)


def test_a_run_is_the_same_every_time_and_when_it_is_continued():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    whole = TrialRun("auto", QUICK, pair, 500_000).advance(2_000_000, lambda: False)
    parts = TrialRun("auto", QUICK, pair, 500_000)
    for budget in (500_000, 1_000_000, 2_000_000):
        trace = parts.advance(budget, lambda: False)
    assert (trace.best_scores, trace.nodes, trace.exhausted) == (whole.best_scores, whole.nodes, whole.exhausted)
    assert whole.score_at(2_000_000) > 45


@pytest.mark.parametrize("engine", ["auto", "construct"])
def test_a_larger_population_counts_more_nodes_when_it_is_made(engine):
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    dear = from_dict({"construct": {"population": 2000}})
    runs = [TrialRun(engine, params, pair, 500_000) for params in (QUICK, dear)]
    first, same = (run.advance(1, lambda: False) for run in runs)
    assert first.best_scores == same.best_scores != (), "a first board costs no measurement"
    cheap, other = (run.advance(run.trace.nodes + 1, lambda: False) for run in runs)
    dearer = 2000 - QUICK.construct.population
    assert other.nodes - cheap.nodes == pytest.approx(node_equivalents.population(dearer, 36), rel=0.1)


def test_a_run_stops_when_told_to():
    pair = Pair(family("like-e2:6x6")(3).puzzle, 5, "")
    with pytest.raises(Stopped):
        TrialRun("auto", QUICK, pair, 500_000).advance(10**12, lambda: True)
