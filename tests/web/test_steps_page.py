"""Searches step by step in a browser, and as a file that plays without the server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lns
from lns.cli.main import main
from lns.instances.puzzle import canonical
from tests.web.browsing import Site, cell, open_board

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def step_through(page: Page) -> None:
    """Play a recording of the 5x5 instance to its solution, back, and forth."""
    empty = page.locator("#place .empty")
    expect(empty).to_have_count(25)
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("decision 1: piece")
    expect(empty).to_have_count(24)
    page.get_by_role("button", name="One step back").click()
    expect(empty).to_have_count(25)
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution")
    expect(empty).to_have_count(0)
    page.get_by_role("button", name="To the start").click()
    slider = page.get_by_role("slider", name="Step", exact=True)
    slider.fill(str(max(0, int(slider.get_attribute("max") or 0) - 500)))
    page.get_by_label("Steps a second").fill("10")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("#player")).to_contain_text("solution", timeout=60_000)


def record(page: Page, site: Site, solver: str) -> None:
    """Record a search of the 5x5 instance."""
    page.goto(site.at("steps"))
    page.locator("#which option", has_text="like-e2-5x5").wait_for(state="attached")
    page.select_option("#which", "like-e2-5x5")
    page.select_option("#solver", solver)
    page.fill("#most", "50000")
    page.locator("#begin button[type=submit]").click()
    expect(page.locator("#player")).to_contain_text("steps, solved", timeout=180_000)


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "dlx"])
def test_a_search_is_recorded_and_played(page: Page, site: Site, solver: str) -> None:
    record(page, site, solver)
    step_through(page)


@pytest.mark.parametrize("solver", ["sat:triangles", "sat:triangles-restricted"])
def test_a_sat_solver_paints_its_triangles(page: Page, site: Site, solver: str) -> None:
    pytest.importorskip("pysat")
    record(page, site, solver)
    expect(page.locator("#solver-about")).to_contain_text("triangles")
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("without a decision")
    assert triangles(page) == 20, "the grey ones of the rim"
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution: all triangles are painted")
    assert triangles(page) == 100
    expect(cell(page, 12)).to_have_attribute("aria-label", re.compile(r"row 2, column 2, piece \d+: up \d+, right"))
    page.get_by_role("button", name="To the start").click()
    assert triangles(page) == 0


def test_outer_sides_without_a_frame_are_painted_as_the_piece_has_them(page: Page, site: Site) -> None:
    """No clause tells their colours."""
    pytest.importorskip("pysat")
    puzzle = lns.generate("unframed", width=3, seed=2, colours=5).puzzle
    open_board(page, site, puzzle)
    page.goto(site.at("steps"))
    page.select_option("#which", "board")
    page.select_option("#solver", "sat:triangles-restricted")
    page.locator("#begin button[type=submit]").click()
    expect(page.locator("#name")).to_contain_text(puzzle.name, timeout=180_000)
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution: all triangles are painted")
    for label in page.locator("#place [role=gridcell]").evaluate_all("cells => cells.map(cell => cell.ariaLabel)"):
        piece, *colours = map(int, re.findall(r"(?:piece|up|right|down|left) (\d+)", label))
        assert canonical(colours) == canonical(puzzle.pieces[piece - 1].tolist())


def triangles(page: Page) -> int:
    """How many triangles of the board have their colour; those with a pattern are drawn twice."""
    labels = page.locator("#place [role=gridcell]").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")
    return 4 * len(labels) - sum(label.count("open") for label in labels)


def test_a_recorded_file_plays_without_the_server(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "like-e2-5x5", "-o", str(path)]) == 0
    page.goto(path.as_uri())
    expect(page.locator("#player")).to_contain_text("steps, solved")
    step_through(page)
