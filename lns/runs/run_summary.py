"""Summary of a run from its directory: read only, during the run or later, on any machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from instances.eternity2 import name_of_clues
from instances.piece_set import set_sha256, translation
from instances.puzzle import Puzzle
from lns.engine import MAX_OPERATORS, Statistics
from lns.runs import checkpoint as checkpoints
from lns.runs.directory import ScoredBoard, read_best, read_run
from lns.runs.files import (
    CHECKPOINT,
    PREVIOUS,
    STATUS,
    STATUS_SCHEMA,
    expect_schema,
    parse_time,
    read_sealed,
    reason_in_words,
)
from lns.runs.history import RunHistory, history_from_json
from lns.runs.lock import process_is_alive, read_holder
from lns.runs.settings import RunSettings
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer
from lns_support.text import count_of, printable

HEARTBEAT_LATE_S = 30.0  # a run on another machine whose status.json is older counts as dead
MAX_PIDS = 4096
MAX_PARTS = MAX_OPERATORS + 3  # the operators, "construct", "beam" and "tabu"
RELIABLE_BOARDS = 10  # boards that a rate needs


@dataclass(frozen=True)
class Heartbeat:
    """Content of status.json, apart from the history. The defaults stand for a file that cannot be read."""

    at: str = ""  # time of day, UTC
    rate: float = 0.0  # ``unit`` a second of all workers, over the last minute
    unit: str = "nodes"  # or "moves"
    pids: tuple[int, ...] = ()  # process ids of the workers on this machine
    cluster_workers: int = 0  # workers of a cluster that search
    min_score: int = 0  # boards of at least this score go into the log
    statistics: Statistics = field(default_factory=Statistics)
    node_equivalents_by_part: dict[str, int] = field(default_factory=dict)  # cost of each part
    write_errors: tuple[str, ...] = ()  # files whose last write failed


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run, made by `load_summary`."""

    path: Path  # run directory
    settings: RunSettings
    puzzle: Puzzle
    state: str  # "running", "ended" (in order) or "died"
    best: ScoredBoard | None
    history: RunHistory
    heartbeat: Heartbeat
    workers: int | None  # processes alive; None if unknown (another machine or container)
    notes: tuple[str, ...] = ()  # what could not be read

    @property
    def name(self) -> str:
        """Name of the directory, without control characters."""
        return printable(self.path.resolve().name, 60)

    @cached_property
    def clues(self) -> str:
        """Which clues the run has: 'none', 'official', 'starter' or how many; and how many cells are pinned."""
        pinned = f" + {len(self.settings.pins)} pinned" if self.settings.pins else ""
        return name_of_clues(self.puzzle) + pinned

    @property
    def score(self) -> int:
        """Score of the best board; -1 without one."""
        return -1 if self.best is None else self.best.score

    @property
    def best_at(self) -> str:
        """Time of day at which the best board was found; "" if unknown."""
        return self.history.improvements[-1].at if self.history.improvements else ""

    @property
    def why(self) -> str:
        """Why the last session ended; "" if it runs or was killed."""
        return self.history.sessions[-1].ended if self.history.sessions and self.state == "ended" else ""

    @property
    def starting(self) -> bool:
        """Whether the run goes on and has no worker yet, as while kernels are compiled."""
        return self.state == "running" and not self.heartbeat.pids and not self.heartbeat.cluster_workers

    @property
    def state_in_words(self) -> str:
        """The state and, if the run ended in order, why."""
        if self.starting:
            return "starting"
        if self.state == "died":
            return "died without saving its end"
        words = reason_in_words(self.why, has_target=self.settings.target >= 0)
        return f"ended: {words}" if self.why else self.state

    @property
    def resumption(self) -> str:
        """The command that goes on with the run, for a shell, without "lns"; "" where it would end at once."""
        if self.why == "target reached":
            return ""
        return f"resume {shlex.quote(str(self.path))}{'' if self.history.remaining_s >= 1 else ' --time 1h'}"

    def boards_per_hour(self, score: int) -> float:
        """Logged boards of at least ``score`` per hour of search."""
        return self.history.at_least(score) / max(self.history.elapsed_s, 1.0) * 3600

    def rate_in_words(self, score: int) -> str:
        """`boards_per_hour` where enough boards were found to tell, else how many there are."""
        boards = self.history.at_least(score)
        if boards < RELIABLE_BOARDS:
            return f"{count_of(boards, 'board')} of {score}+"
        rate = self.boards_per_hour(score)
        return f"{rate:,.0f}/h of {score}+" if rate >= 100 else f"{rate:.3g}/h of {score}+"


