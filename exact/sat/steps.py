"""Run CaDiCaL with a user propagator, which decides on pieces and rotations only or records the search step by step.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT", Université d'Artois, 2010,
section 3.2: the mode "pas à pas", in which the board's triangles are painted as minisat sets their variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from lns.exact.child_process import Emit, ExitReason, run_in_process
from lns.exact.optional_deps import require
from lns.exact.outcome import SolveStatus
from lns.exact.sat.encodings import Triangles
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of

DECIDED, LEARNED, SOLUTION = "decided", "learned", "solution"
MAX_CELLS = 144  # most cells of a recorded board: the clauses of larger boards fill the memory
_BATCH = 200  # most recorded steps in a message of the child process
_GROWTH, _TOO_LARGE = 1.05, 1e100

Painted = tuple[int, int, int, int]
"""A triangle (quarter of a cell) that got its colour: cell, side, colour, and number of decisions this depends on."""
Placed = tuple[int, int, int]
"""A piece that got its cell: cell, piece, and number of decisions this depends on."""


@dataclass(frozen=True)
class Painting:
    """A step of a SAT solver: a decision, or a clause learned from a conflict, and what follows by unit propagation."""

    depth: int  # number of decisions before this step; what depended on more decisions was taken back
    decided: str  # in words: the decision or, if learned, the first literal that follows; else empty
    outcome: str  # "decided", "learned" (without a decision: after a conflict, or at the start) or "solution"
    triangles: tuple[Painted, ...]  # the triangles that get their colour in this step
    pieces: tuple[Placed, ...]  # the pieces that get their cell in this step
    why: str = ""  # how many decisions were taken back before this step, in words; empty if none


def paintings(puzzle: Puzzle, steps: int, *, restricted: bool) -> tuple[tuple[Painting, ...], SolveStatus]:
    """Solve a puzzle with CaDiCaL; return at most ``steps`` steps, and the status of the search after these steps.

    If ``restricted``, CaDiCaL decides on pieces and rotations only (Cuvillier & Szymkowiak 2010, 3.2), in the order of
    `PiecesFirst`. Raises InputError without python-sat, or for a board of more than `MAX_CELLS` cells.
    """
    require("sat", "the SAT solver")
    if puzzle.cells > MAX_CELLS:
        raise InputError(f"{puzzle.name} has {puzzle.cells} cells; expected at most {MAX_CELLS} for the steps of SAT")
    recorded: list[Painting] = []

    def receive(message: list[Painting]) -> bool:
        recorded.extend(message)
        return len(recorded) >= steps

    ended = run_in_process(_record, puzzle, restricted, receive=receive)
    if ended.reason is ExitReason.INTERRUPTED:
        raise KeyboardInterrupt
    if ended.reason is ExitReason.ENOUGH:
        return tuple(recorded[:steps]), SolveStatus.BUDGET_SPENT
    solved = bool(recorded) and recorded[-1].outcome == SOLUTION
    return tuple(recorded), SolveStatus.SOLVED if solved else SolveStatus.INFEASIBLE


def _record(emit: Emit, puzzle: Puzzle, restricted: bool) -> None:
    """Solve a puzzle in a child process and send lists of steps; the last step is the solution if there is one."""
    from pysat.solvers import Solver

    encoding = Triangles(puzzle)
    with Solver(name="cadical195") as solver:
        for block in encoding.clauses():
            solver.append_formula(block.tolist(), no_return=True)
        recorder = _Recorder(encoding, restricted, emit)
        solver.connect_propagator(recorder)
        for variable in range(1, encoding.variables + 1):
            solver.observe(variable)
        recorder.close(solver.get_model() if solver.solve() else None)


class PiecesFirst:
    """A propagator that only makes decisions; python-sat calls its methods by name (``pysat.engines.Propagator``).

    It decides on the given variables, of pieces and rotations; the paper changed minisat for this. Unit propagation
    derives the colours of triangles, so the search stays complete. The order of decisions is a simple VSIDS:
    variables assigned at the decision level of a conflict gain activity, and the most active free variable is set true.
    """

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
                if len(self.trail) == top:  # the variable was assigned at the decision level of the conflict
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
        return 0  # no decision: all given variables are assigned; the solver derives the others

    def check_model(self, model: list[int]) -> bool:
        return True

    def propagate(self, literal: int = 0) -> list[int]:
        return []

    provide_reason = add_clause = propagate


class _Recorder(PiecesFirst):
    """A propagator that records the steps of CaDiCaL. Unless ``restricted``, CaDiCaL makes the decisions itself."""

    def __init__(self, encoding: Triangles, restricted: bool, emit: Callable[[list[Painting]], None]) -> None:
        super().__init__(list(range(1, encoding.deciding + 1)) if restricted else [])
        self._encoding, self._emit = encoding, emit
        self._steps, self._literals = list[Painting](), list[tuple[int, int]]()
        self._decides, self._why = False, ""

    @property
    def _depth(self) -> int:
        return len(self.trail) - 1

    def on_assignment(self, literal: int, fixed: bool = False) -> None:
        super().on_assignment(literal, fixed)
        self._literals.append((literal, 0 if fixed else self._depth))

    def on_new_level(self) -> None:
        self._end_step()
        super().on_new_level()
        self._decides = True

    def on_backtrack(self, to: int) -> None:
        self._end_step()
        self._decides, self._why = False, f"{count_of(self._depth - to, 'decision')} taken back"
        super().on_backtrack(to)

    def close(self, model: list[int] | None) -> None:
        """Send the steps not yet sent and, if there is a ``model``, the solution as the last step."""
        self._end_step()
        if model is not None:
            true = [(literal, self._depth) for literal in model[: self._encoding.variables]]
            self._steps.append(Painting(self._depth, "", SOLUTION, *self._seen(true)))
        self._emit(self._steps)

    def _end_step(self) -> None:
        """Record the literals assigned since the last decision or conflict as a step, if there are any."""
        if not self._literals:
            return
        first = self._encoding.in_words(self._literals[0][0])
        outcome, before = (DECIDED, self._depth - 1) if self._decides else (LEARNED, self._depth)
        self._steps.append(Painting(before, first, outcome, *self._seen(self._literals), self._why))
        self._literals, self._why, self._decides = [], "", False
        if len(self._steps) == _BATCH:
            self._emit(self._steps)
            self._steps = []

    def _seen(self, literals: list[tuple[int, int]]) -> tuple[tuple[Painted, ...], tuple[Placed, ...]]:
        """Return the triangles and pieces set by ``literals``: (literal, number of decisions on which it depends)."""
        triangles, pieces = list[Painted](), list[Placed]()
        for literal, depth in literals:
            match self._encoding.meaning(literal) if literal > 0 else ():
                case "triangle", cell, side, colour:
                    triangles.append((cell, side, colour, depth))
                case "piece", piece, cell if cell not in self._encoding.puzzle.holes:
                    pieces.append((cell, piece, depth))
        return tuple(triangles), tuple(pieces)
