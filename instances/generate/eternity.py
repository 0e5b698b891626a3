"""Puzzles like Eternity II: separate rim and inner colours, near-equal counts, all pieces different."""

from __future__ import annotations

from collections import Counter

from lns.instances.errors import InputError
from lns.instances.generate.colours import check_piece_classes, default_like_e2, joints_by_class
from lns.instances.generate.planted import Planted, Quad, check_shape, clue_cells, even_colours, plant
from lns.instances.generate.portable_random import PortableRandom
from lns.instances.puzzle import canonical

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
    for colours, joints, where in zip(
        (rim_colours, inner_colours), joints_by_class(width, height), ("rim", "inner"), strict=True
    ):
        _check_count(colours, joints, f"{where} colours", width, height)
    rim_colours, inner_colours = default_like_e2(width, height, rim_colours, inner_colours)
    check_piece_classes(width, height, rim_colours, inner_colours)
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


def _check_count(colours: int | None, joints: int, what: str, width: int, height: int) -> None:
    """Raise InputError for more colours than joints of the class, and for 0 colours if there are joints."""
    if colours is not None and not min(joints, 1) <= colours <= joints:
        raise InputError(
            f"{colours} {what} on a {width} x {height} board, which has {joints} joints of that class; "
            f"expected {min(joints, 1)} to {joints}"
        )


class _Grid:
    """A colouring of the joints, and how far its pieces are from being all different.

    Joint ``2 * cell`` lies to the right of a cell, ``2 * cell + 1`` below it; joints on the rim are grey. ``clashes``
    counts the pieces that equal an earlier piece up to rotation, plus the rotationally symmetric pieces.
    """

    def __init__(self, width: int, height: int, rim_colours: int, inner_colours: int, random: PortableRandom) -> None:
        self.width = width
        self.colour = [0] * (2 * width * height)
        rim: list[int] = []
        inner: list[int] = []
        self.class_of: dict[int, list[int]] = {}  # joint -> the joints that it may exchange colours with
        for cell in range(width * height):
            row, column = divmod(cell, width)
            if column < width - 1:
                self.class_of[2 * cell] = rim if row in (0, height - 1) else inner
            if row < height - 1:
                self.class_of[2 * cell + 1] = rim if column in (0, width - 1) else inner
        for joint, its_class in self.class_of.items():
            its_class.append(joint)
        first_inner = rim_colours + 1
        for joints, colours in ((rim, range(1, first_inner)), (inner, range(first_inner, first_inner + inner_colours))):
            for joint, colour in zip(joints, even_colours(colours, len(joints), random), strict=True):
                self.colour[joint] = colour
        self.copies = Counter(map(self.piece, range(width * height)))
        self.clashes = sum(count * is_symmetric(piece) + count - 1 for piece, count in self.copies.items())

    def joints(self, cell: int) -> list[int]:
        """The joints of a cell that are not on the rim, in the order right, down, left, up."""
        around = (2 * cell, 2 * cell + 1, 2 * (cell - 1), 2 * (cell - self.width) + 1)
        return [joint for joint in around if joint in self.class_of]

    def cells(self, joint: int) -> tuple[int, int]:
        """The two cells on the sides of a joint."""
        cell, below = divmod(joint, 2)
        return cell, cell + (self.width if below else 1)

    def piece(self, cell: int) -> Quad:
        """The piece on ``cell`` in canonical rotation."""
        up = self.colour[2 * (cell - self.width) + 1] if cell >= self.width else 0
        left = self.colour[2 * (cell - 1)] if cell > 0 else 0  # at the start of a row grey, as at the end
        return canonical((up, self.colour[2 * cell], self.colour[2 * cell + 1], left))

    def repair(self, random: PortableRandom) -> bool:
        """Exchange colours until no piece clashes. Returns whether that succeeded within the limit.

        Each step exchanges the colours of a joint of a clashing piece and of a random joint of the same class, and
        keeps the exchange if there are no more clashes than before. Accepting equal numbers avoids dead ends.
        """
        tried = 0
        while self.clashes and tried < _EXCHANGES:
            for cell in [cell for cell in range(len(self.colour) // 2) if self._clashes_on(cell)]:
                joints = self.joints(cell)
                joint = joints[random.below(len(joints))]
                partners = self.class_of[joint]
                self._exchange_unless_worse(joint, partners[random.below(len(partners))])
                tried += 1
        return self.clashes == 0

    def _clashes_on(self, cell: int) -> bool:
        piece = self.piece(cell)
        return self.copies[piece] > 1 or is_symmetric(piece)

    def _exchange_unless_worse(self, joint: int, other: int) -> None:
        """Exchange the colours of two joints; undo it if there are more clashes then."""
        before = self.clashes
        self._exchange(joint, other)
        if self.clashes > before:
            self._exchange(joint, other)

    def _exchange(self, joint: int, other: int) -> None:
        """Exchange the colours of two joints and update the counts."""
        touched = {*self.cells(joint), *self.cells(other)}
        for cell in touched:
            piece = self.piece(cell)
            self.copies[piece] -= 1
            self.clashes -= is_symmetric(piece) + (self.copies[piece] > 0)
        self.colour[joint], self.colour[other] = self.colour[other], self.colour[joint]
        for cell in touched:
            piece = self.piece(cell)
            self.clashes += is_symmetric(piece) + (self.copies[piece] > 0)
            self.copies[piece] += 1


def is_symmetric(piece: Quad) -> bool:
    """Whether half a turn leaves a piece unchanged; every quarter-turn symmetry includes this one."""
    return piece[:2] == piece[2:]
