"""A server that others reach is opened with its password, by a browser, at the address that it prints."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lns.web.guard import own_number
from tests.web.browsing import served

pytestmark = pytest.mark.browser


def test_the_password_opens_the_pages_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """The address is no loopback one, where browsers leave out the headers that say where a form comes from."""
    with served(tmp_path, "--host", "0.0.0.0", password="long enough") as site:
        assert own_number() in site.address
        page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        page.goto(site.at("play"))
        page.fill("input[type=password]", "wrong")
        page.click("button")
        expect(page.locator("body")).to_contain_text("This is not the password")
        page.fill("input[type=password]", "long enough")
        page.click("button")
        page.wait_for_url(lambda url: "login" not in url)
        page.goto(site.at("play"))
        expect(page.locator("h1, h2").first).to_be_visible()
        page.context.close()
