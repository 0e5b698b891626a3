"""CSV of 16-bit words: square boards, with clues.

The first row is the size. Each further row is a piece, ``top,right,bottom,left`` as 16 binary digits; the rim is
sixteen ones. Colours count from 0 in the file (``0000000000000000`` is a colour), so 1 is added to each. A row may go
on with ``hint,x,y`` (x = column, y = row, counted from 0): hint = 1 places the piece on that cell, unturned; or with
``x,y,rotation`` (clockwise), where ``0,0,0`` is no hint. ``csv16:hxy`` and ``csv16:xyr`` name the form. All further
columns are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.lines import MAX_SIDE, Lines, check_square, first_rows, with_clues
from instances.puzzle import GREY, MAX_COLOUR, Clue, Puzzle, rotate
from lns_support.errors import InputError
from lns_support.text import parse_integer, quoted

_WORD = re.compile(r"[01]{16}")
_RIM = 0xFFFF
_FORMS = {"hxy": "hint,x,y", "xyr": "x,y,rotation"}

_Tail = tuple[int, int, Sequence[str]]  # line, piece, the three columns after its sides


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return len(rows) == 2 and re.match(r"[01]{8,}\s*,", rows[1]) is not None


def read(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers([(1, MAX_SIDE)], "the size of the board")
    count = size * size
    pieces: list[list[int]] = []
    tails: list[_Tail] = []
    most = 0
    for index in range(count):
        line, row = lines.take(f"piece {index + 1} of {count} (top,right,bottom,left)")
        cells = [cell.strip() for cell in row.split(",")]
        if len(cells) != 4 and not 7 <= len(cells) <= 16:
            said = f"piece {index + 1} of {count} has {len(cells)} columns; expected top,right,bottom,left and perhaps "
            raise InputError(said + "hint,x,y", line=line)
        pieces.append([_colour(word, line) for word in cells[:4]])
        most = max(most, len(cells))
        tails += [(line, index, cells[4:7])] * (len(cells) > 4)
    lines.end(f"{count} pieces")
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), size, size, name=source.name)
    form, clued = _with_hints(puzzle, tails, source.option)
    notes = ["colours counted from 1 instead of 0"]
    if clued.clues:
        notes.append(f"columns 5 to 7 read as {_FORMS[form]} ({FORMAT.name}:hxy or {FORMAT.name}:xyr names the form)")
    if most > 7:
        notes.append("columns after the seventh ignored")
    return Document(FORMAT.name, clued, None, tuple(notes))


def _with_hints(puzzle: Puzzle, tails: Sequence[_Tail], option: str | None) -> tuple[str, Puzzle]:
    """The form of the hints and the puzzle with them: as named, or legal; of two legal ones, by the numbers in them."""
    numbers = [[int(text) if text.isascii() and text.isdigit() else -1 for text in tail] for *_, tail in tails]
    legal: dict[str, Puzzle] = {}
    errors: dict[str, InputError] = {}
    for form in _FORMS if option is None else [_checked_form(option)]:
        try:
            legal[form] = with_clues(puzzle, _clues(form, tails, puzzle.width))
        except InputError as error:
            errors[form] = error
    if not legal:
        raise errors[option or ("xyr" if any(tail[0] > 1 for tail in numbers) else "hxy")]
    placed_without_hint = any(tail[0] == 0 and any(tail) for tail in numbers)  # a place behind the sign for no hint
    form = max(legal) if placed_without_hint else min(legal)
    return form, legal[form]


def _checked_form(option: str) -> str:
    if option not in _FORMS:
        raise InputError(f"form {quoted(option)}; expected hxy (hint,x,y) or xyr (x,y,rotation)")
    return option


def _clues(form: str, tails: Sequence[_Tail], size: int) -> list[tuple[int, Clue]]:
    """The hints in columns 5 to 7, with their lines. Raises InputError for numbers out of range."""
    clues = []
    for line, piece, columns in tails:
        if form == "hxy":
            (hint, *place), rotation = columns, 0
            if not parse_integer(hint, 0, 1, "the hint column", line):
                continue
        elif all(re.fullmatch("0+", text) for text in columns):
            continue
        else:
            *place, turns = columns
            rotation = parse_integer(turns, 0, 3, "the rotation of the hint", line)
        x, y = (
            parse_integer(text, 0, size - 1, f"{axis} of the hint", line)
            for axis, text in zip("xy", place, strict=True)
        )
        clues.append((line, Clue(y * size + x, piece, rotation)))
    return clues


def _colour(word: str, line: int) -> int:
    """The colour of a binary word: 0 for the rim, else its value plus 1."""
    if not _WORD.fullmatch(word):
        raise InputError(f"found {quoted(word)}; expected a word of sixteen binary digits", line=line)
    value = int(word, 2)
    if MAX_COLOUR <= value < _RIM:
        raise InputError(f"the word {word} is colour {value}; expected less than {MAX_COLOUR}", line=line)
    return GREY if value == _RIM else value + 1


def write(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, FORMAT.name)
    form = _checked_form(target.option or "hxy")
    if form == "hxy" and any(clue.rotation for clue in puzzle.clues):
        target.notes.append(f"{FORMAT.name} has no rotation for clues: their pieces are written as the clues turn them")
    clues = {clue.piece: clue for clue in puzzle.clues}
    rows = [str(puzzle.width)]
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        clue = clues.get(piece, Clue(0, piece, 0))
        y, x = divmod(clue.cell, puzzle.width)
        turns, tail = clue.rotation, [int(piece in clues), x, y]
        if form == "xyr":
            turns, tail = 0, [x, y, clue.rotation]
            if piece in clues and not any(tail):  # 0,0,0 would be no clue
                turns, tail[2] = 3, 1
                said = "has no unturned clue on the first cell: its piece is written turned"
                target.notes.append(f"{FORMAT.name}:xyr {said}")
        words = [f"{_RIM if colour == GREY else colour - 1:016b}" for colour in rotate(quad, turns)]
        rows.append(",".join([*words, *map(str, tail)]))
    return "\n".join(rows) + "\n"


FORMAT = Format("csv16", "puzzle", "CSV of 16-bit words, rim = all ones", looks_like, read, write, "hxy or xyr")
