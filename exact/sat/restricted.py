"""Decisions on pieces and orientations only (Cuvillier & Szymkowiak 2010, 3.2), by CaDiCaL's user propagator.

The paper changed minisat. Colours of triangles follow from pieces by unit propagation, so the search stays complete.
The order of the variables is a simple VSIDS: variables that a conflict unassigns gain activity, and the most active
free variable is set true.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

from exact.sat.encoding import Encoding

_GROWTH = 1.05
_TOO_LARGE = 1e100


class PiecesFirst:
    """A propagator that only decides; python-sat calls these methods by name (``pysat.engines.Propagator``)."""

    is_lazy = False

    def __init__(self, variables: list[int]) -> None:
        self.assigned: set[int] = set()
        self.trail: list[list[int]] = [[]]
        self.activity = dict.fromkeys(variables, 0.0)
        self.step = 1.0
        self.heap = [(0.0, variable) for variable in variables]

    def on_assignment(self, literal: int, fixed: bool = False) -> None:
        variable = abs(literal)
        if variable in self.activity and variable not in self.assigned:
            self.assigned.add(variable)
            self.trail[0 if fixed else -1].append(variable)

    def on_new_level(self) -> None:
        self.trail.append([])

    def on_backtrack(self, to: int) -> None:
        top = len(self.trail) - 1
        while len(self.trail) > to + 1:
            for variable in self.trail.pop():
                self.assigned.discard(variable)
                if len(self.trail) == top:  # it was assigned at the level of the conflict
                    self.activity[variable] += self.step
                heappush(self.heap, (-self.activity[variable], variable))
        self.step *= _GROWTH
        if self.step > _TOO_LARGE:
            self.activity = {variable: value / _TOO_LARGE for variable, value in self.activity.items()}
            self.step /= _TOO_LARGE
            self.heap = [(-value, variable) for variable, value in self.activity.items()]
            heapify(self.heap)

    def decide(self) -> int:
        while self.heap:
            _, variable = heappop(self.heap)
            if variable not in self.assigned:
                return variable
        return 0  # all pieces are placed; the solver derives the rest

    def check_model(self, model: list[int]) -> bool:
        return True

    def propagate(self) -> list[int]:
        return []

    def provide_reason(self, literal: int) -> list[int]:
        return []

    def add_clause(self) -> list[int]:
        return []


def restrict(solver: Any, encoding: Encoding) -> None:
    """Make ``solver`` (CaDiCaL 1.9.5, clauses loaded) decide on pieces and orientations only."""
    variables = list(range(1, encoding.deciding + 1))
    solver.connect_propagator(PiecesFirst(variables))
    for variable in variables:
        solver.observe(variable)
