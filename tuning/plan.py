"""study.json: what a study tunes and how it judges. Written once, sealed, and read by everything that comes later.

Whoever comes with another instance, another objective or another version is refused, since differences to the defaults
only mean something among runs of one kind.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from instances.errors import InputError
from instances.formats import load_puzzle, write
from instances.formats.files import atomic_write
from instances.generate import family
from lns import params as parameters
from lns.params import Params
from lns.runs.files import read_sealed, seal
from lns.runs.settings import digest
from tuning.ledger import locked
from tuning.objective import OBJECTIVE, Pair, Run

SETTINGS, BASE, JOURNAL, RUNS, GUARD = "study.json", "base.toml", "journal.log", "runs.jsonl", "study.lock"
SCHEMA = 1
PAIRS, HELD_OUT_PAIRS, RUN_S, SEED = 10, 24, 10.0, 1  # where nobody says
SHORT = 4  # a short run has this part of a long run's nodes
TRAINING, HELD_OUT = 100_001, 200_001  # first seeds of instances and runs
_BEFORE_SETTINGS = {BASE, GUARD, "journal.lock", "runs.lock"}  # and the instances: what says nothing of a study


@dataclass(frozen=True)
class Plan:
    """What is tuned and how it is judged. ``family``: "" where ``instances``, (name, sha256) each, are named.

    ``pairs``, ``held_out``: runs that a trial has, and that validation has; ``nodes``: of a long run;
    ``nodes_per_s``: measured once to turn seconds into ``nodes``, 0.0 where these were given; ``base``: digest of the
    parameters that candidates are compared with; ``command``: what was typed to begin the study, "" where nobody knows.
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
    objective: str = OBJECTIVE
    version: str = ""
    schema: int = SCHEMA
    command: str = ""

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
    command: str = ""


def params_digest(params: Params) -> str:
    """Names the values, wherever they came from."""
    return digest(json.dumps(parameters.to_dict(params), sort_keys=True))[:16]


def begin(path: Path, wish: Wish) -> None:
    """Write the plan of a new study, unless another process was quicker.

    Raises InputError when ``path`` holds something else, or the wish names nothing to tune for.
    """
    entries = sorted(path.iterdir()) if path.is_dir() else []
    stranger = next((entry for entry in entries if not _is_early(entry.name)), None)
    if stranger is not None and not (path / SETTINGS).exists():
        raise InputError(f"holds no study, but {stranger.name}; expected a study, or an empty or a new directory", path)
    if not wish.instances and not wish.family:
        raise InputError("no study is here yet; expected INSTANCE or --family to begin one", path)
    puzzles = [load_puzzle(name) for name in wish.instances]
    if wish.family:
        puzzles = [family(wish.family)(TRAINING).puzzle]
    base = wish.params or Params()
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / GUARD):
        if (path / SETTINGS).exists():  # another process was quicker
            return
        engine = wish.engine or "auto"
        rate = 0.0 if wish.nodes else nodes_per_second(engine, base, Pair(puzzles[0], TRAINING, ""))
        plan = Plan(
            family=wish.family or "",
            instances=() if wish.family else tuple((puzzle.name, puzzle.sha256) for puzzle in puzzles),
            engine=engine,
            seed=SEED if wish.seed is None else wish.seed,
            pairs=wish.pairs or PAIRS,
            held_out=wish.held_out or HELD_OUT_PAIRS,
            nodes=wish.nodes or two_digits((wish.run_seconds or RUN_S) * rate),
            nodes_per_s=rate,
            base=params_digest(base),
            version=version("lns"),
            command=wish.command,
        )
        for number, puzzle in enumerate(puzzles, 1) if not wish.family else ():
            write(path / f"instance-{number}.json", "json", puzzle, None)
        atomic_write(path / BASE, parameters.to_toml(base))
        atomic_write(path / SETTINGS, seal(asdict(plan)) + "\n")


def _is_early(name: str) -> bool:
    return name in _BEFORE_SETTINGS or name.startswith("instance-")


def nodes_per_second(engine: str, params: Params, pair: Pair) -> float:
    """Nodes in a second of the processor, rounded to two digits; measured for about two seconds."""
    warm, run = (Run(engine, params, pair, shortest) for shortest in (1, 10**12))
    for _ in range(2):  # the kernels of the first board, then those of construction
        warm.advance(warm.trace.work + 1, lambda: False)
    while run.trace.seconds < 2.0 and not run.trace.ended:
        run.advance(run.trace.work + 1, lambda: False)
    return float(two_digits(run.trace.work / max(run.trace.seconds, 1e-3)))


def two_digits(number: float) -> int:
    return max(1, int(float(f"{number:.1e}")))


def read_plan(path: Path) -> Plan:
    fields = read_sealed(path / SETTINGS)
    try:
        schema = fields.integer("schema", 0, 10**6)
        if schema != SCHEMA:
            raise InputError(f"a study of schema {schema}; expected {SCHEMA}")
        plan = Plan(
            family=fields.text("family", 200),
            instances=tuple((str(name), str(sha256)) for name, sha256 in fields.array("instances")),
            engine=fields.text("engine", 20),
            seed=fields.integer("seed", 0, 2**63),
            pairs=fields.integer("pairs", 1, 10**6),
            held_out=fields.integer("held_out", 1, 10**6),
            nodes=fields.integer("nodes", 1, 10**15),
            nodes_per_s=fields.number("nodes_per_s", 0, 1e12),
            base=fields.text("base", 64),
            objective=fields.text("objective", 200),
            version=fields.text("version", 40),
            schema=schema,
            command=fields.text("command", 10**7, ""),  # studies of before have none
        )
        if plan.objective != OBJECTIVE:
            raise InputError(f"its objective is '{plan.objective}'; expected '{OBJECTIVE}': begin another study")
        if plan.version != version("lns"):
            raise InputError(f"begun with version {plan.version}; expected {version('lns')}: begin another study")
    except InputError as error:
        raise error.at(path / SETTINGS) from None
    return plan


def check_wish(plan: Plan, wish: Wish, path: Path) -> None:
    """Raises InputError when ``plan``, of the study in ``path``, is not what was asked for."""
    asked = {
        "--engine": (wish.engine, plan.engine),
        "--seed": (wish.seed, plan.seed),
        "--pairs": (wish.pairs, plan.pairs),
        "--held-out": (wish.held_out, plan.held_out),
        "--nodes": (wish.nodes, plan.nodes),
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
