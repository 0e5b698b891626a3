"""The region that is searched, and the functions that make the arrays of `lns.exact.region.state` for it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.kernel import prepare
from lns.exact.colorpairs.options import Options
from lns.exact.colorpairs.state import State, Tables, colours_by_axis, counter, empty_state, make_tables
from lns.exact.kernels import allocate
from lns.exact.region.cost_to_go import make_cost_tables
from lns.exact.region.options import HALVED_FROM
from lns.exact.region.scheme import RegionShape, SearchScheme
from lns.exact.region.state import (
    COLOUR_CLASSES,
    MAX_AHEAD,
    OUTSIDE,
    RIM,
    VACANT,
    Ints,
    RegionPlan,
    RegionState,
    Spending,
    Words,
)
from lns.instances.board import EMPTY, Board
from lns.instances.errors import BoardError, InputError
from lns.instances.piece_set import normalise_clue_pieces
from lns.instances.puzzle import DOWN, GREY, RIGHT, UP, Puzzle
from lns.instances.verify import Verification, verify

MAX_REGION = 256
_ROTATIONS = [[((pattern << turn) | (pattern >> (4 - turn))) & 15 for turn in range(4)] for pattern in range(16)]
_KIND = np.array([min(rotated) for rotated in _ROTATIONS], dtype=np.int64)  # kind by pattern of grey sides (bit = side)
_TURNS = np.array([rotated.count(rotated[0]) for rotated in _ROTATIONS], dtype=np.int64)  # how many keep a pattern
_SIDES = np.array([3, 0, 1, 2])  # the order in which the joints of a cell are listed: left, up, right, down
_NO_CLUES = np.zeros(0, dtype=np.int32)


class Region:
    """The cells of a board that are to be refilled, at least one of them no clue's, and the pieces around them.

    All cells but those of clues are freed. ``joints``: number of inner edges of freed cells on which mismatches count.
    The score of the whole board is ``base`` + ``joints`` - mismatches; ``base``: matched edges with no freed cell.
    ``outside``: int32 (cells of the board,), oriented pieces on cells not freed, -1 elsewhere; ``free``: bool
    (pieces,), whether a piece may be placed; ``start``: the board with the region's clues placed and, if the region is
    partly filled, its empty cells filled; ``mismatches``: those of ``start`` on the joints, or ``joints`` + 1 if
    ``start`` breaks a rule or its region is empty. Raises InputError as `resolve` does.
    """

    def __init__(
        self, puzzle: Puzzle, board: Board, cells: list[int], halved_from: tuple[int, ...] = HALVED_FROM
    ) -> None:
        self.puzzle, self.given, self.cells = puzzle, board, cells
        self.verification = verify(puzzle, board)
        start = with_clues(puzzle, board, cells)
        clue_cells = {clue.cell for clue in puzzle.fixed}
        free = [cell for cell in cells if cell not in clue_cells]
        rest = start.with_pieces(free, EMPTY)
        self.outside = rest.placements
        filled = self.outside >= 0
        self.plan = plan_region(puzzle, free, filled=filled)
        self.joints = int((self.plan.around >= 0).sum()) // 2 + len(self.plan.outside)
        given, freed = self.verification, set(free)
        if start == board and not given.violations and not (start.placements[free] < 0).any():
            self.base = given.score - self.joints + sum(a in freed or b in freed for a, b in given.mismatches)
        else:
            self.base = verify_rest(puzzle, rest).score
        unused = np.ones(puzzle.cells, dtype=bool)
        unused[self.outside[filled] >> 2] = False
        self.free = unused & (self.plan.is_clue == 0) & (self.plan.kind_of_piece >= 0)
        around = self.plan.cells.tobytes() + self.plan.around.tobytes()
        levels = sum(len(free) >= cells for cells in halved_from)
        self.shape = RegionShape(puzzle, self.plan, around, max(0, int(unused.sum()) - len(free)), levels)
        occupied = start.placements[free] >= 0
        verification = self.verification if start == board else verify(puzzle, start)
        if occupied.any() and not occupied.all() and not verification.violations:
            start = start.filled(puzzle, free)
            verification = verify(puzzle, start)
        legal = occupied.any() and not verification.violations
        self.start = start
        self.mismatches = self.base + self.joints - verification.score if legal else self.joints + 1
        if puzzle.rim and not legal:  # enough pieces of each kind are free, but perhaps not with the rim's colour
            from scipy.optimize import linear_sum_assignment

            fits = np.array([puzzle.fits(cell).reshape(-1, 4).any(axis=1) & self.free for cell in free])
            if not fits[linear_sum_assignment(fits, maximize=True)].all():
                raise BoardError(f"no refill is legal: too few pieces are left with colour {puzzle.rim} for the rim")


def checked_cells(puzzle: Puzzle, cells: Iterable[int]) -> list[int]:
    """Return the cells as a list of int. Raises InputError for no cell, a cell off the board or a cell named twice."""
    chosen = [int(cell) for cell in cells]
    if not chosen:
        raise InputError("the region has no cell; expected 1 or more")
    for number, cell in enumerate(chosen):
        if not 0 <= cell < puzzle.cells:
            raise InputError(f"the region names cell {cell}, off the board; expected 0 to {puzzle.cells - 1}")
        if cell in chosen[:number]:
            raise InputError(f"the region names {puzzle.cell_label(cell)} twice; expected each cell once")
    return chosen


def with_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """Return the board with the region's clues placed; identical pieces swap numbers so that none occurs twice."""
    clues = {clue.cell: clue.oriented for clue in puzzle.fixed if clue.cell in cells}
    return normalise_clue_pieces(puzzle, board, cells).with_pieces([*clues], [*clues.values()])


