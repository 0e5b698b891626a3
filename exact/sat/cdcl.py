"""A SAT solver whose decisions can be restricted to an interval of variables, after minisat.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT", Université d'Artois, 2010,
section 3.2: the option -i=DEBUT-FIN.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from exact.sat.cdcl_kernel import (
    CONFLICTS,
    DECISIONS,
    FALSE,
    FIRST_LEARNT,
    FREE,
    HEAD,
    HEAP,
    INTEGERS,
    LEVEL,
    MOST_LEVELS,
    NO_REASON,
    REALS,
    REDUCE_AT,
    RESTART_AT,
    RESTART_UNIT,
    SATISFIABLE,
    TRUE,
    UNKNOWN,
    UNSATISFIABLE,
    USED,
    Solver,
    advance,
    begin,
    force,
)

_STEP = 2000  # conflicts


class Cdcl:
    """A search for a model of a formula.

    Parameters
    ----------
    blocks : iterable of ndarray of int32, shape (clauses, literals)
        Clauses, literals as in DIMACS.
    variables : int
        Number of variables.
    interval : (int, int), optional
        First and last variable that are decided before all others. Default: all are equal.

    Attributes
    ----------
    answer : int
        UNKNOWN, SATISFIABLE or UNSATISFIABLE.
    """

    def __init__(
        self, blocks: Iterable[npt.NDArray[np.int32]], variables: int, interval: tuple[int, int] | None = None
    ) -> None:
        rows = [np.where(block > 0, 2 * block - 2, -2 * block - 1).astype(np.int32) for block in blocks]
        units = np.concatenate([np.zeros(0, np.int32), *(block[:, 0] for block in rows if block.shape[1] == 1)])
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *(block for block in rows if block.shape[1] == 2)])
        causes = np.concatenate([pairs[:, 0], pairs[:, 1]]) ^ 1
        order = np.argsort(causes, kind="stable")
        longer = [block for block in rows if block.shape[1] > 2]
        clauses = [
            np.hstack([np.tile(np.array([block.shape[1], 0, -1, -1], np.int32), (len(block), 1)), block]).ravel()
            for block in longer
        ]
        arena = np.concatenate([np.zeros(0, np.int32), *clauses])
        first = np.ones(variables, dtype=np.bool_)
        if interval is not None:
            first[:] = False
            first[interval[0] - 1 : interval[1]] = True
        by_first = np.argsort(~first, kind="stable").astype(np.int32)
        heap_at = np.empty(variables, dtype=np.int32)
        heap_at[by_first] = np.arange(variables, dtype=np.int32)
        integers = np.zeros(INTEGERS, dtype=np.int64)
        integers[HEAP], integers[USED] = variables, len(arena)
        integers[RESTART_AT], integers[REDUCE_AT] = RESTART_UNIT, FIRST_LEARNT
        self.answer = UNSATISFIABLE if any(block.shape[1] == 0 and len(block) for block in rows) else UNKNOWN
        self._state = Solver(
            binary_begin=np.searchsorted(causes[order], np.arange(2 * variables + 1)).astype(np.int32),
            binary=np.concatenate([pairs[:, 1], pairs[:, 0]])[order],
            arena=np.concatenate([arena, np.zeros(1 << 20, np.int32)]),
            watch=np.full(2 * variables, -1, dtype=np.int32),
            value=np.zeros(2 * variables, dtype=np.int8),
            level=np.zeros(variables, dtype=np.int32),
            reason=np.full(variables, NO_REASON, dtype=np.int32),
            trail=np.zeros(variables, dtype=np.int32),
            level_begin=np.zeros(variables + 1, dtype=np.int32),
            phase=np.ones(variables, dtype=np.int8),
            first=first,
            activity=np.zeros(variables),
            heap=by_first,
            heap_at=heap_at,
            seen=np.zeros(variables, dtype=np.bool_),
            learnt=np.zeros(variables + 1, dtype=np.int32),
            stamp=np.zeros(variables + 1, dtype=np.int32),
            counts=np.zeros(MOST_LEVELS + 1, dtype=np.int32),
            integers=integers,
            reals=np.ones(REALS),
        )
        begin(self._state)
        for unit in units.tolist():
            if self._state.value[unit] == FALSE:
                self.answer = UNSATISFIABLE
            elif self._state.value[unit] == FREE:
                force(self._state, unit)

    @property
    def decisions(self) -> int:
        return int(self._state.integers[DECISIONS])

    @property
    def conflicts(self) -> int:
        return int(self._state.integers[CONFLICTS])

    def solve(self, conflicts: int | None = None) -> int:
        """Go on for a number of conflicts, or to the answer, which is returned."""
        limit = None if conflicts is None else self.conflicts + conflicts
        while self.answer == UNKNOWN and (limit is None or self.conflicts < limit):
            self.answer = advance(self._state, _STEP if limit is None else min(_STEP, limit - self.conflicts))
            if self._state.integers[USED] + len(self._state.value) + HEAD > len(self._state.arena):
                larger = np.concatenate([self._state.arena, np.zeros_like(self._state.arena)])
                self._state = self._state._replace(arena=larger)
        return self.answer

    def decided(self) -> list[int]:
        """The decisions that stand, in their order, as DIMACS literals."""
        state = self._state
        literals = state.trail[state.level_begin[: state.integers[LEVEL]]].tolist()
        return [-(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1 for literal in literals]

    def model(self) -> list[int]:
        """The model as DIMACS literals, after `solve` returned SATISFIABLE."""
        positive = self._state.value[::2] == TRUE
        return [index + 1 if true else -index - 1 for index, true in enumerate(positive.tolist())]


class IntervalSolver:
    """`Cdcl` with the methods of python-sat's solvers that `exact.sat.search` calls."""

    def __init__(self, interval: tuple[int, int] | None) -> None:
        self._interval = interval
        self._clauses: list[npt.NDArray[np.int32]] = []
        self._search: Cdcl | None = None
        self._earlier = {"decisions": 0, "conflicts": 0}  # of earlier answers
        self._conflict_limit: int | None = None

    def append_block(self, block: npt.NDArray[np.int32]) -> None:
        self._clauses.append(block)

    def add_clause(self, literals: list[int]) -> None:
        """Add a clause; the next answer is searched for from the start."""
        self._clauses.append(np.array([literals], dtype=np.int32))
        self._earlier, self._search = self.accum_stats(), None

    def conf_budget(self, conflicts: int) -> None:
        self._conflict_limit = conflicts

    def dec_budget(self, decisions: int) -> None:
        raise NotImplementedError("it limits conflicts only")

    def solve(self) -> bool:
        return self._go_on(None) is True

    def solve_limited(self) -> bool | None:
        return self._go_on(self._conflict_limit)

    def _go_on(self, conflicts: int | None) -> bool | None:
        if self._search is None:
            variables = max((int(np.abs(block).max()) for block in self._clauses if block.size), default=0)
            self._search = Cdcl(self._clauses, variables, self._interval)
        answer = self._search.solve(conflicts)
        return None if answer == UNKNOWN else answer == SATISFIABLE

    def get_model(self) -> list[int]:
        assert self._search is not None
        return self._search.model()

    def accum_stats(self) -> dict[str, int]:
        own = self._search
        present = {} if own is None else {"decisions": own.decisions, "conflicts": own.conflicts}
        return {name: earlier + present.get(name, 0) for name, earlier in self._earlier.items()}
