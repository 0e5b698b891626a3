"""Exact solvers: counts, first solutions and proofs, for whole boards and for regions of a board.

- `solve`, `count`: the first solution, or the number of all, by any of the solvers; both return an `Outcome` with a
  `SolveStatus`. `solve_request` is the same for a `Request`.
- `Options`, `Heuristic`: the parts of ColorPairs, the default solver.
- `all_solvers`, `register_solver`: the list of solvers, and one of your own; it returns an `Answer`.
- `resolve`: the best refill of a region of a board, with a proof; it takes `RegionOptions` and returns a
  `RegionResult`.
- `corner_variants`: the puzzles that leave out rotated copies of solutions.

Each name is imported when it is first used, because the kernels import numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.colorpairs.options import Heuristic, Options
    from exact.outcome import Answer, Outcome, SolveStatus
    from exact.region.options import RegionOptions
    from exact.region.resolve import resolve
    from exact.region.result import RegionResult
    from exact.registry import all_solvers, register_solver
    from exact.request import Request
    from exact.solvers import corner_variants, count, solve, solve_request

_MODULES = {
    "exact.colorpairs.options": ("Heuristic", "Options"),
    "exact.outcome": ("Answer", "Outcome", "SolveStatus"),
    "exact.region.options": ("RegionOptions",),
    "exact.region.resolve": ("resolve",),
    "exact.region.result": ("RegionResult",),
    "exact.registry": ("all_solvers", "register_solver"),
    "exact.request": ("Request",),
    "exact.solvers": ("corner_variants", "count", "solve", "solve_request"),
}

__all__ = [
    "Answer",
    "Heuristic",
    "Options",
    "Outcome",
    "RegionOptions",
    "RegionResult",
    "Request",
    "SolveStatus",
    "all_solvers",
    "corner_variants",
    "count",
    "register_solver",
    "resolve",
    "solve",
    "solve_request",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'exact' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
