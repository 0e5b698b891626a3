"""`make queue`: run long `lns` commands, the most useful first, at the lowest priority (docs/how-to/queue.md)."""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lns.api.files import load_board, load_puzzle
from lns.exact.child_process import yield_to_all
from lns.exact.compare import measured
from lns.exact.file_lock import try_lock
from lns.instances.errors import InputError
from lns.instances.files import atomic_file, atomic_write, read_text
from lns.instances.verify import verify
from lns.terminal.output import print_error, print_text
from lns.terminal.signals import exit_on_signal, signal_handler

QUEUE, TABLE, RUNS, BEST = Path("tuning/queue.toml"), Path("runs/queue.csv"), Path("runs/queue"), Path("runs/best")
COLUMNS = ("item", "seed", "started", "machine", "commit", "hours", "core_hours", "state", "best", "command")
LOOK_S = 10.0  # seconds between two polls of the commands; each poll saves their hours and best boards


def read_queue() -> dict[str, dict[str, Any]]:
    """Return the items by name: each has a command, its hours in all, and perhaps its hours at a stretch (a turn)."""
    text, name = read_text(QUEUE), "not TOML"
    try:
        for name, item in (items := tomllib.loads(text)).items():  # noqa: B007 (read below)
            shlex.split(item["command"].format(data="", seed="", run="", commit=""))
            if item.keys() - {"command", "hours", "turn"} or not min(item["hours"], item.get("turn", 1)) > 0:
                raise ValueError("another key, or a number that is not above 0")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}; expected a command, hours and perhaps a turn", QUEUE) from None
    return items


def sessions() -> dict[str, dict[str, Any]]:
    """Return the table's rows by start time, in order; of two with the same start (after a merge), the longer."""
    rows = csv.DictReader(read_text(TABLE).splitlines() if TABLE.exists() else [])
    return {row["started"]: row for row in sorted(rows, key=lambda row: (row["started"], hours_of(row)))}


def hours_of(row: dict[str, Any]) -> float:
    """Return the elapsed hours of a session; rows of earlier versions have these hours in the column core_hours."""
    return float(row.get("hours") or row["core_hours"])


