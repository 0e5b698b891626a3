"""What the rules say about a board whose region is still open."""

from __future__ import annotations

from instances.board import Board
from instances.errors import InputError
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
    """The verdict on the board without the region's pieces; InputError when a rule is broken there."""
    judged = verify(puzzle, rest)
    if not sound(judged):
        problem = next(problem for problem in judged.problems if not _is_missing(problem))
        raise InputError(f"the board breaks a rule outside the region: {problem}")
    return judged


def checked_order(order: str) -> None:
    """InputError unless it is one of ORDERS."""
    if order not in ORDERS:
        raise InputError(f"the order '{order}' is not known; expected one of {', '.join(ORDERS)}")


def sound(judged: Verification) -> bool:
    """No rule is broken, but that clue cells may be empty."""
    return all(_is_missing(problem) for problem in judged.problems)


def _is_missing(problem: str) -> bool:
    return " is missing: piece " in problem
