"""How puzzles and boards show themselves in Jupyter and IPython."""

from __future__ import annotations

from html import escape

from lns.instances.board import Board
from lns.instances.draw import svg
from lns.instances.draw.scene import printable_name, scene
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify

_LONGEST_SIDE = 560.0  # pixels
_CELL = 36.0, 6.0  # largest and smallest side of a cell in pixels


def svg_of(shown: Puzzle | Board) -> str:
    """A picture no longer than `_LONGEST_SIDE` where that is legible."""
    largest, smallest = _CELL
    scale = max(smallest, min(largest, _LONGEST_SIDE / max(shown.width, shown.height)))
    if isinstance(shown, Puzzle):
        return svg.render(shown, None, scale=scale)
    if shown.puzzle is None:
        return svg.render_placements(shown, scale=scale)
    return svg.render(shown.puzzle, shown, scale=scale)


def html_of(shown: Puzzle | Board) -> str:
    """The picture and its caption."""
    if isinstance(shown, Puzzle):
        caption = scene(shown, None).caption
    else:
        caption = svg.placements_caption(shown) if shown.puzzle is None else scene(shown.puzzle, shown).caption
    return f'<figure style="margin: 0">{svg_of(shown)}<figcaption>{escape(caption)}</figcaption></figure>'


def score_of(board: Board) -> str:
    """What the repr of a board that knows its puzzle adds at its end."""
    assert board.puzzle is not None
    found = verify(board.puzzle, board)
    return f", score {found.score} of {found.max_score}, of {printable_name(board.puzzle)!r}"
