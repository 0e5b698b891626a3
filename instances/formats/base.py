"""What all formats share: sources by name, the input and result of a reader, the input of a writer, a format."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import EXPECTED_FILE, read_text
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, printable

Quad = tuple[int, int, int, int]
VIEWER_URL = "viewer URL"  # what messages call a URL that was given in place of a file
_LINK = "#lns="  # to a board on the page of `lns web`
HAS_EDGES = re.compile(r"board_edges(\\?=|%(25)*3[dD])")  # '=' as it is, for a shell, or percent-encoded
_ETERNITY2 = re.compile(r"(eternity[ _-]?(2|ii)|e2)([ _-]?clues?[0-9]?)?(\.[a-z]{1,4})?", re.I)
_NOT_SHIPPED = (
    "no such file, and the pieces of Eternity II are not shipped; the viewer URL of any full board holds them all: "
    "`lns convert URL eternity2.txt` makes the file, to which --clues official (or starter) adds the clues"
)
_EXPECTED_SOURCE = "expected a file, a viewer URL or the name of a shipped instance"
_EXTENSIONS = (".solution.txt", ".txt", ".json", ".csv", ".url", ".fps", ".md", ".puz", ".tsv")


class NearError(InputError):
    """A text of which most was read: what it says is more to the point than what other readers say."""

    telling = 2


class NoRimError(NearError):
    """A list of pieces without a colour that may be the rim, and no word on a puzzle without frame."""

    telling = 1


class NeedsPuzzleError(NearError):
    """A text is recognised as a board, but its pieces are known by number only and the puzzle is not given."""

    telling = 3


# -- what a caller names -----------------------------------------------------------------------------------------------


@cache
def shipped_instances() -> dict[str, Path]:
    """The file of each instance of the package by its name, sorted by name, without planted solutions."""
    files = sorted((Path(__file__).parent.parent / "data").glob("*.txt"))
    return {path.stem: path for path in files if not path.name.endswith(".solution.txt")}


def holds_url(text: str) -> bool:
    """Whether a text holds a viewer URL."""
    return HAS_EDGES.search(text) is not None


def holds_link(text: str) -> bool:
    """Whether a text holds a link to the page of ``lns web``, and neither a viewer URL nor JSON."""
    return _LINK in text and not holds_url(text) and not text.lstrip().startswith("{")


def is_url(source: str) -> bool:
    """Whether a source is a URL and no name of a file.

    True for a viewer URL or a link, in quotes or as a bare fragment too, and for every other http or https URL.
    """
    start = source.lstrip(" '\"<").lower()
    held = holds_url(source) or holds_link(source)
    return start.startswith(("http://", "https://")) or (held and "\n" not in source)


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
    """How messages name ``source``: the path of its file, 'link' or 'viewer URL'."""
    return ("link" if holds_link(source) else VIEWER_URL) if is_url(source) else printable(str(file_of(source)))


# -- readers and writers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Document:
    """What was read from a source.

    Attributes
    ----------
    format : str
        Name of the format.
    puzzle : Puzzle or None
        None if the source neither holds nor names nor defines one.
    board : Board or None
        None if the source holds none, or if its puzzle is not known. It has the blanks of the puzzle's holes.
    notes : tuple of str
        Sentences on what was detected, assumed or left out.
    instance : str or None
        For a ``best.json``: where its puzzle was found, or what the file calls it.
    pinned : tuple of int
        Cells that are pinned on the page; of a link.
    boards : int
        How many boards the source holds, of which this is one.
    """

    format: str
    puzzle: Puzzle | None
    board: Board | None
    notes: tuple[str, ...] = ()
    instance: str | None = None
    pinned: tuple[int, ...] = ()
    boards: int = 1

    def __post_init__(self) -> None:
        if self.puzzle is not None and self.board is not None:
            object.__setattr__(self, "board", self.board.with_blanks(self.puzzle))


@dataclass(frozen=True)
class Source:
    """The input of a reader."""

    text: str  # decoded; every line ends in a newline
    puzzle: Puzzle | None  # of the board in the source, if the caller knows it
    name: str  # for a puzzle that is read
    find_puzzle: Callable[[str], Puzzle]  # loads an instance by path or shipped name
    number: int | None = None  # which of several boards in the text is read, counted from 1; None is the first
    folder: Path | None = None  # of the file; None for a URL
    option: str | None = None  # the part of the format's name after its colon, such as 'urdl' of 'e2pieces:urdl'

    def known(self, what: str) -> Puzzle:
        """The puzzle of the board. Raises NeedsPuzzleError, in which ``what`` names the pieces, if it is not known."""
        if self.puzzle is None:
            raise NeedsPuzzleError(f"{what} by number; expected the puzzle with it (--puzzle INSTANCE)")
        return self.puzzle

    def place(self, boards: int) -> int:
        """The place, from 0, of the board that is read among so many; the last for a number that is refused later."""
        return min(max(self.number or 1, 1), boards) - 1


@dataclass(frozen=True)
class Target:
    """The input of a writer, which appends sentences on what the format cannot carry to ``notes``."""

    puzzle: Puzzle
    board: Board | None  # not None for a format that holds a board
    instance: str  # how a ``best.json`` names the puzzle
    option: str | None = None  # the part of the format's name after its colon
    notes: list[str] = field(default_factory=list)

    @property
    def laid(self) -> Board:
        """The board, for a format that holds one."""
        assert self.board is not None
        return self.board

    def full(self, format: str) -> list[list[int]]:
        """[piece, rotation] of each cell of a full board. Raises InputError if a cell is empty."""
        pairs = [pair for pair in self.laid.pairs() if pair is not None]
        if empty := self.puzzle.cells - len(pairs):
            raise InputError(f"{count_of(empty, 'cell')} without a piece; {format} carries only full boards")
        return pairs


@dataclass(frozen=True)
class Format:
    """The description of a format.

    ``looks_like`` judges a text by its beginning; a format without it is found by evidence or by its name only.
    ``read`` raises InputError with a line, if there is one, and without a source, which the caller adds; ``write`` does
    if the format cannot carry the puzzle. `lns.instances.formats.render` looks after ``square``, ``clues``, ``rules``.
    """

    name: str
    holds: str  # 'puzzle' or 'board'
    about: str  # a line of the help
    read: Callable[[Source], Document]
    write: Callable[[Target], str]
    option: str | None = None  # what may stand after a colon in the name, for the help
    looks_like: Callable[[str], bool] = lambda text: False
    square: bool = False  # carries only squares
    clues: bool = True  # carries clues, as a puzzle or as a board
    rules: bool = False  # a puzzle may have unusual rules, which ``write`` refuses if it cannot say them
