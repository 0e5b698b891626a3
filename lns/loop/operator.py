"""What an operator of the loop is: a neighbourhood, whose cells it frees, and a repair of what it has freed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from lns.engine import State, Statistics
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.loop.pool import Member, Pool


class Freed(NamedTuple):
    """A board and the cells of it that are freed."""

    member: Member | None  # None: all cells of no board, the whole board is made anew
    cells: tuple[int, ...] = ()
    nodes: int = 0  # most placements in fixed orders of the repair, if its work is counted in these


WHOLE_BOARD = Freed(None)


class Found(NamedTuple):
    """A full board that a repair found."""

    board: Board
    origin: str  # name under which statistics and reports show it
    order: IntArray | None = None  # cells in the order in which the construction filled them


class Repaired(NamedTuple):
    """What a repair did."""

    boards: list[Found]  # in the order of discovery
    cost: float  # node equivalents
    moved: Found | None = None  # a board that takes the place of the freed one, though it is not better


class Operator(Protocol):
    """An operator of `lns.loop.search_loop.SearchLoop`.

    Attributes
    ----------
    name : str
        Name in the table, in statistics and in messages.
    makes_boards : bool
        Whether it makes whole boards, and so can make the first one.
    proves : bool
        Whether its repair is exact: what it does not find is proven not to exist.
    """

    name: str
    makes_boards: bool
    proves: bool

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        """Choose a board and the cells to free; None if there is nothing to do for a board of score ``wanted``."""

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        """Search for a board that is better than the freed one, or of the score ``wanted`` if that is a whole board."""

    @property
    def statistics(self) -> Statistics:
        """What was done so far."""

    def state(self) -> State:
        """Everything that a new operator needs to go on; without the pool."""

    def restore(self, state: State) -> None:
        """Go on from a state. Raises InputError if it does not fit the puzzle or the parameters."""


class Neighbourhood(Protocol):
    """The regions of a board that are worth freeing, the most promising first."""

    def __call__(self, puzzle: Puzzle, member: Member, /) -> Iterator[tuple[int, ...]]:
        """Cells of each region."""
