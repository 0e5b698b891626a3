"""Counting by colours for solvers that tell identical pieces apart: every board is found once for each way to swap."""

from __future__ import annotations

from math import factorial, prod

from exact.piece_classes import distinct_rotations, merge_duplicates
from instances.puzzle import GREY, Puzzle, rotate


def assignments_per_board(puzzle: Puzzle) -> int:
    """How many assignments of pieces show the same colours: the product of the factorials of identical pieces."""
    return prod(factorial(int(count)) for count in merge_duplicates(puzzle).counts)


def distinct_count(found: int, puzzle: Puzzle) -> int:
    """``found`` assignments as boards that differ in their colours; rounded up where a search was cut short."""
    return -(-found // assignments_per_board(puzzle))


def allowed_placements(puzzle: Puzzle, cell: int, *, all_four: bool = False) -> list[int]:
    """Oriented pieces that may lie on ``cell`` by rim and clues.

    ``all_four``: also the rotations of symmetric pieces that look the same, which seed 003 counts apart.
    """
    grey = puzzle.rim_sides(cell)
    for clue in puzzle.clues:
        if clue.cell == cell:
            return [clue.piece * 4 + clue.rotation]
    pinned = {clue.piece for clue in puzzle.clues}
    return [
        piece * 4 + rotation
        for piece, quad in enumerate(puzzle.pieces.tolist())
        if piece not in pinned
        for rotation in (range(4) if all_four else distinct_rotations(quad))
        if tuple(colour == GREY for colour in rotate(quad, rotation)) == grey
    ]
