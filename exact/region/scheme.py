"""Search schemes: split "at most b mismatches in this block" into cheap searches that together miss no refill.

After G. Kucherov, K. Salikhov and D. Tsur, "Approximate string matching using a bidirectional index", CPM 2014.

A block of cells is halved into A and B. A joint is an inner edge of the board. Of the b mismatches allowed, A gets a
and B gets b - 1 - a. Then a refill of the block with at most b mismatches has at most a on the joints of A that do not
touch B, or at most b - 1 - a on the joints of B that do not touch A; otherwise it would have b + 1 or more. So two
searches find every refill of the block:

- fill A with at most a mismatches, then B with what A left of b;
- fill B with at most b - 1 - a mismatches, then A with what B left of b. Keep the refill only if A has more than a
  mismatches on joints that do not touch B; the first search finds the others.

Each of these steps again fills a block, with fewer mismatches allowed, and is split in the same way. A *stage* is a
block together with the blocks that are filled before it. It is either split, or *direct*: its cells are filled one
after the other. So mismatches are allowed only gradually, and each search begins at the most constrained cells, usually
a corner of the region.

A *task* asks to fill a stage within a *cap*: the most mismatches once the stage is filled, including those spent before
it. The task of a split stage becomes two chains of tasks: fill A, then B; or fill B, then A, then check that A has more
mismatches of its own than its share a. The second chain waits on a stack until the first has failed.

How a stage is split for each b is chosen by dynamic programming over an estimate of the nodes. Pieces and joints are
taken to be independent, so that a joint matches with the probability that two random sides do. The estimate depends on
the shape of the region and the pieces of the puzzle, not on the board, so schemes are cached.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lns.exact.kernels.jit import inline_kernel, kernel
from lns.exact.region.state import OUTSIDE, Flags, Floats, Ints, RegionPlan
from lns.instances.puzzle import Puzzle

_MAX_GREEDY = 64  # cells; for larger blocks only cell orders by rows and by columns are tried
_MAX_SPLIT = 40  # mismatches; a block in which more are allowed is filled directly, without a split
DIRECT = -2  # in place of a share: the block is filled directly, without a split
_MIN_BLOCK = 4  # cells; a smaller block is not split
_MOST_STEPS = (6, 12, 20, _MAX_SPLIT)  # numbers of allowed mismatches for which schemes are made
_AT_ONCE = np.zeros(1, dtype=np.int64)


class SearchScheme(NamedTuple):
    """A search scheme of a region of n cells. Stage 0 is the region. Each cell of each direct stage has a *slot*."""

    cells: Ints  # int64 (slots,): index in the region of the cell that a slot fills
    first_slot: Ints  # int64 (stages,): the first slot of each stage, -1 if the stage is never filled directly
    members: Ints  # int64 (n,): indices of the region's cells, block after block
    first_member: Ints  # int64 (stages,): index in `members` of the first cell of each stage's block
    length: Ints  # int64 (stages,): number of cells of each stage's block
    parts: Ints  # int64 (stages, 4): by split stage, the stages A, B after A, B, A after B; -1 = too small to split
    share: Ints  # int64 (stages, most + 1): share a of part A by mismatches allowed; -1 = B first only, or DIRECT
    filled: Flags  # uint8 (stages, n): 1 for the cells filled before each stage
    limit: Ints  # int64 (slots,): most mismatches once a slot is filled, where that exceeds the stage's cap


def direct_scheme(order: Ints, first: Ints = _AT_ONCE) -> SearchScheme:
    """Return the scheme that fills a region in one cell order; ``first``: where its stages begin in ``order``."""
    return SearchScheme(
        cells=order,
        first_slot=first,
        members=order,
        first_member=first.copy(),
        length=np.diff(first, append=len(order)),
        parts=np.full((len(first), 4), -1, dtype=np.int64),
        share=np.full((len(first), 1), DIRECT, dtype=np.int64),
        filled=np.zeros((len(first), len(order)), dtype=np.uint8),
        limit=np.zeros(len(order), dtype=np.int64),
    )


@dataclass(frozen=True)
class RegionShape:
    """What a search scheme depends on: regions whose `RegionShape` is equal share their schemes."""

    puzzle: Puzzle
    plan: RegionPlan = field(compare=False)  # determined by the other fields
    around: bytes  # `cells` and `around` of the plan, as bytes
    spare: int  # number of free pieces that a refill leaves over
    levels: int  # number of times that the region, then its parts, are halved

    def round_up(self, r: int) -> int:
        """Return the number of mismatches for which the scheme is made that a search for at most ``r`` uses."""
        return next((step for step in _MOST_STEPS if step >= r), _MAX_SPLIT)


def orders_from_both_ends(puzzle: Puzzle, cells: Ints) -> tuple[Ints, Ints]:
    """Return two orders of a region's cells along its longer side, one from each end."""
    rows, columns = np.divmod(cells, puzzle.width)
    along, across = (columns, rows) if len(np.unique(rows)) <= len(np.unique(columns)) else (rows, columns)
    return np.lexsort((across, along)).astype(np.int64), np.lexsort((across, -along)).astype(np.int64)


