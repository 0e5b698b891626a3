"""`make bench`: print speed figures of this machine, one per line. Use `lns benchmark` to compare scores.

The figures include the costs in `lns.node_equivalents`: the time of a part of the engine divided by that of a
constructor node. Beams and tabu moves are timed by running these engines alone, and regions by calling
`lns.exact.region.resolve`. Nodes, exact tails, starts of endgames and the measurement of quotas are timed by calling
the kernels of the construction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lns import node_equivalents as costs
from lns.construct import kernel, population, schedule
from lns.construct.constructor import Constructor
from lns.construct.endgame import REACHED
from lns.construct.quota_bandit import QuotaBandit
from lns.engines import make_engine
from lns.exact.measurements import placements_per_second
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import resolve
from lns.exact.region.windows import rows
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.search_loop import SearchLoop
from lns.params import ConstructParams, Params
from lns.rng import random_state
from lns.tuning import cost_kernels
from lns.warmup import warm_up

REAL = Path("../shared/instances/eternity2_clue1.txt")  # beside the checkout; if the file is missing, SHIPPED is timed
SHIPPED = "like-e2-16x16"
TIGHT, LOOSE = 0, 4  # mismatches allowed in an exact tail, for a search that ends at once and for a longer one
MISMATCHES = 20  # mismatches of the boards that the timed constructor searches for


def speed_figures() -> Iterator[tuple[str, str]]:
    """Measure the speeds of this machine; yield (label, value as text) of each."""
    puzzle = load_puzzle(str(REAL) if REAL.exists() else SHIPPED)
    yield "instance", puzzle.name
    yield "row scan, placements/s", f"{placements_per_second(puzzle.with_clues(()), 1_000_000_000) / 1e6:.1f} M"
    yield from construction(puzzle)
    tabu, seconds = _run_engine("tabu", puzzle, lambda tabu, seconds: seconds >= 20.0)
    yield "tabu, moves evaluated/s", f"{tabu.statistics.moves / seconds / 1e6:.1f} M"
    yield "tabu alone, 20 s", f"{tabu.best_score} of {puzzle.max_score}"
    for what, cost, measured in measure_costs(puzzle):
        yield what, f"{measured:.3g} nodes of construction; counted as {cost:.3g}"


def construction(puzzle: Puzzle, seconds: float = 20.0) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of the times to the first board and to each new best score on one core, and of speeds."""
    for _ in range(2):  # the first run also compiles the kernels
        search, measured = _run_engine("construct", puzzle, lambda search, _: search.statistics.nodes > 0, warm=False)
    reached, began = {search.best_score: measured}, time.perf_counter()
    while (now := time.perf_counter() - began) < seconds:
        search.step()
        reached.setdefault(search.best_score, measured + time.perf_counter() - began)
    done = search.statistics
    speed, tails = (f"{nodes / now / 1e6:.1f} M" for nodes in (done.nodes, done.tail_nodes))
    yield "first board and measurement", f"{measured:.2f} s, first step of construction included"
    yield "construction, nodes/s", f"{speed}, and exact tails {tails}"
    yield "nodes per exact tail", f"{done.tail_nodes / max(1, done.prefixes):,.0f} ({done.prefixes:,} tails)"
    yield "scores, one core", ", ".join(f"{score} at {at:.1f} s" for score, at in reached.items())


# -- costs in node equivalents ----------------------------------------------------------------------------------------


