"""Sets of small integers as bit vectors of 64-bit words: fast functions on one word, inlined into their callers."""

from __future__ import annotations

import numpy as np

from lns.exact.kernels.jit import inline_flat_kernel


@inline_flat_kernel
def bit(index: int) -> np.uint64:
    """Return the mask of element ``index`` within its word, which is word ``index >> 6`` of the set."""
    return np.uint64(1) << np.uint64(index & 63)


@inline_flat_kernel
def popcount(word: np.uint64) -> int:
    """Return the number of bits that are set in ``word``."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))  # LLVM makes this function one instruction
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56)))


@inline_flat_kernel
def lowest_bit(word: np.uint64) -> int:
    """Return the index, 0 to 63, of the lowest set bit of a ``word`` that is not 0."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@inline_flat_kernel
def highest_bit(word: np.uint64) -> int:
    """Return the index, 0 to 63, of the highest set bit of a ``word`` that is not 0."""
    position = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(step):
            word = word >> np.uint64(step)
            position += step
    return position
