"""Read a text as a board in each convention, choose the best reading, and find the pieces that have given colours.

Programs differ in convention: pieces and coordinates count from 0 or 1, rows from the top or the bottom; turns are
clockwise or anticlockwise and count from any orientation of a piece; the sides of a piece come in any order. A
combination gives a reading with a name such as ``base0,bottom,ccw,turn2``. `Reading.rank` says how legal its board is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats.base import NearError, Quad
from lns.instances.formats.orders import CLOCKWISE, clockwise
from lns.instances.formats.shapes import Listed
from lns.instances.puzzle import MAX_CELLS, Puzzle, canonical, rotate
from lns.instances.verify import Verification, verify

NEAR = 0.9  # a text is ambiguous if another board with as few faults has at least this share of the best score
_FEW = 0.4  # a convention is wrong if it matches a smaller share of the edges between placed pieces
_ENOUGH = 24  # fewest edges between placed pieces from which `_FEW` is applied
_TURNS = 4  # most quarter turns that a text may state; some programs write 4 for 0
_MOST_ODD = 16  # a text is still recognised with one wrong line for each 16 lines, and with one in three lines or more
_MOST_COLOURS = 4000
_UNUSUAL = {"bottom", "ccw", "turn1", "turn2", "turn3", "turn-first", "place-first"}
# Conventions by name, for rows of four numbers: the indices of the columns that hold piece, x, y and turn.
CELLS = {f"base{base},{end}": (0, 1, 2, 3) for base in (1, 0) for end in ("top", "bottom")}
_WHERE = [f"{order},from{first},{end}" for order in ("xy", "yx") for first in (0, 1) for end in ("top", "bottom")]
LISTED = {f"{where},turn-last": (0, 1, 2, 3) for where in _WHERE}
LISTED |= {f"{where},turn-first": (0, 2, 3, 1) for where in _WHERE}
_FORMS = LISTED | {f"place-first,{where},turn-last": (2, 0, 1, 3) for where in _WHERE}
PLACES = {f"base{base},{name}": columns for base in (1, 0) for name, columns in _FORMS.items()}


@dataclass(frozen=True)
class Reading:
    """A text read in one convention: its name, puzzle, board, wrong lines (line, error), and line by cell if known."""

    name: str
    puzzle: Puzzle
    board: Board
    odd: tuple[tuple[int, str], ...] = ()
    lines: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def found(self) -> Verification:
        """The score of the board and the rules that it breaks."""
        return verify(self.puzzle, self.board)

    @property
    def rank(self) -> tuple[int, int]:
        """The tuple (faults, minus score), smallest for the most legal board; a wrong line counts as two faults."""
        return len(self.found.violations) + 2 * len(self.odd), -self.found.score

    @property
    def parts(self) -> set[str]:
        """The words of the convention's name, which commas separate."""
        return set(self.name.split(","))


def best(form: str, readings: Sequence[Reading], *, named: bool = False) -> Reading:
    """Return the most legal reading; of equally legal ones, that of the most usual convention.

    ``form`` names the layout in messages. If the user has ``named`` a convention, few matched edges are allowed. Raises
    InputError for wrong lines, many broken rules, few matched edges, or a second board that is nearly as good.
    """
    first, *others = sorted(readings, key=lambda each: (*each.rank, len(each.parts & _UNUSUAL)))
    (faults, loss), found = first.rank, first.found
    if first.odd:
        line, sentence = first.odd[0]
        raise NearError(f"{sentence} (read as cells:{first.name})", line=line or None)
    for other in others:
        if other.rank[0] == faults and -other.rank[1] >= -loss * NEAR and not _same_board(first, other):
            both = f"cells:{first.name} and as cells:{other.name}"
            raise NearError(f"{form}: it fits as {both}; expected one of them, such as --format cells:{first.name}")
    seams, said = found.score + len(found.mismatches), f"{form}: the best convention ({first.name})"
    expected = f"expected a board of {first.puzzle.name}"
    if faults > 0.05 * found.placed + 5 and found.placed > 3:
        raise InputError(f"{said} breaks {faults} rules; {expected} (another numbering or side order of the pieces?)")
    if not named and seams >= _ENOUGH and found.score < _FEW * seams:
        raise InputError(
            f"{said} matches {found.score} of {seams} seams of pieces; {expected}, its pieces listed in the turns that "
            f"the board counts from, or the convention by name as --format cells:{first.name}"
        )
    return first


def _same_board(first: Reading, second: Reading) -> bool:
    """Check whether two readings show one board, up to a turn if square and, with a puzzle each, a reflection."""
    height, width = first.board.height, first.board.width
    one, two = (np.asarray(each.board.colours(each.puzzle)).reshape(height, width, 4) for each in (first, second))
    shown = [one] if first.puzzle is second.puzzle else [one, one[::-1][:, :, [2, 1, 0, 3]]]
    turns = range(4 if height == width else 1)
    return any(np.array_equal(np.roll(np.rot90(board, -turn), turn, axis=2), two) for board in shown for turn in turns)


