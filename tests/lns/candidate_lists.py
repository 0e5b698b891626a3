"""The candidate lists of the construction, read as its kernel reads them."""

from __future__ import annotations

from instances import Puzzle
from lns.construct import candidate_tables
from lns.construct.constructor import Constructor
from lns.construct.packed_candidate import DOWN_AT, GAIN_AT, NEVER, RIGHT_AT, ROTATION_AT


def list_of(puzzle: Puzzle, made: candidate_tables.Tables, depth: int, left: int, up: int) -> list[tuple[int, int]]:
    """(oriented piece, gain) of a candidate list, read as the kernel reads it."""
    at = made.start[made.base[depth] + left * made.colours1 + up]
    found = []
    while (made.words[at] >> GAIN_AT) != NEVER:
        word = int(made.words[at])
        piece, rotation = word & 0x1FFF, (word >> ROTATION_AT) & 3
        quad = puzzle.oriented[piece * 4 + rotation]
        assert (word >> DOWN_AT) & 0xFFF == quad[2]
        assert (word >> RIGHT_AT) & 0x1FFFFF == quad[1] * made.colours1
        found.append((piece * 4 + rotation, word >> GAIN_AT))
        at += 1
    return found


def standing(search: Constructor) -> tuple[int, ...]:
    """The prefix that stands now: oriented pieces by depth."""
    words = search.prefix.chosen[: max(0, int(search.prefix.scalars[0]))].tolist()
    return tuple((word & 0x1FFF) * 4 + (word >> ROTATION_AT & 3) for word in words)
