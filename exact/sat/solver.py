"""The SAT solvers behind the single interface: encode and search in a child process, keep what it tells."""

from __future__ import annotations

from exact.extras import need
from exact.process import run
from exact.sat.search import Job, search
from exact.solvers import Answer, Request
from exact.told import Told, answer_of
from instances.puzzle import Puzzle

FIRST, COUNTING, RESTRICTED = "kissat404", "glucose42", "cadical195"


def run_restricted(encoding: str, puzzle: Puzzle, request: Request) -> Answer:
    """`run_sat` with decisions on pieces and orientations only (seed 004, 3.2), by CaDiCaL's user propagator."""
    return run_sat(encoding, puzzle, request, restricted=True)


def run_sat(encoding: str, puzzle: Puzzle, request: Request, *, restricted: bool = False) -> Answer:
    """Solve ``puzzle`` by ``encoding`` with ``request.sat_solver`` (default: kissat, or glucose when counting).

    Nodes are the solver's decisions, 0 where it does not tell them (kissat). Raises InputError without python-sat,
    ChildProcessError when the library crashes.
    """
    need("sat", f"the solver sat:{encoding}")
    chosen = request.sat_solver or (RESTRICTED if restricted else COUNTING if request.count_all else FIRST)
    job = Job(encoding, chosen, request.count_all, request.nodes, restricted)
    told: list[Told] = []
    ended = run(search, puzzle, job, receive=told.append, seconds=request.seconds, memory=request.memory)
    return answer_of(puzzle, told, ended, request.count_all)
