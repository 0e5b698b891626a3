"""What all formats share: the input and result of a reader, the input of a writer, and the description of a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of

Quad = tuple[int, int, int, int]


class NearError(InputError):
    """A text of which most was read: what it says is more to the point than what other readers say."""


class NeedsPuzzleError(NearError):
    """A text is recognised as a board, but its pieces are known by number only and the puzzle is not given."""


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
    """

    format: str
    puzzle: Puzzle | None
    board: Board | None
    notes: tuple[str, ...] = ()
    instance: str | None = None

    def __post_init__(self) -> None:
        if self.puzzle is not None and self.board is not None:
            object.__setattr__(self, "board", self.board.with_blanks(self.puzzle))


@dataclass(frozen=True)
class Source:
    """The input of a reader."""

    text: str  # decoded; every line ends in a newline
    puzzle: Puzzle | None  # of the board in the source, if the caller knows it
    name: str  # for a puzzle that is read
    option: str | None  # the part of the format's name after its colon, such as 'urdl' of 'e2pieces:urdl'
    folder: Path | None  # of the file; None for a URL
    find_puzzle: Callable[[str], Puzzle]  # loads an instance by path or shipped name
    number: int | None = None  # which of several boards in the text is read, counted from 1; None is the first

    def known(self, what: str) -> Puzzle:
        """The puzzle of the board. Raises NeedsPuzzleError, in which ``what`` names the pieces, if it is not known."""
        if self.puzzle is None:
            raise NeedsPuzzleError(f"{what} by number; expected the puzzle with it (--puzzle INSTANCE)")
        return self.puzzle

    def words(self) -> set[str]:
        """The parts of the option, which commas separate."""
        return {word for word in (self.option or "").lower().split(",") if word}


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

    def leave_out_clues(self, format: str) -> None:
        """Note that the format carries no clues, if there are any."""
        if self.puzzle.clues:
            self.notes.append(f"{format} carries no clues: {len(self.puzzle.clues)} left out")


@dataclass(frozen=True)
class Format:
    """The description of a format.

    ``looks_like`` judges a text by its beginning. ``read`` raises InputError with a line, if there is one, and without
    a source, which the caller adds; ``write`` does if the format cannot carry the puzzle.
    """

    name: str
    holds: str  # 'puzzle' or 'board'
    about: str  # a line of the help
    looks_like: Callable[[str], bool]
    read: Callable[[Source], Document]
    write: Callable[[Target], str]
    option: str | None = None  # what may stand after a colon in the name, for the help


def never(text: str) -> bool:
    """`Format.looks_like` of a format that is found by evidence or by its name only."""
    return False
