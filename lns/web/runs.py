"""The run directories below a root, as the page shows them. Only files are read, so a running search is not slowed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instances.eternity2 import name_of_set
from instances.piece_set import set_sha256
from instances.puzzle import Puzzle
from lns import params
from lns.params import Params
from lns.rounds import Island
from lns.runs import checkpoint
from lns.runs.board_log import BestBoards, LoggedBoard
from lns.runs.files import CHECKPOINT, LOG, PARAMETERS, SETTINGS, STATUS
from lns.runs.find import runs_below
from lns.runs.history import parts
from lns.runs.run_summary import RunSummary, load_summary
from lns.web.wire import board_to_json, puzzle_to_json
from lns_support.errors import InputError
from lns_support.text import escape_controls, printable

MOST_RUNS = 500
MAX_BEST_BOARDS = 6
LOOK_S = 5.0
"""Seconds after which a run that goes on is read again although no file has changed: one that died changes none."""
MOST_LINES = 1_000
"""Lines of a log in one answer."""
_STRIDE = 1_000
"""Lines between two remembered places in a log."""
_BLOCK = 2**20


class Runs:
    """The runs below a directory.

    Parameters
    ----------
    root : Path
        Nothing outside it is read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._known: dict[str, tuple[tuple[int, ...], dict[str, Any], float]] = {}
        self._logged_best: dict[str, tuple[BestBoards, str]] = {}
        self._islands: dict[str, tuple[int, list[dict[str, Any]]]] = {}
        self._logs: dict[str, LogLines] = {}
        self._reading = threading.Lock()  # two pages may ask at once; logs are read on from where they ended

    def names(self) -> list[str]:
        """Names of the run directories, relative to the root, the newest first."""
        inside = [path for path in runs_below(self.root) if not (path / SETTINGS).is_symlink()]
        found = sorted(inside, key=lambda path: -_modified(path / SETTINGS))
        return [path.relative_to(self.root).as_posix() for path in found[:MOST_RUNS]]

    def path(self, name: str) -> Path:
        """The run directory of a name.

        Raises
        ------
        InputError
            It leaves the root, or is no run directory. No symbolic link is followed.
        """
        settings = self.inside(f"{name}/{SETTINGS}")
        if not settings.is_file():
            raise InputError("there is no run of this name below the directory that is served")
        return settings.parent

    def inside(self, name: str) -> Path:
        """The path of a name below the root. Raises InputError if it leaves the root or passes a symbolic link."""
        path = self.root
        parts_of_name = [part for part in name.split("/") if part]
        if len(name) > 1000 or "\0" in name or "\\" in name or any(part in (".", "..") for part in parts_of_name):
            raise InputError("the name is no path below the directory that is served")
        for part in parts_of_name:
            path = path / part
            if path.is_symlink():
                raise InputError("the name passes a symbolic link; expected a path below the directory that is served")
        return path

    def facts(self) -> list[dict[str, Any]]:
        """A line about each run; runs whose files have not changed are not read again."""
        return [self._facts(name) for name in self.names()]

    def details(self, name: str) -> dict[str, Any]:
        """Everything about one run that changes while it goes on."""
        path = self.path(name)
        run = load_summary(path)
        with self._reading:
            boards, islands = self._best_boards(name, run), self._islands_of(name, run)
        return run_facts(name, run) | _details(run) | {"elites": boards, "islands": islands}

    def stamp(self, name: str) -> tuple[int, ...]:
        """Changes whenever a file of the run that is shown has changed."""
        path = self.path(name)
        return tuple(_modified(path / file) for file in (STATUS, "lock", "best.json", LOG, CHECKPOINT))

    def puzzle_and_params(self, name: str) -> tuple[Puzzle, Params]:
        """The puzzle and the parameters of a run."""
        path = self.path(name)
        self.inside(f"{name}/{PARAMETERS}")
        return load_summary(path).puzzle, params.load(path / PARAMETERS)

    def log(self, name: str, first: int, count: int) -> dict[str, Any]:
        """Lines of run.log from number ``first`` on; negative numbers count from the end."""
        path = self.path(name)
        with self._reading:
            lines = self._logs.setdefault(name, LogLines(path / LOG))
            lines.update()
            if first < 0:
                first = max(0, lines.total + first)
            return {"first": first, "total": lines.total, "lines": lines.read(first, min(count, MOST_LINES))}

    def _facts(self, name: str) -> dict[str, Any]:
        path = self.root / name
        stamp = tuple(_modified(path / file) for file in (STATUS, "lock", "best.json"))
        known = self._known.get(name)
        late = known is not None and known[1]["state"] == "running" and time.monotonic() - known[2] > LOOK_S
        if known is None or known[0] != stamp or late:
            try:
                facts = run_facts(name, load_summary(path))
            except InputError as error:
                facts = {"name": name, "state": "unreadable", "error": printable(error.message, 500)}
            self._known[name] = known = (stamp, facts, time.monotonic())
        return known[1]

    def _best_boards(self, name: str, run: RunSummary) -> list[dict[str, Any]]:
        """The best distinct boards, and in how many cells each differs from the first."""
        kept = self._logged_best.get(name)
        if kept is None or kept[1] != run.settings.run:
            self._logged_best[name] = kept = (BestBoards(run.path, run.puzzle, MAX_BEST_BOARDS), run.settings.run)
        top: list[LoggedBoard] = kept[0].update()
        return [
            {
                "score": entry.score,
                "elapsed_s": entry.elapsed_s,
                "origin": printable(entry.origin, 40),
                "distance": entry.board.distance(top[0].board),
                "board": board_to_json(run.puzzle, entry.board),
            }
            for entry in top
        ]

    def _islands_of(self, name: str, run: RunSummary) -> list[dict[str, Any]]:
        """A line about each island, as of the last checkpoint; none where that cannot be read."""
        path = run.path / CHECKPOINT
        stamp = _modified(path)
        kept = self._islands.get(name)
        if kept is None or kept[0] != stamp:
            try:
                found = {} if path.is_symlink() else checkpoint.load(path, run.settings.run, run.puzzle, {}).islands
            except InputError:
                found = {}
            self._islands[name] = kept = (stamp, [_island_line(found[number]) for number in sorted(found)])
        return kept[1]


