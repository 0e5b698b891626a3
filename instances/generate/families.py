"""Families of generated puzzles, written as short texts such as ``like-e2:12x20:5+17``. A seed gives one member."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instances.generate.eternity import like_e2
from instances.generate.planted import Planted
from instances.generate.random_edges import balanced_torus, diamond, tetravex, triangle, unframed, uniform
from lns_support.errors import InputError

KINDS = ("uniform", "balanced-torus", "like-e2", "unframed", "tetravex", "triangle", "diamond")
"""The names of the kinds of puzzles that have families."""
_BY_SIDE = {"balanced-torus": balanced_torus, "triangle": triangle, "diamond": diamond}
_BY_SHAPE = {"uniform": uniform, "unframed": unframed, "tetravex": tetravex}
_SPEC = re.compile(r"([a-z0-9-]+):(\d{1,6})(?:x(\d{1,6}))?(?::(\d{1,6})(?:\+(\d{1,6}))?)?", re.ASCII)


@dataclass(frozen=True)
class Family:
    """All generated puzzles of one kind, size and number of colours; a function from seeds to puzzles.

    Parameters
    ----------
    kind : {'uniform', 'balanced-torus', 'like-e2', 'unframed', 'tetravex', 'triangle', 'diamond'}
    width, height : int
        The side of a triangle or diamond twice.
    colours : int, optional
        Number of colours; not of a like-e2 puzzle.
    rim_colours, inner_colours : int, optional
        Numbers of colours of a like-e2 puzzle. All numbers default to those of the generator.

    Raises
    ------
    InputError
        If the kind is unknown or an option does not belong to it.
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
        if self.kind in _BY_SIDE:
            return _BY_SIDE[self.kind](self.width, self.colours, seed)
        if self.kind in _BY_SHAPE:
            return _BY_SHAPE[self.kind](self.width, self.height, self.colours, seed)
        return like_e2(self.width, self.height, self.rim_colours, self.inner_colours, seed)


def family(spec: str) -> Family:
    """Parse the text form of a family.

    Parameters
    ----------
    spec : str
        KIND:SIZE[:COLOURS]. SIZE is N or WxH; COLOURS is a number, or RIM+INNER for like-e2. Examples:
        ``like-e2:12x12``, ``like-e2:12x20:5+17``, ``uniform:8x8:7``, ``balanced-torus:8:9``, ``tetravex:5x5``,
        ``diamond:4``.

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the text has another form.
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise InputError(
            f"'{spec}' names no family of puzzles; expected KIND:SIZE[:COLOURS], "
            "such as like-e2:12x20:5+17, uniform:8x8:7 or balanced-torus:8:9"
        )
    kind, width, height, first, second = match.groups()
    numbers = [None if text is None else int(text) for text in (first, second)]
    if kind == "like-e2" and first is not None and second is None:
        raise InputError(f"'{spec}' gives one number of colours; expected RIM+INNER, such as 5+17")
    if kind == "like-e2":
        return Family(kind, int(width), int(height or width), rim_colours=numbers[0], inner_colours=numbers[1])
    return Family(kind, int(width), int(height or width), colours=numbers[0], inner_colours=numbers[1])
