"""How the rim can still be closed: pieces that the last rim cells need are kept for them.

Joints of the rim never break before the exact tail. So behind a prefix the free pieces of the rim must be a path: along
the bottom, round the last corner and up to the lowest piece of the right side that lies there (the *anchor*). The comb
fills the *last stretch* of it, below the anchor and round the corner, only when most rim pieces are used up. So all
choices of pieces for that stretch whose joints match (*closings*) are listed once, as sets of pieces. Each rim piece
laid elsewhere ends those that need it; where none is left the piece is refused, and pieces that all of them need are
kept.

A rim piece leads from the colour of one of its joints to that of the other, and as all before matched, each colour is
left as often as it is entered. So there is a path of all free rim pieces only where they hang together, and with the
rim that lies (Euler 1736; corners may forbid it still). A piece behind which they do not is refused, too.

Boards whose rim would only mismatch within the exact tail are lost by that. They are fewer than what the nodes saved
find (docs/ladder.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct.order import padded
from lns.construct.packed_candidate import Longs, Words
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

MOST_CLOSINGS = 256
IDLE, OPENS, KEEPS, LAST = range(4)
_COUNT, _COLOUR, _FIRST = range(3)  # places in ``ClosingWork.found``
_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)


class ClosingPlan(NamedTuple):
    """What stays while a schedule runs.

    ``rule``: int64 (levels,) IDLE; OPENS on the anchor, if it is laid in the endgame; KEEPS on rim cells behind the
    anchor that are not of the last stretch, LAST on the last one. ``row``: int64 (levels,) how many such cells come
    before. ``colours``: int64, those of the rim; none where the exact tail has rim cells before the stretch, which may
    mismatch. ``corner``: uint8 (length of the stretch,) from the anchor on, 1 on corners. ``near``: int64 (pieces,) the
    place of a rim piece in ``ClosingWork.near``, -1 = none; ``far``: int64 (pieces,) its colour away from the anchor.
    ``anchor``: its level, -1 = it lies before; ``outside``: its padded position then, else -1. ``last``: the level of
    LAST, -1 = nothing is kept.
    """

    rule: Longs
    row: Longs
    colours: Longs
    corner: npt.NDArray[np.uint8]
    near: Longs
    far: Longs
    anchor: int
    outside: int
    last: int


class ClosingWork(NamedTuple):
    """Sets of pieces by the bits of the endgame."""

    near: Words  # (2 colours1,) edges, then corners, that show this colour towards the anchor
    far: Longs  # (64,) by bit
    joined: Words  # (colours1,) rim pieces that show this colour at either end
    rim: Words  # (1,) all rim pieces
    closings: Words  # (2 MOST_CLOSINGS,) the pieces of each; two halves, as they are made of shorter ones
    ends: Longs  # (2 MOST_CLOSINGS,) the colour that each shows at its far end
    kept: Words  # (rows,) pieces that all closings need which are left
    found: Longs  # (3,) number of closings, -1 = not looked for; colour below the anchor; their place in ``closings``


def plan_closing(puzzle: Puzzle, order: IntArray, begin: int, cut: int) -> tuple[ClosingPlan, ClosingWork]:
    """For the endgame from depth ``begin`` to ``cut``.

    Nothing is kept (all IDLE) where no stretch of the rim is left for the end, where a clue lies behind the anchor on
    the rim, or where the colours of the rim pieces do not pair up, so that the rim cannot be closed at all.
    """
    colours1 = puzzle.colours + 1
    near, far = _along_rim(puzzle)
    rule, row = (np.zeros(max(0, cut - begin), dtype=np.int64) for _ in range(2))
    stretch, kept, tail = _stretch(puzzle, order, begin, cut) if _pairs_up(near, far) else ([], [], [])
    anchor = outside = last = -1
    if stretch:
        depth = {cell: i for i, cell in enumerate(order.tolist())}
        for number, cell in enumerate(kept):
            rule[depth[cell] - begin], row[depth[cell] - begin] = KEEPS, number
        last = depth[kept[-1]] - begin
        rule[last] = LAST
        above = stretch[0] - puzzle.width
        anchor = max(depth[above] - begin, -1)
        if anchor >= 0:
            rule[anchor] = OPENS
        else:
            outside = int(padded(np.array([above]), puzzle.width)[0])
    corner = np.array([cell == puzzle.cells - 1 for cell in stretch], dtype=np.uint8)
    near[near >= 0] += colours1 * ((puzzle.pieces == 0).sum(axis=1) == 2)[near >= 0]
    near[[clue.piece for clue in puzzle.clues]] = -1
    colours = np.unique(far[far >= 0]) if not tail else np.zeros(0, dtype=np.int64)
    plan = ClosingPlan(rule, row, colours, corner, near, far, anchor, outside, last)
    work = ClosingWork(
        np.zeros(2 * colours1, dtype=np.uint64), np.zeros(64, dtype=np.int64),
        np.zeros(colours1, dtype=np.uint64), np.zeros(1, dtype=np.uint64),
        np.zeros(2 * MOST_CLOSINGS, dtype=np.uint64), np.zeros(2 * MOST_CLOSINGS, dtype=np.int64),
        np.zeros(len(kept) + 1, dtype=np.uint64), np.zeros(3, dtype=np.int64),
    )  # fmt: skip
    return plan, work


def _along_rim(puzzle: Puzzle) -> tuple[Longs, Longs]:
    """(colour towards the anchor, colour away from it) of each rim piece, both (pieces,), -1 = it is none."""
    near, far = (np.full(puzzle.cells, -1, dtype=np.int64) for _ in range(2))
    for oriented, quad in enumerate(puzzle.oriented.tolist()):  # as it lies on the right side or in its lower corner
        if quad[RIGHT] == 0 and quad[UP] != 0:
            near[oriented >> 2], far[oriented >> 2] = quad[UP], quad[DOWN] or quad[LEFT]
    return near, far


def _pairs_up(near: Longs, far: Longs) -> bool:
    """Whether each colour comes as often at the near end of a rim piece as at the far end of one."""
    return bool((np.sort(near) == np.sort(far)).all())


def _stretch(puzzle: Puzzle, order: IntArray, begin: int, cut: int) -> tuple[list[int], list[int], list[int]]:
    """(cells of the last stretch, from the anchor on; rim cells in the endgame behind the anchor and before them; rim
    cells of the exact tail that are none of these).

    The stretch: cells of the right side that are filled after the first one of the bottom, the corner, and what is
    filled of the bottom later than the first of them.
    """
    width, height = puzzle.width, puzzle.height
    depth = {cell: i for i, cell in enumerate(order.tolist())}
    right = range(width - 1, width * height, width)
    bottom = range(width * (height - 1), width * height - 1)
    left = range(0, width * (height - 1), width)
    first_bottom = depth[bottom[0]] if bottom else 0
    stretch = [cell for cell in right if depth[cell] > first_bottom]
    if min(width, height) < 2 or len(stretch) == height or depth[stretch[0]] < begin:
        return [], [], []
    first, anchor = depth[stretch[0]], depth[stretch[0] - width]
    stretch += [cell for cell in reversed(bottom) if depth[cell] > first]
    kept = [cell for cell in order.tolist() if cell in {*left, *bottom} - {*stretch} and depth[cell] > anchor]
    tail = [cell for cell in kept if depth[cell] >= cut]
    kept = [cell for cell in kept if begin <= depth[cell] < cut]
    clues = {clue.cell for clue in puzzle.clues}
    if not kept or depth[kept[-1]] > first or clues & {*stretch, *kept}:
        return [], [], []
    return stretch, kept, tail


@inline_flat_kernel
def turn_over_rim(plan: ClosingPlan, work: ClosingWork, piece: int, one: np.uint64) -> None:
    """Put a piece into the sets of its colours, or take it out; ``one``: its bit."""
    if plan.near[piece] >= 0:
        work.near[plan.near[piece]] ^= one
        work.rim[0] ^= one
        near, far = plan.near[piece] % len(work.joined), plan.far[piece]
        work.joined[near] ^= one
        if near != far:
            work.joined[far] ^= one


@inline_flat_kernel
def anchored(work: ClosingWork, colour: int) -> None:
    """The rim shows ``colour`` to its last stretch; closings are looked for once they are asked for."""
    work.found[_COUNT], work.found[_COLOUR] = -1, colour


@flat_kernel
def find_closings(plan: ClosingPlan, work: ClosingWork, free: np.uint64) -> None:
    """List the closings of ``free`` pieces; where they are too many, those of a shorter stretch from the anchor on."""
    closings, ends = work.closings, work.ends
    corners = len(work.near) >> 1
    first, count = 0, 1
    closings[0] = _NONE
    ends[0] = work.found[_COLOUR]
    for i in range(len(plan.corner)):
        set_of = corners * np.int64(plan.corner[i])
        after, longer = MOST_CLOSINGS - first, 0
        for j in range(first, first + count):
            candidates = work.near[ends[j] + set_of] & free & ~closings[j]
            while candidates != _NONE:
                one = candidates & (~candidates + _ONE)
                candidates ^= one
                if longer < MOST_CLOSINGS:
                    closings[after + longer] = closings[j] | one
                    ends[after + longer] = work.far[np.uint64(lowest_bit(one))]
                longer += 1
        if longer > MOST_CLOSINGS:
            break
        first, count = after, longer
    work.found[_COUNT], work.found[_FIRST] = count, first


@inline_flat_kernel
def _hangs_together(plan: ClosingPlan, work: ClosingWork, free: np.uint64, colour: int) -> bool:
    """Whether all rim pieces among ``free`` can be reached from ``colour`` by joints of equal colour."""
    rim = free & work.rim[0]
    met = work.joined[colour] & rim
    before = _NONE
    while met != rim and met != before:
        before = met
        for i in range(len(plan.colours)):
            joined = work.joined[plan.colours[i]] & rim
            if joined & met:
                met |= joined
    return bool(met == rim)


@inline_flat_kernel
def spared(
    plan: ClosingPlan, work: ClosingWork, free: Words, level: np.uint64, one: np.uint64, colour: int
) -> np.uint64:
    """Pieces for the levels behind ``level``, a rim cell that KEEPS, when the piece of bit ``one`` is laid there.

    ``free``: those for each level up to it; ``colour``: what the piece shows to the rim cell behind it. None: the rim
    could not be closed any more.
    """
    if work.found[_COUNT] < 0:
        find_closings(plan, work, free[np.uint64(plan.anchor + 1)])
    row = np.uint64(plan.row[level])
    left = (free[level] | work.kept[row]) ^ one
    if len(plan.colours) and not _hangs_together(plan, work, left, colour):
        return _NONE
    first, kept = np.uint64(work.found[_FIRST]), _ALL
    for i in range(np.uint64(work.found[_COUNT])):  # in vectors
        closing = work.closings[first + i]
        kept &= closing | (_NONE - np.uint64((closing & ~left) != _NONE))
    if kept == _ALL:
        return _NONE
    kept = kept if plan.rule[level] != LAST else _NONE
    work.kept[row + _ONE] = kept
    return np.uint64(left & ~kept)
