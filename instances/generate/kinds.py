"""The kinds of generated puzzles, and families of them, written as short texts such as ``like-e2:12x20:5+17``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lns.instances.errors import InputError
from lns.instances.generate.colours import default_colours, default_colours_of
from lns.instances.generate.eternity import like_e2
from lns.instances.generate.planted import Planted, check_colours, check_shape, cut, even_colours, plant, plant_quads
from lns.instances.generate.portable_random import PortableRandom

_OTHER_RULES = {
    "unframed": {"framed": False, "turns": True},
    "tetravex": {"framed": False, "turns": False},
    "triangle": {"framed": True, "turns": True},
    "diamond": {"framed": True, "turns": True},
}
KINDS = ("uniform", "balanced-torus", "like-e2", *_OTHER_RULES)
"""The names of the kinds of puzzles that have families."""
_BY_SIDE = ("balanced-torus", "triangle", "diamond")
_SPEC = re.compile(r"([a-z0-9-]+):(\d{1,6})(?:x(\d{1,6}))?(?::(\d{1,6})(?:\+(\d{1,6}))?)?", re.ASCII)


def uniform(
    width: int, height: int, colours: int | None = None, seed: int = 0, *, all_colours: bool = False
) -> Planted:
    """Generate a puzzle in which every inner edge has an independent, uniformly random colour.

    This is Benoist & Bourreau 2008, section 6. ``colours`` is the number of colours to draw from, `default_colours` by
    default; colours that were not drawn are left out, unless ``all_colours`` gives every colour a random inner edge
    before the others are drawn. Raises InputError if the shape, number of colours or seed is out of range, or there are
    fewer inner edges than that.
    """
    check_shape(width, height)
    colours = default_colours(width, height) if colours is None else colours
    check_colours(colours)
    random = PortableRandom(seed)
    right, down = ([1 + random.below(colours) for _ in range(width * height)] for _ in range(2))
    if all_colours:
        inner = [(right, cell) for cell in range(width * height) if (cell + 1) % width]
        inner += [(down, cell) for cell in range(width * (height - 1))]
        if colours > len(inner):
            raise InputError(f"{colours} colours on {len(inner)} inner edges; expected at most one for each edge")
        random.shuffle(inner)
        for colour, (edges, cell) in enumerate(inner[:colours], start=1):
            edges[cell] = colour
    return plant(right, down, width, height, random, f"uniform-{width}x{height}-c{colours}-s{seed}")


def balanced_torus(n: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle from a torus of ``n`` rows and columns with balanced colours (Bailleux 2025, results).

    Each of the m colours gets floor(2n²/m) of the 2n² joints of an n x n torus, or one more. Then the joints across the
    rim become grey. They took part in the balance, so the counts inside are only nearly equal. Parameters and errors
    are as for `uniform`.
    """
    check_shape(n, n)
    colours = default_colours(n, n) if colours is None else colours
    check_colours(colours)
    random = PortableRandom(seed)
    joints = even_colours(range(1, colours + 1), 2 * n * n, random)
    return plant(joints[: n * n], joints[n * n :], n, n, random, f"balanced-torus-{n}x{n}-c{colours}-s{seed}")


