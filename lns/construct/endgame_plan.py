"""What the endgame knows before it starts: cells as levels, where their known colours stand, who looks ahead at whom.

`lns.construct.endgame` searches it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct import candidate_tables
from lns.construct.border_completion import ClosingPlan, ClosingWork, plan_closing
from lns.construct.order import padded
from lns.construct.packed_candidate import Longs, Words, pack

MOST_PIECES = 64
_NONE, _ALL = np.uint64(0), ~np.uint64(0)


class Ahead(NamedTuple):
    """Of whom a level asks whether exact candidates are left. All (levels,).

    ``level``: int64, -1 = nobody; ``pairs``: int64 where its kind begins in ``EndWork.pairs``; ``left``, ``up``: int64
    where its known colours stand; ``strict``: uint8, whether it needs a candidate even while breaks are left.
    """

    level: Longs
    pairs: Longs
    left: Longs
    up: Longs
    strict: npt.NDArray[np.uint8]


class EndPlan(NamedTuple):
    """What stays while a schedule runs; levels 0..n-1 are the depths ``begin`` to ``cut - 1``.

    Colours are told by their place in ``EndWork.left`` and ``up``: times 4; one behind the last is "not known".
    A level finds the colour on its left in ``EndWork.shown_right[left_at]``: that of another level, or n + its own
    number for a cell laid before, or for a grey side (0). ``outside``: int64 (n, 2) padded positions of cells laid
    before, -1 = none; ``position``: int64 (n,) its own. ``allowed``: int64 (n,) breaks. ``left_breaks``, ``up_breaks``:
    uint64 (n,) all ones where that side may mismatch; ``always``: uint64 (n,) all ones on the cell of a clue, which is
    laid whatever it meets. ``kind``: int64 (n,) place in ``EndWork.fits``. ``ahead``: a neighbour filled later, though
    not next, both of whose colours are known by then, or which shares a joint of the rim, where no break is allowed;
    where there are two, the lower. ``next``: the next cell. ``sides``: int64 (4 pieces, 4) colours; ``word``: int64
    (4 pieces,) as in ``lns.construct.packed_candidate``; ``member[first_member[o]:first_member[o+1]]``: the sets in
    ``EndWork.fits`` that oriented piece ``o`` belongs to. ``pieces``: int64 (pieces,) in the order in which free ones
    get a bit. ``colours1``: number of colours with grey; ``begin``: depth of level 0.
    """

    kind: Longs
    left_at: Longs
    up_at: Longs
    outside: Longs
    position: Longs
    allowed: Longs
    left_breaks: Words
    up_breaks: Words
    always: Words
    ahead: Ahead
    next: Ahead
    sides: Longs
    word: Longs
    first_member: Longs
    member: Longs
    pieces: Longs
    closing: ClosingPlan
    colours1: int
    begin: int


class EndWork(NamedTuple):
    """Where the search stands, beside `kernel.Prefix`: `endgame.enter` and `endgame.lay_again` make it again from the
    cursors there and from ``piece_at``.

    Arrays of four words a set: one a rotation. Sets hold all pieces that have a bit, the free ones are among them.
    """

    piece_at: Longs  # (MOST_PIECES,) by bit, -1 = none; kept from prefix to prefix: most have most pieces in common
    bit_of: Longs  # (pieces,) -1 = none
    left: Words  # (4 colours1 + 4,) pieces that show this colour on the left
    up: Words
    below: Words  # (4 places,) by rotation and colour: pieces that show it at the bottom
    fits: Words  # (8 kinds,) pieces for this kind of cell; then those that mismatch a clue beside it
    pairs: Words  # (kinds places^2,) pieces that fit this kind of cell exactly between the colours left and on top
    oriented: Longs  # (256,) by bit * 4 + rotation
    right: Longs  # (256,) the colour it shows to the right
    down: Longs
    shown_right: Longs  # (2n+1,) by level, then by n + level of the cell that it shows it to, then "not known"
    shown_down: Longs
    free: Words  # (n+1,)
    spent: Longs  # (n+1,) breaks
    sets: Words  # (8n,) candidates still to try: exact ones, breaking ones
    some: Words  # (2n,) pieces among them in any rotation: exact ones, breaking ones
    chosen: Longs  # (n,) break * 256 + bit * 4 + rotation
    closing: ClosingWork


def places_of(colours1: int) -> int:
    """Places for the colours, grey and "not known": a whole number of vectors."""
    return (colours1 + 8) & ~7


def plan_end(
    puzzle: Puzzle, order: IntArray, begin: int, cut: int, allowed: IntArray, chance: np.random.Generator
) -> tuple[EndPlan, EndWork]:
    """For the depths from ``begin``, at most MOST_PIECES before the end, to ``cut``; ``allowed``: breaks by depth.

    ``chance`` says in which order pieces are tried.
    """
    assert puzzle.cells - begin <= MOST_PIECES or begin == cut
    cells = order[begin:cut].tolist()
    count, width = len(cells), puzzle.width
    level = {cell: i for i, cell in enumerate(cells)}
    clues = candidate_tables.clues_before(puzzle, order, cut)
    kinds: dict[candidate_tables.Kind, int] = {}
    kind, pairs, left_at, up_at = (np.zeros(count, dtype=np.int64) for _ in range(4))
    places = places_of(puzzle.colours + 1)
    outside = np.full((count, 2), -1, dtype=np.int64)
    left_breaks, up_breaks, always = (np.zeros(count, dtype=np.uint64) for _ in range(3))
    position = padded(order[begin:cut], width)
    beside_clue: list[bool] = []
    for i, cell in enumerate(cells):
        one = candidate_tables.kind_of(puzzle, cell, True, clues)
        number = kinds.setdefault(one, len(kinds))
        kind[i], pairs[i] = 8 * number, number * places**2
        grey = puzzle.rim_sides(cell)
        for which, (side, other, at, breaks) in enumerate(
            ((LEFT, cell - 1, left_at, left_breaks), (UP, cell - width, up_at, up_breaks))
        ):
            at[i] = count + i
            if not grey[side] and other in level:
                at[i] = level[other]
            elif not grey[side]:
                outside[i, which] = position[i] - (1 if side == LEFT else width + 1)
            breaks[i] = _ALL if side in one.breaks else _NONE
        always[i] = _ALL if one.clue >= 0 else _NONE
        beside_clue.append(one.clue >= 0 or bool(one.wanted))
    free = candidate_tables.not_of_clues(puzzle)
    members: list[list[int]] = [[] for _ in range(4 * puzzle.cells)]
    for one, number in kinds.items():
        for oriented, missed in zip(
            *(found.tolist() for found in candidate_tables.fitting(puzzle, one, free)), strict=True
        ):
            members[oriented].append(8 * number + 4 * missed + oriented % 4)
    colours1 = puzzle.colours + 1
    oriented = np.arange(4 * puzzle.cells)
    closing, closing_work = plan_closing(puzzle, order, begin, cut)
    asks_next = np.append(always[1:] == _NONE, False)
    if 0 <= closing.last < count - 1 and any(puzzle.rim_sides(cells[closing.last + 1])):
        asks_next[closing.last] = False  # pieces kept for it do not count as free yet
    plan = EndPlan(
        kind, left_at, up_at, outside, position, allowed[begin:cut].astype(np.int64), left_breaks, up_breaks, always,
        _ahead(puzzle, level, pairs, left_at, up_at, beside_clue, closing), _next(pairs, left_at, up_at, asks_next),
        4 * puzzle.oriented.astype(np.int64),
        pack(puzzle.oriented, oriented, np.zeros_like(oriented), colours1),
        np.cumsum([0] + [len(sets) for sets in members]),
        np.array([one for sets in members for one in sets], dtype=np.int64),
        chance.permutation(puzzle.cells), closing, colours1, begin,
    )  # fmt: skip

    def words(size: int) -> Words:
        return np.zeros(size, dtype=np.uint64)

    def numbers(size: int) -> Longs:
        return np.zeros(size, dtype=np.int64)

    colours, turned, shown = 4 * colours1 + 4, 4 * MOST_PIECES, 2 * count + 1
    work = EndWork(
        np.full(MOST_PIECES, -1, dtype=np.int64), np.full(puzzle.cells, -1, dtype=np.int64),
        words(colours), words(colours), words(4 * places), words(8 * len(kinds)), words(len(kinds) * places**2),
        numbers(turned), numbers(turned), numbers(turned),
        numbers(shown), numbers(shown), words(count + 1), numbers(count + 1), words(8 * count), words(2 * count),
        numbers(count), closing_work,
    )  # fmt: skip
    work.left[-4:] = work.up[-4:] = _ALL
    work.shown_right[-1] = work.shown_down[-1] = 4 * colours1
    return plan, work


def _next(pairs: Longs, left_at: Longs, up_at: Longs, asks: npt.NDArray[np.bool_]) -> Ahead:
    """``asks``: by level, whether it asks the next one."""
    level = np.where(asks, np.arange(1, len(asks) + 1), -1)
    pairs, left_at, up_at = (np.append(values[1:], -1) for values in (pairs, left_at, up_at))
    return Ahead(level, pairs, left_at, up_at, np.zeros(len(level), dtype=np.uint8))


def _ahead(
    puzzle: Puzzle,
    level: dict[int, int],
    pairs: Longs,
    left_at: Longs,
    up_at: Longs,
    beside_clue: list[bool],
    closing: ClosingPlan,
) -> Ahead:
    """``beside_clue``: by level; such a cell, and that of the clue, take more than what fits exactly.

    Nobody asks a rim cell of the last stretch while pieces are kept for it, for those do not count as free.
    """
    count = len(level)
    unknown = 2 * count
    asked, left, up = (np.full(count, -1, dtype=np.int64) for _ in range(3))
    strict = np.zeros(count, dtype=np.uint8)
    for cell, i in level.items():
        for side, other in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width)):
            later = level.get(other, -1)
            if puzzle.rim_sides(cell)[side] or later <= i + 1:
                continue
            known = [at if at <= i or at >= count else unknown for at in (int(left_at[later]), int(up_at[later]))]
            rim = not candidate_tables.may_break(puzzle, cell, side)
            if rim:  # a break may be left for the other side
                known[side == RIGHT] = unknown
            kept = any(puzzle.rim_sides(other)) and closing.anchor < i < closing.last < later
            if (rim or unknown not in known) and not beside_clue[later] and not kept:
                asked[i], (left[i], up[i]), strict[i] = later, known, rim
    return Ahead(asked, pairs[asked], left, up, strict)
