"""A search that is begun from the page says which clues it has, and begins with a board only where it is asked to."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lns
from lns.api import solving
from lns.instances.board import Board
from lns.instances.formats import viewer_url, write
from lns.instances.json_values import JsonFields
from lns.instances.puzzle import Puzzle
from lns.web import tasks
from lns.web.jobs import Jobs
from tests.shared_data import shared
from tests.web.page import Page

Start = Callable[..., dict[str, Any]]


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a search from the page; the answer, and what the search is called with in ``call``."""
    page, given = Page(tmp_path), list[dict[str, Any]]()

    async def start(self: Jobs, kind: str, values: dict[str, Any], *_: object, **__: object) -> SimpleNamespace:
        given.append(values)
        return SimpleNamespace(id="x")

    monkeypatch.setattr(Jobs, "start", start)
    calls: list[tuple[Puzzle, dict[str, Any]]] = []

    def solve(puzzle: Puzzle, **options: Any) -> SimpleNamespace:
        calls.append((puzzle, options))
        return SimpleNamespace(why="time over", score=0)

    monkeypatch.setattr(solving, "solve", solve)

    def run(instance: object, **fields: object) -> dict[str, Any]:
        asked = {"instance": instance, "time": 1, "workers": 1, "seed": 1, "engine": "auto", "target": None}
        answer = page.answer("/api/run/start", asked | {"params": {}} | fields)
        tasks.run(JsonFields(given[-1]))(lambda **message: None)
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
