"""Types of command-line options, and checks of files before the work begins."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lns_support.cores import max_workers
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle

NO_URL = "- (a viewer URL has no letter for some of the colours)"
MOST_MEGABYTES = 9 * 10**12  # in bytes nearly the largest signed number of 64 bits
_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DURATION = re.compile("".join(f"(?:({_NUMBER}){unit})?" for unit in _UNITS))


def add_run_directories(parser: argparse.ArgumentParser) -> None:
    """Add the argument of the commands that take several runs, for `lns.runs.find.run_directories`."""
    parser.add_argument(
        "directories",
        type=nonempty_path,
        nargs="+",
        metavar="DIR",
        help="run directories, or folders with runs in them",
    )


def duration(text: str) -> float:
    """Option type: seconds from '90', '1.5', '10m', '5m30s', '2h', '7d' or '1w'."""
    seconds = math.nan
    if re.fullmatch(_NUMBER, text):
        seconds = float(text)
    elif text and (match := _DURATION.fullmatch(text)):
        seconds = sum(float(number or 0) * size for number, size in zip(match.groups(), _UNITS.values(), strict=True))
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no duration; expected seconds above 0, or like 10m, 5m30s, 2h, 7d, 1w"
        )
    return seconds


def whole_number(text: str) -> int:
    """Option type: an integer from 0, of at most 18 digits, or like 2e8 or 1.5e9."""
    match = re.fullmatch(r"([0-9]{1,18})(?:(?:\.([0-9]{1,18}))?e([0-9]{1,2}))?", text)
    if match:
        whole, decimals, exponent = (group or "" for group in match.groups())
        zeros = int(exponent or 0) - len(decimals)
        number: int = int(whole + decimals) * 10 ** max(0, zeros)
        if zeros >= 0 and number < 10**18:
            return number
    raise argparse.ArgumentTypeError(
        f"'{text}' is no whole number of at most 18 digits; expected 0 or more, or like 2e8"
    )


def nonempty_path(text: str) -> Path:
    """Option type: a path; the empty one, which would be the current directory, is refused."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def positive_number(text: str) -> int:
    """Option type: an integer from 1."""
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("0 is too few; expected 1 or more")
    return number


def megabytes(text: str) -> int:
    """Option type: a limit of memory, an integer from 1, of at most 9e12 MB, which the system can still count."""
    number = positive_number(text)
    if number > MOST_MEGABYTES:
        raise argparse.ArgumentTypeError(f"{text} MB are too many; expected at most {MOST_MEGABYTES:,}")
    return number


def worker_count(text: str) -> int:
    """Option type: a number of worker processes, at most `max_workers`."""
    number, most = positive_number(text), max_workers()
    if number > most:
        raise argparse.ArgumentTypeError(
            f"{number} workers are too many for {os.cpu_count()} processors; expected at most {most}"
        )
    return number


def check_new_file(path: str | os.PathLike[str] | None, force: bool) -> None:
    """Raise InputError if ``path`` exists, unless ``force``, or is no regular file; None is accepted."""
    if path is None:
        return
    if Path(path).is_dir():
        raise InputError("this is a directory; expected the name of a file", path)
    if Path(path).exists() and not Path(path).is_file():
        raise InputError("this is a pipe or a device; expected the name of a file", path)
    if os.path.lexists(path) and not force:
        raise InputError("this exists already; expected a new name, or --force to overwrite it", path)


def check_folder(path: str | os.PathLike[str] | None) -> None:
    """Raise InputError if no file can be created in the directory of ``path``; None is accepted, a link followed."""
    from tempfile import TemporaryFile

    from lns_support.files import behind_links

    if path is None:
        return
    folder = behind_links(path).parent
    if not folder.is_dir():
        raise InputError("there is no such directory", folder)
    try:
        TemporaryFile(dir=folder).close()  # permissions do not show it: root has them all, even in /proc
    except OSError as error:
        raise InputError(f"no file can be made in this directory: {error.strerror}", folder) from None


def check_files(force: bool, *paths: str | os.PathLike[str] | None) -> None:
    """Raise InputError if one of the files cannot be written or two are the same; called before the work."""
    given = [path for path in paths if path is not None]
    for number, path in enumerate(given):
        check_new_file(path, force)
        check_folder(path)
        if os.path.realpath(path) in map(os.path.realpath, given[:number]):
            raise InputError("two outputs have the same file name; expected two names", path)


def check_board_file(path: str | os.PathLike[str] | None, puzzle: Puzzle, force: bool) -> None:
    """Raise InputError if a board of ``puzzle`` could not be written to ``path``; called before a search."""
    from instances.formats.registry import by_extension
    from instances.formats.viewer import MOST_LETTERS

    if path is None:
        return
    check_new_file(path, force)
    check_folder(path)
    try:
        form = by_extension(os.fspath(path), puzzle, has_board=True)
    except InputError as error:
        raise error.at(path) from None
    if form.holds == "puzzle":
        raise InputError(f"format {form.name} carries no board; expected .json, .solution.txt or .url", path)
    if form.name == "url" and int(puzzle.pieces.max()) > MOST_LETTERS:
        raise InputError(
            f"{puzzle.name} has more colours than URLs have letters; expected .json or .solution.txt", path
        )


def board_lines(puzzle: Puzzle, board: Board) -> list[str]:
    """Lines with the viewer URL of a board, or its placements if it has too many colours for a URL."""
    from instances.formats import url_if_any

    if url := url_if_any(puzzle, board):
        return [f"url         {url}"]
    return [f"url         {NO_URL}", f"placements  {json.dumps(board.without_blanks(puzzle).pairs())}"]


def cell_list(text: str) -> str:
    """A list of cells and rows such as "3,4,10-20,r3", as it was typed; `lns.cells.parse` reads it for a puzzle."""
    from lns.cells import spans

    try:
        spans(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
