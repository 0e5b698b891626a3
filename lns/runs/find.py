"""Finds run directories: what a user names may be a run, or a folder with runs in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lns.instances.errors import InputError
from lns.runs.files import BEST, SETTINGS

MAX_DEPTH = 4  # folders below the one that is named


def run_directories(paths: Iterable[Path]) -> list[Path]:
    """The runs that are meant by run directories and folders with runs, each once, those of a folder by name.

    A path without any run stays, for a message about it.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for run in runs_below(path) or [path]:
            found.setdefault(run)
    return list(found)


def runs_below(folder: Path) -> list[Path]:
    """The runs in a folder and its folders, by name; the folder itself if it is one.

    Links and hidden folders are passed over.
    """
    runs = []
    for name, folders, files in os.walk(folder):
        path = Path(name)
        is_run = SETTINGS in files and (path / SETTINGS).is_file()
        runs += [path] * is_run
        deepest = is_run or len(path.parts) - len(folder.parts) == MAX_DEPTH
        folders[:] = [] if deepest else sorted(one for one in folders if not one.startswith((".", "__")))
    return runs


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
