"""Counting for solvers that distinguish duplicate pieces and so find each board once for each way to swap them."""

from __future__ import annotations

from math import factorial, prod

from exact.piece_classes import distinct_rotations, merge_duplicates
from instances.puzzle import Puzzle


def assignments_per_board(puzzle: Puzzle) -> int:
    """How many assignments of pieces to cells show the same colours: the product of factorials of multiplicities."""
    return prod(factorial(int(count)) for count in merge_duplicates(puzzle).counts)


def distinct_count(assignments: int, puzzle: Puzzle) -> int:
    """How many boards that differ in their colours ``assignments`` stand for; rounded up after an incomplete search."""
    return -(-assignments // assignments_per_board(puzzle))


def allowed_placements(puzzle: Puzzle, cell: int, *, all_four: bool = False) -> list[int]:
    """The oriented pieces that rim, holes, clues and the rule on turns allow on a cell.

    Parameters
    ----------
    puzzle : Puzzle
    cell : int
    all_four : bool
        Include the rotations of symmetric pieces that look equal, which Jolivet 2008 counts separately.

    Returns
    -------
    list of int
        piece*4 + rotation.
    """
    for clue in puzzle.fixed:
        if clue.cell == cell:
            return [clue.oriented]
    fits = puzzle.fits(cell)
    fixed_pieces = {clue.piece for clue in puzzle.fixed}
    return [
        piece * 4 + rotation
        for piece, quad in enumerate(puzzle.pieces.tolist())
        if piece not in fixed_pieces
        for rotation in (range(4) if all_four else distinct_rotations(quad))
        if fits[piece * 4 + rotation]
    ]
