"""The order in which a file lists the sides of its pieces: ``udlr`` is up, down, left, right.

Rotating every piece by the same amount changes nothing, so the 24 orders fall into six classes: three choices of which
columns are opposite sides, each with its mirror image. The pieces show which columns are opposite. They cannot show the
mirror image, because the mirror image of a puzzle is a puzzle with the same scores.
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
# One order for each choice of opposite columns: 1-3 and 2-4; 1-2 and 3-4; 1-4 and 2-3.
ORDERS = (CLOCKWISE, "udlr", "ulrd")
ALL_ORDERS = tuple(map("".join, permutations(CLOCKWISE)))  # clockwise from the top comes first
_NAMES = {"u": "up", "r": "right", "d": "down", "l": "left"}


def in_words(order: str) -> str:
    """Return the sides of an order in words, 'up right down left' for 'urdl'."""
    return " ".join(_NAMES[letter] for letter in order)


def checked_order(option: str, format: str) -> str:
    """Return a side order in lower case. Raises InputError unless ``option`` names each side once."""
    order = option.lower()
    if sorted(order) != sorted(CLOCKWISE):
        raise InputError(f"side order {quoted(option)}; expected the letters u r d l, each once, as in {format}:udlr")
    return order


def in_order(quads: Quads, order: str) -> list[list[int]]:
    """Convert pieces from up, right, down, left to columns in a side order."""
    return [[quad[CLOCKWISE.index(letter)] for letter in order] for quad in quads]


def clockwise(columns: Quads, order: str) -> list[list[int]]:
    """Convert pieces from columns in a side order to up, right, down, left."""
    positions = [order.index(letter) for letter in CLOCKWISE]
    return [[quad[position] for position in positions] for quad in columns]


# -- pieces with a frame -----------------------------------------------------------------------------------------------


def order_of_pieces(
    columns: Quads, option: str | None, format: str, written: str | None = None, *, strip: bool = False
) -> tuple[str, list[str]]:
    """Return the side order of a list of pieces, and notes: ``option``, else ``written`` in the file, else detected.

    A written order is dropped if it fails a counting test that another order passes, except for a ``strip``, which has
    no corners to count. A detected order is one of `ORDERS`, correct up to a rotation of all pieces and a reflection.
    Raises InputError if ``option`` is no order, no order is possible, or several are.
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
    """Return the results of three counting tests of a side order.

    The two zeros of a corner piece are adjacent. Along the rim of a solved board every colour leaves one piece as often
    as it enters the next. In puzzles like Eternity II the colours along the rim appear nowhere else.
    """
    quads = list(map(canonical, clockwise(columns, order)))  # grey comes first: 0 a b c, 0 0 a b
    inner, edges, two = ([quad for quad in quads if quad.count(GREY) == greys] for greys in range(3))
    corners = [quad for quad in two if quad[1] == GREY]
    enter = [quad[3] for quad in edges + corners]  # colours where a clockwise walk along the rim enters a piece
    leave = [quad[1] for quad in edges] + [quad[2] for quad in corners]
    inside = {quad[2] for quad in edges} | {side for quad in inner for side in quad}
    return corners == two, Counter(enter) == Counter(leave), inside.isdisjoint(enter + leave)


def possible(columns: Quads, tests: int = 2) -> list[str]:
    """Return the `ORDERS` that pass the first ``tests`` of `_tests`; a test that all orders left fail is skipped."""
    passed, orders = {order: _tests(columns, order) for order in ORDERS}, list(ORDERS)
    for test in range(tests):
        orders = [order for order in orders if passed[order][test]] or orders
    return orders


# -- pieces without frame and turns ------------------------------------------------------------------------------------


def order_without_turns(columns: Quads, usual: str, shape: tuple[int, int]) -> tuple[str, str]:
    """Return the side order of pieces without frame and turns, and a note.

    On a solved board each right side meets a left side of its colour, and each upper side a lower one, except on the
    rim. So at most as many right sides as rows, and upper sides as columns, lack a partner. Raises InputError if no
    order satisfies this, or several orders do and the usual one does not.
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
    """Return the columns of upper and lower sides, and those of left and right sides; for a square, sorted."""
    pairs = [frozenset(order.index(letter) for letter in letters) for letters in ("ud", "lr")]
    return tuple(sorted(pairs, key=sorted) if shape[0] == shape[1] else pairs)