@lru_cache(maxsize=256)
def make_scheme(shape: RegionShape, most: int) -> SearchScheme:
    """Return the scheme for at most ``most`` mismatches; for -1, one stage in the cell order along the longer side."""
    if most < 0:
        return direct_scheme(orders_from_both_ends(shape.puzzle, shape.plan.cells)[0])
    n, stages = len(shape.plan.cells), sum(4**level for level in range(shape.levels + 1))
    unsplit = direct_scheme(np.arange(n, dtype=np.int64), np.full(stages, -1, dtype=np.int64))
    scheme = unsplit._replace(share=np.full((stages, most + 1), DIRECT, dtype=np.int64))
    orders = np.zeros((stages, n), dtype=np.int64)  # order of the cells of each direct stage
    plan_stages(shape.levels, most, estimate_model(shape.plan, shape.puzzle.width, shape.spare), scheme, orders)
    is_direct = (scheme.share == DIRECT).any(axis=1) & (scheme.length > 0)
    is_direct[0] = True  # for searches that allow more mismatches than the scheme is made for
    direct = np.flatnonzero(is_direct)
    scheme.first_slot[direct] = np.cumsum(scheme.length[direct]) - scheme.length[direct]
    cells = np.concatenate([orders[stage, : scheme.length[stage]] for stage in direct.tolist()])
    return scheme._replace(cells=cells, limit=np.zeros(len(cells), dtype=np.int64))


@kernel
def plan_stages(levels: int, most: int, model: EstimateModel, scheme: SearchScheme, orders: Ints) -> None:
    """Write the stages of ``scheme``: their cells, their shares by mismatches allowed; in ``orders`` their cell orders.

    A stage of a block after ``level`` halvings has the index (4**level - 1) / 3 + block * 2**level + context. Bit i of
    the context is 1 if the other half of the i-th last halving (from 0) is filled before the stage.
    """
    n = len(model.rows)
    nodes = np.zeros((len(scheme.length), most + 1))  # estimated number of nodes, by stage and mismatches allowed
    refills = np.zeros((len(scheme.length), most + 1))  # estimated number of refills, by stage and their mismatches
    blocks = 1 << levels
    order = scheme.members
    bounds = np.zeros((levels + 1, blocks + 1), np.int64)
    bounds[0, 1] = n
    for level in range(levels):
        for block in range(1 << level):
            begin, end = bounds[level, block], bounds[level, block + 1]
            bounds[level + 1, 2 * block + 2] = end
            bounds[level + 1, 2 * block + 1] = _halve(order, begin, end, model.rows, model.columns)
    used = np.zeros(len(model.turns), np.int64)
    number = np.arange(n)
    for level in range(levels, -1, -1):
        base = (4**level - 1) // 3
        for block in range(1 << level):
            begin, end = bounds[level, block], bounds[level, block + 1]
            own_cells = order[begin:end].copy()
            sort_cells(own_cells, 1, number, 1, number)
            for context in range(1 << level):
                stage = base + (block << level) + context
                scheme.first_member[stage] = begin
                scheme.length[stage] = end - begin
                for up in range(level):
                    if context >> up & 1:
                        other = (block >> up) ^ 1
                        for i in range(bounds[level - up, other], bounds[level - up, other + 1]):
                            scheme.filled[stage, order[i]] = 1
                used[:] = 0
                for cell in range(n):
                    used[model.kinds[cell]] += scheme.filled[stage, cell]
                choose_order(model, own_cells, scheme.filled[stage], used, nodes[stage], refills[stage], orders[stage])
                if level == levels or end - begin < _MIN_BLOCK:
                    continue
                below = (4 ** (level + 1) - 1) // 3
                a, b = below + (2 * block << (level + 1)), below + (2 * block + 1 << (level + 1))
                scheme.parts[stage, 0] = a + 2 * context
                scheme.parts[stage, 1] = b + 2 * context + 1
                scheme.parts[stage, 2] = b + 2 * context
                scheme.parts[stage, 3] = a + 2 * context + 1
                _choose_shares(scheme, stage, nodes, refills)


@kernel
def _halve(order: Ints, begin: int, end: int, rows: Ints, columns: Ints) -> int:
    """Sort a block along its longer side; return where its second half begins, at a new row or column if possible."""
    if end - begin < 2:
        return end
    members = order[begin:end]
    tall = np.ptp(rows[members]) > np.ptp(columns[members])
    along, across = (rows, columns) if tall else (columns, rows)
    sort_cells(members, 1, along, 1, across)
    middle = (end - begin) // 2
    low = high = middle
    while low > 0 and along[members[low - 1]] == along[members[middle]]:
        low -= 1
    while high < end - begin and along[members[high]] == along[members[middle]]:
        high += 1
    cut = low if middle - low <= high - middle else high
    if cut == 0 or cut == end - begin:
        cut = middle
    return begin + cut


