"""The main path of each page in Firefox: no error on the console, nothing blocked by the content policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lns
from lns.cli.main import main
from lns.instances import formats
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.web.app import PAGES
from tests.web.browsing import Site, swapped

if TYPE_CHECKING:
    from tests.web.firefox import Firefox, Tab

pytestmark = pytest.mark.browser


def cell(number: int) -> str:
    return f"#place [data-cell='{number}']"


def pieces(tab: Tab, *cells: int) -> list[str]:
    """What a reader of the screen hears of some cells, without where they are."""
    return [
        str(tab.call("name => document.querySelector(name).ariaLabel", cell(number))).split(", ", 2)[2]
        for number in cells
    ]


def open_board(tab: Tab, site: Site, puzzle: Puzzle, board: Board) -> None:
    """Paste a puzzle of 25 pieces, then a full board of it."""
    tab.open(site.at("board"))
    for text, free in (
        (formats.render("json", puzzle, None)[0], 25),
        (formats.render("solution", puzzle, board)[0], 0),
    ):
        tab.call("() => { document.getElementById('opener').open = true; }")
        tab.fill("#text", text)
        tab.click("#open")
        tab.until("() => !document.getElementById('opener').open")
        tab.says("#tray-head", f"Free pieces: {free}")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens(tab: Tab, site: Site, name: str) -> None:
    tab.open(site.at(name))
    tab.until("() => document.readyState === 'complete' && document.querySelectorAll('option').length > 0")
    assert tab.text("h1").startswith(PAGES[name])
    assert tab.call("() => document.getElementById('problem').hidden")


def test_what_goes_wrong_on_a_page_is_noticed(firefox: Firefox, site: Site) -> None:
    """The other tests rely on it."""
    with firefox.user() as user:
        tab = firefox.tab(user)
        tab.open(site.address)
        assert tab.errors() == []
        tab.call("() => { document.body.setAttribute('style', 'color: red'); }")
        assert "Content-Security-Policy" in tab.errors()[0]
        tab.call("() => { setTimeout(() => nothing.of.this.name); }")
        assert "nothing is not defined" in tab.errors()[1]
        assert len(tab.errors()) == 2


def test_a_board_is_painted_counted_dragged_turned_and_downloaded(
    firefox: Firefox, tab: Tab, site: Site, small: tuple[Puzzle, Board]
) -> None:
    puzzle, board = small
    wrong = swapped(board, 6, 12)
    open_board(tab, site, puzzle, wrong)
    checked = verify(puzzle, wrong)
    tab.says("#score", f"{checked.score} of {puzzle.max_score}")
    tab.says("#score", f"conflicts{len(checked.mismatches)}")
    assert tab.call("() => document.querySelectorAll('#place [data-cell] path[stroke]').length") == 100
    tab.click("#check")
    tab.says("#checked", f"{checked.score} of {puzzle.max_score}, valid")
    before = pieces(tab, 6, 12)
    tab.drag(cell(6), cell(12))
    assert pieces(tab, 6, 12) == before[::-1]
    tab.click("#undo")
    assert pieces(tab, 6, 12) == before
    tab.click("#redo")
    tab.click(cell(12), button=2)
    assert pieces(tab, 12) != before[:1]
    tab.press("r", "r", "r")
    assert pieces(tab, 6, 12) == before[::-1]
    tab.press(*["Control+z"] * 5)
    assert pieces(tab, 6, 12) == before
    tab.call("name => document.querySelector(name).focus()", cell(0))
    tab.press("ArrowRight", "ArrowDown", "Enter", "ArrowDown", "ArrowRight", "Enter")
    assert pieces(tab, 6, 12) == before[::-1]
    tab.drag(cell(12), "#tray")
    tab.says("#tray-head", "Free pieces: 1")
    tab.drag("#tray button", cell(12))
    tab.says("#score", f"{puzzle.max_score} of {puzzle.max_score}")
    tab.click("#png")
    assert downloaded(tab, firefox, "*.png").startswith(b"\x89PNG")
    tab.fill("#format", "url")
    tab.click("#save")
    assert lns.load_board(downloaded(tab, firefox, "*.url.txt").decode(), puzzle) == board


def downloaded(tab: Tab, firefox: Firefox, pattern: str) -> bytes:
    """The content of a file once it is whole; the file is removed."""
    for _ in range(600):
        found = [path for path in firefox.downloads.glob(pattern) if path.stat().st_size]
        if found and not list(firefox.downloads.glob("*.part")):
            content = found[0].read_bytes()
            found[0].unlink()
            return content
        tab.call("() => new Promise(resolve => setTimeout(resolve, 50))")
    raise AssertionError(f"no {pattern} in {list(firefox.downloads.iterdir())}")


def test_many_tabs_are_open_at_once(firefox: Firefox, site: Site) -> None:
    """A browser has six connections for a server; a tab that is not seen takes none."""
    run = lns.generate("like-e2", width=4, seed=1)
    lns.solve(run.puzzle, time=5, steps=1, workers=1, seed=1, run_dir=site.root / "tabs", progress="none")
    with firefox.user() as user:
        for _ in range(5):
            tab = firefox.tab(user)
            tab.open(site.address)
            tab.open(site.at("runs?name=tabs"))
            tab.says("#facts", "ended")


def test_a_recorded_file_plays_without_the_server(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "like-e2-5x5", "-o", str(path)]) == 0
    tab.open(path.as_uri())
    tab.says("#player", "steps, solved")
    empty = "() => document.querySelectorAll('#place .empty').length"
    assert tab.call(empty) == 25
    tab.click("[aria-label='One step']")
    tab.says("#player", "decision 1: piece")
    assert tab.call(empty) == 24
    tab.click("[aria-label='To the end']")
    tab.says("#player", "solution")
    assert tab.call(empty) == 0
