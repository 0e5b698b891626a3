"""Puzzles like Eternity II: separate rim and inner colours, near-equal counts, all pieces different.

Default numbers of colours are those of which a random puzzle has about one solution. Few colours leave many solutions,
many colours leave forced moves. The hardest puzzles lie between, where the expected number of solutions of a random
puzzle with these colour counts crosses 1 (Jolivet 2008, section 4.2; Ansótegui et al. 2008, "How hard is a commercial
puzzle: the Eternity II challenge").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import lgamma, log

from lns.instances.errors import InputError
from lns.instances.generate.planted import Planted, PortableRandom, clue_cells, even_colours, plant
from lns.instances.layout import Layout
from lns.instances.puzzle import GREY, canonical, check_shape, rotate

Quad = tuple[int, int, int, int]

_EXCHANGES = 50_000  # attempts before a new colouring is drawn
_COLOURINGS = 4


def like_e2(
    width: int,
    height: int,
    rim_colours: int | None = None,
    inner_colours: int | None = None,
    seed: int = 0,
    *,
    clues: int = 0,
) -> Planted:
    """Generate a puzzle that follows the rules of Eternity II.

    Joints along the rim have the colours 1 to R, all others R+1 to R+I; the numbers R and I are those of
    `default_like_e2` by default, which is 5 and 17 on 16x16. In each of the two classes the counts of the colours
    differ by at most one joint. All pieces differ up to rotation, and none is rotationally symmetric. A random
    colouring violates the last rule in a few places; these are repaired by exchanging the colours of two joints of a
    class, which preserves the other rules.

    So many ``clues`` of the solution lie on the cells of `clue_cells`; the pieces do not depend on it. Raises
    InputError if the shape, colours, clues or seed are out of range, or no such puzzle is found.
    """
    check_shape(width, height)
    rim_joints, inner_joints = joints_by_class(width, height)
    for colours, joints, where in ((rim_colours, rim_joints, "rim"), (inner_colours, inner_joints, "inner")):
        if colours is not None and not min(joints, 1) <= colours <= joints:
            raise InputError(
                f"{colours} {where} colours on a {width} x {height} board, which has {joints} joints of that class; "
                f"expected {min(joints, 1)} to {joints}"
            )
    rim_colours, inner_colours = default_like_e2(width, height, rim_colours, inner_colours)
    for name, needed, exist in _too_few(width, height, rim_colours, inner_colours):
        raise InputError(
            f"a {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours needs {needed} "
            f"{name} pieces, all different and none rotationally symmetric; {max(0, exist)} exist, "
            "expected more colours"
        )
    random = PortableRandom(seed)
    for _ in range(_COLOURINGS):
        grid = _Grid(width, height, rim_colours, inner_colours, random)
        if grid.repair(random):
            name = f"like-e2-{width}x{height}-r{rim_colours}-i{inner_colours}-s{seed}"
            planted = plant(grid.colour[0::2], grid.colour[1::2], width, height, random, name)
            return planted.with_clues(clue_cells(width, height, clues, seed))
    raise InputError(
        f"no {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours was found on which all "
        f"pieces differ, in {_COLOURINGS * _EXCHANGES} exchanges of colours; expected more colours"
    )


class _Grid:
    """A colouring of the joints, and how far its pieces are from being all different.

    Joint ``2 * cell`` lies to the right of a cell, ``2 * cell + 1`` below it; joints on the rim are grey. ``clashes``
    counts the pieces that equal an earlier piece up to rotation, plus the rotationally symmetric pieces.
    """

    def __init__(self, width: int, height: int, rim_colours: int, inner_colours: int, random: PortableRandom) -> None:
        self.width, self.cells = width, range(width * height)
        rim: list[int] = []
        inner: list[int] = []
        for cell in self.cells:
            row, column = divmod(cell, width)
            if column < width - 1:
                (rim if row in (0, height - 1) else inner).append(2 * cell)
            if row < height - 1:
                (rim if column in (0, width - 1) else inner).append(2 * cell + 1)
        self.class_of = {joint: joints for joints in (rim, inner) for joint in joints}  # that it may exchange with
        self.colour = [GREY] * (2 * len(self.cells))
        for joints, first, count in ((rim, 1, rim_colours), (inner, rim_colours + 1, inner_colours)):
            for joint, colour in zip(
                joints, even_colours(range(first, first + count), len(joints), random), strict=True
            ):
                self.colour[joint] = colour
        self.copies = Counter[Quad]()
        self.clashes = 0
        self._count(self.cells, 1)

    def piece(self, cell: int) -> Quad:
        """The piece on ``cell`` in canonical rotation."""
        up = self.colour[2 * (cell - self.width) + 1] if cell >= self.width else GREY
        left = self.colour[2 * (cell - 1)] if cell > 0 else GREY  # at the start of a row grey, as at the end
        return canonical((up, self.colour[2 * cell], self.colour[2 * cell + 1], left))

    def repair(self, random: PortableRandom) -> bool:
        """Exchange colours until no piece clashes. Returns whether that succeeded within the limit.

        Each step exchanges the colours of a joint of a clashing piece and of a random joint of the same class, and
        keeps the exchange if there are no more clashes than before. Accepting equal numbers avoids dead ends.
        """
        tried = 0
        while self.clashes and tried < _EXCHANGES:
            pieces = enumerate(map(self.piece, self.cells))
            for cell in [cell for cell, piece in pieces if self.copies[piece] > 1 or is_symmetric(piece)]:
                around = (2 * cell, 2 * cell + 1, 2 * (cell - 1), 2 * (cell - self.width) + 1)
                joints = [joint for joint in around if joint in self.class_of]
                joint = joints[random.below(len(joints))]
                partners = self.class_of[joint]
                other, before = partners[random.below(len(partners))], self.clashes
                self._exchange(joint, other)
                if self.clashes > before:
                    self._exchange(joint, other)
                tried += 1
        return self.clashes == 0

    def _exchange(self, joint: int, other: int) -> None:
        """Exchange the colours of two joints and update the counts."""
        touched = {cell for at in (joint, other) for cell in (at // 2, at // 2 + (self.width if at % 2 else 1))}
        self._count(touched, -1)
        self.colour[joint], self.colour[other] = self.colour[other], self.colour[joint]
        self._count(touched, 1)

    def _count(self, cells: Iterable[int], step: int) -> None:
        """Count the pieces on some cells, or take them out of the counts for a ``step`` of -1."""
        for piece in map(self.piece, cells):
            self.copies[piece] += step
            self.clashes += step * (is_symmetric(piece) + (self.copies[piece] > max(step, 0)))


def is_symmetric(piece: Quad) -> bool:
    """Whether half a turn leaves a piece unchanged; every quarter-turn symmetry includes this one."""
    return piece[:2] == piece[2:]


# -- default numbers of colours ----------------------------------------------------------------------------------------


def joints_by_class(width: int, height: int) -> tuple[int, int]:
    """(joints along the rim, which join two neighbours on one side of the board; all other joints)."""
    along = (width - 1) * min(height, 2) + (height - 1) * min(width, 2)
    return along, height * (width - 1) + width * (height - 1) - along


def default_colours(
    width: int, height: int, *, holes: tuple[int, ...] = (), framed: bool = True, turns: bool = True, rim: int = GREY
) -> int:
    """The default number of colours of a puzzle of one class of joints, whose rules are as in `Puzzle`.

    It is the one for which the expected number of solutions of a random puzzle is nearest to 1: on a framed board 4 for
    6x6, 8 for 10x10, 15 for 16x16.
    """
    board = Layout(width, height, holes, framed=framed)
    joints = board.max_score + (2 * (width + height) if rim else 0)
    log_boards = _log_arrangements(board, turns=turns)
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
        log_boards = _log_arrangements(Layout(width, height)) + _log_pairing_probability(rim_joints, rim)
        expected = {inner: log_boards + _log_pairing_probability(inner_joints, inner) for inner in candidates}
        inner_colours = min(expected, key=lambda inner: abs(expected[inner]), default=0)
    return rim_colours, inner_colours


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


def _log_arrangements(board: Layout, *, turns: bool = True) -> float:
    """Logarithm of the number of boards with grey exactly where it must be; all turns of a board are counted."""
    grey = [board.grey_sides(cell) for cell in range(board.cells) if cell not in board.holes]
    log_boards = sum(
        lgamma(count + 1) for count in Counter(canonical(sides) if turns else sides for sides in grey).values()
    )
    if turns:
        log_boards += sum(log(sum(rotate(sides, turn) == sides for turn in range(4))) for sides in grey)
    return log_boards


def _log_pairing_probability(joints: int, colours: int) -> float:
    """Logarithm of the probability that a random pairing of 2 * joints half-edges joins only equal colours.

    The counts of two colours differ by at most one joint.
    """
    if joints == 0:
        return 0.0
    each, extra = divmod(joints, colours)
    log_ways = lgamma(joints + 1) - lgamma(2 * joints + 1)
    for count, how_many in ((each + 1, extra), (each, colours - extra)):
        log_ways += how_many * (lgamma(2 * count + 1) - lgamma(count + 1))
    return log_ways
