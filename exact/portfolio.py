"""The solver 'auto': the row scan, ColorPairs and exact cover take turns on the same puzzle; the first to end answers.

A small or narrow puzzle is counted fastest row by row, most others by ColorPairs, and some by exact cover; only a trial
shows which is fastest. SAT solvers take no part: on the puzzles of docs/papers/outcome.md none is the fastest, and none
solves a puzzle that these three cannot. Turns are counted in nodes, so the answer does not depend on the machine. The
second and third search join only after a number of nodes, so that an easy puzzle needs no further compilation.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from lns.exact.driver import Turns
from lns.exact.execution import Request
from lns.exact.kernels.cache import is_compiled
from lns.exact.piece_classes import assignments_per_board
from lns.exact.registry import SOLVERS
from lns.instances.puzzle import Puzzle

log = logging.getLogger("lns")

MOST_COVER_CELLS = 64  # cells of the largest board for exact cover, which hardly ever ends on larger boards
AFTER = {"rowscan": 0, "colorpairs": 100_000_000, "dlx": 150_000_000}
"""Solver -> number of nodes after which its search joins, summed over the searches that take turns already."""
SHARES = {"rowscan": 64, "colorpairs": 8, "dlx": 1}
"""Solver -> share of its search (see `Turns`), chosen so that all turns take about equally long."""


class Portfolio(Turns):
    """Several paused searches of one puzzle that take turns. Each search counts nodes in its own way.

    The searches join in the order of ``after`` (see `AFTER`). Solvers that refuse the puzzle take no part, nor does
    'dlx' on large boards or with duplicate pieces. If the request has an ``on_solution``, only the first search takes
    part, because each search would find every solution.
    """

    def __init__(self, puzzle: Puzzle, request: Request, after: Mapping[str, int] = AFTER) -> None:
        super().__init__({}, SHARES)
        self._puzzle, self._request, self._after = puzzle, request, after
        self._waiting = [name for name in after if not {*puzzle.rules} & {*SOLVERS[name].refuses}]
        if puzzle.cells > MOST_COVER_CELLS or assignments_per_board(puzzle) > 1:  # dlx tells duplicate pieces apart
            self._waiting = [name for name in self._waiting if name != "dlx"]
        if request.on_solution is not None:
            del self._waiting[1:]
        self._join()

    def _join(self) -> None:
        while self._waiting and (not self.searches or self.nodes >= self._after[self._waiting[0]]):
            name = self._waiting.pop(0)
            solver = SOLVERS[name]
            if self.searches and solver.kernel_module is not None and not is_compiled(solver.kernel_module):
                log.info("compiling %s, once for this installation: about half a minute of an idle core", name)
            self.searches[name] = solver.make(self._puzzle, self._request)

    def _begin_turn(self) -> None:
        self._join()
        super()._begin_turn()

    def reset_solutions(self) -> None:
        self._best.reset_solutions()  # called only with ``on_solution``, when there is one search
