"""The side from which each island fills the board, decided by `Orientation` alone.

A board may be rotated before it is filled row by row, since rows should be short and clues should come early. Only the
operators that fill whole boards see the rotated puzzle.
"""

from __future__ import annotations

from dataclasses import dataclass

from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.symmetry import View, cells_from_view, rotate_board, rotate_puzzle

CLUE_TOLERANCE_ROWS = 2  # good rotations have their clues, on average, at most this many rows later than the best one


@dataclass(frozen=True)
class Orientation:
    """How one island of a run sees the puzzle: its rotation, its views, and its part of the prefixes."""

    puzzle: Puzzle  # the puzzle that is filled: colours numbered without gaps, board rotated
    turns: int  # number of clockwise quarter turns from the given puzzle to ``puzzle``
    views: tuple[View, ...]  # symmetries of ``puzzle`` from which the engine may fill it, the identity first
    partition: tuple[int, int]  # (index, from 0, of the island's part of the prefixes, number of parts)

    @staticmethod
    def of_island(puzzle: Puzzle, island: int = 0, islands: int = 1) -> Orientation:
        """Return the orientation of ``island`` in a run of ``islands`` islands.

        With clues, each rotation leads to other boards, so consecutive islands begin with consecutive good rotations.
        Each good rotation is a view, and so is its mirror image, which fills the same upper rows but fills the last
        rows, where most breaks are, from the other end. Another view helps once the best prefixes of the first view
        have been searched (`lns.construct.quota_arm`). A board of a single row or column is not mirrored.
        """
        puzzle = puzzle.renumbered()
        good = _good_turns(puzzle)
        first = island % len(good)
        turns = good[first]
        mirrors = (False, True) if min(puzzle.width, puzzle.height) > 1 else (False,)
        order = [(turn - turns) % 4 for turn in good[first:] + good[:first]]
        return Orientation(
            puzzle=rotate_puzzle(puzzle, turns) if turns else puzzle,
            turns=turns,
            views=tuple(View(turn, mirrored) for mirrored in mirrors for turn in order),
            partition=(island, max(islands, island + 1)),  # in a resumed run ``island`` may be ``islands`` or more
        )

    def from_engine(self, board: Board) -> Board:
        """Turn a board of ``puzzle`` back into a board of the given puzzle."""
        return rotate_board(board, -self.turns) if self.turns else board

    @property
    def cells(self) -> IntArray:
        """For each cell of ``puzzle``, the number of the same cell in the given puzzle; int32 (cells,)."""
        return cells_from_view(rotate_puzzle(self.puzzle, -self.turns), View(self.turns))


def _good_turns(puzzle: Puzzle) -> list[int]:
    """Return the good rotations, as numbers of clockwise quarter turns, the best first.

    Rows must be as short as possible, since short rows leave few open edges between filled and empty cells. The best of
    such rotations reaches the clues soonest: a clue cuts the number of prefixes by a factor, and saves more work the
    earlier it comes. Rotations that reach the clues nearly as soon are good, too. Without clues one rotation is enough.
    """
    shortest = min(puzzle.width, puzzle.height)
    clue_depths = {}  # number of quarter turns -> sum of the clues' cell numbers on the rotated board
    for turns in range(4):
        turned = rotate_puzzle(puzzle, turns)
        if turned.width == shortest:
            clue_depths[turns] = sum(clue.cell for clue in turned.clues)
    limit = min(clue_depths.values()) + CLUE_TOLERANCE_ROWS * shortest * len(puzzle.clues)
    good = sorted((turns for turns, depth in clue_depths.items() if depth <= limit), key=clue_depths.__getitem__)
    return good if puzzle.clues else good[:1]
