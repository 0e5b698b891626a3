"""Edge matching as a constraint program (Benoist & Bourreau 2008, 2.2 and 6), by OR-tools, in a child process.

The solver 'cp' uses CP-SAT. Its model has variables t (piece) and r (rotation) for each cell and a colour variable for
each inner edge; an AllDifferent over all t; and for each cell a table of the allowed combinations of t, r and the
surrounding colours, which is the paper's 4-edges consistency.

The solvers 'cp:MODEL' use OR-tools' classic solver, which branches like the paper's CHOCO: every node propagates to a
fixpoint and branches on a cell with the fewest pieces or oriented pieces left. Nodes are branches, as the library
counts them. In the models ``element`` an Element constraint for each inner edge of a cell maps the oriented piece to
the colour on that side; in the models ``table`` the oriented piece and the colours of the cell's inner edges must be a
row of a table. With ``alldifferent`` the pieces have an AllDifferent, which OR-tools filters to bounds consistency (the
paper's filtering is complete, after Régin); otherwise the pieces of any two cells have a disequality.

References
----------
T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008, sections 2.2 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lns.exact.child_process import Emit
from lns.exact.execution import Reporter, Request, solve_in_child
from lns.exact.optional_deps import require
from lns.exact.outcome import Outcome
from lns.exact.piece_classes import allowed_placements
from lns.instances.board import Board
from lns.instances.puzzle import DOWN, RIGHT, Puzzle

MODELS = ("element", "element-alldifferent", "table", "table-alldifferent")


def run_cp(puzzle: Puzzle, request: Request) -> Outcome:
    """Run the solver 'cp', CP-SAT on one core. It counts branches as nodes, but a budget of nodes limits its conflicts.

    Raises InputError if ortools is not installed, and ChildProcessError if the library crashes.
    """
    require("cp", "the solver cp")
    return solve_in_child(solve_by_cp_sat, puzzle, request, prepare="ortools.sat.python.cp_model")


def run_classic(model: str, puzzle: Puzzle, request: Request) -> Outcome:
    """Run the solver ``cp:MODEL``; ``model`` is one of `MODELS`. Raises InputError if ortools is not installed."""
    require("cp", f"the solver cp:{model}")
    return solve_in_child(solve_classic, puzzle, request, model, prepare="ortools.constraint_solver.pywrapcp")


def solve_by_cp_sat(emit: Emit, puzzle: Puzzle, request: Request) -> None:
    """Search with CP-SAT in a child process; report the size of the model, each solution, and the end of the search."""
    from ortools.sat.python import cp_model

    reporter = Reporter(emit, puzzle, request, "CP-SAT", duplicates_distinct=True)
    model = cp_model.CpModel()
    pieces, rotations = _post_cp_sat(model, puzzle)
    reporter.details |= {"variables": len(model.proto.variables), "constraints": len(model.proto.constraints)}
    reporter.report(None)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = request.count_all
    if request.nodes is not None:
        solver.parameters.max_number_of_conflicts = request.nodes

    class Watch(cp_model.CpSolverSolutionCallback):
        """Reports each solution that CP-SAT finds."""

        def on_solution_callback(self) -> None:
            placements = [self.value(t) * 4 + self.value(r) for t, r in zip(pieces, rotations, strict=True)]
            reporter.add_board(Board(np.array(placements), puzzle.width, puzzle.height), self.num_branches)

    status = solver.solve(model, Watch())
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError("CP-SAT found the model invalid")
    reporter.details["conflicts"] = reporter.details["budget_spent"] = solver.num_conflicts
    exhausted = status == cp_model.INFEASIBLE or (request.count_all and status == cp_model.OPTIMAL)
    if exhausted and (status == cp_model.INFEASIBLE) == (reporter.found > 0):
        raise RuntimeError(f"CP-SAT found {reporter.found} solutions and says {solver.status_name(status)}")
    reporter.report(solver.num_branches, exhausted=exhausted)


def _post_cp_sat(model: Any, puzzle: Puzzle) -> tuple[list[Any], list[Any]]:
    """Add all variables and constraints to ``model``; return the variables t (piece) and r (rotation), by cell."""
    cells = list(_cells(puzzle, model.new_int_var))
    pieces = [model.new_int_var(0, puzzle.cells - 1, f"t{cell}") for cell in range(puzzle.cells)]
    rotations = [model.new_int_var(0, 3, f"r{cell}") for cell in range(puzzle.cells)]
    model.add_all_different(pieces)
    for cell, edges, allowed, colours in cells:
        table = [(oriented >> 2, oriented & 3, *row) for oriented, row in zip(allowed, colours, strict=True)]
        if table:
            model.add_allowed_assignments([pieces[cell], rotations[cell], *edges.values()], table)
        else:
            model.add_bool_or([])  # the empty clause is false: no piece is allowed on this cell
    return pieces, rotations


def solve_classic(emit: Emit, puzzle: Puzzle, request: Request, model: str) -> None:
    """Search with the classic solver in a child process; report the model's size, each solution and the end."""
    from ortools.constraint_solver import pywrapcp

    reporter = Reporter(emit, puzzle, request, "OR-tools", duplicates_distinct=True)
    solver = pywrapcp.Solver("edge matching")
    placements, pieces = _post_classic(solver, puzzle, model)
    reporter.details |= {"constraints": solver.Constraints()}
    reporter.report(None)
    phase = solver.Phase(pieces + placements, solver.CHOOSE_MIN_SIZE_LOWEST_MIN, solver.ASSIGN_MIN_VALUE)
    solver.NewSearch(phase, [] if request.nodes is None else [solver.BranchesLimit(request.nodes)])
    stopped = False
    while not stopped and solver.NextSolution():
        board = np.array([placement.Value() for placement in placements], dtype=np.int32)
        reporter.add_board(Board(board, puzzle.width, puzzle.height), solver.Branches())
        stopped = not request.count_all
    cut = request.nodes is not None and solver.Branches() >= request.nodes
    solver.EndSearch()
    reporter.report(solver.Branches(), exhausted=not stopped and not cut)


