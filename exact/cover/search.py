"""Edge matching as exact cover (Jolivet 2008, 2.2): an option for each oriented piece on each cell.

Every option covers its piece and its cell. An inner edge is written in one of three codes (``k`` colours):

- ``unary``: k items an edge; for colour j the upper or left piece covers item j, the other piece all others;
- ``binary``: about log2 k items; one piece covers those of the bits of j, the other their complement;
- ``colours``: one secondary item an edge, which takes j as its colour (Knuth's exact cover with colours, XCC).

It is searched by the kernel of this project (`dlx`, `dlx:binary`, `xcc:counted`) or by the library xcover (`xcc`).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from exact.cover.kernel import (
    DESCENDING,
    EXHAUSTED,
    LEVEL,
    NODES,
    SOLUTIONS,
    Problem,
    advance,
    initial_state,
    option_lists,
)
from exact.driver import CountedSearch, explored_by_tries
from exact.execution import Check, build_and_run, unlimited
from exact.outcome import NODES_UNKNOWN, Answer
from exact.piece_classes import allowed_placements
from exact.request import Request
from exact.solver_protocol import SolverReporter, solve_in_child
from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, Sides
from lns_support.child_process import Emit
from lns_support.errors import InputError
from lns_support.optional_deps import require

IntArray = npt.NDArray[np.int32]
CODES = ("unary", "binary", "colours")
_FIRST = (
    RIGHT,
    DOWN,
)  # the piece on this side of an edge covers the colour's own items, the piece beyond the complement


@dataclass(frozen=True)
class CoverModel:
    """An exact cover problem. Items are numbered: pieces, cells, edges; a *node* is an item of an option.

    Parameters
    ----------
    puzzle : Puzzle
    primary : int
        Items 0 to ``primary`` - 1 must be covered exactly once; the others are secondary and take one colour.
    items : int
        Number of all items.
    begin : ndarray of int32, shape (options + 1,)
        First node of each option, and the end.
    item, colour : ndarray of int32, shape (nodes,)
        The item of each node, and its colour (0 = none), option after option.
    cell, oriented : ndarray of int32, shape (options,)
        The cell of each option, and the oriented piece (piece*4 + rotation) that it places there.
    """

    puzzle: Puzzle
    primary: int
    items: int
    begin: IntArray
    item: IntArray
    colour: IntArray
    cell: IntArray
    oriented: IntArray

    @property
    def problem(self) -> Problem:
        """The problem for the kernel; no item has copies."""
        none = np.zeros(0, dtype=np.int32)
        return Problem(
            begin=self.begin,
            item=self.item,
            colour=self.colour,
            images=none,
            beside=none.reshape(0, 4),
            pieces=none,
            kinds=self.items,
            zones=False,
            dead_ends=True,
        )

    def board(self, options: npt.NDArray[np.int32] | list[int]) -> Board:
        """The board of a set of options."""
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placements[self.cell[options]] = self.oriented[options]
        return Board(placements, self.puzzle.width, self.puzzle.height)


def matrix_nodes(puzzle: Puzzle, code: str, *, all_four: bool = False) -> int:
    """How many nodes `build` makes, computed without making them."""
    codes = _Codes(puzzle, code)
    fixed = {clue.cell for clue in puzzle.fixed}
    similar_cells: dict[tuple[Sides, Sides, int], list[int]] = {}
    for cell in range(puzzle.cells):
        kind = puzzle.rim_sides(cell), puzzle.grey_sides(cell), cell if cell in fixed else -1
        similar_cells.setdefault(kind, []).append(cell)
    nodes = 0
    for (rim, _, _), cells in similar_cells.items():
        options = allowed_placements(puzzle, cells[0], all_four=all_four)
        inner = [side for side in range(4) if not rim[side]]
        covered = sum(int(codes.count(side, puzzle.oriented[options, side]).sum()) for side in inner)
        nodes += len(cells) * (2 * len(options) + covered)
    return nodes


class _Codes:
    """Which items of an edge a piece covers, and with which colour, by its side and the colour there."""

    def __init__(self, puzzle: Puzzle, code: str) -> None:
        palette = [colour for colour in np.unique(puzzle.pieces).tolist() if colour != GREY]
        self.per_edge = {"unary": len(palette), "binary": max(0, len(palette) - 1).bit_length(), "colours": 1}[code]
        self.covered: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        for number, colour in enumerate(palette):
            own = {number} if code == "unary" else {bit for bit in range(self.per_edge) if number >> bit & 1}
            for side in range(4):
                items = [bit for bit in range(self.per_edge) if (bit in own) == (side in _FIRST)]
                self.covered[side, colour] = ([0], [1 + number]) if code == "colours" else (items, [0] * len(items))

    def count(self, side: int, colours: IntArray) -> IntArray:
        """How many items pieces with these colours at a side cover."""
        return np.array([len(self.covered[side, colour][0]) for colour in colours.tolist()], dtype=np.int32)


def build(puzzle: Puzzle, code: str, *, all_four: bool = False, check: Check = unlimited) -> CoverModel:
    """The exact cover problem of a puzzle.

    Parameters
    ----------
    puzzle : Puzzle
    code : str
        One of `CODES`.
    all_four : bool
        Include the rotations of symmetric pieces that look equal.
    check : callable
        Called for each cell.
    """
    codes, first_edge = _Codes(puzzle, code), 2 * puzzle.cells
    edge: dict[tuple[int, int], int] = {}  # first item of the inner edge at each side of each cell
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            if side in _FIRST:
                edge[cell, side] = edge[other, (side + 2) % 4] = first_edge + len(edge) // 2 * codes.per_edge
    item, colour, begin = array("i"), array("i"), array("i", [0])  # lists would take five times as much
    cells, placed = array("i"), array("i")
    for cell in range(puzzle.cells):
        check()
        for oriented in allowed_placements(puzzle, cell, all_four=all_four):
            item.extend((oriented >> 2, puzzle.cells + cell))
            colour.extend((0, 0))
            for side in range(4):
                if (first := edge.get((cell, side))) is not None:
                    covered, colours = codes.covered[side, int(puzzle.oriented[oriented, side])]
                    item.extend(first + bit for bit in covered)
                    colour.extend(colours)
            begin.append(len(item))
            cells.append(cell)
            placed.append(oriented)
    items = first_edge + puzzle.max_score * codes.per_edge
    primary = first_edge if code == "colours" else items
    arrays = (np.array(values, dtype=np.int32) for values in (begin, item, colour, cells, placed))
    return CoverModel(puzzle, primary, items, *arrays)


MAX_NODES = 60_000_000
"""Most nodes of a matrix, about 1.5 GB."""

MAX_NODES_XCOVER = 4_000_000
"""Most nodes for xcover, which takes options as lists of strings; about four times the matrix of Eternity II."""


class Cover(CountedSearch):
    """A paused exact cover search (Jolivet 2008, 2.2). Duplicate pieces are distinct (see `exact.piece_classes`).

    Parameters
    ----------
    puzzle : Puzzle
    code : str
        How the edges are written, one of `exact.cover.search.CODES`.
    all_four : bool
        The equal rotations of symmetric pieces are distinct too.
    check : callable
        Called while the matrix is built.

    Raises
    ------
    InputError
        If the matrix has more than `MAX_NODES` nodes.
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(
        self, puzzle: Puzzle, code: str = "unary", *, all_four: bool = False, check: Check = unlimited
    ) -> None:
        _check_size(puzzle, matrix_nodes(puzzle, code, all_four=all_four), MAX_NODES)
        self.model = build(puzzle, code, all_four=all_four, check=check)
        check()
        lists = option_lists(self.model.begin, self.model.item, self.model.items)
        check()
        none = np.zeros(0, dtype=np.int32)
        self.problem = self.model.problem
        need = (np.arange(self.model.items) < self.model.primary).astype(np.int32)
        self.state = initial_state(lists, puzzle.cells, need=need, rank=none, cells=0, root=1)
        check()
        self.counters = self.state.counters

    @property
    def explored(self) -> float:
        """Share of the tree that is searched, as if sibling subtrees had equal sizes."""
        levels = (
            int(self.counters[LEVEL]) + 1 - int(self.counters[DESCENDING])
        )  # the last level may have no options listed yet
        return explored_by_tries(self.state.next_try, self.state.end_try, levels)

    @property
    def details(self) -> dict[str, float]:
        model, deepest = self.model, np.flatnonzero(self.state.per_level).max()
        sizes = {"items": model.items, "options": len(model.cell), "matrix_nodes": len(model.item), "deepest": deepest}
        return {name: float(size) for name, size in sizes.items()}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes, or to the end, or to the next solution when ``stop_at_first``."""
        advance(self.state, self.problem, budget, stop_at_first)

    def first_board(self) -> Board | None:
        """The first solution found, None before there is one."""
        return self.model.board(self.state.first) if self.solutions else None


def _check_size(puzzle: Puzzle, nodes: int, most: int) -> None:
    if nodes > most:
        raise InputError(
            f"exact cover of {puzzle.cells} pieces and {puzzle.colours} colours takes a matrix of {nodes:,} nodes; "
            f"expected at most {most:,}"
        )


def run_cover(code: str, puzzle: Puzzle, request: Request) -> Answer:
    """The solvers 'dlx', 'dlx:binary' and 'xcc:counted'; nodes as in Jolivet 2008, where the root is one."""
    return build_and_run(lambda check: Cover(puzzle, code, check=check), puzzle, request)


def run_xcover(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'xcc': exact cover with colours by xcover, in a child process. It does not report its nodes.

    Raises InputError without xcover, with a budget of nodes or if the matrix is too large, and ChildProcessError if
    the library crashes.
    """
    require("cover", "the solver xcc")
    if request.nodes is not None:
        raise InputError("xcover reports no nodes; expected a budget of time, or the solver xcc:counted")
    _check_size(puzzle, matrix_nodes(puzzle, "colours"), MAX_NODES_XCOVER)
    list_boards = request.on_solution is not None
    return solve_in_child(cover_by_library, puzzle, request, request.count_all, list_boards, prepare=import_xcover)


