"""Optimizer for edge-matching puzzles such as Eternity II, built on exact solvers that can be used alone.

Load a puzzle, search for a good full board, and improve a region of that board or prove the region optimal::

    import lns

    puzzle = lns.load_puzzle("like-e2-16x16")
    result = lns.solve(puzzle, time=60, workers=2, seed=1)
    print(result.summary())
    better = lns.improve(puzzle, result.board, lns.cells.rows(puzzle, 12, 16), time=20)
    print(better.status, better.score, better.bound)

Workers are spawned processes, so a script must call `solve` under ``if __name__ == "__main__":``. Names are imported
when they are first used: ``import lns`` itself imports neither numpy nor numba.
"""

from __future__ import annotations

import ast
import inspect
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `_home_modules` finds the modules of public names in these imports
    from lns import cells
    from lns.api.estimating import Estimate, estimate
    from lns.api.exact import Comparison, Decoded, Formula, cnf, compare, count, decode
    from lns.api.files import Converted, convert, generate, load_board, load_puzzle, save
    from lns.api.improving import improve
    from lns.api.result import Result
    from lns.api.solving import polish, resume, solve
    from lns.api.stopping import MaxSteps, MaxTime, NoImprovement, StopRule, TargetScore
    from lns.engine import FoundBoard, Statistics
    from lns.exact.colorpairs.options import ColorPairsHeuristic, ColorPairsOptions
    from lns.exact.outcome import Outcome, SolveStatus
    from lns.exact.region.resolve import RegionResult, RegionStatus
    from lns.exact.registry import register_solver
    from lns.instances.board import Board
    from lns.instances.errors import InputError
    from lns.instances.formats.viewer import viewer_url
    from lns.instances.generate.planted import Planted
    from lns.instances.puzzle import Clue, Puzzle
    from lns.instances.verify import Verification, verify
    from lns.neighbourhoods.move import Move
    from lns.neighbourhoods.operators import register_operator
    from lns.params import Params
    from lns.runs.history import RunHistory
    from lns.runs.merge import Collection, Merged, collect, merge
    from lns.runs.run_summary import RunTable, status
    from lns.tuning.api import TuningResult, tune
    from lns.tuning.benchmark import BenchmarkResult, benchmark

__all__ = [
    "BenchmarkResult", "Board", "Clue", "Collection", "ColorPairsHeuristic", "ColorPairsOptions", "Comparison",
    "Converted", "Decoded", "Estimate", "Formula", "FoundBoard", "InputError", "MaxSteps", "MaxTime", "Merged", "Move",
    "NoImprovement", "Outcome", "Params", "Planted", "Puzzle", "RegionResult", "RegionStatus", "Result", "RunHistory",
    "RunTable", "SolveStatus", "Statistics", "StopRule", "TargetScore", "TuningResult", "Verification", "benchmark",
    "cells", "cnf", "collect", "compare", "convert", "count", "decode", "estimate", "generate", "improve", "load_board",
    "load_puzzle", "merge", "polish", "register_operator", "register_solver", "resume", "save", "solve", "status",
    "tune", "verify", "viewer_url",
]  # fmt: skip


def _home_modules() -> dict[str, str]:
    """Return the module of each public name, read from the imports above."""
    block = next(node for node in ast.parse(inspect.getsource(sys.modules[__name__])).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {each.name: str(one.module) for one in imports for each in one.names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("lns.version").__version__
    if name not in __all__:
        raise AttributeError(f"module 'lns' has no attribute '{name}'")
    if name == "cells":
        return import_module("lns.cells")
    value = globals()[name] = getattr(import_module(_home_modules()[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
