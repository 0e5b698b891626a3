"""`lns.polish`: make a board better that was found elsewhere."""

from __future__ import annotations

from typing import Any

from instances.board import Board
from instances.puzzle import Puzzle
from lns import cells
from lns.api.arguments import DEFAULT_SECONDS
from lns.api.result import Result
from lns.api.solving import Pins, solve
from lns.api.stopping import SearchProgress, StopRule
from lns_support.arguments import checked
from lns_support.errors import InputError


class Certified(StopRule):
    """End when every window around the damage of the best board is proven to have no better refill."""

    def __call__(self, progress: SearchProgress) -> str | None:
        return "all listed regions are proven: nothing better within them" if progress.is_certified else None


@checked
def polish(
    puzzle: Puzzle, board: Board, *, free: Pins | None = None, stop: StopRule | None = None, **how: Any
) -> Result:
    """Free parts of a board and repair them, from ten cells to half of them, until nothing better is within reach.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board
        Full or partial; it breaks no rule.
    free : str or iterable of int, optional
        Cells that may change: numbers from 0, or a text such as ``"3,10-20,r8-15"``; the others must match each other.
        By default any may, but at least half of them stay.
    stop : StopRule, optional
        Rule that ends the search too.
    **how
        As for `lns.solve`: ``time`` (a minute by default), ``workers``, ``seed``, ``run_dir``, ``progress``, ...

    Returns
    -------
    Result
        ``why`` says whether the time was over, or all listed regions are proven.

    Raises
    ------
    InputError
        As for `lns.solve`; or the board is empty.
    """
    if board.placed == 0:
        raise InputError("the board is empty; expected one to polish")
    if free is not None:
        freed = set(cells.parse(free, puzzle) if isinstance(free, str) else free) | set(puzzle.holes)
        how["pins"] = [cell for cell in range(puzzle.cells) if cell not in freed and board.placements[cell] >= 0]
    rule = Certified() if stop is None else Certified() | stop
    return solve(puzzle, start=board, engine="polish", stop=rule, **{"time": DEFAULT_SECONDS} | how)
