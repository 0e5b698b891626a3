"""The arrays of the endgame, and how they are made for a puzzle, an order of the cells and a break schedule.

A *level* is a depth counted from that at which the endgame (`lns.construct.endgame`) starts, which is level 0.

Cells of the rim never mismatch each other before the exact tail. When the endgame begins, the free rim pieces must
therefore form a path: down the left side, along the bottom, round the last corner and up the right side to the lowest
piece placed there (the *anchor*). The comb order fills the *last stretch* of this path, from the anchor down and round
the corner, only when most rim pieces are used, so few sets of pieces fill the stretch with matching joints. These
*closings* are listed once. Each rim piece placed elsewhere rules out the closings that need it. A piece that would rule
out the last closing is refused, and pieces that all remaining closings share are reserved.

In a graph whose vertices are the colours of rim joints, each free rim piece is an edge between its two colours, and a
path of all these pieces is a walk along all edges. As all joints placed so far match, the walk can leave each colour as
often as it enters the colour; so it exists if and only if the edges are connected with each other and with the rim
placed so far (Euler 1736; corner pieces may forbid it even so). A piece that would disconnect them is refused, too.
Both refusals lose boards whose rim mismatches only within the exact tail; such boards are fewer than those that the
saved nodes find ("Effects of changes", docs/log.md).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct import candidates
from lns.construct.candidates import Bitsets, CellClass, Int64Array
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, IntArray, Puzzle

MAX_ENDGAME_PIECES = 64  # most free pieces at the start of the endgame: each is one bit of a set
MAX_CLOSINGS = 256
SETS_PER_CLASS = 8  # sets of a cell class, by rotation: four of pieces that match adjacent clues, four of others
NO_RULE, ANCHOR, RESERVE, RELEASE = range(4)  # values of `ClosingPlan.rule`
COUNT, ANCHOR_COLOUR, FIRST = range(3)  # indexes into ``ClosingState.scalars``
_BREAKS_CLUE = 4  # added to an index into ``class_sets`` for pieces that mismatch an adjacent clue
NO_LIMIT = np.uint64(2**63)  # a limit on breaks that is never reached
_NONE, _ALL = np.uint64(0), ~np.uint64(0)

# A level has one row of 16 words in each flat array ``levels``; a variable ``row`` is the index of a row's first word.
ROW_WORDS, ROW_SHIFT = np.uint64(16), np.uint64(4)
# Columns of a row of ``EndgamePlan.levels``. A row belongs to one cell. "Left" and "right" change places for this cell,
# or for the cell ahead of a look-ahead, if it is filled from the right.
CLASS_BASE: Any = np.uint64(0)  # index in EndgameState.class_sets where the sets of the cell's class begin
LEFT_SOURCE: Any = np.uint64(1)  # row of EndgameState.levels whose SHOWN_RIGHT is the cell's left colour
UP_SOURCE: Any = np.uint64(2)  # row of EndgameState.levels whose SHOWN_DOWN is the cell's upper colour
ALLOWED_BREAKS: Any = np.uint64(3)  # most breaks that may have been spent once the cell is filled
LEFT_BREAK_MASK: Any = np.uint64(4)  # all bits 1 if the cell's left side may break, else 0
UP_BREAK_MASK: Any = np.uint64(5)  # all bits 1 if the cell's upper side may break, else 0
CLUE_MASK: Any = np.uint64(6)  # all bits 1 on the cell of a clue, which is placed whatever its neighbours show, else 0
RULE: Any = np.uint64(7)  # ``ClosingPlan.rule``; plus RULES * ``mirrored`` on a cell that is filled from the right
NEXT: Any = np.uint64(8)  # first of four columns (LIMIT to ABOVE) for the look-ahead to the next cell
LATER: Any = np.uint64(12)  # first of four columns for the look-ahead to a neighbour filled later: `_plan_look_ahead`
RULES = np.uint64(8)
# columns of a look-ahead to a cell ahead, counted from NEXT or LATER
LIMIT: Any = np.uint64(0)  # if at least so many breaks are spent, the cell ahead must keep an exact candidate
PAIR_BASE: Any = np.uint64(1)  # index in EndgameState.pair_sets where the sets for the class of the cell ahead begin
LEFT_OF: Any = np.uint64(2)  # row of EndgameState.levels whose SHOWN_RIGHT is the left colour of the cell ahead
ABOVE: Any = np.uint64(3)  # row of EndgameState.levels whose SHOWN_DOWN is the upper colour of the cell ahead
# columns of a row of ``EndgameState.levels``
FREE: Any = np.uint64(0)  # set of the pieces that are free, and not reserved, before the level is filled
BREAKS: Any = np.uint64(1)  # number of breaks spent before the level is filled
CANDIDATES: Any = np.uint64(2)  # pieces still to try as exact candidates; in the next column: as breaking candidates
CANDIDATE_SETS: Any = np.uint64(4)  # eight columns: sets by rotation of exact candidates, then of breaking candidates
SHOWN_RIGHT: Any = np.uint64(12)  # colour that the cell shows to its right, as an offset (`EndgamePlan`)
SHOWN_DOWN: Any = np.uint64(13)  # colour that the cell shows downwards, as an offset (`EndgamePlan`)
CHOSEN: Any = np.uint64(14)  # the candidate placed: bit of the piece * 4 + rotation, plus 256 if the candidate breaks


class ClosingPlan(NamedTuple):
    """Read-only inputs for completing the rim. A rim piece's *near* side is towards the anchor, its *far* side away."""

    # int64 (levels,): ANCHOR on the right-side cell above the rim's last stretch; RESERVE on rim cells filled after
    # that cell, but outside the stretch; RELEASE on the last of these, after which none is reserved; NO_RULE on others
    rule: Int64Array
    row: Int64Array  # int64 (levels,): index of the cell among those with RESERVE or RELEASE; 0 for other cells
    # int64 (colours,): joint colours through which rim pieces must be connected; none if rim cells outside the last
    # stretch are in the exact tail, where these cells may mismatch
    rim_colours: Int64Array
    is_corner: npt.NDArray[np.uint8]  # uint8 (cells,): 1 for a corner, by cell of the rim's last stretch, from its top
    near_index: Int64Array  # int64 (pieces,): index of the rim piece's set in ClosingState.near_sets, -1 = none
    far_colour: Int64Array  # int64 (pieces,): colour that the next piece's near side must have; -1 = not a rim piece
    ends: Int64Array  # int64 (pieces, 2): a rim piece's near and far joint colour, as right sides show it
    anchor_level: int  # level of the anchor (cell above the rim's last stretch); -1 = before the endgame, or no rule
    anchor_position: int  # padded position of the anchor (cell above the last stretch) if before the endgame, else -1
    release_level: int  # level of the cell with RELEASE, -1 = no rule applies


