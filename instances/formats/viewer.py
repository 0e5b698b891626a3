"""Make URLs of the board viewer e2.bucas.name from boards, and read boards from such URLs.

The form is ``#puzzle=NAME&board_w=W&board_h=H&board_edges=LETTERS``. The letters are the colours up, right, down, left
of each cell, row by row; ``a`` is grey, ``aaaa`` an empty cell. Optional parameters are ``board_pieces``, three digits
for each cell (pieces count from 1, ``000`` is an empty cell), and ``motifs_order``, the name of another order of the
letters. Besides grey there are 25 letters, so a board with a colour above 25 has no viewer URL.

If the puzzle is known, the letters are matched to its colours. If not, a full board defines its own puzzle.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from urllib.parse import quote, unquote

import numpy as np

from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats.base import HAS_EDGES, Document, Format, Quad, Source, holds_url, shipped_instances
from lns.instances.formats.evidence import PieceIndex
from lns.instances.formats.shapes import left_out
from lns.instances.layout import cell_label
from lns.instances.puzzle import GREY, MAX_CELLS, Puzzle, canonical, check_shape, rotate
from lns.instances.text import count_of, parse_integer, quoted

# By motifs_order: at index i, the default letter of the colour that a URL in this order writes as letter i (a = 0).
MOTIFS_ORDERS = {
    "jef": "atojeqlgbupkfrmhcwvsnid",
    "jblackwood": "abglqejotchmrfkpudinsvw",
    "marie": "abglqejotchmrfkpudinsvw",
}
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_ORDERS = MOTIFS_ORDERS | dict.fromkeys(("", "default", "normal"), _ALPHABET)
MOST_LETTERS = 25  # number of letters for colours other than grey
MOST_MAPS = 64  # most maps from letters to colours that are compared; with more, a board is ambiguous anyway
_MAX_QUADS = 3_000_000  # most quads (letters of a cell) that `match_letters` examines, in a few seconds
_AROUND = "'\"`<>‘’“”«»()[]{},;.!*"


# -- making a URL from a board -----------------------------------------------------------------------------------------


@checked
def viewer_url(puzzle: Puzzle, board: Board, *, motifs_order: str | None = None) -> str:
    """Return the URL that shows a board in the viewer e2.bucas.name.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the board. With at most 999 cells the URL states the piece numbers.
    board : Board
        Full or partial board.
    motifs_order : str, optional
        Order of the letters instead of the default: jef, jblackwood or marie.

    Returns
    -------
    str
        The URL.

    Raises
    ------
    InputError
        If a colour of the board has no letter (above 25, or 22 with ``motifs_order``), or ``motifs_order`` is unknown.
    """
    board = board.without_blanks(puzzle)
    colours, order = board.colours(puzzle), _ORDERS.get(motifs_order or "")
    if order is None:
        raise _unknown_order(motifs_order or "")
    letters = "".join(_ALPHABET[order.index(letter)] for letter in _ALPHABET[: len(order)])
    if colours.max(initial=0) > (most := len(letters) - 1):
        said = f"the board has colour {int(colours.max())}; expected at most {most}"
        raise InputError(f"{said}, as a viewer URL has letters for the colours 1 to {most}")
    edges = "".join("aaaa" if quad[0] < 0 else "".join(letters[colour] for colour in quad) for quad in colours.tolist())
    numbers = "".join(f"{(oriented >> 2) + 1:03d}" for oriented in board.placements.tolist())  # 000: an empty cell
    pieces = f"&board_pieces={numbers}" if puzzle.cells <= 999 else ""
    order_stated = f"&motifs_order={motifs_order}" if motifs_order else ""
    name = quote(puzzle.name, safe="", errors="replace")
    shape = f"board_w={puzzle.width}&board_h={puzzle.height}"
    return f"https://e2.bucas.name/#puzzle={name}&{shape}&board_edges={edges}{pieces}{order_stated}"


def url_if_any(puzzle: Puzzle, board: Board) -> str:
    """Return the `viewer_url` of a board, or an empty text if one of its colours has no letter."""
    with contextlib.suppress(InputError):
        return viewer_url(puzzle, board)
    return ""


def _unknown_order(order: str) -> InputError:
    return InputError(f"motifs_order {quoted(order)}; expected one of {', '.join(MOTIFS_ORDERS)}")


# -- parsing a URL -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Letters:
    """What the parameters of a viewer URL state."""

    name: str  # name of the puzzle
    width: int
    height: int
    quads: tuple[Quad | None, ...]  # by cell: letters up, right, down, left as numbers (a = 0); None: an empty cell
    numbers: tuple[int | None, ...]  # by cell: index of the piece that the URL states; None where it states none
    order: str  # the motifs_order that the URL states, or an empty text


def parse(url: str, puzzle: Puzzle | None, notes: list[str]) -> Letters:
    """Parse a viewer URL.

    A URL that states no shape gets that of ``puzzle``, or else is taken as square. ``notes`` gets what was left out or
    assumed. Raises InputError if parameters are malformed or contradict each other or the shape of ``puzzle``.
    """
    values = _parameters(url)
    edges = "".join("aaaa" if quad == "0000" else quad for quad in _in_parts(values["board_edges"], 4))
    width, height = _shape(values, len(edges), puzzle)
    cells = width * height
    if len(edges) != 4 * cells:
        said = f"board_edges has {len(edges)} letters; expected {4 * cells}, four for each cell of {width} x {height}"
        raise InputError(said)
    if bad := re.search(r"[^a-z]", edges):
        said = f"board_edges has {quoted(bad[0])} on {cell_label(bad.start() // 4, width)}"
        raise InputError(f"{said}; expected letters from a to z")
    cells_letters = _in_parts(edges, 4)
    numbers = _numbers(values.get("board_pieces", ""), [quad == "aaaa" for quad in cells_letters], notes)
    pieces = () if puzzle is None else puzzle.pieces[: puzzle.piece_count].tolist()
    # 'aaaa' is a piece that is grey on all sides if the number of such a piece is stated, else an empty cell
    grey_pieces = {0} if cells == 1 else {piece for piece, sides in enumerate(pieces) if not any(sides)}
    quads: list[Quad | None] = []
    for cell, (quad, stated) in enumerate(zip(cells_letters, numbers, strict=True)):
        up, right, down, left = map(_ALPHABET.index, quad)
        quads.append(None if quad == "aaaa" and stated not in grey_pieces else (up, right, down, left))
        if quads[cell] is None and stated is not None:
            said = f"{cell_label(cell, width)} is empty in board_edges and holds piece {stated + 1} in board_pieces"
            raise InputError(f"{said}; expected both to agree")
    name = "".join(c for c in values.get("puzzle", "") if c.isprintable())[:100]
    return Letters(name or "puzzle", width, height, tuple(quads), numbers, values.get("motifs_order", ""))


def _in_parts(text: str, length: int) -> list[str]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def _parameters(url: str) -> dict[str, str]:
    """Return the parameters of a URL, with quotes and shell escapes removed and percent codes decoded."""
    url = url.strip(_AROUND).replace("\\u0026", "&").replace("\\", "").replace("&amp;", "&")
    for _ in range(3):  # the whole URL may be percent-encoded, even several times
        url = url if "board_edges=" in url else unquote(url)
    values: dict[str, str] = {}
    for part in (url.partition("#")[2] or url.partition("?")[2] or url).split("&"):
        key, _, value = part.partition("=")
        key, value = unquote(key).strip(_AROUND + "#?"), unquote(value).strip(_AROUND)
        if values.setdefault(key, value) != value:
            raise InputError(f"{quoted(key)} is given twice with two values; expected one")
    if not values.get("board_edges"):
        raise InputError("the viewer URL has no board_edges; expected 'board_edges=' and four letters for each cell")
    return values


def _shape(values: dict[str, str], letters: int, puzzle: Puzzle | None) -> tuple[int, int]:
    """Return width and height as the URL states them, else as in the puzzle, else of a square for all ``letters``."""
    size = values.get("puzzle_size")  # the side of a square board in URLs of another viewer
    wide, high = values.get("board_w", size), values.get("board_h", size)
    if wide is not None and high is not None:
        width, height = parse_integer(wide, 1, MAX_CELLS, "board_w"), parse_integer(high, 1, MAX_CELLS, "board_h")
        check_shape(width, height)
        if puzzle is not None and (width, height) != (puzzle.width, puzzle.height):
            turned = (height, width) == (puzzle.width, puzzle.height)
            other = f" (--puzzle-format pieces:{width}x{height} reads it so)" * turned
            expected = f"{puzzle.width} x {puzzle.height} as in {puzzle.name}{other}"
            raise InputError(f"the board is {width} x {height} (width x height); expected {expected}")
        return width, height
    if puzzle is not None:
        return puzzle.width, puzzle.height
    side = math.isqrt(letters // 4)
    if side * side * 4 != letters or side * side > MAX_CELLS:
        raise InputError(f"board_w and board_h are missing, and {letters} letters make no square; expected both")
    return side, side


def _numbers(digits: str, empty: Sequence[bool], notes: list[str]) -> tuple[int | None, ...]:
    """Return the index of the piece stated for each cell, or None; all None if board_pieces is unusable."""
    cells = len(empty)
    if not re.fullmatch(r"[0-9]+", digits) or len(digits) != 3 * cells:
        said = f"board_pieces left out: {len(digits)} characters, not three digits for each of {cells} cells"
        notes += [said] * bool(digits)
        return (None,) * cells
    stated = list(map(int, _in_parts(digits, 3)))
    shown = [number for number, hidden in zip(stated, empty, strict=True) if not hidden]
    if cells > 1 and shown.count(0) == 1 and max(shown) < cells and sum(shown) == sum(stated):
        notes.append("board_pieces counts from 0, as a cell with a piece has 000")
        return tuple(None if hidden else number for number, hidden in zip(stated, empty, strict=True))
    return tuple(number - 1 if number else None for number in stated)


def _table(order: str) -> list[int] | None:
    """Return the colour of each letter in a motifs_order, given by name or as a permutation of letters; else None."""
    letters = _ORDERS.get(order.lower(), order)
    if len(letters) < 2 or letters[0] != "a" or sorted(letters) != list(_ALPHABET[: len(letters)]):
        return None
    return [*map(_ALPHABET.index, letters), *range(len(letters), 26)]


# -- the board that a URL shows ----------------------------------------------------------------------------------------


def read(source: Source) -> Document:
    urls = [word for word in re.split(r"""[\s"'`<>|\[\]()]+""", source.text) if HAS_EDGES.search(word)]
    if not urls:
        raise InputError("no viewer URL here; expected '…#puzzle=NAME&board_w=W&board_h=H&board_edges=LETTERS'")
    url = urls[source.place(len(urls))]
    rest = [(at, line.replace(url, " "), url in line) for at, line in enumerate(source.text.split("\n"), start=1)]
    notes = [*left_out((at, line) for at, line, held in rest if re.search("[0-9]" if held else r"\w", line))]
    letters, puzzle = parse(url, source.puzzle, notes), source.puzzle
    if source.option is not None:
        if _table(source.option) is None:
            raise _unknown_order(source.option)
        letters = replace(letters, order=source.option)
    if puzzle is None and letters.name in shipped_instances():
        shipped = source.find_puzzle(letters.name)
        quads = _translated(letters.quads, _table(letters.order) or range(26))
        same_shape = (letters.width, letters.height) == (shipped.width, shipped.height)
        if same_shape and not PieceIndex(shipped).cells_without_piece(quads):
            puzzle = shipped
            notes.append(f"shipped instance {puzzle.name}, found by name and pieces")
    if puzzle is None:
        return replace(_on_its_own(letters, notes), boards=len(urls))
    index = PieceIndex(puzzle)
    board, contradicted = index.board(_colours(letters, index, notes), letters.numbers)
    if contradicted:
        said = f"board_pieces names another piece than board_edges shows on {contradicted} cells"
        notes.append(f"{said}; board_edges is used")
    return Document(FORMAT.name, puzzle, board, tuple(notes), boards=len(urls))


