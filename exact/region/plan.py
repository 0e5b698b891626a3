"""Make the arrays of a region search (`exact.region.state`) from a puzzle and the cells of the region."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from exact.piece_classes import distinct_rotations
from exact.region.cost_to_go import empty_tables
from exact.region.order import empty_slots, with_order
from exact.region.state import (
    COLOUR_CLASSES,
    MAX_PENDING,
    MAX_TASKS,
    OUTSIDE,
    RIM,
    VACANT,
    Ints,
    RegionPlan,
    RegionState,
    Words,
)
from instances.puzzle import DOWN, GREY, RIGHT, UP, Puzzle, canonical
from lns_support.errors import InputError

MAX_REGION = 256


def plan_region(puzzle: Puzzle, cells: Iterable[int], *, filled: npt.NDArray[np.bool_] | None = None) -> RegionPlan:
    """Plan a region, to be filled in the order of ``cells``; `exact.region.order` gives it other orders.

    Parameters
    ----------
    puzzle : Puzzle
    cells : iterable of int
        Free cells of the region; none with a clue.
    filled : ndarray of bool (cells of the board,), optional
        Which cells outside the region hold a piece. Default: all.

    Raises
    ------
    InputError
        If the region is empty, names a cell twice or off the board, or has more than MAX_REGION cells.
    """
    free = checked_cells(puzzle, cells)
    assert not set(free) & {clue.cell for clue in puzzle.fixed}
    if len(free) > MAX_REGION:
        raise InputError(f"the region frees {len(free)} cells; expected at most {MAX_REGION}")
    full = np.ones(puzzle.cells, dtype=bool) if filled is None else np.asarray(filled, dtype=bool)
    tables = _tables(puzzle)
    n = len(free)
    number = {cell: i for i, cell in enumerate(free)}
    patterns = sorted({tables.pattern_at[cell] for cell in free})
    kinds = sorted({_kind(pattern) for pattern in patterns})
    around = np.full((n, 4), RIM, dtype=np.int64)
    joint_at = np.zeros((n, 4), dtype=np.int64)
    outside: list[tuple[int, int, int]] = []
    for i, cell in enumerate(free):
        for side in range(4):
            other = tables.neighbour[cell][side]
            if other < 0:
                if tables.free_joint[cell][side] >= 0:
                    around[i, side], joint_at[i, side] = VACANT, tables.free_joint[cell][side]
                continue
            joint_at[i, side] = 2 * cell + (side == DOWN) if side in (RIGHT, DOWN) else 2 * other + (side == UP)
            if other in number:
                around[i, side] = number[other]
            elif full[other]:
                around[i, side] = OUTSIDE
                outside.append((int(joint_at[i, side]), other, (side + 2) % 4))
            else:
                around[i, side] = VACANT
    pattern_of = np.full(16, -1, dtype=np.int64)
    pattern_of[patterns] = np.arange(len(patterns))
    kind_of = np.full(16, -1, dtype=np.int64)
    kind_of[kinds] = np.arange(len(kinds))
    pattern_at = pattern_of[[tables.pattern_at[cell] for cell in free]] if free else np.zeros(0, dtype=np.int64)
    of_pattern = np.array([kind_of[_kind(pattern)] for pattern in patterns], dtype=np.int64)
    plan = RegionPlan(
        cells=np.array(free, dtype=np.int64),
        pattern_at=pattern_at,
        around=around,
        joint_at=joint_at,
        **empty_slots(0),
        kind_of=of_pattern,
        rotations=np.array([_turns(kind) for kind in kinds], dtype=np.int64),
        cells_of_kind=np.bincount(of_pattern[pattern_at], minlength=len(kinds)).astype(np.int64),
        outside=np.array(outside, dtype=np.int64).reshape(-1, 3),
        is_clue=tables.of_clue,
        quads=tables.quads,
        pattern_of=pattern_of[tables.grey],
        kind_of_piece=kind_of[[_kind(grey) for grey in tables.grey[::4].tolist()]],
        distinct=tables.first,
        identical=tables.identical,
        colour_class=_colour_classes(tables, free),
    )
    return with_order(plan, np.arange(n, dtype=np.int64))


def make_state(plan: RegionPlan, spare: int = 0) -> RegionState:
    """Allocate the state of a search of ``plan``, for any order and up to ``spare`` more free pieces than cells."""
    n = len(plan.cells)
    words = max(1, int(np.max(-(-(plan.cells_of_kind + spare) * plan.rotations // 64), initial=0)))
    patterns, kinds, colours1 = len(plan.kind_of), len(plan.rotations), len(plan.colour_class)
    bits = words * 64

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    def sets(size: int) -> Words:
        return np.zeros(size, dtype=np.uint64)

    return RegionState(
        mask=sets(patterns * 4 * colours1 * words),
        valid=sets(patterns * words),
        free=sets(kinds * words),
        oriented=ints(patterns * bits),
        shows=ints(patterns * bits * 4),
        next_identical=ints(kinds * bits),
        last_identical=ints(len(plan.identical)),
        piece_count=ints(kinds),
        joint_colour=ints(2 * len(plan.is_clue)),
        balance=ints(colours1),
        deficit=ints(COLOUR_CLASSES),
        odd_balances=ints(COLOUR_CLASSES),
        spent=ints(n + 1),
        bound=ints(n + 1),
        level=ints(n + 1),
        word=ints(n + 1),
        bits=sets(n + 1),
        chosen=ints(n + 1),
        slot=ints(n + 1),
        cap=ints(n + 1),
        task=ints(MAX_TASKS, 4),
        placed=ints(n),
        next_task=ints(n + 1),
        tasks_before=ints(n + 1),
        pending=ints(MAX_PENDING),
        pending_before=ints(n + 1),
        scalars=ints(16),
        refill=np.zeros(n, dtype=np.int32),
        tables=empty_tables(),
    )


def checked_cells(puzzle: Puzzle, cells: Iterable[int]) -> list[int]:
    """The cells as a list of int. Raises InputError if there is none, or one is off the board or named twice."""
    chosen = [int(cell) for cell in cells]
    if not chosen:
        raise InputError("the region has no cell; expected 1 or more")
    seen: set[int] = set()
    for cell in chosen:
        if not 0 <= cell < puzzle.cells:
            raise InputError(f"the region names cell {cell}, off the board; expected 0 to {puzzle.cells - 1}")
        if cell in seen:
            raise InputError(f"the region names {puzzle.cell_label(cell)} twice; expected each cell once")
        seen.add(cell)
    return chosen


@dataclass(frozen=True)
class _Tables:
    """Arrays that depend on the puzzle alone. ``shown[pattern][side]``: colours that pieces can have on that side.

    ``free_joint``: by cell and side a number that no inner edge has, for a side on the rim of a board without frame.
    Such a side is a vacant joint. All others have -1.
    """

    quads: Ints
    grey: Ints
    first: npt.NDArray[np.uint8]
    identical: Ints
    of_clue: npt.NDArray[np.uint8]
    pattern_at: list[int]
    neighbour: list[list[int]]
    free_joint: list[list[int]]
    shown: dict[int, list[list[int]]]


@lru_cache(maxsize=8)
def _tables(puzzle: Puzzle) -> _Tables:
    quads = puzzle.oriented.astype(np.int64)
    grey = ((quads == GREY) << np.arange(4)).sum(axis=1).astype(np.int64)
    first = np.zeros((puzzle.cells, 4), dtype=np.uint8)
    by_colours: dict[tuple[int, ...], list[int]] = {}
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        first[piece, distinct_rotations(quad) if puzzle.turns else [0]] = 1
        by_colours.setdefault(canonical(quad) if puzzle.turns else tuple(quad), []).append(piece)
    identical = np.full(puzzle.cells, -1, dtype=np.int64)
    for members in by_colours.values():
        if len(members) > 1:
            identical[members] = members[0]
    bound = np.zeros(puzzle.cells, dtype=np.uint8)
    bound[[clue.piece for clue in puzzle.fixed]] = 1
    beside = [dict(puzzle.neighbours(cell)) for cell in range(puzzle.cells)]
    rim = [puzzle.grey_sides(cell) for cell in range(puzzle.cells)]
    shown = {
        int(pattern): [sorted(set(quads[grey == pattern, side].tolist())) for side in range(4)]
        for pattern in np.unique(grey)
    }
    return _Tables(
        quads,
        grey,
        first.ravel(),
        identical,
        bound,
        [sum(side << s for s, side in enumerate(sides)) for sides in rim],
        [[there.get(side, -1) for side in range(4)] for there in beside],
        [_free_joints(puzzle, cell) for cell in range(puzzle.cells)],
        shown,
    )


def _free_joints(puzzle: Puzzle, cell: int) -> list[int]:
    """`_Tables.free_joint` of a cell: the joints beyond the right and lower rim are no inner edges."""
    row, column = divmod(cell, puzzle.width)
    beyond_right = 2 * (row * puzzle.width + puzzle.width - 1)
    beyond_below = 2 * ((puzzle.height - 1) * puzzle.width + column) + 1
    joints = (beyond_below, beyond_right, beyond_below, beyond_right)
    sides = zip(joints, puzzle.rim_sides(cell), puzzle.grey_sides(cell), strict=True)
    return [joint if on_rim and not grey else -1 for joint, on_rim, grey in sides]


def _colour_classes(tables: _Tables, free: list[int]) -> Ints:
    """int64 (colours + 1,): colour classes; two colours share a class if a joint of the region could have both."""
    colours1 = int(tables.quads.max()) + 1
    parent = list(range(colours1))

    def root(colour: int) -> int:
        while parent[colour] != colour:
            colour = parent[colour]
        return colour

    joints = {
        (tables.pattern_at[cell], side, tables.pattern_at[other])
        for cell in free
        for side, other in enumerate(tables.neighbour[cell])
        if other >= 0
    }
    for pattern, side, beyond in sorted(joints):
        possible = tables.shown[pattern][side] + tables.shown[beyond][(side + 2) % 4]
        for colour in possible[1:]:
            parent[root(colour)] = root(possible[0])
    numbers: dict[int, int] = {}
    part = [min(numbers.setdefault(root(colour), len(numbers)), COLOUR_CLASSES - 1) for colour in range(1, colours1)]
    return np.array([0, *part], dtype=np.int64)


def _rotations(pattern: int) -> list[int]:
    """The four rotations of a pattern (bit s: side s has the colour of the rim)."""
    return [((pattern << turn) | (pattern >> (4 - turn))) & 15 for turn in range(4)]


@cache
def _kind(pattern: int) -> int:
    """The kind of a pattern: the smallest of its rotations."""
    return min(_rotations(pattern))


def _turns(pattern: int) -> int:
    """Number of rotations that leave a pattern unchanged."""
    return _rotations(pattern).count(pattern)
