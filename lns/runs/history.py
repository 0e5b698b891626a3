"""History and heartbeat of a run, both in status.json, and the cost and gains of each part of the engine."""

from __future__ import annotations

import platform
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, overload

from lns.engine import Statistics
from lns.instances.errors import InputError, named
from lns.instances.files import atomic_write
from lns.instances.puzzle import MAX_CELLS
from lns.instances.records import Records
from lns.runs.files import STATUS, STATUS_SCHEMA, format_duration, from_json, read_sealed, seal, utc_now

MAX_SESSIONS = 1000
UNLIMITED_S = 1e9  # a time limit of this many seconds or more stands for no limit
Score = Annotated[int, 0, 2 * MAX_CELLS]


@dataclass(frozen=True)
class Improvement:
    """The record of a new best board, without the board."""

    score: Score  # matched inner edges
    elapsed_s: float  # seconds of search until the board was found, over all sessions
    at: str  # date and time (UTC) at which the board was found
    origin: str  # part of the engine that made the board; of a board known before: "start" or the name of its file


@dataclass
class SessionRecord:
    """One session of a run: a call of `solve` or `resume`."""

    started_at: str  # date and time (UTC) of the start
    host: str  # name of the machine
    machine: str  # operating system, processor and version of Python
    version: str  # version of lns
    workers: Annotated[int, 1, 10**6]
    seconds: float = 0.0  # seconds of search
    ended: str = ""  # why the session ended; "" while it runs, or if it was killed

    @classmethod
    def new(cls, version: str, workers: int) -> SessionRecord:
        """Return a session that starts now on this machine."""
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        return cls(utc_now(), socket.gethostname(), machine, version, workers)


@dataclass
class RunHistory(Records):
    """History of a run: a sequence of its improvements in order of discovery, with counts of the whole run.

    ``history[-1]`` is the last improvement, ``history[:4]`` a history with only the first four improvements.
    """

    budget_s: float  # seconds of search that the user asked for, over all sessions
    elapsed_s: float = 0.0  # seconds of search so far, over all sessions
    improvements: list[Improvement] = field(default_factory=list)  # in order of discovery
    counts: dict[Score, int] = field(default_factory=dict)  # number of logged boards by score
    boards_by_part: dict[str, int] = field(default_factory=dict)  # number of logged boards by part of the engine
    sessions: list[SessionRecord] = field(default_factory=list)  # in order of their start
    other_statistics: Statistics = field(default_factory=Statistics)  # work of lost checkpoints and merged runs
    log_size: int = 0  # bytes of boards.jsonl, from the start, whose boards are counted

    def __len__(self) -> int:
        return len(self.improvements)

    def __iter__(self) -> Iterator[Improvement]:
        return iter(self.improvements)

    @overload
    def __getitem__(self, at: int) -> Improvement: ...

    @overload
    def __getitem__(self, at: slice) -> RunHistory: ...

    def __getitem__(self, at: int | slice) -> Improvement | RunHistory:
        return replace(self, improvements=self.improvements[at]) if isinstance(at, slice) else self.improvements[at]

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each improvement."""
        return [asdict(improvement) for improvement in self.improvements]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a chart of the score over time, and the table of improvements."""
        drawn = import_module("lns.runs.page").scores_over_time([("", self)])
        return f"{import_module('lns.instances.draw.page').standalone(drawn)}{super()._repr_html_()}"

    def score_after(self, seconds: float) -> int | None:
        """Return the best score after ``seconds`` of search; None before the first board or beyond ``elapsed_s``."""
        if self.elapsed_s < seconds:
            return None
        return max((entry.score for entry in self.improvements if entry.elapsed_s <= seconds), default=None)

    @property
    def best_score(self) -> int:
        """Score of the best board; -1 before the first board."""
        return self.improvements[-1].score if self.improvements else -1

    @property
    def remaining_s(self) -> float:
        """Seconds of search that are left of ``budget_s``."""
        return max(0.0, self.budget_s - self.elapsed_s)

    @property
    def has_time_limit(self) -> bool:
        """Whether the user set a time limit."""
        return self.budget_s < UNLIMITED_S

    @property
    def remaining_in_words(self) -> str:
        """The remaining time of search in words, such as "2 min left", "no time left" or "no time limit"."""
        if not self.has_time_limit:
            return "no time limit"
        return f"{format_duration(self.remaining_s)} left" if self.remaining_s >= 1 else "no time left"

    def at_least(self, score: int) -> int:
        """Return the number of logged boards of at least ``score``."""
        return sum(count for found_score, count in self.counts.items() if found_score >= score)

    def log(self, score: int, origin: str) -> None:
        """Count a board that is added to the log of boards."""
        self.counts[score] = self.counts.get(score, 0) + 1
        self.boards_by_part[origin] = self.boards_by_part.get(origin, 0) + 1

    def forget_log(self) -> None:
        """Set the counts of logged boards to zero, before the boards of the log are counted again."""
        self.counts, self.boards_by_part, self.log_size = {}, {}, 0

    def begin(self, session: SessionRecord) -> None:
        """Add a session; the oldest session is dropped if there are more than `MAX_SESSIONS`."""
        self.sessions = [*self.sessions[-MAX_SESSIONS + 1 :], session]


