"""The cache of machine code: it survives damage and full disks, and processes share the work."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from lns.exact.kernels import cache as kernel_cache
from tests.support.demo_package import answer, output, process


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_and_saved_again(suffix: str, demo: Path) -> None:
    before = answer(demo)
    files = [path for path in (demo.parents[2] / "cache").rglob(f"*.{suffix}") if "kernel" in path.name]
    assert files
    for content in (b"", b"torn", b"\x80\x04."):
        for path in files:
            path.write_bytes(content)
        assert answer(demo) == before
        assert all(path.read_bytes() != content for path in files)
        written = [path.stat().st_mtime_ns for path in files]
        assert answer(demo) == before
        assert [path.stat().st_mtime_ns for path in files] == written


SECOND = '''

@kernel
def second(number: int) -> int:
    """Docstring."""
    return number + 1
'''


@pytest.mark.slow
def test_a_module_is_compiled_when_all_its_kernels_are(demo: Path) -> None:
    path = demo / "kernel.py"
    path.write_text(path.read_text() + SECOND)
    ready = "print(is_compiled(k.__name__)); "
    imports = "from lns.exact.kernels.cache import is_compiled; from lns.exact.demo import kernel as k; "
    program = f"{imports}{ready}k.report(); {ready}"
    assert output(process(demo, program)) == ["False", "26", "False"]
    assert output(process(demo, f"{program}k.second(1); {ready}")) == ["False", "26", "False", "True"]
    path.write_text(path.read_text() + "# another line\n")
    assert output(process(demo, program)) == ["False", "26", "False"]


FULL = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""  # as on a full disk: this process cannot write more than 64 bytes to a file
limits = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs resource limits")


@limits
def test_kernels_run_where_machine_code_cannot_be_written(demo: Path) -> None:
    assert answer(demo, before=FULL)[0] == 26
    assert not list((demo.parents[2] / "cache").rglob("*.nbc"))
    assert answer(demo)[0] == 26


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
locks = pytest.mark.skipif(importlib.util.find_spec("fcntl") is None, reason="needs locks on files")


def slow(
    demo: Path, *, go: str = "go", fails: bool = False, max_wait: float = 300.0, before: str = ""
) -> subprocess.Popen[str]:
    """A process that prints when it waits and when it compiles. It compiles, or fails, after `signal` ``go``."""
    return process(demo, before + SLOW.format(go=go, fails=fails, max_wait=max_wait))


def next_line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


def signal(demo: Path, name: str) -> None:
    (demo.parents[2] / name).touch()


@locks
def test_one_of_several_processes_compiles_and_the_others_wait(demo: Path) -> None:
    first = slow(demo)
    assert next_line(first) == "compiles"
    others = [slow(demo) for _ in range(2)]
    assert [next_line(each) for each in others] == ["waits"] * 2
    signal(demo, "go")
    assert [output(each) for each in (first, *others)] == [["26"]] * 3  # none of the others prints that it compiles


@locks
@limits
def test_waiting_processes_compile_at_once_where_machine_code_cannot_be_written(demo: Path) -> None:
    first = slow(demo, before=FULL)
    assert next_line(first) == "compiles"
    others = [slow(demo, go="go on", before=FULL) for _ in range(2)]
    assert [next_line(each) for each in others] == ["waits"] * 2
    signal(demo, "go")
    assert [next_line(each) for each in others] == ["compiles"] * 2
    signal(demo, "go on")
    assert [output(each) for each in (first, *others)] == [["26"]] * 3


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


def test_a_warm_cache_is_read_where_it_cannot_be_written(demo: Path) -> None:
    root = demo.parents[2]
    signal(demo, "go")
    assert output(slow(demo)) == ["compiles", "26"]
    before = sorted((root / "cache").rglob("*"))
    elsewhere = {"XDG_CACHE_HOME": str(root / "home"), "TMPDIR": str(root)}
    read_only = READ_ONLY.format(folders=[str(root / "cache")], but="-", environment=elsewhere)
    assert output(slow(demo, before=read_only)) == ["26"]
    program = "from lns.exact.kernels.cache import is_compiled; from lns.exact.demo import kernel as k; "
    assert output(process(demo, f"{read_only}\n{program}print(is_compiled(k.__name__))")) == ["True"]
    assert sorted((root / "cache").rglob("*")) == before
    path = demo / "kernel.py"
    path.write_text(path.read_text() + "# another line\n")  # what is not in the warm cache goes to the next place
    assert output(slow(demo, before=read_only)) == ["compiles", "26"]
    assert output(slow(demo, before=read_only)) == ["26"]
    assert list((root / "home").rglob("*.nbc")) and sorted((root / "cache").rglob("*")) == before


def test_nothing_is_left_in_the_working_directory_where_nothing_else_can_be_written(demo: Path) -> None:
    """Python's last resort for temporary files is the working directory."""
    root = demo.parents[2]
    signal(demo, "go")
    before = sorted(root.iterdir())
    environment = {"NUMBA_CACHE_DIR": "/nowhere/1", "XDG_CACHE_HOME": "/nowhere/2"}
    read_only = READ_ONLY.format(folders=["/"], but=str(root), environment=environment)
    for _ in range(2):
        assert output(slow(demo, before=read_only)) == ["compiles", "26"]
    assert sorted(root.iterdir()) == before
    assert output(slow(demo, before=read_only.replace(repr(str(root)), "'/nowhere/3'"))) == ["compiles", "26"]


