"""Optimizer for edge-matching puzzles such as Eternity II, with an exact workbench under it.

Load a puzzle, search for a good full board, and prove what a region of it can hold at best::

    import lns

    puzzle = lns.load_puzzle("like-e2-16x16")
    result = lns.solve(puzzle, time=60, workers=2, seed=1)
    print(result.summary())
    better = lns.improve(puzzle, result.board, lns.cells.rows(puzzle, 12, 16), time=20)
    print(better.status, better.score, better.bound)

Workers are processes started afresh, so a script calls `solve` under ``if __name__ == "__main__":``. A name is imported
when it is first used: ``import lns`` itself imports neither numpy nor numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.colorpairs.options import Heuristic, Options
    from exact.outcome import Outcome, SolveStatus
    from exact.region.result import RegionResult, RegionStatus
    from exact.registry import register_solver
    from instances.board import Board
    from instances.generate.planted import Planted
    from instances.puzzle import Clue, Puzzle
    from instances.verify import Verification, verify
    from lns import cells
    from lns.api.files import generate, load_board, load_puzzle, save, viewer_url
    from lns.api.improving import count, improve
    from lns.api.result import Result
    from lns.api.solving import polish, resume, solve
    from lns.api.stopping import MaxSteps, MaxTime, NoImprovement, StopRule, TargetScore
    from lns.engine import FoundBoard, Statistics
    from lns.neighbourhoods.move import Move
    from lns.neighbourhoods.operators import register_operator
    from lns.params import Params
    from lns_support.errors import InputError
    from tuning.api import TuningResult, tune
    from tuning.benchmark import BenchmarkResult, benchmark

# public name -> module that defines it; the tuner stands above this package, so it is only named here
_HOMES = {
    "BenchmarkResult": "tuning.benchmark",
    "Board": "instances.board",
    "Clue": "instances.puzzle",
    "FoundBoard": "lns.engine",
    "Heuristic": "exact.colorpairs.options",
    "InputError": "lns_support.errors",
    "MaxSteps": "lns.api.stopping",
    "MaxTime": "lns.api.stopping",
    "Move": "lns.neighbourhoods.move",
    "NoImprovement": "lns.api.stopping",
    "Options": "exact.colorpairs.options",
    "Outcome": "exact.outcome",
    "Params": "lns.params",
    "Planted": "instances.generate.planted",
    "Puzzle": "instances.puzzle",
    "RegionResult": "exact.region.result",
    "RegionStatus": "exact.region.result",
    "Result": "lns.api.result",
    "SolveStatus": "exact.outcome",
    "Statistics": "lns.engine",
    "StopRule": "lns.api.stopping",
    "TargetScore": "lns.api.stopping",
    "TuningResult": "tuning.api",
    "Verification": "instances.verify",
    "benchmark": "tuning.benchmark",
    "count": "lns.api.improving",
    "generate": "lns.api.files",
    "improve": "lns.api.improving",
    "load_board": "lns.api.files",
    "load_puzzle": "lns.api.files",
    "polish": "lns.api.solving",
    "register_operator": "lns.neighbourhoods.operators",
    "register_solver": "exact.registry",
    "resume": "lns.api.solving",
    "save": "lns.api.files",
    "solve": "lns.api.solving",
    "tune": "tuning.api",
    "verify": "instances.verify",
    "viewer_url": "lns.api.files",
}

__all__ = [
    "BenchmarkResult",
    "Board",
    "Clue",
    "FoundBoard",
    "Heuristic",
    "InputError",
    "MaxSteps",
    "MaxTime",
    "Move",
    "NoImprovement",
    "Options",
    "Outcome",
    "Params",
    "Planted",
    "Puzzle",
    "RegionResult",
    "RegionStatus",
    "Result",
    "SolveStatus",
    "Statistics",
    "StopRule",
    "TargetScore",
    "TuningResult",
    "Verification",
    "benchmark",
    "cells",
    "count",
    "generate",
    "improve",
    "load_board",
    "load_puzzle",
    "polish",
    "register_operator",
    "register_solver",
    "resume",
    "save",
    "solve",
    "tune",
    "verify",
    "viewer_url",
]


def __getattr__(name: str) -> Any:
    if name == "cells":
        return import_module("lns.cells")
    if name == "__version__":
        from lns_support.version import __version__

        return __version__
    if name not in _HOMES:
        raise AttributeError(f"module 'lns' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
