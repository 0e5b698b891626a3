"""The benchmark: runs on fixed instances, seeds and budgets, which show what a change of the engine is worth.

A run is measured by its best score, by the time to each score and, on request, by the number of distinct boards per
core-hour that have some score or a better one. Boards are distinct if they differ in many cells (`lns.rates`). Nothing
is printed; progress goes to callbacks and to the logger `lns`.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from statistics import median, median_low
from typing import Any

from lns.api.arguments import check_workers
from lns.exact.child_process import peak_bytes
from lns.exact.compare import append_row, check_appendable
from lns.exact.text_table import aligned
from lns.instances.arguments import checked, checked_class
from lns.instances.board import Board
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write, read_text
from lns.instances.formats import best_json, load_puzzle
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.islands import Archipelago
from lns.params import Params
from lns.rounds import Search
from lns.runs.history import UNLIMITED_S
from lns.tuning.objective import Families
from lns.version import __version__

log = logging.getLogger("lns")

PUBLIC = ("eternity2_clue1", "eternity2", "eternity2_clue5", "meta16", "meta14", "meta12", "meta10")
SHIPPED = ("like-e2-16x16", "like-e2-20x20", "like-e2-12x20")
FRESH = ("fresh-16x16-1", "fresh-16x16-2")  # rows whose instances are generated anew for each call
ROWS = (*PUBLIC, *SHIPPED, *FRESH)  # names of the rows, in the order in which they run
FRESH_FAMILY = "like-e2:16x16:5+17"
FRESH_SEEDS = (1_001, 99_999)  # range of the seed drawn for `FRESH`; shipped instances and studies have other seeds
FIELDS = (
    "date", "version", "instance", "seconds", "workers", "seeds", "best", "median", "worst", "of", "time_to_median_s",
    "nodes_per_s", "peak_mb", "cpu", "note",
)  # fmt: skip

BASELINE = "whole"  # name of the variant that has all parts of the engine
ABLATIONS: dict[str, dict[str, dict[str, Any]]] = {
    "no beams": {"engine": {"beams": 0}},
    "no blocks": {"neighbourhoods": {"blocks": 0}},
    "no bands": {"neighbourhoods": {"bands": 0}},
    "no last cells": {"neighbourhoods": {"last_sizes": 0}},
    "no certificate": {"neighbourhoods": {"certificate": 0.0}},
    "no quota": {"construct": {"quota_scale": 0.0}},
    "no tail": {"construct": {"tail": 1}},  # the exact tail is only the last cell
    "long tail": {"construct": {"tail": 14}},
    "row by row": {"construct": {"column_major_fraction": 0.0}},
    "breaks for the next score": {"construct": {"schedule_slack": 0}},
    "no restarts": {"construct": {"restart_nodes": 10**12, "restart_nodes_without_prefix": 10**12}},
}
"""Name of an ablation -> the parameters, by section, that switch a part of the engine off or simplify it."""


@checked_class
@dataclass(frozen=True)
class BenchmarkOptions:
    """How the runs of a benchmark are made, and where their results are written.

    Raises InputError if a number is out of range, or ablations of an engine other than 'auto' are requested.
    """

    time: float = 60.0  # seconds of each run
    seeds: int = 5  # number of runs of each row, one for each random seed
    first_seed: int = 1  # random seed of the first run; each further run has the next one
    workers: int = 2  # worker processes of each run
    engine: str = "auto"  # one of `lns.engines.ENGINES`
    search_floor: int = 0  # search for boards of at least this score and count them; 0: search for new bests only
    with_ablations: bool = False  # also run the main engine with each of its parts switched off, see `ABLATIONS`
    data: str | PathLike[str] | None = None  # directory that has the public instances as NAME.txt
    fresh: int | None = None  # random seed of the instances generated for this call; drawn at random by default
    params: Params | None = None  # parameters of the engine; None: the built-in defaults, even if a study kept others
    table: str | PathLike[str] | None = None  # CSV file to which each row is appended as soon as it is complete
    # directory, created if need be, for the best board of each run of the whole engine: ROW-SEED.json, with the fields
    # of ``best.json``; an earlier file is replaced
    boards: str | PathLike[str] | None = None
    note: str = ""  # remark for the column ``note`` of the table

    def __post_init__(self) -> None:
        if self.with_ablations and self.engine != "auto":
            raise InputError(f"ablations are of the main engine; expected no engine '{self.engine}' with them")
        check_workers(self.workers)
        if self.seeds < 1 or not 0 < self.time <= UNLIMITED_S:
            raise InputError(
                f"{self.seeds} seeds of {self.time} s; expected 1 or more of more than 0 s, at most {UNLIMITED_S:.0f} s"
            )


@dataclass(frozen=True)
class BenchmarkRun:
    """The results of one run."""

    seed: int
    score: int  # best score of the run
    reached: dict[int, float]  # score of each new best board -> seconds until it was found
    boards: dict[int, int]  # best score of a family -> number of families; perfect boards only, if no ``search_floor``
    nodes_per_s: float  # placements a second of all workers together, or tabu moves if nothing is placed
    seconds: float  # elapsed seconds of search
    peak_bytes: int = 0  # sum of the largest resident memories of the workers and of this process; 0 if unknown


def run_benchmark(
    puzzle: Puzzle,
    params: Params,
    seed: int,
    options: BenchmarkOptions,
    on_best: Callable[[Board, float], None] | None = None,
) -> BenchmarkRun:
    """Make one run; call ``on_best`` with each new best board and the seconds until it was found."""
    floor, workers = options.search_floor, options.workers
    if floor:
        params = replace(params, engine=replace(params.engine, search_floor=floor))
    min_score = floor or puzzle.max_score
    search = Archipelago(Search(puzzle, params, seed, options.engine), workers, min_score=min_score)
    families, reached = Families(min_score), dict[int, float]()  # new best boards below ``min_score`` do not count
    peaks = dict[int, int]()  # process id of a worker -> its largest resident memory, in bytes

    def on_report(search: Archipelago) -> None:
        if search.best_score > max(reached, default=-1):
            reached[search.best_score] = search.elapsed
            if on_best is not None and search.best is not None:
                on_best(search.best, search.elapsed)
        peaks.update({pid: peak for pid in search.pids.values() if (peak := peak_bytes(pid))})
        for _, board in search.pop_boards():
            families.add(board)

    search.run(options.time, puzzle.max_score, on_report)
    elapsed = search.elapsed
    largest = sorted(peaks.values())[-workers:]  # there are more processes than workers if dead ones were replaced
    return BenchmarkRun(
        seed=seed, score=search.best_score, reached=reached, boards=dict(Counter(families.scores)),
        nodes_per_s=search.statistics.placements / max(elapsed, 1e-9), seconds=elapsed,
        peak_bytes=sum(largest) + peak_bytes(os.getpid()),
    )  # fmt: skip


@dataclass(frozen=True)
class BenchmarkRow:
    """One row of the benchmark: the runs of one variant of the engine on one instance."""

    instance: str  # name of the row and of its instance
    variant: str  # name of an ablation, or `BASELINE` for the whole engine
    puzzle: Puzzle
    options: BenchmarkOptions
    runs: tuple[BenchmarkRun, ...]  # one run for each seed

    @property
    def scores(self) -> list[int]:
        """The best score of each run."""
        return [run.score for run in self.runs]

    def times_to(self, score: int) -> list[float]:
        """Return the seconds until a run had a board of at least ``score``, for each run that found one."""
        times = (min((at for got, at in run.reached.items() if got >= score), default=None) for run in self.runs)
        return [at for at in times if at is not None]

    @property
    def values(self) -> dict[str, Any]:
        """The columns of the row in the CSV table: a dict from each name in `FIELDS` to its value."""
        goal, options = median_low(self.scores), self.options
        times = self.times_to(goal)
        notes = (
            f"engine {options.engine}" if options.engine != "auto" else "",
            self.variant if self.variant != BASELINE else "",
            f"seeds from {options.first_seed} on" if options.first_seed != 1 else "",
            f"fresh seed {options.fresh}" if self.instance in FRESH else "",
            options.note,
        )
        return dict(zip(FIELDS, (
            time.strftime("%Y-%m-%d"), __version__, self.instance, round(options.time), options.workers,
            len(self.runs), max(self.scores), goal, min(self.scores), self.puzzle.max_score,
            round(median(times), 1) if times else "",
            round(median(run.nodes_per_s for run in self.runs)),
            round(max(run.peak_bytes for run in self.runs) / 2**20) or "",
            f"{platform.machine()} {platform.system()}", "; ".join(filter(None, notes)),
        ), strict=True))  # fmt: skip

    @property
    def core_hours(self) -> float:
        """Elapsed hours of all runs, times the number of workers."""
        return sum(run.seconds for run in self.runs) * self.options.workers / 3600

    def boards_per_hour(self, min_score: int) -> float:
        """Return the number of distinct boards of at least ``min_score`` per core-hour."""
        boards = sum(count for run in self.runs for score, count in run.boards.items() if score >= min_score)
        return round(boards / self.core_hours, 1)

    @property
    def boards_per_core_hour(self) -> dict[int, float]:
        """Score -> number of distinct boards of at least this score per core-hour; empty if no boards were counted."""
        scores = sorted({score for run in self.runs for score in run.boards})
        return {score: self.boards_per_hour(score) for score in scores}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a row of `lns benchmark --json`."""
        return {**self.values, "scores": self.scores, "boards_per_core_hour": self.boards_per_core_hour}

    def summary(self) -> str:
        """Return the row as text, followed by a line for each score if boards were counted."""
        row, unit = self.values, "moves" if self.options.engine == "tabu" else "nodes"
        memory = f", {row['peak_mb']} MB" if row["peak_mb"] else ""
        note = f" ({row['note']})" if row["note"] else ""
        line = (
            f"{row['instance']:<20} {row['seconds']:>5} s x {count_of(row['workers'], 'worker')}, "
            f"{count_of(row['seeds'], 'seed')}: best {row['best']}, median {row['median']}, worst {row['worst']} of "
            f"{row['of']}; {row['nodes_per_s'] / 1e6:.1f} M {unit}/s{memory}{note}"
        )
        return "\n".join([line, *(
            f"  boards of at least {score} per core-hour: {rate:,} (in {self.core_hours:.3g} core-hours)"
            for score, rate in self.boards_per_core_hour.items()
        )])  # fmt: skip


