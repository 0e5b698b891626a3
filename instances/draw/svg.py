"""Boards as SVG: four triangles for each cell, red bars on mismatches, outlines around clues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from instances.board import Board
from instances.draw.palette import CLUE, EMPTY, GREY, MISMATCH, NO_FRAME, Rgb, hex_code, pattern_number, rgb
from instances.draw.scene import Scene, scene
from instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle

_CELL = 24  # side of a cell in units of the drawing; even, so that its centre is a whole number
_RIM = 8
_GAP = 4  # between the pieces of a sheet

PATTERNS = (
    ("#000", "line", 45),
    ("#fff", "dot", 0),
    ("#fff", "line", 135),
    ("#000", "dot", 45),
    ("#000", "line", 90),
    ("#fff", "line", 0),
    ("#fff", "dot", 45),
    ("#000", "dot", 0),
)
"""(ink, motif, slant in degrees) of the patterns 1 to 8; later ones repeat them with larger distances."""


def render(puzzle: Puzzle, board: Board | None, *, piece_numbers: bool = False, scale: float = 36.0) -> str:
    """Draw a board, or all pieces of a puzzle.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board or None
        None draws all pieces in file order, apart from each other.
    piece_numbers : bool, optional
        Write on each piece its number in the file, counted from 1.
    scale : float, optional
        Side of a cell in pixels.

    Returns
    -------
    str
        A whole SVG document. Colours beyond the first eight have a pattern over them, see `instances.draw.palette`.

    Raises
    ------
    BoardError
        If the board has another shape than the puzzle.
    """
    picture = scene(puzzle, board)
    pitch = _CELL + (_GAP if picture.sheet else 0)
    corners = _corners(picture.width, picture.height, pitch)
    parts = [
        *_empty(
            [corners[cell] for cell, quad in enumerate(picture.quads) if quad is None and cell not in picture.holes]
        ),
        *_triangles(picture, corners),
        *_clues(picture, corners),
        *_mismatches(picture, corners),
        *(_numbers(picture.pieces, corners) if piece_numbers else ()),
    ]
    ground = GREY if picture.framed else NO_FRAME
    return _document(picture.width, picture.height, pitch, scale, picture.caption, parts, _patterns(picture), ground)


def render_placements(board: Board, *, scale: float = 36.0) -> str:
    """Draw a board whose puzzle is not known: the number of each piece and its rotation.

    Parameters
    ----------
    board : Board
    scale : float, optional
        Side of a cell in pixels.

    Returns
    -------
    str
        A whole SVG document. Pieces are numbered from 1; a wedge marks the side to which the piece's first side, its
        upper one in the file, is turned.
    """
    corners = _corners(board.width, board.height, _CELL)
    cells = [(oriented, corner) for oriented, corner in zip(board.placements.tolist(), corners, strict=True)]
    squares = "".join(f"M{x} {y}h{_CELL}v{_CELL}h-{_CELL}z" for oriented, (x, y) in cells if oriented >= 0)
    wedges = "".join(_triangle(x, y, oriented % 4, 4) for oriented, (x, y) in cells if oriented >= 0)
    parts = _empty([corner for oriented, corner in cells if oriented < 0])
    if squares:
        parts += [f'<path fill="#fff" stroke="#000" d="{squares}"/>', f'<path d="{wedges}"/>']
        parts += _numbers([None if oriented < 0 else oriented // 4 for oriented, _ in cells], corners)
    return _document(board.width, board.height, _CELL, scale, placements_caption(board), parts)


def placements_caption(board: Board) -> str:
    """The caption of `render_placements`."""
    return f"board of {board.width} x {board.height}, {board.placed} of {board.width * board.height} pieces"


_Corners = list[tuple[int, int]]


def _corners(width: int, height: int, pitch: int) -> _Corners:
    """The upper left corner of each cell."""
    return [(_RIM + pitch * column, _RIM + pitch * row) for row in range(height) for column in range(width)]


def _document(
    width: int,
    height: int,
    pitch: int,
    scale: float,
    caption: str,
    parts: list[str],
    definitions: Sequence[str] = (),
    ground: Rgb = GREY,
) -> str:
    """An SVG document of ``parts`` for ``width`` x ``height`` cells that lie ``pitch`` units apart.

    The ground is seen around the board and in its holes.
    """
    wide, high = (2 * _RIM + pitch * cells - (pitch - _CELL) for cells in (width, height))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * scale / _CELL:g}" height="{high * scale / _CELL:g}" '
        f'viewBox="0 0 {wide} {high}" role="img">',
        f"<title>{escape(caption)}</title>",
        *definitions,
        f'<rect width="{wide}" height="{high}" fill="#{hex_code(ground)}"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _triangle(x: int, y: int, side: int, half: int = _CELL // 2) -> str:
    """A triangle on the middle of a side of the cell at (x, y): base ``2 * half``, height ``half``."""
    start, base = _CELL // 2 - half, 2 * half
    return {
        UP: f"M{x + start} {y}h{base}l-{half} {half}z",
        RIGHT: f"M{x + _CELL} {y + start}v{base}l-{half}-{half}z",
        DOWN: f"M{x + start} {y + _CELL}h{base}l-{half}-{half}z",
        LEFT: f"M{x} {y + start}v{base}l{half}-{half}z",
    }[side]


def _triangles(picture: Scene, corners: _Corners) -> list[str]:
    """One path for each colour, a second one with its pattern, then the outlines of the pieces."""
    paths: dict[int, list[str]] = defaultdict(list)
    outline = []
    for quad, (x, y) in zip(picture.quads, corners, strict=True):
        if quad is not None:
            outline.append(f"M{x} {y}h{_CELL}v{_CELL}h-{_CELL}z")
            for side, colour in enumerate(quad):
                paths[colour].append(_triangle(x, y, side))
    parts = ['<g stroke="#000" stroke-opacity=".55" stroke-width=".5" stroke-linejoin="round">']
    for colour, triangles in sorted(paths.items()):
        path = "".join(triangles)
        parts.append(f'<path fill="#{hex_code(rgb(colour))}" d="{path}"/>')
        if pattern_number(colour):
            parts.append(f'<path fill="url(#pattern{pattern_number(colour)})" d="{path}"/>')
    return [*parts, "</g>", f'<path fill="none" stroke="#000" d="{"".join(outline)}"/>']


def _patterns(picture: Scene) -> list[str]:
    """Definitions of the patterns that the picture uses."""
    numbers = sorted({pattern_number(colour) for quad in picture.quads if quad is not None for colour in quad} - {0})
    parts = []
    for number in numbers:
        repeats, index = divmod(number - 1, len(PATTERNS))
        ink, motif, slant = PATTERNS[index]
        apart = 4 + repeats
        mark = {
            "line": f'<path stroke="{ink}" stroke-width=".8" stroke-opacity=".6" d="M0 .5h{apart}"/>',
            "dot": f'<circle cx="1" cy="1" r=".8" fill="{ink}" fill-opacity=".7"/>',
        }[motif]
        parts.append(
            f'<pattern id="pattern{number}" width="{apart}" height="{apart}" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({slant})">{mark}</pattern>'
        )
    return ["<defs>", *parts, "</defs>"] if parts else []


def _empty(corners: _Corners) -> list[str]:
    """Empty cells: dark, with a faint cross."""
    if not corners:
        return []
    squares = "".join(f"M{x} {y}h{_CELL}v{_CELL}h-{_CELL}z" for x, y in corners)
    half, arm = _CELL // 2, 3
    crosses = "".join(f"M{x + half - arm} {y + half}h{2 * arm}m-{arm}-{arm}v{2 * arm}" for x, y in corners)
    return [
        f'<path fill="#{hex_code(EMPTY)}" stroke="#000" stroke-width=".5" d="{squares}"/>',
        f'<path fill="none" stroke="#{hex_code(GREY)}" d="{crosses}"/>',
    ]


def _clues(picture: Scene, corners: _Corners) -> list[str]:
    """The cells of clues, filled or empty: a white outline inside the cell, edged with black."""
    inset, size = 2, _CELL - 4
    path = "".join(
        f"M{corners[cell][0] + inset} {corners[cell][1] + inset}h{size}v{size}h-{size}z"
        for cell in sorted(picture.clues)
    )
    if not path:
        return []
    return [
        '<g fill="none" stroke-linejoin="round">',
        f'<path stroke="#000" stroke-width="3.4" d="{path}"/>',
        f'<path stroke="#{hex_code(CLUE)}" stroke-width="1.8" d="{path}"/>',
        "</g>",
    ]


def _mismatches(picture: Scene, corners: _Corners) -> list[str]:
    """Red bars, edged with white, along the joints that do not match and over sides on the rim that are not grey."""
    bars = []
    for cell, side in sorted(picture.wrong):
        x, y = corners[cell]
        across = side in (UP, DOWN)
        x, y = x + (_CELL if side == RIGHT else 0), y + (_CELL if side == DOWN else 0)
        bars.append(f"M{x + 2} {y}h{_CELL - 4}" if across else f"M{x} {y + 2}v{_CELL - 4}")
    if not bars:
        return []
    path = "".join(bars)
    return [
        '<g stroke-linecap="round">',
        f'<path stroke="#fff" stroke-width="5.2" d="{path}"/>',
        f'<path stroke="#{hex_code(MISMATCH)}" stroke-width="3.4" d="{path}"/>',
        "</g>",
    ]


def _numbers(pieces: Sequence[int | None], corners: _Corners) -> list[str]:
    """The number of each piece, counted from 1, in the middle of its cell."""
    parts = [
        f'<g font-family="sans-serif" font-size="{_CELL / 3:g}" text-anchor="middle" fill="#000" '
        'stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke">'
    ]
    for piece, (x, y) in zip(pieces, corners, strict=True):
        if piece is not None:
            parts.append(f'<text x="{x + _CELL // 2}" y="{y + _CELL // 2 + 3}">{piece + 1}</text>')
    return [*parts, "</g>"]
