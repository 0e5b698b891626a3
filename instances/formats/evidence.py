"""Readings: what a text may mean as a board, the pieces that it shows, and the scorer that picks one.

The conventions of programs differ: pieces and coordinates count from 0 or 1, rows from the top or the bottom, turns
either way and from any side, sides in any order. Each combination is a reading, named as
``cells:base0,bottom,ccw,turn2``. One measure, `Reading.rank`, says how much each makes legal.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple, TypeVar

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats.base import NearError, Quad
from lns.instances.formats.orders import CLOCKWISE, clockwise
from lns.instances.puzzle import GREY, MAX_CELLS, IntArray, Puzzle, canonical, rotate
from lns.instances.verify import Verification, verify

_T = TypeVar("_T")

NEAR = 0.9  # a second reading with this share of the seams of the best is too near to choose
_FEW = 0.4  # a wrong convention may match this share of the seams between placed pieces
_ENOUGH = 24  # seams; on fewer the share says little
_TURNS = 4  # which some programs write for none
_MOST_ODD = 16  # one line in so many may be wrong, and one always, in what is still recognised
_MOST_COLOURS = 4000
ALL_ORDERS = ["".join(order) for order in permutations(CLOCKWISE)]  # clockwise from the top comes first
_UNUSUAL = {"bottom", "ccw", "turn1", "turn2", "turn3", "turn-first", "place-first"}
_LAYOUTS = (  # of four columns: words of the name, and the columns of piece, two coordinates and turn
    ("", "turn-last", (0, 1, 2, 3)),
    ("", "turn-first", (0, 2, 3, 1)),
    ("place-first,", "turn-last", (2, 0, 1, 3)),
)


@dataclass(frozen=True)
class Reading:
    """One interpretation: the convention by name, the board, lines that cannot be meant so, and the line of a cell."""

    name: str
    puzzle: Puzzle
    board: Board
    odd: tuple[tuple[int, str], ...] = ()
    lines: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def found(self) -> Verification:
        """Score and broken rules."""
        return verify(self.puzzle, self.board)

    @property
    def rank(self) -> tuple[int, int]:
        """(faults, minus the score): the smaller the more legal."""
        return len(self.found.violations) + 2 * len(self.odd), -self.found.score

    @property
    def parts(self) -> set[str]:
        """The parts of the name."""
        return set(self.name.split(","))


def best(form: str, readings: Sequence[Reading], *, format: str, named: bool = False) -> Reading:
    """The reading that makes most legal; of a board and the same board turned, the usual convention.

    ``form`` says what the text looks like, ``format`` is the format in the names of conventions; ``named``: one was
    named, so that few matched seams are no sign of a wrong one. Raises InputError if the best breaks too many rules, or
    another that shows another board comes near.
    """
    first, *others = sorted(readings, key=lambda each: (*each.rank, len(each.parts & _UNUSUAL)))
    (faults, loss), found = first.rank, first.found
    if first.odd:
        line, sentence = first.odd[0]
        raise NearError(f"{sentence} (read as {format}:{first.name})", line=line or None)
    for other in others:
        if other.rank[0] == faults and -other.rank[1] >= -loss * NEAR and not _same_board(first, other):
            raise NearError(
                f"{form}: it fits as {format}:{first.name} and as {format}:{other.name}; "
                f"expected one of them, such as --format {format}:{first.name}"
            )
    if faults > 0.05 * found.placed + 5 and found.placed > 3:
        raise InputError(
            f"{form}: the best convention ({first.name}) breaks {faults} rules; expected a board of "
            f"{first.puzzle.name} (another numbering or side order of the pieces?)"
        )
    seams = found.score + len(found.mismatches)
    if not named and seams >= _ENOUGH and found.score < _FEW * seams:
        raise InputError(
            f"{form}: the best convention ({first.name}) matches {found.score} of {seams} seams of pieces; expected a "
            f"board of {first.puzzle.name}, its pieces listed in the turns that the board counts from, or the "
            f"convention by name as --format {format}:{first.name}"
        )
    return first


def _same_board(first: Reading, second: Reading) -> bool:
    """Whether two readings show one board, perhaps turned; or mirrored, where each defines its own pieces."""
    height, width = first.board.height, first.board.width
    one, two = (np.asarray(each.board.colours(each.puzzle)).reshape(height, width, 4) for each in (first, second))
    shown = [one] if first.puzzle is second.puzzle else [one, one[::-1][:, :, [2, 1, 0, 3]]]
    return any(
        np.array_equal(np.roll(np.rot90(board, -turn), turn, axis=2), two)
        for board in shown
        for turn in range(4 if height == width else 1)
    )


def _few(odd: int, count: int) -> bool:
    """Whether so few of the entries are wrong that the rest is still recognised."""
    return odd <= max(count > 2, count // _MOST_ODD)


# -- pieces by number --------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A piece on a cell, as a line says; the cell is negative outside the board."""

    line: int
    cell: int
    piece: int
    turn: int


