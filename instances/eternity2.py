"""Recognise the pieces of Eternity II, in any numbering of pieces and colours, and their mirror image.

The pieces themselves are not part of this package. A puzzle is recognised by a hash of a form of it that no renaming of
colours, no turn of a piece and, for the set, no order of the pieces changes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from instances.board import Board
from instances.puzzle import GREY, Puzzle, canonical, rotate

Quad = tuple[int, int, int, int]

_SET = "dc895f1ea95194b626af3de6f5d855e4d322ae11872d9869a1701c8617358f15"
_NUMBERED = "5ac5e3d1dad592dedecc5b32f62cfb85fc46daff91b76a774e24df0e29382424"  # in the usual numbering
SWAPPED = (111, 112)  # the pieces, counted from 0, that two files in circulation have exchanged
STARTER = 135
# The official clues: cell, and the colours of the piece on it, named as `colour_ranks` does.
CLUES: dict[int, Quad] = {
    34: (19, 22, 18, 16),
    45: (19, 15, 19, 12),
    135: (13, 14, 14, 18),
    210: (12, 14, 17, 18),
    221: (11, 17, 6, 20),
}


@dataclass(frozen=True)
class Recognised:
    """How a puzzle is Eternity II: ``numbered`` is 'usual', 'swapped' (pieces 112 and 113) or 'other'."""

    mirrored: bool
    numbered: str
    ranks: dict[int, int]

    @property
    def sentence(self) -> str:
        """What a user is told."""
        if self.mirrored:
            return "the pieces are the mirror image of Eternity II (two opposite sides are exchanged in the side order)"
        if self.numbered == "swapped":
            return "the pieces of Eternity II; pieces 112 and 113 are swapped against the usual numbering"
        return f"the pieces of Eternity II, in {'the usual' if self.numbered == 'usual' else 'another'} numbering"


def recognise(puzzle: Puzzle) -> Recognised | None:
    """Whether a puzzle has the pieces of Eternity II; None for any other."""
    if puzzle.width != 16 or puzzle.height != 16:
        return None
    return _recognise(tuple(tuple(quad) for quad in puzzle.pieces.tolist()))


@lru_cache(maxsize=8)
def _recognise(pieces: tuple[Quad, ...]) -> Recognised | None:
    for mirrored in (False, True):
        shown = [mirror(quad) for quad in pieces] if mirrored else list(pieces)
        ranks = colour_ranks(shown)
        forms = [canonical([ranks[colour] for colour in quad]) for quad in shown]
        if _digest(sorted(forms)) != _SET:
            continue
        swapped = list(forms)
        first, second = SWAPPED
        swapped[first], swapped[second] = forms[second], forms[first]
        numbered = {_digest(swapped): "swapped", _digest(forms): "usual"}.get(_NUMBERED, "other")
        return Recognised(mirrored, numbered, ranks)
    return None


def official_clues(puzzle: Puzzle, board: Board) -> tuple[int, int, bool] | None:
    """For a board of Eternity II: the turn that respects most official clues, how many, and the starter clue.

    Returns
    -------
    (int, int, bool) or None
        Clockwise quarter turns of the whole board; official clues that hold after them; whether the starter clue is
        among them. No turn is preferred. None for another puzzle.
    """
    known = recognise(puzzle)
    if known is None or known.mirrored:
        return None
    quads = board.colours(puzzle).tolist()
    results = []
    for turns in range(4):
        held = [cell for cell, wanted in CLUES.items() if _shown(quads, cell, turns, known.ranks) == wanted]
        results.append((len(held), STARTER in held, -turns))
    held_count, starter, turns = max(results)
    return -turns, held_count, starter


def clues_held(puzzle: Puzzle, board: Board) -> int:
    """How many official clues a board of Eternity II respects; 0 for another puzzle."""
    known = recognise(puzzle)
    if known is None or known.mirrored:
        return 0
    quads = board.colours(puzzle).tolist()
    return sum(_shown(quads, cell, 0, known.ranks) == wanted for cell, wanted in CLUES.items())


def clue_sentence(puzzle: Puzzle, board: Board) -> str | None:
    """The official clues that a board of Eternity II respects, in words; None for another puzzle."""
    found = official_clues(puzzle, board)
    known = recognise(puzzle)
    if found is None or known is None:
        return None
    quads = board.colours(puzzle).tolist()
    held = [cell for cell, wanted in CLUES.items() if _shown(quads, cell, 0, known.ranks) == wanted]
    starter = "with" if STARTER in held else "without"
    sentence = f"Eternity II: {len(held)} of 5 official clues, {starter} the starter clue"
    turns, best, _ = found
    if turns and best > len(held):
        sentence += f"; {best} of 5 after a turn of {90 * turns} degrees"
    return sentence


def mirror(quad: Sequence[int]) -> Quad:
    """The colours of a piece in a mirror: left and right exchanged."""
    return quad[0], quad[3], quad[2], quad[1]


def _shown(quads: list[list[int]], cell: int, turns: int, ranks: dict[int, int]) -> Quad | None:
    """What a 16 x 16 board shows on a cell, in ranks of colours, after clockwise quarter turns of the whole board."""
    row, column = divmod(cell, 16)
    for _ in range(turns):
        row, column = 15 - column, row
    quad = quads[row * 16 + column]
    return None if quad[0] < 0 else rotate([ranks[colour] for colour in quad], turns)


def colour_ranks(pieces: Sequence[Sequence[int]]) -> dict[int, int]:
    """A number for each colour that depends only on where it is on the pieces; grey is 0.

    Colours are told apart by the colours beside them, again and again until nothing changes. Colours that this does
    not tell apart share a number.
    """
    ranks = {colour: int(colour != GREY) for quad in pieces for colour in quad}
    while True:
        seen: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for quad in pieces:
            for side, colour in enumerate(quad):
                seen[colour].append(tuple(ranks[quad[(side + step) % 4]] for step in (1, 2, 3)))
        marks = {colour: (ranks[colour], sorted(around)) for colour, around in seen.items()}
        order = sorted({(rank, tuple(around)) for rank, around in marks.values()})
        number = {mark: index for index, mark in enumerate(order)}
        refined = {colour: number[rank, tuple(around)] for colour, (rank, around) in marks.items()}
        if len(set(refined.values())) == len(set(ranks.values())):
            return refined
        ranks = refined


def _digest(forms: Sequence[Quad]) -> str:
    return hashlib.sha256(repr(list(forms)).encode()).hexdigest()
