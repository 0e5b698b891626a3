"""`python -m tuning.boards_per_node`: what a change of the construction is worth, in boards a node, long before
scores show it.

A ladder row of a minute ends at the same score before and after most changes. Here every island searches as if it had
a board of ``best`` already, and boards of a few edges less are counted, one of each family. Budgets are nodes, so a
loaded machine bends nothing but the seconds; a few lucky shuffles make most boards, so it takes several seeds. With
``--islands`` each seed is a run of so many islands, and a board that two of them make counts once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from instances.formats import load_puzzle
from instances.puzzle import IntArray, Puzzle
from lns import params as parameters
from lns.engines import construction_only
from lns.estimate import Tally
from lns.main_engine import MainEngine
from lns.orientation import Orientation
from lns.params import Params
from lns.worker_pool import WorkerPool
from lns_support.errors import InputError

BELOW = 3  # edges below the best from which boards are counted
ABOVE = 2


@dataclass(frozen=True)
class BoardCounts:
    """Of one island of a seed. ``distinct_boards``: of boards of at least each score from ``best`` - BELOW;
    ``boards``: those
    that are the first of a family, with their scores; ``nodes``: what its work took (`Statistics.effort`);
    ``arms``: (view, by the island's own first one, set of colours, percent of the height, share of the work) of
    each arm."""

    seed: int
    island: int
    distinct_boards: tuple[int, ...]
    boards: tuple[tuple[IntArray, int], ...]
    nodes: int
    seconds: float
    arms: tuple[tuple[int, int, float, float], ...]

    def __str__(self) -> str:
        found = " ".join(f"{count:6}" for count in self.distinct_boards)
        shares = " ".join(f"{view}.{colours}/{percent:g}%:{share:.0%}" for view, colours, percent, share in self.arms)
        name = f"{self.seed}.{self.island}" if self.island else str(self.seed)
        return f"seed {name:<4} {found}   {self.seconds / self.nodes * 1e9:5.1f} ns   {shares}"


def count_boards(
    puzzle: Puzzle, params: Params, seed: int, best: int, nodes: int, island: int = 0, islands: int = 1
) -> BoardCounts:
    """Families of boards that one island makes of ``puzzle`` in so many nodes, as if it had a board of ``best``."""
    orientation = Orientation.of_island(puzzle, island, islands)
    puzzle, scores = orientation.puzzle, _scores(puzzle, best)
    search = MainEngine(puzzle, construction_only(params), seed, island, orientation.partition, orientation.views)
    while search.best is None:
        search.step(puzzle.max_score)
    search.pop_boards()
    tallies = {score: Tally() for score in scores}
    boards = []
    began = time.process_time()
    while search.statistics.node_equivalents < nodes:
        search.step(puzzle.max_score, floor=max(1, scores[0]), wanted=best + 1)
        for find in search.pop_boards():
            if _is_new(find.board.placements, find.score, tallies):
                boards.append((orientation.from_engine(find.board).placements, find.score))
    work = sum(arm.node_equivalents for arm in search.bandit.arms) or 1.0
    return BoardCounts(
        seed,
        island,
        tuple(tally.count for tally in tallies.values()),
        tuple(boards),
        search.statistics.node_equivalents,
        time.process_time() - began,
        tuple((arm.view, arm.colour_set, arm.scale_percent, arm.node_equivalents / work) for arm in search.bandit.arms),
    )


def _scores(puzzle: Puzzle, best: int) -> range:
    return range(best - BELOW, min(best + ABOVE, puzzle.max_score) + 1)


def _is_new(placements: IntArray, score: int, tallies: dict[int, Tally]) -> bool:
    """Whether a board is the first of a family for some of the scores that it reaches; counts it there."""
    before = [tally.count for tally in tallies.values()]
    for least, tally in tallies.items():
        if score >= least:
            tally.add(placements)
    return before != [tally.count for tally in tallies.values()]


def combined_counts(puzzle: Puzzle, best: int, counts: Sequence[BoardCounts]) -> list[int]:
    """Families of all islands of one seed, by score; those of a single one are its own."""
    if len(counts) == 1:
        return list(counts[0].distinct_boards)
    tallies = {score: Tally() for score in _scores(puzzle, best)}
    for one in counts:
        for placements, score in one.boards:
            _is_new(placements, score, tallies)
    return [tally.count for tally in tallies.values()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tuning.boards_per_node", description=__doc__.split("\n")[0])
    parser.add_argument("instance", metavar="INSTANCE")
    parser.add_argument("--best", type=int, required=True, metavar="SCORE", help="search as if this were reached")
    parser.add_argument("--nodes", type=float, default=3e9, help="work of each seed (default 3e9)")
    parser.add_argument("--seeds", type=int, default=6, metavar="N", help="seeds 1 to N (default 6)")
    parser.add_argument(
        "--islands", type=int, default=1, metavar="N", help="of each seed, with --nodes each (default 1)"
    )
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--params", metavar="FILE", help="parameters as TOML")
    args = parser.parse_args(arguments)
    try:
        puzzle = load_puzzle(args.instance)
        params = parameters.load(args.params) if args.params else Params()
        if not BELOW < args.best < puzzle.max_score:
            raise InputError(f"--best {args.best}; expected a score of {BELOW + 1} to {puzzle.max_score - 1}")
        for name in ("nodes", "seeds", "islands", "workers"):
            if not 1 <= getattr(args, name) < 1e15:
                raise InputError(f"--{name} {getattr(args, name):g}; expected 1 or more")
        _run(args, puzzle, params)
    except InputError as error:
        print(f"rates: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _run(args: argparse.Namespace, puzzle: Puzzle, params: Params) -> None:
    """Print a line for each island of each seed, and the sums."""
    print(f"{'boards of':<9} {' '.join(f'{score:>5}+' for score in _scores(puzzle, args.best))}")
    with WorkerPool(args.workers) as pool:
        jobs = [
            pool.submit(count_boards, puzzle, params, seed, args.best, int(args.nodes), island, args.islands)
            for seed in range(1, args.seeds + 1)
            for island in range(args.islands)
        ]
        counts = []
        for job in jobs:
            counts.append(job.result())
            print(counts[-1], flush=True)
    nodes = sum(one.nodes for one in counts)
    runs = [counts[first : first + args.islands] for first in range(0, len(counts), args.islands)]
    total = [sum(column) for column in zip(*(combined_counts(puzzle, args.best, run) for run in runs), strict=True)]
    print(f"{'all':<9} {' '.join(f'{one:6}' for one in total)}   in {nodes:.3g} nodes")


if __name__ == "__main__":
    sys.exit(main())
