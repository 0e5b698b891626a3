"""Tuning as a function: what the command `lns tune` calls.

Nothing is printed, no signal handler is installed; progress goes to callbacks and to the logger `lns`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from lns.api import kept_params
from lns.api.arguments import check_workers
from lns.api.kept_params import KeptParams
from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.files import atomic_write
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.runs.files import utc_now
from lns.runs.history import UNLIMITED_S
from lns.tuning import report, validate
from lns.tuning.session import StudyProgress, TuningSession, fitting_run_seconds
from lns.tuning.storage import storage_errors
from lns.tuning.study import REPORT_FILE, Study, StudyRequest, damage_told, is_study, open_study
from lns.tuning.validate import Verdict
from lns.version import __version__

log = logging.getLogger("lns")

DEFAULT_SECONDS = 3600.0  # seconds of a session for which neither a time nor a number of trials is given


@dataclass(frozen=True)
class TuningResult(Records):
    """State of a study after a session.

    Attributes
    ----------
    study : Path
        Directory of the study.
    trials : int
        Number of finished trials.
    verdicts : tuple of Verdict
        Verdicts on the validated candidates, best first.
    best_params : Params or None
        Parameters that are better than the defaults; None if there are none.
    best_file : Path or None
        The file ``best_params.toml`` if it holds ``best_params``; else None.
    kept : tuple of Path
        Files in which this session kept ``best_params`` for `lns.solve`.
    rank_correlation : float or None
        Spearman's correlation between short and long runs.
    importance : dict of str to float
        Importance of the parameters, as shares of 1; empty with too few trials.
    overhead : float or None
        Fraction of the workers' time outside of runs; None if the session made no run.
    report : Path
        The HTML report.
    interrupted : bool
        Whether the session was stopped before its limits.
    table : list of dict
        The finished trials: number, state, mean difference to the defaults in short and long runs, parameters.
    verdict_text : str
        Whether to use other parameters than the defaults, and why, in a sentence or two.
    facts : tuple of (str, str)
        Label and text of the other lines of the summary.
    """

    study: Path
    trials: int
    verdicts: tuple[Verdict, ...]
    best_params: Params | None
    best_file: Path | None
    kept: tuple[Path, ...]
    rank_correlation: float | None
    importance: dict[str, float]
    overhead: float | None
    report: Path
    interrupted: bool
    table: list[dict[str, Any]]
    verdict_text: str
    facts: tuple[tuple[str, str], ...]

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the winner, or else on the best candidate; None before any candidate is validated."""
        return next((each for each in self.verdicts if each.better), next(iter(self.verdicts), None))

    @property
    def better(self) -> bool:
        """Whether parameters better than the defaults were found."""
        return self.best_params is not None

    def summary(self, width: int = 80) -> str:
        """Return the result as text: the verdict in a box, and below it the facts, in lines of ``width`` columns."""
        return report.as_text(self.verdict_text, (*self.facts, ("report", str(self.report))), width)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `lns tune --json`."""
        return {
            "study": str(self.study),
            "trials": self.trials,
            "better": self.better,
            "verdict": self.verdict_text,
            "best_params": None if self.best_file is None else str(self.best_file),
            "kept": [str(path) for path in self.kept],
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


@checked
def tune(
    instances: Sequence[str | Puzzle] | str | Puzzle = (),
    *,
    study: str | PathLike[str],
    time: float | None = None,
    trials: int | None = None,
    workers: int | None = None,
    report_only: bool = False,
    on_start: Callable[[TuningSession], None] | None = None,
    on_progress: Callable[[StudyProgress], None] | None = None,
    **settings: Any,
) -> TuningResult:
    """Search for better parameters, and validate them on pairs of instance and seed that the search has not seen.

    The same call continues a study that was stopped; several processes may work on one study. KeyboardInterrupt ends
    the session; finished runs are kept.

    Parameters
    ----------
    instances : Puzzle, str, or sequence of them
        What to tune for: puzzles, files or names of shipped instances. Not needed to continue a study.
    study : path
        Directory of the study; created if need be.
    time : float, optional
        Seconds of this session, validation included; one hour if neither ``time`` nor ``trials`` is given.
    trials : int, optional
        Search until the study has this number of trials.
    workers : int, optional
        Spawned worker processes, 1 by default, for which a script needs ``if __name__ == "__main__":``.
    report_only : bool
        Only write the report of the finished runs; make no new ones.
    on_start : callable, optional
        Called with the session before it runs. Its method ``stop`` may be called from another thread.
    on_progress : callable, optional
        Called about once a second with a `StudyProgress`.
    **settings
        Fields of `StudyRequest`: ``family`` of instances to tune for instead, such as ``like-e2:12x12``, ``engine``,
        ``seed``, ``pairs``, ``held_out``, ``nodes``, ``run_seconds``, ``params``, ``sampler``, ``storage``; or
        ``request``, a `StudyRequest` that replaces these and ``instances``.

    Returns
    -------
    TuningResult
        The verdicts, the best parameters and a summary.

    Raises
    ------
    InputError
        A setting is wrong, a number impossible, the study was begun with other settings or another engine, the defaults
        make no board on any pair, or worker processes die again and again.
    """
    path, request = Path(study), settings.pop("request", None)
    if request is None:
        known = [name for name in StudyRequest.__dataclass_fields__ if name not in ("instances", "command")]
        if unknown := [name for name in settings if name not in known]:
            raise InputError(f"unknown setting '{unknown[0]}'; expected one of {', '.join(known)}")
        named = (instances,) if isinstance(instances, str | Puzzle) else tuple(instances)
        request = StudyRequest(**{"command": "lns.tune(...)", "instances": named, **settings})
    check_workers(workers)
    for is_wrong, sentence in (
        (time is not None and not 0 < time <= UNLIMITED_S,
         f"a time of {time} s; expected more than 0 and at most {UNLIMITED_S:.0f} s"),
        (trials is not None and trials < 1, f"{trials} trials; expected 1 or more"),
        (request.instances and request.family, "both instances and a family are given; expected one of them"),
        (request.nodes and request.run_seconds, "both nodes and seconds of a run are given; expected one of them"),
        (not str(path).isprintable(),
         "the name of the directory has characters that no report can hold; expected printable ones"),
        (report_only and (time, trials, workers) != (None, None, None),
         "a report makes no runs; expected it without a time, a number of trials or workers"),
    ):  # fmt: skip
        if is_wrong:
            raise InputError(sentence)
    with storage_errors(request.storage):
        if report_only:
            with damage_told(path):
                return _conclude(open_study(path, request, reading=True), None)
        if time is not None and not (request.nodes or request.run_seconds or is_study(path)):
            request = replace(request, run_seconds=fitting_run_seconds(request, time, workers or 1))
        opened = open_study(path, request)
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
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C at this point does not prevent the report
            session.on_progress(session.progress("report"))
        return _conclude(opened, session)


def _conclude(study: Study, session: TuningSession | None) -> TuningResult:
    """Write the report and, after a session, best_params.toml and the kept parameters; return the result."""
    conclusion, kept = validate.conclude(study), list[Path]()
    if session is not None:
        validate.write_best(study, conclusion)
        kept = _keep(study, conclusion)
    report_file, overhead = study.path / REPORT_FILE, None if session is None else session.overhead
    atomic_write(report_file, report.html_page(study, conclusion, f"{utc_now()}, lns {__version__}"))
    winner, trials, facts = conclusion.winner, study.finished, [*report.facts(study, conclusion, overhead)]
    if kept:  # tell what `lns solve` does from now on with the kept parameters
        what = f"puzzles like {study.plan.family}" if study.plan.family else study.plan.subject
        engine = "" if study.plan.engine == "auto" else f" --engine {study.plan.engine}"
        files = f"{kept[0].name}{' and others' * (len(kept) > 1)} in {kept[0].parent}"
        facts.append(
            ("kept", f"`lns solve{engine}` takes them for {what} from now on; --params default does not ({files})")
        )
    return TuningResult(
        study=study.path,
        trials=len(trials),
        verdicts=conclusion.verdicts,
        best_params=None if winner is None else validate.winning_params(study, winner),
        best_file=validate.written_best(study, conclusion),
        kept=tuple(kept),
        rank_correlation=report.rank_correlation(study),
        importance=report.importance(study),
        overhead=overhead,
        report=report_file,
        interrupted=session is not None and session.interrupted,
        table=[
            {"trial": trial.number, "state": trial.state.name.lower(), "short": trial.user_attrs.get("short"),
             "long": trial.value if trial.state.name == "COMPLETE" else trial.user_attrs.get("long"),
             "params": dict(trial.params)}
            for trial in trials
        ],
        verdict_text=report.verdict_text(study, conclusion),
        facts=tuple(facts),
    )  # fmt: skip


def _keep(study: Study, conclusion: validate.Conclusion) -> list[Path]:
    """Keep the winner's parameters for `lns solve` if the study's base is the built-in defaults; return the files."""
    winner, plan = conclusion.winner, study.plan
    if winner is None or study.base != Params():
        return []
    gain = f"{validate.signed(winner.mean)} edges on {count_of(len(winner.differences), 'held-out pair')}"
    params = validate.winning_params(study, winner)
    kept = KeptParams(params, str(study.path.resolve()), printable(plan.subject, 1000), gain)
    puzzles = [study.held_out[0].puzzle] if plan.family else plan.puzzles
    try:
        return [kept_params.keep(kept, plan.engine, puzzle, family=bool(plan.family)) for puzzle in puzzles]
    except OSError as error:
        log.warning("the parameters cannot be kept for `lns solve`: %s", error)
        return []
