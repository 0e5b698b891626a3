"""The solver 'auto': the row scan, ColorPairs and exact cover take turns on the same puzzle; the first to end answers.

A small or narrow puzzle is counted fastest row by row, most others by ColorPairs, and some by exact cover; which one is
seen only by trying. Turns are counted in nodes, so the answer does not depend on the machine. A search joins only when
those before it have not ended soon, so that a quick one compiles no other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from lns.exact.execution import BoardSearch, Request, run_request
from lns.exact.kernels.cache import is_compiled
from lns.exact.outcome import Outcome
from lns.exact.piece_classes import assignments_per_board
from lns.exact.registry import SOLVERS
from lns.exact.rowscan import RowScan
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle

log = logging.getLogger("lns")

MOST_COVER_CELLS = 64  # a larger matrix is not built for a search that hardly ever ends


class Entrant(NamedTuple):
    """A search that takes turns."""

    solver: str
    after: int  # nodes of all searches together after which it joins
    share: int  # of the nodes of a turn: such that all turns take about equally long
    make: Callable[[Puzzle, Request], BoardSearch]


def _color_pairs(puzzle: Puzzle, request: Request) -> BoardSearch:
    from lns.exact.colorpairs.kernel import ColorPairs  # its kernels take a while to import

    return ColorPairs(puzzle, request.options)


def _cover(puzzle: Puzzle, request: Request) -> BoardSearch:
    from lns.exact.cover.search import Cover

    return Cover(puzzle)


ENTRANTS = (
    Entrant("rowscan", 0, 64, lambda puzzle, request: RowScan(puzzle)),
    Entrant("colorpairs", 100_000_000, 8, _color_pairs),
    Entrant("dlx", 150_000_000, 1, _cover),
)


class Portfolio:
    """Several paused searches of one puzzle that take turns.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle to be filled.
    request : Request
        Options of ColorPairs. With ``on_solution`` only the first search takes part, as each would find every solution.
    entrants : sequence of Entrant
        The searches, in the order in which they join. Those that refuse the puzzle take no part.
    """

    def __init__(self, puzzle: Puzzle, request: Request, entrants: tuple[Entrant, ...] = ENTRANTS) -> None:
        self.puzzle, self._request = puzzle, request
        entrants = tuple(one for one in entrants if not {*puzzle.rules} & {*SOLVERS[one.solver].refuses})
        self._waiting = list(entrants)
        if puzzle.cells > MOST_COVER_CELLS or assignments_per_board(puzzle) > 1:  # it tells identical pieces apart
            self._waiting = [one for one in entrants if one.solver != "dlx"]
        if request.on_solution is not None:
            del self._waiting[1:]
        self._searches: list[tuple[Entrant, BoardSearch]] = []
        self._join()

    def _join(self) -> None:
        while self._waiting and (not self._searches or self.nodes >= self._waiting[0].after):
            entrant = self._waiting.pop(0)
            module = SOLVERS[entrant.solver].kernel_module
            if self._searches and module is not None and not is_compiled(module):
                log.info(
                    "compiling %s, once for this installation: about half a minute of an idle core", entrant.solver
                )
            self._searches.append((entrant, entrant.make(self.puzzle, self._request)))

    @property
    def nodes(self) -> int:
        return sum(search.nodes for _, search in self._searches)

    @property
    def _best(self) -> tuple[Entrant, BoardSearch]:
        """The search that has ended; before that, the one that has found most."""
        ended = (one for one in self._searches if one[1].exhausted)
        return next(ended, None) or max(self._searches, key=lambda one: one[1].solutions)

    @property
    def answered_by(self) -> str:
        """The solver that has ended or found most; empty before one has."""
        entrant, search = self._best
        return entrant.solver if search.exhausted or search.solutions else ""

    @property
    def solutions(self) -> int:
        return self._best[1].solutions

    @property
    def exhausted(self) -> bool:
        return self._best[1].exhausted

    @property
    def explored(self) -> float:
        """The largest share that one of them has searched of its tree."""
        return max(search.explored for _, search in self._searches)

    @property
    def details(self) -> dict[str, float]:
        return self._best[1].details

    def first_board(self) -> Board | None:
        """The first solution that one of them has found."""
        return self._best[1].first_board()

    def reset_solutions(self) -> None:
        """Count solutions from 0 again; only one search is asked for all boards."""
        self._best[1].reset_solutions()

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes in all, until one of them ends, or finds a solution when ``stop_at_first``."""
        shares = sum(entrant.share for entrant, _ in self._searches)
        parts = [budget * entrant.share // shares for entrant, _ in self._searches]
        parts[0] += budget - sum(parts)
        for part, (_, search) in zip(parts, self._searches, strict=True):
            search.advance(part, stop_at_first)
            if search.exhausted or (stop_at_first and search.solutions):
                return
        self._join()


def run_portfolio(puzzle: Puzzle, request: Request) -> Outcome:
    """The solver 'auto'. Nodes are those of all searches, each counted as that solver counts them."""
    search = Portfolio(puzzle, request)
    return replace(run_request(search, request), answered_by=search.answered_by)
