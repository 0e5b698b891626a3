"""How many colours a puzzle gets when nobody says: as many as leave about one solution by chance.

Few colours leave many solutions, many colours leave forced moves; the hardest puzzles lie between, where the expected
number of solutions of a random puzzle with these colour counts crosses 1 (seed 003, section 4.2; Ansótegui et al.,
"How hard is a commercial puzzle: the Eternity II challenge", 2008).
"""

from __future__ import annotations

from math import lgamma, log

from lns_support.errors import InputError


def joints_by_class(width: int, height: int) -> tuple[int, int]:
    """Number of joints along the rim (between neighbours on the same side of the board) and inside."""
    along_rows = (width - 1) * min(height, 2)
    along_columns = (height - 1) * min(width, 2)
    total = height * (width - 1) + width * (height - 1)
    return along_rows + along_columns, total - along_rows - along_columns


def default_colours(width: int, height: int) -> int:
    """Colours of a uniform puzzle or balanced torus: the number whose expected number of solutions is nearest to 1.

    6x6 gets 4, 10x10 gets 8, 16x16 gets 15.
    """
    joints = sum(joints_by_class(width, height))
    if joints == 0:
        return 1
    return min(range(1, joints + 1), key=lambda k: abs(_log_arrangements(width, height) - joints * log(k)))


def default_like_e2(
    width: int, height: int, rim_colours: int | None = None, inner_colours: int | None = None
) -> tuple[int, int]:
    """Colours (rim, inner) of a puzzle like Eternity II; a number that is given stays.

    Rim: 2 + (mean side)/5, rounded, a line through Eternity II (16x16: 5) and the META 2010 puzzles (10x10: 4,
    12x12: 4, 14x14: 5). Inner: the number whose expected number of solutions is nearest to 1, which gives Eternity
    II's 17 on 16x16, and 10, 13, 15 where META 2010 has 10, 12, 15. Small boards get the smallest number of either
    that lets all pieces differ.
    """
    rim_joints, inner_joints = joints_by_class(width, height)
    if rim_colours is None:
        rim_colours = min(rim_joints, (width + height + 25) // 10)
        while rim_colours < rim_joints and _too_few(width, height, rim_colours, max(1, inner_joints)):
            rim_colours += 1
    if inner_colours is None:
        enough = [i for i in range(1, inner_joints + 1) if not _too_few(width, height, rim_colours, i)]
        candidates = enough or range(1, inner_joints + 1)
        rim = rim_colours
        inner_colours = min(candidates, key=lambda i: abs(log_expected_solutions(width, height, rim, i)), default=0)
    return rim_colours, inner_colours


def log_expected_solutions(width: int, height: int, rim_colours: int, inner_colours: int) -> float:
    """Natural logarithm of the expected number of perfect boards, over random puzzles with near-equal colour counts.

    Arrangements that put grey on the rim, times the chance that two random pairings of half-edges (along the rim,
    inside) join only equal colours. The four rotations of a square board are all counted.
    """
    rim_joints, inner_joints = joints_by_class(width, height)
    return (
        _log_arrangements(width, height)
        + _log_chance_of_pairing(rim_joints, rim_colours)
        + _log_chance_of_pairing(inner_joints, inner_colours)
    )


def kinds_of_pieces(width: int, height: int, rim_colours: int, inner_colours: int) -> list[tuple[str, int, int]]:
    """(name, pieces needed, pieces that exist) by class: distinct up to rotation, none rotationally symmetric."""
    rim, inner = rim_colours, inner_colours
    if min(width, height) == 1:
        # middle pieces in a row are a walk through all colours that joins no pair twice and does not end where it began
        walk = rim * (rim - 1) // 2 - (1 if rim % 2 else (rim - 2) // 2)
        length = max(width, height)
        return [("end", 2, rim), ("middle", length - 2, walk)] if length > 1 else [("grey", 1, 0)]
    return [
        ("corner", 4, rim**2),
        ("edge", 2 * (width + height - 4), rim**2 * inner),
        ("inner", (width - 2) * (height - 2), (inner**4 - inner**2) // 4),
    ]


def check_kinds(width: int, height: int, rim_colours: int, inner_colours: int) -> None:
    """Raises InputError when there are not enough different pieces of some class."""
    for name, needed, exist in kinds_of_pieces(width, height, rim_colours, inner_colours):
        if exist < needed:
            raise InputError(
                f"a {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours needs {needed} "
                f"{name} pieces, all different and none rotationally symmetric; {max(0, exist)} exist, "
                "expected more colours"
            )


def _too_few(width: int, height: int, rim_colours: int, inner_colours: int) -> bool:
    return any(exist < needed for _, needed, exist in kinds_of_pieces(width, height, rim_colours, inner_colours))


def _log_factorial(n: int) -> float:
    return lgamma(n + 1)


def _log_arrangements(width: int, height: int) -> float:
    """Boards with grey exactly on the rim: corners, edges and inner pieces permuted, inner pieces turned."""
    edges = 2 * (max(0, width - 2) + max(0, height - 2))
    inner = max(0, width - 2) * max(0, height - 2)
    return _log_factorial(4) + _log_factorial(edges) + _log_factorial(inner) + inner * log(4)


def _log_chance_of_pairing(joints: int, colours: int) -> float:
    """Chance that a random pairing of 2*joints half-edges joins equal colours, counts as equal as they can be."""
    if joints == 0:
        return 0.0
    each, more = divmod(joints, colours)
    log_ways = _log_factorial(joints) - _log_factorial(2 * joints)
    for count, how_many in ((each + 1, more), (each, colours - more)):
        log_ways += how_many * (_log_factorial(2 * count) - _log_factorial(count))
    return log_ways
