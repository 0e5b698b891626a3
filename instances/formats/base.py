"""Parts that all formats share: sources, what readers take and return, what writers take, and the class `Format`."""

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
VIEWER_URL = "viewer URL"  # name in messages for a URL, other than a link, given in place of a file
_LINK = "#lns="  # part of every link to the page Board of `lns web`
HAS_EDGES = re.compile(r"board_edges(\\?=|%(25)*3[dD])")  # '=' may be escaped for a shell or percent-encoded
_ETERNITY2 = re.compile(r"(eternity[ _-]?(2|ii)|e2)([ _-]?clues?[0-9]?)?(\.[a-z]{1,4})?", re.I)
_NOT_SHIPPED = (
    "no such file, and the pieces of Eternity II are not shipped; the viewer URL of any full board holds them all: "
    "`lns convert URL eternity2.txt` makes the file, to which --clues official (or starter) adds the clues"
)
_EXPECTED_SOURCE = "expected a file, a viewer URL or the name of a shipped instance"
_EXTENSIONS = (".solution.txt", ".txt", ".json", ".csv", ".url", ".fps", ".md", ".puz", ".tsv")


class NearError(InputError):
    """Error of a reader that recognised most of the text; shown rather than other errors of lower `telling`."""

    telling = 2


class NoRimError(NearError):
    """Error for a list of pieces in which no colour fits the rim and nothing says that the puzzle has no frame."""

    telling = 1


class NeedsPuzzleError(NearError):
    """Error for a board or clues that cannot be read without their puzzle, which is not known."""

    telling = 3


# -- sources: files, URLs and shipped instances ------------------------------------------------------------------------


@cache
def shipped_instances() -> dict[str, Path]:
    """Return the file of each instance that the package ships, by name of the instance and sorted by file name."""
    files = sorted((Path(__file__).parent.parent / "data").glob("*.txt"))
    return {path.stem: path for path in files if not path.name.endswith(".solution.txt")}


def holds_url(text: str) -> bool:
    """Check whether a text holds a viewer URL, which is recognised by its parameter ``board_edges``."""
    return HAS_EDGES.search(text) is not None


def holds_link(text: str) -> bool:
    """Check whether a text holds a link to the page Board of ``lns web``, but no viewer URL, and is no JSON object."""
    return _LINK in text and not holds_url(text) and not text.lstrip().startswith("{")


def is_url(source: str) -> bool:
    """Check whether a source is a URL instead of the name of a file.

    True for every http or https URL, and for every single line that holds a viewer URL or a link to the page Board.
    """
    start = source.lstrip(" '\"<").lower()
    held = holds_url(source) or holds_link(source)
    return start.startswith(("http://", "https://")) or (held and "\n" not in source)


def file_of(source: str) -> Path:
    """Return ``source`` as a path, or the file of the shipped instance of this name if there is no file ``source``."""
    shipped = shipped_instances().get(source)
    try:
        return Path(source) if shipped is None or Path(source).is_file() else shipped
    except OSError:  # raised for symbolic links that form a loop
        return shipped or Path(source)


def text_of(path: Path, source: str) -> str:
    """Return the text of the file ``path``; the error for a missing file may suggest a shipped instance."""
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
    """Return a name for the puzzle in a file: the file's name, without its extension if that is a known one."""
    name = printable(path.name, 100)
    suffix = next((each for each in _EXTENSIONS if name.lower().endswith(each) and len(name) > len(each)), "")
    return name[: len(name) - len(suffix)]


def source_name(source: str) -> str:
    """Return the name of ``source`` for messages: the path of its file, 'link' or 'viewer URL'."""
    return ("link" if holds_link(source) else VIEWER_URL) if is_url(source) else printable(str(file_of(source)))


# -- what readers and writers take and return --------------------------------------------------------------------------


@dataclass(frozen=True)
class Document:
    """What a reader has found in a source.

    Attributes
    ----------
    format : str
        Name of the format.
    puzzle : Puzzle or None
        Puzzle that the source holds, names or defines, or that the caller gave; None if no puzzle is known.
    board : Board or None
        None if the source holds no board, or if no puzzle is known. Blank pieces lie on the puzzle's holes.
    notes : tuple of str
        Sentences on what was detected, assumed or left out.
    instance : str or None
        For a ``best.json`` with a known puzzle: the path or name by which that was found, else the name in the file.
    pinned : tuple of int
        For a link to the page Board: the cells that the user had pinned there.
    boards : int
        Number of boards in the source, of which ``board`` is one; 1 if the source holds none.
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
    """The input of a reader: a text, and what the caller says about it."""

    text: str  # the decoded text, with newline characters as line ends
    puzzle: Puzzle | None  # the puzzle of the board in the text, None if the caller does not know it
    name: str  # the name that a puzzle gets if the text has none for it
    find_puzzle: Callable[[str], Puzzle]  # loads an instance, given its path or shipped name
    number: int | None = None  # which of several boards in the text is read, counted from 1; None: the first
    folder: Path | None = None  # the folder of the file that holds the text; None if it is in no file
    option: str | None = None  # the part of the format's name after its colon, such as 'urdl' of 'e2pieces:urdl'

    def known(self, what: str) -> Puzzle:
        """Return ``puzzle``; if it is None, raise NeedsPuzzleError with a message that begins with ``what``."""
        if self.puzzle is None:
            raise NeedsPuzzleError(f"{what} by number; expected the puzzle with it (--puzzle INSTANCE)")
        return self.puzzle

    def place(self, boards: int) -> int:
        """Return the index, from 0, of the board to read, of ``boards`` in all; a wrong `number` is refused later."""
        return min(max(self.number or 1, 1), boards) - 1


@dataclass(frozen=True)
class Target:
    """The input of a writer; ``notes`` gets a sentence for each thing that the written file lacks or has changed."""

    puzzle: Puzzle
    board: Board | None  # the board to write; not None if the format holds boards
    instance: str  # the name that a ``best.json`` states for the puzzle
    option: str | None = None  # the part of the format's name after its colon
    notes: list[str] = field(default_factory=list)

    @property
    def laid(self) -> Board:
        """The board to write; only for formats that hold boards."""
        assert self.board is not None
        return self.board

    def full(self, format: str) -> list[list[int]]:
        """Return [piece, rotation] for each cell of the board. Raises InputError if a cell is empty or a hole."""
        pairs = [pair for pair in self.laid.pairs() if pair is not None]
        if empty := self.puzzle.cells - len(pairs):
            raise InputError(f"{count_of(empty, 'cell')} without a piece; {format} carries only full boards")
        return pairs


@dataclass(frozen=True)
class Format:
    """A format: its name, reader, writer and properties.

    ``looks_like`` guesses whether a text has the format. A format without ``looks_like`` is tried last, as dialect, or
    only if the caller names it. ``read`` raises InputError with the line, if known, and without the source, which the
    caller adds. ``write`` raises InputError if the format cannot carry the puzzle or board; before that,
    `lns.instances.formats.render` checks ``square`` and ``rules`` and notes clues that are left out.
    """

    name: str
    holds: str  # what a file of this format holds: 'puzzle' or 'board'
    about: str  # description of the format in the help
    read: Callable[[Source], Document]
    write: Callable[[Target], str]
    option: str | None = None  # word in the help for the option after the colon; None: no option
    looks_like: Callable[[str], bool] = lambda text: False
    square: bool = False  # whether only square boards can be written
    clues: bool = True  # False: a note says that the clues of the puzzle are not written
    rules: bool = False  # in formats of puzzles: whether ``write`` takes unusual rules, or refuses them itself
