"""Warm-up: compile the kernels, or load their machine code, before the clock starts; once per process."""

from __future__ import annotations

import gc
from functools import partial

from lns.engines import make_engine
from lns.exact.region.resolve import resolve
from lns.exact.region.resolve import warm_up as warm_up_regions
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.neighbourhoods import OPERATORS
from lns.params import from_dict
from lns.worker_pool import stop_requested

PUZZLE = "like-e2-8x8"
STEPS = 40  # steps of an engine's warm-up; these take a third of a second if all kernels are cached on the disk
_BRIEF = from_dict(
    {
        "construct": {"population": 100, "tail_nodes": 100},
        "beam": {"width": 64},
        "neighbourhoods": {"nodes": 20_000},
        "tabu": {"steps": 20, "patience": 1},
        "engine": {"step_nodes": 2000},
    }
)

_warm: set[str] = set()  # engines for which this process has warmed up


def _warm_up_regions(puzzle: Puzzle) -> None:
    """Run the kernels that re-solve a region in fixed orders of its cells, on a board made by a beam."""
    board = make_engine("beam", puzzle, _BRIEF, 1, 0)
    board.step()
    if board.best is not None:
        resolve(puzzle, board.best, range(16, 40), nodes=10_000)


def warm_up(engine: str, turn: int = 0) -> None:
    """Run ``engine`` on a small puzzle, and restore its state, so that all its kernels are compiled or loaded.

    Machine code does not depend on the puzzle. The warm-up ends early if `stop_requested`. Calls with odd and even
    ``turn`` (the number of an island) warm up the parts in opposite orders, so that two processes share the compiling
    of a first run. Objects that exist afterwards are exempt from garbage collection (`gc.freeze`), which would scan
    everything that the compiler left. A second call for an engine does nothing, as it would freeze objects of the
    running search. Raises InputError for an unknown engine.
    """
    engine = "auto" if engine == "gpu" else engine
    if engine in _warm:
        return
    puzzle = load_puzzle(PUZZLE)
    if engine not in ("construct", "beam", "tabu"):  # other engines use some kernels only late in a search
        # in an order that gives two processes, which begin at opposite ends, about equal work
        parts = [partial(warm_up, "construct")] if engine == "auto" else []
        parts += [partial(warm_up, "beam"), partial(_warm_up_regions, puzzle)]
        parts += [partial(warm_up_regions, "dynamic"), partial(warm_up, "tabu")]
        for warm_up_part in reversed(parts) if turn % 2 else parts:
            warm_up_part()
    search = make_engine(engine, puzzle, _BRIEF, 1, 0, operators=OPERATORS)  # without operators of the user
    for _ in range(STEPS):
        if search.best_score == puzzle.max_score or stop_requested():
            break
        search.step()
    make_engine(engine, puzzle, _BRIEF, 1, 0, operators=OPERATORS).restore(search.state())
    del search
    gc.collect()
    gc.freeze()
    _warm.add(engine)
