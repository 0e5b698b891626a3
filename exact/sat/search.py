"""Solve a puzzle as a SAT formula by python-sat or a program, in a child process, for the first or all solutions."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lns.exact.child_process import Emit, die_with_parent
from lns.exact.execution import Reporter, Request, solve_in_child
from lns.exact.optional_deps import require
from lns.exact.outcome import Outcome
from lns.exact.sat.clauses import read_answer
from lns.exact.sat.encodings import encode
from lns.exact.sat.steps import PiecesFirst
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.text import unknown

PREFIX = "program:"
"""Prefix of the name of a SAT solver that is a program, as in 'program:minisat'."""
FIRST, COUNTING = "kissat404", "cadical195"
_SATISFIABLE, _UNSATISFIABLE = 10, 20  # exit statuses of programs that solve SAT
_LEAST_SHARE = 0.5  # a program that ends without an answer after this share of its CPU limit was stopped by it


def canonical_name(name: str) -> str:
    """Return python-sat's full name of a solver, 'kissat404' for 'kissat'. Raises InputError if ``name`` is unknown."""
    from pysat.solvers import SolverNames

    full = {"cadical": "cadical195", "glucose": "glucose42", "minisat": "minisat22", "mergesat": "mergesat3"}
    for solver, aliases in vars(SolverNames).items():
        if not solver.startswith("_"):
            full |= dict.fromkeys((solver, *aliases), solver)
    if name.lower() not in full:
        raise InputError(unknown("SAT solver", name, sorted({*full.values()})))
    return full[name.lower()]


def search(emit: Emit, puzzle: Puzzle, request: Request, name: str, restricted: bool = False) -> None:
    """Solve a puzzle by python-sat in this child process; report the size of the formula, boards, progress and the end.

    ``name`` is the name of an encoding. If ``restricted``, the solver decides on pieces and rotations only (Cuvillier
    & Szymkowiak 2010, 3.2).

    Raises InputError if the solver cannot do what is asked, and RuntimeError if a board is not a solution.
    """
    from pysat.solvers import Solver

    solver_name = canonical_name(request.sat_solver or (COUNTING if restricted or request.count_all else FIRST))
    if solver_name == FIRST and request.count_all:
        raise InputError(
            "kissat takes no clauses after its first answer, so it cannot count; expected cadical or glucose"
        )
    if restricted and solver_name != COUNTING:
        raise InputError(f"{solver_name} takes no decisions from outside; expected {COUNTING} for restricted decisions")
    reporter = Reporter(emit, puzzle, request, solver_name)
    encoding = encode(name, puzzle)
    with Solver(name=solver_name) as solver:
        clauses = 0
        for block in encoding.clauses():
            solver.append_formula(block.tolist(), no_return=True)
            clauses += len(block)
        reporter.details |= {"variables": encoding.variables, "clauses": clauses}
        for block in encoding.channel() if request.count_all else ():
            solver.append_formula(block.tolist(), no_return=True)
        reporter.report(None)
        if restricted:
            variables = list(range(1, encoding.deciding + 1))
            solver.connect_propagator(PiecesFirst(variables))
            for variable in variables:
                solver.observe(variable)
        unit, limit = ("", None) if request.nodes is None else _budget(solver, solver_name)

        def is_satisfiable() -> bool | None:  # returns None if the budget is spent
            if limit is None:
                return bool(solver.solve())
            if (left := (request.nodes or 0) - (_spent(solver, unit) or 0)) <= 0:
                return None
            limit(left)
            answer: bool | None = solver.solve_limited()
            return answer

        while answer := is_satisfiable():
            board = encoding.board(solver.get_model())
            reporter.add_board(board, _spent(solver, "decisions"))
            if not request.count_all:
                break
            solver.add_clause(encoding.exclude(board))
        if conflicts := _spent(solver, "conflicts"):
            reporter.details["conflicts"] = conflicts
        if limit is not None:
            reporter.details["budget_spent"] = _spent(solver, unit) or 0
        reporter.report(_spent(solver, "decisions"), exhausted=answer is False)


def _budget(solver: Any, name: str) -> tuple[str, Callable[[int], None]]:
    """Return what a solver can limit, decisions or conflicts, and its method to set the limit, or raise InputError."""
    for unit, limit in (("decisions", solver.dec_budget), ("conflicts", solver.conf_budget)):
        with suppress(NotImplementedError):
            limit(0)
            return unit, limit
    raise InputError(f"{name} has no budget of decisions or conflicts; expected a time limit instead")


