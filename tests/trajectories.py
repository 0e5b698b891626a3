"""Seeded runs of every engine, the region search and the exact solvers: does a change leave each trajectory as it was?

`python -m tests.trajectories` repeats the runs recorded in ``tests/trajectories.json`` and prints each that differs in
nodes, score or boards; exit status 1 if any does. ``--record`` writes the file anew, for a change that is meant to
search differently. Budgets are steps and nodes, so the figures do not depend on the speed of the machine.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lns.engine import FoundBoard
from lns.engines import make_engine
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import resolve
from lns.exact.region.windows import rows, window
from lns.exact.solvers import count
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.pool import Pool
from lns.neighbourhoods import OPERATORS
from lns.neighbourhoods.operators import Island, make_operators
from lns.node_equivalents import REGION_NODE
from lns.orientation import Orientation
from lns.params import Params, from_dict

RECORD = Path(__file__).with_suffix(".json")
Figures = dict[str, int | str]

# engine, instance, seed, steps, (island, islands)
ENGINE_RUNS = [
    ("auto", "like-e2-16x16", 1, 120, (0, 1)),
    ("auto", "like-e2-16x16", 2, 120, (1, 2)),
    ("auto", "like-e2-16x16-clue1", 1, 120, (0, 2)),
    ("auto", "like-e2-16x16-clue5", 3, 60, (0, 1)),
    ("auto", "like-e2-10x10", 1, 150, (0, 1)),
    ("auto", "like-e2-12x20", 1, 60, (0, 1)),
    ("auto", "uniform-10x10", 1, 60, (0, 1)),
    ("auto", "like-e2-8x8", 1, 60, (0, 1)),
    ("construct", "like-e2-14x14", 4, 80, (0, 1)),
    ("construct", "like-e2-12x12", 5, 80, (0, 1)),
    ("beam", "like-e2-16x16", 1, 3, (0, 1)),
    ("beam", "like-e2-10x10", 2, 4, (0, 1)),
    ("tabu", "like-e2-16x16", 1, 20, (0, 1)),
    ("tabu", "like-e2-8x8", 2, 40, (0, 1)),
    ("lns", "like-e2-16x16", 1, 80, (0, 1)),
    ("lns", "like-e2-10x10", 2, 80, (0, 1)),
    ("lns", "like-e2-16x16-clue5", 3, 60, (0, 1)),
    ("auto", "like-e2-20x20", 1, 30, (0, 1)),
]
REGION_NODES, EXACT_NODES = 400_000, 30_000_000
STATIC, PRICED, LATE = RegionOptions(), RegionOptions(prices=True), RegionOptions(prices=1_000_000, balance=False)
AUTO, DYNAMIC = RegionOptions("auto"), RegionOptions("dynamic")
FILTERED = [
    RegionOptions("dynamic", preemption=True, instantiation=True, heuristic=heuristic)
    for heuristic in ("dom-deg", *(heuristic.label for heuristic in Heuristic))
]
# windows of 36 to 64 cells of a board of 454: (rows, columns, row, column), edges asked for above the score (None = the
# best refill), the most nodes, options. Nearly all end by a proof.
REGION_SEARCHES: list[tuple[tuple[int, int, int, int], int | None, int, RegionOptions]] = [
    *(((6, 6, 10, 5), None, 4_000_000, options) for options in (STATIC, PRICED, LATE, AUTO, DYNAMIC)),
    *(((3, 16, 13, 0), 6, 4_000_000, options) for options in (STATIC, PRICED, LATE)),
    ((3, 16, 13, 0), 4, 20_000_000, AUTO),
    ((3, 16, 13, 0), None, 4_000_000, STATIC),
    *(((3, 16, 13, 0), 8, 1_000_000, options) for options in (DYNAMIC, *FILTERED)),
    ((4, 16, 12, 0), 17, 4_000_000, STATIC),
    *(((4, 16, 12, 0), 16, 20_000_000, options) for options in (PRICED, LATE, AUTO)),
    ((4, 16, 12, 0), 18, 1_000_000, DYNAMIC),
    *(((8, 5, 8, 11), 10, 4_000_000, options) for options in (STATIC, PRICED, LATE, DYNAMIC, *FILTERED)),
    ((8, 5, 8, 11), 8, 20_000_000, AUTO),
]
# the same for boards of other rules: family, window, edges asked for
RULE_SEARCHES: list[tuple[str, tuple[int, int, int, int], int | None]] = [
    ("tetravex:9x9:9", (5, 9, 2, 0), 2),
    ("unframed:8x8:7", (5, 8, 1, 0), 1),
    ("diamond:6:5", (6, 11, 2, 0), None),
]
OPERATOR_NODES = 300_000
EXACT_RUNS: list[tuple[str, str, Options]] = [
    ("like-e2-4x4", "colorpairs", Options()),
    ("like-e2-5x5", "colorpairs", Options()),
    ("like-e2-6x6", "colorpairs", Options()),
    ("like-e2-5x5", "colorpairs", Options(heuristic=Heuristic.MIN_OFFER)),
    ("like-e2-5x5", "colorpairs", Options(backjumping=False, preemption=False)),
    ("like-e2-5x5", "colorpairs", Options(quick_shaving=True)),
    ("like-e2-5x5", "colorpairs", Options(single_colours=True, shared_edges=True, cycles=True, values=True)),
    ("like-e2-5x5", "rowscan", Options()),
    ("like-e2-4x4", "dlx", Options()),
    ("like-e2-4x4", "dlx:binary", Options()),
    ("like-e2-4x4", "xcc:counted", Options()),
    ("like-e2-6x6", "blocks", Options()),
    ("like-e2-5x5", "colorpairs", Options(shaving=True)),
    ("like-e2-5x5", "colorpairs", Options(random_cell=True)),
]


def digest(*arrays: npt.NDArray[np.generic]) -> str:
    """The first 16 digits of the SHA-256 of the arrays' bytes."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def engine_run(name: str, instance: str, seed: int, steps: int, island: tuple[int, int]) -> Figures:
    """Score, nodes, prefixes, and every board that the engine reported on the way."""
    puzzle = load_puzzle(instance)
    engine = make_engine(name, puzzle, Params(), seed, *island)
    boards: list[npt.NDArray[np.int32]] = []
    for _ in range(steps):
        if engine.best_score == puzzle.max_score:
            break
        engine.step()
        boards += [found.board.placements for found in engine.pop_boards()]
    done = engine.statistics
    nodes = done.nodes + done.tail_nodes + done.beam_nodes + done.moves
    return {
        "score": int(engine.best_score),
        "boards": len(boards),
        "hash": digest(*boards),
        "nodes": int(nodes + sum(done.operators.values())),
        "prefixes": int(done.prefixes + done.beam_prefixes),
    }


