"""Pieces of a start board that stay, as clues of the puzzle that is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.duplicates import normalise_clue_pieces
from instances.puzzle import Clue
from instances.verify import verify
from lns.terminal.options import Span, span_cells
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


def legal_start(puzzle: Puzzle, board: Board, source: str) -> Board:
    """``board`` with every clue's own piece on the clue's cell, of identical ones.

    Raises InputError where it breaks a rule of the puzzle.
    """
    judged = verify(puzzle, board)
    if judged.violations:
        raise InputError(f"the start board is not legal for {puzzle.name}: {judged.violations[0]}", source)
    board = normalise_clue_pieces(puzzle, board)
    at = {oriented // 4: cell for cell, oriented in enumerate(board.placements.tolist()) if oriented >= 0}
    for clue in puzzle.clues:
        if board.placements[clue.cell] < 0 and clue.piece in at:
            raise InputError(
                f"the start board has piece {clue.piece + 1} on {puzzle.cell_label(at[clue.piece])}; "
                f"expected it on {puzzle.cell_label(clue.cell)}, where a clue wants it",
                source,
            )
    return board


def with_laid(puzzle: Puzzle, board: Board, source: str) -> Puzzle:
    """The puzzle that a board, full or not, leaves to be solved: a clue more for every piece that lies."""
    placements = legal_start(puzzle, board, source).placements.tolist()
    laid = {cell: Clue(cell, *divmod(oriented, 4)) for cell, oriented in enumerate(placements) if oriented >= 0}
    return puzzle.with_clues(({clue.cell: clue for clue in puzzle.clues} | laid).values())


def pinned(puzzle: Puzzle, given: Board, full: Board, spans: list[Span]) -> tuple[Clue, ...]:
    """A clue for every cell that was named and has none yet. ``full``: the board ``given``, its holes filled.

    Raises InputError for a cell that is off the board or empty on ``given``, or that meets another such cell or a clue
    with different colours; and when no cell is left free.
    """
    clues = {clue.cell: clue for clue in puzzle.clues}
    cells = {}.fromkeys(span_cells(spans, puzzle)).keys()
    kept = cells | clues.keys()
    if len(kept) == puzzle.cells:
        raise InputError("--pin leaves no cell free; expected at least one that may change")
    for cell in sorted(cells - clues.keys()):
        if given.placements[cell] < 0:
            raise InputError(
                f"--pin names {puzzle.cell_label(cell)}, which is empty on the start board; expected a piece there"
            )
    for one, other in verify(puzzle, full).mismatches:
        if {one, other} <= kept:
            raise InputError(
                f"--pin names {puzzle.cell_label(one)} and {puzzle.cell_label(other)}, which do not match; "
                "expected at most one of them"
            )
    named = normalise_clue_pieces(puzzle, full)
    return tuple(Clue(cell, *divmod(int(named.placements[cell]), 4)) for cell in sorted(cells - clues.keys()))
