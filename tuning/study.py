"""An open study: its plan (study.json), its trials (journal.log) and its runs (runs.jsonl)."""

from __future__ import annotations

import logging
import random
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from instances.formats import load_puzzle
from instances.generate import family
from instances.puzzle import Puzzle
from lns import params as parameters
from lns.params import Params
from lns.runs.lock import Holder, clear_temporaries
from lns_support.errors import InputError
from lns_support.text import printable
from tuning.objective import BELOW_BEST, Pair, Trace
from tuning.plan import (
    BASE_FILE,
    JOURNAL_FILE,
    LOCK_FILE,
    RUNS_FILE,
    STUDY_FILE,
    StudyRequest,
    begin_study,
    check_engine,
    check_request,
    params_digest,
    read_plan,
    replan,
)
from tuning.pruner import PairedPruner
from tuning.records import JournalFile, locked
from tuning.run_store import RunKey, RunStore
from tuning.sampler import SeededSampler, check_sampler
from tuning.space import Variable, search_space, suggest_params, values_of
from tuning.storage import (
    STORAGE_FILE,
    SharedRuns,
    check_place,
    connect,
    fetch_plan,
    share_plan,
    storage_errors,
    study_name,
)

REPORT_FILE, BEST_FILE = "report.html", "best_params.toml"
OPTUNA_NAME = "lns"  # of the study in the journal
CHOICES = "choices"  # attribute of it: (share of each candidate, trial numbers) of each choice
START_S = 600.0  # after so long the start of a trial on another machine is over
MAX_RETRIES = 3  # how often a trial whose process died is tried again
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)

DAMAGE = ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError
"""What optuna and a report raise for records and runs that no session has written."""

log = logging.getLogger("lns")
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
warnings.filterwarnings("ignore", message=".*out of( the)? range.*")  # defaults may lie outside
optuna.logging.set_verbosity(optuna.logging.WARNING)


