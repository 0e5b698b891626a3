"""study.json: what a study tunes and how it compares. Written once, with a checksum, and never changed.

A study refuses another instance, objective or engine: differences to the defaults are only comparable among runs of one
kind.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatch
from pathlib import Path

from instances.formats import load_puzzle, write
from instances.generate import family
from instances.puzzle import Puzzle
from lns import params as parameters
from lns.api.engine_sources import engine_digest
from lns.engines import ENGINES
from lns.params import Params
from lns.runs.directory import digest
from lns.runs.files import read_sealed, seal
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.json_values import JsonFields, describe_found
from lns_support.text import printable, quoted
from lns_support.version import __version__
from tuning import SAMPLERS
from tuning.objective import OBJECTIVE, Pair, TrialRun
from tuning.records import locked
from tuning.sampler import check_sampler

log = logging.getLogger("lns")

STUDY_FILE, BASE_FILE, JOURNAL_FILE = "study.json", "base.toml", "journal.log"
RUNS_FILE, LOCK_FILE = "runs.jsonl", "study.lock"
SCHEMA = 4  # of the files of a study
RUN_MODULE = "tuning.objective"  # makes the runs of a trial; what it imports decides what a run finds
DEFAULT_PAIRS, DEFAULT_HELD_OUT, DEFAULT_RUN_S, DEFAULT_SEED = 10, 24, 10.0, 1
MIN_HELD_OUT_PAIRS = 20  # with fewer, no candidate is called better
SHORT_DIVISOR = 4  # a short run has the nodes of a long run divided by this
MAX_PAIRS = 2_000
MAX_COMMAND = 2**19  # characters of the command that began a study
SEED_BLOCK = 10**6  # seeds that a study has for its training pairs, and for its held-out pairs
_UNFINISHED = {BASE_FILE, LOCK_FILE, "journal.lock", "runs.lock"}  # files that may precede study.json


@dataclass(frozen=True)
class StudyPlan:
    """What is tuned and how candidates are compared.

    Parameters
    ----------
    family : str
        Family of instances, "" if ``instances`` are named.
    instances : tuple of (str, str)
        Name and sha256 of each named instance.
    engine : str
        One of `lns.engines.ENGINES`.
    seed : int
        Seed of the study.
    pairs, held_out : int
        Number of training pairs of a trial, and of held-out pairs of the validation.
    nodes : int
        Nodes of a long run.
    nodes_per_s : float
        Measured once to convert seconds into ``nodes``; 0.0 if nodes were given.
    base : str
        Digest of the parameters that candidates are compared with.
    first_seeds : (int, int)
        First seed of the training pairs and of the held-out pairs; the others follow.
    objective : str
        `tuning.objective.OBJECTIVE` of the version that began the study.
    sources : str
        Digest of the engine's sources.
    version : str
        Version of `lns`.
    command : str
        The command that began the study.
    sampler : str
        One of `tuning.SAMPLERS`.
    schema : int
        Version of the files.

    Raises
    ------
    InputError
        A value is out of bounds, so that the file could not be read again.
    """

    family: str
    instances: tuple[tuple[str, str], ...]
    engine: str
    seed: int
    pairs: int
    held_out: int
    nodes: int
    nodes_per_s: float
    base: str
    first_seeds: tuple[int, int]
    objective: str
    sources: str
    version: str
    command: str
    sampler: str = SAMPLERS[0]
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        values = JsonFields(self.__dict__)
        for name, most in (("seed", 10**12), ("nodes", 10**15), ("pairs", MAX_PAIRS), ("held_out", MAX_PAIRS)):
            values.integer(name, int(name != "seed"), most)
        values.number("nodes_per_s", 0, 1e12)
        for name in ("family", "engine", "base", "objective", "sources", "version", "command", "sampler"):
            values.text(name, MAX_COMMAND)
        for name, known in (("sampler", SAMPLERS), ("engine", ENGINES)):
            if values.get(name) not in known:
                raise InputError(f"'{name}': {quoted(values.get(name))}; expected one of {', '.join(known)}")
        if self.first_seeds != first_seeds(self.seed) or not all(type(seed) is int for seed in self.first_seeds):
            raise InputError(f"'first_seeds': expected {list(first_seeds(self.seed))}, those of seed {self.seed}")
        if bool(self.family) == bool(self.instances):
            raise InputError("expected either a 'family' or 'instances'")
        if self.family:
            family(self.family)

    @property
    def short(self) -> int:
        """Nodes of a short run."""
        return max(1, self.nodes // SHORT_DIVISOR)

    @property
    def subject(self) -> str:
        """What is tuned for: the family, or the names of the instances."""
        return printable(self.family or ", ".join(name for name, _ in self.instances))


@dataclass(frozen=True)
class StudyRequest:
    """What a caller asks of a study. None stands for the value of the study, or the default in a new one.

    Parameters
    ----------
    instances : tuple of str or Puzzle
        Puzzles, files or names of shipped instances to tune for.
    family : str, optional
        Family of instances to tune for instead, such as ``like-e2:12x12``.
    engine, seed, pairs, held_out, nodes, sampler : optional
        As in `StudyPlan`.
    run_seconds : float, optional
        Seconds of a long run, converted into nodes by one measurement; instead of ``nodes``.
    params : Params, optional
        Parameters that candidates are compared with.
    command : str
        The command, kept in a new study.
    storage : str, optional
        URL of a storage for the trials, which several machines then work on; by default a file in the directory.
    """

    instances: tuple[str | Puzzle, ...] = ()
    family: str | None = None
    engine: str | None = None
    seed: int | None = None
    pairs: int | None = None
    held_out: int | None = None
    nodes: int | None = None
    run_seconds: float | None = None
    params: Params | None = None
    sampler: str | None = None
    command: str = ""
    storage: str | None = None


def first_seeds(seed: int) -> tuple[int, int]:
    """First seeds of the training pairs and of the held-out pairs of a study with ``seed``.

    No other study has them, nor have shipped instances or rows of the benchmark, whose seeds are smaller.
    """
    training = 100_001 + 2 * SEED_BLOCK * seed
    return training, training + SEED_BLOCK


def params_digest(params: Params) -> str:
    """Digest of the values of ``params``."""
    return digest(json.dumps(parameters.to_dict(params), sort_keys=True))[:16]


def begin_study(path: Path, request: StudyRequest) -> None:
    """Create the files of a new study, unless another process does so at the same time.

    Raises
    ------
    InputError
        ``path`` holds something else, or the request names nothing to tune for or is out of bounds.
    """
    entries = sorted(path.iterdir()) if path.is_dir() else []
    other = next((entry for entry in entries if not _may_precede(entry.name)), None)
    if other is not None and not (path / STUDY_FILE).exists():
        raise InputError(f"holds no study, but {other.name}; expected a study, or an empty or a new directory", path)
    if not request.instances and not request.family:
        raise InputError("no study is here yet; expected INSTANCE or --family to begin one", path)
    check_sampler(request.sampler or SAMPLERS[0])
    puzzles = [_as_puzzle(instance) for instance in request.instances]
    plan = _new_plan(request, puzzles)
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / LOCK_FILE):
        if (path / STUDY_FILE).exists():  # another process was faster
            return
        for number, puzzle in enumerate(puzzles, 1):
            write(path / f"instance-{number}.json", "json", puzzle, None)
        atomic_write(path / BASE_FILE, parameters.to_toml(request.params or Params()))
        atomic_write(path / STUDY_FILE, seal(asdict(plan)) + "\n")
    if plan.held_out < MIN_HELD_OUT_PAIRS:
        log.warning("%d held-out pairs prove nothing; at least %d are needed", plan.held_out, MIN_HELD_OUT_PAIRS)


def replan(path: Path, request: StudyRequest) -> None:
    """Give a study in which nothing was run yet the pairs and the length of runs that are asked for now."""
    plan = read_plan(path)
    nodes = request.nodes or plan.nodes
    if request.run_seconds and plan.nodes_per_s:
        nodes = two_digits(request.run_seconds * plan.nodes_per_s)
    pairs, held_out = request.pairs or plan.pairs, request.held_out or plan.held_out
    changed = replace(plan, pairs=pairs, held_out=held_out, nodes=nodes)
    if changed != plan:
        with locked(path / LOCK_FILE):
            atomic_write(path / STUDY_FILE, seal(asdict(changed)) + "\n")


def _as_puzzle(instance: str | Puzzle) -> Puzzle:
    return load_puzzle(instance) if isinstance(instance, str) else instance


def _new_plan(request: StudyRequest, puzzles: list[Puzzle]) -> StudyPlan:
    """The plan of a new study on ``puzzles`` or a family; measures the nodes a second if they are needed."""
    base, engine = request.params or Params(), request.engine or "auto"
    seed = DEFAULT_SEED if request.seed is None else request.seed
    seeds = first_seeds(seed)
    puzzle = family(request.family)(seeds[0]).puzzle if request.family else puzzles[0]
    rate = 0.0 if request.nodes else nodes_per_second(engine, base, Pair(puzzle, seeds[0], ""))
    return StudyPlan(
        family=request.family or "",
        instances=tuple((puzzle.name, puzzle.sha256) for puzzle in puzzles),
        engine=engine,
        seed=seed,
        pairs=request.pairs or DEFAULT_PAIRS,
        held_out=request.held_out or DEFAULT_HELD_OUT,
        nodes=request.nodes or two_digits((request.run_seconds or DEFAULT_RUN_S) * rate),
        nodes_per_s=rate,
        base=params_digest(base),
        first_seeds=seeds,
        objective=OBJECTIVE,
        sources=engine_digest(RUN_MODULE),
        version=__version__,
        command=request.command,
        sampler=request.sampler or SAMPLERS[0],
    )


def _may_precede(name: str) -> bool:
    """Whether a process that began a study and was killed may have left the file ``name``."""
    return name in _UNFINISHED or name.startswith("instance-") or fnmatch(name, ".lns-*.tmp")


def nodes_per_second(engine: str, params: Params, pair: Pair) -> float:
    """Nodes a second of processor time, rounded to two digits, measured for about two seconds."""
    warm_up, run = (TrialRun(engine, params, pair, shortest) for shortest in (1, 10**12))
    for _ in range(2):  # compiles the kernels of the first board, then those of the construction
        warm_up.advance(warm_up.trace.nodes + 1, lambda: False)
    while run.trace.seconds < 2.0 and not run.trace.exhausted:
        run.advance(run.trace.nodes + 1, lambda: False)
    return float(two_digits(run.trace.nodes / max(run.trace.seconds, 1e-3)))


def two_digits(number: float) -> int:
    """``number`` rounded to two significant digits, at least 1."""
    return max(1, int(float(f"{number:.1e}")))


def read_plan(path: Path) -> StudyPlan:
    """The plan of the study in ``path``.

    Raises
    ------
    InputError
        The file is damaged, of another schema, or of another objective.
    """
    found = read_sealed(path / STUDY_FILE)
    try:
        schema = found.integer("schema", 0, 10**6)
        if schema != SCHEMA:
            raise InputError(
                f"a study of schema {schema}, begun by lns {printable(found.text('version', 40))}; "
                f"this is lns {__version__}, which reads schema {SCHEMA}: expected a new study"
            )
        values = {field.name: found.get(field.name) for field in fields(StudyPlan) if field.name != "sampler"}
        values["sampler"] = found.text("sampler", 20, SAMPLERS[0])
        try:
            values["instances"] = tuple((str(name), str(sha256)) for name, sha256 in values["instances"])
        except (TypeError, ValueError):
            raise InputError(f"'instances': {describe_found(values['instances'])}; expected [name, sha256]") from None
        plan = StudyPlan(**values | {"first_seeds": tuple(found.array("first_seeds", 2))})
        if plan.objective != OBJECTIVE:
            raise InputError(
                f"its objective is {quoted(plan.objective, 200)}; expected '{OBJECTIVE}': begin another study"
            )
    except InputError as error:
        raise error.at(path / STUDY_FILE) from None
    return plan


def check_engine(plan: StudyPlan, path: Path) -> None:
    """Raise InputError if the study in ``path`` was begun with other sources of the engine."""
    if plan.sources != engine_digest(RUN_MODULE):
        raise InputError(
            "begun with another engine: the sources of the engine or of its cost model have changed since; "
            "expected the same, so begin another study (--report still shows this one)",
            path,
        )


def check_request(plan: StudyPlan, request: StudyRequest, path: Path) -> None:
    """Raise InputError if the request differs from the study in ``path``."""
    names = ("engine", "seed", "pairs", "held_out", "nodes", "sampler", "family")
    given: dict[str, tuple[object, object]] = {
        f"--{name.replace('_', '-')}": (getattr(request, name), getattr(plan, name)) for name in names
    }
    puzzles = [_as_puzzle(instance) for instance in request.instances]
    if puzzles and [puzzle.sha256 for puzzle in puzzles] != [sha256 for _, sha256 in plan.instances]:
        given["INSTANCE"] = ", ".join(puzzle.name for puzzle in puzzles), plan.subject
    if request.run_seconds is not None:
        rate = plan.nodes_per_s
        nodes = two_digits(request.run_seconds * rate) if rate else f"{request.run_seconds:g} s"
        given["--run-seconds"] = nodes, plan.nodes
    if request.params is not None:
        given["--params"] = params_digest(request.params), plan.base
    for option, (requested, expected) in given.items():
        if requested is not None and requested != expected:
            what = f"is of {expected or 'named instances'}" if option in ("INSTANCE", "--family") else f"has {expected}"
            raise InputError(f"{option} asks for {requested}, but this study {what}; begin another one for that", path)
