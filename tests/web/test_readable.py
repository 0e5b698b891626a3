"""Pages that all can read, also by axe-core's rules: motifs, numbers, what fits the window, zoom, links to a board."""

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import lns
from lns.instances.board import EMPTY, Board
from lns.instances.puzzle import Puzzle
from lns.web.app import PAGES
from lns.web.guard import own_number
from tests.web.browsing import Site, cell, kept, loaded, open_board, served, visit

pytestmark = pytest.mark.browser

CASES = {"desktop light": (1280, 900, "light"), "desktop dark": (1280, 900, "dark"), "phone light": (360, 740, "light"),
         "phone dark": (360, 740, "dark"), "4k light": (3840, 2160, "light")}  # fmt: skip
WINDOWS = {"desktop": (1400, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def large() -> tuple[Puzzle, Board]:
    """256 pieces, a board, and one piece fewer on it."""
    return lns.generate("like-e2", width=16, seed=1)


def in_window(page: Page, selector: str) -> bool:
    """Whether an element is wholly in the window, which was not scrolled."""
    return bool(page.evaluate("""selector => {
        const box = document.querySelector(selector).getBoundingClientRect();
        return scrollY === 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    }""", selector))  # fmt: skip


def boxes(page: Page) -> list[float]:
    """Left, top and width of a cell in the middle."""
    box = cell(page, 119).bounding_box()
    assert box is not None
    return [box["x"], box["y"], box["width"]]


@pytest.mark.parametrize("width", [360, 390])
def test_the_menu_is_one_line_and_every_button_is_seen_on_a_phone(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for name in PAGES:
        visit(page, site, name)
        page.evaluate("scrollTo(0, 0)")
        for found in page.locator("header :is(a, button), [role=toolbar] button").all():
            box = found.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width, (name, found)
        assert page.locator("header").evaluate("header => header.offsetHeight") < 60
        assert not page.locator("nav").evaluate("nav => nav.scrollWidth > nav.clientWidth"), name


@pytest.mark.parametrize("window", WINDOWS)
def test_a_large_board_and_its_tray_fit_the_window(
    page: Page, site: Site, large: tuple[Puzzle, Board], window: str
) -> None:
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    puzzle, board = large
    taken = board.placements.copy()
    taken[100] = EMPTY
    open_board(page, site, puzzle, Board(taken, 16, 16))
    page.evaluate("scrollTo(0, 0)")
    assert in_window(page, "#place svg")
    assert in_window(page, "#tray button")
    assert in_window(page, "header")
    cell(page, 255).click()
    cell(page, 0).click()  # a click scrolls to what is not in the window
    assert in_window(page, "#place svg")


def test_colours_have_motifs_that_can_be_switched_off_and_pieces_show_their_numbers(
    page: Page, site: Site, small: tuple[Puzzle, Board]
) -> None:
    puzzle, board = small
    open_board(page, site, *small)
    shapes = page.locator("#place .motif").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert len(shapes) == 2 * puzzle.max_score  # one for each side that is not grey
    assert len(set(shapes)) == puzzle.colours
    numbers = page.locator("#place [data-cell] text")
    expect(numbers).to_have_count(0)
    for choice in ("motifs", "numbers"):
        page.locator(f"#{choice}").evaluate("box => box.click()")
    expect(page.locator("#place .motif")).to_have_count(0)
    assert numbers.all_text_contents() == [str(oriented // 4 + 1) for oriented in board.placements.tolist()]
    labels = page.locator("#place svg > g:last-child text").all_text_contents()
    assert labels == [str(number) for number in [*range(puzzle.width), *range(puzzle.height)]]
    page.reload()
    expect(page.locator("#score")).to_contain_text(f"{puzzle.max_score} of")
    expect(page.locator("#place .motif")).to_have_count(0)  # the choice is kept


def test_wheel_keys_and_two_fingers_zoom(page: Page, site: Site, large: tuple[Puzzle, Board]) -> None:
    open_board(page, site, *large)
    before = boxes(page)
    cell(page, 119).hover()
    page.mouse.wheel(0, -500)  # the page scrolls: the board has not the focus
    page.wait_for_timeout(100)
    assert boxes(page) == pytest.approx(before, abs=0.5)
    cell(page, 119).focus()
    page.mouse.wheel(0, -500)
    page.wait_for_function("() => document.querySelector('#place svg').getAttribute('viewBox').split(' ')[2] < 300")
    near = boxes(page)
    assert near[2] == pytest.approx(before[2] * 2.718, rel=0.02)
    middle = [at + before[2] / 2 for at in before[:2]]
    assert [at + near[2] / 2 for at in near[:2]] == pytest.approx(middle, abs=2)  # what is under the pointer stays
    page.mouse.down(button="middle")
    page.mouse.move(middle[0] + 40, middle[1] + 20)
    page.mouse.up(button="middle")
    assert boxes(page)[:2] == pytest.approx([near[0] + 40, near[1] + 20], abs=1.5)
    cell(page, 119).focus()
    page.keyboard.press("0")
    assert boxes(page) == pytest.approx(before, abs=0.5)
    page.keyboard.press("+")
    assert boxes(page)[2] == pytest.approx(before[2] * 1.25, rel=0.01)
    page.keyboard.press("0")
    touch = """([x, y]) => {
        const svg = document.querySelector('#place svg'), target = document.elementFromPoint(x, y);
        const fire = (type, id, x) => target.dispatchEvent(new PointerEvent(type,
            { pointerId: id, pointerType: 'touch', isPrimary: id === 1, clientX: x, clientY: y, bubbles: true,
              cancelable: true }));
        fire('pointerdown', 1, x - 30); fire('pointerdown', 2, x + 30);
        fire('pointermove', 2, x + 90);
        fire('pointerup', 2, x + 90); fire('pointerup', 1, x - 30);
    }"""
    page.evaluate(touch, middle)
    assert boxes(page)[2] == pytest.approx(before[2] * 2, rel=0.02)
    assert kept(page, "board")["board"] == large[1].placements.tolist()  # no piece was dragged


def opened_by_link(page: Page, link: str) -> dict[str, Any]:
    """Open a link in a browser that keeps nothing; what the page shows."""
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#place svg")).to_be_visible()
    cell(page, 0).focus()
    for key in ("Delete", "Control+z"):  # an edited board is kept
        page.keyboard.press(key)
    return kept(page, "board")


@pytest.mark.parametrize("kind", ["like-e2", "tetravex", "unframed"])
def test_a_link_holds_puzzle_board_and_pins(page: Page, site: Site, kind: str) -> None:
    puzzle, board = lns.generate(kind, width=4, seed=2)
    placements = board.placements.copy()
    placements[[6, 9]] = EMPTY
    open_board(page, site, puzzle, Board(placements, 4, 4))
    cell(page, 7).focus()
    page.keyboard.press("p")
    page.click("#link")
    expect(page.locator("#shared")).to_have_value(re.compile("#lns="))
    link = page.locator("#shared").input_value()
    assert link.startswith(site.at("board#lns=")) and len(link) < 1000
    expect(page.locator("#checked")).to_contain_text("The link is copied")
    read = lns.load_board(link)
    assert read.puzzle == puzzle and read == Board(placements, 4, 4)
    before = kept(page, "board")
    found = opened_by_link(page, link)
    assert found["puzzle"]["pieces"] == before["puzzle"]["pieces"]
    assert (found["board"], found["pinned"]) == (before["board"], [7])
    assert page.url == site.at("board")  # an edited board is opened again as the user's own
    expect(page.locator("#name")).to_contain_text(puzzle.name)
    open_board(page, site, *lns.generate("like-e2", width=5, seed=1))
    page.click("#opener summary")
    page.fill("#text", f" {link}\n")
    page.click("#open")
    expect(page.locator("#name")).to_contain_text("4 x 4")
    found = kept(page, "board")
    assert (found["puzzle"]["pieces"], found["board"]) == (before["puzzle"]["pieces"], before["board"])
    assert found["pinned"] == [7]


def test_a_link_does_not_replace_the_board_of_the_user(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    open_board(page, site, *lns.generate("like-e2", width=4, seed=2))
    page.click("#link")
    expect(page.locator("#shared")).to_have_value(re.compile("#lns="))
    link = page.locator("#shared").input_value()
    open_board(page, site, *small)
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#name")).to_contain_text("4 x 4")
    page.goto(site.at("board"))
    expect(page.locator("#name")).to_contain_text("5 x 5")


BAD_LINKS = ("lns=", "lns=%00", "lns=QUJD", f"lns={'A' * 300_000}", "lns=q1ZKSizILMlVsqpWSk4sKkktKlayiq6tBQA")


@pytest.mark.parametrize("hash", BAD_LINKS)
def test_a_link_without_a_board_is_refused_and_the_page_is_not_empty(page: Page, site: Site, hash: str) -> None:
    page.goto(site.at(f"board#{hash}"))
    expect(page.locator("#problem")).to_contain_text("this link holds no board")
    expect(page.locator("#name")).to_contain_text("like-e2-16x16")
    page.goto("about:blank")
    page.goto(site.at("board#main"))  # the heading, not a board
    expect(page.locator("#name")).to_contain_text("like-e2-16x16")
    assert page.locator("#problem").is_hidden()


def test_a_free_cell_shows_the_pieces_that_fit_and_takes_one(
    page: Page, site: Site, small: tuple[Puzzle, Board]
) -> None:
    puzzle, board = small
    placements = board.placements.copy()
    placements[[6, 24, 12]] = EMPTY
    open_board(page, site, puzzle, Board(placements, 5, 5))
    cell(page, 6).click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 1, column 1: 1")
    page.locator("#tray [data-piece]").click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces: 2")
    assert kept(page, "board")["board"][6] == board.placements[6]
    for first, again in (("click", "click"), ("Enter", "Escape"), ("Enter", "all")):
        cell(page, 12).click() if first == "click" else cell(page, 12).press(first)
        expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 2, column 2: 1")
        assert page.locator("#place .asked").count() == 1
        if again == "all":
            page.locator("#tray .all").click()
        else:
            cell(page, 12).click() if again == "click" else cell(page, 12).press(again)
        expect(page.locator("#tray-head")).to_have_text("Free pieces: 2")
        assert page.locator("#place .asked").count() == 0


def test_no_page_of_boards_begins_empty(page: Page, site: Site) -> None:
    visit(page, site, "board")
    expect(page.locator("#name")).to_contain_text("like-e2-16x16, 16 x 16")
    expect(page.locator("#opener")).not_to_have_attribute("open", "")
    visit(page, site, "play")
    expect(page.locator("#name")).to_have_text("square, 16 pieces, 4 colours")
    expect(page.locator("#place svg")).to_be_visible()
    expect(page.locator("#score")).to_contain_text("time0")
    page.reload()
    expect(page.locator("#place svg")).to_be_visible()  # nobody has begun it yet
    cell(page, 5).click()
    expect(page.locator("#tray-head")).to_contain_text("that fit row 1, column 1")
    page.click("#pause")
    expect(page.locator("#place svg")).to_be_hidden()
    page.locator("#tray button").first.press("Enter")
    expect(page.locator("#score")).to_contain_text("placed0 of 16")
    visit(page, site, "steps")
    expect(page.locator("#player")).to_contain_text("steps, solved", timeout=180_000)


@pytest.mark.parametrize("name", PAGES)
def test_pages_can_be_read_by_all(page: Page, site: Site, name: str) -> None:
    page.goto(site.at(name))
    loaded(page)
    if name == "board":
        open_board(page, site, *lns.generate("like-e2", width=6, seed=3))
    for case, (width, height, scheme) in CASES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
        assert not found, (case, [(one["id"], [node["target"] for node in one["nodes"]]) for one in found])
        wide = "() => (page => page.scrollWidth > page.clientWidth + 1)(document.documentElement)"
        assert not page.evaluate(wide), case


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
