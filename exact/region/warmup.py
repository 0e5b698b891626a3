"""The kernels of regions before the clock starts: compiled, or their machine code loaded, once a process."""

from __future__ import annotations

from functools import cache

from exact.region.options import RegionOptions
from exact.region.resolve import resolve
from exact.region.result import RegionStatus
from instances.board import Board
from instances.generate import uniform
from lns_support.jit import is_compiled

_KERNELS = {"static": ("exact.region.sweep", "exact.region.cost_to_go"), "dynamic": ("exact.region.dynamic_search",)}


def is_ready(order: str) -> bool:
    """Whether the machine code that `warm_up` needs is on the disk."""
    return all(is_compiled(module) for one in _orders(order) for module in _KERNELS[one])


@cache
def warm_up(order: str) -> None:
    """Let the searches in ``order`` (see `resolve`), with prices too, make some steps on a small board.

    Their machine code depends neither on the board nor on the region. Raises InputError for no order, and
    KeyboardInterrupt at Ctrl-C: kernels that were not all loaded are not taken for warm.
    """
    planted = uniform(4, 4, 3, 1)
    placements = planted.solution.placements.copy()
    placements[[5, 6]] = placements[[6, 5]]
    board = Board(placements, 4, 4)
    for one in _orders(order):
        result = resolve(planted.puzzle, board, range(16), nodes=100, options=RegionOptions(order=one, prices=True))
        if result.status is RegionStatus.INTERRUPTED:
            raise KeyboardInterrupt


def _orders(order: str) -> tuple[str, ...]:
    return ("static", "dynamic") if RegionOptions(order).order == "auto" else (order,)