def _translated(quads: Sequence[Quad | None], table: Sequence[int]) -> list[Quad | None]:
    return [quad and (table[quad[0]], table[quad[1]], table[quad[2]], table[quad[3]]) for quad in quads]


def _colours(letters: Letters, index: PieceIndex, notes: list[str]) -> list[Quad | None]:
    """Return the colours of the cells by an order of the letters that fits: the stated, the default, or any other."""
    stated = "default letters" if _ORDERS.get(letters.order) == _ALPHABET else f"motifs_order {letters.order}"
    tables = {stated: _table(letters.order), "default letters": _table("")}
    boards = {name: _translated(letters.quads, table) for name, table in tables.items() if table is not None}
    shown = {name: quads for name, quads in boards.items() if not index.cells_without_piece(quads)}
    contradictions = {name: index.board(quads, letters.numbers)[1] for name, quads in shown.items()}
    chosen = min(contradictions, key=contradictions.__getitem__, default=None)
    if any(number is not None for number in letters.numbers) and (chosen is None or contradictions[chosen]):
        found = _boards(letters, index, letters.numbers)
        if len(found) == 1:
            notes.append("letters matched to the colours by board_pieces")
            return found[0]
    if chosen is not None:
        notes.append(chosen)
        return shown[chosen]
    found = _boards(letters, index, ())
    if not found:
        raise _no_piece(letters, index)
    if len(found) > 1:
        said = f"the letters fit the colours of {index.puzzle.name} in several ways, which place different pieces"
        way = "board_pieces that agree with one of them, or the letters by name (--format url:jef, say)"
        raise InputError(f"{said}; expected {way}")
    notes.append("letters matched to the colours by the pieces")
    return found[0]