def processor_hours(session: int) -> float:
    """Return the processor hours of an OS session's processes and their ended children; 0 if there is no /proc."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # raised if the process has ended
            fields = file.read_text().rpartition(")")[2].split()  # from the third field on, as proc(5) counts
            ticks += sum(map(int, fields[11:15])) if int(fields[3]) == session else 0
    return round(ticks / os.sysconf("SC_CLK_TCK") / 3600, 5)


def next_item(items: dict[str, dict[str, Any]], busy: set[str]) -> tuple[str, str, float] | None:
    """Return (name, command, allowed hours) of the first item with the fewest turns so far, or None.

    Left out are items that are done, have no hours left, or are in ``busy``.
    """
    left = []
    for name, item in items.items():
        rows = [row for row in sessions().values() if row["item"] == name]
        spent, turn = sum(map(hours_of, rows)), item.get("turn", item["hours"])
        is_done = any((row["command"], row["state"]) == (item["command"], "done") for row in rows)
        if spent < item["hours"] and not is_done and name not in busy:
            left.append((spent // turn, name, item["command"], min(item["hours"] - spent, turn)))
    return min(left, key=lambda each: each[0])[1:] if left else None


def save(row: dict[str, Any]) -> None:
    """Save a session's best board and its row; the other rows of the table are read again, as they may have changed."""
    keep_best(row, RUNS / f"{row['item']}-{row['seed']}")
    rows = sessions() | {row["started"]: row}
    with atomic_file(TABLE, "utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def keep_best(row: dict[str, Any], run: Path) -> None:
    """Set the best score in a session's row; put the verified board into runs/best if it beats the board there."""
    for file in [*run.glob("best.json"), *run.glob(f"*-{row['seed']}.json")]:  # file of a run, or of a benchmark
        said = json.loads(read_text(file))
        source, puzzle = Path(said["instance"]), load_puzzle(said["instance"])
        checked, target = verify(puzzle, load_board(str(file), puzzle)), BEST / f"{source.stem}.json"
        row["best"] = score = checked.score if checked.complete else 0
        if score > (json.loads(read_text(target))["score"] if target.exists() else 0):
            how = (
                f"lns solve {source.name} --workers 1 --seed {row['seed']} --target {score} --time 1d --params default"
            )
            said |= {"instance": source.stem, "score": score, "url": "", "command": how, "commit": row["commit"]}
            link, text = f"| [{source.stem}]({target.name}) | **", read_text(BEST / "README.md")
            old = re.search(re.escape(link) + r".*?\| (.*?) \|.*\n", text)
            new = f"{link}{score}** of {puzzle.max_score} | {old[1] if old else 'none'} | `{how}` | {row['commit']} |\n"
            atomic_write(BEST / "README.md", text.replace(old[0], new) if old else text + new)
            atomic_write(target, json.dumps(said) + "\n")  # last, so that after a kill the next call writes both files
            print_text(f"{target}: {score} of {puzzle.max_score}", flush=True)


def session(name: str, command: str, hours: float, data: str, aside: set[str]) -> Generator[bool]:
    """Run an item's command for up to ``hours``, yield before each poll; put the item ``aside`` if a new run fails."""
    rows = [row for row in sessions().values() if (row["item"], row["command"]) == (name, command)]
    last = {row["seed"]: row["state"] in ("running", "stopped") for row in rows}
    resumed = [seed for seed in last if last[seed] and (RUNS / f"{name}-{seed}" / "run.json").exists()]
    seed = resumed[-1] if resumed else str(secrets.randbelow(10**15))  # range so large that no seed is drawn twice
    run, log, status = RUNS / f"{name}-{seed}", RUNS / f"{name}.log", None
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    words = [word.format(data=data, seed=seed, run=run, commit=commit) for word in shlex.split(command)]
    if words[0] == "solve" and "--params" not in words:  # so that parameters kept by the user change no results
        words += ["--params", "default"]
    words = [sys.executable, "-m", "lns", *(["resume", str(run), "--quiet"] if resumed else words)]
    begun, started, machine = time.monotonic(), datetime.now(UTC).isoformat(), measured().partition(" on ")[2]
    values = (name, seed, started, machine, commit, 0.0, 0.0, "running", "", command)
    row = dict[str, Any](zip(COLUMNS, values, strict=True))
    save(row)  # so that the seed is in the table before a run uses it
    print_text(f"{name}: {shlex.join(words[2:])}", flush=True)
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True, preexec_fn=yield_to_all)
    try:
        while status is None and row["hours"] < hours:
            yield True
            row["core_hours"] = max(row["core_hours"], processor_hours(process.pid))  # before `poll` reaps the process
            status = process.poll()
            row["hours"] = round((time.monotonic() - begun) / 3600, 4)
            save(row)
    finally:
        process.terminate()
        process.wait()
        states = {None: "stopped", 0: "done", 1: "missed" if (run / "run.json").exists() else "done"}
        row["state"] = states.get(status, "failed")
        save(row)
    if row["state"] == "failed" and not resumed:
        print_error(f"lns: {name} is set aside: exit status {status}; see {log}")
        aside.add(name)


def main(workers: str, data: str) -> int:
    """Run the items, ``workers`` at a time. Return the exit status: 0, 1 if an item was set aside, 2 after an error."""
    aside, running = set[str](), dict[str, Generator[bool]]()
    os.nice(19)
    try:
        most, items = int(workers), read_queue()
        RUNS.mkdir(parents=True, exist_ok=True)
        with (RUNS / "lock").open("ab") as lock, signal_handler(exit_on_signal), ExitStack() as stack:
            if try_lock(lock) is False:
                raise InputError("a queue is at work here; expected one at a time", RUNS)
            while running or next_item(items, aside):
                while len(running) < most and (item := next_item(items, aside | running.keys())):
                    running[item[0]] = stack.enter_context(closing(session(*item, data, aside)))
                running = {name: each for name, each in running.items() if next(each, False)}
                time.sleep(LOOK_S)
        return int(bool(aside))
    except (OSError, ValueError) as error:
        print_error(f"lns: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
