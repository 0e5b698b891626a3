"""A server that others reach is opened with its password, by a browser, at the address that it prints."""

import re
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
        page.goto(site.at("board?instance=like-e2-4x4"))
        page.fill("input[type=password]", "wrong")
        page.click("button")
        expect(page.locator("body")).to_contain_text("This is not the password")
        page.fill("input[type=password]", "long enough")
        page.click("button")
        expect(page.locator("#name")).to_contain_text("like-e2-4x4")  # the page that was asked for
        assert page.evaluate("() => navigator.clipboard") is None, "browsers give it to encrypted pages and localhost"
        page.click("#link")
        expect(page.locator("#checked")).to_contain_text("The link is copied")
        page.locator("#opener").evaluate("details => { details.open = true; }")
        page.locator("#text").press("Control+v")
        expect(page.locator("#text")).to_have_value(re.compile("^http://.*#lns="))
        page.context.close()
