"""The runs below the directory that is served, and none outside it."""

import os
from pathlib import Path
from typing import Any

import pytest

import lns
from lns.instances.errors import InputError
from lns.params import Params
from lns.runs.files import CHECKPOINT, PARAMETERS, SETTINGS
from lns.web.jobs import Jobs
from lns.web.runs import Runs
from tests.web.page import Page


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


def test_a_run_whose_name_is_no_utf8_hides_no_other(tmp_path: Path) -> None:
    make(tmp_path / "plain", 1)
    make(tmp_path / os.fsdecode(b"odd\xff"), 2)
    page = Page(tmp_path)
    names = [run["name"] for run in page.get("/api/runs").json()["runs"]]
    assert names == ["odd\udcff", "plain"]


def test_two_starts_of_a_page_get_a_directory_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Started:
        id = "1"

    async def start(*_: Any, **__: Any) -> Started:
        return Started()

    monkeypatch.setattr(Jobs, "start", start)
    page = Page(tmp_path)
    asked = {"instance": "like-e2-5x5", "params": {}, "time": 1, "workers": 1, "seed": 1, "engine": "lns"}
    asked["target"] = None
    names = [page.answer("/api/run/start", asked)["run"] for _ in range(2)]
    assert names[0] != names[1] and all((tmp_path / name).is_dir() for name in names)

    async def refuse(*_: Any, **__: Any) -> Started:
        raise InputError("as many as may run")

    monkeypatch.setattr(Jobs, "start", refuse)
    assert "as many" in page.sentence("/api/run/start", asked)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_islands_are_those_of_the_checkpoint_and_none_where_it_cannot_be_read(tmp_path: Path) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=1).puzzle
    lns.solve(puzzle, engine="tabu", time=30, steps=2, workers=2, seed=1, run_dir=tmp_path / "run", progress="none")
    found = Runs(tmp_path).details("run")["islands"]
    assert [island["number"] for island in found] == [0, 1]
    assert all(island["moves"] > 0 and 0 <= island["best"] <= puzzle.max_score for island in found)
    path = tmp_path / "run" / CHECKPOINT
    content = path.read_bytes()
    path.write_bytes(content[:-40])
    assert Runs(tmp_path).details("run")["islands"] == []
    path.unlink()
    (tmp_path / "elsewhere").write_bytes(content)
    path.symlink_to(tmp_path / "elsewhere")
    assert Runs(tmp_path).details("run")["islands"] == []


def test_a_measurement_takes_puzzle_and_parameters_of_the_run(tmp_path: Path) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=1).puzzle
    lns.solve(puzzle, engine="tabu", time=30, steps=1, workers=1, seed=1, run_dir=tmp_path / "run", progress="none")
    found, params = Runs(tmp_path).puzzle_and_params("run")
    assert found.sha256 == puzzle.sha256 and params == Params()
    (tmp_path / "run" / PARAMETERS).unlink()
    (tmp_path / "run" / PARAMETERS).symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="symbolic link"):
        Runs(tmp_path).puzzle_and_params("run")