@dataclass
class LogLines:
    """A log that grows, of which any line can be read without the ones before it.

    Attributes
    ----------
    path : Path
        The file.
    total : int
        Complete lines in it.
    """

    path: Path
    total: int = 0
    _end: int = 0
    _places: list[int] = field(default_factory=lambda: [0])

    def update(self) -> None:
        """Count the lines that came since the last call; begin again if the file became shorter."""
        try:
            size = self.path.stat().st_size if not self.path.is_symlink() else 0
            if size < self._end:
                self.total, self._end, self._places = 0, 0, [0]
            if size == self._end:
                return
            with self.path.open("rb") as file:
                file.seek(self._end)
                at = self._end
                while block := file.read(_BLOCK):
                    self._count(block, at)
                    at += len(block)
        except OSError:
            return

    def read(self, first: int, count: int) -> list[str]:
        """Lines from number ``first`` on, without control characters."""
        if first >= self.total or count < 1:
            return []
        place = min(first // _STRIDE, len(self._places) - 1)
        lines = []
        with self.path.open("rb") as file:
            file.seek(self._places[place])
            for _ in range(first - place * _STRIDE):
                file.readline()
            for _ in range(min(count, self.total - first)):
                line = file.readline(20_000)
                lines.append(escape_controls(line.decode(errors="replace").rstrip("\n"))[:2000])
        return lines

    def _count(self, block: bytes, at: int) -> None:
        """Count the line ends of a block that begins at byte ``at``; remember where every `_STRIDE`-th line begins."""
        ends = block.count(b"\n")
        if self.total // _STRIDE < (self.total + ends) // _STRIDE:
            end, number = -1, self.total
            while (end := block.find(b"\n", end + 1)) >= 0:
                number += 1
                if number % _STRIDE == 0:
                    self._places.append(at + end + 1)
        if ends:
            self.total += ends
            self._end = at + block.rfind(b"\n") + 1


def run_facts(name: str, run: RunSummary) -> dict[str, Any]:
    """The line of a run in the list."""
    history = run.history
    return {
        "name": name,
        "state": run.state,
        "ended": printable(run.why, 100),
        "instance": printable(run.puzzle.name, 100),
        "set": printable(name_of_set(run.puzzle), 100),
        "set_sha256": set_sha256(run.puzzle),
        "clues": run.clues,
        "score": run.score,
        "max_score": run.puzzle.max_score,
        "best_at": run.best_at,
        "rate": run.heartbeat.rate if run.state == "running" else 0.0,
        "unit": run.heartbeat.unit,
        "workers": run.workers,
        "elapsed_s": history.elapsed_s,
        "left_s": history.remaining_s,
        "notes": [printable(note, 300) for note in run.notes][:20],
        "write_errors": list(run.heartbeat.write_errors),
    }


def _island_line(island: Island) -> dict[str, Any]:
    done = island.statistics
    return {
        "number": island.number,
        "best": island.best_score,
        "placements": done.placements,
        "moves": done.moves,
        "boards": done.boards,
    }


def _details(run: RunSummary) -> dict[str, Any]:
    history, settings = run.history, run.settings
    return {
        "puzzle": puzzle_to_json(run.puzzle),
        "seed": settings.seed,
        "engine": settings.engine,
        "target": settings.target,
        "pins": len(settings.pins),
        "certificate": run.heartbeat.statistics.certificate_in_words(run.score),
        "created_at": printable(settings.created_at, 40),
        "improvements": [[one.score, one.elapsed_s, one.at, one.origin] for one in history.improvements],
        "counts": sorted(history.counts.items(), reverse=True),
        "parts": [
            {
                "name": printable(part.name, 40),
                "share": part.share,
                "cost": part.node_equivalents,
                "boards": part.boards,
                "bests": part.bests,
                "edges": part.edges,
            }
            for part in parts(history, run.heartbeat.statistics)
        ],
        "sessions": [
            {"started_at": one.started_at, "ended": one.ended, "seconds": one.seconds, "workers": one.workers}
            for one in history.sessions[-100:]
        ],
        "best": None if run.best is None else board_to_json(run.puzzle, run.best.board),
    }


def _modified(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except (OSError, ValueError):
        return 0
