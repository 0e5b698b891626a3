"""Verdicts on synthetic differences: better is found, equal is not, many candidates make it harder."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from lns.tuning import report
from lns.tuning.objective import Trace
from lns.tuning.validate import ALPHA, MIN_EFFECT, Conclusion, alpha_share, candidates_of, choose_candidates, compare
from tests.tuning.made_up import validated


def verdict_of(values, share=1.0, edges=None):
    return compare(3, values, float(np.mean(values)) if edges is None else edges, 1.0, share, 1)


def test_a_better_candidate_is_called_better():
    verdict = verdict_of(np.random.default_rng(1).normal(1.0, 1.0, 24))
    assert verdict.better and verdict.p < 0.01 and 0 < verdict.low < verdict.mean < verdict.high


def test_p_values_are_divided_by_shares_that_sum_up_to_the_level():
    values = np.random.default_rng(5).normal(0.5, 1.0, 24)
    assert verdict_of(values, share=0.25).p == pytest.approx(min(1.0, 4 * verdict_of(values).p))
    spent = [alpha_share(choice, 3) * 3 for choice in range(1, 1001)]
    assert spent[0] == 0.5 and 0.99 < sum(spent) < 1


@pytest.mark.parametrize("sessions", [1, 10])
def test_over_many_sessions_an_equal_candidate_is_rarely_called_better(sessions):
    chance, studies = np.random.default_rng(7), 2000
    called = np.zeros(studies, bool)
    for choice in range(1, sessions + 1):
        for _ in range(3):
            values = chance.normal(0.0, 1.0, (studies, 24))
            p = wilcoxon(values, axis=1, alternative="greater", method="asymptotic").pvalue
            called |= p / alpha_share(choice, 3) < ALPHA
    assert called.mean() < ALPHA


@pytest.mark.parametrize(
    ("values", "edges", "reason", "is_negligible"),
    [([-1.0] * 24, None, "it was worse", False), ([-1.0, 0.9] * 12, None, "though that may be chance", False),
     ([1.0, -0.9] * 12, None, "the interval includes 0", False),
     ([1.0] * 22 + [-9.0] * 2, None, "the interval includes 0", False),  # significant by ranks alone
     ([0.3] * 24, -0.1, "scored lower (-0.10 edges)", False),
     ([1.0] * 19, None, "19 held-out pairs with boards cannot show anything", False),
     ([2e-5] * 19, None, "19 held-out pairs with boards cannot show anything", False),
     ([2e-5] * 24, None, "the gain is less than 0.05 edges", True), ([0.0] * 24, None, "the gain is less", True),
     ([0.05, -0.04] * 12, None, "the gain is less", True), ([MIN_EFFECT * 0.9] * 24, None, "the gain is less", True),
     ([MIN_EFFECT * 1.1] * 24, None, "", False), ([0.001] * 20 + [0.5] * 4, None, "", False),  # it may matter
     ([1.0] * 20, None, "", False)],
)  # fmt: skip
def test_a_verdict_says_why_nothing_is_better(values, edges, reason, is_negligible):
    verdict = verdict_of(values, edges=edges)
    assert reason in verdict.doubt and verdict.better == (not reason) and verdict.negligible == is_negligible


@pytest.mark.parametrize(
    ("values", "reason"),
    [([-0.01] * 24, "but it was later"), ([-0.01, 0.005] * 12, "and it was not clearly sooner"),
     ([0.01, -0.005] * 12, "and it was not clearly sooner"), ([0.2] * 24, "")],
)  # fmt: skip
def test_where_both_solve_every_pair_only_time_tells_them_apart(values, reason):
    doubt = replace(verdict_of(values, edges=0.0), is_solved=True).doubt
    assert doubt == (f"both solved every pair, {reason}" if reason else "")


def test_what_is_significant_by_ranks_or_by_the_interval_alone_is_not_better():
    assert "p = 0.6, corrected" in replace(verdict_of([1.0] * 24), p=0.6).doubt
    verdict = verdict_of([1.0] * 22 + [-9.0] * 2)
    assert verdict.p < ALPHA and verdict.low < 0 < verdict.mean
    assert (verdict_of([0.0] * 24).p, verdict_of([0.0] * 24).mean) == (1.0, 0.0), "no difference proves nothing"


def test_a_difference_is_not_rounded_to_none_and_equal_scores_are_said(thirty):
    assert verdict_of([2e-5] * 24).effect == "+2e-05 edges on 24 held-out pairs (95% interval +2e-05 to +2e-05)"
    verdict = verdict_of([0.2] * 24, edges=0.0)
    text = report.verdict_text(thirty, Conclusion((verdict,), 0))
    assert text.endswith("The scores are the same and come earlier, which counts up to half an edge.")
    more = verdict_of([1.25] * 24, edges=1.0)
    assert report.verdict_text(thirty, Conclusion((more,), 0)).endswith(": " + more.effect + ".")
    assert more.effect.startswith("+1.25 edges")
    small = Conclusion((verdict_of([2e-5] * 24),), 0)
    text = "Keep the defaults, because the gain is less than 0.05 edges: the best candidate had +2e-05 edges on 24"
    assert report.verdict_text(thirty, small).startswith(text)


def store(study, params, pairs, best_scores):
    for pair in pairs:
        study.runs.add(study.key(params, pair), Trace(best_scores, study.plan.nodes, False, 1.0))


def test_pairs_on_which_the_defaults_make_no_board_are_named_and_in_no_mean(thirty):
    study = thirty
    winner = study.params_of(choose_candidates(study)[0])
    store(study, study.base, study.held_out[:2], ())
    store(study, study.base, study.held_out[2:], ((40, 1),))
    store(study, winner, study.held_out, ((42, 1),))
    found = validated(study)
    verdict = next(one for one in found.verdicts if one.trial == candidates_of(study)[0].number)
    assert verdict.left_out == tuple(pair.label for pair in study.held_out[:2])
    assert verdict.edges == 2.0 and 2.2 < verdict.mean < 2.3, "a quarter of an edge for being early"
    assert len(verdict.differences) == len(verdict.pairs) == 18
    assert not verdict.better and "18 held-out pairs with boards cannot show anything" in verdict.doubt
    text = report.verdict_text(study, found)
    assert f"2 held-out pairs are left out, as the defaults made no board there: {verdict.left_out[0]}" in text


def test_a_candidate_that_makes_no_board_where_the_defaults_make_one_is_not_better(thirty):
    study = thirty
    trial = choose_candidates(study)[0]
    store(study, study.base, study.held_out, ((40, 1),))
    store(study, study.params_of(trial), study.held_out[:1], ())
    store(study, study.params_of(trial), study.held_out[1:], ((45, 1),))
    verdict = next(one for one in validated(study).verdicts if one.trial == trial.number)
    assert verdict.lost == (study.held_out[0].label,) and verdict.edges == 5.0 and verdict.p < ALPHA
    assert not verdict.better and "it made no board on like-e2:6x6 seed" in verdict.doubt
