"""Solvers in a child process: limits hold, and a crash of the child is never an answer."""

import os
import shlex
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lns.exact.child_process import Emit, ExitReason, run_in_process
from lns.exact.cp import MODELS, solve_by_cp_sat
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes.grid import parse
from lns.exact.polyominoes.search import fill_by_library
from lns.exact.sat.search import search
from lns.exact.solvers import count, solve, solve_request
from lns.instances.errors import InputError
from lns.instances.generate import corner_cells, uniform
from lns.instances.puzzle import Puzzle
from tests.exact.puzzles import last_message

SPENT = SolveStatus.BUDGET_SPENT


def small() -> Puzzle:
    return uniform(3, 3, 3).puzzle


def work(emit: Emit, what: str) -> None:
    """The task of a child process."""
    emit(what)
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "fail":
        raise ValueError("wrong")
    elif what == "refuse":
        raise InputError("no such thing")
    elif what == "sleep":
        time.sleep(60)
    elif what == "allocate":
        np.ones(10**9)
    while what == "burn":
        pass


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("crash", ChildProcessError, r"SIGSEGV.*result is unknown"),
        ("fail", ChildProcessError, "ValueError.*wrong"),
        ("refuse", InputError, "no such thing"),
    ],
)
def test_a_crash_raises_and_keeps_earlier_messages(what: str, error: type[Exception], message: str) -> None:
    messages: list[str] = []
    with pytest.raises(error, match=message):
        run_in_process(work, what, receive=messages.append)
    assert messages == [what]


def test_time_and_memory_limits() -> None:
    messages: list[str] = []
    assert run_in_process(work, "allocate", receive=messages.append, memory=3_000_000_000).reason is ExitReason.MEMORY
    assert run_in_process(work, "burn", receive=messages.append, seconds=0.5, processor=True).reason is ExitReason.TIME
    assert messages == ["allocate", "burn"]
    with pytest.raises(InputError, match="which the libraries take"):  # and it does not hang
        run_in_process(work, "allocate", receive=print, memory=100_000_000)
    with pytest.raises(InputError, match="no such thing"):
        run_in_process(work, "refuse", receive=print, seconds=1e9)  # longer than a poll can wait
    ended = run_in_process(work, "sleep", receive=messages.append, seconds=0.5)
    assert ended.reason is ExitReason.TIME and 0.5 <= ended.seconds < 3.0


def test_a_limit_of_processor_time() -> None:
    pytest.importorskip("pysat")
    puzzle = uniform(10, 10, 8, seed=1).puzzle
    outcome = solve_request(puzzle, Request(seconds=1.0, processor_time=True), "sat:half-3")
    assert (outcome.status, outcome.seconds) == (SPENT, 1.0)
    assert outcome.details["variables"] > 30_000, "reported before the search"
    for solver in ("rowscan", "sls:dcrwalk"):
        began = time.process_time()
        outcome = solve_request(puzzle, Request(seconds=0.2, processor_time=True), solver)
        assert outcome.status is SPENT and 0.19 <= outcome.seconds <= time.process_time() - began


# -- SAT solvers that are programs -------------------------------------------------------------------------------------


