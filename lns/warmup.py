"""Kernels before the clock starts: compiled, or their machine code loaded, once a process."""

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
STEPS = 40  # a third of a second, when everything is on the disk
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
    """Re-solve a region of a constructed board by a fixed order."""
    board = make_engine("beam", puzzle, _BRIEF, 1, 0)
    board.step()
    if board.best is not None:
        resolve(puzzle, board.best, range(16, 40), nodes=10_000)


def warm_up(engine: str, turn: int = 0) -> None:
    """Let ``engine`` make some steps on a small board, and be restored: it uses its kernels. InputError for no engine.

    Their machine code does not depend on the board. Ends early where `stop_requested`. Two processes with turns one
    apart begin at different ends, so that both compile in a first run. What the process holds by then is left out of
    garbage collections (`gc.freeze`): full ones would look through all that the compiler left. A second call for the
    same engine does nothing, whatever its turn: it would also freeze the objects of the search under way.
    """
    engine = "auto" if engine == "gpu" else engine
    if engine in _warm:
        return
    puzzle = load_puzzle(PUZZLE)
    if engine not in ("construct", "beam", "tabu"):  # whose operators take their first steps late
        # in an order in which two processes that begin at different ends take about as long
        parts = [partial(warm_up, "construct")] if engine == "auto" else []
        parts += [partial(warm_up, "beam"), partial(_warm_up_regions, puzzle)]
        parts += [partial(warm_up_regions, "dynamic"), partial(warm_up, "tabu")]
        for warm_up_part in reversed(parts) if turn % 2 else parts:
            warm_up_part()
    search = make_engine(engine, puzzle, _BRIEF, 1, 0, operators=OPERATORS)  # a user's see no board but the run's
    for _ in range(STEPS):
        if search.best_score == puzzle.max_score or stop_requested():
            break
        search.step()
    make_engine(engine, puzzle, _BRIEF, 1, 0, operators=OPERATORS).restore(search.state())
    del search
    gc.collect()
    gc.freeze()
    _warm.add(engine)
