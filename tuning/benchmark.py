"""The ladder: fixed instances, seeds and budgets; what a change of the engine has to show before and after.

Each run is judged by its best score, the time to each score, and, where asked for, the boards at or above a score per
core-hour that come from different prefixes (`lns.distinct_boards`).
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
FRESH = ("fresh-16x16-1", "fresh-16x16-2")  # made anew for each call
FRESH_FAMILY = "like-e2:16x16:5+17"
FIELDS = (
    "date", "version", "instance", "seconds", "workers", "seeds", "best", "median", "worst", "of", "time_to_median_s",
    "nodes_per_s", "peak_mb", "cpu", "note",
)  # fmt: skip


@dataclass(frozen=True)
class BenchmarkRun:
    """One run. ``reached``: seconds to each best score; ``boards``: score -> boards of it from different prefixes.

    ``peak_bytes``: largest resident memory of its workers and of this process, 0 where the system does not tell.
    """

    seed: int
    score: int
    reached: dict[int, float]
    boards: dict[int, int]
    nodes_per_s: float
    seconds: float
    peak_bytes: int = 0

    def seconds_to(self, score: int) -> float | None:
        """When it first had a board of at least ``score``; None if it never had."""
        return min((at for reached, at in self.reached.items() if reached >= score), default=None)


def benchmark_instances(data: Path, fresh: int) -> Iterator[tuple[str, Callable[[], Puzzle] | None]]:
    """(name, maker of the puzzle) of every row; None in place of the maker where the public data is not at ``data``.

    ``fresh``: seed of the first of the FRESH puzzles, the others follow.
    """
    for name in PUBLIC:
        path = data / f"{name}.txt"
        yield name, partial(load_puzzle, str(path)) if path.exists() else None
    for name in SHIPPED:
        yield name, partial(load_puzzle, name)
    for number, name in enumerate(FRESH):
        yield name, partial(_member, fresh + number)


def _member(seed: int) -> Puzzle:
    return family(FRESH_FAMILY)(seed).puzzle


def select_rows(names: list[str], data: Path, fresh: int) -> list[tuple[str, Callable[[], Puzzle] | None]]:
    """The rows called ``names`` (all when empty); raises InputError for an unknown one, or where its data is not."""
    known = dict(benchmark_instances(data, fresh))
    for name in names:
        if name not in known:
            raise InputError(f"the ladder has no row '{name}'; expected one of {', '.join(known)}")
        if known[name] is None:
            raise InputError(f"the row {name} needs {name}.txt; expected it in --data DIR", data)
    return [(name, known[name]) for name in names or known]


def run_benchmark(
    puzzle: Puzzle,
    params: Params,
    seed: int,
    seconds: float,
    workers: int,
    search_floor: int = 0,
    engine: str = "auto",
) -> BenchmarkRun:
    """One run of an engine. ``search_floor``: look for boards of this score and count them; 0: only for better ones."""
    if search_floor:
        params = replace(params, engine=replace(params.engine, search_floor=search_floor))
    search = Archipelago(puzzle, params, seed, workers, engine=engine, min_score=search_floor or puzzle.max_score)
    reached: dict[int, float] = {}
    peaks: dict[int, int] = {}  # of each worker
    distinct_boards, scores = DistinctBoards(), list[int]()

    def on_report(search: Archipelago) -> None:
        if search.best_score > max(reached, default=-1):
            reached[search.best_score] = search.elapsed
        peaks.update({pid: peak for pid in search.pids.values() if (peak := peak_bytes(pid))})
        for _, find in search.pop_boards():
            if find.score >= search.min_score:  # new bests come too
                count_board(distinct_boards, scores, find.board.placements, find.score)

    search.run(seconds, puzzle.max_score, on_report)
    elapsed = search.elapsed
    boards = dict(Counter(scores))
    rate = search.statistics.placements / max(elapsed, 1e-9)
    at_once = sorted(peaks.values())[-workers:]  # without those whose place a new one took
    memory = sum(at_once) + peak_bytes(os.getpid())
    return BenchmarkRun(seed, search.best_score, reached, boards, rate, elapsed, memory)


def count_board(distinct_boards: DistinctBoards, scores: list[int], placements: IntArray, score: int) -> None:
    """Count a board for its family by the best of them; ``scores``: of each family."""
    family = distinct_boards.find(placements)
    if family is None:
        distinct_boards.add(placements)
        scores.append(score)
    elif score > scores[family]:
        distinct_boards.replace(family, placements)
        scores[family] = score


def table_row(
    name: str, puzzle: Puzzle, runs: list[BenchmarkRun], seconds: float, workers: int, note: str
) -> dict[str, object]:
    """The row of the table."""
    scores, median = [one.score for one in runs], median_score(runs)
    times = [at for at in (one.seconds_to(median) for one in runs) if at is not None]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "version": __version__,
        "instance": name,
        "seconds": round(seconds),
        "workers": workers,
        "seeds": len(runs),
        "best": max(scores),
        "median": median,
        "worst": min(scores),
        "of": puzzle.max_score,
        "time_to_median_s": round(statistics.median(times), 1) if times else "",
        "nodes_per_s": round(statistics.median(one.nodes_per_s for one in runs)),
        "peak_mb": round(max(one.peak_bytes for one in runs) / 2**20) or "",
        "cpu": f"{platform.machine()} {platform.system()}",
        "note": note,
    }


def median_score(runs: list[BenchmarkRun]) -> int:
    """The lower one of the two in the middle, where there are two."""
    return statistics.median_low(one.score for one in runs)


def core_hours(runs: list[BenchmarkRun], workers: int) -> float:
    return sum(one.seconds for one in runs) * workers / 3600


def boards_by_score(runs: list[BenchmarkRun], workers: int) -> dict[int, float]:
    """Score -> boards of at least that score from different prefixes, per core-hour."""
    scores = sorted({score for one in runs for score in one.boards})
    return {least: boards_per_hour(runs, workers, least) for least in scores}


def boards_per_hour(runs: list[BenchmarkRun], workers: int, least: int) -> float:
    """Boards of at least ``least`` from different prefixes, per core-hour."""
    boards = sum(count for one in runs for score, count in one.boards.items() if score >= least)
    return round(boards / core_hours(runs, workers), 1)


def check_table(path: Path) -> None:
    """Raises InputError where `append_to_table` could not add a row: said before the runs, not after them."""
    if not path.parent.is_dir():
        raise InputError("no such directory; expected one that exists, for the table", path.parent)
    if not path.exists():
        return
    text = read_text(path)
    if text and text.splitlines()[:1] != [",".join(FIELDS)]:
        raise InputError("no table of the ladder; expected one, or a new name", path)
    try:
        path.open("ab").close()
    except OSError as error:
        raise InputError(f"nothing can be added to this table: {error.strerror}", path) from None


def append_to_table(path: Path, row: dict[str, object]) -> None:
    """Add a row to the table under version control."""
    append_row(path, FIELDS, row)
