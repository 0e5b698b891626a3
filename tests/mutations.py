"""Copies of a folder that are damaged at random, for `tests.fuzz_study` and `tests.fuzz_run`.

A fault damages one file of a copy; links lead to ``outside``, an undamaged copy.
"""

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.runs.files import seal, unseal

MAX_MEMORY = 600 * 2**20
MAX_SECONDS, MAX_WAIT_S = 20.0, 300.0  # of a command, of processor time and of the clock; the machine may be busy
OTHER_NAMES = ("run.log", "best.svg", "report.html", "stop", "best.unusable.json", "best_params.toml", "study.lock",
               "journal.lock")  # fmt: skip
Fault = Callable[[Path, Path, random.Random], None]
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 10**6, 10**12, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "",
    "x", "\ud800", "\x1b[2J", "a\nb = 1", "9" * 5000, [], [1], [["x", 1]], [["a"]], [[float("inf"), 1]], [[1]], [3],
    {}, {"a": 1}, {"op_code": 4},
)  # fmt: skip


def flip_bits(file: Path, outside: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 5))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def cut(file: Path, outside: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data) + 1)])


def insert_noise(file: Path, outside: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    at = chance.randrange(len(data) + 1)
    file.write_bytes(data[:at] + chance.choice((bytes(40), chance.randbytes(40), b"\n", b"[" * 5000)) + data[at:])


def move_lines(file: Path, outside: Path, chance: random.Random) -> None:
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


def change_value(file: Path, outside: Path, chance: random.Random) -> None:
    """Another value somewhere in the JSON of a line."""
    lines = file.read_text(errors="replace").split("\n")
    at = chance.randrange(len(lines))
    with contextlib.suppress(ValueError, RecursionError):
        record = json.loads(lines[at])
        sealed = is_sealed(lines[at])
        if isinstance(record, dict) and record:
            record.pop("sum" if sealed else "", None)
            replace_value(record, chance)
            lines[at] = seal(record) if sealed else json.dumps(record)
    file.write_text("\n".join(lines))


def is_sealed(line: str) -> bool:
    try:
        return bool(unseal(line))
    except InputError:
        return False


def replace_value(value: dict[str, Any] | list[Any], chance: random.Random) -> None:
    key: Any = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    inner = value[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
        replace_value(inner, chance)
    elif isinstance(value, dict) and chance.random() < 0.2:
        del value[key]
    elif isinstance(inner, int | float) and chance.random() < 0.4:
        value[key] = chance.choice((inner + 1, inner - 1, -inner, inner * 10**6, float(inner)))
    else:
        value[key] = chance.choice(VALUES)


def change_kind(file: Path, outside: Path, chance: random.Random) -> None:
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


def link(file: Path, outside: Path, chance: random.Random) -> None:
    """A link in place of the file, or of another name in the folder."""
    at = file.with_name(chance.choice((file.name, file.name, *OTHER_NAMES)))
    target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
    at.unlink(missing_ok=True)
    if chance.random() < 0.3:
        os.link(outside / file.name, at)
    else:
        at.symlink_to(target)


OF_FILES: tuple[Fault, ...] = (flip_bits, cut, insert_noise, link, change_kind)
OF_TEXT: tuple[Fault, ...] = (move_lines, change_value, change_value, change_value, change_value)


def damage(
    path: Path, outside: Path, chance: random.Random, files: Sequence[str], faults: Callable[[Path], Sequence[Fault]]
) -> str:
    """Damage some of the ``files`` in a folder by one to three faults, of those that a file may have; what was done."""
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        file = path / chance.choice(files)
        if file.is_symlink() or not file.is_file() or file.stat().st_size > 2**28:
            continue  # damaged enough
        fault = chance.choice(faults(file))
        fault(file, outside, chance)
        done.append(f"{fault.__name__} {file.name}")
    return ", ".join(done)


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """What is in a folder, without its report.html: kinds, sizes, times and inodes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.iterdir():
        status = path.lstat()
        found[path.name] = status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino
    found.pop("report.html", None)
    return found


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def call(command: list[str]) -> tuple[int, str, str]:
    """Run a command: exit status, stdout, stderr. One that hangs fails with the traceback of where it was."""

    def hangs(number: int, frame: object) -> None:
        raise RuntimeError(f"the command has not ended after {MAX_WAIT_S:.0f} s")

    out, messages = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(int(MAX_WAIT_S))
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(out):
        status = main(command)
    signal.alarm(0)
    return status, out.getvalue(), messages.getvalue()


def fuzz_copies(
    recorded: Path,
    count: int,
    seed: int,
    mutate: Callable[[Path, Path, random.Random], str],
    check: Callable[[Path, Path, str, random.Random], str],
) -> Counter[str]:
    """`mutate` and `check` so many copies of a folder, beside it; how often each answer of the check came.

    A copy that fails is kept, without what must not be read.
    """
    chance, outcome = random.Random(seed), Counter[str]()
    path, outside = recorded.with_name("damaged"), recorded.with_name("outside")
    shutil.copytree(recorded, outside)
    for number in range(count):
        shutil.copytree(recorded, path)
        what = f"seed {seed}, copy {number}: {mutate(path, outside, chance)}"
        try:
            outcome[check(path, outside, what, chance)] += 1
        except Exception as error:
            kept = Path(tempfile.mkdtemp(prefix="lns-damaged-"))
            shutil.copytree(path, kept / "damaged", symlinks=True, ignore=_unreadable)
            raise AssertionError(f"{what}: the copy is kept in {kept}") from error
        shutil.rmtree(path)
    return outcome


def _unreadable(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder, name) for name in names]
    return [path.name for path in paths if path.is_fifo() or (path.is_file() and path.stat().st_size > 2**30)]


def run_fuzz(fuzz: Callable[[Path, int, int], Counter[str]]) -> None:
    """Run a fuzz as the command line says: how many cases, and the seed."""
    count, seed = (int(text) for text in (*sys.argv[1:], *("20000", "1")[len(sys.argv) - 1 :]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        outcome = fuzz(Path(temporary), count, seed)
    memory = peak_memory()
    print(f"{count} cases, seed {seed}: {dict(outcome)}; {time.monotonic() - start:.0f} s, {memory / 2**20:.0f} MiB")
    assert memory < MAX_MEMORY
