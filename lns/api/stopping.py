"""Rules that end a search by time, steps, score, lack of improvement or proof, and combinations of these rules.

A rule is evaluated about five times a second. ``a | b`` ends the search when either rule says so, ``a & b`` when both
rules do.
"""

from __future__ import annotations

from dataclasses import dataclass

from lns.instances.arguments import checked, checked_class
from lns.instances.errors import InputError


@dataclass(frozen=True)
class SearchProgress:
    """The progress of a search, as it is passed to stop rules."""

    elapsed_s: float  # seconds of search in this call, without the compilation of kernels
    steps: int  # fewest steps that any island has made in this call
    best_score: int  # matched inner edges of the best board so far; -1 before the first board
    since_improvement_s: float  # seconds of search since the best board was found, or since the call began
    is_certified: bool = False  # whether it is proven that no window around the best board's damage has a better refill


class StopRule:
    """Base class of rules: calling a rule returns why the search ends now, or ``None`` to let the search go on.

    For a rule of your own, write a subclass with ``__call__``.
    """

    def __post_init__(self) -> None:
        """Raise InputError for a limit that is negative or NaN."""
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not value >= 0:
                raise InputError(f"{name} is {value}; expected 0 or more")

    def __call__(self, progress: SearchProgress) -> str | None:
        """Return why the search ends now, or ``None`` to let the search go on."""
        raise NotImplementedError

    @checked
    def __or__(self, other: StopRule) -> StopRule:
        return _Combination((self, other), needs_all=False)

    @checked
    def __and__(self, other: StopRule) -> StopRule:
        return _Combination((self, other), needs_all=True)

    @property
    def alternatives(self) -> tuple[StopRule, ...]:
        """The rules each of which ends the search by itself: those joined by ``|``, else only this rule."""
        return (self,)


@checked_class
@dataclass(frozen=True)
class MaxTime(StopRule):
    """Rule that ends a search after ``seconds`` seconds of search in this call."""

    seconds: float

    def __call__(self, progress: SearchProgress) -> str | None:
        return "time over" if progress.elapsed_s >= self.seconds else None


@checked_class
@dataclass(frozen=True)
class MaxSteps(StopRule):
    """Rule that ends a search when every island has made ``steps`` steps in this call."""

    steps: int

    def __call__(self, progress: SearchProgress) -> str | None:
        return "steps made" if progress.steps >= self.steps else None


@checked_class
@dataclass(frozen=True)
class TargetScore(StopRule):
    """Rule that ends a search when a board has at least ``score`` matched inner edges."""

    score: int

    def __call__(self, progress: SearchProgress) -> str | None:
        return "target reached" if progress.best_score >= self.score else None


@checked_class
@dataclass(frozen=True)
class NoImprovement(StopRule):
    """Rule that ends a search after ``seconds`` seconds without a better board."""

    seconds: float

    def __call__(self, progress: SearchProgress) -> str | None:
        return None if progress.since_improvement_s < self.seconds else f"no improvement in {self.length}"

    @property
    def length(self) -> str:
        """The time ``seconds`` as text; times below a minute keep their decimals."""
        from lns.runs.files import format_duration

        return format_duration(self.seconds) if self.seconds >= 60 else f"{self.seconds:g} s"


class Certified(StopRule):
    """Rule that ends a search when each window around the best board's damage is proven to have no better refill."""

    def __call__(self, progress: SearchProgress) -> str | None:
        return "all listed regions are proven: nothing better within them" if progress.is_certified else None


@dataclass(frozen=True)
class _Combination(StopRule):
    """Rule that ends a search when any of ``rules`` does, or, if ``needs_all``, when all of them do."""

    rules: tuple[StopRule, ...]
    needs_all: bool

    def __call__(self, progress: SearchProgress) -> str | None:
        reasons = [why for rule in self.rules if (why := rule(progress))]
        if self.needs_all:
            return " and ".join(reasons) if len(reasons) == len(self.rules) else None
        return reasons[0] if reasons else None

    @property
    def alternatives(self) -> tuple[StopRule, ...]:
        return (self,) if self.needs_all else tuple(one for rule in self.rules for one in rule.alternatives)