def other_rules(kind: str, width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle by other rules, whose edges have independent, uniformly random colours.

    ``kind`` is 'unframed': the sides along the edge of the board have colours too; 'tetravex': so too, and pieces may
    not be turned; or 'triangle' or 'diamond', framed boards with holes of Cuvillier & Szymkowiak 2010, section 3.2,
    whose width and height are both their side: rows of 1, 3, 5, ... cells, ``side**2`` together; and rows of 1, 3, ...,
    2 * side - 1, ..., 3, 1 cells, ``side**2 + (side - 1)**2`` together.

    ``colours`` is the number of colours to draw from; by default the one for which the expected number of solutions is
    nearest to 1. Raises InputError if the shape, number of colours or seed is out of range.
    """
    rules, holes, size = _OTHER_RULES[kind], _holes_of(kind, width), f"{width}x{height}"
    if kind in _BY_SIDE:
        if width < 1:
            raise InputError(f"a {kind} of side {width}; expected 1 or more")
        size, height = f"{width}", width if kind == "triangle" else 2 * width - 1
        width = 2 * width - 1
    check_shape(width, height)
    if colours is None:
        colours = default_colours_of(
            cut(width, height, lambda *_: 1, holes, framed=rules["framed"]), width, rules["turns"]
        )
    check_colours(colours)
    limit, random = colours, PortableRandom(seed)
    quads = cut(width, height, lambda *_: 1 + random.below(limit), holes, framed=rules["framed"])
    return plant_quads(quads, width, height, random, f"{kind}-{size}-c{colours}-s{seed}", holes=holes, **rules)


def _holes_of(kind: str, side: int) -> tuple[int, ...]:
    """The holes of the rectangle around a triangle, whose tip is above, or of the square around a diamond."""
    width = 2 * side - 1
    return tuple(
        row * width + column
        for row in range({"triangle": side, "diamond": width}.get(kind, 0))
        for column in range(width)
        if abs(column - side + 1) > (row if kind == "triangle" else side - 1 - abs(row - side + 1))
    )


def tetravex(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """A Tetravex of `other_rules`."""
    return other_rules("tetravex", width, height, colours, seed)


# -- families ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """All generated puzzles of one of the `KINDS`, size and number of colours; a function from seeds to puzzles.

    Of a triangle or diamond, width and height are both the side. A like-e2 puzzle has ``rim_colours`` and
    ``inner_colours``, every other one ``colours``; the numbers default to those of the generator. Raises InputError if
    the kind is unknown or an option does not belong to it.
    """

    kind: str
    width: int
    height: int
    colours: int | None = None
    rim_colours: int | None = None
    inner_colours: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"unknown kind of puzzle '{self.kind}'; expected {', '.join(KINDS)}")
        if self.kind == "like-e2" and self.colours is not None:
            raise InputError(
                "a like-e2 puzzle has separate rim and inner colours; expected two numbers of colours, not one"
            )
        if self.kind != "like-e2" and (self.rim_colours, self.inner_colours) != (None, None):
            raise InputError(f"a {self.kind} puzzle has no separate rim and inner colours; expected one number")
        if self.kind in _BY_SIDE and self.width != self.height:
            wanted = "a square" if self.kind == "balanced-torus" else "one number, its side"
            kind = self.kind.replace("-", " ")
            raise InputError(f"a {kind} of {self.width} x {self.height}; expected {wanted}")

    def __call__(self, seed: int) -> Planted:
        """Generate the member of a seed. Raises InputError if the generator refuses the size, colours or seed."""
        if self.kind == "like-e2":
            return like_e2(self.width, self.height, self.rim_colours, self.inner_colours, seed)
        if self.kind == "uniform":
            return uniform(self.width, self.height, self.colours, seed)
        if self.kind == "balanced-torus":
            return balanced_torus(self.width, self.colours, seed)
        return other_rules(self.kind, self.width, self.height, self.colours, seed)


def family(spec: str) -> Family:
    """Parse the text form of a family, KIND:SIZE[:COLOURS].

    SIZE is N or WxH; COLOURS is a number, or RIM+INNER for like-e2. Examples: ``like-e2:12x12``,
    ``like-e2:12x20:5+17``, ``uniform:8x8:7``, ``balanced-torus:8:9``, ``tetravex:5x5``, ``diamond:4``. Raises
    InputError for another text.
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise InputError(
            f"'{spec}' names no family of puzzles; expected KIND:SIZE[:COLOURS], "
            "such as like-e2:12x20:5+17, uniform:8x8:7 or balanced-torus:8:9"
        )
    kind, width, height, first, second = match.groups()
    one, two = (None if text is None else int(text) for text in (first, second))
    if kind == "like-e2" and first is not None and second is None:
        raise InputError(f"'{spec}' gives one number of colours; expected RIM+INNER, such as 5+17")
    colours = {"rim_colours": one} if kind == "like-e2" else {"colours": one}
    return Family(kind, int(width), int(height or width), **colours, inner_colours=two)