def _post_classic(solver: Any, puzzle: Puzzle, model: str) -> tuple[list[Any], list[Any]]:
    """Add variables and constraints to ``solver``; return the variables of oriented pieces and of pieces, by cell."""
    placements, pieces = [], []
    for cell, edges, allowed, colours in _cells(puzzle, solver.IntVar):
        placement = solver.IntVar(allowed or [0], f"p{cell}")
        if not allowed:
            solver.Add(solver.FalseConstraint())
        piece = solver.IntVar(0, puzzle.cells - 1, f"t{cell}")
        solver.Add(solver.Element([oriented >> 2 for oriented in range(4 * puzzle.cells)], placement) == piece)
        if model.startswith("table"):
            rows = [[oriented, *row] for oriented, row in zip(allowed, colours, strict=True)]
            solver.Add(solver.AllowedAssignments([placement, *edges.values()], rows))
        else:
            for side, edge in edges.items():
                solver.Add(solver.Element(puzzle.oriented[:, side].tolist(), placement) == edge)
        placements.append(placement)
        pieces.append(piece)
    if model.endswith("alldifferent"):
        solver.Add(solver.AllDifferent(pieces, True))
    else:
        for index, piece in enumerate(pieces):
            for other in pieces[:index]:
                solver.Add(piece != other)
    return placements, pieces


def _cells(
    puzzle: Puzzle, new_variable: Callable[[int, int, str], Any]
) -> Iterator[tuple[int, dict[int, Any], list[int], list[list[int]]]]:
    """Yield each cell, its edges' variables by side, its allowed oriented pieces, and their colours on these sides."""
    edges: list[dict[int, Any]] = [{} for _ in range(puzzle.cells)]
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            if side in (RIGHT, DOWN):
                edges[cell][side] = edges[other][side ^ 2] = new_variable(1, int(puzzle.colours), f"c{cell}.{side}")
    for cell in range(puzzle.cells):
        around = dict(sorted(edges[cell].items()))
        allowed = allowed_placements(puzzle, cell)
        yield cell, around, allowed, puzzle.oriented[np.ix_(allowed, [*around])].tolist()
