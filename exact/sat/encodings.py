"""The encodings by name."""

from __future__ import annotations

from difflib import get_close_matches

from exact.sat.encoding import Encoding
from exact.sat.full import Full2, Full4
from exact.sat.half import Half2, Half3
from exact.sat.triangles import Triangles
from instances.puzzle import Puzzle
from lns_support.errors import InputError


class Full4Pairs(Full4):
    """FULL-4 with at-most-one constraints pair by pair."""

    name, pairwise = "full-4-pairs", True


class Full2Pairs(Full2):
    """FULL-2 with at-most-one constraints pair by pair."""

    name, pairwise = "full-2-pairs", True


class Half3Pairs(Half3):
    """HALF-3 with at-most-one constraints pair by pair."""

    name, pairwise = "half-3-pairs", True


class Half2Pairs(Half2):
    """HALF-2 with at-most-one constraints pair by pair."""

    name, pairwise = "half-2-pairs", True


_CLASSES = (Full4, Full2, Half3, Half2, Triangles, Full4Pairs, Full2Pairs, Half3Pairs, Half2Pairs)
ENCODINGS: dict[str, type[Encoding]] = {encoding.name: encoding for encoding in _CLASSES}


def encode(name: str, puzzle: Puzzle) -> Encoding:
    """The encoding of a puzzle.

    Parameters
    ----------
    name : str
        One of `ENCODINGS`.
    puzzle : Puzzle

    Returns
    -------
    Encoding

    Raises
    ------
    InputError
        If the name is unknown.
    """
    if name not in ENCODINGS:
        near = get_close_matches(name, ENCODINGS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(ENCODINGS)
        raise InputError(f"unknown encoding '{name}': {hint}")
    return ENCODINGS[name](puzzle)
