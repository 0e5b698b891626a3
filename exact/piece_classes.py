"""Merge duplicate pieces: boards that differ only by swapping duplicate pieces are the same solution.

A *piece class* is a set of pieces that are equal up to rotation, such as copies. Each clue piece, and the blank of each
hole, is a class of its own, because its cell is given. If pieces may not be turned, only pieces that look the same
unturned are duplicates. Solvers place each piece class at most as often as it has members, and `PieceClasses.board`
replaces the classes on a board by their members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, prod

import numpy as np

from lns.instances.board import Board
from lns.instances.puzzle import Clue, IntArray, Puzzle, rotate


@dataclass(frozen=True)
class PieceClasses:
    """The piece classes of a puzzle."""

    puzzle: Puzzle
    quads: IntArray  # int32, shape (classes, 4): colours up, right, down, left of the first member in file order
    # by class: its pieces, as often as each may be placed, with the rotation in which the piece shows the class's quad
    members: tuple[tuple[tuple[int, int], ...], ...]
    clue_class: dict[int, tuple[int, int]]  # cell of a clue or hole -> piece class and rotation of the piece there

    @property
    def counts(self) -> IntArray:
        """Number of members of each class, int32 (classes,); a piece counts as often as it may be placed."""
        return np.array([len(members) for members in self.members], dtype=np.int32)

    def rotations(self, piece_class: int) -> list[int]:
        """Return the rotations in which a class may be placed; of rotations that look the same, only the first."""
        turned = [rotate(self.quads[piece_class].tolist(), turn) for turn in range(4 if self.puzzle.turns else 1)]
        return [turn for turn, look in enumerate(turned) if turned.index(look) == turn]

    def board(self, oriented_classes: Sequence[int]) -> Board:
        """Convert ``class*4 + rotation`` by cell (-1: empty) to a board of pieces; members are used in file order."""
        unused, laid = [iter(members) for members in self.members], dict[int, int]()
        for cell, oriented in enumerate(oriented_classes):
            if oriented >= 0:
                piece, turn = next(unused[oriented >> 2])
                laid[cell] = piece * 4 + (turn + oriented) % 4
        return Board.empty(self.puzzle).with_pieces([*laid], [*laid.values()])


def merge_duplicates(puzzle: Puzzle) -> PieceClasses:
    """Return the piece classes of ``puzzle``, in the file order of their first members."""
    clues_of_piece: dict[int, list[Clue]] = {}
    for clue in puzzle.fixed:
        clues_of_piece.setdefault(clue.piece, []).append(clue)
    quads: list[list[int]] = []
    members: list[list[tuple[int, int]]] = []
    clue_class: dict[int, tuple[int, int]] = {}
    # by quad, in every rotation: the class, and the rotation that turns this quad into the quad of the class
    class_of_quad: dict[tuple[int, int, int, int], tuple[int, int]] = {}
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        clues = clues_of_piece.get(piece, ())
        for clue in clues:
            clue_class[clue.cell] = len(quads), clue.rotation
            quads.append(quad)
            members.append([(piece, 0)])
        others = int(puzzle.limits[piece]) - len(clues)
        existing = class_of_quad.get(rotate(quad, 0))
        if existing is not None:
            members[existing[0]] += [(piece, existing[1])] * others
        elif others:
            for turn in (3, 2, 1, 0) if puzzle.turns else (0,):  # of rotations that look equal, the smallest stays
                class_of_quad[rotate(quad, -turn)] = len(quads), turn
            quads.append(quad)
            members.append([(piece, 0)] * others)
    return PieceClasses(puzzle, np.array(quads, dtype=np.int32), tuple(map(tuple, members)), clue_class)


def assignments_per_board(puzzle: Puzzle) -> int:
    """Return how many assignments of pieces to cells look like one board: the product of the factorials of class sizes.

    In a puzzle with copies the number is 1, because copies of a piece are not told apart.
    """
    return 1 if puzzle.copies else prod(factorial(int(count)) for count in merge_duplicates(puzzle).counts)


def distinct_count(assignments: int, puzzle: Puzzle) -> int:
    """Convert a number of assignments of pieces to cells to a number of boards that look different, rounded up."""
    return -(-assignments // assignments_per_board(puzzle))


def allowed_placements(puzzle: Puzzle, cell: int, *, all_four: bool = False) -> list[int]:
    """Return the oriented pieces (piece*4 + rotation) that rim, holes, clues and the rule on turns allow on a cell.

    ``all_four`` includes the rotations of symmetric pieces that look equal, which Jolivet 2008 counts separately.
    """
    for clue in puzzle.fixed:
        if clue.cell == cell:
            return [clue.oriented]
    fits = puzzle.fits(cell).reshape(-1, 4).copy()
    used = Counter(clue.piece for clue in puzzle.fixed)
    fits[[piece for piece, times in used.items() if times == puzzle.limits[piece]]] = False
    if not all_four:
        quads = puzzle.oriented.reshape(-1, 4, 4)
        for turn in range(1, 4):
            fits[:, turn] &= ~(quads[:, turn, None] == quads[:, :turn]).all(axis=2).any(axis=1)
    allowed: list[int] = np.flatnonzero(fits).tolist()
    return allowed
