"""All formats by name, in the order in which a text is compared with them; the dialects; formats by extension."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import cells, lists, own_json, pieces, viewer
from lns.instances.formats.base import Format, Target
from lns.instances.formats.shapes import first_rows
from lns.instances.puzzle import Puzzle
from lns.instances.text import quoted

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        *(own_json.BEST, own_json.JSON, viewer.FORMAT, lists.CSV16),
        *(lists.BENOIST, lists.SOLUTION, lists.QUADS, lists.E2PIECES),
        *(pieces.FORMAT, cells.FORMAT, cells.CLUES),
        *(lists.META, lists.META_BOARD, lists.TETRAVEX, lists.TETRAVEX_BOARD, lists.PICTURE),
    )
}


DIALECTS = {  # a typical line of each dialect of other programs that the readers by evidence know
    "1 0 5 9 0": "pieces: id, four sides in any order; comments after #, //, c",
    "1,0,0,5,9,0": "pieces: id, type, four sides; other separators too",
    "- 1 braa": "pieces: letters, after a number or bare",
    "12=0-5-9-0": "pieces: INI, as the editor FPS writes them",
    "[0, 5, 9, 0],": "pieces: lists of Python, JavaScript, JSON",
    '{"rows":4,"cols":4,"tiles":[...]}': "pieces: JSON of other programs, with placed tiles",
    "0,R/T,G/B,B/T,W/T": "pieces: halves that meet, also A and a, +3 and -3, red head and red tail",
    "ntiles 256": "a header of a count, one size, two sizes, or bounded signed w h",
    "8594 @1590 6966": "Tetravex: words of four digits, up left right down; @ is pinned",
    "12/3 200/0": "board: piece/turn of each cell; also 12(3), 12:3, [ 12(3]",
    "12 3": "board: piece and turn, a line for each cell",
    "4 0 2": "board: x, y and turn of each piece, in the order of the pieces",
    "12 4 0 2": "board: piece, column, row and turn",
    "$12N:.:7E;": "board: piece and compass letter of each cell",
    "abdc _bba": "board: four letters for each cell",
    "0 5 9 0": "board: four colours for each cell, rows from top or bottom",
    "139 8 7 2": "clues: piece, row, column (or x, y), turn",
    "8,7 139 2": "clues: row, column, piece, turn; sections that agree are one",
    "139=I8-Rot0": "clues: row letter, column, anticlockwise turns",
    "0,1,-650,2": "clues: a list of cell types; -(piece + 256 turns) is a clue",
    "…board_edges=abdc…": "board: viewer URL in prose, markdown, HTML or JSON; several in a file",
}


def by_name(name: str) -> tuple[Format, str | None]:
    """The format and option of a name such as 'e2pieces' or 'e2pieces:udlr'. Raises InputError for an unknown one."""
    base, colon, option = name.partition(":")
    if base not in FORMATS:
        raise InputError(f"unknown format {quoted(name)}; expected one of {', '.join(FORMATS)}")
    if colon and FORMATS[base].option is None:
        raise InputError(f"format {base} has no option; found {quoted(name)}")
    return FORMATS[base], option if colon else None


def by_content(text: str) -> Format:
    """The first format that a text looks like. Raises InputError if it looks like none."""
    found = next((each for each in FORMATS.values() if each.looks_like(text)), None)
    if found is not None:
        return found
    rows = first_rows(text, 1)
    if not rows:
        raise InputError("the file is empty; expected a puzzle or a board")
    line = text[: text.index(rows[0])].count("\n") + 1
    raise InputError(f"{quoted(rows[0])} begins no known format; expected one of {', '.join(FORMATS)}", line=line)


def by_extension(path: str, puzzle: Puzzle, has_board: bool) -> Format:
    """The format for writing a file of this name. Raises InputError if its extension is of no format."""
    formats = {".json": "best" if has_board else "json", ".csv": "csv16", ".url": "url"}
    formats |= {".solution.txt": "solution", ".solution": "solution"}
    formats |= {".txt": "benoist" if puzzle.width == puzzle.height else "quads"}
    for extension, form in formats.items():
        if PurePath(path).name.lower().endswith(extension):
            return FORMATS[form]
    raise InputError(
        "the name does not say the format; expected .txt, .solution.txt, .json, .csv or .url, "
        f"or a format named: {', '.join(FORMATS)}"
    )


# -- help --------------------------------------------------------------------------------------------------------------

_SMALL = Puzzle(np.array([[0, 1, 2, 0], [0, 3, 1, 0], [2, 3, 0, 0], [3, 0, 0, 3]]), 2, 2, name="small")
_DIGITS = np.array([[6, 10, 5, 9], [2, 2, 10, 10], [5, 5, 7, 8], [10, 7, 9, 5]])
_TETRAVEX = Puzzle(_DIGITS, 2, 2, framed=False, turns=False)
_LINE = 100  # characters of an example
# Lines of an example, the first and the one after the last.
_LINES = {"benoist": (0, 4), "picture": (0, 3), "csv16": (1, 2), "clues": (1, 2), "pieces": (1, 2)}
_LINES |= dict.fromkeys(("quads", "meta", "meta-board", "tetravex", "tetravex-board"), (0, 2))


def overview(holds: str) -> str:
    """The lines of the help on all formats that hold a 'puzzle' or a 'board': name, option and description."""
    lines = {
        each.name + (f"[:{each.option}]" if each.option else ""): each.about
        for each in FORMATS.values()
        if each.holds == holds
    }
    width = max(map(len, lines))
    return "\n".join(f"  {name:<{width}}  {about}" for name, about in lines.items())


def facts() -> dict[str, list[dict[str, str | None]]]:
    """All formats, and the dialects that are read by evidence, each with an example: for JSON."""
    names = ("name", "option", "holds", "about")
    return {
        "formats": [
            {name: getattr(form, name) for name in names} | {"example": _example(form)} for form in FORMATS.values()
        ],
        "dialects": [{"example": example, "about": about} for example, about in DIALECTS.items()],
    }


def examples() -> str:
    """The lines of ``lns convert --list``: each format, what it holds, and a line of it; then the dialects read."""
    blocks = [
        f"{form.name}{f':{form.option}' if form.option else ''}\n"
        f"  {form.holds}, read and written: {form.about}\n  e.g. {_example(form)}"
        for form in FORMATS.values()
    ]
    dialects = "\n".join(f"  {example:<34} {about}" for example, about in DIALECTS.items())
    return "\n".join([*blocks, "", "read by evidence, as pieces, cells or clues:", dialects])


def _example(form: Format) -> str:
    """A telling line of a small puzzle in a format, shortened."""
    puzzle, turns = (_TETRAVEX, (0, 0, 0, 0)) if "tetravex" in form.name else (_SMALL, (0, 1, 0, 3))
    board = Board.from_pairs(list(enumerate(turns)), 2, 2)
    lines = form.write(Target(puzzle, board if form.holds == "board" else None, "small.json")).splitlines()
    line = " ".join(lines) if form.name == "json" else " / ".join(lines[slice(*_LINES.get(form.name, (0, 1)))])
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"
