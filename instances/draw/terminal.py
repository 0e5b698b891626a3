"""Boards as text: coloured half-block characters on terminals that show colours, letters on all other terminals."""

from __future__ import annotations

import os
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from lns.instances.board import Board
from lns.instances.draw import Scene
from lns.instances.draw.palette import BACKGROUND, CLUE, EMPTY, MISMATCH, Rgb, rgb, xterm
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, IntArray, Puzzle

Colour = Literal["truecolor", "256", "none"]
_LARGEST, _SMALLEST = 8, 2  # largest and smallest side of a cell that shows its colours, in pixels
_DOT: Rgb = (110, 110, 110)  # colour of a piece that is drawn as a single pixel
_ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def capability(stream: IO[str], environ: Mapping[str, str] | None = None) -> Colour:
    """Return which colours a stream can show: 'truecolor', '256' or 'none'.

    'none' if the stream is no terminal, if its encoding lacks the half-block characters, if the environment variable
    NO_COLOR is not empty, or if TERM is 'dumb' or not set.
    """
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb" or not stream.isatty() or not encodes(stream):
        return "none"
    return richest(environ)


def richest(environ: Mapping[str, str] | None = None) -> Colour:
    """Return 'truecolor' if the environment variable COLORTERM says that the terminal can show it, else '256'."""
    environ = os.environ if environ is None else environ
    return "truecolor" if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") else "256"


def encodes(stream: IO[str]) -> bool:
    """Return whether the encoding of a stream has the half-block characters."""
    try:
        "▀".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class _Form(NamedTuple):
    """A picture as lines of text, and where the rows and columns of cells lie in the text."""

    lines: list[str]
    wide: int  # length of the longest line, without escape sequences
    across: tuple[int, int]  # text column of the first column of cells, and text columns from there to the next
    down: tuple[int, int]  # half line of the first row of cells, and half lines from there to the next


def render(
    puzzle: Puzzle, board: Board | None, *, colour: Colour = "none", width: int | None = None, height: int | None = None
) -> str:
    """Return a board as lines of text or, for None, all pieces of the puzzle in file order with gaps between them.

    In colour, each cell shows its four colours as triangles; red bars are mismatches, white outlines are clues, dark
    cells are empty. If that does not fit, each cell of a board is a dot, and mismatches lie between the dots. Without
    colour, each joint is the name of a colour or a letter as in viewer URLs (0 = a, 1 = b, ...): ``b`` where both sides
    agree, ``b!c`` where they do not match, ``b-c`` where mates do; ``+`` is a piece, ``#`` a clue, ``.`` an empty cell.
    If none of these fits, each cell is one character: its number of mismatches, or ``+``, ``#`` or ``.``. Rows and
    columns of a board are numbered from 0 where the numbers fit, narrow columns by the last digit only.

    ``colour`` says which escape sequences to use, see `capability`; ``width`` is the most columns of a line, 80 by
    default; ``height`` is the most lines that a board should have, unlimited by default; pictures without a board may
    have more. Raises BoardError if the board has another shape than the puzzle.
    """
    return "".join(f"{line}\n" for line in _drawn(Scene(puzzle, board), colour, width, height)[0])


def legend(puzzle: Puzzle, board: Board | None, **shape: Any) -> str:
    """Return a line that explains the signs in what `render` returns for the same arguments."""
    shape = {"colour": "none", "width": None, "height": None} | shape
    return _drawn(Scene(puzzle, board), **shape)[1]


