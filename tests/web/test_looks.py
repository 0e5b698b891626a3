"""Every page on phone, desktop and a large screen, light and dark: no serious finding of axe-core, nothing cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lns
from lns.web.routes.pages import PAGES
from tests.web.browsing import CASES, Site, open_board, overflows, serious_findings

pytest.importorskip("playwright")

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", PAGES)
def test_pages_can_be_read_by_all(browser: Browser, site: Site, name: str, case: str) -> None:
    width, height, scheme = CASES[case]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(site.address)
    page.goto(site.at(name))
    if name == "board":
        made = lns.generate("like-e2", width=6, seed=3)
        open_board(page, site, *made)
    page.wait_for_timeout(700)
    found = serious_findings(page)
    assert not found, found
    assert not overflows(page)
    context.close()
