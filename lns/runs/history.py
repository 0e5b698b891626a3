"""What a run has done so far, over all its sessions: what `lns status`, `lns watch` and `lns report` tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instances.puzzle import Puzzle
from lns.engine import FoundBoard
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, bounded_integer, describe_found
from lns_support.text import printable

MAX_SESSIONS, MAX_PARTS = 1000, 100
OTHER_PARTS = "others"  # operators beyond those
_SECONDS = 1e10
_COUNT = 2**63 - 1


@dataclass(frozen=True)
class Improvement:
    """A new best. ``elapsed_s``: of search, over all sessions; ``at``: time of day."""

    score: int
    elapsed_s: float
    at: str
    origin: str


@dataclass
class SessionRecord:
    """One call of solve or resume. ``ended``: why it did; "" while it goes on or when it was killed."""

    started_at: str
    host: str
    machine: str
    version: str
    workers: int
    seconds: float = 0.0
    ended: str = ""


@dataclass
class PartGains:
    """What one part of the engine brought: boards in the log, new bests, and by how many edges they were better."""

    boards: int = 0
    bests: int = 0
    edges: int = 0


@dataclass
class RunHistory:
    """``elapsed_s``: search of all sessions, by monotonic clocks; ``budget_s``: what was asked for in all.

    ``counts``: boards in the log by score.
    """

    budget_s: float
    elapsed_s: float = 0.0
    improvements: list[Improvement] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    operators: dict[str, PartGains] = field(default_factory=dict)
    sessions: list[SessionRecord] = field(default_factory=list)

    @property
    def best_score(self) -> int:
        return self.improvements[-1].score if self.improvements else -1

    @property
    def remaining_s(self) -> float:
        return max(0.0, self.budget_s - self.elapsed_s)

    def at_least(self, score: int) -> int:
        """Boards in the log of at least this score."""
        return sum(count for found_score, count in self.counts.items() if found_score >= score)

    def reach(self, elapsed_s: float) -> None:
        """So much search there was at least, as a file says: half of what a file may say, so that a run can go on."""
        self.elapsed_s = min(max(self.elapsed_s, elapsed_s), _SECONDS / 2)

    def improve(self, find: FoundBoard, at: str) -> None:
        """Note a new best."""
        operator = self._operator(find.origin)
        operator.bests += 1
        if self.improvements:
            operator.edges += find.score - self.best_score
        self.improvements.append(Improvement(find.score, self.elapsed_s, at, find.origin))

    def log(self, find: FoundBoard) -> None:
        """Note a board that went into the log."""
        self.counts[find.score] = self.counts.get(find.score, 0) + 1
        self._operator(find.origin).boards += 1

    def _operator(self, name: str) -> PartGains:
        if name not in self.operators and len(self.operators) >= MAX_PARTS - 1:
            name = OTHER_PARTS  # a log from elsewhere may name any number
        return self.operators.setdefault(name, PartGains())

    def begin(self, session: SessionRecord) -> None:
        self.sessions = [*self.sessions[-MAX_SESSIONS + 1 :], session]

    def to_json(self) -> dict[str, Any]:
        return {
            "budget_s": self.budget_s,
            "elapsed_s": round(self.elapsed_s, 3),
            "improvements": [[i.score, round(i.elapsed_s, 3), i.at, i.origin] for i in self.improvements],
            "counts": [[score, count] for score, count in sorted(self.counts.items())],
            "operators": [[name, o.boards, o.bests, o.edges] for name, o in self.operators.items()],
            "sessions": [session.__dict__ for session in self.sessions],
        }


def history_from_json(fields: JsonFields, puzzle: Puzzle) -> RunHistory:
    """What `RunHistory.to_json` wrote. Raises InputError for anything that it could not have written."""
    history = RunHistory(fields.number("budget_s", 0, _SECONDS), fields.number("elapsed_s", 0, _SECONDS))
    for entry in _rows(fields, "improvements", puzzle.max_score + 1, 4):
        score = bounded_integer(entry[0], history.best_score + 1, puzzle.max_score, "a score of 'improvements'")
        history.improvements.append(Improvement(score, _seconds(entry[1]), _text(entry[2]), _text(entry[3])))
    for score, count in _rows(fields, "counts", puzzle.max_score + 1, 2):
        history.counts[bounded_integer(score, 0, puzzle.max_score, "a score of 'counts'")] = _count(count, 1)
    for name, *numbers in _rows(fields, "operators", MAX_PARTS, 4):
        history.operators[_text(name)] = PartGains(*map(_count, numbers))
    for entry in fields.array("sessions")[:MAX_SESSIONS]:
        if not isinstance(entry, dict):
            raise InputError(f"'sessions': {describe_found(entry)}; expected objects")
        one = JsonFields(entry)
        session = SessionRecord(
            started_at=_text(one.get("started_at")),
            host=_text(one.get("host")),
            machine=_text(one.get("machine")),
            version=_text(one.get("version")),
            workers=one.integer("workers", 1, 10**6),
            seconds=one.number("seconds", 0, _SECONDS),
            ended=_text(one.get("ended")),
        )
        history.sessions.append(session)
    return history


def _rows(fields: JsonFields, name: str, most: int, length: int) -> list[list[Any]]:
    rows = fields.array(name)
    if len(rows) > most or not all(isinstance(row, list) and len(row) == length for row in rows):
        raise InputError(f"'{name}': {describe_found(rows)}; expected at most {most} lists of {length}")
    return rows


def _text(value: object) -> str:
    return printable(JsonFields({"text": value}).text("text", 200))


def _seconds(value: object) -> float:
    return JsonFields({"seconds": value}).number("seconds", 0, _SECONDS)


def _count(value: object, least: int = 0) -> int:
    return bounded_integer(value, least, _COUNT, "a count")
