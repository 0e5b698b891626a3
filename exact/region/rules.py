"""What the rules say about a board whose region is still open."""

from __future__ import annotations

from instances.board import Board
from instances.errors import BoardError, InputError
from instances.puzzle import Puzzle
from instances.verify import Verification, verify

ORDERS = ("auto", "static", "urgent")  # in which a search decides the cells


def with_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """``board`` with the clues of empty clue cells of the region laid down."""
    placements = board.placements.copy()
    for clue in puzzle.clues:
        if clue.cell in cells:
            placements[clue.cell] = clue.piece * 4 + clue.rotation
    return Board(placements, puzzle.width, puzzle.height)


def checked(puzzle: Puzzle, rest: Board) -> Verification:
    """The verdict on the board without the region's pieces; BoardError when a rule is broken there."""
    judged = verify(puzzle, rest)
    if judged.broken:
        raise BoardError(f"the board breaks a rule outside the region: {judged.broken[0]}")
    return judged


def checked_order(order: str) -> None:
    """InputError unless it is one of ORDERS."""
    if order not in ORDERS:
        raise InputError(f"the order '{order}' is not known; expected one of {', '.join(ORDERS)}")
