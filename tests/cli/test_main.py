"""`lns` itself: the overview, and commands that are none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lns.cli.main import commands, main
from lns.instances.board import Board
from lns.instances.formats import write
from tests.cli.conftest import Typed
from tests.cli.run_program import ROOT
from tests.instances.small_puzzles import planted


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        *((words, "unknown command 'solv': did you mean 'solve'?") for words in ("solv", "solv --help", "--help solv")),
        ("view b.json", "unknown command 'view': did you mean 'show'?"),
        ("count p.json", "unknown command 'count': did you mean 'exact count'?"),
        ("exact tray", "unknown job 'tray': did you mean 'polyomino'?"),
        ("exact", "expected a job of exact: count, solve, "),
        ("solve p.json --timeout 9", "unrecognized arguments: --timeout 9: did you mean '--time'? (see 'lns solve"),
        ("solve p.json --tagret 9", "did you mean '--target'?"),
        ("exact count p.json --sovler x", "did you mean '--solver'?"),
        ("solve p.json --zzz", "unrecognized arguments: --zzz (see 'lns solve --help')"),
    ],
)
def test_what_was_meant_is_said(arguments: str, sentence: str, typed: Typed) -> None:
    assert sentence in typed.refused(arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--nosuch", "'--nosuch'; expected a command first (see 'lns --help')"),
        ("--help --nosuch", "'--nosuch'; expected a command first (see 'lns --help')"),
        (
            "--json verify b",
            "'--json' before 'verify'; options of a command belong behind it (see 'lns verify --help",
        ),
        (
            "--time 60 solve p",
            "'--time' before 'solve'; options of a command belong behind it (see 'lns solve --help",
        ),
        ("exact --json count", "'--json' before 'count'; options of a job belong behind it (see 'lns exact count --he"),
    ],
)
def test_an_option_before_the_command_is_named(arguments: str, expected: str, typed: Typed) -> None:
    assert f"unknown option {expected}" in typed.refused(arguments)


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
    command = [sys.executable, "-m", "lns", "solve", "like-e2-3x3", "--run-dir", str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
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
    ("command", "status"),
    [
        ("verify nofile", 2),
        ("verify like-e2-3x3 --puzzle like-e2-3x3", 2),
        ("show {board}", 0),
        ("exact compare like-e2-3x3 --solvers rowscan", 0),
        ("exact solve like-e2-3x3 --solver rowscan", 0),
    ],
)
def test_a_full_stderr_changes_no_status(command: str, status: int, tmp_path: Path) -> None:
    puzzle, board = planted(21, 4, 4, 5)
    write(tmp_path / "board.url", "url", puzzle, board)
    script = f"{sys.executable} -m lns {command.format(board=tmp_path / 'board.url')} 2> /dev/full"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == status and bool(done.stdout) == (status == 0)


def test_a_closed_stdin_is_an_empty_one() -> None:
    command = f"{sys.executable} -m lns exact decode - like-e2-3x3 --encoding half-2 <&-"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no model" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_errors(closed: str) -> None:
    """Status 0, not a traceback or 'the answer is no'."""
    for command in ("params", "exact count like-e2-3x3 --solver rowscan --quiet --json"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m lns {command} {closed}"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0 and done.stderr == "", (command, done.stderr)


@pytest.mark.parametrize(
    ("error", "status"), [(ZeroDivisionError("x"), 70), (AssertionError("x"), 70), (MemoryError(), 2)]
)
def test_a_fault_is_neither_done_nor_a_no(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    def fail(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr("lns.cli.main._dispatch", fail)
    said = typed("show like-e2-4x4", status).err
    assert ("Traceback" in said) == (status == 70)
    assert status == 70 or said == "lns: not enough memory; expected a smaller puzzle, or more memory\n"


def test_too_little_memory_is_a_sentence() -> None:
    """Neither a hang in the threads of OpenBLAS nor a status that means no."""
    limit_kb = 400_000
    command = f"ulimit -v {limit_kb}; exec {sys.executable} -m lns exact solve like-e2-4x4 --solver blocks"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=100.0)
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr
    assert done.returncode == 0 or f"the limit of {limit_kb * 1024 // 10**6} MB" in done.stderr
