"""The text of URLs of the board viewer e2.bucas.name: made of a board, and taken apart.

The form is ``#puzzle=NAME&board_w=W&board_h=H&board_edges=LETTERS``. The letters are up, right, down, left of each
cell, row by row; ``a`` is grey, ``aaaa`` an empty cell. Optional parameters are ``board_pieces``, three digits for each
cell (pieces count from 1, ``000`` is an empty cell), and ``motifs_order``, the order of the letters. Besides grey there
are 25 letters, so a puzzle with more colours has no viewer URL.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from instances.board import Board
from instances.formats.base import Quad
from instances.formats.text import board_shape, left_out, one_of
from instances.puzzle import GREY, MAX_CELLS, Puzzle, cell_label
from lns_support.errors import InputError
from lns_support.text import parse_integer, quoted

# The letter at index i is the default letter of the colour that such a URL writes as letter i.
MOTIFS_ORDERS = {
    "jef": "atojeqlgbupkfrmhcwvsnid",
    "jblackwood": "abglqejotchmrfkpudinsvw",
    "marie": "abglqejotchmrfkpudinsvw",
}
DEFAULT_ORDERS = ("", "default", "normal")
MOST_LETTERS = 25  # not counting the letter of grey
_HAS_EDGES = re.compile(r"board_edges(\\?=|%(25)*3[dD])")  # '=' as it is, for a shell, or percent-encoded
_AROUND = "'\"`<>‘’“”«»()[]{},;.!*"


def looks_like(text: str) -> bool:
    """Whether a text holds a viewer URL."""
    return _HAS_EDGES.search(text) is not None


@dataclass(frozen=True)
class Letters:
    """The parts of a viewer URL."""

    name: str  # of the puzzle
    width: int
    height: int
    quads: tuple[Quad | None, ...]  # letters as numbers (a = 0) up, right, down, left of each cell; None if it is empty
    numbers: tuple[int | None, ...] | None  # the piece that the URL states for each cell, from 0; None without any
    order: str  # the stated motifs_order, or an empty text


def viewer_url(puzzle: Puzzle, board: Board, *, motifs_order: str | None = None) -> str:
    """The URL that shows a board in the viewer e2.bucas.name.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board
        Partial or full.
    motifs_order : {'jef', 'jblackwood', 'marie'}, optional
        Another order of the letters.

    Returns
    -------
    str
        The URL. It states the numbers of the pieces if the puzzle has at most 999.

    Raises
    ------
    InputError
        If a colour on the board has no letter: above 25, or above 22 with ``motifs_order``.
    """
    board = board.without_blanks(puzzle)
    colours = board.colours(puzzle)
    letters = _letters_of(motifs_order)
    if colours.max(initial=0) >= len(letters):
        raise InputError(
            f"the board has colour {int(colours.max())}; expected at most {len(letters) - 1}, "
            f"as a viewer URL has letters for the colours 1 to {len(letters) - 1}"
        )
    edges = "".join("aaaa" if quad[0] < 0 else "".join(letters[colour] for colour in quad) for quad in colours.tolist())
    pieces = ""
    if puzzle.cells <= 999:
        pieces = "&board_pieces=" + "".join(
            "000" if oriented < 0 else f"{(oriented >> 2) + 1:03d}" for oriented in board.placements.tolist()
        )
    order = f"&motifs_order={motifs_order}" if motifs_order else ""
    name = quote(puzzle.name, safe="", errors="replace")
    shape = f"board_w={puzzle.width}&board_h={puzzle.height}"
    return f"https://e2.bucas.name/#puzzle={name}&{shape}&board_edges={edges}{pieces}{order}"


def url_if_any(puzzle: Puzzle, board: Board) -> str:
    """The URL that shows a board, if there is one.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board

    Returns
    -------
    str
        The `viewer_url`; an empty text if one of the board's colours has no letter.
    """
    try:
        return viewer_url(puzzle, board)
    except InputError:
        return ""


def parse(text: str, puzzle: Puzzle | None, notes: list[str], number: int | None = None) -> Letters:
    """Parse the first or ``number``-th viewer URL in a text.

    The shape is that of ``puzzle`` if the URL has none; sentences on what was left out go to ``notes``. Raises
    InputError if there is no viewer URL, or its parameters are malformed or contradict each other or the shape.
    """
    values = _parameters(text, notes, number)
    edges = "".join("aaaa" if quad == "0000" else quad for quad in _quads(values["board_edges"]))
    width, height = _shape(values, len(edges), puzzle)
    if len(edges) != 4 * width * height:
        raise InputError(
            f"board_edges has {len(edges)} letters; "
            f"expected {4 * width * height}, four for each cell of {width} x {height}"
        )
    bad = re.search(r"[^a-z]", edges)
    if bad:
        raise InputError(
            f"board_edges has {quoted(bad[0])} on {cell_label(bad.start() // 4, width)}; expected letters from a to z"
        )
    empty_cells = [quad == "aaaa" for quad in _quads(edges)]
    numbers = _numbers(values.get("board_pieces", ""), empty_cells, notes)
    one_cell = width * height == 1  # only its number distinguishes a piece with four grey sides from an empty cell
    flat = [ord(letter) - ord("a") for letter in edges]
    quads: list[Quad | None] = []
    for cell in range(width * height):
        up, right, down, left = flat[4 * cell : 4 * cell + 4]
        empty = up == right == down == left == GREY and not (one_cell and numbers and numbers[0] is not None)
        quads.append(None if empty else (up, right, down, left))
        stated = numbers[cell] if numbers else None
        if empty and stated is not None:
            raise InputError(
                f"{cell_label(cell, width)} is empty in board_edges and holds piece {stated + 1} in board_pieces; "
                "expected both to agree"
            )
    name = "".join(c for c in values.get("puzzle", "") if c.isprintable())[:100]
    return Letters(name or "puzzle", width, height, tuple(quads), numbers, values.get("motifs_order", ""))


def _quads(edges: str) -> list[str]:
    return [edges[at : at + 4] for at in range(0, len(edges), 4)]


def _parameters(text: str, notes: list[str], number: int | None) -> dict[str, str]:
    """The parameters of the first or ``number``-th URL, without quotes, shell escapes and percent codes."""
    urls = [word for word in re.split(r"""[\s"'`<>|\[\]()]+""", text) if "board_edges" in word]
    if not urls:
        raise InputError("no viewer URL here; expected '…#puzzle=NAME&board_w=W&board_h=H&board_edges=LETTERS'")
    if not 1 <= (number or 1) <= len(urls):
        raise InputError(f"the text has {len(urls)} URLs; expected a number from 1 to {len(urls)}")
    notes += one_of(len(urls), "URLs", number)
    url = urls[(number or 1) - 1]
    rest = [(at, line.replace(url, " "), url in line) for at, line in enumerate(text.split("\n"), start=1)]
    notes += left_out((at, line) for at, line, held in rest if re.search("[0-9]" if held else r"\w", line))
    url = url.strip(_AROUND)
    url = url.replace("\\u0026", "&").replace("\\", "").replace("&amp;", "&")
    for _ in range(3):  # the whole URL may be percent-encoded, even several times
        if "board_edges=" in url:
            break
        url = unquote(url)
    tail = url.partition("#")[2] or url.partition("?")[2] or url
    values: dict[str, str] = {}
    for part in tail.split("&"):
        key, _, value = part.partition("=")
        key, value = unquote(key).strip(_AROUND + "#?"), unquote(value).strip(_AROUND)
        if values.setdefault(key, value) != value:
            raise InputError(f"{quoted(key)} is given twice with two values; expected one")
    if not values.get("board_edges"):
        raise InputError("the viewer URL has no board_edges; expected 'board_edges=' and four letters for each cell")
    return values


