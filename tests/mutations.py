"""Faults in files, for `tests.fuzz_study` and `tests.fuzz_run`: each damages one file; links lead to ``outside``."""

import contextlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError
from lns.runs.files import seal, unseal

Mutation = Callable[[Path, Path, random.Random], None]
MAX_MEMORY = 600 * 2**20
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


def link(*names: str) -> Mutation:
    """The fault that a link lies in place of a file, or of one of ``names`` beside it."""

    def link(file: Path, outside: Path, chance: random.Random) -> None:
        at = file.with_name(chance.choice((file.name, file.name, *names)))
        target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
        at.unlink(missing_ok=True)
        if chance.random() < 0.3 and (outside / file.name).exists():
            os.link(outside / file.name, at)
        else:
            at.symlink_to(target)

    return link


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


@contextlib.contextmanager
def kept_on_failure(path: Path) -> Iterator[None]:
    """Keep a copy of a damaged folder that a command fails on, without what must not be read."""

    def unreadable(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if path.is_fifo() or (path.is_file() and path.stat().st_size > 2**30)]

    try:
        yield
    except AssertionError:
        kept = Path(tempfile.mkdtemp(prefix="lns-damaged-"))
        shutil.copytree(path, kept / "damaged", symlinks=True, ignore=unreadable)
        print(f"what the command left is kept in {kept}", file=sys.stderr)
        raise


def fuzz_copies(
    recorded: Path,
    count: int,
    seed: int,
    faults: Callable[[random.Random], tuple[str, Sequence[Mutation]]],
    check: Callable[[Path, Path, str, random.Random], str],
) -> Counter[str]:
    """Check ``count`` damaged copies of a folder; how often each outcome came.

    ``faults`` draws the name of a file, and what may befall it. ``check`` gets the copy, a sound one that lies outside
    of it, and what was done.
    """
    chance, outcome, path = random.Random(seed), Counter[str](), recorded.with_name("damaged")
    outside = shutil.copytree(recorded, recorded.with_name("outside"))
    for number in range(count):
        shutil.copytree(recorded, path)
        done = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            name, mutations = faults(chance)
            file, mutation = path / name, chance.choice(mutations)
            if not file.is_symlink() and file.is_file() and file.stat().st_size < 2**28:  # else damaged enough
                mutation(file, outside, chance)
                done.append(f"{mutation.__name__} {name}")
        with kept_on_failure(path):
            outcome[check(path, outside, f"seed {seed}, case {number}: {', '.join(done)}", chance)] += 1
        shutil.rmtree(path)
    return outcome


def run_fuzz(fuzz: Callable[[Path, int, int], Counter[str]]) -> None:
    """Run a fuzz as the command line says: how many cases, and the seed."""
    count, seed = (int(text) for text in (*sys.argv[1:], *("20000", "1")[len(sys.argv) - 1 :]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        outcome = fuzz(Path(temporary), count, seed)
    memory = peak_memory()
    print(f"{count} cases, seed {seed}: {dict(outcome)}; {time.monotonic() - start:.0f} s, {memory / 2**20:.0f} MiB")
    assert memory < MAX_MEMORY
