"""A study: its plan, its trials and its runs, all of them in optuna's storage.

The plan says what is tuned and how candidates are compared. It is written with a checksum, and never changed
after the first run. A study refuses other instances and other sources of the engine or the objective, as differences
to the defaults can only be compared among runs of one kind.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
from optuna.pruners import WilcoxonPruner
from optuna.storages import BaseStorage, JournalStorage, RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState

from lns import params as parameters
from lns.engines import engine_digest
from lns.instances.arguments import checked_class
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write, read_text
from lns.instances.formats import load_puzzle, render
from lns.instances.formats.own_json import puzzle_in
from lns.instances.generate import family
from lns.instances.json_values import JsonFields, bounded_integer
from lns.instances.puzzle import Puzzle, refuse_copies
from lns.instances.text import printable, quoted
from lns.params import Params
from lns.runs.files import seal, unseal
from lns.runs.lock import Holder, clear_temporaries
from lns.tuning import SAMPLERS
from lns.tuning import storage as places
from lns.tuning.objective import BELOW_BEST, Pair, Trace, TrialRun
from lns.tuning.sampler import SeededSampler, search_space, values_of, with_values
from lns.tuning.storage import JOURNAL_FILE, STORAGE_FILE, Journal, Runs, locked, redact_url
from lns.version import __version__

SCHEMA = 5
RUN_MODULE = "lns.tuning.objective"  # module that makes the runs of trials; it and its imports decide their results
DEFAULT_PAIRS, DEFAULT_HELD_OUT, DEFAULT_RUN_S, DEFAULT_SEED = 10, 24, 10.0, 1
MIN_HELD_OUT_PAIRS = 20  # with fewer held-out pairs no candidate is called better
SHORT_DIVISOR = 4  # a short run has the nodes of a long run divided by this
LIMITS = {"seed": (0, 10**12), "nodes": (1, 10**15), "pairs": (1, 2_000), "held_out": (1, 2_000)}
MAX_COMMAND = 2**19  # most characters shown of the command that began a study
SEED_BLOCK = 10**6  # number of seeds reserved for the training pairs of a study, and for its held-out pairs
LOCK_FILE, REPORT_FILE, BEST_FILE = "study.lock", "report.html", "best_params.toml"
FILES = (JOURNAL_FILE, "journal.lock", STORAGE_FILE, LOCK_FILE, REPORT_FILE, BEST_FILE)
OPTUNA_NAME = "lns"  # name of optuna's study in the journal
PLAN, CHOICES = "plan", "choices"  # attribute names; a choice is (share of `ALPHA` of each candidate, trial numbers)
START_S = 600.0  # seconds after which another machine has surely finished starting a trial
MAX_RETRIES = 3  # how often, at most, a trial whose process died is tried again
MIN_PAIRS = 4  # no trial is pruned before it was run on this number of pairs
P_WORSE = 0.1  # p-value below which a trial counts as worse than the best one

# kinds of errors that optuna and the report raise for damaged records
DAMAGE = ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError
log = logging.getLogger("lns")
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
warnings.filterwarnings("ignore", message=".*out of( the)? range.*")  # defaults may be outside of searched ranges
optuna.logging.set_verbosity(optuna.logging.WARNING)


# -- the plan ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyPlan:
    """The subject of a study, and how its candidates are compared."""

    family: str  # family of the instances; "" if instances are named
    instances: tuple[dict[str, Any], ...]  # the named instances, each as the fields of a `Puzzle`
    engine: str  # one of `lns.engines.ENGINES`
    seed: int  # random seed of the study
    pairs: int  # number of training pairs, on which each trial is run
    held_out: int  # number of held-out pairs, for the validation
    nodes: int  # budget of a long run, in node equivalents
    nodes_per_s: float  # speed measured to convert seconds into ``nodes``; 0.0 if nodes were given
    base: dict[str, Any]  # parameters that candidates are compared with, as `lns.params.to_dict` gives them
    base_digest: str  # digest of ``base``, under which the runs of these parameters are stored
    sampler: str  # one of `tuning.SAMPLERS`
    command: str  # command line that began the study
    sources: str  # digest of the sources of the engine and the objective
    version: str = __version__  # version of lns that began the study
    schema: int = SCHEMA  # version of the format of plans

    @property
    def short(self) -> int:
        """Budget of a short run, in node equivalents."""
        return max(1, self.nodes // SHORT_DIVISOR)

    @property
    def subject(self) -> str:
        """The family, or the names of the instances, that parameters are tuned for."""
        return printable(self.family or ", ".join(instance["name"] for instance in self.instances))

    @cached_property
    def puzzles(self) -> list[Puzzle]:
        """The named instances as puzzles; empty for a family."""
        return [puzzle_in(JsonFields(fields), fields["name"]) for fields in self.instances]


@checked_class
@dataclass(frozen=True)
class StudyRequest:
    """The settings that a caller asks for. None stands for the plan's setting, or for the default in a new study."""

    instances: tuple[str | Puzzle, ...] = ()  # puzzles, files or names of shipped instances to tune for
    family: str | None = None  # family of instances to tune for instead, such as ``like-e2:12x12``
    engine: str | None = None  # see `StudyPlan` for this and for fields without a comment
    seed: int | None = None
    pairs: int | None = None
    held_out: int | None = None
    nodes: int | None = None
    run_seconds: float | None = None  # seconds of a long run, converted into nodes by a measurement
    params: Params | None = None  # parameters that candidates are compared with
    sampler: str | None = None
    command: str = ""  # command line to note in a new study
    storage: str | None = None  # URL of a storage for several machines; by default a journal in the directory

    @property
    def puzzles(self) -> list[Puzzle]:
        """The named instances as puzzles. Raises InputError for a puzzle whose pieces have copies."""
        puzzles = [load_puzzle(each) if isinstance(each, str) else each for each in self.instances]
        for puzzle in puzzles:
            refuse_copies(puzzle, "tune")
        return puzzles


