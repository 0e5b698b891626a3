"""Classes for a command and its options, parsers of option values, and options that several commands share."""

from __future__ import annotations

import argparse
import math
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from lns.instances.errors import InputError
from lns.instances.files import behind_links
from lns.terminal.output import INTERRUPTED, print_error
from lns.terminal.signals import interrupt_on_signal, signal_handler

_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DURATION = re.compile("".join(f"(?:({_NUMBER}){unit})?" for unit in _UNITS))


def duration(text: str) -> float:
    """Parse the value of an option as seconds: '90', '1.5', '10m', '5m30s', '2h', '7d' or '1w'."""
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
    """Parse the value of an option as an integer of 0 or more with at most 18 digits; 2e8 or 1.5e9 are accepted too."""
    if re.fullmatch(r"[0-9]{1,18}((\.[0-9]{1,18})?e[0-9]{1,2})?", text):
        number = Decimal(text)
        if number == int(number) < 10**18:
            return int(number)
    raise argparse.ArgumentTypeError(
        f"'{text}' is no whole number of at most 18 digits; expected 0 or more, or like 2e8"
    )


def positive_number(text: str) -> int:
    """Parse the value of an option as an integer of 1 or more with at most 18 digits."""
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("0 is too few; expected 1 or more")
    return number


def megabytes(text: str) -> int:
    """Parse the value of an option as megabytes of memory; return the number of bytes, at most 9 * 10**18."""
    return min(positive_number(text) * 10**6, 9 * 10**18)


def size(text: str) -> tuple[int, int]:
    """Parse the value of an option as two whole numbers, such as 16x10."""
    match = re.fullmatch(r"([0-9]{1,4})[xX×]([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; expected two numbers, like 16x10")
    return int(match[1]), int(match[2])


def span(text: str) -> tuple[int, int]:
    """Parse the value of an option as a range: 3-5, 3:6 (without 6), 3 or, for rows, r3-5; return first and last."""
    match = re.fullmatch(r"r?([0-9]{1,5})(?:([:-])([0-9]{1,5}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no range; expected one like 3-5, both included, or one number")
    return int(match[1]), int(match[3] or match[1]) - (match[2] == ":")


def nonempty_path(text: str) -> Path:
    """Parse the value of an option as a path; refuse an empty one, which would be the current directory."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def check_files(force: bool, *paths: str | os.PathLike[str] | None) -> None:
    """Raise InputError if an output file exists (unless ``force``), cannot be written, or is named twice.

    Commands call this before they begin to work. Paths that are None are skipped.
    """
    given = [path for path in paths if path is not None]
    for number, path in enumerate(given):
        if Path(path).is_dir():
            raise InputError("this is a directory; expected the name of a file", path)
        if Path(path).exists() and not Path(path).is_file():
            raise InputError("this is a pipe or a device; expected the name of a file", path)
        if os.path.lexists(path) and not force:
            raise InputError("this exists already; expected a new name, or --force to overwrite it", path)
        check_folder(path)
        if os.path.realpath(path) in map(os.path.realpath, given[:number]):
            raise InputError("two outputs have the same file name; expected two names", path)


def check_folder(path: str | os.PathLike[str] | None) -> None:
    """Raise InputError if no file can be created in the directory of ``path``, links followed; ``path`` may be None."""
    if path is None:
        return
    folder = behind_links(path).parent
    if not folder.is_dir():
        raise InputError("there is no such directory", folder)
    try:
        TemporaryFile(dir=folder).close()  # a test, as permissions do not tell: root has all of them, even in /proc
    except OSError as error:
        raise InputError(f"no file can be made in this directory: {error.strerror}", folder) from None


@dataclass(frozen=True)
class Option:
    """One option or positional argument of a command."""

    names: tuple[str, ...]  # names such as ("-o", "--output"), or the one name of a positional argument
    settings: dict[str, Any]  # keyword arguments for `argparse.ArgumentParser.add_argument`
    group: str = ""  # title under which the help shows the option; "" for the common list of options
    rare: bool = False  # whether only ``--help-all`` shows the option

    def but(self, help: str | None = None, **settings: Any) -> Option:
        """Return a copy of the option with another help text or other settings."""
        return replace(self, settings=self.settings | settings | ({} if help is None else {"help": help}))


def value(names: str, metavar: str, type: Callable[[str], Any] | None, help: str, **more: Any) -> Option:
    """Make an option with a value, or a positional argument if the name has no dash; ``type`` None keeps the text."""
    return Option(tuple(names.split()), {"metavar": metavar, "type": type, "help": help, **more})


def choice(names: str, choices: Sequence[str], help: str, **more: Any) -> Option:
    """Make an option with one of several values, the first of which is its default."""
    return Option(tuple(names.split()), {"choices": choices, "default": choices[0], "help": help, **more})


def flag(names: str, help: str) -> Option:
    """Make an option without a value, which is False unless it is given."""
    return Option(tuple(names.split()), {"action": "store_true", "help": help})


def grouped(title: str, *options: Option) -> tuple[Option, ...]:
    """Return copies of ``options``, which the help then shows under ``title``."""
    return tuple(replace(each, group=title) for each in options)


def rare(*options: Option) -> tuple[Option, ...]:
    """Return copies of ``options``, which only ``--help-all`` then shows."""
    return tuple(replace(each, rare=True) for each in options)


@dataclass(frozen=True)
class Command:
    """A command: its function, its options and its help."""

    function: Callable[[argparse.Namespace], int]  # runs the command on the parsed arguments; returns the exit status
    options: Sequence[Option]  # in the order in which the help lists them
    epilog: str  # text of the help below the options

    def add_arguments(self, parser: argparse.ArgumentParser, *, shows_all: bool = True) -> None:
        """Add the options and the epilog to a parser, whose help shows rare options only if ``shows_all``."""
        if any(each.rare for each in self.options):
            parser.add_argument("--help-all", action="help", help="show also the options that are seldom needed")
        groups: dict[str, Any] = {"": parser}
        for each in self.options:
            if each.group not in groups:
                groups[each.group] = parser.add_argument_group(each.group)
            hidden = {"help": argparse.SUPPRESS} if each.rare and not shows_all else {}
            groups[each.group].add_argument(*each.names, **each.settings | hidden)
        parser.epilog = self.epilog

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return its exit status. SIGTERM and SIGHUP end it as Ctrl-C does."""
        try:
            with signal_handler(interrupt_on_signal):
                return self.function(args)
        except KeyboardInterrupt:
            print_error("lns: interrupted")
            return INTERRUPTED