def _boards(letters: Letters, index: PieceIndex, numbers: Sequence[int | None]) -> list[list[Quad | None]]:
    """Return the colours of the cells by each map that `match_letters` finds; maps that give one board count once."""
    boards: dict[Board, list[Quad | None]] = {}
    for colour_of in match_letters(letters.quads, index, numbers):
        quads = _translated(letters.quads, [colour_of.get(letter, GREY) for letter in range(26)])
        boards.setdefault(index.board(quads, letters.numbers)[0], quads)
    return list(boards.values())


def match_letters(
    quads: Sequence[Quad | None], index: PieceIndex, numbers: Sequence[int | None] = ()
) -> list[dict[int, int]]:
    """Return at most `MOST_MAPS` one-to-one maps from letters to colours under which every quad is a piece.

    Letter 0 is always grey. With ``numbers``, every cell for which a piece is stated shows this piece. Maps that use
    pieces more often than they exist are returned only if there are no others. The depth-first search branches on the
    quad with the fewest matching pieces. Raises InputError if the search takes too long.
    """
    needed = Counter(canonical(quad) for quad in quads if quad is not None)
    stated: dict[Quad, set[Quad]] = {}  # by canonical quad: the stated piece in all rotations
    for quad, piece in zip(quads, numbers, strict=False):
        if quad is not None and piece is not None:
            turned = {rotate(sides, turns) for sides in index.pieces[piece : piece + 1] for turns in range(4)}
            if stated.setdefault(canonical(quad), turned) != turned or not turned:
                return []
    oriented: dict[tuple[int | None, ...], list[Quad]] = defaultdict(list)  # pieces by pattern of colours; None: any
    for shown in sorted(index.shown):
        for pattern in product(*((colour, None) for colour in shown)):
            oriented[pattern].append(shown)
    left = 0

    def maps(assigned: dict[int, int], supply: Counter[Quad] | None) -> Iterator[dict[int, int]]:
        """Yield the maps that extend ``assigned``, in a fixed order; ``supply``, if given, limits the use of pieces."""
        nonlocal left
        left -= len(needed)
        if left < 0:
            said = "the letters could not be matched to the colours in reasonable time"
            raise InputError(f"{said}; expected default letters or a motifs_order")
        used, unknown = Counter[Quad](), dict[Quad, list[Quad]]()  # unknown: pieces for quads with unmapped letters
        for quad, count in needed.items():
            pattern = tuple(map(assigned.get, quad))
            options = [each for each in oriented.get(pattern, ()) if quad not in stated or each in stated[quad]]
            if not options:
                return
            if None in pattern:
                unknown[quad] = options
            else:
                used[canonical(options[0])] += count
        if supply is not None and not used <= supply:
            return
        if not unknown:
            yield assigned
            return
        quad = min(unknown, key=lambda quad: len(unknown[quad]))
        for pairs in dict.fromkeys(frozenset(zip(quad, colours, strict=True)) for colours in unknown[quad]):
            both = assigned | dict(pairs)
            if len({*both.values()}) == len(both) and all(both[letter] == colour for letter, colour in pairs):
                yield from maps(both, supply)

    for supply in (Counter({piece: len(pieces) for piece, pieces in index.by_colours.items()}), None):
        left = _MAX_QUADS
        if found := list(islice(maps({GREY: GREY}, supply), MOST_MAPS)):
            return found
    return []


