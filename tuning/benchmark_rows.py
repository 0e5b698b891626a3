"""The benchmark as a function: what the command `lns benchmark` calls.

Nothing is printed; progress goes to callbacks and to the logger `lns`.
"""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.formats import best_json
from instances.puzzle import Puzzle
from lns.api.arguments import check_workers
from lns.params import Params
from lns.runs.history import UNLIMITED_S
from lns_support.arguments import checked
from lns_support.cores import max_workers
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.text import count_of
from tuning import ablate
from tuning import benchmark as benchmarks
from tuning.benchmark import BenchmarkOptions, BenchmarkRun

log = logging.getLogger("lns")

FRESH_SEEDS = (1_001, 99_999)  # of generated benchmark rows; shipped instances and studies have other seeds


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
        The row of the table, by `tuning.benchmark.FIELDS`.
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
    time: float = 60.0,
    seeds: int = 5,
    first_seed: int = 1,
    workers: int = 2,
    engine: str = "auto",
    search_floor: int = 0,
    with_ablations: bool = False,
    data: str | PathLike[str] | None = None,
    fresh: int | None = None,
    params: Params | None = None,
    table: str | PathLike[str] | None = None,
    boards: str | PathLike[str] | None = None,
    note: str = "",
    on_run: Callable[[str, str, BenchmarkRun], None] | None = None,
    on_row: Callable[[BenchmarkRow], None] | None = None,
    on_ablation: Callable[[str, list[str]], None] | None = None,
) -> BenchmarkResult:
    """Run the optimizer on fixed instances, once for each seed.

    Parameters
    ----------
    rows : sequence of str
        Names of rows, see `tuning.benchmark`; all by default. Public instances that are missing in ``data`` are skipped
        unless they are named.
    time, seeds, first_seed, workers, engine, search_floor
        As in `BenchmarkOptions`.
    with_ablations : bool
        Also run the main engine with each of its parts switched off, see `tuning.ablate`.
    data : path, optional
        Directory of the public instances.
    fresh : int, optional
        Random seed of the instances that are generated for this call; drawn by default.
    params : Params, optional
        Parameters of the engine.
    table : path, optional
        CSV file to which each row is appended as soon as it is complete.
    boards : path, optional
        Directory for the best board of each run, with the fields of ``best.json``: ROW-SEED.json, in place of an
        earlier file. It is made if it is missing. With ablations: of the whole engine.
    note : str
        What is measured, for the table.
    on_run, on_row, on_ablation : callable, optional
        Called after each run with (row, variant, run), after each row, and after all variants of an instance with its
        name and the lines of a table that compares them.

    Returns
    -------
    BenchmarkResult
        The rows and a summary.

    Raises
    ------
    InputError
        A row or the engine is unknown, a number impossible, data is missing, or the table or a board cannot be written.
    """
    if with_ablations and engine != "auto":
        raise InputError(f"ablations are of the main engine; expected no engine '{engine}' with them")
    check_workers(workers, max_workers())
    if seeds < 1 or not 0 < time <= UNLIMITED_S:
        raise InputError(f"{seeds} seeds of {time} s; expected 1 or more of more than 0 s, at most {UNLIMITED_S:.0f} s")
    if table is not None:
        benchmarks.check_table(Path(table))
    if boards is not None:
        _make_folder(Path(boards))
    options = BenchmarkOptions(
        time=time, seeds=seeds, first_seed=first_seed, workers=workers, engine=engine, search_floor=search_floor
    )
    base = Params() if params is None else params
    fresh = random.randint(*FRESH_SEEDS) if fresh is None else fresh
    results: list[BenchmarkRow] = []
    for name, make_puzzle in benchmarks.select_rows(list(rows), None if data is None else Path(data), fresh):
        if make_puzzle is None:
            log.warning("%s: skipped, no public data at %s", name, data)
            continue
        puzzle = make_puzzle()
        variants = ablate.variants(base) if with_ablations else {ablate.BASELINE: base}
        write_best = None
        if boards is not None:
            instance = name if name not in benchmarks.PUBLIC else str(Path(data or "") / f"{name}.txt")
            write_best = partial(_write_best, Path(boards), name, puzzle, instance)
        runs = _run_variants(name, puzzle, variants, options, on_run, write_best)
        for variant, variant_runs in runs.items():
            notes = (
                f"engine {engine}" if engine != "auto" else "",
                variant if variant != ablate.BASELINE else "",
                f"seeds from {first_seed} on" if first_seed != 1 else "",
                f"fresh seed {fresh}" if name in benchmarks.FRESH else "",
                note,
            )
            values = benchmarks.table_row(name, puzzle, variant_runs, options, "; ".join(filter(None, notes)))
            rates = benchmarks.boards_by_score(variant_runs, workers)
            hours = benchmarks.core_hours(variant_runs, workers)
            results.append(
                BenchmarkRow(
                    instance=name, variant=variant, engine=engine, runs=tuple(variant_runs), values=values,
                    boards_per_core_hour=rates, core_hours=hours,
                )
            )  # fmt: skip
            if table is not None:
                benchmarks.append_to_table(Path(table), values)
            if on_row is not None:
                on_row(results[-1])
        if with_ablations and on_ablation is not None:
            on_ablation(name, ablate.table(runs, workers, search_floor))
    return BenchmarkResult(tuple(results))


def _run_variants(
    name: str,
    puzzle: Puzzle,
    variants: dict[str, Params],
    options: BenchmarkOptions,
    on_run: Callable[[str, str, BenchmarkRun], None] | None,
    write_best: Callable[[int, Board, float], None] | None,
) -> dict[str, list[BenchmarkRun]]:
    """The runs of each variant, seed by seed, so that other load on the machine affects all variants alike."""
    runs: dict[str, list[BenchmarkRun]] = {variant: [] for variant in variants}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for variant, params in variants.items():
            on_best = partial(write_best, seed) if write_best is not None and variant == ablate.BASELINE else None
            runs[variant].append(benchmarks.run_benchmark(puzzle, params, seed, options, on_best))
            if on_run is not None:
                on_run(name, variant, runs[variant][-1])
    return runs


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the directory of the boards cannot be made: {error.strerror}", path) from None


def _write_best(
    folder: Path, name: str, puzzle: Puzzle, instance: str, seed: int, board: Board, elapsed_s: float
) -> None:
    """Write the board that a run has found after ``elapsed_s`` seconds, with the fields of ``best.json``."""
    fields = best_json(puzzle, board, instance=instance, seed=seed, elapsed_s=round(elapsed_s, 3))
    path = folder / f"{name}-{seed}.json"
    try:
        atomic_write(path, json.dumps(fields) + "\n")
    except OSError as error:
        raise InputError(f"the board cannot be written: {error.strerror}", path) from None
