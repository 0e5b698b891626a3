"""What the cells still to come cost at least, were pieces reusable at a price: one table per depth.

Without the rule that each piece lies once, the least mismatches of the rest of a region depend on the colours of its
open joints alone, and dynamic programming over the cells finds them. The rule comes back as a price of every piece
(Lagrangian relaxation: Held and Karp 1971): whoever lays a piece pays, and the sum of the prices of all free pieces is
allowed on top of the mismatches. A refill that uses each piece once comes out even, one that repeats pieces does not.

Everything is counted in units, UNIT of them to a mismatch. ``need[d, colours]``: units that the cells from depth d on
cost at least, given the colours of the joints that are open there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exact.region.state import TRACKED, Ints, RegionPlan, RegionWork, Rest
from lns_support.jit import flat_kernel, inline_flat_kernel

UNIT = 16
TOO_MUCH = 30_000  # units, more than any region costs
ENTRIES = 72_000_000  # of all tables together: 144 MB, of which only what is filled is ever touched
_ONE = np.uint64(1)


def no_rest() -> Rest:
    """The tables of a search that uses none."""
    return _room(0, 0, 0, 0, 0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def make_rest(plan: RegionPlan, work: RegionWork, used: npt.NDArray[np.uint8], limit: int) -> Rest:
    """Room for the tables of ``plan``'s region in any order, for the pieces that are free in ``used`` (pieces,).

    ``limit``: colourings per depth at most; ENTRIES in all.
    """
    free = np.flatnonzero((used == 0) & (plan.of_clue == 0) & (plan.kind_of_piece >= 0))
    oriented = (free[:, None] * 4 + np.arange(4)).ravel()
    digit = np.zeros(len(plan.part), dtype=np.int64)
    sizes = np.zeros(int(plan.part.max()) + 1, dtype=np.int64)
    for colour in np.unique(plan.quads[oriented]).tolist():
        if colour:
            digit[colour] = sizes[plan.part[colour]]
            sizes[plan.part[colour]] += 1
    radix = np.ones(2 * len(plan.of_clue), dtype=np.int64)
    for pattern in range(len(plan.kind_of)):
        shown = plan.quads[oriented[plan.pattern_of[oriented] == pattern][0]]
        here = plan.pattern_at == pattern
        for side in range(4):
            radix[plan.joint_at[here & (plan.around[:, side] >= 0), side]] = sizes[plan.part[shown[side]]]
    patterns = len(plan.kind_of)
    return _room(len(plan.cells), patterns, len(work.valid) // patterns * 64, limit, ENTRIES, digit, radix)


def _room(n: int, patterns: int, bits: int, limit: int, entries: int, digit: Ints, radix: Ints) -> Rest:
    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Rest(
        need=np.empty(entries, dtype=np.int16),
        at=ints(n + 1),
        tracked=ints(n + 1),
        joint=ints(n + 1, TRACKED),
        stride=ints(n + 1, TRACKED),
        carried=ints(n),
        carry=ints(n, TRACKED),
        carry_stride=ints(n, TRACKED),
        carry_here=ints(n, TRACKED),
        carry_turn=ints(n, TRACKED),
        least=np.empty(entries, dtype=np.int16),
        first=ints(n + 1),
        top=ints(n + 1),
        keep=ints(n + 1),
        opens=np.zeros(n * bits, dtype=np.int32),
        price=ints(patterns * bits),
        paid=ints(n + 1),
        digit=digit,
        radix=radix,
        line=np.zeros(limit, dtype=np.int16),
        lows=np.zeros(limit, dtype=np.int16),
        turn=ints(TRACKED),
        piece=ints(4, bits),
    )


@flat_kernel
def track(plan: RegionPlan, rest: Rest, limit: int) -> int:
    """Note for every depth, from the last to the first, its open joints; returns about how many steps a fill takes.

    Returns 0 when the colourings are more than ``limit`` at a depth, or more than ENTRIES in all.
    """
    n = len(plan.cells)
    steps = 0
    rest.tracked[n] = 0
    rest.at[n] = 0
    rest.first[n] = 0
    after = 1
    for back in range(n):
        depth = n - 1 - back
        number = plan.order[depth]
        known, ends = plan.known[depth], plan.known[depth] + plan.open[depth]
        count, size = 0, 1
        for j in range(known):  # answered here
            joint = plan.joint[depth, j]
            if plan.around[number, plan.side[depth, j]] >= 0:
                rest.joint[depth, count] = joint
                rest.stride[depth, count] = size
                size *= rest.radix[joint]
                count += 1
        lines = size
        carried, combos = 0, 1
        for i in range(rest.tracked[depth + 1]):
            joint = rest.joint[depth + 1, i]
            opened = False
            for j in range(known, ends):
                opened |= plan.joint[depth, j] == joint
            if opened:
                continue
            rest.carry[depth, carried] = joint
            rest.carry_stride[depth, carried] = rest.stride[depth + 1, i]
            if count == TRACKED:
                return 0
            rest.carry_here[depth, carried] = size
            rest.carry_turn[depth, carried] = combos
            combos *= rest.radix[joint]
            rest.joint[depth, count] = joint
            rest.stride[depth, count] = size
            size *= rest.radix[joint]
            count += 1
            carried += 1
        if size > limit or rest.at[depth + 1] + after + size > ENTRIES:
            return 0
        rest.tracked[depth] = count
        rest.carried[depth] = carried
        rest.at[depth] = rest.at[depth + 1] + after
        rest.first[depth] = rest.first[depth + 1] + combos
        after = size
        steps += combos * (plan.need[plan.kind_of[plan.pattern[depth]]] * 4 + lines)
    return steps


@flat_kernel
def fill(plan: RegionPlan, work: RegionWork, begin: int) -> None:
    """The tables of the depths before ``begin`` (of all for ``begin`` = n), each from the next one's."""
    rest = work.rest
    if begin == len(plan.cells):
        rest.need[rest.at[begin]] = 0
    for back in range(begin):
        _fill_depth(plan, work, begin - 1 - back)


