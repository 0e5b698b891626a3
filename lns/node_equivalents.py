"""Node equivalents: what each kind of work costs, in nodes (placements) of the depth-first constructor.

Search budgets are counted in nodes, so a run does not depend on the speed of the machine. `make bench` measures the
constants below on the present machine.
"""

from __future__ import annotations

TAIL_NODE = 2.0  # cost of one placement of the exact tail
TAIL_SETUP = 25.0  # cost of setting up an exact tail, before its first placement
EXACT_TAIL = 250.0  # cost of a whole exact tail, set-up included, that may end with several mismatches
ENDGAME_SETUP = 50.0  # cost of setting up an endgame, before its first placement
BEAM_CHILD = 2.0  # cost of one child that a beam evaluates
CANDIDATE_CHECK = 1.5  # cost of one candidate checked by the populations that measure a quota profile
MAX_PROFILE_CHECKS = 100_000_000  # most candidates checked for one quota profile, in one or two seconds
REGION_NODE = 5.0  # cost of one placement of a region re-solve in fixed orders
REGION_SETUP = 60_000.0  # cost of setting up a region re-solve in fixed orders
COLORPAIRS_NODE = 33.0  # cost of one placement of a region re-solve by ColorPairs
COLORPAIRS_SETUP = 200_000.0  # cost of setting up a region re-solve by ColorPairs
TABU_MOVE = 0.0875  # cost of evaluating one tabu move


def exact_tails(prefixes: int, placements: int) -> float:
    """Return the cost of ``prefixes`` exact tails with ``placements`` placements in all."""
    return prefixes * TAIL_SETUP + placements * TAIL_NODE


def region(placements: int, order: str = "static") -> float:
    """Return the cost of one region re-solve; ``order`` is one of `lns.exact.region.options.RegionOptions`."""
    if order == "dynamic":
        return COLORPAIRS_SETUP + placements * COLORPAIRS_NODE
    return REGION_SETUP + placements * REGION_NODE


def region_nodes(nodes: int, order: str) -> int:
    """Return how many placements in ``order`` cost as much as ``nodes`` placements in fixed orders, at least one."""
    return max(1, int(nodes * REGION_NODE / COLORPAIRS_NODE)) if order == "dynamic" else nodes


def quota_profile(cells: int) -> float:
    """Return the cost of one quota profile (`lns.construct.population`) on a board of ``cells`` cells."""
    return min(250.0 * cells * (cells + 420), CANDIDATE_CHECK * MAX_PROFILE_CHECKS)


def population(size: int, cells: int) -> float:
    """Return the cost of measuring the children of one arm by populations of ``size`` prefixes on ``cells`` cells."""
    return 0.12 * size * cells * (cells + 420)
