"""Grouping (Jolivet 2008, 2.3): all 2x2 blocks of pieces, then a row scan over blocks, as a paused search.

With blocks of one piece it is the zig-zag (2.1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exact.driver import CountedSearch, explored_share
from exact.execution import Check, build_and_run, unlimited
from exact.outcome import Answer
from exact.piece_classes import allowed_placements
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.jit import flat_kernel, inline_flat_kernel

NODES, SOLUTIONS, EXHAUSTED, LEVEL, DESCENDING, COUNTERS = 0, 1, 2, 3, 4, 5

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class BlockTables(NamedTuple):
    """The blocks of a puzzle. B: blocks; Q: numbered pairs of colours; a place is a cell of the board of blocks.

    Blocks of one place class and one left pair are consecutive, sorted by their upper pair. Pair 0 is two grey sides.
    """

    oriented: Ints  # (B, pieces of a block): the oriented pieces of a block
    up: Ints  # (B,): number of the pair of colours on the upper side
    right: Ints  # (B,): on the right side
    down: Ints  # (B,): on the lower side
    start: Longs  # (classes, Q+1): first block by place class and left pair, and the end
    class_of: Ints  # (places,): place class


class BlockState(NamedTuple):
    """The state of a paused scan over blocks. L: places; a level is the number of blocks placed."""

    placed: Longs  # (L,): the block on each place
    next_try: Longs  # (L,): by level, the next block to try
    end_try: Longs  # (L,): by level, the end of the blocks to try
    used: npt.NDArray[np.bool_]  # (pieces,): the piece is on the board
    per_level: Longs  # (L+1,): nodes by level
    first: Longs  # (L,): `placed` of the first solution
    counters: Longs  # (COUNTERS,): see the names above


@inline_flat_kernel
def lower_bound(values, begin, end, bound):  # type: ignore[no-untyped-def]
    """The first index in [begin, end) whose value is at least ``bound``, else ``end``."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < bound:
            begin = middle + 1
        else:
            end = middle
    return begin