def region_runs() -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Regions of a board that the tabu search made, in every order."""
    puzzle = load_puzzle("like-e2-16x16")
    board = board_of("tabu", puzzle, 30)
    regions = {
        "4x4 at row 5, column 5": window(puzzle, 4, 4, 5, 5),
        "3x6 at row 0, column 0": window(puzzle, 3, 6, 0, 0),
        "row 7": rows(puzzle, 7, 8),
    }
    for order in ("static", "dynamic", "auto"):
        for name, cells in regions.items():

            def run(cells: list[int] = cells, order: str = order) -> Figures:
                return searched(puzzle, board, cells, RegionOptions(order), nodes=REGION_NODES)

            yield f"region {name}, {order}", run


def searched(puzzle: Puzzle, board: Board, cells: list[int], options: RegionOptions, **limits: int | None) -> Figures:
    """What a search of a region answers, and its nodes."""
    result = resolve(puzzle, board, cells, options=options, **limits)  # type: ignore[arg-type]
    return {
        "status": str(result.status),
        "score": int(result.score),
        "bound": int(result.bound),
        "nodes": int(result.nodes),
        "hash": digest(result.board.placements),
    }


def board_of(name: str, puzzle: Puzzle, steps: int) -> Board:
    """The best board of an engine after some steps."""
    engine = make_engine(name, puzzle, Params(), 1, 0)
    for _ in range(steps):
        engine.step()
    assert engine.best is not None
    return engine.best


def long_region_runs() -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Searches of large regions: prices, cyclic spend curves, both orders in turns, every heuristic, every rule."""
    puzzle = load_puzzle("like-e2-16x16")
    board = board_of("beam", puzzle, 3)
    score = verify(puzzle, board).score
    for number, ((height, width, row, column), more, nodes, options) in enumerate(REGION_SEARCHES):
        cells, target = window(puzzle, height, width, row, column), None if more is None else score + more
        run = partial(searched, puzzle, board, cells, options, target=target, nodes=nodes)
        yield f"long region {number}: {height}x{width}", run
    for name, (height, width, row, column), more in RULE_SEARCHES:
        other = family(name)(1).puzzle
        made = board_of("tabu", other, 10)
        cells = [cell for cell in window(other, height, width, row, column) if cell not in other.holes]
        target = None if more is None else verify(other, made).score + more
        for options in (STATIC, DYNAMIC, AUTO):
            run = partial(searched, other, made, cells, options, target=target, nodes=2_000_000)
            yield f"long region {name}, {options.order}", run


