"""Damaged studies: `python -m tests.fuzz_study [COUNT] [SEED]` reports on COUNT mutated copies of a recorded study.

Each copy has one to three faults in its files: bits, bytes, lines lost, doubled or exchanged, JSON values of other
types and sizes (with a right checksum where the file has one), links. The report of each must end in a page (exit
status 0 or 1) or in one sentence (2), and nothing but that page may be written, in the study or outside.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from lns.cli.main import main
from lns.runs.files import is_sealed, seal
from tests.tuning.made_up import REQUEST, MadeUp, searched, validated
from tuning import worker as workers
from tuning.append_file import MAX_BYTES

FILES = ("study.json", "journal.log", "runs.jsonl")
MAX_SECONDS = 20.0  # of one report; the machine may be busy
MAX_MEMORY = 600 * 2**20
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 10**6, 10**12, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "",
    "x", "\ud800", "\x1b[2J", "a\nb = 1", "9" * 5000, [], [1], [["x", 1]], [["a"]], [[float("inf"), 1]], [[1]], [3],
    {}, {"a": 1}, {"op_code": 4},
)  # fmt: skip


def recorded_study(path: Path) -> Path:
    """A small study with trials in every state, candidates and a validation; its runs are made up."""
    with mock.patch.object(workers, "TrialRun", MadeUp):
        study = searched(path, 9, REQUEST)
        validated(study)
        study.requeue(_asked(study))
        _asked(study)
        (path / "report.html").touch()
    return path


def _asked(study: Any) -> Any:
    trial = study.next_trial(None)
    assert trial is not None
    return trial


def mutate(path: Path, outside: Path, chance: random.Random) -> str:
    """Damage the study in ``path``; what was done. Links lead to ``outside``."""
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        file = path / chance.choice(FILES)
        mutation = chance.choice(_MUTATIONS)
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_BYTES:
            continue  # damaged enough
        mutation(file, outside, chance)
        done.append(f"{mutation.__name__} {file.name}")
    return ", ".join(done)


def _bits(file: Path, outside: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 5))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def _cut(file: Path, outside: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data) + 1)])


def _noise(file: Path, outside: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    at = chance.randrange(len(data) + 1)
    file.write_bytes(data[:at] + chance.choice((bytes(40), chance.randbytes(40), b"\n", b"[" * 5000)) + data[at:])


def _lines(file: Path, outside: Path, chance: random.Random) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    if not lines:
        return
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.choice(("lose", "double", "exchange"))
    if kind == "lose":
        del lines[first]
    elif kind == "double":
        lines.insert(second, lines[first])
    else:
        lines[first], lines[second] = lines[second], lines[first]
    file.write_bytes(b"".join(lines))


def _value(file: Path, outside: Path, chance: random.Random) -> None:
    """Another value somewhere in the JSON of a line."""
    lines = file.read_text(errors="replace").split("\n")
    at = chance.randrange(len(lines))
    with contextlib.suppress(ValueError, RecursionError):
        sealed = is_sealed(lines[at])
        record = json.loads(lines[at])
        if isinstance(record, dict) and record:
            record.pop("sum" if sealed else "", None)
            _replace(record, chance)
            lines[at] = seal(record) if sealed else json.dumps(record)
    file.write_text("\n".join(lines))


def _replace(value: dict[str, Any] | list[Any], chance: random.Random) -> None:
    key: Any = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    inner = value[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
        _replace(inner, chance)
    elif isinstance(value, dict) and chance.random() < 0.2:
        del value[key]
    elif isinstance(inner, int | float) and chance.random() < 0.4:
        value[key] = chance.choice((inner + 1, inner - 1, -inner, inner * 10**6, float(inner)))
    else:
        value[key] = chance.choice(VALUES)


def _link(file: Path, outside: Path, chance: random.Random) -> None:
    """A link in place of the file, or of another name in the study."""
    name = chance.choice((file.name, file.name, "best_params.toml", "base.toml", "study.lock", "journal.lock"))
    target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
    link = file.with_name(name)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def _other_kind(file: Path, outside: Path, chance: random.Random) -> None:
    """No file, a folder, a pipe, a sparse file."""
    file.unlink()
    kind = chance.choice(("gone", "folder", "pipe", "sparse"))
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "sparse":
        with file.open("wb") as sparse:
            sparse.truncate(20 * 2**30)


_MUTATIONS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    _bits, _cut, _noise, _lines, _lines, _value, _value, _value, _value, _link, _other_kind,
)  # fmt: skip


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """What is in a folder, without the report: kinds, sizes, times and inodes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.iterdir():
        status = path.lstat()
        found[path.name] = status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino
    found.pop("report.html", None)
    return found


def report(path: Path) -> tuple[int, str]:
    """`lns tune --report`: exit status, and what it wrote to stderr."""
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()):
        status = main(["tune", "--study", str(path), "--report"])
    return status, messages.getvalue()


def check(path: Path, outside: Path, what: str) -> str:
    """Report a damaged study; 'shown' or 'refused'."""
    before, began = (state(path), state(outside)), time.monotonic()
    try:
        status, messages = report(path)
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert status in (0, 1, 2), f"{what}: {status}: {messages}"
    assert time.monotonic() - began < MAX_SECONDS, what
    assert (state(path), state(outside)) == before, f"{what}: something was written"
    assert "Traceback" not in messages and "\x1b" not in messages, f"{what}: {messages}"
    lines = [line for line in messages.splitlines() if "incomplete last line" not in line]
    assert len(lines) == (status == 2), f"{what}: {messages}"
    return "refused" if status == 2 else "shown"


def fuzz(folder: Path, count: int, seed: int) -> Counter[str]:
    """Report ``count`` damaged studies; how many were shown, how many refused."""
    chance, outcome = random.Random(seed), Counter[str]()
    recorded, outside = recorded_study(folder / "recorded"), folder / "outside"
    shutil.copytree(recorded, outside)
    for number in range(count):
        path = folder / "damaged"
        shutil.copytree(recorded, path)
        what = f"seed {seed}, study {number}: {mutate(path, outside, chance)}"
        try:
            outcome[check(path, outside, what)] += 1
        except AssertionError:
            kept = Path(tempfile.mkdtemp(prefix="lns-study-"))
            shutil.copytree(path, kept / "study", symlinks=True)
            print(f"the study is kept in {kept}", file=sys.stderr)
            raise
        shutil.rmtree(path)
    return outcome


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    number, first = (int(text) for text in (*sys.argv[1:], *("20000", "1")[len(sys.argv) - 1 :]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        counts = fuzz(Path(temporary), number, first)
    memory = peak_memory()
    print(f"{number} damaged studies, seed {first}: {dict(counts)}; {time.monotonic() - start:.0f} s, "
          f"{memory / 2**20:.0f} MiB")  # fmt: skip
    assert memory < MAX_MEMORY
