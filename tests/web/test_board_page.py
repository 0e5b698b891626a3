"""The editor of boards in a browser: open, drag, turn, undo, keyboard, re-solve with proof, solve, share."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import lns
from lns.instances import formats
from lns.instances.board import EMPTY, Board
from lns.instances.draw.palette import SOCKET, hex_code, rgb
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted, with_mates
from tests.web.browsing import Site, cell, choose, drag, held_job, kept, loaded, open_board, swapped, unfold

pytestmark = pytest.mark.browser


def shown(page: Page) -> list[int]:
    """The board that the page keeps in the browser when it is closed."""
    board: list[int] = kept(page, "board")["board"]
    return board


def test_a_pasted_board_shows_its_score_and_its_conflicts(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    wrong = swapped(board, 6, 7)
    open_board(page, site, puzzle, wrong)
    checked = verify(puzzle, wrong)
    expect(page.locator("#score")).to_contain_text(f"{checked.score} of {puzzle.max_score}")
    expect(page.locator("#score")).to_contain_text(f"conflicts{len(checked.mismatches)}")
    page.click("#check")
    expect(page.locator("#checked")).to_contain_text(f"{checked.score} of {puzzle.max_score}, valid")


def test_a_file_opens_a_bad_text_is_refused_and_markup_is_text(
    page: Page, site: Site, small: tuple[Puzzle, Board]
) -> None:
    page.goto(site.at("board"))
    choose(page, formats.render("json", small[0], None)[0])
    expect(page.locator("#name")).to_contain_text("5 x 5")
    unfold(page)
    page.fill("#text", "<img src=x onerror=alert(1)>")
    page.click("#open")
    expect(page.locator("#problem")).to_contain_text("no line with the four sides of a piece")
    page.keyboard.press("Escape")
    expect(page.locator("#problem")).to_be_hidden()
    open_board(page, site, replace(small[0], name="<img src=x onerror=alert(1)>"))
    assert page.locator("#name img").count() == 0


def test_dragging_swaps_and_undo_brings_back(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, board)
    before = board.placements.tolist()
    drag(page, cell(page, 6), cell(page, 12))
    changed = shown(page)
    assert (changed[6], changed[12]) == (before[12], before[6])
    page.click("#undo")
    assert shown(page) == before
    page.click("#redo")
    assert shown(page) == changed
    page.click("#undo")
    cell(page, 7).focus()
    for _ in range(103):
        page.keyboard.press("r")
    assert shown(page)[7] == (before[7] & ~3) | ((before[7] + 103) & 3)
    for _ in range(103):
        page.keyboard.press("Control+z")
    assert shown(page) == before
    expect(page.locator("#undo")).to_be_disabled()


def test_pieces_go_to_the_tray_and_back(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, board)
    expect(page.locator("#tray-head")).to_contain_text("0")
    drag(page, cell(page, 12), page.locator("#tray"))
    expect(page.locator("#tray-head")).to_contain_text("1")
    assert shown(page)[12] == -1
    drag(page, page.locator("#tray button"), cell(page, 12))
    expect(page.locator("#score")).to_contain_text(f"{puzzle.max_score} of {puzzle.max_score}")  # turned as it fits
    for number in (7, 12):
        cell(page, number).focus()
        page.keyboard.press("Delete")
    page.locator("#tray button").first.focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#tray button")).to_have_count(1)
    assert page.evaluate("() => document.activeElement.matches('#tray button, #place [data-cell]')")
    page.click("#clear")
    page.locator("#filter button[aria-label='colour 1']").click()
    expect(page.locator("#tray button")).to_have_count(int((puzzle.pieces == 1).any(axis=1).sum()))


def test_the_keyboard_does_it_all(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, board)
    before = board.placements.tolist()
    cell(page, 0).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    changed = shown(page)
    assert (changed[6], changed[7]) == (before[7], before[6])
    page.keyboard.press("p")  # pinned: neither key nor mouse moves it
    page.keyboard.press("Delete")
    drag(page, cell(page, 7), cell(page, 8))
    assert shown(page) == changed
    page.keyboard.press("p")
    cell(page, 7).focus()
    page.keyboard.press("Delete")
    assert shown(page)[7] == -1
    expect(cell(page, 7)).to_have_attribute("aria-label", "row 1, column 2, empty")
    cell(page, 6).focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "ArrowDown", "s"):
        page.keyboard.press(key)
    chosen = page.locator("#place [aria-selected=true]").evaluate_all("cells => cells.map(one => one.dataset.cell)")
    assert chosen == ["6", "7", "12", "17"]
    changed = shown(page)
    page.reload()  # the last change is kept when the page is closed at once
    loaded(page)
    assert shown(page) == changed


def test_a_mouse_alone_turns_and_pins(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    """A finger has neither a right button, which turns too, nor keys."""
    puzzle, board = small
    open_board(page, site, puzzle, board)
    before = int(board.placements[12])
    cell(page, 12).click(button="right")
    assert shown(page)[12] == (before & ~3) | ((before + 1) & 3)
    page.click("#mode-turn")
    cell(page, 12).click()
    turned = shown(page)
    assert turned[12] == (before & ~3) | ((before + 2) & 3)
    page.click("#mode-pin")
    cell(page, 12).click()
    expect(cell(page, 12)).to_have_attribute("aria-label", re.compile(", pinned$"))
    page.click("#mode-move")
    drag(page, cell(page, 12), cell(page, 6))
    assert shown(page) == turned


def test_a_region_is_resolved_with_a_proof(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, swapped(board, 6, 12))
    page.click("#mode-rectangle")
    drag(page, cell(page, 6), cell(page, 13))
    expect(page.locator("#chosen")).to_contain_text("6 selected")
    page.click("#again")
    expect(page.locator("#again-said")).to_contain_text("Proven: no refill of these 6 cells is better", timeout=180_000)
    expect(page.locator("#score")).to_contain_text(f"{puzzle.max_score} of {puzzle.max_score}")
    page.click("#undo")
    expect(page.locator("#score")).not_to_contain_text(f"{puzzle.max_score} of {puzzle.max_score}")


def test_windows_are_mapped(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, board)
    page.locator("summary", has_text="Map of windows").click()
    page.fill("#window-height", "2")
    page.fill("#window-width", "3")
    page.click("#windows")
    expect(page.locator("#windows-said")).to_contain_text("12 windows proven (green), 0 improved", timeout=180_000)


def test_whether_a_board_can_be_completed(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    partial = board.placements.copy()
    partial[10:] = -1
    open_board(page, site, puzzle, Board(partial, 5, 5))
    held = held_job(page, "#complete")
    expect(page.locator("#solve")).to_be_disabled()  # one exact search at a time
    held.continue_()
    expect(page.locator("#exact-said")).to_contain_text("Yes: this can be completed", timeout=180_000)
    stuck = board.placements.copy()
    stuck[[6, 7]] = stuck[[7, 6]]
    stuck[20:] = -1
    open_board(page, site, puzzle, Board(stuck, 5, 5))
    page.click("#complete")
    expect(page.locator("#exact-said")).to_contain_text("Proven: no perfect board has these pieces", timeout=180_000)


def test_a_job_stops_when_it_is_told(page: Page, site: Site) -> None:
    page.goto(site.at("board?instance=like-e2-16x16"))
    page.click("#solve")
    expect(page.locator("#exact-said")).to_contain_text("nodes", timeout=180_000)
    page.click("#exact-stop")
    expect(page.locator("#exact-said")).to_contain_text("Not known: interrupted")


def test_a_result_is_not_written_over_another_board(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    wrong, other = swapped(board, 6, 12), swapped(swapped(board, 7, 13), 8, 16)
    score = verify(puzzle, other).score
    assert score != verify(puzzle, wrong).score
    open_board(page, site, puzzle, wrong)
    held = held_job(page, "#again")
    choose(page, formats.render("solution", puzzle, other)[0])
    expect(page.locator("#score")).to_contain_text(f"score{score} of {puzzle.max_score}")
    with page.expect_request("**/api/job/stop"):
        held.continue_()
    expect(page.locator("#again-said")).to_have_text("", timeout=180_000)
    expect(page.locator("#again")).to_be_enabled()
    assert shown(page) == other.placements.tolist()


def test_the_board_is_shared(page: Page, site: Site, small: tuple[Puzzle, Board], tmp_path: Path) -> None:
    puzzle, board = small
    open_board(page, site, puzzle, board)
    for form in ("url", "svg", "best", "solution", "json", "png"):
        if form != "png":
            page.select_option("#format", form)
        with page.expect_download() as download:
            page.click("#png" if form == "png" else "#save")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        if form in ("url", "best", "solution"):
            assert lns.load_board(path, puzzle) == board
        elif form == "json":
            assert lns.load_puzzle(path) == puzzle
        else:
            assert path.read_bytes().startswith({"svg": b"<svg", "png": b"\x89PNG"}[form])


def test_the_page_counts_as_the_verifier(page: Page, site: Site, small: tuple[Puzzle, Board]) -> None:
    """On boards that break every rule."""
    puzzle, solution = small
    clued = puzzle.with_clues(lns.generate("like-e2", width=5, seed=3, clues=3).puzzle.clues)
    rimmed, other = planted(1, 5, 5, 3, framed=False, rim=1)
    page.goto(site.at("board"))
    draws = np.random.default_rng(5)
    for judged in [clued, with_mates(puzzle, solution, 1), rimmed, with_mates(rimmed, other, 1)] * 8:
        placements = draws.permutation(25) * 4 + draws.integers(0, 4, 25)
        placements[draws.random(25) < 0.3] = -1
        mixed = Board(placements.astype(np.int32), 5, 5)
        found = page.evaluate(
            """async ([fields, placements]) => {
                const { Puzzle, judge } = await import("/static/model.js");
                const { score, placed, mismatches, rim, clues } = judge(new Puzzle(fields), placements);
                return [score, placed, mismatches.map(([one, , other]) => [one, other]), rim.length, clues.length];
            }""",
            [json.loads(formats.render("json", judged, None)[0]), placements.tolist()],
        )
        checked = verify(judged, mixed)
        grey = sum("grey inside" in problem or "on the rim" in problem for problem in checked.problems)
        clues = sum("clue" in problem for problem in checked.problems)
        assert found[:2] == [checked.score, checked.placed]
        assert [tuple(pair) for pair in found[2]] == list(checked.mismatches)
        assert found[3:] == [grey, clues]


# -- colours that have mates, and a rim of an ordinary colour ----------------------------------------------------------


@pytest.fixture(scope="module")
def scramble() -> tuple[Puzzle, Board]:
    """Nine squares with half pictures on their sides, and how they fit."""
    puzzle, board = planted(4, 3, 3, 4, framed=False)
    return with_mates(puzzle, board, 4, share=1.0), board


@pytest.fixture(scope="module")
def macmahon() -> tuple[Puzzle, Board]:
    """Squares of three colours, one of which is all around the board and inside it too, and how they fit."""
    return planted(6, 4, 4, 3, framed=False, rim=2)


def without(board: Board, taken: int) -> Board:
    placements = board.placements.copy()
    placements[taken] = EMPTY
    return Board(placements, board.width, board.height)


def test_mates_are_halves_of_a_motif_and_are_counted(page: Page, site: Site, scramble: tuple[Puzzle, Board]) -> None:
    puzzle, solution = scramble
    wrong = swapped(solution, 0, 4)
    open_board(page, site, puzzle, wrong)
    found = verify(puzzle, wrong)
    expect(page.locator("#score")).to_contain_text(f"score{found.score} of 12conflicts{len(found.mismatches)}")
    expect(page.locator("#window-width")).to_have_value("3")  # not more than the board has
    shown = puzzle.pieces.ravel().tolist()
    seconds = {second for _, second in puzzle.mates}
    plates = page.locator("#place path").evaluate_all(
        f"paths => paths.map(path => path.getAttribute('d') === '{SOCKET}')"
    )
    assert plates.count(True) == sum(colour in seconds for colour in shown) > 0
    shapes = page.locator("#place .motif").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert len({*shapes}) == len({min(pair) for pair in puzzle.mates if {*pair} & {*shown}})
    assert "hole of" in (page.locator("#place").inner_html())
    page.locator("#motifs").evaluate("box => box.click()")
    fills = page.locator("#place [data-cell] path[stroke-opacity]").evaluate_all(
        "paths => paths.map(path => getComputedStyle(path).fill)"
    )
    assert len({*fills}) == len({*shown})  # without motifs a hole is darker or lighter


def test_a_free_cell_of_mates_shows_what_fits_and_a_link_holds_them(
    page: Page, site: Site, scramble: tuple[Puzzle, Board]
) -> None:
    puzzle, solution = scramble
    open_board(page, site, puzzle, without(solution, 4))
    cell(page, 4).click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 1, column 1: 1")
    page.locator("#tray [data-piece]").click()
    expect(page.locator("#score")).to_contain_text("score12 of 12")
    page.click("#link")
    expect(page.locator("#shared")).to_have_value(re.compile("#lns="))
    link = page.locator("#shared").input_value()
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#score")).to_contain_text("score12 of 12")
    page.click("#check")
    expect(page.locator("#checked")).to_contain_text("12 of 12, valid")


def test_a_rim_of_a_colour_is_drawn_and_its_faults_are_counted(
    page: Page, site: Site, macmahon: tuple[Puzzle, Board]
) -> None:
    puzzle, solution = macmahon
    wrong = swapped(solution, 0, 5)
    open_board(page, site, puzzle, wrong)
    found = verify(puzzle, wrong)
    assert found.rim_faults
    expect(page.locator("#score")).to_contain_text(f"conflicts{len(found.mismatches)}rim{found.rim_faults} fault")
    ground = page.locator("#place svg > rect").first
    expect(ground).to_have_attribute("fill", re.compile(f"#{hex_code(rgb(2))}", re.IGNORECASE))
    bars = page.locator("#place svg path[stroke-width='3.4']").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d')).join('')"
    )
    assert bars.count("M") == len(found.mismatches) + found.rim_faults
    open_board(page, site, puzzle, without(solution, 0))
    cell(page, 0).click()
    expect(page.locator("#tray-head")).to_have_text("Free pieces that fit row 0, column 0: 1")
