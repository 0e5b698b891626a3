"""Boards as SVG and TikZ: four triangles for each cell, red bars on mismatches, outlines around clues.

Puzzles and boards show themselves so in Jupyter and IPython.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape

from lns.instances.board import Board
from lns.instances.draw import Scene, printable_name, scene
from lns.instances.draw.palette import CLUE, EMPTY, GREY, MISMATCH, SOCKET, Rgb, hex_code, ink, motif
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle
from lns.instances.verify import verify

_CELL = 24  # side of a cell in units of the drawing; even, so that its centre is a whole number
_RIM = 8
_GAP = 4  # between the pieces of a sheet
_LONGEST_SIDE = 560.0  # pixels, of a picture in a notebook
_IN_NOTEBOOK = 36.0, 6.0  # largest and smallest side of a cell in pixels
# the two ends of each side of a cell, clockwise; y grows downwards
_ENDS = {UP: ((0, 0), (1, 0)), RIGHT: ((1, 0), (1, 1)), DOWN: ((1, 1), (0, 1)), LEFT: ((0, 1), (0, 0))}


def render(
    puzzle: Puzzle, board: Board | None, *, piece_numbers: bool = False, motifs: bool = True, scale: float = 36.0
) -> str:
    """A board, or for None all pieces in file order, apart from each other, as a whole SVG document.

    ``piece_numbers`` writes on each piece its number in the file, from 1; ``scale`` is the side of a cell in pixels.
    Each colour has its motif (`lns.instances.draw.palette`), unless ``motifs`` is False; rows and columns are numbered
    from 0. Raises BoardError if the board has another shape than the puzzle.
    """
    picture = scene(puzzle, board)
    sheet = _Sheet(picture.width, picture.height, _CELL + (_GAP if picture.sheet else 0))
    parts = [
        *_empty(sheet, picture.empty),
        *_holes(sheet, picture),
        *_triangles(sheet, picture, motifs),
        *_edged("stroke-linejoin", "#000", hex_code(CLUE), (3.4, 1.8), sheet.squares(sorted(picture.clues), 2)),
        *_edged("stroke-linecap", "#fff", hex_code(MISMATCH), (5.2, 3.4), sheet.bars(sorted(picture.wrong))),
        *(_numbers(sheet, picture.pieces) if piece_numbers else ()),
        *(() if picture.sheet else _labels(picture)),
    ]
    return sheet.document(scale, picture.caption, parts, picture.ground)


class _Sheet:
    """Where the cells of a drawing lie, ``pitch`` units apart, and what is drawn on them as path data."""

    def __init__(self, width: int, height: int, pitch: int) -> None:
        self.corners = [(_RIM + pitch * column, _RIM + pitch * row) for row in range(height) for column in range(width)]
        self.size = [2 * _RIM + pitch * cells - (pitch - _CELL) for cells in (width, height)]

    def squares(self, cells: Iterable[int], inset: int = 0) -> str:
        """The outlines of cells, or squares inside them."""
        size, places = _CELL - 2 * inset, (self.corners[cell] for cell in cells)
        return "".join(f"M{x + inset} {y + inset}h{size}v{size}h-{size}z" for x, y in places)

    def triangles(self, sides: Iterable[tuple[int, int]]) -> str:
        """A triangle from each (cell, side) to the middle of the cell."""
        base, half = _CELL, _CELL // 2
        shapes = {
            UP: (0, 0, f"h{base}l-{half} {half}z"),
            RIGHT: (base, 0, f"v{base}l-{half}-{half}z"),
            DOWN: (0, base, f"h{base}l-{half}-{half}z"),
            LEFT: (0, 0, f"v{base}l{half}-{half}z"),
        }
        return self._drawn(sides, shapes)

    def motifs(self, sides: Iterable[tuple[int, int]], shape: str) -> str:
        """A motif on the middle of each (cell, side)."""
        half = _CELL // 2
        middles = {UP: (half, 0), RIGHT: (_CELL, half), DOWN: (half, _CELL), LEFT: (0, half)}
        return self._drawn(sides, {side: (*middles[side], _turned(shape, side)) for side in middles})

    def bars(self, sides: Iterable[tuple[int, int]]) -> str:
        """A bar along each (cell, side)."""
        across, along = f"h{_CELL - 4}", f"v{_CELL - 4}"
        starts = {UP: (2, 0, across), RIGHT: (_CELL, 2, along), DOWN: (2, _CELL, across), LEFT: (0, 2, along)}
        return self._drawn(sides, starts)

    def _drawn(self, sides: Iterable[tuple[int, int]], shapes: dict[int, tuple[int, int, str]]) -> str:
        """The shape of each side, which begins so far from the corner of its cell."""
        places = ((*self.corners[cell], *shapes[side]) for cell, side in sides)
        return "".join(f"M{x + across} {y + along}{shape}" for x, y, across, along, shape in places)

    def document(self, scale: float, caption: str, parts: list[str], ground: Rgb) -> str:
        """An SVG document of ``parts``; the ground is seen around the board and in its holes."""
        wide, high = self.size
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * scale / _CELL:g}" '
            f'height="{high * scale / _CELL:g}" viewBox="0 0 {wide} {high}" role="img">',
            f"<title>{escape(caption)}</title>",
            f'<rect width="{wide}" height="{high}" fill="#{hex_code(ground)}"/>',
            *parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _triangles(sheet: _Sheet, picture: Scene, motifs: bool) -> list[str]:
    """The triangles of each colour, their motifs, then the outlines of the pieces."""
    parts = ['<g stroke="#000" stroke-opacity=".55" stroke-width=".5" stroke-linejoin="round">']
    for colour, sides in picture.by_colour.items():
        fill = picture.hue(colour) if motifs else picture.flat(colour)
        parts.append(f'<path fill="#{hex_code(fill)}" d="{sheet.triangles(sides)}"/>')
    parts.append("</g>")
    for colour, sides in picture.by_colour.items():
        if motifs and colour:
            shape, hollow = motif(picture.first_mate.get(colour, colour))
            ground = picture.hue(colour)
            paint = ink(ground)
            if colour in picture.first_mate:
                parts.append(f'<path fill="{paint}" d="{sheet.motifs(sides, SOCKET)}"/>')
                paint = f"#{hex_code(ground)}"
            drawn = 'fill="none" stroke-width="1.1" stroke' if hollow else "fill"
            parts.append(f'<path {drawn}="{paint}" d="{sheet.motifs(sides, shape)}"/>')
    return [*parts, f'<path fill="none" stroke="#000" d="{sheet.squares(picture.filled)}"/>']


@cache
def _turned(shape: str, turns: int) -> str:
    """Path data of relative commands, after clockwise quarter turns."""
    parts = []
    for command, numbers in re.findall(r"([a-z])([^a-z]*)", shape):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        for at in range(5 if command == "a" else 0, len(values), 2):
            for _ in range(turns):
                values[at : at + 2] = -values[at + 1], values[at]
        parts.append(command + " ".join(f"{value:g}" for value in values))
    return "".join(parts)


def _empty(sheet: _Sheet, cells: Sequence[int]) -> list[str]:
    """Empty cells: dark, with a faint cross."""
    half, arm, places = _CELL // 2, 3, [sheet.corners[cell] for cell in cells]
    crosses = "".join(f"M{x + half - arm} {y + half}h{2 * arm}m-{arm}-{arm}v{2 * arm}" for x, y in places)
    parts = [
        f'<path fill="#{hex_code(EMPTY)}" stroke="#000" stroke-width=".5" d="{sheet.squares(cells)}"/>',
        f'<path fill="none" stroke="#{hex_code(GREY)}" d="{crosses}"/>',
    ]
    return parts if cells else []


def _holes(sheet: _Sheet, picture: Scene) -> list[str]:
    """Holes in grey where the ground has the colour of the rim, which is not that of the sides towards a hole."""
    grey = picture.rim and picture.holes and not picture.sheet
    return [f'<path fill="#{hex_code(GREY)}" d="{sheet.squares(sorted(picture.holes))}"/>'] if grey else []


def _edged(joint: str, edge: str, colour: str, widths: tuple[float, float], path: str) -> list[str]:
    """Lines with an edge of another colour: the outlines of clues, the bars of mismatches; none without a path."""
    parts = [
        f'<g fill="none" {joint}="round">' if joint == "stroke-linejoin" else f'<g {joint}="round">',
        f'<path stroke="{edge}" stroke-width="{widths[0]}" d="{path}"/>',
        f'<path stroke="#{colour}" stroke-width="{widths[1]}" d="{path}"/>',
        "</g>",
    ]
    return parts if path else []


def _numbers(sheet: _Sheet, pieces: Sequence[int | None]) -> list[str]:
    """The number of each piece, counted from 1, in the middle of its cell."""
    parts = [
        f'<g font-family="sans-serif" font-size="{_CELL / 3:g}" text-anchor="middle" fill="#000" '
        'stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke">'
    ]
    for piece, (x, y) in zip(pieces, sheet.corners, strict=True):
        if piece is not None:
            parts.append(f'<text x="{x + _CELL // 2}" y="{y + _CELL // 2 + 3}">{piece + 1}</text>')
    return [*parts, "</g>"]


def _labels(picture: Scene) -> list[str]:
    """The numbers of columns and rows on the rim."""
    middles = _RIM + _CELL // 2
    names = [(column * _CELL + middles, _RIM - 2, column) for column in range(picture.width)]
    names += [(_RIM // 2, row * _CELL + middles + 2, row) for row in range(picture.height)]
    return [
        f'<g font-family="sans-serif" font-size="6" text-anchor="middle" fill="{ink(picture.ground)}">',
        *(f'<text x="{x}" y="{y}">{name}</text>' for x, y, name in names),
        "</g>",
    ]


# -- TikZ and notebooks ------------------------------------------------------------------------------------------------


def tikz(puzzle: Puzzle, board: Board | None) -> str:
    """A board, or for None all pieces in file order, apart from each other, as a whole LaTeX document.

    It is like the figures of Jolivet 2008 (appendix A, *render*). Its class is standalone. A cell is one unit wide:
    change ``x`` and ``y`` of the picture to scale it. Colours after the 40th repeat the first ones. Raises BoardError
    if the board has another shape than the puzzle.
    """
    picture = scene(puzzle, board)
    pitch = 1.15 if picture.sheet else 1
    corners = [(column * pitch, row * pitch) for row in range(picture.height) for column in range(picture.width)]

    def at(cell: int, across: float, along: float) -> str:
        return f"({corners[cell][0] + across:.6g},{corners[cell][1] + along:.6g})"

    def side(cell: int, number: int) -> str:
        return "--".join(at(cell, *end) for end in _ENDS[number])

    def squares(style: str, cells: Iterable[int], inset: float = 0) -> list[str]:
        return path(style, [f"{at(cell, inset, inset)} rectangle {at(cell, 1 - inset, 1 - inset)}" for cell in cells])

    def path(style: str, pieces: list[str]) -> list[str]:
        return [rf"\path[{style}]", *("  " + piece for piece in pieces), "  ;"] if pieces else []

    bars, clues = [side(*each) for each in sorted(picture.wrong)], sorted(picture.clues)
    around = f"(-0.3,-0.3) rectangle ({picture.width + 0.3:g},{picture.height + 0.3:g})"
    edge = [around] if picture.rim and not picture.sheet else []
    lines = [
        r"\documentclass[tikz,border=2pt]{standalone}",
        "% " + "".join(c if c.isascii() and c.isprintable() else "?" for c in picture.caption),  # for every TeX engine
        *(rf"\definecolor{{side{colour}}}{{HTML}}{{{hex_code(picture.flat(colour))}}}" for colour in picture.by_colour),
        rf"\definecolor{{empty}}{{HTML}}{{{hex_code(EMPTY)}}}",
        rf"\definecolor{{rim}}{{HTML}}{{{hex_code(GREY)}}}",
        *([rf"\definecolor{{edge}}{{HTML}}{{{hex_code(picture.ground)}}}"] if edge else []),
        rf"\definecolor{{clue}}{{HTML}}{{{hex_code(CLUE)}}}",
        rf"\definecolor{{mismatch}}{{HTML}}{{{hex_code(MISMATCH)}}}",
        r"\begin{document}",
        r"\begin{tikzpicture}[x=6mm, y=-6mm, line join=round]",
        *path("fill=edge", edge),
        *squares("fill=empty, draw=rim, thin", picture.empty),
    ]
    for colour, sides in picture.by_colour.items():
        triangles = [f"{side(cell, number)}--{at(cell, 0.5, 0.5)}--cycle" for cell, number in sides]
        lines += path(f"fill=side{colour}", triangles)
    lines += [
        *squares("draw=black, thin", picture.filled),
        *squares("draw=black, line width=1.6pt", clues, 0.1),
        *squares("draw=clue, line width=.8pt", clues, 0.1),
        *path("draw=white, line width=2.4pt", bars),
        *path("draw=mismatch, line width=1.6pt", bars),
        r"\end{tikzpicture}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def html_of(shown: Puzzle | Board) -> str:
    """A picture no longer than `_LONGEST_SIDE` where that is legible, and its caption.

    A board that does not know its puzzle has none: its repr.
    """
    puzzle, board = (shown, None) if isinstance(shown, Puzzle) else (shown.puzzle, shown)
    if puzzle is None:
        return f"<code>{escape(repr(shown))}</code>"
    largest, smallest = _IN_NOTEBOOK
    drawn = render(puzzle, board, scale=max(smallest, min(largest, _LONGEST_SIDE / max(shown.width, shown.height))))
    return f'<figure style="margin: 0">{drawn}<figcaption>{escape(scene(puzzle, board).caption)}</figcaption></figure>'


def score_of(board: Board) -> str:
    """What the repr of a board that knows its puzzle adds at its end."""
    assert board.puzzle is not None
    found = verify(board.puzzle, board)
    return f", score {found.score} of {found.max_score}, of {printable_name(board.puzzle)!r}"
