"""Machine code on disk: an edit of anything that decides it compiles it again, an edit of anything else does not."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lns_support import file_lock, jit

KERNEL = '''
"""Kernels."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exact.demo import places
from exact.demo.callee import twice
from exact.demo.constants import FACTOR
from lns_support.jit import kernel

if TYPE_CHECKING:
    from exact.demo.pair import Pair


@kernel
def answer(pair: Pair) -> int:
    """Docstring."""
    return FACTOR * twice(pair.first) + places.HERE + pair.second


def report() -> None:
    from exact.demo.pair import Pair

    print(answer(Pair(10, 1)))
'''
CALLEE = """
from lns_support.jit import inline_kernel

@inline_kernel
def twice(number):
    return 2 * number
"""
CONSTANTS = """
from exact.demo.places import base

FACTOR = base(1)
UNUSED = 1
"""
PLACES = """
HERE = 5

def base(number):
    return number

def plain():
    return 1
"""
PAIR = '''
from typing import NamedTuple

class Pair(NamedTuple):
    """Docstring."""
    first: int
    second: int
'''
FILES = {"kernel": KERNEL, "callee": CALLEE, "constants": CONSTANTS, "places": PLACES, "pair": PAIR, "__init__": ""}


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The folder of a package ``exact.demo`` beside a copy of ``lns_support.jit``."""
    folder = tmp_path / "exact" / "demo"
    folder.mkdir(parents=True)
    (tmp_path / "exact" / "__init__.py").touch()
    support = tmp_path / "lns_support"
    support.mkdir()
    (support / "__init__.py").touch()
    for module in (jit, file_lock):
        shutil.copy(module.__file__, support)
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def process(demo: Path, program: str) -> subprocess.Popen[str]:
    """A new process that sees that package; all have one cache."""
    root = demo.parent.parent
    environment = os.environ | {"NUMBA_CACHE_DIR": str(root / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("NUMBA_DISABLE_JIT", "PYTHONPATH"):
        environment.pop(name, None)
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    )


def told(running: subprocess.Popen[str]) -> list[str]:
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    return out.split()


def answer(demo: Path, before: str = "") -> tuple[int, str]:
    """What a new process answers, and the key of its machine code. ``before``: what it does first."""
    program = (
        "from lns_support import jit; from exact.demo import kernel as k; k.report(); print(jit.source_key(k.__name__))"
    )
    number, key = told(process(demo, before + program))
    return int(number), key


@pytest.mark.parametrize(
    ("module", "old", "new", "expected"),
    [
        ("constants", "base(1)", "base(3)", 66),
        ("places", "HERE = 5", "HERE = 7", 28),  # through the module's name
        ("places", "return number", "return number + 1", 46),  # a constant that a plain function computes
        ("callee", "2 * number", "3 * number", 36),
        ("pair", "first: int\n    second: int", "second: int\n    first: int", 17),  # imported for annotations alone
    ],
)
def test_an_edit_never_runs_stale_code(module: str, old: str, new: str, expected: int, demo: Path) -> None:
    assert answer(demo)[0] == 26
    path = demo / f"{module}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert answer(demo)[0] == expected


@pytest.mark.parametrize("content", [b"", b"torn", b"\x80\x04."])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_garbled_machine_code_is_compiled_again(suffix: str, content: bytes, demo: Path) -> None:
    """Once: then it is on disk again."""
    before = answer(demo)
    files = [path for path in (demo.parent.parent / "cache").rglob(f"*.{suffix}") if "kernel" in path.name]
    assert files
    for path in files:
        path.write_bytes(content)
    assert answer(demo) == before
    assert all(path.read_bytes() != content for path in files)
    written = [path.stat().st_mtime_ns for path in files]
    assert answer(demo) == before
    assert [path.stat().st_mtime_ns for path in files] == written


FULL = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""  # as on a full disk: files of this process have no room beyond some bytes
limits = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs limits of a process")


@limits
def test_machine_code_that_cannot_be_written_is_done_without(demo: Path) -> None:
    assert answer(demo, before=FULL)[0] == 26
    assert not list((demo.parent.parent / "cache").rglob("*.nbc"))
    assert answer(demo)[0] == 26


SLOW = """
import time, types
from pathlib import Path
from lns_support import jit
from numba.core.dispatcher import _FunctionCompiler
compile, said = _FunctionCompiler.compile, set()
def say(what):
    if what not in said:
        said.add(what)
        print(what, flush=True)
def until(name):
    while not Path(name).exists():
        time.sleep(0.02)
def slowly(self, *args):
    if self.py_func.__name__ == "answer":
        say("compiles")
        until({go!r})
        if {fails}:
            raise RuntimeError
    return compile(self, *args)
_FunctionCompiler.compile = slowly
jit.time = types.SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: (say("waits"), time.sleep(seconds)))
jit._PATIENCE_S = {patience}
from exact.demo import kernel as k
try:
    k.report()
except RuntimeError:
    say("failed")
    until("end")
"""
locks = pytest.mark.skipif(importlib.util.find_spec("fcntl") is None, reason="needs locks on files")


def slow(
    demo: Path, *, go: str = "go", fails: bool = False, patience: float = 300.0, before: str = ""
) -> subprocess.Popen[str]:
    """A process that says when it waits, and when it compiles; that lasts until `let` ``go``, or fails then."""
    return process(demo, before + SLOW.format(go=go, fails=fails, patience=patience))


def said(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


def let(demo: Path, name: str) -> None:
    (demo.parent.parent / name).touch()


@locks
def test_of_several_processes_one_compiles(demo: Path) -> None:
    first = slow(demo)
    assert said(first) == "compiles"
    others = [slow(demo) for _ in range(2)]
    assert [said(one) for one in others] == ["waits"] * 2
    let(demo, "go")
    assert [told(one) for one in (first, *others)] == [["26"]] * 3  # none of the others says that it compiles


@locks
@limits
def test_where_no_machine_code_can_be_kept_those_who_waited_compile_side_by_side(demo: Path) -> None:
    first = slow(demo, before=FULL)
    assert said(first) == "compiles"
    others = [slow(demo, go="go on", before=FULL) for _ in range(2)]
    assert [said(one) for one in others] == ["waits"] * 2
    let(demo, "go")
    assert [said(one) for one in others] == ["compiles"] * 2
    let(demo, "go on")
    assert [told(one) for one in (first, *others)] == [["26"]] * 3


@locks
def test_a_process_that_is_killed_while_it_compiles_keeps_nobody_waiting(demo: Path) -> None:
    first = slow(demo)
    assert said(first) == "compiles"
    other = slow(demo)
    assert said(other) == "waits"
    first.kill()
    first.communicate()
    assert said(other) == "compiles"
    let(demo, "go")
    assert told(other) == ["26"]


@locks
def test_a_process_that_fails_to_compile_keeps_nobody_waiting(demo: Path) -> None:
    first = slow(demo, fails=True)
    let(demo, "go")
    assert [said(first), said(first)] == ["compiles", "failed"]
    assert told(slow(demo)) == ["compiles", "26"]
    let(demo, "end")
    assert told(first) == []


@locks
def test_patience_ends(demo: Path) -> None:
    first = slow(demo)
    assert said(first) == "compiles"
    other = slow(demo, patience=0.2)
    assert [said(other), said(other)] == ["waits", "compiles"]  # while the first has not ended
    let(demo, "go")
    assert [told(first), told(other)] == [["26"], ["26"]]


def test_without_locks_every_process_compiles_for_itself(demo: Path) -> None:
    let(demo, "go")
    without = "import sys; sys.modules['fcntl'] = None\n"
    assert told(slow(demo, before=without)) == ["compiles", "26"]
    assert told(slow(demo, before=without)) == ["26"]


def test_an_edit_of_ordinary_python_compiles_nothing_again(demo: Path) -> None:
    before = answer(demo)
    for module, old, new in (
        ("constants", "UNUSED = 1", "UNUSED = 2"),
        ("pair", "Docstring", "Words"),
        ("callee", "from lns_support.jit", "# A comment.\nfrom lns_support.jit"),
        ("kernel", "def report() -> None:\n", 'def report() -> None:\n    print(end="")\n'),
    ):
        path = demo / f"{module}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    assert answer(demo) == before


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory of all users, where no other place can be written."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / f"lns-cache-{os.getuid()}"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_a_shared_place_is_used_only_if_nobody_else_can_have_put_code_there(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = jit.cache_base.__wrapped__
    assert find() == shared and shared.stat().st_mode & 0o777 == 0o700
    shared.chmod(0o777)
    assert find() is None
    shared.rmdir()
    (shared.parent / "planted").mkdir(mode=0o700)
    shared.symlink_to(shared.parent / "planted")
    assert find() is None
    shared.unlink()
    shared.mkdir(mode=0o700)
    uid = os.getuid()
    shared.rename(shared.parent / f"lns-cache-{uid + 1}")
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert find() is None


def test_a_user_without_a_home_has_a_place_too(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(jit.os.path, "expanduser", lambda path: path)
    assert jit.cache_base.__wrapped__() == shared