def first_seeds(seed: int) -> tuple[int, int]:
    """Return the first seed of the training pairs and that of the held-out pairs in a study with ``seed``.

    Studies with another ``seed`` do not use these seeds. Shipped instances and rows of the benchmark have smaller ones.
    """
    training = 100_001 + 2 * SEED_BLOCK * seed
    return training, training + SEED_BLOCK


def params_digest(params: Params) -> str:
    """Return a digest of the values of ``params``."""
    return hashlib.sha256(json.dumps(parameters.to_dict(params), sort_keys=True).encode()).hexdigest()[:16]


def new_plan(request: StudyRequest) -> StudyPlan:
    """Return the plan of a new study; measure the nodes per second if the length of runs is given in seconds.

    Raises InputError if the request names nothing to tune for or has a setting out of bounds.
    """
    if not request.instances and not request.family:
        raise InputError("no study is here yet; expected INSTANCE or --family to begin one")
    sampler, base, engine = request.sampler or SAMPLERS[0], request.params or Params(), request.engine or "auto"
    if sampler not in SAMPLERS:
        raise InputError(f"'sampler': {quoted(sampler)}; expected one of {', '.join(SAMPLERS)}")
    seed = DEFAULT_SEED if request.seed is None else request.seed
    pairs, held_out = request.pairs or DEFAULT_PAIRS, request.held_out or DEFAULT_HELD_OUT
    for name, number in {"seed": seed, "nodes": request.nodes or 1, "pairs": pairs, "held_out": held_out}.items():
        bounded_integer(number, *LIMITS[name], f"'{name}'")
    puzzles, first_seed = request.puzzles, first_seeds(seed)[0]
    puzzle = family(request.family)(first_seed).puzzle if request.family else puzzles[0]
    rate = 0.0 if request.nodes else nodes_per_second(engine, base, Pair(puzzle, first_seed, ""))
    if held_out < MIN_HELD_OUT_PAIRS:
        log.warning("%d held-out pairs prove nothing; at least %d are needed", held_out, MIN_HELD_OUT_PAIRS)
    instances = tuple(json.loads(render("json", puzzle, None)[0]) for puzzle in puzzles)
    return StudyPlan(
        family=request.family or "", instances=instances, engine=engine, seed=seed, pairs=pairs,
        held_out=held_out, nodes=request.nodes or two_digits((request.run_seconds or DEFAULT_RUN_S) * rate),
        nodes_per_s=rate, base=parameters.to_dict(base), base_digest=params_digest(base), sampler=sampler,
        command=request.command, sources=engine_digest(RUN_MODULE),
    )  # fmt: skip


