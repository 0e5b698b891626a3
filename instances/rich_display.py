"""How puzzles and boards show themselves in a notebook, without an import of the drawing code.

`instances.draw.notebook` draws them. Their classes import only this module, so that the drawing code and the verifier
can import them. The drawing code is loaded at the first picture: a search needs none.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython."""

    def _repr_svg_(self) -> str:
        return str(drawing().svg_of(self))

    def _repr_html_(self) -> str:
        return str(drawing().html_of(self))


def drawing() -> Any:
    """The module that draws."""
    return import_module("instances.draw.notebook")
