"""The "grouping" of Jolivet 2008 (2.3): list all matching 2x2 blocks of pieces, then place blocks row by row.

With blocks of one piece the search is Jolivet's "zig-zag" (2.1) or, if an order of the cells is given, a scan of the
board in this order. The search can be paused (see `lns.exact.driver`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.driver import EXHAUSTED, NODES, SOLUTIONS, CountedSearch, explored_share
from lns.exact.execution import check_time
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.piece_classes import allowed_placements, distinct_count
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Puzzle

LEVEL, DESCENDING, COUNTERS = range(3, 6)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
PlaceClass = tuple[tuple[tuple[int | None, ...], ...], tuple[int, ...]]
"""What decides which blocks fit a place: `Puzzle.required_sides` of its cells, and the cells with a clue or hole."""


class BlockTables(NamedTuple):
    """The blocks that fit a puzzle. In the shapes B is the number of blocks, L that of places.

    A *place* is a group of cells that one block covers; its *level* is its index in the order of filling. Each colour
    pair on a side of a block has an index, 0 for two grey sides. Places are of one class if the same blocks fit them
    and the same sides face earlier places. The blocks of a class are consecutive and sorted by code, an integer made of
    the colour pairs on the sides that face earlier places. A block that fits several classes is listed in each.
    """

    oriented: Ints  # (B, pieces of a block): the oriented pieces of each block
    pair: Ints  # (B, 4): index of the colour pair on each side of each block
    code: Longs  # (B,): code of each block; the colour pairs enter it in the order of `SIDES`
    begin: Longs  # (L,): by level of a place, index of the first block of the place's class
    end: Longs  # (L,): by level of a place, index after the last block of the place's class
    earlier: Ints  # (L, 4): by level and side of a place, the level of the place beyond, -1 if that is not earlier
    pairs: int  # number of distinct colour pairs


SIDES = (LEFT, UP, RIGHT, DOWN)


class BlockState(NamedTuple):
    """The state of a paused search that places blocks. L is the number of places; levels as in `BlockTables`."""

    placed: Annotated[Longs, "L"]  # by level, index of the block that is placed
    next_try: Annotated[Longs, "L"]  # by level, index of the next block to try
    end_try: Annotated[Longs, "L"]  # by level, index after the last block to try
    used: Annotated[npt.NDArray[np.bool_], "pieces"]  # by piece, whether the piece is on the board
    per_level: Annotated[Longs, "L+1"]  # number of nodes with 0, 1, ..., L blocks placed
    first: Annotated[Longs, "L"]  # copy of `placed` at the first solution
    counters: Annotated[Longs, COUNTERS]  # indexed by `NODES`, `SOLUTIONS`, `EXHAUSTED`, `LEVEL` and `DESCENDING`


@inline_flat_kernel
def lower_bound(values, begin, end, bound):  # type: ignore[no-untyped-def]
    """Return the first index in [begin, end) at which sorted ``values`` reach ``bound``, or ``end`` if none does."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < bound:
            begin = middle + 1
        else:
            end = middle
    return begin


@inline_flat_kernel
def take_back(tables, state):  # type: ignore[no-untyped-def]
    """Go back one level: take the block placed last off the board and mark its pieces as unused."""
    state.counters[LEVEL] -= 1
    for k in range(tables.oriented.shape[1]):
        state.used[tables.oriented[state.placed[state.counters[LEVEL]], k] >> 2] = False