def replan(plan: StudyPlan, request: StudyRequest) -> StudyPlan:
    """Return the plan with the requested numbers of pairs and length of runs, for a study without any stored run."""
    seconds = (request.run_seconds or 0) * plan.nodes_per_s
    nodes = two_digits(seconds) if seconds else request.nodes or plan.nodes
    return replace(plan, pairs=request.pairs or plan.pairs, held_out=request.held_out or plan.held_out, nodes=nodes)


def nodes_per_second(engine: str, params: Params, pair: Pair) -> float:
    """Measure, for about two seconds, the nodes per second of processor time; return them rounded to two digits."""
    warm_up, run = (TrialRun(engine, params, pair, shortest) for shortest in (1, 10**12))
    for _ in range(2):  # the first call compiles the kernels up to the first board, the second all others
        warm_up.advance(warm_up.trace.nodes + 1, lambda: False)
    while run.trace.seconds < 2.0 and not run.trace.exhausted:
        run.advance(run.trace.nodes + 1, lambda: False)
    return float(two_digits(run.trace.nodes / max(run.trace.seconds, 1e-3)))


def two_digits(number: float) -> int:
    """Return ``number`` as an integer of two significant digits, at least 1."""
    return max(1, int(float(f"{number:.1e}")))


def read_plan(text: str, path: Path) -> StudyPlan:
    """Return the plan of the study in ``path`` from ``text``. Raises InputError if damaged or of another schema."""
    with named(path):
        values = unseal(text)
    if values["schema"] != SCHEMA:
        raise InputError(
            f"a study of schema {values['schema']}, begun by lns {printable(str(values['version']), 40)}; "
            f"this is lns {__version__}, which reads schema {SCHEMA}: expected a new study",
            path,
        )
    return StudyPlan(**values | {"instances": tuple(values["instances"])})


def check_request(plan: StudyPlan, request: StudyRequest, path: Path) -> None:
    """Raise InputError if a setting of the request differs from the plan of the study in ``path``."""
    names = ("engine", "seed", "pairs", "held_out", "nodes", "sampler", "family")
    given: list[tuple[str, object, object]] = [(name, getattr(request, name), getattr(plan, name)) for name in names]
    puzzles, rate = request.puzzles, plan.nodes_per_s
    if puzzles and puzzles != plan.puzzles:
        given.append(("INSTANCE", ", ".join(puzzle.name for puzzle in puzzles), plan.subject))
    if (seconds := request.run_seconds) is not None:
        given.append(("run_seconds", two_digits(seconds * rate) if rate else f"{seconds:g} s", plan.nodes))
    if request.params is not None:
        given.append(("params", params_digest(request.params), plan.base_digest))
    for name, asked, expected in given:
        if asked is not None and asked != expected:
            what = f"is of {expected or 'named instances'}" if name in ("INSTANCE", "family") else f"has {expected}"
            option = name if name == "INSTANCE" else f"--{name.replace('_', '-')}"
            raise InputError(f"{option} asks for {asked}, but this study {what}; begin another one for that", path)


# -- trials, runs and pairs --------------------------------------------------------------------------------------------


