"""Verdicts on synthetic differences: better is found, equal is not, many candidates make it harder."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from tuning.validate import ALPHA, alpha_share, compare


def _verdict(values, share=1.0, edges=None):
    return compare(3, values, float(np.mean(values)) if edges is None else edges, 1.0, share, 1)


def test_a_better_candidate_is_called_better():
    values = np.random.default_rng(1).normal(1.0, 1.0, 24)
    verdict = _verdict(values)
    assert verdict.better and verdict.p < 0.01
    assert verdict.low < verdict.mean < verdict.high
    assert verdict.low > 0


def test_an_equal_candidate_is_rarely_called_better():
    chance = np.random.default_rng(2)
    called = sum(_verdict(chance.normal(0.0, 1.0, 24)).better for _ in range(200))
    assert called <= 200 * ALPHA * 2
    assert sum(_verdict(chance.normal(0.0, 1.0, 24), share=0.1).better for _ in range(200)) <= 6


def test_a_worse_candidate_is_never_called_better():
    assert not _verdict(np.random.default_rng(3).normal(-1.0, 1.0, 24)).better


def test_no_difference_at_all_proves_nothing():
    verdict = _verdict([0.0] * 24)
    assert (verdict.p, verdict.mean, verdict.better) == (1.0, 0.0, False)


def test_too_few_pairs_prove_nothing():
    assert not _verdict([1.0] * 19).better
    assert _verdict([1.0] * 20).better


def test_p_values_are_divided_by_the_share():
    values = np.random.default_rng(5).normal(0.5, 1.0, 24)
    assert _verdict(values, share=0.25).p == pytest.approx(min(1.0, 4 * _verdict(values).p))


def test_the_shares_of_all_possible_choices_sum_up_to_the_level():
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


def test_an_earlier_but_lower_score_is_not_better():
    assert not _verdict([0.3] * 24, edges=-0.1).better


def test_mostly_better_with_a_rare_large_loss_is_not_better():
    verdict = _verdict([1.0] * 22 + [-9.0] * 2)
    assert verdict.p < ALPHA and verdict.low < 0 < verdict.mean and not verdict.better


def test_the_interval_covers_the_truth_most_of_the_time():
    chance = np.random.default_rng(6)
    verdicts = [_verdict(chance.normal(0.3, 1.0, 24)) for _ in range(60)]
    assert sum(one.low <= 0.3 <= one.high for one in verdicts) >= 50