class ClosingState(NamedTuple):
    """Sets of rim pieces, by the bits of the endgame, and the closings: sets that fill the rim's last stretch."""

    near_sets: Annotated[Bitsets, "2 colour_count"]  # by near colour: rim pieces with one grey side, then with two
    far_colour: Annotated[Int64Array, 64]  # `ClosingPlan.far_colour` of the piece of each bit
    colour_sets: Annotated[Bitsets, "colour_count"]  # by colour: rim pieces that have it among their `ClosingPlan.ends`
    rim_pieces: Annotated[Bitsets, 1]  # the set of all rim pieces that have a bit and are no clues
    closings: Annotated[Bitsets, 2 * MAX_CLOSINGS]  # made cell by cell, from one half of the array to the other
    end_colour: Annotated[Int64Array, 2 * MAX_CLOSINGS]  # `far_colour` of the last piece of each set in ``closings``
    reserved: Annotated[Bitsets, "rows + 1"]  # by `ClosingPlan.row`: pieces reserved before that cell is filled
    scalars: Annotated[Int64Array, 3]  # COUNT of closings, ANCHOR_COLOUR shown below the anchor, index of FIRST closing


class EndgamePlan(NamedTuple):
    """Read-only inputs of the endgame.

    A colour is stored as an *offset*, 4 * colour, since in most arrays of sets each colour has four sets, one for each
    rotation. The offset after the last colour stands for an unknown colour. A set of pieces is a uint64, one bit for
    each of at most 64 pieces (`EndgameState.piece_of_bit`).
    """

    levels: Bitsets  # uint64 (16 * (levels + 1),): a row of 16 words for each level, columns from CLASS_BASE on
    outside: Int64Array  # int64 (levels, 3): padded positions of neighbours in the prefix, see `outside_positions`
    position: Int64Array  # int64 (levels,): padded position of the level's cell
    side_offsets: Int64Array  # int64 (4 * pieces, 4): by oriented piece and side: offset of the colour
    # int64 (8 * pieces,): packed candidates of the oriented pieces, first for cells filled from the left, then for
    # cells filled from the right
    packed: Int64Array
    mirrored: int  # index in EndgameState.side_offsets and left_sets where data for cells filled from the right begin
    first_set: Int64Array  # int64 (4 * pieces + 1,): where the indexes of each oriented piece begin in set_indexes
    set_indexes: Int64Array  # int64: indexes of the EndgameState.class_sets that hold an oriented piece, piece by piece
    known_side: Int64Array  # int64 (classes,): `CellClass.known_side` of each cell class
    piece_order: Int64Array  # int64 (pieces,): the pieces in the order in which free ones get a bit
    closing: ClosingPlan
    colour_count: int  # number of colours, grey included
    endgame_start: int  # depth of level 0, where the endgame begins