class Study:
    """A study in a directory, as `open_study` opens it. Several processes may have it open at the same time.

    ``optuna`` is optuna's study, with the trials, stored at the URL ``storage`` or, if this is None, in the directory's
    journal. ``base`` holds the parameters that candidates are compared with, ``space`` the searched ranges,
    ``runs`` the stored runs.
    """

    def __init__(
        self, path: Path, trials: optuna.Study, plan: StudyPlan, storage: str | None, *, is_read_only: bool
    ) -> None:
        self.path, self.optuna, self.plan, self.storage = path, trials, plan, storage
        if not is_read_only and (plan.sources != engine_digest(RUN_MODULE) or plan.sampler not in SAMPLERS):
            raise InputError(
                "begun with another engine: the sources of the engine or of its cost model have changed since; "
                "expected the same, so begin another study (--report still shows this one)", path,
            )  # fmt: skip
        self.base = parameters.from_dict(plan.base)
        if params_digest(self.base) != plan.base_digest:  # stored runs are found by this digest
            raise InputError(
                "not the parameters that the study began with: this version of lns has other parameters", path
            )
        self.space = search_space(self.base, plan.engine)
        self.runs = Runs(trials, 0.0 if storage is None else places.SHARED_S)
        self.optuna.sampler = SeededSampler(plan.sampler, plan.seed, values_of(self.base, self.space))
        self.optuna.pruner = WilcoxonPruner(p_threshold=P_WORSE, n_startup_steps=MIN_PAIRS)
        for trial in self.trials(TrialState.COMPLETE):
            self.params_of(trial)

    def exclusive(self) -> AbstractContextManager[None]:
        """Return the lock that a process must hold while it starts or requeues trials or chooses candidates."""
        return locked(self.path / LOCK_FILE)

    # -- pairs and their runs ----------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> list[Pair]:
        """The training pairs, still without their floors."""
        return self._pairs(first_seeds(self.plan.seed)[0], self.plan.pairs)

    @cached_property
    def held_out(self) -> list[Pair]:
        """The pairs of the validation, on which no trial is run: other members of the family or other seeds."""
        return self._pairs(first_seeds(self.plan.seed)[1], self.plan.held_out)

    def _pairs(self, first_seed: int, count: int) -> list[Pair]:
        """Make ``count`` pairs with seeds from ``first_seed`` on, shuffled so that the first few favour no instance."""
        member, pairs = self.plan.family and family(self.plan.family), []
        for i, seed in enumerate(range(first_seed, first_seed + count)):
            puzzle = member(seed).puzzle if member else self.plan.puzzles[i % len(self.plan.puzzles)]
            pairs.append(Pair(puzzle, seed, f"{self.plan.family or puzzle.name} seed {seed}"))
        random.Random(self.plan.seed).shuffle(pairs)
        return pairs

    def short_runs(self) -> list[tuple[Pair, bool]]:
        """Return (training pair with floor, whether a board was made) of each pair with a short run of the defaults."""
        short = self.plan.short
        runs = [(pair, self.run_of(self.base, pair, short)) for pair in self.pairs]
        return [
            (replace(pair, floor=max(1, run.score_at(short) - BELOW_BEST)), run.has_board(short))
            for pair, run in runs
            if run is not None
        ]

    @property
    def training(self) -> list[Pair]:
        """The training pairs, with their floors, on which the short run of the defaults made a board."""
        return [pair for pair, has_board in self.short_runs() if has_board]

    @property
    def left_out(self) -> list[Pair]:
        """The training pairs on which the short run of the defaults made no board."""
        return [pair for pair, has_board in self.short_runs() if not has_board]

    @property
    def default_runs(self) -> list[Trace]:
        """The stored long runs of the defaults on training pairs."""
        runs = (self.run_of(self.base, pair, self.plan.nodes) for pair in self.training)
        return [run for run in runs if run is not None]

    def run_of(self, params: Params, pair: Pair, budget: int) -> Trace | None:
        """Return the stored run of ``params`` on ``pair`` if it covers ``budget`` nodes; else None."""
        run = self.runs.get(self.key(params, pair))
        return run if run is not None and run.covers(budget) else None

    def key(self, params: Params, pair: Pair) -> str:
        """Return the key of the run of ``params`` on ``pair``: the name of the attribute that stores this run."""
        digest = self.plan.base_digest if params is self.base else params_digest(params)
        floor = f":{pair.floor}" if pair.floor else ""
        return f"{places.RUN}{digest}{floor} {pair.puzzle.sha256[:32]} {pair.seed}"

    # -- trials ------------------------------------------------------------------------------------------------------

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the trials in one of ``states``, or all trials if no state is given."""
        trials: list[FrozenTrial] = self.optuna.get_trials(deepcopy=False, states=states or None)
        return trials

    @property
    def finished(self) -> list[FrozenTrial]:
        """The trials that ended with a result: completed or pruned."""
        return self.trials(TrialState.COMPLETE, TrialState.PRUNED)

    def params_of(self, trial: FrozenTrial | optuna.Trial) -> Params:
        """Return the parameters of a trial."""
        return with_values(self.base, self.space, trial.params)

    def next_trial(self, max_trials: int | None) -> optuna.Trial | None:
        """Start a trial, held by this process, and return it; None if ``max_trials`` are finished or running."""
        with self.exclusive():
            if max_trials is not None and len(self.finished) + len(self.trials(TrialState.RUNNING)) >= max_trials:
                return None
            trial = self.optuna.ask({**self.space})
            trial.set_user_attr("holder", asdict(Holder.me()))
            return trial

    def start(self) -> None:
        """Queue the base parameters as the first trial of a new study; requeue trials whose process has died."""
        clear_temporaries(self.path)
        if not self.trials():
            self.optuna.enqueue_trial(values_of(self.base, self.space))
        for trial in self.trials(TrialState.RUNNING):
            if self._was_left(trial):
                self._requeue(trial, MAX_RETRIES)
                log.info("trial %d was cut short with its process; it will be tried again", trial.number)

    def _was_left(self, trial: FrozenTrial) -> bool:
        """Return whether the process of a running trial has ended; False if that cannot be seen from this machine."""
        if "holder" in trial.user_attrs:
            holder = Holder(**trial.user_attrs["holder"])
            return not holder.is_elsewhere and not holder.is_alive
        begun = trial.datetime_start  # no holder yet: the process was killed, or another machine is starting the trial
        return self.storage is None or begun is None or datetime.now() - begun > timedelta(seconds=START_S)

    def requeue(self, trial: optuna.Trial) -> None:
        """Queue an interrupted trial again."""
        with self.exclusive():
            self._requeue(self.trials()[trial.number], None)

    def _requeue(self, trial: FrozenTrial, max_retries: int | None) -> None:
        """Mark a trial as failed; queue it again with its steps so far, if it has parameters and retries are left."""
        try:
            self.optuna.tell(trial.number, state=TrialState.FAIL)
        except (optuna.exceptions.UpdateFinishedTrialError, ValueError):
            return  # a process with another directory of this study has requeued the trial meanwhile
        if trial.params or "fixed_params" in trial.system_attrs:
            again = deepcopy(trial)
            again.user_attrs = {}
            RetryHeartbeatStaleTrialCallback(max_retries, inherit_intermediate_values=True)(self.optuna, again)


def trial_value(trial: FrozenTrial) -> float:
    """Return the value of a complete trial: its mean difference to the defaults in long runs, in edges."""
    assert trial.value is not None
    return trial.value


def is_study(path: Path) -> bool:
    """Return whether a study was begun in the directory ``path``."""
    return (path / JOURNAL_FILE).exists() or (path / STORAGE_FILE).exists()


def open_study(path: Path, request: StudyRequest, *, reading: bool = False) -> Study:
    """Open or begin the study in ``path``. A study without any run takes over the requested pairs and length of runs.

    ``reading``: open it only to show it, even if the engine has changed; nothing is created, changed or repaired.
    Raises InputError if the study has other settings than requested, or cannot be opened or begun.
    """
    url, place = request.storage, path / (JOURNAL_FILE if request.storage is None else STORAGE_FILE)
    _check_directory(path, url)
    name = OPTUNA_NAME if url is None else f"lns {path.resolve().name}"
    storage: BaseStorage | None = None
    with damage_told(place) as journals, places.storage_errors(url):
        if url is not None:
            storage = places.connect(url)
        elif is_study(path):
            journals.append(Journal(place, reading=reading))
            storage = JournalStorage(journals[-1])
        found = None if storage is None else _find(storage, name, path)
        if reading and (found is None or not is_study(path)):
            raise InputError("no study is here; expected one that `lns tune` began", path)
        if found is None:
            plan = new_plan(request)
            path.mkdir(parents=True, exist_ok=True)
            with locked(path / LOCK_FILE):
                storage = storage or JournalStorage(Journal(place, reading=False))
                found = _find(storage, name, path) or _begin(storage, name, plan)
        study = Study(path, *found, url, is_read_only=reading)
        if not reading:
            path.mkdir(parents=True, exist_ok=True)
            with study.exclusive():
                if url is not None:
                    atomic_write(place, redact_url(url) + "\n")
                elif not len(study.runs) and (plan := replan(study.plan, request)) != study.plan:
                    places.put_text(study.optuna, PLAN, seal(asdict(plan)))
                    study.plan = plan
                study.start()
    check_request(study.plan, request, path)
    return study


def _find(storage: BaseStorage, name: str, path: Path) -> tuple[optuna.Study, StudyPlan] | None:
    """Return optuna's study and its plan; None without a study, or if the process that began it wrote no plan."""
    if name not in optuna.get_all_study_names(storage):
        return None
    study = optuna.load_study(storage=storage, study_name=name)
    if (plan := dict(places.get_texts(study, PLAN)).get(PLAN)) is not None:
        return study, read_plan(plan, path)
    if study.get_trials(deepcopy=False):
        raise InputError("a study without a plan, as earlier versions of lns began it; expected a new study", path)
    return None