def verify_rest(puzzle: Puzzle, rest: Board) -> Verification:
    """Verify the board ``rest``, without the freed pieces of the region. Raises BoardError if it breaks a rule."""
    verification = verify(puzzle, rest)
    if verification.violations:
        raise BoardError(f"the board breaks a rule outside the region: {verification.violations[0]}")
    return verification


class _Tables:
    """Arrays that depend on the puzzle alone. n: number of cells, which is also that of pieces, blanks included."""

    def __init__(self, puzzle: Puzzle) -> None:
        quads, mate, bits = puzzle.oriented.astype(np.int64), puzzle.mate, 1 << np.arange(4)
        self.quads = quads
        grey, on_rim = ((puzzle.turned == colour) @ bits for colour in (GREY, puzzle.rim))
        self.grey = grey  # the grey sides of each oriented piece, as bits (bit s: side s)
        # (n, 4): number of earlier rotations of the piece with the same grey sides
        self.earlier = np.tril(grey.reshape(-1, 4, 1) == grey.reshape(-1, 1, 4), -1).sum(axis=2)
        grey_sides = np.array([puzzle.grey_sides(cell) for cell in range(puzzle.cells)])
        self.grey_at = grey_sides @ bits  # the sides of each cell that must be grey, as bits
        outer = ~grey_sides & [puzzle.rim_sides(cell) for cell in range(puzzle.cells)]
        # (n, 4): outer sides that may have any colour, and outer sides that must have the rim's colour, if not grey
        has_any_colour, self.rim_at = outer & (puzzle.rim == GREY), outer & (puzzle.rim != GREY)
        patterns, self.pattern_at = np.unique(self.grey_at | self.rim_at @ bits << 4, return_inverse=True)
        # which oriented pieces fit a pattern, as `RegionPlan.fits` but for all patterns of the board
        self.fits = (grey == patterns[:, None] & 15) & (~on_rim & patterns[:, None] >> 4 == 0)
        # colours of the oriented pieces (4n, 4), those that match them, and those of the rim (1, 4)
        looks = puzzle.turned, mate[puzzle.turned], np.full((1, 4), puzzle.rim)
        self.colours, self.mates, self.rim = (colours_by_axis(look, puzzle.turns, puzzle.colours) for look in looks)
        # the colours that have a mate; empty if pieces may not be turned
        self.paired = np.flatnonzero((mate != np.arange(len(mate))) & puzzle.turns)
        turned = quads.reshape(-1, 4, 4)
        distinct = ~np.tril((turned[:, :, None] == turned[:, None]).all(axis=3), -1).any(axis=2)
        distinct[:, 1:] &= puzzle.turns
        self.distinct = distinct.ravel().astype(np.uint8)
        look = (quads @ (int(quads.max()) + 1) ** np.arange(4)).reshape(-1, 4)[:, : 4 if puzzle.turns else 1]
        _, named, number, count = np.unique(
            look.min(axis=1), return_index=True, return_inverse=True, return_counts=True
        )
        self.identical = np.where(count > 1, named, -1)[number].astype(np.int64)
        self.is_clue = np.zeros(puzzle.cells, dtype=np.uint8)
        self.is_clue[[clue.piece for clue in puzzle.fixed]] = 1
        # cell and joint at each side of a cell, -1 = none; an outer side that may have any colour has its own joint
        self.neighbour, self.joint = np.full((2, puzzle.cells, 4), -1, dtype=np.int64)
        for cell in range(puzzle.cells):
            row, column = divmod(cell, puzzle.width)
            right, below = 2 * (row * puzzle.width + puzzle.width - 1), 2 * (puzzle.cells - puzzle.width + column) + 1
            self.joint[cell, has_any_colour[cell]] = np.array([below, right, below, right])[has_any_colour[cell]]
            for side, other in puzzle.neighbours(cell):
                self.neighbour[cell, side] = other
                nearer = cell if side in (RIGHT, DOWN) else other
                self.joint[cell, side] = 2 * nearer + (side in (UP, DOWN))


