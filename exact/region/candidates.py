"""Candidates of a cell as bit sets: the free oriented pieces with a given number of mismatches."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.state import RegionPlan, RegionState
from lns_support.jit import inline_flat_kernel

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)


@inline_flat_kernel
def rotation_bits(bit: Any, turns: int) -> Any:
    """The bits of all rotations of the piece of ``bit``, as a mask of their word; ``turns``: how many there are."""
    return ((_ONE << np.uint64(turns)) - _ONE) << np.uint64((bit & ~(turns - 1)) & 63)


@inline_flat_kernel
def pieces_showing(
    plan: RegionPlan,
    state: RegionState,
    slot: Any,
    j: Any,
    pattern: Any,
    word: Any,
    words: Any,
) -> Any:
    """The oriented pieces of one word that match the j-th known joint of a cell."""
    colour = np.uint64(state.joint_colour[np.uint64(plan.joint[slot, j])])
    side = np.uint64(plan.side[slot, j])
    return state.mask[((pattern * np.uint64(4) + side) * np.uint64(len(plan.colour_class)) + colour) * words + word]


@inline_flat_kernel
def candidates(plan: RegionPlan, state: RegionState, slot: Any, level: int, word: Any, words: Any) -> Any:
    """The free oriented pieces of one word with exactly ``level`` mismatches on the known joints of a cell."""
    pattern = np.uint64(plan.pattern[slot])
    pool = state.free[np.uint64(plan.kind_of[pattern]) * words + word] & state.valid[pattern * words + word]
    known = plan.known[slot]
    if known == 0:
        return pool
    a = pieces_showing(plan, state, slot, np.uint64(0), pattern, word, words)
    if known == 1:
        return pool & (a if level == 0 else ~a)
    b = pieces_showing(plan, state, slot, np.uint64(1), pattern, word, words)
    if known == 2:
        if level == 0:
            return pool & a & b
        return pool & ((a ^ b) if level == 1 else ~(a | b))
    # count the matches of all 64 pieces at once, as binary digits: ones, twos, fours
    c = pieces_showing(plan, state, slot, np.uint64(2), pattern, word, words)
    ones = a ^ b ^ c
    twos = (a & b) | ((a ^ b) & c)
    fours = _NO_BITS
    if known == 4:
        d = pieces_showing(plan, state, slot, np.uint64(3), pattern, word, words)
        carry = ones & d
        ones ^= d
        fours = twos & carry
        twos ^= carry
    matches = known - level
    if matches == 4:
        return pool & fours
    return pool & ~fours & (twos if matches & 2 else ~twos) & (ones if matches & 1 else ~ones)
