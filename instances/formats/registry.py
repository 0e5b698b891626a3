"""The formats by name, in the order in which a text is tried against them, and the extensions they go by."""

from __future__ import annotations

from pathlib import PurePath

from instances.formats import benoist, best, csv16, e2pieces, puzzle_json, quads, solution, viewer
from instances.formats.base import Format
from instances.formats.text import first_rows
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.text import quoted

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (best, puzzle_json, viewer, csv16, benoist, solution, quads, e2pieces)
}


def by_name(name: str) -> tuple[Format, str | None]:
    """(format, option) for 'e2pieces' or 'e2pieces:udlr'. Raises InputError for an unknown name."""
    known, colon, option = name.partition(":")
    if known not in FORMATS:
        raise InputError(f"unknown format {quoted(name)}; expected one of {', '.join(FORMATS)}")
    if colon and FORMATS[known].option is None:
        raise InputError(f"format {known} has no option; found {quoted(name)}")
    return FORMATS[known], option if colon else None


def overview(holds: str) -> str:
    """A line for each format that holds a 'puzzle', or a 'board': its name, its option, what it is about."""
    found = {
        form.name + (f"[:{form.option}]" if form.option else ""): form.about
        for form in FORMATS.values()
        if form.holds == holds
    }
    width = max(map(len, found))
    return "\n".join(f"  {name:<{width}}  {about}" for name, about in found.items())


def by_content(text: str) -> Format:
    """The first format that the text looks like. Raises InputError when it looks like none."""
    for candidate in FORMATS.values():
        if candidate.looks_like(text):
            return candidate
    rows = first_rows(text, 1)
    if not rows:
        raise InputError("the file is empty; expected a puzzle or a board")
    raise InputError(
        f"no format begins with {quoted(rows[0])}; expected one of {', '.join(FORMATS)}",
        line=text[: text.index(rows[0])].count("\n") + 1,
    )


def by_extension(path: str, puzzle: Puzzle, has_board: bool) -> Format:
    """What a file of this name holds. Raises InputError when the name does not say."""
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
        f"or a format named: {', '.join(FORMATS)}",
    )