_tables = lru_cache(maxsize=8)(_Tables)


def plan_region(puzzle: Puzzle, free: list[int], *, filled: npt.NDArray[np.bool_]) -> RegionPlan:
    """Make the plan of the region of the cells ``free``, without an order of the cells, which `with_slots` adds.

    ``filled``: bool (cells of the board,), whether a cell outside the region holds a piece. Raises InputError for more
    than MAX_REGION cells.
    """
    if len(free) > MAX_REGION:
        raise InputError(f"the region frees {len(free)} cells; expected at most {MAX_REGION}")
    tables, n = _tables(puzzle), len(free)
    number = np.full(puzzle.cells + 1, -1, dtype=np.int64)
    number[free] = np.arange(n)
    beyond, joint = tables.neighbour[free], tables.joint[free]
    around = np.where(beyond < 0, np.where(joint < 0, RIM, VACANT), np.where(filled[beyond], OUTSIDE, VACANT))
    around = np.where(number[beyond] >= 0, number[beyond], around)
    at, side = np.nonzero(around == OUTSIDE)
    patterns, first, pattern_at = np.unique(tables.pattern_at[free], return_index=True, return_inverse=True)
    kinds, kind_of = np.unique(_KIND[tables.grey_at[free][first]], return_inverse=True)
    kind_number = np.full(16, -1, dtype=np.int64)
    kind_number[kinds] = np.arange(len(kinds))
    own, towards = np.nonzero(beyond >= 0)
    joints = tables.grey_at[free][own], towards, tables.grey_at[beyond[own, towards]]
    return RegionPlan(
        cells=np.array(free, dtype=np.int64),
        pattern_at=pattern_at.astype(np.int64),
        around=around,
        joint_at=np.maximum(joint, 0),
        kind_of=kind_of.astype(np.int64),
        rotations=_TURNS[kinds],
        cells_of_kind=np.bincount(kind_of[pattern_at], minlength=len(kinds)).astype(np.int64),
        outside=np.column_stack((joint[at, side], beyond[at, side], side ^ 2)),
        is_clue=tables.is_clue,
        quads=tables.quads,
        fits=tables.fits[patterns],
        kind_of_piece=kind_number[_KIND[tables.grey[::4]]],
        distinct=tables.distinct,
        identical=tables.identical,
        colour_class=_colour_classes(puzzle, frozenset(zip(*(part.tolist() for part in joints), strict=True))),
    )


@lru_cache(maxsize=64)
def _colour_classes(puzzle: Puzzle, joints: frozenset[tuple[int, int, int]]) -> Ints:
    """Return each colour's class; colours possible on one joint (grey sides, side, grey sides beyond) share one."""
    tables = _tables(puzzle)
    label = np.arange(len(puzzle.mate))
    for pattern, side, beyond in joints:
        possible = tables.quads[tables.grey == pattern, side], tables.quads[tables.grey == beyond, side ^ 2]
        merged = label[np.concatenate(possible)]
        label[np.isin(label, merged)] = merged.min(initial=len(label))
    numbers: dict[int, int] = {}
    part = [min(numbers.setdefault(each, len(numbers)), COLOUR_CLASSES - 1) for each in label[1:].tolist()]
    return np.array([0, *part], dtype=np.int64)


