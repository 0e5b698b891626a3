"""`lns` itself: the overview, and commands that are none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lns.cli.main import COMMANDS, main
from tests.cli.run_program import ROOT


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(f"  {name:<9} {line}" in lines for name, (_, line) in COMMANDS.items())


@pytest.mark.parametrize("arguments", [["solv"], ["solv", "--help"], ["--help", "solv"]])
def test_an_unknown_command_is_refused_also_beside_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err == "lns: unknown command 'solv': did you mean 'solve'?\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_trouble(closed: str) -> None:
    """Status 0, not a traceback or 'the answer is no'."""
    for command in ("params", "exact count like-e2-3x3 --solver rowscan --quiet --json"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m lns {command} {closed}"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0 and done.stderr == "", (command, done.stderr)
