"""Every page on phone, desktop and a large screen, light and dark: no serious finding of axe-core, nothing cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lns
from lns.web.app import PAGES
from tests.web.browsing import CASES, Site, loaded, open_board, overflows, serious_findings

pytest.importorskip("playwright")

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", PAGES)
def test_pages_can_be_read_by_all(page: Page, site: Site, name: str) -> None:
    page.goto(site.at(name))
    loaded(page)
    if name == "board":
        open_board(page, site, *lns.generate("like-e2", width=6, seed=3))
    for case, (width, height, scheme) in CASES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found = serious_findings(page)
        assert not found, (case, found)
        assert not overflows(page), case
