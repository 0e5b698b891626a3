"""Edge matching as a constraint program (Benoist & Bourreau 2008, seed 000, 2.2 and 6), solved by CP-SAT.

By cell: t (piece) and r (rotation); by inner edge: its colour. AllDifferent over t; for each cell a table of the
(t, r, colours around) that may lie there, which is the paper's 4-edges consistency.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from exact.extras import need
from exact.process import Emit, run
from exact.solvers import Answer, Request
from exact.told import TELL_SECONDS, Told, answer_of, require_solution
from exact.twins import by_colours, choices
from instances.board import Board
from instances.puzzle import Puzzle


def run_cp(puzzle: Puzzle, request: Request) -> Answer:
    """CP-SAT on one core, in a child process; nodes are its branches, a node budget limits its conflicts.

    Raises InputError without ortools, ChildProcessError when the library crashes.
    """
    need("cp", "the solver cp")
    told: list[Told] = []
    ended = run(
        solve_by_cp_sat,
        puzzle,
        request.count_all,
        request.nodes,
        receive=told.append,
        seconds=request.seconds,
        memory=request.memory,
    )
    return answer_of(puzzle, told, ended, request.count_all)


def solve_by_cp_sat(emit: Emit, puzzle: Puzzle, count_all: bool, conflicts: int | None) -> None:
    """A child's task: emits `Told` after the first solution, now and then, and at the end."""
    from ortools.sat.python import cp_model

    began = time.perf_counter()
    model = cp_model.CpModel()
    pieces, rotations = _post(model, puzzle)
    details = {"variables": float(len(model.proto.variables)), "constraints": float(len(model.proto.constraints))}
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = count_all
    if conflicts is not None:
        solver.parameters.max_number_of_conflicts = conflicts

    class Watch(cp_model.CpSolverSolutionCallback):
        """Verifies and counts."""

        def __init__(self) -> None:
            super().__init__()
            self.found, self.first, self.told = 0, None, 0.0

        def on_solution_callback(self) -> None:
            laid = [self.value(t) * 4 + self.value(r) for t, r in zip(pieces, rotations, strict=True)]
            require_solution(puzzle, Board(np.array(laid), puzzle.width, puzzle.height), "CP-SAT")
            self.found += 1
            if self.first is None:
                self.first = laid  # type: ignore[assignment]
            if time.perf_counter() - self.told > TELL_SECONDS:
                self.told = time.perf_counter()
                emit(Told(by_colours(self.found, puzzle), self.num_branches, self.first, False, details))

    watch = Watch()
    status = solver.solve(model, watch)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError("CP-SAT refused the model")
    details["own_seconds"] = time.perf_counter() - began
    details["conflicts"] = float(solver.num_conflicts)
    exhausted = status == cp_model.INFEASIBLE or (count_all and status == cp_model.OPTIMAL)
    if exhausted and (status == cp_model.INFEASIBLE) == (watch.found > 0):
        raise RuntimeError(f"CP-SAT found {watch.found} solutions and says {solver.status_name(status)}")
    emit(Told(by_colours(watch.found, puzzle), solver.num_branches, watch.first, exhausted, details))


def _post(model: Any, puzzle: Puzzle) -> tuple[list[Any], list[Any]]:
    """Variables t and r by cell, with all constraints."""
    colours = int(puzzle.colours)
    joint: dict[tuple[int, int], Any] = {}
    for cell in range(puzzle.cells):
        grey = puzzle.grey_sides(cell)
        for side, other in ((1, cell + 1), (2, cell + puzzle.width)):
            if not grey[side]:
                joint[cell, side] = joint[other, (side + 2) % 4] = model.new_int_var(1, colours, f"c{cell}.{side}")
    pieces = [model.new_int_var(0, puzzle.cells - 1, f"t{cell}") for cell in range(puzzle.cells)]
    rotations = [model.new_int_var(0, 3, f"r{cell}") for cell in range(puzzle.cells)]
    model.add_all_different(pieces)
    for cell in range(puzzle.cells):
        sides = [side for side in range(4) if (cell, side) in joint]
        table = [
            (oriented >> 2, oriented & 3, *puzzle.oriented[oriented, sides].tolist())
            for oriented in choices(puzzle, cell)
        ]
        around = [pieces[cell], rotations[cell], *(joint[cell, side] for side in sides)]
        if table:
            model.add_allowed_assignments(around, table)
        else:
            model.add_bool_or([])  # nothing may lie here
    return pieces, rotations
