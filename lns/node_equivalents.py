"""What work takes, in nodes of the constructor; `make bench` measures it beside these prices."""

from __future__ import annotations

TAIL_NODE = 2.0  # a placement of the exact tail
TAIL_SETUP = 25.0  # an exact tail before its first placement
EXACT_TAIL = 250.0  # the whole exact tail of a prefix, set-up included, where the aim is loose
ENDGAME_SETUP = 50.0  # an endgame before its first placement
BEAM_CHILD = 2.0  # a child that a beam looks at
CANDIDATE_CHECK = 1.5  # at a candidate, in the populations that tell what a quota asks for
MAX_PROFILE_CHECKS = 100_000_000  # at most so many for one set of favoured colours, if it can be: a second or two
REGION_NODE = 7.0  # a placement of a region re-solve; and what operators count as one


def exact_tails(prefixes: int, placements: int) -> float:
    """The exact tails of so many prefixes."""
    return prefixes * TAIL_SETUP + placements * TAIL_NODE


def quota_profile(cells: int) -> float:
    """What the quotas of one set of favoured colours ask for, by populations
    (`lns.construct.stratified_population`)."""
    return min(250.0 * cells * (cells + 420), CANDIDATE_CHECK * MAX_PROFILE_CHECKS)


def population(population: int, cells: int) -> float:
    """How pieces fit, for one arm, by populations of so many prefixes."""
    return 0.12 * population * cells * (cells + 420)