@flat_kernel
def _fill_depth(plan: RegionPlan, work: RegionWork, depth: int) -> None:
    rest = work.rest
    need, line, lows, piece, turn, radix = rest.need, rest.line, rest.lows, rest.piece, rest.turn, rest.radix
    pieces = _pieces(plan, work, depth)
    carried = rest.carried[depth]
    lines = 1
    answers = rest.tracked[depth] - carried
    for i in range(answers):
        lines *= radix[rest.joint[depth, i]]
    combos = 1
    for i in range(carried):
        combos *= radix[rest.carry[depth, i]]
        turn[i] = 0
    here, there = rest.at[depth], rest.at[depth + 1]
    for combo in range(combos):
        to, source = here, there
        for i in range(carried):
            to += turn[i] * rest.carry_here[depth, i]
            source += turn[i] * rest.carry_stride[depth, i]
        for k in range(lines):
            line[k] = TOO_MUCH
        low = np.int64(TOO_MUCH)
        for m in range(pieces):
            value = need[source + piece[0, m]] + piece[1, m]
            if value < line[piece[2, m]]:
                line[piece[2, m]] = value
            low = min(low, value - piece[3, m])
        rest.least[rest.first[depth + 1] + combo] = low
        stride = 1
        for i in range(answers):  # another colour asked for: a mismatch
            span = stride * radix[rest.joint[depth, i]]
            for begin in range(0, lines, span):
                for k in range(stride):
                    lows[k] = line[begin + k]
                for next_one in range(begin + stride, begin + span, stride):
                    for k in range(stride):
                        lows[k] = min(lows[k], line[next_one + k])
                for next_one in range(begin, begin + span, stride):
                    for k in range(stride):
                        line[next_one + k] = min(line[next_one + k], lows[k] + np.int16(UNIT))
            stride = span
        for k in range(lines):
            need[to + k] = line[k]
        for i in range(carried):  # the next colours of what is carried
            turn[i] += 1
            if turn[i] < radix[rest.carry[depth, i]]:
                break
            turn[i] = 0


