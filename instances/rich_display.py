"""How puzzles and boards show themselves in a notebook, without knowing the code that draws them.

Their classes import only this module, and the drawing code imports them. The package names it, as
`RichDisplay.drawing`; it is loaded at the first picture, since a search needs none.
"""

from __future__ import annotations

from typing import Any, ClassVar


class RichDisplay:
    """Base class of values that draw themselves in Jupyter and IPython."""

    drawing: ClassVar[Any]  # a function that loads the module with svg_of, html_of and score_of

    def _repr_svg_(self) -> str:
        return str(self.drawing().svg_of(self))

    def _repr_html_(self) -> str:
        return str(self.drawing().html_of(self))
