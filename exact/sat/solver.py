"""The SAT solvers behind the single interface: encode and search in a child process."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from exact.outcome import Answer
from exact.request import Request
from exact.sat.cdcl import Cdcl
from exact.sat.program import PREFIX
from exact.sat.search import OWN, Job, search
from exact.solver_protocol import solve_in_child
from instances.puzzle import Puzzle
from lns_support.optional_deps import require

FIRST, COUNTING = "kissat404", "cadical195"


def run_restricted(encoding: str, puzzle: Puzzle, request: Request) -> Answer:
    """`run_sat` with decisions on pieces and orientations (Cuvillier & Szymkowiak 2010, 3.2).

    CaDiCaL decides on them only; ``cdcl`` decides on them first.
    """
    return run_sat(encoding, puzzle, request, restricted=True)


def run_sat(encoding: str, puzzle: Puzzle, request: Request, *, restricted: bool = False) -> Answer:
    """The solvers 'sat:...': encode ``puzzle`` and solve it with ``request.sat_solver``.

    The default is kissat for the first solution, and CaDiCaL for all, because kissat cannot go on after an answer.
    Nodes are the solver's decisions, `NODES_UNKNOWN` for kissat. Their budget limits conflicts if the solver limits
    only those.
    Raises InputError without python-sat, and ChildProcessError if the library crashes.
    """
    sat_solver = request.sat_solver or (COUNTING if restricted or request.count_all else FIRST)
    is_program = sat_solver.startswith(PREFIX)
    if sat_solver != OWN and not is_program:
        require("sat", f"the solver sat:{encoding}")
    prepare = compile_cdcl if sat_solver == OWN else None if is_program else import_pysat
    job = Job(
        encoding,
        sat_solver,
        count_all=request.count_all,
        nodes=request.nodes,
        restricted=restricted,
        list_boards=request.on_solution is not None,
    )
    # The folder of a program is made here: a child that is killed at its limit removes nothing. The program ends with
    # the child; a file that it still writes at that moment is no reason to lose the answer.
    with TemporaryDirectory(prefix="lns-", ignore_cleanup_errors=True) if is_program else nullcontext("") as folder:
        answer = solve_in_child(search, puzzle, request, replace(job, folder=Path(folder)), prepare=prepare)
    spent = answer.details.get("budget_spent")
    return answer if spent is None else replace(answer, budget_used=int(spent))


def compile_cdcl() -> None:
    """Compile the SAT solver of this project, or load its machine code."""
    Cdcl([], 1).solve()


def import_pysat() -> None:
    """Import python-sat."""
    import_module("pysat.solvers")
