"""The game in a browser: played to its end by mouse, with hints, paused, saved, given up, from a file."""

import json
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import lns
from lns.api.files import placed_as_clues
from lns.instances import formats
from lns.instances.board import Board
from lns.web.wire import puzzle_to_json
from tests.web.browsing import Site, cell, choose, drag, held_job, kept, unfold, visit

pytestmark = pytest.mark.browser


def begin(page: Page, site: Site, shape: str, pieces: int, colours: int = 3) -> dict[str, Any]:
    """Begin a game; what the page keeps of it."""
    visit(page, site, "play")
    unfold(page)
    page.select_option("#shape", shape)
    label = page.locator("#pieces option", has_text=f"{pieces} (").first.inner_text()
    page.select_option("#pieces", label=label)
    page.fill("#colours", str(colours))
    page.click("#new button[type=submit]")
    expect(page.locator("#name")).to_have_text(f"{shape}, {pieces} pieces, {colours} colours")
    return kept(page, "game")


@pytest.mark.parametrize(
    ("shape", "pieces"),
    [("square", 9), ("diamond", 13), ("triangle", 9), ("rectangle", 6), ("tetravex", 4), ("scramble squares", 9),
     ("macmahon", 24)],
)  # fmt: skip
def test_a_game_is_played_to_its_end(page: Page, site: Site, shape: str, pieces: int) -> None:
    solution = begin(page, site, shape, pieces)["solution"]
    for number, oriented in enumerate(solution):
        if oriented < 0:
            continue
        drag(page, page.locator(f"#tray [data-piece='{oriented >> 2}']"), cell(page, number))
        for _ in range(4):
            label = cell(page, number).get_attribute("aria-label") or ""
            if kept(page, "game")["board"][number] == oriented or "piece" not in label:
                break
            cell(page, number).click(button="right")
    expect(page.locator("#play-said")).to_contain_text("Solved in")
    expect(page.locator("#times")).to_contain_text(f"{shape}, {pieces} pieces, 3 colours")
    page.reload()
    expect(page.locator("#times")).to_contain_text(f"{shape}, {pieces} pieces")


def test_a_game_is_played_to_its_end_with_the_keyboard_alone(page: Page, site: Site) -> None:
    visit(page, site, "play")
    page.locator("#shape").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Home")  # the smallest, 4 pieces
    page.keyboard.press("Tab")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_have_text("square, 4 pieces, 3 colours")
    solution = kept(page, "game")["solution"]
    for number, oriented in enumerate(solution):
        for _ in range(60):  # Tab leads to each free piece
            if page.evaluate("() => document.activeElement?.dataset?.piece") == str(oriented >> 2):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first empty cell has the focus now, and it is the one
        page.keyboard.press("Enter")
        for _ in range(4):
            if kept(page, "game")["board"][number] == oriented:
                break
            page.keyboard.press("r")
    expect(page.locator("#play-said")).to_contain_text("Solved in")


def test_hints_lead_to_the_end_and_a_finger_turns_a_piece(page: Page, site: Site) -> None:
    begin(page, site, "square", 9)
    page.click("#hint")
    expect(page.locator("#score")).to_contain_text("hints1")
    label = cell(page, 0).get_attribute("aria-label") or ""
    page.click("#turn")
    cell(page, 0).click()
    expect(cell(page, 0)).not_to_have_attribute("aria-label", label)
    for _ in range(3):
        cell(page, 0).click()
    expect(cell(page, 0)).to_have_attribute("aria-label", label)
    for number in range(1, 9):
        page.click("#hint")
        expect(page.locator("#score")).to_contain_text(f"hints{number + 1}")
    expect(page.locator("#play-said")).to_contain_text("Solved in")
    expect(page.locator("#play-said")).to_contain_text("9 hints")


def test_a_hint_proves_that_nothing_is_left(page: Page, site: Site) -> None:
    solution = begin(page, site, "square", 9)["solution"]
    corner, other = solution[0] >> 2, solution[2] >> 2
    drag(page, page.locator(f"#tray [data-piece='{solution[4] >> 2}']"), cell(page, 0))
    assert corner != other
    page.click("#hint")
    expect(page.locator("#play-said")).to_contain_text("Proven: no perfect board has these pieces", timeout=180_000)


def open_game(page: Page, site: Site | None = None, *, turned: bool) -> None:
    """A game of nine pieces from a file, with the upper left corner and the middle on their cells.

    If the middle is ``turned`` by a quarter, all placed pieces still fit, but no perfect board has them there. With a
    ``site`` the page is opened before.
    """
    if site is not None:
        page.goto(site.at("play"))
    puzzle, solution = lns.generate("uniform", width=3, height=3, colours=3, seed=1)
    board = [-1] * 9
    board[0], board[4] = int(solution.placements[0]), int(solution.placements[4]) ^ int(turned)
    placed = Board(np.array(board, dtype=np.int32), 3, 3)
    assert (lns.count(placed_as_clues(puzzle, placed, "board")).solutions == 0) == turned
    title = "nine, turned" if turned else "nine"
    fields = {"lns_game": 1, "title": title, "puzzle": puzzle_to_json(puzzle), "board": board}
    choose(page, json.dumps(fields))
    expect(page.locator("#score")).to_contain_text("placed2 of 9")


