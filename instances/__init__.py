"""What is solved: puzzles, boards, their verification, file formats, generators and pictures."""

from instances.board import EMPTY, Board
from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, Puzzle, rotate
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
