"""Fill boards, and rearrange pieces on cells that do not neighbour each other, by linear assignment (scipy's solver).

On such cells the matches of a piece do not depend on the pieces on the other cells, so the best permutation solves a
linear assignment problem. `fill` fills the empty cells of a partial board by linear assignments.

References
----------
Schaus & Deville 2008, section 4.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from lns.engine import FoundBoard, verified_board
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, IntArray, Puzzle

GREEDY = "greedy"  # origin of the boards of `greedy_board`, as named in reports
_FORBIDDEN, _LEAST = -1000.0, -900  # the first is added to matches for an illegal side; sums below _LEAST are illegal
ANY = -1  # stands for the required colour of a side that may have any colour but grey


def placement_matches(
    puzzle: Puzzle, placements: IntArray, cells: IntArray, pieces: IntArray
) -> tuple[IntArray, IntArray]:
    """Find the best legal rotation of each piece on each cell, given the pieces placed around the cell.

    ``placements``: int32 (puzzle.cells,), -1 for an empty cell; neighbours are read from this array, also those in
    ``cells``. Returns two int32 arrays (cells, pieces): the best rotation's number of matches with neighbours,
    below -900 if no rotation is legal, and that rotation, 0 to 3.
    """
    shown = np.where(placements[:, None] < 0, -1, puzzle.oriented[placements])
    quads, turned = (of.reshape(-1, 4, 4)[pieces] for of in (puzzle.oriented, puzzle.turned))  # [piece, rotation, side]
    matches = np.zeros((len(cells), len(pieces), 4))
    rim_sides, required_sides = (sides[cells] for sides in _sides(puzzle))
    for side, step in enumerate((-puzzle.width, 1, puzzle.width, -1)):
        rim, required = rim_sides[:, side], required_sides[:, side, None, None]
        facing = np.where(rim, 0, shown[np.where(rim, 0, cells + step), (side + 2) % 4])
        colour = turned[None, :, :, side]
        matches += _FORBIDDEN * np.where(required == ANY, colour == GREY, colour != required)
        matches += (~rim[:, None, None]) & (quads[None, :, :, side] == facing[:, None, None])
    matches[:, ~puzzle.usable.reshape(-1, 4)[pieces]] = _FORBIDDEN
    rotation = matches.argmax(axis=2)
    top = np.take_along_axis(matches, rotation[:, :, None], axis=2)[:, :, 0]
    return np.maximum(top, _FORBIDDEN).astype(np.int32), rotation.astype(np.int32)


@lru_cache(maxsize=16)
def _sides(puzzle: Puzzle) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Return two arrays (cells, 4): whether a side is on the rim, bool, and the side's required colour or ANY, int."""
    required = [[ANY if side is None else side for side in puzzle.required_sides(cell)] for cell in range(puzzle.cells)]
    return np.array([puzzle.rim_sides(cell) for cell in range(puzzle.cells)]), np.array(required, dtype=np.int32)


def reassign(puzzle: Puzzle, placements: IntArray, cells: IntArray, pieces: IntArray) -> IntArray:
    """Place one of ``pieces`` on each of ``cells``, with as many matches as possible with neighbours outside ``cells``.

    ``placements``: int32 (puzzle.cells,), -1 if empty; what lies on ``cells`` is ignored. Returns the new placements,
    optimal if no two of ``cells`` are neighbours; in that case, if ``pieces`` lay on ``cells`` before, the score does
    not fall. Raises InputError if a cell cannot be filled legally, which happens only on a rim of an ordinary colour.
    """
    outside = placements.copy()
    outside[cells] = -1
    matches, rotation = placement_matches(puzzle, outside, cells, pieces)
    rows, columns = linear_sum_assignment(matches, maximize=True)
    if (matches[rows, columns] < _LEAST).any():
        raise InputError(
            f"the rim of {puzzle.name} cannot be filled with the pieces left: too few of them have sides of "
            f"colour {puzzle.rim} as its cells need them"
        )
    outside[cells[rows]] = pieces[columns] * 4 + rotation[rows, columns]
    return outside


