"""Summary of a run, read from its directory, and `status` of several runs; nothing is written, so runs may go on."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from lns.engine import FoundBoard
from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues, name_of_set
from lns.instances.piece_set import set_sha256, translation
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of, cut_middle, printable
from lns.runs.directory import RunSettings, RunSources, read_best, read_run, run_directories
from lns.runs.files import format_duration, parse_time, reason_in_words, time_ago
from lns.runs.history import Heartbeat, RunHistory, read_status
from lns.runs.lock import process_is_alive, read_holder

T = TypeVar("T")
OnError = Callable[[InputError], object]

HEARTBEAT_LATE_S = 30.0  # age in seconds of status.json above which a run that cannot be observed here counts as dead
RELIABLE_BOARDS = 10  # fewest boards for which a rate is shown
LEAST_NAME = 16  # fewest characters to which a name is cut on a narrow terminal
_HEADS = ["run", "instance", "clues", "best", "found", "state", "boards", "search", "time", "speed", "workers"]
# columns of the table that are omitted on a narrow terminal, in this order
_LEAST_WANTED = ["search", "workers", "speed", "boards", "found", "time", "clues"]


@dataclass(frozen=True)
class RunSummary:
    """Settings, state, history and best board of a run, as `load_summary` reads them."""

    path: Path  # the run directory
    settings: RunSettings
    puzzle: Puzzle
    state: str  # "running", "ended" (after an orderly end) or "died"
    best: FoundBoard | None  # the best board; None before the first, or if best.json cannot be read
    history: RunHistory
    heartbeat: Heartbeat
    workers: int | None  # number of live workers; None if unknown (on another machine or in a container)
    notes: tuple[str, ...] = ()  # a sentence on each file that could not be read

    @property
    def name(self) -> str:
        """Name of the run directory, with control characters escaped."""
        return names_of([self])[0]

    @cached_property
    def clues(self) -> str:
        """The clues in words: 'none', 'official', 'starter' or how many; then the number of pinned cells, if any."""
        pinned = f" + {len(self.settings.pins)} pinned" if self.settings.pins else ""
        return name_of_clues(self.puzzle) + pinned

    @property
    def score(self) -> int:
        """Score of the best board; -1 without a board."""
        return -1 if self.best is None else self.best.score

    @property
    def best_at(self) -> str:
        """Date and time (UTC) at which the best board was found; "" if unknown."""
        return self.history.improvements[-1].at if self.history.improvements else ""

    @property
    def why(self) -> str:
        """The reason why the last session ended; "" if that session still runs or was killed."""
        return self.history.sessions[-1].ended if self.history.sessions and self.state == "ended" else ""

    @property
    def starting(self) -> bool:
        """Whether the run is alive but has no worker yet, for instance while kernels are compiled."""
        return self.state == "running" and not self.heartbeat.pids and not self.heartbeat.cluster_workers

    @property
    def state_in_words(self) -> str:
        """The state in words; after an orderly end, also the reason for the end."""
        if self.starting:
            return "starting"
        if self.state == "died":
            return "died without saving its end"
        words = reason_in_words(self.why, has_target=self.settings.target >= 0)
        return f"ended: {words}" if self.why else self.state

    @property
    def resumption(self) -> str:
        """The shell command, without "lns", that continues the run; "" if the continued run would end at once."""
        if self.why == "target reached":
            return ""
        return f"resume {shlex.quote(str(self.path))}{'' if self.history.remaining_s >= 1 else ' --time 1h'}"

    def boards_per_hour(self, score: int) -> float:
        """Return the number of logged boards of at least ``score`` per hour of search."""
        return self.history.at_least(score) / max(self.history.elapsed_s, 1.0) * 3600

    def as_dict(self, min_score: int) -> dict[str, Any]:
        """Return the fields of `lns status --json`, with the number of boards of at least ``min_score``."""
        history, heartbeat, puzzle = self.history, self.heartbeat, self.puzzle
        facts: dict[str, Any] = {"run_dir": str(self.path), "instance": self.settings.instance}
        facts |= {"instance_sha256": self.settings.instance_sha256, "set_sha256": set_sha256(puzzle)}
        facts |= {"clues": self.clues, "state": self.state, "ended": self.why, "score": self.score}
        facts |= {"max_score": puzzle.max_score, "best_at": self.best_at, "min_score": min_score}
        facts |= {"boards": history.at_least(min_score), "boards_per_hour": round(self.boards_per_hour(min_score), 3)}
        facts |= {"unit": heartbeat.statistics.unit, "rate": heartbeat.rate if self.state == "running" else 0.0}
        facts |= {"workers": self.workers, "sessions": len(history.sessions), "elapsed_s": history.elapsed_s}
        facts["left_s"] = history.remaining_s if history.has_time_limit else None
        facts["certificate"] = heartbeat.statistics.certificate_of(self.score)
        return facts | {"notes": list(self.notes), "write_errors": list(heartbeat.write_errors)}

    def rate_in_words(self, score: int) -> str:
        """Return `boards_per_hour` as text; if the boards are fewer than `RELIABLE_BOARDS`, return their number."""
        boards = self.history.at_least(score)
        if boards < RELIABLE_BOARDS:
            return f"{count_of(boards, 'board')} of {score}+"
        rate = self.boards_per_hour(score)
        return f"{rate:,.0f}/h of {score}+" if rate >= 100 else f"{rate:.3g}/h of {score}+"


def names_of(runs: Iterable[RunSummary]) -> list[str]:
    """Return the directory name of each run, preceded by as many parent folders as make the name unique.

    Control characters are escaped, and long names are cut in the middle.
    """
    paths = [run.path.resolve().parts for run in runs]

    def name(path: tuple[str, ...]) -> str:
        ends = (path[-length:] for length in range(1, len(path)))
        alone = (end for end in ends if len({other for other in paths if other[-len(end) :] == end}) == 1)
        return cut_middle(printable("/".join(next(alone, path)), 4096), 60)

    return [name(path) for path in paths]


def check_same_set(first: RunSummary, other: RunSummary) -> None:
    """Raise InputError unless two runs have the same set of pieces, in any numbering; their clues may differ."""
    if translation(other.puzzle, first.puzzle) is None:
        raise InputError(
            f"a run of {printable(other.puzzle.name)} (sha256 {other.puzzle.sha256[:12]}…); expected one of "
            f"{printable(first.puzzle.name)} (sha256 {first.puzzle.sha256[:12]}…), as in {first.path}, or of the same "
            "pieces in another numbering",
            other.path,
        )


def load_summary(path: Path) -> RunSummary:
    """Return the summary of the run in a directory. Its ``notes`` name files that cannot be read.

    Raises InputError if ``path`` is no run directory, or its settings or puzzle are damaged or of another version.
    """
    settings, puzzle = read_run(path)
    notes: list[str] = []
    best = None
    try:
        best = read_best(path, puzzle)
    except InputError as error:
        notes.append(str(error))
    try:
        history, heartbeat = read_status(path, settings.run)
    except InputError as error:
        notes.append(str(error))
        history, heartbeat = RunHistory(0.0), Heartbeat()
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


# -- several runs ------------------------------------------------------------------------------------------------------


def read_each(runs: RunSources, read: Callable[[Path], T], on_error: OnError | None) -> Iterator[T]:
    """Yield ``read(path)`` for each run. An InputError is passed to ``on_error``, or raised if ``on_error`` is None."""
    for path in run_directories(runs):
        try:
            yield read(path)
        except InputError as error:
            if on_error is None:
                raise
            on_error(error)


@dataclass(frozen=True)
class RunTable(Records):
    """Table of the state of runs; runs of one set of pieces follow one another."""

    runs: tuple[RunSummary, ...]
    min_score: int | None = None  # least score of the boards to count; None: each run's best score minus one

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each run, with the fields of `lns status --json`."""
        return [run.as_dict(self._least(run)) for run in self.runs]

    def summary(self, width: int | None = None) -> str:
        """Return the text of `lines`, with each run's notes below its line; ``width`` is the width of the terminal."""
        head, *lines = self.lines(width)
        for at, run in enumerate(self.runs):
            # the notes: proofs about the best boards, work of a graphics card, files that could not be read or written
            done = run.heartbeat.statistics
            told = done.certificate_in_words(run.score), done.card_in_words(run.history.elapsed_s)
            unwritten = (f"{name} cannot be written" for name in run.heartbeat.write_errors)
            lines[at] = "\n    ".join([lines[at], *filter(None, told), *run.notes, *unwritten])
        return "\n".join([head, *lines])

    def lines(self, width: int | None) -> list[str]:
        """Return a line of column titles and a line for each run, without notes; columns without entries are omitted.

        If ``width`` is too small, names are cut; if it still is, the columns of `_LEAST_WANTED` are omitted one by one.
        """
        if not self.runs:
            return [""]
        rows = [[name, *self._row(run)] for name, run in zip(names_of(self.runs), self.runs, strict=True)]
        columns = {head: cells for head, *cells in zip(_HEADS, *rows, strict=True) if any(cells)}
        if all(run.clues == "none" for run in self.runs):
            columns.pop("clues", None)
        for unwanted in ("", *_LEAST_WANTED):
            columns.pop(unwanted, None)
            widths = [max(map(len, [head, *cells])) for head, cells in columns.items()]
            over = 0 if width is None else sum(widths) + 2 * len(widths) - 2 - width
            for at in (0, 1):
                cut = max(0, min(over, widths[at] - LEAST_NAME))
                widths[at] -= cut
                over -= cut
            if over <= 0:
                break
        table = zip(*([head, *cells] for head, cells in columns.items()), strict=True)
        padded = ([cut_middle(cell, wide).ljust(wide) for cell, wide in zip(row, widths, strict=True)] for row in table)
        return ["  ".join(row).rstrip() for row in padded]

    def _least(self, run: RunSummary) -> int:
        return max(0, run.score - 1) if self.min_score is None else self.min_score

    def _row(self, run: RunSummary) -> list[str]:
        history, searching = run.history, run.state == "running" and not run.starting
        workers = "?" if run.workers is None else str(run.workers)
        return [
            printable(name_of_set(run.puzzle), 60),
            run.clues,
            f"{run.score if run.best else '-'} of {run.puzzle.max_score}",
            time_ago(run.best_at),
            run.state_in_words,
            run.rate_in_words(self._least(run)) if run.best else "none yet",
            format_duration(history.elapsed_s),
            history.remaining_in_words,
            run.heartbeat.speed if searching else "",
            workers if searching else "",
        ]


@checked
def status(runs: RunSources = ".", *, min_score: int | None = None, on_error: OnError | None = None) -> RunTable:
    """Return the state of runs. The files of the runs are only read, so the runs may go on meanwhile.

    Parameters
    ----------
    runs : str, path-like, or iterable of them
        Run directories, or folders with run directories; by default the runs below the current folder.
    min_score : int, optional
        Least score of the boards to count; by default the best score of each run minus one.
    on_error : callable, optional
        Called with the error if a run cannot be read; the run is left out. By default the error is raised.

    Returns
    -------
    RunTable
        The runs; ``summary()`` returns a table with a line for each.

    Raises
    ------
    InputError
        A path has no run in it, or a run cannot be read, and there is no ``on_error``.
    """
    found = [(set_sha256(run.puzzle), run) for run in read_each(runs, load_summary, on_error)]
    sets = [key for key, _ in found]
    return RunTable(tuple(run for _, run in sorted(found, key=lambda one: sets.index(one[0]))), min_score)