def operator_runs() -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Each operator that changes a board alone: board and seed in, board and cost out."""
    puzzle = load_puzzle("like-e2-16x16-clue5")
    board = board_of("beam", puzzle, 3)
    score = verify(puzzle, board).score
    params = from_dict({"neighbourhoods": {"nodes": OPERATOR_NODES}})

    def run(name: str, seed: int) -> Figures:
        (operator,) = make_operators([name], Island(puzzle, Orientation.of_island(puzzle), params, 1, 0, "lns"))
        pool, rng = Pool(puzzle, 1, 10**9), np.random.default_rng(seed)
        pool.offer(FoundBoard(board, score, "start"), 0)
        freed = operator.free(pool, score + 1, rng)
        if freed is None:
            return {"score": int(score), "nodes": 0, "hash": ""}
        done = operator.repair(freed, score + 1, rng)
        found = [*done.boards, *([done.moved] if done.moved else [])]
        after = verify(puzzle, found[-1].board).score if found else score
        changed = found[-1].board if found else board
        return {"score": int(after), "nodes": int(done.cost / REGION_NODE), "hash": digest(changed.placements)}

    for name in OPERATORS:
        for seed in (1, 2):
            yield f"operator {name}, seed {seed}", partial(run, name, seed)


def exact_run(instance: str, solver: str, options: Options) -> Figures:
    """All solutions counted, within a budget of nodes."""
    outcome = count(load_puzzle(instance), solver=solver, options=options, nodes=EXACT_NODES)
    return {"status": str(outcome.status), "solutions": int(outcome.solutions), "nodes": int(outcome.nodes)}


def all_runs() -> Iterator[tuple[str, Callable[[], Figures]]]:
    """(name, function that makes the run), in a fixed order."""
    for run in ENGINE_RUNS:
        name, instance, seed, _, (island, islands) = run
        yield f"{name} {instance}, seed {seed}, island {island} of {islands}", lambda run=run: engine_run(*run)  # type: ignore[misc]
    yield from region_runs()
    yield from long_region_runs()
    yield from operator_runs()
    for number, (instance, solver, options) in enumerate(EXACT_RUNS):
        yield f"exact {number}: {instance} {solver}", lambda i=instance, s=solver, o=options: exact_run(i, s, o)  # type: ignore[misc]


def main() -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.trajectories", description=__doc__)
    parser.add_argument(
        "--record", action="store_true", help="write tests/trajectories.json anew, or the runs of --only"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only runs whose name contains TEXT")
    args = parser.parse_args()
    recorded: dict[str, Figures] = json.loads(RECORD.read_text())
    made: dict[str, Figures] = {}
    differ = 0
    for name, run in all_runs():
        if args.only not in name:
            continue
        made[name] = run()
        if args.record:
            print(f"{name}: {made[name]}", flush=True)
        elif made[name] != recorded.get(name):
            differ += 1
            print(f"{name}\n  recorded {recorded.get(name)}\n  now      {made[name]}", flush=True)
    if args.record:
        RECORD.write_text(json.dumps(recorded | made if args.only else made, indent=1) + "\n")
        return 0
    print(f"{len(made)} runs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
