"""The construction: boards filled cell by cell in a fixed order, by a depth-first search or by beams."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

REFUSED = ("holes", "no frame", "no turns", "copies")
"""The rules of puzzles (`Puzzle.rules`) that neither construction nor beams can handle. Both need grey sides along the
rim of the board, boards and pieces that may be turned, and pieces that are used exactly once each."""


def refused_rules(puzzle: Puzzle) -> tuple[str, ...]:
    """Return the rules of a puzzle that the construction cannot handle; greedy fill and tabu search then stand in."""
    return tuple(rule for rule in puzzle.rules if rule in REFUSED)