def test_it_is_proven_that_a_board_can_or_cannot_be_completed(page: Page, site: Site) -> None:
    said = page.locator("#play-said")
    open_game(page, site, turned=True)
    page.click("#check")
    none = "Proven: no perfect board has these pieces on these cells. Take some off."
    expect(said).to_have_text(none, timeout=180_000)
    open_game(page, site, turned=False)
    page.click("#check")
    expect(said).to_have_text("All 2 pieces fit so far. Proven: this can still be completed.", timeout=180_000)
    expect(page.locator("#score")).to_contain_text("hints0")


def test_an_answer_about_pieces_that_were_moved_meanwhile_is_not_given(page: Page, site: Site) -> None:
    open_game(page, site, turned=True)
    held = held_job(page, "#check")
    cell(page, 4).focus()
    page.keyboard.press("Delete")
    expect(page.locator("#score")).to_contain_text("placed1 of 9")
    held.continue_()
    expect(page.locator("#play-said")).to_contain_text("The board has changed since you asked", timeout=180_000)


def test_two_quick_clicks_begin_one_search(page: Page, site: Site) -> None:
    open_game(page, site, turned=False)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/api/job") else None)
    page.evaluate("() => { for (const id of ['hint', 'hint', 'give-up']) document.getElementById(id).click(); }")
    expect(page.locator("#score")).to_contain_text("hints1", timeout=180_000)
    assert len(asked) == 1
    expect(page.locator("#score")).to_contain_text("placed3 of 9")
    page.click("#hint")  # the next one begins when the first has ended
    expect(page.locator("#score")).to_contain_text("hints2", timeout=180_000)


@pytest.mark.parametrize("button", ["#hint", "#give-up"])
def test_an_answer_is_not_given_to_another_game(page: Page, site: Site, button: str) -> None:
    open_game(page, site, turned=False)
    held = held_job(page, button)
    open_game(page, turned=True)
    expect(page.locator("#name")).to_have_text("nine, turned")
    with page.expect_request("**/api/job/stop"):  # the search for the game that was left is stopped
        held.continue_()
    page.click("#hint")
    expect(page.locator("#play-said")).to_contain_text("Proven: no perfect board has these pieces", timeout=180_000)
    expect(page.locator("#score")).to_contain_text("placed2 of 9")
    expect(page.locator("#score")).to_contain_text("hints0")
    expect(page.locator("#give-up")).to_be_enabled()


def test_a_paused_game_is_hidden_and_goes_on(page: Page, site: Site) -> None:
    begin(page, site, "square", 16)
    page.click("#hint")
    page.click("#pause")
    expect(page.locator("#place")).to_be_hidden()
    page.reload()  # the last game is there again, paused
    expect(page.locator("#place")).to_be_hidden()
    expect(page.locator("#score")).to_contain_text("placed1 of 16")
    page.click("#pause")
    expect(page.locator("#place")).to_be_visible()


def test_a_game_is_saved_and_opened_again(page: Page, site: Site) -> None:
    begin(page, site, "diamond", 13)
    page.locator("summary", has_text="Colours").click()  # of one's own
    page.locator("#own input[type=color]").first.fill("#123456")
    page.locator("#own input[type=color]").first.dispatch_event("change")
    assert page.locator("#tray path[fill='#123456']").count() > 0
    page.click("#own-none")
    assert page.locator("#tray path[fill='#123456']").count() == 0
    page.click("#hint")
    page.click("#save")
    with page.expect_download() as download:
        page.click("#download")
    content = download.value.path().read_text()
    begin(page, site, "square", 4)
    unfold(page)
    page.locator("#saved button", has_text="diamond").first.click()
    expect(page.locator("#score")).to_contain_text("placed1 of 13")
    begin(page, site, "square", 4)
    unfold(page)
    choose(page, content)
    expect(page.locator("#score")).to_contain_text("placed1 of 13")


def test_a_puzzle_from_a_file_is_given_up_with_its_solution(page: Page, site: Site) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=2).puzzle
    page.goto(site.at("play"))
    choose(page, formats.render("json", puzzle, None)[0])
    page.click("#give-up")
    expect(page.locator("#play-said")).to_contain_text("Given up: this is a solution", timeout=180_000)
    expect(page.locator("#score")).to_contain_text("24 of 24")
