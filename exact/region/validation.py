"""Checks and completions of a board before its region is searched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.state import RegionPlan
from instances.board import Board
from instances.duplicates import normalise_clue_pieces
from instances.puzzle import Puzzle
from instances.verify import Verification, verify
from lns_support.errors import BoardError


def with_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """The board with the clues of the region placed, replacing the pieces on their cells.

    Identical pieces exchange numbers so that no other cell has the piece of a clue (see `normalise_clue_pieces`).
    """
    placements = normalise_clue_pieces(puzzle, board, cells).placements.copy()
    for clue in puzzle.fixed:
        if clue.cell in cells:
            placements[clue.cell] = clue.piece * 4 + clue.rotation
    return Board(placements, puzzle.width, puzzle.height)


def fill_empty_cells(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """A legal board with the empty ones of ``cells`` filled, in order, each by the free piece that matches most.

    Pieces of clues are not used. A legal piece always remains.
    """
    placements = board.placements.copy()
    unused = np.ones(puzzle.cells, dtype=bool)
    unused[placements[placements >= 0] >> 2] = False
    unused[[clue.piece for clue in puzzle.fixed]] = False
    for cell in cells:
        if placements[cell] >= 0:
            continue
        fits = np.repeat(unused, 4) & puzzle.fits(cell)
        matches = fits.astype(int)
        for side, other in puzzle.neighbours(cell):
            if placements[other] >= 0:
                matches += fits & (puzzle.oriented[:, side] == puzzle.oriented[placements[other], side ^ 2])
        placements[cell] = matches.argmax()
        unused[placements[cell] >> 2] = False
    return Board(placements, puzzle.width, puzzle.height)


def verify_rest(puzzle: Puzzle, rest: Board) -> Verification:
    """Verify the board without the pieces of the region. Raises BoardError if it breaks a rule."""
    verification = verify(puzzle, rest)
    if verification.violations:
        raise BoardError(f"the board breaks a rule outside the region: {verification.violations[0]}")
    return verification


def check_pieces(plan: RegionPlan, used: npt.NDArray[np.uint8]) -> None:
    """Raise AssertionError if there are fewer free pieces of some kind than cells; a search would find no refill."""
    kinds = plan.kind_of_piece[(used == 0) & (plan.is_clue == 0) & (plan.kind_of_piece >= 0)]
    if (np.bincount(kinds, minlength=len(plan.cells_of_kind)) < plan.cells_of_kind).any():
        raise AssertionError("the free pieces are too few for the region")