class EndgameState(NamedTuple):
    """State of the endgame, in addition to `PrefixState`.

    Sets hold only pieces that have a bit, free or used, and are derived from ``piece_of_bit`` (`assign_bit`). In
    ``left_sets``, ``up_sets`` and ``class_sets``, four consecutive sets are those of the four rotations.
    """

    piece_of_bit: Annotated[Int64Array, 64, -1]  # piece of each bit, -1 = none; most entries stay for the next prefix
    bit_of_piece: Annotated[Int64Array, "pieces", -1]  # bit of each piece, -1 = none
    # by colour and rotation: pieces that show the colour on the left; from ``mirrored`` on, on the right
    left_sets: Annotated[Bitsets, "mirrored + 4 colour_count + 4"]
    up_sets: Annotated[Bitsets, "4 colour_count + 4"]  # by colour and rotation: pieces that show the colour on top
    down_sets: Annotated[Bitsets, "4 padded_colours"]  # by rotation and colour: pieces that show the colour below
    class_sets: Annotated[Bitsets, "SETS_PER_CLASS classes"]  # pieces that fit a cell class, see SETS_PER_CLASS
    # by cell class, left colour and upper colour: pieces that fit the class and match both colours in some rotation
    pair_sets: Annotated[Bitsets, "classes padded_colours^2"]
    oriented: Annotated[Int64Array, 256]  # oriented piece by bit * 4 + rotation
    # at bit * 8 + rotation * 2: offset of the right colour, then of the lower colour; from ``mirrored`` on: offset of
    # the left colour, then of the lower colour
    side_offsets: Annotated[Bitsets, "mirrored + 512"]
    # rows of 16 words with the columns from FREE on: a row for each level; then a row for each level with the colours
    # that the rim or cells before the endgame show to its cell; last a row that shows the unknown colour
    levels: Annotated[Bitsets, "16 (2 levels + 1)"]
    closing: ClosingState