@flat_kernel
def scan(tables, state, width, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Go on for ``budget`` nodes, or to the end, or to the next solution if ``stop_at_first``.

    Places are filled row by row, ``width`` blocks a row; a node is a placement.
    """
    counters = state.counters
    cells, size = len(tables.class_of), tables.oriented.shape[1]
    spent = 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            if level == cells:
                if counters[SOLUTIONS] == 0:
                    for cell in range(cells):
                        state.first[cell] = state.placed[cell]
                counters[SOLUTIONS] += 1
                counters[LEVEL] -= 1
                for k in range(size):
                    state.used[tables.oriented[state.placed[level - 1], k] >> 2] = False
                if stop_at_first:
                    break
                continue
            left = tables.right[state.placed[level - 1]] if level % width else 0
            up = tables.down[state.placed[level - width]] if level >= width else 0
            place_class = tables.class_of[level]
            begin, end = tables.start[place_class, left], tables.start[place_class, left + 1]
            first = lower_bound(tables.up, begin, end, up)
            state.next_try[level] = first
            state.end_try[level] = lower_bound(tables.up, first, end, up + 1)
        block, end = state.next_try[level], state.end_try[level]
        while block < end:
            free = True
            for k in range(size):
                free &= not state.used[tables.oriented[block, k] >> 2]
            if free:
                break
            block += 1
        state.next_try[level] = block + 1
        if block >= end:
            if level == 0:
                counters[EXHAUSTED] = 1
                continue
            counters[LEVEL] -= 1
            for k in range(size):
                state.used[tables.oriented[state.placed[level - 1], k] >> 2] = False
            continue
        for k in range(size):
            state.used[tables.oriented[block, k] >> 2] = True
        state.placed[level] = block
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        counters[LEVEL] += 1
        counters[DESCENDING] = 1


IntArray = npt.NDArray[np.int32]
MAX_BLOCKS = 6_000_000


class Blocks(CountedSearch):
    """A paused row scan over blocks (Jolivet 2008, 2.1 and 2.3). Nodes are placements; the empty board is one.

    Duplicate pieces are distinct (see `exact.piece_classes`).

    Parameters
    ----------
    puzzle : Puzzle
    size : int
        Blocks have ``size`` x ``size`` pieces; 1 or 2.
    all_four : bool
        The equal rotations of symmetric pieces are distinct too.
    check : callable
        Called while the blocks are listed.

    Attributes
    ----------
    by_class : dict
        Number of blocks by class of places, whose key is `Puzzle.rim_sides` of the cells of a block.

    Raises
    ------
    InputError
        If a side of the board is odd and ``size`` is 2, or there are more than `MAX_BLOCKS` blocks.
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(self, puzzle: Puzzle, size: int = 2, *, all_four: bool = False, check: Check = unlimited) -> None:
        if puzzle.width % size or puzzle.height % size:
            raise InputError(
                f"2x2 grouping of a board of {puzzle.width} x {puzzle.height}; expected even width and height"
            )
        self.puzzle, self.size = puzzle, size
        self._width = puzzle.width // size
        self.tables, self.by_class = _tables(puzzle, size, all_four, check)
        places = len(self.tables.class_of)
        self.state = BlockState(
            placed=np.zeros(places, dtype=np.int64),
            next_try=np.zeros(places, dtype=np.int64),
            end_try=np.zeros(places, dtype=np.int64),
            used=np.zeros(puzzle.cells, dtype=np.bool_),
            per_level=np.zeros(places + 1, dtype=np.int64),
            first=np.zeros(places, dtype=np.int64),
            counters=np.zeros(COUNTERS, dtype=np.int64),
        )
        self.counters = self.state.counters
        self.counters[[DESCENDING, NODES]] = 1
        self.state.per_level[0] = 1

    @property
    def explored(self) -> float:
        """Share of the blocks on the first place that are searched."""
        begin, end = int(self.tables.start[self.tables.class_of[0], 0]), int(self.state.end_try[0])
        return explored_share([(max(0, int(self.state.next_try[0]) - begin - 1), end - begin)])

    @property
    def details(self) -> dict[str, float]:
        deepest = np.flatnonzero(self.state.per_level).max()
        return {"blocks": float(len(self.tables.oriented)), "deepest": float(deepest)}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` placements, or to the end, or to the next solution when ``stop_at_first``."""
        scan(self.tables, self.state, self._width, budget, stop_at_first)

    def first_board(self) -> Board | None:
        """The first solution found, None before there is one."""
        if self.solutions == 0:
            return None
        cells = [cell for place in range(len(self.state.first)) for cell in _cells(self.puzzle, self.size, place)]
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placements[cells] = self.tables.oriented[self.state.first].reshape(-1)
        return Board(placements, self.puzzle.width, self.puzzle.height)


def run_blocks(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'blocks': 2x2 grouping (Jolivet 2008, 2.3)."""
    return build_and_run(lambda check: Blocks(puzzle, check=check), puzzle, request)


def _cells(puzzle: Puzzle, size: int, place: int) -> list[int]:
    """The cells of a place of the board of blocks, row by row."""
    row, column = divmod(place, puzzle.width // size)
    return [(row * size + r) * puzzle.width + column * size + c for r in range(size) for c in range(size)]


def _tables(
    puzzle: Puzzle, size: int, all_four: bool, check: Check
) -> tuple[BlockTables, dict[tuple[tuple[bool, ...], ...], int]]:
    """The blocks, by class of places with equal rim and clues, and the number of blocks by rim."""
    clue_cells = {clue.cell for clue in puzzle.clues}
    classes: dict[tuple[object, ...], int] = {}
    class_of: list[int] = []
    groups: list[IntArray] = []
    count: dict[tuple[tuple[bool, ...], ...], int] = {}
    for place in range(puzzle.cells // size**2):
        cells = _cells(puzzle, size, place)
        grey = tuple(puzzle.rim_sides(cell) for cell in cells)
        key = (grey, *(cell for cell in cells if cell in clue_cells))
        check()
        if key not in classes:
            classes[key] = len(classes)
            lists = [np.array(allowed_placements(puzzle, cell, all_four=all_four), dtype=np.int32) for cell in cells]
            most = MAX_BLOCKS - sum(map(len, groups))
            groups.append(lists[0].reshape(-1, 1) if size == 1 else _two_by_two(puzzle, lists, most, check))
            count[grey] = len(groups[-1])
        class_of.append(classes[key])
    oriented = np.concatenate(groups)
    place_class = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    up, right, down, left, pairs = _pairs(puzzle, oriented, size)
    check()
    keys = place_class * pairs + left
    order = np.argsort(keys * pairs + up, kind="stable")
    check()
    keys, oriented = keys[order], np.ascontiguousarray(oriented[order])
    check()
    start = np.searchsorted(keys, np.arange(len(groups) * pairs)).reshape(len(groups), pairs)
    end = np.searchsorted(keys, (np.arange(len(groups)) + 1) * pairs).reshape(-1, 1)
    tables = BlockTables(
        oriented=oriented,
        up=up[order],
        right=right[order],
        down=down[order],
        start=np.ascontiguousarray(np.hstack([start, end])).astype(np.int64),
        class_of=np.array(class_of, dtype=np.int32),
    )
    check()
    return tables, count


def _two_by_two(puzzle: Puzzle, lists: list[IntArray], most: int, check: Check) -> IntArray:
    """All 2x2 blocks from the oriented pieces allowed on their four cells, row by row; at most ``most``."""
    quads, colours = puzzle.oriented.astype(np.int64), puzzle.colours + 1
    top_right = _Sorted(lists[1], quads[lists[1], 3], colours)
    bottom_left = _Sorted(lists[2], quads[lists[2], 0], colours)
    bottom_right = _Sorted(lists[3], quads[lists[3], 0] * colours + quads[lists[3], 3], colours**2)
    found = [np.zeros((0, 4), dtype=np.int32)]
    for pieces in np.array_split(lists[0], len(lists[0]) // 64 + 1):
        check()
        blocks = top_right.beside(pieces.reshape(-1, 1), quads[pieces, 1])
        blocks = bottom_left.beside(blocks, quads[blocks[:, 0], 2])
        blocks = bottom_right.beside(blocks, quads[blocks[:, 1], 2] * colours + quads[blocks[:, 2], 1])
        found.append(blocks)
        if sum(map(len, found)) > most:
            raise _too_many()
    return np.concatenate(found)


def _too_many() -> InputError:
    return InputError(f"more than {MAX_BLOCKS:,} blocks of 2x2 pieces; expected more colours")


class _Sorted:
    """Oriented pieces in the order of a key from 0 to ``keys`` - 1."""

    def __init__(self, oriented: IntArray, key: npt.NDArray[Any], keys: int) -> None:
        self._oriented = oriented[np.argsort(key, kind="stable")]
        self._start = np.searchsorted(np.sort(key), np.arange(keys + 1))

    def beside(self, groups: IntArray, key: npt.NDArray[Any]) -> IntArray:
        """Each group of pieces with each piece that has its key and is none of the group, in order."""
        begin, number = self._start[key], self._start[key + 1] - self._start[key]
        if number.sum() > 2 * MAX_BLOCKS:  # more than half of them have four different pieces
            raise _too_many()
        group = np.repeat(np.arange(len(groups)), number)
        at = np.arange(len(group)) + np.repeat(begin - np.cumsum(number) + number, number)
        new = self._oriented[at]
        kept = np.ones(len(new), dtype=np.bool_)
        for column in groups.T:
            kept &= column[group] >> 2 != new >> 2
        return np.column_stack([groups[group[kept]], new[kept]])


def _pairs(puzzle: Puzzle, oriented: IntArray, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray, int]:
    """Numbers of the pairs of colours on the four sides of each block (0 = grey), and how many numbers there are."""
    quads, colours = puzzle.oriented, puzzle.colours + 1
    ends = {1: ((0, 0),) * 4, 2: ((0, 1), (1, 3), (2, 3), (0, 2))}[size]  # the two pieces of up, right, down, left
    codes = [
        quads[oriented[:, first], side] * colours + quads[oriented[:, second], side]
        for side, (first, second) in enumerate(ends)
    ]
    used = np.zeros(colours**2, dtype=np.bool_)
    used[0] = True
    for code in codes:
        used[code] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    up, right, down, left = (number[code] for code in codes)
    return up, right, down, left, int(number[-1]) + 1
