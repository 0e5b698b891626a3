"""Reference pages, made from the parsers of the command line, the parameters, the solvers and the formats."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from lns.cli import FAMILIES
from lns.cli.main import commands, parser_of
from lns.exact.registry import all_solvers
from lns.instances.formats import FORMATS
from lns.params import Params


def _cell(text: object) -> str:
    """Text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return [*lines, *("| " + " | ".join(_cell(value) for value in row) + " |" for row in rows), ""]


def _usage(action: argparse.Action) -> str:
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 else f" {value if isinstance(value, str) else ' '.join(value)}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _command(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} {parser.prog} {{ #{parser.prog.replace(' ', '-')} }}\n"
    yield f"{parser.description or ''}\n"
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)
        ]
        if actions:
            title = {"positional arguments": "argument", "options": "option"}.get(group.title or "", group.title or "")
            yield from _table((title, "meaning"), ((_usage(action), _help(parser, action)) for action in actions))
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"


def command_line() -> str:
    """The page about the command line."""
    lines = [
        "# Command line\n",
        "`lns COMMAND --help` prints what stands here, without the options that are seldom needed where there is "
        "`--help-all`.\n",
    ]
    lines += _table(
        ("command", "what it does"),
        ((f"[`lns {name}`](#lns-{name.replace(' ', '-')})", line) for name, (_, line) in commands().items()),
    )
    lines.append(
        "`INSTANCE` is a file, a viewer URL or the name of a shipped instance; `BOARD` is a file or a viewer URL.\n"
    )
    lines.append("Exit status: 0 done, 1 the answer is no, 2 bad input, 70 a fault of lns, 130 interrupted.\n")
    begun = ""
    for name in commands():
        family, _, job = name.partition(" ")
        if job and family != begun:
            lines.append(f"## lns {family} {{ #lns-{family} }}\n\n{FAMILIES[family].capitalize()}.\n")
            begun = family
        lines += _command(parser_of(name), 3 if job else 2)
    return "\n".join(lines)


def parameters() -> str:
    """The page about the parameters."""
    lines = [
        "# Parameters\n",
        "`lns params` prints all of them as TOML. A file of those that differ goes to `--params`, nested dictionaries "
        "to `lns.solve(params=...)`. An unknown name is refused, with the nearest known one.\n",
    ]
    for section in dataclasses.fields(Params):
        component: Any = getattr(Params(), section.name)
        lines += [f"## {section.name}\n", f"{(type(component).__doc__ or '').strip()}\n"]
        lines.append(f"Used by the engines: {', '.join(f'`{engine}`' for engine in component.engines)}.\n")
        rows = []
        for spec in dataclasses.fields(component):
            low, high, tune = (spec.metadata[key] for key in ("low", "high", "tune"))
            span = "" if low is None else f"{_number(low)} to {'any' if high is None else _number(high)}"
            tuned = (
                "" if tune is False else "whole range" if tune is True else f"{_number(tune[0])} to {_number(tune[1])}"
            )
            rows.append((f"`{spec.name}`", _number(getattr(component, spec.name)), span, tuned, spec.metadata["doc"]))
        lines += _table(("parameter", "default", "range", "searched by `lns tune`", "meaning"), rows)
    return "\n".join(lines)


def solvers() -> str:
    """The page about the exact solvers."""
    rows = (
        (f"`{name}`", entry.description, entry.source, "all solutions" if entry.can_count else "first solution",
         f"`{entry.extra}`" if entry.extra else "")
        for name, entry in all_solvers().items()
    )  # fmt: skip
    return "\n".join([
        "# Exact solvers\n",
        "For `lns exact solve`, `lns exact count`, `lns exact compare` and `lns.count`. "
        "[Your own](../how-to/extend.md) can be registered.\n",
        *_table(("solver", "method", "source", "finds", "extra"), rows),
    ])  # fmt: skip


def formats() -> str:
    """The page about file formats."""
    rows = [
        (
            f"`{form.name}`" + (f", with an option `{form.name}:{form.option}`" if form.option else ""),
            form.holds,
            form.about,
        )
        for form in FORMATS.values()
    ]
    return "\n".join([
        "# File formats\n",
        "`lns convert` turns one into another. A file's content decides its format when it is read, its extension when "
        "it is written: `.txt` (a puzzle), `.solution.txt` (a board), `.json`, `.csv`, `.url`.\n",
        *_table(("format", "holds a", "what it is"), rows),
    ])  # fmt: skip


PAGES = {
    "reference/command-line.md": command_line,
    "reference/parameters.md": parameters,
    "reference/solvers.md": solvers,
    "reference/formats.md": formats,
}
