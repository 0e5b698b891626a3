"""The options of a region search."""

from __future__ import annotations

from dataclasses import dataclass

from lns.exact.colorpairs.options import Heuristic
from lns.instances.errors import InputError

ORDERS = ("auto", "static", "dynamic")
HALVED_FROM = (8, 14, 24, 36)
"""Least numbers of cells for which a search scheme halves a region once, twice, three and four times."""


@dataclass(frozen=True)
class RegionOptions:
    """The parts of a region search that can be chosen or switched off. The optimum found does not depend on them.

    Parameters
    ----------
    order : {"static", "dynamic", "auto"}
        In which order the cells are decided. "static": in fixed orders. "dynamic": at each node the cell that
        `heuristic` chooses (`lns.exact.region.dynamic_search`), without prices. "auto": static, and after
        `dynamic_after` both orders in turns, unless short attempts show that one of the two would take far longer.
    balance : bool
        Use the bound by colour balance (`lns.exact.region.kernel`).
    curves : bool
        Limit the mismatches that may be spent before each depth, with a search scheme (`lns.exact.region.scheme`) or
        spend curves (`lns.exact.region.searches`).
    prices : bool, int or None
        Use the cost-to-go bound with Lagrangian prices (`lns.exact.region.searches`): from the start (True), never
        (False), after the given number of nodes (int), or as soon as the search turns out to be long (None).
    backjumping : bool
        With the dynamic order: at a dead end, jump back to the last decision that has a part in it.
    pairs : bool
        With the dynamic order: bound by Demand - Offer of colour pairs.
    preemption : bool
        With the dynamic order: where no mismatch is left to spend, no cell gets a piece that another cell needs.
        Off by default, because it takes more time than it saves (docs/windows.md).
    instantiation : bool
        With the dynamic order: where no mismatch is left to spend, a cell with one candidate is decided at once.
    heuristic : str
        With the dynamic order: how the cell is chosen, "dom-deg" or a name of `lns.exact.colorpairs.options.Heuristic`.
    dynamic_after : int
        With the order "auto": node equivalents in the static order before the dynamic order is tried. The first
        attempts at a better refill, and the first turns of each search, are no longer than that.
    compare_after : int
        Least node equivalents of a proof (no refill has at most r mismatches) that other searches repeat, to compare.
    halved_from : tuple of int
        Least numbers of cells for which a search scheme halves the region once, twice, and so on.

    Raises
    ------
    InputError
        If `order` or `heuristic` is not a known name.
    """

    order: str = "static"
    balance: bool = True
    curves: bool = True
    prices: bool | int | None = None
    backjumping: bool = True
    pairs: bool = True
    preemption: bool = False
    instantiation: bool = False
    heuristic: str = "dom-deg"
    dynamic_after: int = 5_000_000
    compare_after: int = 2_000
    halved_from: tuple[int, ...] = HALVED_FROM

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InputError(f"the order '{self.order}' is not known; expected one of {', '.join(ORDERS)}")
        if self.heuristic != "dom-deg":
            Heuristic.of(self.heuristic)
