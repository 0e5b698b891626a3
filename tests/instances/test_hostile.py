"""Malformed input: hundreds of files, names and URLs through the command line.

Each must end with exit status 2 and one sentence that names the source (and the line, where there is one) and what was
expected; never a traceback, nothing written.
"""

import json
import os
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
    source, named, out = case.content, "viewer URL", str(tmp_path / "out.json")
    if isinstance(source, bytes):
        (tmp_path / (named := "hostile.txt")).write_bytes(source)
        source = str(tmp_path / named)
    before = set(tmp_path.iterdir())
    verifying = [source, "--puzzle", str(good), "--json"] if case.board else [URL, "--puzzle", source]
    refused(["verify", *verifying], named, capsys, case.line, case.says)
    known = ["--puzzle", str(good)] * case.board
    refused(["convert", source, out, *known], named, capsys, case.line, case.says)
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


NO_FILES = {  # names in a folder, and what is said of them
    "missing": "no such file",
    "directory": "this is a directory",
    "loop": "form a loop",
    "dangling": "no such file",
    "pipe": "pipe or a device",
    "/dev/zero": "pipe or a device",
    "file/p.txt": "a part of the path is a file",
    "large": "at most 4194304",
    "x" * 5000: "name is too long",
    "a\0b": "no name of a file",
    "\x1b[31m\n": "no such file",
    "\udcff\udcfe": "no such file",
    "": "the name is empty",
}


@pytest.mark.parametrize("name", NO_FILES, ids=lambda name: ascii(name)[:20])
def test_sources_that_are_no_files_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("directory").mkdir()
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nowhere")
    os.mkfifo("pipe")
    Path("file").write_text("5")
    Path("large").touch()
    os.truncate("large", 17 * 2**20)
    for command in (["verify", name], ["verify", URL, "--puzzle", name], ["convert", name, "o.json"]):
        refused(command, name[:4] if name.isprintable() else "", capsys, says=NO_FILES[name])
    assert not Path("o.json").exists()


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
