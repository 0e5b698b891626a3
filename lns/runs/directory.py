"""A run directory that is being worked in: made or opened, locked, and the only one who writes its results."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from instances.board import Board
from instances.formats import best_json, load_board, load_puzzle, write
from instances.puzzle import Clue, Puzzle
from instances.verify import verify
from lns import params as parameters
from lns.engine import verified_board
from lns.params import Params
from lns.runs.files import (
    BEST,
    BOARDS,
    CHECKPOINT,
    INSTANCE,
    LOCK,
    LOG,
    PARAMETERS,
    PICTURE,
    PREVIOUS,
    SETTINGS,
    STATUS,
    STOP,
    utc_now,
)
from lns.runs.lock import Lock
from lns.runs.settings import RunSettings, digest
from lns_support.errors import InputError
from lns_support.files import atomic_write, read_text
from lns_support.text import printable

log = logging.getLogger("lns")

FREE_BYTES = 16 * 2**20  # a run that begins with less would soon be in trouble
_FIRST = (LOCK, INSTANCE, PARAMETERS, SETTINGS, LOG, STATUS, CHECKPOINT, PREVIOUS)  # before any board is found


class RunDirectory:
    """One run's files in ``path``, held by this process until `close`."""

    def __init__(self, path: Path, settings: RunSettings, puzzle: Puzzle, params: Params, lock: Lock) -> None:
        self.path, self.settings, self.puzzle, self.params = path, settings, puzzle, params
        self._lock = lock
        self._undo: Callable[[], None] | None = None
        self.crashed_holder = lock.stale
        self.clear_stop()

    @classmethod
    def create(
        cls,
        path: Path,
        puzzle: Puzzle,
        params: Params,
        *,
        instance: str,
        seed: int,
        engine: str,
        target: int = -1,
        min_score: int = -1,
        checkpoint_s: float = 60.0,
        pins: tuple[Clue, ...] = (),
    ) -> RunDirectory:
        """Make the directory and its first files.

        Raises InputError when it holds something already or cannot be written, before any search.
        """
        text = parameters.to_toml(params)
        settings = RunSettings(
            run=os.urandom(16).hex(),
            instance=instance,
            instance_sha256=puzzle.sha256,
            seed=seed,
            engine=engine,
            target=target,
            min_score=min_score,
            checkpoint_s=checkpoint_s,
            params_sha256=digest(text),
            created_at=utc_now(),
            pins=pins,
        )
        try:
            if path.exists() and not path.is_dir():
                raise InputError("is a file; expected the name of a new run directory", path)
            if path.is_dir() and any(path.iterdir()):
                hint = "go on there with `lns resume`, or name" if (path / SETTINGS).exists() else "name"
                raise InputError(f"is not empty; {hint} a new directory", path)
            missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
            with contextlib.ExitStack() as undo:
                undo.callback(_unmake, path, missing)
                path.mkdir(parents=True, exist_ok=True)
                free = shutil.disk_usage(path).free
                if free < FREE_BYTES:
                    few, expected = free // 1024, FREE_BYTES // 1024
                    raise InputError(f"only {few} KiB are free on this disk; expected {expected}", path)
                try:
                    lock = Lock(path)
                except InputError:  # somebody was faster: what is there is not ours to remove
                    undo.pop_all()
                    raise
                write(path / INSTANCE, "json", puzzle, None)
                atomic_write(path / PARAMETERS, text)
                settings.write(path)
                directory = cls(path, settings, puzzle, params, lock)
                directory._undo = undo.pop_all().close
                return directory
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"cannot write a run directory here: {why}", printable(str(path))) from None

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Take over a directory that `create` made. Raises InputError when that is not safe to do."""
        settings, puzzle = read_run(path)
        text = read_text(_there(path / PARAMETERS, "the parameters that the run began with"))
        if digest(text) != settings.params_sha256:
            raise InputError("changed since the run began; expected the same text", path / PARAMETERS)
        params = parameters.load(path / PARAMETERS)
        try:
            lock = Lock(path)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path) from None
        return cls(path, settings, puzzle, params, lock)

    @cached_property
    def pinned_puzzle(self) -> Puzzle:
        """The puzzle with the pins as clues: what the search sees, so that every part of it keeps them."""
        return self.puzzle.with_clues({*self.puzzle.clues, *self.settings.pins}) if self.settings.pins else self.puzzle

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None and self._undo is not None:
            self._undo()
        self.close()

    def begin(self) -> None:
        """A session begins: what counts from now on is how this one ends, no longer how the last one did."""
        self._lock.stale = None

    def close(self) -> None:
        self.clear_stop()
        try:
            self._lock.release()
        except OSError as error:
            log.warning("the lock could not be released: %s", error.strerror)

    def save_best(self, board: Board, elapsed_s: float) -> dict[str, Any]:
        """Verify ``board`` and write it as the best; returns the fields of best.json. Raises OSError."""
        best = self.best_fields(board, elapsed_s)
        atomic_write(self.path / BEST, json.dumps(best) + "\n")
        return best

    def best_fields(self, board: Board, elapsed_s: float) -> dict[str, Any]:
        """The fields of best.json. Raises AssertionError for a board that breaks a rule: nothing wrong is written."""
        verified_board(self.puzzle, board, "the search")
        settings = self.settings
        return best_json(
            self.puzzle, board, instance=settings.instance, seed=settings.seed, elapsed_s=round(elapsed_s, 3)
        )

    def draw(self, board: Board) -> None:
        """best.svg. Raises OSError."""
        from instances.draw import svg

        atomic_write(self.path / PICTURE, svg.render(self.puzzle, board))

    def set_aside_best(self) -> str:
        """Keep a best.json that cannot be used under another name; returns that name."""
        target = _unused(self.path / "best.unusable.json")
        (self.path / BEST).replace(target)
        return target.name

    @property
    def stop_wanted(self) -> bool:
        """Whether somebody called `lns stop`."""
        return os.path.lexists(self.path / STOP)

    def clear_stop(self) -> None:
        try:
            (self.path / STOP).unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s could not be removed: %s", STOP, error.strerror)


def new_run_directory(puzzle: Puzzle) -> Path:
    """A name for a run directory that is not in use: runs/NAME-DATE-TIME, below the working directory."""
    return _unused(Path("runs") / f"{_safe(puzzle.name)}-{time.strftime('%Y%m%d-%H%M%S')}")


@dataclass(frozen=True)
class ScoredBoard:
    """best.json, judged again."""

    board: Board
    score: int


def read_run(path: Path) -> tuple[RunSettings, Puzzle]:
    """What was asked for, and the copy of the puzzle. Raises InputError when one is damaged or they do not match."""
    try:
        if not path.is_dir():
            raise InputError("no such directory; expected one that `lns solve` made", printable(str(path)))
        settings = RunSettings.read(path)
        _there(path / INSTANCE, "the copy of the puzzle that was made at its start")
        puzzle = load_puzzle(os.path.join(path, INSTANCE), "json")  # noqa: PTH118
    except OSError as error:  # a name that is too long, somebody else's folder
        raise InputError(f"cannot be read: {error.strerror}", printable(str(path))) from None
    if puzzle.sha256 != settings.instance_sha256:
        raise InputError("another puzzle than the run's; expected the copy that was made at its start", path / INSTANCE)
    return settings, puzzle


def read_best(path: Path, puzzle: Puzzle) -> ScoredBoard | None:
    """The best board on file, None where there is none yet. Raises InputError for one that cannot be trusted."""
    file = path / BEST
    if not os.path.lexists(file):
        return None
    _, board = load_board(os.path.join(path, BEST), puzzle, "best")  # noqa: PTH118
    found = verify(puzzle, board)
    if not found.complete:
        raise InputError(f"not a full legal board: {(found.problems or ('cells are empty',))[0]}", file)
    return ScoredBoard(board, found.score)


def _there(path: Path, what: str) -> Path:
    if not path.exists():
        raise InputError(f"no such file; expected {what}", path)
    return path


def _unmake(path: Path, folders: Sequence[Path]) -> None:
    """Remove the first files of a run and the ``folders`` made for it, unless it has found a board."""
    with contextlib.suppress(OSError):
        files = list(path.iterdir())
        if all(file.name in _FIRST or (file.name == BOARDS and not file.stat().st_size) for file in files):
            for file in files:
                file.unlink()
            for folder in folders:
                folder.rmdir()


def _safe(name: str) -> str:
    """A puzzle's name (it may come from a pasted URL) as the name of a folder."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in Path(name).stem)[:60].strip(".-")
    return kept or "puzzle"


def _unused(path: Path) -> Path:
    candidate, number = path, 1
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
