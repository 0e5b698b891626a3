"""Count the nodes of search trees as Jolivet 2008 does, and search for puzzles with a hard tree or a single solution.

A tree is searched for all solutions. Identical pieces and the equal rotations of a symmetric piece are told apart, the
empty board is a node, and one corner piece of the planted solution is fixed. A puzzle is cut from a board whose inner
edges (the joints) are coloured. The search for puzzles recolours a few inner edges at random and keeps the change if
the result is not worse. The sections of the paper (see `lns.exact.paper.jolivet2008`) are 2.1 (paths, figure 3),
4.2 (hard trees, table 3) and 5.2 (single solutions, tables 4 and 5).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from lns.exact.blocks import Blocks
from lns.exact.cover.search import Cover
from lns.exact.execution import Request, run_search
from lns.exact.outcome import SolveStatus
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.generate.planted import Planted, PortableRandom, plant
from lns.instances.puzzle import GREY, Clue, Puzzle, canonical, check_shape, rotate

GOALS = ("hard", "single")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MAX_COLOURS = len(_DIGITS) - 1  # most colours that `Design.text` can write; digit 0 stands for grey
_CHUNK = 20_000  # most nodes that a search of a tree makes between two checks of its limits
CODES = {"dlx": "unary", "dlx:binary": "binary"}
"""Method -> code of the colours in its exact cover. The paper has two codes and does not say with which of them its
tables were made; the numbers of nodes measured here fit the binary code."""
PATHS = ("rows", "snake", "diagonals", "spiral", "rim first", "chessboard")


# -- trees ------------------------------------------------------------------------------------------------------------


def random_puzzle(width: int, height: int, colours: int, seed: int) -> Puzzle:
    """Return a puzzle with uniformly drawn colours; the upper left piece of its planted solution is a clue."""
    return uniform(width, height, colours, seed).with_clues([0]).puzzle


def tree(puzzle: Puzzle, method: str, nodes: int) -> tuple[Cover | Blocks, float]:
    """Search the tree of a puzzle to its end or for ``nodes`` nodes; return the search and its processor seconds.

    The limit does not count the empty board. ``method`` is a key of `CODES`, "zig-zag", "grouping", or "path:NAME" with
    a name of `PATHS`. The time includes building the matrix or the list of blocks, but not compilation.
    Raises KeyboardInterrupt if interrupted.
    """
    _compile(method)
    begun = time.process_time()
    search = _new_search(puzzle, method)
    if run_search(search, Request(True, nodes)).status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return search, time.process_time() - begun


def _new_search(puzzle: Puzzle, method: str) -> Cover | Blocks:
    if method in CODES:
        return Cover(puzzle, CODES[method], all_four=True)
    order = path(method[5:], puzzle.width, puzzle.height) if method.startswith("path:") else ()
    return Blocks(puzzle, 2 if method == "grouping" else 1, order, all_four=True)


@cache
def _compile(method: str) -> None:
    _new_search(random_puzzle(2, 2, 1, 1), method).advance(0, True)


def path(name: str, width: int, height: int) -> list[int]:
    """Return the cells of a board in the order in which the path ``name``, one of `PATHS`, fills them.

    On every path the `constraints` sum to the number of inner edges, but on some they come earlier. The paper chose
    ``rows``. ``chessboard`` first visits the cells of one colour of a chessboard, no two of which are neighbours.
    """
    grid = np.arange(width * height).reshape(height, width)
    cells: list[int] = grid.ravel().tolist()
    if name == "snake":
        return [cell for row, line in enumerate(grid.tolist()) for cell in (line[::-1] if row % 2 else line)]
    if name == "diagonals":
        return sorted(cells, key=lambda cell: (sum(divmod(cell, width)), cell))
    if name == "spiral":
        return _spiral(grid)
    if name == "rim first":
        rim = _spiral(grid)[: len(cells) - max(0, width - 2) * max(0, height - 2)]
        return rim + [cell for cell in cells if cell not in rim]
    return cells if name == "rows" else sorted(cells, key=lambda cell: sum(divmod(cell, width)) % 2)


def _spiral(grid: npt.NDArray[np.int64]) -> list[int]:
    """Return the cells of ``grid`` along a clockwise spiral from the upper left corner inwards."""
    cells: list[int] = []
    while grid.size:
        cells += grid[0].tolist()
        grid = np.rot90(grid[1:])
    return cells


def constraints(order: list[int], puzzle: Puzzle) -> list[int]:
    """Return for each cell of the path ``order`` how many of its neighbours come earlier on the path."""
    place = {cell: at for at, cell in enumerate(order)}
    return [sum(place[other] < at for _, other in puzzle.neighbours(cell)) for at, cell in enumerate(order)]


# -- searched puzzles -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A board with coloured inner edges, and the nodes and solutions of the puzzle cut from it (see `evaluate`)."""

    width: int
    height: int
    joints: tuple[int, ...]  # colours of the inner edges: at right sides of cells, row by row, then at lower sides
    nodes: int
    solutions: int

    @property
    def difficulty(self) -> float:
        """The nodes of the search tree divided by the solutions (Jolivet 2008, 4.1)."""
        return self.nodes / self.solutions

    @property
    def text(self) -> str:
        """The colours of the inner edges as text, each a digit from 1 to z (base 36); `joints_of` reads this text."""
        return "".join(_DIGITS[colour] for colour in self.joints)


