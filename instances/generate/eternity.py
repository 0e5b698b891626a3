"""Puzzles like Eternity II: rim colours apart from inner colours, near-equal counts, all pieces different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from instances.generate.defaults import check_kinds, default_like_e2, joints_by_class
from instances.generate.planted import Planted, check_shape, clue_cells, plant
from instances.generate.portable_random import PortableRandom
from instances.puzzle import canonical
from lns_support.errors import InputError

_EXCHANGES = 50_000  # tried before a fresh colouring is drawn
_COLOURINGS = 4

Quad = tuple[int, int, int, int]


def like_e2(
    width: int,
    height: int,
    rim_colours: int | None = None,
    inner_colours: int | None = None,
    seed: int = 0,
    *,
    clues: int = 0,
) -> Planted:
    """A random puzzle with the rules that Eternity II keeps, and its planted solution.

    Joints along the rim carry the colours 1..R, all others R+1..R+I; in each class the counts differ by at most one
    joint; all pieces differ up to rotation and none is rotationally symmetric. A random colouring breaks the last rule
    in a few places, which are repaired by exchanging the colours of two joints of a class; that keeps all the rest.
    ``clues`` pieces of the solution are pinned, in places like Eternity II's (`clue_cells`); they change nothing else.
    Without colour numbers: `default_like_e2`, 5 + 17 on 16x16.

    Raises InputError where shape, colours, clues or seed cannot be, also when the repair finds no such puzzle.
    """
    check_shape(width, height)
    for colours, joints, where in zip(
        (rim_colours, inner_colours), joints_by_class(width, height), ("rim", "inner"), strict=True
    ):
        _check_count(colours, joints, f"{where} colours", width, height)
    rim_colours, inner_colours = default_like_e2(width, height, rim_colours, inner_colours)
    check_kinds(width, height, rim_colours, inner_colours)
    draws = PortableRandom(seed)
    for _ in range(_COLOURINGS):
        grid = _Grid(width, height, rim_colours, inner_colours, draws)
        if grid.repair(draws):
            name = f"like-e2-{width}x{height}-r{rim_colours}-i{inner_colours}-s{seed}"
            planted = plant(grid.colour[0::2], grid.colour[1::2], width, height, draws, name)
            return planted.with_clues(clue_cells(width, height, clues, seed))
    raise InputError(
        f"no {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours was found on which all "
        f"pieces differ, in {_COLOURINGS * _EXCHANGES} exchanges of colours; expected more colours"
    )


def _check_count(colours: int | None, joints: int, what: str, width: int, height: int) -> None:
    """A number of colours that is given can be no larger than the number of joints, and 0 only without joints."""
    if colours is not None and not min(joints, 1) <= colours <= joints:
        raise InputError(
            f"{colours} {what} on a {width} x {height} board, which has {joints} joints of that class; "
            f"expected {min(joints, 1)} to {joints}"
        )


class _Grid:
    """Colours by joint, and how far the pieces are from being all different.

    Joint ``2*cell`` lies to the right of a cell, ``2*cell + 1`` below it; those on the rim stay grey.
    ``clashes``: pieces that equal another up to rotation (one of each kind is free), plus rotationally symmetric ones.
    """

    def __init__(self, width: int, height: int, rim_colours: int, inner_colours: int, draws: PortableRandom) -> None:
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
        self._deal(rim, range(1, rim_colours + 1), draws)
        self._deal(inner, range(rim_colours + 1, rim_colours + inner_colours + 1), draws)
        self.copies = Counter(map(self.piece, range(width * height)))
        self.clashes = sum(count * is_symmetric(piece) + count - 1 for piece, count in self.copies.items())

    def _deal(self, joints: list[int], colours: Sequence[int], draws: PortableRandom) -> None:
        """Give the joints these colours in random order, each as often as any other or once more."""
        order = list(colours)
        draws.shuffle(order)  # which of them occur once more
        hand = [order[i % len(order)] for i in range(len(joints))]
        draws.shuffle(hand)
        for joint, colour in zip(joints, hand, strict=True):
            self.colour[joint] = colour

    def joints(self, cell: int) -> list[int]:
        """The joints of a cell: right, down, left, up, without the rim."""
        around = (2 * cell, 2 * cell + 1, 2 * (cell - 1), 2 * (cell - self.width) + 1)
        return [joint for joint in around if joint in self.class_of]

    def cells(self, joint: int) -> tuple[int, int]:
        """The two cells that a joint joins."""
        cell, below = divmod(joint, 2)
        return cell, cell + (self.width if below else 1)

    def piece(self, cell: int) -> Quad:
        """The piece on ``cell`` in its smallest rotation."""
        up = self.colour[2 * (cell - self.width) + 1] if cell >= self.width else 0
        left = self.colour[2 * (cell - 1)] if cell > 0 else 0  # the last cell of the row before ends in grey
        return canonical((up, self.colour[2 * cell], self.colour[2 * cell + 1], left))

    def repair(self, draws: PortableRandom) -> bool:
        """Exchange colours until nothing clashes; False if that does not end.

        One joint of a clashing piece against a random one of its class; the exchange stays when there are no more
        clashes than before. The sideways steps are what leads out of dead ends.
        """
        tried = 0
        while self.clashes and tried < _EXCHANGES:
            for cell in [cell for cell in range(len(self.colour) // 2) if self._clashes_on(cell)]:
                joints = self.joints(cell)
                joint = joints[draws.below(len(joints))]
                partners = self.class_of[joint]
                self._exchange_unless_worse(joint, partners[draws.below(len(partners))])
                tried += 1
        return self.clashes == 0

    def _clashes_on(self, cell: int) -> bool:
        piece = self.piece(cell)
        return self.copies[piece] > 1 or is_symmetric(piece)

    def _exchange_unless_worse(self, joint: int, other: int) -> None:
        before = self.clashes
        self._exchange(joint, other)
        if self.clashes > before:
            self._exchange(joint, other)

    def _exchange(self, joint: int, other: int) -> None:
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
    """Whether half a turn leaves the piece as it is (a quarter turn then may, too)."""
    return piece[:2] == piece[2:]
