"""One run of the benchmark, and what is computed from several."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike

from instances.board import Board
from instances.puzzle import Puzzle
from lns.api.arguments import check_workers
from lns.distinct_boards import DistinctBoards
from lns.islands import Archipelago
from lns.params import Params
from lns.rounds import Search
from lns.runs.history import UNLIMITED_S
from lns_support.arguments import checked_class
from lns_support.child_process import peak_bytes
from lns_support.cores import max_workers
from lns_support.errors import InputError
from tuning.objective import count_board


@checked_class
@dataclass(frozen=True)
class BenchmarkOptions:
    """How the runs of the rows are made, and where what they find goes.

    Parameters
    ----------
    time : float
        Seconds of a run.
    seeds : int
        Number of runs of a row, one for each random seed.
    first_seed : int
        Random seed of the first run; the others follow.
    workers : int
        Worker processes of a run.
    engine : str
        One of `lns.engines.ENGINES`.
    search_floor : int
        Search for boards of this score and count them; 0: search for better boards only, count none.
    with_ablations : bool
        Also run the main engine with each of its parts switched off, see `tuning.ablate`.
    data : path, optional
        Directory of the public instances, NAME.txt each.
    fresh : int, optional
        Random seed of the instances that are generated for this call; drawn by default.
    params : Params, optional
        Parameters of the engine; by default the defaults, whatever a study proved.
    table : path, optional
        CSV file to which each row is appended as soon as it is complete.
    boards : path, optional
        Directory for the best board of each run, with the fields of ``best.json``: ROW-SEED.json, in place of an
        earlier file. It is made if it is missing. With ablations: of the whole engine.
    note : str
        What is measured, for the table.

    Raises
    ------
    InputError
        A number is impossible, or ablations are asked for another engine than the main one.
    """

    time: float = 60.0
    seeds: int = 5
    first_seed: int = 1
    workers: int = 2
    engine: str = "auto"
    search_floor: int = 0
    with_ablations: bool = False
    data: str | PathLike[str] | None = None
    fresh: int | None = None
    params: Params | None = None
    table: str | PathLike[str] | None = None
    boards: str | PathLike[str] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.with_ablations and self.engine != "auto":
            raise InputError(f"ablations are of the main engine; expected no engine '{self.engine}' with them")
        check_workers(self.workers, max_workers())
        if self.seeds < 1 or not 0 < self.time <= UNLIMITED_S:
            raise InputError(
                f"{self.seeds} seeds of {self.time} s; expected 1 or more of more than 0 s, at most {UNLIMITED_S:.0f} s"
            )


@dataclass(frozen=True)
class BenchmarkRun:
    """One run.

    Parameters
    ----------
    seed : int
        Random seed.
    score : int
        Best score.
    reached : dict of int to float
        Score -> seconds until it was reached, for each new best.
    boards : dict of int to int
        Score -> number of distinct boards whose best version has it; empty if boards were not counted.
    nodes_per_s : float
        Placements a second of all workers, or tabu moves.
    seconds : float
        Elapsed time.
    peak_bytes : int
        Largest resident memory of the workers and this process together; 0 if the system does not report it.
    """

    seed: int
    score: int
    reached: dict[int, float]
    boards: dict[int, int]
    nodes_per_s: float
    seconds: float
    peak_bytes: int = 0

    def seconds_to(self, score: int) -> float | None:
        """Seconds until the run had a board of at least ``score``; None if it had none."""
        return min((at for reached, at in self.reached.items() if reached >= score), default=None)


def run_benchmark(
    puzzle: Puzzle,
    params: Params,
    seed: int,
    options: BenchmarkOptions,
    on_best: Callable[[Board, float], None] | None = None,
) -> BenchmarkRun:
    """Make one run.

    Parameters
    ----------
    puzzle : Puzzle
        The instance.
    params : Params
        Parameters of the engine.
    seed : int
        Random seed.
    options : BenchmarkOptions
        Time, workers, engine, search floor.
    on_best : callable, optional
        Called with each new best board, and the seconds after which it was found.
    """
    floor, workers = options.search_floor, options.workers
    if floor:
        params = replace(params, engine=replace(params.engine, search_floor=floor))
    min_score = floor or puzzle.max_score
    search = Archipelago(Search(puzzle, params, seed, options.engine), workers, min_score=min_score)
    reached: dict[int, float] = {}
    peaks: dict[int, int] = {}  # bytes by process id of a worker
    distinct_boards, scores = DistinctBoards(), list[int]()

    def on_report(search: Archipelago) -> None:
        if search.best_score > max(reached, default=-1):
            reached[search.best_score] = search.elapsed
            if on_best is not None and search.best is not None:
                on_best(search.best, search.elapsed)
        peaks.update({pid: peak for pid in search.pids.values() if (peak := peak_bytes(pid))})
        for _, board in search.pop_boards():
            if board.score >= min_score:  # new bests are reported too
                count_board(distinct_boards, scores, board)

    search.run(options.time, puzzle.max_score, on_report)
    elapsed = search.elapsed
    boards = dict(Counter(scores))
    rate = search.statistics.placements / max(elapsed, 1e-9)
    largest = sorted(peaks.values())[-workers:]  # a worker that died is replaced: not all existed at the same time
    memory = sum(largest) + peak_bytes(os.getpid())
    return BenchmarkRun(
        seed=seed, score=search.best_score, reached=reached, boards=boards, nodes_per_s=rate, seconds=elapsed,
        peak_bytes=memory,
    )  # fmt: skip


def median_score(runs: Sequence[BenchmarkRun]) -> int:
    """Median of the best scores, the lower one of two."""
    return statistics.median_low(run.score for run in runs)


def core_hours(runs: Sequence[BenchmarkRun], workers: int) -> float:
    """Core-hours of all runs."""
    return sum(run.seconds for run in runs) * workers / 3600


def boards_by_score(runs: Sequence[BenchmarkRun], workers: int) -> dict[int, float]:
    """Score -> distinct boards of at least that score per core-hour."""
    scores = sorted({score for run in runs for score in run.boards})
    return {min_score: boards_per_hour(runs, workers, min_score) for min_score in scores}


def boards_per_hour(runs: Sequence[BenchmarkRun], workers: int, min_score: int) -> float:
    """Distinct boards of at least ``min_score`` per core-hour."""
    boards = sum(count for run in runs for score, count in run.boards.items() if score >= min_score)
    return round(boards / core_hours(runs, workers), 1)