def with_slots(plan: RegionPlan, scheme: SearchScheme) -> RegionPlan:
    """Return the plan with its arrays by slot of a search scheme, such as the joints known when a cell is filled."""
    n, order = len(plan.cells), scheme.cells
    stages = np.flatnonzero(scheme.first_slot >= 0)
    first, length = scheme.first_slot[stages], scheme.length[stages]
    row = np.repeat(np.arange(len(stages)), length)
    here = np.arange(len(order)) - first[row] + 1
    place = np.where(scheme.filled[stages] > 0, 0, n + 1)  # 0 = filled before, k = k-th cell of the stage, n + 1 = open
    place[row, order] = here
    around = plan.around[order][:, _SIDES]
    time = np.where(around >= 0, place[row[:, None], np.maximum(around, 0)], np.where(around == OUTSIDE, -1, n + 1))
    key = np.where(time < here[:, None], time, np.where(around == RIM, n + 2, n + 1))
    by = np.argsort(key, axis=1, kind="stable")  # known joints as they become known, then open joints
    key = np.take_along_axis(key, by, axis=1)
    side = _SIDES[by]
    around = np.take_along_axis(plan.around[order], side, axis=1)
    vacant = (plan.around == VACANT).sum(axis=1)
    filled = np.cumsum(vacant[order])
    ahead = np.full((len(order), MAX_AHEAD), -1, dtype=np.int64)
    ahead_known = np.zeros((len(order), MAX_AHEAD), dtype=np.int64)
    later = np.arange(len(order))[:, None] + np.arange(length.max())
    in_stage = later < (first + length)[row][:, None]
    later = np.where(in_stage, later, 0)
    near = in_stage & (key[:, 1][later] < here[:, None])  # the cell has two known joints before the slot is filled
    rank = np.cumsum(near, axis=1)
    at, offset = np.nonzero(near & (rank <= MAX_AHEAD))
    ahead[at, rank[at, offset] - 1] = at + offset
    ahead_known[at, rank[at, offset] - 1] = (key[at + offset] < here[at, None]).sum(axis=1)
    ends_stage = np.zeros(len(order), dtype=np.int64)
    ends_stage[first + length - 1] = 1
    return plan._replace(
        order=order,
        ends_stage=ends_stage,
        pattern=plan.pattern_at[order],
        known=(key <= n).sum(axis=1),
        open=(key == n + 1).sum(axis=1),
        side=np.where(around == RIM, 0, side),
        joint=np.where(around == RIM, 0, np.take_along_axis(plan.joint_at[order], side, axis=1)),
        demand=np.where(around == RIM, 0, np.where(around == VACANT, 1, 2)),
        vacant=((place > 0) @ vacant)[row] - filled + (filled - vacant[order])[first][row],
        ahead=ahead,
        ahead_known=ahead_known,
    )


