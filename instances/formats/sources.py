"""What a caller names: a file, a viewer URL, or a shipped instance, ``instances/data/NAME.txt``."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from lns.instances.errors import InputError
from lns.instances.files import EXPECTED_FILE, read_text
from lns.instances.text import printable

VIEWER_URL = "viewer URL"  # what messages call a URL that was given in place of a file
_HAS_EDGES = re.compile(r"board_edges(\\?=|%(25)*3[dD])")  # '=' as it is, for a shell, or percent-encoded
_ETERNITY2 = re.compile(r"(eternity[ _-]?(2|ii)|e2)([ _-]?clues?[0-9]?)?(\.[a-z]{1,4})?", re.I)
_NOT_SHIPPED = (
    "no such file, and the pieces of Eternity II are not shipped; the viewer URL of any full board holds them all: "
    "`lns convert URL eternity2.txt` makes the file, to which --clues official (or starter) adds the clues"
)
_EXPECTED_SOURCE = "expected a file, a viewer URL or the name of a shipped instance"
_EXTENSIONS = (".solution.txt", ".txt", ".json", ".csv", ".url", ".fps", ".md", ".puz", ".tsv")


@cache
def shipped_instances() -> dict[str, Path]:
    """The file of each instance of the package by its name, sorted by name, without planted solutions."""
    files = sorted((Path(__file__).parent.parent / "data").glob("*.txt"))
    return {path.stem: path for path in files if not path.name.endswith(".solution.txt")}


def holds_url(text: str) -> bool:
    """Whether a text holds a viewer URL."""
    return _HAS_EDGES.search(text) is not None


def is_url(source: str) -> bool:
    """Whether a source is a URL and no name of a file.

    True for a viewer URL, in quotes or as a bare fragment too, and for every other http or https URL.
    """
    start = source.lstrip(" '\"<").lower()
    return start.startswith(("http://", "https://")) or (holds_url(source) and "\n" not in source)


def file_of(source: str) -> Path:
    """The file that ``source`` names; the shipped instance of that name if there is no such file."""
    shipped = shipped_instances().get(source)
    try:
        return Path(source) if shipped is None or Path(source).is_file() else shipped
    except OSError:  # symbolic links that form a loop
        return shipped or Path(source)


def text_of(path: Path, source: str) -> str:
    """The text of a file; the error for a missing file suggests a shipped instance of a similar name."""
    if not source:
        raise InputError(f"the name is empty; {_EXPECTED_SOURCE}")
    try:
        return read_text(path)
    except InputError as error:
        message, missing = error.message.replace(EXPECTED_FILE, _EXPECTED_SOURCE), "no such file" in error.message
        if missing and _ETERNITY2.fullmatch(path.name):
            message = _NOT_SHIPPED
        elif missing and (similar := get_close_matches(source[:200], shipped_instances(), n=1)):
            message += f" (did you mean '{similar[0]}'?)"
        raise InputError(message, error.source, error.line) from None


def name_of(path: Path) -> str:
    """A name for the puzzle in a file: the file's name without a known extension."""
    name = printable(path.name, 100)
    suffix = next((each for each in _EXTENSIONS if name.lower().endswith(each) and len(name) > len(each)), "")
    return name[: len(name) - len(suffix)]


def source_name(source: str) -> str:
    """How messages name ``source``: the path of its file, or 'viewer URL'."""
    return VIEWER_URL if is_url(source) else printable(str(file_of(source)))