def fill(puzzle: Puzzle, board: Board) -> Board:
    """Fill the empty cells of a board with the remaining pieces.

    The board must be legal, and its pieces stay. Clue cells get their clues and holes their blanks. The other empty
    cells are first assigned all together, then those of each chequerboard colour in turn until the score stops rising.
    """
    placements = board.placements.copy()
    for clue in puzzle.fixed:
        placements[clue.cell] = clue.oriented
    empty = np.flatnonzero(placements < 0).astype(np.int32)
    if len(empty) == 0:
        return Board(placements, puzzle.width, puzzle.height)
    placements = reassign(puzzle, placements, empty, _unplaced(puzzle, placements))
    row, column = np.divmod(empty, puzzle.width)
    best = -1
    while (score := matched_edges(puzzle, placements)) > best:
        best = score
        for parity in (0, 1):
            cells = empty[(row + column) % 2 == parity]
            if len(cells):
                placements = reassign(puzzle, placements, cells, placements[cells] >> 2)
    return Board(placements, puzzle.width, puzzle.height)


def _unplaced(puzzle: Puzzle, placements: IntArray) -> IntArray:
    return np.setdiff1d(np.arange(puzzle.cells), placements[placements >= 0] >> 2).astype(np.int32)


def matched_edges(puzzle: Puzzle, placements: IntArray) -> int:
    """Count the matched inner edges of a full board with a legal border; ``placements`` int32 (puzzle.cells,)."""
    across, down = matching_edges(puzzle, placements)
    return int(across.sum() + down.sum())


def matching_edges(puzzle: Puzzle, placements: IntArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which inner edges of a full board match, as two bool arrays.

    The first, (height, width - 1), is indexed by the cell on the left of an edge; the second, (height - 1, width), by
    the cell above an edge.
    """
    grid = puzzle.oriented[placements].reshape(puzzle.height, puzzle.width, 4)
    right, below = grid[:, :-1, RIGHT], grid[:-1, :, DOWN]
    across, down = right == grid[:, 1:, LEFT], below == grid[1:, :, UP]
    if puzzle.holes:  # two grey sides, at a hole, are no match
        across, down = across & (right != GREY), down & (below != GREY)
    return across, down


def with_rim(puzzle: Puzzle, placements: IntArray, pieces: IntArray) -> IntArray:
    """Fill the empty cells along a rim of an ordinary colour with some of ``pieces``; return the new placements.

    ``placements``: int32 (puzzle.cells,), -1 if empty. Few pieces fit such a rim, so it should be filled before the
    other cells. Raises InputError as `reassign` does.
    """
    cells = np.flatnonzero((_sides(puzzle)[1] > GREY).any(axis=1) & (placements < 0)).astype(np.int32)
    return reassign(puzzle, placements, cells, pieces) if len(cells) else placements


def greedy_board(puzzle: Puzzle) -> FoundBoard:
    """Fill the board row by row, each cell with the free piece that matches most of the placed neighbours.

    This is fast, for searches that end before their first step has made a board. Of equally good pieces the one with
    the lowest index is taken. A rim of an ordinary colour is filled first, by `with_rim`. By its grey sides a piece
    fits one kind of cell only, and there are as many pieces as cells of each kind, so each cell gets a piece. The board
    is full, legal and keeps the clues. Raises InputError as `reassign` does.
    """
    placed = np.full(puzzle.cells, -1, dtype=np.int32)
    for clue in puzzle.fixed:
        placed[clue.cell] = clue.oriented
    placed = with_rim(puzzle, placed, _unplaced(puzzle, placed))
    board = Board(placed, puzzle.width, puzzle.height).filled(puzzle, range(puzzle.cells))
    return verified_board(puzzle, board, GREEDY)
