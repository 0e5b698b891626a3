"""Damaged runs: `python -m tests.fuzz_run [COUNT] [SEED]` runs a command on COUNT mutated copies of a recorded run.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes (with a right checksum where the file has one), links. A command then
reads the run or continues it. It must do so (exit status 0 or 1) or say in one sentence why not (2), in plain text,
within its time and in bounded memory. Nothing may be written outside the run, nor in it by a command that only reads.
"""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from lns.cli.main import main
from lns.islands import Archipelago
from lns.runs.files import (
    BEST,
    BOARDS,
    CHECKPOINT,
    INSTANCE,
    LOCK,
    LOG,
    PARAMETERS,
    PICTURE,
    REPORT,
    SETTINGS,
    STATUS,
    STOP,
)
from lns.worker_pool import InProcessExecutor
from tests.lns.run_parts import best_of, finished_run, log_of
from tests.mutations import (
    change_kind,
    change_value,
    cut,
    flip_bits,
    insert_noise,
    kept_on_failure,
    move_lines,
    replace_value,
    run_fuzz,
    state,
)

FILES = (SETTINGS, INSTANCE, PARAMETERS, BEST, BOARDS, BOARDS, CHECKPOINT, CHECKPOINT, STATUS, STATUS, LOCK)
OTHER_NAMES = (LOG, PICTURE, REPORT, STOP, "best.unusable.json")
SEARCH_S, LATE_S = 1.0, 2.0  # time of a search, and how much later than that it may end
MAX_SECONDS, MAX_WAIT_S = 20.0, 300.0  # of processor time and of the clock; the machine may be busy
READING: tuple[tuple[str, ...], ...] = (
    ("status", "RUN"), ("status", "RUN", "--json"), ("collect", "RUN"), ("collect", "RUN", "--json"), ("show", "RUN"),
    ("verify", "RUN", "--json"), ("compare", "RUN", "OTHER"), ("merge", "RUN", "OTHER", "-o", "NEW"),
    ("watch", "RUN", "--every", "0.1"),
)  # fmt: skip
WRITING: tuple[tuple[str, ...], ...] = (
    ("report", "RUN"), ("stop", "RUN", "--wait", "0.2"), ("resume", "RUN", "--steps", "1", "--stats", "--workers", "2"),
    ("resume", "RUN", "--steps", "1", "--workers", "1", "--json"),
    ("resume", "RUN", "--time", f"{SEARCH_S:g}", "--workers", "1", "--quiet"),
)  # fmt: skip


def mutate(path: Path, outside: Path, chance: random.Random) -> str:
    """Damage the run in ``path`` by one to three faults; what was done. Links lead to ``outside``."""
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        file = path / chance.choice(FILES)
        if file.is_symlink() or not file.is_file() or file.stat().st_size > 2**30:
            continue  # damaged enough
        of_file = _OF_CHECKPOINTS if file.name == CHECKPOINT else _OF_TEXT
        mutation = chance.choice((*_MUTATIONS, *of_file))
        mutation(file, outside, chance)
        done.append(f"{mutation.__name__} {file.name}")
    return ", ".join(done)


def change_meta(file: Path, outside: Path, chance: random.Random) -> None:
    """Another value in the JSON of a checkpoint, or a state under the name of another island."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = {member.filename: archive.read(member) for member in archive.infolist()}
        record = json.loads(members["meta.json"])
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, IndexError, KeyError):
        return  # damaged enough
    replace_value(record, chance)
    members["meta.json"] = json.dumps(record).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for member, data in members.items():
            archive.writestr(chance.choice((member, member, member, "7.npz")), data)


def set_names(file: Path, outside: Path, chance: random.Random) -> None:
    """Control characters, escape sequences, marks of direction and lone surrogates in every text of a line of JSON."""
    text = file.read_text(errors="replace")
    name = chance.choice(("\\u001b[2J", "\\u0007", "\\ud800", "\\u202e", "\\u0085", "<script>", "\\u001b]0;x\\u0007"))
    file.write_text(text.replace('": "', f'": "{name}', chance.choice((1, 3, 100))))


def link(file: Path, outside: Path, chance: random.Random) -> None:
    """A link in place of the file, or of another name in the run."""
    name = chance.choice((file.name, file.name, *OTHER_NAMES))
    target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
    at = file.with_name(name)
    at.unlink(missing_ok=True)
    if chance.random() < 0.3 and (outside / file.name).exists():
        os.link(outside / file.name, at)
    else:
        at.symlink_to(target)


def exchange(file: Path, outside: Path, chance: random.Random) -> None:
    """The file and another one of the run under each other's names."""
    other, kept = file.with_name(chance.choice([name for name in FILES if name != file.name])), file.with_name("kept")
    if other.is_file():
        file.rename(kept)
        other.rename(file)
        kept.rename(other)


