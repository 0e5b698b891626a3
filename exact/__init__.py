"""Tree searches that prove: ColorPairs (seed 000), the row scan, the region re-solve, behind small interfaces.

Nothing is imported before it is used, because the kernels bring numba with them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Heuristic": "exact.colorpairs.options",
    "Options": "exact.colorpairs.options",
    "Outcome": "exact.outcome",
    "Status": "exact.outcome",
    "corner_fixed": "exact.solvers",
    "solve": "exact.solvers",
}

__all__ = ["Heuristic", "Options", "Outcome", "Status", "corner_fixed", "solve"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'exact' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