def by_turn(puzzle: Puzzle, entries: Sequence[Entry], name: str) -> Iterator[Reading]:
    """Pieces on cells with the turns either way, and from each side that may be the one that is counted from."""
    base = int("base1" in name)
    odd: list[tuple[int, str]] = []
    kept: dict[int, Entry] = {}
    for entry in entries:
        if not 0 <= entry.piece < puzzle.piece_count:
            said = f"on PLACE; expected {base} to {puzzle.piece_count - 1 + base}"
        elif entry.cell < 0:
            said = f"on PLACE; expected a cell of {puzzle.width} x {puzzle.height}"
        elif entry.turn > _TURNS:
            said = f"on PLACE has {entry.turn} quarter turns; expected 0 to 3"
        elif kept.setdefault(entry.cell, entry) is not entry:
            said = f"and piece {kept[entry.cell].piece + base} are both on PLACE"
        else:
            continue
        place = puzzle.cell_label(entry.cell) if entry.cell >= 0 else "a place outside the board"
        odd.append((entry.line, f"piece {entry.piece + base} {said.replace('PLACE', place)}"))
        if not _few(len(odd), len(entries)):
            return
    lines = {cell: entry.line for cell, entry in kept.items()}
    cells, pieces, turns = (np.array([entry[at] for entry in kept.values()], dtype=np.int32) for at in (1, 2, 3))
    for (sign, sense), offset in product(((1, "cw"), (-1, "ccw")), range(4)):
        turned = (sign * turns + offset) % 4
        if puzzle.turns or not turned.any() or (sign > 0 and not offset):
            placements = np.full(puzzle.cells, -1, dtype=np.int32)
            placements[cells] = 4 * pieces + turned
            board = Board(placements, puzzle.width, puzzle.height)
            yield Reading(f"{name},{sense},turn{offset}", puzzle, board, tuple(odd), lines)


def by_cell(puzzle: Puzzle, pairs: Sequence[tuple[int, ...] | None], where: Sequence[int]) -> Iterator[Reading]:
    """Piece and turn of each cell; ``where`` has the lines."""
    if len(pairs) != puzzle.cells:
        counts = Counter(where)
        short = next((line for line in counts if counts[line] != max(counts.values())), None)
        raise NearError(f"{len(pairs)} cells; expected {puzzle.cells} as in {puzzle.name}", line=short)
    zeros = sum(pair is not None and pair[0] == 0 for pair in pairs)
    for base, end in product((1, 0) if zeros <= 1 else (1,), ("top", "bottom")):
        entries = [
            Entry(line, cell, pair[0] - base, pair[1])
            for cell, pair, line in zip(_from(end, range(puzzle.cells), puzzle.width), pairs, where, strict=True)
            if pair is not None and (pair[0] >= base or pair[1] % 4)
        ]
        yield from by_turn(puzzle, entries, f"base{base},{end}")


