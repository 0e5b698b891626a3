"""The kernels of a beam: one cell more for all its prefixes, and the exact tails of those that reach the cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct.candidate_tables import Tables
from lns.construct.packed_candidate import BREAK_COST, GAIN_AT, MOST_FAVOURED, NEVER, PIECE_MASK, ROTATION_AT
from lns.construct.population import Population, bear
from lns.construct.tail import TailPlan, TailWork, solve_tail
from lns.rng import RandomState, random_below
from lns_support.jit import kernel

Paths = npt.NDArray[np.int16]


class Room(NamedTuple):
    """Room for the children of one layer. ``parent``, ``word``, ``worth``: (width * fan_out,), and ``sorted`` for their
    numbers; ``counts``: children by worth, from the least that a prefix can have (``least``) up."""

    parent: npt.NDArray[np.int32]
    word: npt.NDArray[np.int64]
    worth: npt.NDArray[np.int64]
    sorted: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    least: int


@kernel
def advance(
    tables: Tables,
    depth: int,
    row: int,
    column: int,
    now: Population,
    alive: int,
    after: Population,
    break_cost: int,
    fan_out: int,
    room: Room,
    parent: npt.NDArray[np.int32],
    laid: npt.NDArray[np.int16],
    random: RandomState,
) -> tuple[int, int]:
    """One cell more for all prefixes of ``now``; (prefixes in ``after``, children looked at).

    ``parent``, ``laid``: (width,) receive where each prefix comes from and the oriented piece on the cell. Prefixes are
    sorted by worth (``gain``), the best first, before and after; lists are sorted too. So the first child that is
    worth less than what ``width`` others are worth ends its list.
    """
    width, counts, least = len(now.gain), room.counts, room.least
    start, words, base, used, gain = tables.start, tables.words, tables.base[depth], now.used, now.gain
    counts[:] = 0
    born = kept = 0
    bar = 0  # what fewer than `width` children are worth more than, counted from `least`
    for i in range(alive):
        if gain[i] + MOST_FAVOURED - least < bar:
            break
        at = start[base + now.right[i, row] + now.down[i, column]]
        children = 0
        while children < fan_out:
            word = words[at]
            at += 1
            favoured = word >> GAIN_AT
            if favoured == NEVER:
                break
            piece = word & PIECE_MASK
            if used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1):
                continue
            if favoured < -(BREAK_COST // 2):
                favoured += BREAK_COST - break_cost
            worth = gain[i] + favoured - least
            if worth < bar:
                break
            room.parent[born] = i
            room.word[born] = word
            room.worth[born] = worth
            counts[worth] += 1
            born += 1
            children += 1
            kept += 1
            while kept - counts[bar] >= width:
                kept -= counts[bar]
                bar += 1
    if born == 0:
        return 0, 0
    # counting sort, the best first; of those at the bar a random choice
    equal, open_places = counts[bar], width - (kept - counts[bar])
    place = 0
    for worth in range(len(counts) - 1, bar - 1, -1):
        place += counts[worth]
        counts[worth] = place - counts[worth]
    live = 0
    for child in range(born):
        worth = room.worth[child]
        if worth < bar:
            continue
        if worth == bar:
            equal -= 1
            if random_below(random, equal + 1) >= open_places:
                continue
            open_places -= 1
        room.sorted[counts[worth]] = child
        counts[worth] += 1
        live += 1
    for place in range(live):
        child = room.sorted[place]
        word = room.word[child]
        bear(now, room.parent[child], after, place, row, column, word)
        after.gain[place] = room.worth[child] + least
        parent[place] = room.parent[child]
        laid[place] = (word & PIECE_MASK) * 4 + ((word >> ROTATION_AT) & 3)
    return live, born


@kernel
def finish(
    paths: Paths,
    first: int,
    position: npt.NDArray[np.int64],
    padded_width: int,
    tail: TailPlan,
    work: TailWork,
    mismatches: int,
    node_limit: int,
    tail_nodes: int,
) -> tuple[int, int, int, int]:
    """Search the tails of the paths from number ``first`` on for a full board with at most ``mismatches``.

    ``paths``: (n, cut) oriented pieces by depth. Stops at a find, or when ``node_limit`` nodes are made. Returns (paths
    done, tails searched, nodes, mismatches of the find or -1); the find is that of the last path done.
    """
    quads, colours1 = tail.quads, tail.colours1
    cells, cut = len(tail.clue_piece), paths.shape[1]
    used = np.zeros(cells + 1, dtype=np.uint8)
    right = np.zeros((cells // (padded_width - 1) + 1) * padded_width, dtype=np.int64)
    down = np.zeros_like(right)
    searched = nodes = 0
    for i in range(first, len(paths)):
        if nodes >= node_limit:
            return i - first, searched, nodes, -1
        used[:] = 0
        breaks = 0
        for depth in range(cut):
            here, oriented = position[depth], np.int64(paths[i, depth])
            used[oriented >> 2] = 1
            breaks += int(right[here - 1] != quads[oriented, 3] * colours1)
            breaks += int(down[here - padded_width] != quads[oriented, 0])
            right[here] = quads[oriented, 1] * colours1
            down[here] = quads[oriented, 2]
        if breaks > mismatches:
            continue
        found, spent = solve_tail(tail, work, used, right, down, mismatches - breaks, tail_nodes)
        searched += 1
        nodes += spent
        if found >= 0:
            return i + 1 - first, searched, nodes, breaks + found
    return len(paths) - first, searched, nodes, -1
