"""Boards as SVG: four triangles a cell, red bars on mismatches, clues outlined."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from instances.board import Board
from instances.draw.palette import CLUE, EMPTY, GREY, MISMATCH, hex_code, pattern_number, rgb
from instances.draw.scene import Scene, scene
from instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle

_CELL = 24  # units of the drawing; even, so that the middle is whole
_RIM = 8
_GAP = 4  # between the pieces of a sheet


def render(puzzle: Puzzle, board: Board | None, *, piece_numbers: bool = False, scale: float = 36.0) -> str:
    """The picture as a whole SVG file; None draws all pieces in file order, apart from each other.

    ``piece_numbers``: write on each piece its number in the file, from 1. ``scale``: pixels of a cell's side.
    Colours after the 40th repeat the first ones under a pattern. Raises InputError when the board has another shape
    than the puzzle.
    """
    picture = scene(puzzle, board)
    pitch = _CELL + (_GAP if picture.sheet else 0)
    wide, high = (2 * _RIM + pitch * cells - (pitch - _CELL) for cells in (picture.width, picture.height))
    corners = [
        (_RIM + pitch * column, _RIM + pitch * row) for row in range(picture.height) for column in range(picture.width)
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * scale / _CELL:g}" height="{high * scale / _CELL:g}" '
        f'viewBox="0 0 {wide} {high}" role="img">',
        f"<title>{escape(picture.caption)}</title>",
        *_patterns(picture),
        f'<rect width="{wide}" height="{high}" fill="#{hex_code(GREY)}"/>',
        *_empty(picture, corners),
        *_triangles(picture, corners),
        *_clues(picture, corners),
        *_mismatches(picture, corners),
        *(_numbers(picture, corners) if piece_numbers else ()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


_Corners = list[tuple[int, int]]


def _triangle(x: int, y: int, side: int) -> str:
    """A closed path: along the side of the cell at (x, y), then over its middle."""
    half = _CELL // 2
    return {
        UP: f"M{x} {y}h{_CELL}l-{half} {half}z",
        RIGHT: f"M{x + _CELL} {y}v{_CELL}l-{half}-{half}z",
        DOWN: f"M{x} {y + _CELL}h{_CELL}l-{half}-{half}z",
        LEFT: f"M{x} {y}v{_CELL}l{half}-{half}z",
    }[side]


def _triangles(picture: Scene, corners: _Corners) -> list[str]:
    """One path a colour, then the pattern over those beyond the palette, then the outlines of the pieces."""
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
    """Black stripes for the second use of the palette, white for the third; then other slants and distances."""
    laps = sorted({pattern_number(colour) for quad in picture.quads if quad is not None for colour in quad} - {0})
    parts = []
    for number in laps:
        ink = "#000" if number % 2 else "#fff"
        apart, slant = 3 + (number - 1) // 8, (30, 75, 120, 165)[(number - 1) // 2 % 4]
        parts.append(
            f'<pattern id="pattern{number}" width="{apart}" height="{apart}" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({slant})"><path stroke="{ink}" d="M0 .5h{apart}"/></pattern>'
        )
    return ["<defs>", *parts, "</defs>"] if parts else []


def _empty(picture: Scene, corners: _Corners) -> list[str]:
    """Empty cells: dark, with a faint cross."""
    cells = [corner for quad, corner in zip(picture.quads, corners, strict=True) if quad is None]
    if not cells:
        return []
    squares = "".join(f"M{x} {y}h{_CELL}v{_CELL}h-{_CELL}z" for x, y in cells)
    half, arm = _CELL // 2, 3
    crosses = "".join(f"M{x + half - arm} {y + half}h{2 * arm}m-{arm}-{arm}v{2 * arm}" for x, y in cells)
    return [
        f'<path fill="#{hex_code(EMPTY)}" stroke="#000" stroke-width=".5" d="{squares}"/>',
        f'<path fill="none" stroke="#{hex_code(GREY)}" d="{crosses}"/>',
    ]


def _clues(picture: Scene, corners: _Corners) -> list[str]:
    """Clues, laid or still missing: a white outline inside the cell, edged with black."""
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
    """Red bars, edged with white, along the joints that do not match and over colour on the rim."""
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


def _numbers(picture: Scene, corners: _Corners) -> list[str]:
    parts = [
        f'<g font-family="sans-serif" font-size="{_CELL / 3:g}" text-anchor="middle" fill="#000" '
        'stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke">'
    ]
    for piece, (x, y) in zip(picture.pieces, corners, strict=True):
        if piece is not None:
            parts.append(f'<text x="{x + _CELL // 2}" y="{y + _CELL // 2 + 3}">{piece + 1}</text>')
    return [*parts, "</g>"]
