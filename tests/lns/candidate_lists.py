"""The candidate lists of the construction, read as its kernel reads them."""

from __future__ import annotations

from instances import Puzzle
from lns.construct import tables


def list_of(puzzle: Puzzle, made: tables.Tables, depth: int, left: int, up: int) -> list[tuple[int, int]]:
    """(oriented piece, gain) of a candidate list, read as the kernel reads it."""
    at = made.start[made.base[depth] + left * made.colours1 + up]
    found = []
    while (made.words[at] >> tables.GAIN_AT) != tables.NEVER:
        word = int(made.words[at])
        piece, rotation = word & ((1 << tables.PIECE_BITS) - 1), (word >> tables.ROTATION_AT) & 3
        quad = puzzle.oriented[piece * 4 + rotation]
        assert (word >> tables.DOWN_AT) & 0xFFF == quad[2]
        assert (word >> tables.RIGHT_AT) & 0x1FFFFF == quad[1] * made.colours1
        found.append((piece * 4 + rotation, word >> tables.GAIN_AT))
        at += 1
    return found
