"""Generators of puzzles with a planted solution. The same seed gives the same puzzle on every machine.

Kinds of puzzles
    `like_e2` (the rules of Eternity II), `uniform` (every edge coloured independently), `balanced_torus` (near-equal
    colour counts on a torus), `unique` (candidates for a single solution), `three_partition` (an encoded 3-partition
    problem; `triples_of` decodes its solutions), `other_rules` (no frame, no turns, a rim of one colour, or
    holes), and `wang` (tiles of which any number may be used). `Planted.with_mates` gives mates to some colours of a
    puzzle.
Families
    `of_kind` makes a puzzle of any of the `KINDS`; `family` reads a text such as 'like-e2:12x20:5+17' as a function
    from seeds to puzzles.
Results and defaults
    `Planted` is a puzzle with its solution. `clue_cells` and `corner_cells` choose cells for clues; `default_colours`
    and `default_like_e2` choose numbers of colours.

The puzzles of Jolivet 2008 are those with a single solution (5.2), and 3-partition problems (3m numbers of sum m * S)
encoded as puzzles (section 3, after Demaine). Each number ``a`` becomes a bar: ``a`` pieces in a row, joined by a
colour of this bar. A border of pieces leaves room for m rows of S pieces; in a solution each row holds three bars.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import planted as core
from lns.instances.generate.planted import Planted, clue_cells, corner_cells, default_colours, default_like_e2
from lns.instances.layout import Layout
from lns.instances.puzzle import DOWN, GREY, MAX_CELLS, MAX_COLOUR, RIGHT, Puzzle, canonical, check_shape, rotate

__all__ = ["KINDS", "Planted", "balanced_torus", "clue_cells", "corner_cells", "default_colours", "default_like_e2"]
__all__ += ["family", "like_e2", "numbers_of", "of_kind", "other_rules", "three_partition", "triples_of"]
__all__ += ["uniform", "unique", "wang"]

_OTHER_RULES: dict[str, dict[str, Any]] = {
    "unframed": {"framed": False},
    "tetravex": {"framed": False, "turns": False},
    "macmahon": {"framed": False, "rim": 1},
    "triangle": {},
    "diamond": {},
}
_MACMAHON = "12232213113232322323133233332221322323"  # MacMahon's squares solved: joints right of and below each cell
KINDS = ("uniform", "balanced-torus", "like-e2", *_OTHER_RULES, "wang")
"""The names of the kinds of puzzles that `of_kind` makes."""
CONSTRUCTIONS = ("m+n-2", "max")
ENDS, FLANKS, NORTH, EAST, SOUTH, WEST = 1, 2, 3, 4, 5, 6
FIRST_BAR = 7
_EXCHANGES = 50_000  # most exchanges of colours in a colouring, before `like_e2` draws a new colouring
_COLOURINGS = 4
Triple = tuple[int, int, int]
_BY_SIDE = ("balanced-torus", "triangle", "diamond")
_SPEC = re.compile(r"([a-z0-9-]+):(\d{1,6})(?:x(\d{1,6}))?(?::(\d{1,6})(?:\+(\d{1,6}))?)?", re.ASCII)


def _begun(width: int, height: int, colours: int | None, seed: int, **rules: Any) -> tuple[int, core.PortableRandom]:
    """Check shape, colours and seed; return the number of colours (or the default) and a random generator."""
    check_shape(width, height)
    colours = default_colours(width, height, **rules) if colours is None else colours
    if not 1 <= colours <= MAX_COLOUR:
        raise InputError(f"{colours} colours; expected 1 to {MAX_COLOUR}")
    return colours, core.PortableRandom(seed)


def uniform(
    width: int, height: int, colours: int | None = None, seed: int = 0, *, all_colours: bool = False
) -> Planted:
    """Generate a puzzle in which every inner edge has an independent, uniformly random colour.

    This is Benoist & Bourreau 2008, section 6. ``colours`` is the number of colours to draw from, `default_colours` by
    default. Colours that were not drawn are left out. With ``all_colours`` all occur: each replaces the colour drawn
    for one random inner edge. Raises InputError if the shape, number of colours or seed is out of range, or if there
    are too few inner edges for ``all_colours``.
    """
    colours, random = _begun(width, height, colours, seed)
    right, down = ([1 + random.below(colours) for _ in range(width * height)] for _ in range(2))
    if all_colours:
        inner = [(right, cell) for cell in range(width * height) if (cell + 1) % width]
        inner += [(down, cell) for cell in range(width * (height - 1))]
        if colours > len(inner):
            raise InputError(f"{colours} colours on {len(inner)} inner edges; expected at most one for each edge")
        random.shuffle(inner)
        for colour, (edges, cell) in enumerate(inner[:colours], start=1):
            edges[cell] = colour
    return core.plant(right, down, width, height, random, f"uniform-{width}x{height}-c{colours}-s{seed}")


def balanced_torus(n: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle from a torus of ``n`` rows and columns with balanced colours (Bailleux 2025, results).

    Each of m = ``colours`` colours gets floor(2n²/m) of the 2n² joints of an n x n torus, or one more. Then the joints
    that wrap around become grey; as they were counted too, the counts inside are only nearly equal. Parameters and
    errors are as for `uniform`.
    """
    colours, random = _begun(n, n, colours, seed)
    joints = core.even_colours(1, colours, 2 * n * n, random)
    return core.plant(joints[: n * n], joints[n * n :], n, n, random, f"balanced-torus-{n}x{n}-c{colours}-s{seed}")


