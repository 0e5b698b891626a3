"""`python -m lns.tuning.boards_per_node`: boards found per node, which shows what a change of the search is worth.

A benchmark row of a minute often ends at the same score before and after a change. Here each island searches as if it
had a board of score ``best`` already, and distinct boards from a few edges below this score on are counted. Budgets are
nodes, so other load on the machine changes only the times. A few lucky restarts find most boards, so use several seeds.
With ``--islands`` each seed is a run of several islands, and a board that two islands find counts once. ``--ablate``
repeats the count for each ablation (`lns.tuning.benchmark`) in turn, at the same budget. To compare two versions, run
the same command in two checkouts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lns import params as parameters
from lns.construct import refused_rules
from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import IntArray, Puzzle
from lns.params import Params
from lns.rates import Tally
from lns.tuning.benchmark import variants
from lns.warmup import warm_up
from lns.worker_pool import WorkerPool

BELOW, ABOVE = 3, 2  # scores counted: from ``best`` - BELOW (or ``--floor``) to ``best`` + ABOVE


@dataclass(frozen=True)
class Count:
    """The engine, its budget and the scores of a count of boards."""

    best: int  # each island searches as if it had a board of this score
    nodes: int  # budget of each island in node equivalents
    engine: str = "construct"  # 'construct', the construction alone, or 'auto', all parts
    floor: int | None = None  # boards are counted from this score on; by default from three edges below ``best``

    def scores(self, puzzle: Puzzle) -> range:
        """Return the scores of the count: for each score, boards of at least this score are counted."""
        floor = self.best - BELOW if self.floor is None else self.floor
        return range(floor, min(self.best + ABOVE, puzzle.max_score) + 1)


class Boards:
    """The boards that were distinct when they were found, and the number of distinct boards of at least each score."""

    def __init__(self, scores: Iterable[int]) -> None:
        self._tallies = {score: Tally() for score in scores}
        self.kept: list[tuple[IntArray, int]] = []  # (placements, int32 (cells,); score) of each distinct board

    def add(self, placements: IntArray, score: int) -> None:
        """Count a board under each score that it reaches."""
        before = self.counts
        for least, tally in self._tallies.items():
            if score >= least:
                tally.add(placements)
        if self.counts != before:
            self.kept.append((placements, score))

    @property
    def counts(self) -> list[int]:
        """Number of distinct boards of at least each score, from the lowest upwards."""
        return [tally.count for tally in self._tallies.values()]


@dataclass(frozen=True)
class BoardCounts:
    """The boards that one island found, and the node equivalents that it used."""

    seed: int
    island: int  # number of the island, from 0
    boards: Boards
    parts: dict[str, int]  # part of the engine -> node equivalents that it used
    seconds: float  # processor seconds, without compilation

    @property
    def nodes(self) -> int:
        return sum(self.parts.values())

    def __str__(self) -> str:
        counts = " ".join(f"{count:6}" for count in self.boards.counts)
        shares = " ".join(f"{name}:{nodes / self.nodes:.1%}" for name, nodes in self.parts.items())
        name = f"{self.seed}.{self.island}" if self.island else str(self.seed)
        return f"seed {name:<4} {counts}   {self.seconds / self.nodes * 1e9:5.1f} ns   {shares}"


def count_boards(
    puzzle: Puzzle, params: Params, seed: int, count: Count, island: tuple[int, int] = (0, 1)
) -> BoardCounts:
    """Count the distinct boards that one island finds; ``island``: its number, from 0, and the number of islands."""
    boards = Boards(count.scores(puzzle))
    params = replace(params, engine=replace(params.engine, search_floor=max(1, count.scores(puzzle)[0])))
    warm_up(count.engine)
    search = make_engine(count.engine, puzzle, params, seed, *island)
    began = time.process_time()
    while search.best is None:
        search.step()
    search.pop_boards()
    while search.statistics.node_equivalents < count.nodes:
        if refused_rules(puzzle) and search.best_score == puzzle.max_score:
            break  # without a construction, no part of the engine searches on from a perfect board
        search.step(wanted=count.best + 1)
        for found in search.pop_boards():
            boards.add(found.board.placements, found.score)
    parts = search.statistics.node_equivalents_by_part()
    return BoardCounts(seed, island[0], boards, parts, time.process_time() - began)


def combined_counts(puzzle: Puzzle, count: Count, islands: Sequence[BoardCounts]) -> list[int]:
    """Return the number of distinct boards of at least each score that the islands of one seed found together."""
    together = Boards(count.scores(puzzle))
    for island in islands:
        for board in island.boards.kept:
            together.add(*board)
    return together.counts


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lns.tuning.boards_per_node", description=__doc__.split("\n")[0])
    parser.add_argument("instance", metavar="INSTANCE", help="a puzzle file, or the name of a shipped instance")
    parser.add_argument("--best", type=int, required=True, metavar="SCORE", help="search as if this score were reached")
    parser.add_argument("--floor", type=int, metavar="SCORE", help=f"count from this score on (default {BELOW} less)")
    parser.add_argument("--nodes", type=float, default=3e9, help="nodes of each island (default 3e9)")
    parser.add_argument("--seeds", type=int, default=6, metavar="N", help="number of random seeds (default 6)")
    parser.add_argument("--first-seed", type=int, default=1, metavar="SEED", help="the first of them (default 1)")
    parser.add_argument("--islands", type=int, default=1, metavar="N", help="islands of each seed (default 1)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="worker processes (default 2)")
    parser.add_argument("--engine", choices=("construct", "auto"), default="construct", help="default construct")
    parser.add_argument("--ablate", action="store_true", help="also count with each part switched off, in turn")
    parser.add_argument("--params", metavar="FILE", help="read parameters from this TOML file")
    args = parser.parse_args(arguments)
    try:
        puzzle = load_puzzle(args.instance)
        params = parameters.load(args.params) if args.params else Params()
        if not BELOW < args.best < puzzle.max_score:
            raise InputError(f"--best {args.best}; expected a score of {BELOW + 1} to {puzzle.max_score - 1}")
        if args.floor is not None and not 1 <= args.floor <= args.best:
            raise InputError(f"--floor {args.floor}; expected a score of 1 to {args.best}, as --best says")
        for name in ("nodes", "seeds", "first_seed", "islands", "workers"):
            if not 1 <= getattr(args, name) < 1e15:
                raise InputError(f"--{name.replace('_', '-')} {getattr(args, name):g}; expected 1 or more")
        count = Count(args.best, int(args.nodes), args.engine, args.floor)
        print(f"{'boards of':<9} {' '.join(f'{score:>5}+' for score in count.scores(puzzle))}")
        with WorkerPool(args.workers) as pool:
            for name, values in (variants(params) if args.ablate else {"": params}).items():
                if name:
                    print(f"{name}:")
                _count_seeds(pool, args, puzzle, values, count)
    except InputError as error:
        print(f"boards_per_node: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _count_seeds(pool: WorkerPool, args: argparse.Namespace, puzzle: Puzzle, params: Params, count: Count) -> None:
    """Print a line for each island of each seed, then the totals."""
    seeds, islands = range(args.first_seed, args.first_seed + args.seeds), args.islands
    every = [(seed, (island, islands)) for seed in seeds for island in range(islands)]
    jobs = [pool.submit(count_boards, puzzle, params, seed, count, island) for seed, island in every]
    counts = []
    for job in jobs:
        counts.append(job.result())
        print(counts[-1], flush=True)
    nodes, seconds = sum(each.nodes for each in counts), sum(each.seconds for each in counts)
    runs = [counts[first : first + islands] for first in range(0, len(counts), islands)]
    total = map(sum, zip(*(combined_counts(puzzle, count, run) for run in runs), strict=True))
    print(f"{'all':<9} {' '.join(f'{each:6}' for each in total)}   in {nodes:.3g} nodes, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
