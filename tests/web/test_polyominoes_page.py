"""Polyominoes in a browser: filled by a search and replayed, by hand, cut at random, stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lns.cli.main import main
from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, filling_errors, parse
from lns.exact.polyominoes.levels import find_level
from tests.web.browsing import Site, cell, visit

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def rows(page: Page) -> list[str]:
    """The grid on the screen, as rows of names."""
    labels = page.locator("#place [role=row]").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('[role=gridcell]')].map(one => one.ariaLabel))"
    )
    return ["".join(label.split("piece ")[1][0] if "piece " in label else "." for label in row) for row in labels]


def test_the_game_is_filled_and_replayed(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.click("#solve")
    expect(page.locator("#solve-said")).to_have_text("Filled.", timeout=180_000)
    filled = rows(page)
    assert not filling_errors(parse(IQ_PUZZLER_PRO), filled)
    page.get_by_role("button", name="To the start").click()
    assert set("".join(rows(page))) == {"."}
    page.get_by_role("button", name="One step", exact=True).click()
    assert len(set("".join(rows(page)))) == 2
    page.get_by_role("button", name="One step back").click()
    assert set("".join(rows(page))) == {"."}
    page.get_by_role("button", name="To the end").click()
    assert rows(page) == filled
    expect(page.locator("#player")).to_contain_text("a filling")


def test_a_level_is_played_by_hand(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.select_option("#level", "easy-1")
    page.click("#play")
    expect(page.locator("#name")).to_contain_text("easy-1")
    expect(page.locator("#pieces-head")).to_contain_text("4 not placed")
    level = rows(page)
    page.click("#solve")
    expect(page.locator("#solve-said")).to_have_text("Filled.", timeout=180_000)
    filled = rows(page)
    page.click("#clear")
    assert rows(page) == level
    names = sorted(set("".join(filled)) - set("".join(level)))
    for name in names:
        page.locator(f"#pieces [data-name='{name}']").click()
        width = len(level[0])
        cells = [(r, c) for r, row in enumerate(filled) for c, sign in enumerate(row) if sign == name]
        for attempt in range(8):
            cell(page, cells[0][0] * width + cells[0][1]).click()
            if [(r, c) for r, row in enumerate(rows(page)) for c, sign in enumerate(row) if sign == name] == cells:
                break
            if any(name in row for row in rows(page)):  # it fits there in another way too
                page.click("#undo")
                page.locator(f"#pieces [data-name='{name}']").click()
                for _ in range(attempt % 4):
                    page.keyboard.press("r")
                if attempt >= 4:
                    page.keyboard.press("f")
            page.keyboard.press("f" if attempt == 3 else "r")
    assert rows(page) == filled
    expect(page.locator("#fill-said")).to_have_text("The grid is filled.")


def test_pieces_are_placed_with_the_keyboard_alone(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.locator("#pieces button").first.focus()
    name = page.evaluate("() => document.activeElement.dataset.name")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.cell") == "0"
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "r", "f", "Enter"):
        page.keyboard.press(key)
    assert name in "".join(rows(page))
    assert page.evaluate("() => document.activeElement.dataset.cell") == "13"
    page.locator("#pieces button").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.cell") == "13", "where the grid was left"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.closest('#pieces') !== null")


def test_a_grid_is_cut_at_random_and_its_search_is_stopped(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.select_option("#size", "60x6")
    page.click("#cut")
    expect(page.locator("#name")).to_contain_text("60 x 6")
    # a slow processor: drawing must leave time for clicks
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.check("#count")
    page.fill("#time", "600")  # seconds; on a busy machine it would end before the click
    page.click("#solve")
    expect(page.locator("#play")).to_be_disabled()
    expect(page.locator("#figures")).to_contain_text("placements tested", timeout=180_000)
    page.click("#stop")
    expect(page.locator("#solve-said")).to_contain_text("Stopped", timeout=30_000)
    expect(page.locator("#play")).to_be_enabled()


def test_a_grid_is_made_and_cut_within_limits(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.click("#random")
    expect(page.locator("#pieces-head")).to_contain_text("4 not placed", timeout=180_000)
    page.select_option("#size", "12x12")
    page.locator("summary", has_text="Limits").click()
    page.fill("#smallest", "4")
    page.fill("#largest", "5")
    page.fill("#longest", "3")
    page.click("#cut")
    expect(page.locator("#name")).to_contain_text("12 x 12")
    labels = page.locator("#pieces button").evaluate_all("buttons => buttons.map(button => button.ariaLabel)")
    assert len(labels) > 28 and all(label.endswith((", 4 cells", ", 5 cells")) for label in labels)
    page.fill("#most", "2")
    page.click("#cut")
    expect(page.locator("#problem")).to_contain_text("no cut of 12 x 12 into at most 2 pieces")


def test_a_recorded_filling_plays_without_the_server(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "easy-1", "--solver", "polyomino", "-o", str(path)]) == 0
    page.goto(path.as_uri())
    expect(page.locator("#player")).to_contain_text("steps, solved")
    level = rows(page)
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("at depth 1")
    assert rows(page) != level
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("a filling")
    assert not filling_errors(find_level("easy-1"), rows(page))


def test_a_piece_is_dragged_turned_and_flipped_with_a_preview(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    name = page.locator("#pieces button").first.get_attribute("data-name")
    piece, preview = page.locator(f"#pieces [data-name='{name}']"), page.locator("#place .preview rect")

    def carry(*keys: str, to: int) -> None:
        piece.hover()
        page.mouse.down()
        box = cell(page, to).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        for key in keys:
            page.keyboard.press(key)

    def shape() -> set[tuple[int, int]]:
        """The cells of the piece on the grid, from its first one on."""
        found = [(r, c) for r, row in enumerate(rows(page)) for c, sign in enumerate(row) if sign == name]
        return {(r - found[0][0], c - found[0][1]) for r, c in found}

    shown = []
    for keys in ((), ("r",), ("f",)):
        carry(*keys, to=5)
        count = preview.count()
        assert count >= 3
        assert set(preview.evaluate_all("rects => rects.map(rect => rect.getAttribute('fill'))")) == {"#fff"}
        page.mouse.up()
        shown.append(shape())
        assert len(shown[-1]) == count
        page.click("#undo")
    assert shown[1] != shown[0]
    carry(to=54)  # the last cell: no larger piece has its first one there
    assert set(preview.evaluate_all("rects => rects.map(rect => rect.getAttribute('fill'))")) == {"#f00"}
    page.mouse.up()
    expect(page.locator("#fill-said")).to_have_text(f"Piece {name} does not fit there.")
    expect(piece).to_have_attribute("aria-pressed", "false")
