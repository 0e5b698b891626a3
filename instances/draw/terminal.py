"""Boards as text: coloured half blocks for terminals that show colours, letters for all others."""

from __future__ import annotations

import os
import string
from collections import Counter
from collections.abc import Mapping
from typing import IO, Literal

from instances.board import Board
from instances.draw.palette import BACKGROUND, CLUE, EMPTY, MISMATCH, Rgb, rgb, xterm
from instances.draw.palette import GREY as GREY_RGB
from instances.draw.scene import Quad, Scene, scene
from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Puzzle

Colour = Literal["truecolor", "256", "none"]
_LARGEST, _SMALLEST = 8, 2  # side of a cell in pixels; 1 where only mismatches can be shown
_DOT: Rgb = (110, 110, 110)  # a piece where there is no room for its colours
_ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def capability(stream: IO[str], environ: Mapping[str, str] | None = None) -> Colour:
    """Which colours a stream can show.

    Parameters
    ----------
    stream : file object
    environ : mapping, optional
        Environment variables; those of the process by default.

    Returns
    -------
    {'truecolor', '256', 'none'}
        'none' if the stream is no terminal or its encoding has no half blocks, if NO_COLOR is set, or for TERM=dumb.
    """
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb" or not stream.isatty() or not encodes(stream):
        return "none"
    return richest(environ)


def richest(environ: Mapping[str, str] | None = None) -> Colour:
    """'truecolor' if COLORTERM says that the terminal has it, else '256'."""
    environ = os.environ if environ is None else environ
    return "truecolor" if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") else "256"


def encodes(stream: IO[str]) -> bool:
    """Whether the encoding of a stream has half blocks."""
    try:
        "▀".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def render(
    puzzle: Puzzle,
    board: Board | None,
    *,
    colour: Colour = "none",
    width: int | None = None,
    height: int | None = None,
) -> str:
    """Draw a board, or all pieces of a puzzle, as lines of text.

    In colour, each cell shows its four colours as triangles; red bars are mismatches, white outlines are clues, dark
    cells are empty. Where that does not fit, each cell is a dot, and mismatches lie between the dots. Without colour,
    each joint is a letter, as in viewer URLs (0 = a, 1 = b, ...): ``b`` where both sides agree, ``b!c`` where they
    differ; ``+`` is a piece, ``#`` a clue, ``.`` an empty cell. If neither fits, each cell is one character: its
    number of mismatches, or ``+``, ``#`` or ``.``.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board or None
        None draws all pieces in file order, apart from each other.
    colour : {'truecolor', '256', 'none'}, optional
        Which escape sequences to use, see `capability`.
    width : int, optional
        Columns that the lines must fit, 80 by default.
    height : int, optional
        Lines that a board must fit, if it can; unlimited by default, and for the pieces of a puzzle.

    Returns
    -------
    str
        Lines that end in a newline each.

    Raises
    ------
    BoardError
        If the board has another shape than the puzzle.
    """
    return "".join(f"{line}\n" for line in _drawn(scene(puzzle, board), colour, width, height)[0])


def legend(
    puzzle: Puzzle,
    board: Board | None,
    *,
    colour: Colour = "none",
    width: int | None = None,
    height: int | None = None,
) -> str:
    """What the signs of `render` mean, in one line; the arguments are those of `render`."""
    return _drawn(scene(puzzle, board), colour, width, height)[1]


