"""History of a run over all its sessions: improvements, logged boards by score, gains by part, sessions."""

from __future__ import annotations

import platform
import socket
from dataclasses import dataclass, field
from typing import Any

from instances.puzzle import Puzzle
from lns.engine import FoundBoard, Statistics
from lns.runs.files import format_duration, utc_now
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer, describe_found

MAX_SESSIONS, MAX_PARTS = 1000, 100
OTHER_PARTS = "others"  # parts beyond the first MAX_PARTS
UNLIMITED_S = 1e9  # seconds of search of a run without a time limit
_SECONDS = 1e10
_COUNT = 2**63 - 1


@dataclass(frozen=True)
class Improvement:
    """A new best board."""

    score: int  # matched inner edges
    elapsed_s: float  # seconds of search before it, over all sessions
    at: str  # time of day, UTC
    origin: str  # the part of the engine that made it


@dataclass
class SessionRecord:
    """One session of a run: a call of `solve` or `resume`."""

    started_at: str  # time of day, UTC
    host: str  # name of the machine
    machine: str  # system, processor, version of Python
    version: str  # of lns
    workers: int
    seconds: float = 0.0  # of search
    ended: str = ""  # why it ended; "" while it runs, or if it was killed

    @classmethod
    def new(cls, version: str, workers: int) -> SessionRecord:
        """A session that starts now on this machine."""
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        return cls(utc_now(), socket.gethostname(), machine, version, workers)


@dataclass
class PartGains:
    """What one part of the engine found."""

    boards: int = 0  # in the log
    bests: int = 0  # new bests among them
    edges: int = 0  # by which those raised the best score


@dataclass
class RunHistory:
    """History of a run."""

    budget_s: float  # seconds of search that the user asked for, over all sessions
    elapsed_s: float = 0.0  # seconds of search so far
    improvements: list[Improvement] = field(default_factory=list)  # in order
    counts: dict[int, int] = field(default_factory=dict)  # logged boards by score
    gains_by_part: dict[str, PartGains] = field(default_factory=dict)
    sessions: list[SessionRecord] = field(default_factory=list)  # in order
    other_statistics: Statistics = field(default_factory=Statistics)  # of runs that were merged into this one

    @property
    def best_score(self) -> int:
        """Score of the best board; -1 before the first."""
        return self.improvements[-1].score if self.improvements else -1

    @property
    def remaining_s(self) -> float:
        """Seconds of search left of the budget."""
        return max(0.0, self.budget_s - self.elapsed_s)

    @property
    def has_time_limit(self) -> bool:
        """Whether the run was given a time."""
        return self.budget_s < UNLIMITED_S

    @property
    def remaining_in_words(self) -> str:
        """What is left of the time, such as "2 min left", or that nothing is left or that there is no limit."""
        if not self.has_time_limit:
            return "no time limit"
        return f"{format_duration(self.remaining_s)} left" if self.remaining_s >= 1 else "no time left"

    def at_least(self, score: int) -> int:
        """Number of logged boards of at least this score."""
        return sum(count for found_score, count in self.counts.items() if found_score >= score)

    def raise_elapsed(self, elapsed_s: float) -> None:
        """Raise ``elapsed_s`` to the value in a file, at most to half of what a file may hold: a run can then go on."""
        self.elapsed_s = min(max(self.elapsed_s, elapsed_s), _SECONDS / 2)

    def improve(self, found_board: FoundBoard, at: str) -> None:
        """Record a new best board, found at the time of day ``at``."""
        self.append_improvement(Improvement(found_board.score, self.elapsed_s, at, found_board.origin))

    def append_improvement(self, improvement: Improvement) -> None:
        """Record a new best board and the gain of the part that made it."""
        gains = self._gains(improvement.origin)
        gains.bests += 1
        if self.improvements:
            gains.edges += improvement.score - self.best_score
        self.improvements.append(improvement)

    def log(self, found_board: FoundBoard) -> None:
        """Count a board that is written to the log."""
        self.counts[found_board.score] = self.counts.get(found_board.score, 0) + 1
        self._gains(found_board.origin).boards += 1

    def _gains(self, part: str) -> PartGains:
        if part not in self.gains_by_part and len(self.gains_by_part) >= MAX_PARTS - 1:
            part = OTHER_PARTS  # an untrusted log may name any number of parts
        return self.gains_by_part.setdefault(part, PartGains())

    def begin(self, session: SessionRecord) -> None:
        """Add a session; of more than MAX_SESSIONS the oldest is dropped."""
        self.sessions = [*self.sessions[-MAX_SESSIONS + 1 :], session]

    def to_json(self) -> dict[str, Any]:
        """The history as a JSON object, for checkpoints and status.json."""
        return {
            "budget_s": self.budget_s,
            "elapsed_s": round(self.elapsed_s, 3),
            "improvements": [[i.score, round(i.elapsed_s, 3), i.at, i.origin] for i in self.improvements],
            "counts": [[score, count] for score, count in sorted(self.counts.items())],
            "gains_by_part": [[name, g.boards, g.bests, g.edges] for name, g in self.gains_by_part.items()],
            "sessions": [session.__dict__ for session in self.sessions],
            "other_statistics": self.other_statistics.to_json(),
        }


