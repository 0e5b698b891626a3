"""The order in which a file lists the sides of its pieces: ``udlr`` is up, down, left, right.

Rotating every piece by the same amount changes no score, so the 24 side orders fall into six classes: three choices of
which columns are opposite sides, each with its mirror image. The pieces usually show which columns are opposite. They
cannot show which of the two mirror images is meant, because both are puzzles with the same scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from lns.instances.errors import InputError
from lns.instances.puzzle import GREY, canonical
from lns.instances.text import quoted

Quads = Sequence[Sequence[int]]

CLOCKWISE = "urdl"
# One side order for each choice of opposite columns: 1 and 3, 2 and 4; 1 and 2, 3 and 4; 1 and 4, 2 and 3.
ORDERS = (CLOCKWISE, "udlr", "ulrd")
ALL_ORDERS = tuple(map("".join, permutations(CLOCKWISE)))  # all 24 side orders, first `CLOCKWISE`
_NAMES = {"u": "up", "r": "right", "d": "down", "l": "left"}


def in_words(order: str) -> str:
    """Return a side order in words, such as 'up right down left' for 'urdl'."""
    return " ".join(_NAMES[letter] for letter in order)


def checked_order(option: str, format: str) -> str:
    """Return the side order ``option`` in lower case. Raises InputError unless it names each side once."""
    order = option.lower()
    if sorted(order) != sorted(CLOCKWISE):
        raise InputError(f"side order {quoted(option)}; expected the letters u r d l, each once, as in {format}:udlr")
    return order


def in_order(quads: Quads, order: str) -> list[list[int]]:
    """Return pieces, given as up, right, down, left, with their sides in the side order ``order``."""
    return [[quad[CLOCKWISE.index(letter)] for letter in order] for quad in quads]


def clockwise(columns: Quads, order: str) -> list[list[int]]:
    """Return pieces, given with their sides in the side order ``order``, as up, right, down, left."""
    positions = [order.index(letter) for letter in CLOCKWISE]
    return [[quad[position] for position in positions] for quad in columns]


# -- pieces of puzzles with a frame ------------------------------------------------------------------------------------


def order_of_pieces(
    columns: Quads, option: str | None, format: str, written: str | None = None, *, strip: bool = False
) -> tuple[str, list[str]]:
    """Return the side order of a list of pieces, and notes.

    The side order is ``option``, or else that ``written`` in the file, or else detected. A written one is dropped if it
    fails a counting test that another one passes, except for a ``strip`` (one row or column), which has no corners to
    count. A detected one is in `ORDERS`, correct up to a rotation of all pieces and a reflection. Raises InputError if
    ``option`` is no side order, or if no side order is possible, or several are.
    """
    if option is not None:
        order = checked_order(option, format)
        return order, [f"side order {in_words(order)}, as given"]
    notes = []
    if written is not None:
        if strip or _opposite(written, (1, 1)) in {_opposite(order, (1, 1)) for order in possible(columns)}:
            return written, [f"side order {in_words(written)}, as the file names it"]
        notes = [f"the file names the sides {in_words(written)}, in which its pieces make no board"]
    orders = possible(columns, 3)
    if not _tests(columns, orders[0])[0]:
        raise InputError("no side order puts the two zeros of every corner side by side; expected corner pieces")
    if len({tuple(map(canonical, clockwise(columns, order))) for order in orders}) > 1:
        names = " or ".join(f"e2pieces:{order}" for order in orders)
        said = "the pieces allow several side orders; expected one to be named as format"
        raise InputError(f"{said}: {names} (--puzzle-format)")
    found = f"detected (the pieces do not show a mirror image; {format}:ORDER names one)"
    return orders[0], [*notes, f"side order {in_words(orders[0])}, {found}"]


def _tests(columns: Quads, order: str) -> tuple[bool, bool, bool]:
    """Return whether the pieces, with their sides in the side order ``order``, pass each of three counting tests.

    First, the two zeros of every corner piece are on adjacent sides. Second, beside grey sides of border pieces each
    colour is as often left as right, as on a solved board. Third, these colours are nowhere else, as in Eternity II.
    """
    quads = list(map(canonical, clockwise(columns, order)))  # rotated so that grey comes first: 0 a b c, 0 0 a b
    inner, edges, two = ([quad for quad in quads if quad.count(GREY) == greys] for greys in range(3))
    corners = [quad for quad in two if quad[1] == GREY]
    enter = [quad[3] for quad in edges + corners]  # colours where a clockwise walk along the rim enters a piece
    leave = [quad[1] for quad in edges] + [quad[2] for quad in corners]
    inside = {quad[2] for quad in edges} | {side for quad in inner for side in quad}
    return corners == two, Counter(enter) == Counter(leave), inside.isdisjoint(enter + leave)


def possible(columns: Quads, tests: int = 2) -> list[str]:
    """Return those `ORDERS` that pass the first ``tests`` of `_tests`; a test that all those left fail is ignored."""
    passed, orders = {order: _tests(columns, order) for order in ORDERS}, list(ORDERS)
    for test in range(tests):
        orders = [order for order in orders if passed[order][test]] or orders
    return orders


# -- pieces of puzzles without frame and turns -------------------------------------------------------------------------


def order_without_turns(columns: Quads, usual: str, shape: tuple[int, int]) -> tuple[str, str]:
    """Return the side order of the pieces of a puzzle without frame and turns, and a note.

    On a solved board each right side meets a left side of its colour, and each upper side a lower one, except on the
    rim. So at most one right side for each row of the board, and one upper side for each column, lacks a partner.
    Raises InputError if no side order satisfies this, or if several do but ``usual`` does not.
    """
    across = str.maketrans("urdl", "ldru")
    fitting = []
    for order in (usual, *ORDERS, *(order.translate(across) for order in ORDERS)):
        up, right, down, left = map(Counter, zip(*clockwise(columns, order), strict=True))
        if (up - down).total() <= shape[0] and (right - left).total() <= shape[1]:
            fitting.append(order)
    if not fitting:
        rim = f"{shape[0]} + {shape[1]} of them, as many as the rim of {shape[0]} x {shape[1]} has"
        way = f"a Tetravex, or a side order by name (--puzzle-format pieces:tetravex,{usual})"
        raise InputError(f"no order of the sides matches all but {rim}; expected {way}")
    classes = {_opposite(order, shape): order for order in reversed(fitting)}
    others = [order for kind, order in classes.items() if kind != _opposite(usual, shape)]
    names = " or ".join(f"--puzzle-format pieces:tetravex,{order}" for order in others)
    if fitting[0] == usual:
        return usual, f"side order {in_words(usual)}, assumed{f' ({names} is possible too)' if others else ''}"
    if len(others) > 1:
        raise InputError(f"the pieces allow several side orders; expected one by name, {names}")
    return others[0], f"side order {in_words(others[0])}, as {in_words(usual)} leaves too many sides alone"


def _opposite(order: str, shape: tuple[int, int]) -> tuple[frozenset[int], ...]:
    """Return the columns of the upper and lower sides, and of the left and right ones; for a square board, sorted."""
    pairs = [frozenset(order.index(letter) for letter in letters) for letters in ("ud", "lr")]
    return tuple(sorted(pairs, key=sorted) if shape[0] == shape[1] else pairs)
