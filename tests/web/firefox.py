"""A Firefox that is installed, driven over WebDriver BiDi, which it speaks itself: no geckodriver is needed."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

NAMES = ("firefox-esr", "firefox")
VIEWPORT = {"width": 1280, "height": 900}
KEYS = {"ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "ArrowLeft": "\ue012", "Enter": "\ue007",
        "Tab": "\ue004", "Escape": "\ue00c", "Delete": "\ue017", "Control": "\ue009", "Shift": "\ue008"}  # fmt: skip
OFF = ("browser.shell.checkDefaultBrowser", "browser.newtabpage.enabled", "browser.aboutwelcome.enabled",
       "datareporting.policy.dataSubmissionEnabled", "toolkit.telemetry.enabled", "app.normandy.enabled",
       "extensions.update.enabled", "extensions.getAddons.cache.enabled", "network.captive-portal-service.enabled",
       "network.connectivity-service.enabled", "browser.safebrowsing.malware.enabled",
       "browser.safebrowsing.phishing.enabled", "browser.download.always_ask_before_handling_new_types")  # fmt: skip
PREFERENCES = dict.fromkeys(OFF, False) | {"app.update.disabledForTesting": True, "browser.startup.page": 0,
                                           "browser.startup.homepage": "about:blank",
                                           "browser.download.folderList": 2}  # fmt: skip
"""A fresh profile that asks for nothing and loads nothing by itself."""
_ANSWER_S = 120.0
_STILL_S = 0.1  # an element that is to be clicked has not moved for so long


class Firefox:
    """A Firefox that runs, and saves files in ``downloads``."""

    def __init__(self, connection: ClientConnection, downloads: Path) -> None:
        self.downloads = downloads
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

    @contextlib.contextmanager
    def user(self) -> Iterator[str]:
        """Somebody with cookies and kept boards of their own, none at first."""
        name = str(self.command("browser.createUserContext")["userContext"])
        try:
            yield name
        finally:
            self.command("browser.removeUserContext", userContext=name)

    def tab(self, user: str) -> Tab:
        """A new tab, which is then the one that is seen."""
        context = str(self.command("browsingContext.create", type="tab", userContext=user)["context"])
        self.command("browsingContext.setViewport", context=context, viewport=VIEWPORT)
        return Tab(self, context)


class Tab:
    """A tab of Firefox. Elements are named by a selector; mouse and keyboard are those of the browser."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self.firefox, self.context = firefox, context
        self._lasts = itertools.count(1)

    def open(self, address: str) -> None:
        """Open an address and wait until it has loaded."""
        self.firefox.command("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def errors(self) -> list[str]:
        """What the tab said on its console as an error so far: exceptions, and what the content policy blocks.

        Errors arrive late but in order, so one more is made and awaited.
        """
        last = f"the last error, number {next(self._lasts)}"
        self.call("words => new Promise(done => setTimeout(() => { reportError(new Error(words)); done(); }))", last)
        end = time.monotonic() + _ANSWER_S
        while not any(last in words for words in self.firefox.said(self.context)):
            assert time.monotonic() < end, "errors do not arrive"
            time.sleep(0.02)
        return [words for words in self.firefox.said(self.context) if "the last error, number" not in words]

    def call(self, function: str, *given: Any) -> Any:
        """Call a JavaScript function in the page with JSON values; its result."""
        answer = self.firefox.command(
            "script.callFunction",
            functionDeclaration=f"async (given) => JSON.stringify(await ({function})(...JSON.parse(given)) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(given)}],
            target={"context": self.context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer.get("exceptionDetails", {}).get("text")
        return json.loads(answer["result"]["value"])

    def until(self, function: str, *given: Any, seconds: float = 30) -> Any:
        """Call a function until its result is true; the result."""
        end = time.monotonic() + seconds
        while not (found := self.call(function, *given)):
            assert time.monotonic() < end, f"not within {seconds} s: {function} {given}"
            time.sleep(0.05)
        return found

    def says(self, selector: str, words: str, seconds: float = 30) -> None:
        """Wait until an element holds these words."""
        holds = "(name, words) => (document.querySelector(name)?.textContent ?? '').includes(words)"
        self.until(holds, selector, words, seconds=seconds)

    def text(self, selector: str) -> str:
        """The text of an element, "" if there is none."""
        return str(self.call("name => document.querySelector(name)?.textContent ?? ''", selector))

    def fill(self, selector: str, value: str) -> None:
        """Write into a field, or choose from a list once it has this entry, as one input."""
        self.until(
            """(name, value) => {
                const field = document.querySelector(name);
                if (!field || field.disabled) return false;
                field.value = value;
                if (field.value !== value) return false;
                for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
                return true;
            }""",
            selector,
            value,
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

    def click(self, selector: str, button: int = 0) -> None:
        """Click on an element, with the right button as number 2."""
        self._point([self.centre(selector)], button)

    def drag(self, source: str, target: str) -> None:
        """Drag from one element to another, as a hand does."""
        self.centre(target)  # both are on the screen then, if they fit
        start, end = self.centre(source), self.centre(target)
        assert start == self.centre(source), f"{source} and {target} do not fit on one screen"
        self._point(
            [{axis: round(at + (end[axis] - at) * step / 8) for axis, at in start.items()} for step in range(9)]
        )

    def _point(self, way: list[dict[str, int]], button: int = 0) -> None:
        """Press a button at the first place, and release it at the last."""
        first, *others = ({"type": "pointerMove", "duration": 16, **at} for at in way)
        down, up = ({"type": name, "button": button} for name in ("pointerDown", "pointerUp"))
        self._act({"type": "pointer", "id": "mouse", "actions": [first, down, *others, up]})

    def press(self, *keys: str) -> None:
        """Press keys one after the other; "Control+z" holds one while the other is pressed."""
        actions = []
        for key in keys:
            chord = [KEYS.get(part, part) for part in key.split("+")]
            actions += [{"type": "keyDown", "value": part} for part in chord]
            actions += [{"type": "keyUp", "value": part} for part in reversed(chord)]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def _act(self, source: dict[str, Any]) -> None:
        self.firefox.command("input.performActions", context=self.context, actions=[source])


@contextlib.contextmanager
def started(path: str, folder: Path) -> Iterator[Firefox]:
    """Start a Firefox, whose program is ``path``, with a profile of its own in an empty folder, and end it."""
    from websockets.sync.client import connect

    profile, downloads = folder / "profile", folder / "downloads"
    profile.mkdir()
    downloads.mkdir()
    wanted = PREFERENCES | {"browser.download.dir": str(downloads)}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in wanted.items()]
    (profile / "user.js").write_text("".join(lines))
    said = folder / "stderr"
    with said.open("w") as file:
        process = subprocess.Popen(
            [path, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)],
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    try:
        with connect(f"{_address(process, said)}/session", max_size=None, open_timeout=_ANSWER_S) as connection:
            yield Firefox(connection, downloads)
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
