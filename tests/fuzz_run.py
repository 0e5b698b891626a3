"""Damaged runs: `python -m tests.fuzz_run [COUNT] [SEED]` runs a command on COUNT mutated copies of a recorded run.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes (with a right checksum where the file has one), links. A command then reads the run or continues it. It
must do so (exit status 0 or 1) or say in one sentence why not (2), in plain text, within its time and in bounded
memory. Nothing may be written outside the run, nor in it by a command that only reads.
"""

import contextlib
import io
import json
import random
import shutil
import signal
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from lns.cli.main import main
from lns.islands import Archipelago
from lns.runs import files
from lns.worker_pool import InProcessExecutor
from tests import mutations as faults
from tests.lns.run_parts import best_of, finished_run, log_of
from tests.mutations import replace_value, state

FILES = (
    files.SETTINGS, files.INSTANCE, files.PARAMETERS, files.BEST, files.LOCK, *(files.BOARDS,) * 2,
    *(files.CHECKPOINT,) * 2, *(files.STATUS,) * 2,
)  # fmt: skip
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


def exchange(file: Path, outside: Path, chance: random.Random) -> None:
    """The file and another one of the run under each other's names."""
    other, kept = file.with_name(chance.choice([name for name in FILES if name != file.name])), file.with_name("kept")
    if other.is_file():
        file.rename(kept)
        other.rename(file)
        kept.rename(other)


OF_ALL = (
    faults.flip_bits, faults.cut, faults.insert_noise, faults.change_kind, exchange,
    faults.link(files.LOG, files.PICTURE, files.REPORT, files.STOP, "best.unusable.json"),
)  # fmt: skip
OF_TEXT = (*OF_ALL, faults.move_lines, *(faults.change_value,) * 4, set_names)
OF_CHECKPOINTS = (*OF_ALL, *(change_meta,) * 6)


def draw(chance: random.Random) -> tuple[str, tuple[faults.Mutation, ...]]:
    """A file, and what may befall it."""
    name = chance.choice(FILES)
    return name, OF_CHECKPOINTS if name == files.CHECKPOINT else OF_TEXT


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


def check(path: Path, outside: Path, what: str, chance: random.Random) -> str:
    """Run a command on a damaged run; 'done' or 'refused'. A run of one fault that goes on has lost no best board."""
    command, new = chance.choice(chance.choice((READING, WRITING))), path.with_name("new")
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
        page = (path / files.REPORT).read_text()
        assert all(c.isprintable() or c == "\n" for c in page) and "<script" not in page, what
    assert "Traceback" not in messages and "Warning" not in messages, what
    said = [line for line in messages.splitlines() if line.startswith("lns: ")]
    assert len(said) in (1, 2) if status == 2 else len(said) <= 3, what  # one for each damaged file
    assert len(set(said)) == len(said), f"{what}\na sentence was said twice"
    if command[0] == "resume" and status < 2 and ", " not in damage:
        assert best_of(path) >= best_of(outside), what
        assert files.BOARDS in damage or "exchange" in damage or len(log_of(path)) >= len(log_of(outside)), what
    shutil.rmtree(new, ignore_errors=True)
    return "refused" if status == 2 else "done"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Run a command on ``count`` damaged runs; how many were done, how many refused."""
    recorded = finished_run(folder / "recorded")
    (recorded / files.LOG).write_text("begun\n")
    with one_process():
        return faults.fuzz_copies(recorded, count, seed, draw, check)


if __name__ == "__main__":
    faults.run_fuzz(fuzz)
