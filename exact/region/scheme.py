"""Search schemes: split "at most b mismatches in this block" into cheap searches that together miss no refill.

After G. Kucherov, K. Salikhov and D. Tsur, "Approximate string matching using a bidirectional index", CPM 2014.

A block of cells is halved into A and B. Of the b mismatches allowed, A gets a and B gets b - 1 - a. Then a refill of
the block with at most b mismatches has at most a on the joints of A that do not touch B, or at most b - 1 - a on the
joints of B that do not touch A; otherwise it would have b + 1 or more. So two searches find every refill of the block:

- fill A with at most a mismatches, then B with what is left of b;
- fill B with at most b - 1 - a mismatches, then A with what is left of b. Keep the refill only if A has more than a
  mismatches on joints that do not touch B; the first search finds the others.

Each of these fillings is again a block, with fewer mismatches allowed, and is split in the same way. A *stage* is a
block together with the blocks that are filled before it. It is either split, or *direct*: its cells are filled one
after the other. So mismatches are allowed only gradually, and each search begins at the most constrained cells, usually
a corner of the region.

A *task* is to fill a stage, with its cap: the most mismatches at its end, including those spent before the stage. The
task of a split stage becomes two chains of tasks: fill A, then B; or fill B, then A, then check that A has more
mismatches of its own than its share. The second chain waits on a stack until the first has failed.

How a stage is split for each b is chosen by dynamic programming over an estimate of the nodes. Pieces and joints are
taken to be independent, so that a joint matches with the probability that two random sides do. The estimate depends on
the shape of the region and the pieces of the puzzle, not on the board, so a scheme is kept for the next board.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lns.exact.kernels.jit import inline_kernel, kernel
from lns.exact.region.state import OUTSIDE, Flags, Floats, Ints, RegionPlan
from lns.instances.puzzle import Puzzle

_MAX_GREEDY = 64  # cells; in larger blocks only orders by rows and columns are tried
_MAX_SPLIT = 40  # mismatches; a block that may have more is filled directly
DIRECT = -2  # instead of a share: the block is filled directly
_MIN_BLOCK = 4  # cells; a smaller block is not split
_MOST_STEPS = (6, 12, 20, _MAX_SPLIT)  # numbers of mismatches for which schemes are made
_AT_ONCE = np.zeros(1, dtype=np.int64)


class SearchScheme(NamedTuple):
    """A search scheme of a region of n cells. Stage 0 is the region. A *slot* is a cell of a stage filled directly."""

    cells: Ints  # int64 (slots,): number of the slot's cell
    first_slot: Ints  # int64 (stages,): where the slots of a stage begin, -1 if it is never filled directly
    members: Ints  # int64 (n,): the cells, block after block
    first_member: Ints  # int64 (stages,): where the cells of the block begin in `members`
    length: Ints  # int64 (stages,): number of these cells
    parts: Ints  # int64 (stages, 4): stages A, B after A, B, A after B; -1 = not split
    share: Ints  # int64 (stages, most + 1): by mismatches allowed: a (-1 = only B first) or DIRECT
    filled: Flags  # uint8 (stages, n): 1 for the cells filled before the stage
    limit: Ints  # int64 (slots,): mismatches allowed once a slot is filled, if more than the stage's cap


def direct_scheme(order: Ints, first: Ints = _AT_ONCE) -> SearchScheme:
    """Return the scheme that fills a region in one order, without splits; ``first``: where its stages begin."""
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
    """What a scheme depends on: equal for regions of the same cells with the same cells filled around them."""

    puzzle: Puzzle
    plan: RegionPlan = field(compare=False)  # follows from the other fields
    around: bytes  # the cells of the plan and what is around them
    spare: int  # free pieces that will be left over
    levels: int  # how often the region is halved

    def round_up(self, r: int) -> int:
        """Return the mismatches for which the scheme of a search for at most ``r`` is made."""
        return next((step for step in _MOST_STEPS if step >= r), _MAX_SPLIT)


def orders_from_both_ends(puzzle: Puzzle, cells: Ints) -> tuple[Ints, Ints]:
    """Return the two orders along the longer side of a region, from one end and from the other."""
    rows, columns = np.divmod(cells, puzzle.width)
    along, across = (columns, rows) if len(np.unique(rows)) <= len(np.unique(columns)) else (rows, columns)
    return np.lexsort((across, along)).astype(np.int64), np.lexsort((across, -along)).astype(np.int64)


@lru_cache(maxsize=256)
def make_scheme(shape: RegionShape, most: int) -> SearchScheme:
    """Return the scheme for at most ``most`` mismatches (cached); -1: a single stage, along the longer side."""
    if most < 0:
        return direct_scheme(orders_from_both_ends(shape.puzzle, shape.plan.cells)[0])
    n, stages = len(shape.plan.cells), sum(4**level for level in range(shape.levels + 1))
    unsplit = direct_scheme(np.arange(n, dtype=np.int64), np.full(stages, -1, dtype=np.int64))
    scheme = unsplit._replace(share=np.full((stages, most + 1), DIRECT, dtype=np.int64))
    orders = np.zeros((stages, n), dtype=np.int64)  # cell order of each direct stage
    plan_stages(shape.levels, most, estimate_model(shape.plan, shape.puzzle.width, shape.spare), scheme, orders)
    is_direct = (scheme.share == DIRECT).any(axis=1) & (scheme.length > 0)
    is_direct[0] = True  # used for more mismatches than the scheme is made for
    direct = np.flatnonzero(is_direct)
    scheme.first_slot[direct] = np.cumsum(scheme.length[direct]) - scheme.length[direct]
    cells = np.concatenate([orders[stage, : scheme.length[stage]] for stage in direct.tolist()])
    return scheme._replace(cells=cells, limit=np.zeros(len(cells), dtype=np.int64))


@kernel
def plan_stages(levels: int, most: int, model: EstimateModel, scheme: SearchScheme, orders: Ints) -> None:
    """Write the stages of ``scheme``: their cells, their shares for every b, and in ``orders`` their best cell orders.

    A stage of a block that took ``level`` halvings has number (4**level - 1) / 3 + block * 2**level + context. Bit i of
    the context is 1 if the other half of the i-th last halving (from 0) is filled before the stage.
    """
    n = len(model.rows)
    nodes = np.zeros((len(scheme.length), most + 1))  # estimated nodes, by stage and mismatches allowed
    refills = np.zeros((len(scheme.length), most + 1))  # estimated refills of the stage, by exact mismatches
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
    """Sort a block along its longer side and return where its second half begins, if possible between two lines."""
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
    """Write the share of a stage for every b: that with the fewest estimated nodes, unless direct takes fewer."""
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
    """Estimate the nodes of filling stage ``first`` with at most ``own`` mismatches, then ``second`` with the rest."""
    if own < 0:
        return 0.0
    total = nodes[first, own]
    for spent in range(own + 1):
        total += refills[first, spent] * nodes[second, allowed - spent]
    return float(total)


class EstimateModel(NamedTuple):
    """What the estimates for a region of n cells depend on."""

    rows: Ints  # int64 (n,): row of each cell
    columns: Ints  # int64 (n,): column of each cell
    around: Ints  # int64 (n, 4): neighbours of each cell, as in `RegionPlan`
    match: Floats  # float64 (n, 4): probability that the joint on a side matches
    kinds: Ints  # int64 (n,): kind of the piece that the cell needs
    turns: Ints  # int64 (kinds,): number of rotations of a piece of this kind that fit
    pieces: Ints  # int64 (kinds,): number of free pieces of this kind


def estimate_model(plan: RegionPlan, width: int, spare: int) -> EstimateModel:
    """Make the model of a region on a board ``width`` wide; each kind has ``spare`` more free pieces than cells."""
    rows, columns = np.divmod(plan.cells, width)
    oriented = np.flatnonzero(np.repeat(plan.is_clue == 0, 4))
    fits = np.vstack((plan.fits[:, oriented], np.ones(len(oriented), dtype=bool)))
    pattern, at = np.nonzero(fits)
    shown = np.zeros((len(fits), 4, len(plan.colour_class)))  # share of each colour, by pattern and side; last: of all
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
    """Write the best of several orders of a block (by rows, by columns, most constrained first), and its estimates."""
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
    """Return the order with the fewest expected exact candidates for each next cell; ties by ``tie_sign * tie``."""
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
    """Write, for one order of a block, the expected nodes by mismatches allowed and expected refills by mismatches."""
    placed, taken = filled.copy(), used.copy()
    most = len(nodes) - 1
    level = np.zeros(5)  # expected candidates of a cell, by mismatches on its known joints
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
