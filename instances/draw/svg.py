"""Boards as SVG and TikZ: four triangles for each cell, red bars on mismatches, outlines around clues.

Jupyter and IPython show puzzles and boards as these SVG pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from html import escape

from lns.instances.board import Board
from lns.instances.draw import Scene, Side
from lns.instances.draw.palette import CLUE, EMPTY, GREY, MISMATCH, SOCKET, hex_code, ink, motif
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle

_CELL = 24  # side of a cell in units of the drawing
_RIM = 8
_GAP = 4  # gap between the pieces when all pieces of a puzzle are drawn, in the same units
_LONGEST_SIDE = 560.0  # longest side of a board in a notebook, in pixels, without the rim
_IN_NOTEBOOK = 36.0, 6.0  # largest and smallest side of a cell in a notebook, in pixels
# (x, y) of the two ends of each side of a cell, clockwise; a cell is one unit wide, and y grows downwards
_ENDS = {UP: ((0, 0), (1, 0)), RIGHT: ((1, 0), (1, 1)), DOWN: ((1, 1), (0, 1)), LEFT: ((0, 1), (0, 0))}

Shape = tuple[int, int, str]  # x and y in a cell where a shape starts, and SVG path data from that point on
_SQUARE: Shape = (0, 0, "h24v24h-24z")
_INNER_SQUARE: Shape = (2, 2, "h20v20h-20z")
_CROSS: Shape = (9, 12, "h6m-3-3v6")
_TRIANGLES: dict[int, Shape] = {
    UP: (0, 0, "h24l-12 12z"),
    RIGHT: (24, 0, "v24l-12-12z"),
    DOWN: (0, 24, "h24l-12-12z"),
    LEFT: (0, 0, "v24l12-12z"),
}
_BARS: dict[int, Shape] = {UP: (2, 0, "h20"), RIGHT: (24, 2, "v20"), DOWN: (2, 24, "h20"), LEFT: (0, 2, "v20")}
_MIDDLES = {UP: (12, 0), RIGHT: (24, 12), DOWN: (12, 24), LEFT: (0, 12)}  # x and y of the middle of each side of a cell


def render(
    puzzle: Puzzle, board: Board | None, *, piece_numbers: bool = False, motifs: bool = True, scale: float = 36.0
) -> str:
    """Return an SVG document of a board or, for None, of all pieces of the puzzle in file order with gaps between them.

    With ``piece_numbers`` each piece shows its number, from 1 in file order; ``scale`` is the side of a cell in pixels.
    Each colour has its motif (`lns.instances.draw.palette`), unless ``motifs`` is False. Rows and columns of a board
    have numbers from 0. Raises BoardError if the board has another shape than the puzzle.
    """
    picture = Scene(puzzle, board)
    pitch = _CELL + (_GAP if picture.sheet else 0)
    corners = [
        (_RIM + pitch * column, _RIM + pitch * row) for row in range(picture.height) for column in range(picture.width)
    ]
    wide, high = (at + _CELL + _RIM for at in corners[-1])

    def path(look: str, marks: Iterable[tuple[int, Shape]]) -> str:
        """Return one SVG path with all shapes of ``marks``, each on its cell; "" if there are none."""
        places = ((*corners[cell], *shape) for cell, shape in marks)
        data = "".join(f"M{x + across} {y + along}{shape}" for x, y, across, along, shape in places)
        return f'<path {look} d="{data}"/>' if data else ""

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * scale / _CELL:g}" '
        f'height="{high * scale / _CELL:g}" viewBox="0 0 {wide} {high}" role="img">',
        f"<title>{escape(picture.caption)}</title>",
        f'<rect width="{wide}" height="{high}" fill="#{hex_code(picture.ground)}"/>',
        path(f'fill="#{hex_code(EMPTY)}" stroke="#000" stroke-width=".5"', _each(picture.empty, _SQUARE)),
        path(f'fill="none" stroke="#{hex_code(GREY)}"', _each(picture.empty, _CROSS)),
        # draw holes grey where the area around the board has another colour, that of the rim
        path(f'fill="#{hex_code(GREY)}"', _each(picture.holes if picture.rim else (), _SQUARE)),
        *_sides(picture, motifs, path),
        path('fill="none" stroke="#000"', _each(picture.filled, _SQUARE)),
    ]
    clues, wrong = _each(picture.clues, _INNER_SQUARE), [(cell, _BARS[side]) for cell, side in sorted(picture.wrong)]
    for group, marks, edge, colour, widths in (  # each line over a wider one: white over black, or red over white
        ('fill="none" stroke-linejoin="round"', clues, "000", CLUE, (3.4, 1.8)),
        ('stroke-linecap="round"', wrong, "fff", MISMATCH, (5.2, 3.4)),
    ):
        strokes = zip((edge, hex_code(colour)), widths, strict=True)
        drawn = [path(f'stroke="#{stroke}" stroke-width="{width}"', marks) for stroke, width in strokes]
        lines += [f"<g {group}>", *drawn, "</g>"] if marks else []
    if piece_numbers:
        style = 'fill="#000" stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke"'
        half, pieces = _CELL // 2, zip(corners, picture.pieces, strict=True)
        lines += _texts(
            8, style, ((x + half, y + half + 3, piece + 1) for (x, y), piece in pieces if piece is not None)
        )
    if not picture.sheet:
        middle = _RIM + _CELL // 2
        columns = ((column * _CELL + middle, _RIM - 2, column) for column in range(picture.width))
        rows = ((_RIM // 2, row * _CELL + middle + 2, row) for row in range(picture.height))
        lines += _texts(6, f'fill="{ink(picture.ground)}"', (*columns, *rows))
    return "\n".join([*filter(None, lines), "</svg>"]) + "\n"


def _each(cells: Iterable[int], shape: Shape) -> list[tuple[int, Shape]]:
    """Return (cell, shape) for each of the cells, in ascending order."""
    return [(cell, shape) for cell in sorted(cells)]


def _sides(picture: Scene, motifs: bool, path: Callable[[str, Iterable[tuple[int, Shape]]], str]) -> list[str]:
    """Return the SVG elements of the triangles of each colour, then those of the motifs."""
    parts = ['<g stroke="#000" stroke-opacity=".55" stroke-width=".5" stroke-linejoin="round">']
    for colour, sides in picture.by_colour.items():
        fill = picture.hue(colour) if motifs else picture.flat(colour)
        parts.append(path(f'fill="#{hex_code(fill)}"', ((cell, _TRIANGLES[side]) for cell, side in sides)))
    parts.append("</g>")
    for colour, sides in picture.by_colour.items() if motifs else ():
        if colour:
            shape, hollow = motif(picture.first_mate.get(colour, colour))
            ground = picture.hue(colour)
            paint = ink(ground)
            if colour in picture.first_mate:
                parts.append(path(f'fill="{paint}"', _motifs(sides, SOCKET)))
                paint = f"#{hex_code(ground)}"
            drawn = 'fill="none" stroke-width="1.1" stroke' if hollow else "fill"
            parts.append(path(f'{drawn}="{paint}"', _motifs(sides, shape)))
    return parts


def _motifs(sides: Iterable[Side], shape: str) -> Iterator[tuple[int, Shape]]:
    """Return the cell of each side with a motif that is turned and moved to the middle of that side."""
    return ((cell, (*_MIDDLES[side], _turned(shape, side))) for cell, side in sides)


@cache
def _turned(shape: str, turns: int) -> str:
    """Return SVG path data of relative commands after ``turns`` clockwise quarter turns."""
    parts = []
    for command, numbers in re.findall(r"([a-z])([^a-z]*)", shape):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        for at in range(5 if command == "a" else 0, len(values), 2):
            for _ in range(turns):
                values[at : at + 2] = -values[at + 1], values[at]
        parts.append(command + " ".join(f"{value:g}" for value in values))
    return "".join(parts)


def _texts(size: int, style: str, texts: Iterable[tuple[int, int, int]]) -> list[str]:
    """Return SVG text elements for triples (x, y, number): the number on the base line y, centred at x."""
    head = f'<g font-family="sans-serif" font-size="{size}" text-anchor="middle" {style}>'
    return [head, *(f'<text x="{x}" y="{y}">{number}</text>' for x, y, number in texts), "</g>"]


# -- TikZ and notebooks ------------------------------------------------------------------------------------------------


def tikz(puzzle: Puzzle, board: Board | None) -> str:
    """Return a LaTeX document of a board or, for None, of all pieces in file order with gaps between them.

    The picture is like the figures of Jolivet 2008 (appendix A, *render*). The document class is standalone. A cell is
    one unit wide: change ``x`` and ``y`` of the picture to scale it. Colours after the 40th repeat the first ones.
    Raises BoardError if the board has another shape than the puzzle.
    """
    picture = Scene(puzzle, board)
    pitch = 1.15 if picture.sheet else 1
    corners = [(column * pitch, row * pitch) for row in range(picture.height) for column in range(picture.width)]

    def at(cell: int, across: float, along: float) -> str:
        return f"({corners[cell][0] + across:.6g},{corners[cell][1] + along:.6g})"

    def side(cell: int, number: int) -> str:
        return "--".join(at(cell, *end) for end in _ENDS[number])

    def squares(cells: Iterable[int], inset: float = 0) -> list[str]:
        return [f"{at(cell, inset, inset)} rectangle {at(cell, 1 - inset, 1 - inset)}" for cell in sorted(cells)]

    bars, clues = [side(*each) for each in sorted(picture.wrong)], squares(picture.clues, 0.1)
    around = f"(-0.3,-0.3) rectangle ({picture.width + 0.3:g},{picture.height + 0.3:g})"
    edge = [around] if picture.rim else []
    triangles = {
        colour: [f"{side(*each)}--{at(each[0], 0.5, 0.5)}--cycle" for each in sides]
        for colour, sides in picture.by_colour.items()
    }
    layers = [
        ("fill=edge", edge),
        ("fill=empty, draw=rim, thin", squares(picture.empty)),
        *((f"fill=side{colour}", paths) for colour, paths in triangles.items()),
        ("draw=black, thin", squares(picture.filled)),
        ("draw=black, line width=1.6pt", clues),
        ("draw=clue, line width=.8pt", clues),
        ("draw=white, line width=2.4pt", bars),
        ("draw=mismatch, line width=1.6pt", bars),
    ]
    colours = {f"side{colour}": picture.flat(colour) for colour in triangles} | {"empty": EMPTY, "rim": GREY}
    colours |= {"edge": picture.ground} if edge else {}
    colours |= {"clue": CLUE, "mismatch": MISMATCH}
    lines = [
        r"\documentclass[tikz,border=2pt]{standalone}",
        "% " + "".join(c if c.isascii() and c.isprintable() else "?" for c in picture.caption),  # only ASCII, for TeX
        *(rf"\definecolor{{{name}}}{{HTML}}{{{hex_code(colour)}}}" for name, colour in colours.items()),
        r"\begin{document}",
        r"\begin{tikzpicture}[x=6mm, y=-6mm, line join=round]",
        *("\n  ".join([rf"\path[{style}]", *paths, ";"]) for style, paths in layers if paths),
        r"\end{tikzpicture}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def html_of(shown: Puzzle | Board) -> str:
    """Return a picture with its caption as HTML; for a board without an attached puzzle, return the repr.

    Cells are as large as `_LONGEST_SIDE` and `_IN_NOTEBOOK` allow. Gaps between pieces come on top of these sizes.
    """
    puzzle, board = (shown, None) if isinstance(shown, Puzzle) else (shown.puzzle, shown)
    if puzzle is None:
        return f"<code>{escape(repr(shown))}</code>"
    largest, smallest = _IN_NOTEBOOK
    drawn = render(puzzle, board, scale=max(smallest, min(largest, _LONGEST_SIDE / max(shown.width, shown.height))))
    return f'<figure style="margin: 0">{drawn}<figcaption>{escape(Scene(puzzle, board).caption)}</figcaption></figure>'