class Study:
    """A study in a directory. Several processes may open it at the same time.

    Parameters
    ----------
    path : Path
        The directory.
    reading : bool
        Open it to show what is there, even if it is of another engine; nothing is created, changed or repaired.
    storage : str, optional
        URL of the storage that has the trials; by default they are in the journal.

    Attributes
    ----------
    plan : StudyPlan
        What is tuned and how.
    base : Params
        Parameters that candidates are compared with.
    space : list of Variable
        Parameters that are searched.
    run_store : RunStore
        The finished runs.
    optuna : optuna.Study
        The trials.

    Raises
    ------
    InputError
        There is no study, or one that this program cannot continue.
    """

    def __init__(self, path: Path, *, reading: bool = False, storage: str | None = None) -> None:
        self.path, self._reading, self.storage = path, reading, storage
        check_place(path, storage)
        refuse_links(path)
        self.plan = read_plan(path)
        if not reading:
            check_engine(self.plan, path)
            check_sampler(self.plan.sampler)
        self.base = parameters.load(path / BASE_FILE)
        if params_digest(self.base) != self.plan.base:  # runs are stored under this digest
            raise InputError(
                "not the parameters that the study began with: changed by hand, or this version has other parameters",
                path / BASE_FILE,
            )
        self.space: list[Variable] = search_space(self.base, self.plan.engine)
        self.run_store = RunStore(path / RUNS_FILE, reading=reading)
        with storage_errors(storage):
            self.optuna = self._load()
            if storage is not None:
                self.run_store.share(SharedRuns(self.optuna, self.plan.base, self.plan.first_seeds[1]))
            if not reading:
                self._start()

    def exclusive(self) -> AbstractContextManager[None]:
        """Lock for starting and requeuing trials and for choosing candidates: one process at a time."""
        return nullcontext() if self._reading else locked(self.path / LOCK_FILE)

    def _load(self) -> optuna.Study:
        """The trials from the journal or the storage. Raises InputError where they make no study."""
        file = self.path / (JOURNAL_FILE if self.storage is None else STORAGE_FILE)
        sampler = SeededSampler(self.plan.sampler, self.plan.seed, values_of(self.base, self.space), self.space)
        options = {"sampler": sampler, "pruner": PairedPruner(lambda: len(self.training))}
        with self.exclusive():
            try:
                study = self._connected(options)
                for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                    self.params_of(trial)
            except InputError as error:
                raise error.at(file) from None
            except DAMAGE as error:
                raise damaged(error, file) from None
        return study

    def _connected(self, options: dict[str, Any]) -> optuna.Study:
        """Optuna's study. One that was begun, but has no trial yet, is made in memory if it is only read."""
        storage: optuna.storages.BaseStorage
        if self.storage is None:
            journal, name = JournalFile(self.path / JOURNAL_FILE, reading=self._reading), OPTUNA_NAME
            storage = optuna.storages.JournalStorage(journal)
            if self._reading and not journal.lines:
                return optuna.create_study(direction="maximize", **options)
        else:
            storage, name = connect(self.storage), study_name(self.path)
        if self._reading:
            return optuna.load_study(storage=storage, study_name=name, **options)
        study = optuna.create_study(
            storage=storage, study_name=name, direction="maximize", load_if_exists=True, **options
        )
        if self.storage is not None:
            share_plan(study, self.path, self.storage)
        return study

    def _start(self) -> None:
        """Queue the defaults as the first trial of a new study; requeue trials whose process died."""
        with self.exclusive():
            clear_temporaries(self.path)
            if not self.trials():
                origin = {"origin": "defaults"}
                self.optuna.enqueue_trial(values_of(self.base, self.space), user_attrs=origin)
            self._requeue_abandoned()

    def _requeue_abandoned(self) -> None:
        """Fail the running trials whose process has ended and queue them again; those of other processes continue."""
        for trial in self.trials(TrialState.RUNNING):
            holder = trial.user_attrs.get("holder")
            if self._was_left(trial) if holder is None else _has_ended(Holder(**holder)):
                self._requeue(trial, died=True)
                log.info("trial %d was cut short with its process; it will be tried again", trial.number)

    def _was_left(self, trial: FrozenTrial) -> bool:
        """Whether a trial without a holder was killed right after its start, not begun just now on another machine."""
        begun = trial.datetime_start
        return self.storage is None or begun is None or datetime.now() - begun > timedelta(seconds=START_S)

    def _requeue(self, trial: FrozenTrial, *, died: bool) -> None:
        """Fail a trial and queue its values again, unless too many processes died in it."""
        try:
            self.optuna.tell(trial.number, state=TrialState.FAIL)
        except (optuna.exceptions.UpdateFinishedTrialError, ValueError):
            return  # a process with another directory of this study in the storage has done so meanwhile
        retries = trial.user_attrs.get("retries", 0) + died
        values = {**trial.system_attrs.get("fixed_params", {}), **trial.params}
        if retries <= MAX_RETRIES and values:
            origin = trial.user_attrs.get("origin", f"trial {trial.number}")
            attributes = {"retries": retries, "origin": origin, "first_number": first_number(trial)}
            self.optuna.enqueue_trial(values, user_attrs=attributes)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The training pairs."""
        return self._pairs(self.plan.first_seeds[0], self.plan.pairs)

    @property
    def training(self) -> list[Pair]:
        """The training pairs with their floors, without those that are left out."""
        left_out = {pair.seed for pair in self.left_out}
        floored = (self.with_floor(pair) for pair in self.pairs if pair.seed not in left_out)
        return [pair for pair in floored if pair is not None]

    @property
    def left_out(self) -> list[Pair]:
        """The training pairs on which the defaults are known to make no board within a short run."""
        short = self.plan.short
        runs = ((pair, self.run_store.get(self.key(self.base, pair))) for pair in self.pairs)
        return [pair for pair, run in runs if run and run.covers(short) and not run.has_board(short)]

    def with_floor(self, pair: Pair) -> Pair | None:
        """A training pair with the floor that a short run of the defaults has set; None before that run."""
        run = self.run_store.get(self.key(self.base, pair))
        if run is None or not run.covers(self.plan.short):
            return None
        return replace(pair, floor=max(1, run.score_at(self.plan.short) - BELOW_BEST))

    def long_default_run(self, pair: Pair) -> Trace | None:
        """The long run of the defaults on a training pair; None before that run."""
        floored = self.with_floor(pair)
        run = None if floored is None else self.run_store.get(self.key(self.base, floored))
        return run if run is not None and run.covers(self.plan.nodes) else None

    @cached_property
    def held_out(self) -> list[Pair]:
        """The pairs of the validation, on which no trial is run: other members of the family and other seeds."""
        return self._pairs(self.plan.first_seeds[1], self.plan.held_out)

    def _pairs(self, first_seed: int, count: int) -> list[Pair]:
        """``count`` pairs, shuffled once, so that the first few do not favour an instance."""
        member, pairs = self.plan.family and family(self.plan.family), []
        for i, seed in enumerate(range(first_seed, first_seed + count)):
            puzzle = member(seed).puzzle if member else self.puzzles[i % len(self.puzzles)]
            pairs.append(Pair(puzzle, seed, f"{self.plan.family or puzzle.name} seed {seed}"))
        random.Random(self.plan.seed).shuffle(pairs)
        return pairs

    @cached_property
    def puzzles(self) -> list[Puzzle]:
        """The named instances, from the copies in the directory."""
        puzzles = []
        for number, (name, sha256) in enumerate(self.plan.instances, 1):
            path = self.path / f"instance-{number}.json"
            puzzle = load_puzzle(str(path))
            if puzzle.sha256 != sha256:
                raise InputError(f"not the puzzle {name} that the study began with; expected it unchanged", path)
            puzzles.append(puzzle)
        return puzzles

    def key(self, params: Params, pair: Pair) -> RunKey:
        """Key of a run in the run store."""
        digest = self.plan.base if params is self.base else params_digest(params)
        return digest + (f":{pair.floor}" if pair.floor else ""), pair.puzzle.sha256[:32], pair.seed

    # -- trials ------------------------------------------------------------------------------------------------------

    def next_trial(self, max_trials: int | None) -> optuna.Trial | None:
        """Start a trial, marked as held by this process; None if ``max_trials`` are finished or running."""
        with self.exclusive():
            if max_trials is not None and len(self.trials(*FINISHED, TrialState.RUNNING)) >= max_trials:
                return None
            trial = self.optuna.ask()
            trial.set_user_attr("holder", asdict(Holder.me()))
            return trial

    def requeue(self, trial: optuna.Trial) -> None:
        """Queue an interrupted trial again."""
        with self.exclusive():
            frozen = self.optuna.get_trials(deepcopy=False)[trial.number]
            self._requeue(frozen, died=False)

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """The trials in one of ``states``, or all."""
        trials: list[FrozenTrial] = self.optuna.get_trials(deepcopy=False, states=states or None)
        return trials

    def params_of(self, trial: FrozenTrial) -> Params:
        """The parameters of a trial."""
        return suggest_params(optuna.trial.FixedTrial(trial.params), self.space, self.base)


def refuse_links(path: Path) -> None:
    """Raise InputError if a file of the study is a symbolic link: what it points to is not the study's to change."""
    for entry in sorted(path.iterdir()):
        if entry.is_symlink():
            raise InputError("is a symbolic link; expected a regular file", entry)


