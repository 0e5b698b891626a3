"""Boards in any dialect, by evidence: colours in place, piece and turn of each cell, or place and turn of each piece.

Candidate conventions (order of the sides, numbers from 0 or 1, turns either way, rows from the top or the bottom) are
generated, and each is rated by what it makes legal: clues, rim, each piece once, and the seams. The best wins if no
other comes near; two that show different boards and are near each other are asked about. An option names a convention:
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
from instances.formats.base import Document, Format, NearError, NeedsPuzzleError, Quad, Source, Target, never
from instances.formats.e2pieces import CLOCKWISE, ORDERS, clockwise
from instances.formats.piece_index import PieceIndex
from instances.formats.piece_list import WORD_ORDER, halves, parse, sides_of_words, words_in_rows
from instances.formats.placed import Reading, by_cell, by_piece, few, placed_pieces
from instances.formats.rows import (
    BRACKETED,
    bracketed_quads,
    code_and_comment,
    colour_of_letter,
    found_in,
    left_out,
    one_of,
    picture_in,
    refuse_other_sides,
    rows_of,
)
from instances.puzzle import GREY, MAX_CELLS, IntArray, Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.text import count_of, quoted

_PAIR = re.compile(r"(?<![0-9])([0-9]{1,4})[ \t]*[/(:][ \t]*([0-9])(?![0-9])")
_COMPASS = re.compile(r"\$((?:(?:\.|[0-9]{1,4}[NESW]):)+(?:\.|[0-9]{1,4}[NESW])?):?;")
_QUAD = re.compile(r"(?<![\w])[A-Za-z_]{4}(?![\w])")
CONVENTION = re.compile(r"^# (?:cells|clues):([a-z0-9,-]+)$", re.MULTILINE)  # as `write` says it
_ORDERS = ["".join(order) for order in permutations(CLOCKWISE)]  # clockwise from the top comes first
_NEAR = 0.9  # a second convention with this share of the seams of the best is too near
_FEW = 0.4  # a wrong convention may match this share of the seams between placed pieces
_ENOUGH = 24  # seams; on fewer the share says little


def count_of_boards(text: str) -> int:
    """How many boards a text holds: more than one only with compass letters."""
    return max(1, len(_COMPASS.findall(text)))


def read(source: Source) -> Document:
    form, readings, left = _readings(source)
    wanted = {part for part in (source.option or "").lower().split(",") if part}
    if (said := CONVENTION.search(source.text)) and wanted <= {*said[1].split(",")}:
        wanted = {*said[1].split(",")}
    chosen = [reading for reading in readings if wanted <= set(reading.name.split(","))]
    if not chosen:
        raise InputError(
            f"{form}: no convention{' named so' * bool(wanted)} makes it a board"
            + (f" of {source.puzzle.name}; expected its pieces" if source.puzzle is not None else "; expected a board")
        )
    reading = best(form, chosen, named=bool(wanted))
    notes = [f"{form}, read as {reading.name} (--format {FORMAT.name}:... names another convention)", *left]
    if swapped := _swap_helps(reading):
        notes.append(swapped)
    return Document(FORMAT.name, reading.puzzle, reading.board, tuple(notes))


def best(form: str, readings: Sequence[Reading], *, named: bool = False) -> Reading:
    """The reading that makes most legal. Raises InputError if another that shows another board comes near.

    ``named``: the convention was named, so that few matched seams are no sign of a wrong one.
    """
    rated = sorted(((faults_of(each), each) for each in readings), key=lambda entry: (entry[0], _oddity(entry[1])))
    (faults, loss), best = rated[0]
    if best.odd:
        line, sentence = best.odd[0]
        raise NearError(f"{sentence} (read as {FORMAT.name}:{best.name})", line=line or None)
    for (other_faults, other_loss), other in rated[1:]:
        if other_faults > faults:
            break
        same = np.array_equal(other.board.colours(other.puzzle), best.board.colours(best.puzzle))
        if not same and -other_loss >= -loss * _NEAR and not _turned(best, other):
            raise InputError(
                f"{form}: it fits as {FORMAT.name}:{best.name} and as {FORMAT.name}:{other.name}; "
                f"expected one of them, such as --format {FORMAT.name}:{best.name}"
            )
    seams = verify(best.puzzle, best.board)
    if faults > 0.05 * seams.placed + 5 and seams.placed > 3:
        raise InputError(
            f"{form}: the best convention ({best.name}) breaks {faults} rules; expected a board of {best.puzzle.name} "
            "(another numbering or side order of the pieces?)"
        )
    pairs = seams.score + len(seams.mismatches)
    if not named and pairs >= _ENOUGH and seams.score < _FEW * pairs:
        raise InputError(
            f"{form}: the best convention ({best.name}) matches {seams.score} of {pairs} seams of pieces; expected a "
            f"board of {best.puzzle.name}, its pieces listed in the turns that the board counts from, or the "
            f"convention by name as --format {FORMAT.name}:{best.name}"
        )
    return best


def _oddity(reading: Reading) -> int:
    """How far a convention is from the usual one; it decides between a board and the same board turned."""
    parts = reading.name.split(",")
    return sum(part in parts for part in ("bottom", "ccw", "turn1", "turn2", "turn3", "turn-first", "place-first"))


def faults_of(reading: Reading) -> tuple[int, int]:
    """(broken rules, minus the score): the smaller the more legal."""
    puzzle, board = reading.puzzle, reading.board
    shown = board.colours(puzzle)
    broken = sum(
        bool(shown[clue.cell][0] >= 0) and not np.array_equal(shown[clue.cell], puzzle.oriented[clue.oriented])
        for clue in puzzle.clues
    )
    placed = board.placements[board.placements >= 0] >> 2
    broken += len(placed) - len(np.unique(placed))
    broken += 0 if puzzle.turns else int((board.placements[board.placements >= 0] % 4 > 0).sum())
    broken += int((shown[list(puzzle.holes), 0] >= 0).sum())
    border = GREY if puzzle.framed else None
    rim, seams = _rim_and_seams(shown.reshape(board.height, board.width, 4), border, puzzle.holes)
    return broken + rim + 2 * len(reading.odd), -seams


def _rim_and_seams(shown: IntArray, border: int | None, holes: Sequence[int] = ()) -> tuple[int, int]:
    """Faults of the rim, and matched seams, of (height, width, 4) colours; -1 is empty. Holes are beyond the rim."""
    right, left, down, up = shown[:, :-1, 1], shown[:, 1:, 3], shown[:-1, :, 2], shown[1:, :, 0]
    seams = sum(
        int(((a == b) & (a >= 0) & (a != (-1 if border is None else border))).sum())
        for a, b in ((right, left), (down, up))
    )
    if border is None:
        return 0, seams
    beyond = np.ones((shown.shape[0] + 2, shown.shape[1] + 2), dtype=bool)
    beyond[1:-1, 1:-1] = np.isin(np.arange(shown[:, :, 0].size), holes).reshape(shown.shape[:2])
    rim = np.stack([beyond[:-2, 1:-1], beyond[1:-1, 2:], beyond[2:, 1:-1], beyond[1:-1, :-2]], axis=2)  # as the sides
    return int(((shown >= 0) & ((shown == border) != rim)).sum()), seams


def _swap_helps(reading: Reading) -> str:
    """A note if the board is better with pieces 112 and 113 exchanged, as they are in two files of Eternity II."""
    if recognise(reading.puzzle) is None:
        return ""
    first, second = SWAPPED
    numbers = reading.board.placements >> 2
    step = np.where(numbers == first, second - first, np.where(numbers == second, first - second, 0))
    board = Board(reading.board.placements + 4 * step, reading.board.width, reading.board.height)
    gain = faults_of(reading)[1] - faults_of(Reading(reading.name, reading.puzzle, board))[1]
    if gain <= 0:
        return ""
    return f"pieces {first + 1} and {second + 1} seem swapped: with them exchanged, {gain} more seams match"


def _turned(first: Reading, second: Reading) -> bool:
    """Whether two boards are one board, turned; or mirrored, where each defines its own pieces."""
    shape = first.board.height, first.board.width, 4
    one, two = (np.asarray(each.board.colours(each.puzzle)).reshape(shape) for each in (first, second))
    if first.puzzle is not second.puzzle and np.array_equal(one[::-1][:, :, [2, 1, 0, 3]], two):
        return True
    if shape[0] != shape[1]:
        return False
    if first.puzzle is not second.puzzle and np.array_equal(one.transpose(1, 0, 2)[:, :, [3, 2, 1, 0]], two):
        return True
    turned = one[::-1][:, :, [2, 1, 0, 3]] if first.puzzle is not second.puzzle else one
    if any(np.array_equal(np.roll(np.rot90(turned, -k), k, axis=2), two) for k in (1, 2, 3)):
        return True
    return any(np.array_equal(np.roll(np.rot90(one, -k), k, axis=2), two) for k in (1, 2, 3))


def _readings(source: Source) -> tuple[str, Iterable[Reading], tuple[str, ...]]:
    """What the text looks like, its interpretations, and a note on lines that are left out."""
    text, puzzle = source.text, source.puzzle
    if _COMPASS.search(text):
        form = "pieces with compass letters"
        compass, left = found_in(text, _COMPASS, form)
        line, shown = compass[min(max(source.number or 1, 1), len(compass)) - 1]
        tokens = [token for token in shown[1].split(":") if token]
        pairs = [None if token == "." else (int(token[:-1]), "NESW".index(token[-1])) for token in tokens]
        left = (*one_of(len(compass), "boards", source.number), *left)
        return form, by_cell(_known(puzzle, form), pairs, [line] * len(pairs)), left
    form = "piece and turn of each cell"
    count = len(_PAIR.findall(text))
    if count > 8 or (puzzle is not None and count in (puzzle.cells, 2 * puzzle.cells)):
        found, left = found_in(text, _PAIR, "piece/turn")
        pairs = [(int(match[1]), int(match[2])) for _, match in found]
        if not re.match("left out", "".join(left)) or _line_width(text, _PAIR):
            pairs, where, twice = _once(pairs, [line for line, _ in found], puzzle)
            return form, by_cell(_known(puzzle, form), pairs, where), left + twice
    letters = [quad for quad in _QUAD.findall(text) if quad.islower() or quad.isupper() or "_" in quad]
    numbered = any(len(row.tokens) == 1 and row.only_numbers for row in rows_of(text)[:1])
    if len(letters) >= 4 and not numbered and (width := _line_width(text, _QUAD)):
        found, left = found_in(text, _QUAD, "four letters")
        quads = [[colour_of_letter(letter) for letter in match[0]] for _, match in found]
        quads, where, twice = _once(quads, [line for line, _ in found], puzzle)
        return "letters in place", in_place(quads, width, puzzle, source.name, where), left + twice
    if text.lstrip().startswith("{"):
        listed = parse(text)
        laid = in_place(listed.quads, (listed.shape or (0, 0))[0], puzzle, source.name)
        return "tiles in place", laid, tuple(note for note in listed.notes if note.startswith("left out"))
    if words := words_in_rows(text):
        return "words of Tetravex", _words(words, source), ()
    if (picture := picture_in(text)) is not None:
        quads, width, left = picture
        return "a picture of a board", in_place(quads, width, puzzle, source.name, orders=[CLOCKWISE]), left
    quads, where, left = bracketed_quads(text)
    if quads:
        width = _line_width(text, BRACKETED)
        return "colours in brackets", in_place(quads, width, puzzle, source.name, where), left
    return _rows(source)


def _once(
    entries: Sequence[Any], where: Sequence[int], puzzle: Puzzle | None
) -> tuple[list[Any], list[int], tuple[str, ...]]:
    """Entries of cells and their lines, once where they say the same twice, with a note."""
    cells = len(entries) // 2
    if puzzle is None or cells != puzzle.cells or list(entries[:cells]) != list(entries[cells:]):
        return list(entries), list(where), ()
    return list(entries[:cells]), list(where[:cells]), (f"the same board twice, from line {where[cells]} again",)


def _words(words: Sequence[Sequence[str]], source: Source) -> Iterator[Reading]:
    """Words of Tetravex in place; of two blocks of the same pieces either may be the board."""
    quads, width = sides_of_words(words), len(words[0])
    for block in halves(quads) or (quads,):
        orders = [WORD_ORDER, *(order for order in ORDERS if order != WORD_ORDER)]
        yield from in_place(block, width, source.puzzle, source.name, orders=orders, framed=False)


def _known(puzzle: Puzzle | None, form: str) -> Puzzle:
    if puzzle is None:
        raise NeedsPuzzleError(
            f"{form}: the pieces are named by number; expected the puzzle with it (--puzzle INSTANCE)"
        )
    return puzzle


def _rows(source: Source) -> tuple[str, Iterable[Reading], tuple[str, ...]]:
    """Rows of numbers: two (piece, turn), three (x, y, turn of each piece), four (colours, or piece and place)."""
    every, puzzle, name = rows_of(source.text), source.puzzle, source.name
    rows = [row for row in every if row.only_numbers]
    words = next((row for row in every if rows and row.line > rows[0].line and row.tokens and row not in rows), None)
    if words is not None:
        raise InputError(f"{quoted(words.text)} among the numbers of a board; expected numbers only", line=words.line)
    left = left_out((row.line, row.text) for row in every if row.tokens and not row.only_numbers)
    width = max({len(row.numbers) for row in rows}, key=[len(row.numbers) for row in rows].count, default=0)
    sizes = () if puzzle is None else ((puzzle.width, puzzle.height), (puzzle.height, puzzle.width))
    if width == 2 and puzzle is not None and len(rows) == puzzle.cells + 1 and rows[0].numbers in sizes:
        rows = rows[1:]
    headed = bool(rows) and len(rows[0].numbers) != width
    header = rows[0].numbers if headed else ()
    body = rows[headed:]
    odd = next((row for row in body if len(row.numbers) != width), None)
    if odd is not None:
        kind = NearError if len(body) > 4 and puzzle is not None else InputError
        raise kind(f"{count_of(len(odd.numbers), 'number')}; expected {width} as in the other lines", line=odd.line)
    table, where, twice = _once([row.numbers for row in body], [row.line for row in body], puzzle)
    left += twice
    if header and puzzle is not None and header not in (*sizes, (puzzle.piece_count,), (len(table),)):
        raise InputError(
            f"{quoted(rows[0].text)} before a board of {puzzle.name}; expected its size", line=rows[0].line
        )
    left += (f"line {rows[0].line}: {rows[0].text}, the size",) if header else ()
    if width == 2 and puzzle is not None and len(table) == puzzle.cells:
        return "piece and turn of each cell", by_cell(puzzle, table, where), left
    if (
        width == 3
        and puzzle is None
        and not (len({row[:2] for row in table}) == len(table) and max(row[2] for row in table) <= 4)
    ):
        refuse_other_sides(body)
    if width == 3 and (puzzle is None or len(table) == puzzle.piece_count):
        known = _known(puzzle, "place and turn of each piece")
        return "place and turn of each piece", by_piece(known, list(enumerate(table)), where), left
    if width == 4 and puzzle is not None and len(table) == puzzle.cells:
        laid = list(in_place([list(row) for row in table], puzzle.width, puzzle, name, where))
        if laid:
            return "colours in place", laid, left
        return "piece, column, row and turn", placed_pieces(puzzle, table, where), left
    if width == 4 and puzzle is None and table:
        count = len(table)
        columns = header[0] if len(header) == 2 and header[0] * header[1] == count else _side(count)
        return "colours in place", in_place([list(row) for row in table], columns, None, name), left
    if width in (8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64) and len(table) > 1:
        quads = [list(row[at : at + 4]) for row in table for at in range(0, width, 4)]
        lines = [line for line in where for _ in range(0, width, 4)]
        return "colours in place", in_place(quads, width // 4, puzzle, name, lines), left
    raise InputError("no board is recognised; expected colours in place, or pieces and turns with --puzzle")


def _side(count: int) -> int:
    return round(count**0.5) if round(count**0.5) ** 2 == count else 0


def _line_width(text: str, pattern: re.Pattern[str]) -> int:
    """How many groups the lines have that have any, if all have the same number; else 0."""
    lines = (code_and_comment(line)[0] for line in text.split("\n"))
    counts = {len(found) for line in lines if (found := pattern.findall(line))}
    return counts.pop() if len(counts) == 1 else 0


# -- interpretations ---------------------------------------------------------------------------------------------------


def in_place(
    quads: list[list[int]],
    width: int,
    puzzle: Puzzle | None,
    name: str,
    where: Sequence[int] = (),
    orders: Sequence[str] = _ORDERS,
    framed: bool = True,
) -> Iterator[Reading]:
    """Four colours for each cell, in each order of the sides, rows from the top or the bottom.

    ``where`` has the line of each cell; ``framed``: a full board may define a puzzle with a frame.
    """
    width = width or (puzzle.width if puzzle is not None else 0)
    if not width or len(quads) % width or len(quads) > MAX_CELLS or max(map(max, quads)) > 4000:
        return
    height = len(quads) // width
    if puzzle is not None and (puzzle.width, puzzle.height) != (width, height):
        return
    index = None if puzzle is None else PieceIndex(puzzle)
    if puzzle is not None and not puzzle.framed:
        quads = [[colour + 1 for colour in quad] for quad in quads]  # as the piece list is read
    rated: list[tuple[int, int, str, IntArray]] = []
    for order in orders:
        columns = np.array(clockwise(quads, order), dtype=np.int32).reshape(height, width, 4)
        for end, shown in (("top", columns), ("bottom", columns[::-1])):
            if puzzle is not None and puzzle.framed and puzzle.cells > 1:
                shown = np.where((shown == GREY).all(axis=2, keepdims=True), -1, shown)
            edges = np.concatenate([shown[0, :, 0], shown[:, -1, 1], shown[-1, :, 2], shown[:, 0, 3]])
            border = GREY if puzzle is not None else int(np.bincount(edges).argmax())
            holes = () if puzzle is None else puzzle.holes
            found = _rim_and_seams(shown, border if puzzle is None or puzzle.framed else None, holes)
            rated.append((*found, f"{order},{end}", shown))
    most = max((seams for _, seams, *_ in rated), default=0)
    rated = [entry for entry in rated if entry[1] >= _NEAR * most or puzzle is not None]
    for _, _, convention, colours in sorted(rated, key=lambda entry: (entry[0], -entry[1]))[:12]:
        flat = colours.reshape(-1, 4).tolist()
        if index is not None and puzzle is not None:
            cells: list[Quad | None] = [None if a < 0 else (a, b, c, d) for a, b, c, d in flat]
            alien, odd = index.cells_without_piece(cells), []
            if not few(len(alien), len(cells)):
                continue
            for cell in alien:
                row = cell // width if convention.endswith("top") else height - 1 - cell // width
                colour = " ".join(str(each - (not puzzle.framed)) for each in cells[cell] or ())
                line = where[row * width + cell % width] if where else 0
                odd.append((line, f"{puzzle.cell_label(cell)} shows {colour}, no piece of {puzzle.name}"))
                cells[cell] = None
            yield Reading(convention, puzzle, index.board(cells)[0], tuple(odd))
        elif own := _own_puzzle([(a, b, c, d) for a, b, c, d in flat], width, height, name, framed):
            board = Board(4 * np.arange(width * height, dtype=np.int32), width, height)
            yield Reading(convention, own, board)


def _own_puzzle(quads: Sequence[Quad], width: int, height: int, name: str, framed: bool) -> Puzzle | None:
    """The puzzle that a full board defines: with a frame if its rim is one colour, else without, if its seams match."""
    rim = [
        quads[row * width + column][side]
        for row in range(height)
        for column in range(width)
        for side, outside in enumerate((row == 0, column == width - 1, row == height - 1, column == 0))
        if outside
    ]
    if framed and len(set(rim)) == 1:
        border = rim[0]
        swap = {border: GREY, GREY: border}
        own = np.array([[swap.get(colour, colour) for colour in quad] for quad in quads], dtype=np.int32)
        try:
            return Puzzle(own, width, height, name=name)
        except InputError:
            return None
    seams = sum(
        quads[cell][1] == quads[cell + 1][3] for cell in range(width * height) if cell % width < width - 1
    ) + sum(quads[cell][2] == quads[cell + width][0] for cell in range(width * (height - 1)))
    if seams < width * (height - 1) + height * (width - 1):
        return None
    return Puzzle(np.array(quads, dtype=np.int32) + 1, width, height, name=name, framed=False, turns=False)


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