def measure_costs(puzzle: Puzzle, nodes: int = 50_000_000, repeats: int = 200) -> Iterator[tuple[str, float, float]]:
    """Time each part of the engine that has a cost in `lns.node_equivalents`.

    Yields the name of the part, its cost in that module and its measured cost, both in constructor nodes. ``nodes``:
    nodes, children of beams and tabu moves to time; each tail and each start of an endgame is timed ``repeats`` times.
    """
    params = Params()
    bandit, constructor = constructor_at_tails(puzzle, params.construct)
    _time_tails(constructor, 1, TIGHT, 1)  # warm-up: compiles the kernels
    no_tails, tight, loose = (
        _time_tails(constructor, nodes, *how) for how in ((TIGHT, 0), (TIGHT, repeats), (LOOSE, repeats))
    )
    node = no_tails[0] / no_tails[1]
    tails, placements = repeats * max(1, tight[2]), max(1, loose[3] - tight[3])
    yield "set-up of an exact tail", costs.TAIL_SETUP, (tight[0] - no_tails[0]) / tails / node
    yield "placement in an exact tail", costs.TAIL_NODE, (loose[0] - tight[0]) / placements / node

    _time_endgames(constructor, 1, 1)  # warm-up: compiles the kernels
    yield "start of an endgame", costs.ENDGAME_SETUP, _time_endgames(constructor, repeats, repeats) / node

    def placed(engine: SearchLoop, seconds: float) -> bool:
        return engine.best is not None and engine.statistics.placements >= nodes

    beam, seconds = _run_engine("beam", puzzle, placed)
    yield "child of a beam", costs.BEAM_CHILD, seconds / beam.statistics.beam_nodes / node
    assert beam.best is not None
    for order, what, counted_setup, counted in (
        ("static", "fixed orders", costs.REGION_SETUP, costs.REGION_NODE),
        ("dynamic", "ColorPairs", costs.COLORPAIRS_SETUP, costs.COLORPAIRS_NODE),
    ):
        setup, placement = _region_seconds(puzzle, beam.best, order, params.neighbourhoods.nodes, nodes // 2)
        yield f"set-up of a region, {what}", counted_setup, setup / node
        yield f"placement in a region, {what}", counted, placement / node
    tabu, seconds = _run_engine("tabu", puzzle, placed)
    yield "tabu move", costs.TABU_MOVE, seconds / tabu.statistics.moves / node

    quota, cells = bandit.quota(100), schedule.cell_order(puzzle, params.construct)
    depths, size = schedule.quota_end(puzzle.cells), params.construct.population
    seconds = _seconds(lambda: population.count_children(puzzle, cells, quota.favoured, depths))
    yield "quota profile of a colour set", costs.quota_profile(puzzle.cells), seconds / node
    seconds = _seconds(lambda: schedule.measure_children(puzzle, cells, size, quota, random_state(2)))
    yield "populations of an arm", costs.population(size, puzzle.cells), seconds / node


def constructor_at_tails(puzzle: Puzzle, params: ConstructParams) -> tuple[QuotaBandit, Constructor]:
    """Return the bandit that chose the quotas of all restarts, and a constructor that has reached an exact tail."""
    random = random_state(1)
    bandit = QuotaBandit(puzzle, params, random)
    constructor = Constructor(puzzle, params, bandit.choose_schedule(MISMATCHES), random)
    while constructor.no_prefix_found:
        if constructor.restart_due:
            bandit.learn(constructor)
            constructor = Constructor(puzzle, params, bandit.choose_schedule(MISMATCHES), random)
        constructor.run(1_000_000, puzzle.max_score)
    return bandit, constructor


def _time_tails(constructor: Constructor, nodes: int, allowed: int, repeats: int) -> tuple[float, int, int, int]:
    """Search ``nodes`` nodes, then restore the constructor; return (seconds, nodes, prefixes, placements in tails).

    Each exact tail is solved ``repeats`` times, with at most ``allowed`` mismatches.
    """
    state, before, plan = constructor.state(), constructor.nodes, constructor.plan
    began = time.process_time()
    counts = cost_kernels.finish_prefixes(plan, constructor.arrays, before + nodes, allowed, repeats)
    seconds, made = time.process_time() - began, constructor.nodes - before
    constructor.restore(state)
    return seconds, made, *counts


def _time_endgames(constructor: Constructor, prefixes: int, rounds: int) -> float:
    """Return the mean processor seconds that the start of an endgame takes, over ``rounds`` starts from each prefix.

    Up to ``prefixes`` prefixes are used. The constructor is restored afterwards.
    """
    state, prefix, plan = constructor.state(), constructor.prefix, constructor.plan.prefix
    if prefix.scalars[0] > plan.endgame_start:
        kernel.remove_pieces(constructor.plan.endgame, prefix.scalars[0], prefix.chosen, prefix.used)
        prefix.scalars[0] = plan.endgame_start
    found: list[tuple[npt.NDArray[np.generic], ...]] = []
    while len(found) < prefixes and kernel.search_lists(plan, prefix, 2**62) == REACHED:
        found.append((prefix.used.copy(), prefix.right.copy(), prefix.down.copy()))
    used, right, down = (np.array(column) for column in zip(*found, strict=True))
    end, work = constructor.plan.endgame, constructor.arrays.endgame
    seconds = _seconds(lambda: cost_kernels.start_endgames(end, work, used, right, down, rounds))
    constructor.restore(state)
    return seconds / (len(found) * rounds)


def _run_engine(
    name: str, puzzle: Puzzle, is_over: Callable[[SearchLoop, float], bool], *, warm: bool = True
) -> tuple[SearchLoop, float]:
    """Step a new engine, compiled before if ``warm``, until ``is_over``; return engine and processor seconds."""
    if warm:
        warm_up(name)
    engine = make_engine(name, puzzle, Params(), 1, 0)
    began, seconds = time.process_time(), 0.0
    while not is_over(engine, seconds):
        engine.step()
        seconds = time.process_time() - began
    return engine, seconds


def _region_seconds(puzzle: Puzzle, board: Board, order: str, limit: int, nodes: int) -> tuple[float, float]:
    """Return the processor seconds of setting up a region of full rows, and of one placement, in a search order.

    ``limit`` is the most placements in one region, ``nodes`` roughly the most in all; fewer if "dynamic".
    """
    height = min(puzzle.height, max(1, 64 // puzzle.width))  # at most 64 cells, as larger regions are rarely searched
    ask = partial(resolve, puzzle, board, target=verify(puzzle, board).score + 1, options=RegionOptions(order=order))
    setup, searched, placed, regions = 0.0, 0.0, 0, 0
    for top in range(puzzle.height - height, -1, -1):
        cells = rows(puzzle, top, top + height)
        ask(cells, nodes=1)  # not timed: the first call for a shape of region plans the search, and may compile
        setup += _seconds(partial(ask, cells, nodes=1))
        began = time.process_time()
        placed += ask(cells, nodes=costs.region_nodes(limit, order)).nodes
        searched += time.process_time() - began
        regions += 1
        if placed > costs.region_nodes(nodes, order):
            break
    return setup / regions, (searched - setup) / max(1, placed)


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


if __name__ == "__main__":
    for what, figure in speed_figures():
        print(f"{what:<30} {figure}", flush=True)
