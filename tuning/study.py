"""An open study: its plan, its trials and its runs, all of them in optuna's storage."""

from __future__ import annotations

import logging
import random
import warnings
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

import optuna
from optuna.pruners import WilcoxonPruner
from optuna.storages import BaseStorage, JournalStorage, RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState

from lns import params as parameters
from lns.instances.errors import InputError
from lns.instances.files import atomic_write, read_text
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.text import printable
from lns.params import Params
from lns.runs.files import seal
from lns.runs.lock import Holder, clear_temporaries
from lns.tuning import plan as plans
from lns.tuning import storage as places
from lns.tuning.objective import BELOW_BEST, Pair, Trace
from lns.tuning.plan import StudyPlan, StudyRequest, params_digest
from lns.tuning.sampler import SeededSampler, check_sampler, search_space, values_of, with_values
from lns.tuning.storage import JOURNAL_FILE, STORAGE_FILE, Journal, RunKey, Runs, locked, redact_url

LOCK_FILE, REPORT_FILE, BEST_FILE = "study.lock", "report.html", "best_params.toml"
FILES = (JOURNAL_FILE, "journal.lock", STORAGE_FILE, LOCK_FILE, REPORT_FILE, BEST_FILE)
OPTUNA_NAME = "lns"  # of the study in the journal
PLAN, CHOICES = "plan", "choices"  # attributes of it; choices: (share of each candidate, trial numbers) of each choice
START_S = 600.0  # after so long the start of a trial on another machine is over
MAX_RETRIES = 3  # how often a trial whose process died is tried again
MIN_PAIRS = 4  # below so many pairs no trial is pruned
P_WORSE = 0.1  # p-value below which a trial counts as worse than the best one
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)

DAMAGE = ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError
"""What optuna and a report raise for records that no session has written."""

log = logging.getLogger("lns")
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
warnings.filterwarnings("ignore", message=".*out of( the)? range.*")  # defaults may lie outside
optuna.logging.set_verbosity(optuna.logging.WARNING)


