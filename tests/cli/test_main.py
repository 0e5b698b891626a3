"""`lns` itself: the overview, commands that are none, streams and signals, workers that cannot start, hostile names."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from lns.cli.main import commands, main
from lns.instances.board import Board
from lns.instances.formats import write
from lns.instances.text import escape_controls
from tests.cli.conftest import Typed
from tests.cli.run_program import ROOT, ended, in_shell
from tests.instances.small_puzzles import planted
from tests.lns.run_parts import finished_run


def test_the_overview_names_every_command(typed: Typed) -> None:
    lines = typed("--help").out.splitlines()
    assert all(len(line) <= 80 for line in lines) and {"daily:", "boards:", "runs:", "research:"} <= {*lines}
    jobs = typed("exact --help").out.splitlines()
    for name, (_, line) in commands().items():
        family, _, job = name.rpartition(" ")
        assert f"  {job:<10} {line}" in jobs if family else f"  {job:<9} {line}" in lines


def test_help_shows_what_users_set_and_help_all_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for option in ("--help", "--help-all"):
        with pytest.raises(SystemExit):
            main(["exact", "count", option])
        shown[option] = capsys.readouterr().out
    assert "--solver NAME" in shown["--help"] and "--help-all" in shown["--help"] and "--cycles" not in shown["--help"]
    assert "--solver NAME" in shown["--help-all"] and "--cycles" in shown["--help-all"]


def test_an_import_that_ctrl_c_breaks_is_an_interruption(capsys: pytest.CaptureFixture[str]) -> None:
    """A C extension that is loaded meanwhile raises ImportError from the KeyboardInterrupt."""
    broken = ImportError("initialization failed")
    broken.__cause__ = KeyboardInterrupt()
    with mock.patch("lns.cli.main._dispatch", side_effect=broken):
        assert main(["instances"]) == 130
    assert capsys.readouterr().err == ""


def test_a_closed_stdout_never_gives_status_0(tmp_path: Path) -> None:
    """Status 141, as when SIGPIPE ends a tool; a no that is known stays one; and not a word on stderr."""
    puzzle, board = planted(21, 4, 4, 5)
    good, bad = str(tmp_path / "good.json"), str(tmp_path / "bad.json")
    write(good, "best", puzzle, board)
    write(bad, "best", puzzle, Board(np.roll(board.placements, 1), 4, 4))  # a side of the rim has no grey
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for arguments, status in (
        (["verify", bad], 1),
        (["verify", good], 141),
        (["verify", bad, "--json"], 141),
        (["show", "like-e2-16x16"], 141),
        (["params"], 141),  # more than a buffer holds
        (["--help"], 141),
        (["solve", "--help"], 141),
    ):
        unread, output = os.pipe()
        os.close(unread)
        command = [sys.executable, "-m", "lns", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.PIPE, text=True)
        os.close(output)
        assert (done.returncode, done.stderr) == (status, ""), arguments


def test_an_interrupt_while_numpy_is_imported_gives_status_130(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = ended("-m", "lns", "solve", "like-e2-3x3", "--run-dir", str(tmp_path / "run"), PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["exact triples p.json b.json", "exact solvers"])
def test_an_interrupted_command_without_an_answer_says_so(
    command: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    for name in ("lns.cli.exact_pieces.load_puzzle", "lns.cli.exact.all_solvers"):
        monkeypatch.setattr(name, lambda *_: signal.raise_signal(number))
    assert typed(command, 130) == ("", "lns: interrupted\n")


@pytest.mark.parametrize(
    ("command", "streams", "status"),
    [("verify nofile", "2> /dev/full", 2), ("exact solve like-e2-3x3 --solver rowscan", "2> /dev/full", 0),
     ("params", ">&-", 0), ("params --json", ">&- 2>&-", 0),
     ("exact decode - like-e2-3x3 --encoding half-2", "<&-", 2)],
)  # fmt: skip
def test_full_and_closed_streams_change_no_status(command: str, streams: str, status: int) -> None:
    done = in_shell(f"lns {command} {streams}")
    said = done.stderr == "" if streams != "<&-" else "there is no model" in done.stderr
    assert done.returncode == status and said and bool(done.stdout) == command.startswith("exact solve")


@pytest.mark.parametrize(
    ("error", "status"), [(ZeroDivisionError("x"), 70), (AssertionError("x"), 70), (MemoryError(), 2)]
)
def test_a_fault_is_neither_done_nor_a_no(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.setattr("lns.cli.main._dispatch", mock.Mock(side_effect=error))
    said = typed("show like-e2-4x4", status).err
    assert ("Traceback" in said) == (status == 70)
    assert status == 70 or said == "lns: not enough memory; expected a smaller puzzle, or more memory\n"


@pytest.mark.parametrize(("limit_kb", "status"), [(400_000, 2), (900_000, 0)])
def test_too_little_memory_is_a_sentence(limit_kb: int, status: int) -> None:
    """Neither a hang in the threads of OpenBLAS, nor LLVM's errors, nor a status that means no."""
    done = in_shell(f"ulimit -v {limit_kb}; exec lns exact solve like-e2-4x4 --solver blocks")
    assert done.returncode == status and "Traceback" not in done.stderr
    assert status == 0 or "than the limit of 409 MB (ulimit -v), at least 800 MB" in done.stderr


