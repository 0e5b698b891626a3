"""The plan of a study: what it tunes and how it compares. Written once, with a checksum, and never changed after a run.

A study refuses another instance or engine, whose digest covers the objective: differences to the defaults are only
comparable among runs of one kind.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lns import params as parameters
from lns.engines import engine_digest
from lns.instances.arguments import checked_class
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle, render
from lns.instances.formats.own_json import puzzle_in
from lns.instances.generate import family
from lns.instances.json_values import JsonFields, bounded_integer
from lns.instances.puzzle import Puzzle, refuse_copies
from lns.instances.text import printable, quoted
from lns.params import Params
from lns.runs.files import unseal
from lns.tuning import SAMPLERS
from lns.tuning.objective import Pair, TrialRun
from lns.tuning.sampler import check_sampler
from lns.version import __version__

log = logging.getLogger("lns")

SCHEMA = 5
RUN_MODULE = "lns.tuning.objective"  # makes the runs of a trial; what it imports decides what a run finds
DEFAULT_PAIRS, DEFAULT_HELD_OUT, DEFAULT_RUN_S, DEFAULT_SEED = 10, 24, 10.0, 1
MIN_HELD_OUT_PAIRS = 20  # with fewer, no candidate is called better
SHORT_DIVISOR = 4  # a short run has the nodes of a long run divided by this
LIMITS = {"seed": (0, 10**12), "nodes": (1, 10**15), "pairs": (1, 2_000), "held_out": (1, 2_000)}
MAX_COMMAND = 2**19  # characters of the command that began a study, where it is shown
SEED_BLOCK = 10**6  # seeds that a study has for its training pairs, and for its held-out pairs


@dataclass(frozen=True)
class StudyPlan:
    """What is tuned and how candidates are compared."""

    family: str  # of instances; "" if instances are named
    instances: tuple[dict[str, Any], ...]  # the named ones: fields of `Puzzle`
    engine: str  # one of `lns.engines.ENGINES`
    seed: int  # of the study
    pairs: int  # training pairs of a trial
    held_out: int  # pairs of the validation
    nodes: int  # of a long run
    nodes_per_s: float  # measured once to convert seconds into ``nodes``; 0.0 if nodes were given
    base: dict[str, Any]  # parameters that candidates are compared with, as `lns.params.to_dict` gives them
    base_digest: str  # of these; their runs are stored under it
    sampler: str  # one of `tuning.SAMPLERS`
    command: str  # that began the study
    sources: str  # digest of the engine's sources
    version: str = __version__  # of lns
    schema: int = SCHEMA  # of this format

    @property
    def short(self) -> int:
        """Nodes of a short run."""
        return max(1, self.nodes // SHORT_DIVISOR)

    @property
    def subject(self) -> str:
        """What is tuned for: the family, or the names of the instances."""
        return printable(self.family or ", ".join(instance["name"] for instance in self.instances))


@checked_class
@dataclass(frozen=True)
class StudyRequest:
    """What a caller asks of a study. None stands for the value of the study, or the default in a new one."""

    instances: tuple[str | Puzzle, ...] = ()  # puzzles, files or names of shipped instances to tune for
    family: str | None = None  # of instances to tune for instead, such as ``like-e2:12x12``
    engine: str | None = None  # this and what follows: as in `StudyPlan`
    seed: int | None = None
    pairs: int | None = None
    held_out: int | None = None
    nodes: int | None = None
    run_seconds: float | None = None  # of a long run, converted into nodes by one measurement; instead of ``nodes``
    params: Params | None = None  # that candidates are compared with
    sampler: str | None = None
    command: str = ""  # kept in a new study
    storage: str | None = None  # URL of one for several machines; by default the trials are in a file in the directory

    @property
    def puzzles(self) -> list[Puzzle]:
        """The named instances. Raises InputError for one that no engine takes."""
        puzzles = [load_puzzle(each) if isinstance(each, str) else each for each in self.instances]
        for puzzle in puzzles:
            refuse_copies(puzzle, "tune")
        return puzzles


def first_seeds(seed: int) -> tuple[int, int]:
    """First seeds of the training pairs and of the held-out pairs of a study with ``seed``.

    No other study has them, nor have shipped instances or rows of the benchmark, whose seeds are smaller.
    """
    training = 100_001 + 2 * SEED_BLOCK * seed
    return training, training + SEED_BLOCK


def params_digest(params: Params) -> str:
    """Digest of the values of ``params``."""
    return hashlib.sha256(json.dumps(parameters.to_dict(params), sort_keys=True).encode()).hexdigest()[:16]


def new_plan(request: StudyRequest) -> StudyPlan:
    """The plan of a new study; measures the nodes a second if they are needed.

    Raises InputError if the request names nothing to tune for, is out of bounds, or needs a package that is missing.
    """
    if not request.instances and not request.family:
        raise InputError("no study is here yet; expected INSTANCE or --family to begin one")
    sampler, base, engine = request.sampler or SAMPLERS[0], request.params or Params(), request.engine or "auto"
    if sampler not in SAMPLERS:
        raise InputError(f"'sampler': {quoted(sampler)}; expected one of {', '.join(SAMPLERS)}")
    check_sampler(sampler)
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
    """The plan with the pairs and the length of runs that are asked for now: of a study in which nothing was run."""
    nodes = request.nodes or plan.nodes
    if request.run_seconds and plan.nodes_per_s:
        nodes = two_digits(request.run_seconds * plan.nodes_per_s)
    return replace(plan, pairs=request.pairs or plan.pairs, held_out=request.held_out or plan.held_out, nodes=nodes)


def puzzle_of(fields: dict[str, Any]) -> Puzzle:
    """A named instance of a plan."""
    return puzzle_in(JsonFields(fields), fields["name"])


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


def read_plan(text: str, path: Path) -> StudyPlan:
    """The plan in a sealed text, of the study in ``path``. Raises InputError if it is damaged or of another schema."""
    try:
        values = unseal(text)
        del values["sum"]
    except InputError as error:
        raise error.at(path) from None
    if values["schema"] != SCHEMA:
        raise InputError(
            f"a study of schema {values['schema']}, begun by lns {printable(str(values['version']), 40)}; "
            f"this is lns {__version__}, which reads schema {SCHEMA}: expected a new study",
            path,
        )
    return StudyPlan(**values | {"instances": tuple(values["instances"])})


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
    given: list[tuple[str, object, object]] = [(name, getattr(request, name), getattr(plan, name)) for name in names]
    puzzles, rate = request.puzzles, plan.nodes_per_s
    if puzzles and puzzles != [*map(puzzle_of, plan.instances)]:
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
