"""What work takes, in nodes of the constructor: 14 to 21 ns each where these prices were measured."""

from __future__ import annotations

REFUSED = 0.5  # a candidate of the constructor that is refused at once
TAIL_NODE = 1.6  # a placement of the exact tail
TAIL_SET_UP = 20.0  # an exact tail before its first placement: 310 to 370 ns
TAIL = 250.0  # the whole exact tail of a prefix, set-up included, where the aim is loose
CHILD = 1.4  # a child that a beam looks at: 3.05 M took 0.069 s beside nodes of 16.3 ns
REGION_NODE = 2.5  # a placement of a region re-solve: 131 M took 5.8 s; and what operators count as one


def tails(prefixes: int, placements: int) -> float:
    """The exact tails of so many prefixes."""
    return prefixes * TAIL_SET_UP + placements * TAIL_NODE


def measuring(population: int, cells: int) -> float:
    """How pieces fit, for one course: 0.1 to 0.8 s for 1,000 prefixes on boards from 10x10 to 20x20."""
    return 0.1 * population * cells * (cells + 420)
