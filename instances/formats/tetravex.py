"""Tetravex in words, ``tetravex`` for puzzles and ``tetravex-board`` for boards, and ``picture`` for any board.

A word is four digits, up left right down; ``@`` before it pins the piece to its place. There is a line for each row of
the board. A picture has three lines for each row: the upper colours, left and right of each piece, the lower colours.
The colours of a puzzle without frame count from 0 in both, so that 1 is taken from each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from instances.formats import cells, pieces
from instances.formats.base import Document, Format, Source, Target, never
from instances.formats.orders import CLOCKWISE
from instances.formats.piece_list import WORD_ORDER, words_in_rows
from instances.puzzle import Puzzle
from lns_support.errors import InputError

_SIDES = [CLOCKWISE.index(letter) for letter in WORD_ORDER]
_DIGITS = 10


def read_puzzle(source: Source) -> Document:
    _check_words(source.text)
    return pieces.read(replace(source, option=WORD_ORDER))


def read_board(source: Source) -> Document:
    _check_words(source.text)
    return cells.read(replace(source, option=f"{WORD_ORDER},top"))


def read_picture(source: Source) -> Document:
    return cells.read(replace(source, option=f"{CLOCKWISE},top"))


def _check_words(text: str) -> None:
    if words_in_rows(text) is None:
        raise InputError("no rows of words of four digits; expected two rows or more of as many words each")


def write_puzzle(target: Target) -> str:
    """The pieces in the order of their numbers, but those of clues on their cells."""
    puzzle = target.puzzle
    _check_tetravex(puzzle, PUZZLE.name)
    at = {clue.cell: clue.piece for clue in puzzle.clues}
    others = iter(sorted({*range(puzzle.cells)} - {*at.values()}))
    order = [at[cell] if cell in at else next(others) for cell in range(puzzle.cells)]
    if order != sorted(order):
        target.notes.append(f"{PUZZLE.name} has pinned pieces on their cells: the pieces are renumbered")
    words = ["@" * (cell in at) + _word(puzzle.pieces[piece].tolist()) for cell, piece in enumerate(order)]
    return _in_rows(words, puzzle.width)


def write_board(target: Target) -> str:
    assert target.board is not None
    _check_tetravex(target.puzzle, BOARD.name)
    target.full(BOARD.name)
    return _in_rows([_word(quad) for quad in target.board.colours(target.puzzle).tolist()], target.board.width)


def write_picture(target: Target) -> str:
    assert target.board is not None
    puzzle, width = target.puzzle, target.board.width
    if puzzle.height < 2:
        raise InputError(f"a board of {width} x {puzzle.height}; {PICTURE.name} carries two rows or more")
    if not puzzle.framed or puzzle.cells == 1:  # four zeros may be a piece
        target.full(PICTURE.name)
    shown = (target.board.colours(puzzle) - (not puzzle.framed)).clip(0).tolist()
    digits = len(str(max(map(max, shown))))
    lines = []
    for at in range(0, len(shown), width):
        row = shown[at : at + width]
        middle = "  ".join(f"{left:>{digits}} {right:>{digits}}" for _, right, _, left in row)
        upper, lower = ("  ".join(f"{quad[side]:^{2 * digits + 1}}" for quad in row).rstrip() for side in (0, 2))
        lines += [upper, middle, lower]
    return "\n".join(lines) + "\n"


def _check_tetravex(puzzle: Puzzle, format: str) -> None:
    if puzzle.framed or puzzle.turns or puzzle.holes or min(puzzle.width, puzzle.height) < 2:
        raise InputError(
            f"{puzzle.name} is {puzzle.shape_and_rules}; {format} carries only a Tetravex (no frame, no turns) of two "
            "rows and columns or more"
        )
    if puzzle.colours > _DIGITS:
        raise InputError(f"{puzzle.colours} colours; {format} has a digit for {_DIGITS} of them")


def _word(quad: Sequence[int]) -> str:
    return "".join(str(quad[side] - 1) for side in _SIDES)


def _in_rows(words: Sequence[str], width: int) -> str:
    return "".join(" ".join(words[at : at + width]) + "\n" for at in range(0, len(words), width))


PUZZLE = Format(
    "tetravex", "puzzle", "Tetravex: words of four digits, up left right down", never, read_puzzle, write_puzzle
)
BOARD = Format("tetravex-board", "board", "a board of a Tetravex, as such words", never, read_board, write_board)
PICTURE = Format("picture", "board", "three lines of colours for each row", never, read_picture, write_picture)
