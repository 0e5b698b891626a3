"""The page of runs in a browser: a run started, watched, stopped, resumed, and one that died."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import lns
from lns.cores import available_cores
from tests.web.browsing import Site, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with no run at first."""
    with served(tmp_path_factory.mktemp("root")) as started:
        yield started


def finished(site: Site, *names: str) -> None:
    """Runs that have ended."""
    puzzle = lns.generate("like-e2", width=4, seed=1).puzzle
    for name in names:
        lns.solve(puzzle, time=5, steps=1, workers=1, seed=1, run_dir=site.root / name, progress="none")


def test_a_run_is_started_watched_stopped_and_resumed(page: Page, site: Site) -> None:
    page.goto(site.at("runs"))
    expect(page.locator("#list")).to_contain_text("There is no run")
    page.locator("summary", has_text="Start a search").click()
    page.select_option("#instance", "like-e2-8x8")
    page.fill("#time", "10m")
    assert page.locator("#workers").input_value() == str(available_cores())
    page.fill("#workers", "1")
    page.click("#start button[type=submit]")
    expect(page.locator("#start-said")).to_contain_text("is started", timeout=60_000)
    expect(page.locator("#run-head")).to_be_focused()
    expect(page.locator("#run-head")).to_be_in_viewport()
    expect(page.locator("#facts")).to_contain_text("running", timeout=60_000)
    expect(page.locator("#best svg.board")).to_be_visible(timeout=240_000)
    expect(page.locator("#chart canvas")).to_be_visible()
    expect(page.locator("#log")).to_contain_text("like-e2-8x8")
    expect(page.locator("#facts")).to_contain_text(re.compile(r"left\s*9:\d\d"), timeout=120_000)
    page.click("#stop")
    expect(page.locator("#run-said")).to_have_text(re.compile("Stopping and saving|Stopped and saved"))
    expect(page.locator("#stop")).to_be_disabled()
    expect(page.locator("#facts")).to_contain_text("ended", timeout=60_000)
    expect(page.locator("#run-said")).to_have_text("Stopped and saved.")
    expect(page.locator("#islands tbody tr")).to_have_count(1)
    expect(page.locator("#elites figure").first).to_contain_text("after")
    page.fill("#estimate-time", "2")
    page.click("#estimate")
    expect(page.locator("#estimate-said")).to_contain_text("measured up to", timeout=120_000)
    expect(page.locator("#estimate-rows tbody tr").first).to_contain_text(re.compile("second|minute|hour|year"))
    expect(page.locator("#more")).to_have_attribute("placeholder", re.compile(r"^\d:\d\d left$"))
    page.fill("#more", "2")
    page.click("#resume")
    expect(page.locator("#run-said")).to_have_text(re.compile("Going on|The search goes on"))
    expect(page.locator("#facts")).to_contain_text("ended: time over", timeout=120_000)
    page.fill("#more", "")
    page.click("#resume")
    expect(page.locator("#run-said")).to_contain_text("used up: write how long")
    page.click("#edit")
    expect(page.locator("#name")).to_contain_text("like-e2-8x8")


def test_a_run_that_died_and_one_that_cannot_be_read_look_so(page: Page, site: Site) -> None:
    finished(site, "died", "damaged")
    (site.root / "died" / "lock").write_text('{"pid": 999999999, "host": "elsewhere"}')
    (site.root / "damaged" / "run.json").write_text("{}")
    page.goto(site.at("runs"))
    expect(page.locator("#list tr", has_text="damaged")).to_contain_text("damaged")
    expect(page.locator("#list tr", has_text="damaged").locator(".bad")).to_be_visible()
    page.get_by_role("link", name="died").click()
    expect(page.locator("#run-head")).to_have_text("died")
    expect(page.locator("#best svg")).to_be_visible()
    page.get_by_role("link", name="damaged").click()
    expect(page.locator("#run-notes")).to_contain_text("run.json")
    expect(page.locator("#best svg")).to_have_count(0)  # nothing of the other run is left
    expect(page.locator("#facts")).to_be_empty()
    expect(page.locator("#resume")).to_be_disabled()


def test_two_runs_are_compared(page: Page, site: Site) -> None:
    finished(site, "one", "other")
    page.goto(site.at("runs"))
    expect(page.locator("#list th").first).to_have_text("compare")
    page.get_by_label("compare one").check()  # no run is shown yet
    expect(page.locator("#run-head")).to_have_text("one")
    page.get_by_label("compare other").check()
    labels = page.locator("#chart .u-legend .u-label")
    expect(labels).to_have_text(["search", "one", "other"])
    page.get_by_label("compare one").uncheck()
    page.get_by_label("compare other").uncheck()
    expect(labels).to_have_text(["search", "one"])


def test_a_search_that_cannot_start_says_why(page: Page, site: Site) -> None:
    page.goto(site.at("runs"))
    page.locator("summary", has_text="Start a search").click()
    page.fill("#time", "soon")
    page.click("#start button[type=submit]")
    expect(page.locator("#start-said")).to_contain_text("'soon' is no duration")
    page.fill("#time", "10s")
    page.fill("#instance-file", "../../etc/passwd")
    page.click("#start button[type=submit]")
    expect(page.locator("#start-said")).to_contain_text("no path below the directory")
    expect(page.locator("#start button[type=submit]")).to_be_enabled()


def test_a_log_of_a_million_lines_opens_at_once(page: Page, site: Site) -> None:
    finished(site, "long")
    with (site.root / "long" / "run.log").open("w") as file:
        file.writelines(f"line {number} <b>of</b> many\n" for number in range(1_000_000))
    page.goto(site.at("runs?name=long"))
    expect(page.locator("#log-total")).to_contain_text("1,000,000 lines", timeout=10_000)
    expect(page.locator("#log")).to_contain_text("line 999999 <b>of</b> many")
    page.locator("#log").evaluate("box => { box.scrollTop = 0; }")
    expect(page.locator("#log")).to_contain_text("line 0 <b>of</b> many")
    assert page.locator("#log b").count() == 0


def test_elites_stand_side_by_side_with_what_they_share(page: Page, site: Site) -> None:
    made = lns.generate("like-e2", width=7, seed=4)
    run = lns.solve(
        made.puzzle, engine="tabu", time=30, steps=8, workers=1, seed=3, min_score=0,
        run_dir=site.root / "several", progress="none",
    )  # fmt: skip
    page.goto(site.at("runs?name=several"))
    figures = page.locator("#elites figure")
    expect(figures.first).to_contain_text(str(run.score))
    assert len((site.root / "several" / "boards.jsonl").read_text().splitlines()) > 1
    expect(page.locator("#common")).to_contain_text("the same on all")
    dimmed = page.locator("#elites [fill='#202020']")
    before = dimmed.count()
    page.uncheck("#unlike")
    expect(dimmed).to_have_count(0)
    page.check("#unlike")
    expect(dimmed).to_have_count(before)
    figures.first.get_by_role("link", name="Open").click()
    expect(page.locator("#score")).to_contain_text(f"{run.score} of {made.puzzle.max_score}")
