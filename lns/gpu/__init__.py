"""The construction on a graphics card: many lanes, each of which searches below a prefix of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lns.instances.errors import InputError

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

MAX_CELLS, MAX_COLOURS = 511, 63  # largest numbers for which a candidate fits 32 bits (`lns.gpu.lanes`)


def check_card(puzzle: Puzzle) -> None:
    """Raise InputError if no graphics card can be used here, or not for this puzzle."""
    check_size(puzzle)
    import_module("lns.gpu.card").CudaCard()


def check_size(puzzle: Puzzle) -> None:
    """Raise InputError if the puzzle has too many pieces or colours for a card."""
    colours = puzzle.renumbered().colours
    if puzzle.cells > MAX_CELLS or colours > MAX_COLOURS:
        raise InputError(
            f"{puzzle.name} has {puzzle.cells} cells and {colours} colours; a graphics card takes at most "
            f"{MAX_CELLS} and {MAX_COLOURS}: expected engine auto"
        )