def _drawn(picture: Scene, colour: Colour, width: int | None, height: int | None) -> tuple[list[str], str]:
    """The lines of a picture in the largest form that fits, and their legend."""
    columns = 80 if width is None else max(1, width)
    rows = 10**9 if height is None or picture.sheet else max(1, height)
    if colour == "none":
        lines = _blocks(picture) if picture.sheet else _letters(picture)
        if max(map(len, lines)) <= columns and len(lines) <= rows:
            return lines, _LETTERS_LEGEND
        return _signs(picture), _SIGNS_LEGEND
    side = min(_LARGEST, (columns + 1) // picture.width - 1, (2 * rows + 1) // picture.height - 1)
    if side >= _SMALLEST:
        return _pixels(picture, side, colour), _COLOURS_LEGEND
    if side == 1 and not picture.sheet:
        return _pixels(picture, 1, colour), _DOTS_LEGEND
    return _coloured(_signs(picture), colour), _SIGNS_LEGEND


_COLOURS_LEGEND = "red bars are mismatches, white frames are clues"
_DOTS_LEGEND = "a dot is a piece, red a mismatch, white a clue; a larger window shows colours"
_LETTERS_LEGEND = "letters are colours, b!c is a mismatch, # a clue, . an empty cell"
_SIGNS_LEGEND = "a sign is a piece: its number of mismatches, + without any, # a clue, . an empty cell"


# -- colour ------------------------------------------------------------------------------------------------------


def _pixels(picture: Scene, side: int, colour: Colour) -> list[str]:
    """Cells of ``side`` x ``side`` pixels, one pixel apart. A character shows two pixels, one above the other."""
    step = side + 1
    canvas = [[BACKGROUND] * (picture.width * step - 1) for _ in range(picture.height * step - 1)]
    for cell, quad in enumerate(picture.quads):
        top, left = (part * step for part in divmod(cell, picture.width))
        for y in range(side):
            for x in range(side):
                canvas[top + y][left + x] = BACKGROUND if cell in picture.holes else _pixel(quad, x, y, side)
    for cell in sorted(picture.clues):
        top, left = (part * step for part in divmod(cell, picture.width))
        if side == 1:
            _set(canvas, top, left, CLUE)
        else:
            _frame(canvas, top, left, side)
    for cell, at in sorted(picture.wrong):
        top, left = (part * step for part in divmod(cell, picture.width))
        for i in range(side):
            if at in (LEFT, RIGHT):
                _set(canvas, top + i, left + (side if at == RIGHT else -1), MISMATCH)
            else:
                _set(canvas, top + (side if at == DOWN else -1), left + i, MISMATCH)
    return [
        _half_blocks(canvas[y], canvas[y + 1] if y + 1 < len(canvas) else None, colour)
        for y in range(0, len(canvas), 2)
    ]


def _pixel(quad: Quad | None, x: int, y: int, side: int) -> Rgb:
    """Colour of the pixel (x, y) of a cell: that of its triangle. Each half diagonal belongs to one triangle."""
    if side == 1:
        return EMPTY if quad is None else _DOT
    if quad is None:
        return EMPTY if (x + y) % 2 else BACKGROUND
    across, along = 2 * x + 1 - side, 2 * y + 1 - side  # from the centre, in half pixels
    if across == along == 0:
        return BACKGROUND
    if -along >= abs(across) and across != -along:
        return rgb(quad[UP])
    if across >= abs(along) and across != along:
        return rgb(quad[RIGHT])
    if along >= abs(across) and across != -along:
        return rgb(quad[DOWN])
    return rgb(quad[LEFT])


def _frame(canvas: list[list[Rgb]], top: int, left: int, side: int) -> None:
    """Outline the cell whose upper left pixel is (top, left)."""
    for i in range(-1, side + 1):
        for y, x in ((top - 1, left + i), (top + side, left + i), (top + i, left - 1), (top + i, left + side)):
            _set(canvas, y, x, CLUE)


def _set(canvas: list[list[Rgb]], y: int, x: int, value: Rgb) -> None:
    """Set a pixel; outside the canvas, beside a clue on the rim, nothing is drawn."""
    if 0 <= y < len(canvas) and 0 <= x < len(canvas[0]):
        canvas[y][x] = value


def _half_blocks(upper: list[Rgb], lower: list[Rgb] | None, colour: Colour) -> str:
    """A line of text for two rows of pixels; ``lower`` is None below the last row."""
    parts: list[str] = []
    last: tuple[Rgb, Rgb | None] | None = None
    for x, above in enumerate(upper):
        pair = above, None if lower is None else lower[x]
        if pair != last:
            parts.append(f"\x1b[{_code(38, above, colour)};{'49' if pair[1] is None else _code(48, pair[1], colour)}m")
            last = pair
        parts.append("▀")
    return "".join(parts) + "\x1b[0m"


def _code(ground: int, value: Rgb, colour: Colour) -> str:
    """Parameters of the escape sequence for a foreground (38) or background (48) colour."""
    if colour == "256":
        return f"{ground};5;{xterm(value)}"
    return "{};2;{};{};{}".format(ground, *value)


# -- letters -----------------------------------------------------------------------------------------------------


def letter(colour: int) -> str:
    """The letters of a colour: a = 0 (grey), b = 1, ... as in viewer URLs; after z come A to Z, then aa, ab, ..."""
    digits = ""
    while True:
        digits = _ALPHABET[colour % len(_ALPHABET)] + digits
        colour = colour // len(_ALPHABET) - 1
        if colour < 0:
            return digits


def _letters(picture: Scene) -> list[str]:
    """Two lines for each row of cells: the cells with the joints beside them, then the joints below them."""
    width, height = picture.width, picture.height
    wide = max((len(letter(colour)) for quad in picture.quads if quad for colour in quad), default=1)
    lines = []

    def row_of(row: int) -> list[int | None]:
        """The cells of a row; None for a hole, and for every cell beyond the rim."""
        cells = range(row * width, (row + 1) * width)
        return [cell if 0 <= row < height and cell not in picture.holes else None for cell in cells]

    for row in range(-1, height):
        cells = row_of(row)
        if row >= 0:
            line = _joint(picture, None, cells[0], RIGHT, wide)
            for cell, beyond in zip(cells, [*cells[1:], None], strict=True):
                line += _sign(picture, cell) + _joint(picture, cell, beyond, RIGHT, wide)
            lines.append(line)
        joints = (
            _joint(picture, upper, lower, DOWN, wide) for upper, lower in zip(cells, row_of(row + 1), strict=True)
        )
        lines.append(" " * (wide + 1) + " ".join(joints))
    return _trimmed(lines)


def _blocks(picture: Scene) -> list[str]:
    """The pieces of a puzzle, three lines each, apart from each other."""
    quads = [[letter(colour) for colour in quad] for quad in picture.quads if quad is not None]
    wide = max(len(name) for quad in quads for name in quad)
    lines: list[str] = []
    for start in range(0, len(quads), picture.width):
        row = quads[start : start + picture.width]
        uppers, lowers = ("  ".join(f"{quad[side]:^{2 * wide + 1}}" for quad in row) for side in (UP, DOWN))
        middles = "  ".join(f"{quad[LEFT]:>{wide}}+{quad[RIGHT]:<{wide}}" for quad in row)
        lines += [uppers.rstrip(), middles.rstrip(), lowers.rstrip(), ""]
    return lines[:-1]


def _joint(picture: Scene, cell: int | None, beyond: int | None, side: int, wide: int) -> str:
    """The text between two neighbouring cells, ``2 * wide + 1`` columns; None: beyond the rim, or a hole."""
    quads = [None if at is None else picture.quads[at] for at in (cell, beyond)]
    first, second = (None if quad is None else quad[at] for quad, at in zip(quads, (side, (side + 2) % 4), strict=True))
    here, there = ("" if colour is None else letter(colour) for colour in (first, second))
    if cell is None or beyond is None:  # grey on the rim is left blank
        if (first or second or 0) == GREY:
            return " " * (2 * wide + 1)
        if not picture.framed and side == DOWN:
            return f"{here + there:^{2 * wide + 1}}"
        return f"{here:>{wide}}{'!' if picture.framed else ' '}{there:<{wide}}"
    if first is None or second is None:
        return f"{here + there:^{2 * wide + 1}}" if side == DOWN else f"{here:<{wide}} {there:>{wide}}"
    if first == second != GREY:
        return f"{here:^{2 * wide + 1}}"
    return f"{here:>{wide}}!{there:<{wide}}"


def _sign(picture: Scene, cell: int | None) -> str:
    """``.`` for an empty cell, a blank for a hole, ``#`` for a clue, ``+`` for another piece."""
    if cell is None or cell in picture.holes:
        return " "
    if picture.quads[cell] is None:
        return "."
    return "#" if cell in picture.clues else "+"


def _trimmed(lines: list[str]) -> list[str]:
    """Remove blank lines at both ends and blank columns on the left."""
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    lines = [line[margin:].rstrip() for line in lines]
    return lines[0 if lines[0] else 1 : None if lines[-1] else -1]


# -- one character for each cell -----------------------------------------------------------------------------------


def _signs(picture: Scene) -> list[str]:
    """The number of wrong sides of each piece; without any, ``+``, or ``#`` on a clue; ``.`` for an empty cell."""
    wrong = Counter(cell for cell, _ in picture.wrong)
    for cell, side in picture.wrong:
        row, column = divmod(cell, picture.width)
        if side == RIGHT and column + 1 < picture.width:
            wrong[cell + 1] += 1
        if side == DOWN and row + 1 < picture.height:
            wrong[cell + picture.width] += 1
    signs = [
        str(wrong[cell]) if wrong[cell] and cell not in picture.holes else _sign(picture, cell)
        for cell in range(len(picture.quads))
    ]
    return ["".join(signs[start : start + picture.width]).rstrip() for start in range(0, len(signs), picture.width)]


def _coloured(lines: list[str], colour: Colour) -> list[str]:
    """The characters of `_signs` in colour: digits on red, empty cells dim."""
    red = f"\x1b[{_code(48, MISMATCH, colour)};{_code(38, CLUE, colour)}m"
    dim = f"\x1b[{_code(38, GREY_RGB, colour)}m"
    styles = {**dict.fromkeys("1234", red), ".": dim}
    return ["".join(f"{styles[sign]}{sign}\x1b[0m" if sign in styles else sign for sign in line) for line in lines]
