"""Search schemes: split "at most b mismatches in this block" into cheap searches that together miss no refill.

A block of cells is halved into A and B. Of the b mismatches allowed, A gets a and B gets b - 1 - a. Then a refill of
the block with at most b mismatches has at most a on the joints of A that do not touch B, or at most b - 1 - a on the
joints of B that do not touch A; otherwise it had b + 1 or more. So two searches find every refill of the block:

- fill A with at most a mismatches, then B with what is left of b;
- fill B with at most b - 1 - a mismatches, then A with what is left of b. Keep the refill only if A has more than a
  mismatches on joints that do not touch B; the first search finds the others.

Each of these fillings is again a block, with fewer mismatches allowed, and is split in the same way. A *stage* is a
block together with the blocks that are filled before it. It is either split, or *direct*: its cells are filled one
after the other. So mismatches are allowed only gradually, and each search begins at the most constrained cells, usually
a corner of the region.

A *task* is a stage to be filled and the most mismatches at its end; or, of a split stage, the check that part A, filled
after part B, has more mismatches of its own than its share. A stage that is split is two tasks, one for each part to
begin with; the second waits on a stack until the first has failed. The cap of a stage counts all mismatches so far.

Both searches, `lns.exact.region.kernel` and `lns.exact.region.dynamic_search`, fill stages by these tasks.

How a stage is split for each b is chosen by dynamic programming over an estimate of the nodes
(`lns.exact.region.estimate`). It does not depend on the board, so a scheme is kept for the next board.

*Spend curves* split "at most r mismatches" in another way. The blocks of a region (its columns, say) form a cycle, and
each block gets a share of r. Every mismatch of a refill is charged to one block. If a refill has at most r mismatches,
then from *some* block on, going round the cycle, no prefix of blocks has more mismatches than its shares allow (the
cycle lemma). So the region is searched once from each block, with the spend curve "after these blocks, at most the sum
of their shares". Each search allows mismatches only when much of the region is filled and few candidates are left;
docs/windows.md has measurements.

A block without a share need not be a start: without it, the prefix sums of the other blocks stay within their shares.

References
----------
G. Kucherov, K. Salikhov and D. Tsur, "Approximate string matching using a bidirectional index", CPM 2014 (search
schemes: which parts of a string may have how many errors, in which order).
A. Dvoretzky and T. Motzkin, "A problem of arrangements", Duke Mathematical Journal 14, 1947.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import inline_flat_kernel, inline_kernel, kernel
from lns.exact.region import scalar
from lns.exact.region.estimate import EstimateModel, choose_order, estimate_model, sort_cells
from lns.exact.region.options import HALVED_FROM
from lns.exact.region.state import OUTSIDE, Ints, RegionPlan, RegionState
from lns.instances.puzzle import Puzzle

_MAX_SPLIT = 40  # mismatches; a block that may have more is filled directly
NO_TASK, STARTED, OVERSPENT, SEARCHED = range(4)  # what became of a task
DIRECT = -2  # instead of a share: the block is filled directly
_MIN_BLOCK = 4  # cells; a smaller block is not split
_MOST_STEPS = (6, 12, 20, _MAX_SPLIT)  # mismatches that a scheme is made for
_BLOCKS_WITHOUT_SHARE = (
    (1, 1),
    (2, 1),
    (0, 0),
)  # at the beginning and at the end of the cycle; the first is tried first
_AT_ONCE = np.zeros(1, dtype=np.int64)


class SearchScheme(NamedTuple):
    """A search scheme of a region of n cells. Stage 0 is the region. A *slot* is a cell of a stage filled directly."""

    cells: Ints  # int64 (slots,): number of the cell
    first_slot: Ints  # int64 (stages,): where the slots of a stage begin, -1 if it is never filled directly
    members: Ints  # int64 (n,): the cells, those of each block together
    first_member: Ints  # int64 (stages,): where the cells of the block begin in `members`
    length: Ints  # int64 (stages,): how many they are
    parts: Ints  # int64 (stages, 4): stages A, then B; or B, then A
    share: Ints  # int64 (stages, most + 1): a, -1 = A is never filled first, or DIRECT; by mismatches allowed
    filled: npt.NDArray[np.uint8]  # uint8 (stages, n): 1 for the cells filled before
    limit: Ints  # int64 (slots,): mismatches allowed once a slot is filled, if more than when the stage began


def direct_scheme(order: Ints, first: Ints = _AT_ONCE) -> SearchScheme:
    """The scheme that fills a region in one order, in stages that begin at the positions ``first``, none split."""
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


class RegionShape:
    """What a scheme depends on: equal for regions of the same cells with the same cells filled around them.

    ``spare``: free pieces that will be left over; ``halved_from``: see `RegionOptions`.
    """

    def __init__(
        self, puzzle: Puzzle, plan: RegionPlan, spare: int, halved_from: tuple[int, ...] = HALVED_FROM
    ) -> None:
        self.puzzle, self.plan, self.spare = puzzle, plan, spare
        self.levels = sum(len(plan.cells) >= cells for cells in halved_from)
        self.key = (plan.cells.tobytes(), plan.around.tobytes(), spare, self.levels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegionShape) and self.key == other.key and self.puzzle == other.puzzle

    def __hash__(self) -> int:
        return hash(self.key)

    def round_up(self, r: int) -> int:
        """The mismatches for which a scheme is made that is used for at most ``r``."""
        return next((step for step in _MOST_STEPS if step >= r), _MAX_SPLIT)


@lru_cache(maxsize=256)
def make_scheme(shape: RegionShape, most: int) -> SearchScheme:
    """The scheme for at most ``most`` mismatches, kept for the next board; -1: one stage, along the longer side."""
    if most < 0:
        return direct_scheme(orders_from_both_ends(shape.puzzle, shape.plan.cells)[0])
    n, stages = len(shape.plan.cells), sum(4**level for level in range(shape.levels + 1))
    unsplit = direct_scheme(np.arange(n, dtype=np.int64), np.full(stages, -1, dtype=np.int64))
    scheme = unsplit._replace(share=np.full((stages, most + 1), DIRECT, dtype=np.int64))
    orders = np.zeros((stages, n), dtype=np.int64)  # of a stage that is direct
    plan_stages(shape.levels, most, estimate_model(shape.plan, shape.puzzle.width, shape.spare), scheme, orders)
    reached = np.flatnonzero(_reached_directly(scheme.parts, scheme.share))
    scheme.first_slot[reached] = np.cumsum(scheme.length[reached]) - scheme.length[reached]
    cells = np.concatenate([orders[stage, : scheme.length[stage]] for stage in reached.tolist()])
    return scheme._replace(cells=cells, limit=np.zeros(len(cells), dtype=np.int64))


@kernel
def plan_stages(levels: int, most: int, model: EstimateModel, scheme: SearchScheme, orders: Ints) -> None:
    """Write the stages of ``scheme``: their cells, for every b whether and how to split them, and ``orders`` if direct.

    The stages of blocks halved ``level`` times are numbered from (4**level - 1) / 3: block * 2**level + context, where
    bit i of the context says whether the other half was filled before, at the i-th last halving.
    """
    n = len(model.rows)
    nodes = np.zeros((len(scheme.length), most + 1))  # estimate, by stage and mismatches allowed
    refills = np.zeros((len(scheme.length), most + 1))  # estimate of partial refills with exactly so many mismatches
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
    """Sort a block along its longer side and return where its second half begins; whole lines stay together."""
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
def _choose_shares(
    scheme: SearchScheme, stage: int, nodes: npt.NDArray[np.float64], refills: npt.NDArray[np.float64]
) -> None:
    """Write the share of a stage for every b: the one with the fewest estimated nodes, if that is fewer than direct."""
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
def _expected_nodes(
    nodes: npt.NDArray[np.float64], refills: npt.NDArray[np.float64], first: int, second: int, own: int, allowed: int
) -> float:
    """The estimated nodes of filling stage ``first`` with at most ``own`` mismatches, then ``second`` with the rest."""
    if own < 0:
        return 0.0
    total = nodes[first, own]
    for spent in range(own + 1):
        total += refills[first, spent] * nodes[second, allowed - spent]
    return float(total)


@kernel
def _reached_directly(parts: Ints, share: Ints) -> npt.NDArray[np.bool_]:
    """bool (stages,): which stages are filled directly for some number of mismatches allowed in the region.

    The parts of a stage have higher numbers than the stage itself.
    """
    reached: npt.NDArray[np.bool_] = np.zeros(share.shape, np.bool_)  # by the mismatches allowed
    reached[0] = True
    direct = np.zeros(len(share), np.bool_)
    direct[0] = True  # for more mismatches than the scheme is made for
    for stage in range(len(reached)):
        for allowed in range(reached.shape[1]):
            if not reached[stage, allowed]:
                continue
            own = share[stage, allowed]
            if own == DIRECT:
                direct[stage] = True
                continue
            for turn in range(2):
                for spent in range(own + 1):
                    reached[parts[stage, 2 * turn], own] = True
                    reached[parts[stage, 2 * turn + 1], allowed - spent] = True
                own = allowed - 1 - own
    return direct


# -- tasks -----------------------------------------------------------------------------------------------------------


@inline_flat_kernel
def begin_stages(state: RegionState, depth: Any, task: Any) -> None:
    """Make ``task`` the only one pending at a depth where a stage begins."""
    state.tasks_before[depth] = state.scalars[scalar.TASKS]
    state.pending_before[depth] = state.scalars[scalar.PENDING]
    state.pending[state.scalars[scalar.PENDING]] = task
    state.scalars[scalar.PENDING] += 1


@inline_flat_kernel
def next_stage(plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any) -> tuple[int, int]:
    """Take the next pending task of a depth; returns what became of it, and its stage.

    As long as the mismatches that the task has left call for a split of its stage, it becomes the first of two tasks.
    STARTED: the stage is to be filled, with the cap and the next task that are set for the depth. OVERSPENT: the task
    has no mismatch left. SEARCHED: an earlier task has searched these pieces already. NO_TASK: none was pending.
    """
    scalars = state.scalars
    if scalars[scalar.PENDING] == state.pending_before[depth]:
        scalars[scalar.TASKS] = state.tasks_before[depth]
        return NO_TASK, 0
    scalars[scalar.PENDING] -= 1
    task = state.pending[scalars[scalar.PENDING]]
    while True:
        stage, most, following = state.task[task, 0], state.task[task, 1], state.task[task, 2]
        if state.task[task, 3]:
            if not _exceeds_share(plan, state, scheme, stage, most):
                return SEARCHED, stage
            task = following
            continue
        spent = state.spent[depth]
        allowed = most - spent
        if allowed < 0:
            return OVERSPENT, stage
        share = scheme.share[stage, allowed] if allowed < scheme.share.shape[1] else DIRECT
        if share == DIRECT:
            state.cap[depth] = most
            state.next_task[depth] = following
            return STARTED, stage
        rest = allowed - 1 - share
        if share >= 0 and rest >= 0:  # part B first and the rest of the mismatches there; it waits
            check = add_task(state, stage, share, following, 1)
            second = add_task(state, scheme.parts[stage, 3], most, check, 0)
            state.pending[scalars[scalar.PENDING]] = add_task(state, scheme.parts[stage, 2], spent + rest, second, 0)
            scalars[scalar.PENDING] += 1
        first, own = (0, share) if share >= 0 else (2, rest)  # part A first, unless it has none
        second = add_task(state, scheme.parts[stage, first + 1], most, following, 0)
        task = add_task(state, scheme.parts[stage, first], spent + own, second, 0)


@inline_flat_kernel
def add_task(state: RegionState, stage: Any, most: Any, following: Any, check: int) -> Any:
    """Add a task; returns its number."""
    number = state.scalars[scalar.TASKS]
    state.scalars[scalar.TASKS] = number + 1
    state.task[number, 0] = stage
    state.task[number, 1] = most
    state.task[number, 2] = following
    state.task[number, 3] = check
    return number


@inline_flat_kernel
def _exceeds_share(plan: RegionPlan, state: RegionState, scheme: SearchScheme, stage: Any, share: Any) -> bool:
    """Whether part A of a split stage has more than ``share`` mismatches on joints that do not touch part B."""
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]  # filled before A; these cells and A
    begin = scheme.first_member[before]
    for i in range(begin, begin + scheme.length[before]):
        number = scheme.members[i]
        at = state.placed[number]
        for side in range(4):
            beyond = plan.around[number, side]
            shown = state.shows[at + side]
            if beyond == OUTSIDE:
                share -= shown != state.joint_colour[plan.joint_at[number, side]]
            elif beyond >= 0 and scheme.filled[own, beyond] and (side in (1, 2) or scheme.filled[before, beyond]):
                share -= shown != state.shows[state.placed[beyond] + (side ^ 2)]
    return bool(share < 0)


# -- spend curves ------------------------------------------------------------------------------------------------------


class SpendCurves(NamedTuple):
    """An order of n cells and the spend curve of each of its s starts.

    The search from start i may have spent ``r * curve[i, depth] // total`` mismatches once ``depth`` is filled.
    """

    order: Ints  # int64 (n,): numbers of the cells, a cyclic order
    starts: Ints  # int64 (s,): positions in `order` at which the searches begin
    curve: Ints  # int64 (s, n): sum of shares after each depth
    total: int  # sum of all shares
    ends: Ints  # int64 (blocks + 1,): where each block begins in `order`, and the end


def is_band(puzzle: Puzzle, cells: Ints) -> bool:
    """Whether a region is at least twice as long as wide and fills a rectangle but for at most a tenth of its cells."""
    rows, columns = (np.unique(part) for part in np.divmod(cells, puzzle.width))
    box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    longer, shorter = max(len(rows), len(columns)), min(len(rows), len(columns))
    return bool(longer >= 2 * shorter > 2 and 10 * len(cells) >= 9 * box)


def make_spend_curves(puzzle: Puzzle, cells: Ints) -> list[SpendCurves]:
    """The spend curves worth trying for a region, the most promising first; ``cells``: its free cells on the board."""
    rows, columns = np.divmod(cells, puzzle.width)
    height, width = len(np.unique(rows)), len(np.unique(columns))
    axes = [(columns, rows), (rows, columns)]
    if height > width:
        axes.reverse()
    if max(height, width) >= 2 * min(height, width):
        axes = axes[:1]
    curves = []
    for head, tail in _BLOCKS_WITHOUT_SHARE:
        for along, across in axes:
            if head + tail > 0 and len(np.unique(along)) < head + tail + 3:
                continue
            for sign in (-1, 1):
                order = np.lexsort((across, sign * along)).astype(np.int64)
                curves.append(_equal_shares(order, along[order], head, tail))
    return curves


def block_scheme(curves: SpendCurves, start: int, r: int) -> tuple[SearchScheme, Ints]:
    """The blocks in the order of one start, as stages; the mismatches allowed after each, for at most ``r`` in all."""
    lengths = np.roll(np.diff(curves.ends), -int(np.flatnonzero(curves.ends == curves.starts[start])[0]))
    ends = np.cumsum(lengths)
    caps: Ints = np.minimum(r, r * curves.curve[start, ends - 1] // curves.total)
    return direct_scheme(np.roll(curves.order, -curves.starts[start]), ends - lengths), caps


def orders_from_both_ends(puzzle: Puzzle, cells: Ints) -> tuple[Ints, Ints]:
    """The two orders along the longer side of a region, from one end and from the other."""
    rows, columns = np.divmod(cells, puzzle.width)
    along, across = (columns, rows) if len(np.unique(rows)) <= len(np.unique(columns)) else (rows, columns)
    return np.lexsort((across, along)).astype(np.int64), np.lexsort((across, -along)).astype(np.int64)


def _equal_shares(order: Ints, block_of: Ints, head: int, tail: int) -> SpendCurves:
    """Equal shares for all cells except those of the first ``head`` and the last ``tail`` blocks.

    ``block_of``: by position in ``order``; consecutive equal values are a block.
    """
    n = len(order)
    ends = np.flatnonzero(np.concatenate(([True], block_of[1:] != block_of[:-1], [True])))
    share = np.ones(n, dtype=np.int64)
    share[: ends[head]] = 0
    share[ends[len(ends) - 1 - tail] :] = 0
    starts = ends[:-1][share[ends[:-1]] > 0].astype(np.int64)
    last_of_block = np.repeat(ends[1:], np.diff(ends)) - 1  # by position
    sums = np.cumsum(np.concatenate((share, share)))
    position = starts[:, None] + np.arange(n)
    end = last_of_block[position % n] + n * (position >= n)
    curve = sums[end] - sums[starts][:, None] + share[starts][:, None]
    return SpendCurves(order=order, starts=starts, curve=curve, total=int(share.sum()), ends=ends.astype(np.int64))
