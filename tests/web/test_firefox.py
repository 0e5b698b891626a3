"""Each page in a Firefox that is installed: no error on the console, nothing blocked by the content policy.

It is driven over WebDriver BiDi, which it speaks itself: no geckodriver is needed.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

import lns
from lns.cli.main import main
from lns.web.app import PAGES
from tests.web.browsing import Site, installed

pytestmark = pytest.mark.browser

OFF = ("browser.shell.checkDefaultBrowser", "browser.newtabpage.enabled", "browser.aboutwelcome.enabled",
       "datareporting.policy.dataSubmissionEnabled", "toolkit.telemetry.enabled", "app.normandy.enabled",
       "extensions.update.enabled", "extensions.getAddons.cache.enabled", "network.captive-portal-service.enabled",
       "network.connectivity-service.enabled", "browser.safebrowsing.malware.enabled",
       "browser.safebrowsing.phishing.enabled")  # fmt: skip
PREFERENCES = dict.fromkeys(OFF, False) | {"app.update.disabledForTesting": True, "browser.startup.page": 0,
                                           "browser.startup.homepage": "about:blank"}  # fmt: skip
"""A fresh profile that asks for nothing and loads nothing by itself."""
_ANSWER_S = 120.0
_STILL_S = 0.1  # an element that is to be clicked has not moved for so long


class Firefox:
    """A Firefox that runs."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._errors: list[tuple[str, str]] = []  # context, words
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command; its result."""
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=_ANSWER_S))
            if message.get("id") == number:
                assert message["type"] == "success", f"{method}: {message.get('message')}"
                found: dict[str, Any] = message["result"]
                return found
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                entry = message["params"]
                self._errors.append((entry["source"].get("context", ""), str(entry["text"])))

    def said(self, context: str) -> list[str]:
        """The errors on the console of a tab that have arrived so far."""
        self.command("session.status")
        return [words for where, words in self._errors if where == context]


class Tab:
    """A tab of Firefox. Elements are named by a selector; the mouse is that of the browser."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self._firefox, self._context = firefox, context
        self._lasts = itertools.count(1)

    def open(self, address: str) -> None:
        """Open an address and wait until it has loaded."""
        self._firefox.command("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def errors(self) -> list[str]:
        """What the tab said on its console as an error so far: exceptions, and what the content policy blocks.

        Errors arrive late but in order, so one more is made and awaited.
        """
        last = f"the last error, number {next(self._lasts)}"
        self.call("words => new Promise(done => setTimeout(() => { reportError(new Error(words)); done(); }))", last)
        end = time.monotonic() + _ANSWER_S
        while not any(last in words for words in self._firefox.said(self._context)):
            assert time.monotonic() < end, "errors do not arrive"
            time.sleep(0.02)
        return [words for words in self._firefox.said(self._context) if "the last error, number" not in words]

    def call(self, function: str, *given: Any) -> Any:
        """Call a JavaScript function in the page with JSON values; its result."""
        answer = self._firefox.command(
            "script.callFunction",
            functionDeclaration=f"async (given) => JSON.stringify(await ({function})(...JSON.parse(given)) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(given)}],
            target={"context": self._context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer.get("exceptionDetails", {}).get("text")
        return json.loads(answer["result"]["value"])

    def until(self, function: str, *given: Any) -> Any:
        """Call a function until its result is true; the result."""
        end = time.monotonic() + 30
        while not (found := self.call(function, *given)):
            assert time.monotonic() < end, f"not within 30 s: {function} {given}"
            time.sleep(0.05)
        return found

    def says(self, selector: str, words: str) -> None:
        """Wait until an element holds these words."""
        self.until(
            "(name, words) => (document.querySelector(name)?.textContent ?? '').includes(words)", selector, words
        )

    def centre(self, selector: str) -> dict[str, int]:
        """The middle of an element on the screen; it is scrolled to first, must rest, and nothing may lie over it."""
        seen, before = """name => {
            const element = document.querySelector(name);
            if (!element || element.disabled) return null;
            element.scrollIntoView({ block: "nearest", behavior: "instant" });
            const box = element.getBoundingClientRect();
            const x = Math.round(box.x + box.width / 2), y = Math.round(box.y + box.height / 2);
            return element.contains(document.elementFromPoint(x, y)) ? { x, y } : null;
        }""", {}  # fmt: skip
        while before != (before := self.until(seen, selector)):
            time.sleep(_STILL_S)
        return before

    def drag(self, source: str, target: str) -> None:
        """Press the mouse on an element and release it on another, or on the same one: a click."""
        self.centre(target)  # both are on the screen then
        start, end = self.centre(source), self.centre(target)
        way = [{axis: round(at + (end[axis] - at) * step / 8) for axis, at in start.items()} for step in range(9)]
        first, *others = ({"type": "pointerMove", "duration": 16, **at} for at in way)
        down, up = ({"type": name, "button": 0} for name in ("pointerDown", "pointerUp"))
        mouse = {"type": "pointer", "id": "mouse", "actions": [first, down, *others, up]}
        self._firefox.command("input.performActions", context=self._context, actions=[mouse])


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    path = installed("firefox-esr", "firefox", package="firefox-esr")
    folder = tmp_path_factory.mktemp("firefox")
    said = folder / "stderr"
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines))
    command = [path, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(folder)]
    with said.open("w") as file:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file)
    try:
        with connect(f"{_address(process, said)}/session", max_size=None, open_timeout=_ANSWER_S) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _address(process: subprocess.Popen[bytes], said: Path) -> str:
    """Where Firefox listens, once it says so."""
    end = time.monotonic() + _ANSWER_S
    while time.monotonic() < end and process.poll() is None:
        for line in said.read_text().splitlines(keepends=True):
            if line.startswith("WebDriver BiDi listening on ") and line.endswith("\n"):
                return line.split()[-1]
        time.sleep(0.1)
    raise AssertionError(f"Firefox does not listen: {said.read_text()[-500:]}")


