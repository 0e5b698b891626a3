"""A SAT solver whose decisions can be restricted to an interval of variables, after minisat.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT", Université d'Artois, 2010,
section 3.2: the option -i=DEBUT-FIN.
"""

from __future__ import annotations

import numpy as np

from lns.exact.sat import cdcl_kernel as kernel
from lns.exact.sat.cdcl_kernel import CONFLICTS, DECISIONS, HEAD, USED, Ints, Solver

_STEP = 2000  # conflicts


class Cdcl:
    """A search for a model of a formula, with the methods of python-sat's solvers that `lns.exact.sat.search` calls.

    Parameters
    ----------
    interval : (int, int), optional
        First and last variable that are decided before all others. Default: all are equal.
    """

    def __init__(self, interval: tuple[int, int] | None = None) -> None:
        self._interval = interval
        self._blocks: list[Ints] = []
        self._state: Solver | None = None  # None: not begun
        self._answer = kernel.UNKNOWN
        self._earlier = {"decisions": 0, "conflicts": 0}  # of earlier answers
        self._conflict_limit = 0

    def append_formula(self, block: Ints, no_return: bool = True) -> None:
        """Add clauses before the first answer: int32 of shape (clauses, literals), literals as in DIMACS."""
        self._blocks.append(block)

    def add_clause(self, literals: list[int]) -> None:
        """Add a clause; the next answer is searched for from the start."""
        self._earlier, self._state = self.accum_stats(), None
        self._blocks.append(np.array([literals], dtype=np.int32))

    def conf_budget(self, conflicts: int) -> None:
        """Limit the conflicts of `solve_limited`."""
        self._conflict_limit = conflicts

    def dec_budget(self, decisions: int) -> None:
        raise NotImplementedError("it limits conflicts only")

    def solve(self) -> bool:
        """Whether there is a model."""
        return self._search(np.inf) is True

    def solve_limited(self) -> bool | None:
        """Whether there is a model; None if the budget of conflicts is spent. The next call goes on."""
        return self._search(self._conflict_limit)

    def decided(self) -> list[int]:
        """The decisions that stand, in their order, as DIMACS literals."""
        state = self._begun()
        literals = state.trail[state.level_begin[: state.integers[kernel.LEVEL]]].tolist()
        return [-(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1 for literal in literals]

    def get_model(self) -> list[int]:
        """The model as DIMACS literals, after an answer that there is one."""
        positive = self._begun().value[::2] == kernel.TRUE
        return [index if true else -index for index, true in enumerate(positive.tolist(), 1)]

    def accum_stats(self) -> dict[str, int]:
        """Decisions and conflicts of all answers."""
        own = (0, 0) if self._state is None else self._state.integers[[DECISIONS, CONFLICTS]].tolist()
        return {name: self._earlier[name] + count for name, count in zip(("decisions", "conflicts"), own, strict=True)}

    def _search(self, conflicts: float) -> bool | None:
        state = self._begun()
        limit = state.integers[CONFLICTS] + conflicts
        while self._answer == kernel.UNKNOWN and state.integers[CONFLICTS] < limit:
            self._answer = kernel.advance(state, int(min(_STEP, limit - state.integers[CONFLICTS])))
            if state.integers[USED] + len(state.value) + HEAD > len(state.arena):
                state = state._replace(arena=np.concatenate([state.arena, np.zeros_like(state.arena)]))
                self._state = state
        return None if self._answer == kernel.UNKNOWN else self._answer == kernel.SATISFIABLE

    def _begun(self) -> Solver:
        """The state of the search, which begins if it has not."""
        if self._state is not None:
            return self._state
        variables = max((int(np.abs(block).max()) for block in self._blocks if block.size), default=1)
        rows = [np.where(block > 0, 2 * block - 2, -2 * block - 1).astype(np.int32) for block in self._blocks]
        units = np.concatenate([np.zeros(0, np.int32), *(block[:, 0] for block in rows if block.shape[1] == 1)])
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *(block for block in rows if block.shape[1] == 2)])
        causes = np.concatenate([pairs[:, 0], pairs[:, 1]]) ^ 1
        order = np.argsort(causes, kind="stable")
        clauses = [
            np.hstack([np.tile(np.array([block.shape[1], 0, -1, -1], np.int32), (len(block), 1)), block]).ravel()
            for block in rows
            if block.shape[1] > 2
        ]
        arena = np.concatenate([*clauses, np.zeros(1 << 20, np.int32)])
        first = np.full(variables, self._interval is None)
        if self._interval is not None:
            first[self._interval[0] - 1 : self._interval[1]] = True
        heap = np.argsort(~first, kind="stable").astype(np.int32)
        integers = np.zeros(kernel.INTEGERS, dtype=np.int64)
        integers[[kernel.HEAP, USED]] = variables, len(arena) - (1 << 20)
        integers[[kernel.RESTART_AT, kernel.REDUCE_AT]] = kernel.RESTART_UNIT, kernel.FIRST_LEARNT
        state = self._state = Solver(
            binary_begin=np.searchsorted(causes[order], np.arange(2 * variables + 1)).astype(np.int32),
            binary=np.concatenate([pairs[:, 1], pairs[:, 0]])[order],
            arena=arena,
            watch=np.full(2 * variables, -1, dtype=np.int32),
            value=np.zeros(2 * variables, dtype=np.int8),
            level=np.zeros(variables, dtype=np.int32),
            reason=np.full(variables, kernel.NO_REASON, dtype=np.int32),
            trail=np.zeros(variables, dtype=np.int32),
            level_begin=np.zeros(variables + 1, dtype=np.int32),
            phase=np.ones(variables, dtype=np.int8),
            first=first,
            activity=np.zeros(variables),
            heap=heap,
            heap_at=np.argsort(heap).astype(np.int32),
            seen=np.zeros(variables, dtype=np.bool_),
            learnt=np.zeros(variables + 1, dtype=np.int32),
            stamp=np.zeros(variables + 1, dtype=np.int32),
            counts=np.zeros(kernel.MOST_LEVELS + 1, dtype=np.int32),
            integers=integers,
            reals=np.ones(kernel.REALS),
        )
        self._answer = kernel.begin(state, units)
        if any(block.shape == (len(block), 0) and len(block) for block in rows):
            self._answer = kernel.UNSATISFIABLE
        return state
