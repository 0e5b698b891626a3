"""Tetravex in words, ``tetravex`` for puzzles and ``tetravex-board`` for boards, and ``picture`` for any board.

A word is four digits, up left right down; ``@`` before it pins the piece to its place. There is a line for each row of
the board. A picture has three lines for each row: the upper colours, left and right of each piece, the lower colours.
The colours of a puzzle without frame count from 0 in both, so that 1 is taken from each.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from lns.instances.errors import InputError
from lns.instances.formats import cells, pieces
from lns.instances.formats.base import Document, Format, Source, Target, never
from lns.instances.formats.lines import WORD_ORDER, words_in_rows
from lns.instances.formats.orders import CLOCKWISE, in_order
from lns.instances.puzzle import Puzzle

_DIGITS = 10


def _reader(read: Callable[[Source], Document], option: str, *, words: bool = True) -> Callable[[Source], Document]:
    """The reader of any dialect, told the convention."""

    def read_so(source: Source) -> Document:
        if words and words_in_rows(source.text) is None:
            raise InputError("no rows of words of four digits; expected two rows or more of as many words each")
        return read(replace(source, option=option))

    return read_so


def _write_puzzle(target: Target) -> str:
    """The pieces in the order of their numbers, but those of clues on their cells."""
    puzzle = target.puzzle
    pinned = {clue.cell: clue.piece for clue in puzzle.clues}
    others = iter(sorted({*range(puzzle.cells)} - {*pinned.values()}))
    order = [pinned[cell] if cell in pinned else next(others) for cell in range(puzzle.cells)]
    text = _in_words(puzzle, puzzle.pieces[order].tolist(), PUZZLE.name, pinned)
    if order != sorted(order):
        target.notes.append(f"{PUZZLE.name} has pinned pieces on their cells: the pieces are renumbered")
    return text


def _write_board(target: Target) -> str:
    text = _in_words(target.puzzle, target.laid.colours(target.puzzle).tolist(), BOARD.name)
    target.full(BOARD.name)
    return text


def _in_words(puzzle: Puzzle, quads: Sequence[Sequence[int]], format: str, pinned: Container[int] = ()) -> str:
    if puzzle.framed or puzzle.turns or puzzle.holes or min(puzzle.width, puzzle.height) < 2:
        raise InputError(
            f"{puzzle.name} is {puzzle.shape_and_rules}; {format} carries only a Tetravex (no frame, no turns) of two "
            "rows and columns or more"
        )
    if puzzle.colours > _DIGITS:
        raise InputError(f"{puzzle.colours} colours; {format} has a digit for {_DIGITS} of them")
    words = [
        "@" * (cell in pinned) + "".join(str(colour - 1) for colour in columns)
        for cell, columns in enumerate(in_order(quads, WORD_ORDER))
    ]
    return "".join(" ".join(words[at : at + puzzle.width]) + "\n" for at in range(0, len(words), puzzle.width))


def _write_picture(target: Target) -> str:
    puzzle, width = target.puzzle, target.laid.width
    if puzzle.height < 2:
        raise InputError(f"a board of {width} x {puzzle.height}; {PICTURE.name} carries two rows or more")
    if not puzzle.framed or puzzle.cells == 1:  # four zeros may be a piece
        target.full(PICTURE.name)
    shown = (target.laid.colours(puzzle) - (not puzzle.framed)).clip(0).tolist()
    digits = len(str(max(map(max, shown))))
    lines = []
    for at in range(0, len(shown), width):
        row = shown[at : at + width]
        middle = "  ".join(f"{left:>{digits}} {right:>{digits}}" for _, right, _, left in row)
        upper, lower = ("  ".join(f"{quad[side]:^{2 * digits + 1}}" for quad in row).rstrip() for side in (0, 2))
        lines += [upper, middle, lower]
    return "\n".join(lines) + "\n"


PUZZLE = Format(
    "tetravex", "puzzle", "Tetravex: words of four digits, up left right down", never,
    _reader(pieces.read, WORD_ORDER), _write_puzzle,
)  # fmt: skip
BOARD = Format(
    "tetravex-board", "board", "a board of a Tetravex, as such words", never,
    _reader(cells.read, f"{WORD_ORDER},top"), _write_board,
)  # fmt: skip
PICTURE = Format(
    "picture", "board", "three lines of colours for each row", never,
    _reader(cells.read, f"{CLOCKWISE},top", words=False), _write_picture,
)  # fmt: skip
