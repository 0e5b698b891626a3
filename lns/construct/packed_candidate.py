"""The candidate word: everything that a search needs about an oriented piece in one load, as int64.

    bits  0-12  piece              (index into ``used``)
    bits 13-14  rotation
    bits 15-26  colour shown downwards
    bits 27-47  colour shown to the right, times the number of colours (row of the index of the next cell)
    bits 48-63  gain, signed: favoured half-edges minus BREAK_COST for a break

A prefix carries the sum of its gains, which tells favoured half-edges and breaks apart: see `breaks_spent`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, RIGHT, IntArray
from lns_support.jit import inline_flat_kernel

BREAK_BITS = 10
BREAK_COST = (
    1 << BREAK_BITS
)  # one break, in units of gain; more than all favoured half-edges of a board: ``QuotaBandit``
NEVER = -(2**15)  # gain of the end of a list
MOST_FAVOURED = 4  # half-edges of a piece
MAX_BREAKS = 32  # a schedule spends fewer: so many breaks are as low as the gain that ends a list

_PIECE_BITS, _ROTATION_BITS, _DOWN_BITS, _RIGHT_BITS = 13, 2, 12, 21
ROTATION_AT = _PIECE_BITS
DOWN_AT = ROTATION_AT + _ROTATION_BITS
RIGHT_AT = DOWN_AT + _DOWN_BITS
GAIN_AT = RIGHT_AT + _RIGHT_BITS

PIECE_MASK = np.int64((1 << _PIECE_BITS) - 1)
DOWN_MASK = np.int64((1 << _DOWN_BITS) - 1)
RIGHT_MASK = np.int64((1 << _RIGHT_BITS) - 1)

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]  # sets


def pack(quads: IntArray, oriented: Longs, gain: Longs, colours1: int) -> Longs:
    """The words of oriented pieces; ``quads``: their colours, (n, 4)."""
    piece, rotation = oriented >> 2, oriented & 3
    right = quads[:, RIGHT].astype(np.int64) * colours1
    down = quads[:, DOWN].astype(np.int64)
    return piece | rotation << ROTATION_AT | down << DOWN_AT | right << RIGHT_AT | gain << GAIN_AT


@inline_flat_kernel
def breaks_spent(gain: int) -> int:
    """Breaks that a prefix of so much gain has spent."""
    return (BREAK_COST - 1 - gain) >> BREAK_BITS