class Study:
    """A study in a directory, as `open_study` opens it. Several processes may do so at the same time.

    ``optuna`` has its trials, at the URL ``storage`` or, if that is None, in the journal of the directory; ``base`` are
    the parameters that candidates are compared with, ``space`` those that are searched, ``runs`` the kept runs.
    """

    def __init__(
        self, path: Path, trials: optuna.Study, plan: StudyPlan, storage: str | None, *, is_read_only: bool
    ) -> None:
        self.path, self.optuna, self.plan, self.storage = path, trials, plan, storage
        if not is_read_only:
            plans.check_engine(plan, path)
            check_sampler(plan.sampler)
        self.base = parameters.from_dict(plan.base)
        if params_digest(self.base) != plan.base_digest:  # runs are stored under this digest
            raise InputError(
                "not the parameters that the study began with: this version of lns has other parameters", path
            )
        self.space = search_space(self.base, plan.engine)
        self.runs = Runs(trials, 0.0 if storage is None else places.SHARED_S)
        self.optuna.sampler = SeededSampler(plan.sampler, plan.seed, values_of(self.base, self.space), self.space)
        self.optuna.pruner = WilcoxonPruner(p_threshold=P_WORSE, n_startup_steps=MIN_PAIRS)
        for trial in self.trials(TrialState.COMPLETE):
            self.params_of(trial)

    def exclusive(self) -> AbstractContextManager[None]:
        """Lock for starting and requeuing trials and for choosing candidates: one process at a time."""
        return locked(self.path / LOCK_FILE)

    # -- pairs and their runs ----------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[Pair]:
        """The training pairs."""
        return self._pairs(plans.first_seeds(self.plan.seed)[0], self.plan.pairs)

    @cached_property
    def held_out(self) -> list[Pair]:
        """The pairs of the validation, on which no trial is run: other members of the family and other seeds."""
        return self._pairs(plans.first_seeds(self.plan.seed)[1], self.plan.held_out)

    @cached_property
    def puzzles(self) -> list[Puzzle]:
        """The named instances."""
        return [plans.puzzle_of(fields) for fields in self.plan.instances]

    def _pairs(self, first_seed: int, count: int) -> list[Pair]:
        """``count`` pairs, shuffled once, so that the first few do not favour an instance."""
        member, pairs = self.plan.family and family(self.plan.family), []
        for i, seed in enumerate(range(first_seed, first_seed + count)):
            puzzle = member(seed).puzzle if member else self.puzzles[i % len(self.puzzles)]
            pairs.append(Pair(puzzle, seed, f"{self.plan.family or puzzle.name} seed {seed}"))
        random.Random(self.plan.seed).shuffle(pairs)
        return pairs

    def short_runs(self) -> list[tuple[Pair, bool]]:
        """The training pairs with the floor that a short run of the defaults has set, and whether it made a board."""
        short = self.plan.short
        runs = [(pair, self.run_of(self.base, pair, short)) for pair in self.pairs]
        return [
            (replace(pair, floor=max(1, run.score_at(short) - BELOW_BEST)), run.has_board(short))
            for pair, run in runs
            if run is not None
        ]

    @property
    def training(self) -> list[Pair]:
        """The training pairs with their floors, without those that are left out."""
        return [pair for pair, has_board in self.short_runs() if has_board]

    @property
    def left_out(self) -> list[Pair]:
        """The training pairs on which the defaults are known to make no board within a short run."""
        return [pair for pair, has_board in self.short_runs() if not has_board]

    @property
    def default_runs(self) -> list[Trace]:
        """The long runs of the defaults on training pairs that are complete."""
        runs = (self.run_of(self.base, pair, self.plan.nodes) for pair in self.training)
        return [run for run in runs if run is not None]

    def run_of(self, params: Params, pair: Pair, budget: int) -> Trace | None:
        """The stored run of at least ``budget`` nodes; None if there is none."""
        run = self.runs.get(self.key(params, pair))
        return run if run is not None and run.covers(budget) else None

    def key(self, params: Params, pair: Pair) -> RunKey:
        """Key of a run."""
        digest = self.plan.base_digest if params is self.base else params_digest(params)
        return digest + (f":{pair.floor}" if pair.floor else ""), pair.puzzle.sha256[:32], pair.seed

    # -- trials ------------------------------------------------------------------------------------------------------

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """The trials in one of ``states``, or all."""
        trials: list[FrozenTrial] = self.optuna.get_trials(deepcopy=False, states=states or None)
        return trials

    def params_of(self, trial: FrozenTrial | optuna.Trial) -> Params:
        """The parameters of a trial."""
        return with_values(self.base, self.space, trial.params)

    def next_trial(self, max_trials: int | None) -> optuna.Trial | None:
        """Start a trial, marked as held by this process; None if ``max_trials`` are finished or running."""
        with self.exclusive():
            if max_trials is not None and len(self.trials(*FINISHED, TrialState.RUNNING)) >= max_trials:
                return None
            trial = self.optuna.ask({**self.space})
            trial.set_user_attr("holder", asdict(Holder.me()))
            return trial

    def start(self) -> None:
        """Queue the defaults as the first trial of a new study, and again the trials whose process has died."""
        clear_temporaries(self.path)
        if not self.trials():
            self.optuna.enqueue_trial(values_of(self.base, self.space))
        for trial in self.trials(TrialState.RUNNING):
            if self._was_left(trial):
                self._requeue(trial, MAX_RETRIES)
                log.info("trial %d was cut short with its process; it will be tried again", trial.number)

    def _was_left(self, trial: FrozenTrial) -> bool:
        """Whether the process of a running trial has ended; False for one on another machine, which is not seen."""
        if "holder" in trial.user_attrs:
            holder = Holder(**trial.user_attrs["holder"])
            return not holder.is_elsewhere and not holder.is_alive
        begun = trial.datetime_start  # killed right after its start, or begun just now on another machine
        return self.storage is None or begun is None or datetime.now() - begun > timedelta(seconds=START_S)

    def requeue(self, trial: optuna.Trial) -> None:
        """Queue an interrupted trial again."""
        with self.exclusive():
            self._requeue(self.trials()[trial.number], None)

    def _requeue(self, trial: FrozenTrial, max_retries: int | None) -> None:
        """Fail a trial and queue it again with the values and the steps it has, unless it was tried too often."""
        try:
            self.optuna.tell(trial.number, state=TrialState.FAIL)
        except (optuna.exceptions.UpdateFinishedTrialError, ValueError):
            return  # a process with another directory of this study in the storage has done so meanwhile
        if trial.params or "fixed_params" in trial.system_attrs:
            again = deepcopy(trial)
            again.user_attrs = {}
            RetryHeartbeatStaleTrialCallback(max_retries, inherit_intermediate_values=True)(self.optuna, again)


