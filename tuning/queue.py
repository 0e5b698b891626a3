"""`make queue`: works through long commands of `lns`, in order of worth and at the lowest priority.

In a command `{data}` stands for the directory of the public instances, `{seed}` for a random seed that no row of the
table has, `{run}` for a folder under runs/queue, `{commit}` for the commit. A run there that was interrupted is
resumed; any other command is called again, and goes on from its own files or begins anew.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Generator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from exact.paper.runs import measured
from lns.terminal.options import duration, positive_number
from lns.terminal.output import BAD_INPUT, print_error, print_text
from lns.terminal.signals import signal_handler
from lns_support.child_process import die_with_parent, processor_seconds
from lns_support.errors import InputError
from lns_support.file_lock import try_lock
from tuning.best_boards import keep_best
from tuning.queue_table import Item, Row, hours, next_item, read_queue, read_table, save

RUNS = Path("runs/queue")
LOOK_S, GRACE_S = 1.0, 60.0  # between two looks at a command; that it has to save and end


def session(item: Item, data: Path, every: float, stop: list[int]) -> Generator[None]:
    """Run an item until it ends, its hours are over or ``stop`` is not empty. Raises InputError where it fails."""
    rows = list(read_table().values())
    states = {row.seed: row.state for row in rows if (row.item, row.command) == (item.name, item.command)}
    folders = {seed: RUNS / f"{item.name}-{seed}" for seed, state in states.items() if state in ("running", "stopped")}
    again = [seed for seed, folder in folders.items() if (folder / "run.json").exists()]
    taken = {row.seed for row in rows}
    unused = (seed for seed in iter(partial(secrets.randbelow, 2**31), None) if seed not in taken)
    seed = again[-1] if again else next(unused)
    run, log = RUNS / f"{item.name}-{seed}", RUNS / f"{item.name}.log"
    commit = ""
    with contextlib.suppress(FileNotFoundError):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    known = {"{data}": str(data), "{seed}": str(seed), "{run}": str(run), "{commit}": commit}
    words = [
        re.sub(r"{(data|seed|run|commit)}", lambda found: known[found[0]], word) for word in shlex.split(item.command)
    ]
    for word in words:
        if word.startswith(f"{data}/") and not Path(word).exists():
            raise InputError("no such file; expected the public instances in --data DIR", word)
    words = ["resume", str(run), "--quiet"] if again else words
    now, machine = datetime.now(UTC).isoformat(timespec="milliseconds"), measured().partition(" on ")[2]
    row = Row(item.name, seed, now, machine, commit, 0.0, "running", "", item.command)
    most, begun = min(item.hours - hours(item), item.turn), time.monotonic()
    save(row)  # a seed is noted before it is used
    print_text(f"{item.name}: lns {shlex.join(words)}", flush=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "lns", *words], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True, preexec_fn=partial(die_with_parent, os.getpid()),
        )  # fmt: skip
    ended, saved = None, begun
    try:
        while not (ended or stop or row.core_hours >= most):
            yield
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            spent = processor_seconds(process.pid) or time.monotonic() - begun
            row.core_hours = max(row.core_hours, round(spent / 3600, 4))
            if time.monotonic() > saved + every:
                saved = time.monotonic()
                with contextlib.suppress(OSError):  # a disk that is full now may have room later
                    row.best = keep_best(run, seed, item.command, commit)
                    save(row)
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        process.kill()
    status = process.wait()
    refused = "missed" if (run / "run.json").exists() else "done"  # a run missed its target; the answer of others is no
    row.state = {0: "done", 1: refused}.get(status, "failed") if ended and status >= 0 else "stopped"
    row.best = keep_best(run, seed, item.command, commit)
    save(row)
    print_text(f"{item.name}: {row.state} after {row.core_hours:.2f} core-hours", flush=True)
    if ended and (status < 0 or (row.state == "failed" and not again)):
        said = log.read_text(errors="replace").strip().splitlines()[-1:] or [f"ended by signal {-status}"]
        raise InputError(said[0].removeprefix("lns: "), log)


def work(items: list[Item], workers: int, data: Path, every: float) -> int:
    """Run the items, ``workers`` at a time. Returns the exit status: 1 if items are left that could not be run."""
    stop, aside, running = list[int](), set[str](), dict[str, Generator[None]]()
    with signal_handler(lambda number, frame: stop.append(number)), contextlib.ExitStack() as stack:
        while True:
            while not stop and len(running) < workers and (item := next_item(items, aside | set(running))):
                running[item.name] = stack.enter_context(contextlib.closing(session(item, data, every, stop)))
            for name, each in list(running.items()):
                try:
                    next(each)
                except (InputError, StopIteration) as why:
                    del running[name]
                    if isinstance(why, InputError):
                        print_error(f"lns: {name} is set aside: {why}")
                        aside.add(name)
            if stop and not running:
                return 128 + stop[0]
            if not running and not next_item(items, aside):
                return int(bool(aside))
            time.sleep(LOOK_S)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tuning.queue", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("queue", nargs="?", type=Path, default=Path("tuning/queue.toml"))
    parser.add_argument("--workers", type=positive_number, default=1, help="commands at a time, a core each (1)")
    parser.add_argument("--data", type=Path, default=Path("../shared/instances"), help="the public instances")
    parser.add_argument("--every", type=duration, default=60.0, help="seconds between two updates of the table")
    args = parser.parse_args()
    os.nice(19)
    try:
        items = read_queue(args.queue)
        RUNS.mkdir(parents=True, exist_ok=True)
        with (RUNS / "lock").open("ab") as lock:
            if try_lock(lock) is False:
                raise InputError("a queue is at work here; expected one at a time", RUNS)
            return work(items, args.workers, args.data, args.every)
    except (InputError, OSError) as error:
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        print_error(f"lns: {said}")
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
