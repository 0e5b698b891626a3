"""Searches step by step in a browser, and as a file without a server; polyominoes by search and by hand."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import lns
from lns.cli.main import main
from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, filling_errors, parse
from lns.exact.polyominoes.levels import find_level
from lns.instances.puzzle import canonical
from tests.web.browsing import Site, cell, open_board, visit

pytestmark = pytest.mark.browser


def step_through(page: Page) -> None:
    """Play a recording of the 5x5 instance to its solution, back, and forth."""
    empty = page.locator("#place .empty")
    expect(empty).to_have_count(25)
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("decision 1: piece")
    expect(empty).to_have_count(24)
    page.get_by_role("button", name="One step back").click()
    expect(empty).to_have_count(25)
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution")
    expect(empty).to_have_count(0)
    page.get_by_role("button", name="To the start").click()
    slider = page.get_by_role("slider", name="Step", exact=True)
    slider.fill(str(max(0, int(slider.get_attribute("max") or 0) - 500)))
    page.get_by_label("Steps a second").fill("10")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("#player")).to_contain_text("solution", timeout=60_000)


def record(page: Page, site: Site, solver: str) -> None:
    """Record a search of the 5x5 instance."""
    page.goto(site.at("steps"))
    page.locator("#which option", has_text="like-e2-5x5").wait_for(state="attached")
    page.select_option("#which", "like-e2-5x5")
    page.select_option("#solver", solver)
    page.fill("#most", "50000")
    page.locator("#begin button[type=submit]").click()
    expect(page.locator("#player")).to_contain_text("steps, solved", timeout=180_000)


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "dlx"])
def test_a_search_is_recorded_and_played(page: Page, site: Site, solver: str) -> None:
    record(page, site, solver)
    step_through(page)


@pytest.mark.parametrize("solver", ["sat:triangles", "sat:triangles-restricted"])
def test_a_sat_solver_paints_its_triangles(page: Page, site: Site, solver: str) -> None:
    pytest.importorskip("pysat")
    record(page, site, solver)
    expect(page.locator("#solver-about")).to_contain_text("triangles")
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("without a decision")
    assert triangles(page) == 20, "the grey ones of the rim"
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution: all triangles are painted")
    assert triangles(page) == 100
    expect(cell(page, 12)).to_have_attribute("aria-label", re.compile(r"row 2, column 2, piece \d+: up \d+, right"))
    page.get_by_role("button", name="To the start").click()
    assert triangles(page) == 0


def test_outer_sides_without_a_frame_are_painted_as_the_piece_has_them(page: Page, site: Site) -> None:
    """No clause tells their colours."""
    pytest.importorskip("pysat")
    puzzle = lns.generate("unframed", width=3, seed=2, colours=5).puzzle
    open_board(page, site, puzzle)
    page.goto(site.at("steps"))
    page.select_option("#which", "board")
    page.select_option("#solver", "sat:triangles-restricted")
    page.locator("#begin button[type=submit]").click()
    expect(page.locator("#name")).to_contain_text(puzzle.name, timeout=180_000)
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("solution: all triangles are painted")
    for label in page.locator("#place [role=gridcell]").evaluate_all("cells => cells.map(cell => cell.ariaLabel)"):
        piece, *colours = map(int, re.findall(r"(?:piece|up|right|down|left) (\d+)", label))
        assert canonical(colours) == canonical(puzzle.pieces[piece - 1].tolist())


def triangles(page: Page) -> int:
    """How many triangles of the board have their colour; those with a pattern are drawn twice."""
    labels = page.locator("#place [role=gridcell]").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")
    return 4 * len(labels) - sum(label.count("open") for label in labels)


def test_a_recorded_file_plays_without_the_server(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "like-e2-5x5", "-o", str(path)]) == 0
    page.goto(path.as_uri())
    expect(page.locator("#player")).to_contain_text("steps, solved")
    step_through(page)


# -- polyominoes -------------------------------------------------------------------------------------------------------


def rows(page: Page) -> list[str]:
    """The grid on the screen, as rows of names."""
    labels = page.locator("#place [role=row]").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('[role=gridcell]')].map(one => one.ariaLabel))"
    )
    return ["".join(label.split("piece ")[1][0] if "piece " in label else "." for label in row) for row in labels]


def test_the_game_is_filled_and_replayed(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.click("#solve")
    expect(page.locator("#solve-said")).to_have_text("Filled.", timeout=180_000)
    filled = rows(page)
    assert not filling_errors(parse(IQ_PUZZLER_PRO), filled)
    page.get_by_role("button", name="To the start").click()
    assert set("".join(rows(page))) == {"."}
    page.get_by_role("button", name="One step", exact=True).click()
    assert len(set("".join(rows(page)))) == 2
    page.get_by_role("button", name="One step back").click()
    assert set("".join(rows(page))) == {"."}
    page.get_by_role("button", name="To the end").click()
    assert rows(page) == filled
    expect(page.locator("#player")).to_contain_text("a filling")


def test_a_level_is_played_by_hand(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.select_option("#level", "easy-1")
    page.click("#play")
    expect(page.locator("#name")).to_contain_text("easy-1")
    expect(page.locator("#pieces-head")).to_contain_text("4 not placed")
    level = rows(page)
    page.click("#solve")
    expect(page.locator("#solve-said")).to_have_text("Filled.", timeout=180_000)
    filled = rows(page)
    page.click("#clear")
    assert rows(page) == level
    names = sorted(set("".join(filled)) - set("".join(level)))
    for name in names:
        page.locator(f"#pieces [data-name='{name}']").click()
        width = len(level[0])
        cells = [(r, c) for r, row in enumerate(filled) for c, sign in enumerate(row) if sign == name]
        for attempt in range(8):
            cell(page, cells[0][0] * width + cells[0][1]).click()
            if [(r, c) for r, row in enumerate(rows(page)) for c, sign in enumerate(row) if sign == name] == cells:
                break
            if any(name in row for row in rows(page)):  # it fits there in another way too
                page.click("#undo")
                page.locator(f"#pieces [data-name='{name}']").click()
                for _ in range(attempt % 4):
                    page.keyboard.press("r")
                if attempt >= 4:
                    page.keyboard.press("f")
            page.keyboard.press("f" if attempt == 3 else "r")
    assert rows(page) == filled
    expect(page.locator("#fill-said")).to_have_text("The grid is filled.")


def test_pieces_are_placed_with_the_keyboard_alone(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.locator("#pieces button").first.focus()
    name = page.evaluate("() => document.activeElement.dataset.name")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.cell") == "0"
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "r", "f", "Enter"):
        page.keyboard.press(key)
    assert name in "".join(rows(page))
    assert page.evaluate("() => document.activeElement.dataset.cell") == "13"
    page.locator("#pieces button").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.cell") == "13", "where the grid was left"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.closest('#pieces') !== null")


def test_a_grid_is_cut_at_random_and_its_search_is_stopped(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.select_option("#size", "60x6")
    page.click("#cut")
    expect(page.locator("#name")).to_contain_text("60 x 6")
    # a slow processor: drawing must leave time for clicks
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.check("#count")
    page.fill("#time", "600")  # seconds; on a busy machine it would end before the click
    page.click("#solve")
    expect(page.locator("#play")).to_be_disabled()
    expect(page.locator("#figures")).to_contain_text("placements tested", timeout=180_000)
    page.click("#stop")
    expect(page.locator("#solve-said")).to_contain_text("Stopped", timeout=30_000)
    expect(page.locator("#play")).to_be_enabled()


def test_a_grid_is_made_and_cut_within_limits(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    page.click("#random")
    expect(page.locator("#pieces-head")).to_contain_text("4 not placed", timeout=180_000)
    page.select_option("#size", "12x12")
    page.locator("summary", has_text="Limits").click()
    page.fill("#smallest", "4")
    page.fill("#largest", "5")
    page.fill("#longest", "3")
    page.click("#cut")
    expect(page.locator("#name")).to_contain_text("12 x 12")
    labels = page.locator("#pieces button").evaluate_all("buttons => buttons.map(button => button.ariaLabel)")
    assert len(labels) > 28 and all(label.endswith((", 4 cells", ", 5 cells")) for label in labels)
    page.fill("#most", "2")
    page.click("#cut")
    expect(page.locator("#problem")).to_contain_text("no cut of 12 x 12 into at most 2 pieces")


def test_a_recorded_filling_plays_without_the_server(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "easy-1", "--solver", "polyomino", "-o", str(path)]) == 0
    page.goto(path.as_uri())
    expect(page.locator("#player")).to_contain_text("steps, solved")
    level = rows(page)
    page.get_by_role("button", name="One step", exact=True).click()
    expect(page.locator("#player")).to_contain_text("at depth 1")
    assert rows(page) != level
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#player")).to_contain_text("a filling")
    assert not filling_errors(find_level("easy-1"), rows(page))


def test_a_piece_is_dragged_turned_and_flipped_with_a_preview(page: Page, site: Site) -> None:
    visit(page, site, "polyominoes")
    name = page.locator("#pieces button").first.get_attribute("data-name")
    piece, preview = page.locator(f"#pieces [data-name='{name}']"), page.locator("#place .preview rect")

    def carry(*keys: str, to: int) -> None:
        piece.hover()
        page.mouse.down()
        box = cell(page, to).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        for key in keys:
            page.keyboard.press(key)

    def shape() -> set[tuple[int, int]]:
        """The cells of the piece on the grid, from its first one on."""
        found = [(r, c) for r, row in enumerate(rows(page)) for c, sign in enumerate(row) if sign == name]
        return {(r - found[0][0], c - found[0][1]) for r, c in found}

    shown = []
    for keys in ((), ("r",), ("f",)):
        carry(*keys, to=5)
        count = preview.count()
        assert count >= 3
        assert set(preview.evaluate_all("rects => rects.map(rect => rect.getAttribute('fill'))")) == {"#fff"}
        page.mouse.up()
        shown.append(shape())
        assert len(shown[-1]) == count
        page.click("#undo")
    assert shown[1] != shown[0]
    carry(to=54)  # the last cell: no larger piece has its first one there
    assert set(preview.evaluate_all("rects => rects.map(rect => rect.getAttribute('fill'))")) == {"#f00"}
    page.mouse.up()
    expect(page.locator("#fill-said")).to_have_text(f"Piece {name} does not fit there.")
    expect(piece).to_have_attribute("aria-pressed", "false")