def import_xcover() -> None:
    """Import xcover, which compiles itself at its first import, in some 10 s, and keeps the machine code."""
    import_module("xcover")


def cover_by_library(emit: Emit, puzzle: Puzzle, count_all: bool, list_boards: bool = False) -> None:
    """The task of the child process: reports the size of the model, the first solution, progress, and the end."""
    from xcover import covers

    reporter = SolverReporter(emit, puzzle, "xcover", duplicates_distinct=True, list_boards=list_boards)
    model = build(puzzle, "colours")
    item, colour, begin = model.item.tolist(), model.colour.tolist(), model.begin.tolist()
    options = [
        [f"{item[at]}:{colour[at]}" if colour[at] else str(item[at]) for at in range(first, last)]
        for first, last in pairwise(begin)
    ]
    primary = [str(i) for i in range(model.primary)]
    secondary = [str(i) for i in range(model.primary, model.items)]
    reporter.details |= {"items": model.items, "options": len(options), "matrix_nodes": len(item)}
    reporter.report(NODES_UNKNOWN)
    missing = set(range(model.primary)) - set(item)
    for chosen in () if missing else covers(options, primary=primary, secondary=secondary, colored=True):
        reporter.add_board(model.board([int(option) for option in chosen]), NODES_UNKNOWN)
        if not count_all:
            break
    reporter.report(NODES_UNKNOWN, exhausted=count_all or reporter.found == 0)