SCRIPT = "import lns\nif __name__ == '__main__':\n    lns.solve('like-e2-4x4', time=2, workers=2, run_dir='run')\n"
READ_ONLY_SHM = """
import errno, os, sys
def refuse(event, arguments):
    if event == "open" and str(arguments[0]).startswith("/dev/shm") and arguments[2] & (os.O_RDWR | os.O_CREAT):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), arguments[0])
sys.addaudithook(refuse)  # it binds root too
"""


def test_a_script_from_stdin_is_told_that_workers_import_it(tmp_path: Path) -> None:
    failed = ended("-", cwd=tmp_path, text=SCRIPT)
    assert failed.returncode == 1 and failed.stderr.count("Traceback") == 1, "that of the script, none of a worker"
    last = failed.stderr.splitlines()[-1]
    assert "<stdin>: worker processes import the script" in last and "expected it in a file" in last
    assert not list(tmp_path.iterdir())


def test_shared_memory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        READ_ONLY_SHM + "from lns.cli.main import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    failed = ended("script.py", *["solve", "like-e2-4x4", "--time", "2", "--run-dir", "run", "--quiet"], cwd=tmp_path)
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1, failed.stderr
    assert "/dev/shm" in failed.stderr and "worker processes have no shared memory (Read-only" in failed.stderr
    assert list(tmp_path.iterdir()) == [script], "no run is left"


HOSTILE = "a\x1b]0;owned\x07\x1b[31m\u202eb\u2066c\x9bd"  # title, colour, bidirectional marks, a C1 control


def raw(text: str) -> list[str]:
    """Characters that a terminal would act on, and lone surrogates."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def hostile(run_dir: Path, tmp_path: Path) -> Path:
    """A folder of a hostile name that holds a run, its best board and its puzzle."""
    folder = tmp_path / HOSTILE
    folder.mkdir()
    shutil.copytree(run_dir, folder / "run")
    shutil.copy(run_dir / "instance.json", folder / "p.json")
    shutil.copy(run_dir / "best.json", folder / "b.json")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "status {d}/run", "status {d}", "collect {d}/run", "collect {d}", "report {d}/run", "stop {d}/run",
        "watch {d}/run", "verify {d}/b.json", "verify {d}/missing.json", "show {d}/b.json --colour never",
        "show {d}/b.json --svg {d}/b.svg --force", "convert {d}/b.json {d}/b.url", "convert {d}/missing.json {d}/b.url",
        "generate uniform --width 3 --colours 3 -o {d}/new.json", "exact count {d}/p.json --nodes 1000",
        "exact isomorphic {d}/p.json", "exact polyomino {d}/missing.txt", "improve {d}/b.json --cells 0 --nodes 100",
        "resume {d}/run --steps 1 --stats", "resume {d}/missing", "solve {d}/missing.txt", "params {d}",
        "estimate {d}/missing.txt", "tune {d}/p.json --study {d}/study --report", "{d}",
    ],
)  # fmt: skip
def test_no_command_prints_a_hostile_path_raw(command: str, hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([argument.replace("{d}", str(hostile)) for argument in command.split()])
    printed = capsys.readouterr()
    assert status in (0, 1, 2)
    assert raw(printed.out) == [] and raw(printed.err) == [], (printed.out[:300], printed.err[:300])


def test_controls_are_escaped_and_line_ends_stay() -> None:
    assert escape_controls("plain\n\tü\x1b[31m\u202e\ud800\r") == "plain\n\tü\\x1b[31m\\u202e\\ud800\\r"


@pytest.mark.parametrize("more", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_names_in_utf8_stay_what_they_are_under_an_ascii_locale(more: dict[str, str], tmp_path: Path) -> None:
    name = "R\N{LATIN SMALL LETTER A WITH DIAERESIS}tsel"
    shutil.copy(ROOT / "instances" / "data" / "like-e2-4x4.txt", tmp_path / f"{name}.txt")
    shutil.copy(ROOT / "instances" / "data" / "like-e2-4x4.solution.txt", tmp_path / "board.txt")

    def said(*command: str) -> str:
        done = ended("-m", "lns", *command, cwd=tmp_path, **({"LC_ALL": "C"} | more))
        assert done.returncode == 0, done.stderr
        return done.stdout

    said("convert", f"{name}.txt", f"{name}.json")
    assert json.loads((tmp_path / f"{name}.json").read_text())["name"] == name
    assert json.loads(said("verify", "board.txt", "--puzzle", f"{name}.txt", "--json"))["name"] == name
    said("convert", "board.txt", "best.json", "--puzzle", f"{name}.txt", "--to", "best")
    assert json.loads((tmp_path / "best.json").read_text())["instance"] == f"{name}.txt"
