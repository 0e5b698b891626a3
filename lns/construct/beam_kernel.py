"""The kernels of a beam: one more cell for all its prefixes, and the exact tails of those that reach the cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct import candidates as packed
from lns.construct.candidates import CandidateTables, Int64Array, oriented_piece
from lns.construct.population import Population, append_child, is_used
from lns.construct.tail import NOT_FOUND, TailPlan, TailWorkspace, solve_tail
from lns.exact.kernels.jit import kernel
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray
from lns.rng import RandomState, random_below

Paths = npt.NDArray[np.int16]


class BeamPlan(NamedTuple):
    """Read-only inputs of a beam."""

    tables: CandidateTables
    row: Int64Array  # int64 (cells,): row of each depth's cell
    column: Int64Array  # int64 (cells,): column of each depth's cell
    break_cost: int  # value lost by a break, in favoured half-edges
    fan_out: int  # children of one prefix, at most
    min_value: int  # the least value that a prefix can have


class LayerWorkspace(NamedTuple):
    """Arrays for the children of one layer. Values are counted from `BeamPlan.min_value`."""

    parent: IntArray  # int32 (width * fan_out,): index of each child's parent
    candidate: Int64Array  # int64 (width * fan_out,): packed candidate that each child adds
    value: Int64Array  # int64 (width * fan_out,): value of each child
    sorted: IntArray  # int32 (width * fan_out,): numbers of the selected children, best first
    counts: Int64Array  # int64 (values,): children by value


@kernel
def extend_layer(
    plan: BeamPlan,
    depth: int,
    current: Population,
    prefix_count: int,
    extended: Population,
    work: LayerWorkspace,
    parent: IntArray,
    placed: Paths,
    random: RandomState,
) -> tuple[int, int]:
    """Fill one more cell, at ``depth``, in all prefixes and select the best children, at most as many as fit.

    ``current`` holds ``prefix_count`` prefixes sorted by value (``gain``), best first; ``extended`` receives the
    selected children likewise, ``parent``, int32 (width,), and ``placed``, int16 (width,), their parents and oriented
    pieces. ``random`` selects among children of the value at which the beam is full. Returns (children selected,
    children generated).
    """
    width, counts, min_value, row, column = len(current.gain), work.counts, plan.min_value, plan.row, plan.column
    list_start, candidates, base = plan.tables.list_start, plan.tables.candidates, plan.tables.base[depth]
    gain = current.gain
    counts[:] = 0
    generated = kept = 0
    threshold = 0  # fewer than `width` children have a higher value
    for i in range(prefix_count):
        if gain[i] + packed.MAX_FAVOURED - min_value < threshold:
            break
        at = list_start[base + current.right[i, row[depth]] + current.down[i, column[depth]]]
        children = 0
        while children < plan.fan_out:
            candidate = candidates[at]
            at += 1
            added = candidate >> packed.GAIN_SHIFT
            if added == packed.LIST_END_GAIN:
                break
            if is_used(current, i, candidate & packed.PIECE_MASK):
                continue
            if added < -(packed.BREAK_COST // 2):
                added += packed.BREAK_COST - plan.break_cost
            value = gain[i] + added - min_value
            if value < threshold:  # lists are sorted: the rest is not better
                break
            work.parent[generated] = i
            work.candidate[generated] = candidate
            work.value[generated] = value
            counts[value] += 1
            generated += 1
            children += 1
            kept += 1
            while kept - counts[threshold] >= width:
                kept -= counts[threshold]
                threshold += 1
    if generated == 0:
        return 0, 0
    # counting sort, best first; of the children at the threshold a random choice
    undecided, open_places = counts[threshold], width - (kept - counts[threshold])
    place = 0
    for value in range(len(counts) - 1, threshold - 1, -1):
        place += counts[value]
        counts[value] = place - counts[value]
    selected = 0
    for child in range(generated):
        value = work.value[child]
        if value < threshold:
            continue
        if value == threshold:
            undecided -= 1
            if random_below(random, undecided + 1) >= open_places:
                continue
            open_places -= 1
        work.sorted[counts[value]] = child
        counts[value] += 1
        selected += 1
    for place in range(selected):
        child = work.sorted[place]
        candidate = work.candidate[child]
        append_child(current, work.parent[child], extended, place, row[depth], column[depth], candidate)
        extended.gain[place] = work.value[child] + min_value
        parent[place], placed[place] = work.parent[child], oriented_piece(candidate)
    return selected, generated


@kernel
def search_tails(
    paths: Paths,
    first: int,
    position: Int64Array,
    padded_width: int,
    tail: TailPlan,
    work: TailWorkspace,
    max_mismatches: int,
    node_limit: int,
    tail_node_limit: int,
) -> tuple[int, int, int, int]:
    """Search the exact tails of complete prefixes for a full board with at most ``max_mismatches``.

    Parameters
    ----------
    paths : int16 (n, cut)
        Oriented pieces of each prefix by depth.
    first : int
        The first prefix to search.
    position : int64 (cells,)
        `order.padded_positions` of the cells by depth; a padded row has ``padded_width`` cells.
    tail, work
        See `tail.plan_tail`; ``work.found`` receives the tail of the board found.
    node_limit, tail_node_limit : int
        The search stops after a tail when it has made ``node_limit`` nodes; one tail takes at most ``tail_node_limit``.

    Returns
    -------
    tuple of int
        Prefixes searched or skipped (a board found belongs to the last of them), tails searched, nodes, and mismatches
        of the board found or NOT_FOUND.
    """
    quads, colour_count = tail.quads, tail.colour_count
    cells, cut = len(quads) >> 2, paths.shape[1]
    used = np.zeros(cells + 1, dtype=np.uint8)
    right = np.zeros((cells // (padded_width - 1) + 1) * padded_width, dtype=np.int64)
    down = np.zeros_like(right)
    tails = nodes = 0
    for i in range(first, len(paths)):
        if nodes >= node_limit:
            return i - first, tails, nodes, NOT_FOUND
        used[:] = 0
        breaks = 0
        for depth in range(cut):
            here, oriented = position[depth], np.int64(paths[i, depth])
            used[oriented >> 2] = 1
            breaks += int(right[here - 1] != quads[oriented, LEFT] * colour_count)
            breaks += int(down[here - padded_width] != quads[oriented, UP])
            right[here] = quads[oriented, RIGHT] * colour_count
            down[here] = quads[oriented, DOWN]
        if breaks > max_mismatches:
            continue
        mismatches, tail_nodes = solve_tail(tail, work, used, right, down, max_mismatches - breaks, tail_node_limit)
        tails += 1
        nodes += tail_nodes
        if mismatches >= 0:
            return i + 1 - first, tails, nodes, breaks + mismatches
    return len(paths) - first, tails, nodes, NOT_FOUND
