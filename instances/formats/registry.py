"""All formats by name, in the order in which a text is compared with them, and the formats of file extensions."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from instances.board import Board
from instances.formats import (
    best,
    cells,
    clues,
    csv16,
    lists,
    pieces,
    puzzle_json,
    tetravex,
    viewer,
)
from instances.formats.base import Format, Target
from instances.formats.dialects import DIALECTS
from instances.formats.text import first_rows
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.text import quoted

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        *(each.FORMAT for each in (best, puzzle_json, viewer, csv16)),
        *(lists.BENOIST, lists.SOLUTION, lists.QUADS, lists.E2PIECES),
        *(each.FORMAT for each in (pieces, cells, clues)),
        *(lists.META, lists.META_BOARD, tetravex.PUZZLE, tetravex.BOARD, tetravex.PICTURE),
    )
}

_SMALL = Puzzle(np.array([[0, 1, 2, 0], [0, 3, 1, 0], [2, 3, 0, 0], [3, 0, 0, 3]]), 2, 2, name="small")
_DIGITS = np.array([[6, 10, 5, 9], [2, 2, 10, 10], [5, 5, 7, 8], [10, 7, 9, 5]])
_TETRAVEX = Puzzle(_DIGITS, 2, 2, framed=False, turns=False)
_LINE = 100  # characters of an example
_LINES = {"benoist": 4, "quads": 2, "meta": 2, "meta-board": 2, "tetravex": 2, "tetravex-board": 2, "picture": 3}


def by_name(name: str) -> tuple[Format, str | None]:
    """The format and option of a name such as 'e2pieces' or 'e2pieces:udlr'. Raises InputError for an unknown one."""
    base, colon, option = name.partition(":")
    if base not in FORMATS:
        raise InputError(f"unknown format {quoted(name)}; expected one of {', '.join(FORMATS)}")
    if colon and FORMATS[base].option is None:
        raise InputError(f"format {base} has no option; found {quoted(name)}")
    return FORMATS[base], option if colon else None


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
    return {
        "formats": [
            {
                "name": form.name,
                "option": form.option,
                "holds": form.holds,
                "about": form.about,
                "example": _example(form),
            }
            for form in FORMATS.values()
        ],
        "dialects": [{"example": each.example, "about": each.about} for each in DIALECTS],
    }


def examples() -> str:
    """The lines of ``lns convert --list``: each format, what it holds, and a line of it; then the dialects read."""
    blocks = []
    for form in FORMATS.values():
        name = form.name + (f":{form.option}" if form.option else "")
        blocks.append(f"{name}\n  {form.holds}, read and written: {form.about}\n  e.g. {_example(form)}")
    dialects = "\n".join(f"  {each.example:<34} {each.about}" for each in DIALECTS)
    return "\n".join([*blocks, "", "read by evidence, as pieces, cells or clues:", dialects])


def _example(form: Format) -> str:
    """A telling line of a small puzzle in a format, shortened."""
    puzzle, turns = (_TETRAVEX, (0, 0, 0, 0)) if "tetravex" in form.name else (_SMALL, (0, 1, 0, 3))
    board = Board.from_pairs(list(enumerate(turns)), 2, 2)
    text = form.write(Target(puzzle, board if form.holds == "board" else None, "small.json"))
    lines = text.splitlines()
    line = (
        " ".join(lines) if form.name == "json" else lines[1] if form.name in ("csv16", "clues", "pieces") else lines[0]
    )
    if form.name in _LINES:
        line = " / ".join(lines[: _LINES[form.name]])
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"


def by_content(text: str) -> Format:
    """The first format that a text looks like. Raises InputError if it looks like none."""
    for candidate in FORMATS.values():
        if candidate.looks_like(text):
            return candidate
    rows = first_rows(text, 1)
    if not rows:
        raise InputError("the file is empty; expected a puzzle or a board")
    raise InputError(
        f"{quoted(rows[0])} begins no known format; expected one of {', '.join(FORMATS)}",
        line=text[: text.index(rows[0])].count("\n") + 1,
    )


def by_extension(path: str, puzzle: Puzzle, has_board: bool) -> Format:
    """The format for writing a file of this name. Raises InputError if its extension is of no format."""
    name = PurePath(path).name.lower()
    if name.endswith((".solution.txt", ".solution")):
        return FORMATS["solution"]
    if name.endswith(".txt"):
        return FORMATS["benoist" if puzzle.width == puzzle.height else "quads"]
    if name.endswith(".json"):
        return FORMATS["best" if has_board else "json"]
    if name.endswith(".csv"):
        return FORMATS["csv16"]
    if name.endswith(".url"):
        return FORMATS["url"]
    raise InputError(
        "the name does not say the format; expected .txt, .solution.txt, .json, .csv or .url, "
        f"or a format named: {', '.join(FORMATS)}"
    )
