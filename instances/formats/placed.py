"""Pieces on cells by their numbers, in the conventions in use: each a reading, rated by `instances.formats.cells`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from instances.board import Board
from instances.formats.base import NearError
from instances.puzzle import Puzzle

_TURNS = 4  # which some programs write for none
_MOST_ODD = 16  # one line in so many may be wrong, and one always, in what is still recognised


@dataclass(frozen=True)
class Reading:
    """One interpretation: the options that name it, the board, lines that cannot be meant so, and those of cells."""

    name: str
    puzzle: Puzzle
    board: Board
    odd: tuple[tuple[int, str], ...] = ()
    lines: Mapping[int, int] = field(default_factory=dict)


def few(odd: int, count: int) -> bool:
    """Whether so few of the entries are wrong that the rest is still recognised."""
    return odd <= max(count > 2, count // _MOST_ODD)


def by_cell(puzzle: Puzzle, pairs: Sequence[tuple[int, ...] | None], where: Sequence[int]) -> Iterator[Reading]:
    """Piece and turn of each cell."""
    if len(pairs) != puzzle.cells:
        counts = Counter(where)
        short = next((line for line in counts if counts[line] != max(counts.values())), None)
        raise NearError(f"{len(pairs)} cells; expected {puzzle.cells} as in {puzzle.name}", line=short)
    cells = list(range(puzzle.cells))
    zeros = sum(pair is not None and pair[0] == 0 for pair in pairs)
    for base in (1, 0):
        if base == 0 and zeros > 1:
            continue
        for rows in ("top", "bottom"):
            order = (
                cells
                if rows == "top"
                else [(puzzle.height - 1 - cell // puzzle.width) * puzzle.width + cell % puzzle.width for cell in cells]
            )
            entries = [
                Entry(line, cell, pair[0] - base, pair[1])
                for cell, pair, line in zip(order, pairs, where, strict=True)
                if pair is not None and (pair[0] >= base or pair[1] % 4)
            ]
            yield from placed_turns(puzzle, entries, f"base{base},{rows}")


class Entry(NamedTuple):
    """A piece on a cell, as a line says; the cell is negative outside the board."""

    line: int
    cell: int
    piece: int
    turn: int


def placed_turns(puzzle: Puzzle, entries: Sequence[Entry], name: str) -> Iterator[Reading]:
    """Pieces on cells with the turns either way, and from each side that may be the one that is counted from."""
    base = int("base1" in name)
    odd: list[tuple[int, str]] = []
    kept: dict[int, Entry] = {}
    for entry in entries:
        piece = f"piece {entry.piece + base}"
        place = puzzle.cell_label(entry.cell) if entry.cell >= 0 else "a place outside the board"
        if not 0 <= entry.piece < puzzle.piece_count:
            odd.append((entry.line, f"{piece} on {place}; expected {base} to {puzzle.piece_count - 1 + base}"))
        elif entry.cell < 0:
            odd.append((entry.line, f"{piece} on {place}; expected a cell of {puzzle.width} x {puzzle.height}"))
        elif entry.turn > _TURNS:
            odd.append((entry.line, f"{piece} on {place} has {entry.turn} quarter turns; expected 0 to 3"))
        elif kept.setdefault(entry.cell, entry) is not entry:
            odd.append((entry.line, f"{piece} and piece {kept[entry.cell].piece + base} are both on {place}"))
    if not few(len(odd), len(entries)):
        return
    for sign, sense in ((1, "cw"), (-1, "ccw")):
        for offset in (0, 1, 2, 3):
            turns = [(sign * entry.turn + offset) % 4 for entry in kept.values()]
            if not puzzle.turns and (offset or sign < 0) and any(turns):
                continue
            placements = np.full(puzzle.cells, -1, dtype=np.int32)
            for entry, turn in zip(kept.values(), turns, strict=True):
                placements[entry.cell] = 4 * entry.piece + turn
            board = Board(placements, puzzle.width, puzzle.height)
            lines = {cell: entry.line for cell, entry in kept.items()}
            yield Reading(f"{name},{sense},turn{offset}", puzzle, board, tuple(odd), lines)


def _places(puzzle: Puzzle, places: Sequence[tuple[int, int]]) -> Iterator[tuple[str, list[int]]]:
    """The cells of pairs of coordinates: column or row first, from 0 or 1, rows from the top or the bottom."""
    for first, (x, y) in (("xy", (0, 1)), ("yx", (1, 0))):
        for base in (0, 1):
            columns = [place[x] - base for place in places]
            rows = [place[y] - base for place in places]
            for end, flip in (("top", False), ("bottom", True)):
                yield (
                    f"{first},from{base},{end}",
                    [
                        (puzzle.height - 1 - r if flip else r) * puzzle.width + c
                        if 0 <= r < puzzle.height and 0 <= c < puzzle.width
                        else -1
                        for c, r in zip(columns, rows, strict=True)
                    ],
                )


def by_piece(
    puzzle: Puzzle, entries: Sequence[tuple[int, tuple[int, ...]]], where: Sequence[int], base: str = ""
) -> Iterator[Reading]:
    """Coordinates and turn of each piece; the turn is last, or first."""
    for turn, name in ((2, "turn-last"), (0, "turn-first")):
        places = [(row[0], row[1]) if turn == 2 else (row[1], row[2]) for _, row in entries]
        for convention, cells in _places(puzzle, places):
            placed = [
                Entry(line, cell, piece, row[turn])
                for line, cell, (piece, row) in zip(where, cells, entries, strict=True)
            ]
            yield from placed_turns(puzzle, placed, f"{base}{convention},{name}")


def placed_pieces(puzzle: Puzzle, table: Sequence[tuple[int, ...]], where: Sequence[int]) -> Iterator[Reading]:
    """Piece, two coordinates and turn, or two coordinates, piece and turn, in any number of rows."""
    for base in (1, 0):
        rows = [(row[0] - base, row[1:]) for row in table]
        yield from by_piece(puzzle, rows, where, f"base{base},")
        rows = [(row[2] - base, (row[0], row[1], row[3])) for row in table]
        for each in by_piece(puzzle, rows, where, f"base{base},place-first,"):
            if "turn-last" in each.name:
                yield each
