"""Grouping as a paused search; with blocks of a single piece it is seed 003's plain zig-zag, twins told apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.blocks.kernel import (
    COUNTERS,
    DESCENDING,
    EXHAUSTED,
    NODES,
    SOLUTIONS,
    BlockState,
    BlockTables,
    make_blocks,
    scan,
)
from exact.driver import CountedSearch, explored_share
from exact.enumeration import run_request
from exact.outcome import Answer
from exact.piece_multiplicity import allowed_placements, distinct_count
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.errors import InputError

IntArray = npt.NDArray[np.int32]
MAX_BLOCKS = 6_000_000


class Blocks(CountedSearch):
    """A paused row scan of ``puzzle`` over blocks of ``size`` x ``size`` pieces (1 or 2).

    Jolivet 2008 (seed 003), 2.1 and 2.3. Nodes are placements, and the empty board is one. Identical pieces are told
    apart (see `exact.piece_multiplicity`), and with ``all_four`` the equal rotations of symmetric pieces too.
    Raises InputError for an odd side when ``size`` is 2, and for more than `MAX_BLOCKS` blocks.
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(self, puzzle: Puzzle, size: int = 2, *, all_four: bool = False) -> None:
        if puzzle.width % size or puzzle.height % size:
            raise InputError(
                f"2x2 grouping of a board of {puzzle.width} x {puzzle.height}; expected even width and height"
            )
        self.puzzle, self.size = puzzle, size
        self._width = puzzle.width // size
        self.tables, self.by_class = _tables(puzzle, size, all_four)
        places = len(self.tables.class_of)
        self.state = BlockState(
            laid=np.zeros(places, dtype=np.int64),
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
        """Share of the first place's blocks that are done."""
        kind = self.tables.class_of[0]
        begin, end = int(self.tables.start[kind, 0]), int(self.state.end_try[0])
        return explored_share([(max(0, int(self.state.next_try[0]) - begin - 1), end - begin)])

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
    """2x2 grouping behind the single interface."""
    search = Blocks(puzzle)
    status, solutions, seconds, first = run_request(search, request)
    details = {
        "blocks": float(len(search.tables.oriented)),
        "deepest": float(np.flatnonzero(search.state.per_level).max()),
    }
    return Answer(status, distinct_count(solutions, puzzle), search.nodes, seconds, first, details)


def _cells(puzzle: Puzzle, size: int, place: int) -> list[int]:
    """The cells of a place of the half-size board, row by row."""
    row, column = divmod(place, puzzle.width // size)
    return [(row * size + r) * puzzle.width + column * size + c for r in range(size) for c in range(size)]


def _tables(puzzle: Puzzle, size: int, all_four: bool) -> tuple[BlockTables, dict[tuple[tuple[bool, ...], ...], int]]:
    """Blocks by class of places (rim and clues), and how many each class has."""
    clue_cells = {clue.cell for clue in puzzle.clues}
    classes: dict[tuple[object, ...], int] = {}
    class_of: list[int] = []
    groups: list[IntArray] = []
    count: dict[tuple[tuple[bool, ...], ...], int] = {}
    for place in range(puzzle.cells // size**2):
        cells = _cells(puzzle, size, place)
        grey = tuple(puzzle.rim_sides(cell) for cell in cells)
        key = (grey, *(cell for cell in cells if cell in clue_cells))
        if key not in classes:
            classes[key] = len(classes)
            lists = [np.array(allowed_placements(puzzle, cell, all_four=all_four), dtype=np.int32) for cell in cells]
            room = MAX_BLOCKS - sum(map(len, groups))
            groups.append(lists[0].reshape(-1, 1) if size == 1 else _two_by_two(puzzle, lists, room))
            count[grey] = len(groups[-1])
        class_of.append(classes[key])
    oriented = np.concatenate(groups)
    kind = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    up, right, down, left, pairs = _pairs(puzzle, oriented, size)
    order = np.lexsort((up, left, kind))
    place_of = kind[order] * pairs + left[order]
    start = np.searchsorted(place_of, np.arange(len(groups) * pairs)).reshape(len(groups), pairs)
    end = np.searchsorted(place_of, (np.arange(len(groups)) + 1) * pairs).reshape(-1, 1)
    tables = BlockTables(
        np.ascontiguousarray(oriented[order]),
        up[order],
        right[order],
        down[order],
        np.ascontiguousarray(np.hstack([start, end])).astype(np.int64),
        np.array(class_of, dtype=np.int32),
    )
    return tables, count


def _two_by_two(puzzle: Puzzle, lists: list[IntArray], most: int) -> IntArray:
    """All 2x2 blocks of the oriented pieces in ``lists`` (top left, top right, low left, low right), up to ``most``."""
    quads, colours = puzzle.oriented, puzzle.colours + 1
    top_left, top_right, low_left, low_right = lists
    keys = (
        quads[top_right, 3],
        quads[low_left, 0],
        quads[low_right, 0].astype(np.int64) * colours + quads[low_right, 3],
    )
    sorted_lists = [
        values[np.argsort(key, kind="stable")]
        for values, key in zip((top_right, low_left, low_right), keys, strict=True)
    ]
    starts = [
        np.searchsorted(np.sort(key), np.arange(limit + 1)).astype(np.int64)
        for key, limit in zip(keys, (colours, colours, colours**2), strict=True)
    ]
    (b, c, d), (b_start, c_start, d_start) = sorted_lists, starts
    room = 0
    while True:
        out = np.zeros((room, 4), dtype=np.int32)
        found = int(make_blocks(quads, top_left, b, b_start, c, c_start, d, d_start, colours, out, most))
        if found > most:
            raise InputError(f"more than {MAX_BLOCKS:,} blocks of 2x2 pieces; expected more colours")
        if found <= room:
            return out
        room = found


def _pairs(puzzle: Puzzle, oriented: IntArray, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray, int]:
    """Number of the colours on each side of each block (0 = grey), and how many numbers there are."""
    quads = puzzle.oriented[oriented]  # block, piece, side
    ends = {1: ((0, 0),) * 4, 2: ((0, 1), (1, 3), (2, 3), (0, 2))}[size]  # the two pieces of up, right, down, left
    codes = [
        quads[:, first, side].astype(np.int64) * (puzzle.colours + 1) + quads[:, second, side]
        for side, (first, second) in enumerate(ends)
    ]
    known, numbers = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *codes]), return_inverse=True)
    up, right, down, left = numbers[1:].astype(np.int32).reshape(4, -1)
    return up, right, down, left, len(known)
