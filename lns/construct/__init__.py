"""The construction: boards filled cell by cell in a fixed order, by a depth-first search or by beams."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

REFUSED = ("holes", "no frame", "no turns", "copies")
"""What the construction and beams cannot take of `Puzzle.rules`: cells on the rim must be told from others by grey
sides, also where it has an ordinary colour, the board be seen from every side, and each piece be used once."""


def refused_rules(puzzle: Puzzle) -> tuple[str, ...]:
    """The rules of a puzzle that the construction cannot take; by them a greedy fill and tabu search take its place."""
    return tuple(rule for rule in puzzle.rules if rule in REFUSED)
