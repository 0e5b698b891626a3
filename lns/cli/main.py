"""The program `lns`: finds a command, runs it, and turns errors into messages and exit statuses."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TextIO

from lns.cli import FAMILIES, GROUPS, MEANT
from lns.terminal.output import FAULT, print_text

# No import of a package outside of the command line at the top: an interrupt during it must reach `main`.

COMMAND_PACKAGES = ("lns.cli", "lns.tuning.cli")
"""Packages that offer commands, each with `COMMANDS` and, if it likes, `ALIASES`. They are imported by name, and what a
command is made of only when it is called, so that `lns --help` loads neither numpy nor numba."""

_EXAMPLES = """\
examples:
  lns solve like-e2-16x16 --time 60     search a shipped puzzle, on all cores
  lns solve my.txt --run-dir runs/mine  search your own; results go to runs/mine
  lns watch runs/mine                   follow that run; q leaves the view
  lns resume runs/mine --time 2h        continue it, also on another machine
  lns verify runs/mine/best.json        check its best board independently
  lns show runs/mine --svg board.svg    draw the board; mismatches are red
  lns convert board.url board.json      turn a viewer URL into JSON
  lns generate like-e2 --width 12 --seed 3 -o p.txt

INSTANCE is a file or the name of a shipped instance; BOARD is a file or a
viewer URL. `lns COMMAND --help` lists the options. Exit status: 0 done, 1 the
answer is no, 2 bad input, 70 a fault of lns, 130 interrupted."""


class _Parser(argparse.ArgumentParser):
    shows_all = True  # whether its help has the options that are seldom needed

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # so that a closed stdout is noticed inside `main`
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        from lns.instances.errors import InputError

        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        near = _nearest(unknown[1], self._option_string_actions) if unknown else None
        raise InputError(f"{message}{f': did you mean {near!r}?' if near else ''} (see '{self.prog} --help')")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 0 done, 1 the answer is no, 2 bad input or too little memory, 70 another error, which is a
        fault of the program, 130 interrupted, 141 nobody read the output.
    """
    if argv is None:
        _read_names_as_utf8()
    try:
        if _memory_limit() is not None:  # OpenBLAS takes memory for each thread, and hangs if it gets none
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:  # anywhere, also in the import of numpy
        return 130
    except MemoryError:
        pass
    except Exception as error:
        if not (isinstance(error, ImportError) and _memory_limit() is not None):
            with suppress(OSError):
                traceback.print_exc()
            return FAULT
    # here the frames of the error are gone, and their memory is free
    limit = _memory_limit()
    than = "" if limit is None else f" than the limit of {limit // 10**6} MB (ulimit -v)"
    with suppress(OSError):
        sys.stderr.write(f"lns: not enough memory; expected a smaller puzzle, or more memory{than}\n")
    return 2


def _read_names_as_utf8() -> None:
    """Begin again in Python's UTF-8 mode if names are ASCII: names of files in UTF-8 would be stored as surrogates."""
    if sys.getfilesystemencoding() == "ascii" and "utf8" not in sys._xoptions:
        os.environ["PYTHONUTF8"] = "1"  # for the processes that this one starts
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _memory_limit() -> int | None:
    """The limit of the address space in bytes; None if there is none."""
    if os.name != "posix":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _main(arguments: list[str]) -> int:
    from lns.instances.errors import InputError
    from lns.instances.text import printable
    from lns.terminal.output import BAD_INPUT, OUTPUT_CLOSED, discard, print_error

    # streams that the parent process closed: an empty stdin, and outputs that go nowhere
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    sys.stdout = sys.stdout or _null_output()
    sys.stderr = sys.stderr or _null_output()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal cannot show becomes '?'
            stream.reconfigure(errors="replace")
    status = OUTPUT_CLOSED
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        sentence = str(error)
    except BrokenPipeError:  # `lns show ... | head -1`: no message, and never status 0; a known no stays 1
        discard(sys.stdout)
        return status or OUTPUT_CLOSED
    except OSError as error:
        if type(error) is OSError and error.errno is None and _memory_limit() is not None:
            raise MemoryError from None  # of a library that could not be loaded
        sentence = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    print_error(f"lns: {printable(sentence, 2000)}")  # an argument may hold control characters
    return BAD_INPUT


def _null_output() -> TextIO:
    return Path(os.devnull).open("w")


