"""Readings: what a text may mean as a board. One measure, `Reading.rank`, says how much each makes legal.

The conventions of programs differ: pieces and coordinates count from 0 or 1, rows from the top or the bottom, turns
either way and from any side. Each combination is a reading, named as ``cells:base0,bottom,ccw,turn2``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from instances.board import Board
from instances.formats.base import NearError
from instances.puzzle import Puzzle
from instances.verify import Verification, verify
from lns_support.errors import InputError

_T = TypeVar("_T")

NEAR = 0.9  # a second reading with this share of the seams of the best is too near to choose
_FEW = 0.4  # a wrong convention may match this share of the seams between placed pieces
_ENOUGH = 24  # seams; on fewer the share says little
_TURNS = 4  # which some programs write for none
_MOST_ODD = 16  # one line in so many may be wrong, and one always, in what is still recognised
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


def few(odd: int, count: int) -> bool:
    """Whether so few of the entries are wrong that the rest is still recognised."""
    return odd <= max(count > 2, count // _MOST_ODD)


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
            raise InputError(
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
    turns = range(4 if height == width else 1)
    shown = [(one, turn) for turn in turns]
    if first.puzzle is not second.puzzle:
        shown += [(one[::-1][:, :, [2, 1, 0, 3]], turn) for turn in turns]
    return any(np.array_equal(np.roll(np.rot90(board, -turn), turn, axis=2), two) for board, turn in shown)


# -- pieces by number --------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A piece on a cell, as a line says; the cell is negative outside the board."""

    line: int
    cell: int
    piece: int
    turn: int


def bottom_up(cells: Sequence[_T], width: int) -> list[_T]:
    """What belongs to the cells, row by row, with the last row first."""
    return [entry for at in range(len(cells) - width, -1, -width) for entry in cells[at : at + width]]


def by_turn(puzzle: Puzzle, entries: Sequence[Entry], name: str) -> Iterator[Reading]:
    """Pieces on cells with the turns either way, and from each side that may be the one that is counted from."""
    base = int("base1" in name)
    odd: list[tuple[int, str]] = []
    kept: dict[int, Entry] = {}
    count = puzzle.piece_count
    for entry in entries:
        if not 0 <= entry.piece < count:
            said = f"on PLACE; expected {base} to {count - 1 + base}"
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
        if not few(len(odd), len(entries)):
            return
    lines = {cell: entry.line for cell, entry in kept.items()}
    for sign, sense in ((1, "cw"), (-1, "ccw")):
        for offset in range(4):
            turns = [(sign * entry.turn + offset) % 4 for entry in kept.values()]
            if not puzzle.turns and (offset or sign < 0) and any(turns):
                continue
            placements = np.full(puzzle.cells, -1, dtype=np.int32)
            for entry, turn in zip(kept.values(), turns, strict=True):
                placements[entry.cell] = 4 * entry.piece + turn
            board = Board(placements, puzzle.width, puzzle.height)
            yield Reading(f"{name},{sense},turn{offset}", puzzle, board, tuple(odd), lines)


def by_cell(puzzle: Puzzle, pairs: Sequence[tuple[int, ...] | None], where: Sequence[int]) -> Iterator[Reading]:
    """Piece and turn of each cell; ``where`` has the lines."""
    if len(pairs) != puzzle.cells:
        counts = Counter(where)
        short = next((line for line in counts if counts[line] != max(counts.values())), None)
        raise NearError(f"{len(pairs)} cells; expected {puzzle.cells} as in {puzzle.name}", line=short)
    zeros = sum(pair is not None and pair[0] == 0 for pair in pairs)
    for base in (1, 0) if zeros <= 1 else (1,):
        for rows in ("top", "bottom"):
            cells = list(range(puzzle.cells))
            entries = [
                Entry(line, cell, pair[0] - base, pair[1])
                for cell, pair, line in zip(
                    cells if rows == "top" else bottom_up(cells, puzzle.width), pairs, where, strict=True
                )
                if pair is not None and (pair[0] >= base or pair[1] % 4)
            ]
            yield from by_turn(puzzle, entries, f"base{base},{rows}")


def by_place(
    puzzle: Puzzle, table: Sequence[tuple[int, ...]], where: Sequence[int], *, listed: bool = False
) -> Iterator[Reading]:
    """Piece, two coordinates and turn of each line; ``listed``: the pieces count from 0, as they are listed."""
    for base in (0,) if listed else (1, 0):
        for first, last, columns in _LAYOUTS[: 2 if listed else 3]:
            rows = [tuple(row[at] for at in columns) for row in table]
            for convention, cells in _places(puzzle, [row[1:3] for row in rows]):
                entries = [
                    Entry(line, cell, row[0] - base, row[3]) for line, cell, row in zip(where, cells, rows, strict=True)
                ]
                name = f"{first}{convention},{last}"
                yield from by_turn(puzzle, entries, name if listed else f"base{base},{name}")


def _places(puzzle: Puzzle, places: Sequence[tuple[int, ...]]) -> Iterator[tuple[str, list[int]]]:
    """The cells of pairs of coordinates: column or row first, from 0 or 1, rows from the top or the bottom."""
    for first in ("xy", "yx"):
        for base in (0, 1):
            for end in ("top", "bottom"):
                cells = []
                for place in places:
                    x, y = (each - base for each in (place if first == "xy" else place[::-1]))
                    inside = 0 <= x < puzzle.width and 0 <= y < puzzle.height
                    cells.append((puzzle.height - 1 - y if end == "bottom" else y) * puzzle.width + x if inside else -1)
                yield f"{first},from{base},{end}", cells
