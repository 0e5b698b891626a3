"""The benchmark: runs on fixed instances, seeds and budgets, which show what a change of the engine is worth.

A run is measured by its best score, by the time to each score and, on request, by the distinct boards of a score or
better per core-hour. Boards are distinct if they come from different prefixes (`lns.distinct_boards`). Nothing is
printed; progress goes to callbacks and to the logger `lns`.
"""

from __future__ import annotations

import json
import logging
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.formats import best_json, load_puzzle
from instances.generate import family
from instances.puzzle import Puzzle
from lns.params import Params
from lns_support.arguments import checked
from lns_support.csv_records import append_row
from lns_support.errors import InputError
from lns_support.files import atomic_write, read_text
from lns_support.text import count_of
from lns_support.version import __version__
from tuning import ablate
from tuning.benchmark_run import (
    BenchmarkOptions,
    BenchmarkRun,
    boards_by_score,
    core_hours,
    median_score,
    run_benchmark,
)

log = logging.getLogger("lns")

PUBLIC = ("eternity2_clue1", "eternity2", "eternity2_clue5", "meta16", "meta14", "meta12", "meta10")
SHIPPED = ("like-e2-16x16", "like-e2-20x20", "like-e2-12x20")
FRESH = ("fresh-16x16-1", "fresh-16x16-2")  # generated for each call
FRESH_FAMILY = "like-e2:16x16:5+17"
FRESH_SEEDS = (1_001, 99_999)  # of generated rows; shipped instances and studies have other seeds
FIELDS = (
    "date", "version", "instance", "seconds", "workers", "seeds", "best", "median", "worst", "of", "time_to_median_s",
    "nodes_per_s", "peak_mb", "cpu", "note",
)  # fmt: skip


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


@dataclass(frozen=True)
class BenchmarkRow:
    """One row of the benchmark.

    Attributes
    ----------
    instance : str
        Name of the row.
    variant : str
        Ablation, `tuning.ablate.BASELINE` for the whole engine.
    engine : str
        Engine of the runs.
    runs : tuple of BenchmarkRun
        The runs, one for each seed.
    values : dict
        The row of the table, by `FIELDS`.
    boards_per_core_hour : dict of int to float
        Score -> distinct boards of at least that score per core-hour, if they were counted.
    core_hours : float
        Core-hours of all runs.
    """

    instance: str
    variant: str
    engine: str
    runs: tuple[BenchmarkRun, ...]
    values: dict[str, object]
    boards_per_core_hour: dict[int, float]
    core_hours: float

    def to_dict(self) -> dict[str, Any]:
        """The fields of a row of `lns benchmark --json`."""
        scores = [run.score for run in self.runs]
        return {**self.values, "scores": scores, "boards_per_core_hour": self.boards_per_core_hour}

    def summary(self) -> str:
        """The row as text; with boards that were counted, a line for each score."""
        row = self.values
        memory = f", {row['peak_mb']} MB" if row["peak_mb"] else ""
        note = f" ({row['note']})" if row["note"] else ""
        unit = "moves" if self.engine == "tabu" else "nodes"
        line = (
            f"{row['instance']:<20} {row['seconds']:>5} s x {count_of(int(str(row['workers'])), 'worker')}, "
            f"{count_of(int(str(row['seeds'])), 'seed')}: "
            f"best {row['best']}, median {row['median']}, worst {row['worst']} of {row['of']}; "
            f"{int(str(row['nodes_per_s'])) / 1e6:.1f} M {unit}/s{memory}{note}"
        )
        return "\n".join([line, *(
            f"  boards of at least {score} per core-hour: {rate:,} (in {self.core_hours:.3g} core-hours)"
            for score, rate in self.boards_per_core_hour.items()
        )])  # fmt: skip