def history_from_json(fields: JsonFields, puzzle: Puzzle) -> RunHistory:
    """Read what `RunHistory.to_json` wrote.

    Parameters
    ----------
    fields : JsonFields
        The object.
    puzzle : Puzzle
        Puzzle of the run, which bounds the scores.

    Returns
    -------
    RunHistory

    Raises
    ------
    InputError
        A field is absent, out of range, or of the wrong kind.
    """
    history = RunHistory(fields.number("budget_s", 0, _SECONDS), fields.number("elapsed_s", 0, _SECONDS))
    for entry in _rows(fields, "improvements", puzzle.max_score + 1, 4):
        score = bounded_integer(entry[0], history.best_score + 1, puzzle.max_score, "a score of 'improvements'")
        history.improvements.append(Improvement(score, _seconds(entry[1]), _text(entry[2]), _text(entry[3])))
    for score, count in _rows(fields, "counts", puzzle.max_score + 1, 2):
        history.counts[bounded_integer(score, 0, puzzle.max_score, "a score of 'counts'")] = _count(count, 1)
    for name, *numbers in _rows(fields, "gains_by_part", MAX_PARTS, 4):
        history.gains_by_part[_text(name)] = PartGains(*map(_count, numbers))
    for entry in fields.array("sessions")[:MAX_SESSIONS]:
        if not isinstance(entry, dict):
            raise InputError(f"'sessions': {describe_found(entry)}; expected objects")
        values = JsonFields(entry)
        session = SessionRecord(
            started_at=_text(values.get("started_at")),
            host=_text(values.get("host")),
            machine=_text(values.get("machine")),
            version=_text(values.get("version")),
            workers=values.integer("workers", 1, 10**6),
            seconds=values.number("seconds", 0, _SECONDS),
            ended=_text(values.get("ended")),
        )
        history.sessions.append(session)
    if "other_statistics" in fields:
        history.other_statistics = Statistics.from_json(fields.get("other_statistics"))
    return history


def _rows(fields: JsonFields, name: str, most: int, length: int) -> list[list[Any]]:
    rows = fields.array(name)
    if len(rows) > most or not all(isinstance(row, list) and len(row) == length for row in rows):
        raise InputError(f"'{name}': {describe_found(rows)}; expected at most {most} lists of {length}")
    return rows


def _text(value: object) -> str:
    return JsonFields({"text": value}).printable("text", 200)


def _seconds(value: object) -> float:
    return JsonFields({"seconds": value}).number("seconds", 0, _SECONDS)


def _count(value: object, least: int = 0) -> int:
    return bounded_integer(value, least, _COUNT, "a count")