def _begin(storage: BaseStorage, name: str, plan: StudyPlan) -> tuple[optuna.Study, StudyPlan]:
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    places.put_text(study, PLAN, seal(asdict(plan)))
    return study, plan


def _check_directory(path: Path, url: str | None) -> None:
    """Raise InputError unless ``path`` is free or holds a study with its trials at ``url`` (None: in its journal)."""
    if path.exists() and not path.is_dir():
        raise InputError("is a file; expected the directory of a study", path)
    for file in sorted(path.iterdir()) if path.exists() else ():
        if file.name in FILES:
            if file.is_symlink() or not file.is_file():  # a link may lead to a file that is not the study's
                raise InputError("is no regular file; expected one", file)
        elif not is_study(path) and not (file.name.startswith(".lns-") and file.suffix == ".tmp"):
            raise InputError(f"holds no study, but {file.name}; expected a study, or an empty or a new directory", path)
    if url is None and (path / STORAGE_FILE).exists():
        where = printable(read_text(path / STORAGE_FILE).strip(), 300)
        raise InputError(f"the trials are in {where}; expected --storage with its URL", path)
    if url is not None and (path / JOURNAL_FILE).exists():
        raise InputError("this file has the trials of the study; expected no --storage", path / JOURNAL_FILE)


@contextmanager
def damage_told(place: Path) -> Iterator[list[Journal]]:
    """Turn an error of `DAMAGE` into an InputError that names ``place``.

    If the caller appends a journal to the list, the InputError also names the last line that was read from it.
    """
    journals = list[Journal]()
    try:
        yield journals
    except InputError:
        raise
    except DAMAGE as error:
        what = printable(f"{type(error).__name__}: {error}", 100)
        line = journals[-1].line if journals else None
        raise InputError(f"damaged: it holds what no session writes ({what})", place, line) from None
