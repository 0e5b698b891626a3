"""Stop rules on made-up progress: each alone, and in combination."""

import pytest

from lns import MaxSteps, MaxTime, NoImprovement, StopRule, TargetScore
from lns.api.stopping import SearchProgress


def progress(elapsed: float = 0.0, steps: int = 0, score: int = -1, idle: float = 0.0) -> SearchProgress:
    return SearchProgress(elapsed, steps, score, idle)


@pytest.mark.parametrize(
    ("rule", "before", "after", "why"),
    [
        (MaxTime(5), progress(4.9), progress(5.0), "time over"),
        (MaxSteps(3), progress(9, 2), progress(9, 3), "steps made"),
        (TargetScore(40), progress(score=39), progress(score=40), "target reached"),
        (NoImprovement(2), progress(9, idle=1.9), progress(9, idle=2.0), "no improvement in 2 s"),
    ],
)
def test_a_rule_ends_the_search_at_its_limit(
    rule: StopRule, before: SearchProgress, after: SearchProgress, why: str
) -> None:
    assert rule(before) is None and rule(after) == why


def test_rules_combine_by_or_and_and() -> None:
    either, both = MaxTime(5) | TargetScore(40), MaxTime(5) & TargetScore(40)
    assert either(progress(1, score=40)) == "target reached" and either(progress(6, score=1)) == "time over"
    assert both(progress(1, score=40)) is None and both(progress(6, score=39)) is None
    assert both(progress(6, score=40)) == "time over and target reached"
    assert (both | MaxSteps(1))(progress(steps=1)) == "steps made"


class Odd(StopRule):
    """A rule of a user."""

    def __call__(self, progress: SearchProgress) -> str | None:
        return "odd score" if progress.best_score % 2 else None


def test_a_rule_of_ones_own_combines_too() -> None:
    assert (Odd() & MaxTime(1))(progress(1, score=3)) == "odd score and time over"
