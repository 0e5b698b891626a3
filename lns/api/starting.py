"""A board to start from: read, made legal, filled, and the cells of it that stay."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from lns import cells
from lns.api.arguments import RunSpec
from lns.api.files import read_board
from lns.assignment import fill
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.piece_set import normalise_clue_pieces
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify


class Start(NamedTuple):
    """Where a run begins."""

    board: Board | None = None  # full and legal; None: from nothing
    score: int = -1
    clues: tuple[Clue, ...] = ()  # that keep the pinned cells
    notes: tuple[str, ...] = ()  # on how the board was read


def read_start(spec: RunSpec, puzzle: Puzzle) -> Start:
    """The start board of a run. Raises InputError where it breaks a rule, or for bad pins."""
    if spec.start is None:
        if spec.pins is not None:
            raise InputError("pins keep cells of a start board; expected a start board beside them")
        return Start()
    given, notes = read_board(spec.start, puzzle, spec.start_format, spec.start_number)
    source = None if isinstance(spec.start, Board) else os.fspath(spec.start)
    full = fill(puzzle, legal_start(puzzle, given, source))
    score = verify(puzzle, full).score
    if spec.pins is None:
        return Start(full, score, (), notes)
    named = cells.parse(spec.pins, puzzle) if isinstance(spec.pins, str) else spec.pins
    return Start(full, score, pinned(puzzle, given, full, named), notes)


def legal_start(puzzle: Puzzle, board: Board, source: str | None = None) -> Board:
    """The start board with every clue's own piece on the cell of the clue, where identical pieces are swapped.

    Raises InputError, which names ``source``, if the board breaks a rule of the puzzle or has the piece of a clue on
    another cell.
    """
    verification = verify(puzzle, board)
    if verification.violations:
        raise InputError(f"the start board is not legal for {puzzle.name}: {verification.violations[0]}", source)
    board = normalise_clue_pieces(puzzle, board)
    cell_of = {oriented // 4: cell for cell, oriented in enumerate(board.placements.tolist()) if oriented >= 0}
    for clue in puzzle.clues:
        if board.placements[clue.cell] < 0 and clue.piece in cell_of:
            raise InputError(
                f"the start board has piece {clue.piece + 1} on {puzzle.cell_label(cell_of[clue.piece])}; "
                f"expected it on {puzzle.cell_label(clue.cell)}, where a clue wants it",
                source,
            )
    return board


def placed_as_clues(puzzle: Puzzle, board: Board, source: str | None = None) -> Puzzle:
    """The puzzle with one clue more for every piece on the board: what is left to solve around them.

    Raises InputError where the board breaks a rule.
    """
    placements = legal_start(puzzle, board, source).placements.tolist()
    placed = {
        cell: Clue(cell, *divmod(oriented, 4))
        for cell, oriented in enumerate(placements)
        if oriented >= 0 and cell not in puzzle.holes
    }
    return puzzle.with_clues(({clue.cell: clue for clue in puzzle.clues} | placed).values())


def pinned(puzzle: Puzzle, given: Board, full: Board, cells: Iterable[int]) -> tuple[Clue, ...]:
    """Clues that keep cells of a start board as they are; cells that have a clue already need none.

    ``given`` and ``full`` are the board as it was given and with its empty cells filled. Raises InputError if a cell is
    off the board or empty on ``given``, two of the kept cells do not match, or no cell is left free.
    """
    clues = {clue.cell for clue in puzzle.fixed}
    named = set(cells)
    if off := sorted(cell for cell in named if not 0 <= cell < puzzle.cells):
        raise InputError(f"the pins name cell {off[0]}, which is off the board; expected 0 to {puzzle.cells - 1}")
    kept = named | clues
    if len(kept) == puzzle.cells:
        raise InputError("the pins leave no cell free; expected at least one that may change")
    for cell in sorted(named - clues):
        if given.placements[cell] < 0:
            raise InputError(
                f"the pins name {puzzle.cell_label(cell)}, which is empty on the start board; expected a piece there"
            )
    for first, second in verify(puzzle, full).mismatches:
        if {first, second} <= kept:
            raise InputError(
                f"the pins name {puzzle.cell_label(first)} and {puzzle.cell_label(second)}, which do not match; "
                "expected at most one of them"
            )
    at_home = normalise_clue_pieces(puzzle, full)
    return tuple(Clue(cell, *divmod(int(at_home.placements[cell]), 4)) for cell in sorted(named - clues))
