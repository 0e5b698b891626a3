"""How puzzles and boards show themselves in Jupyter and IPython; imported by the package to register it."""

from __future__ import annotations

from html import escape

from instances.board import Board
from instances.draw import svg
from instances.draw.scene import printable_name, scene
from instances.puzzle import Puzzle
from instances.rich_display import repr_suffix, to_html, to_svg
from instances.verify import verify

_LONGEST_SIDE = 560.0  # pixels
_CELL = 36.0, 6.0  # largest and smallest side of a cell in pixels


@to_svg.register
def _puzzle_svg(puzzle: Puzzle) -> str:
    return svg.render(puzzle, None, scale=_scale(puzzle.width, puzzle.height))


@to_svg.register
def _board_svg(board: Board) -> str:
    scale = _scale(board.width, board.height)
    if board.puzzle is None:
        return svg.render_placements(board, scale=scale)
    return svg.render(board.puzzle, board, scale=scale)


@to_html.register
def _puzzle_html(puzzle: Puzzle) -> str:
    return _figure(_puzzle_svg(puzzle), scene(puzzle, None).caption)


@to_html.register
def _board_html(board: Board) -> str:
    caption = svg.placements_caption(board) if board.puzzle is None else scene(board.puzzle, board).caption
    return _figure(_board_svg(board), caption)


@repr_suffix.register
def _board_score(board: Board) -> str:
    if board.puzzle is None:
        return ""
    verification = verify(board.puzzle, board)
    name = printable_name(board.puzzle)
    return f", score {verification.score} of {verification.max_score}, of {name!r}"


def _scale(width: int, height: int) -> float:
    """Pixels of a cell's side, so that the picture is no longer than `_LONGEST_SIDE` where that is legible."""
    largest, smallest = _CELL
    return max(smallest, min(largest, _LONGEST_SIDE / max(width, height)))


def _figure(picture: str, caption: str) -> str:
    return f'<figure style="margin: 0">{picture}<figcaption>{escape(caption)}</figcaption></figure>'
