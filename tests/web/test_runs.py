"""The runs below the directory that is served, and none outside it; searches that a page begins, with which clues."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lns
from lns.api import solving
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import viewer_url, write
from lns.instances.json_values import JsonFields
from lns.instances.puzzle import Puzzle
from lns.params import Params, to_dict
from lns.runs.files import CHECKPOINT, SETTINGS
from lns.web import tasks
from lns.web.jobs import Jobs
from lns.web.runs import Runs
from lns.web.wire import read_puzzle
from tests.shared_data import shared
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


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The fields of the jobs that the pages ask for, which are not started."""
    given: list[dict[str, Any]] = []

    async def start(self: Jobs, kind: str, values: dict[str, Any], *_: object, **__: object) -> SimpleNamespace:
        given.append(values)
        return SimpleNamespace(id="x")

    monkeypatch.setattr(Jobs, "start", start)
    return given


@pytest.mark.usefixtures("asked_for")
def test_two_starts_of_a_page_get_a_directory_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(tmp_path)
    asked = {"instance": "like-e2-5x5", "params": {}, "time": 1, "workers": 1, "seed": 1, "engine": "lns"}
    asked["target"] = None
    names = [page.answer("/api/run/start", asked)["run"] for _ in range(2)]
    assert names[0] != names[1] and all((tmp_path / name).is_dir() for name in names)

    async def refuse(*_: object, **__: object) -> None:
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


def test_a_measurement_takes_puzzle_and_parameters_of_the_run(tmp_path: Path, asked_for: list[dict[str, Any]]) -> None:
    puzzle, path = lns.generate("like-e2", width=4, seed=1).puzzle, tmp_path / "run"
    lns.solve(puzzle, engine="tabu", time=30, steps=1, workers=1, seed=1, run_dir=path, progress="none")
    Page(tmp_path).answer("/api/run/estimate", {"name": "run", "time": 3})
    assert read_puzzle(JsonFields(asked_for[0])) == puzzle and asked_for[0]["params"] == to_dict(Params())


# -- searches that a page begins ---------------------------------------------------------------------------------------


Start = Callable[..., dict[str, Any]]


@pytest.fixture
def begun(tmp_path: Path, asked_for: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a search from the page; the answer, and what the search is called with in ``call``."""
    page = Page(tmp_path)
    calls: list[tuple[Puzzle, dict[str, Any]]] = []

    def solve(puzzle: Puzzle, **options: Any) -> SimpleNamespace:
        calls.append((puzzle, options))
        return SimpleNamespace(why="time over", score=0)

    monkeypatch.setattr(solving, "solve", solve)

    def run(instance: object, **fields: object) -> dict[str, Any]:
        asked = {"instance": instance, "time": 1, "workers": 1, "seed": 1, "engine": "auto", "target": None}
        answer = page.answer("/api/run/start", asked | {"params": {}} | fields)
        tasks.done(tasks.run(JsonFields(asked_for[-1])), lambda **message: None)
        return answer | {"call": calls[-1]}

    return run


def test_the_clues_that_a_board_holds_are_kept_and_said(begun: Start, tmp_path: Path) -> None:
    text = shared("cases", "08_bucas_465_five_clues_default_alphabet.txt").read_text()
    url = next(word for word in text.split() if word.startswith("http"))
    (tmp_path / "board.url").write_text(url + "\n")
    for source in (url, "board.url"):
        answer = begun(source)
        puzzle, options = answer["call"]
        assert len(puzzle.clues) == 5 and options["start"] is None
        said = "\n".join(answer["notes"])
        assert "clues: the 5 official ones that the board holds" in said and "only the pieces and clues" in said
        assert answer["notes"] == [*options["notes"]], "the log of the run says the same"
    puzzle, options = begun("board.url", clues="starter", start=True)["call"]
    assert len(puzzle.clues) == 1 and lns.verify(puzzle, lns.load_board(options["start"], puzzle)).score == 465


def test_clues_come_from_a_file_below_the_directory_served_and_from_no_other(begun: Start, tmp_path: Path) -> None:
    puzzle, solution = lns.generate("like-e2", width=5, seed=1, clues=2)
    write(tmp_path / "p.json", None, puzzle.with_clues([]), None)
    write(tmp_path / "best.json", None, puzzle, solution)
    clues = {clue.cell: (clue.piece, clue.rotation) for clue in puzzle.clues}
    write(tmp_path / "c.txt", "clues", puzzle, Board.from_pairs(map(clues.get, range(25)), 5, 5))
    assert begun("p.json", clues="c.txt")["call"][0] == puzzle
    assert begun("p.json")["call"][0].clues == ()
    assert begun("best.json", start=True)["call"][1]["start"] == str(tmp_path / "best.json")
    assert len(begun(viewer_url(puzzle, solution))["call"][0].clues) == 0
    page = Page(tmp_path)
    for fields, sentence in (
        ({"instance": "p.json", "clues": "../c.txt"}, "the name is no path below"),
        ({"instance": "p.json", "clues": "official"}, "is not known to be Eternity II"),
        ({"instance": "like-e2-6x6", "start": True}, "has no board to begin with"),
    ):
        assert sentence in page.sentence("/api/run/start", {"params": {}, **fields})


def test_the_page_of_a_board_says_which_official_clues_it_holds(tmp_path: Path) -> None:
    text = shared("cases", "08_bucas_465_five_clues_default_alphabet.txt").read_text()
    url = next(word for word in text.split() if word.startswith("http"))
    notes = "\n".join(Page(tmp_path).answer("/api/document", {"text": url})["notes"])
    assert "5 of 5 official clues, with the starter clue" in notes and "the pieces of Eternity II" in notes
