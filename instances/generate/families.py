"""Families of generated puzzles, named by short texts such as ``like-e2:12x20:5+17``: a seed picks the member."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instances.generate.eternity import like_e2
from instances.generate.independent import uniform
from instances.generate.planted import Planted
from instances.generate.torus import balanced_torus
from lns_support.errors import InputError

KINDS = ("uniform", "balanced-torus", "like-e2")
_SPEC = re.compile(r"([a-z0-9-]+):(\d{1,6})(?:x(\d{1,6}))?(?::(\d{1,6})(?:\+(\d{1,6}))?)?", re.ASCII)


@dataclass(frozen=True)
class Family:
    """All puzzles of a kind with one size and one choice of colours. Call it with a seed.

    ``colours``: of uniform and balanced-torus puzzles. ``rim_colours``, ``inner_colours``: of like-e2 puzzles.
    None: the default of the kind. Raises InputError for options that do not go with the kind.
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
            raise InputError("a like-e2 puzzle has rim colours and inner colours apart; expected two numbers, not one")
        if self.kind != "like-e2" and (self.rim_colours, self.inner_colours) != (None, None):
            raise InputError(f"rim and inner colours are not apart in a {self.kind} puzzle; expected one number")
        if self.kind == "balanced-torus" and self.width != self.height:
            raise InputError(f"a balanced torus of {self.width} x {self.height}; expected a square")

    def __call__(self, seed: int) -> Planted:
        """The member of this seed. Raises InputError where the generator does."""
        if self.kind == "uniform":
            return uniform(self.width, self.height, self.colours, seed)
        if self.kind == "balanced-torus":
            return balanced_torus(self.width, self.colours, seed)
        return like_e2(self.width, self.height, self.rim_colours, self.inner_colours, seed)


def family(spec: str) -> Family:
    """The family that a text names: KIND:SIZE[:COLOURS], SIZE = N or WxH, COLOURS = K, or RIM+INNER for like-e2.

    ``like-e2:12x12``, ``like-e2:12x20:5+17``, ``uniform:8x8:7``, ``balanced-torus:8:9``. Raises InputError for others.
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
        raise InputError(f"'{spec}' has one number of colours; expected RIM+INNER, such as 5+17")
    if kind == "like-e2":
        return Family(kind, int(width), int(height or width), None, numbers[0], numbers[1])
    return Family(kind, int(width), int(height or width), numbers[0], None, numbers[1])