@flat_kernel
def _pieces(plan: RegionPlan, work: RegionWork, depth: int) -> int:
    """Per oriented piece that fits the cell: what it adds to the place in the next table, its units, its place here."""
    rest = work.rest
    number, pattern, known = plan.order[depth], plan.pattern[depth], plan.known[depth]
    words = len(work.valid) // len(plan.kind_of)
    bits = words * 64
    answers = rest.tracked[depth] - rest.carried[depth]
    count = 0
    for bit in range(bits):
        if not work.valid[pattern * words + (bit >> 6)] & (_ONE << np.uint64(bit & 63)):
            continue
        shows = (pattern * bits + bit) * 4
        units, place, opens, misses = rest.price[pattern * bits + bit], 0, 0, 0
        for j in range(known):
            side = plan.side[depth, j]
            colour = work.shows[shows + side]
            if plan.around[number, side] < 0:
                misses += colour != work.joint_colour[plan.joint[depth, j]]
            for i in range(answers):
                if rest.joint[depth, i] == plan.joint[depth, j]:
                    place += rest.digit[colour] * rest.stride[depth, i]
        for j in range(known, known + plan.open[depth]):
            colour = work.shows[shows + plan.side[depth, j]]
            for i in range(rest.tracked[depth + 1]):
                if rest.joint[depth + 1, i] == plan.joint[depth, j]:
                    opens += rest.digit[colour] * rest.stride[depth + 1, i]
        rest.opens[depth * bits + bit] = opens
        rest.piece[0, count] = opens
        rest.piece[1, count] = units + UNIT * misses
        rest.piece[3, count] = UNIT * misses
        rest.piece[2, count] = place
        count += 1
    return count


@inline_flat_kernel
def look_up(work: RegionWork, depth: Any, room: Any) -> None:
    """Note where the next depth's table begins with what is open, and how many misses ``room`` leaves the cell."""
    rest = work.rest
    deeper = depth + _ONE
    place, turn = rest.at[deeper], rest.first[deeper]
    for i in range(np.uint64(rest.carried[depth])):
        digit = rest.digit[np.uint64(work.joint_colour[np.uint64(rest.carry[depth, i])])]
        place += digit * rest.carry_stride[depth, i]
        turn += digit * rest.carry_turn[depth, i]
    rest.keep[depth] = place
    rest.top[depth] = (room - rest.paid[depth] - rest.least[np.uint64(turn)]) // UNIT


@flat_kernel
def trace(plan: RegionPlan, work: RegionWork, uses: Ints) -> None:
    """Add to ``uses`` (pieces,) how often each piece lies in a cheapest refill with reusable pieces."""
    rest = work.rest
    words = len(work.valid) // len(plan.kind_of)
    bits = words * 64
    for depth in range(len(plan.cells)):
        look_up(work, np.uint64(depth), 0)
        keep = rest.keep[depth]
        pattern = plan.pattern[depth]
        least, chosen = 1 << 40, 0
        for bit in range(bits):
            if not work.valid[pattern * words + (bit >> 6)] & (_ONE << np.uint64(bit & 63)):
                continue
            units = rest.price[pattern * bits + bit] + rest.need[keep + rest.opens[depth * bits + bit]]
            for j in range(plan.known[depth]):
                joint, side = plan.joint[depth, j], plan.side[depth, j]
                if work.shows[(pattern * bits + bit) * 4 + side] != work.joint_colour[joint]:
                    units += UNIT
            if units < least:
                least, chosen = units, bit
        at = pattern * bits + chosen
        uses[work.oriented[at] >> 2] += 1
        for j in range(plan.known[depth], plan.known[depth] + plan.open[depth]):
            work.joint_colour[plan.joint[depth, j]] = work.shows[at * 4 + plan.side[depth, j]]
