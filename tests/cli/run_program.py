"""The program as a process of its own, for the tests that send it signals."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
ONE_WORKER = ["--workers", "1", "--seed", "1"]  # options of `lns solve` for a search that is repeated exactly


_WITH_CONSTANTS = """
import json, pkgutil, sys
for name, value in json.loads(sys.argv.pop(1)).items():
    pkgutil.resolve_name(name)
    place, _, constant = name.rpartition(".")
    setattr(pkgutil.resolve_name(place), constant, value)
from lns.cli.main import main
sys.exit(main())
"""


@contextlib.contextmanager
def program(
    *arguments: str, constants: Mapping[str, float] | None = None, **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """`python -m lns` in a process group of its own, which is dead afterwards.

    ``constants`` gives constants of its modules or classes other values, such as shorter waits than a user has.
    """
    start = ["-m", "lns"] if constants is None else ["-c", _WITH_CONSTANTS, json.dumps(constants)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = [sys.executable, *start, *arguments]
    process = subprocess.Popen(words, cwd=ROOT, start_new_session=True, **pipes, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ended(*arguments: str, cwd: Path = ROOT, text: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """Python with these arguments, run to its end; ``text`` on its stdin, and ``more`` in its environment."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
    words = [sys.executable, *arguments]
    return subprocess.run(words, input=text, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def in_shell(command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which the word `lns` is the program, run to its end."""
    line = re.sub(r"\blns ", f"{sys.executable} -m lns ", command, count=1)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come in {seconds:g} s"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
