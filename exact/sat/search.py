"""A formula solved by python-sat, by the solver of this project or by a program: the first board or all of them.

The search runs in a child process.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lns.exact.child_process import Emit
from lns.exact.execution import Request, SolverReporter, solve_in_child
from lns.exact.optional_deps import require
from lns.exact.outcome import NODES_UNKNOWN, Answer
from lns.exact.sat.cdcl import Cdcl
from lns.exact.sat.dimacs import PREFIX, run_program
from lns.exact.sat.encodings import Encoding, encode
from lns.exact.sat.steps import PiecesFirst
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle

OWN = "cdcl"
"""The name of the SAT solver of this project."""


@dataclass(frozen=True)
class Job:
    """What the child process is to do.

    Parameters
    ----------
    encoding : str
        A name of `lns.exact.sat.encodings.ENCODINGS`.
    sat_solver : str
        python-sat's name of the solver, ``cdcl`` for that of this project, or ``program:NAME`` for a program that reads
        DIMACS.
    count_all : bool
        Search for all boards.
    nodes : int, optional
        Budget of decisions, or of conflicts where the solver limits only those.
    restricted : bool
        Decide on pieces and orientations only (Cuvillier & Szymkowiak 2010, 3.2).
    list_boards : bool
        Report all boards, not only the first.
    folder : Path, optional
        An empty folder for the files of a program, which the parent removes.
    """

    encoding: str
    sat_solver: str
    count_all: bool = False
    nodes: int | None = None
    restricted: bool = False
    list_boards: bool = False
    folder: Path | None = None


def canonical_name(name: str) -> str:
    """python-sat's full name of a solver: 'kissat' becomes 'kissat404'. Raises InputError for an unknown name."""
    from pysat.solvers import SolverNames

    aliases: dict[str, tuple[str, ...]] = {
        full: names for full, names in vars(SolverNames).items() if not full.startswith("_")
    }
    for full, names in aliases.items():
        if name.lower() in names or name.lower() == full:
            return full
    families = {"cadical": "cadical195", "glucose": "glucose42", "minisat": "minisat22", "mergesat": "mergesat3"}
    if name.lower() in families:
        return families[name.lower()]
    near = get_close_matches(name, aliases, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(sorted(aliases))
    raise InputError(f"unknown SAT solver '{name}': {hint}")


def search(emit: Emit, puzzle: Puzzle, job: Job) -> None:
    """The task of the child process: reports the size of the formula, the first board, progress, and the end.

    Raises InputError if the solver cannot do what is asked, and RuntimeError if a board is not a solution.
    """
    is_own, is_program = job.sat_solver == OWN, job.sat_solver.startswith(PREFIX)
    name = job.sat_solver if is_own or is_program else canonical_name(job.sat_solver)
    if is_program and (job.count_all or job.nodes is not None or job.restricted):
        raise InputError(f"{name} answers once and takes no budget of nodes; expected cadical or glucose for that")
    if name == "kissat404" and job.count_all:
        raise InputError(
            "kissat takes no clauses after its first answer, so it cannot count; expected cadical or glucose"
        )
    reporter = SolverReporter(emit, puzzle, name, list_boards=job.list_boards)
    encoding = encode(job.encoding, puzzle)
    reporter.details["variables"] = encoding.variables
    if is_program:
        assert job.folder is not None, "a program needs a folder for its files"
        reporter.details["clauses"] = sum(encoding.sizes().values())
        reporter.report(NODES_UNKNOWN)
        model, decisions = run_program(name.removeprefix(PREFIX), encoding, job.folder)
        if model is not None:
            reporter.add_board(encoding.board(model), decisions)
        reporter.report(decisions, exhausted=model is None)
        return
    with _new_solver(name, encoding, job) as solver:
        reporter.details["clauses"] = 0
        for block in encoding.clauses():
            reporter.details["clauses"] += len(block)
            solver.append_formula(block.tolist() if name != OWN else block, no_return=True)
        for block in encoding.channel() if job.count_all else ():
            solver.append_formula(block.tolist() if name != OWN else block, no_return=True)
        reporter.report(NODES_UNKNOWN)
        if job.restricted and name != OWN:
            if name != "cadical195":
                raise InputError(
                    f"{name} takes no decisions from outside; expected {OWN} or cadical195 for restricted decisions"
                )
            variables = list(range(1, encoding.deciding + 1))
            solver.connect_propagator(PiecesFirst(variables))
            for variable in variables:
                solver.observe(variable)
        budget = None if job.nodes is None else _Budget(solver, name, job.nodes)
        while answer := _solve(solver, budget):
            board = encoding.board(solver.get_model())
            reporter.add_board(board, _decisions(solver))
            if not job.count_all:
                break
            solver.add_clause(encoding.exclude(board))
        reporter.details |= {"conflicts": conflicts} if (conflicts := _stats(solver).get("conflicts")) else {}
        reporter.details |= {} if budget is None else {"budget_spent": budget.spent}
        reporter.report(_decisions(solver), exhausted=answer is False)


def _new_solver(name: str, encoding: Encoding, job: Job) -> AbstractContextManager[Any]:
    if name == OWN:
        return nullcontext(Cdcl((1, encoding.deciding) if job.restricted else None))
    solver: AbstractContextManager[Any] = import_module("pysat.solvers").Solver(name=name)
    return solver


class _Budget:
    """A budget of decisions, or of conflicts if the solver limits only those; InputError if it limits neither."""

    def __init__(self, solver: Any, name: str, nodes: int) -> None:
        self._solver, self._nodes = solver, nodes
        for self._unit, self._limit in (("decisions", solver.dec_budget), ("conflicts", solver.conf_budget)):
            try:
                self._limit(nodes)
                return
            except NotImplementedError:
                continue
        raise InputError(f"{name} has no budget of decisions or conflicts; expected a time limit instead")

    @property
    def spent(self) -> int:
        return _stats(self._solver).get(self._unit, 0)

    def renew(self) -> bool:
        """Limit the next call to the rest of the budget; False if it is spent."""
        remaining = self._nodes - self.spent
        if remaining > 0:
            self._limit(remaining)
        return remaining > 0


def _solve(solver: Any, budget: _Budget | None) -> bool | None:
    """Satisfiable or not; None if the budget is spent."""
    if budget is None:
        return bool(solver.solve())
    answer = solver.solve_limited() if budget.renew() else None
    return None if answer is None else bool(answer)


def _stats(solver: Any) -> dict[str, int]:
    """Decisions, conflicts and so on by name; empty for a solver that reports none (kissat)."""
    try:
        return dict(solver.accum_stats() or {})
    except NotImplementedError:
        return {}


def _decisions(solver: Any) -> int:
    return int(_stats(solver).get("decisions", NODES_UNKNOWN))


FIRST, COUNTING = "kissat404", "cadical195"


def run_sat(encoding: str, restricted: bool, puzzle: Puzzle, request: Request) -> Answer:
    """The solvers 'sat:...': encode ``puzzle`` and solve it with ``request.sat_solver``.

    The default is kissat for the first solution, and CaDiCaL for all, because kissat cannot go on after an answer.
    If ``restricted``, CaDiCaL decides on pieces and orientations only, and ``cdcl`` decides on them first (Cuvillier &
    Szymkowiak 2010, 3.2). Nodes are the solver's decisions, `NODES_UNKNOWN` for kissat. Their budget limits conflicts
    if the solver limits only those.
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
    Cdcl().solve()


def import_pysat() -> None:
    """Import python-sat."""
    import_module("pysat.solvers")
