"""Names and paths of a stranger never reach a terminal, a page or a log raw."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.instances.text import escape_controls
from tests.cli.run_program import ROOT
from tests.lns.run_parts import finished_run

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


def test_a_hostile_name_in_a_board_is_escaped(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = json.loads((run_dir / "best.json").read_text())
    for name in (HOSTILE, "\ud800", "x\ny"):
        (tmp_path / "b.json").write_text(json.dumps(best | {"instance": name}))
        for command in ("verify", "show"):
            assert main([command, str(tmp_path / "b.json")]) in (0, 1, 2)
            printed = capsys.readouterr()
            assert raw(printed.out) == [] and raw(printed.err) == []


def test_a_path_that_is_no_utf8_is_shown_replaced(run_dir: Path, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/run\xff"
    shutil.copytree(os.fsencode(run_dir), folder)
    for command in ("status", "report", "collect", "stop", "verify"):
        target = folder + (b"/best.json" if command == "verify" else b"")
        ended = subprocess.run(
            [sys.executable.encode(), b"-m", b"lns", command.encode(), target],
            cwd=ROOT,
            capture_output=True,
            timeout=120,
        )
        assert ended.returncode in (0, 1, 2) and b"Traceback" not in ended.stderr, (command, ended.stderr[-500:])
        (ended.stdout + ended.stderr).decode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\tü", "plain\n\tü"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\r", "\\r"),
    ],
)
def test_controls_are_escaped_and_line_ends_stay(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


@pytest.mark.parametrize("more", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_names_in_utf8_stay_what_they_are_under_an_ascii_locale(more: dict[str, str], tmp_path: Path) -> None:
    name = "R\N{LATIN SMALL LETTER A WITH DIAERESIS}tsel"
    shutil.copy(ROOT / "instances" / "data" / "like-e2-4x4.txt", tmp_path / f"{name}.txt")
    shutil.copy(ROOT / "instances" / "data" / "like-e2-4x4.solution.txt", tmp_path / "board.txt")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONPATH": str(ROOT)} | more

    def said(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "lns", *command], cwd=tmp_path, env=environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    said("convert", f"{name}.txt", f"{name}.json")
    assert json.loads((tmp_path / f"{name}.json").read_text())["name"] == name
    assert json.loads(said("verify", "board.txt", "--puzzle", f"{name}.txt", "--json"))["name"] == name
    said("convert", "board.txt", "best.json", "--puzzle", f"{name}.txt", "--to", "best")
    assert json.loads((tmp_path / "best.json").read_text())["instance"] == f"{name}.txt"
