"""The program `lns`: finds the module of a command, runs it, and turns errors into messages and exit statuses."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol, TextIO, cast

from lns.terminal.help import HelpFormatter
from lns.terminal.output import FAULT, print_text

# No import of another package of this project at the top: an interrupt while it is imported must reach `main`.

COMMAND_PACKAGES = ("lns.cli", "tuning.cli")
"""Packages that offer commands, each with `COMMANDS` and, if it likes, `ALIASES`. They are imported by name, and a
command's own module only when the command is called, so that `lns --help` loads neither numpy nor numba."""

_EXAMPLES = """\
examples:
  lns solve like-e2-16x16 --time 60                 search the shipped 16x16 puzzle for a minute, on all cores
  lns solve my.txt --run-dir runs/mine --seed 7     search your own puzzle; the results go to runs/mine
  lns watch runs/mine                               follow that run; q leaves the view, the run goes on
  lns resume runs/mine --time 2h                    continue it, also on another machine
  lns verify runs/mine/best.json                    check its best board independently of the search
  lns show runs/mine/best.json --svg board.svg      draw the board; mismatches are red
  lns convert board.url board.json                  turn a viewer URL into JSON
  lns generate like-e2 --width 12 --seed 3 -o p.txt make a 12x12 puzzle like Eternity II

INSTANCE is a file or the name of a shipped instance; BOARD is a file or a viewer URL.
`lns COMMAND --help` lists all options. Exit status: 0 done, 1 the answer is no, 2 bad input, 70 a fault of lns,
130 interrupted.
"""


class Command(Protocol):
    """The two functions of a command's module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class _Parser(argparse.ArgumentParser):
    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # so that a closed stdout is noticed inside `main`
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        from lns_support.errors import InputError

        raise InputError(f"{message} (see '{self.prog} --help')")


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


def commands() -> dict[str, tuple[str, str]]:
    """All commands: name -> (module, line in `lns --help`)."""
    return {name: entry for package in COMMAND_PACKAGES for name, entry in _import(package).COMMANDS.items()}


def _aliases() -> dict[str, str]:
    """Other names of commands: alias -> name."""
    packages = map(_import, COMMAND_PACKAGES)
    return {alias: name for package in packages for alias, name in getattr(package, "ALIASES", {}).items()}


def _import(name: str) -> Any:
    return importlib.import_module(name)


def _main(arguments: list[str]) -> int:
    from lns.terminal.output import OUTPUT_CLOSED, discard
    from lns_support.errors import InputError

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
        return _refuse(str(error))
    except BrokenPipeError:  # `lns show ... | head -1`: no message, and never status 0; a known no stays 1
        discard(sys.stdout)
        return status or OUTPUT_CLOSED
    except OSError as error:
        if type(error) is OSError and error.errno is None and _memory_limit() is not None:
            raise MemoryError from None  # of a library that could not be loaded
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{where}{error.strerror or error}")


def _null_output() -> TextIO:
    return Path(os.devnull).open("w")


def _dispatch(arguments: list[str]) -> int:
    known, aliases = commands(), _aliases()
    name = aliases.get(arguments[0], arguments[0]) if arguments else ""
    if name in known:
        module_name, help_line = known[name]
        module = cast(Command, _import(module_name))
        parser = _Parser(
            prog=f"lns {name}",
            description=help_line[0].upper() + help_line[1:] + ".",
            formatter_class=HelpFormatter,
        )
        module.add_arguments(parser)
        return module.run(parser.parse_args(arguments[1:]))
    _check_names(arguments, [*known, *aliases])
    if "--version" in arguments:
        from lns_support.version import __version__

        print_text(f"lns {__version__}")
    else:
        print_text(_overview())
    return 0


def _check_names(arguments: list[str], known: list[str]) -> None:
    """Raise InputError for an unknown command, or for an option before the command."""
    from difflib import get_close_matches

    from lns_support.errors import InputError

    command = next((argument for argument in arguments if argument in known), None)
    for argument in arguments:
        if argument == command:
            return
        if argument in ("-h", "--help", "--version"):
            continue
        if not argument.startswith("-"):
            near = get_close_matches(argument, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(known)
            raise InputError(f"unknown command '{argument}': {hint}")
        if command is None:
            raise InputError(f"unknown option '{argument}'; expected a command first (see 'lns --help')")
        raise InputError(
            f"unknown option '{argument}' before '{command}'; "
            f"options of a command belong behind it (see 'lns {command} --help')"
        )


def _overview() -> str:
    rows = "\n".join(f"  {name:<9} {line}" for name, (_, line) in commands().items())
    return (
        "lns: an optimizer for edge-matching puzzles such as Eternity II\n\n"
        f"usage: lns COMMAND [options]\n\ncommands:\n{rows}\n\n{_EXAMPLES}"
    ).rstrip()


def _refuse(sentence: str) -> int:
    """Print why the input is refused; the exit status."""
    from lns.terminal.output import BAD_INPUT, print_error
    from lns_support.text import printable

    print_error(f"lns: {printable(sentence, 2000)}")  # an argument may hold control characters
    return BAD_INPUT
