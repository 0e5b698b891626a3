"""The arrays of the endgame, and how they are made for a puzzle, an order and a schedule.

A *level* is a depth counted from the start of the endgame; level i fills the cell of depth ``endgame_start + i``.
`lns.construct.endgame` searches the levels.

Cells of the rim never mismatch each other before the exact tail. After a prefix the free pieces of the rim must
therefore form a path: along the bottom, round the last corner and up to the lowest piece of the right side that is
placed (the *anchor*). The comb order fills the *last stretch* of this path, from the anchor down and round the corner,
only when most rim pieces are used. So all sets of pieces that fill the stretch with matching joints (*closings*) are
listed once. Each rim piece placed elsewhere rules out the closings that need it. A piece that would rule out the last
closing is refused, and pieces that all remaining closings share are reserved.

Seen as a graph, the joint colours are nodes, and each rim piece is an edge between its two colours. All joints before
match, so each colour is left as often as it is entered. So a path of all free rim pieces exists only if they are
connected with each other and with the rim placed so far (Euler 1736; corners may still forbid it). A piece that would
disconnect them is refused, too. This loses boards whose rim mismatches only within the exact tail; they are fewer than
the boards that the saved nodes find (docs/ladder.md).
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

MAX_ENDGAME_PIECES = 64  # free pieces at the start of the endgame: each is one bit of a set
MAX_CLOSINGS = 256
SETS_PER_CLASS = 8  # in ``class_sets``: sets by rotation of pieces that match adjacent clues, then of others
NO_RULE, ANCHOR, RESERVE, RELEASE = range(4)  # values of `ClosingPlan.rule`
COUNT, ANCHOR_COLOUR, FIRST = range(3)  # indexes of ``ClosingState.scalars``
_BREAKS_CLUE = 4  # bit of an index of ``class_sets``: set for the sets of pieces that mismatch a clue beside the cell
NO_LIMIT = np.uint64(2**63)  # a limit that no number of breaks reaches
_NONE, _ALL = np.uint64(0), ~np.uint64(0)

# The data of a level is one row of 16 words, so that the search needs few pointers; ``row``: index of its first word.
ROW_WORDS, ROW_SHIFT = np.uint64(16), np.uint64(4)
# columns of ``EndgamePlan.levels``
CLASS_BASE: Any = np.uint64(0)  # where the sets of the cell's class begin in EndgameState.class_sets
LEFT_SOURCE: Any = np.uint64(1)  # row of EndgameState.levels that has the cell's left colour, as SHOWN_RIGHT; where
# the cell is filled from the right, "left" and "right" change places, here and below
UP_SOURCE: Any = np.uint64(2)  # row that has the cell's upper colour, as SHOWN_DOWN
ALLOWED_BREAKS: Any = np.uint64(3)  # breaks that may have been spent once the cell is filled
LEFT_BREAK_MASK: Any = np.uint64(4)  # all ones if the left side may break, else 0
UP_BREAK_MASK: Any = np.uint64(5)  # all ones if the upper side may break, else 0
CLUE_MASK: Any = np.uint64(6)  # all ones on the cell of a clue, which is placed whatever its neighbours show
RULE: Any = np.uint64(7)  # ``ClosingPlan.rule``; plus RULES * ``mirrored`` on a cell that is filled from the right
NEXT: Any = np.uint64(8)  # look-ahead to the next cell: the four columns below
LATER: Any = np.uint64(12)  # look-ahead to a neighbour that is filled later, see `_plan_look_ahead`
RULES = np.uint64(8)
# columns of a look-ahead, counted from NEXT or LATER
LIMIT: Any = np.uint64(0)  # from this number of breaks on, the other cell must keep an exact candidate
PAIR_BASE: Any = np.uint64(1)  # where the sets of the other cell's class begin in EndgameState.pair_sets
LEFT_OF: Any = np.uint64(2)  # row that has the other cell's left colour
ABOVE: Any = np.uint64(3)  # row that has the other cell's upper colour
# columns of ``EndgameState.levels``
FREE: Any = np.uint64(0)  # pieces that are free before the level
BREAKS: Any = np.uint64(1)  # breaks spent before the level
CANDIDATES: Any = np.uint64(2)  # pieces still to try in any rotation: exact ones; in the next column breaking ones
CANDIDATE_SETS: Any = np.uint64(4)  # pieces still to try, in eight columns: exact ones by rotation, then breaking ones
SHOWN_RIGHT: Any = np.uint64(12)  # colour offset that the cell shows to its right
SHOWN_DOWN: Any = np.uint64(13)  # colour offset that the cell shows downwards
CHOSEN: Any = np.uint64(14)  # break * 256 + bit * 4 + rotation


class ClosingPlan(NamedTuple):
    """Read-only inputs. A *near* colour points along the rim towards the anchor, a *far* colour away from it."""

    rule: Int64Array  # int64 (levels,): NO_RULE; ANCHOR on the anchor's cell; RESERVE on rim cells after the anchor
    # that are not of the last stretch; RELEASE on the last of these, after which nothing is reserved
    row: Int64Array  # int64 (levels,): number of earlier cells with RESERVE or RELEASE
    rim_colours: Int64Array  # int64: colours whose connection is checked; none where the exact tail has rim cells
    # before the stretch, which may mismatch
    is_corner: npt.NDArray[np.uint8]  # uint8 (cells of the stretch,): from the anchor on, 1 on corners
    near_index: Int64Array  # int64 (pieces,): index of a rim piece's set in ClosingState.near_sets, -1 = none
    far_colour: Int64Array  # int64 (pieces,): the near colour that matches the far side; -1 = not a rim piece
    ends: Int64Array  # int64 (pieces, 2): colours of its near and far joint, as shown from the left or from below
    anchor_level: int  # level of the anchor; -1 = it is placed before the endgame, or there are no rules
    anchor_position: int  # padded position of an anchor that is placed before the endgame, else -1
    release_level: int  # level of RELEASE, -1 = there are no rules


class ClosingState(NamedTuple):
    """Sets of rim pieces, by their bits in the endgame, and the closings of the current prefix."""

    near_sets: Annotated[Bitsets, "2 colour_count"]  # edge pieces, then corner pieces, by near colour
    far_colour: Annotated[Int64Array, 64]  # `ClosingPlan.far_colour` by bit
    colour_sets: Annotated[Bitsets, "colour_count"]  # rim pieces with this colour among their `ClosingPlan.ends`
    rim_pieces: Annotated[Bitsets, 1]  # all rim pieces
    closings: Annotated[Bitsets, 2 * MAX_CLOSINGS]  # pieces of each closing; longer ones go into the other half
    end_colour: Annotated[Int64Array, 2 * MAX_CLOSINGS]  # far colour of each closing's last piece
    reserved: Annotated[Bitsets, "rows + 1"]  # pieces reserved, by `ClosingPlan.row`
    scalars: Annotated[Int64Array, 3]  # COUNT of closings, ANCHOR_COLOUR below the anchor, FIRST closing's index


class EndgamePlan(NamedTuple):
    """Read-only inputs of the endgame.

    A colour is stored as an *offset*, 4 * colour: an index into the sets by colour and rotation. The offset after the
    last colour stands for an unknown colour. A set of pieces is a uint64, one bit for each piece.
    """

    levels: Bitsets  # uint64 (16 (levels + 1),): by level and column, see CLASS_BASE
    outside: Int64Array  # int64 (levels, 3): see `outside_positions`
    position: Int64Array  # int64 (levels,): padded position of the cell
    side_offsets: Int64Array  # int64 (4 pieces, 4): colour offsets of each oriented piece by side
    packed: Int64Array  # int64 (8 pieces,): packed candidate of each oriented piece; then the same for cells
    # that are filled from the right
    mirrored: int  # index from which EndgameState.side_offsets holds left sides, and left_sets right sides
    first_set: Int64Array  # int64 (4 pieces + 1,): where the indexes of each oriented piece begin in set_indexes
    set_indexes: Int64Array  # int64: by oriented piece, indexes of the EndgameState.class_sets that hold it
    known_side: Int64Array  # int64 (classes,): `CellClass.known_side`
    piece_order: Int64Array  # int64 (pieces,): order in which free pieces get a bit
    closing: ClosingPlan
    colour_count: int  # number of colours, the rim's included
    endgame_start: int  # depth of level 0


class EndgameState(NamedTuple):
    """State of the endgame, in addition to `PrefixState`.

    Sets hold pieces that have a bit, free or used, and are derived from ``piece_of_bit`` (`assign_bit`). Four
    consecutive sets are those of the four rotations.
    """

    piece_of_bit: Annotated[Int64Array, 64, -1]  # piece of each bit, kept for the next prefix, which shares most pieces
    bit_of_piece: Annotated[Int64Array, "pieces", -1]  # bit of each piece, -1 = none
    left_sets: Annotated[Bitsets, "mirrored + 4 colour_count + 4"]  # pieces that show a colour on the left; from
    # ``mirrored`` on: on the right
    up_sets: Annotated[Bitsets, "4 colour_count + 4"]  # pieces that show a colour on top
    down_sets: Annotated[Bitsets, "4 padded_colours"]  # pieces that show a colour below; by rotation, then by colour
    class_sets: Annotated[Bitsets, "SETS_PER_CLASS classes"]  # pieces for a cell class, see SETS_PER_CLASS
    pair_sets: Annotated[Bitsets, "classes padded_colours^2"]  # pieces of a class that match a left and an upper colour
    oriented: Annotated[Int64Array, 256]  # oriented piece by bit * 4 + rotation
    side_offsets: Annotated[Bitsets, "mirrored + 512"]  # at bit * 8 + rotation * 2: offsets of the right and the lower
    # colour; from ``mirrored`` on: of the left and the lower colour
    levels: Annotated[Bitsets, "16 (2 levels + 1)"]  # by row and column, see FREE: one row for each level; then one for
    # each level with what the rim or cells before the endgame show to it; the last row shows the unknown colour
    closing: ClosingState


class PrefixState(NamedTuple):
    """State of the search, from which `Constructor.restore` resumes it."""

    cursor: Annotated[Int64Array, "cells + 1"]  # index of the next candidate by depth; in the endgame, column CHOSEN
    chosen: Annotated[Int64Array, "cells"]  # packed candidate by depth
    gain: Annotated[Int64Array, "cells + 1"]  # gain of the prefix by its length
    used: Annotated[npt.NDArray[np.uint8], "cells + 1"]  # 1 for pieces placed; the sentinels' piece, the last, stays 0
    right: Annotated[Int64Array, "positions"]  # colour that each cell shows to its right, times colour_count
    down: Annotated[Int64Array, "positions"]  # colour that each cell shows downwards
    scalars: Annotated[Int64Array, 2]  # DEPTH (or NOT_STARTED) and NODES
    child_counts: Annotated[Int64Array, "cells * COUNTS_PER_DEPTH"]  # placements of this restart, by depth, by whether
    # they break, and by the breaks spent after them
    frontier_keys: Annotated[Bitsets, "MAX_FRONTIER_KEYS + 1"]  # number of recorded keys, then the keys


def plan_endgame(
    puzzle: Puzzle, order: IntArray, start: int, cut: int, allowed: IntArray, chance: np.random.Generator
) -> tuple[EndgamePlan, EndgameState]:
    """Make the arrays of an endgame from depth ``start``, at most MAX_ENDGAME_PIECES before the last cell, to ``cut``.

    ``order``: int32 (cells,), cells by depth; ``allowed``: int32 (cells,), breaks that may have been spent by depth;
    ``chance`` decides the order in which pieces get their bits, and so the order in which they are tried.
    """
    levels, colour_count = cut - start, puzzle.colours + 1
    padded_colours = (colour_count + 8) & ~7  # with the unknown colour; a multiple of 8, for vectorized loops
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
        sets[-4:] = _ALL  # whatever is tried matches an unknown colour
    state.levels.reshape(-1, int(ROW_WORDS))[-1, [SHOWN_RIGHT, SHOWN_DOWN]] = 4 * colour_count
    return plan, state


def _plan_look_ahead(
    puzzle: Puzzle,
    level_of: dict[int, int],
    rows: Bitsets,
    classes: list[CellClass],
    closing: ClosingPlan,
    pairs: int,
) -> None:
    """Write the look-aheads of each level: to the next cell, and to a neighbour that is filled later.

    A later neighbour is checked if the colours on its left and above it are then both known, or if it shares a rim
    joint with the cell, since rim joints never break; of two such neighbours, the lower one. Not checked are clue
    cells, which hold the clue even if it does not match; later neighbours beside a clue; and cells of the last stretch
    while pieces are reserved for them, as reserved pieces do not count as free.

    ``rows``: uint64 (levels + 1, 16), as `EndgamePlan.levels`; ``pairs``: number of pairs of colours of a class.
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
        if level > 0:  # pieces reserved for the cell after RELEASE do not count as free yet
            checked = classes[level].clue < 0 and not (on_rim and closing.release_level == level - 1)
            write(level - 1, int(NEXT), level, rows[level, ALLOWED_BREAKS] if checked else NO_LIMIT, sources[level])
        beside = (LEFT, cell - 1) if classes[level].from_right else (RIGHT, cell + 1)
        for side, neighbour in (beside, (DOWN, cell + puzzle.width)):
            later = level_of.get(neighbour, -1)
            if classes[level].rim_sides[side] or later <= level + 1:
                continue
            known = [source if source <= level or source >= levels else unknown for source in sources[later]]
            rim_joint = not candidates.may_break(puzzle, cell, side)
            if rim_joint:  # the other side of the later cell may break
                known[side != DOWN] = unknown
            of_later = classes[later]
            beside_clue = of_later.clue >= 0 or of_later.clue_sides
            reserved = any(of_later.rim_sides) and closing.anchor_level < level < closing.release_level < later
            if (rim_joint or unknown not in known) and not beside_clue and not reserved:
                write(level, int(LATER), later, _NONE if rim_joint else rows[later, ALLOWED_BREAKS], known)


def plan_closing(puzzle: Puzzle, order: IntArray, start: int, cut: int) -> tuple[ClosingPlan, ClosingState]:
    """Make the arrays for an endgame from depth ``start`` to ``cut`` of ``order``, int32 (cells,).

    No rule applies (all NO_RULE) if the order leaves no stretch of the rim for the end, if a clue lies on the rim after
    the anchor, or if the colours of the rim pieces do not pair up, so that the rim cannot be completed at all.
    """
    colour_count = puzzle.colours + 1
    near_colour, far_colour = (np.full(puzzle.cells, -1, dtype=np.int64) for _ in range(2))
    for oriented, quad in enumerate(puzzle.oriented.tolist()):  # turned as on the right side or in its lower corner
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
    """Return the cells of the last stretch, from the anchor on, and the other rim cells filled after the anchor.

    The others are two lists: cells of the endgame, then of the exact tail. The stretch has the right-side cells filled
    after the first bottom cell, the corner, and the bottom cells filled after the first such right-side cell. All three
    lists are empty if no rule applies.
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
    """Add a piece with this bit to all sets that it belongs to, or remove it if it is in them."""
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
    """Assign ``bit`` to ``piece``, which has none; the previous owner of the bit loses it."""
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
