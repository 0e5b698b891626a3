"""Identical pieces. Exchanging two of them changes no colour, but a clue names one of them by number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle


def normalise_clue_pieces(puzzle: Puzzle, board: Board, freed: Iterable[int] = ()) -> Board:
    """Exchange identical pieces so that the cells of clues hold the pieces that the clues name.

    A cell that shows the colours of its clue gets the clue's own piece, which is exchanged with the identical piece
    there. If the cell of a clue is empty, or will be emptied, the clue's piece should not lie on another cell: it is
    exchanged with an identical piece that lies nowhere, or on a freed cell, and that no clue names. Without such a
    piece it stays where it is.

    The board is partial or full; ``freed`` are cells that the caller will empty. The result shows the same colours on
    every cell.
    """
    placements = board.placements.copy()
    emptied = set(freed)
    clues = sorted(puzzle.clues, key=lambda clue: clue.cell not in emptied)
    for clue in clues:
        oriented = int(placements[clue.cell])
        same = oriented in _same_colours(puzzle, clue.oriented) and oriented >> 2 in _identical(puzzle, clue.piece)
        if same and oriented >> 2 != clue.piece:
            _exchange(puzzle, placements, oriented >> 2, clue.piece)
    cell_of = {oriented >> 2: cell for cell, oriented in enumerate(placements.tolist()) if cell not in emptied}
    clue_pieces = {clue.piece for clue in clues}
    for clue in clues:
        if cell_of.get(clue.piece, clue.cell) != clue.cell:
            identical = _identical(puzzle, clue.piece) - cell_of.keys() - clue_pieces
            if identical:
                substitute = min(identical)
                _exchange(puzzle, placements, clue.piece, substitute)
                cell_of[substitute] = cell_of.pop(clue.piece)
    return Board(placements, board.width, board.height)


def _same_colours(puzzle: Puzzle, oriented: int) -> IntArray:
    """The oriented pieces that have the same four colours as ``oriented``, itself included, turned or not."""
    return np.flatnonzero((puzzle.oriented == puzzle.oriented[oriented]).all(axis=1)).astype(np.int32)


def _identical(puzzle: Puzzle, piece: int) -> set[int]:
    """The pieces that look like ``piece``, itself included: after a turn too, unless the puzzle forbids turns."""
    looks = puzzle.oriented[4 * piece : 4 * piece + (4 if puzzle.turns else 1)]
    return set(np.flatnonzero((puzzle.pieces[:, None] == looks).all(axis=2).any(axis=1)).tolist())


def _exchange(puzzle: Puzzle, placements: IntArray, first: int, second: int) -> None:
    """Exchange two identical pieces wherever they lie, in place; the colours on the cells stay."""
    for cell in np.flatnonzero(np.isin(placements >> 2, (first, second))):
        other = first + second - (placements[cell] >> 2)
        candidates = _same_colours(puzzle, placements[cell])
        placements[cell] = candidates[candidates >> 2 == other][0]
