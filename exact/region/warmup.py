"""Compile or load the kernels of the region search before a clock starts, once a process."""

from __future__ import annotations

from functools import cache

from lns.exact.kernels.cache import is_compiled
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import resolve
from lns.exact.region.result import RegionStatus
from lns.instances.board import Board
from lns.instances.generate import uniform

_KERNELS = {
    "static": ("lns.exact.region.kernel", "lns.exact.region.scheme", "lns.exact.region.cost_to_go"),
    "dynamic": ("lns.exact.region.dynamic_search",),
}
_ORDERS = {"auto": ("static", "dynamic")}


def is_ready(order: str) -> bool:
    """Whether the machine code that `warm_up` needs for an order of `RegionOptions` is in the cache on disk."""
    return all(is_compiled(module) for each in _ORDERS.get(order, (order,)) for module in _KERNELS[each])


@cache
def warm_up(order: str) -> None:
    """Compile or load the kernels for an order of `RegionOptions` by short searches of a small board, with prices too.

    The machine code depends neither on the board nor on the region. Raises InputError if the order is unknown, and
    KeyboardInterrupt on Ctrl-C; the next call then starts again.
    """
    planted = uniform(4, 4, 3, 1)
    placements = planted.solution.placements.copy()
    placements[[5, 6]] = placements[[6, 5]]
    board = Board(placements, 4, 4)
    RegionOptions(order)  # raises InputError if the order is unknown
    for each in _ORDERS.get(order, (order,)):
        options = RegionOptions(order=each, prices=True)
        if resolve(planted.puzzle, board, range(16), nodes=100, options=options).status is RegionStatus.INTERRUPTED:
            raise KeyboardInterrupt
