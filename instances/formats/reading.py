"""Reading and writing whatever the field writes: find the source, guess the format, call its module."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from instances.board import Board
from instances.formats import viewer
from instances.formats.base import Document, Source, Target
from instances.formats.registry import FORMATS, by_content, by_extension, by_name
from instances.formats.shipped import shipped_instances
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.files import EXPECTED_FILE, atomic_write, read_text
from lns_support.text import printable

VIEWER_URL = "viewer URL"  # what messages call a URL that was given in place of a file
_EXPECTED_SOURCE = "expected a file, a viewer URL or the name of a shipped instance"


def read(source: str, *, puzzle: Puzzle | None = None, format: str | None = None) -> Document:
    """Read a file, a viewer URL or a shipped instance by its name; the content tells the format unless ``format`` does.

    ``puzzle``: what a board is a board of. Without it a URL or ``best.json`` finds or defines its own.
    Raises InputError, with source and line, for everything that cannot be used.
    """
    source = os.fspath(source)
    chosen = None if format is None else by_name(format)
    if is_url(source):
        name, where, folder, text = "puzzle", VIEWER_URL, None, source
    else:
        path = _path(source)
        name, where, folder, text = _stem(path), printable(str(path)), path.parent, _text(path, source)
    try:
        form, option = chosen or (FORMATS["url"] if folder is None else by_content(text), None)
        document = form.read(Source(text, puzzle, name, option, folder, _find_puzzle))
    except InputError as error:
        raise error.at(where) from None
    return document


def parse(text: str, *, puzzle: Puzzle | None = None, format: str | None = None, name: str = "puzzle") -> Document:
    """Read the text of a puzzle or a board, as `read` reads the content of a file.

    Parameters
    ----------
    text : str
        Content in any format of the field.
    puzzle : Puzzle, optional
        What a board is a board of.
    format : str, optional
        Name of the format; by default the content decides.
    name : str
        Name of the puzzle.

    Returns
    -------
    Document
        Puzzle or board, or both, with notes about what was noticed.

    Raises
    ------
    InputError
        The text is in none of the formats; the message names the line.
    """
    form, option = by_name(format) if format is not None else (by_content(text), None)
    return form.read(Source(text, puzzle, name, option, None, _find_puzzle))


def load_puzzle(source: str, format: str | None = None) -> Puzzle:
    """The puzzle of a file, URL or shipped name. Raises InputError when there is none in it."""
    document = read(source, format=format)
    if document.puzzle is None:
        raise InputError(_without_puzzle(document), source_name(source))
    return document.puzzle


def load_board(source: str, puzzle: Puzzle | None = None, format: str | None = None) -> tuple[Puzzle, Board]:
    """(puzzle, board) of a file or URL. Without ``puzzle`` a full URL defines its own, and ``best.json`` finds its
    instance by name and hash or else is defined by its url; a solution list needs it. Raises InputError."""
    document = read_board(source, puzzle, format)
    assert document.puzzle is not None and document.board is not None
    return document.puzzle, document.board


def read_board(source: str, puzzle: Puzzle | None = None, format: str | None = None) -> Document:
    """As `load_board`, with what was noticed while reading: puzzle and board are not None."""
    document = read(source, puzzle=puzzle, format=format)
    if document.puzzle is None:
        raise InputError(_without_puzzle(document), source_name(source))
    if document.board is None:
        raise InputError(f"this is a puzzle (format {document.format}); expected a board", source_name(source))
    return document


def write(
    path: str | os.PathLike[str],
    format: str | None,
    puzzle: Puzzle,
    board: Board | None,
    *,
    instance: str | None = None,
) -> None:
    """Write atomically, over an existing file too; ``format`` None = by the extension.

    ``instance``: how a ``best.json`` names the puzzle; its name otherwise. Raises InputError when the format cannot
    carry what is given, OSError when the file cannot be written.
    """
    text, _ = render(format, puzzle, board, path=os.fspath(path), instance=instance)
    atomic_write(path, text)


def render(
    format: str | None, puzzle: Puzzle, board: Board | None, *, path: str | None = None, instance: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """(text, what was left out) in ``format``, or in the format of ``path``'s extension. Raises InputError."""
    try:
        form, option = (
            (by_extension(path or "", puzzle, board is not None), None) if format is None else by_name(format)
        )
        target = Target(puzzle, board, puzzle.name if instance is None else instance, option)
        if form.holds == "board" and board is None:
            raise InputError(f"format {form.name} carries a board; found only a puzzle")
        if form.holds == "puzzle" and board is not None:
            target.notes.append(f"format {form.name} carries no board: only the puzzle is written")
        return form.write(target), tuple(target.notes)
    except InputError as error:
        raise (error if path is None else error.at(path)) from None


def is_url(source: str) -> bool:
    """Whether an argument is a viewer URL itself and not the name of a file."""
    start = source.lstrip(" '\"<").lower()
    return start.startswith(("http://", "https://")) or (viewer.looks_like(source) and "\n" not in source)


def _find_puzzle(source: str) -> Puzzle:
    """`load_puzzle` for readers that follow a name: never into a ``best.json``, so that files naming each other end."""
    if not is_url(source):
        path = _path(source)
        if by_content(_text(path, source)) is FORMATS["best"]:
            raise InputError("this is a board; expected the instance", str(path))
    return load_puzzle(source)


def _path(source: str) -> Path:
    """The file that ``source`` names; a shipped instance where no file has that name."""
    shipped = shipped_instances()
    if source in shipped:
        try:
            if Path(source).is_file():
                return Path(source)
        except OSError:  # a loop of links
            pass
        return shipped[source]
    return Path(source)


def _text(path: Path, source: str) -> str:
    if not source:
        raise InputError(f"the name is empty; {_EXPECTED_SOURCE}")
    try:
        return read_text(path)
    except InputError as error:
        near = get_close_matches(source[:200], shipped_instances(), n=1) if "no such file" in error.message else []
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        message = error.message.replace(EXPECTED_FILE, _EXPECTED_SOURCE) + hint
        raise InputError(message, error.source, error.line) from None


def _stem(path: Path) -> str:
    name = printable(path.name, 100)
    for suffix in (".solution.txt", ".txt", ".json", ".csv", ".url"):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def source_name(source: str) -> str:
    """What messages call ``source``."""
    return VIEWER_URL if is_url(source) else printable(str(_path(source)))


def _without_puzzle(document: Document) -> str:
    return "; ".join([*document.notes, "expected the puzzle with it (--puzzle INSTANCE)"])
