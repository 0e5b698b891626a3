"""The cache of machine code: its key, damage and full disks, processes that share the work; what numba must do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lns.exact import file_lock
from lns.exact.kernels import cache as kernel_cache
from lns.exact.kernels import jit

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "kernel": '''
"""Kernels."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lns.exact.demo import places
from lns.exact.demo.callee import twice
from lns.exact.demo.constants import FACTOR
from lns.exact.kernels.jit import kernel

if TYPE_CHECKING:
    from lns.exact.demo.pair import Pair


@kernel
def answer(pair: Pair) -> int:
    """Docstring."""
    return FACTOR * twice(pair.first) + places.HERE + pair.second


def report() -> None:
    from lns.exact.demo.pair import Pair

    print(answer(Pair(10, 1)))
''',
    "callee": """
from lns.exact.kernels.jit import inline_kernel

@inline_kernel
def twice(number):
    return 2 * number
""",
    "constants": """
from lns.exact.demo.places import base

FACTOR = base(1)
UNUSED = 1
""",
    "places": """
HERE = 5

def base(number):
    return number

def plain():
    return 1
""",
    "pair": '''
from typing import NamedTuple

class Pair(NamedTuple):
    """Docstring."""
    first: int
    second: int
''',
    "__init__": "",
}
IMPORT = "from lns.exact.kernels.cache import is_compiled; from lns.exact.demo import kernel as k\n"
READY = "print(is_compiled(k.__name__))\n"
SLOW = """
import time, types
from pathlib import Path
from lns.exact.kernels import cache as kernel_cache
from numba.core.dispatcher import _FunctionCompiler
compile, printed = _FunctionCompiler.compile, set()
def say(what):
    if what not in printed:
        printed.add(what)
        print(what, flush=True)
def wait_for(name):
    while not Path(name).exists():
        time.sleep(0.02)
def slowly(self, *args):
    if self.py_func.__name__ == "answer":
        say("compiles")
        wait_for({go!r})
        if {fails}:
            raise RuntimeError
    return compile(self, *args)
_FunctionCompiler.compile = slowly
def sleep(seconds):
    say("waits")
    time.sleep(seconds)
kernel_cache.time = types.SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
kernel_cache._MAX_WAIT_S = {max_wait}
from lns.exact.demo import kernel as k
try:
    k.report()
except RuntimeError:
    say("failed")
    wait_for("end")
"""
FULL = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""  # as on a full disk: this process cannot write more than 64 bytes to a file
READ_ONLY = """
import errno, os, sys, tempfile
from pathlib import Path
def refuse(event, arguments):
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in ("os.mkdir", "os.rename", "os.remove"):
        path = os.path.abspath(str(arguments[0]))
        if any(path.startswith(folder) for folder in {folders!r}) and not path.startswith({but!r}):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
sys.addaudithook(refuse)  # it binds root too
os.environ |= {environment!r}
"""


@dataclass
class Running:
    """A process that imports the demo."""

    process: subprocess.Popen[str]

    def next_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def rest(self) -> list[str]:
        """The words that it prints until it ends."""
        out, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0
        return out.split()


@dataclass
class Demo:
    """A package ``lns.exact.demo`` beside a copy of ``lns.exact.kernels``, in a checkout or installed."""

    root: Path

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    def path(self, module: str) -> Path:
        return self.root / "lns" / "exact" / "demo" / f"{module}.py"

    def edit(self, module: str, old: str, new: str) -> None:
        text = self.path(module).read_text()
        assert old in text
        self.path(module).write_text(text.replace(old, new))

    def start(self, program: str) -> Running:
        """A new process; all such processes share one cache."""
        environment = os.environ | {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("NUMBA_DISABLE_JIT", "PYTHONPATH"):
            environment.pop(name, None)
        command = [sys.executable, "-c", program]
        return Running(subprocess.Popen(command, cwd=self.root, env=environment, stdout=subprocess.PIPE, text=True))

    def slow(self, go: str = "go", *, fails: bool = False, max_wait: float = 300.0, before: str = "") -> Running:
        """A process that prints when it waits and when it compiles. It compiles, or fails, after the signal ``go``."""
        return self.start(before + SLOW.format(go=go, fails=fails, max_wait=max_wait))

    def signal(self, name: str) -> None:
        (self.root / name).touch()

    def answer(self, before: str = "") -> tuple[int, str]:
        """The result and the source key of a kernel in a new process, which runs the program text ``before`` first."""
        program = f"{before}\nfrom lns.exact.kernels.cache import source_key\n{IMPORT}k.report()\n"
        number, key = self.start(f"{program}print(source_key(k.__name__))").rest()
        return int(number), key


@pytest.fixture
def demo(tmp_path: Path, request: pytest.FixtureRequest) -> Demo:
    made = Demo(tmp_path / getattr(request, "param", "checkout"))
    for module in (jit, kernel_cache, file_lock):
        copy = made.root.joinpath(*module.__name__.split(".")).with_suffix(".py")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module.__file__, copy)
    made.path("kernel").parent.mkdir()
    for name, text in FILES.items():
        made.path(name).write_text(text)
    for parent in {path.parent for path in made.root.rglob("*.py")} | {made.root / "lns", made.root / "lns" / "exact"}:
        (parent / "__init__.py").touch()
    return made


# -- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("demo", "module", "old", "new", "expected"),
    [
        ("checkout", "constants", "base(1)", "base(3)", 66),
        ("site-packages", "places", "HERE = 5", "HERE = 7", 28),  # through the module's name
        ("checkout", "places", "return number", "return number + 1", 46),  # a constant that a plain function computes
        ("checkout", "callee", "2 * number", "3 * number", 36),
        ("site-packages", "callee", "2 * number", "3 * number", 36),
        ("checkout", "pair", "first: int\n    second: int", "second: int\n    first: int", 17),  # for annotations alone
    ],
    indirect=["demo"],
)
def test_an_edit_never_leaves_stale_machine_code(module: str, old: str, new: str, expected: int, demo: Demo) -> None:
    assert demo.answer()[0] == 26
    demo.edit(module, old, new)
    assert demo.answer()[0] == expected


def test_an_edit_of_other_python_code_recompiles_nothing(demo: Demo) -> None:
    before = demo.answer()
    demo.edit("constants", "UNUSED = 1", "UNUSED = 2")
    demo.edit("pair", "Docstring", "Words")
    demo.edit("callee", "from lns.exact.kernels.jit", "# A comment.\nfrom lns.exact.kernels.jit")
    demo.edit("kernel", "def report() -> None:\n", 'def report() -> None:\n    print(end="")\n')
    assert demo.answer() == before


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_and_saved_again(suffix: str, demo: Demo) -> None:
    before = demo.answer()
    files = [path for path in demo.cache.rglob(f"*.{suffix}") if "kernel" in path.name]
    assert files
    for content in (b"", b"torn", b"\x80\x04."):
        for path in files:
            path.write_bytes(content)
        assert demo.answer() == before
        assert all(path.read_bytes() != content for path in files)
        written = [path.stat().st_mtime_ns for path in files]
        assert demo.answer() == before
        assert [path.stat().st_mtime_ns for path in files] == written


@pytest.mark.slow
def test_a_module_is_compiled_when_all_its_kernels_are(demo: Demo) -> None:
    text = "\n\n@kernel\ndef second(number: int) -> int:\n    return number + 1\n"
    demo.path("kernel").write_text(demo.path("kernel").read_text() + text)
    program = f"{IMPORT}{READY}k.report()\n{READY}"
    assert demo.start(program).rest() == ["False", "26", "False"]
    assert demo.start(f"{program}k.second(1)\n{READY}").rest() == ["False", "26", "False", "True"]
    demo.edit("kernel", "Docstring", "Words")
    assert demo.start(program).rest() == ["False", "26", "False"]


def test_kernels_run_where_machine_code_cannot_be_written(demo: Demo) -> None:
    assert demo.answer(before=FULL)[0] == 26
    assert not list(demo.cache.rglob("*.nbc"))
    assert demo.answer()[0] == 26


def test_a_warm_cache_is_read_where_it_cannot_be_written(demo: Demo) -> None:
    demo.signal("go")
    assert demo.slow().rest() == ["compiles", "26"]
    before = sorted(demo.cache.rglob("*"))
    elsewhere = {"XDG_CACHE_HOME": str(demo.root / "home"), "TMPDIR": str(demo.root)}
    read_only = READ_ONLY.format(folders=[str(demo.cache)], but="-", environment=elsewhere)
    assert demo.slow(before=read_only).rest() == ["26"]
    assert demo.start(f"{read_only}\n{IMPORT}{READY}").rest() == ["True"]
    assert sorted(demo.cache.rglob("*")) == before
    demo.edit("kernel", "Docstring", "Words")  # what is not in the warm cache goes to the next place
    assert demo.slow(before=read_only).rest() == ["compiles", "26"]
    assert demo.slow(before=read_only).rest() == ["26"]
    assert list((demo.root / "home").rglob("*.nbc")) and sorted(demo.cache.rglob("*")) == before


# -- processes --------------------------------------------------------------------------------------------------------


def test_one_of_several_processes_compiles_and_the_others_wait(demo: Demo) -> None:
    first = demo.slow()
    assert first.next_line() == "compiles"
    others = [demo.slow() for _ in range(2)]
    assert [other.next_line() for other in others] == ["waits"] * 2
    demo.signal("go")
    assert [each.rest() for each in (first, *others)] == [["26"]] * 3  # none of the others prints that it compiles


@pytest.mark.parametrize("ending", ["killed", "too slow", "failed"])
def test_another_process_compiles_when_the_first_does_not_end_it(ending: str, demo: Demo) -> None:
    first = demo.slow(fails=ending == "failed")
    assert first.next_line() == "compiles"
    other = demo.slow(max_wait=0.2 if ending == "too slow" else 300.0)
    assert other.next_line() == "waits"
    if ending == "killed":
        first.process.kill()
        first.process.communicate()
    elif ending == "failed":
        demo.signal("go")
        assert first.next_line() == "failed"
    assert other.next_line() == "compiles"
    demo.signal("go")
    assert other.rest() == ["26"]
    demo.signal("end")
    assert ending == "killed" or first.rest() == ([] if ending == "failed" else ["26"])


# -- directories ------------------------------------------------------------------------------------------------------


def test_a_shared_directory_is_used_only_if_no_other_user_can_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache in the temporary directory that all users share, where no other place can be written."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    find, uid = kernel_cache.cache_base.__wrapped__, os.getuid()
    shared = tmp_path / f"lns-cache-{uid}"
    assert find() == shared and shared.stat().st_mode & 0o777 == 0o700
    with monkeypatch.context() as homeless:
        homeless.delenv("XDG_CACHE_HOME")
        homeless.setattr(kernel_cache.os.path, "expanduser", lambda path: path)
        assert find() == shared
    shared.chmod(0o777)
    assert find() is None
    shared.rmdir()
    (tmp_path / "planted").mkdir(mode=0o700)
    shared.symlink_to(tmp_path / "planted")
    assert find() is None
    shared.unlink()
    (tmp_path / f"lns-cache-{uid + 1}").mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert find() is None


# -- numba ------------------------------------------------------------------------------------------------------------


def test_the_cap_of_the_version_covers_what_is_installed_and_locked() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [allowed] = [each.specifier for each in map(Requirement, dependencies) if each.name == "numba"]
    assert {each.operator for each in allowed} == {">=", "<"}
    [locked] = re.findall(r"^numba==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert version("numba") in allowed and locked in allowed
