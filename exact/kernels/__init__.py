"""Compiled code: decorators of kernels, the cache of their machine code, sets as bit vectors, and arrays by name."""

from __future__ import annotations

from typing import Any

import numpy as np


def arrays(kind: type, shape: int | tuple[int, int], *names: str, fill: int = 0) -> dict[str, Any]:
    """Arrays of one kind and shape, by name."""
    return {name: np.full(shape, fill, dtype=kind) if fill else np.zeros(shape, dtype=kind) for name in names}
