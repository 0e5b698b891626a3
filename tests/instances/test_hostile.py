"""Malformed input: hundreds of files, names and URLs through the command line.

Each must end with exit status 2 and one sentence that names the source (and the line, where there is one) and what was
expected; never a traceback, nothing written.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lns.cli.main import main
from lns.instances.formats import viewer_url
from tests.instances.hostile_files import TEXTS, URL, Case, cases
from tests.instances.small_puzzles import planted

CASES = list(cases())


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "p.json"
    path.write_text(TEXTS["json"])
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_malformed_input_is_refused_with_one_sentence(
    case: Case, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(case.content, bytes):
        source = str(tmp_path / "hostile.txt")
        Path(source).write_bytes(case.content)
        named = "hostile.txt"
    else:
        source = case.content(tmp_path)
        named = "viewer URL"
    before = set(tmp_path.iterdir())
    out = str(tmp_path / "out.json")
    if case.board:
        commands = [
            ["verify", source, "--puzzle", str(good), "--json"],
            ["convert", source, out, "--puzzle", str(good)],
        ]
    else:
        commands = [["verify", URL, "--puzzle", source], ["convert", source, out]]
    for command in commands:
        refused(command, named, capsys, case.line, case.says)
    assert set(tmp_path.iterdir()) == before


def refused(
    command: list[str], named: str, capsys: pytest.CaptureFixture[str], line: int | None = None, says: str = "expected"
) -> None:
    """Run ``command`` and check its exit status and error message."""
    assert main(command) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("lns: ") and output.err.endswith("\n") and output.err.count("\n") == 1, output.err
    assert all(c.isprintable() for c in output.err[:-1]) and len(output.err) < 1500
    assert "Traceback" not in output.err
    assert named in output.err
    assert says in output.err, output.err
    assert line is None or f"{named}:{line}: " in output.err, output.err


def made(make: Callable[[Path], object]) -> Callable[[Path], str]:
    """A function that makes a thing in a folder and returns its name."""

    def named(folder: Path) -> str:
        make(folder / "thing")
        return str(folder / "thing")

    return named


def below_a_file(folder: Path) -> str:
    (folder / "thing").write_text("5")
    return str(folder / "thing" / "p.txt")


def too_large(thing: Path) -> None:
    with thing.open("wb") as file:
        file.truncate(17 * 2**20)


NO_FILES: dict[str, tuple[Callable[[Path], str], str]] = {
    "missing": (lambda folder: str(folder / "thing"), "no such file"),
    "directory": (made(Path.mkdir), "this is a directory"),
    "loop": (made(lambda thing: thing.symlink_to(thing)), "form a loop"),
    "dangling": (made(lambda thing: thing.symlink_to("nowhere")), "no such file"),
    "pipe": (made(os.mkfifo), "pipe or a device"),
    "device": (lambda _: "/dev/zero", "pipe or a device"),
    "below": (below_a_file, "a part of the path is a file"),
    "large": (made(too_large), "at most 4194304"),
    "long-name": (lambda _: "x" * 5000, "name is too long"),
    "nul-name": (lambda _: "a\0b", "no name of a file"),
    "control-name": (lambda _: "\x1b[31m\n", "no such file"),
    "surrogate-name": (lambda _: "\udcff\udcfe", "no such file"),
    "empty-name": (lambda _: "", "the name is empty"),
}
_NAMED = {"device": "/dev/zero", "long-name": "xxxx", "nul-name": "a", "control-name": "31m"}


@pytest.mark.parametrize("kind", NO_FILES)
def test_sources_that_are_no_files_are_refused(
    kind: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, says = NO_FILES[kind]
    source = make(tmp_path)
    named = _NAMED.get(kind, "" if kind in ("empty-name", "surrogate-name") else "thing")
    for command in (
        ["verify", source, "--puzzle", str(good)],
        ["verify", URL, "--puzzle", source],
        ["convert", source, str(tmp_path / "out.json")],
    ):
        refused(command, named, capsys, says=says)
    assert not (tmp_path / "out.json").exists()


def test_control_characters_in_names_do_not_reach_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    another = viewer_url(*planted(1, 4, 4, 3))
    strange = tmp_path / "a\x1b[31m\nb.json"
    strange.write_text(json.dumps(json.loads(TEXTS["json"]) | {"name": "\x1b[2J\ud800"}))
    refused(["verify", another, "--puzzle", str(strange)], "as in \\x1b[2J\\ud800", capsys)
    refused(["verify", str(strange)], "a\\x1b[31m\\nb.json", capsys, says="expected a board")
    benoist = tmp_path / "c\x1b.txt"
    benoist.write_text(TEXTS["benoist"])
    refused(["verify", another, "--puzzle", str(benoist)], "as in c\\x1b", capsys)
    refused(["params", "--params", "a\x1b[31m\nb"], "a\\x1b[31m\\nb: no such file", capsys)
    refused(["solve", "like-e2-4x4", "--time", "\x1b"], "'\\x1b' is no duration", capsys)


def test_an_unreadable_file_is_refused(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, really_open = tmp_path / "secret.txt", os.open
    path.write_text(TEXTS["benoist"])

    def refusing(name: Any, *rest: Any, **more: Any) -> int:  # root may read everything
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied", str(name))
        return really_open(name, *rest, **more)

    monkeypatch.setattr(os, "open", refusing)
    refused(["verify", URL, "--puzzle", str(path)], "secret.txt", capsys, says="no permission")
