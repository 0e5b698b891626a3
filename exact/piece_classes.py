"""Equal pieces merged: a board is known by its colours, so identical pieces swapped are the same solution.

A *kind* is a set of pieces that are equal up to rotation; each clue piece is a kind of its own, because its cell is
given. Solvers place kinds with a multiplicity, and `PieceClasses.board` names concrete pieces again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from instances.board import Board
from instances.puzzle import IntArray, Puzzle, rotate


@dataclass(frozen=True)
class PieceClasses:
    """``quads``: int32 (kinds, 4), colours up, right, down, left of the first member in file order.

    ``members[kind]``: (piece, turn) with ``rotate(pieces[piece], turn) == quads[kind]``.
    ``clue_kind[cell]`` = (kind, rotation) of the clue on that cell.
    """

    puzzle: Puzzle
    quads: IntArray
    members: tuple[tuple[tuple[int, int], ...], ...]
    clue_kind: dict[int, tuple[int, int]]

    @property
    def counts(self) -> IntArray:
        """How many pieces each kind has."""
        return np.array([len(members) for members in self.members], dtype=np.int32)

    def rotations(self, kind: int) -> list[int]:
        """The rotations of ``kind`` that look different."""
        return distinct_rotations(self.quads[kind].tolist())

    def board(self, oriented_kinds: Sequence[int]) -> Board:
        """The board with ``kind*4 + rotation`` by cell (-1 = empty), members handed out in file order."""
        next_member = [0] * len(self.members)
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        for cell, oriented in enumerate(oriented_kinds):
            if oriented < 0:
                continue
            kind, rotation = divmod(int(oriented), 4)
            piece, turn = self.members[kind][next_member[kind]]
            next_member[kind] += 1
            placements[cell] = piece * 4 + (turn + rotation) % 4
        return Board(placements, self.puzzle.width, self.puzzle.height)


def distinct_rotations(quad: Sequence[int]) -> list[int]:
    """The rotations of a piece that look different: a symmetric one has one or two."""
    seen = [rotate(quad, rotation) for rotation in range(4)]
    return [rotation for rotation in range(4) if seen.index(seen[rotation]) == rotation]


def merge_duplicates(puzzle: Puzzle) -> PieceClasses:
    """The kinds of ``puzzle`` in the file order of their first members."""
    pieces = puzzle.pieces.tolist()
    clue_of_piece = {clue.piece: clue for clue in puzzle.clues}
    quads: list[list[int]] = []
    members: list[list[tuple[int, int]]] = []
    clue_kind: dict[int, tuple[int, int]] = {}
    known: dict[tuple[int, int, int, int], tuple[int, int]] = {}  # oriented quad -> (kind, turn onto its quad)
    for piece, quad in enumerate(pieces):
        clue = clue_of_piece.get(piece)
        found = None if clue is not None else known.get(rotate(quad, 0))
        if found is not None:
            members[found[0]].append((piece, found[1]))
            continue
        kind = len(quads)
        quads.append(quad)
        members.append([(piece, 0)])
        if clue is not None:
            clue_kind[clue.cell] = kind, clue.rotation
        else:
            for turn in (3, 2, 1, 0):  # a symmetric quad keeps its smallest turn
                known[rotate(quad, -turn)] = kind, turn
    return PieceClasses(puzzle, np.array(quads, dtype=np.int32), tuple(map(tuple, members)), clue_kind)
