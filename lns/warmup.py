"""Kernels before the clock starts: compiled, or their machine code loaded, once a process."""

from __future__ import annotations

import gc
from functools import cache

from exact.region.region_search import considers_dynamic_order
from exact.region.resolve import RegionOptions, resolve
from instances.formats import load_puzzle
from instances.puzzle import Puzzle
from lns.engines import make_engine
from lns.params import Params, from_dict
from lns.worker_pool import stop_requested

PUZZLE = "like-e2-8x8"
STEPS = 40  # a third of a second, when everything is on the disk
_BRIEF = from_dict(
    {
        "construct": {"population": 100, "tail_nodes": 100},
        "beam": {"width": 64},
        "rework": {"nodes": 20_000},
        "neighbourhoods": {"nodes": 100_000},
        "tabu": {"steps": 20, "patience": 1},
        "engine": {"step_nodes": 2000},
    }
)


def uses_dynamic_order(params: Params) -> bool:
    """Whether regions have a budget at which `lns.loop.rework` may turn to the dynamic order."""
    return considers_dynamic_order(params.rework.nodes)


def _warm_up_regions(puzzle: Puzzle, dynamic_order: bool) -> None:
    """Re-solve a region in each order that the engine may use."""
    board = make_engine("beam", puzzle, _BRIEF, 1, 0)
    board.step(puzzle.max_score)
    if board.best is not None:
        for order in ("static", "dynamic") if dynamic_order else ("static",):
            resolve(puzzle, board.best, range(16, 40), nodes=10_000, options=RegionOptions(order=order))


@cache
def warm_up(engine: str, dynamic_order: bool = False) -> None:
    """Let ``engine`` make some steps on a small board, and be restored: it uses its kernels. InputError for no engine.

    Their machine code does not depend on the board. Ends early where `stop_requested`. What the process holds by then
    is left out of garbage collections (`gc.freeze`): full ones would look through all that the compiler left.
    """
    puzzle = load_puzzle(PUZZLE)
    if engine == "auto":  # whose other parts take their first steps late
        warm_up("lns")
        warm_up("tabu")
        _warm_up_regions(puzzle, dynamic_order)
    search = make_engine(engine, puzzle, _BRIEF, 1, 0)
    for _ in range(STEPS):
        if search.exhausted or search.best_score == puzzle.max_score or stop_requested():
            break
        search.step(puzzle.max_score)
    make_engine(engine, puzzle, _BRIEF, 1, 0).restore(search.state())
    del search
    gc.collect()
    gc.freeze()
