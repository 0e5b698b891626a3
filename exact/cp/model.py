"""Edge matching as a constraint program (Benoist & Bourreau 2008, 2.2 and 6), solved by CP-SAT.

Variables: t (piece) and r (rotation) by cell, and the colour by inner edge. Constraints: AllDifferent over t, and for
each cell a table of the allowed (t, r, colours around), which is the paper's 4-edges consistency.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from exact.outcome import NODES_UNKNOWN, Answer
from exact.piece_multiplicity import allowed_placements
from exact.request import Request
from exact.solver_protocol import SolverReporter, solve_in_child
from instances.board import Board
from instances.puzzle import DOWN, RIGHT, Puzzle
from lns_support.child_process import Emit
from lns_support.optional_deps import require


def run_cp(puzzle: Puzzle, request: Request) -> Answer:
    """The solver 'cp': CP-SAT on one core, in a child process. Nodes are branches; their budget limits conflicts.

    Raises InputError without ortools, and ChildProcessError if the library crashes.
    """
    require("cp", "the solver cp")
    list_boards = request.on_solution is not None
    arguments = request.count_all, request.nodes, list_boards
    answer = solve_in_child(solve_by_cp_sat, puzzle, request, *arguments, prepare=import_cp_sat)
    return replace(answer, budget_used=int(answer.details.get("conflicts", 0)))


def import_cp_sat() -> None:
    """Import OR-tools' CP-SAT."""
    import_module("ortools.sat.python.cp_model")


def solve_by_cp_sat(
    emit: Emit, puzzle: Puzzle, count_all: bool, conflicts: int | None, list_boards: bool = False
) -> None:
    """The task of the child process: reports the size of the model, each solution, and the end."""
    from ortools.sat.python import cp_model

    reporter = SolverReporter(emit, puzzle, "CP-SAT", duplicates_distinct=True, list_boards=list_boards)
    model = cp_model.CpModel()
    pieces, rotations = _post(model, puzzle)
    reporter.details |= {"variables": len(model.proto.variables), "constraints": len(model.proto.constraints)}
    reporter.report(NODES_UNKNOWN)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = count_all
    if conflicts is not None:
        solver.parameters.max_number_of_conflicts = conflicts

    class Watch(cp_model.CpSolverSolutionCallback):
        """Reports each solution."""

        def on_solution_callback(self) -> None:
            placements = [self.value(t) * 4 + self.value(r) for t, r in zip(pieces, rotations, strict=True)]
            reporter.add_board(Board(np.array(placements), puzzle.width, puzzle.height), self.num_branches)

    status = solver.solve(model, Watch())
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError("CP-SAT found the model invalid")
    reporter.details["conflicts"] = solver.num_conflicts
    exhausted = status == cp_model.INFEASIBLE or (count_all and status == cp_model.OPTIMAL)
    if exhausted and (status == cp_model.INFEASIBLE) == (reporter.found > 0):
        raise RuntimeError(f"CP-SAT found {reporter.found} solutions and says {solver.status_name(status)}")
    reporter.report(solver.num_branches, exhausted=exhausted)


def _post(model: Any, puzzle: Puzzle) -> tuple[list[Any], list[Any]]:
    """Add variables and constraints to ``model``; the variables t and r by cell."""
    colours = int(puzzle.colours)
    edge: dict[tuple[int, int], Any] = {}
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            if side in (RIGHT, DOWN):
                edge[cell, side] = edge[other, (side + 2) % 4] = model.new_int_var(1, colours, f"c{cell}.{side}")
    pieces = [model.new_int_var(0, puzzle.cells - 1, f"t{cell}") for cell in range(puzzle.cells)]
    rotations = [model.new_int_var(0, 3, f"r{cell}") for cell in range(puzzle.cells)]
    model.add_all_different(pieces)
    for cell in range(puzzle.cells):
        sides = [side for side in range(4) if (cell, side) in edge]
        table = [
            (oriented >> 2, oriented & 3, *puzzle.oriented[oriented, sides].tolist())
            for oriented in allowed_placements(puzzle, cell)
        ]
        around = [pieces[cell], rotations[cell], *(edge[cell, side] for side in sides)]
        if table:
            model.add_allowed_assignments(around, table)
        else:
            model.add_bool_or([])  # no piece is allowed here: always false
    return pieces, rotations
