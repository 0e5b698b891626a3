"""The construction on a graphics card: many lanes (threads), each of which searches below a prefix of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lns.instances.errors import InputError

if TYPE_CHECKING:
    from lns.instances.puzzle import Puzzle

MAX_CELLS, MAX_COLOURS = 511, 63  # most cells and colours for which a candidate fits in 32 bits (see `lns.gpu.lanes`)


def check_card(puzzle: Puzzle) -> None:
    """Raise InputError if the puzzle is too large for a graphics card, or if there is no card that can be used."""
    check_size(puzzle)
    import_module("lns.gpu.card").CudaCard()


def check_size(puzzle: Puzzle) -> None:
    """Raise InputError if the puzzle has too many cells or colours for a graphics card."""
    colours = puzzle.renumbered().colours
    if puzzle.cells > MAX_CELLS or colours > MAX_COLOURS:
        raise InputError(
            f"{puzzle.name} has {puzzle.cells} cells and {colours} colours; a graphics card takes at most "
            f"{MAX_CELLS} and {MAX_COLOURS}: expected engine auto"
        )
