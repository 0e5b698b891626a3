"""`--pin`: cells of a start board that stay, as clues of the puzzle that is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.errors import InputError
from instances.identical import clues_at_home
from instances.puzzle import Clue
from instances.verify import verify
from lns.cli.options import Span, cells_of

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


def pinned(puzzle: Puzzle, given: Board, full: Board, spans: list[Span]) -> tuple[Clue, ...]:
    """A clue for every cell that was named and has none yet. ``full``: the board ``given``, its holes filled.

    Raises InputError for a cell that is off the board or empty on ``given``, or that meets another such cell or a clue
    with different colours; and when no cell is left free.
    """
    clues = {clue.cell: clue for clue in puzzle.clues}
    cells = {}.fromkeys(cells_of(spans, puzzle)).keys()
    kept = cells | clues.keys()
    if len(kept) == puzzle.cells:
        raise InputError("--pin leaves no cell free; expected at least one that may change")
    for cell in sorted(cells - clues.keys()):
        if given.placements[cell] < 0:
            raise InputError(
                f"--pin names {puzzle.place(cell)}, which is empty on the start board; expected a piece there"
            )
    for one, other in verify(puzzle, full).mismatches:
        if {one, other} <= kept:
            raise InputError(
                f"--pin names {puzzle.place(one)} and {puzzle.place(other)}, which do not match; "
                "expected at most one of them"
            )
    named = clues_at_home(puzzle, full)
    return tuple(Clue(cell, *divmod(int(named.placements[cell]), 4)) for cell in sorted(cells - clues.keys()))
