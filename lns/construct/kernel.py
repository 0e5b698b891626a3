"""The depth-first search of the constructor: fixed order, two known sides a cell, breaks and colour quotas.

One comparison serves both rules: a prefix carries ``gain`` = favoured half-edges used - BREAK_COST * breaks spent,
and depth d
asks for at least ``need[d]`` = quota floor - BREAK_COST * breaks allowed. Lists are sorted so that the first
candidate below
the need ends the list, and the sentinel is such a candidate. From ``Plan.begin`` on cells are filled otherwise: see
``endgame``.

A joint of the rim never breaks. So a piece is refused where it asks a rim cell that is filled later for a colour that
no
free piece has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct.candidate_tables import Tables
from lns.construct.endgame import (
    BUDGET,
    CENSUS,
    EXHAUSTED,
    REACHED,
    enter,
    lay,
    lift,
    search_end,
)
from lns.construct.endgame_plan import EndPlan, EndWork
from lns.construct.packed_candidate import (
    DOWN_AT,
    DOWN_MASK,
    GAIN_AT,
    MAX_BREAKS,
    NEVER,
    PIECE_MASK,
    RIGHT_AT,
    RIGHT_MASK,
    ROTATION_AT,
    breaks_spent,
)
from lns.construct.tail import TailPlan, TailWork, solve_tail
from lns_support.jit import flat_kernel, inline_flat_kernel

ENDS = 16  # ends of sampled prefixes are told apart below so many mismatches
SAMPLE_NODES = 50_000  # nodes from one sample to the next,
DEAR = 100  # or, if they are more, so many times the placements of its tail
RARE = 2**11  # one in so many stems leaves its key,
MAX_FRONTIER_KEYS = 2**15  # as long as a shuffle has fewer: for 7e7 stems, or about 5e9 nodes
_MIX, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_LEFT, _RIGHT = np.uint64(13), np.uint64(51)  # a rotation by the bits of a piece
BEGIN = -1  # depth of a search that has not begun
PREFIXES, TAIL_NODES, MISSES, NEXT_SAMPLE, COUNTERS = range(5)  # places in ``counters``: see `construct`


class Plan(NamedTuple):
    """What stays while a search runs. ``position``: int64 (cells,) place in the padded board by depth; ``need``: int64
    (cells,) least gain; ``ahead``: see ``candidate_tables.rim_ahead``."""

    tables: Tables
    position: npt.NDArray[np.int64]
    need: npt.NDArray[np.int64]
    ahead: npt.NDArray[np.int64]
    padded_width: int
    begin: int  # depth at which the endgame begins
    cut: int  # depth at which a prefix is complete
    dealt: int  # depth of the prefixes that are dealt out among islands, 0: none are;
    lot: int  # this island's number
    lots: int  # of so many islands


class Prefix(NamedTuple):
    """The search's own state: from these arrays it can go on elsewhere (`Constructor.restore`).

    ``cursor``: int64 (cells+1,) next word by depth (in the endgame the candidate chosen); ``chosen``: int64 (cells,)
    word by depth; ``gain``: int64 (cells+1,); ``used``: uint8 (cells+1,); ``right``, ``down``: int64 colours shown, by
    padded position (right times colours1); ``scalars``: int64 [depth or BEGIN, nodes]; ``census``: int64 (cells *
    CENSUS,) placements of this shuffle by depth, by whether they break, and by the breaks spent with them;
    ``frontier_keys``: uint64 (MAX_FRONTIER_KEYS + 1,) their number, then the keys of the frontier prefixes (of
    ``begin`` cells) that this restart met: those that RARE divides, so that another restart that meets the same
    prefix leaves the same key.
    """

    cursor: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    gain: npt.NDArray[np.int64]
    used: npt.NDArray[np.uint8]
    right: npt.NDArray[np.int64]
    down: npt.NDArray[np.int64]
    scalars: npt.NDArray[np.int64]
    census: npt.NDArray[np.int64]
    frontier_keys: npt.NDArray[np.uint64]


@inline_flat_kernel
def _none_left(at: int, words: npt.NDArray[np.int64], used: npt.NDArray[np.uint8]) -> bool:
    """Whether all pieces of the list that begins at ``at`` are used."""
    while used[np.uint64(words[np.uint64(at)] & PIECE_MASK)]:
        at += 1
    return words[np.uint64(at)] >> GAIN_AT == NEVER


@inline_flat_kernel
def _mixed(key: np.uint64) -> np.uint64:
    """Each bit of the upper half of what comes out depends on all of ``key``."""
    key *= _MIX
    return (key ^ key >> _HALF) * _MIX


@inline_flat_kernel
def _is_dealt_to(lot: int, lots: int, chosen: npt.NDArray[np.int64], last: np.uint64, word: np.int64) -> bool:
    """Whether the prefix of the first ``last`` cells and ``word`` behind them is for the island ``lot``."""
    key = np.uint64(word & PIECE_MASK)
    for depth in range(last):
        key = (key << _LEFT | key >> _RIGHT) ^ np.uint64(chosen[depth] & PIECE_MASK)
    return (_mixed(key) >> _HALF) % np.uint64(lots) == np.uint64(lot)


@flat_kernel
def search_lists(plan: Plan, prefix: Prefix, node_limit: int) -> int:
    """Search on until a prefix of ``plan.begin`` cells stands, or ``node_limit`` nodes in all were made.

    Returns REACHED (the prefix is in ``prefix.chosen``; the next call goes on behind it), BUDGET or EXHAUSTED.
    """
    index, words, base, position, need = (
        plan.tables.start, plan.tables.words, plan.tables.base, plan.position, plan.need,
    )  # fmt: skip
    cursor, chosen, gain, used = prefix.cursor, prefix.chosen, prefix.gain, prefix.used
    right, down, census, ahead = prefix.right, prefix.down, prefix.census, plan.ahead
    begin = np.uint64(plan.begin)
    one = np.uint64(1)
    last_dealt = np.uint64(plan.dealt) - one  # 0 wraps around: no depth is as large
    row = np.uint64(plan.padded_width)
    depth = np.uint64(prefix.scalars[0])
    nodes = prefix.scalars[1]
    if prefix.scalars[0] == BEGIN:
        depth = np.uint64(0)
        if begin == 0:
            prefix.scalars[0] = 0
            return REACHED
    elif depth == begin:
        if begin == 0:
            return EXHAUSTED
        depth -= one
        used[np.uint64(chosen[depth] & PIECE_MASK)] = 0
    status = EXHAUSTED
    while True:
        at = np.uint64(cursor[depth])
        word = words[at]
        while used[np.uint64(word & PIECE_MASK)]:
            at += one
            word = words[at]
        gained = gain[depth] + (word >> GAIN_AT)
        if gained >= need[depth]:
            cursor[depth] = np.int64(at + one)
            here = np.uint64(position[depth])
            used[np.uint64(word & PIECE_MASK)] = 1
            right[here] = (word >> RIGHT_AT) & RIGHT_MASK
            down[here] = (word >> DOWN_AT) & DOWN_MASK
            if ahead[depth, 0] >= 0 and _none_left(index[ahead[depth, 0] + right[here]], words, used):
                used[np.uint64(word & PIECE_MASK)] = 0
                continue
            if ahead[depth, 1] >= 0 and _none_left(index[ahead[depth, 1] + down[here]], words, used):
                used[np.uint64(word & PIECE_MASK)] = 0
                continue
            if depth == last_dealt and not _is_dealt_to(plan.lot, plan.lots, chosen, depth, word):
                used[np.uint64(word & PIECE_MASK)] = 0
                continue
            chosen[depth] = word
            spent = np.uint64((word >> 63) & MAX_BREAKS) + np.uint64(breaks_spent(gained))
            census[depth * np.uint64(CENSUS) + spent] += 1
            nodes += 1
            depth += one
            gain[depth] = gained
            if depth == begin:
                status = REACHED
                break
            here = np.uint64(position[depth])
            cursor[depth] = index[np.uint64(base[depth] + right[here - one] + down[here - row])]
            if nodes >= node_limit:
                status = BUDGET
                break
        else:
            if depth == 0:
                break
            depth -= one
            used[np.uint64(chosen[depth] & PIECE_MASK)] = 0
    prefix.scalars[0] = np.int64(depth)
    prefix.scalars[1] = nodes
    return status


@inline_flat_kernel
def _note_frontier(prefix: Prefix, begin: int) -> None:
    """Note the key of the stem of ``begin`` cells, if it is one of the sample: see `lns.construct.novelty`.

    Some of its pieces stand for all: the last four, and of those before ever fewer (6, 9, 13, 19, ... cells back).
    """
    chosen, frontier_keys = prefix.chosen, prefix.frontier_keys
    if begin == 0:  # the empty board comes again and again, whatever is searched
        return
    key, back = np.uint64(begin), 1
    while back <= begin:
        key = (key << _LEFT | key >> _RIGHT) ^ np.uint64(chosen[begin - back] & PIECE_MASK)
        back += max(1, back >> 1)
    key = _mixed(key)
    key ^= key >> _HALF
    if key & np.uint64(RARE - 1) == 0 and frontier_keys[0] < MAX_FRONTIER_KEYS:
        frontier_keys[0] += np.uint64(1)
        frontier_keys[frontier_keys[0]] = key


@flat_kernel
def next_prefix(plan: Plan, prefix: Prefix, end: EndPlan, work: EndWork, node_limit: int) -> int:
    """Search on until a prefix of ``plan.cut`` cells stands: by lists, then by sets; else as `search_lists`."""
    scalars = prefix.scalars
    if plan.begin == plan.cut:
        status = search_lists(plan, prefix, node_limit)
        if status == REACHED:
            _note_frontier(prefix, plan.begin)
        return status
    while scalars[1] < node_limit:
        if scalars[0] > plan.begin:  # within the endgame
            lift(end, scalars[0], prefix.chosen, prefix.used)
        else:
            status = search_lists(plan, prefix, node_limit)
            if status != REACHED:
                return status
            _note_frontier(prefix, plan.begin)
            spent = breaks_spent(prefix.gain[plan.begin])
            enter(end, work, prefix.used, prefix.right, prefix.down, spent)
        status = search_end(end, work, scalars, prefix.census, node_limit)
        if status != EXHAUSTED:
            lay(
                end, work, scalars[0], prefix.cursor, prefix.chosen, prefix.gain, prefix.used, prefix.right, prefix.down
            )  # fmt: skip
            return status
    return BUDGET


@flat_kernel
def construct(
    plan: Plan,
    prefix: Prefix,
    end: EndPlan,
    end_work: EndWork,
    tail: TailPlan,
    work: TailWork,
    finds: npt.NDArray[np.int32],
    counters: npt.NDArray[np.int64],
    mismatches: int,
    node_limit: int,
    tail_nodes: int,
    spent: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> int:
    """Make prefixes and finish each exactly, until a board with at most ``mismatches`` is found or nodes run out.

    ``node_limit``: nodes of prefixes in all; those of the tails of this call are taken off it.
    ``finds``: int32 (cells,) receives the oriented pieces by depth. ``counters``: int64 (COUNTERS,): prefixes,
    placements of tails, mismatches of the find, nodes where the next sample is due. ``spent``: int64 (MAX_BREAKS,)
    prefixes
    by breaks spent. ``ends``: int64 (ENDS + 1,) tails by fewest mismatches, of a sample of the prefixes that is
    finished
    as well as ``tail_nodes`` allow; the last: no such end was found. Returns REACHED with a find, BUDGET or EXHAUSTED.
    """
    cells = len(finds)
    tails_before = counters[TAIL_NODES]
    while True:
        status = next_prefix(plan, prefix, end, end_work, node_limit - (counters[TAIL_NODES] - tails_before))
        if status != REACHED:
            return status
        counters[PREFIXES] += 1
        breaks = breaks_spent(prefix.gain[plan.cut])
        spent[breaks] += 1
        room = mismatches - breaks
        if prefix.scalars[1] >= counters[NEXT_SAMPLE]:
            found, nodes = solve_tail(tail, work, prefix.used, prefix.right, prefix.down, ENDS - 1, tail_nodes)
            counters[TAIL_NODES] += nodes
            counters[NEXT_SAMPLE] = prefix.scalars[1] + max(SAMPLE_NODES, DEAR * nodes)
            ends[found if found >= 0 else ENDS] += 1
        if room < 0:
            continue
        found, nodes = solve_tail(tail, work, prefix.used, prefix.right, prefix.down, room, tail_nodes)
        counters[TAIL_NODES] += nodes
        if 0 <= found <= mismatches - breaks:
            for depth in range(plan.cut):
                word = prefix.chosen[depth]
                finds[depth] = (word & PIECE_MASK) * 4 + ((word >> ROTATION_AT) & 3)
            for i in range(cells - plan.cut):
                finds[plan.cut + i] = work.found[i]
            counters[MISSES] = breaks + found
            return REACHED
        if prefix.scalars[1] + counters[TAIL_NODES] - tails_before >= node_limit:
            return BUDGET
