"""The local searches on the formula of Cuvillier & Szymkowiak 2010. They find solutions and prove nothing.

Units are propagated before a search, which otherwise learns forced values step by step.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from lns.exact.driver import run_search
from lns.exact.execution import BuildingClock, Check, Request, unlimited
from lns.exact.outcome import Answer
from lns.exact.piece_classes import allowed_placements
from lns.exact.sat.clauses import Block, formula_of, simplify, units
from lns.exact.sat.encodings import Triangles
from lns.exact.sat.walk import FALSE, NOISE, RSAPS, RULES, STEP, advance, random_walk
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle

FIRST_SMOOTHING = 0.05


class LocalSearch:
    """Local search over the assignments of a CNF formula, which can be paused.

    It finds a model or goes on; it cannot prove that there is none, so it is never exhausted.

    Parameters
    ----------
    blocks : iterable of ndarray
        Blocks of clauses, see `lns.exact.sat.clauses`.
    variables : int
        Number of variables.
    rule : str
        One of `RULES`.
    seed : int
        Random seed.
    check : callable
        Called while the formula is built.
    """

    exhausted, explored = False, 0.0

    def __init__(
        self, blocks: Iterable[Block], variables: int, rule: str, seed: int = 0, check: Check = unlimited
    ) -> None:
        self._rule = RULES.index(rule)
        self._formula = formula_of(blocks, variables, check)
        check()
        self._walk = random_walk(self._formula, seed)
        if self._rule == RSAPS:
            self._walk.reals[NOISE] = FIRST_SMOOTHING

    @property
    def nodes(self) -> int:
        """Steps so far."""
        return int(self._walk.integers[STEP])

    @property
    def false_clauses(self) -> int:
        return int(self._walk.integers[FALSE])

    @property
    def solutions(self) -> int:
        return int(self.false_clauses == 0)

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Walk for ``budget`` steps or to the first model."""
        advance(self._formula, self._walk, self._rule, budget)

    def model(self) -> list[int]:
        """The assignment as DIMACS literals."""
        return [index if value else -index for index, value in enumerate(self._walk.value.tolist(), 1)]


def run_sls(rule: str, simplified: bool, puzzle: Puzzle, request: Request) -> Answer:
    """The solvers 'sls:...': local search on the encoding 'triangles'. Nodes are steps.

    The formula has no clause that keeps a corner piece in a corner or a rim piece on the rim; a local search finds this
    out again and again. If ``simplified``, placements of the wrong class are made false first, and units are
    propagated; the solvers 'sls:...-raw' take the formula as it is.

    Raises InputError if all solutions are asked for. A formula of 256 cells takes some gigabytes of memory.
    """
    if request.count_all:
        name = f"sls:{rule}" if simplified else f"sls:{rule}-raw"
        raise InputError(f"{name} finds one solution and proves nothing, so it cannot count; expected a tree search")
    LocalSearch([units([1])], 1, rule).advance(0, True)  # compiles, or loads machine code, before the clock starts
    clock = BuildingClock(request)
    encoding = Triangles(puzzle)
    wrong = np.ones(encoding.piece.shape, dtype=np.bool_)  # pieces on cells where no rotation of them is allowed
    for cell in range(puzzle.cells):
        wrong[[oriented >> 2 for oriented in allowed_placements(puzzle, cell)], cell] = False
    added = [units(-encoding.piece[wrong])] if simplified else []
    formula = simplify(chain(encoding.clauses(), added), encoding.variables, clock.check, propagate=simplified)
    search = LocalSearch(formula.blocks, len(formula.kept), rule, request.seed, clock.check)
    built = clock.seconds
    status, seconds = run_search(
        search,
        count_all=False,
        nodes=request.nodes,
        seconds=clock.left().seconds,
        on_progress=request.on_progress,
        processor_time=request.processor_time,
        first_step=1,  # a step changes all weights: some hundredths of a second with 256 cells
    )
    board = encoding.board(formula.model(search.model())) if search.solutions else None
    details = {"variables": float(len(formula.kept)), "false_clauses": float(search.false_clauses)}
    return Answer(status, search.solutions, search.nodes, built + seconds, board, details)