@dataclass(frozen=True)
class BenchmarkResult:
    """The rows of a benchmark in order; ``table`` has their values."""

    rows: tuple[BenchmarkRow, ...]

    @property
    def table(self) -> list[dict[str, Any]]:
        """A dict for each row, as in the JSON of `lns benchmark`."""
        return [row.to_dict() for row in self.rows]

    def summary(self) -> str:
        """The rows as text."""
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
        Names of rows, see `tuning.benchmark`; all by default. Public instances that are missing in ``data`` are skipped
        unless they are named.
    on_run, on_row, on_ablation : callable, optional
        Called after each run with (row, variant, run), after each row, and after all variants of an instance with its
        name and the lines of a table that compares them.
    **settings
        Fields of `tuning.benchmark.BenchmarkOptions`: ``time``, ``seeds``, ``first_seed``, ``workers``, ``engine``,
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
    data, table, boards = (
        None if each is None else Path(each) for each in (options.data, options.table, options.boards)
    )
    if table is not None:
        check_table(table)
    if boards is not None:
        try:
            boards.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the directory of the boards cannot be made: {error.strerror}", boards) from None
    base = options.params or Params()
    fresh = random.randint(*FRESH_SEEDS) if options.fresh is None else options.fresh
    results: list[BenchmarkRow] = []
    for name, make_puzzle in select_rows(list(rows), data, fresh):
        if make_puzzle is None:
            log.warning("%s: skipped, no public data at %s", name, data)
            continue
        puzzle = make_puzzle()
        variants = ablate.variants(base) if options.with_ablations else {ablate.BASELINE: base}
        runs = _run_variants(name, puzzle, variants, options, on_run)
        for variant, variant_runs in runs.items():
            row = _row(name, variant, puzzle, variant_runs, options, fresh)
            results.append(row)
            if table is not None:
                append_row(table, FIELDS, row.values)
            if on_row is not None:
                on_row(row)
        if options.with_ablations and on_ablation is not None:
            on_ablation(name, ablate.table(runs, options.workers, options.search_floor))
    return BenchmarkResult(tuple(results))


def _row(
    name: str, variant: str, puzzle: Puzzle, runs: list[BenchmarkRun], options: BenchmarkOptions, fresh: int
) -> BenchmarkRow:
    notes = (
        f"engine {options.engine}" if options.engine != "auto" else "",
        variant if variant != ablate.BASELINE else "",
        f"seeds from {options.first_seed} on" if options.first_seed != 1 else "",
        f"fresh seed {fresh}" if name in FRESH else "",
        options.note,
    )
    return BenchmarkRow(
        instance=name, variant=variant, engine=options.engine, runs=tuple(runs),
        values=table_row(name, puzzle, runs, options, "; ".join(filter(None, notes))),
        boards_per_core_hour=boards_by_score(runs, options.workers), core_hours=core_hours(runs, options.workers),
    )  # fmt: skip


def _run_variants(
    name: str,
    puzzle: Puzzle,
    variants: dict[str, Params],
    options: BenchmarkOptions,
    on_run: Callable[[str, str, BenchmarkRun], None] | None,
) -> dict[str, list[BenchmarkRun]]:
    """The runs of each variant, seed by seed, so that other load on the machine affects all variants alike."""
    runs: dict[str, list[BenchmarkRun]] = {variant: [] for variant in variants}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for variant, params in variants.items():
            on_best = None
            if options.boards is not None and variant == ablate.BASELINE:
                on_best = partial(
                    _write_best, Path(options.boards) / f"{name}-{seed}.json", puzzle, _source(name, options)
                )
            runs[variant].append(run_benchmark(puzzle, params, seed, options, on_best))
            if on_run is not None:
                on_run(name, variant, runs[variant][-1])
    return runs


def _source(name: str, options: BenchmarkOptions) -> str:
    """How the puzzle of a row is named to `lns`."""
    return name if name not in PUBLIC else str(Path(options.data or "") / f"{name}.txt")


def _write_best(path: Path, puzzle: Puzzle, instance: str, board: Board, elapsed_s: float) -> None:
    """Write the board that a run has found after ``elapsed_s`` seconds, with the fields of ``best.json``."""
    seed = int(path.stem.rpartition("-")[2])
    values = best_json(puzzle, board, instance=instance, seed=seed, elapsed_s=round(elapsed_s, 3))
    try:
        atomic_write(path, json.dumps(values) + "\n")
    except OSError as error:
        raise InputError(f"the board cannot be written: {error.strerror}", path) from None
