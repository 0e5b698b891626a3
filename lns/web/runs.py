"""The run directories below a root, as the page Runs shows them. Only files are read, which slows no running search."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_set
from lns.instances.text import escape_controls, printable
from lns.runs import checkpoint
from lns.runs.board_log import BestBoards, LoggedBoard
from lns.runs.directory import runs_below
from lns.runs.files import BEST, BOARDS, CHECKPOINT, LOG, SETTINGS, STATUS, open_regular
from lns.runs.history import parts
from lns.runs.run_summary import RunSummary, load_summary
from lns.terminal.output import picked
from lns.web.wire import board_to_json, puzzle_to_json

MOST_RUNS = 500
MOST_FILES = 200
MAX_BEST_BOARDS = 6
LOOK_S = 5.0
"""Seconds after which a run in progress is read again although no file has changed, since a dead run changes none."""
MOST_LINES = 1_000  # most lines of a log in one answer
_STATE = (STATUS, "lock", BEST)


class Runs:
    """The runs below the directory ``root``; nothing outside this directory is read."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._kept: dict[tuple[str, ...], tuple[tuple[int, ...], dict[str, Any], float]] = {}
        self._logged_best: dict[tuple[str, str], BestBoards] = {}
        self._reading = threading.Lock()  # two pages may ask at once, and the readers of board logs are not thread-safe

    def names(self) -> list[str]:
        """Return the names of the `MOST_RUNS` newest run directories, relative to the root, the newest first."""
        inside = [path for path in runs_below(self.root) if not (path / SETTINGS).is_symlink()]
        found = sorted(inside, key=lambda path: -_modified(path / SETTINGS))
        return [path.relative_to(self.root).as_posix() for path in found[:MOST_RUNS]]

    def files(self) -> list[str]:
        """Return the names of at most `MOST_FILES` files in the root, sorted, without hidden files and links."""
        with contextlib.suppress(OSError), os.scandir(self.root) as entries:  # raised if the root is gone
            files = (one.name for one in entries if one.is_file(follow_symlinks=False))
            return sorted(name for name in files if name[0] != "." and name.isprintable())[:MOST_FILES]
        return []

    def path(self, name: str) -> Path:
        """Return the path of the run ``name``. Raises InputError if there is no such run directory below the root."""
        settings = self.inside(f"{name}/{SETTINGS}")
        if not settings.is_file():
            raise InputError("there is no run of this name below the directory that is served")
        return settings.parent

    def inside(self, name: str) -> Path:
        """Return the path ``name`` below the root. Raises InputError if it leaves the root or passes a link."""
        path, steps = self.root, [part for part in name.split("/") if part]
        if len(name) > 1000 or "\0" in name or "\\" in name or any(part in (".", "..") for part in steps):
            raise InputError("the name is no path below the directory that is served")
        for part in steps:
            path = path / part
            if path.is_symlink():
                raise InputError("the name passes a symbolic link; expected a path below the directory that is served")
        return path

    def facts(self) -> list[dict[str, Any]]:
        """Return a summary of each run; `_read` decides whether the files of a run are read again."""
        paths = ((name, self.root / name) for name in self.names())
        return [self._read(path, _STATE, partial(_facts_of, name, path)) for name, path in paths]

    def details(self, name: str) -> dict[str, Any]:
        """Return all that the page Runs shows of the run ``name``."""
        path = self.path(name)
        with self._reading:
            return self._read(path, (*_STATE, BOARDS, CHECKPOINT), lambda: self._details(name, load_summary(path)))

    def log(self, name: str, first: int, count: int) -> dict[str, Any]:
        """Return at most ``count`` lines of run.log from index ``first`` on; a negative index counts from the end."""
        path, lines = self.path(name) / LOG, list[bytes]()
        with contextlib.suppress(OSError, InputError), open_regular(path, os.O_RDONLY, create=False) as file:
            lines = file.read().split(b"\n")[:-1]  # only complete lines
        first = max(0, len(lines) + first if first < 0 else first)
        shown = lines[first : first + min(max(0, count), MOST_LINES)]
        texts = [escape_controls(line[:20_000].decode(errors="replace"))[:2000] for line in shown]
        return {"first": first, "total": len(lines), "lines": texts}

    def _read(self, path: Path, files: tuple[str, ...], read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the result of ``read``, kept until one of ``files`` changes or, during a run, for `LOOK_S`."""
        key, stamp = (str(path), *files), tuple(_modified(path / file) for file in files)
        kept = self._kept.get(key)
        late = kept is not None and kept[1].get("state") == "running" and time.monotonic() - kept[2] > LOOK_S
        if kept is None or kept[0] != stamp or late:
            self._kept[key] = kept = (stamp, read(), time.monotonic())
        return kept[1]

    def _details(self, name: str, run: RunSummary) -> dict[str, Any]:
        history = run.history
        return {
            **run_facts(name, run),
            "puzzle": puzzle_to_json(run.puzzle),
            **picked(run.settings, "seed", "engine", "target"),
            "certificate": run.heartbeat.statistics.certificate_in_words(run.score),
            "improvements": [[one.score, one.elapsed_s, one.at, one.origin] for one in history.improvements],
            "counts": sorted(history.counts.items(), reverse=True),
            "parts": [
                {"name": printable(part.name, 40), **picked(part, "share", "boards", "bests", "edges")}
                for part in parts(history, run.heartbeat.statistics)
            ],
            "sessions": [picked(one, "started_at", "ended", "seconds", "workers") for one in history.sessions[-100:]],
            "best": None if run.best is None else board_to_json(run.puzzle, run.best.board),
            "elites": self._best_boards(name, run),
            **self._read(run.path, (CHECKPOINT,), lambda: {"islands": _islands_of(run)}),
        }

    def _best_boards(self, name: str, run: RunSummary) -> list[dict[str, Any]]:
        """Return at most `MAX_BEST_BOARDS` best boards, distinct, and in how many cells each differs from the first."""
        key = name, run.settings.run
        if key not in self._logged_best:
            self._logged_best[key] = BestBoards(run.path, run.puzzle, MAX_BEST_BOARDS)
        top: list[LoggedBoard] = self._logged_best[key].update()
        return [
            {
                **picked(entry, "score", "elapsed_s"),
                "origin": printable(entry.origin, 40),
                "distance": entry.board.distance(top[0].board),
                "board": board_to_json(run.puzzle, entry.board),
            }
            for entry in top
        ]


def _facts_of(name: str, path: Path) -> dict[str, Any]:
    try:
        return run_facts(name, load_summary(path))
    except InputError as error:
        return {"name": name, "state": "unreadable", "error": printable(error.message, 500)}


def run_facts(name: str, run: RunSummary) -> dict[str, Any]:
    """Return the summary of a run, as the list of runs shows it."""
    return {
        **run.as_dict(run.score),
        "name": name,
        "ended": printable(run.why, 100),
        "instance": printable(run.puzzle.name, 100),
        "set": printable(name_of_set(run.puzzle), 100),
        "left_s": run.history.remaining_s,
        "notes": [printable(note, 300) for note in run.notes][:20],
    }


def _islands_of(run: RunSummary) -> list[dict[str, Any]]:
    """Return a summary of each island from the last checkpoint; an empty list if no checkpoint can be read."""
    path = run.path / CHECKPOINT
    try:
        found = {} if path.is_symlink() else checkpoint.load(path, run.settings.run, run.puzzle)
    except InputError:
        found = {}
    return [
        {"number": number, "best": one.best_score, **picked(one.statistics, "placements", "moves", "boards")}
        for number, one in sorted(found.items())
    ]


def _modified(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except (OSError, ValueError):
        return 0
