"""Figures of `lns web`: `python -m tests.web.figures`, on an idle machine with a Chromium that is installed.

First paint of a board of 256 pieces, frames while a piece is dragged, and what an open page costs a running search.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import lns
from lns.engine import Statistics
from lns.instances import formats
from tests.web.browsing import ROOT, cell, served
from tests.web.conftest import FLAGS, NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LOADS = 9
DRAG_S = 3.0
SLOT_S, SLOTS = 15.0, 4  # with the page and without it, in turn
PAINTED = """() => new Promise(resolve => {
  const look = () => document.querySelectorAll("#place [data-cell] path").length >= 1024
    ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))) : requestAnimationFrame(look);
  look();
})"""
"""Milliseconds from the start of the navigation to the frame after which all pieces are on the screen."""
FRAMES = """() => {
  window.frames_at = [];
  const note = at => { window.frames_at.push(at); requestAnimationFrame(note); };
  requestAnimationFrame(note);
}"""


def first_paint(browser: Browser, root: Path) -> list[float]:
    """Milliseconds until a board of 256 pieces is drawn, for pages that are opened one after the other."""
    times = []
    with served(root, str(root / "board.txt")) as site:
        for _ in range(LOADS):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto(site.address, wait_until="commit")
            times.append(float(page.evaluate(PAINTED)))
            context.close()
    return times


def drag_frames(browser: Browser, root: Path) -> list[float]:
    """Milliseconds between frames while a piece is dragged over a board of 256 pieces."""
    with served(root, str(root / "board.txt")) as site:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(site.address)
        page.evaluate(PAINTED)
        boxes = [cell(page, number).bounding_box() for number in (17, 238)]
        assert boxes[0] and boxes[1]
        (x0, y0), (x1, y1) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
        page.mouse.move(x0, y0)
        page.mouse.down()
        page.evaluate(FRAMES)
        began, step = time.perf_counter(), 0
        while (spent := time.perf_counter() - began) < DRAG_S:
            share = abs((spent / 1.5) % 2 - 1)
            page.mouse.move(x1 + (x0 - x1) * share, y1 + (y0 - y1) * share)
            step += 1
        at: list[float] = page.evaluate("() => window.frames_at")
        page.mouse.up()
        page.close()
    return [later - earlier for earlier, later in pairwise(at[2:])]


def processor_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def page_cost(browser: Browser, root: Path, seconds: float, pairs: int) -> tuple[float, list[float], list[float]]:
    """Processor seconds of the server a second while a page follows a running search, which has a worker a core.

    Also nodes a second of the search with the page and without it, in turn.
    """
    run, cores = root / "running", os.cpu_count() or 1
    search = subprocess.Popen(
        [sys.executable, "-m", "lns", "solve", "like-e2-16x16", "--workers", str(cores), "--seed", "1", "--time", "1h",
         "--run-dir", str(run), "--quiet"],
        cwd=root, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    rates: dict[bool, list[float]] = {True: [], False: []}
    spent = open_for = 0.0
    try:
        with served(root) as site:
            while not (run / "status.json").is_file() or not nodes_of(run):
                time.sleep(1)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(site.address)
            for number in range(2 * pairs):
                watched = number % 2 == 0
                page.goto(site.at("runs?name=running") if watched else "about:blank")
                time.sleep(3)
                before, at, cost = nodes_of(run), time.perf_counter(), processor_seconds(site.pid)
                time.sleep(seconds)
                after, now = nodes_of(run), time.perf_counter()
                rates[watched].append((after[0] - before[0]) / (after[1] - before[1]))
                if watched:
                    spent += processor_seconds(site.pid) - cost
                    open_for += now - at
            page.close()
    finally:
        search.send_signal(signal.SIGINT)
        search.wait(timeout=60)
    return spent / open_for, rates[True], rates[False]


def nodes_of(run: Path) -> tuple[int, float]:
    """Placements of a run so far, and the seconds of search behind them; () before the first."""
    status = json.loads((run / "status.json").read_text())
    nodes = Statistics(**status["statistics"]).node_equivalents
    return (nodes, status["history"]["elapsed_s"]) if nodes else ()  # type: ignore[return-value]


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", choices=FIGURES, nargs="+", default=list(FIGURES), help="these figures (default: all)"
    )
    asked = parser.parse_args().only
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Chromium {browser.version}, no graphics card")
        for name in asked:
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                made = lns.generate("like-e2", width=16, seed=1)
                (root / "board.txt").write_text(formats.viewer_url(made.puzzle, made.solution))
                print(f"{name:<8} {FIGURES[name](browser, root)}", flush=True)
        browser.close()


def _paint(browser: Browser, root: Path) -> str:
    times = first_paint(browser, root)
    return (
        f"256 pieces after {statistics.median(times):.0f} ms (median of {LOADS}; {min(times):.0f} to {max(times):.0f})"
    )


def _drag(browser: Browser, root: Path) -> str:
    frames = drag_frames(browser, root)
    late = sum(frame > 1.5 * 1000 / 60 for frame in frames)
    return (
        f"{1000 * len(frames) / sum(frames):.1f} frames a second, {late} of {len(frames)} late by half a frame or more"
    )


def _cost(browser: Browser, root: Path) -> str:
    share, watched, alone = page_cost(browser, root, SLOT_S, SLOTS)
    with_it, without = statistics.mean(watched), statistics.mean(alone)
    return (
        f"the server takes {share:.2%} of a core, so {share / (os.cpu_count() or 1):.2%} of all; {with_it / 1e6:.2f} M "
        f"node equivalents a second with the page, {without / 1e6:.2f} M without it ({with_it / without - 1:+.1%})"
    )


FIGURES = {"paint": _paint, "drag": _drag, "cost": _cost}
"""What makes the line of a figure, by its name."""


if __name__ == "__main__":
    main()
