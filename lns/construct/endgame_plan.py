"""The arrays of the endgame, and how they are made for a puzzle, an order and a schedule.

A *level* is a depth counted from the start of the endgame; level i fills the cell of depth ``endgame_start + i``.
`lns.construct.endgame` searches the levels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct import candidate_tables
from lns.construct.border_completion import ClosingPlan, ClosingState, plan_closing
from lns.construct.candidate_tables import CellClass
from lns.construct.order import padded_positions
from lns.construct.packed_candidate import Bitsets, Int64Array, pack_candidates

MAX_ENDGAME_PIECES = 64  # free pieces at the start of the endgame: each is one bit of a set
SETS_PER_CLASS = 8  # in ``class_sets``: a set for each rotation, of pieces that match the clues beside, then of others
_NONE, _ALL = np.uint64(0), ~np.uint64(0)


class LookAhead(NamedTuple):
    """For each level, a later level that must keep a candidate. All arrays have shape (levels,)."""

    level: Int64Array  # int64: the later level that is checked, -1 = none
    pair_base: Int64Array  # int64: where the sets of its cell class begin in EndgameState.pair_sets
    left_source: Int64Array  # int64: index of its left colour in EndgameState.shown_right
    up_source: Int64Array  # int64: index of its upper colour in EndgameState.shown_down
    never_breaks: npt.NDArray[np.uint8]  # uint8: 1 = it needs an exact candidate even if the schedule allows a break


class EndgamePlan(NamedTuple):
    """Read-only inputs of the endgame.

    A colour is stored as an *offset*, 4 * colour: an index into the sets by colour and rotation. The offset behind the
    last colour stands for an unknown colour. A set is a uint64 of pieces, by their bits.
    """

    class_base: Int64Array  # int64 (levels,): where the sets of the cell's class begin in EndgameState.class_sets
    left_source: Int64Array  # int64 (levels,): index of the cell's left colour in EndgameState.shown_right
    up_source: Int64Array  # int64 (levels,): index of its upper colour in EndgameState.shown_down
    outside: Int64Array  # int64 (levels, 2): padded position of the left and upper neighbour filled before the
    # endgame, -1 = none
    position: Int64Array  # int64 (levels,): padded position of the cell
    allowed_breaks: Int64Array  # int64 (levels,): breaks that may have been spent once the cell is filled
    left_break_mask: Bitsets  # uint64 (levels,): all ones if the left side may break, else 0
    up_break_mask: Bitsets  # uint64 (levels,): the same of the upper side
    clue_mask: Bitsets  # uint64 (levels,): all ones on the cell of a clue, which is placed whatever is beside it
    look_ahead: LookAhead  # the neighbour that is filled later, but not next, if both of its known colours are known by
    # then or if they share a joint of the rim, which never breaks; of two, the one below
    next_look_ahead: LookAhead  # the next cell
    side_offsets: Int64Array  # int64 (4 pieces, 4): colour offsets of each oriented piece by side
    packed: Int64Array  # int64 (4 pieces,): packed candidate of each oriented piece
    first_set: Int64Array  # int64 (4 pieces + 1,): oriented piece o belongs to the sets with the indexes
    set_indexes: Int64Array  # set_indexes[first_set[o]:first_set[o + 1]] of EndgameState.class_sets; int64
    piece_order: Int64Array  # int64 (pieces,): order in which free pieces get a bit
    closing: ClosingPlan
    colour_count: int  # number of colours, the rim's included
    endgame_start: int  # depth of level 0


class EndgameState(NamedTuple):
    """State of the endgame, beside that in `kernel.PrefixState`.

    It is rebuilt from ``piece_of_bit`` and the cursors of the prefix by `endgame.assign_bits` and
    `endgame.replay_cursors`. Sets hold all pieces that have a bit; the free pieces are among them. Four consecutive
    sets are those of the four rotations.
    """

    piece_of_bit: Int64Array  # int64 (64,): -1 = none; kept from one prefix to the next, as they share most pieces
    bit_of_piece: Int64Array  # int64 (pieces,): -1 = none
    left_sets: Bitsets  # uint64 (4 colour_count + 4,): pieces that show a colour on the left
    up_sets: Bitsets  # uint64 (4 colour_count + 4,): ... on top
    down_sets: Bitsets  # uint64 (4 padded_colours,): ... at the bottom; by rotation, then by colour
    class_sets: Bitsets  # uint64 (SETS_PER_CLASS classes,): pieces for a cell class, see SETS_PER_CLASS
    pair_sets: (
        Bitsets  # uint64 (classes padded_colours^2,): pieces that match a left and an upper colour in any rotation
    )
    oriented: Int64Array  # int64 (256,): oriented piece by bit * 4 + rotation
    right_offset: Int64Array  # int64 (256,): offset of its right colour
    down_offset: Int64Array  # int64 (256,): offset of its lower colour
    shown_right: Int64Array  # int64 (2 levels + 1,): colour offset that the cell of a level shows to its right; at
    # levels + i what a cell filled before, or the rim, shows to level i; the last is that of an unknown colour
    shown_down: Int64Array  # int64 (2 levels + 1,): the same downwards
    free: Bitsets  # uint64 (levels + 1,): free pieces before each level
    breaks: Int64Array  # int64 (levels + 1,): breaks spent before each level
    candidate_sets: Bitsets  # uint64 (8 levels,): pieces still to try, by rotation: exact ones, then breaking ones
    candidates: Bitsets  # uint64 (2 levels,): pieces still to try in any rotation: exact ones, then breaking ones
    chosen: Int64Array  # int64 (levels,): break * 256 + bit * 4 + rotation
    closing: ClosingState


def padded_colour_count(colour_count: int) -> int:
    """The number of colours, with room for the unknown colour, rounded up to a whole number of vectors."""
    return (colour_count + 8) & ~7


def plan_endgame(
    puzzle: Puzzle, order: IntArray, start: int, cut: int, allowed: IntArray, chance: np.random.Generator
) -> tuple[EndgamePlan, EndgameState]:
    """Make the arrays of an endgame.

    Parameters
    ----------
    order : int32 (cells,)
        Cells by depth.
    start, cut : int
        Depths at which the endgame begins, at most MAX_ENDGAME_PIECES before the last cell, and ends.
    allowed : int (cells,)
        Breaks that may have been spent once each depth is filled.
    chance : numpy.random.Generator
        Decides the order in which pieces get their bits, and so the order in which they are tried.
    """
    assert puzzle.cells - start <= MAX_ENDGAME_PIECES or start == cut
    cells = order[start:cut].tolist()
    levels, width = len(cells), puzzle.width
    level_of = {cell: level for level, cell in enumerate(cells)}
    clues = candidate_tables.clues_before(puzzle, order, cut)
    padded_colours = padded_colour_count(puzzle.colours + 1)
    class_numbers: dict[CellClass, int] = {}
    class_base, pair_base, left_source, up_source = (np.zeros(levels, dtype=np.int64) for _ in range(4))
    outside = np.full((levels, 2), -1, dtype=np.int64)
    left_break_mask, up_break_mask, clue_mask = (np.zeros(levels, dtype=np.uint64) for _ in range(3))
    position = padded_positions(order[start:cut], width)
    beside_clue: list[bool] = []
    for level, cell in enumerate(cells):
        cell_class = candidate_tables.cell_class_of(puzzle, cell, True, clues)
        number = class_numbers.setdefault(cell_class, len(class_numbers))
        class_base[level], pair_base[level] = SETS_PER_CLASS * number, number * padded_colours**2
        rim_sides = puzzle.rim_sides(cell)
        for column, (side, neighbour, step, source, break_mask) in enumerate(
            ((LEFT, cell - 1, 1, left_source, left_break_mask), (UP, cell - width, width + 1, up_source, up_break_mask))
        ):
            source[level] = levels + level
            if not rim_sides[side] and neighbour in level_of:
                source[level] = level_of[neighbour]
            elif not rim_sides[side]:
                outside[level, column] = position[level] - step
            break_mask[level] = _ALL if side in cell_class.break_sides else _NONE
        clue_mask[level] = _ALL if cell_class.clue >= 0 else _NONE
        beside_clue.append(cell_class.clue >= 0 or bool(cell_class.clue_sides))
    closing, closing_state = plan_closing(puzzle, order, start, cut)
    checks_next = np.append(clue_mask[1:] == _NONE, False)
    release = closing.release_level
    if 0 <= release < levels - 1 and any(puzzle.rim_sides(cells[release + 1])):
        checks_next[release] = False  # the pieces reserved for the next cell do not count as free yet
    set_indexes = _set_indexes(puzzle, class_numbers)
    colour_count = puzzle.colours + 1
    oriented = np.arange(4 * puzzle.cells)
    plan = EndgamePlan(
        class_base=class_base,
        left_source=left_source,
        up_source=up_source,
        outside=outside,
        position=position,
        allowed_breaks=allowed[start:cut].astype(np.int64),
        left_break_mask=left_break_mask,
        up_break_mask=up_break_mask,
        clue_mask=clue_mask,
        look_ahead=_neighbour_look_ahead(puzzle, level_of, pair_base, left_source, up_source, beside_clue, closing),
        next_look_ahead=_next_look_ahead(pair_base, left_source, up_source, checks_next),
        side_offsets=4 * puzzle.oriented.astype(np.int64),
        packed=pack_candidates(puzzle.oriented, oriented, np.zeros_like(oriented), colour_count),
        first_set=np.cumsum([0] + [len(indexes) for indexes in set_indexes]),
        set_indexes=np.array([index for indexes in set_indexes for index in indexes], dtype=np.int64),
        piece_order=chance.permutation(puzzle.cells),
        closing=closing,
        colour_count=colour_count,
        endgame_start=start,
    )

    def bitsets(size: int) -> Bitsets:
        return np.zeros(size, dtype=np.uint64)

    def integers(size: int, value: int = 0) -> Int64Array:
        return np.full(size, value, dtype=np.int64)

    state = EndgameState(
        piece_of_bit=integers(MAX_ENDGAME_PIECES, -1),
        bit_of_piece=integers(puzzle.cells, -1),
        left_sets=bitsets(4 * colour_count + 4),
        up_sets=bitsets(4 * colour_count + 4),
        down_sets=bitsets(4 * padded_colours),
        class_sets=bitsets(SETS_PER_CLASS * len(class_numbers)),
        pair_sets=bitsets(len(class_numbers) * padded_colours**2),
        oriented=integers(4 * MAX_ENDGAME_PIECES),
        right_offset=integers(4 * MAX_ENDGAME_PIECES),
        down_offset=integers(4 * MAX_ENDGAME_PIECES),
        shown_right=integers(2 * levels + 1),
        shown_down=integers(2 * levels + 1),
        free=bitsets(levels + 1),
        breaks=integers(levels + 1),
        candidate_sets=bitsets(8 * levels),
        candidates=bitsets(2 * levels),
        chosen=integers(levels),
        closing=closing_state,
    )
    state.left_sets[-4:] = state.up_sets[-4:] = _ALL  # whatever is tried matches an unknown colour
    state.shown_right[-1] = state.shown_down[-1] = 4 * colour_count
    return plan, state


def _set_indexes(puzzle: Puzzle, class_numbers: dict[CellClass, int]) -> list[list[int]]:
    """By oriented piece, the indexes of the sets in `EndgameState.class_sets` that it belongs to."""
    unclued = candidate_tables.is_unclued_piece(puzzle)
    indexes: list[list[int]] = [[] for _ in range(4 * puzzle.cells)]
    for cell_class, number in class_numbers.items():
        fitting, breaks = candidate_tables.fitting_pieces(puzzle, cell_class, unclued)
        for oriented, has_break in zip(fitting.tolist(), breaks.tolist(), strict=True):
            indexes[oriented].append(SETS_PER_CLASS * number + 4 * has_break + oriented % 4)
    return indexes


def _next_look_ahead(
    pair_base: Int64Array, left_source: Int64Array, up_source: Int64Array, checks_next: npt.NDArray[np.bool_]
) -> LookAhead:
    """``checks_next``: bool (levels,), whether a level checks the next one."""
    pair_base, left_source, up_source = (np.append(values[1:], -1) for values in (pair_base, left_source, up_source))
    return LookAhead(
        level=np.where(checks_next, np.arange(1, len(checks_next) + 1), -1),
        pair_base=pair_base,
        left_source=left_source,
        up_source=up_source,
        never_breaks=np.zeros(len(checks_next), dtype=np.uint8),
    )


def _neighbour_look_ahead(
    puzzle: Puzzle,
    level_of: dict[int, int],
    pair_base: Int64Array,
    left_source: Int64Array,
    up_source: Int64Array,
    beside_clue: list[bool],
    closing: ClosingPlan,
) -> LookAhead:
    """The neighbours that are filled later than next: see `EndgamePlan.look_ahead`.

    A cell with a clue on it or beside it (``beside_clue``, by level) is not checked: it also takes pieces that do not
    match exactly. Nor is a cell of the last stretch of the rim while pieces are reserved for it, for those do not count
    as free.
    """
    levels = len(level_of)
    unknown = 2 * levels
    checked, left, up = (np.full(levels, -1, dtype=np.int64) for _ in range(3))
    never_breaks = np.zeros(levels, dtype=np.uint8)
    for cell, level in level_of.items():
        for side, neighbour in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width)):
            later = level_of.get(neighbour, -1)
            if puzzle.rim_sides(cell)[side] or later <= level + 1:
                continue
            known = [
                source if source <= level or source >= levels else unknown
                for source in (int(left_source[later]), int(up_source[later]))
            ]
            rim_joint = not candidate_tables.may_break(puzzle, cell, side)
            if rim_joint:  # the other side of the later cell may break
                known[side == RIGHT] = unknown
            reserved = any(puzzle.rim_sides(neighbour)) and closing.anchor_level < level < closing.release_level < later
            if (rim_joint or unknown not in known) and not beside_clue[later] and not reserved:
                checked[level], (left[level], up[level]), never_breaks[level] = later, known, rim_joint
    return LookAhead(
        level=checked, pair_base=pair_base[checked], left_source=left, up_source=up, never_breaks=never_breaks
    )
