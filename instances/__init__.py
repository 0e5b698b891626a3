"""Puzzles and boards: the data that every solver works on.

Values
    `Puzzle` (pieces, board shape, clues), `Clue`, `Board` (an oriented piece on each cell). Both draw themselves in a
    notebook. `rotate` turns the colours of a piece; `UP`, `RIGHT`, `DOWN`, `LEFT` index its sides, `GREY` is the colour
    of the rim, `EMPTY` the placement of an empty cell.
Verification
    `verify` counts the score of a board and lists the rules that it breaks, as a `Verification`.
Errors
    `InputError` for every input that cannot be used; it is a ValueError.

Subpackages: `instances.formats` reads and writes files, `instances.generate` makes puzzles with a planted solution,
`instances.draw` makes pictures. `instances.symmetry` rotates and mirrors puzzles and boards; `instances.duplicates`
handles identical pieces.
"""

from types import ModuleType

from instances.board import EMPTY, Board
from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, Puzzle, rotate
from instances.rich_display import RichDisplay
from instances.verify import Verification, verify
from lns_support.errors import InputError

__all__ = [
    "DOWN",
    "EMPTY",
    "GREY",
    "LEFT",
    "RIGHT",
    "UP",
    "Board",
    "Clue",
    "InputError",
    "Puzzle",
    "Verification",
    "rotate",
    "verify",
]


def _drawing() -> ModuleType:
    from instances.draw import notebook

    return notebook


RichDisplay.drawing = staticmethod(_drawing)