def _few(odd: Sequence[object], count: int) -> bool:
    """Check whether the wrong entries ``odd`` are so few of all ``count`` that the text is still recognised."""
    return len(odd) <= max(count > 2, count // _MOST_ODD)


def by_number(
    puzzle: Puzzle, rows: Sequence[Sequence[int]], where: Sequence[int], forms: Mapping[str, Sequence[int]]
) -> Iterator[Reading]:
    """Yield the readings of rows of four numbers in the conventions ``forms``; ``where`` has the line of each row.

    In the conventions `CELLS`, a piece index below that of the first piece, with turn 0 or 4, is an empty cell. In
    `LISTED`, pieces count from 0. A convention in which too many rows are wrong gives no reading.
    """
    width, height, count = puzzle.width, puzzle.height, puzzle.piece_count
    for name, columns in forms.items():
        base, first = int("base1" in name), int("from1" in name)
        odd: list[tuple[int, str]] = []
        kept: dict[int, tuple[int, int, int]] = {}  # by cell: its piece, turn and line
        for line, row in zip(where, rows, strict=True):
            piece, x, y, turn = (row[at] for at in columns)
            x, y = (y - first, x - first) if "yx" in name else (x - first, y - first)
            cell = (height - 1 - y if "bottom" in name else y) * width + x
            cell = cell if 0 <= x < width and 0 <= y < height else -1
            if forms is CELLS and piece < base and not turn % 4:
                continue
            if not base <= piece < count + base:
                said = f"on PLACE; expected {base} to {count - 1 + base}"
            elif cell < 0:
                said = f"on PLACE; expected a cell of {width} x {height}"
            elif turn > _TURNS:
                said = f"on PLACE has {turn} quarter turns; expected 0 to 3"
            elif cell in kept:
                said = f"and piece {kept[cell][0]} are both on PLACE"
            else:
                kept[cell] = piece, turn, line
                continue
            place = puzzle.cell_label(cell) if cell >= 0 else "a place outside the board"
            odd.append((line, f"piece {piece} {said.replace('PLACE', place)}"))
            if not _few(odd, len(rows)):
                break
        else:
            yield from _turned(puzzle, name, kept, base, odd)


def _turned(
    puzzle: Puzzle, name: str, kept: Mapping[int, tuple[int, int, int]], base: int, odd: Sequence[tuple[int, str]]
) -> Iterator[Reading]:
    """Yield readings for either sense of rotation and each orientation taken as unturned, as far as turns are legal."""
    cells, lines = np.array([*kept], dtype=np.int32), {cell: line for cell, (_, _, line) in kept.items()}
    pieces, turns, _ = np.array([*kept.values()], dtype=np.int32).reshape(-1, 3).T
    for (sign, sense), offset in product(((1, "cw"), (-1, "ccw")), range(4)):
        turned = (sign * turns + offset) % 4
        if puzzle.turns or not turned.any() or (sign > 0 and not offset):
            placements = np.full(puzzle.cells, -1, dtype=np.int32)
            placements[cells] = 4 * (pieces - base) + turned
            board = Board(placements, puzzle.width, puzzle.height)
            yield Reading(f"{name},{sense},turn{offset}", puzzle, board, tuple(odd), lines)


# -- pieces by their colours -------------------------------------------------------------------------------------------


class PieceIndex:
    """An index of the pieces of a puzzle by their colours.

    ``by_colours`` maps the canonical form of a piece to the indices of all pieces that have this form, in file order
    but with the pieces of clues last. ``shown`` has the colours (up, right, down, left) of all pieces in all rotations.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.pieces: list[list[int]] = puzzle.pieces.tolist()
        self.by_colours: dict[Quad, list[int]] = defaultdict(list)
        clue_pieces = {clue.piece for clue in puzzle.clues}
        for piece in sorted(range(len(self.pieces)), key=lambda piece: piece in clue_pieces):
            self.by_colours[canonical(self.pieces[piece])].append(piece)
        self.shown = {rotate(quad, turns) for quad in self.by_colours for turns in range(4)}

    def cells_without_piece(self, quads: Sequence[Quad | None]) -> list[int]:
        """Return the cells, apart from empty ones (None), whose colours no piece shows in any rotation."""
        return [cell for cell, quad in enumerate(quads) if quad is not None and quad not in self.shown]

    def board(self, quads: Sequence[Quad | None], numbers: Sequence[int | None] | None = None) -> tuple[Board, int]:
        """Return the board that shows ``quads``, and for how many cells ``numbers`` states a piece of other colours.

        Among identical pieces the stated one is taken first, then on a clue's cell the clue's piece, then, if pieces
        may not be turned, one that needs no turn, then the next one in `by_colours`. If more cells show a piece than
        there are identical pieces, the last of these is placed again, which `lns.instances.verify` reports. Raises
        InputError for a cell whose colours no piece shows.
        """
        if strange := self.cells_without_piece(quads):
            said = f"{quads[strange[0]]} is no piece of {self.puzzle.name}"
            raise InputError(f"{self.puzzle.cell_label(strange[0])}: {said}")
        kinds = {cell: canonical(quad) for cell, quad in enumerate(quads) if quad is not None}
        stated = [(cell, piece) for cell, piece in enumerate(numbers or ()) if piece is not None and cell in kinds]
        wishes = [*stated, *((clue.cell, clue.piece) for clue in self.puzzle.clues)]
        if not self.puzzle.turns:
            could_lie = ((cell, piece) for cell, kind in kinds.items() for piece in self.by_colours[kind])
            wishes += [(cell, piece) for cell, piece in could_lie if tuple(self.pieces[piece]) == quads[cell]]
        left = {kind: [*self.by_colours[kind]] for kind in kinds.values()}
        lying: dict[int, int] = {}
        for cell, piece in wishes:
            if cell in kinds and cell not in lying and piece in left[kinds[cell]]:
                left[kinds[cell]].remove(piece)
                lying[cell] = piece
        pairs: list[tuple[int, int] | None] = [None] * len(quads)
        for cell, kind in kinds.items():
            piece = lying[cell] if cell in lying else left[kind].pop(0) if left[kind] else self.by_colours[kind][-1]
            pairs[cell] = piece, next(turns for turns in range(4) if rotate(self.pieces[piece], turns) == quads[cell])
        contradicted = sum(piece not in self.by_colours[kinds[cell]] for cell, piece in stated)
        return Board.from_pairs(pairs, self.puzzle.width, self.puzzle.height), contradicted


# -- boards that give the colours of each cell -------------------------------------------------------------------------


def in_place(listed: Listed, puzzle: Puzzle | None, name: str) -> list[Reading]:
    """Return the readings of a board that gives four colours for each cell.

    Each side order of ``listed`` is tried with the rows from the top and from the bottom. Without ``puzzle``, each
    reading defines its own puzzle. Readings of puzzles without frame are returned only if there are no others.
    """
    width = listed.width or (puzzle.width if puzzle is not None else 0)
    count, colours = len(listed.quads), {colour for quad in listed.quads for colour in quad}
    if not width or count % width or count > MAX_CELLS or max(colours) > _MOST_COLOURS:
        return []
    if puzzle is not None and (puzzle.width, puzzle.height) != (width, count // width):
        return []
    readings, board = list[Reading](), Board(4 * np.arange(count, dtype=np.int32), width, count // width)
    index = None if puzzle is None else PieceIndex(puzzle)
    for order, end in product(listed.orders, ("top", "bottom")):
        rows = [slice(at, at + width) for at in range(0, count, width)][:: 1 if end == "top" else -1]
        cells = [quad for row in rows for quad in clockwise(listed.quads[row], order)]
        lines = [line for row in rows for line in listed.where[row]]
        if index is not None:
            readings += _of_pieces(index, f"{order},{end}", cells, lines)
        elif (own := _own_puzzle(replace(listed, quads=cells), width, name)) is not None:
            readings.append(Reading(f"{order},{end}", own, board))
    return [reading for reading in readings if reading.puzzle.framed] or readings


def _of_pieces(index: PieceIndex, name: str, cells: Sequence[Sequence[int]], lines: Sequence[int]) -> Iterator[Reading]:
    """Yield the reading of the cells' colours, named ``name``, unless too many cells show no piece of the puzzle."""
    puzzle = index.puzzle
    first = int(not puzzle.framed)  # in texts, the colours of a puzzle without frame count from 0 instead of 1
    empties = puzzle.framed and puzzle.cells > 1
    quads = [(up + first, right + first, down + first, left + first) for up, right, down, left in cells]
    seen = [None if empties and not any(quad) else quad for quad in quads]
    alien = index.cells_without_piece(seen)
    if _few(alien, len(cells)):
        said = {cell: f"shows {' '.join(map(str, cells[cell]))}, no piece of {puzzle.name}" for cell in alien}
        odd = tuple((lines[cell] if lines else 0, f"{puzzle.cell_label(cell)} {words}") for cell, words in said.items())
        board = index.board([None if cell in said else quad for cell, quad in enumerate(seen)])[0]
        yield Reading(name, puzzle, board, odd)


def _own_puzzle(listed: Listed, width: int, name: str) -> Puzzle | None:
    """Return a full board's puzzle: framed if the rim has one colour; else a Tetravex if all edges match; else None."""
    shown = np.array(listed.quads).reshape(-1, width, 4)
    border, *others = {*shown[0, :, 0], *shown[:, -1, 1], *shown[-1, :, 2], *shown[:, 0, 3]}
    if listed.framed and not others:
        with suppress(InputError):
            return listed.renumbered(int(border)).made(CLOCKWISE, len(shown[0]), len(shown), name)
        return None
    if (shown[:, :-1, 1] != shown[:, 1:, 3]).any() or (shown[:-1, :, 2] != shown[1:, :, 0]).any():
        return None
    return listed.renumbered(None).made(CLOCKWISE, len(shown[0]), len(shown), name, framed=False, turns=False)
