"""Read, write, convert and generate puzzles and boards, and check the boards from which a search starts."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeGuard

from lns.instances import formats
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.formats import base, parse
from lns.instances.generate import Planted, clue_cells, corner_cells, of_kind
from lns.instances.piece_set import normalise_clue_pieces
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.symmetry import View, board_from_view, puzzle_in_view, rotate_board, rotate_puzzle
from lns.instances.verify import verify
from lns.runs.directory import board_source

log = logging.getLogger("lns")

_MIRRORED = View(0, mirrored=True)
PuzzleSource = Puzzle | str | os.PathLike[str]
BoardSource = Board | str | os.PathLike[str]


@checked
def load_puzzle(source: PuzzleSource, format: str | None = None, clues: str | os.PathLike[str] | None = None) -> Puzzle:
    """Read a puzzle.

    Parameters
    ----------
    source : str, path-like or Puzzle
        A file, a viewer URL, the name of a shipped instance, or the text of a puzzle itself (anything with a line break
        or a JSON object). A `Puzzle` is returned as it is. From a board only the puzzle is taken, with the
        clues that ``clues`` selects.
    format : str, optional
        Name of the format, such as ``"benoist"``; by default the content decides. ``lns convert --help`` lists all.
    clues : str or path-like, optional
        Clues that take the place of those in ``source``: ``"official"`` or ``"starter"`` for those of Eternity II,
        ``"none"``, or a file or viewer URL with clues. By default a puzzle keeps its own clues; if a board's puzzle has
        none, it gets the official clues that the board holds. The log (``lns``, INFO) says which clues were taken.

    Returns
    -------
    Puzzle
        The puzzle, its pieces numbered from 0 in the order of the file.

    Raises
    ------
    InputError
        There is no such file, or it holds no puzzle; the message names file, line and what was expected.
    """
    puzzle, notes = read_puzzle(source, format, clues)
    for note in notes:
        log.info("%s: %s", puzzle.name, note)
    return puzzle


def read_puzzle(
    source: PuzzleSource, format: str | None = None, clues: str | os.PathLike[str] | None = None
) -> tuple[Puzzle, tuple[str, ...]]:
    """Return the puzzle that `load_puzzle` returns, and notes: sentences on how the source was read."""
    document = (
        formats.Document("", source, None) if isinstance(source, Puzzle)
        else parse(source, format=format) if is_text(source)
        else formats.read_puzzle(os.fspath(source), format)
    )  # fmt: skip
    if document.puzzle is None:
        raise InputError("; ".join([*document.notes, "this text holds no puzzle; expected pieces"]))
    document = formats.with_clues(document, formats.HELD if clues is None else os.fspath(clues))
    assert document.puzzle is not None
    return document.puzzle, document.notes


@checked
def load_board(
    source: BoardSource, puzzle: PuzzleSource | None = None, format: str | None = None, number: int | None = None
) -> Board:
    """Read a board.

    Parameters
    ----------
    source : str, path-like or Board
        A file, a run directory (its best board), a viewer URL, or the text of a board itself.
    puzzle : Puzzle, str or path-like, optional
        Puzzle of the board. Not needed for a full viewer URL, which defines it, or ``best.json``, which names it.
    format : str, optional
        Name of the format; by default the content decides.
    number : int, optional
        Number of the board, from 1, if the source holds several; by default the first.

    Returns
    -------
    Board
        The board, which knows its puzzle (``board.puzzle``).

    Raises
    ------
    InputError
        The source holds no board, or no board of this puzzle.
    """
    return read_board(source, puzzle, format, number)[0]


def read_board(
    source: BoardSource, puzzle: PuzzleSource | None = None, format: str | None = None, number: int | None = None
) -> tuple[Board, tuple[str, ...]]:
    """Return the board that `load_board` returns, and notes: sentences on how the source was read."""
    known = None if puzzle is None else read_puzzle(puzzle)[0]
    document = _read(source, known, format, number, formats.read_board)
    if document.board is None or (document.puzzle is None and not isinstance(source, Board)):
        raise InputError("; ".join([*document.notes, "this text holds no board whose puzzle is known"]))
    return document.board if document.puzzle is None else document.board.of(document.puzzle), document.notes


@checked
def save(
    board: Board | Puzzle, path: str | os.PathLike[str], puzzle: Puzzle | None = None, *, format: str | None = None
) -> None:
    """Write a board or a puzzle to a file; if writing fails, an existing file keeps its content.

    Parameters
    ----------
    board : Board or Puzzle
        The board or puzzle to write.
    path : str or path-like
        File to write; an existing one is replaced. Its extension selects the format: ``.json``, ``.url``,
        ``.solution.txt`` for boards, ``.txt``, ``.json``, ``.csv`` for puzzles.
    puzzle : Puzzle, optional
        Puzzle of the board; not needed if the board knows it.
    format : str, optional
        Name of the format, instead of the extension.

    Raises
    ------
    InputError
        The format cannot hold the board or puzzle, or the puzzle of the board is unknown.
    OSError
        The file cannot be written.
    """
    if isinstance(board, Puzzle):
        formats.write(path, format, board, None)
    else:
        formats.write(path, format, known_puzzle(board, puzzle), board)


def known_puzzle(board: Board, puzzle: Puzzle | None = None) -> Puzzle:
    """Return the given puzzle, else the one that the board knows. Raises InputError if there is neither."""
    if (known := puzzle or board.puzzle) is None:
        raise InputError("this board does not know its puzzle; expected it as an argument")
    return known


@dataclass(frozen=True)
class Converted:
    """A puzzle or a board, converted to another file format; a notebook draws the puzzle or board."""

    text: str  # content of the output file
    puzzle: Puzzle
    board: Board | None
    format: str  # format of the source
    notes: tuple[str, ...]  # how the source was read, and what the output format cannot hold

    def _repr_html_(self) -> str:
        return (self.puzzle if self.board is None else self.board.of(self.puzzle))._repr_html_()


@checked
def convert(
    source: PuzzleSource | BoardSource,
    output: str | os.PathLike[str] | None = None,
    *,
    to: str | None = None,
    format: str | None = None,
    puzzle: PuzzleSource | None = None,
    clues: str | None = None,
    number: int | None = None,
    turn: int = 0,
    mirror: bool = False,
    instance: str | None = None,
) -> Converted:
    """Convert a puzzle or a board from one file format to another.

    Parameters
    ----------
    source : Puzzle, Board, str or path-like
        A puzzle, a board, or a source for `load_puzzle` or `load_board`.
    output : str or path-like, optional
        File to write; an existing one is replaced. Without it nothing is written.
    to, format : str, optional
        Format of the output, by default from its extension; format of the source, by default from its content.
    puzzle : Puzzle, str or path-like, optional
        Puzzle of the board in ``source``, if the source does not define it.
    clues : str, optional
        Clues of a puzzle in place of its own, as for `load_puzzle`.
    number : int, optional
        Number of the board, from 1, if the source holds several.
    turn : {0, 90, 180, 270}
        Degrees by which the puzzle or board is turned clockwise.
    mirror : bool
        Whether the puzzle or board is mirrored, left to right, before it is turned.
    instance : str, optional
        Name of the puzzle in a ``best.json``.

    Returns
    -------
    Converted
        ``text`` is the content of the file.

    Raises
    ------
    InputError
        The source cannot be read, or the output format cannot hold it.
    OSError
        The file cannot be written.
    """
    if output is None and to is None:
        raise InputError("neither output nor to says a format; expected one of them")
    if turn not in (0, 90, 180, 270):
        raise InputError(f"a turn of {turn} degrees; expected 0, 90, 180 or 270")
    known = None if puzzle is None else read_puzzle(puzzle)[0]
    if isinstance(source, Board):
        known_puzzle(source, known)
    is_file = not isinstance(source, Puzzle | Board)
    shown = puzzle_in_view(known, _MIRRORED) if mirror and known is not None and is_file else known
    document = _read(source, shown, format, number)
    if known is None and clues is not None and document.puzzle is not None:
        document = formats.with_clues(document, clues)
    read, board = document.puzzle or shown, document.board
    if read is None:
        reasons = "; ".join(document.notes)
        raise InputError(f"{reasons}; expected the puzzle with it (--puzzle INSTANCE)", base.source_name(str(source)))
    if mirror:
        read, board = puzzle_in_view(read, _MIRRORED), None if board is None else board_from_view(board, _MIRRORED)
    turned = rotate_puzzle(read, turn // 90)  # raises InputError if pieces may not be turned
    if board is None or read.width != read.height or read.holes:
        read = turned  # for a board on a square without holes the puzzle stays, and only the placements turn
    board = None if board is None else rotate_board(board, turn // 90).with_blanks(read)
    path = None if output is None else os.fspath(output)
    text, left_out = formats.render(to, read, board, path=path, instance=instance)
    what = "a puzzle" if document.board is None else "a board"
    noted = f"read {document.format}: {what} of {read.width} x {read.height}"
    if path is not None:
        write_output(path, text)
    return Converted(text, read, board, document.format, (noted, *document.notes, *left_out))


def _read(
    source: PuzzleSource | BoardSource,
    known: Puzzle | None,
    format: str | None,
    number: int | None,
    read: Callable[..., formats.Document] = formats.read,
) -> formats.Document:
    """Return the puzzle or board of a source as a document; ``read`` is the function for files and URLs."""
    if number is not None and number < 1:
        raise InputError(f"number {number} of the boards in a source; expected 1 or more")
    if isinstance(source, Puzzle):
        return formats.Document("puzzle", source, None)
    if isinstance(source, Board):
        return formats.Document("board", known or source.puzzle, source if known is None else source.of(known))
    if is_text(source):
        return parse(source, puzzle=known, format=format, number=number)
    return read(board_source(os.fspath(source)), puzzle=known, format=format, number=number)


@checked
def generate(
    kind: str = "like-e2",
    *,
    width: int | None = None,
    height: int | None = None,
    side: int | None = None,
    seed: int = 0,
    colours: int | None = None,
    border_colours: int | None = None,
    inner_colours: int | None = None,
    mates: int = 0,
    clues: int = 0,
    fix_corners: bool = False,
) -> Planted:
    """Make a puzzle with a planted solution; the same arguments make the same puzzle everywhere.

    Parameters
    ----------
    kind : {"like-e2", "uniform", "balanced-torus", "unframed", "tetravex", "macmahon", "triangle", "diamond", "wang"}
        The kinds are, in this order: like Eternity II (border and inner edges have separate colours); all edges drawn
        alike; as in Bailleux 2025; no frame; no frame and no turned pieces; a rim whose colour also lies inside, as in
        MacMahon's squares; two kinds of board with holes, rows of 1, 3, 5, ... cells, as in Cuvillier & Szymkowiak
        2010; tiles that may be used any number of times.
    width, height : int, optional
        Cells in a row and in a column; a square by default, 16 x 16 if neither is given, 6 x 4 for the 24 squares of
        MacMahon. A triangle or diamond takes neither.
    side : int, optional
        Rows of a triangle, 16 by default, or cells along a side of a diamond, 11 by default.
    seed : int
        Random seed of the puzzle.
    colours : int, optional
        Number of colours, for every kind but like-e2.
    border_colours, inner_colours : int, optional
        For like-e2: number of colours on edges between border pieces, and number of all other colours. By default so
        many that about one solution is expected besides the planted one.
    mates : int
        Number of colours that get a mate: their sides match sides of the mate, not each other.
    clues : int
        Number of pieces of the planted solution that become clues.
    fix_corners : bool
        Whether the corner pieces become clues too; not on a board with holes.

    Returns
    -------
    Planted
        ``puzzle`` and ``solution``.

    Raises
    ------
    InputError
        No such kind, size or number of colours.
    """
    if (default := {"triangle": 16, "diamond": 11}.get(kind)) is not None:
        if (width, height) != (None, None):
            raise InputError(f"a {kind} has one size; expected its side, not width or height")
        width = height = default if side is None else side
    elif side is not None:
        raise InputError(
            f"a side of {side} for {kind}; expected width and height, as only triangle and diamond have one"
        )
    if kind == "macmahon" and (width, height) == (None, None):
        width, height = 6, 4
    width = width if width is not None else 16 if height is None else height
    height = width if height is None else height
    planted = of_kind(kind, width, height, colours, border_colours, inner_colours, seed).with_mates(mates, seed)
    puzzle = planted.puzzle
    if fix_corners and puzzle.holes:
        raise InputError(f"a {kind} has no four corners to fix; expected a rectangle")
    chosen = clue_cells(puzzle.width, puzzle.height, clues, seed, holes=puzzle.holes)
    planted = planted.with_clues(chosen + (corner_cells(puzzle.width, puzzle.height) if fix_corners else []))
    return planted._replace(solution=planted.solution.of(planted.puzzle))


# -- boards to start from --------------------------------------------------------------------------------------------


def legal_start(puzzle: Puzzle, board: Board, source: str | None = None) -> Board:
    """Return a start board, with duplicate pieces swapped so that each clue's own piece lies on the clue's cell.

    Raises InputError, which names ``source``, if the board breaks a rule of the puzzle or has the piece of a clue on
    another cell.
    """
    if violations := verify(puzzle, board).violations:
        raise InputError(f"the start board is not legal for {puzzle.name}: {violations[0]}", source)
    board = normalise_clue_pieces(puzzle, board)
    cell_of = {oriented // 4: cell for cell, oriented in enumerate(board.placements.tolist()) if oriented >= 0}
    for clue in () if puzzle.copies else puzzle.clues:
        if board.placements[clue.cell] < 0 and clue.piece in cell_of:
            raise InputError(
                f"the start board has piece {clue.piece + 1} on {puzzle.cell_label(cell_of[clue.piece])}; "
                f"expected it on {puzzle.cell_label(clue.cell)}, where a clue wants it",
                source,
            )
    return board


def placed_as_clues(puzzle: Puzzle, board: Board, source: str | None = None) -> Puzzle:
    """Return the puzzle with every piece on the board as a further clue, so that a search fills only the empty cells.

    Raises InputError if the board breaks a rule.
    """
    placements = legal_start(puzzle, board, source).placements.tolist()
    placed = {
        cell: Clue(cell, *divmod(oriented, 4))
        for cell, oriented in enumerate(placements)
        if oriented >= 0 and cell not in puzzle.holes
    }
    return puzzle.with_clues(({clue.cell: clue for clue in puzzle.clues} | placed).values())


def pinned(puzzle: Puzzle, given: Board, full: Board, cells: Iterable[int]) -> tuple[Clue, ...]:
    """Return clues that keep ``cells`` of a start board unchanged; cells that have a clue already get none.

    ``given`` is the board as given, ``full`` the same board with its empty cells filled. Raises InputError if a cell is
    off the board or empty on ``given``, two of the kept cells do not match, or no cell is left free.
    """
    named = set(cells)
    if off := sorted(cell for cell in named if not 0 <= cell < puzzle.cells):
        raise InputError(f"the pins name cell {off[0]}, which is off the board; expected 0 to {puzzle.cells - 1}")
    clues = {clue.cell for clue in puzzle.fixed}
    kept, pins = named | clues, sorted(named - clues)
    if len(kept) == puzzle.cells:
        raise InputError("the pins leave no cell free; expected at least one that may change")
    if empty := [cell for cell in pins if given.placements[cell] < 0]:
        raise InputError(
            f"the pins name {puzzle.cell_label(empty[0])}, which is empty on the start board; expected a piece there"
        )
    for first, second in verify(puzzle, full).mismatches:
        if {first, second} <= kept:
            raise InputError(
                f"the pins name {puzzle.cell_label(first)} and {puzzle.cell_label(second)}, which do not match; "
                "expected at most one of them"
            )
    placements = normalise_clue_pieces(puzzle, full).placements.tolist()
    return tuple(Clue(cell, *divmod(placements[cell], 4)) for cell in pins)


def is_text(source: str | os.PathLike[str]) -> TypeGuard[str]:
    """Return whether a source is the text of a puzzle or board, not a path, a URL or the name of an instance."""
    return (
        isinstance(source, str) and not formats.is_url(source) and ("\n" in source or source.lstrip().startswith("{"))
    )