def install(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a program and put its folder on the search path."""
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


@pytest.mark.parametrize("command", ["exec sleep 60", "kill -s XCPU $$"])
def test_a_sat_program_that_reaches_its_limit_leaves_no_files(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, started = tmp_path / "temporary", tmp_path / "started"
    temporary.mkdir()
    install(tmp_path, "endless", f'#!/bin/sh\ncp "$1" {shlex.quote(str(started))}\n{command}\n', monkeypatch)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)  # read TMPDIR again
    request = Request(seconds=3.0, processor_time="XCPU" in command, sat_solver="program:endless")
    assert solve_request(small(), request, "sat:half-3").status is SPENT
    assert started.read_text().startswith("c "), "the program had got its formula"
    assert list(temporary.iterdir()) == []


def test_a_sat_program_that_catches_the_signal_of_its_limit_has_spent_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As minisat does, which then ends with status 0 and no answer. One that ends so early has failed."""
    program = (
        f"#!{sys.executable}\nimport signal, sys\nsignal.signal(signal.SIGXCPU, lambda *_: sys.exit(0))\n"
        "while 'patient' in sys.argv[0]:\n    pass\n"
    )
    for name in ("patient", "hasty"):
        install(tmp_path, name, program, monkeypatch)
    request = Request(seconds=1.0, processor_time=True, sat_solver="program:patient")
    assert solve_request(small(), request, "sat:half-3").status is SPENT
    with pytest.raises(ChildProcessError, match="the program hasty ended with status 0 and no answer"):
        solve_request(small(), replace(request, sat_solver="program:hasty"), "sat:half-3")


# -- what does not count as time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "package", "extra"),
    [("xcc", "xcover", "cover"), ("cp", "ortools", "cp"), ("cp:table", "ortools", "cp"),
     ("sat:half-3", "pysat", "sat")],
)  # fmt: skip
def test_importing_a_library_does_not_count(
    solver: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library xcover compiles itself when it is first imported, which took longer than many a time limit."""
    pytest.importorskip(package)
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(
        "import time\nfrom lns.instances.errors import InputError\ntime.sleep(0.6)\nraise InputError('at last')"
    )
    with monkeypatch.context() as patched:
        patched.syspath_prepend(tmp_path)
        with pytest.raises(InputError, match="at last"):
            solve(small(), solver=solver, seconds=0.2)
        if solver == "xcc":
            with pytest.raises(InputError, match="at last"):
                fill_by_library(parse("..\n\naa"), seconds=0.2)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"which is not installed \(extra '{extra}'\): pip install "):
        solve(small(), solver=solver)


# -- answers -----------------------------------------------------------------------------------------------------------


def test_spent_memory_is_not_infeasible() -> None:
    pytest.importorskip("pysat")
    outcome = solve(uniform(8, 8, 6, seed=1).puzzle, solver="sat:full-4", memory=400_000_000, seconds=60)
    assert outcome.status is SPENT and outcome.details["memory_spent"] == 1.0


@pytest.mark.parametrize("sat_solver", ["kissat", "cadical", "minisat"])
def test_a_spent_node_budget_proves_nothing(sat_solver: str) -> None:
    pytest.importorskip("pysat")
    asked = Request(nodes=20, sat_solver=sat_solver)
    found = last_message(search, uniform(8, 8, 6, seed=1).puzzle, asked, "half-3")
    assert (found.status, found.solutions) == (SPENT, 0)


def test_a_budget_of_conflicts_counts_conflicts_not_decisions() -> None:
    """Glucose limits conflicts only, and makes many more decisions."""
    pytest.importorskip("pysat")
    puzzle, asked = uniform(5, 4, 4, seed=0).puzzle, Request(True, sat_solver="glucose")
    found = last_message(search, puzzle, asked, "half-3")
    budget = (conflicts := int(found.details["conflicts"])) + 1
    assert found.status is SolveStatus.SOLVED and found.nodes > budget
    found = last_message(search, puzzle, replace(asked, nodes=budget), "half-3")
    assert found.status is SolveStatus.SOLVED and found.details["budget_spent"] == conflicts
    outcome = count(puzzle, solver="sat:half-3", sat_solver="glucose", fix_corner=True, nodes=2 * budget)
    assert outcome.status is SolveStatus.SOLVED
    assert outcome.solutions == count(puzzle, solver="rowscan", fix_corner=True).solutions
    assert outcome.nodes > outcome.details["budget_spent"] == outcome.details["conflicts"]


def test_details_of_two_corners_add_up_except_sizes_and_peaks() -> None:
    pytest.importorskip("pysat")
    puzzle = uniform(5, 4, 4, seed=0).puzzle
    whole, both = (count(puzzle, "sat:half-2", sat_solver="cadical", fix_corner=fixed).details for fixed in (0, 1))
    assert both["variables"] == whole["variables"]
    assert all(both[name] < 1.5 * whole[name] for name in ("clauses", "peak_megabytes"))


NAMES = "cadical103 cadical153 cadical195 glucose3 glucose42 kissat lingeling maplechrono maplesat mergesat"


@pytest.mark.parametrize("name", [*NAMES.split(), "minisat", "minicard"])
def test_solvers_of_python_sat(name: str) -> None:
    pytest.importorskip("pysat")
    asked = Request(sat_solver=name)
    assert last_message(search, uniform(4, 4, 4, seed=3).puzzle, asked, "half-3").solutions == 1


# -- constraint programming --------------------------------------------------------------------------------------------


def test_a_budget_of_cp_sat_counts_conflicts_not_branches() -> None:
    pytest.importorskip("ortools")
    outcome = count(uniform(5, 4, 4, 0).puzzle, solver="cp", fix_corner=True, nodes=100)
    assert outcome.nodes > 100 > outcome.details["conflicts"]
    assert (outcome.status, outcome.solutions) == (SolveStatus.SOLVED, 5)  # one corner, then the other
    found = last_message(solve_by_cp_sat, uniform(7, 7, 5, seed=3).puzzle, Request(True, 5))
    assert found.status is SPENT, "spent conflicts prove nothing"


def test_tables_and_alldifferent_need_fewer_nodes() -> None:
    """The models of Benoist & Bourreau 2008, 2.2."""
    pytest.importorskip("ortools")
    puzzle = uniform(5, 5, 4, 2).with_clues(corner_cells(5, 5)).puzzle
    outcomes = {model: count(puzzle, solver=f"cp:{model}", seconds=60) for model in MODELS}
    assert len({outcome.solutions for outcome in outcomes.values()}) == 1
    assert outcomes["table"].nodes < outcomes["element"].nodes
    assert outcomes["table-alldifferent"].nodes <= outcomes["table"].nodes
    assert count(puzzle, solver="cp:element", nodes=3).status is SPENT
    assert solve(uniform(4, 4, 4, 1).puzzle, solver="cp:table-alldifferent").solutions == 1