def by_place(
    puzzle: Puzzle, table: Sequence[tuple[int, ...]], where: Sequence[int], *, listed: bool = False
) -> Iterator[Reading]:
    """Piece, two coordinates and turn of each line; ``listed``: the pieces count from 0, as they are listed.

    The coordinates are column or row first, from 0 or 1, rows from the top or the bottom.
    """
    layouts, width, height = _LAYOUTS[: 2 if listed else 3], puzzle.width, puzzle.height
    for base, layout, order, first, end in product(
        (0,) if listed else (1, 0), layouts, ("xy", "yx"), (0, 1), ("top", "bottom")
    ):
        before, after, columns = layout
        entries = []
        for line, row in zip(where, table, strict=True):
            piece, one, two, turn = (row[at] for at in columns)
            x, y = (one - first, two - first) if order == "xy" else (two - first, one - first)
            y = height - 1 - y if end == "bottom" else y
            inside = 0 <= x < width and 0 <= y < height
            entries.append(Entry(line, y * width + x if inside else -1, piece - base, turn))
        name = f"{before}{order},from{first},{end},{after}"
        yield from by_turn(puzzle, entries, name if listed else f"base{base},{name}")


def _from(end: str, cells: Sequence[_T], width: int) -> list[_T]:
    """What belongs to the cells, row by row, the last row first if the rows come from the bottom."""
    starts = range(0, len(cells), width)
    return [entry for at in (reversed(starts) if end == "bottom" else starts) for entry in cells[at : at + width]]


# -- pieces by their colours -------------------------------------------------------------------------------------------


