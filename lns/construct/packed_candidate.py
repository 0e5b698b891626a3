"""The packed candidate: all that a search needs to know of an oriented piece, in one int64.

    bits  0-12  piece              (index into ``used``)
    bits 13-14  rotation
    bits 15-26  colour shown downwards
    bits 27-47  colour shown to the right, times the number of colours (as `CandidateTables.list_start` is indexed)
    bits 48-63  gain, signed: favoured half-edges, minus BREAK_COST for a break

A prefix carries the sum of the gains of its pieces. Both its favoured half-edges and its breaks can be read off it
(`breaks_spent`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, RIGHT, IntArray
from lns_support.jit import inline_flat_kernel

BREAK_BITS = 10
BREAK_COST = 1 << BREAK_BITS  # of one break, in units of gain; quotas are used only where all favoured half-edges of
# the board are fewer (`QuotaBandit`)
LIST_END_GAIN = -(2**15)  # gain of the sentinel at the end of a list
MAX_FAVOURED = 4  # favoured half-edges of a piece, at most
MAX_BREAKS = 32  # a schedule allows fewer breaks than this: this many would be as low as LIST_END_GAIN

_PIECE_BITS, _ROTATION_BITS, _DOWN_BITS, _RIGHT_BITS = 13, 2, 12, 21
ROTATION_SHIFT = _PIECE_BITS
DOWN_SHIFT = ROTATION_SHIFT + _ROTATION_BITS
RIGHT_SHIFT = DOWN_SHIFT + _DOWN_BITS
GAIN_SHIFT = RIGHT_SHIFT + _RIGHT_BITS

PIECE_MASK = np.int64((1 << _PIECE_BITS) - 1)
DOWN_MASK = np.int64((1 << _DOWN_BITS) - 1)
RIGHT_MASK = np.int64((1 << _RIGHT_BITS) - 1)

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Bitsets = npt.NDArray[np.uint64]  # each element is a set: one bit an element of it


def pack_candidates(quads: IntArray, oriented: Int64Array, gain: Int64Array, colour_count: int) -> Int64Array:
    """Pack oriented pieces.

    Parameters
    ----------
    quads : int32 (n, 4)
        Colours of each oriented piece: up, right, down, left.
    oriented : int64 (n,)
        Oriented pieces, piece * 4 + rotation.
    gain : int64 (n,)
    colour_count : int
        Number of colours, the rim's included.

    Returns
    -------
    int64 (n,)
    """
    piece, rotation = oriented >> 2, oriented & 3
    right = quads[:, RIGHT].astype(np.int64) * colour_count
    down = quads[:, DOWN].astype(np.int64)
    return piece | rotation << ROTATION_SHIFT | down << DOWN_SHIFT | right << RIGHT_SHIFT | gain << GAIN_SHIFT


@inline_flat_kernel
def oriented_piece(candidate: np.int64) -> np.int64:
    """The oriented piece, piece * 4 + rotation, of a packed candidate."""
    return (candidate & PIECE_MASK) * 4 + ((candidate >> ROTATION_SHIFT) & 3)


@inline_flat_kernel
def breaks_spent(gain: int) -> int:
    """The number of breaks of a prefix with this gain."""
    return (BREAK_COST - 1 - gain) >> BREAK_BITS
