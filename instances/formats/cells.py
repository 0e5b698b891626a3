"""Boards in any dialect, by evidence: colours in place, piece and turn of each cell, or place and turn of each piece.

Each shape that a text may have is a function, and the first that recognises it makes the readings, one for each
convention; `lns.instances.formats.evidence` finds the best, and asks if two that show different boards are near each
other. An option names a convention: ``cells:udlr``, ``cells:base0,ccw,bottom,turn2`` and so on, as the notes write
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import SWAPPED, recognise
from lns.instances.formats.base import Document, Format, NearError, Source, Target, never
from lns.instances.formats.evidence import Laid, Reading, best, by_cell, by_place, in_place
from lns.instances.formats.lines import (
    BRACKETED,
    WORD_ORDER,
    Row,
    bracketed_quads,
    colour_of_letter,
    found_in,
    groups_on_a_line,
    halves,
    left_out,
    one_of,
    picture_in,
    refuse_other_sides,
    rows_of,
    sides_of_words,
    words_in_rows,
)  # fmt: skip
from lns.instances.formats.orders import CLOCKWISE, ORDERS
from lns.instances.formats.piece_list import parse
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, quoted


class _Found(NamedTuple):
    """What a text looks like, its readings or the colours in place, and notes."""

    form: str
    readings: Iterable[Reading] | Laid
    notes: tuple[str, ...] = ()


_PAIR = re.compile(r"(?<![0-9])([0-9]{1,4})[ \t]*[/(:][ \t]*([0-9])(?![0-9])")
_COMPASS = re.compile(r"\$((?:(?:\.|[0-9]{1,4}[NESW]):)+(?:\.|[0-9]{1,4}[NESW])?):?;")
_QUAD = re.compile(r"(?<![\w])[A-Za-z_]{4}(?![\w])")
CONVENTION = re.compile(r"^# (?:cells|clues):([a-z0-9,-]+)$", re.MULTILINE)  # as a writer says it
_WIDTHS = (8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64)  # numbers on a line with the colours of several cells


def count_of_boards(text: str) -> int:
    """How many boards a text holds: more than one only with compass letters."""
    return max(1, len(_COMPASS.findall(text)))


def read(source: Source) -> Document:
    texts = (_compass, _pairs, _letters, _tiles, _words, _picture, _brackets)
    form, readings, notes = next((found for shape in texts if (found := shape(source))), None) or _rows(source)
    if isinstance(readings, Laid):
        readings = in_place(readings, source.puzzle, source.name)
    wanted, said = source.words(), CONVENTION.search(source.text)
    if said and wanted <= {*said[1].split(",")}:
        wanted = {*said[1].split(",")}
    chosen = [reading for reading in readings if wanted <= reading.parts]
    if not chosen:
        raise InputError(
            f"{form}: no convention{' named so' * bool(wanted)} makes it a board"
            + (f" of {source.puzzle.name}; expected its pieces" if source.puzzle is not None else "; expected a board")
        )
    reading = best(form, chosen, format=FORMAT.name, named=bool(wanted))
    first = f"{form}, read as {reading.name} (--format {FORMAT.name}:... names another convention)"
    return Document(FORMAT.name, reading.puzzle, reading.board, (first, *notes, *_swap_helps(reading)))


def _swap_helps(reading: Reading) -> tuple[str, ...]:
    """A note if the board is better with pieces 112 and 113 exchanged, as they are in two files of Eternity II."""
    if recognise(reading.puzzle) is None:
        return ()
    first, second = SWAPPED
    numbers = reading.board.placements >> 2
    step = np.where(numbers == first, second - first, np.where(numbers == second, first - second, 0))
    board = Board(reading.board.placements + 4 * step, reading.board.width, reading.board.height)
    gain = Reading(reading.name, reading.puzzle, board).found.score - reading.found.score
    said = f"pieces {first + 1} and {second + 1} seem swapped: with them exchanged, {gain} more seams match"
    return (said,) if gain > 0 else ()


# -- shapes of boards --------------------------------------------------------------------------------------------------


def _compass(source: Source) -> _Found | None:
    """``$12N:.:7E;``: piece and compass letter of each cell."""
    if not _COMPASS.search(source.text):
        return None
    form = "pieces with compass letters"
    boards, where, left = found_in(source.text, _COMPASS, form)
    at = min(max(source.number or 1, 1), len(boards)) - 1
    tokens = [token for token in boards[at][1].split(":") if token]
    pairs = [None if token == "." else (int(token[:-1]), "NESW".index(token[-1])) for token in tokens]
    notes = (*one_of(len(boards), "boards", source.number), *left)
    return _Found(form, by_cell(_known(source, form), pairs, [where[at]] * len(pairs)), notes)


def _pairs(source: Source) -> _Found | None:
    """``12/3``, ``12(3)`` or ``12:3`` for each cell."""
    form, puzzle, count = "piece and turn of each cell", source.puzzle, len(_PAIR.findall(source.text))
    if count <= 8 and (puzzle is None or count not in (puzzle.cells, 2 * puzzle.cells)):
        return None
    found, where, left = found_in(source.text, _PAIR, "piece/turn")
    if left and not groups_on_a_line(source.text, _PAIR):
        return None
    pairs, where, twice = _once([(int(match[1]), int(match[2])) for match in found], where, puzzle)
    return _Found(form, by_cell(_known(source, form), pairs, where), left + twice)


def _letters(source: Source) -> _Found | None:
    """Four letters for each cell, as many cells on each line."""
    words = [word for word in _QUAD.findall(source.text) if word.islower() or word.isupper() or "_" in word]
    numbered = any(len(row.tokens) == 1 and row.only_numbers for row in rows_of(source.text)[:1])
    if len(words) < 4 or numbered or not (width := groups_on_a_line(source.text, _QUAD)):
        return None
    found, where, left = found_in(source.text, _QUAD, "four letters")
    quads, where, twice = _once([[*map(colour_of_letter, match[0])] for match in found], where, source.puzzle)
    return _Found("letters in place", Laid(quads, width, where), left + twice)


def _tiles(source: Source) -> _Found | None:
    """JSON of another program, with as many tiles as cells."""
    if not source.text.lstrip().startswith("{"):
        return None
    listed = parse(source.text)
    notes = tuple(note for note in listed.notes if note.startswith("left out"))
    return _Found("tiles in place", Laid(listed.quads, (listed.shape or (0, 0))[0]), notes)


def _words(source: Source) -> _Found | None:
    """Words of Tetravex in place; of two blocks of the same pieces either may be the board."""
    if not (words := words_in_rows(source.text)):
        return None
    quads, orders = sides_of_words(words), tuple(dict.fromkeys((WORD_ORDER, *ORDERS)))
    blocks = [Laid(block, len(words[0]), (), orders, framed=False) for block in halves(quads) or (quads,)]
    return _Found("words of Tetravex", (r for block in blocks for r in in_place(block, source.puzzle, source.name)))


def _picture(source: Source) -> _Found | None:
    """Three lines for each row of the board."""
    if (picture := picture_in(source.text)) is None:
        return None
    quads, width, left = picture
    return _Found("a picture of a board", Laid(quads, width, orders=[CLOCKWISE]), left)


def _brackets(source: Source) -> _Found | None:
    """Four colours of each cell in brackets."""
    quads, where, left = bracketed_quads(source.text)
    if not quads:
        return None
    return _Found("colours in brackets", Laid(quads, groups_on_a_line(source.text, BRACKETED), where), left)


def _rows(source: Source) -> _Found:
    """Rows of numbers: two (piece, turn), three (x, y, turn of each piece), four (colours, or piece and place)."""
    puzzle = source.puzzle
    header, body, left = _table(source)
    table, where, twice = _once([row.numbers for row in body], [row.line for row in body], puzzle)
    left += twice
    width, count = len(table[0]) if table else 0, len(table)
    if header is not None:
        if puzzle is not None and header.numbers not in (*_sizes(puzzle), (puzzle.piece_count,), (count,)):
            said = f"{quoted(header.text)} before a board of {puzzle.name}; expected its size"
            raise InputError(said, line=header.line)
        left += (f"line {header.line}: {header.text}, the size",)
    colours, quads = "colours in place", [list(row[at : at + 4]) for row in table for at in range(0, width, 4)]
    if width == 3:
        if puzzle is None and (len({row[:2] for row in table}) < count or max(row[2] for row in table) > 4):
            refuse_other_sides(body)
        if puzzle is None or count == puzzle.piece_count:
            form, rows = "place and turn of each piece", [(piece, *row) for piece, row in enumerate(table)]
            return _Found(form, by_place(_known(source, form), rows, where, listed=True), left)
    elif width == 4 and puzzle is None:
        columns = round(count**0.5) if round(count**0.5) ** 2 == count else 0
        if header is not None and len(header.numbers) == 2 and header.numbers[0] * header.numbers[1] == count:
            columns = header.numbers[0]
        return _Found(colours, Laid(quads, columns), left)
    elif puzzle is not None and count == puzzle.cells and width == 2:
        return _Found("piece and turn of each cell", by_cell(puzzle, table, where), left)
    elif puzzle is not None and count == puzzle.cells and width == 4:
        if readings := list(in_place(Laid(quads, puzzle.width, where), puzzle, source.name)):
            return _Found(colours, readings, left)
        return _Found("piece, column, row and turn", by_place(puzzle, table, where), left)
    elif width in _WIDTHS and count > 1:
        return _Found(colours, Laid(quads, width // 4, [line for line in where for _ in range(0, width, 4)]), left)
    raise InputError("no board is recognised; expected colours in place, or pieces and turns with --puzzle")


def _table(source: Source) -> tuple[Row | None, list[Row], tuple[str, ...]]:
    """A header, rows of as many numbers each, and a note on lines before them. Raises InputError for other rows."""
    puzzle = source.puzzle
    rows, left = number_rows(source.text, " among the numbers of a board; expected numbers only")
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


def number_rows(text: str, expected: str, *, strict: bool = False) -> tuple[list[Row], tuple[str, ...]]:
    """The rows of numbers alone, and a note on the words before them.

    Raises InputError for a word after the first, or ``strict``ly beside a number.
    """
    rows = rows_of(text)
    numbers = [row for row in rows if row.only_numbers]
    words = [row for row in rows if row.tokens and not row.only_numbers]
    for row in words:
        if (numbers and row.line > numbers[0].line) or (strict and (row.numbers or not numbers)):
            shown = " ".join(row.tokens) if strict else row.text
            raise InputError(f"{quoted(shown)}{expected}", line=row.line)
    return numbers, left_out((row.line, row.text) for row in words)


def _sizes(puzzle: Puzzle) -> tuple[tuple[int, ...], ...]:
    return (puzzle.width, puzzle.height), (puzzle.height, puzzle.width)


def _known(source: Source, form: str) -> Puzzle:
    return source.known(f"{form}: the pieces are named")


def _once(
    entries: Sequence[Any], where: Sequence[int], puzzle: Puzzle | None
) -> tuple[list[Any], list[int], tuple[str, ...]]:
    """Entries of cells and their lines, once where they say the same twice, with a note."""
    cells = len(entries) // 2
    if puzzle is None or cells != puzzle.cells or list(entries[:cells]) != list(entries[cells:]):
        return list(entries), list(where), ()
    return list(entries[:cells]), list(where[:cells]), (f"the same board twice, from line {where[cells]} again",)


# -- writing -----------------------------------------------------------------------------------------------------------


def write(target: Target) -> str:
    """``id/turns`` for each cell, a line for each row; numbers from 1, clockwise turns, ``0/0`` for an empty cell.

    An option may name another convention: ``base0``, ``bottom`` (the last row first), ``ccw``, ``turn0`` to ``turn3``.
    Without a frame, a comment names the convention, as no rim shows which one it is.
    """
    named = {part for part in (target.option or "").lower().split(",") if part}
    unknown = sorted(named - {"base0", "base1", "top", "bottom", "cw", "ccw", "turn0", "turn1", "turn2", "turn3"})
    if unknown:
        raise InputError(
            f"convention {quoted(unknown[0])}; expected base0 or base1, top or bottom, cw or ccw, turn0 to turn3"
        )
    base, sign = int("base0" not in named), -1 if "ccw" in named else 1
    offset = next((turns for turns in (1, 2, 3) if f"turn{turns}" in named), 0)
    pairs, width = target.laid.pairs(), target.laid.width
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
    "cells", "board", "boards in any dialect, by evidence; written as id/turns", never, read, write,
    "CONVENTION",
)  # fmt: skip