def by_set(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """The runs, those of one set of pieces together, in the order of the first of each set."""
    groups: dict[str, list[RunSummary]] = {}
    for run in runs:
        groups.setdefault(set_sha256(run.puzzle), []).append(run)
    return [run for group in groups.values() for run in group]


def check_same_set(first: RunSummary, other: RunSummary) -> None:
    """Raises InputError unless two runs have the same pieces, in any numbering; clues may differ."""
    if translation(other.puzzle, first.puzzle) is None:
        raise InputError(
            f"a run of {printable(other.puzzle.name)} (sha256 {other.puzzle.sha256[:12]}…); expected one of "
            f"{printable(first.puzzle.name)} (sha256 {first.puzzle.sha256[:12]}…), as in {first.path}, or of the same "
            "pieces in another numbering",
            other.path,
        )


def load_summary(path: Path) -> RunSummary:
    """Summarize the run in a directory.

    Parameters
    ----------
    path : Path
        Run directory.

    Returns
    -------
    RunSummary
        Files that cannot be read are named in its ``notes``.

    Raises
    ------
    InputError
        It is no run directory, or its settings or puzzle are damaged or of another version.
    """
    settings, puzzle = read_run(path)
    notes: list[str] = []
    best = None
    try:
        best = read_best(path, puzzle)
    except InputError as error:
        notes.append(str(error))
    history, heartbeat = _history(path, settings, puzzle, notes)
    state = _state(path, heartbeat)
    workers: int | None = 0
    if state == "running":
        holder = read_holder(path)
        workers = sum(map(process_is_alive, heartbeat.pids)) if holder is not None and holder.is_here else None
        workers = heartbeat.cluster_workers or workers
    return RunSummary(path, settings, puzzle, state, best, history, heartbeat, workers, tuple(notes))


def _state(path: Path, heartbeat: Heartbeat) -> str:
    holder = read_holder(path)
    if holder is None:
        return "ended"
    if not holder.is_elsewhere:
        return "running" if holder.is_alive else "died"
    last = parse_time(heartbeat.at)
    late = last is None or abs((datetime.now(UTC) - last).total_seconds()) > HEARTBEAT_LATE_S
    return "died" if late else "running"


def _history(path: Path, settings: RunSettings, puzzle: Puzzle, notes: list[str]) -> tuple[RunHistory, Heartbeat]:
    """History and heartbeat from status.json; if that cannot be used, the history of the newest checkpoint."""
    try:
        fields = read_sealed(path / STATUS)
        expect_schema(fields, STATUS_SCHEMA)
        if fields.text("run", 64) != settings.run:
            raise InputError("belongs to another run")
        history = history_from_json(checkpoints.inner(fields, "history"), puzzle)
        return history, _beat(fields, puzzle)
    except InputError as error:
        unread = str(error.at(path / STATUS))
        notes.append(unread)
    for name in (CHECKPOINT, PREVIOUS):
        try:
            history = checkpoints.load_history(path / name, settings.run, puzzle)
        except InputError as error:
            notes.append(str(error))
            continue
        if not (path / STATUS).exists():  # a run that was merged from others and has not been resumed has none
            notes.remove(unread)
        return history, Heartbeat()
    return RunHistory(0.0), Heartbeat()


def _beat(fields: JsonFields, puzzle: Puzzle) -> Heartbeat:
    pids = fields.array("pids")[:MAX_PIDS]
    return Heartbeat(
        at=fields.printable("at", 40),
        rate=fields.number("rate", 0, 1e18),
        unit=fields.printable("unit", 20),
        pids=tuple(bounded_integer(pid, 1, 2**31 - 1, "an entry of 'pids'") for pid in pids),
        cluster_workers=fields.integer("cluster_workers", 0, 10**6) if "cluster_workers" in fields else 0,
        min_score=fields.integer("min_score", 0, puzzle.max_score + 1),
        statistics=Statistics.from_json(fields.get("statistics")),
        node_equivalents_by_part=_counts(fields, "node_equivalents_by_part"),
        write_errors=tuple(
            JsonFields({"file": name}).printable("file", 40) for name in fields.array("write_errors")[:10]
        ),
    )


def _counts(fields: JsonFields, name: str) -> dict[str, int]:
    values = fields.get(name)
    if not isinstance(values, dict) or len(values) > MAX_PARTS:
        raise InputError(f"'{name}': expected an object of at most {MAX_PARTS} counts")
    return {printable(key, 40): bounded_integer(value, 0, 2**63 - 1, f"'{name}'") for key, value in values.items()}
