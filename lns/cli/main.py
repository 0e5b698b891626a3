"""The outermost layer: one small module a command, loaded only when its command is called."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TextIO, cast

DONE, ANSWER_IS_NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130  # 128 + the signal's number for other signals
UNREAD = 141  # 128 + SIGPIPE, the status of any Unix tool whose reader leaves before the end: no answer came through

# command -> (module, the one line of `lns --help`)
COMMANDS = {
    "solve": ("lns.cli.solve", "search for the best full board of a puzzle, for a minute or a week"),
    "resume": ("lns.cli.resume", "go on with a run where it was, here or on another machine"),
    "status": ("lns.cli.status", "how runs stand: one line a run"),
    "watch": ("lns.cli.watch", "look at a run while it goes on: score over time, boards, rates"),
    "stop": ("lns.cli.stop", "ask a run to stop and save"),
    "report": ("lns.cli.report", "write a page about a run: charts, best boards, parameters"),
    "collect": ("lns.cli.collect", "gather the good boards of several runs, verified again"),
    "verify": ("lns.cli.verify", "judge a board: score, rim, clues, each piece once"),
    "show": ("lns.cli.show", "draw a board or a puzzle: terminal, SVG, TikZ, viewer URL"),
    "convert": ("lns.cli.convert", "read any format of the field, write another"),
    "generate": ("lns.cli.generate", "make puzzles: uniform, balanced torus, or like Eternity II"),
    "params": ("lns.cli.params", "print all parameters with their meaning, as TOML for --params"),
    "tune": ("lns.cli.tune", "find better parameters for an instance or a family, with the evidence"),
    "ladder": ("lns.cli.ladder", "benchmark the optimizer on fixed instances"),
    "improve": ("lns.cli.improve", "free a region of a board and re-solve it exactly, with a proof"),
    "exact": ("lns.cli.exact", "count or find perfect solutions, by any method of the field"),
}

_EXAMPLES = """\
examples:
  lns solve like-e2-16x16 --time 60 --workers 2     the shipped 16x16 for a minute, on two cores
  lns solve my.txt --run-dir runs/mine --seed 7     an instance of your own, results in runs/mine
  lns watch runs/mine                               look at it meanwhile; q leaves it alone
  lns resume runs/mine --time 2h                    go on there, also on another machine
  lns verify runs/mine/best.json                    judged independently of every search
  lns show runs/mine/best.json --svg board.svg      a picture; mismatches in red
  lns convert board.url board.json                  a viewer URL becomes JSON
  lns generate like-e2 --width 12 --seed 3 -o p.txt a puzzle like Eternity II, 12x12

INSTANCE is a file or the name of a shipped instance; BOARD is a file or a viewer URL.
`lns COMMAND --help` says more. Exit status: 0 done, 1 the answer is no, 2 bad input, 130 interrupted.
"""


class Command(Protocol):
    """What a module of a command offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class _Parser(argparse.ArgumentParser):
    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # a reader of the help who leaves is met inside `main`
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        from lns_support.errors import InputError

        raise InputError(f"{message} (see '{self.prog} --help')")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:  # anywhere, also in the import of numpy: hence no import of this project above
        return INTERRUPTED


def _main(arguments: list[str]) -> int:
    from lns_support.errors import InputError

    # closed by whoever started the program: what is said there is lost, and nothing is read
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a sign shows '?'
            stream.reconfigure(errors="replace")
    status = UNREAD
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        return _complain(str(error))
    except BrokenPipeError:  # `lns show ... | head -1`: no word, but never 0; an answer that is known to be no stays so
        _let_go(sys.stdout)
        return status or UNREAD
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}")


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _let_go(stream: TextIO) -> None:
    """What is still to be written goes nowhere: the end of Python would try again, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell(line: str) -> None:
    """A line on stderr. One that takes nothing any more is no error: the work goes on."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _let_go(sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """The one JSON object of `--json`, alone on stdout."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        module_name, help_line = COMMANDS[arguments[0]]
        module = cast(Command, importlib.import_module(module_name))
        parser = _Parser(
            prog=f"lns {arguments[0]}",
            description=help_line[0].upper() + help_line[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        return module.run(parser.parse_args(arguments[1:]))
    _refuse_unknown(arguments)
    if "--version" in arguments:
        from importlib.metadata import version

        print(f"lns {version('lns')}")
    else:
        print(_overview())
    return DONE


def _refuse_unknown(arguments: list[str]) -> None:
    """Raises InputError for what stands where a command is expected, and is none."""
    from difflib import get_close_matches

    from lns_support.errors import InputError

    command = next((argument for argument in arguments if argument in COMMANDS), None)
    for argument in arguments:
        if argument == command:
            return
        if argument in ("-h", "--help", "--version"):
            continue
        if not argument.startswith("-"):
            near = get_close_matches(argument, COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(COMMANDS)
            raise InputError(f"unknown command '{argument}': {hint}")
        if command is None:
            raise InputError(f"unknown option '{argument}'; expected a command first (see 'lns --help')")
        raise InputError(
            f"unknown option '{argument}' before '{command}'; "
            f"options of a command belong behind it (see 'lns {command} --help')"
        )


def _overview() -> str:
    rows = "\n".join(f"  {name:<9} {line}" for name, (_, line) in COMMANDS.items())
    return (
        "lns: an optimizer for edge-matching puzzles such as Eternity II\n\n"
        f"usage: lns COMMAND [options]\n\ncommands:\n{rows}\n\n{_EXAMPLES}"
    ).rstrip()


def _complain(sentence: str) -> int:
    from lns_support.text import printable

    tell(f"lns: {printable(sentence, 2000)}")  # an argument may hold anything
    return BAD_INPUT