class PrefixState(NamedTuple):
    """State of the constructor's search, from which `Constructor.restore` resumes it."""

    cursor: Annotated[Int64Array, "cells + 1"]  # by depth: index of the next candidate; in the endgame, column CHOSEN
    chosen: Annotated[Int64Array, "cells"]  # by depth: packed candidate that is placed
    gain: Annotated[Int64Array, "cells + 1"]  # by length: gain of the prefix; in the endgame only breaks change it
    used: Annotated[npt.NDArray[np.uint8], "cells + 1"]  # by piece: 1 if placed; the last entry, for sentinels, stays 0
    right: Annotated[Int64Array, "positions"]  # by padded position: colour shown to the right, times colour_count
    down: Annotated[Int64Array, "positions"]  # by padded position: colour shown downwards
    scalars: Annotated[Int64Array, 2]  # DEPTH: length of the prefix (or NOT_STARTED); NODES: nodes of this restart
    # number of placements in this restart, by depth, by whether they break, and by the breaks spent after them
    child_counts: Annotated[Int64Array, "cells * COUNTS_PER_DEPTH"]
    frontier_keys: Annotated[Bitsets, "MAX_FRONTIER_KEYS + 1"]  # number of recorded frontier keys, then these keys
    # by length, where prefixes are remembered: hash of the prefix's pieces, whatever their order; key of the prefix in
    # ``searched``; nodes of this restart when the prefix was reached
    piece_hash: Annotated[Bitsets, "cells + 1"]
    level_key: Annotated[Bitsets, "cells + 1"]
    level_nodes: Annotated[Int64Array, "cells + 1"]
    searched: Annotated[Bitsets, "searched"]  # the prefixes whose trees were searched, see `lns.construct.kernel`


def plan_endgame(
    puzzle: Puzzle, order: IntArray, start: int, cut: int, allowed: IntArray, chance: np.random.Generator
) -> tuple[EndgamePlan, EndgameState]:
    """Make the arrays of an endgame from depth ``start``, with at most MAX_ENDGAME_PIECES free pieces, to ``cut``.

    ``order``: int32 (cells,), cells by depth; ``allowed``: int32 (cells,), by depth, most breaks that may have been
    spent; ``chance``: random generator of the order in which pieces get their bits, and so in which they are tried.
    """
    levels, colour_count = cut - start, puzzle.colours + 1
    padded_colours = (colour_count + 8) & ~7  # colours with the unknown one, rounded up to a multiple of 8 for vectors
    level_of = {cell: level for level, cell in enumerate(order[start:cut].tolist())}
    clues = candidates.clues_before(puzzle, order, cut)
    from_right = candidates.is_from_right(order, puzzle.width)[start:cut].tolist()
    classes = [
        candidates.cell_class_of(puzzle, cell, True, clues, is_right)
        for cell, is_right in zip(level_of, from_right, strict=True)
    ]
    numbers = {cell_class: number for number, cell_class in enumerate(dict.fromkeys(classes))}
    rows = np.zeros((levels + 1, int(ROW_WORDS)), dtype=np.uint64)
    for (cell, level), cell_class in zip(level_of.items(), classes, strict=True):
        rows[level, CLASS_BASE] = SETS_PER_CLASS * numbers[cell_class]
        beside = cell + 1 if cell_class.from_right else cell - 1
        for side, neighbour, source, break_mask in (
            (cell_class.known_side, beside, LEFT_SOURCE, LEFT_BREAK_MASK),
            (UP, cell - puzzle.width, UP_SOURCE, UP_BREAK_MASK),
        ):
            is_inside = not cell_class.rim_sides[side] and neighbour in level_of
            rows[level, source] = (level_of[neighbour] if is_inside else levels + level) * int(ROW_WORDS)
            rows[level, break_mask] = _ALL if side in cell_class.break_sides else _NONE
        rows[level, CLUE_MASK] = _ALL if cell_class.clue >= 0 else _NONE
    closing, closing_state = plan_closing(puzzle, order, start, cut)
    rows[:levels, ALLOWED_BREAKS] = allowed[start:cut]
    mirrored = max(8 * MAX_ENDGAME_PIECES, 4 * colour_count + 4)
    rows[:levels, RULE] = closing.rule + int(RULES) * mirrored * np.array(from_right, dtype=np.int64)
    _plan_look_ahead(puzzle, level_of, rows, classes, closing, padded_colours**2)
    set_indexes: list[list[int]] = [[] for _ in range(4 * puzzle.cells)]
    for cell_class, number in numbers.items():
        for piece, clue_break in np.transpose(candidates.fitting_pieces(puzzle, cell_class)).tolist():
            set_indexes[piece].append(SETS_PER_CLASS * number + _BREAKS_CLUE * clue_break + piece % 4)
    oriented = np.arange(4 * puzzle.cells)
    plan = EndgamePlan(
        levels=rows.ravel(),
        outside=candidates.outside_positions(puzzle, order, start, cut),
        position=candidates.padded_positions(order[start:cut], puzzle.width),
        side_offsets=4 * puzzle.oriented.astype(np.int64),
        packed=np.concatenate(
            [candidates.pack_candidates(puzzle, oriented, 0 * oriented, right) for right in (False, True)]
        ),
        first_set=np.cumsum([0] + [len(indexes) for indexes in set_indexes]),
        set_indexes=np.array([index for indexes in set_indexes for index in indexes], dtype=np.int64),
        mirrored=mirrored,
        known_side=np.array([cell_class.known_side for cell_class in numbers], dtype=np.int64),
        piece_order=chance.permutation(puzzle.cells),
        closing=closing,
        colour_count=colour_count,
        endgame_start=start,
    )
    sizes = {"pieces": puzzle.cells, "4 colour_count + 4": 4 * colour_count + 4, "4 padded_colours": 4 * padded_colours}
    sizes |= {"mirrored + 4 colour_count + 4": mirrored + 4 * colour_count + 4, "mirrored + 512": mirrored + 512}
    sizes |= {"SETS_PER_CLASS classes": SETS_PER_CLASS * len(numbers), "16 (2 levels + 1)": 16 * (2 * levels + 1)}
    sizes |= {"classes padded_colours^2": len(numbers) * padded_colours**2}
    state = allocate(EndgameState, sizes, closing=closing_state)
    for sets in (state.left_sets[: 4 * colour_count + 4], state.left_sets, state.up_sets):
        sets[-4:] = _ALL  # the unknown colour matches every piece
    state.levels.reshape(-1, int(ROW_WORDS))[-1, [SHOWN_RIGHT, SHOWN_DOWN]] = 4 * colour_count
    return plan, state