def commands() -> dict[str, tuple[str, str]]:
    """All commands: name, of two words in a family -> (module or module:name, line in `lns --help`)."""
    packages = map(importlib.import_module, COMMAND_PACKAGES)
    return {name: entry for package in packages for name, entry in package.COMMANDS.items()}


def find_command(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The command that these arguments begin with, "" if there is none, and the arguments behind it."""
    packages = map(importlib.import_module, COMMAND_PACKAGES)
    aliases = {alias: name for package in packages for alias, name in getattr(package, "ALIASES", {}).items()}
    known = commands()
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if (name := aliases.get(name, name)) in known:
            return name, list(arguments[words:])
    return "", list(arguments)


def parser_of(name: str, *, shows_all: bool = True) -> argparse.ArgumentParser:
    """The parser of a command; its help has the options that are seldom needed only if ``shows_all``."""
    from lns.terminal.options import HelpFormatter

    target, line = commands()[name]
    parser = _Parser(prog=f"lns {name}", description=f"{line[0].upper()}{line[1:]}.", formatter_class=HelpFormatter)
    parser.shows_all = shows_all
    pkgutil.resolve_name(target).add_arguments(parser)
    return parser


def _dispatch(arguments: list[str]) -> int:
    name, rest = find_command(arguments)
    if name:
        args = parser_of(name, shows_all="--help-all" in rest).parse_args(rest)
        status: int = pkgutil.resolve_name(commands()[name][0]).run(args)
        return status
    family = arguments[0] if arguments and arguments[0] in FAMILIES else ""
    _refuse_unknown(arguments[bool(family) :], family)
    if "--version" in arguments:
        from lns.version import __version__

        print_text(f"lns {__version__}")
    else:
        print_text(_overview(family))
    return 0


def _names(family: str) -> dict[str, str]:
    """The commands, or the jobs of a family, with their lines of help."""
    known = {name: line for name, (_, line) in commands().items()}
    if family:
        return {name.split()[1]: line for name, line in known.items() if name.startswith(f"{family} ")}
    return {name: line for name, line in known.items() if " " not in name} | FAMILIES


def _refuse_unknown(arguments: list[str], family: str) -> None:
    """Raise InputError for an unknown command or job, for none, and for an option before it."""
    from lns.instances.errors import InputError

    what, names = ("job" if family else "command"), _names(family)
    of, begun = (f" of {family}" if family else ""), f"lns {family}".strip()
    command = next((argument for argument in arguments if argument in names), None)
    for argument in arguments:
        if argument == command:
            return
        if argument in ("-h", "--help", "--version"):
            continue
        if not argument.startswith("-"):
            near = f"{_job(argument)} {argument}".strip() if _job(argument) and not family else None
            near = near or _nearest(argument, names)
            hint = f"did you mean '{near}'?" if near else f"expected one of {', '.join(names)}"
            raise InputError(f"unknown {what} '{argument}': {hint}")
        if command is None:
            raise InputError(f"unknown option '{argument}'; expected a {what}{of} first (see '{begun} --help')")
        raise InputError(
            f"unknown option '{argument}' before '{command}'; "
            f"options of a {what} belong behind it (see '{begun} {command} --help')"
        )
    if family and not arguments:
        raise InputError(f"expected a {what}{of}: {', '.join(names)} (see '{begun} --help')")


def _job(name: str) -> str:
    """The family that has this job; "" if none has."""
    return next((family for family in FAMILIES if f"{family} {name}" in commands()), "")


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is meant by ``name``, or is spelled nearly alike."""
    names = list(known)
    if (meant := MEANT.get(name)) in names:
        return meant
    return next(iter(get_close_matches(name, names, n=1)), None)


def _overview(family: str) -> str:
    names = _names(family)
    width = max(map(len, names))
    if family:
        rows = [f"  {name:<{width}} {line}" for name, line in names.items()]
        return f"lns {family}: {FAMILIES[family]}\n\nusage: lns {family} JOB [options]\n\njobs:\n" + "\n".join(rows)
    grouped: dict[str, Any] = {title: [*members] for title, members in GROUPS.items()}
    listed = {name for members in grouped.values() for name in members}
    grouped[[*grouped][-1]] += [name for name in names if name not in listed]
    blocks = [
        f"{title}:\n" + "\n".join(f"  {name:<{width}} {names[name]}" for name in members)
        for title, members in grouped.items()
    ]
    title = "lns: an optimizer for edge-matching puzzles such as Eternity II"
    return "\n\n".join([title, "usage: lns COMMAND [options]", *blocks, _EXAMPLES])
