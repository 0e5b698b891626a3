"""The queue of long commands, tuning/queue.toml, and the sessions that they had so far, runs/queue.csv."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

from lns_support import csv_records
from lns_support.errors import InputError
from lns_support.files import read_text

TABLE = Path("runs/queue.csv")


@dataclass(frozen=True)
class Item:
    """A command, its core-hours in all, and those at a stretch before another item that has a ``turn`` gets its own."""

    name: str
    command: str
    hours: float
    turn: float = math.inf


@dataclass
class Row:
    """A session of an item. It stays "running" if it was killed; ``best`` is the best score of its run, "" for none."""

    item: str
    seed: int
    started: str
    machine: str
    commit: str
    core_hours: float
    state: str
    best: str
    command: str


def read_queue(path: Path) -> list[Item]:
    """The items of a queue, a table of TOML each. Raises InputError, with the line."""
    text, items = read_text(path), []
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        at = re.search(r"at line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", path, int(at[1]) if at else text.count("\n") + 1) from None
    for name, values in tables.items():
        try:
            items.append(Item(name, **values))
            good = re.fullmatch(r"[\w-]+", name) and shlex.split(values["command"]) and values["hours"] > 0
            good = good and items[-1].turn > 0
        except (AttributeError, TypeError, ValueError):
            good = False
        if not good:
            head = re.search(rf"""^[\[ "']*{re.escape(name)}\b""", text, re.MULTILINE)
            line = text.count("\n", 0, head.start() if head else 0) + 1
            what = "a table with a command, hours above 0 and perhaps a turn above 0"
            raise InputError(f"{name} is no item of a queue; expected {what}", path, line)
    return items


def read_table() -> dict[tuple[int, str], Row]:
    """The sessions so far by seed and start; of one that a merge left twice, the longer."""
    rows: dict[tuple[int, str], Row] = {}
    for row in csv_records.read(TABLE, Row):
        key = row.seed, row.started
        rows[key] = max(rows.get(key, row), row, key=lambda each: each.core_hours)
    return rows


def save(row: Row) -> None:
    """Write the row of a session into the table, whose other rows may have changed meanwhile."""
    csv_records.write(TABLE, list((read_table() | {(row.seed, row.started): row}).values()))


def hours(item: Item) -> float:
    """Core-hours of an item so far, on all machines."""
    return sum(row.core_hours for row in read_table().values() if row.item == item.name)


def next_item(items: list[Item], busy: set[str]) -> Item | None:
    """The first item that is left; if it has a turn, that of all with one which had the fewest hours. None: no more."""
    done = {(row.item, row.command) for row in read_table().values() if row.state == "done"}
    left = [item for item in items if item.name not in busy and (item.name, item.command) not in done]
    left = [item for item in left if hours(item) < item.hours]
    in_turns = left and left[0].turn < math.inf
    return min((item for item in left if item.turn < math.inf), key=hours) if in_turns else next(iter(left), None)
