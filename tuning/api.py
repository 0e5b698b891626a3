"""Tuning and the benchmark as functions: what the commands `lns tune` and `lns benchmark` call.

Nothing is printed, no signal handler is installed; progress goes to callbacks and to the logger `lns`.
"""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.puzzle import Puzzle
from lns.params import Params
from lns.runs.files import utc_now
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.text import count_of
from lns_support.version import __version__
from tuning import ablate, report, summary, validate
from tuning import benchmark as benchmarks
from tuning.benchmark import BenchmarkOptions, BenchmarkRun
from tuning.plan import STUDY_FILE, StudyRequest
from tuning.session import StudyProgress, TuningSession
from tuning.storage import storage_errors
from tuning.study import FINISHED, REPORT_FILE, Study, open_study
from tuning.validate import Verdict

log = logging.getLogger("lns")

DEFAULT_SECONDS = 3600.0  # of a session without any limit
FRESH_SEEDS = (1_001, 99_999)  # of generated benchmark rows; shipped instances and studies have other seeds


@dataclass(frozen=True)
class TuningResult:
    """State of a study after a session.

    Attributes
    ----------
    study : Path
        Directory of the study.
    trials : int
        Number of finished trials.
    verdicts : tuple of Verdict
        The validated candidates, best first.
    verdict : Verdict or None
        The winner if there is one, else the best candidate; None before any is validated.
    better : bool
        Whether parameters better than the defaults were found.
    best_params : Params or None
        These parameters.
    best_file : Path or None
        ``best_params.toml`` if it holds them.
    rank_correlation : float or None
        Spearman's correlation between short and long runs.
    importance : dict of str to float
        Importance of the parameters, as shares of 1; empty with too few trials.
    overhead : float or None
        Fraction of the workers' time outside of runs; None if no run was made.
    report : Path
        The HTML report.
    interrupted : bool
        Whether the session was stopped before its limits.
    table : list of dict
        The finished trials: number, state, mean difference to the defaults in short and long runs, values.
    verdict_text : str
        Whether to use other parameters than the defaults, and why, in a sentence or two.
    facts : tuple of (str, str)
        Label and text of the other lines of the summary.
    """

    study: Path
    trials: int
    verdicts: tuple[Verdict, ...]
    verdict: Verdict | None
    better: bool
    best_params: Params | None
    best_file: Path | None
    rank_correlation: float | None
    importance: dict[str, float]
    overhead: float | None
    report: Path
    interrupted: bool
    table: list[dict[str, Any]]
    verdict_text: str
    facts: tuple[tuple[str, str], ...]

    def summary(self, width: int = 80) -> str:
        """The result as text: the verdict in a box, and below it the facts, in lines of ``width`` columns."""
        lines = summary.boxed(self.verdict_text, width)
        for label, text in (*self.facts, ("report", str(self.report))):
            lines += summary.labelled(label, text, width)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields of `lns tune --json`."""
        return {
            "study": str(self.study),
            "trials": self.trials,
            "better": self.better,
            "verdict": self.verdict_text,
            "best_params": None if self.best_file is None else str(self.best_file),
            "held_out": [
                {"trial": v.trial, "pairs": len(v.differences), "mean": v.mean, "low": v.low, "high": v.high,
                 "edges": v.edges, "p": v.p, "cost": v.cost, "better": v.better, "left_out": list(v.left_out),
                 "no_board": list(v.lost)}
                for v in self.verdicts
            ],
            "rank_correlation": self.rank_correlation,
            "importance": self.importance,
            "overhead": self.overhead,
            "report": str(self.report),
        }  # fmt: skip


def tune(
    instances: Sequence[str | Puzzle] | str | Puzzle = (),
    *,
    study: str | PathLike[str],
    family: str | None = None,
    time: float | None = None,
    trials: int | None = None,
    workers: int | None = None,
    request: StudyRequest | None = None,
    report_only: bool = False,
    on_start: Callable[[TuningSession], None] | None = None,
    on_progress: Callable[[StudyProgress], None] | None = None,
    **settings: Any,
) -> TuningResult:
    """Search for better parameters, and validate them on instances and seeds that the search has not seen.

    The same call continues a study that was stopped; several processes may work on one study. KeyboardInterrupt ends
    the session; finished runs are kept.

    Parameters
    ----------
    instances : Puzzle, str, or sequence of them
        What to tune for: puzzles, files or names of shipped instances. Not needed to continue a study.
    study : path
        Directory of the study; created if need be.
    family : str, optional
        Family of instances to tune for instead, such as ``like-e2:12x12``.
    time : float, optional
        Seconds of this session, validation included; one hour if neither ``time`` nor ``trials`` is given.
    trials : int, optional
        Search until the study has this number of trials.
    workers : int, optional
        Worker processes, 1 by default. A script that uses them needs ``if __name__ == "__main__":``.
    request : StudyRequest, optional
        All settings of the study in one object, in place of ``instances``, ``family`` and ``settings``.
    report_only : bool
        Make no run; only write the report of what is there.
    on_start : callable, optional
        Called with the session before it runs. Its method ``stop`` may be called from another thread.
    on_progress : callable, optional
        Called about once a second with a `StudyProgress`.
    **settings
        Further fields of `StudyRequest`: ``engine``, ``seed``, ``pairs``, ``held_out``, ``nodes``, ``run_seconds``,
        ``params``, ``sampler``, ``storage``.

    Returns
    -------
    TuningResult
        The verdicts, the best parameters and a summary.

    Raises
    ------
    InputError
        A setting is wrong, the study is of other settings or another engine, or workers cannot be kept alive.
    """
    path = Path(study)
    if request is None:
        unknown = [name for name in settings if name not in StudyRequest.__dataclass_fields__]
        if unknown:
            raise InputError(f"unknown setting '{unknown[0]}'; expected one of {', '.join(_SETTINGS)}")
        named = (instances,) if isinstance(instances, str | Puzzle) else tuple(instances)
        request = StudyRequest(**{"command": "lns.tune(...)", "instances": named, "family": family, **settings})
    _check_tune(path, request, report_only=report_only, limits=(time, trials, workers))
    with storage_errors(request.storage):
        return _tune(
            path, request, time=time, trials=trials, workers=workers, report_only=report_only, on_start=on_start,
            on_progress=on_progress,
        )  # fmt: skip


def _tune(
    path: Path,
    request: StudyRequest,
    *,
    time: float | None,
    trials: int | None,
    workers: int | None,
    report_only: bool,
    on_start: Callable[[TuningSession], None] | None,
    on_progress: Callable[[StudyProgress], None] | None,
) -> TuningResult:
    """`tune` with checked arguments."""
    opened = open_study(path, request, reading=report_only)
    session = None
    if not report_only:
        plan = opened.plan
        log.info(
            "%s: %d parameters; each trial is run on %s of instance and seed, with %s nodes each",
            plan.subject, len(opened.space), count_of(plan.pairs, "pair"), f"{plan.nodes:,}",
        )  # fmt: skip
        seconds = DEFAULT_SECONDS if time is None and trials is None else time
        session = TuningSession(opened, workers or 1, seconds, trials, on_progress or (lambda progress: None))
        session.check_time()
        if on_start is not None:
            on_start(session)
        try:
            session.run()
        except KeyboardInterrupt:
            session.interrupted = True
        with contextlib.suppress(KeyboardInterrupt):  # the report is written all the same
            session.on_progress(session.progress("report"))
    return _conclude(opened, session)


_SETTINGS = [name for name in StudyRequest.__dataclass_fields__ if name not in ("instances", "family", "command")]


def _check_tune(path: Path, request: StudyRequest, *, report_only: bool, limits: tuple[object, ...]) -> None:
    """Raise InputError for settings that exclude each other."""
    if request.instances and request.family:
        raise InputError("both instances and a family are given; expected one of them")
    if request.nodes and request.run_seconds:
        raise InputError("both nodes and seconds of a run are given; expected one of them")
    if not str(path).isprintable():
        raise InputError("the name of the directory has characters that no report can hold; expected printable ones")
    if report_only and any(limits):
        raise InputError("a report makes no runs; expected it without a time, a number of trials or workers")
    if report_only and not (path / STUDY_FILE).exists():
        raise InputError("no study is here; expected one that `lns tune` began", path)


def _conclude(study: Study, session: TuningSession | None) -> TuningResult:
    """Write the report and, after a session, best_params.toml; the result."""
    conclusion = validate.conclude(study)
    if session is not None:
        validate.write_best(study, conclusion)
    report_file = study.path / REPORT_FILE
    atomic_write(report_file, report.html_page(study, conclusion, f"{utc_now()}, lns {__version__}"))
    overhead = None if session is None else session.overhead
    agreement, winner, trials = summary.agreement(study), conclusion.winner, study.trials(*FINISHED)
    return TuningResult(
        study=study.path,
        trials=len(trials),
        verdicts=conclusion.verdicts,
        verdict=winner or next(iter(conclusion.verdicts), None),
        better=winner is not None,
        best_params=None if winner is None else validate.winning_params(study, winner),
        best_file=validate.written_best(study, conclusion),
        rank_correlation=agreement.correlation if agreement.correlation == agreement.correlation else None,
        importance=summary.importance(study),
        overhead=overhead,
        report=report_file,
        interrupted=session is not None and session.interrupted,
        table=[
            {"trial": trial.number, "state": trial.state.name.lower(), "short": trial.user_attrs.get("short"),
             "long": trial.value if trial.state.name == "COMPLETE" else trial.user_attrs.get("long"),
             "params": dict(trial.params)}
            for trial in trials
        ],
        verdict_text=summary.verdict_text(study, conclusion),
        facts=tuple(summary.facts(study, conclusion, overhead)),
    )  # fmt: skip


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
        A row or the engine is unknown, data is missing, or the table or a board cannot be written.
    """
    if with_ablations and engine != "auto":
        raise InputError(f"ablations are of the main engine; expected no engine '{engine}' with them")
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
            if on_row is not None:
                on_row(results[-1])
            if table is not None:
                benchmarks.append_to_table(Path(table), values)
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
    benchmarks.write_best(folder / f"{name}-{seed}.json", puzzle, instance, seed, board, elapsed_s)