class PieceIndex:
    """The pieces of a puzzle by their colours.

    ``by_colours`` maps the canonical form of a piece to the numbers of all such pieces: file order, those that clues
    name last. ``shown`` has the pieces in all turns.
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
        """The cells whose colours are those of no piece."""
        return [cell for cell, quad in enumerate(quads) if quad is not None and quad not in self.shown]

    def board(self, quads: Sequence[Quad | None], numbers: Sequence[int | None] | None = None) -> tuple[Board, int]:
        """The board that shows given colours, and how many stated ``numbers`` are contradicted by their colours.

        Among identical pieces the stated one is chosen; without a statement, the clue's piece on the cell of a clue;
        otherwise the pieces in the order of the index; of pieces that may not be turned those first that need no turn.
        If the cells show more of them than exist, the last one is placed repeatedly, which `lns.instances.verify`
        reports. Raises InputError for a cell that shows colours of no piece.
        """
        forms = {cell: canonical(quad) for cell, quad in enumerate(quads) if quad is not None}
        alike = {cell: self.by_colours.get(form, []) for cell, form in forms.items()}
        for cell, identical in alike.items():
            if not identical:
                raise InputError(f"{self.puzzle.cell_label(cell)}: {quads[cell]} is no piece of {self.puzzle.name}")
        stated = [(cell, piece) for cell, piece in enumerate(numbers or ()) if piece is not None and cell in alike]
        wishes = [*stated, *((clue.cell, clue.piece) for clue in self.puzzle.clues)]
        if not self.puzzle.turns:
            lying = ((cell, piece) for cell, identical in alike.items() for piece in identical)
            wishes += [(cell, piece) for cell, piece in lying if tuple(self.pieces[piece]) == quads[cell]]
        chosen: dict[int, int] = {}
        used: set[int] = set()
        for cell, piece in wishes:
            if cell not in chosen and piece not in used and piece in alike.get(cell, ()):
                chosen[cell] = piece
                used.add(piece)
        waiting = {form: (each for each in self.by_colours[form] if each not in used) for form in {*forms.values()}}
        pairs: list[tuple[int, int] | None] = [None] * len(quads)
        for cell, identical in alike.items():
            piece = chosen[cell] if cell in chosen else next(waiting[forms[cell]], identical[-1])
            pairs[cell] = piece, next(turns for turns in range(4) if rotate(self.pieces[piece], turns) == quads[cell])
        contradicted = sum(piece not in alike[cell] for cell, piece in stated)
        return Board.from_pairs(pairs, self.puzzle.width, self.puzzle.height), contradicted


# -- colours in place --------------------------------------------------------------------------------------------------


class Laid(NamedTuple):
    """Four colours of each cell, as a text has them."""

    quads: list[list[int]]
    width: int  # cells on a line, 0 if the lines do not say
    where: Sequence[int] = ()  # the line of each cell
    orders: Sequence[str] = ALL_ORDERS  # of the sides, that are tried
    framed: bool = True  # a full board may define a puzzle with a frame
    names: tuple[str, ...] = ()  # of the colours, as the text has them


def in_place(laid: Laid, puzzle: Puzzle | None, name: str) -> Iterator[Reading]:
    """Four colours for each cell, in each order of the sides, rows from the top or the bottom."""
    quads = laid.quads
    width = laid.width or (puzzle.width if puzzle is not None else 0)
    if not width or len(quads) % width or len(quads) > MAX_CELLS or max(map(max, quads)) > _MOST_COLOURS:
        return
    height = len(quads) // width
    shown = {
        f"{order},{end}": _from(end, clockwise(quads, order), width)
        for order, end in product(laid.orders, ("top", "bottom"))
    }
    if puzzle is None:
        arrays = {convention: np.array(cells).reshape(height, width, 4) for convention, cells in shown.items()}
        seams = {convention: _seams(each, int(np.bincount(_rim(each)).argmax())) for convention, each in arrays.items()}
        board = Board(4 * np.arange(width * height, dtype=np.int32), width, height)
        for convention, each in arrays.items():
            near = seams[convention] >= NEAR * max(seams.values())
            if near and (own := _own_puzzle(each, name, laid)) is not None:
                yield Reading(convention, own, board)
        return
    if (puzzle.width, puzzle.height) != (width, height):
        return
    index, first = PieceIndex(puzzle), int(not puzzle.framed)  # colours of a puzzle without frame count from 0 in texts
    empties = puzzle.framed and puzzle.cells > 1
    for convention, cells in shown.items():
        lines = _from(convention.partition(",")[2], laid.where or [0] * len(cells), width)
        seen: list[Quad | None] = [
            None if empties and not any(quad) else (quad[0] + first, quad[1] + first, quad[2] + first, quad[3] + first)
            for quad in cells
        ]
        alien = index.cells_without_piece(seen)
        if _few(len(alien), len(cells)):  # a few cells may show none of the pieces
            said = {cell: f"shows {' '.join(map(str, cells[cell]))}, no piece of {puzzle.name}" for cell in alien}
            odd = tuple((lines[cell], f"{puzzle.cell_label(cell)} {words}") for cell, words in said.items())
            board = index.board([None if cell in said else quad for cell, quad in enumerate(seen)])[0]
            yield Reading(convention, puzzle, board, odd)


def _own_puzzle(shown: IntArray, name: str, laid: Laid) -> Puzzle | None:
    """The puzzle that a full board defines: with a frame if its rim is one colour, else without, if its seams match."""
    height, width, _ = shown.shape
    border, *others = set(_rim(shown).tolist())
    names = dict(enumerate(laid.names))
    if laid.framed and not others:
        names |= {GREY: names.get(border, ""), border: names.get(GREY, "")}
        swapped = np.where(shown == border, GREY, np.where(shown == GREY, border, shown))
        try:
            return Puzzle(swapped.reshape(-1, 4), width, height, name=name, names=tuple(names.values()))
        except InputError:
            return None
    if _seams(shown) < width * (height - 1) + height * (width - 1):
        return None
    named = ("", *laid.names)
    return Puzzle(shown.reshape(-1, 4) + 1, width, height, name=name, framed=False, turns=False, names=named)


def _rim(shown: IntArray) -> IntArray:
    """The colours along the rim of (height, width, 4) colours."""
    return np.concatenate([shown[0, :, 0], shown[:, -1, 1], shown[-1, :, 2], shown[:, 0, 3]])


def _seams(shown: IntArray, border: int = -1) -> int:
    """Matched seams of (height, width, 4) colours, but for those of the colour of the border."""
    pairs = (shown[:, :-1, 1], shown[:, 1:, 3]), (shown[:-1, :, 2], shown[1:, :, 0])
    return sum(int(((one == two) & (one != border)).sum()) for one, two in pairs)
