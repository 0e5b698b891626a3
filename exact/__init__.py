"""Exact solvers: counts, first solutions and proofs, for whole boards and for regions of a board.

- `solve`, `count`: find the first solution, or count all, with any solver; both return an `Outcome` with a
  `SolveStatus`. `solve_request` does the same for a `Request`, which holds all options of a search.
- `Options`, `Heuristic`: the options of ColorPairs, the default solver.
- `all_solvers`, `register_solver`: list the solvers, and add your own function that returns an `Outcome`.
- `resolve`: find the best refill of a region of a board, with a proof; it takes `RegionOptions` and returns a
  `RegionResult`.
- `corner_variants`: pin a corner piece of a puzzle, where possible, so that of a solution and its rotated copies only
  one is found.

Each name is imported when it is first used, because the kernels import numba, which takes long.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lns.exact.colorpairs.options import Heuristic, Options
    from lns.exact.execution import Request
    from lns.exact.outcome import Answer, Outcome, SolveStatus
    from lns.exact.region.options import RegionOptions
    from lns.exact.region.resolve import RegionResult, resolve
    from lns.exact.registry import all_solvers, register_solver
    from lns.exact.solvers import corner_variants, count, solve, solve_request

_MODULES = (  # where `__getattr__` looks a name up, in this order; modules with few imports come first
    "lns.exact.outcome", "lns.exact.registry", "lns.exact.colorpairs.options", "lns.exact.region.options",
    "lns.exact.execution", "lns.exact.solvers", "lns.exact.region.resolve",
)  # fmt: skip

__all__ = [
    "Answer", "Heuristic", "Options", "Outcome", "RegionOptions", "RegionResult", "Request", "SolveStatus",
    "all_solvers", "corner_variants", "count", "register_solver", "resolve", "solve", "solve_request",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    for module in _MODULES if name in __all__ else ():
        if hasattr(found := import_module(module), name):
            return getattr(found, name)
    raise AttributeError(f"module 'lns.exact' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
