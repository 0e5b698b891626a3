"""Edge matching as exact cover (Jolivet 2008, 2.2): an option for each oriented piece on each cell.

Every option covers its piece, its cell and items of its inner edges. The items of an edge make its two pieces show the
same colour, say colour j of k, in one of three codes:

- ``unary``: k items per edge; the upper or left piece covers item j, the lower or right piece all items but j;
- ``binary``: about log2 k items per edge, one for each bit of j; the upper or left piece covers the items of the bits
  that are 1, the lower or right piece the items of the bits that are 0;
- ``colours``: one secondary item per edge, which takes j as its colour (Knuth's exact cover with colours, XCC).

The solvers `dlx`, `dlx:binary` and `xcc:counted` search with this project's kernel, `xcc` with the library xcover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lns.exact.child_process import Emit
from lns.exact.cover import kernel
from lns.exact.cover.kernel import CoverState, Problem
from lns.exact.driver import CountedSearch, explored_share
from lns.exact.execution import Reporter, Request, check_time, solve_in_child
from lns.exact.optional_deps import require
from lns.exact.outcome import Outcome
from lns.exact.piece_classes import allowed_placements, distinct_count
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle

IntArray = npt.NDArray[np.int32]
CODES = ("unary", "binary", "colours")
MAX_NODES = 60_000_000
"""Most nodes that a matrix may have; a matrix of this size takes about 2 GB while it is built."""

MAX_NODES_XCOVER = 4_000_000
"""Most nodes of a matrix for xcover, which takes options as lists of strings: about four times Eternity II's nodes."""


@dataclass(frozen=True)
class CoverModel:
    """The exact cover problem of a puzzle. Its items are the pieces, then the cells, then the items of inner edges.

    If the puzzle has copies, the pieces are the last items, without those that may be placed any number of times. A
    *node* is an item in an option.
    """

    puzzle: Puzzle
    primary: int  # items 0 to ``primary`` - 1 must be covered exactly once; items of edges after those take a colour
    items: int  # number of all items
    begin: IntArray  # int32 (options + 1,): index of the first node of each option, and the number of nodes
    item: IntArray  # int32 (nodes,): the item of each node, option after option
    colour: IntArray  # int32 (nodes,): the colour of each node, 0 = none
    cell: IntArray  # int32 (options,): the cell of each option
    oriented: IntArray  # int32 (options,): the oriented piece (piece*4 + rotation) of each option
    copies: IntArray  # int32: how often the piece of each of the last items may be placed; empty without copies

    @property
    def need(self) -> IntArray:
        """How often each item must be covered: the initial `lns.exact.cover.kernel.CoverState.need`."""
        need = (np.arange(self.items) < self.primary).astype(np.int32)
        need[self.items - len(self.copies) :] = self.copies - kernel.OPTIONAL
        return need

    def board(self, options: npt.NDArray[np.int32] | list[int]) -> Board:
        """Return the board on which the pieces of ``options`` are placed."""
        return Board.empty(self.puzzle).with_pieces(self.cell[options], self.oriented[options])


def _rows(
    puzzle: Puzzle, covered: npt.NDArray[np.bool_], *, all_four: bool = False, most: int
) -> list[tuple[IntArray, npt.NDArray[np.intp]]]:
    """Return each cell's allowed oriented pieces and sides on inner edges. Raises InputError above ``most`` nodes."""
    lengths = covered.sum(axis=2)
    fixed = {clue.cell for clue in puzzle.fixed}
    known: dict[object, IntArray] = {}  # allowed oriented pieces, by required sides, and by cell if a clue or hole
    cells, nodes = list[tuple[IntArray, npt.NDArray[np.intp]]](), 0
    for cell in range(puzzle.cells):
        check_time()
        key = puzzle.required_sides(cell), cell if cell in fixed else -1
        if key not in known:
            known[key] = np.array(allowed_placements(puzzle, cell, all_four=all_four), dtype=np.int32)
        inner = np.array([side for side, _ in puzzle.neighbours(cell)], dtype=np.intp)
        cells.append((known[key], inner))
        nodes += 2 * len(known[key]) + int(lengths[inner, puzzle.oriented[known[key]][:, inner]].sum())
    if nodes > most:
        raise InputError(
            f"exact cover of {puzzle.cells} pieces and {puzzle.colours} colours takes a matrix of {nodes:,} nodes; "
            f"expected at most {most:,}"
        )
    return cells


