"""The models of Benoist & Bourreau 2008, 2.2, in OR-tools' classic constraint solver, which branches like CHOCO.

Every node propagates to a fixpoint and branches on a cell with the fewest pieces left. A node is a decision taken, as
the library counts branches. The solver works on one core, in a child process.

References
----------
T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008, sections 2.2 and 6.
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

MODELS = ("element", "element-alldifferent", "table", "table-alldifferent")


def run_classic(model: str, puzzle: Puzzle, request: Request) -> Answer:
    """The solver ``cp:MODEL``, one of `MODELS`. Raises InputError without ortools."""
    require("cp", f"the solver cp:{model}")
    list_boards = request.on_solution is not None
    arguments = model, request.count_all, request.nodes, list_boards
    answer = solve_in_child(solve_classic, puzzle, request, *arguments, prepare=import_classic)
    return replace(answer, budget_used=max(0, answer.nodes))


def import_classic() -> None:
    """Import OR-tools' classic solver."""
    import_module("ortools.constraint_solver.pywrapcp")


def solve_classic(
    emit: Emit, puzzle: Puzzle, model: str, count_all: bool, nodes: int | None, list_boards: bool = False
) -> None:
    """The task of the child process: reports the size of the model, each solution, and the end."""
    from ortools.constraint_solver import pywrapcp

    reporter = SolverReporter(emit, puzzle, "OR-tools", duplicates_distinct=True, list_boards=list_boards)
    solver = pywrapcp.Solver("edge matching")
    placements, pieces = post(solver, puzzle, model)
    reporter.details |= {"constraints": solver.Constraints()}
    reporter.report(NODES_UNKNOWN)
    phase = solver.Phase(pieces + placements, solver.CHOOSE_MIN_SIZE_LOWEST_MIN, solver.ASSIGN_MIN_VALUE)
    monitors = [] if nodes is None else [solver.BranchesLimit(nodes)]
    solver.NewSearch(phase, monitors)
    stopped = False
    while solver.NextSolution():
        board = np.array([placement.Value() for placement in placements], dtype=np.int32)
        reporter.add_board(Board(board, puzzle.width, puzzle.height), solver.Branches())
        if not count_all:
            stopped = True
            break
    cut = nodes is not None and solver.Branches() >= nodes
    solver.EndSearch()
    reporter.report(solver.Branches(), exhausted=not stopped and not cut)


def post(solver: Any, puzzle: Puzzle, model: str) -> tuple[list[Any], list[Any]]:
    """Add variables and constraints; the variables of the oriented piece and of the piece on each cell.

    ``element``: the colour at each side of a cell is an Element of its oriented piece, one side at a time. ``table``:
    piece and colours of a cell are a row of a table, which is the paper's 4-edges consistency. With ``alldifferent``
    the pieces are an AllDifferent, which OR-tools filters to bounds consistency (the paper's is complete, after Régin),
    else a clique of disequalities.
    """
    edge: dict[tuple[int, int], Any] = {}
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            if side in (RIGHT, DOWN):
                colour = solver.IntVar(1, int(puzzle.colours), f"c{cell}.{side}")
                edge[cell, side] = edge[other, (side + 2) % 4] = colour
    placements, pieces = [], []
    for cell in range(puzzle.cells):
        allowed = [int(oriented) for oriented in allowed_placements(puzzle, cell)]
        placement = solver.IntVar(allowed or [0], f"p{cell}")
        if not allowed:
            solver.Add(solver.FalseConstraint())
        piece = solver.IntVar(0, puzzle.cells - 1, f"t{cell}")
        solver.Add(solver.Element([oriented >> 2 for oriented in range(4 * puzzle.cells)], placement) == piece)
        sides = [side for side in range(4) if (cell, side) in edge]
        if model.startswith("table"):
            rows = [[oriented, *puzzle.oriented[oriented, sides].tolist()] for oriented in allowed]
            solver.Add(solver.AllowedAssignments([placement, *(edge[cell, side] for side in sides)], rows))
        else:
            for side in sides:
                colours = puzzle.oriented[:, side].tolist()
                solver.Add(solver.Element(colours, placement) == edge[cell, side])
        placements.append(placement)
        pieces.append(piece)
    if model.endswith("alldifferent"):
        solver.Add(solver.AllDifferent(pieces, True))
    else:
        for index, piece in enumerate(pieces):
            for other in pieces[:index]:
                solver.Add(piece != other)
    return placements, pieces