def _plan_look_ahead(
    puzzle: Puzzle, level_of: dict[int, int], rows: Bitsets, classes: list[CellClass], closing: ClosingPlan, pairs: int
) -> None:
    """Write the look-aheads of each level: to the next cell, and to a neighbour that is filled later.

    A neighbour filled later is checked if the colours on its left and above it are both known once the cell is filled,
    or if it shares a rim joint with the cell, since rim joints never break. Of two such neighbours, only the lower one
    is checked. Never checked are clue cells, which hold the clue even if it does not match; later neighbours next to a
    clue; and cells of the last stretch while pieces are reserved for them, as reserved pieces do not count as free.

    ``rows``: uint64 (levels + 1, 16), the rows of `EndgamePlan.levels`; ``pairs``: padded number of pairs of a left and
    an upper colour.
    """
    levels = len(level_of)
    sources, unknown = (rows[:, [LEFT_SOURCE, UP_SOURCE]] // ROW_WORDS).tolist(), 2 * levels

    def write(level: int, column: int, other: int, limit: np.uint64, known: list[int]) -> None:
        pair_base = int(rows[other, CLASS_BASE]) // SETS_PER_CLASS * pairs
        left, above = (source * int(ROW_WORDS) for source in known)
        rows[level, column : column + 4] = np.array([limit, pair_base, left, above], dtype=np.uint64)

    rows[:levels, [int(NEXT), int(LATER)]] = NO_LIMIT
    for cell, level in level_of.items():
        on_rim = any(classes[level].rim_sides)
        if level > 0:  # no look-ahead to the rim cell after RELEASE: its reserved pieces are not free yet
            checked = classes[level].clue < 0 and not (on_rim and closing.release_level == level - 1)
            write(level - 1, int(NEXT), level, rows[level, ALLOWED_BREAKS] if checked else NO_LIMIT, sources[level])
        beside = (LEFT, cell - 1) if classes[level].from_right else (RIGHT, cell + 1)
        for side, neighbour in (beside, (DOWN, cell + puzzle.width)):
            later = level_of.get(neighbour, -1)
            if classes[level].rim_sides[side] or later <= level + 1:
                continue
            known = [source if source <= level or source >= levels else unknown for source in sources[later]]
            rim_joint = not candidates.may_break(puzzle, cell, side)
            if rim_joint:  # the later cell may break at its other known side, so take that colour as unknown
                known[side != DOWN] = unknown
            of_later = classes[later]
            beside_clue = of_later.clue >= 0 or of_later.clue_sides
            reserved = any(of_later.rim_sides) and closing.anchor_level < level < closing.release_level < later
            if (rim_joint or unknown not in known) and not beside_clue and not reserved:
                write(level, int(LATER), later, _NONE if rim_joint else rows[later, ALLOWED_BREAKS], known)


def plan_closing(puzzle: Puzzle, order: IntArray, start: int, cut: int) -> tuple[ClosingPlan, ClosingState]:
    """Make the arrays for completing the rim in an endgame from depth ``start`` to ``cut``.

    ``order``: int32 (cells,), cells by depth. No rule applies (all NO_RULE) if `_stretch` returns empty lists, or if
    the joint colours of the rim pieces do not pair up, so that every board has mismatches on the rim.
    """
    colour_count = puzzle.colours + 1
    near_colour, far_colour = (np.full(puzzle.cells, -1, dtype=np.int64) for _ in range(2))
    for oriented, quad in enumerate(puzzle.oriented.tolist()):  # turned for the right side or lower right corner
        if quad[RIGHT] == GREY and quad[UP] != GREY:
            near_colour[oriented >> 2] = quad[UP]
            far_colour[oriented >> 2] = quad[DOWN] or puzzle.mate[quad[LEFT]]
    pair_up = np.array_equal(np.sort(near_colour), np.sort(far_colour))
    ends = puzzle.mate[np.stack([near_colour, far_colour], axis=1)].astype(np.int64)
    stretch, reserving, tail = _stretch(puzzle, order, start, cut) if pair_up else ([], [], [])
    rule, row = (np.zeros(max(0, cut - start), dtype=np.int64) for _ in range(2))
    anchor_level = anchor_position = release_level = -1
    if stretch:
        depth_of = {cell: depth for depth, cell in enumerate(order.tolist())}
        reserving_levels = [depth_of[cell] - start for cell in reserving]
        rule[reserving_levels], row[reserving_levels] = RESERVE, np.arange(len(reserving))
        release_level = reserving_levels[-1]
        rule[release_level] = RELEASE
        anchor = stretch[0] - puzzle.width
        anchor_level = max(depth_of[anchor] - start, -1)
        if anchor_level >= 0:
            rule[anchor_level] = ANCHOR
        else:
            anchor_position = int(candidates.padded_positions(np.array([anchor]), puzzle.width)[0])
    is_corner_piece = (puzzle.pieces == GREY).sum(axis=1) == 2
    near_index = np.where(near_colour >= 0, near_colour + colour_count * is_corner_piece, -1)
    near_index[[clue.piece for clue in puzzle.clues]] = -1
    plan = ClosingPlan(
        rule=rule,
        row=row,
        rim_colours=np.unique(ends[far_colour >= 0]) if not tail else np.zeros(0, dtype=np.int64),
        is_corner=np.array([cell == puzzle.cells - 1 for cell in stretch], dtype=np.uint8),
        near_index=near_index,
        far_colour=far_colour,
        ends=ends,
        anchor_level=anchor_level,
        anchor_position=anchor_position,
        release_level=release_level,
    )
    sizes = {"colour_count": colour_count, "2 colour_count": 2 * colour_count, "rows + 1": len(reserving) + 1}
    return plan, allocate(ClosingState, sizes)


def _stretch(puzzle: Puzzle, order: IntArray, start: int, cut: int) -> tuple[list[int], list[int], list[int]]:
    """Return the cells of the rim's last stretch, and the other rim cells filled after the anchor (above the stretch).

    The result has three lists: the stretch, the other cells that the endgame fills, the other cells of the exact tail.
    The stretch has the right-side cells filled after the leftmost bottom cell, the corner, and the bottom cells filled
    after the first such right-side cell. All lists are empty if there is no stretch, or it begins before the endgame;
    if the second would be empty, or has a cell filled after the stretch begins; or if a clue lies in one of these two.
    """
    width, height = puzzle.width, puzzle.height
    depth_of = {cell: depth for depth, cell in enumerate(order.tolist())}
    right = range(width - 1, width * height, width)
    bottom = range(width * (height - 1), width * height - 1)
    left = range(0, width * (height - 1), width)
    first_bottom = depth_of[bottom[0]] if bottom else 0
    stretch = [cell for cell in right if depth_of[cell] > first_bottom]
    if min(width, height) < 2 or len(stretch) in (0, height) or depth_of[stretch[0]] < start:
        return [], [], []
    first, anchor = depth_of[stretch[0]], depth_of[stretch[0] - width]
    stretch += [cell for cell in reversed(bottom) if depth_of[cell] > first]
    others = [cell for cell in order.tolist() if cell in {*left, *bottom} - {*stretch} and depth_of[cell] > anchor]
    reserving = [cell for cell in others if start <= depth_of[cell] < cut]
    clue_cells = {clue.cell for clue in puzzle.clues}
    if not reserving or depth_of[reserving[-1]] > first or clue_cells & {*stretch, *reserving}:
        return [], [], []
    return stretch, reserving, [cell for cell in others if depth_of[cell] >= cut]


@inline_flat_kernel
def _toggle_piece(plan: EndgamePlan, state: EndgameState, piece: int, bit: np.uint64) -> None:
    """Add ``piece``, as ``bit``, to all sets that it belongs to, or remove it from them if it already has a bit."""
    has_bit = state.bit_of_piece[piece] >= 0
    unknown = plan.colour_count
    colours = len(state.down_sets) >> 2
    near_index, closing = plan.closing.near_index[piece], state.closing
    if near_index >= 0:
        closing.near_sets[near_index] ^= bit
        closing.rim_pieces[0] ^= bit
        near, far = plan.closing.ends[piece, 0], plan.closing.ends[piece, 1]
        closing.colour_sets[near] ^= bit
        if near != far:
            closing.colour_sets[far] ^= bit
    for rotation in range(4):
        oriented = piece * 4 + rotation
        if plan.first_set[oriented] == plan.first_set[oriented + 1]:
            continue
        up = plan.side_offsets[oriented, UP]
        state.left_sets[plan.side_offsets[oriented, LEFT] + rotation] ^= bit
        state.left_sets[plan.mirrored + plan.side_offsets[oriented, RIGHT] + rotation] ^= bit
        state.up_sets[up + rotation] ^= bit
        state.down_sets[rotation * colours + (plan.side_offsets[oriented, DOWN] >> 2)] ^= bit
        for i in range(plan.first_set[oriented], plan.first_set[oriented + 1]):
            index = plan.set_indexes[i]
            state.class_sets[index] ^= bit
            if index & _BREAKS_CLUE:
                continue
            base = (index >> 3) * colours * colours
            left = plan.side_offsets[oriented, plan.known_side[index >> 3]]
            for left_colour in (left >> 2, unknown):
                for up_colour in (up >> 2, unknown):
                    pair = base + left_colour * colours + up_colour
                    state.pair_sets[pair] = (state.pair_sets[pair] | bit) ^ (bit if has_bit else _NONE)


@flat_kernel
def assign_bit(plan: EndgamePlan, state: EndgameState, piece: int, bit: int) -> None:
    """Assign the bit of index ``bit`` to ``piece``, which has no bit; the piece that owned the bit before loses it."""
    mask = np.uint64(1) << np.uint64(bit)
    previous = state.piece_of_bit[bit]
    if previous >= 0:
        _toggle_piece(plan, state, previous, mask)
        state.bit_of_piece[previous] = -1
    _toggle_piece(plan, state, piece, mask)
    state.piece_of_bit[bit] = piece
    state.bit_of_piece[piece] = bit
    state.closing.far_colour[bit] = plan.closing.far_colour[piece]
    for rotation in range(4):
        index = bit * 4 + rotation
        oriented = piece * 4 + rotation
        state.oriented[index] = oriented
        for first, side in ((0, RIGHT), (plan.mirrored, LEFT)):
            state.side_offsets[first + 2 * index] = plan.side_offsets[oriented, side]
            state.side_offsets[first + 2 * index + 1] = plan.side_offsets[oriented, DOWN]
