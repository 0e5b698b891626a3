"""What the rules say about a board whose region is still open."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.state import RegionPlan
from instances.board import Board
from instances.duplicates import normalise_clue_pieces
from instances.puzzle import GREY, Puzzle
from instances.verify import Verification, verify
from lns_support.errors import BoardError


def with_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """``board`` with the clues of the region laid down, over what lies there.

    Identical pieces change names, so that no other cell holds the piece of a clue (see `normalise_clue_pieces`).
    """
    placements = normalise_clue_pieces(puzzle, board, cells).placements.copy()
    for clue in puzzle.clues:
        if clue.cell in cells:
            placements[clue.cell] = clue.piece * 4 + clue.rotation
    return Board(placements, puzzle.width, puzzle.height)


def filled(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """``board``, which breaks no rule, with a piece on each empty one of ``cells``, in turn: the one that matches most.

    Pieces of clues are left out; there is always another one that obeys the rules.
    """
    placements = board.placements.copy()
    left = np.ones(puzzle.cells, dtype=bool)
    left[placements[placements >= 0] >> 2] = False
    left[[clue.piece for clue in puzzle.clues]] = False
    for cell in cells:
        if placements[cell] >= 0:
            continue
        fits = np.repeat(left, 4) & ((puzzle.oriented == GREY) == puzzle.rim_sides(cell)).all(axis=1)
        matches = fits.astype(int)
        for side, other in puzzle.neighbours(cell):
            if placements[other] >= 0:
                matches += fits & (puzzle.oriented[:, side] == puzzle.oriented[placements[other], side ^ 2])
        placements[cell] = matches.argmax()
        left[placements[cell] >> 2] = False
    return Board(placements, puzzle.width, puzzle.height)


def checked(puzzle: Puzzle, rest: Board) -> Verification:
    """The verdict on the board without the region's pieces; BoardError when a rule is broken there."""
    judged = verify(puzzle, rest)
    if judged.violations:
        raise BoardError(f"the board breaks a rule outside the region: {judged.violations[0]}")
    return judged


def check_pieces(plan: RegionPlan, used: npt.NDArray[np.uint8]) -> None:
    """AssertionError where the free pieces are too few: a search would refute everything, a proof of nothing."""
    kinds = plan.kind_of_piece[(used == 0) & (plan.of_clue == 0) & (plan.kind_of_piece >= 0)]
    if (np.bincount(kinds, minlength=len(plan.need)) < plan.need).any():
        raise AssertionError("the free pieces are too few for the region")
