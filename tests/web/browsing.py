"""What the tests of the pages do again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances import formats
from instances.board import Board
from instances.puzzle import Puzzle

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CASES = {"desktop light": (1280, 900, "light"), "desktop dark": (1280, 900, "dark"), "phone light": (360, 740, "light"),
         "phone dark": (360, 740, "dark"), "4k light": (3840, 2160, "light")}  # fmt: skip


@dataclass(frozen=True)
class Site:
    """A server: the directory that it serves, its address with the key, its process."""

    root: Path
    address: str
    pid: int

    def at(self, path: str) -> str:
        """The address of a page."""
        return f"{self.address.split('?')[0]}{path}"


def open_board(page: Page, site: Site, puzzle: Puzzle, board: Board | None = None) -> None:
    """Open the editor and paste a puzzle, then its board."""
    page.goto(site.at("board"))
    for text in (formats.render("json", puzzle, None)[0], board and formats.render("solution", puzzle, board)[0]):
        if text:
            page.locator("#opener").evaluate("details => { details.open = true; }")
            page.fill("#text", text)
            page.click("#open")
            page.locator("#name", has_text=puzzle.name).wait_for()
    page.locator("#opener").evaluate("details => { details.open = false; }")


def cell(page: Page, number: int) -> Locator:
    """A cell of the board."""
    return page.locator(f"#place [data-cell='{number}']")


def drag(page: Page, source: Locator, target: Locator) -> None:
    """Drag with the mouse, as a hand does."""
    source.scroll_into_view_if_needed()
    from_box, to_box = source.bounding_box(), target.bounding_box()
    assert from_box is not None and to_box is not None
    page.mouse.move(from_box["x"] + from_box["width"] / 2, from_box["y"] + from_box["height"] / 2)
    page.mouse.down()
    x, y = to_box["x"] + to_box["width"] / 2, to_box["y"] + to_box["height"] / 2
    page.mouse.move(x, y, steps=8)
    page.mouse.up()


def serious_findings(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds on a page that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        {"rule": one["id"], "help": one["help"], "at": [node["target"] for node in one["nodes"]][:5]}
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def overflows(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"))
