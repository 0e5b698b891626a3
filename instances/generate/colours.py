"""Default numbers of colours: those of which a random puzzle has about one solution.

Few colours leave many solutions, many colours leave forced moves. The hardest puzzles lie between, where the expected
number of solutions of a random puzzle with these colour counts crosses 1 (Jolivet 2008, section 4.2; Ansótegui et al.
2008, "How hard is a commercial puzzle: the Eternity II challenge").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import lgamma, log

from lns.instances.errors import InputError
from lns.instances.generate.planted import Quad
from lns.instances.puzzle import GREY, canonical, rotate


def joints_by_class(width: int, height: int) -> tuple[int, int]:
    """(joints along the rim, which join two neighbours on one side of the board; all other joints)."""
    along = (width - 1) * min(height, 2) + (height - 1) * min(width, 2)
    return along, height * (width - 1) + width * (height - 1) - along


def default_colours(width: int, height: int) -> int:
    """The default number of colours of a uniform puzzle or balanced torus.

    It is the one for which the expected number of solutions is nearest to 1: 4 for 6x6, 8 for 10x10, 15 for 16x16.
    """
    return _nearest(_log_arrangements(width, height), sum(joints_by_class(width, height)))


def default_colours_of(quads: Sequence[Quad | None], width: int, turns: bool) -> int:
    """The number of colours for which the expected number of solutions of a random puzzle is nearest to 1.

    ``quads`` is the board with one colour, which tells the inner edges and the grey sides of each cell.
    """
    across = sum(
        here is not None and there is not None and (cell + 1) % width > 0
        for cell, (here, there) in enumerate(pairwise(quads))
    )
    down = sum(here is not None and there is not None for here, there in zip(quads, quads[width:], strict=False))
    grey = [tuple(colour == GREY for colour in quad) for quad in quads if quad is not None]
    alike = Counter(canonical(sides) if turns else sides for sides in grey)
    log_boards = sum(_log_factorial(count) for count in alike.values())
    if turns:
        log_boards += sum(log(sum(rotate(sides, turn) == sides for turn in range(4))) for sides in grey)
    return _nearest(log_boards, across + down)


def _nearest(log_boards: float, joints: int) -> int:
    """The number of colours with which that many boards have one on which all joints match, on average."""
    return min(range(1, max(1, joints) + 1), key=lambda colours: abs(log_boards - joints * log(colours)))


def default_like_e2(
    width: int, height: int, rim_colours: int | None = None, inner_colours: int | None = None
) -> tuple[int, int]:
    """The default numbers of colours along the rim and inside of a puzzle like Eternity II; a given one stays.

    The number along the rim is 2 + (mean side) / 5, rounded, which fits Eternity II (16x16: 5) and the META 2010
    puzzles (10x10: 4, 12x12: 4, 14x14: 5). The number inside is the one for which the expected number of solutions is
    nearest to 1: 17 for 16x16, as in Eternity II, and 10, 13, 15 where META 2010 has 10, 12, 15. On small boards both
    are large enough that all pieces can differ.
    """
    rim_joints, inner_joints = joints_by_class(width, height)
    if rim_colours is None:
        rim_colours = min(rim_joints, (width + height + 25) // 10)
        while rim_colours < rim_joints and _too_few(width, height, rim_colours, max(1, inner_joints)):
            rim_colours += 1
    if inner_colours is None:
        rim = rim_colours
        enough = [i for i in range(1, inner_joints + 1) if not _too_few(width, height, rim, i)]
        candidates = enough or range(1, inner_joints + 1)
        # the number of arrangements, times the probability that a random pairing joins only equal colours
        log_boards = _log_arrangements(width, height) + _log_pairing_probability(rim_joints, rim)
        expected = {inner: log_boards + _log_pairing_probability(inner_joints, inner) for inner in candidates}
        inner_colours = min(expected, key=lambda inner: abs(expected[inner]), default=0)
    return rim_colours, inner_colours


def check_piece_classes(width: int, height: int, rim_colours: int, inner_colours: int) -> None:
    """Raise InputError if some class has fewer different pieces than the board needs."""
    for name, needed, exist in _too_few(width, height, rim_colours, inner_colours):
        raise InputError(
            f"a {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours needs {needed} "
            f"{name} pieces, all different and none rotationally symmetric; {max(0, exist)} exist, "
            "expected more colours"
        )


def _too_few(width: int, height: int, rim: int, inner: int) -> list[tuple[str, int, int]]:
    """(name, pieces needed, pieces that exist) of each class of which too few exist.

    Only pieces that differ up to rotation and are not rotationally symmetric are counted.
    """
    classes = [
        ("corner", 4, rim**2),
        ("edge", 2 * (width + height - 4), rim**2 * inner),
        ("inner", (width - 2) * (height - 2), (inner**4 - inner**2) // 4),
    ]
    if min(width, height) == 1:
        # the middle pieces are a walk over the colours that joins no pair twice and does not return to its start
        walk = rim * (rim - 1) // 2 - (1 if rim % 2 else (rim - 2) // 2)
        length = max(width, height)
        classes = [("end", 2, rim), ("middle", length - 2, walk)] if length > 1 else [("grey", 1, 0)]
    return [(name, needed, exist) for name, needed, exist in classes if exist < needed]


def _log_factorial(n: int) -> float:
    return lgamma(n + 1)


def _log_arrangements(width: int, height: int) -> float:
    """Logarithm of the number of boards with grey exactly on the rim; all rotations of a square board are counted."""
    edges = 2 * (max(0, width - 2) + max(0, height - 2))
    inner = max(0, width - 2) * max(0, height - 2)
    return _log_factorial(4) + _log_factorial(edges) + _log_factorial(inner) + inner * log(4)


def _log_pairing_probability(joints: int, colours: int) -> float:
    """Logarithm of the probability that a random pairing of 2 * joints half-edges joins only equal colours.

    The counts of two colours differ by at most one joint.
    """
    if joints == 0:
        return 0.0
    each, extra = divmod(joints, colours)
    log_ways = _log_factorial(joints) - _log_factorial(2 * joints)
    for count, how_many in ((each + 1, extra), (each, colours - extra)):
        log_ways += how_many * (_log_factorial(2 * count) - _log_factorial(count))
    return log_ways
