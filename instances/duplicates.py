"""Identical pieces: which of them lies where says nothing, except that a clue names one of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from instances.board import Board
from instances.puzzle import IntArray, Puzzle


def normalise_clue_pieces(puzzle: Puzzle, board: Board, freed: Iterable[int] = ()) -> Board:
    """``board`` in the same colours, with the clue's own piece on every cell that shows its clue.

    An identical piece there changes names with it. The piece of a clue whose cell is empty, or among ``freed`` (cells
    that will be emptied), is not to lie elsewhere: it changes names with an identical piece that lies nowhere, or on a
    freed cell, and belongs to no clue. Where there is none it stays. ``board`` has the shape of the puzzle.
    """
    placements = board.placements.copy()
    cleared = set(freed)
    clues = sorted(puzzle.clues, key=lambda clue: clue.cell not in cleared)
    for clue in clues:
        lies = int(placements[clue.cell])
        if lies >> 2 != clue.piece and lies in _alike(puzzle, clue.piece * 4 + clue.rotation):
            _exchange(puzzle, placements, lies >> 2, clue.piece)
    at = {oriented >> 2: cell for cell, oriented in enumerate(placements.tolist()) if cell not in cleared}
    bound = {clue.piece for clue in clues}
    for clue in clues:
        if at.get(clue.piece, clue.cell) != clue.cell:
            twins = set((_alike(puzzle, clue.piece * 4) >> 2).tolist()) - at.keys() - bound
            if twins:
                twin = min(twins)
                _exchange(puzzle, placements, clue.piece, twin)
                at[twin] = at.pop(clue.piece)
    return Board(placements, board.width, board.height)


def _alike(puzzle: Puzzle, oriented: int) -> IntArray:
    """The oriented pieces that show the same colours."""
    return np.flatnonzero((puzzle.oriented == puzzle.oriented[oriented]).all(axis=1)).astype(np.int32)


def _exchange(puzzle: Puzzle, placements: IntArray, one: int, other: int) -> None:
    """Let two identical pieces change names wherever they lie; the colours stay."""
    for cell in np.flatnonzero(np.isin(placements >> 2, (one, other))):
        name = one + other - (placements[cell] >> 2)
        alike = _alike(puzzle, placements[cell])
        placements[cell] = alike[alike >> 2 == name][0]
