"""The local searches on the formula of Cuvillier & Szymkowiak 2010, behind the single interface.

Units are propagated before a search, which otherwise learns forced values step by step.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from lns.exact.driver import run_search
from lns.exact.execution import BuildingClock, Check, Request, each_after, unlimited
from lns.exact.outcome import Answer, require_solution
from lns.exact.piece_classes import allowed_placements
from lns.exact.sat.encoding import Block, units
from lns.exact.sat.encodings import Triangles
from lns.exact.sls.rules import RSAPS, RULES, advance
from lns.exact.sls.state import FALSE, NOISE, STEP, formula_of, random_walk
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle


class Simplified(NamedTuple):
    """A formula in which no variable has a forced value, unless it is `unchanged`."""

    blocks: list[Block]  # clauses in the new numbers
    kept: Block  # int32 (variables,): number in the original formula of each variable, counted from 1
    forced: Block  # int32: literals of the original formula that are true in every model

    def model(self, literals: list[int]) -> list[int]:
        """A model of the original formula from one of this one, as DIMACS literals."""
        own = [int(self.kept[abs(literal) - 1]) * (1 if literal > 0 else -1) for literal in literals]
        return sorted([*own, *self.forced.tolist()], key=abs)


def simplify(blocks: Iterable[Block], variables: int, check: Check = unlimited) -> Simplified:
    """Apply unit propagation until nothing changes, and number the remaining variables anew.

    Parameters
    ----------
    blocks : iterable of ndarray of int32, shape (clauses, literals)
        Clauses, literals as in DIMACS.
    variables : int
        Number of variables.
    check : callable
        Called between the blocks.

    Returns
    -------
    Simplified
        Without clauses that are true and literals that are false. If propagation finds a contradiction, the formula
        is returned as it is.
    """
    value = np.zeros(variables + 1, dtype=np.int32)  # 1 true, -1 false, 0 free
    original = clauses = list(each_after(check, blocks))
    while True:
        units = np.concatenate([np.zeros(0, np.int32), *(block[:, 0] for block in clauses if block.shape[1] == 1)])
        new = units[value[np.abs(units)] != np.sign(units)]
        if not len(new):
            break
        value[np.abs(new)] = np.sign(new)
        clauses = [shorter for block in each_after(check, clauses) for shorter in _shorter(block, value)]
        if any(block.shape[1] == 0 for block in clauses):
            return unchanged(original, variables)
    longer = [block for block in clauses if block.shape[1] != 1]
    kept = np.flatnonzero(value[1:] == 0).astype(np.int32) + 1
    number = np.zeros(variables + 1, dtype=np.int32)
    number[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    forced = np.flatnonzero(value).astype(np.int32)
    return Simplified(
        blocks=[number[np.abs(block)] * np.sign(block) for block in each_after(check, longer)],
        kept=kept,
        forced=forced * value[forced],
    )


def unchanged(blocks: Iterable[Block], variables: int) -> Simplified:
    """The formula as it is, with no value forced."""
    return Simplified(list(blocks), np.arange(1, variables + 1, dtype=np.int32), np.zeros(0, np.int32))


def _shorter(block: Block, value: Block) -> list[Block]:
    """The clauses of a block that are not true yet, without false literals, as blocks of one length each."""
    truth = value[np.abs(block)] * np.sign(block)
    open_ = ~(truth == 1).any(axis=1)
    block, free = block[open_], truth[open_] == 0
    length = free.sum(axis=1)
    found = []
    for size in np.unique(length).tolist():
        of_size = length == size
        found.append(block[of_size][free[of_size]].reshape(np.count_nonzero(of_size), size))
    return found


FIRST_SMOOTHING = 0.05


class LocalSearch:
    """Local search over the assignments of a CNF formula, which can be paused.

    It finds a model or goes on; it cannot prove that there is none, so it is never exhausted.

    Parameters
    ----------
    blocks : iterable of ndarray
        Blocks of clauses, see `lns.exact.sat.encoding`.
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
        return [index + 1 if value else -index - 1 for index, value in enumerate(self._walk.value.tolist())]


def run_sls(rule: str, simplified: bool, puzzle: Puzzle, request: Request) -> Answer:
    """The solvers 'sls:...': local search on the encoding 'triangles'. Nodes are steps.

    The formula has no clause that keeps a corner piece in a corner or a rim piece on the rim; a local search finds this
    out again and again. If ``simplified``, placements of the wrong class are made false first, and units are
    propagated; the solvers 'sls:...-raw' take the formula as it is.

    Raises InputError if all solutions are asked for. A formula of 256 cells takes some gigabytes of memory.
    """
    name = f"sls:{rule}" if simplified else f"sls:{rule}-raw"
    if request.count_all:
        raise InputError(f"{name} finds one solution and proves nothing, so it cannot count; expected a tree search")
    LocalSearch([units([1])], 1, rule).advance(0, True)  # compiles, or loads machine code, before the clock starts
    clock = BuildingClock(request)
    encoding = Triangles(puzzle)
    if simplified:
        clauses = chain(encoding.clauses(), [units(_wrong_class(encoding))])
        formula = simplify(clauses, encoding.variables, clock.check)
    else:
        formula = unchanged(each_after(clock.check, encoding.clauses()), encoding.variables)
    search = LocalSearch(formula.blocks, len(formula.kept), rule, request.seed, clock.check)
    built, request = clock.seconds, clock.left()
    status, seconds = run_search(
        search,
        count_all=False,
        nodes=request.nodes,
        seconds=request.seconds,
        on_progress=request.on_progress,
        processor_time=request.processor_time,
        first_step=1,  # a step changes all weights: some hundredths of a second with 256 cells
    )
    board = encoding.board(formula.model(search.model())) if search.solutions else None
    if board is not None:
        require_solution(puzzle, board, name)
    details: dict[str, Any] = {"variables": float(len(formula.kept)), "false_clauses": float(search.false_clauses)}
    return Answer(status, search.solutions, search.nodes, built + seconds, board, details)


def _wrong_class(encoding: Triangles) -> Block:
    """The negated variables of the pieces on cells where no rotation of them is allowed."""
    wrong = np.ones(encoding.piece.shape, dtype=np.bool_)
    for cell in range(encoding.puzzle.cells):
        wrong[[oriented >> 2 for oriented in allowed_placements(encoding.puzzle, cell)], cell] = False
    return -encoding.piece[wrong]