@pytest.fixture
def new_tab(firefox: Firefox, site: Site) -> Iterator[Callable[[], Tab]]:
    """Opens tabs of somebody with cookies and kept boards of their own, none at first; the last one is seen."""
    user = firefox.command("browser.createUserContext")["userContext"]

    def open_tab() -> Tab:
        context = str(firefox.command("browsingContext.create", type="tab", userContext=user)["context"])
        firefox.command("browsingContext.setViewport", context=context, viewport={"width": 1280, "height": 900})
        tab = Tab(firefox, context)
        tab.open(site.address)
        return tab

    yield open_tab
    firefox.command("browser.removeUserContext", userContext=user)


@pytest.fixture
def tab(new_tab: Callable[[], Tab]) -> Iterator[Tab]:
    """A tab of Firefox, which must say no error on its console."""
    opened = new_tab()
    yield opened
    assert not opened.errors()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens(tab: Tab, site: Site, name: str) -> None:
    tab.open(site.at(name))
    tab.until("() => document.readyState === 'complete' && document.querySelectorAll('option').length > 0")
    assert tab.call("() => document.querySelector('h1').textContent").startswith(PAGES[name])
    assert tab.call("() => document.getElementById('problem').hidden")


def test_what_goes_wrong_on_a_page_is_noticed(new_tab: Callable[[], Tab]) -> None:
    """The other tests rely on it."""
    tab = new_tab()
    assert tab.errors() == []
    tab.call("() => { document.body.setAttribute('style', 'color: red'); }")
    assert "Content-Security-Policy" in tab.errors()[0]
    tab.call("() => { setTimeout(() => nothing.of.this.name); }")
    assert "nothing is not defined" in tab.errors()[1]
    assert len(tab.errors()) == 2


def test_pieces_are_dragged_to_the_board_and_back_and_counted(tab: Tab, site: Site) -> None:
    tab.open(site.at("board?instance=like-e2-4x4"))
    tab.says("#tray-head", "Free pieces: 16")
    cell = "#place [data-cell='5']"
    tab.drag("#tray button", cell)
    tab.says("#tray-head", "Free pieces: 15")
    assert tab.call("name => document.querySelectorAll(name).length", f"{cell} path[stroke]") == 4
    tab.drag("#check", "#check")
    tab.says("#checked", " of 24")
    tab.drag(cell, "#tray")
    tab.says("#tray-head", "Free pieces: 16")
    tab.drag("#undo", "#undo")
    tab.says("#tray-head", "Free pieces: 15")


def test_many_tabs_are_open_at_once(new_tab: Callable[[], Tab], site: Site) -> None:
    """A browser has six connections for a server; a tab that is not seen takes none."""
    run = lns.generate("like-e2", width=4, seed=1)
    lns.solve(run.puzzle, time=5, steps=1, workers=1, seed=1, run_dir=site.root / "tabs", progress="none")
    for _ in range(5):
        tab = new_tab()
        tab.open(site.at("runs?name=tabs"))
        tab.says("#facts", "ended")


def test_a_recorded_file_plays_without_the_server(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "like-e2-5x5", "-o", str(path)]) == 0
    tab.open(path.as_uri())
    tab.says("#player", "steps, solved")
    tab.drag("[aria-label='To the end']", "[aria-label='To the end']")
    tab.says("#player", "solution")
    assert tab.call("() => document.querySelectorAll('#place .empty').length") == 0
