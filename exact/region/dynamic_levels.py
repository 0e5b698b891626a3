"""The candidates of a cell by level, the number of their mismatches with its known sides, as bit sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_state import Spending
from exact.region.state import Words
from lns_support.bits import bit, lowest_bit, popcount
from lns_support.jit import inline_flat_kernel

_NO_BITS = np.uint64(0)
NO_BIT = -1


@inline_flat_kernel
def known_colours(s: State, cell: int) -> int:
    """The number of sides of a cell towards a piece."""
    known = 0
    for side in range(4):
        known += s.side[cell * 4 + side] > 0
    return known


@inline_flat_kernel
def count_mismatches(t: Tables, s: State, p: Spending, cell: int, word: int, words: int, row: int) -> Any:
    """The mismatches of 64 oriented pieces with the known sides of a cell, as binary digits: ones, twos, fours.

    ``row``: only sides that were known at depth ``row`` - 1 count.
    """
    ones = twos = fours = _NO_BITS
    for side in range(4):
        colour = s.side[cell * 4 + side]
        if colour <= 0:
            continue
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.level[neighbour] >= row - 1:
            continue
        missed = ~p.mask[(side * t.colours + colour) * words + word]
        carry = ones & missed
        ones ^= missed
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours


@inline_flat_kernel
def with_level(pool: Any, ones: Any, twos: Any, fours: Any, level: int) -> Any:
    """The members of a set whose number of mismatches is ``level``."""
    pool &= ones if level & 1 else ~ones
    pool &= twos if level & 2 else ~twos
    return pool & (fours if level & 4 else ~fours)


@inline_flat_kernel
def candidates(t: Tables, s: State, p: Spending, pieces: Words, cell: int, level: int, word: int, words: int) -> Any:
    """The members of the set ``pieces`` that fit a cell with exactly ``level`` mismatches."""
    ones, twos, fours = count_mismatches(t, s, p, cell, word, words, 1 << 30)
    return with_level(pieces[word] & p.fit[cell * words + word], ones, twos, fours, level)


@inline_flat_kernel
def least_level(t: Tables, s: State, p: Spending, cell: int, level: int, known: int, words: int) -> tuple[int, int]:
    """The least mismatches of a free piece on a cell, at least ``level``, and the bit of such a piece.

    (``known``, NO_BIT) if no piece has fewer than ``known``.
    """
    least, witness = known, NO_BIT
    for word in range(words):
        pool = p.free[word] & p.fit[cell * words + word]
        if pool:
            ones, twos, fours = count_mismatches(t, s, p, cell, word, words, 1 << 30)
            for each in range(level, least):
                found = with_level(pool, ones, twos, fours, each)
                if found:
                    least, witness = each, (word << 6) + lowest_bit(found)
                    break
            if least == level:
                break
    return least, witness


@inline_flat_kernel
def is_free(p: Spending, number: int) -> bool:
    """Whether an oriented piece, by its bit, may be placed; False for NO_BIT."""
    return number >= 0 and bool(p.free[number >> 6] & bit(number))


@inline_flat_kernel
def count_candidates(t: Tables, s: State, p: Spending, cell: int, level: int, words: int) -> int:
    """The number of free oriented pieces that fit a cell with exactly ``level`` mismatches."""
    count = 0
    for word in range(words):
        count += popcount(candidates(t, s, p, p.free, cell, level, word, words))
    return count


@inline_flat_kernel
def first_piece(bits: Any, word: int) -> int:
    """The piece of the lowest member of a word of a set of oriented pieces."""
    return int((word * 64 + lowest_bit(bits)) >> 2)