def _no_piece(letters: Letters, index: PieceIndex) -> InputError:
    """Return the error for a board that has cells without a piece of the puzzle in every order of the letters."""
    with contextlib.suppress(InputError):  # raised if the search takes too long
        if match_letters([quad and (quad[0], quad[3], quad[2], quad[1]) for quad in letters.quads], index):
            said = f"the board shows the mirror images of the pieces of {index.puzzle.name}; expected its pieces"
            return InputError(f"{said} (`lns convert --mirror` makes the board of them)")
    tables = [table for order in (letters.order, _ALPHABET, *MOTIFS_ORDERS) if (table := _table(order)) is not None]
    nearest = min((index.cells_without_piece(_translated(letters.quads, table)) for table in tables), key=len)
    quad = "".join(_ALPHABET[side] for side in letters.quads[nearest[0]] or ())
    more = f" (nor are {len(nearest) - 1} other cells)" if len(nearest) > 1 else ", the only such cell"
    said = f"{index.puzzle.cell_label(nearest[0])} shows '{quad}', no piece of {index.puzzle.name}{more}"
    return InputError(f"{said}, and no order of the letters makes every cell one; expected a board of this puzzle")


def _on_its_own(letters: Letters, notes: list[str]) -> Document:
    """Return a full board and the puzzle that it defines, pieces numbered by board_pieces or cell; else only notes."""
    table = _table(letters.order)
    if table is None:
        notes.append(f"motifs_order {quoted(letters.order)} is not known: the default order is assumed")
    quads = _translated(letters.quads, table or range(26))
    cells = len(quads)
    full = [quad for quad in quads if quad is not None]
    if len(full) < cells:
        said = f"{cells - len(full)} of {cells} cells are empty: a partial board does not define its puzzle"
        return Document(FORMAT.name, None, None, (*notes, said))
    numbers, by = list(range(cells)), "cell"
    if {*letters.numbers} == {*range(cells)}:
        numbers, by = [number or 0 for number in letters.numbers], "board_pieces"
    notes.append(f"the board defines the puzzle; pieces numbered by {by}")
    cells_of: dict[Quad, list[int]] = {}
    for cell, quad in enumerate(full):
        cells_of.setdefault(canonical(quad), []).append(cell)
    if alike := next((each for each in cells_of.values() if len(each) > 1), None):
        first, second = (cell_label(cell, letters.width) for cell in alike[:2])
        others = cells - len(cells_of) - 1
        more = f", and so {'does' if others == 1 else 'do'} {count_of(others, 'other cell')}" if others else ""
        said = "identical pieces, or one placed twice (--puzzle INSTANCE tells)"
        notes.append(f"{first} and {second} show the same piece{more}: {said}")
    pieces = np.empty((cells, 4), dtype=np.int32)
    pieces[numbers] = full
    board = Board(4 * np.array(numbers, dtype=np.int32), letters.width, letters.height)
    puzzle = Puzzle(pieces, letters.width, letters.height, name=letters.name)
    return Document(FORMAT.name, puzzle, board, tuple(notes))


FORMAT = Format(
    "url", "board", "viewer URL (e2.bucas.name); url:jblackwood for another order of letters", read,
    lambda target: viewer_url(target.puzzle, target.laid, motifs_order=target.option) + "\n",
    "MOTIFS_ORDER", holds_url, clues=False,
)  # fmt: skip
