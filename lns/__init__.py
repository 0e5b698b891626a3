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

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lns import cells as cells
    from lns.api.comparing import Comparison as Comparison
    from lns.api.comparing import compare as compare
    from lns.api.estimating import Estimate as Estimate
    from lns.api.estimating import estimate as estimate
    from lns.api.files import Converted as Converted
    from lns.api.files import convert as convert
    from lns.api.files import generate as generate
    from lns.api.files import load_board as load_board
    from lns.api.files import load_puzzle as load_puzzle
    from lns.api.files import save as save
    from lns.api.formulas import Decoded as Decoded
    from lns.api.formulas import Formula as Formula
    from lns.api.formulas import cnf as cnf
    from lns.api.formulas import decode as decode
    from lns.api.improving import count as count
    from lns.api.improving import improve as improve
    from lns.api.result import Result as Result
    from lns.api.solving import polish as polish
    from lns.api.solving import resume as resume
    from lns.api.solving import solve as solve
    from lns.api.stopping import MaxSteps as MaxSteps
    from lns.api.stopping import MaxTime as MaxTime
    from lns.api.stopping import NoImprovement as NoImprovement
    from lns.api.stopping import StopRule as StopRule
    from lns.api.stopping import TargetScore as TargetScore
    from lns.engine import FoundBoard as FoundBoard
    from lns.engine import Statistics as Statistics
    from lns.exact.colorpairs.options import ColorPairsHeuristic as ColorPairsHeuristic
    from lns.exact.colorpairs.options import ColorPairsOptions as ColorPairsOptions
    from lns.exact.outcome import Outcome as Outcome
    from lns.exact.outcome import SolveStatus as SolveStatus
    from lns.exact.region.resolve import RegionResult as RegionResult
    from lns.exact.region.resolve import RegionStatus as RegionStatus
    from lns.exact.registry import register_solver as register_solver
    from lns.instances.board import Board as Board
    from lns.instances.errors import InputError as InputError
    from lns.instances.formats.viewer import viewer_url as viewer_url
    from lns.instances.generate.planted import Planted as Planted
    from lns.instances.puzzle import Clue as Clue
    from lns.instances.puzzle import Puzzle as Puzzle
    from lns.instances.verify import Verification as Verification
    from lns.instances.verify import verify as verify
    from lns.neighbourhoods.move import Move as Move
    from lns.neighbourhoods.operators import register_operator as register_operator
    from lns.params import Params as Params
    from lns.runs.history import RunHistory as RunHistory
    from lns.runs.merge import Collection as Collection
    from lns.runs.merge import Merged as Merged
    from lns.runs.merge import collect as collect
    from lns.runs.merge import merge as merge
    from lns.runs.run_summary import RunTable as RunTable
    from lns.runs.run_summary import status as status
    from lns.tuning.api import TuningResult as TuningResult
    from lns.tuning.api import tune as tune
    from lns.tuning.benchmark import BenchmarkResult as BenchmarkResult
    from lns.tuning.benchmark import benchmark as benchmark

# module -> its public names; the tuner stands above this package, so it is only named here
_PUBLIC = {
    "lns.exact.colorpairs.options": ("ColorPairsHeuristic", "ColorPairsOptions"),
    "lns.exact.outcome": ("Outcome", "SolveStatus"),
    "lns.exact.region.resolve": ("RegionResult", "RegionStatus"),
    "lns.exact.registry": ("register_solver",),
    "lns.instances.board": ("Board",),
    "lns.instances.formats.viewer": ("viewer_url",),
    "lns.instances.generate.planted": ("Planted",),
    "lns.instances.puzzle": ("Clue", "Puzzle"),
    "lns.instances.verify": ("Verification", "verify"),
    "lns.api.comparing": ("Comparison", "compare"),
    "lns.api.estimating": ("Estimate", "estimate"),
    "lns.api.files": ("Converted", "convert", "generate", "load_board", "load_puzzle", "save"),
    "lns.api.formulas": ("Decoded", "Formula", "cnf", "decode"),
    "lns.api.improving": ("count", "improve"),
    "lns.api.result": ("Result",),
    "lns.api.solving": ("polish", "resume", "solve"),
    "lns.api.stopping": ("MaxSteps", "MaxTime", "NoImprovement", "StopRule", "TargetScore"),
    "lns.engine": ("FoundBoard", "Statistics"),
    "lns.neighbourhoods.move": ("Move",),
    "lns.neighbourhoods.operators": ("register_operator",),
    "lns.params": ("Params",),
    "lns.runs.history": ("RunHistory",),
    "lns.runs.merge": ("Collection", "Merged", "collect", "merge"),
    "lns.runs.run_summary": ("RunTable", "status"),
    "lns.instances.errors": ("InputError",),
    "lns.tuning.api": ("TuningResult", "tune"),
    "lns.tuning.benchmark": ("BenchmarkResult", "benchmark"),
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = sorted([*_HOMES, "cells"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name == "cells":
        return import_module("lns.cells")
    if name == "__version__":
        from lns.version import __version__

        return __version__
    if name in ("Heuristic", "Options"):
        warnings.warn(f"lns.{name} is now lns.ColorPairs{name}", DeprecationWarning, stacklevel=2)
        return getattr(import_module("lns.exact.colorpairs.options"), name)
    if name not in _HOMES:
        raise AttributeError(f"module 'lns' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
