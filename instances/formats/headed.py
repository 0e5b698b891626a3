"""Puzzles under a header, all numbers counted from 1: ``benoist``, ``quads`` and ``meta``.

``benoist``, which Cuvillier & Szymkowiak 2010 use, is for squares: lines with the size, the number of colours and the
number of hints; the hints; the pieces. ``quads`` is for any rectangle: ``width height``, or ``width height clues N``
with N clues; the pieces. ``meta``, the form of the META 2010 contest: ``rows columns``; the pieces.

A hint or clue is ``row column piece rotation``, rotation 1 unturned and the others clockwise. A piece is ``up right
down left``, 0 = rim; in ``meta`` it is clockwise from the bottom. Nothing in a file of ``meta`` shows that: read as
``quads``, as any program reads it, it holds the same pieces, each turned twice.
"""

from __future__ import annotations

import re

import numpy as np

from instances.formats.base import Document, Format, Source, Target, never
from instances.formats.e2pieces import CLOCKWISE, checked_order, clockwise, in_order, order_of
from instances.formats.text import (
    MAX_SIDE,
    Lines,
    board_shape,
    check_square,
    first_rows,
    quad_lines,
    starts_like_numbers,
    with_clues,
)
from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle

META_ORDER = "dlur"  # clockwise from the bottom
_WITH_CLUES = re.compile(r"[0-9]+\s+[0-9]+\s+clues\s+[0-9]+")


def has_clues(text: str) -> bool:
    """Whether a text begins with the header of ``quads`` for clues, which no other program writes."""
    rows = first_rows(text, 1)
    return bool(rows) and _WITH_CLUES.fullmatch(rows[0].strip()) is not None


def _looks_like_benoist(text: str) -> bool:
    rows = first_rows(text, 2)
    return bool(rows) and starts_like_numbers(rows[0], 1) and not any("," in row for row in rows)


def _looks_like_quads(text: str) -> bool:
    rows = first_rows(text, 2)
    headed = bool(rows) and starts_like_numbers(rows[0], 2) and (len(rows) == 1 or len(rows[1].split()) != 2)
    return headed or has_clues(text)


def _read_benoist(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers(1, [(1, MAX_SIDE)], "the size of the board")
    _, [colours] = lines.numbers(1, [(0, MAX_COLOUR)], "the number of colours")
    _, [hints] = lines.numbers(1, [(0, size * size)], "the number of hints")
    clues = _clue_lines(lines, hints, size, size, "hint")
    columns = quad_lines(lines, size * size, high=colours)
    order, notes = order_of(columns, source.option, BENOIST.name, clues=bool(clues))
    puzzle = Puzzle(np.array(clockwise(columns, order), dtype=np.int32), size, size, name=source.name)
    return Document(BENOIST.name, with_clues(puzzle, clues), None, notes)


def _read_quads(source: Source) -> Document:
    with_header = has_clues(source.text)
    lines = Lines(_WITH_CLUES.sub(lambda header: header[0].replace("clues", " "), source.text, count=int(with_header)))
    bounds, what = ([(0, MAX_CELLS)], ", clues") if with_header else ([], "")
    line, (width, height, *counts) = lines.numbers(
        2 + len(bounds), [(1, MAX_CELLS), (1, MAX_CELLS), *bounds], f"the header (width, height{what})"
    )
    board_shape(width, height, line)
    clues = _clue_lines(lines, sum(counts), width, height, "clue")
    columns = quad_lines(lines, width * height)
    option = source.option
    if 1 in (width, height) and option is None:  # there are no corner pieces, by which another order would show
        option = CLOCKWISE
    order, notes = order_of(columns, option, QUADS.name, clues=bool(clues))
    puzzle = Puzzle(np.array(clockwise(columns, order), dtype=np.int32), width, height, name=source.name)
    if width != height and not with_header:
        way = f"--puzzle-format pieces:{height}x{width} is the other way"
        notes += (f"header read as width {width}, height {height} ({way})",)
    return Document(QUADS.name, with_clues(puzzle, clues), None, notes)


def _read_meta(source: Source) -> Document:
    lines = Lines(source.text)
    line, (height, width) = lines.numbers(2, [(1, MAX_CELLS)] * 2, "the header (rows, columns)")
    board_shape(width, height, line)
    quads = clockwise(quad_lines(lines, width * height), META_ORDER)
    return Document(META.name, Puzzle(np.array(quads, dtype=np.int32), width, height, name=source.name), None)


def _clue_lines(lines: Lines, count: int, width: int, height: int, what: str) -> list[tuple[int, Clue]]:
    clues = []
    for index in range(count):
        line, (row, column, piece, rotation) = lines.numbers(
            4, [(1, height), (1, width), (1, width * height), (1, 4)],
            f"{what} {index + 1} of {count} (row, column, piece, rotation)",
        )  # fmt: skip
        clues.append((line, Clue((row - 1) * width + column - 1, piece - 1, rotation - 1)))
    return clues


def _write_benoist(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, BENOIST.name)
    return _text(target, [[puzzle.width], [puzzle.colours], [len(puzzle.clues)]], BENOIST.name)


def _write_quads(target: Target) -> str:
    puzzle = target.puzzle
    clues: list[int | str] = ["clues", len(puzzle.clues)] if puzzle.clues else []
    return _text(target, [[puzzle.width, puzzle.height, *clues]], QUADS.name)


def _text(target: Target, rows: list[list[int | str]], format: str) -> str:
    for clue in target.puzzle.clues:
        row, column = divmod(clue.cell, target.puzzle.width)
        rows.append([row + 1, column + 1, clue.piece + 1, clue.rotation + 1])
    rows += in_order(target.puzzle.pieces.tolist(), checked_order(target.option or CLOCKWISE, format))  # type: ignore[arg-type]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def _write_meta(target: Target) -> str:
    puzzle = target.puzzle
    if puzzle.clues:
        target.notes.append(f"{META.name} carries no clues: {len(puzzle.clues)} left out")
    rows = [[puzzle.height, puzzle.width], *in_order(puzzle.pieces.tolist(), META_ORDER)]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


BENOIST = Format(
    "benoist", "puzzle", "text of Benoist: size, colours, hints, pieces", _looks_like_benoist, _read_benoist,
    _write_benoist, "ORDER",
)  # fmt: skip
QUADS = Format(
    "quads", "puzzle", "'width height', then four clockwise colours for each piece; clues too", _looks_like_quads,
    _read_quads, _write_quads, "ORDER",
)  # fmt: skip
META = Format("meta", "puzzle", "META 2010: 'rows columns', then bottom left top right", never, _read_meta, _write_meta)
