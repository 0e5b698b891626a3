"""Estimates of the nodes of a search, and the order in which a block of cells is filled.

Pieces and joints are taken to be independent, so that a joint matches with the probability that two random sides do.
The estimates depend on the shape of the region and the pieces of the puzzle, not on the board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import inline_kernel, kernel
from lns.exact.region.state import OUTSIDE, Ints, RegionPlan

_MAX_GREEDY = 64  # cells; in larger blocks only orders by rows and columns are tried


class EstimateModel(NamedTuple):
    """What the estimates for a region of n cells depend on."""

    rows: Ints  # int64 (n,): row, by number of the cell
    columns: Ints  # int64 (n,): column
    around: Ints  # int64 (n, 4): as in `RegionPlan`
    match: npt.NDArray[np.float64]  # float64 (n, 4): probability that the joint on a side matches
    kinds: Ints  # int64 (n,): kind of the piece that the cell needs
    turns: Ints  # int64 (kinds,): rotations of a piece of this kind that fit
    pieces: Ints  # int64 (kinds,): free pieces


def estimate_model(plan: RegionPlan, width: int, spare: int) -> EstimateModel:
    """The model of a region on a board of some width, with ``spare`` more free pieces of each kind than cells."""
    rows, columns = np.divmod(plan.cells, width)
    return EstimateModel(
        rows=rows,
        columns=columns,
        around=plan.around,
        match=match_probabilities(plan),
        kinds=plan.kind_of[plan.pattern_at],
        turns=plan.rotations,
        pieces=plan.cells_of_kind + spare,
    )


def match_probabilities(plan: RegionPlan) -> npt.NDArray[np.float64]:
    """float64 (n, 4): the probability that a joint matches, by number of the cell and side, for random pieces."""
    patterns, colours1 = len(plan.kind_of), len(plan.colour_class)
    shown = np.zeros((16, 4, colours1))
    oriented = np.flatnonzero(plan.is_clue[np.arange(len(plan.quads)) >> 2] == 0)
    grey = ((plan.quads == 0) << np.arange(4)).sum(axis=1)
    for side in range(4):
        np.add.at(shown, (grey[oriented], side, plan.quads[oriented, side]), 1.0)
    anywhere = shown.sum(axis=0)
    anywhere[:, 0] = 0.0
    anywhere /= np.maximum(anywhere.sum(axis=1, keepdims=True), 1.0)
    shown /= np.maximum(shown.sum(axis=2, keepdims=True), 1.0)
    pattern = np.zeros(patterns, dtype=np.int64)  # the set of rim-coloured sides, by number of the pattern
    known = plan.pattern_of >= 0
    pattern[plan.pattern_of[known]] = grey[known]
    own = shown[pattern[plan.pattern_at]]
    beyond = np.where(
        (plan.around >= 0)[..., None],
        shown[pattern[plan.pattern_at[np.maximum(plan.around, 0)]]][:, range(4), [2, 3, 0, 1]],
        anywhere[[2, 3, 0, 1]],
    )
    return np.ascontiguousarray(np.maximum((own * beyond).sum(axis=2), 1e-3))


@kernel
def choose_order(
    model: EstimateModel,
    members: Ints,
    filled: npt.NDArray[np.uint8],
    used: Ints,
    nodes: npt.NDArray[np.float64],
    refills: npt.NDArray[np.float64],
    cells: Ints,
) -> None:
    """Write the best order of a block, tried by rows, by columns and by constrainedness, and its estimates."""
    count = len(members)
    own_nodes = np.zeros(len(nodes))
    best = np.inf
    for trial in range(12 if 2 < count <= _MAX_GREEDY else 8):
        along, across = (model.rows, model.columns) if trial & 1 else (model.columns, model.rows)
        direction = -1 if trial & 2 else 1
        if trial >= 8:
            order = _most_constrained_first(model, members, along, -direction, filled, used)
        else:
            order = members.copy()
            sort_cells(order, direction, along, -1 if trial & 4 else 1, across)
        _estimate(model, order, filled, used, own_nodes, refills)
        weight = np.log(own_nodes + 1.0).sum()
        if weight < best - 1e-9:
            best = weight
            nodes[:] = own_nodes
            cells[:count] = order


@inline_kernel
def sort_cells(cells: Ints, first_sign: int, first: Ints, second_sign: int, second: Ints) -> None:
    """Sort cells by ``first_sign * first``, those with the same by ``second_sign * second``.

    An insertion sort: numba would compile each of numpy's sorts for more than a second, and a region is small.
    """
    for k in range(1, len(cells)):
        cell, j = cells[k], k
        while j > 0:
            before = cells[j - 1]
            difference = first_sign * (first[before] - first[cell])
            if difference < 0 or (difference == 0 and second_sign * (second[before] - second[cell]) <= 0):
                break
            cells[j] = before
            j -= 1
        cells[j] = cell


@kernel
def _most_constrained_first(
    model: EstimateModel, members: Ints, tie: Ints, tie_sign: int, filled: npt.NDArray[np.uint8], used: Ints
) -> Ints:
    """The order in which the next cell is always the one with the fewest expected exact candidates.

    Of equal ones it is the one with the least ``tie_sign * tie``.
    """
    count = len(members)
    order = np.empty(count, np.int64)
    score = np.empty(count)
    place = np.full(len(filled), -1, np.int64)
    for i in range(count):
        cell = members[i]
        place[cell] = i
        kind = model.kinds[cell]
        score[i] = np.log(max(0.5, float(model.pieces[kind] - used[kind]) * model.turns[kind]))
        score[i] += 1e-7 * tie_sign * tie[cell]
        for side in range(4):
            beyond = model.around[cell, side]
            if beyond == OUTSIDE or (beyond >= 0 and filled[beyond]):
                score[i] += np.log(model.match[cell, side])
    for depth in range(count):
        chosen = np.argmin(score)
        order[depth] = members[chosen]
        score[chosen] = np.inf
        for side in range(4):
            beyond = model.around[members[chosen], side]
            if beyond >= 0 and place[beyond] >= 0:
                score[place[beyond]] += np.log(model.match[members[chosen], side])
    return order


@kernel
def _estimate(
    model: EstimateModel,
    order: Ints,
    filled: npt.NDArray[np.uint8],
    used: Ints,
    nodes: npt.NDArray[np.float64],
    refills: npt.NDArray[np.float64],
) -> None:
    """Write the expected nodes by mismatches allowed, and the expected partial refills by mismatches, of one order."""
    placed, taken = filled.copy(), used.copy()
    most = len(nodes) - 1
    level = np.zeros(5)  # probability of so many mismatches on the known joints of a cell
    nodes[:] = 0.0
    refills[:] = 0.0
    refills[0] = 1.0
    for cell in order:
        kind = model.kinds[cell]
        level[:] = 0.0
        level[0] = float(max(0, model.pieces[kind] - taken[kind]) * model.turns[kind])
        for side in range(4):
            beyond = model.around[cell, side]
            if beyond == OUTSIDE or (beyond >= 0 and placed[beyond]):
                for more in range(4, 0, -1):
                    level[more] = level[more] * model.match[cell, side] + level[more - 1] * (
                        1.0 - model.match[cell, side]
                    )
                level[0] *= model.match[cell, side]
        for spent in range(most, -1, -1):
            total = 0.0
            for more in range(min(4, spent) + 1):
                total += refills[spent - more] * level[more]
            refills[spent] = total
        total = 0.0
        for spent in range(most + 1):
            total += refills[spent]
            nodes[spent] += total
        placed[cell] = 1
        taken[kind] += 1