@flat_kernel
def scan(tables, state, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Place ``budget`` more blocks; stop sooner when the search ends or, if ``stop_at_first``, at the next solution."""
    counters = state.counters
    levels, size, spent = len(tables.begin), tables.oriented.shape[1], 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            if level == levels:
                if counters[SOLUTIONS] == 0:
                    for place in range(levels):
                        state.first[place] = state.placed[place]
                counters[SOLUTIONS] += 1
                take_back(tables, state)
                if stop_at_first:
                    break
                continue
            code = 0
            for side in SIDES:
                before = tables.earlier[level, side]
                if before >= 0:
                    code = code * tables.pairs + tables.pair[state.placed[before], side ^ 2]
            begin, end = tables.begin[level], tables.end[level]
            first = lower_bound(tables.code, begin, end, code)
            state.next_try[level] = first
            state.end_try[level] = lower_bound(tables.code, first, end, code + 1)
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
            else:
                take_back(tables, state)
            continue
        for k in range(size):
            state.used[tables.oriented[block, k] >> 2] = True
        state.placed[level] = block
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        counters[LEVEL] += 1
        counters[DESCENDING] = 1


MAX_BLOCKS = 6_000_000  # most blocks of 2x2 pieces; unfinished blocks of two or three pieces may be twice as many


class Blocks(CountedSearch):
    """A paused search that places blocks (Jolivet 2008, 2.1 and 2.3). A node is the empty board or a placement.

    A block has ``size`` x ``size`` pieces; ``size`` is 1 or 2. ``order`` lists the places, numbered row by row, in the
    order of filling; the default is row by row. Duplicate pieces count as distinct (see `lns.exact.piece_classes`);
    with ``all_four``, so do rotations of a symmetric piece that look equal. The attribute ``by_class`` has, for each
    `PlaceClass`, the number of blocks that fit.

    Raises InputError if ``size`` is 2 and width or height is odd, or there are too many blocks (see `MAX_BLOCKS`).
    """

    def __init__(self, puzzle: Puzzle, size: int = 2, order: Sequence[int] = (), *, all_four: bool = False) -> None:
        if puzzle.width % size or puzzle.height % size:
            raise InputError(
                f"2x2 grouping of a board of {puzzle.width} x {puzzle.height}; expected even width and height"
            )
        self.puzzle, self.size = puzzle, size
        places = puzzle.cells // size**2
        self._order = order or range(places)
        self.tables, self.by_class = _tables(puzzle, size, self._order, all_four)
        self.state = allocate(BlockState, {"L": places, "L+1": places + 1, "pieces": puzzle.cells})
        self.counters = self.state.counters
        self.counters[[DESCENDING, NODES]] = 1
        self.state.per_level[0] = 1

    @property
    def explored(self) -> float:
        """Of the blocks that fit the first place, the share (0 to 1) whose subtrees have been searched to the end."""
        begin, end = int(self.tables.begin[0]), int(self.state.end_try[0])
        return explored_share([(max(0, int(self.state.next_try[0]) - begin - 1), end - begin)])

    @property
    def details(self) -> dict[str, float]:
        deepest = np.flatnonzero(self.state.per_level).max()
        return {"blocks": float(len(self.tables.oriented)), "deepest": float(deepest)}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        scan(self.tables, self.state, budget, stop_at_first)

    def distinct(self, solutions: int) -> int:
        return distinct_count(solutions, self.puzzle)

    def first_board(self) -> Board | None:
        if self.solutions == 0:
            return None
        cells = [cell for place in self._order for cell in _cells(self.puzzle, self.size, place)]
        return Board.empty(self.puzzle).with_pieces(cells, self.tables.oriented[self.state.first].reshape(-1))


def _cells(puzzle: Puzzle, size: int, place: int) -> list[int]:
    """Return the cells that a block covers at ``place``, row by row; places are numbered row by row."""
    row, column = divmod(place, puzzle.width // size)
    return [(row * size + r) * puzzle.width + column * size + c for r in range(size) for c in range(size)]


def _tables(
    puzzle: Puzzle, size: int, order: Sequence[int], all_four: bool
) -> tuple[BlockTables, dict[PlaceClass, int]]:
    """Return the tables of blocks for places filled in ``order``, and, by `PlaceClass`, how many blocks fit."""
    fixed_cells, width = {clue.cell for clue in puzzle.fixed}, puzzle.width // size
    level_of = {place: level for level, place in enumerate(order)}
    earlier = np.full((len(order), 4), -1, dtype=np.int32)
    classes: dict[tuple[object, ...], int] = {}
    class_of: list[int] = []
    groups: list[tuple[Ints, list[int]]] = []
    count: dict[PlaceClass, int] = {}
    for level, place in enumerate(order):
        column = place % width
        beside = {LEFT: place - 1 if column else -1, RIGHT: place + 1 if column + 1 < width else -1}
        beside |= {UP: place - width, DOWN: place + width}
        known = [side for side in SIDES if level_of.get(beside[side], level) < level]
        earlier[level, known] = [level_of[beside[side]] for side in known]
        cells = _cells(puzzle, size, place)
        place_class = tuple(map(puzzle.required_sides, cells)), tuple(cell for cell in cells if cell in fixed_cells)
        key = (*place_class, tuple(known))
        check_time()
        if key not in classes:
            classes[key] = len(classes)
            lists = [np.array(allowed_placements(puzzle, cell, all_four=all_four), dtype=np.int32) for cell in cells]
            most = MAX_BLOCKS - sum(len(group) for group, _ in groups)
            groups.append((lists[0].reshape(-1, 1) if size == 1 else _two_by_two(puzzle, lists, most), known))
            count[place_class] = len(groups[-1][0])
        class_of.append(classes[key])
    bounds = np.cumsum([0, *(len(group) for group, _ in groups)])
    oriented = np.concatenate([group for group, _ in groups])
    pair, pairs = _pairs(puzzle, oriented, size)
    code = np.zeros(len(oriented), dtype=np.int64)
    for number, (_, known) in enumerate(groups):
        own = slice(bounds[number], bounds[number + 1])
        for side in known:
            code[own] = code[own] * pairs + pair[own, side]
        check_time()
        by_code = np.argsort(code[own], kind="stable")
        for values in (code, oriented, pair):
            values[own] = values[own][by_code]
        check_time()
    places = np.array(class_of)
    return BlockTables(oriented, pair, code, bounds[places], bounds[places + 1], earlier, pairs), count


def _two_by_two(puzzle: Puzzle, lists: list[Ints], most: int) -> Ints:
    """Return all matching 2x2 blocks of the pieces allowed on each cell. Raises InputError above ``most`` blocks."""
    quads, colours = puzzle.oriented.astype(np.int64), puzzle.colours + 1
    first, right, below, last = lists
    found = [np.zeros((0, 4), dtype=np.int32)]
    for pieces in np.array_split(first, len(first) // 64 + 1):
        check_time()
        blocks = _beside(pieces.reshape(-1, 1), quads[pieces, 1], right, quads[right, 3])
        blocks = _beside(blocks, quads[blocks[:, 0], 2], below, quads[below, 0])
        both = quads[blocks[:, 1], 2] * colours + quads[blocks[:, 2], 1]
        found.append(_beside(blocks, both, last, quads[last, 0] * colours + quads[last, 3]))
        if sum(map(len, found)) > most:
            raise _too_many()
    return np.concatenate(found)


def _too_many() -> InputError:
    return InputError(f"more than {MAX_BLOCKS:,} blocks of 2x2 pieces; expected more colours")


def _beside(groups: Ints, wanted: Longs, oriented: Ints, key: Longs) -> Ints:
    """Return the groups extended by one oriented piece, in every way in which the keys agree and no piece repeats.

    ``key``: the key of each of the ``oriented`` pieces; ``wanted``: for each group, the key of the pieces that fit.
    """
    by_key = np.argsort(key, kind="stable")
    begin, end = (np.searchsorted(key[by_key], wanted, side) for side in ("left", "right"))
    number = end - begin
    if number.sum() > 2 * MAX_BLOCKS:  # usually fewer than half of these extensions repeat a piece: too many remain
        raise _too_many()
    group = np.repeat(np.arange(len(groups)), number)
    new = oriented[by_key[np.arange(len(group)) + np.repeat(begin - np.cumsum(number) + number, number)]]
    kept = (groups[group] >> 2 != new[:, None] >> 2).all(axis=1)
    return np.column_stack([groups[group[kept]], new[kept]])


def _pairs(puzzle: Puzzle, oriented: Ints, size: int) -> tuple[Ints, int]:
    """Return the index of the colour pair on each side of each block (0: both grey), and the number of colour pairs."""
    quads, colours = puzzle.oriented, puzzle.colours + 1
    # by size of block, indices of the first and the last piece along the upper, right, lower and left side
    ends = {1: ((0, 0),) * 4, 2: ((0, 1), (1, 3), (2, 3), (0, 2))}[size]
    codes = [
        quads[oriented[:, first], side] * colours + quads[oriented[:, second], side]
        for side, (first, second) in enumerate(ends)
    ]
    used = np.bincount(np.concatenate([[0], *codes]), minlength=colours**2) > 0
    number = np.cumsum(used, dtype=np.int32) - 1
    return np.stack([number[code] for code in codes], axis=1), int(number[-1]) + 1


def count_inner_blocks(puzzle: Puzzle, side: int, samples: int, seed: int) -> tuple[float, float]:
    """Estimate the number of blocks of ``side`` x ``side`` inner pieces with matching joints (Jolivet 2008, 2.5).

    The method is Knuth's: descend the search tree of a row scan at random; the product of the numbers of children on
    the way, 0 at a dead end, is an unbiased estimate of the number of blocks. A block and its rotated copies count
    once. Returns the mean of ``samples`` estimates and the standard error of this mean.
    """
    middle = puzzle.height // 2 * puzzle.width + puzzle.width // 2
    quads, fitting = puzzle.oriented.tolist(), defaultdict[tuple[int, int], list[int]](list)
    for oriented in allowed_placements(puzzle.with_clues([]), middle, all_four=True):
        if GREY not in quads[oriented]:
            # in the keys of ``fitting`` GREY stands for any colour
            for left, up in product((quads[oriented][LEFT], GREY), (quads[oriented][UP], GREY)):
                fitting[left, up].append(oriented)

    def weight(draws: list[float]) -> float:
        found, placed, used = 1.0, list[int](), set[int]()
        for cell, draw in enumerate(draws):
            left = quads[placed[-1]][RIGHT] if cell % side else GREY
            up = quads[placed[-side]][DOWN] if cell >= side else GREY
            free = [oriented for oriented in fitting[left, up] if oriented >> 2 not in used]
            if not free:
                return 0.0
            found *= len(free)
            placed.append(free[int(draw * len(free))])
            used.add(placed[-1] >> 2)
        return found

    random = np.random.default_rng(seed)
    weights = np.array([weight(random.random(side * side).tolist()) for _ in range(samples)]) / 4
    return float(weights.mean()), float(weights.std(ddof=1) / np.sqrt(samples))
