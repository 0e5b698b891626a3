"""study.json: what a study tunes and how it judges. Written once, sealed, and read by everything that comes later.

Whoever comes with another instance, another objective or another engine is refused, since differences to the defaults
only mean something among runs of one kind.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

from instances.formats import load_puzzle, write
from instances.generate import family
from instances.puzzle import Puzzle
from lns import params as parameters
from lns.params import Params
from lns.runs.files import read_sealed, seal
from lns.runs.settings import digest
from lns_support.errors import InputError
from lns_support.files import atomic_write
from lns_support.json_values import JsonFields, bounded_integer
from lns_support.version import __version__
from tuning import SAMPLERS
from tuning.objective import FORMULA, Pair, TrialRun
from tuning.run_store import locked
from tuning.sampler import check_sampler
from tuning.sources import engine_digest

log = logging.getLogger("lns")

SETTINGS, BASE, JOURNAL, RUNS, GUARD = "study.json", "base.toml", "journal.log", "runs.jsonl", "study.lock"
SCHEMA = 3  # 3: names of parameters; 2: shares of candidates, sources and command are always there
PAIRS, HELD_OUT_PAIRS, RUN_S, SEED = 10, 24, 10.0, 1  # where nobody says
LEAST_PAIRS = 20  # of the validation: below, nothing is called better
SHORT = 4  # a short run has this part of a long run's nodes
MOST_PAIRS = 10**6
_BEFORE_SETTINGS = {BASE, GUARD, "journal.lock", "runs.lock"}  # and the instances: what says nothing of a study
_TEXTS = {
    "family": 200, "engine": 20, "base": 64, "objective": 200, "sources": 64, "version": 40, "command": 2**19
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What is tuned and how it is judged. ``family``: "" where ``instances``, (name, sha256) each, are named.

    ``pairs``, ``held_out``: runs that a trial has, and that validation has; ``nodes``: of a long run;
    ``nodes_per_s``: measured once to turn seconds into ``nodes``, 0.0 where these were given; ``base``: digest of the
    parameters that candidates are compared with; ``first_seeds``: of the training pairs and of the held-out ones, that
    follow; ``sources``: digest of the engine's; ``command``: what was typed to begin the study; ``sampler``: one of
    SAMPLERS.
    Raises InputError for values out of bounds, so that nothing is written that could not be read again.
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
        if values.integer("schema", 0, 10**6) != SCHEMA:
            raise InputError(f"a study of schema {self.schema}; expected {SCHEMA}")
        values.integer("seed", 0, 10**12)
        values.integer("pairs", 1, MOST_PAIRS)
        values.integer("held_out", 1, MOST_PAIRS)
        values.integer("nodes", 1, 10**15)
        values.number("nodes_per_s", 0, 1e12)
        if self.sampler not in SAMPLERS:
            raise InputError(f"'sampler': '{self.sampler}'; expected one of {', '.join(SAMPLERS)}")
        for seed in self.first_seeds:
            bounded_integer(seed, 0, 2**63 - 1, "an entry of 'first_seeds'")
        for name, limit in _TEXTS.items():
            values.text(name, limit)

    @property
    def short(self) -> int:
        return max(1, self.nodes // SHORT)

    @property
    def subject(self) -> str:
        return self.family or ", ".join(name for name, _ in self.instances)


@dataclass(frozen=True)
class Wish:
    """What the command line asked for; None: nothing, so what the study has, or else the default.

    ``command``: what was typed.
    """

    instances: tuple[str, ...] = ()
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


def first_seeds(seed: int) -> tuple[int, int]:
    """First seeds of the training and of the held-out pairs of a study with ``seed``.

    They are of this study alone, however many pairs it has, and above those of shipped instances and of the ladder.
    """
    training = 100_001 + 2 * MOST_PAIRS * seed
    return training, training + MOST_PAIRS


def params_digest(params: Params) -> str:
    """Names the values, wherever they came from."""
    return digest(json.dumps(parameters.to_dict(params), sort_keys=True))[:16]


def begin(path: Path, wish: Wish) -> None:
    """Write the plan of a new study, unless another process was quicker.

    Raises InputError when ``path`` holds something else, or the wish names nothing to tune for or is out of bounds.
    """
    entries = sorted(path.iterdir()) if path.is_dir() else []
    stranger = next((entry for entry in entries if not _is_early(entry.name)), None)
    if stranger is not None and not (path / SETTINGS).exists():
        raise InputError(f"holds no study, but {stranger.name}; expected a study, or an empty or a new directory", path)
    if not wish.instances and not wish.family:
        raise InputError("no study is here yet; expected INSTANCE or --family to begin one", path)
    check_sampler(wish.sampler or SAMPLERS[0])
    named = [load_puzzle(name) for name in wish.instances]
    plan = _plan(wish, named)
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / GUARD):
        if (path / SETTINGS).exists():  # another process was quicker
            return
        for number, one in enumerate(named, 1):
            write(path / f"instance-{number}.json", "json", one, None)
        atomic_write(path / BASE, parameters.to_toml(wish.params or Params()))
        atomic_write(path / SETTINGS, seal(asdict(plan)) + "\n")
    if plan.held_out < LEAST_PAIRS:
        log.warning("%d held-out pairs prove nothing; at least %d are needed", plan.held_out, LEAST_PAIRS)


def _plan(wish: Wish, named: list[Puzzle]) -> Plan:
    """What a new study on the puzzles ``named``, or on a family, shall be; measures the rate where it is needed."""
    base, engine = wish.params or Params(), wish.engine or "auto"
    seed = SEED if wish.seed is None else wish.seed
    first = first_seeds(seed)
    puzzle = family(wish.family)(first[0]).puzzle if wish.family else named[0]
    rate = 0.0 if wish.nodes else nodes_per_second(engine, base, Pair(puzzle, first[0], ""))
    return Plan(
        family=wish.family or "",
        instances=tuple((one.name, one.sha256) for one in named),
        engine=engine,
        seed=seed,
        pairs=wish.pairs or PAIRS,
        held_out=wish.held_out or HELD_OUT_PAIRS,
        nodes=wish.nodes or two_digits((wish.run_seconds or RUN_S) * rate),
        nodes_per_s=rate,
        base=params_digest(base),
        first_seeds=first,
        objective=FORMULA,
        sources=engine_digest(),
        version=__version__,
        command=wish.command,
        sampler=wish.sampler or SAMPLERS[0],
    )


def _is_early(name: str) -> bool:
    return name in _BEFORE_SETTINGS or name.startswith("instance-") or fnmatch(name, ".lns-*.tmp")


def nodes_per_second(engine: str, params: Params, pair: Pair) -> float:
    """Nodes in a second of the processor, rounded to two digits; measured for about two seconds."""
    warm, run = (TrialRun(engine, params, pair, shortest) for shortest in (1, 10**12))
    for _ in range(2):  # the kernels of the first board, then those of construction
        warm.advance(warm.trace.work + 1, lambda: False)
    while run.trace.seconds < 2.0 and not run.trace.ended:
        run.advance(run.trace.work + 1, lambda: False)
    return float(two_digits(run.trace.work / max(run.trace.seconds, 1e-3)))


def two_digits(number: float) -> int:
    return max(1, int(float(f"{number:.1e}")))


def read_plan(path: Path) -> Plan:
    """Raises InputError where it is damaged, out of bounds, or its objective is another one."""
    found = read_sealed(path / SETTINGS)
    plain = ("family", "engine", "seed", "pairs", "held_out", "nodes", "nodes_per_s", "base", "objective", "version")
    try:
        training, held_out = found.array("first_seeds", 2)
        plan = Plan(
            instances=tuple((str(name), str(sha256)) for name, sha256 in found.array("instances")),
            first_seeds=(training, held_out),
            sources=found.text("sources", 64),
            command=found.text("command", 2**19),
            sampler=found.text("sampler", 20, SAMPLERS[0]),
            schema=found.integer("schema", 0, 10**6),
            **{name: found.get(name) for name in plain},
        )
        if plan.objective != FORMULA:
            raise InputError(f"its objective is '{plan.objective}'; expected '{FORMULA}': begin another study")
    except InputError as error:
        raise error.at(path / SETTINGS) from None
    return plan


def check_engine(plan: Plan, path: Path) -> None:
    """Raises InputError when ``plan``, of the study in ``path``, is of another engine than this one."""
    if plan.sources != engine_digest():
        raise InputError(
            "begun with another engine, or other prices of its work: the sources have changed since; "
            "expected the same, so begin another study (--report still shows this one)",
            path,
        )


def check_wish(plan: Plan, wish: Wish, path: Path) -> None:
    """Raises InputError when ``plan``, of the study in ``path``, is not what was asked for."""
    asked = {
        "--engine": (wish.engine, plan.engine),
        "--seed": (wish.seed, plan.seed),
        "--pairs": (wish.pairs, plan.pairs),
        "--held-out": (wish.held_out, plan.held_out),
        "--nodes": (wish.nodes, plan.nodes),
        "--sampler": (wish.sampler, plan.sampler),
        "--family": (wish.family, plan.family),
    }
    if wish.instances:
        names = tuple(load_puzzle(name).sha256 for name in wish.instances)
        asked["INSTANCE"] = (
            None if names == tuple(sha256 for _, sha256 in plan.instances) else ", ".join(wish.instances),
            plan.subject,
        )
    if wish.run_seconds is not None:
        known = two_digits(wish.run_seconds * plan.nodes_per_s) if plan.nodes_per_s else f"{wish.run_seconds:g} s"
        asked["--run-seconds"] = (known, plan.nodes)
    if wish.params is not None:
        asked["--params"] = (params_digest(wish.params), plan.base)
    for option, (found, expected) in asked.items():
        if found is not None and found != expected:
            what = f"is of {expected or 'named instances'}" if option in ("INSTANCE", "--family") else f"has {expected}"
            raise InputError(f"{option} asks for {found}, but this study {what}; begin another one for that", path)