def other_rules(kind: str, width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle of other rules than Eternity II; its inner edges have independent, uniformly random colours.

    In the kinds 'unframed' and 'tetravex' the sides along the outer edge have random colours too; the pieces of
    'tetravex' may not be turned. In 'macmahon' the sides along the outer edge have colour 1, which occurs inside too;
    on 6 x 4, 3 colours (the default) give MacMahon's 24 squares. 'triangle' and 'diamond' are framed boards with holes
    (Cuvillier & Szymkowiak 2010, section 3.2); ``width`` is the side. The rows of a triangle have 1, 3, 5, ... cells,
    ``side**2`` in all; those of a diamond 1, 3, ..., 2 * side - 1, ..., 3, 1 cells, ``side**2 + (side - 1)**2`` in all.

    ``colours`` is the number of colours to draw from, by default (but for those squares) that for which the expected
    number of solutions is nearest to 1. Raises InputError if the shape, number of colours or seed is out of range.
    """
    rules, size = _OTHER_RULES[kind], f"{width}x{height}"
    if kind in _BY_SIDE:
        if width < 1:
            raise InputError(f"a {kind} of side {width}; expected 1 or more")
        size, height = f"{width}", width if kind == "triangle" else 2 * width - 1
        width = 2 * width - 1
    check_shape(width, height)
    holes = _holes_of(kind, width, height)
    classical = (kind, size) == ("macmahon", "6x4") and colours in (None, 3)
    number, random = _begun(width, height, 3 if classical else colours, seed, holes=holes, **rules)
    drawn = map(int, _MACMAHON)
    return core.plant_board(
        Layout(width, height, holes, framed=rules.get("framed", True)),
        lambda *_: next(drawn) if classical else 1 + random.below(number),
        random,
        f"{kind}-{size}-c{number}-s{seed}",
        **{name: rule for name, rule in rules.items() if name != "framed"},
    )


def _holes_of(kind: str, width: int, height: int) -> tuple[int, ...]:
    """Return the holes of the rectangle around a triangle with its tip above, or around a diamond; else ()."""
    side = (width + 1) // 2
    return tuple(
        cell
        for cell in range(width * height if kind in ("triangle", "diamond") else 0)
        for row, column in [divmod(cell, width)]
        if abs(column - side + 1) > (row if kind == "triangle" else side - 1 - abs(row - side + 1))
    )


def wang(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle of Wang tiles, which may be used any number of times and not be turned; the board has no frame.

    The cells of the planted solution are filled in random order, each with a random tile of those that fit. If none
    fits, a new tile is made; sides without a filled neighbour get random colours, by default out of three. As new tiles
    are made only then, there are few. Raises InputError if the shape, number of colours or seed is out of range.
    """
    colours, random = _begun(width, height, 3 if colours is None else colours, seed)
    order, tiles = list(range(width * height)), list[list[int]]()
    random.shuffle(order)
    laid: dict[int, int] = {}
    board = Layout(width, height)
    for cell in order:
        shown = {side: tiles[laid[other]][side ^ 2] for side, other in board.neighbours(cell) if other in laid}
        fitting = [at for at, tile in enumerate(tiles) if all(tile[side] == shown[side] for side in shown)]
        if not fitting:
            fitting, tile = [len(tiles)], [0] * 4
            # avoid a tile whose opposite sides are equal, as copies of this tile alone could fill the board
            while not any(tile) or (colours > 1 and len(shown) < 4 and tile[:2] == tile[2:]):
                tile = [shown[side] if side in shown else 1 + random.below(colours) for side in range(4)]
            tiles.append(tile)
        laid[cell] = fitting[random.below(len(fitting))]
    name, copies = f"wang-{width}x{height}-c{colours}-s{seed}", (0,) * len(tiles)
    puzzle = Puzzle(np.array(tiles), width, height, name=name, framed=False, turns=False, copies=copies)
    return Planted(puzzle, Board(4 * np.array([laid[cell] for cell in range(puzzle.cells)]), width, height))


# -- puzzles like Eternity II ------------------------------------------------------------------------------------------


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

    Joints along the rim have the colours 1 to R, all other joints R+1 to R+I; by default R and I are those of
    `default_like_e2`, which are 5 and 17 on 16x16. In each of these two classes of joints, the counts of the colours
    differ by at most one. All pieces differ up to rotation, and none is rotationally symmetric. A random colouring
    breaks these last two rules in a few places, which are repaired by exchanging the colours of two joints of a class;
    such an exchange preserves the other rules.

    ``clues`` is the number of clues, on the cells of `clue_cells`; it does not change the pieces. Raises
    InputError if the shape, colours, clues or seed are out of range, or no such puzzle is found.
    """
    check_shape(width, height)
    rim_joints, inner_joints = map(len, core.joints_by_class(width, height))
    for colours, joints, where in ((rim_colours, rim_joints, "rim"), (inner_colours, inner_joints, "inner")):
        if colours is not None and not min(joints, 1) <= colours <= joints:
            raise InputError(
                f"{colours} {where} colours on a {width} x {height} board, which has {joints} joints of that class; "
                f"expected {min(joints, 1)} to {joints}"
            )
    rim_colours, inner_colours = default_like_e2(width, height, rim_colours, inner_colours)
    for name, needed, exist in core.missing_kinds(width, height, rim_colours, inner_colours):
        raise InputError(
            f"a {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours needs {needed} "
            f"{name} pieces, all different and none rotationally symmetric; {max(0, exist)} exist, "
            "expected more colours"
        )
    random = core.PortableRandom(seed)
    for _ in range(_COLOURINGS):
        grid = _Grid(width, height, (rim_colours, inner_colours), random)
        if grid.repair(random):
            name = f"like-e2-{width}x{height}-r{rim_colours}-i{inner_colours}-s{seed}"
            planted = core.plant(grid.colour[0::2], grid.colour[1::2], width, height, random, name)
            return planted.with_clues(clue_cells(width, height, clues, seed))
    raise InputError(
        f"no {width} x {height} board with {rim_colours} rim and {inner_colours} inner colours was found on which all "
        f"pieces differ, in {_COLOURINGS * _EXCHANGES} exchanges of colours; expected more colours"
    )


class _Grid:
    """A colouring of the joints of a board, and the number of pieces that break the rules of `like_e2`.

    Joints are numbered as by `joints_by_class`; joints on the outer edge are grey. ``clashes`` counts the pieces that
    equal an earlier piece up to rotation, plus the rotationally symmetric pieces, which half a turn leaves unchanged.
    """

    def __init__(self, width: int, height: int, colours: tuple[int, int], random: core.PortableRandom) -> None:
        self.width, self.cells = width, range(width * height)
        self.colour = [GREY] * (2 * len(self.cells))
        self.class_of: dict[int, list[int]] = {}  # joint -> joints of its class, with which it may exchange colours
        first = 1
        for joints, count in zip(core.joints_by_class(width, height), colours, strict=True):
            for joint, colour in zip(joints, core.even_colours(first, count, len(joints), random), strict=True):
                self.class_of[joint], self.colour[joint] = joints, colour
            first += count
        self.copies, self.clashes = Counter[tuple[int, int, int, int]](), 0
        self._count(self.cells, 1)

    def piece(self, cell: int) -> tuple[int, int, int, int]:
        """Return the colours of the piece on ``cell``, in its canonical rotation."""
        up = self.colour[2 * (cell - self.width) + 1] if cell >= self.width else GREY
        left = self.colour[2 * (cell - 1)] if cell > 0 else GREY  # in column 0: the grey right end of the row above
        return canonical((up, self.colour[2 * cell], self.colour[2 * cell + 1], left))

    def repair(self, random: core.PortableRandom) -> bool:
        """Exchange colours of joints until no piece clashes; return whether about `_EXCHANGES` exchanges sufficed.

        Each step exchanges the colours of a joint of a clashing piece and of a random joint of the same class, and
        undoes the exchange if it makes more clashes. Exchanges that leave as many are kept, to avoid dead ends.
        """
        tried = 0
        while self.clashes and tried < _EXCHANGES:
            pieces = enumerate(map(self.piece, self.cells))
            for cell in [cell for cell, piece in pieces if self.copies[piece] > 1 or piece[:2] == piece[2:]]:
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
        """Exchange the colours of two joints, and update ``copies`` and ``clashes``."""
        touched = {cell for at in (joint, other) for cell in (at // 2, at // 2 + (self.width if at % 2 else 1))}
        self._count(touched, -1)
        self.colour[joint], self.colour[other] = self.colour[other], self.colour[joint]
        self._count(touched, 1)

    def _count(self, cells: Iterable[int], step: int) -> None:
        """Add the pieces on some cells to ``copies`` and ``clashes`` or, for a ``step`` of -1, take them out."""
        for piece in map(self.piece, cells):
            self.copies[piece] += step
            self.clashes += step * ((piece[:2] == piece[2:]) + (self.copies[piece] > max(step, 0)))


# -- families ----------------------------------------------------------------------------------------------------------


def of_kind(
    kind: str,
    width: int,
    height: int,
    colours: int | None = None,
    rim_colours: int | None = None,
    inner_colours: int | None = None,
    seed: int = 0,
) -> Planted:
    """Generate a puzzle of one of the `KINDS`.

    For a triangle or diamond, width and height are both the side; a torus is square. A like-e2 puzzle takes
    ``rim_colours`` and ``inner_colours``, every other kind ``colours``; None leaves the choice to the generator of the
    kind. Raises InputError if the kind is unknown, or if an option does not belong to the kind or is out of range.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind of puzzle '{kind}'; expected {', '.join(KINDS)}")
    if kind == "like-e2":
        if colours is not None:
            said = "a like-e2 puzzle has separate rim and inner colours"
            raise InputError(f"{said}; expected two numbers of colours, not one")
        return like_e2(width, height, rim_colours, inner_colours, seed)
    if (rim_colours, inner_colours) != (None, None):
        raise InputError(f"a {kind} puzzle has no separate rim and inner colours; expected one number")
    if kind in _BY_SIDE and width != height:
        wanted = "a square" if kind == "balanced-torus" else "one number, its side"
        raise InputError(f"a {kind.replace('-', ' ')} of {width} x {height}; expected {wanted}")
    if kind == "balanced-torus":
        return balanced_torus(width, colours, seed)
    make = {"uniform": uniform, "wang": wang}.get(kind, partial(other_rules, kind))
    return make(width, height, colours, seed)


def family(spec: str) -> Callable[[int], Planted]:
    """Return the function from seeds to puzzles that a text KIND:SIZE[:COLOURS] describes.

    SIZE is N or WxH; COLOURS is a number of colours, or RIM+INNER for like-e2. Examples: ``like-e2:12x12``,
    ``like-e2:12x20:5+17``, ``uniform:8x8:7``, ``balanced-torus:8:9``, ``tetravex:5x5``, ``diamond:4``. Raises
    InputError for text of another form; the returned function does so for an unknown kind or a bad size or number.
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise InputError(
            f"'{spec}' names no family of puzzles; expected KIND:SIZE[:COLOURS], "
            "such as like-e2:12x20:5+17, uniform:8x8:7 or balanced-torus:8:9"
        )
    kind, width, height, first, second = match.groups()
    one, two = (None if text is None else int(text) for text in (first, second))
    colours = (one, None, None) if two is None else (None, one, two)
    return partial(of_kind, kind, int(width), int(height or width), *colours)


# -- puzzles of Jolivet 2008 -------------------------------------------------------------------------------------------


def unique(width: int, height: int, construction: str, seed: int = 0, attempt: int = 0) -> Planted:
    """Generate a candidate for a puzzle whose planted solution is the only one up to rotation (Jolivet 2008, 5.2).

    A tree search must check the candidate. Constructions are named by their number of colours for m columns and n rows.
    ``m+n-2`` gives every line between two columns and every line between two rows a colour of its own. The paper proves
    that the solution is then unique; but if both sides are even, the middle line is its own mirror image and there are
    two solutions. An ``attempt`` from 1 on gives the top joint of the middle line between columns a random colour.

    ``max`` gives the lines between columns the colours 1 to m-1, the lines between rows the colours 1 to n-1, and the
    joints right of and below the cells of a diagonal the last colour. The paper does not say which diagonal: an even
    ``attempt`` takes the main one, an odd one the antidiagonal. An ``attempt`` from 2 on also recolours random joints.

    ``seed`` draws the order and the rotations of the pieces. Raises InputError if the construction is unknown or the
    board has a single row or column.
    """
    check_shape(width, height)
    if construction not in CONSTRUCTIONS:
        raise InputError(f"unknown construction '{construction}'; expected {' or '.join(CONSTRUCTIONS)}")
    if min(width, height) < 2:
        raise InputError(f"a board of {width} x {height}; expected at least two rows and two columns")
    cells = range(width * height)
    right = [1 + cell % width for cell in cells]
    if construction == "m+n-2":
        colours, changes = width + height - 2, attempt
        down = [width + cell // width for cell in cells]
    else:
        colours, changes = max(width, height), attempt // 2
        antidiagonal = attempt % 2 == 1
        down = [(height - 1 - cell // width if antidiagonal else 1 + cell // width) for cell in cells]
        for cell in cells:
            row, column = divmod(cell, width)
            if (row + column == min(width, height) - 1) if antidiagonal else (row == column):
                right[cell] = down[cell] = colours
    choices = core.PortableRandom(attempt)
    for _ in range(changes):
        row, column = choices.below(height), choices.below(width)
        if construction == "m+n-2":
            row, column = 0, width // 2 - 1
        joints = right if column < width - 1 else down
        joints[row * width + column] = 1 + choices.below(colours)
    name = f"unique-{width}x{height}-{construction}-s{seed}"
    return core.plant(right, down, width, height, core.PortableRandom(seed), name)


def three_partition(numbers: Sequence[int], seed: int = 0) -> Puzzle:
    """Encode a 3-partition problem as a puzzle that has a perfect board if and only if the problem has a solution.

    The ends of the bars, and the inner sides of the border on the left and right, have the colour ENDS; the flanks of
    the bars, and the inner sides of the border above and below, the colour FLANKS. The border pieces are joined by the
    colours NORTH, EAST, SOUTH and WEST, one along each side, so that the border can be built in one way up to rotation.

    ``numbers`` are 3m numbers of sum m * S, each strictly between S/4 and S/2. The board is (S + 2) x (m + 2) with at
    most 3m + 6 colours. Raises InputError if the numbers have another form, or the board would have too many cells.
    """
    count, total = len(numbers), sum(numbers)
    if count == 0 or count % 3 or total % (count // 3):
        raise InputError(f"{count} numbers of sum {total}; expected 3m numbers whose sum is a multiple of m")
    triples = count // 3
    size = total // triples
    out_of_range = [a for a in numbers if not size < 4 * a < 2 * size]
    if out_of_range:
        raise InputError(f"the number {out_of_range[0]} is not strictly between S/4 and S/2 with S = {size}")
    if (size + 2) * (triples + 2) > MAX_CELLS:
        raise InputError(f"a board of {size + 2} x {triples + 2} cells; expected at most {MAX_CELLS}")
    quads = [(0, NORTH, WEST, 0), (0, 0, EAST, NORTH), (EAST, 0, 0, SOUTH), (WEST, SOUTH, 0, 0)]
    quads += [(0, NORTH, FLANKS, NORTH), (FLANKS, SOUTH, 0, SOUTH)] * size
    quads += [(WEST, ENDS, WEST, 0), (EAST, 0, EAST, ENDS)] * triples
    for index, length in enumerate(numbers):
        own = FIRST_BAR + index
        for at in range(length):
            quads.append((FLANKS, ENDS if at == length - 1 else own, FLANKS, ENDS if at == 0 else own))
    random = core.PortableRandom(seed)
    random.shuffle(quads)
    pieces = np.array([rotate(quad, random.below(4)) for quad in quads], dtype=np.int32)
    return Puzzle(pieces, size + 2, triples + 2, name=f"three-partition-{'-'.join(map(str, numbers))}")


def numbers_of(puzzle: Puzzle) -> list[int]:
    """Return the numbers that a puzzle of `three_partition` encodes, in increasing order.

    A bar of ``a`` pieces has ``a - 1`` inner joints of its own colour; a bar of one piece has ENDS on both ends.
    """
    colours = Counter(int(colour) for colour in puzzle.pieces.ravel() if colour >= FIRST_BAR)
    single = sum(canonical(quad) == canonical((FLANKS, ENDS, FLANKS, ENDS)) for quad in puzzle.pieces.tolist())
    return sorted([1] * single + [1 + count // 2 for count in colours.values()])


def triples_of(puzzle: Puzzle, board: Board, numbers: Sequence[int]) -> list[Triple]:
    """Return the triples of numbers, one for each row of bars, on a perfect board of a puzzle that encodes ``numbers``.

    The board may be rotated. Raises InputError if no triples of these numbers lie on it.
    """
    inner = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)[1:-1, 1:-1]
    towards = RIGHT
    if not (inner[:, 0, [1, 3]] == ENDS).any():  # the bars lie in columns
        inner, towards = inner.transpose(1, 0, 2), DOWN
    triples = []
    for row in inner[:, :, towards].tolist():
        ends = [at + 1 for at, colour in enumerate(row) if colour == ENDS]
        lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
        if len(lengths) != 3 or ends[-1] != len(row):
            raise InputError("the board shows no triples of equal sum; expected a solution of the puzzle")
        triples.append((lengths[0], lengths[1], lengths[2]))
    if sorted(length for triple in triples for length in triple) != sorted(numbers):
        raise InputError("the bars on the board are not the numbers given; expected a solution of their puzzle")
    return triples