@locks
def test_a_process_that_is_killed_while_it_compiles_releases_the_lock(demo: Path) -> None:
    first = slow(demo)
    assert next_line(first) == "compiles"
    other = slow(demo)
    assert next_line(other) == "waits"
    first.kill()
    first.communicate()
    assert next_line(other) == "compiles"
    signal(demo, "go")
    assert output(other) == ["26"]


@locks
def test_a_process_that_fails_to_compile_releases_the_lock(demo: Path) -> None:
    first = slow(demo, fails=True)
    signal(demo, "go")
    assert [next_line(first), next_line(first)] == ["compiles", "failed"]
    assert output(slow(demo)) == ["compiles", "26"]
    signal(demo, "end")
    assert output(first) == []


@locks
def test_a_process_waits_no_longer_than_the_limit(demo: Path) -> None:
    first = slow(demo)
    assert next_line(first) == "compiles"
    other = slow(demo, max_wait=0.2)
    assert [next_line(other), next_line(other)] == ["waits", "compiles"]  # although the first has not ended
    signal(demo, "go")
    assert [output(first), output(other)] == [["26"], ["26"]]


def test_every_process_compiles_for_itself_where_the_system_has_no_locks(demo: Path) -> None:
    signal(demo, "go")
    without = "import sys; sys.modules['fcntl'] = None\n"
    assert output(slow(demo, before=without)) == ["compiles", "26"]
    assert output(slow(demo, before=without)) == ["26"]


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache in the temporary directory that all users share, on a system where no other place can be written."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path / f"lns-cache-{os.getuid()}"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_a_shared_directory_is_used_only_if_no_other_user_can_write_it(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = kernel_cache.cache_base.__wrapped__
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


def test_a_user_without_a_home_directory_has_a_cache(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(kernel_cache.os.path, "expanduser", lambda path: path)
    assert kernel_cache.cache_base.__wrapped__() == shared


def test_kernels_that_another_checkout_compiles_are_not_counted(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_base", lambda: shared)
    own, other = kernel_cache.checkout_cache(), shared / "0123456789abcdef"
    assert own is not None and own.parent == shared
    for folder in (own / "key", other / "key"):
        folder.mkdir(parents=True)
    assert kernel_cache.saved_kernels() == 0
    (other / "key" / "kernel.nbi").touch()
    assert kernel_cache.saved_kernels() == 0
    (own / "key" / "kernel.nbi").touch()
    assert kernel_cache.saved_kernels() == 1
    monkeypatch.setattr(kernel_cache, "ROOT", Path("/elsewhere"))
    assert kernel_cache.saved_kernels() == 0
