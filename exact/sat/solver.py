"""The SAT solvers behind the single interface: encode and search in a child process, keep what it tells."""

from __future__ import annotations

from dataclasses import replace

from exact.outcome import Answer
from exact.request import Request
from exact.sat.search import Job, search
from exact.solver_protocol import solve_in_child
from instances.puzzle import Puzzle
from lns_support.optional_deps import require

FIRST, COUNTING = "kissat404", "cadical195"


def run_restricted(encoding: str, puzzle: Puzzle, request: Request) -> Answer:
    """`run_sat` with decisions on pieces and orientations only (seed 004, 3.2), by CaDiCaL's user propagator."""
    return run_sat(encoding, puzzle, request, restricted=True)


def run_sat(encoding: str, puzzle: Puzzle, request: Request, *, restricted: bool = False) -> Answer:
    """Solve ``puzzle`` by ``encoding`` with ``request.sat_solver``.

    The default is kissat for the first solution, and CaDiCaL for all, which goes on after an answer. Nodes are the
    solver's decisions, `UNTOLD` by kissat; a budget of them limits conflicts where a solver limits only those, and
    is kissat's for each call, as it does not tell what it spent.
    Raises InputError without python-sat, ChildProcessError when the library crashes.
    """
    require("sat", f"the solver sat:{encoding}")
    chosen = request.sat_solver or (COUNTING if restricted or request.count_all else FIRST)
    job = Job(encoding, chosen, request.count_all, request.nodes, restricted, request.on_solution is not None)
    answer = solve_in_child(search, puzzle, request, job)
    return (
        replace(answer, budget_used=int(answer.details["budget_spent"])) if "budget_spent" in answer.details else answer
    )