def bit_sets(rows: int, words: int, row: Any, bit: Ints) -> Words:
    """Return ``rows`` bit sets of ``words`` 64-bit words each; ``row``: index of the set to which a ``bit`` belongs."""
    made = np.zeros(rows * words, dtype=np.uint64)
    np.bitwise_or.at(made, row * words + (bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
    return made


def make_state(region: Region, largest_table: int = 0) -> RegionState:
    """Make the state of a search, for any cell order. ``largest_table``: most entries of a cost table, 0 = none."""
    plan, tables = region.plan, _tables(region.puzzle)
    n, pieces = len(plan.cells), np.flatnonzero(region.free)
    patterns, kinds, colours1 = len(plan.kind_of), len(plan.rotations), len(plan.colour_class)
    words = max(1, int(np.max(-(-(plan.cells_of_kind + region.shape.spare) * plan.rotations // 64), initial=0)))
    bits, kind = words * 64, plan.kind_of_piece[pieces]
    by_kind = np.cumsum(kind[:, None] == np.arange(kinds), axis=0)
    start = (by_kind[np.arange(len(pieces)), kind] - 1) * plan.rotations[kind]
    pattern, piece, rotation = np.nonzero(plan.fits.reshape(patterns, -1, 4)[:, pieces])
    bit, oriented = start[piece] + tables.earlier[pieces[piece], rotation], pieces[piece] * 4 + rotation
    looks = plan.distinct[oriented] > 0
    shown = (pattern[:, None] * 4 + np.arange(4)) * colours1 + plan.quads[oriented]
    identical = plan.identical[pieces]
    sizes = {"n": n, "n+1": n + 1, "colours": colours1, "joints": 2 * len(plan.is_clue), "kinds*words": kinds * words}
    sizes |= {"kinds*bits": kinds * bits, "patterns*bits": patterns * bits, "patterns*bits*4": patterns * bits * 4}
    state = allocate(
        RegionState,
        sizes,
        mask=bit_sets(patterns * 4 * colours1, words, shown, bit[:, None]),
        valid=bit_sets(patterns, words, pattern[looks], bit[looks]),
        tables=make_cost_tables(plan, pieces, bits, largest_table),
    )
    state.oriented[pattern * bits + bit] = oriented
    state.shows.reshape(-1, 4)[pattern * bits + bit] = plan.quads[oriented]
    last: dict[int, int] = {}
    for each, first, own in zip(identical.tolist(), start.tolist(), kind.tolist(), strict=True):
        if each in last:  # this piece is not free until the previous identical piece is placed
            state.next_identical[own * bits + last[each]] = first
        else:
            turns = (1 << int(plan.rotations[own])) - 1
            state.free_before[own * words + (first >> 6)] |= np.uint64(turns << (first & 63))
        if each >= 0:
            last[each] = first
    joint, cell, side = plan.outside.T
    state.joint_colour[joint] = plan.quads[region.outside[cell], side]
    np.add.at(state.balance_before, plan.quads[pieces * 4], 1)
    # A side shows its colour or that colour's mate, depending on the rotation. Both balances count it, but a placement
    # lowers only one, so no balance is too small. A balance may then be odd without a mismatch; SPARE allows for that.
    mate, rim = region.puzzle.mate, region.puzzle.rim
    state.balance_before[tables.paired] += state.balance_before[mate[tables.paired]]
    np.subtract.at(state.balance_before, state.joint_colour[joint], 1)
    if rim:  # outer sides require the colour of the rim
        asked = [rim, mate[rim], mate[rim], rim], tables.rim_at[plan.cells].sum(axis=0)
        np.subtract.at(state.balance_before, *asked)
    state.balance_before[0] = 1 << 40
    state.counters[counter.SPARE] = len(pieces) - n + -(-len(tables.paired) // 4)
    return state


def make_dynamic_state(region: Region) -> tuple[Tables, State, Spending]:
    """Make the arrays of a dynamic search of a region, as they are before the first cell is decided.

    Free pieces get indices from 0, duplicates next to each other; cells are those of the plan; colours get indices
    without gaps. In sets of oriented pieces, an oriented piece has the *bit* piece * 4 + rotation.
    """
    plan, puzzle, board = region.plan, region.puzzle, _tables(region.puzzle)
    n, free = len(plan.cells), np.flatnonzero(region.free)
    group = np.where(plan.identical[free] >= 0, plan.identical[free], free)
    by_group = np.argsort(group, kind="stable")
    oriented = (free[by_group][:, None] * 4 + np.arange(4)).ravel().astype(np.int64)
    required = np.where(board.rim_at[plan.cells], board.rim, np.where(plan.around == RIM, GREY, -1))  # -1 = any
    required[plan.around == OUTSIDE] = board.mates[region.outside[plan.outside[:, 1]], plan.outside[:, 2]]
    quads, mates = board.colours[oriented], board.mates[oriented]
    values = np.unique(np.append(GREY, np.concatenate([quads, mates, required.clip(GREY)])))
    quads = np.searchsorted(values, quads)
    shown = np.where(required > GREY, np.searchsorted(values, required), required).astype(np.int32)
    tables = make_tables(
        quads=quads[::4],
        mates=np.searchsorted(values, mates[::4]) if puzzle.mates else None,
        classes=group[by_group],
        colours=len(values),
        neighbour=np.where(plan.around >= 0, plan.around, -1).astype(np.int32).ravel(),
        shown=shown.ravel(),
        turns=puzzle.turns,
        opposite=True,
    )
    state = empty_state(tables, Options())
    prepare(tables, state, _NO_CLUES, _NO_CLUES, False)
    bits, words, pairs = np.arange(len(oriented)), max(1, -(-len(oriented) // 64)), len(tables.pair_first)
    pattern, looks = np.nonzero(plan.fits[:, oriented] & (plan.distinct[oriented] > 0))
    fit = bit_sets(len(plan.kind_of), words, pattern, looks).reshape(-1, words)
    sizes = {"n": n, "n+1": n + 1, "n+2": n + 2, "P": pairs, "N": tables.pieces, "W": tables.words}
    sizes |= {"N*W": tables.pieces * tables.words, "(n+1)*B": (n + 1) * words}
    spending = allocate(
        Spending,
        sizes,
        origin=oriented,
        fit=fit[plan.pattern_at].ravel(),
        mask=bit_sets(4 * len(values), words, np.arange(4) * len(values) + quads, bits[:, None]),
        free=bit_sets(1, words, 0, np.flatnonzero(np.repeat(tables.previous_duplicate < 0, 4))),
    )
    spending.vacant[0] = (plan.around == VACANT).sum()
    return tables, state, spending