_MUTATIONS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    flip_bits, cut, insert_noise, link, change_kind, exchange,
)  # fmt: skip
_OF_TEXT = (move_lines, change_value, change_value, change_value, change_value, set_names)
_OF_CHECKPOINTS = (change_meta,) * 6


@contextlib.contextmanager
def one_process() -> Iterator[None]:
    """Islands are searched in this process, so that its time and memory are those of the search."""

    def here(*arguments: Any, **options: Any) -> Archipelago:
        return Archipelago(*arguments, **(options | {"executor": InProcessExecutor()}))

    with (
        mock.patch("lns.api.solving.Archipelago", here),
        mock.patch("lns.runs.lock.OBSERVATION_S", 0.3),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        yield


def _hangs(number: int, frame: object) -> None:
    raise RuntimeError(f"the command has not ended after {MAX_WAIT_S:.0f} s")


def call(command: list[str]) -> tuple[int, str, str]:
    """Run a command: exit status, stdout, stderr. One that hangs fails with the traceback of where it was."""
    out, messages = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(int(MAX_WAIT_S))
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(out):
        status = main(command)
    signal.alarm(0)
    return status, out.getvalue(), messages.getvalue()


def check(command: tuple[str, ...], path: Path, outside: Path, new: Path, what: str) -> str:
    """Run a command on a damaged run; 'done' or 'refused'. A run of one fault that goes on has lost no best board."""
    damage, names = what.partition(": ")[2], {"RUN": str(path), "OTHER": str(outside), "NEW": str(new)}
    before, began = (state(path), state(outside)), time.process_time()
    status, out, messages = call([names.get(word, word) for word in command])
    seconds, after = time.process_time() - began, (state(path), state(outside))
    what = f"{what}: lns {' '.join(command)}: {status}, {seconds:.1f} s\n{messages}"
    assert status in (0, 1, 2), what
    assert seconds < (SEARCH_S + LATE_S if "--time" in command else MAX_SECONDS), what
    assert after[1] == before[1], f"{what}\nsomething was written outside"
    assert after[0] == before[0] or command in WRITING, f"{what}\nsomething was written by a command that only reads"
    assert all(c.isprintable() or c in "\n\t" for c in out + messages), what
    if command[0] == "report" and status == 0:
        page = (path / REPORT).read_text()
        assert all(c.isprintable() or c == "\n" for c in page) and "<script" not in page, what
    assert "Traceback" not in messages and "Warning" not in messages, what
    said = [line for line in messages.splitlines() if line.startswith("lns: ")]
    assert len(said) in (1, 2) if status == 2 else len(said) <= 3, what  # one for each damaged file
    assert len(set(said)) == len(said), f"{what}\na sentence was said twice"
    if command[0] == "resume" and status < 2 and ", " not in damage:
        assert best_of(path) >= best_of(outside), what
        assert BOARDS in damage or "exchange" in damage or len(log_of(path)) >= len(log_of(outside)), what
    shutil.rmtree(new, ignore_errors=True)
    return "refused" if status == 2 else "done"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Run a command on ``count`` damaged runs; how many were done, how many refused."""
    chance, outcome = random.Random(seed), Counter[str]()
    recorded, outside = finished_run(folder / "recorded"), folder / "outside"
    (recorded / LOG).write_text("begun\n")
    shutil.copytree(recorded, outside)
    with one_process():
        for number in range(count):
            path = folder / "damaged"
            shutil.copytree(recorded, path)
            damage = mutate(path, outside, chance)
            command = chance.choice(chance.choice((READING, WRITING)))
            what = f"seed {seed}, run {number}: {damage}"
            with kept_on_failure(path):
                outcome[check(command, path, outside, folder / "new", what)] += 1
            shutil.rmtree(path)
    return outcome


if __name__ == "__main__":
    run_fuzz(fuzz)
