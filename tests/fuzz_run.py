"""Damaged runs: `python -m tests.fuzz_run [COUNT] [SEED]` runs a command on COUNT mutated copies of a recorded run.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes (with a right checksum where the file has one), links. A command then
reads the run or continues it. It must do so (exit status 0 or 1) or say in one sentence why not (2), in plain text,
within its time and in bounded memory. Nothing may be written outside the run, nor in it by a command that only reads.
"""

import contextlib
import json
import random
import shutil
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from lns.islands import Archipelago
from lns.runs import files
from lns.worker_pool import InProcessExecutor
from tests.lns.run_parts import best_of, finished_run, log_of
from tests.mutations import MAX_SECONDS, OF_FILES, OF_TEXT, call, damage, fuzz_copies, replace_value, run_fuzz, state

FILES = (
    files.SETTINGS, files.INSTANCE, files.PARAMETERS, files.BEST, *[files.BOARDS] * 2, *[files.CHECKPOINT] * 2,
    *[files.STATUS] * 2, files.LOCK,
)  # fmt: skip
SEARCH_S, LATE_S = 1.0, 2.0  # time of a search, and how much later than that it may end
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
    """Damage the run in ``path``; what was done."""
    of_text = *OF_TEXT, set_names
    return damage(
        path, outside, chance, FILES,
        lambda file: (*OF_FILES, exchange, *((change_meta,) * 6 if file.name == files.CHECKPOINT else of_text)),
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


def check(path: Path, outside: Path, what: str, chance: random.Random) -> str:
    """Run a command on a damaged run; 'done' or 'refused'. A run of one fault that goes on has lost no best board."""
    command, new = chance.choice(chance.choice((READING, WRITING))), path.with_name("new")
    faults = what.partition(": ")[2]
    names = {"RUN": str(path), "OTHER": str(outside), "NEW": str(new)}
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
    if command[0] == "resume" and status < 2 and ", " not in faults:
        assert best_of(path) >= best_of(outside), what
        assert files.BOARDS in faults or "exchange" in faults or len(log_of(path)) >= len(log_of(outside)), what
    shutil.rmtree(new, ignore_errors=True)
    return "refused" if status == 2 else "done"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Run a command on ``count`` damaged runs; how many were done, how many refused."""
    recorded = finished_run(folder / "recorded")
    (recorded / files.LOG).write_text("begun\n")
    with one_process():
        return fuzz_copies(recorded, count, seed, mutate, check)


if __name__ == "__main__":
    run_fuzz(fuzz)