def command(*options: Option, epilog: str = "") -> Callable[[Callable[[argparse.Namespace], int]], Command]:
    """Return a decorator that turns a function into a `Command` with these options."""
    return lambda function: Command(function, options, epilog)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """A help formatter that wraps paragraphs; indented lines, and headings, which end in a colon, stay lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        paragraph: list[str] = []
        for line in [*text.splitlines(), ""]:
            is_text = bool(line) and not line.startswith(" ")
            if paragraph and (not is_text or line.endswith(":") or paragraph[-1].endswith(":")):
                lines += textwrap.wrap(" ".join(paragraph), width)
                paragraph = []
            if is_text:
                paragraph.append(line)
            else:
                lines.append(line)
        return "\n".join(lines).rstrip("\n")


INSTANCE = value("instance", "INSTANCE", None, "a puzzle file, a viewer URL, or the name of a shipped instance")
BOARD = value("board", "BOARD", None, "a file with a board, a run directory, a viewer URL, or a link of `lns web`")
RUN = value("directory", "DIR", nonempty_path, "the run directory")
RUNS = value("directories", "DIR", nonempty_path, "run directories, or folders with runs in them", nargs="+")
RUNS_HERE = RUNS.but(
    "run directories, or folders with runs in them (default: the runs below this folder)", nargs="*", default=[Path()]
)
PUZZLE = value("--puzzle", "INSTANCE", None, "the puzzle of BOARD: a file or a shipped instance (default: its own)")
PUZZLE_OPTIONS = (
    value("--puzzle-format", "F", None, "format of INSTANCE, such as pieces:udlr,6x12 (default: recognised by its "
          "content; `lns convert --list` lists them)"),
    value("--clues", "FILE", None, "clues of INSTANCE: official or starter (those of Eternity II), none, or a file or "
          "viewer URL with clues (default: its own; of a board that is searched anew, the official clues that it "
          "holds)"),
)  # fmt: skip


def board_options(board: str = "BOARD", prefix: str = "") -> tuple[Option, ...]:
    """Return the options about a board: its format, and which board it is if a source holds several."""
    return (
        value(f"--{prefix}format", "F", None, f"format of {board}, such as url:jef or cells:base0,ccw (default: "
              "recognised by its content)"),
        value(f"--{prefix}number", "N", positive_number, f"which board of {board}, where it has several (default: the "
              "first)"),
    )  # fmt: skip


BOARD_OPTIONS = board_options()
START_OPTIONS = (
    value("--start", "BOARD", None, "keep the pieces on this board, a file, run directory or viewer URL"),
    *rare(*board_options("--start", "start-")),
)
TIME = value("--time", "S", duration, "time limit in seconds, or like 5m30s, 2h, 7d, 1w")
NODES = value("--nodes", "N", positive_number, "stop after N nodes")
WORKERS = value("--workers", "N", positive_number, "number of islands, each of which keeps one core busy")
SEED = value("--seed", "N", whole_number, "random seed (default: drawn at random, and printed)")
MEMORY = value("--memory", "MB", megabytes, "memory limit of the separate process in which sat:..., cp and xcc run")
SAT_SOLVER = value(
    "--sat-solver", "NAME", None, "SAT solver of the methods sat:..., such as kissat, cadical, glucose, minisat"
)
FIX_CORNER = flag("--fix-corner", "count rotated copies once, by pinning a corner piece that has no identical one")
PARAMS = value(
    "--params", "FILE", nonempty_path,
    "read parameters from this TOML file, or 'default' for the defaults (default: those that `lns tune` has proved "
    "better for this puzzle or its family, else the defaults)",
)  # fmt: skip
OUTPUT = value("-o --output", "FILE", nonempty_path, "write the board to FILE (.json, .url or .solution.txt)")
FORCE = flag("--force", "overwrite files that exist")
JSON = flag("--json", "print one JSON object to stdout")
QUIET = flag("--quiet", "do not show progress")
