"""A Chromium that is installed, and a server of `lns web`, for the tests of the pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import lns
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from tests.web.browsing import Site, installed, served

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = installed("chromium", "chromium-browser", "google-chrome", package="chromium")
    expect.set_options(timeout=30_000)  # as long as a page may take for a click
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def small() -> tuple[Puzzle, Board]:
    """A puzzle and its solution."""
    return lns.generate("like-e2", width=5, seed=3)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server for all tests."""
    with served(tmp_path_factory.mktemp("root")) as started:
        yield started


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page of its own, which must neither raise an error nor say one on its console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(30_000)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.goto(site.address)
    yield opened
    context.close()
    assert not [error for error in errors if "status of 4" not in error], errors
