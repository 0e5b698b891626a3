"""What keeps worker processes from starting is found before the search, and said in one sentence with a way out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "import lns\nif __name__ == '__main__':\n    lns.solve('like-e2-4x4', time=2, workers=2, run_dir='run')\n"
READ_ONLY_SHM = """
import errno, os, sys
def refuse(event, arguments):
    if event == "open" and str(arguments[0]).startswith("/dev/shm") and arguments[2] & (os.O_RDWR | os.O_CREAT):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), arguments[0])
sys.addaudithook(refuse)  # it binds root too
"""


def ended(folder: Path, *command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], input=text, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_a_script_from_stdin_is_told_that_workers_import_it(tmp_path: Path) -> None:
    failed = ended(tmp_path, "-", text=SCRIPT)
    assert failed.returncode == 1 and failed.stderr.count("Traceback") == 1, "that of the script, none of a worker"
    last = failed.stderr.splitlines()[-1]
    assert "<stdin>: worker processes import the script" in last and "expected it in a file" in last
    assert not list(tmp_path.iterdir())


def test_shared_memory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        READ_ONLY_SHM + "from lns.cli.main import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    failed = ended(tmp_path, "script.py", "solve", "like-e2-4x4", "--time", "2", "--run-dir", "run", "--quiet")
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1, failed.stderr
    assert "/dev/shm" in failed.stderr and "worker processes have no shared memory (Read-only" in failed.stderr
    assert list(tmp_path.iterdir()) == [script], "no run is left"
