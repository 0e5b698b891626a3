"""The program `lns`: find a command, run it, and turn errors into messages and exit statuses."""

from __future__ import annotations

import argparse
import ctypes
import importlib
import io
import os
import pkgutil
import re
import resource
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from lns.cli import ALIASES, FAMILIES, GROUPS, MEANT
from lns.instances.errors import InputError
from lns.instances.text import printable
from lns.terminal.output import BAD_INPUT, FAULT, INTERRUPTED, OUTPUT_CLOSED, discard, print_error, print_text
from lns.version import __version__

# Modules that need numpy are imported later, so that `main` handles Ctrl-C while numpy is imported.

COMMAND_PACKAGES = ("lns.cli", "lns.tuning.cli")
"""Packages with `COMMANDS`, imported by name. The module of a command is imported only when the command is called, so
that `lns --help` loads neither numpy nor numba."""

_LEAST_MEMORY = 800_000_000
"""Smallest limit of the address space, in bytes, with which the kernels can be compiled."""

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
    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # so that the error of a closed stdout is raised now, within `main`
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        near = _nearest(unknown[1], self._option_string_actions) if unknown else None
        raise InputError(f"{message}{f': did you mean {near!r}?' if near else ''} (see '{self.prog} --help')")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, by default with the arguments of the process, and return its exit status.

    The status is 0: done; 1: the answer is no; 2: bad input, a file error or too little memory; 70: any other error, a
    fault of the program; 129, 130, 143: interrupted; 141: the output was closed before it was read.
    """
    if argv is None:
        _read_names_as_utf8()
    limit = _memory_limit()
    try:
        if limit is not None and limit < _LEAST_MEMORY:
            raise MemoryError  # stop now, before LLVM or OpenBLAS hang or abort for lack of memory
        if limit is not None:  # one thread: OpenBLAS takes memory for each thread, and hangs if it gets none
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            with suppress(OSError):  # load libgcc now: glibc needs it when a thread ends, and aborts if memory is short
                ctypes.CDLL("libgcc_s.so.1")
            sys.unraisablehook = _pass_over_memory_errors
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:  # Ctrl-C at any moment, also during the import of numpy
        return INTERRUPTED
    except MemoryError:
        pass
    except Exception as error:
        if isinstance(error, ImportError) and isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return INTERRUPTED  # Ctrl-C while a C extension was imported
        # for lack of memory an import may fail, or C code may fail without setting an exception (SystemError)
        if limit is None or not isinstance(error, (ImportError, SystemError)):
            with suppress(OSError):
                traceback.print_exc()
            return FAULT
    # the message is written after the except clause, which frees the stack frames of the error and their memory
    than = "" if limit is None else f" than the limit of {limit // 10**6} MB (ulimit -v)"
    if limit is not None and limit < _LEAST_MEMORY:
        than += f", at least {_LEAST_MEMORY // 10**6} MB"
    with suppress(OSError):
        sys.stderr.write(f"lns: not enough memory; expected a smaller puzzle, or more memory{than}\n")
    return BAD_INPUT


def _pass_over_memory_errors(ignored: sys.UnraisableHookArgs) -> None:
    """Report an exception that Python cannot raise, except MemoryError, for which `main` prints one message."""
    if not issubclass(ignored.exc_type, MemoryError):
        sys.__unraisablehook__(ignored)


def _read_names_as_utf8() -> None:
    """Restart Python in UTF-8 mode if it reads file names as ASCII, which turns other characters into surrogates."""
    if sys.getfilesystemencoding() == "ascii" and "utf8" not in sys._xoptions:
        os.environ["PYTHONUTF8"] = "1"  # for processes that this process starts
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _memory_limit() -> int | None:
    """Return the limit of the address space in bytes; None without a limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _main(arguments: list[str]) -> int:
    # replace streams that the parent process closed: stdin by an empty stream, stdout and stderr by the null device
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
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
    except BrokenPipeError:  # as in `lns show ... | head -1`; a status of the command other than 0 is kept
        discard(sys.stdout)
        return status or OUTPUT_CLOSED
    except OSError as error:
        if type(error) is OSError and error.errno is None and _memory_limit() is not None:
            raise MemoryError from None  # for lack of memory a library could not be loaded
        sentence = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    print_error(f"lns: {printable(sentence, 2000)}")  # the sentence may quote control characters of an argument
    return BAD_INPUT


def commands() -> dict[str, tuple[str, str]]:
    """Return all commands: name, of two words in a family -> ("module:name" of its `Command`, line in `lns --help`)."""
    packages = map(importlib.import_module, COMMAND_PACKAGES)
    return {name: entry for package in packages for name, entry in package.COMMANDS.items()}


def find_command(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that the arguments begin with ("" without one) and the arguments after it."""
    known = commands()
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if (name := ALIASES.get(name, name)) in known:
            return name, list(arguments[words:])
    return "", list(arguments)


def parser_of(name: str, *, shows_all: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a command; its help lists rarely needed options only if ``shows_all``."""
    from lns.terminal.options import HelpFormatter

    target, line = commands()[name]
    parser = _Parser(prog=f"lns {name}", description=f"{line[0].upper()}{line[1:]}.", formatter_class=HelpFormatter)
    pkgutil.resolve_name(target).add_arguments(parser, shows_all=shows_all)
    return parser


def _dispatch(arguments: list[str]) -> int:
    name, rest = find_command(arguments)
    if name:
        args = parser_of(name, shows_all="--help-all" in rest).parse_args(rest)
        status: int = pkgutil.resolve_name(commands()[name][0]).run(args)
        return status
    family = arguments[0] if arguments and arguments[0] in FAMILIES else ""
    known = ((name.rpartition(" "), line) for name, (_, line) in commands().items())
    names = {last: line for (of, _, last), line in known if of == family} | ({} if family else FAMILIES)
    _refuse_unknown(arguments[bool(family) :], family, names)
    print_text(f"lns {__version__}" if "--version" in arguments else _overview(family, names))
    return 0


def _refuse_unknown(arguments: list[str], family: str, names: dict[str, str]) -> None:
    """Raise InputError for an unknown command or job (of ``family``), a missing job, or an option before either."""
    what, of, begun = ("job", f" of {family}", f"lns {family}") if family else ("command", "", "lns")
    command = next((argument for argument in arguments if argument in names), None)
    for argument in arguments:
        if argument == command:
            return
        if argument in ("-h", "--help", "--version"):
            continue
        if not argument.startswith("-"):
            jobs = [f"{each} {argument}" for each in FAMILIES if f"{each} {argument}" in commands() and not family]
            near = jobs[0] if jobs else _nearest(argument, names)
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


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` means (`MEANT`) or is spelled nearly like; None if there is no such name."""
    names = list(known)
    return MEANT[name] if MEANT.get(name) in names else next(iter(get_close_matches(name, names, n=1)), None)


def _overview(family: str, names: dict[str, str]) -> str:
    width = max(map(len, names))

    def block(title: str, members: Iterable[str]) -> str:
        return f"{title}:\n" + "\n".join(f"  {name:<{width}} {names[name]}" for name in members)

    if family:
        return f"lns {family}: {FAMILIES[family]}\n\nusage: lns {family} JOB [options]\n\n{block('jobs', names)}"
    head = "lns: an optimizer for edge-matching puzzles such as Eternity II\n\nusage: lns COMMAND [options]"
    return "\n\n".join([head, *(block(title, members) for title, members in GROUPS.items()), _EXAMPLES])