def first_number(trial: FrozenTrial | optuna.Trial) -> int:
    """Number of the trial, or of its first attempt if it was tried again."""
    number: int = trial.user_attrs.get("first_number", trial.number)
    return number


def trial_value(trial: FrozenTrial) -> float:
    """Value of a complete trial: edges above the defaults in long runs."""
    assert trial.value is not None
    return trial.value


def damaged(error: Exception, place: Path) -> InputError:
    """The sentence for one of `DAMAGE`."""
    what = printable(f"{type(error).__name__}: {error}", 100)
    return InputError(f"damaged: it holds what no session writes ({what})", place)


def _has_ended(holder: Holder) -> bool:
    """Whether the process has ended; False for a process of another machine, of which nothing is known."""
    return not holder.is_elsewhere and not holder.is_alive


def _fetched(path: Path, request: StudyRequest) -> bool:
    """Whether another machine began the study in the storage, whose plan is then copied."""
    if request.storage is None:
        return False
    with storage_errors(request.storage):
        return fetch_plan(connect(request.storage), path)


def open_study(path: Path, request: StudyRequest, *, reading: bool = False) -> Study:
    """Open the study in ``path``; begin it if there is none. One without any run takes new settings of its runs.

    Parameters
    ----------
    path : Path
        The directory.
    request : StudyRequest
        What the study shall be.
    reading : bool
        As for `Study`.

    Raises
    ------
    InputError
        The study is not what was requested, or cannot be opened or begun.
    """
    if path.exists() and not path.is_dir():
        raise InputError("is a file; expected the directory of a study", path)
    if path.is_dir():
        refuse_links(path)
    if not (path / STUDY_FILE).exists() and not _fetched(path, request):
        begin_study(path, request)
    elif not reading and request.storage is None and not (path / RUNS_FILE).exists():
        replan(path, request)
    study = Study(path, reading=reading, storage=request.storage)
    check_request(study.plan, request, path)
    return study
