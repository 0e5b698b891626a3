"""From a puzzle and the cells of a region to the arrays of its search (`exact.region.state`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from exact.piece_classes import distinct_rotations
from exact.region.cost_to_go import no_rest
from exact.region.order import set_order
from exact.region.state import AHEAD, OUTSIDE, PARTS, RIM, WILD, Ints, RegionPlan, RegionWork, Words
from instances.puzzle import DOWN, GREY, RIGHT, UP, Puzzle, canonical
from lns_support.errors import InputError

MAX_REGION = 256


def plan_region(puzzle: Puzzle, cells: Iterable[int], *, filled: npt.NDArray[np.bool_] | None = None) -> RegionPlan:
    """Plan the region of ``cells``, to be filled in this order; `set_order` changes the order later.

    ``cells``: none of a clue, whose piece lies. ``filled``: bool (cells of the board,), which cells outside the region
    hold a piece when the region is solved; all of them by default.
    Raises InputError for an empty region, a cell off the board or named twice, or more than MAX_REGION free cells.
    """
    free = checked_cells(puzzle, cells)
    assert not set(free) & {clue.cell for clue in puzzle.clues}
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
                continue
            joint_at[i, side] = 2 * cell + (side == DOWN) if side in (RIGHT, DOWN) else 2 * other + (side == UP)
            if other in number:
                around[i, side] = number[other]
            elif full[other]:
                around[i, side] = OUTSIDE
                outside.append((int(joint_at[i, side]), other, (side + 2) % 4))
            else:
                around[i, side] = WILD
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
        order=np.zeros(n, dtype=np.int64),
        pattern=np.zeros(n, dtype=np.int64),
        known=np.zeros(n, dtype=np.int64),
        open=np.zeros(n, dtype=np.int64),
        side=np.zeros((n, 4), dtype=np.int64),
        joint=np.zeros((n, 4), dtype=np.int64),
        demand=np.zeros((n, 4), dtype=np.int64),
        wild=np.zeros(n + 1, dtype=np.int64),
        ahead=np.full((n, AHEAD), -1, dtype=np.int64),
        ahead_known=np.zeros((n, AHEAD), dtype=np.int64),
        kind_of=of_pattern,
        turns=np.array([_turns(kind) for kind in kinds], dtype=np.int64),
        need=np.bincount(of_pattern[pattern_at], minlength=len(kinds)).astype(np.int64),
        outside=np.array(outside, dtype=np.int64).reshape(-1, 3),
        of_clue=tables.of_clue,
        quads=tables.quads,
        pattern_of=pattern_of[tables.grey],
        kind_of_piece=kind_of[[_kind(grey) for grey in tables.grey[::4].tolist()]],
        first=tables.first,
        twin=tables.twin,
        part=_parts(tables, free),
    )
    set_order(plan, np.arange(n, dtype=np.int64), 0)
    return plan


def make_work(plan: RegionPlan, spare: int = 0) -> RegionWork:
    """Room for searches of ``plan``'s region in any order, with up to ``spare`` free pieces more than free cells."""
    n = len(plan.cells)
    words = max(1, int(np.max(-(-(plan.need + spare) * plan.turns // 64), initial=0)))
    patterns, kinds, colours1 = len(plan.kind_of), len(plan.turns), len(plan.part)
    bits = words * 64

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    def sets(size: int) -> Words:
        return np.zeros(size, dtype=np.uint64)

    return RegionWork(
        mask=sets(patterns * 4 * colours1 * words),
        valid=sets(patterns * words),
        free=sets(kinds * words),
        oriented=ints(patterns * bits),
        shows=ints(patterns * bits * 4),
        next_twin=ints(kinds * bits),
        last_twin=ints(len(plan.twin)),
        pieces=ints(kinds),
        joint_colour=ints(2 * len(plan.of_clue)),
        balance=ints(colours1),
        lacking=ints(PARTS),
        odd=ints(PARTS),
        spent=ints(n + 1),
        bound=ints(n + 1),
        level=ints(n + 1),
        word=ints(n + 1),
        bits=sets(n + 1),
        chosen=ints(n + 1),
        cap=np.full(n + 1, 4 * n + 4, dtype=np.int64),
        state=ints(16),
        found=np.zeros(n, dtype=np.int32),
        rest=no_rest(),
    )


def checked_cells(puzzle: Puzzle, cells: Iterable[int]) -> list[int]:
    """The cells as plain numbers. Raises InputError when there is none, or one off the board or named twice."""
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
    """What depends on the puzzle alone. ``shown[pattern][side]``: colours that pieces can show there."""

    quads: Ints
    grey: Ints
    first: npt.NDArray[np.uint8]
    twin: Ints
    of_clue: npt.NDArray[np.uint8]
    pattern_at: list[int]
    neighbour: list[list[int]]
    shown: dict[int, list[list[int]]]


@lru_cache(maxsize=8)
def _tables(puzzle: Puzzle) -> _Tables:
    quads = puzzle.oriented.astype(np.int64)
    grey = ((quads == GREY) << np.arange(4)).sum(axis=1).astype(np.int64)
    first = np.zeros((puzzle.cells, 4), dtype=np.uint8)
    alike: dict[tuple[int, ...], list[int]] = {}
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        first[piece, distinct_rotations(quad)] = 1
        alike.setdefault(canonical(quad), []).append(piece)
    twin = np.full(puzzle.cells, -1, dtype=np.int64)
    for members in alike.values():
        if len(members) > 1:
            twin[members] = members[0]
    bound = np.zeros(puzzle.cells, dtype=np.uint8)
    bound[[clue.piece for clue in puzzle.clues]] = 1
    beside = [dict(puzzle.neighbours(cell)) for cell in range(puzzle.cells)]
    rim = [puzzle.rim_sides(cell) for cell in range(puzzle.cells)]
    shown = {
        int(pattern): [sorted(set(quads[grey == pattern, side].tolist())) for side in range(4)]
        for pattern in np.unique(grey)
    }
    return _Tables(
        quads,
        grey,
        first.ravel(),
        twin,
        bound,
        [sum(side << s for s, side in enumerate(sides)) for sides in rim],
        [[there.get(side, -1) for side in range(4)] for there in beside],
        shown,
    )


def _parts(tables: _Tables, free: list[int]) -> Ints:
    """Parts of the colours: two colours share one as soon as some joint of the region could show both."""
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
        met = tables.shown[pattern][side] + tables.shown[beyond][(side + 2) % 4]
        for colour in met[1:]:
            parent[root(colour)] = root(met[0])
    numbers: dict[int, int] = {}
    part = [min(numbers.setdefault(root(colour), len(numbers)), PARTS - 1) for colour in range(1, colours1)]
    return np.array([0, *part], dtype=np.int64)


def _rotations(pattern: int) -> list[int]:
    return [((pattern << turn) | (pattern >> (4 - turn))) & 15 for turn in range(4)]


def _kind(pattern: int) -> int:
    """A pattern of grey sides up to rotation."""
    return min(_rotations(pattern))


def _turns(pattern: int) -> int:
    """In how many rotations a piece keeps its grey sides."""
    return _rotations(pattern).count(pattern)