@dataclass(frozen=True)
class Heartbeat:
    """Content of status.json, except the history. If the file cannot be read, the defaults stand for its content."""

    at: str = ""  # date and time (UTC) at which the file was written
    rate: float = 0.0  # nodes (of tabu search: moves) a second of all workers, over the last minute
    pids: tuple[int, ...] = ()  # process ids of the workers on this machine
    cluster_workers: int = 0  # number of workers of a cluster that are searching
    min_score: int = 0  # least score of boards that go into the log, besides new bests
    statistics: Statistics = field(default_factory=Statistics)
    write_errors: tuple[str, ...] = ()  # names of the files that could not be written when last tried

    @property
    def speed(self) -> str:
        """The rate of the search in words, such as "3.4 M nodes/s"."""
        return f"{self.rate / 1e6:.1f} M {self.statistics.unit}/s"


def write_status(path: Path, run: str, history: RunHistory, heartbeat: Heartbeat) -> None:
    """Write status.json in the directory ``path`` of the run with the id ``run``. Raises OSError if writing fails."""
    told = asdict(history) | {"counts": sorted(history.counts.items())}
    status = {"schema": STATUS_SCHEMA, "run": run, "history": told} | asdict(heartbeat)
    atomic_write(path / STATUS, seal(status) + "\n")


def read_status(path: Path, run: str) -> tuple[RunHistory, Heartbeat]:
    """Return the history and the heartbeat in the status.json of the run with the id ``run`` in the directory ``path``.

    Raises InputError, which names the file, if the file is absent, damaged, of another version or of another run.
    """
    with named(path / STATUS):
        values = read_sealed(path / STATUS, STATUS_SCHEMA)
        if values.get("run") != run:
            raise InputError("belongs to another run")
        history: RunHistory = from_json(RunHistory, values.get("history"), "history")
        heartbeat: Heartbeat = from_json(Heartbeat, values.values, "status")
    return history, heartbeat


@dataclass(kw_only=True)
class Part:
    """Cost and gains of one part of the search engine, over all sessions of a run."""

    name: str
    node_equivalents: int  # cost, in placements of the constructor that take the same time
    share: float  # cost of this part divided by the cost of all parts
    boards: int  # number of boards of this part in the log
    bests: int  # how many of these boards were new bests
    edges: int  # sum of what these new bests added to the best score; the first board of a run adds 0
    new_boards: int  # number of new boards of the wanted score, or better than the board that the operator changed
    found_later: int  # how many of ``new_boards`` the construction found later
    failures: int  # number of islands on which the part was switched off, as it had failed

    @property
    def edges_per_1e9(self) -> float | None:
        """Edges added to the best score per 10^9 node equivalents; None if the part has no cost."""
        return self.edges / self.node_equivalents * 1e9 if self.node_equivalents else None

    @property
    def boards_per_1e9(self) -> float | None:
        """Logged boards per 10^9 node equivalents; None if the part has no cost."""
        return self.boards / self.node_equivalents * 1e9 if self.node_equivalents else None


def parts(history: RunHistory, done: Statistics) -> list[Part]:
    """Return cost and gains of each part that has a cost, a board or a failure, the most expensive part first."""
    costs, bests, edges = done.node_equivalents_by_part(), Counter[str](), Counter[str]()
    for before, entry in pairwise([None, *history]):
        bests[entry.origin] += 1
        edges[entry.origin] += entry.score - before.score if before else 0
    total = max(1, sum(costs.values()))
    counts = {"node_equivalents": costs, "boards": history.boards_by_part, "bests": bests, "edges": edges}
    counts |= {name: getattr(done, name) for name in ("new_boards", "found_later", "failures")}
    result = [
        Part(name=name, share=costs.get(name, 0) / total, **{count: of.get(name, 0) for count, of in counts.items()})
        for name in history.boards_by_part.keys() | bests.keys() | costs.keys() | done.failures.keys()
    ]
    return sorted(result, key=lambda part: (-part.node_equivalents, part.name))


def part_table(history: RunHistory, done: Statistics) -> list[list[str]]:
    """Return the result of `parts` as rows of text for a page or a terminal; the first row has the column titles.

    "~M nodes" is the cost in millions of node equivalents. "new" counts new boards of the wanted score, or better than
    the board they were made from; "later" counts how many of these the construction found later.
    """
    rows = [["part", "~M nodes", "share", "boards", "bests", "edges", "edges a 1e9", "boards a 1e9", "new", "later"]]
    for part in parts(history, done):
        name = f"{part.name} (switched off: it failed)" if part.failures else part.name
        gains = ["-" if gain is None else f"{gain:,.3g}" for gain in (part.edges_per_1e9, part.boards_per_1e9)]
        rows.append([name, f"{part.node_equivalents / 1e6:,.1f}", f"{part.share:.1%}", f"{part.boards:,}"])
        rows[-1] += [f"{part.bests:,}", f"{part.edges:,}", *gains, f"{part.new_boards:,}", f"{part.found_later:,}"]
    return rows