@dataclass(frozen=True)
class BenchmarkResult(Records):
    """The rows of a benchmark in order; ``table`` is the same as ``records()``."""

    rows: tuple[BenchmarkRow, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each row, as in the JSON of `lns benchmark`."""
        return [row.to_dict() for row in self.rows]

    table = property(records)

    def summary(self) -> str:
        """Return the rows as text."""
        return "\n".join(row.summary() for row in self.rows)


@checked
def benchmark(
    rows: Sequence[str] = (),
    *,
    on_run: Callable[[str, str, BenchmarkRun], None] | None = None,
    on_row: Callable[[BenchmarkRow], None] | None = None,
    on_ablation: Callable[[str, list[str]], None] | None = None,
    **settings: Any,
) -> BenchmarkResult:
    """Run the optimizer on fixed instances, once for each seed.

    Parameters
    ----------
    rows : sequence of str
        Names in `ROWS`; all by default. Public instances missing in ``data`` are skipped unless they are named.
    on_run, on_row, on_ablation : callable, optional
        Called after each run with (row name, variant, run); after each row with the `BenchmarkRow`; and after all
        variants of an instance with its name and the lines of a table that compares them.
    **settings
        Fields of `lns.tuning.benchmark.BenchmarkOptions`: ``time``, ``seeds``, ``first_seed``, ``workers``, ``engine``,
        ``search_floor``, ``with_ablations``, ``data``, ``fresh``, ``params``, ``table``, ``boards``, ``note``.

    Returns
    -------
    BenchmarkResult
        The rows and a summary.

    Raises
    ------
    InputError
        A row, a setting or the engine is unknown, a number impossible, data is missing, or the table or a board cannot
        be written.
    """
    known = [each.name for each in fields(BenchmarkOptions)]
    if unknown := settings.keys() - known:
        raise InputError(f"unknown setting '{min(unknown)}'; expected one of {', '.join(known)}")
    options = BenchmarkOptions(**settings)
    if options.fresh is None:
        options = replace(options, fresh=random.randint(*FRESH_SEEDS))
    check_outputs(options)
    base, results = options.params or Params(), list[BenchmarkRow]()
    compared = variants(base) if options.with_ablations else {BASELINE: base}
    for name, puzzle in selected_rows(rows, options):
        runs: dict[str, list[BenchmarkRun]] = {variant: [] for variant in compared}
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for variant, params in compared.items():  # all in turn, so that other load affects them alike
                is_kept = options.boards is not None and variant == BASELINE
                keep = partial(_write_best, puzzle, name, seed, options) if is_kept else None
                runs[variant].append(run_benchmark(puzzle, params, seed, options, keep))
                if on_run is not None:
                    on_run(name, variant, runs[variant][-1])
        made = [BenchmarkRow(name, variant, puzzle, options, tuple(each)) for variant, each in runs.items()]
        for row in made:
            results.append(row)
            if options.table is not None:
                append_row(Path(options.table), row.values)
            if on_row is not None:
                on_row(row)
        if options.with_ablations and on_ablation is not None:
            on_ablation(name, ablation_table(made))
    return BenchmarkResult(tuple(results))


def _source(name: str, options: BenchmarkOptions) -> str:
    """Return the file of a row with a public instance; for other rows the name of the row."""
    return name if name not in PUBLIC else str(Path(options.data or "") / f"{name}.txt")


def selected_rows(names: Sequence[str], options: BenchmarkOptions) -> list[tuple[str, Puzzle]]:
    """Return (name, puzzle) of the named rows, or of all whose data exist. Raises InputError as `benchmark` does."""
    rows = list[tuple[str, Puzzle]]()
    for name in names or ROWS:
        source = _source(name, options)
        if name not in ROWS:
            raise InputError(f"the benchmark has no row '{name}'; expected one of {', '.join(ROWS)}")
        if name in FRESH:
            rows.append((name, family(FRESH_FAMILY)((options.fresh or 0) + FRESH.index(name)).puzzle))
        elif name not in PUBLIC or (options.data and Path(source).exists()):
            rows.append((name, load_puzzle(source)))
        elif names:
            raise InputError(f"the row {name} needs {name}.txt; expected it in --data DIR", options.data)
        else:
            log.warning("%s: skipped, no public data at %s", name, options.data)
    return rows


def check_outputs(options: BenchmarkOptions) -> None:
    """Make the directory for boards; raise InputError, before the runs, if that fails or the table takes no rows."""
    try:
        if options.table is not None:
            table = Path(options.table)
            if table.exists() and (text := read_text(table)) and text.splitlines()[:1] != [",".join(FIELDS)]:
                raise InputError("no table of the benchmark; expected one, or a new name", table, 1)
            check_appendable(table)
        if options.boards is not None:
            Path(options.boards).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"nothing can be written there: {error.strerror}", error.filename) from None


def variants(params: Params) -> dict[str, Params]:
    """Return the parameters of each variant by name: ``params`` as baseline, then each ablation that changes these."""
    found = {BASELINE: params}
    for name, sections in ABLATIONS.items():
        parts = {section: replace(getattr(params, section), **values) for section, values in sections.items()}
        if (changed := replace(params, **parts)) != params:
            found[name] = changed
    return found


def ablation_table(rows: Sequence[BenchmarkRow]) -> list[str]:
    """Return the lines of a table with a row for each variant, the whole engine first.

    Columns are the median, best and worst score; the median seconds to the whole engine's median score, and the number
    of runs that reached it; and, if boards were counted, the distinct boards per core-hour.
    """
    goal, floor = median_low(rows[0].scores), rows[0].options.search_floor
    lines = [["variant", "median", "best", "worst", f"s to {goal}", "runs", f"boards >= {floor} a core-hour"]]
    for row in rows:
        times, scores = row.times_to(goal), (median_low(row.scores), max(row.scores), min(row.scores))
        to_goal = f"{median(times):.1f}" if times else "-"
        lines.append([row.variant, *map(str, scores), to_goal, str(len(times)), f"{row.boards_per_hour(floor):,}"])
    return aligned([line[: None if floor else -1] for line in lines]).splitlines()


def _write_best(
    puzzle: Puzzle, name: str, seed: int, options: BenchmarkOptions, board: Board, elapsed_s: float
) -> None:
    """Write the best board of a run, found after ``elapsed_s`` seconds, to a file with the fields of ``best.json``."""
    path = Path(options.boards or "") / f"{name}-{seed}.json"
    source, at = _source(name, options), round(elapsed_s, 3)
    with named(path, "the board cannot be written"):
        atomic_write(path, json.dumps(best_json(puzzle, board, instance=source, seed=seed, elapsed_s=at)) + "\n")
