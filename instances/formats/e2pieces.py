"""Bare ``e2pieces.txt``: four colours on each line, no header. Square boards, no clues.

Files differ in the order of the sides, which is written with the letters u r d l: ``udlr`` is up, down, left, right.
Rotating every piece by the same amount changes nothing, so the 24 orders fall into six classes: three choices of which
columns are opposite sides, each with its mirror image. The pieces show which columns are opposite. They cannot show the
mirror image, because the mirror image of a puzzle is a puzzle with the same scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import Lines, check_square, first_rows, quad_lines, side_of_square, starts_like_numbers
from instances.puzzle import GREY, Puzzle, canonical
from lns_support.errors import InputError
from lns_support.text import quoted

CLOCKWISE = "urdl"
# One order for each choice of opposite columns: 1-3 and 2-4; 1-2 and 3-4; 1-4 and 2-3.
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
        note = (
            f"side order {in_words(order)}, detected (clockwise assumed, as the pieces do not show a mirror image; "
            f"{FORMAT.name}:ORDER sets the order)"
        )
    else:
        order = checked_order(source.option)
        note = f"side order {in_words(order)}, as given"
    pieces = np.array(clockwise(columns, order), dtype=np.int32)
    return Document(FORMAT.name, Puzzle(pieces, side, side, name=source.name), None, (note,))


def write(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, FORMAT.name)
    if puzzle.clues:
        target.notes.append(f"{FORMAT.name} carries no clues: {len(puzzle.clues)} left out")
    order = checked_order(target.option or CLOCKWISE)
    return "".join(" ".join(map(str, columns)) + "\n" for columns in in_order(puzzle.pieces.tolist(), order))


def in_words(order: str) -> str:
    """'up right down left' for 'urdl'."""
    return " ".join(_NAMES[letter] for letter in order)


def checked_order(option: str, format: str = "e2pieces") -> str:
    """A side order in lower case. Raises InputError unless ``option`` names each side once."""
    order = option.lower()
    if sorted(order) != sorted(CLOCKWISE):
        raise InputError(f"side order {quoted(option)}; expected the letters u r d l, each once, as in {format}:udlr")
    return order


def in_order(quads: Sequence[Sequence[int]], order: str) -> list[list[int]]:
    """Columns in a side order from pieces as up, right, down, left."""
    sides = [CLOCKWISE.index(letter) for letter in order]
    return [[quad[side] for side in sides] for quad in quads]


def clockwise(columns: Sequence[Sequence[int]], order: str) -> list[list[int]]:
    """Pieces as up, right, down, left from columns in a side order."""
    positions = [order.index(letter) for letter in CLOCKWISE]
    return [[quad[position] for position in positions] for quad in columns]


def detect_order(columns: Sequence[Sequence[int]]) -> str:
    """Detect the side order from the pieces, up to a rotation of all pieces and a reflection: one of `ORDERS`.

    Three properties are tested in turn. The two zeros of a corner piece are adjacent. Along the rim of a solved board
    every colour leaves one piece as often as it enters the next. In puzzles like Eternity II the colours along the rim
    appear nowhere else. The last two rule out orders only if some order has the property. Raises InputError if no order
    is possible, or several are.
    """
    if not any(_corners_are_corners(clockwise(columns, order)) for order in ORDERS):
        raise InputError(
            "no order of the sides puts the two zeros of every corner side by side; expected corner pieces"
        )
    orders = _possible(columns, (_corners_are_corners, _rim_is_balanced, _rim_colours_are_separate))
    if len({tuple(map(canonical, clockwise(columns, order))) for order in orders}) > 1:
        names = " or ".join(f"{FORMAT.name}:{order}" for order in orders)
        raise InputError(
            f"the pieces allow several side orders; expected one to be named as format: {names} (--puzzle-format)"
        )
    return orders[0]


def order_of(
    columns: Sequence[Sequence[int]], option: str | None, format: str, *, clues: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The side order of a format that is clockwise by its definition, as other programs may have written it; and notes.

    It is as named by ``option``; else clockwise, unless only another order has legal corners and a balanced rim. Where
    ``clues`` turn pieces from their first column, the order is needed in full. Raises InputError if ``option`` is no
    order, or an order must be named.
    """
    if option is not None:
        return checked_order(option, format), ()
    if len({tuple(map(canonical, clockwise(columns, order))) for order in ORDERS}) == 1:
        return CLOCKWISE, ()
    orders = _possible(columns)
    if CLOCKWISE in orders:
        others = [f"{format}:{order}" for order in orders if order != CLOCKWISE]
        note = f"sides read clockwise from the top, as the format is defined; {' or '.join(others)} is possible too"
        return CLOCKWISE, (note,) if others else ()
    names = " or ".join(f"--puzzle-format {format}:{order}" for order in orders)
    if clues or len(orders) > 1:
        raise InputError(
            f"the sides are not clockwise from the top{', and clues turn pieces from their first side' * clues}; "
            f"expected the side order by name, such as {names}"
        )
    note = f"side order {in_words(orders[0])}, as clockwise from the top makes no board ({format}:ORDER names another)"
    return orders[0], (note,)


