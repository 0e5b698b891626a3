"""Boards whose colours have mates, and boards with a rim of an ordinary colour: seen, edited and played."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lns.instances.board import EMPTY, Board
from lns.instances.draw.palette import SOCKET, hex_code, rgb
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted, with_mates
from tests.web.browsing import Site, cell, open_board, swapped

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def scramble() -> tuple[Puzzle, Board]:
    """Nine squares with half pictures on their sides, and how they fit."""
    puzzle, board = planted(4, 3, 3, 4, framed=False)
    return with_mates(puzzle, board, 4, share=1.0), board


@pytest.fixture(scope="module")
def macmahon() -> tuple[Puzzle, Board]:
    """Squares of three colours, one of which is all around the board and inside it too, and how they fit."""
    return planted(6, 4, 4, 3, framed=False, rim=2)


def without(board: Board, taken: int) -> Board:
    placements = board.placements.copy()
    placements[taken] = EMPTY
    return Board(placements, board.width, board.height)


def test_mates_are_halves_of_a_motif_and_are_counted(page: Page, site: Site, scramble: tuple[Puzzle, Board]) -> None:
    puzzle, solution = scramble
    wrong = swapped(solution, 0, 4)
    open_board(page, site, puzzle, wrong)
    found = verify(puzzle, wrong)
    expect(page.locator("#score")).to_contain_text(f"score{found.score} of 12conflicts{len(found.mismatches)}")
    expect(page.locator("#window-width")).to_have_value("3")  # not more than the board has
    shown = puzzle.pieces.ravel().tolist()
    seconds = {second for _, second in puzzle.mates}
    plates = page.locator("#place path").evaluate_all(
        f"paths => paths.map(path => path.getAttribute('d') === '{SOCKET}')"
    )
    assert plates.count(True) == sum(colour in seconds for colour in shown) > 0
    shapes = page.locator("#place .motif").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert len({*shapes}) == len({min(pair) for pair in puzzle.mates if {*pair} & {*shown}})
    assert "hole of" in (page.locator("#place").inner_html())
    page.locator("#motifs").evaluate("box => box.click()")
    fills = page.locator("#place [data-cell] path[stroke-opacity]").evaluate_all(
        "paths => paths.map(path => getComputedStyle(path).fill)"
    )
    assert len({*fills}) == len({*shown})  # without motifs a hole is darker or lighter


def test_a_free_cell_of_mates_shows_what_fits_and_a_link_holds_them(
    page: Page, site: Site, scramble: tuple[Puzzle, Board]
) -> None:
    puzzle, solution = scramble
    open_board(page, site, puzzle, without(solution, 4))
    cell(page, 4).click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 1, column 1: 1")
    page.locator("#tray [data-piece]").click()
    expect(page.locator("#score")).to_contain_text("score12 of 12")
    page.click("#link")
    expect(page.locator("#shared")).to_have_value(re.compile("#lns="))
    link = page.locator("#shared").input_value()
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#score")).to_contain_text("score12 of 12")
    page.click("#check")
    expect(page.locator("#checked")).to_contain_text("12 of 12, valid")


def test_a_rim_of_a_colour_is_drawn_and_its_faults_are_counted(
    page: Page, site: Site, macmahon: tuple[Puzzle, Board]
) -> None:
    puzzle, solution = macmahon
    wrong = swapped(solution, 0, 5)
    open_board(page, site, puzzle, wrong)
    found = verify(puzzle, wrong)
    assert found.rim_faults
    expect(page.locator("#score")).to_contain_text(f"conflicts{len(found.mismatches)}rim{found.rim_faults} fault")
    ground = page.locator("#place svg > rect").first
    expect(ground).to_have_attribute("fill", re.compile(f"#{hex_code(rgb(2))}", re.IGNORECASE))
    bars = page.locator("#place svg path[stroke-width='3.4']").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d')).join('')"
    )
    assert bars.count("M") == len(found.mismatches) + found.rim_faults
    open_board(page, site, puzzle, without(solution, 0))
    cell(page, 0).click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 0, column 0: 1")
