"""What does not come from a page of the server is refused, and nothing of a request is written or shown as markup."""

import json
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

import lns
from lns.web import guard
from lns.web.app import CHANGES, PAGES, READS
from lns.web.guard import Access, is_loopback, own_number
from tests.web.page import SITE, Page, fields


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


def test_the_key_of_the_address_becomes_a_cookie_and_a_wrong_one_does_not(page: Page) -> None:
    page.client.cookies.clear()
    answer = page.get("/runs?key=wrong")
    assert answer.status_code == 403 and "set-cookie" not in answer.headers
    assert page.get("/runs").status_code == 403
    answer = page.get(f"/runs?name=a&key={page.access.key}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?name=a")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie
    assert page.get("/runs").status_code == 200


OTHER_HOSTS = ("evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:8040", "127.0.0.1:8040.evil", "", "[::1]:x")
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
OTHER_ORIGINS = ("http://evil.example", "null", "https://127.0.0.1:8040", "http://127.0.0.1:1")
ANSWERS = [
    *(("GET", "/runs", {"host": host, "origin": f"http://{host}"}, 200) for host in ("[::1]:8040", "LOCALHOST:8040")),
    ("GET", "/runs", LINK, 200),  # other sites may link here
    *(("GET", "/runs", {"host": host}, 421) for host in OTHER_HOSTS),
    *(("GET", "/api/runs", {"origin": origin}, 403) for origin in OTHER_ORIGINS),
    *(("POST", "/api/document", {"origin": origin}, 403) for origin in OTHER_ORIGINS),
    ("GET", "/api/runs", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}, 403),
    ("GET", "/api/runs", LINK, 403),
    ("POST", "/api/document", LINK, 403),
    *(("POST", f"/api/{path}", {"x-lns-token": token}, 403) for path in sorted(CHANGES) for token in ("", "wrong")),
    *(("GET", f"/{name}", {"cookie": ""}, 403) for name in (*PAGES, *(f"api/{path}" for path in READS))),
    *((method, "/api/runs", {}, 405) for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE")),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), ANSWERS)
def test_what_does_not_come_from_a_page_is_refused(
    page: Page, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    page.client.cookies.clear()
    known = {"cookie": f"{page.access.cookie}={page.access.key}", "x-lns-token": page.access.token, "origin": SITE}
    answer = page.client.request(method, path, content=b"{}", headers=known | headers)
    assert answer.status_code == status and (status == 200 or answer.json()["error"])


def test_requests_that_are_too_large_or_no_text_are_refused(page: Page, tmp_path: Path) -> None:
    headers = {"x-lns-token": page.access.token, "origin": SITE}
    made = lns.generate("like-e2", width=3)
    for content, status in (
        (b"x" * (guard.MAX_BODY + 1), 413),
        ((b"x" * 100_000 for _ in range(11)), 411),  # no length is stated
        (json.dumps({"kind": "solve", "solver": "x\ud800", "time": 1, **fields(*made)}), 400),  # half of a character
    ):
        path = "/api/job" if status == 400 else "/api/document"
        assert page.client.post(path, content=content, headers=headers).status_code == status
    locked = Page(tmp_path, password="long enough", host="0.0.0.0")
    assert locked.client.post("/login", content="a=b&" * 50 + "password=wrong").status_code == 403
    assert locked.client.post("/login", content="x" * (guard.MAX_FORM + 1)).status_code == 413


def test_every_answer_forbids_foreign_and_inline_scripts_and_pages_hold_none(page: Page) -> None:
    for path in (*(f"/{name}" for name in PAGES), "/static/common.js", "/api/setup", "/nothing", "/api/run?name=x"):
        answer = page.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        if path[1:] in PAGES:
            has_no_script(answer.text)


def has_no_script(text: str) -> None:
    assert "<script>" not in text and "javascript:" not in text and " style=" not in text
    assert not any(f" on{event}=" in text for event in ("click", "load", "error", "input", "change"))
    assert "://" not in text.replace("https://e2.bucas.name", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "vendor/../../app.py", "/etc/passwd"])
def test_no_file_outside_the_static_ones_is_served(page: Page, path: str) -> None:
    assert page.get(f"/static/{path}").status_code in (404, 405)


def test_a_server_for_others_asks_for_the_password(tmp_path: Path) -> None:
    page = Page(tmp_path, password="long enough", host="0.0.0.0")
    page.client.cookies.clear()
    assert page.get(f"/runs?key={page.access.key}").headers["location"].startswith("/login?")
    assert page.get("/api/runs").status_code == 403
    form = page.get("/runs?name=a%20b").headers["location"]
    assert page.client.post(form, data={"password": "wrong"}).status_code == 403
    answer = page.client.post(form, data={"password": "long enough"})
    assert answer.status_code == 303 and page.access.cookie in answer.headers["set-cookie"]
    assert answer.headers["location"] == "/runs?name=a%20b", "the page that was asked for"
    assert page.get("/runs").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example", "x"])
def test_the_password_leads_to_no_other_site(path: str, tmp_path: Path) -> None:
    page = Page(tmp_path, password="long enough", host="0.0.0.0")
    form = f"/login?{urlencode({'next': path})}"
    assert page.client.post(form, data={"password": "long enough"}).headers["location"] == "/"


def test_a_browser_shows_a_refusal_as_a_page(page: Page) -> None:
    page.client.cookies.clear()
    shown = page.client.get("/runs", headers={"accept": "text/html,*/*"})
    assert shown.status_code == 403 and "<p>the key is missing; open the address" in shown.text
    assert shown.headers["content-type"].startswith("text/html")


def test_passwords_cannot_be_tried_without_end_and_who_tries_them_keeps_no_other_address_out() -> None:
    access = Access("0.0.0.0", 1, password="long enough")
    assert not any(access.admits("wrong", "10.0.0.1") for _ in range(20))
    assert not access.admits("long enough", "10.0.0.1") and access.admits("long enough", "10.0.0.2")
    assert not any(access.admits("wrong", f"10.0.1.{host}") for host in range(200))
    assert not access.admits("long enough", "10.0.0.2"), "too many in all"


@pytest.mark.parametrize("host", ["127.0.0.2", "127.9.9.9", "::1", "127.0.0.1", "localhost"])
def test_the_printed_address_is_answered(host: str) -> None:
    access = Access(host, 8040)
    assert is_loopback(host) and access.knows_host(urlsplit(access.address).netloc)
    assert not access.knows_host("127.0.0.3:8040") and not access.knows_host("evil.example:8040")
    assert access.address.endswith(f":8040/?key={access.key}")
    others = Access("0.0.0.0", 8040, password="long enough")
    assert others.knows_host("192.168.1.7:8040") and others.knows_host("[fe80::1]:8040")
    assert not others.knows_host("evil.example:8040") and others.address == f"http://{own_number()}:8040/"
    assert not is_loopback("0.0.0.0") and not is_loopback("example")
