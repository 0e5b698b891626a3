"""The solver 'auto': the row scan, ColorPairs and exact cover take turns on the same puzzle; the first to end answers.

A small or narrow puzzle is counted fastest row by row, most others by ColorPairs, and some by exact cover; which one is
seen only by trying. SAT solvers take no part: on the puzzles of docs/papers/outcome.md none is the fastest, and none
solves what the others leave. Turns are counted in nodes, so the answer does not depend on the machine. A search joins
only when those before it have not ended soon, so that a quick one compiles no other.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from lns.exact.driver import PausedSearch
from lns.exact.execution import Request
from lns.exact.kernels.cache import is_compiled
from lns.exact.piece_classes import assignments_per_board
from lns.exact.registry import SOLVERS
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle

log = logging.getLogger("lns")

MOST_COVER_CELLS = 64  # a larger matrix is not built for a search that hardly ever ends


class Entrant(NamedTuple):
    """A search that takes turns."""

    solver: str
    after: int  # nodes of all searches together after which it joins
    share: int  # of the nodes of a turn: such that all turns take about equally long


ENTRANTS = (Entrant("rowscan", 0, 64), Entrant("colorpairs", 100_000_000, 8), Entrant("dlx", 150_000_000, 1))


class Portfolio(PausedSearch):
    """Several paused searches of one puzzle that take turns. Nodes are those of all, each counted as its solver does.

    They join in the order of ``entrants``. Those that refuse the puzzle take no part; with ``on_solution`` only the
    first takes part, as each would find every solution.
    """

    def __init__(self, puzzle: Puzzle, request: Request, entrants: tuple[Entrant, ...] = ENTRANTS) -> None:
        self._puzzle, self._request = puzzle, request
        self._waiting = [one for one in entrants if not {*puzzle.rules} & {*SOLVERS[one.solver].refuses}]
        if puzzle.cells > MOST_COVER_CELLS or assignments_per_board(puzzle) > 1:  # it tells identical pieces apart
            self._waiting = [one for one in self._waiting if one.solver != "dlx"]
        if request.on_solution is not None:
            del self._waiting[1:]
        self.searches: list[tuple[Entrant, PausedSearch]] = []
        self._join()

    def _join(self) -> None:
        while self._waiting and (not self.searches or self.nodes >= self._waiting[0].after):
            entrant = self._waiting.pop(0)
            solver = SOLVERS[entrant.solver]
            if self.searches and solver.kernel_module is not None and not is_compiled(solver.kernel_module):
                log.info(
                    "compiling %s, once for this installation: about half a minute of an idle core", entrant.solver
                )
            self.searches.append((entrant, solver.make(self._puzzle, self._request)))

    @property
    def nodes(self) -> int:
        return sum(search.nodes for _, search in self.searches)

    @property
    def _best(self) -> tuple[Entrant, PausedSearch]:
        """The search that has ended; before that, the one that has found most."""
        ended = (one for one in self.searches if one[1].exhausted)
        return next(ended, None) or max(self.searches, key=lambda one: one[1].solutions)

    @property
    def answered_by(self) -> str:
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
        return max(search.explored for _, search in self.searches)

    @property
    def details(self) -> dict[str, float]:
        return self._best[1].details

    def first_board(self) -> Board | None:
        return self._best[1].first_board()

    def reset_solutions(self) -> None:
        self._best[1].reset_solutions()  # only one search is asked for all boards

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes in all, until one of them ends, or finds a solution when ``stop_at_first``."""
        shares = sum(entrant.share for entrant, _ in self.searches)
        parts = [budget * entrant.share // shares for entrant, _ in self.searches]
        parts[0] += budget - sum(parts)
        for part, (_, search) in zip(parts, self.searches, strict=True):
            search.advance(part, stop_at_first)
            if search.exhausted or (stop_at_first and search.solutions):
                return
        self._join()
