"""CSV of 16-bit words: square boards, with clues.

The first row is the size. Each further row is a piece, ``top,right,bottom,left`` as 16 binary digits; the rim is
sixteen ones. Colours count from 0 in the file (``0000000000000000`` is a colour), so 1 is added to each. A row may go
on with ``hint,x,y`` (x = column, y = row, counted from 0): hint = 1 places the piece on that cell, unturned; or with
``x,y,rotation`` (clockwise), where ``0,0,0`` is no hint. ``csv16:hxy`` and ``csv16:xyr`` name the form. All further
columns are ignored.
"""

from __future__ import annotations

import re

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import MAX_SIDE, Lines, check_square, first_rows, with_clues
from instances.puzzle import GREY, MAX_COLOUR, Clue, Puzzle, rotate
from lns_support.errors import InputError
from lns_support.text import parse_integer, quoted

_WORD = re.compile(r"[01]{16}")
_RIM = 0xFFFF


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return len(rows) == 2 and re.match(r"[01]{8,}\s*,", rows[1]) is not None


def read(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers(1, [(1, MAX_SIDE)], "the size of the board")
    count = size * size
    pieces: list[list[int]] = []
    tails: list[tuple[int, int, list[str]]] = []  # line, piece, three columns after its sides
    ignored = False
    for index in range(count):
        line, row = lines.take(f"piece {index + 1} of {count} (top,right,bottom,left)")
        cells = [cell.strip() for cell in row.split(",")]
        if len(cells) not in (4, 7) and not 7 < len(cells) <= 16:
            raise InputError(
                f"piece {index + 1} of {count} has {len(cells)} columns; expected top,right,bottom,left "
                "and perhaps hint,x,y",
                line=line,
            )
        pieces.append([_colour(word, line) for word in cells[:4]])
        ignored |= len(cells) > 7
        if len(cells) >= 7:
            tails.append((line, index, cells[4:7]))
    lines.end(f"{count} pieces")
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), size, size, name=source.name)
    form = _form(source.option, puzzle, tails)
    clues = _clues(form, tails, size)
    notes = ["colours counted from 1 instead of 0"]
    if clues:
        notes.append(f"columns 5 to 7 read as {_FORMS[form]} ({FORMAT.name}:hxy or {FORMAT.name}:xyr names the form)")
    if ignored:
        notes.append("columns after the seventh ignored")
    return Document(FORMAT.name, with_clues(puzzle, clues), None, tuple(notes))


_FORMS = {"hxy": "hint,x,y", "xyr": "x,y,rotation"}


def _form(option: str | None, puzzle: Puzzle, tails: list[tuple[int, int, list[str]]]) -> str:
    """'hxy' or 'xyr': as named, or the only one under which all clues are legal; of two, by the numbers in them.

    Raises InputError if no form is legal.
    """
    if option is not None:
        if option not in _FORMS:
            raise _unknown_form(option)
        return option
    legal: dict[str, Puzzle] = {}
    errors: dict[str, InputError] = {}
    for form in _FORMS:
        try:
            legal[form] = with_clues(puzzle, _clues(form, tails, puzzle.width))
        except InputError as error:
            errors[form] = error
    if len(legal) == 1:
        return next(iter(legal))
    if not legal:
        above = any(_number(tail[0]) > 1 for *_, tail in tails)
        raise errors["xyr" if above else "hxy"]
    if any(_number(tail[0]) == 0 and any(map(_number, tail)) for *_, tail in tails):
        return "xyr"  # a place behind the sign for no hint
    return "hxy"


def _unknown_form(option: str) -> InputError:
    return InputError(f"form {quoted(option)}; expected hxy (hint,x,y) or xyr (x,y,rotation)")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else -1


def _clues(form: str, tails: list[tuple[int, int, list[str]]], size: int) -> list[tuple[int, Clue]]:
    """The hints in columns 5 to 7, with their lines. Raises InputError for numbers out of range."""
    clues = []
    for line, piece, tail in tails:
        if form == "hxy":
            if not parse_integer(tail[0], 0, 1, "the hint column", line):
                continue
            place, rotation = tail[1:], 0
        else:
            if all(_number(column) == 0 for column in tail):
                continue
            place, rotation = tail[:2], parse_integer(tail[2], 0, 3, "the rotation of the hint", line)
        x = parse_integer(place[0], 0, size - 1, "x of the hint", line)
        y = parse_integer(place[1], 0, size - 1, "y of the hint", line)
        clues.append((line, Clue(y * size + x, piece, rotation)))
    return clues


def _colour(word: str, line: int) -> int:
    """The colour of a binary word: 0 for the rim, else its value plus 1."""
    if not _WORD.fullmatch(word):
        raise InputError(f"found {quoted(word)}; expected a word of sixteen binary digits", line=line)
    value = int(word, 2)
    if value == _RIM:
        return GREY
    if value >= MAX_COLOUR:
        raise InputError(f"the word {word} is colour {value}; expected less than {MAX_COLOUR}", line=line)
    return value + 1


def write(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, FORMAT.name)
    clues = {clue.piece: clue for clue in puzzle.clues}
    form = target.option or "hxy"
    if form not in _FORMS:
        raise _unknown_form(form)
    if form == "hxy" and any(clue.rotation for clue in puzzle.clues):
        target.notes.append(f"{FORMAT.name} has no rotation for clues: their pieces are written as the clues turn them")
    rows = [str(puzzle.width)]
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        clue = clues.get(piece)
        turned, rotation = (
            (rotate(quad, clue.rotation) if clue and form == "hxy" else quad),
            clue.rotation if clue else 0,
        )
        if form == "xyr" and clue and not clue.cell and not rotation:  # 0,0,0 would be no clue
            turned, rotation = rotate(quad, 3), 1
            target.notes.append(
                f"{FORMAT.name}:xyr has no unturned clue on the first cell: its piece is written turned"
            )
        words = [f"{_RIM if colour == GREY else colour - 1:016b}" for colour in turned]
        y, x = divmod(clue.cell, puzzle.width) if clue else (0, 0)
        tail = [x, y, rotation] if form == "xyr" else [int(clue is not None), x, y]
        rows.append(",".join([*words, *map(str, tail)]))
    return "\n".join(rows) + "\n"


FORMAT = Format("csv16", "puzzle", "CSV of 16-bit words, rim = all ones", looks_like, read, write, "hxy or xyr")
