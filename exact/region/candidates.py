"""Sets of oriented pieces as bit vectors: which free ones would lie on a cell with so many mismatches."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.state import RegionPlan, RegionWork
from lns_support.jit import inline_flat_kernel

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)


@inline_flat_kernel
def group(bit: Any, turns: int) -> Any:
    """The bits, in their word, of all rotations of the piece that ``bit`` belongs to."""
    return ((_ONE << np.uint64(turns)) - _ONE) << np.uint64((bit & ~(turns - 1)) & 63)


@inline_flat_kernel
def showing(
    plan: RegionPlan,
    work: RegionWork,
    depth: Any,
    j: Any,
    pattern: Any,
    word: Any,
    words: Any,
) -> Any:
    """Oriented pieces that show what the j-th known joint asks for."""
    colour = np.uint64(work.joint_colour[np.uint64(plan.joint[depth, j])])
    side = np.uint64(plan.side[depth, j])
    return work.mask[((pattern * np.uint64(4) + side) * np.uint64(len(plan.part)) + colour) * words + word]


@inline_flat_kernel
def candidates(plan: RegionPlan, work: RegionWork, depth: Any, level: int, word: Any, words: Any) -> Any:
    """Free oriented pieces of one word with exactly ``level`` mismatches against the known joints of a cell."""
    pattern = np.uint64(plan.pattern[depth])
    pool = work.free[np.uint64(plan.kind_of[pattern]) * words + word] & work.valid[pattern * words + word]
    known = plan.known[depth]
    if known == 0:
        return pool
    a = showing(plan, work, depth, np.uint64(0), pattern, word, words)
    if known == 1:
        return pool & (a if level == 0 else ~a)
    b = showing(plan, work, depth, np.uint64(1), pattern, word, words)
    if known == 2:
        if level == 0:
            return pool & a & b
        return pool & ((a ^ b) if level == 1 else ~(a | b))
    # bit-sliced count of matches: twos, ones
    c = showing(plan, work, depth, np.uint64(2), pattern, word, words)
    ones = a ^ b ^ c
    twos = (a & b) | ((a ^ b) & c)
    fours = _NO_BITS
    if known == 4:
        d = showing(plan, work, depth, np.uint64(3), pattern, word, words)
        carry = ones & d
        ones ^= d
        fours = twos & carry
        twos ^= carry
    matches = known - level
    if matches == 4:
        return pool & fours
    return pool & ~fours & (twos if matches & 2 else ~twos) & (ones if matches & 1 else ~ones)