def _spent(solver: Any, unit: str) -> int | None:
    """Return the number of decisions or conflicts (``unit``) so far; None if the solver does not report it (kissat)."""
    with suppress(NotImplementedError):
        spent: int | None = (solver.accum_stats() or {}).get(unit)
        return spent
    return None


def search_by_program(emit: Emit, puzzle: Puzzle, request: Request, name: str, folder: Path) -> None:
    """Solve a puzzle by a program in a child process; report the size of the formula, the board and the end.

    The files are in ``folder``, which the caller removes, because this process may be killed at its time limit.
    """
    solver_name = request.sat_solver or ""
    reporter, encoding, formula = Reporter(emit, puzzle, request, solver_name), encode(name, puzzle), folder / "cnf"
    with formula.open("w", encoding="ascii") as file:
        reporter.details |= {"variables": encoding.variables, "clauses": encoding.write(file)}
    reporter.report(None)
    model, decisions = run_program(solver_name.removeprefix(PREFIX), formula)
    if model is not None:
        reporter.add_board(encoding.board(model), decisions)
    reporter.report(decisions, exhausted=model is None)


def run_program(words: str, formula: Path) -> tuple[list[int] | None, int | None]:
    """Solve a DIMACS file by a program; return a model or None, and the number of decisions if the program prints it.

    ``words`` are the program and its options, separated by blanks. The program is called with the name of the file;
    minisat also gets the name of a file for its result. Other programs print ``s`` and ``v`` lines, as in competitions.

    Raises InputError if the program is not installed, and RuntimeError if it ends without an answer.
    """
    name, *options = words.split() or [""]
    path = shutil.which(name)
    if path is None:
        raise InputError(f"the program '{name}' is not installed; expected one of the search path, such as minisat")
    result = formula.with_name("result")
    files = [str(formula), str(result)] if Path(path).name.startswith("minisat") else [str(formula)]
    ended = subprocess.run(
        [path, *options, *files], capture_output=True, text=True, errors="replace", preexec_fn=die_with_parent
    )
    has_answer = ended.returncode in (_SATISFIABLE, _UNSATISFIABLE)
    if ended.returncode == -signal.SIGXCPU or (not has_answer and _has_used_its_time()):
        os.kill(os.getpid(), signal.SIGXCPU)  # end as if this process had used up its time limit, as the program has
    if not has_answer:
        raise RuntimeError(f"the program {name} ended with status {ended.returncode} and no answer")
    answer = result.read_text() if result.exists() else ended.stdout
    decisions = re.search(r"^c?\s*decisions\s*:?\s+([0-9]+)", ended.stdout, re.MULTILINE)
    return read_answer(answer, name), int(decisions[1]) if decisions else None


def _has_used_its_time() -> bool:
    """Return whether the ended program used up its time: minisat catches the signal of the limit and ends normally."""
    limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return limit != resource.RLIM_INFINITY and used.ru_utime + used.ru_stime >= _LEAST_SHARE * limit


def run_sat(encoding: str, puzzle: Puzzle, request: Request) -> Outcome:
    """Run a solver 'sat:...': encode ``puzzle`` and solve it with ``request.sat_solver``.

    The default is kissat for the first solution, and CaDiCaL for all solutions, because kissat cannot go on after an
    answer. For 'triangles-restricted' CaDiCaL decides on pieces and rotations only (Cuvillier & Szymkowiak 2010, 3.2).
    Nodes are the SAT solver's decisions, None for kissat. If a solver can limit only conflicts, ``request.nodes``
    limits these. Raises InputError without python-sat, and ChildProcessError if the library crashes.
    """
    name, restricted = request.sat_solver or "", encoding.endswith("-restricted")
    encoding = encoding.removesuffix("-restricted")
    if not name.startswith(PREFIX):
        require("sat", f"the solver sat:{encoding}")
        return solve_in_child(search, puzzle, request, encoding, restricted, prepare="pysat.solvers")
    if request.count_all or request.nodes is not None or restricted:
        raise InputError(f"{name} answers once and takes no budget of nodes; expected cadical or glucose for that")
    # The folder is made in this process because a child that is killed at its limit cannot remove it. The program ends
    # with the child; errors about a file that the program is still writing are ignored, so that the answer is not lost.
    with TemporaryDirectory(prefix="lns-", ignore_cleanup_errors=True) as folder:
        return solve_in_child(search_by_program, puzzle, request, encoding, Path(folder))