def joints_of(text: str) -> tuple[int, ...]:
    """Return the colours of the inner edges that `Design.text` wrote. Raises InputError for other characters."""
    unknown = set(text) - set(_DIGITS[1:])
    if unknown:
        raise InputError(
            f"joints with the character '{min(unknown)}'; expected the digits 1 to 9 and lower-case letters"
        )
    return tuple(_DIGITS.index(digit) for digit in text)


def joint_count(width: int, height: int) -> int:
    """Return the number of inner edges of a board without holes."""
    return (width - 1) * height + width * (height - 1)


def planted(width: int, height: int, joints: Sequence[int]) -> Planted:
    """Return the puzzle cut from a board whose inner edges have the colours ``joints``; its upper left piece is a clue.

    Raises InputError if the shape is out of range, or if there is not one colour for each inner edge.
    """
    check_shape(width, height)
    if len(joints) != joint_count(width, height):
        raise InputError(f"{len(joints)} joints; a board of {width} x {height} has {joint_count(width, height)}")
    values, rights = np.array(joints, dtype=np.int32), (width - 1) * height
    right, down = np.zeros((2, height, width), dtype=np.int32)
    right[:, :-1], down[:-1] = values[:rights].reshape(height, -1), values[rights:].reshape(-1, width)
    name = f"design-{width}x{height}-c{len(set(joints))}"
    return plant(right.ravel().tolist(), down.ravel().tolist(), width, height, PortableRandom(0), name).with_clues([0])


def evaluate(
    width: int, height: int, joints: Sequence[int], nodes: int, most_solutions: int | None = None
) -> Design | None:
    """Search row by row the tree of the puzzle cut from a coloured board; return None if it exceeds a limit.

    ``nodes`` limits the nodes, ``most_solutions`` the solutions up to rotation of the board. Such solutions of a
    rectangle have the fixed corner piece in the upper left or the upper right corner: if ``most_solutions`` is given,
    the puzzle with the piece fixed in the upper right corner is searched too, and the counts of both are added.
    """
    puzzles = [planted(width, height, joints).puzzle]
    if most_solutions is not None and width != height:
        (clue,) = puzzles[0].clues
        puzzles.append(puzzles[0].with_clues([Clue(width - 1, clue.piece, (clue.rotation + 1) % 4)]))
    all_nodes = all_solutions = 0
    for puzzle in puzzles:
        search = Blocks(puzzle, 1, all_four=True)
        while not search.exhausted:
            if all_nodes + search.nodes >= nodes:
                return None
            search.advance(min(_CHUNK, nodes - all_nodes - search.nodes), False)
            if most_solutions is not None and all_solutions + search.solutions > most_solutions:
                return None
        all_nodes += search.nodes
        all_solutions += search.solutions
    return Design(width, height, tuple(joints), all_nodes, all_solutions)


