"""The construction: boards filled cell by cell in a fixed order, by a depth-first search or by beams."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

REFUSED = ("holes", "no frame", "no turns", "copies")
"""The rules (`Puzzle.rules`) that neither depth-first search nor beams can handle. Both need a rectangle without holes,
grey sides along its outer edge, a board and pieces that may be turned, and every piece used exactly once."""


def refused_rules(puzzle: Puzzle) -> tuple[str, ...]:
    """Return those of the rules of a puzzle that the construction cannot handle, in the order of `Puzzle.rules`."""
    return tuple(rule for rule in puzzle.rules if rule in REFUSED)