@inline_kernel
def _choose_shares(scheme: SearchScheme, stage: int, nodes: Floats, refills: Floats) -> None:
    """Write a stage's shares of part A, by mismatches allowed: those with the fewest estimated nodes, or DIRECT."""
    a, b_after_a, b, a_after_b = scheme.parts[stage]
    for allowed in range(nodes.shape[1]):
        for own in range(-1, allowed + 1):
            estimate = _expected_nodes(nodes, refills, a, b_after_a, own, allowed)
            if estimate >= nodes[stage, allowed]:
                continue
            estimate += _expected_nodes(nodes, refills, b, a_after_b, allowed - 1 - own, allowed)
            if estimate < nodes[stage, allowed]:
                nodes[stage, allowed] = estimate
                scheme.share[stage, allowed] = own


@kernel
def _expected_nodes(nodes: Floats, refills: Floats, first: int, second: int, own: int, allowed: int) -> float:
    """Estimate the nodes of filling stage ``first`` within ``own`` mismatches, ``second`` within ``allowed`` in all."""
    if own < 0:
        return 0.0
    total = nodes[first, own]
    for spent in range(own + 1):
        total += refills[first, spent] * nodes[second, allowed - spent]
    return float(total)


class EstimateModel(NamedTuple):
    """What the estimates of nodes and refills for a region of n cells depend on."""

    rows: Ints  # int64 (n,): row of each cell on the board
    columns: Ints  # int64 (n,): column of each cell on the board
    around: Ints  # int64 (n, 4): neighbour on each side of each cell, as in `RegionPlan`
    match: Floats  # float64 (n, 4): probability that the joint on each side of a cell matches
    kinds: Ints  # int64 (n,): kind of the pieces that fit each cell
    turns: Ints  # int64 (kinds,): number of rotations in which a piece of each kind fits a cell
    pieces: Ints  # int64 (kinds,): number of free pieces of each kind


def estimate_model(plan: RegionPlan, width: int, spare: int) -> EstimateModel:
    """Make the model of a region on a board ``width`` cells wide, as if every kind had ``spare`` pieces left over."""
    rows, columns = np.divmod(plan.cells, width)
    oriented = np.flatnonzero(np.repeat(plan.is_clue == 0, 4))
    fits = np.vstack((plan.fits[:, oriented], np.ones(len(oriented), dtype=bool)))
    pattern, at = np.nonzero(fits)
    shown = np.zeros((len(fits), 4, len(plan.colour_class)))  # shares of colours by pattern, side; last row: all pieces
    np.add.at(shown, (pattern[:, None], np.arange(4), plan.quads[oriented[at]]), 1.0)
    shown[-1, :, 0] = 0.0
    shown /= np.maximum(shown.sum(axis=2, keepdims=True), 1.0)
    own, anywhere = shown[plan.pattern_at], shown[-1]
    inside, facing = (plan.around >= 0)[..., None], [2, 3, 0, 1]
    beyond = np.where(inside, own[np.maximum(plan.around, 0)][:, range(4), facing], anywhere[facing])
    return EstimateModel(
        rows=rows,
        columns=columns,
        around=plan.around,
        match=np.ascontiguousarray(np.maximum((own * beyond).sum(axis=2), 1e-3)),
        kinds=plan.kind_of[plan.pattern_at],
        turns=plan.rotations,
        pieces=plan.cells_of_kind + spare,
    )


@kernel
def choose_order(
    model: EstimateModel, members: Ints, filled: Flags, used: Ints, nodes: Floats, refills: Floats, cells: Ints
) -> None:
    """Write the best of several cell orders of a block (rows, columns, most constrained first) and estimates for it."""
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
    """Sort cells by ``first_sign * first``, then ``second_sign * second``; numpy's own sorts take long to compile."""
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
    model: EstimateModel, members: Ints, tie: Ints, tie_sign: int, filled: Flags, used: Ints
) -> Ints:
    """Return the order that goes on to the cell with the fewest expected exact candidates; ties: ``tie_sign * tie``."""
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
def _estimate(model: EstimateModel, order: Ints, filled: Flags, used: Ints, nodes: Floats, refills: Floats) -> None:
    """Write, for a cell order of a block, the expected nodes by mismatches allowed and refills by their mismatches."""
    placed, taken = filled.copy(), used.copy()
    most = len(nodes) - 1
    level = np.zeros(5)  # expected number of candidates of a cell, by mismatches on its known joints
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