def is_refuted(columns: Sequence[Sequence[int]], order: str) -> bool:
    """Whether counting refutes an order of the sides of pieces with a frame, and does not refute every other."""
    return _opposite(order, (1, 1)) not in {_opposite(possible, (1, 1)) for possible in _possible(columns)}


def order_without_turns(columns: Sequence[Sequence[int]], usual: str, shape: tuple[int, int]) -> tuple[str, str]:
    """The side order of pieces without frame and turns, and a note.

    A colour is as often on the left sides as on the right, but for those on the rim: one for each row; so are upper and
    lower sides, but for one a column.

    Raises InputError if no order leaves so few sides alone, or several do and not the usual one.
    """
    across = str.maketrans("urdl", "ldru")
    orders = [usual, *ORDERS, *(order.translate(across) for order in ORDERS)]
    fitting = [order for order in orders if _sides_alone(columns, order, shape)]
    if not fitting:
        raise InputError(
            f"no order of the sides matches all but {shape[0]} + {shape[1]} of them, as many as the rim of "
            f"{shape[0]} x {shape[1]} has; expected a Tetravex, or a side order by name (--puzzle-format "
            f"pieces:tetravex,{usual})"
        )
    classes = {_opposite(order, shape): order for order in reversed(fitting)}
    others = [order for kind, order in classes.items() if kind != _opposite(usual, shape)]
    if fitting[0] == usual:
        named = " or ".join(f"--puzzle-format pieces:tetravex,{order}" for order in others)
        return usual, f"side order {in_words(usual)}, assumed{f' ({named} is possible too)' if others else ''}"
    if len(others) > 1:
        names = " or ".join(f"--puzzle-format pieces:tetravex,{order}" for order in others)
        raise InputError(f"the pieces allow several side orders; expected one by name, {names}")
    return others[0], f"side order {in_words(others[0])}, as {in_words(usual)} leaves too many sides alone"


def _sides_alone(columns: Sequence[Sequence[int]], order: str, shape: tuple[int, int]) -> bool:
    quads = clockwise(columns, order)
    counts = [Counter(quad[side] for quad in quads) for side in range(4)]
    return (counts[0] - counts[2]).total() <= shape[0] and (counts[1] - counts[3]).total() <= shape[1]


def _opposite(order: str, shape: tuple[int, int]) -> tuple[frozenset[int], ...]:
    """Which columns are upper and lower, and which left and right; of a square, in any order."""
    pairs = [frozenset(order.index(letter) for letter in letters) for letters in ("ud", "lr")]
    return tuple(sorted(pairs, key=sorted) if shape[0] == shape[1] else pairs)


def _possible(
    columns: Sequence[Sequence[int]], tests: Sequence[Callable[[Sequence[Sequence[int]]], bool]] = ()
) -> list[str]:
    """The `ORDERS` that pass each test in turn, if any passes it; by default corners, and a balanced rim."""
    orders = list(ORDERS)
    for test in tests or (_corners_are_corners, _rim_is_balanced):
        orders = [order for order in orders if test(clockwise(columns, order))] or orders
    return orders


def _corners_are_corners(pieces: Sequence[Sequence[int]]) -> bool:
    return not any(
        list(quad).count(GREY) == 2 and (quad[0] == quad[2] == GREY or quad[1] == quad[3] == GREY) for quad in pieces
    )


def _rim_sides(pieces: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """The colours of border pieces: where a clockwise walk along the rim enters, where it leaves, and inwards."""
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


def _rim_colours_are_separate(pieces: Sequence[Sequence[int]]) -> bool:
    enter, leave, inward = _rim_sides(pieces)
    inner = {colour for quad in pieces if GREY not in quad for colour in quad}
    return not {*enter, *leave} & {*inward, *inner}


FORMAT = Format(
    "e2pieces", "puzzle", "four colours a line; e2pieces:udlr names the side order", looks_like, read, write, "ORDER"
)
