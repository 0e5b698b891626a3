"""Bare ``e2pieces.txt``: four colours a line, no header, in one of several side orders. Square boards, no clues.

An order is written with the letters u r d l: ``udlr`` = up, down, left, right. Turning every piece by the same amount
changes nothing, so the 24 orders are six: three ways of saying which columns face each other, and each of them
mirrored. The pieces tell the first, not the second: the mirror image of a puzzle is a puzzle with the same scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import Lines, first_rows, quad_lines, side_of_square, starts_like_numbers
from instances.puzzle import GREY, Puzzle, canonical
from lns_support.errors import InputError
from lns_support.text import quoted

CLOCKWISE = "urdl"
# The usual order of each way to face: columns 1-3 and 2-4; 1-2 and 3-4; 1-4 and 2-3.
ORDERS = (CLOCKWISE, "udlr", "ulrd")
_NAMES = {"u": "up", "r": "right", "d": "down", "l": "left"}


def looks_like(text: str) -> bool:
    rows = first_rows(text, 1)
    return bool(rows) and starts_like_numbers(rows[0], 4)


def read(source: Source) -> Document:
    lines = Lines(source.text)
    side = side_of_square(len(lines), "lines of pieces", lines.last)
    columns = quad_lines(lines, side * side)
    if source.option is None:
        order = detect_order(columns)
        said = (
            f"side order {in_words(order)}, detected (clockwise taken: the mirror image cannot be told apart; "
            f"{FORMAT.name}:ORDER decides)"
        )
    else:
        order = checked_order(source.option)
        said = f"side order {in_words(order)}, as told"
    pieces = np.array(clockwise(columns, order), dtype=np.int32)
    return Document(FORMAT.name, Puzzle(pieces, side, side, name=source.name), None, (said,))


def write(target: Target) -> str:
    puzzle = target.puzzle
    if puzzle.width != puzzle.height:
        raise InputError(
            f"a board of {puzzle.width} x {puzzle.height}; {FORMAT.name} carries only squares (quads and json carry it)"
        )
    if puzzle.clues:
        target.notes.append(f"{FORMAT.name} carries no clues: {len(puzzle.clues)} left out")
    order = checked_order(target.option or CLOCKWISE)
    sides = [CLOCKWISE.index(letter) for letter in order]
    return "".join(" ".join(str(quad[side]) for side in sides) + "\n" for quad in puzzle.pieces.tolist())


def in_words(order: str) -> str:
    """'up right down left' for 'urdl'."""
    return " ".join(_NAMES[letter] for letter in order)


def checked_order(option: str) -> str:
    """Raises InputError unless ``option`` names each side once."""
    order = option.lower()
    if sorted(order) != sorted(CLOCKWISE):
        raise InputError(
            f"side order {quoted(option)}; expected the letters u r d l, each once, as in {FORMAT.name}:udlr"
        )
    return order


def clockwise(columns: Sequence[Sequence[int]], order: str) -> list[list[int]]:
    """Pieces as up, right, down, left from columns in ``order``."""
    places = [order.index(letter) for letter in CLOCKWISE]
    return [[quad[place] for place in places] for quad in columns]


def detect_order(columns: Sequence[Sequence[int]]) -> str:
    """The order, up to a common turn and a reflection, from the pieces. Raises InputError when several remain.

    A corner's two zeros lie side by side. Walking round the rim of a solved board, each colour leaves one piece as
    often as it enters the next; and in puzzles like Eternity II the rim's colours appear nowhere else. The second
    and third are asked only as long as more than one order is left, and only if some order has them.
    """
    left = {order: clockwise(columns, order) for order in ORDERS}
    left = {order: pieces for order, pieces in left.items() if _corners_are_corners(pieces)}
    if not left:
        raise InputError(
            "no order of the sides puts the two zeros of every corner side by side; expected corner pieces"
        )
    for has in (_rim_is_balanced, _rim_colours_are_apart):
        chosen = {order: pieces for order, pieces in left.items() if has(pieces)}
        left = chosen or left
    if len({tuple(map(canonical, pieces)) for pieces in left.values()}) > 1:
        names = " or ".join(f"{FORMAT.name}:{order}" for order in left)
        raise InputError(f"the pieces allow several side orders; expected one to be named as format: {names}")
    return next(iter(left))


def _corners_are_corners(pieces: Sequence[Sequence[int]]) -> bool:
    return not any(
        list(quad).count(GREY) == 2 and (quad[0] == quad[2] == GREY or quad[1] == quad[3] == GREY) for quad in pieces
    )


def _rim_sides(pieces: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """Colours that (enter, leave) the border pieces clockwise along the rim, and those that face inwards."""
    enter, leave, inward = [], [], []
    for quad in pieces:
        grey = [side for side in range(4) if quad[side] == GREY]
        if len(grey) == 1:
            [up] = grey
            first = last = up
            inward.append(quad[(up + 2) % 4])
        elif len(grey) == 2 and (grey[1] - grey[0]) % 2:
            first, last = (grey[1], grey[0]) if grey == [0, 3] else (grey[0], grey[1])
        else:
            continue
        enter.append(quad[(first + 3) % 4])
        leave.append(quad[(last + 1) % 4])
    return enter, leave, inward


def _rim_is_balanced(pieces: Sequence[Sequence[int]]) -> bool:
    enter, leave, _ = _rim_sides(pieces)
    return Counter(enter) == Counter(leave)


def _rim_colours_are_apart(pieces: Sequence[Sequence[int]]) -> bool:
    enter, leave, inward = _rim_sides(pieces)
    inner = {colour for quad in pieces if GREY not in quad for colour in quad}
    return not {*enter, *leave} & {*inward, *inner}


FORMAT = Format(
    "e2pieces", "puzzle", "four colours a line; e2pieces:udlr names the side order", looks_like, read, write, "ORDER"
)
