"""The count of a puzzle by each solver; a task of a child process is called in this one: thousands would take long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lns.exact.colorpairs.options import Options
from lns.exact.cover.search import cover_by_library
from lns.exact.cp import MODELS, solve_by_cp_sat, solve_classic
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.registry import SOLVERS
from lns.exact.sat.search import search
from lns.exact.solvers import count
from lns.instances.puzzle import Puzzle
from tests.exact.puzzles import last_message

Counts = dict[str, Callable[[], int]]
PROVEN = SolveStatus.SOLVED, SolveStatus.INFEASIBLE
HERE = ("rowscan", "colorpairs", "dlx", "dlx:binary", "xcc:counted", "blocks", "auto")
ENCODINGS = {1: ("full-2", "half-3", "half-2"), 2: ("full-4", "triangles"),
             3: ("full-4-pairs", "full-2-pairs", "half-3-pairs", "half-2-pairs")}  # fmt: skip


def proven(puzzle: Puzzle, solver: str, options: Options | None = None, fix_corner: bool = False) -> int:
    """The count of a solver, which must be complete."""
    outcome = count(puzzle, solver, options=options, fix_corner=fix_corner)
    assert outcome.status in PROVEN, outcome
    return outcome.solutions


def counts_of(puzzle: Puzzle, level: int = 3) -> Counts:
    """The counts of all solvers that take the puzzle, by name.

    ``level``: 0 only those of this process, 1 also libraries and fast encodings, 2 and 3 slower ones too.
    """
    even = puzzle.width % 2 == puzzle.height % 2 == 0
    counts: Counts = {name: partial(proven, puzzle, name) for name in HERE if even or name != "blocks"}

    def add(name: str, task: Callable[..., None], *arguments: object, sat_solver: str = "glucose42") -> None:
        def count() -> int:
            last = last_message(task, puzzle, Request(True, sat_solver=sat_solver), *arguments)
            assert last.status in PROVEN, last
            return last.solutions

        counts[name] = count

    if level >= 1:
        add("xcc", cover_by_library)
        add("cp", solve_by_cp_sat)
    for encoding in (each for least, names in ENCODINGS.items() if level >= least for each in names):
        add(f"sat:{encoding}", search, encoding)
    if level >= 2:
        add("sat:triangles-restricted", search, "triangles", True, sat_solver="cadical195")
    if level >= 3:
        for model in MODELS:
            add(f"cp:{model}", solve_classic, model)
    return {name: count for name, count in counts.items() if not {*puzzle.rules} & {*SOLVERS[name].refuses}}
