"""Node equivalents: what each kind of work costs, in nodes (placements) of the depth-first constructor.

Budgets are counted in nodes, so a run does not depend on the speed of the machine. `make bench` measures most costs.
"""

from __future__ import annotations

TAIL_NODE = 2.0  # cost, in nodes, of one placement in an exact tail
TAIL_SETUP = 25.0  # cost, in nodes, of setting up an exact tail, before its first placement
EXACT_TAIL = 250.0  # cost, in nodes, of a whole exact tail that may end with several mismatches, set-up included
ENDGAME_SETUP = 50.0  # cost, in nodes, of setting up an endgame, before its first placement
BEAM_CHILD = 2.0  # cost, in nodes, of evaluating one child in a beam
CANDIDATE_CHECK = 1.5  # cost, in nodes, of checking one candidate when a quota profile is measured by populations
MAX_PROFILE_CHECKS = 100_000_000  # most candidates checked for one quota profile, which takes one or two seconds
REGION_NODE = 5.0  # cost, in nodes, of one placement when a region is re-solved in fixed orders of its cells
REGION_SETUP = 60_000.0  # cost, in nodes, of setting up a re-solve of a region in fixed orders of its cells
COLORPAIRS_NODE = 33.0  # cost, in nodes, of one placement when a region is re-solved by ColorPairs
COLORPAIRS_SETUP = 200_000.0  # cost, in nodes, of setting up a re-solve of a region by ColorPairs
TABU_MOVE = 0.0875  # cost, in nodes, of evaluating one tabu move


def exact_tails(prefixes: int, placements: int) -> float:
    """Return the cost, in nodes, of ``prefixes`` exact tails with ``placements`` placements in all."""
    return prefixes * TAIL_SETUP + placements * TAIL_NODE


def region(placements: int, order: str = "static") -> float:
    """Return the cost, in nodes, of re-solving a region; ``order`` as in `lns.exact.region.options.RegionOptions`."""
    if order == "dynamic":
        return COLORPAIRS_SETUP + placements * COLORPAIRS_NODE
    return REGION_SETUP + placements * REGION_NODE


def region_nodes(nodes: int, order: str) -> int:
    """Return how many placements in search order ``order`` cost as much as ``nodes`` in fixed orders, at least one."""
    return max(1, int(nodes * REGION_NODE / COLORPAIRS_NODE)) if order == "dynamic" else nodes


def quota_profile(cells: int) -> float:
    """Return the cost, in nodes, of one quota profile (`lns.construct.population`) on a board of ``cells`` cells."""
    return min(250.0 * cells * (cells + 420), CANDIDATE_CHECK * MAX_PROFILE_CHECKS)


def population(size: int, cells: int) -> float:
    """Return the cost, in nodes, of an arm's child counts, by populations of ``size`` prefixes on ``cells`` cells."""
    return 0.12 * size * cells * (cells + 420)
