"""How puzzles and boards show themselves in a notebook, without knowing the code that draws them.

Their classes import only this module, and the drawing code imports them. It is loaded at the first picture, since a
search needs none.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython."""

    @staticmethod
    def drawing() -> Any:
        """The module with svg_of, html_of and score_of."""
        return import_module("lns.instances.draw.notebook")

    def _repr_svg_(self) -> str:
        return str(self.drawing().svg_of(self))

    def _repr_html_(self) -> str:
        return str(self.drawing().html_of(self))
