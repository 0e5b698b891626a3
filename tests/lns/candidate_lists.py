"""The candidate lists of the construction, read as its kernel reads them."""

from __future__ import annotations

from lns.construct import candidates
from lns.construct.candidates import DOWN_SHIFT, GAIN_SHIFT, LIST_END_GAIN, RIGHT_SHIFT, ROTATION_SHIFT
from lns.construct.constructor import Constructor
from lns.instances.puzzle import Puzzle


def list_of(puzzle: Puzzle, made: candidates.CandidateTables, depth: int, left: int, up: int) -> list[tuple[int, int]]:
    """(oriented piece, gain) of a candidate list, read as the kernel reads it."""
    at = made.list_start[made.base[depth] + left * made.colour_count + up]
    found = []
    while (made.candidates[at] >> GAIN_SHIFT) != LIST_END_GAIN:
        word = int(made.candidates[at])
        piece, rotation = word & 0x1FFF, (word >> ROTATION_SHIFT) & 3
        quad = puzzle.oriented[piece * 4 + rotation]
        assert (word >> DOWN_SHIFT) & 0xFFF == quad[2]
        assert (word >> RIGHT_SHIFT) & 0x1FFFFF == quad[1] * made.colour_count
        found.append((piece * 4 + rotation, word >> GAIN_SHIFT))
        at += 1
    return found


def standing(search: Constructor) -> tuple[int, ...]:
    """The prefix that stands now: oriented pieces by depth."""
    words = search.prefix.chosen[: max(0, int(search.prefix.scalars[0]))].tolist()
    return tuple((word & 0x1FFF) * 4 + (word >> ROTATION_SHIFT & 3) for word in words)
