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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lns.runs.checkpoint import MAX_BYTES
from lns.runs.files import is_sealed, seal

MAX_MEMORY = 600 * 2**20
Mutation = Callable[[Path, Path, random.Random], None]
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
        sealed = is_sealed(lines[at])
        record = json.loads(lines[at])
        if isinstance(record, dict) and record:
            record.pop("sum" if sealed else "", None)
            replace_value(record, chance)
            lines[at] = seal(record) if sealed else json.dumps(record)
    file.write_text("\n".join(lines))


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


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """What is in a folder, without its report.html: kinds, sizes, times and inodes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.iterdir():
        status = path.lstat()
        found[path.name] = status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino
    found.pop("report.html", None)
    return found


def link(file: Path, outside: Path, chance: random.Random, others: Sequence[str]) -> None:
    """A link in place of the file, or of another name beside it."""
    name = chance.choice((file.name, file.name, *others))
    target = chance.choice((outside / file.name, outside / "absent", Path("/dev/zero"), Path("/proc/kmsg"), file))
    at = file.with_name(name)
    at.unlink(missing_ok=True)
    if chance.random() < 0.3 and (outside / file.name).exists():
        os.link(outside / file.name, at)
    else:
        at.symlink_to(target)


def damage(
    files: Sequence[Path], outside: Path, chance: random.Random, mutations_of: Callable[[Path], Sequence[Mutation]],
    faults: int | None = None,
) -> str:  # fmt: skip
    """Damage some of the files, by one to three ``faults``; what was done."""
    done = []
    for _ in range(faults or chance.choice((1, 1, 1, 2, 3))):
        file = chance.choice(files)
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_BYTES:
            continue  # damaged enough
        mutation = chance.choice(mutations_of(file))
        mutation(file, outside, chance)
        done.append(f"{mutation.__name__} {file.name}")
    return ", ".join(done)


def fuzz_copies(
    recorded: Path, count: int, seed: int, ask: Callable[[Path, Path, random.Random, str], str]
) -> Counter[str]:
    """Ask ``count`` copies of a folder; the outcomes by kind. What fails an assertion is kept.

    ``ask`` damages and checks the copy; it is given the copy, another one that stays as it is, and words for messages.
    """
    chance, outcome = random.Random(seed), Counter[str]()
    path, outside = recorded.with_name("damaged"), shutil.copytree(recorded, recorded.with_name("outside"))
    for number in range(count):
        shutil.copytree(recorded, path)
        try:
            outcome[ask(path, outside, chance, f"seed {seed}, copy {number}")] += 1
        except AssertionError:
            kept = Path(tempfile.mkdtemp(prefix="lns-fuzz-"))
            shutil.copytree(path, kept / "damaged", symlinks=True, ignore=_no_device)
            print(f"the folder, as the command left it, is kept in {kept}", file=sys.stderr)
            raise
        shutil.rmtree(path)
    return outcome


def _no_device(folder: str, names: list[str]) -> list[str]:
    """Files that must not be read: pipes, and files of many gigabytes without content."""
    paths = [Path(folder, name) for name in names]
    return [path.name for path in paths if path.is_fifo() or (path.is_file() and path.stat().st_size > MAX_BYTES)]


def fuzz_program(fuzz: Callable[[Path, int, int], Counter[str]], what: str) -> None:
    """The program of a module: COUNT and SEED behind its name."""
    count, seed = (int(text) for text in (*sys.argv[1:], *("20000", "1")[len(sys.argv) - 1 :]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        outcome = fuzz(Path(temporary), count, seed)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    spent = f"{time.monotonic() - start:.0f} s, {memory / 2**20:.0f} MiB"
    print(f"{count} damaged {what}, seed {seed}: {dict(outcome)}; {spent}")
    assert memory < MAX_MEMORY
