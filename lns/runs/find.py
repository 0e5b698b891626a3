"""Finds run directories: what a user names may be a run, or a folder with runs in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lns.runs.files import BEST, SETTINGS
from lns_support.errors import InputError

MAX_DEPTH = 3  # folders below the one that is named


def run_directories(paths: Iterable[Path]) -> list[Path]:
    """The runs that are meant.

    Parameters
    ----------
    paths : iterable of Path
        Run directories, and folders whose runs are all meant, also those in their folders.

    Returns
    -------
    list of Path
        Each run once, those of a folder by name. A path without any run stays, for a message about it.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for run in _runs_in(path) or [path]:
            found.setdefault(run)
    return list(found)


def _runs_in(path: Path, depth: int = 0) -> list[Path]:
    try:
        if (path / SETTINGS).is_file():
            return [path]
        if depth == MAX_DEPTH or not path.is_dir():
            return []
        folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
    return [run for folder in folders for run in _runs_in(folder, depth + 1)]


def board_source(source: str) -> str:
    """What to read a board from: the best.json of a run directory, any other source itself.

    Raises InputError for a run that has found no board yet.
    """
    try:
        directory = Path(source)
        if not (directory / SETTINGS).is_file():
            return source
        if not os.path.lexists(directory / BEST):
            raise InputError("this run has found no board yet", source)
    except (OSError, ValueError) as error:  # a URL as a path: too long a name
        if isinstance(error, InputError):
            raise
        return source
    return os.path.join(source, BEST)  # noqa: PTH118 (as it was typed, for messages)
