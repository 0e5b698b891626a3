"""Cells that do not touch are an assignment problem (Schaus & Deville 2008): exact, by scipy.

Every piece on such a set of cells is worth a number of matches on every cell of it, whatever the others do; the best
permutation is a linear assignment. The same call fills the empty cells of a partial board.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from instances.board import Board
from instances.puzzle import IntArray, Puzzle

_FORBIDDEN = -1000.0


def placement_matches(
    puzzle: Puzzle, placements: IntArray, cells: IntArray, pieces: IntArray
) -> tuple[IntArray, IntArray]:
    """(matches, rotation) of the best legal rotation of each piece on each cell; shape (cells, pieces).

    Matches count placed neighbours only; a piece that no rotation makes legal there has less than -900.
    """
    shown = Board(placements, puzzle.width, puzzle.height).colours(puzzle)
    quads = puzzle.oriented.reshape(-1, 4, 4)[pieces]  # piece, rotation, side
    matches = np.zeros((len(cells), len(pieces), 4))
    for side, step in enumerate((-puzzle.width, 1, puzzle.width, -1)):
        rim = np.array([puzzle.rim_sides(int(cell))[side] for cell in cells])
        asked = np.where(rim, 0, shown[np.where(rim, 0, cells + step), (side + 2) % 4])
        colour = quads[None, :, :, side]
        matches += np.where(rim[:, None, None], np.where(colour == 0, 0.0, _FORBIDDEN), 0.0)
        matches += np.where(~rim[:, None, None] & (colour == 0), _FORBIDDEN, 0.0)
        matches += (~rim[:, None, None]) & (colour == asked[:, None, None])
    rotation = matches.argmax(axis=2)
    top = np.take_along_axis(matches, rotation[:, :, None], axis=2)[:, :, 0]
    return np.maximum(top, _FORBIDDEN).astype(np.int32), rotation.astype(np.int32)


def reassign(puzzle: Puzzle, placements: IntArray, cells: IntArray, pieces: IntArray) -> IntArray:
    """Placements with ``pieces`` laid on ``cells`` as well as their other neighbours allow.

    Exact when no two of ``cells`` are neighbours; then the score never falls if ``pieces`` lay on ``cells`` before.
    """
    outside = placements.copy()
    outside[cells] = -1
    worth, rotation = placement_matches(puzzle, outside, cells, pieces)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    outside[cells[rows]] = pieces[columns] * 4 + rotation[rows, columns]
    return outside


def fill(puzzle: Puzzle, board: Board) -> Board:
    """A full board: the empty cells of ``board`` get the pieces left over, by assignment, swept until nothing improves.

    Clue cells are filled with their clues first. The board's own pieces stay where they are.
    """
    placements = board.placements.copy()
    for clue in puzzle.clues:
        placements[clue.cell] = clue.piece * 4 + clue.rotation
    empty = np.flatnonzero(placements < 0).astype(np.int32)
    if len(empty) == 0:
        return Board(placements, puzzle.width, puzzle.height)
    left_over = np.setdiff1d(np.arange(puzzle.cells), placements[placements >= 0] >> 2).astype(np.int32)
    placements = reassign(puzzle, placements, empty, left_over)
    row, column = np.divmod(empty, puzzle.width)
    best = -1
    while (score := matched_edges(puzzle, placements)) > best:
        best = score
        for parity in (0, 1):
            cells = empty[(row + column) % 2 == parity]
            if len(cells):
                placements = reassign(puzzle, placements, cells, placements[cells] >> 2)
    return Board(placements, puzzle.width, puzzle.height)


def matched_edges(puzzle: Puzzle, placements: IntArray) -> int:
    """Of a full board with a legal rim: its score."""
    grid = puzzle.oriented[placements].reshape(puzzle.height, puzzle.width, 4)
    return int((grid[:, :-1, 1] == grid[:, 1:, 3]).sum() + (grid[:-1, :, 2] == grid[1:, :, 0]).sum())
