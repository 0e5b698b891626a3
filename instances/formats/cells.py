"""Boards in any dialect, by evidence: colours in place, piece and turn of each cell, or place and turn of each piece.

Each shape that a text may have is a function, and the first that recognises it makes the readings: one for each order
of the sides, for numbers from 0 or 1, turns either way, rows from the top or the bottom. `instances.formats.readings`
finds the best, and asks if two that show different boards are near each other. An option names a convention:
``cells:udlr``, ``cells:base0,ccw,bottom,turn2`` and so on, as the notes write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from instances.board import Board
from instances.eternity2 import SWAPPED, recognise
from instances.formats import text
from instances.formats.base import Document, Format, NearError, NeedsPuzzleError, Quad, Source, Target, never
from instances.formats.matching import PieceIndex
from instances.formats.orders import CLOCKWISE, ORDERS, clockwise
from instances.formats.piece_list import WORD_ORDER, halves, parse, sides_of_words, words_in_rows
from instances.formats.readings import Reading, best, bottom_up, by_cell, by_place, few
from instances.formats.text import BRACKETED, Row, code_and_comment, found_in, left_out, one_of, rows_of
from instances.puzzle import GREY, MAX_CELLS, IntArray, Puzzle
from lns_support.errors import InputError
from lns_support.text import count_of, quoted

_Found = tuple[str, Iterable[Reading], tuple[str, ...]]  # what the text looks like, its readings, notes

_PAIR = re.compile(r"(?<![0-9])([0-9]{1,4})[ \t]*[/(:][ \t]*([0-9])(?![0-9])")
_COMPASS = re.compile(r"\$((?:(?:\.|[0-9]{1,4}[NESW]):)+(?:\.|[0-9]{1,4}[NESW])?):?;")
_QUAD = re.compile(r"(?<![\w])[A-Za-z_]{4}(?![\w])")
CONVENTION = re.compile(r"^# (?:cells|clues):([a-z0-9,-]+)$", re.MULTILINE)  # as `write` says it
_ALL_ORDERS = ["".join(order) for order in permutations(CLOCKWISE)]  # clockwise from the top comes first
_NEAR = 0.9  # of the most seams, in a reading without a puzzle that is looked at
_MOST_COLOURS = 4000
_WIDTHS = (8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64)  # numbers on a line with the colours of several cells


def count_of_boards(text: str) -> int:
    """How many boards a text holds: more than one only with compass letters."""
    return max(1, len(_COMPASS.findall(text)))


def read(source: Source) -> Document:
    shapes = (_compass, _pairs, _letters, _tiles, _words, _picture, _brackets)
    form, readings, left = next((found for shape in shapes if (found := shape(source))), None) or _rows(source)
    wanted = {part for part in (source.option or "").lower().split(",") if part}
    if (said := CONVENTION.search(source.text)) and wanted <= {*said[1].split(",")}:
        wanted = {*said[1].split(",")}
    chosen = [reading for reading in readings if wanted <= reading.parts]
    if not chosen:
        raise InputError(
            f"{form}: no convention{' named so' * bool(wanted)} makes it a board"
            + (f" of {source.puzzle.name}; expected its pieces" if source.puzzle is not None else "; expected a board")
        )
    reading = best(form, chosen, format=FORMAT.name, named=bool(wanted))
    notes = [f"{form}, read as {reading.name} (--format {FORMAT.name}:... names another convention)", *left]
    if swapped := _swap_helps(reading):
        notes.append(swapped)
    return Document(FORMAT.name, reading.puzzle, reading.board, tuple(notes))


def _swap_helps(reading: Reading) -> str:
    """A note if the board is better with pieces 112 and 113 exchanged, as they are in two files of Eternity II."""
    if recognise(reading.puzzle) is None:
        return ""
    first, second = SWAPPED
    numbers = reading.board.placements >> 2
    step = np.where(numbers == first, second - first, np.where(numbers == second, first - second, 0))
    board = Board(reading.board.placements + 4 * step, reading.board.width, reading.board.height)
    gain = Reading(reading.name, reading.puzzle, board).found.score - reading.found.score
    if gain <= 0:
        return ""
    return f"pieces {first + 1} and {second + 1} seem swapped: with them exchanged, {gain} more seams match"


# -- shapes of texts ---------------------------------------------------------------------------------------------------


def _compass(source: Source) -> _Found | None:
    """``$12N:.:7E;``: piece and compass letter of each cell."""
    if not _COMPASS.search(source.text):
        return None
    form = "pieces with compass letters"
    boards, where, left = found_in(source.text, _COMPASS, form)
    at = min(max(source.number or 1, 1), len(boards)) - 1
    tokens = [token for token in boards[at][1].split(":") if token]
    pairs = [None if token == "." else (int(token[:-1]), "NESW".index(token[-1])) for token in tokens]
    left = (*one_of(len(boards), "boards", source.number), *left)
    return form, by_cell(_known(source, form), pairs, [where[at]] * len(pairs)), left


def _pairs(source: Source) -> _Found | None:
    """``12/3``, ``12(3)`` or ``12:3`` for each cell."""
    form, puzzle, count = "piece and turn of each cell", source.puzzle, len(_PAIR.findall(source.text))
    if count <= 8 and (puzzle is None or count not in (puzzle.cells, 2 * puzzle.cells)):
        return None
    found, where, left = found_in(source.text, _PAIR, "piece/turn")
    if left and not _line_width(source.text, _PAIR):
        return None
    pairs, where, twice = _once([(int(match[1]), int(match[2])) for match in found], where, puzzle)
    return form, by_cell(_known(source, form), pairs, where), left + twice


def _letters(source: Source) -> _Found | None:
    """Four letters for each cell, as many cells on each line."""
    words = [word for word in _QUAD.findall(source.text) if word.islower() or word.isupper() or "_" in word]
    numbered = any(len(row.tokens) == 1 and row.only_numbers for row in rows_of(source.text)[:1])
    if len(words) < 4 or numbered or not (width := _line_width(source.text, _QUAD)):
        return None
    found, where, left = found_in(source.text, _QUAD, "four letters")
    quads = [[text.colour_of_letter(letter) for letter in match[0]] for match in found]
    quads, where, twice = _once(quads, where, source.puzzle)
    return "letters in place", in_place(quads, width, source.puzzle, source.name, where), left + twice


def _tiles(source: Source) -> _Found | None:
    """JSON of another program, with as many tiles as cells."""
    if not source.text.lstrip().startswith("{"):
        return None
    listed = parse(source.text)
    laid = in_place(listed.quads, (listed.shape or (0, 0))[0], source.puzzle, source.name)
    return "tiles in place", laid, tuple(note for note in listed.notes if note.startswith("left out"))


def _words(source: Source) -> _Found | None:
    """Words of Tetravex in place; of two blocks of the same pieces either may be the board."""
    if not (words := words_in_rows(source.text)):
        return None
    quads, orders = sides_of_words(words), [WORD_ORDER, *(order for order in ORDERS if order != WORD_ORDER)]
    laid = (
        reading
        for block in halves(quads) or (quads,)
        for reading in in_place(block, len(words[0]), source.puzzle, source.name, orders=orders, framed=False)
    )
    return "words of Tetravex", laid, ()


def _picture(source: Source) -> _Found | None:
    """Three lines for each row of the board."""
    if (picture := text.picture_in(source.text)) is None:
        return None
    quads, width, left = picture
    return "a picture of a board", in_place(quads, width, source.puzzle, source.name, orders=[CLOCKWISE]), left


def _brackets(source: Source) -> _Found | None:
    """Four colours of each cell in brackets."""
    quads, where, left = text.bracketed_quads(source.text)
    if not quads:
        return None
    width = _line_width(source.text, BRACKETED)
    return "colours in brackets", in_place(quads, width, source.puzzle, source.name, where), left


def _rows(source: Source) -> _Found:
    """Rows of numbers: two (piece, turn), three (x, y, turn of each piece), four (colours, or piece and place)."""
    puzzle, name = source.puzzle, source.name
    header, body, left = _table(source)
    table, where, twice = _once([row.numbers for row in body], [row.line for row in body], puzzle)
    left += twice
    width, count = len(table[0]) if table else 0, len(table)
    if header is not None:
        if puzzle is not None and header.numbers not in (*_sizes(puzzle), (puzzle.piece_count,), (count,)):
            said = f"{quoted(header.text)} before a board of {puzzle.name}; expected its size"
            raise InputError(said, line=header.line)
        left += (f"line {header.line}: {header.text}, the size",)
    if width == 2 and puzzle is not None and count == puzzle.cells:
        return "piece and turn of each cell", by_cell(puzzle, table, where), left
    if width == 3:
        if puzzle is None and (len({row[:2] for row in table}) < count or max(row[2] for row in table) > 4):
            text.refuse_other_sides(body)
        if puzzle is None or count == puzzle.piece_count:
            form = "place and turn of each piece"
            rows = [(piece, *row) for piece, row in enumerate(table)]
            return form, by_place(_known(source, form), rows, where, listed=True), left
    if width == 4 and puzzle is not None and count == puzzle.cells:
        if laid := list(in_place([list(row) for row in table], puzzle.width, puzzle, name, where)):
            return "colours in place", laid, left
        return "piece, column, row and turn", by_place(puzzle, table, where), left
    if width == 4 and puzzle is None:
        side = round(count**0.5)
        columns = side if side * side == count else 0
        if header is not None and len(header.numbers) == 2 and header.numbers[0] * header.numbers[1] == count:
            columns = header.numbers[0]
        return "colours in place", in_place([list(row) for row in table], columns, None, name), left
    if width in _WIDTHS and count > 1:
        quads = [list(row[at : at + 4]) for row in table for at in range(0, width, 4)]
        lines = [line for line in where for _ in range(0, width, 4)]
        return "colours in place", in_place(quads, width // 4, puzzle, name, lines), left
    raise InputError("no board is recognised; expected colours in place, or pieces and turns with --puzzle")


def _table(source: Source) -> tuple[Row | None, list[Row], tuple[str, ...]]:
    """A header, rows of as many numbers each, and a note on lines before them. Raises InputError for other rows."""
    every, puzzle = rows_of(source.text), source.puzzle
    rows = [row for row in every if row.only_numbers]
    words = [row for row in every if row.tokens and not row.only_numbers]
    if (odd := next((row for row in words if rows and row.line > rows[0].line), None)) is not None:
        raise InputError(f"{quoted(odd.text)} among the numbers of a board; expected numbers only", line=odd.line)
    left = left_out((row.line, row.text) for row in words)
    widths = [len(row.numbers) for row in rows]
    width = max(set(widths), key=widths.count, default=0)
    if width == 2 and puzzle is not None and len(rows) == puzzle.cells + 1 and rows[0].numbers in _sizes(puzzle):
        rows = rows[1:]
    header = rows[0] if rows and len(rows[0].numbers) != width else None
    body = rows if header is None else rows[1:]
    if (odd := next((row for row in body if len(row.numbers) != width), None)) is not None:
        kind = NearError if len(body) > 4 and puzzle is not None else InputError
        raise kind(f"{count_of(len(odd.numbers), 'number')}; expected {width} as in the other lines", line=odd.line)
    return header, body, left


def _sizes(puzzle: Puzzle) -> tuple[tuple[int, ...], ...]:
    return (puzzle.width, puzzle.height), (puzzle.height, puzzle.width)


def _known(source: Source, form: str) -> Puzzle:
    if source.puzzle is None:
        raise NeedsPuzzleError(
            f"{form}: the pieces are named by number; expected the puzzle with it (--puzzle INSTANCE)"
        )
    return source.puzzle


def _once(
    entries: Sequence[Any], where: Sequence[int], puzzle: Puzzle | None
) -> tuple[list[Any], list[int], tuple[str, ...]]:
    """Entries of cells and their lines, once where they say the same twice, with a note."""
    cells = len(entries) // 2
    if puzzle is None or cells != puzzle.cells or list(entries[:cells]) != list(entries[cells:]):
        return list(entries), list(where), ()
    return list(entries[:cells]), list(where[:cells]), (f"the same board twice, from line {where[cells]} again",)


def _line_width(text: str, pattern: re.Pattern[str]) -> int:
    """How many groups the lines have that have any, if all have the same number; else 0."""
    lines = (code_and_comment(line)[0] for line in text.split("\n"))
    counts = {len(found) for line in lines if (found := pattern.findall(line))}
    return counts.pop() if len(counts) == 1 else 0


# -- colours in place --------------------------------------------------------------------------------------------------


def in_place(
    quads: list[list[int]],
    width: int,
    puzzle: Puzzle | None,
    name: str,
    where: Sequence[int] = (),
    orders: Sequence[str] = _ALL_ORDERS,
    framed: bool = True,
) -> Iterator[Reading]:
    """Four colours for each cell, in each order of the sides, rows from the top or the bottom.

    ``where`` has the line of each cell; ``framed``: a full board may define a puzzle with a frame.
    """
    width = width or (puzzle.width if puzzle is not None else 0)
    if not width or len(quads) % width or len(quads) > MAX_CELLS or max(map(max, quads)) > _MOST_COLOURS:
        return
    height = len(quads) // width
    laid = {
        f"{order},{end}": cells if end == "top" else bottom_up(cells, width)
        for order in orders
        for cells in [clockwise(quads, order)]
        for end in ("top", "bottom")
    }
    if puzzle is None:
        arrays = {convention: np.array(cells).reshape(height, width, 4) for convention, cells in laid.items()}
        seams = {
            convention: _seams(shown, int(np.bincount(_rim(shown)).argmax())) for convention, shown in arrays.items()
        }
        board = Board(4 * np.arange(width * height, dtype=np.int32), width, height)
        for convention, shown in arrays.items():
            if seams[convention] >= _NEAR * max(seams.values()) and (own := _own_puzzle(shown, name, framed)):
                yield Reading(convention, own, board)
    elif (puzzle.width, puzzle.height) == (width, height):
        index = PieceIndex(puzzle)
        for convention, cells in laid.items():
            lines = list(where) or [0] * len(cells)
            lines = lines if convention.endswith("top") else bottom_up(lines, width)
            yield from _of_puzzle(convention, cells, lines, index)


def _of_puzzle(
    convention: str, colours: Sequence[Sequence[int]], lines: Sequence[int], index: PieceIndex
) -> Iterator[Reading]:
    """The board of a known puzzle, without a few cells that show none of its pieces."""
    puzzle = index.puzzle
    first = int(not puzzle.framed)  # the number of the first colour, as the piece list is read
    empties = puzzle.framed and puzzle.cells > 1
    cells: list[Quad | None] = [
        None if empties and not any(quad) else (quad[0] + first, quad[1] + first, quad[2] + first, quad[3] + first)
        for quad in colours
    ]
    odd = [
        (lines[cell], f"{puzzle.cell_label(cell)} shows {' '.join(map(str, colours[cell]))}, no piece of {puzzle.name}")
        for cell in index.cells_without_piece(cells)
    ]
    if few(len(odd), len(cells)):
        for cell in index.cells_without_piece(cells):
            cells[cell] = None
        yield Reading(convention, puzzle, index.board(cells)[0], tuple(odd))


def _own_puzzle(shown: IntArray, name: str, framed: bool) -> Puzzle | None:
    """The puzzle that a full board defines: with a frame if its rim is one colour, else without, if its seams match."""
    height, width, _ = shown.shape
    border, *others = set(_rim(shown).tolist())
    if framed and not others:
        swapped = np.where(shown == border, GREY, np.where(shown == GREY, border, shown))
        try:
            return Puzzle(swapped.reshape(-1, 4), width, height, name=name)
        except InputError:
            return None
    if _seams(shown) < width * (height - 1) + height * (width - 1):
        return None
    return Puzzle(shown.reshape(-1, 4) + 1, width, height, name=name, framed=False, turns=False)


def _rim(shown: IntArray) -> IntArray:
    """The colours along the rim of (height, width, 4) colours."""
    return np.concatenate([shown[0, :, 0], shown[:, -1, 1], shown[-1, :, 2], shown[:, 0, 3]])


def _seams(shown: IntArray, border: int = -1) -> int:
    """Matched seams of (height, width, 4) colours, but for those of the colour of the border."""
    pairs = (shown[:, :-1, 1], shown[:, 1:, 3]), (shown[:-1, :, 2], shown[1:, :, 0])
    return sum(int(((one == two) & (one != border)).sum()) for one, two in pairs)


# -- writing -----------------------------------------------------------------------------------------------------------


def write(target: Target) -> str:
    """``id/turns`` for each cell, a line for each row; numbers from 1, clockwise turns, ``0/0`` for an empty cell.

    An option may name another convention: ``base0``, ``bottom`` (the last row first), ``ccw``, ``turn0`` to ``turn3``.
    Without a frame, a comment names the convention, as no rim shows which one it is.
    """
    assert target.board is not None
    named = {part for part in (target.option or "").lower().split(",") if part}
    unknown = sorted(named - {"base0", "base1", "top", "bottom", "cw", "ccw", "turn0", "turn1", "turn2", "turn3"})
    if unknown:
        raise InputError(
            f"convention {quoted(unknown[0])}; expected base0 or base1, top or bottom, cw or ccw, turn0 to turn3"
        )
    base, sign = int("base0" not in named), -1 if "ccw" in named else 1
    offset = next((turns for turns in (1, 2, 3) if f"turn{turns}" in named), 0)
    pairs, width = target.board.pairs(), target.board.width
    if not base and None in pairs:
        raise InputError(f"{count_of(pairs.count(None), 'cell')} without a piece; expected a full board for base0")
    if not target.puzzle.turns and (offset or sign < 0):
        raise InputError(f"the pieces of {target.puzzle.name} are never turned; expected cw and turn0")
    entries = ["0/0" if pair is None else f"{pair[0] + base}/{sign * (pair[1] - offset) % 4}" for pair in pairs]
    lines = [" ".join(entries[at : at + width]) for at in range(0, len(entries), width)]
    if "bottom" in named:
        lines.reverse()
    if not target.puzzle.framed:
        ends = "bottom" if "bottom" in named else "top", "ccw" if sign < 0 else "cw"
        lines.insert(0, f"# {FORMAT.name}:base{base},{','.join(ends)},turn{offset}")
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "cells", "board", "boards in any dialect, by evidence; written as id/turns", never, read, write, "CONVENTION"
)
