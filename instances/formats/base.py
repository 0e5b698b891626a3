"""The parts that all formats share: what a reader gets, what it gives back, and how a format describes itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from instances.board import Board
from instances.puzzle import Puzzle

Quad = tuple[int, int, int, int]


@dataclass(frozen=True)
class Document:
    """What was read. ``notes``: sentences on what was detected, assumed or left out.

    ``puzzle`` and ``board`` are None where the source does not hold or define them. A partial viewer URL without
    a puzzle has neither: ``quads`` then holds its letters as numbers (a = 0) by cell, None = empty, and ``shape``
    is (width, height). ``instance``: where the puzzle of a ``best.json`` was found, or what the file calls it.
    """

    format: str
    puzzle: Puzzle | None
    board: Board | None
    notes: tuple[str, ...] = ()
    quads: tuple[Quad | None, ...] | None = None
    shape: tuple[int, int] | None = None
    instance: str | None = None


@dataclass(frozen=True)
class Source:
    """What a reader gets: decoded text with ``\\n`` ends, the puzzle if known, a name for what is read.

    ``option``: what stood after the colon of the format (``e2pieces:urdl``). ``folder``: of the file, None for a URL.
    ``find_puzzle``: loads an instance by path or shipped name.
    """

    text: str
    puzzle: Puzzle | None
    name: str
    option: str | None
    folder: Path | None
    find_puzzle: Callable[[str], Puzzle]


@dataclass(frozen=True)
class Target:
    """What a writer gets. ``instance``: how ``best.json`` names the puzzle; ``option`` as in Source."""

    puzzle: Puzzle
    board: Board | None
    instance: str
    option: str | None = None
    notes: list[str] = field(default_factory=list)  # the writer says here what it leaves out


@dataclass(frozen=True)
class Format:
    """One format. ``looks_like`` judges a text by its beginning; ``write`` gives the whole text of a file.

    Readers raise InputError without a source (the caller knows it), with a line where there is one.
    ``holds``: 'puzzle' or 'board'. ``about`` and ``option`` (what may stand after a colon) are for the help.
    """

    name: str
    holds: str
    about: str
    looks_like: Callable[[str], bool]
    read: Callable[[Source], Document]
    write: Callable[[Target], str]
    option: str | None = None