def improve(
    width: int,
    height: int,
    colours: int,
    goal: str,
    *,
    trees: int,
    nodes: int = 100_000_000,
    seed: int = 0,
    start: Sequence[int] | None = None,
) -> Iterator[Design]:
    """Search for a puzzle with most nodes per solution (goal 'hard') or with one solution (goal 'single', then stop).

    Tries ``trees`` boards and yields each that is better than all before. Boards whose search tree exceeds ``nodes``
    nodes are dropped. ``start`` has the colours of the first board's inner edges, by default drawn uniformly. Raises
    InputError for an unknown goal, a side below 2, or not 1 to `MAX_COLOURS` colours.
    """
    if goal not in GOALS:
        raise InputError(f"unknown goal '{goal}'; expected {' or '.join(GOALS)}")
    _check_colours(colours)
    check_shape(width, height)
    if min(width, height) < 2:
        raise InputError(f"a board of {width} x {height}; expected two rows and two columns at least")
    random = PortableRandom(seed)
    count = joint_count(width, height)

    def drawn() -> list[int]:
        return [1 + random.below(colours) for _ in range(count)]

    def value(design: Design) -> float:
        return design.difficulty if goal == "hard" else -design.solutions

    current: Design | None = None
    joints = list(start) if start is not None else drawn()
    for _ in range(trees):
        most = None if goal == "hard" else nodes if current is None else current.solutions
        found = evaluate(width, height, joints, nodes, most)
        if found is not None and (current is None or value(found) >= value(current)):
            is_better, current = current is None or value(found) > value(current), found
            if is_better:
                yield found
            if goal == "single" and found.solutions == 1:
                return
        joints = drawn() if current is None else list(current.joints)
        for _ in range(0 if current is None else 1 + random.below(3)):
            joints[random.below(count)] = 1 + random.below(colours)


def every_single(width: int, height: int, colours: int) -> tuple[int, Design | None]:
    """Try all boards of at most ``colours`` colours; return how many have a single solution, and the first if any.

    Boards with identical or symmetric pieces are skipped. There are ``colours`` ** `joint_count` boards; up to a
    million are practical. Raises InputError if there are more than `MAX_COLOURS` colours.
    """
    _check_colours(colours)
    count, first = 0, None
    for joints in product(range(1, colours + 1), repeat=joint_count(width, height)):
        found = evaluate(width, height, joints, 1 << 40, 1) if has_distinct_pieces(width, height, joints) else None
        if found is not None:
            count += 1
            first = first or found
    return count, first


def _check_colours(colours: int) -> None:
    """Raise InputError if the number of colours is not from 1 to `MAX_COLOURS`."""
    if not 1 <= colours <= MAX_COLOURS:
        raise InputError(f"{colours} colours; expected 1 to {MAX_COLOURS}, one digit or letter for each")


def has_distinct_pieces(width: int, height: int, joints: Sequence[int]) -> bool:
    """Return whether no two pieces of a board are identical and none is symmetric, as a single solution requires."""
    seen = set()
    rights = (width - 1) * height
    for row, column in product(range(height), range(width)):
        up = joints[rights + (row - 1) * width + column] if row else GREY
        down = joints[rights + row * width + column] if row < height - 1 else GREY
        left = joints[row * (width - 1) + column - 1] if column else GREY
        right = joints[row * (width - 1) + column] if column < width - 1 else GREY
        piece = canonical((up, right, down, left))
        if (up == down and right == left) or piece in seen:
            return False
        seen.add(piece)
    return True


@cache
def distinct_pieces(colours: int) -> tuple[int, int, int, int]:
    """Return the numbers of distinct corner, rim, inner, and not symmetric inner pieces that ``colours`` colours make.

    All pieces are listed. The paper's formula for inner pieces of c colours is c + 4 C(c,2) + 6 C(c,3) + 6 C(c,4), with
    binomial coefficients C; by the list the third term is 9 C(c,3).
    """
    palette = range(1, colours + 1)
    corner, rim, inner = (
        {canonical((*[GREY] * grey, *quad)) for quad in product(palette, repeat=4 - grey)} for grey in (2, 1, 0)
    )
    return len(corner), len(rim), len(inner), sum(rotate(quad, 2) != quad for quad in inner)


def fewest_colours(width: int, height: int, *, symmetric: bool) -> int:
    """Return a lower bound on the colours of a puzzle with one solution, whose pieces are distinct (Jolivet, table 5).

    The width and the height are at least 3. If equal rotations of a piece count as several solutions, as in the paper,
    a puzzle with one solution has no ``symmetric`` pieces, and the bound that excludes them applies.
    """
    needed_rim, needed_inner = 2 * (width + height - 4), (width - 2) * (height - 2)
    colours = 1
    while True:
        corner, rim, inner, turning = distinct_pieces(colours)
        if corner >= 4 and rim >= needed_rim and (inner if symmetric else turning) >= needed_inner:
            return colours
        colours += 1
