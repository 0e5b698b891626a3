"""How values show themselves in a notebook, without an import of the drawing code.

`instances.draw.notebook` registers how a puzzle and a board are drawn. Their classes import only this module, so the
drawing code and the verifier can import them. The drawing code is loaded at the first picture: a search needs none.
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module


@singledispatch
def to_svg(value: object) -> str:
    """An SVG document that shows ``value``. Raises TypeError for a type that has no picture."""
    raise TypeError(f"{type(value).__name__} has no picture")


@singledispatch
def to_html(value: object) -> str:
    """An HTML fragment that shows ``value`` and its caption. Raises TypeError for a type that has no picture."""
    raise TypeError(f"{type(value).__name__} has no picture")


@singledispatch
def repr_suffix(value: object) -> str:
    """What a repr adds at its end when more than the value itself is known, such as a score; empty by default."""
    return ""


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython."""

    def _repr_svg_(self) -> str:
        load_drawing()
        return to_svg(self)

    def _repr_html_(self) -> str:
        load_drawing()
        return to_html(self)


def load_drawing() -> None:
    """Import the drawing code, which registers its functions here."""
    import_module("instances.draw.notebook")
