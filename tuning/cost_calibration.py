"""What the prices in ``lns.node_equivalents`` are on this machine: parts timed one by one, in nodes of the
constructor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from exact.region.resolve import resolve
from instances.puzzle import Puzzle
from lns import node_equivalents
from lns.construct import kernel, schedule, schedule_search, stratified_population
from lns.construct.beam_engine import BeamEngine
from lns.construct.constructor import Constructor
from lns.construct.endgame import REACHED, remove_pieces, start_endgame
from lns.construct.endgame_plan import EndgamePlan, EndgameState
from lns.construct.kernel import ConstructorPlan, ConstructorState
from lns.construct.tail import solve_tail
from lns.main_engine import MainEngine
from lns.neighbourhoods import windows
from lns.params import Params, WindowsParams
from lns.rng import random_state
from lns_support.jit import flat_kernel

TIGHT, LOOSE = 0, 4  # mismatches that a tail is allowed: it is hardly begun, or searched


def measure_costs(puzzle: Puzzle, nodes: int = 50_000_000, again: int = 200) -> Iterator[tuple[str, float, float]]:
    """(what, its price, what it takes here), both in nodes. ``nodes``: of construction; ``again``: times each tail."""
    params = replace(Params(), windows=WindowsParams(nodes=0))
    search = MainEngine(puzzle, params, 1, 0)
    while search.constructor is None or search.constructor.no_prefix_found:
        search.step(puzzle.max_score)
    built = search.constructor
    _time_tails(built, 1, TIGHT, 1)  # compiles
    alone, tight, loose = (_time_tails(built, nodes, *how) for how in ((TIGHT, 0), (TIGHT, again), (LOOSE, again)))
    node = alone[0] / alone[1]
    tails, placements = again * max(1, tight[2]), max(1, loose[3] - tight[3])
    yield "an exact tail's set-up", node_equivalents.TAIL_SETUP, (tight[0] - alone[0]) / tails / node
    yield "a placement of one", node_equivalents.TAIL_NODE, (loose[0] - tight[0]) / placements / node

    time_endgames(built, 1, 1)  # compiles
    seconds, begun = time_endgames(built, again, again)
    yield "an endgame's beginning", node_equivalents.ENDGAME_SETUP, seconds / begun / node

    beam = BeamEngine(puzzle, params, random_state(1))
    seconds = _seconds(beam.complete)
    yield "a child of a beam", node_equivalents.BEAM_CHILD, seconds / beam.nodes / node

    assert search.best is not None
    largest = sorted(windows.rework_regions(puzzle, search.best), key=len, reverse=True)
    resolve(puzzle, search.best, largest[0], nodes=1)  # compiles
    began, placed = time.process_time(), 0
    for cells in largest:
        placed += resolve(puzzle, search.best, cells, nodes=Params().windows.nodes).nodes
        if placed > nodes // 2:
            break
    seconds = time.process_time() - began
    yield "a placement of a region", node_equivalents.REGION_NODE, seconds / max(1, placed) / node

    quota = search.bandit.quota(100)
    order, depths = schedule_search.cell_order(puzzle, params.construct), schedule.quota_end(puzzle.cells)
    seconds = _seconds(lambda: stratified_population.count_children(puzzle, order, quota.favoured, depths))
    yield "what a quota asks for", node_equivalents.quota_profile(puzzle.cells), seconds / node
    seconds = _seconds(lambda: schedule_search.measure_children(puzzle, params.construct, quota, random_state(2)))
    yield "measuring a arm", node_equivalents.population(params.construct.population, puzzle.cells), seconds / node


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def _time_tails(built: Constructor, nodes: int, room: int, again: int) -> tuple[float, int, int, int]:
    """(seconds, nodes, prefixes, placements of tails); ``built`` stands where it stood before."""
    state, before = built.state(), built.nodes
    began = time.process_time()
    prefixes, placements = _finish_prefixes(built.plan, built.arrays, before + nodes, room, again)
    seconds, made = time.process_time() - began, built.nodes - before
    built.restore(state)
    return seconds, made, prefixes, placements


def time_endgames(built: Constructor, frontier_keys: int, rounds: int) -> tuple[float, int]:
    """(seconds, beginnings) of endgames behind the next so many stems, as often as ``rounds`` say; as above."""
    state, prefix, plan = built.state(), built.prefix, built.plan.prefix
    if prefix.scalars[0] > plan.endgame_start:
        remove_pieces(built.plan.endgame, prefix.scalars[0], prefix.chosen, prefix.used)
        prefix.scalars[0] = plan.endgame_start
    met: list[tuple[npt.NDArray[np.generic], ...]] = []
    while len(met) < frontier_keys and kernel.search_lists(plan, prefix, 2**62) == REACHED:
        met.append((prefix.used.copy(), prefix.right.copy(), prefix.down.copy()))
    used, right, down = (np.array(one) for one in zip(*met, strict=True))
    began = time.process_time()
    _enter_each(built.plan.endgame, built.arrays.endgame, used, right, down, rounds)
    seconds = time.process_time() - began
    built.restore(state)
    return seconds, len(met) * rounds


@flat_kernel
def _enter_each(
    end: EndgamePlan,
    work: EndgameState,
    used: npt.NDArray[np.uint8],
    right: npt.NDArray[np.int64],
    down: npt.NDArray[np.int64],
    rounds: int,
) -> None:
    for _ in range(rounds):
        for i in range(len(used)):
            start_endgame(end, work, used[i], right[i], down[i], 0)


@flat_kernel
def _finish_prefixes(
    plan: ConstructorPlan, state: ConstructorState, node_limit: int, room: int, again: int
) -> tuple[int, int]:
    """(prefixes, placements of tails) until ``node_limit``; each tail is solved ``again`` times."""
    prefixes, placements, prefix = 0, 0, state.prefix
    while kernel.next_prefix(plan, state, node_limit) == REACHED:
        prefixes += 1
        for _ in range(again):
            placements += solve_tail(plan.tail, state.tail, prefix.used, prefix.right, prefix.down, room, 1_000_000)[1]
    return prefixes, placements
