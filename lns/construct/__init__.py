"""The construction: boards filled cell by cell in a fixed order, by a depth-first search or by beams."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

REFUSED = ("holes", "no frame", "no turns", "copies")
"""`Puzzle.rules` that construction and beams cannot handle. They need rim cells to have grey sides (also if the rim has
an ordinary colour), boards and pieces that may be turned, and pieces that are used once each."""


def refused_rules(puzzle: Puzzle) -> tuple[str, ...]:
    """Return the rules of a puzzle that the construction cannot handle; greedy fill and tabu search then stand in."""
    return tuple(rule for rule in puzzle.rules if rule in REFUSED)
