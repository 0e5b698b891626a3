"""The runs below the directory that is served, and none outside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lns.runs.files import SETTINGS
from lns.web.runs import Runs
from lns_support.errors import InputError


def make(folder: Path, modified: int) -> None:
    folder.mkdir(parents=True)
    (folder / SETTINGS).write_text("{}")
    os.utime(folder / SETTINGS, (modified, modified))


def test_runs_are_found_in_folders_the_newest_first_and_no_link_is_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make(root / "old", 1)
    make(root / "a" / "b" / "c" / "new", 3)
    make(root / ".hidden" / "run", 4)
    make(outside, 5)
    (root / "linked").symlink_to(outside)
    (root / "inside").mkdir()
    (root / "inside" / SETTINGS).symlink_to(outside / SETTINGS)
    runs = Runs(root)
    assert runs.names() == ["a/b/c/new", "old"]
    assert runs.path("old") == root / "old"
    for name in ("linked", "inside", "../outside", "a", ".."):
        with pytest.raises(InputError):
            runs.path(name)
    assert [run["state"] for run in runs.facts()] == ["unreadable"] * 2