def build(puzzle: Puzzle, code: str, *, all_four: bool = False, most: int = MAX_NODES) -> CoverModel:
    """Build the exact cover problem of a puzzle, in one of the `CODES`.

    ``all_four`` includes the rotations of symmetric pieces that look equal. Raises InputError if the matrix has more
    nodes than ``most``, before the matrix is made.
    """
    numbers, covered = _codes(puzzle, code)
    per_edge, cells = covered.shape[2], _rows(puzzle, covered, all_four=all_four, most=most)
    numbered = puzzle.limits < puzzle.cells if puzzle.copies else np.zeros(puzzle.cells, dtype=np.bool_)
    first_cell = 0 if puzzle.copies else puzzle.cells
    first_edge, kinds = first_cell + puzzle.cells, first_cell + puzzle.cells + puzzle.max_score * per_edge
    piece_item = np.where(numbered, kinds - 1 + np.cumsum(numbered), -1) if puzzle.copies else np.arange(puzzle.cells)
    items = kinds + int(numbered.sum())
    edge = np.zeros((puzzle.cells, 4), dtype=np.int32)  # first item of the inner edge at each side of each cell
    edges = ((cell, *beyond) for cell in range(puzzle.cells) for beyond in puzzle.neighbours(cell))
    for number, (cell, side, other) in enumerate(edge for edge in edges if edge[1] in _FIRST):
        edge[cell, side] = edge[other, side ^ 2] = first_edge + number * per_edge
    none, order = np.zeros(0, dtype=np.int32), (1, 2, 0) if puzzle.copies else (0, 1, 2)
    item, colour, length, places = [none], [none], [none], [none]
    for cell, (pieces, inner) in enumerate(cells):
        check_time()
        shown = puzzle.oriented[pieces][:, inner]
        # by oriented piece, inner edge and item of the edge: the item, or -1 if the piece does not cover it
        around = np.where(covered[inner, shown], edge[cell, inner, None] + np.arange(per_edge), -1)
        covers = [piece_item[pieces >> 2, None], np.full((len(pieces), 1), first_cell + cell)]
        covers.append(around.reshape(len(pieces), inner.size * per_edge))
        shades = [np.zeros((len(pieces), 1))] * 2 + [np.repeat(numbers[shown], per_edge, axis=1)]
        options, coloured = (np.hstack([part[at] for at in order]) for part in (covers, shades))
        item.append(options[options >= 0].astype(np.int32))
        colour.append(coloured[options >= 0].astype(np.int32))
        length.append((options >= 0).sum(axis=1))
        places.append(np.full(len(pieces), cell))
    begin = np.append(0, np.cumsum(np.concatenate(length)))
    placed = [pieces for pieces, _ in cells]
    arrays = (begin, *map(np.concatenate, (item, colour, places, placed)), puzzle.limits[numbered])
    primary = first_edge if code == "colours" else kinds
    return CoverModel(puzzle, primary, items, *(array.astype(np.int32) for array in arrays))


_FIRST = (RIGHT, DOWN)
"""At these sides a piece covers the edge's items of its colour, elsewhere all others; in `colours` the one item."""


