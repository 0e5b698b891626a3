"""`python -m lns.tuning.boards_per_node`: boards found per node, which shows what a change of the search is worth.

A benchmark row of a minute often ends at the same score before and after a change. Here each island searches as if it
had a board of score ``best`` already, and distinct boards of a few edges less are counted. Budgets are nodes, so other
load on the machine changes only the seconds. A few lucky restarts find most boards, so several seeds are needed. With
``--islands`` each seed is a run of several islands, and a board that two of them find counts once. ``--ablate``
repeats all of it with each part of the engine switched off in turn, each with the same budget.
Two versions are compared by the same command in two checkouts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lns import params as parameters
from lns.construct import refused_rules
from lns.engine import FoundBoard
from lns.engines import make_engine
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.params import Params
from lns.tuning.benchmark import variants
from lns.tuning.objective import Families
from lns.warmup import warm_up
from lns.worker_pool import WorkerPool

BELOW, ABOVE = 3, 2  # boards are counted from ``best`` - BELOW, or a given score, to ``best`` + ABOVE


@dataclass(frozen=True)
class Count:
    """What is counted."""

    best: int  # score that an island searches as if it had
    nodes: int  # budget of each island in node equivalents
    engine: str = "construct"  # the construction alone, or 'auto': all parts
    floor: int | None = None  # boards are counted from this score on; by default from three edges below ``best``

    def scores(self, puzzle: Puzzle) -> range:
        """The scores from which boards are counted."""
        floor = self.best - BELOW if self.floor is None else self.floor
        return range(floor, min(self.best + ABOVE, puzzle.max_score) + 1)

    def of(self, families: Families, puzzle: Puzzle) -> list[int]:
        """How many of the boards are of at least each score."""
        return [sum(found.score >= least for found in families.best) for least in self.scores(puzzle)]


@dataclass(frozen=True)
class BoardCounts:
    """What one island found."""

    seed: int
    island: int  # its number
    boards: Sequence[FoundBoard]  # each that was new, or the best one of its family, when it was found
    counts: list[int]  # how many are of at least each score, from the lowest upwards
    parts: dict[str, int]  # node equivalents used, by the part that used them
    seconds: float  # of the processor, without compilation

    @property
    def nodes(self) -> int:
        return sum(self.parts.values())

    def __str__(self) -> str:
        counts = " ".join(f"{count:6}" for count in self.counts)
        shares = " ".join(f"{name}:{nodes / self.nodes:.1%}" for name, nodes in self.parts.items())
        name = f"{self.seed}.{self.island}" if self.island else str(self.seed)
        return f"seed {name:<4} {counts}   {self.seconds / self.nodes * 1e9:5.1f} ns   {shares}"


def count_boards(
    puzzle: Puzzle, params: Params, seed: int, count: Count, island: tuple[int, int] = (0, 1)
) -> BoardCounts:
    """Count the distinct boards that one island finds; ``island`` is its number, and how many there are."""
    floor = max(1, count.scores(puzzle)[0])
    families, boards = Families(floor), list[FoundBoard]()
    params = replace(params, engine=replace(params.engine, search_floor=floor))
    warm_up(count.engine)
    search = make_engine(count.engine, puzzle, params, seed, *island)
    began = time.process_time()
    while search.best is None:
        search.step()
    search.pop_boards()
    while search.statistics.node_equivalents < count.nodes:
        if refused_rules(puzzle) and search.best_score == puzzle.max_score:
            break  # these puzzles have no construction, and nothing else goes on from a perfect board
        search.step(wanted=count.best + 1)
        boards += filter(families.add, search.pop_boards())
    parts, seconds = search.statistics.node_equivalents_by_part(), time.process_time() - began
    return BoardCounts(seed, island[0], boards, count.of(families, puzzle), parts, seconds)


def combined_counts(puzzle: Puzzle, count: Count, islands: Sequence[BoardCounts]) -> list[int]:
    """Number of distinct boards of at least each score that the islands of one seed found together."""
    together, known = Families(), set[Board]()
    for island in islands:
        for found in island.boards:
            if found.board not in known:
                together.add(found)
        known |= {found.board for found in island.boards}
    return count.of(together, puzzle)


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
    """Print a line for each island of each seed, and the sums."""
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
