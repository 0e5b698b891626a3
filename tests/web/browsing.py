"""What the tests of the pages do again and again."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route

from lns.instances import formats
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle

ROOT = Path(__file__).resolve().parents[2]
READY = {
    "runs": "#list :is(table, p)",
    "board": "#place svg",
    "play": "#place svg",
    "polyominoes": "#place svg",
    "steps": "#place svg",
}
"""What a page has once it is loaded."""


@dataclass(frozen=True)
class Site:
    """A server: the directory that it serves, its address with the key, its process."""

    root: Path
    address: str
    pid: int

    def at(self, path: str) -> str:
        """The address of a page."""
        return f"{self.address.split('?')[0]}{path}"


def installed(*names: str, package: str) -> str:
    """The path of a program that goes by one of these names; without one the test is skipped."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"{names[0]} is not installed; on Debian: apt install {package}")
    return path


def swapped(board: Board, one: int, other: int) -> Board:
    """The board with two pieces exchanged."""
    placements = board.placements.copy()
    placements[[one, other]] = placements[[other, one]]
    return Board(placements, board.width, board.height)


@contextlib.contextmanager
def served(root: Path, *what: str, changed: str = "", password: str = "", said: Path | None = None) -> Iterator[Site]:
    """A server of `lns web` in a directory, in a process of its own, which must end in order.

    ``changed`` is Python that the process runs first, ``said`` gets its stderr.
    """
    imports = "import sys\nfrom lns.cli.main import main\nfrom lns.web import server"
    program = f"{imports}\n{changed}\nsys.exit(main())"
    starts = ("-c", program) if changed else ("-m", "lns")
    with (said or Path(os.devnull)).open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, *starts, "web", *what, "--port", "0"],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(ROOT), "LNS_WEB_PASSWORD": password},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    try:
        yield Site(root, process.stdout.readline().split()[-1], process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(timeout=60)
        process.stdout.close()
    assert status == 0


def visit(page: Page, site: Site, name: str) -> None:
    """Open a page, and wait until it has what it asks the server for at first."""
    page.goto(site.at(name))
    loaded(page)


def loaded(page: Page) -> None:
    """Wait until a page has what it asks the server for at first."""
    page.locator(READY[page.url.rsplit("/", 1)[-1].split("?")[0]]).first.wait_for(state="attached")


def open_board(page: Page, site: Site, puzzle: Puzzle, board: Board | None = None) -> None:
    """Open the editor and paste a puzzle, then its board."""
    page.goto(site.at("board"))
    pasted = [(formats.render("json", puzzle, None)[0], puzzle.piece_count - len(puzzle.clues))]
    if board is not None:
        pasted.append(
            (formats.render("solution", puzzle, board)[0], puzzle.piece_count - int((board.placements >= 0).sum()))
        )
    for text, free in pasted:
        unfold(page)
        page.fill("#text", text)
        with page.expect_response("**/api/document"):
            page.click("#open")
        page.locator("#opener:not([open])").wait_for()  # else the page would close what is unfolded next
        page.locator("#tray-head", has_text=re.compile(f": {free}$")).wait_for()
    unfold(page, False)


def unfold(page: Page, is_open: bool = True) -> None:
    """Show or hide what opens a board or begins a game."""
    page.locator("#opener").evaluate("(details, open) => { details.open = open; }", is_open)


def kept(page: Page, name: str) -> dict[str, Any]:
    """What the page keeps in the browser when it is closed."""
    text = page.evaluate(
        "name => { dispatchEvent(new Event('pagehide')); return localStorage.getItem(`lns-${name}`); }", name
    )
    found: dict[str, Any] = json.loads(text)
    return found


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


def choose(page: Page, text: str) -> None:
    """Open a file with this text."""
    page.set_input_files("#file", files=[{"name": "f.txt", "mimeType": "text/plain", "buffer": text.encode()}])


def held_job(page: Page, button: str) -> Route:
    """The request for a job that a click on a button makes; it waits until it is told to continue."""
    held: list[Route] = []
    page.route("**/api/job", lambda route: held.append(route), times=1)
    with page.expect_request("**/api/job"):
        page.click(button)
    while not held:
        page.wait_for_timeout(10)
    return held[0]