def _shape(values: dict[str, str], letters: int, puzzle: Puzzle | None) -> tuple[int, int]:
    """Width and height: as stated, else those of the puzzle, else a square of so many letters."""
    size = values.get("puzzle_size")  # another viewer writes this for a square
    wide, high = values.get("board_w", size), values.get("board_h", size)
    if wide is not None and high is not None:
        width, height = parse_integer(wide, 1, MAX_CELLS, "board_w"), parse_integer(high, 1, MAX_CELLS, "board_h")
        board_shape(width, height)
        if puzzle is not None and (width, height) != (puzzle.width, puzzle.height):
            other = f" (--puzzle-format pieces:{width}x{height} reads it so)" * (
                (height, width) == (puzzle.width, puzzle.height)
            )
            raise InputError(
                f"the board is {width} x {height} (width x height); "
                f"expected {puzzle.width} x {puzzle.height} as in {puzzle.name}{other}"
            )
        return width, height
    if puzzle is not None:
        return puzzle.width, puzzle.height
    side = math.isqrt(letters // 4)
    if side * side * 4 != letters or side * side > MAX_CELLS:
        raise InputError(f"board_w and board_h are missing, and {letters} letters make no square; expected both")
    return side, side


def _numbers(digits: str, empty_cells: list[bool], notes: list[str]) -> tuple[int | None, ...] | None:
    """The piece of each cell, counted from 0, None for an empty cell. None if board_pieces is missing or unusable."""
    cells = len(empty_cells)
    if not digits:
        return None
    if not re.fullmatch(r"[0-9]+", digits) or len(digits) != 3 * cells:
        notes.append(f"board_pieces left out: {len(digits)} characters, not three digits for each of {cells} cells")
        return None
    stated = [int(digits[at : at + 3]) for at in range(0, len(digits), 3)]
    shown = [number for number, empty in zip(stated, empty_cells, strict=True) if not empty]
    hidden = [number for number, empty in zip(stated, empty_cells, strict=True) if empty]
    if cells > 1 and shown.count(0) == 1 and max(shown) < cells and not any(hidden):
        notes.append("board_pieces counts from 0, as a cell with a piece has 000")
        return tuple(None if empty else number for number, empty in zip(stated, empty_cells, strict=True))
    return tuple(number - 1 if number else None for number in stated)


# -- orders of the letters ---------------------------------------------------------------------------------------------


def _letters_of(motifs_order: str | None) -> str:
    """The letter of each colour: a to z, or the inverse of a known ``motifs_order``."""
    if motifs_order is None or motifs_order in DEFAULT_ORDERS:
        return "abcdefghijklmnopqrstuvwxyz"
    order = MOTIFS_ORDERS.get(motifs_order)
    if order is None:
        raise InputError(f"motifs_order {quoted(motifs_order)}; expected one of {', '.join(MOTIFS_ORDERS)}")
    return "".join(chr(ord("a") + order.index(chr(ord("a") + colour))) for colour in range(len(order)))


def translation(order: str) -> list[int] | None:
    """The default letter of each letter under a ``motifs_order``, a known name or a permutation; else None."""
    letters = MOTIFS_ORDERS.get(order.lower(), order)
    if len(letters) < 2 or letters[0] != "a" or sorted(letters) != [chr(ord("a") + i) for i in range(len(letters))]:
        return None
    return [ord(letter) - ord("a") for letter in letters] + list(range(len(letters), 26))