def _codes(puzzle: Puzzle, code: str) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the node colour of each puzzle colour (0 = none), and which items of an edge each side covers.

    The second array has the shape (sides of the piece, colours of the puzzle, items of an edge).
    """
    palette = np.setdiff1d(puzzle.oriented, GREY)
    numbers = np.arange(len(palette))[:, None]
    bits = np.arange({"unary": len(palette), "binary": max(0, len(palette) - 1).bit_length(), "colours": 1}[code])
    own = numbers == bits if code == "unary" else numbers >> bits & 1 == 1
    covered = np.zeros((4, palette.max(initial=0) + 1, len(bits)), dtype=np.bool_)
    for side in range(4):
        covered[side, palette] = True if code == "colours" else own == (side in _FIRST)
    colours = np.zeros(covered.shape[1], dtype=np.int32)
    if code == "colours":
        colours[palette] = 1 + numbers[:, 0]
    return colours, covered


class PausedCover(CountedSearch):
    """A paused search of an exact cover problem."""

    def __init__(self, problem: Problem, state: CoverState) -> None:
        self.problem, self.state, self.counters = problem, state, state.counters

    @property
    def explored(self) -> float:
        levels = int(self.counters[kernel.LEVEL] + 1 - self.counters[kernel.DESCENDING])  # levels with listed options
        following, end = self.state.next_try[:levels].tolist(), self.state.end_try[:levels].tolist()
        begin = [0, *end]
        return explored_share((following[at] - begin[at] - 1, end[at] - begin[at]) for at in range(levels))

    def advance(self, budget: int, stop_at_first: bool) -> None:
        kernel.advance(self.state, self.problem, budget, stop_at_first)


class Cover(PausedCover):
    """A paused exact cover search (Jolivet 2008, 2.2). Duplicate pieces are distinct (see `lns.exact.piece_classes`).

    The arguments are those of `build`, which raises InputError if the matrix is too large.
    """

    def __init__(self, puzzle: Puzzle, code: str = "unary", *, all_four: bool = False) -> None:
        check_time()
        self.model = model = build(puzzle, code, all_four=all_four)
        check_time()
        kinds = model.items - len(model.copies)
        problem = kernel.make_problem(model.begin, model.item, model.items, colour=model.colour, kinds=kinds)
        check_time()
        super().__init__(problem, kernel.new_state(problem, puzzle.cells, model.need, root=1))
        check_time()

    @property
    def details(self) -> dict[str, float]:
        model, deepest = self.model, np.flatnonzero(self.state.per_level).max()
        sizes = {"items": model.items, "options": len(model.cell), "matrix_nodes": len(model.item), "deepest": deepest}
        return {name: float(size) for name, size in sizes.items()}

    def distinct(self, solutions: int) -> int:
        return distinct_count(solutions, self.model.puzzle)

    def first_board(self) -> Board | None:
        return self.model.board(self.state.first) if self.solutions else None


def run_xcover(puzzle: Puzzle, request: Request) -> Outcome:
    """Run the solver 'xcc': exact cover with colours by xcover, in a child process, without a count of nodes.

    xcover compiles itself at its first import, in about 10 s, and keeps the machine code. Raises InputError if xcover
    is not installed, if a budget of nodes is given or if the matrix is too large, and ChildProcessError if the library
    crashes.
    """
    require("cover", "the solver xcc")
    if request.nodes is not None:
        raise InputError("xcover reports no nodes; expected a budget of time, or the solver xcc:counted")
    return solve_in_child(cover_by_library, puzzle, request, prepare="xcover")


def library_covers(options: list[list[str]], primary: list[str], secondary: list[str]) -> Iterator[list[int]]:
    """Yield the exact covers that xcover finds, as lists of option indices; ``item:colour`` is a coloured item."""
    from xcover import covers

    if {item.split(":")[0] for option in options for item in option}.issuperset(primary):
        for chosen in covers(options, primary=primary, secondary=secondary, colored=bool(secondary)):
            yield [int(option) for option in chosen]


def cover_by_library(emit: Emit, puzzle: Puzzle, request: Request) -> None:
    """Search with xcover in a child process; report the size of the model, the solutions and the end of the search."""
    reporter = Reporter(emit, puzzle, request, "xcover", duplicates_distinct=True)
    model = build(puzzle, "colours", most=MAX_NODES_XCOVER)
    nodes = [f"{item}:{colour}" if colour else str(item) for item, colour in zip(model.item, model.colour, strict=True)]
    options = [nodes[first:last] for first, last in pairwise(model.begin.tolist())]
    names = list(map(str, range(model.items)))
    reporter.details |= {"items": model.items, "options": len(options), "matrix_nodes": len(nodes)}
    reporter.report(None)
    for chosen in library_covers(options, names[: model.primary], names[model.primary :]):
        reporter.add_board(model.board(chosen), None)
        if not request.count_all:
            break
    reporter.report(None, exhausted=request.count_all or reporter.found == 0)