def trial_value(trial: FrozenTrial) -> float:
    """Value of a complete trial: edges above the defaults in long runs."""
    assert trial.value is not None
    return trial.value


def is_study(path: Path) -> bool:
    """Whether a study was begun in the directory ``path``."""
    return (path / JOURNAL_FILE).exists() or (path / STORAGE_FILE).exists()


def open_study(path: Path, request: StudyRequest, *, reading: bool = False) -> Study:
    """Open the study in ``path``; begin it if there is none. One without any run takes new settings of its runs.

    ``reading``: open it to show what is there, even if it is of another engine; nothing is created, changed or
    repaired. Raises InputError if the study is not what was requested, or cannot be opened or begun.
    """
    url, place = request.storage, path / (JOURNAL_FILE if request.storage is None else STORAGE_FILE)
    _check_directory(path, url)
    name = OPTUNA_NAME if url is None else f"lns {path.resolve().name}"
    storage: BaseStorage | None = None
    journal: Journal | None = None
    try:
        with places.storage_errors(url):
            if url is not None:
                storage = places.connect(url)
            elif is_study(path):
                storage = JournalStorage(journal := Journal(place, reading=reading))
            found = None if storage is None else _find(storage, name, path)
            if reading and (found is None or not is_study(path)):
                raise InputError("no study is here; expected one that `lns tune` began", path)
            if found is None:
                plan = plans.new_plan(request)
                path.mkdir(parents=True, exist_ok=True)
                with locked(path / LOCK_FILE):
                    storage = storage or JournalStorage(journal := Journal(place, reading=False))
                    found = _find(storage, name, path) or _begin(storage, name, plan)
            study = Study(path, *found, url, is_read_only=reading)
            if not reading:
                path.mkdir(parents=True, exist_ok=True)
                with study.exclusive():
                    if url is not None:
                        atomic_write(place, redact_url(url) + "\n")
                    elif not len(study.runs) and (plan := plans.replan(study.plan, request)) != study.plan:
                        places.put_text(study.optuna, PLAN, seal(asdict(plan)))
                        study.plan = plan
                    study.start()
    except InputError:
        raise
    except DAMAGE as error:
        raise damaged(error, place, None if journal is None else journal.line) from None
    plans.check_request(study.plan, request, path)
    return study


def _find(storage: BaseStorage, name: str, path: Path) -> tuple[optuna.Study, StudyPlan] | None:
    """The study and its plan; None if there is none, or one whose process was killed before it had a plan."""
    if name not in optuna.get_all_study_names(storage):
        return None
    study = optuna.load_study(storage=storage, study_name=name)
    if (plan := dict(places.get_texts(study, PLAN)).get(PLAN)) is not None:
        return study, plans.read_plan(plan, path)
    if study.get_trials(deepcopy=False):
        raise InputError("a study without a plan, as earlier versions of lns began it; expected a new study", path)
    return None


def _begin(storage: BaseStorage, name: str, plan: StudyPlan) -> tuple[optuna.Study, StudyPlan]:
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    places.put_text(study, PLAN, seal(asdict(plan)))
    return study, plan


def _check_directory(path: Path, url: str | None) -> None:
    """Raise InputError if ``path`` holds something else than a study whose trials are at ``url``."""
    if path.exists() and not path.is_dir():
        raise InputError("is a file; expected the directory of a study", path)
    for file in sorted(path.iterdir()) if path.exists() else ():
        if file.name in FILES:
            if file.is_symlink() or not file.is_file():  # what it points to is not the study's
                raise InputError("is no regular file; expected one", file)
        elif not is_study(path) and not (file.name.startswith(".lns-") and file.suffix == ".tmp"):
            raise InputError(f"holds no study, but {file.name}; expected a study, or an empty or a new directory", path)
    if url is None and (path / STORAGE_FILE).exists():
        where = printable(read_text(path / STORAGE_FILE).strip(), 300)
        raise InputError(f"the trials are in {where}; expected --storage with its URL", path)
    if url is not None and (path / JOURNAL_FILE).exists():
        raise InputError("this file has the trials of the study; expected no --storage", path / JOURNAL_FILE)


def damaged(error: Exception, place: Path, line: int | None = None) -> InputError:
    """The sentence for one of `DAMAGE`, and the last line that was read."""
    what = printable(f"{type(error).__name__}: {error}", 100)
    return InputError(f"damaged: it holds what no session writes ({what})", place, line)
