"""The arrays of the endgame, and how they are made for a puzzle, an order and a schedule.

A *level* is a depth counted from the start of the endgame; level i fills the cell of depth ``endgame_start + i``.
`lns.construct.endgame` searches the levels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct import candidates
from lns.construct.border_completion import ClosingPlan, ClosingState, plan_closing
from lns.construct.candidates import Bitsets, CellClass, Int64Array, pack_candidates
from lns.construct.order import padded_positions

MAX_ENDGAME_PIECES = 64  # free pieces at the start of the endgame: each is one bit of a set
SETS_PER_CLASS = 8  # in ``class_sets``: a set for each rotation, of pieces that match the clues beside, then of others
_NONE, _ALL = np.uint64(0), ~np.uint64(0)

# What belongs to a level is one row of 16 words, so that the search needs few pointers. A *row* is its first index.
ROW_WORDS, ROW_SHIFT = np.uint64(16), np.uint64(4)
# columns of ``EndgamePlan.levels``
CLASS_BASE: Any = np.uint64(0)  # where the sets of the cell's class begin in EndgameState.class_sets
PAIR_BASE: Any = np.uint64(1)  # where they begin in EndgameState.pair_sets
LEFT_SOURCE: Any = np.uint64(2)  # row of EndgameState.levels that has the cell's left colour, as SHOWN_RIGHT
UP_SOURCE: Any = np.uint64(3)  # row that has its upper colour, as SHOWN_DOWN
ALLOWED_BREAKS: Any = np.uint64(4)  # breaks that may have been spent once the cell is filled
LEFT_BREAK_MASK: Any = np.uint64(5)  # all ones if the left side may break, else 0
UP_BREAK_MASK: Any = np.uint64(6)  # the same of the upper side
CLUE_MASK: Any = np.uint64(7)  # all ones on the cell of a clue, which is placed whatever is beside it
RULE: Any = np.uint64(8)  # as ``ClosingPlan.rule``
NEXT_LIMIT: Any = np.uint64(9)  # from so many breaks on the next cell must keep an exact candidate
LATER_LIMIT: Any = np.uint64(10)  # the same of the neighbour that is filled later: see `_write_later_neighbours`
LATER_PAIR_BASE: Any = np.uint64(11)  # where the sets of its class begin in EndgameState.pair_sets
LATER_LEFT: Any = np.uint64(12)  # row that has its left colour
LATER_UP: Any = np.uint64(13)  # row that has its upper colour
NO_LIMIT = np.uint64(2**63)  # more breaks than there are
# columns of ``EndgameState.levels``
FREE: Any = np.uint64(0)  # pieces that are free before the level
BREAKS: Any = np.uint64(1)  # breaks spent before it
CANDIDATES: Any = np.uint64(2)  # pieces still to try in any rotation: exact ones; in the next column breaking ones
CANDIDATE_SETS: Any = np.uint64(4)  # the same in eight columns by rotation: exact ones, then breaking ones
SHOWN_RIGHT: Any = np.uint64(12)  # colour offset that the cell shows to its right
SHOWN_DOWN: Any = np.uint64(13)  # the same downwards
CHOSEN: Any = np.uint64(14)  # break * 256 + bit * 4 + rotation


class EndgamePlan(NamedTuple):
    """Read-only inputs of the endgame.

    A colour is stored as an *offset*, 4 * colour: an index into the sets by colour and rotation. The offset behind the
    last colour stands for an unknown colour. A set is a uint64 of pieces, by their bits.
    """

    levels: Bitsets  # uint64 (16 (levels + 1),): by level and column, see CLASS_BASE
    outside: Int64Array  # int64 (levels, 2): padded position of the left and upper neighbour filled before the
    # endgame, -1 = none
    position: Int64Array  # int64 (levels,): padded position of the cell
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
    side_offsets: Bitsets  # uint64 (512,): by bit * 8 + rotation * 2, offset of its right colour, then of its lower one
    levels: Bitsets  # uint64 (16 (2 levels + 1),): by row and column, see FREE. First come the rows of the levels, then
    # those of what cells filled before, or the rim, show to each level; the last row shows the unknown colour
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
    clues = candidates.clues_before(puzzle, order, cut)
    padded_colours = padded_colour_count(puzzle.colours + 1)
    class_numbers: dict[CellClass, int] = {}
    rows = np.zeros((levels + 1, int(ROW_WORDS)), dtype=np.uint64)
    outside = np.full((levels, 2), -1, dtype=np.int64)
    position = padded_positions(order[start:cut], width)
    beside_clue: list[bool] = []
    for level, cell in enumerate(cells):
        cell_class = candidates.cell_class_of(puzzle, cell, True, clues)
        number = class_numbers.setdefault(cell_class, len(class_numbers))
        rows[level, CLASS_BASE], rows[level, PAIR_BASE] = SETS_PER_CLASS * number, number * padded_colours**2
        rim_sides = puzzle.rim_sides(cell)
        for column, (side, neighbour, step, source, break_mask) in enumerate(
            ((LEFT, cell - 1, 1, LEFT_SOURCE, LEFT_BREAK_MASK), (UP, cell - width, width + 1, UP_SOURCE, UP_BREAK_MASK))
        ):
            shown_by = levels + level
            if not rim_sides[side] and neighbour in level_of:
                shown_by = level_of[neighbour]
            elif not rim_sides[side]:
                outside[level, column] = position[level] - step
            rows[level, source] = shown_by * int(ROW_WORDS)
            rows[level, break_mask] = _ALL if side in cell_class.break_sides else _NONE
        rows[level, CLUE_MASK] = _ALL if cell_class.clue >= 0 else _NONE
        beside_clue.append(cell_class.clue >= 0 or bool(cell_class.clue_sides))
    closing, closing_state = plan_closing(puzzle, order, start, cut)
    rows[:levels, ALLOWED_BREAKS] = allowed[start:cut]
    rows[:levels, RULE] = closing.rule
    checks_next = np.append(rows[1:levels, CLUE_MASK] == _NONE, False)[:levels]
    release = closing.release_level
    if 0 <= release < levels - 1 and any(puzzle.rim_sides(cells[release + 1])):
        checks_next[release] = False  # the pieces reserved for the next cell do not count as free yet
    rows[:levels, NEXT_LIMIT] = np.where(checks_next, rows[1:, ALLOWED_BREAKS], NO_LIMIT)
    _write_later_neighbours(puzzle, level_of, rows, beside_clue, closing)
    set_indexes = _set_indexes(puzzle, class_numbers)
    colour_count = puzzle.colours + 1
    oriented = np.arange(4 * puzzle.cells)
    plan = EndgamePlan(
        levels=rows.ravel(),
        outside=outside,
        position=position,
        side_offsets=4 * puzzle.oriented.astype(np.int64),
        packed=pack_candidates(puzzle, oriented, np.zeros_like(oriented)),
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
        side_offsets=bitsets(8 * MAX_ENDGAME_PIECES),
        levels=bitsets((2 * levels + 1) * int(ROW_WORDS)),
        closing=closing_state,
    )
    state.left_sets[-4:] = state.up_sets[-4:] = _ALL  # whatever is tried matches an unknown colour
    state.levels.reshape(-1, int(ROW_WORDS))[-1, [SHOWN_RIGHT, SHOWN_DOWN]] = 4 * colour_count
    return plan, state


def _set_indexes(puzzle: Puzzle, class_numbers: dict[CellClass, int]) -> list[list[int]]:
    """By oriented piece, the indexes of the sets in `EndgameState.class_sets` that it belongs to."""
    unclued = candidates.is_unclued_piece(puzzle)
    indexes: list[list[int]] = [[] for _ in range(4 * puzzle.cells)]
    for cell_class, number in class_numbers.items():
        fitting, breaks = candidates.fitting_pieces(puzzle, cell_class, unclued)
        for oriented, has_break in zip(fitting.tolist(), breaks.tolist(), strict=True):
            indexes[oriented].append(SETS_PER_CLASS * number + 4 * has_break + oriented % 4)
    return indexes


def _write_later_neighbours(
    puzzle: Puzzle, level_of: dict[int, int], rows: Bitsets, beside_clue: list[bool], closing: ClosingPlan
) -> None:
    """Write, for each level, the neighbour that is filled later, but not next, and must keep a candidate.

    It is checked if both of its known colours are known by then, or if they share a joint of the rim, which never
    breaks; of two, the one below. A cell with a clue on it or beside it (``beside_clue``, by level) is not checked: it
    also takes pieces that do not match exactly. Nor is a cell of the last stretch of the rim while pieces are reserved
    for it, for those do not count as free. ``rows``: uint64 (levels + 1, 16), as `EndgamePlan.levels`.
    """
    levels = len(level_of)
    unknown = 2 * levels
    rows[:levels, LATER_LIMIT] = NO_LIMIT
    for cell, level in level_of.items():
        for side, neighbour in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width)):
            later = level_of.get(neighbour, -1)
            if puzzle.rim_sides(cell)[side] or later <= level + 1:
                continue
            sources = [int(rows[later, column] // ROW_WORDS) for column in (LEFT_SOURCE, UP_SOURCE)]
            known = [source if source <= level or source >= levels else unknown for source in sources]
            rim_joint = not candidates.may_break(puzzle, cell, side)
            if rim_joint:  # the other side of the later cell may break
                known[side == RIGHT] = unknown
            reserved = any(puzzle.rim_sides(neighbour)) and closing.anchor_level < level < closing.release_level < later
            if (rim_joint or unknown not in known) and not beside_clue[later] and not reserved:
                rows[level, LATER_LIMIT] = _NONE if rim_joint else rows[later, ALLOWED_BREAKS]
                rows[level, LATER_PAIR_BASE] = rows[later, PAIR_BASE]
                rows[level, [LATER_LEFT, LATER_UP]] = [source * int(ROW_WORDS) for source in known]
