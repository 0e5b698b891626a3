"""Summary of a run from its directory: read only, during the run or later, on any machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from lns.engine import FoundBoard
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues
from lns.instances.piece_set import set_sha256, translation
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, printable
from lns.runs import checkpoint as checkpoints
from lns.runs.directory import RunSettings, read_best, read_run
from lns.runs.files import CHECKPOINT, PREVIOUS, parse_time, reason_in_words
from lns.runs.history import Heartbeat, RunHistory, read_status
from lns.runs.lock import process_is_alive, read_holder

HEARTBEAT_LATE_S = 30.0  # a run on another machine whose status.json is older counts as dead
RELIABLE_BOARDS = 10  # boards that a rate needs


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run, made by `load_summary`."""

    path: Path  # run directory
    settings: RunSettings
    puzzle: Puzzle
    state: str  # "running", "ended" (in order) or "died"
    best: FoundBoard | None
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
    """Summarize the run in a directory. Files that cannot be read are named in ``notes``.

    Raises InputError if it is no run directory, or its settings or puzzle are damaged or of another version.
    """
    settings, puzzle = read_run(path)
    notes: list[str] = []
    best = None
    try:
        best = read_best(path, puzzle)
    except InputError as error:
        notes.append(str(error))
    history, heartbeat = _history(path, settings, puzzle, notes)
    state, holder = "ended", read_holder(path)
    workers: int | None = 0
    if holder is not None:
        last = parse_time(heartbeat.at)
        late = last is None or abs((datetime.now(UTC) - last).total_seconds()) > HEARTBEAT_LATE_S
        state = "running" if (not late if holder.is_elsewhere else holder.is_alive) else "died"
        if state == "running":
            known = sum(map(process_is_alive, heartbeat.pids)) if holder.is_here else None
            workers = heartbeat.cluster_workers or known
    return RunSummary(path, settings, puzzle, state, best, history, heartbeat, workers, tuple(notes))


def _history(path: Path, settings: RunSettings, puzzle: Puzzle, notes: list[str]) -> tuple[RunHistory, Heartbeat]:
    """History and heartbeat from status.json; if that cannot be used, the history of the newest checkpoint."""
    try:
        return read_status(path, settings.run, puzzle)
    except InputError as error:
        notes.append(str(error))
    for name in (CHECKPOINT, PREVIOUS):
        try:
            return checkpoints.load(path / name, settings.run, puzzle, {}).history, Heartbeat()
        except InputError as error:
            notes.append(str(error))
    return RunHistory(0.0), Heartbeat()
