"""Recognise the pieces of Eternity II, in any numbering of pieces and colours, and their mirror image.

The pieces themselves are not part of this package. The set of pieces is recognised by a hash that depends neither on
the numbers of pieces and colours nor on the rotations in which pieces are listed. A second hash tells whether the order
of the pieces is the usual one, and each official clue is recognised by a hash too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from lns.instances.board import Board
from lns.instances.piece_set import PieceList, colour_ranks, ranked
from lns.instances.puzzle import Clue, Puzzle, rotate
from lns.instances.symmetry import rotate_board

_SET = "dc895f1ea95194b626af3de6f5d855e4d322ae11872d9869a1701c8617358f15"
_NUMBERED = "5ac5e3d1dad592dedecc5b32f62cfb85fc46daff91b76a774e24df0e29382424"  # hash of the pieces in usual order
SWAPPED = (111, 112)  # the two pieces, counted from 0, that two files in circulation have exchanged
STARTER = 135  # cell of the starter clue, the official clue that a solution of Eternity II must respect
# The official clues by cell, each as a hash of its cell and of the colours on that cell, numbered by `colour_ranks`.
_CLUES = {
    34: "f201f0892702b8aa450e345a6991362ba9654cf1c02ac6ff6edbe05b4e18dbe9",
    45: "6590b01fe265fe9dd66caf4c8946a66daaa463048ea4559c660b0a1724515f0b",
    STARTER: "7970c1ad0b847c08fa4d100444aac2ae32aefba3b2e477f348354da5ee908fd6",
    210: "bd2e7203c2997ccbe0c549027eb889467734e1e116e2f011caeb3db7a6174b9e",
    221: "9df34d5012767d584ff9976cd08763fa63e8c99983fa8fa147391e57a13a7a8d",
}
CLUES = len(_CLUES)


class Recognised(NamedTuple):
    """How the pieces of a puzzle were recognised as those of Eternity II or as their mirror image."""

    mirrored: bool
    ranks: dict[int, int]  # what `colour_ranks` returns for these pieces
    sentence: str  # tells users which pieces these are, and in which numbering


@lru_cache(maxsize=16)
def recognise(puzzle: Puzzle) -> Recognised | None:
    """Return how the pieces of a puzzle are recognised as those of Eternity II or their mirror image, or None."""
    for mirrored in (False, True) if (puzzle.width, puzzle.height) == (16, 16) else ():
        pieces = PieceList(PieceList.of(puzzle, mirrored=mirrored).quads)  # without the puzzle's rules
        ranks = colour_ranks(pieces)
        forms = ranked(pieces, ranks)
        if _digest(sorted(forms)) == _SET:
            sentence = (
                "the pieces are the mirror image of Eternity II (two opposite sides are exchanged in the side order)"
            )
            if not mirrored:
                swapped = [*forms]
                swapped[SWAPPED[0]], swapped[SWAPPED[1]] = (forms[piece] for piece in reversed(SWAPPED))
                how = {
                    _digest(forms): ", in the usual numbering",
                    _digest(swapped): "; pieces 112 and 113 are swapped against the usual numbering",
                }
                sentence = f"the pieces of Eternity II{how.get(_NUMBERED, ', in another numbering')}"
            return Recognised(mirrored, ranks, sentence)
    return None


@lru_cache(maxsize=16)
def official_clues(puzzle: Puzzle) -> tuple[Clue, ...]:
    """Return the official clues of Eternity II as the puzzle numbers its pieces; () for a puzzle of other pieces."""
    known = recognise(puzzle)
    if known is None or known.mirrored:
        return ()
    return tuple(
        Clue(cell, piece, rotation)
        for cell, clue in _CLUES.items()
        for piece, quad in enumerate(puzzle.pieces.tolist())
        for rotation in range(4)
        if _digest([cell, rotate([known.ranks[colour] for colour in quad], rotation)]) == clue
    )


def named_clues(puzzle: Puzzle) -> dict[str, tuple[Clue, ...]]:
    """Return the clues called 'none', 'official' and 'starter', by name; all () unless the puzzle is Eternity II."""
    official = official_clues(puzzle)
    return {"none": (), "official": official, "starter": tuple(clue for clue in official if clue.cell == STARTER)}


def held_clues(puzzle: Puzzle, board: Board) -> tuple[Clue, ...]:
    """Return the official clues that a board respects; () unless the puzzle is Eternity II."""
    return tuple(clue for clue in official_clues(puzzle) if board.placements[clue.cell] == clue.oriented)


def clues_by_turn(puzzle: Puzzle, board: Board, clues: Sequence[Clue]) -> list[list[int]]:
    """Return four lists: cells of clues whose colours a square board shows after 0, 1, 2, 3 clockwise quarter turns."""
    cells, wanted = [clue.cell for clue in clues], puzzle.turned[[clue.oriented for clue in clues]]
    shown = (rotate_board(board, turns).colours(puzzle)[cells] for turns in range(4))
    return [[cell for cell, same in zip(cells, (quads == wanted).all(axis=1), strict=True) if same] for quads in shown]


def name_of_set(puzzle: Puzzle) -> str:
    """Return 'Eternity II' if a puzzle has the pieces of Eternity II, in any numbering; else the puzzle's own name."""
    return "Eternity II" if official_clues(puzzle) else puzzle.name


def name_of_clues(puzzle: Puzzle) -> str:
    """Return the name of a puzzle's clues (see `named_clues`) or, if they have no name, their count as text."""
    names = (name for name, clues in named_clues(puzzle).items() if clues == puzzle.clues)
    return next(names, str(len(puzzle.clues)))


def clue_sentence(puzzle: Puzzle, board: Board) -> str | None:
    """Return a sentence on how many official clues a board of Eternity II respects; None for another puzzle."""
    if not (official := official_clues(puzzle)):
        return None
    held = clues_by_turn(puzzle, board, official)
    starter = "with" if STARTER in held[0] else "without"
    sentence = f"Eternity II: {len(held[0])} of {CLUES} official clues, {starter} the starter clue"
    turns = max(range(4), key=lambda turns: (len(held[turns]), STARTER in held[turns]))
    if len(held[turns]) > len(held[0]):
        sentence += f"; {len(held[turns])} of {CLUES} after a turn of {90 * turns} degrees"
    return sentence


def _digest(form: Sequence[object]) -> str:
    return hashlib.sha256(repr(list(form)).encode()).hexdigest()
