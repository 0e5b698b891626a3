"""The benchmark: runs on fixed instances, seeds and budgets, which show what a change of the engine is worth.

A run is measured by its best score, by the time to each score and, on request, by the distinct boards of a score or
better per core-hour. Boards are distinct if they come from different prefixes (`lns.distinct_boards`).
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from instances.board import Board
from instances.formats import load_puzzle
from instances.generate import family
from instances.puzzle import IntArray, Puzzle
from lns.distinct_boards import DistinctBoards
from lns.islands import Archipelago
from lns.params import Params
from lns_support.child_process import peak_bytes
from lns_support.csv_records import append_row
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.version import __version__

PUBLIC = ("eternity2_clue1", "eternity2", "eternity2_clue5", "meta16", "meta14", "meta12", "meta10")
SHIPPED = ("like-e2-16x16", "like-e2-20x20", "like-e2-12x20")
FRESH = ("fresh-16x16-1", "fresh-16x16-2")  # generated for each call
FRESH_FAMILY = "like-e2:16x16:5+17"
FIELDS = (
    "date", "version", "instance", "seconds", "workers", "seeds", "best", "median", "worst", "of", "time_to_median_s",
    "nodes_per_s", "peak_mb", "cpu", "note",
)  # fmt: skip


@dataclass(frozen=True)
class BenchmarkOptions:
    """How the runs of a row are made.

    Parameters
    ----------
    time : float
        Seconds of a run.
    seeds : int
        Number of runs, one for each random seed.
    first_seed : int
        Random seed of the first run; the others follow.
    workers : int
        Worker processes of a run.
    engine : str
        One of `lns.engines.ENGINES`.
    search_floor : int
        Search for boards of this score and count them; 0: search for better boards only, count none.
    """

    time: float = 60.0
    seeds: int = 5
    first_seed: int = 1
    workers: int = 2
    engine: str = "auto"
    search_floor: int = 0


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


def benchmark_instances(data: Path | None, fresh: int) -> Iterator[tuple[str, Callable[[], Puzzle] | None]]:
    """The rows of the benchmark in order.

    Parameters
    ----------
    data : Path or None
        Directory of the public instances, NAME.txt each; None if there is none.
    fresh : int
        Random seed of the first generated instance; the others follow.

    Yields
    ------
    (str, callable or None)
        Name of the row, and a function that makes its puzzle; None if the file is missing in ``data``.
    """
    for name in PUBLIC:
        path = None if data is None else data / f"{name}.txt"
        yield name, partial(load_puzzle, str(path)) if path is not None and path.exists() else None
    for name in SHIPPED:
        yield name, partial(load_puzzle, name)
    for number, name in enumerate(FRESH):
        yield name, partial(_fresh_puzzle, fresh + number)


def _fresh_puzzle(seed: int) -> Puzzle:
    return family(FRESH_FAMILY)(seed).puzzle


def select_rows(names: list[str], data: Path | None, fresh: int) -> list[tuple[str, Callable[[], Puzzle] | None]]:
    """The rows ``names``, or all if it is empty, as from `benchmark_instances`.

    Raises
    ------
    InputError
        A name is unknown, or the file of a named row is missing.
    """
    known = dict(benchmark_instances(data, fresh))
    for name in names:
        if name not in known:
            raise InputError(f"the benchmark has no row '{name}'; expected one of {', '.join(known)}")
        if known[name] is None:
            raise InputError(f"the row {name} needs {name}.txt; expected it in --data DIR", data)
    return [(name, known[name]) for name in names or known]


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
    search = Archipelago(puzzle, params, seed, workers, engine=options.engine, min_score=min_score)
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
                count_board(distinct_boards, scores, board.board.placements, board.score)

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


def count_board(distinct_boards: DistinctBoards, scores: list[int], placements: IntArray, score: int) -> None:
    """Count a board under its family; ``scores`` has the best score of each family."""
    number = distinct_boards.find(placements)
    if number is None:
        distinct_boards.add(placements)
        scores.append(score)
    elif score > scores[number]:
        distinct_boards.replace(number, placements)
        scores[number] = score


def table_row(
    name: str, puzzle: Puzzle, runs: list[BenchmarkRun], options: BenchmarkOptions, note: str
) -> dict[str, object]:
    """The row of the table under version control, by `FIELDS`."""
    scores, median = [run.score for run in runs], median_score(runs)
    times = [at for at in (run.seconds_to(median) for run in runs) if at is not None]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "version": __version__,
        "instance": name,
        "seconds": round(options.time),
        "workers": options.workers,
        "seeds": len(runs),
        "best": max(scores),
        "median": median,
        "worst": min(scores),
        "of": puzzle.max_score,
        "time_to_median_s": round(statistics.median(times), 1) if times else "",
        "nodes_per_s": round(statistics.median(run.nodes_per_s for run in runs)),
        "peak_mb": round(max(run.peak_bytes for run in runs) / 2**20) or "",
        "cpu": f"{platform.machine()} {platform.system()}",
        "note": note,
    }


def median_score(runs: list[BenchmarkRun]) -> int:
    """Median of the best scores, the lower one of two."""
    return statistics.median_low(run.score for run in runs)


def core_hours(runs: list[BenchmarkRun], workers: int) -> float:
    """Core-hours of all runs."""
    return sum(run.seconds for run in runs) * workers / 3600


def boards_by_score(runs: list[BenchmarkRun], workers: int) -> dict[int, float]:
    """Score -> distinct boards of at least that score per core-hour."""
    scores = sorted({score for run in runs for score in run.boards})
    return {min_score: boards_per_hour(runs, workers, min_score) for min_score in scores}


def boards_per_hour(runs: list[BenchmarkRun], workers: int, min_score: int) -> float:
    """Distinct boards of at least ``min_score`` per core-hour."""
    boards = sum(count for run in runs for score, count in run.boards.items() if score >= min_score)
    return round(boards / core_hours(runs, workers), 1)


def check_table(path: Path) -> None:
    """Raise InputError, before the runs, if a row could not be appended to the table ``path`` after them."""
    if not path.parent.is_dir():
        raise InputError("no such directory; expected one that exists, for the table", path.parent)
    if not path.exists():
        return
    text = read_text(path)
    if text and text.splitlines()[:1] != [",".join(FIELDS)]:
        raise InputError("no table of the benchmark; expected one, or a new name", path, 1)
    try:
        path.open("ab").close()
    except OSError as error:
        raise InputError(f"nothing can be added to this table: {error.strerror}", path) from None


def append_to_table(path: Path, row: dict[str, object]) -> None:
    """Append a row to the CSV table ``path``, which is created if need be."""
    append_row(path, FIELDS, row)