def _drawn(picture: Scene, colour: Colour, width: int | None, height: int | None) -> tuple[list[str], str]:
    """Return the lines of a picture, in the largest form that fits or else the smallest, and the legend of the form."""
    columns = 80 if width is None else max(1, width)
    rows = 10**9 if height is None or picture.sheet else max(1, height)
    gutter = 0 if picture.sheet else len(str(picture.height - 1)) + 1
    if colour == "none":
        form = _blocks(picture) if picture.sheet else _letters(picture)
        if form.wide <= columns and len(form.lines) <= rows:
            mates = ", b-c mates" if picture.first_mate else ""
            said = f"letters are colours, b!c is a mismatch{mates}, # a clue, . an empty cell"
            return _ruled(picture, form, gutter, columns, rows), said
    else:
        edge, side = 2 * bool(picture.rim), 0
        for ruler in (gutter, 0):
            if side < _SMALLEST:
                fit = columns - ruler + 1 - edge, 2 * (rows - bool(ruler)) + 1 - edge
                side = min(_LARGEST, fit[0] // picture.width - 1, fit[1] // picture.height - 1)
        if side >= _SMALLEST or (side == 1 and not picture.sheet):
            said = "red bars are mismatches, white frames are clues"
            if side == 1:
                said = "a dot is a piece, red a mismatch, white a clue; a larger window shows colours"
            return _ruled(picture, _pixels(picture, side, colour), gutter, columns, rows), said
    said = "a sign is a piece: its number of mismatches, + without any, # a clue, . an empty cell"
    return _ruled(picture, _signs(picture, colour), gutter, columns, rows), said


def _ruled(picture: Scene, form: _Form, gutter: int, columns: int, rows: int) -> list[str]:
    """Return a form's lines, with row numbers on the left and column numbers above if these numbers fit."""
    (left, pitch), (top, down) = form.across, form.down
    above = ""
    for column in range(picture.width):
        number = column if pitch > len(str(picture.width - 1)) else column % 10
        above = f"{above:<{gutter + left + column * pitch}}{number}"
    if not gutter or max(len(above), gutter + form.wide) > columns or len(form.lines) >= rows:
        return form.lines
    names = {(top + row * down) // 2: row for row in range(picture.height)}
    lines = (f"{names.get(at, ''):>{gutter - 1}} {line}".rstrip() for at, line in enumerate(form.lines))
    return [above, *lines]


# -- pictures in colour ------------------------------------------------------------------------------------------------


def _pixels(picture: Scene, side: int, colour: Colour) -> _Form:
    """Draw cells of ``side`` x ``side`` pixels, one pixel apart; a character shows two pixels, one above the other."""
    step, edge = side + 1, int(bool(picture.rim))
    canvas = np.full((picture.height * step + 1, picture.width * step + 1, 3), BACKGROUND)  # has a margin of 1 pixel
    if edge:
        canvas[[0, -1]] = canvas[:, [0, -1]] = picture.ground
    corners = [(row * step + 1, column * step + 1) for row in range(picture.height) for column in range(picture.width)]
    triangles = _triangles(side)
    empty = np.where(np.indices((side, side)).sum(axis=0)[..., None] % 2, EMPTY, BACKGROUND)
    for cell, (top, left) in enumerate(corners):
        quad = picture.quads[cell]
        if cell not in picture.holes:
            shown = empty if quad is None else np.array([*map(picture.flat, quad), BACKGROUND])[triangles]
            dot = EMPTY if quad is None else _DOT
            canvas[top : top + side, left : left + side] = shown if side > 1 else dot
    for top, left in (corners[cell] for cell in picture.clues):
        if side == 1:
            canvas[top, left] = CLUE
        else:
            frame = canvas[top - 1 : top + side + 1, left - 1 : left + side + 1]
            frame[[0, -1]] = frame[:, [0, -1]] = CLUE
    for cell, at in picture.wrong:
        top, left = corners[cell]
        rows, columns = slice(top, top + side), slice(left, left + side)
        bars = (top - 1, columns), (rows, left + side), (top + side, columns), (rows, left - 1)
        canvas[bars[at]] = MISMATCH
    pixels = (canvas if edge else canvas[1:-1, 1:-1]).tolist()
    lines = [_half_blocks(upper, lower, colour) for upper, lower in zip_longest(pixels[::2], pixels[1::2])]
    middle = edge + (side - 1) // 2, step
    return _Form(lines, len(pixels[0]), middle, middle)


def _triangles(side: int) -> IntArray:
    """Return, for each pixel of a cell, the side in whose triangle the pixel lies; 4 for a pixel in the centre.

    The four half diagonals belong to different triangles.
    """
    along, across = 2 * np.indices((side, side)) + 1 - side  # down and to the right from the centre, in half pixels
    inside = [
        (across == 0) & (along == 0),
        (-along >= abs(across)) & (across != -along),
        (across >= abs(along)) & (across != along),
        (along >= abs(across)) & (across != -along),
    ]
    return np.select(inside, [4, UP, RIGHT, DOWN], LEFT)


def _half_blocks(upper: list[Rgb], lower: list[Rgb] | None, colour: Colour) -> str:
    """Return a line of text that shows two rows of pixels; ``lower`` is None if ``upper`` is the last row."""
    parts = []
    for (above, below), blocks in groupby(zip_longest(upper, lower or ())):
        ground = "49" if below is None else escape_code(48, below, colour)
        parts.append(f"\x1b[{escape_code(38, above, colour)};{ground}m" + "▀" * sum(1 for _ in blocks))
    return "".join(parts) + "\x1b[0m"


def escape_code(ground: int, value: Rgb, colour: Colour) -> str:
    """Return the parameters of an escape sequence for the foreground (``ground`` 38) or background (48) colour."""
    red, green, blue = value
    return f"{ground};5;{xterm((red, green, blue))}" if colour == "256" else f"{ground};2;{red};{green};{blue}"


# -- pictures in letters -----------------------------------------------------------------------------------------------


def letter(colour: int, names: Sequence[str] = ()) -> str:
    """Return the letters for a colour: a = 0 (grey), b = 1, ... as in viewer URLs; after z come A to Z, aa, ab, ...

    ``names`` are the names of colours 0, 1, ... in the text of a puzzle; a colour with a name gets it, not letters.
    """
    if colour < len(names) and names[colour]:
        return names[colour]
    digits = ""
    while True:
        digits = _ALPHABET[colour % len(_ALPHABET)] + digits
        colour = colour // len(_ALPHABET) - 1
        if colour < 0:
            return digits


def _letters(picture: Scene) -> _Form:
    """Draw each row of cells as a line, with the joints beside the cells; joints above and below have own lines."""
    width, height = picture.width, picture.height
    wide = max((len(letter(colour, picture.puzzle.names)) for colour in picture.by_colour), default=1)
    lines = []
    above: list[int | None] = [None] * width  # cells of the row above; None for a hole or no cell
    for row in range(height + 1):
        here = [cell if cell not in picture.holes else None for cell in range(row * width, (row + 1) * width)]
        here = here if row < height else [None] * width
        joints = (_joint(picture, upper, lower, DOWN, wide) for upper, lower in zip(above, here, strict=True))
        lines.append(" " * (wide + 1) + " ".join(joints))
        if row < height:
            beside = (_joint(picture, cell, beyond, RIGHT, wide) for cell, beyond in pairwise([None, *here, None]))
            signs = (_sign(picture, cell) for cell in here)
            lines.append("".join(f"{joint}{sign}" for joint, sign in zip_longest(beside, signs, fillvalue="")))
        above = here
    margin = min(2 * wide + 1, *(len(line) - len(line.lstrip()) for line in lines if line.strip()))
    lines = [line[margin:].rstrip() for line in lines]
    first = 0 if lines[0] else 1
    lines = lines[first : None if lines[-1] else -1]
    return _Form(lines, max(map(len, lines)), (2 * wide + 1 - margin, 2 * wide + 2), (2 - 2 * first, 4))


def _blocks(picture: Scene) -> _Form:
    """Draw the pieces of a puzzle, each as three lines of letters, with gaps between them."""
    quads = [[letter(colour, picture.puzzle.names) for colour in quad] for quad in picture.quads if quad is not None]
    wide = max(len(name) for quad in quads for name in quad)
    lines: list[str] = []
    for start in range(0, len(quads), picture.width):
        row = quads[start : start + picture.width]
        uppers, lowers = ("  ".join(f"{quad[side]:^{2 * wide + 1}}" for quad in row) for side in (UP, DOWN))
        middles = "  ".join(f"{quad[LEFT]:>{wide}}+{quad[RIGHT]:<{wide}}" for quad in row)
        lines += [uppers.rstrip(), middles.rstrip(), lowers.rstrip(), ""]
    return _Form(lines[:-1], max(map(len, lines)), (wide, 2 * wide + 3), (2, 8))


def _joint(picture: Scene, cell: int | None, beyond: int | None, side: int, wide: int) -> str:
    """Return the text for the joint of two neighbours, ``2 * wide + 1`` columns; None stands for a hole or no cell."""
    quads = [None if at is None else picture.quads[at] for at in (cell, beyond)]
    first, second = (None if quad is None else quad[at] for quad, at in zip(quads, (side, side ^ 2), strict=True))
    here, there = ("" if colour is None else letter(colour, picture.puzzle.names) for colour in (first, second))
    if ((beyond, side ^ 2) if cell is None else (cell, side)) in picture.wrong:
        return f"{here:>{wide}}!{there:<{wide}}"
    if (cell is None or beyond is None) and (first or second or GREY) == GREY:  # grey on the rim becomes spaces
        return " " * (2 * wide + 1)
    if first is None or second is None:
        return f"{here + there:^{2 * wide + 1}}" if side == DOWN else f"{here:<{wide}} {there:>{wide}}"
    return f"{here:^{2 * wide + 1}}" if first == second else f"{here:>{wide}}-{there:<{wide}}"


def _sign(picture: Scene, cell: int | None) -> str:
    """Return ``.`` for an empty cell, a space for a hole or no cell, ``#`` for a clue, ``+`` for any other piece."""
    if cell is None or cell in picture.holes:
        return " "
    if picture.quads[cell] is None:
        return "."
    return "#" if cell in picture.clues else "+"


# -- one character for each cell -----------------------------------------------------------------------------------


def _signs(picture: Scene, colour: Colour) -> _Form:
    """Draw each cell as one character: the number of wrong sides of the cell or, if that is 0, the result of `_sign`.

    In colour, digits have a red background, and the dots of empty cells are dim.
    """
    wrong = Counter(at for cell, side in picture.wrong for at in (cell, picture.puzzle.beyond[cell][side]))
    shown = range(len(picture.quads))
    signs = [str(wrong[cell]) if wrong[cell] and cell not in picture.holes else _sign(picture, cell) for cell in shown]
    lines = ["".join(signs[at : at + picture.width]).rstrip() for at in range(0, len(signs), picture.width)]
    if colour != "none":
        red = f"\x1b[{escape_code(48, MISMATCH, colour)};{escape_code(38, CLUE, colour)}m"
        styles = {**dict.fromkeys("1234", red), ".": f"\x1b[{escape_code(38, rgb(GREY), colour)}m"}
        lines = ["".join(f"{styles[sign]}{sign}\x1b[0m" if sign in styles else sign for sign in line) for line in lines]
    return _Form(lines, picture.width, (0, 1), (0, 2))
