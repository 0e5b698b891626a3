"""A formula solved by python-sat: the first board or all of them. It runs in a child process.

Only this module imports python-sat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from exact.outcome import NODES_UNKNOWN
from exact.sat.cdcl import Cdcl, IntervalSolver
from exact.sat.encoding import Encoding
from exact.sat.encodings import encode
from exact.sat.program import PREFIX, run_program
from exact.solver_protocol import SolverReporter
from instances.board import Board
from instances.puzzle import Puzzle
from lns_support.child_process import Emit
from lns_support.errors import InputError

OWN = "cdcl"
"""The name of the SAT solver of this project."""


@dataclass(frozen=True)
class Job:
    """What the child process is to do.

    Parameters
    ----------
    encoding : str
        A name of `exact.sat.encodings.ENCODINGS`.
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
    if job.sat_solver.startswith(PREFIX):
        _search_by_program(emit, puzzle, job)
        return
    if job.sat_solver == OWN:
        _search_by_own_solver(emit, puzzle, job)
        return
    from pysat.solvers import Solver

    name = canonical_name(job.sat_solver)
    if job.count_all and name == "kissat404":
        raise InputError(
            "kissat takes no clauses after its first answer, so it cannot count; expected cadical or glucose"
        )
    reporter = SolverReporter(emit, puzzle, name, list_boards=job.list_boards)
    encoding = encode(job.encoding, puzzle)
    with Solver(name=name) as solver:
        clauses = 0
        for block in encoding.clauses():
            clauses += len(block)
            solver.append_formula(block.tolist(), no_return=True)
        if job.count_all:
            for block in encoding.channel():
                solver.append_formula(block.tolist(), no_return=True)
        reporter.details |= {"variables": encoding.variables, "clauses": clauses}
        reporter.report(NODES_UNKNOWN)
        _report_boards(solver, name, encoding, job, reporter)


def _search_by_own_solver(emit: Emit, puzzle: Puzzle, job: Job) -> None:
    """`search` by `exact.sat.cdcl`, which needs no python-sat."""
    Cdcl([], 1).solve()  # compiles, or loads machine code, before the clock starts
    reporter = SolverReporter(emit, puzzle, job.sat_solver, list_boards=job.list_boards)
    encoding = encode(job.encoding, puzzle)
    solver = IntervalSolver((1, encoding.deciding) if job.restricted else None)
    for block in encoding.clauses():
        solver.append_block(block)
    if job.count_all:
        for block in encoding.channel():
            solver.append_block(block)
    reporter.details |= {"variables": encoding.variables, "clauses": sum(encoding.sizes().values())}
    reporter.report(NODES_UNKNOWN)
    _report_boards(solver, job.sat_solver, encoding, job, reporter)


def _report_boards(solver: Any, name: str, encoding: Encoding, job: Job, reporter: SolverReporter) -> None:
    """Search for boards and report them, and the end."""
    exhausted = False
    budget = None if job.nodes is None else _Budget(solver, name, job.nodes)
    for board in _boards(solver, name, encoding, job, budget):
        if board is None:
            exhausted = True
            break
        reporter.add_board(board, _decisions(solver))
        if not job.count_all:
            break
    reporter.details |= {"conflicts": conflicts} if (conflicts := _stats(solver).get("conflicts")) else {}
    reporter.details |= {} if budget is None else {"budget_spent": budget.spent}
    reporter.report(_decisions(solver), exhausted=exhausted)


def _search_by_program(emit: Emit, puzzle: Puzzle, job: Job) -> None:
    """`search` by a program of its own, for the first board."""
    if job.count_all or job.nodes is not None or job.restricted:
        raise InputError(
            f"{job.sat_solver} answers once and takes no budget of nodes; expected cadical or glucose for that"
        )
    assert job.folder is not None, "a program needs a folder for its files"
    reporter = SolverReporter(emit, puzzle, job.sat_solver, list_boards=job.list_boards)
    encoding = encode(job.encoding, puzzle)
    reporter.details |= {"variables": encoding.variables, "clauses": sum(encoding.sizes().values())}
    reporter.report(NODES_UNKNOWN)
    model, decisions = run_program(job.sat_solver.removeprefix(PREFIX), encoding, job.folder)
    if model is not None:
        reporter.add_board(encoding.board(model), decisions)
    reporter.report(decisions, exhausted=model is None)


def _boards(solver: Any, name: str, encoding: Encoding, job: Job, budget: _Budget | None) -> Iterator[Board | None]:
    """The boards that differ in their colours, then None; no None if the budget is spent."""
    if job.restricted and name != OWN:
        from exact.sat.restricted import restrict

        if name != "cadical195":
            raise InputError(
                f"{name} takes no decisions from outside; expected {OWN} or cadical195 for restricted decisions"
            )
        restrict(solver, encoding)
    while True:
        answer = _solve(solver, budget)
        if answer is None:
            return
        if not answer:
            yield None
            return
        board = encoding.board(solver.get_model())
        yield board
        solver.add_clause(encoding.exclude(board))


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
