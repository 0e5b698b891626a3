"""Viewer URLs: the ways in which they are pasted, any order of letters, partial boards, wrong cells."""

import random
import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import load_board, read, viewer_url
from lns.instances.formats.viewer import MOTIFS_ORDERS
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.symmetry import View, board_from_view, puzzle_in_view
from lns.instances.verify import verify
from tests.instances.small_puzzles import boards, planted

PUZZLE, BOARD = planted(11, 6, 5, 9)
URL = viewer_url(PUZZLE, BOARD)
BARE = URL.partition("#")[2]


def relettered(url: str, seed: int) -> str:
    """The URL with the letters b..z permuted and without piece numbers."""
    letters = "bcdefghijklmnopqrstuvwxyz"
    mixed = str.maketrans(letters, "".join(random.Random(seed).sample(letters, len(letters))))
    return re.sub("(?<=board_edges=)([a-z]+).*", lambda found: found[1].translate(mixed), url)


def with_edges(url: str, cell: int, letters: str) -> str:
    """The URL with other letters on a cell and without piece numbers."""
    return re.sub(f"(board_edges=.{{{4 * cell}}}).{{4}}([a-z]*).*", rf"\g<1>{letters}\2", url)


@pytest.mark.parametrize(
    "text",
    [
        URL,
        "#" + BARE,
        BARE,
        f"'{URL}'",
        f'"{URL}"',
        f"<{URL}>",
        f"“{URL}”,",
        "https://example.org/viewer?" + BARE,
        URL.replace("#", "%23"),
        URL.partition("#")[0] + "#" + quote(BARE),
        quote(URL, safe=""),
        quote(quote(URL, safe=""), safe=""),
        URL.replace("&", "\\&").replace("#", "\\#").replace("=", "\\="),
        URL.replace("&", "&amp;"),
        "  " + URL + " ",
        URL.replace("board_w=6&board_h=5&", ""),
        f"See the board at {URL}.",
        f"A [board]({URL}), found today",
        f'<a href="{URL.replace("&", "&amp;")}">board</a>',
        f'{{"url":"{URL.replace("&", chr(92) + "u0026")}"}}',
        URL.replace("/#", "/?hints=3.0-7.1&"),
    ],
)
@pytest.mark.parametrize("as_file", [False, True])
def test_the_many_ways_to_paste_a_url(text: str, as_file: bool, tmp_path: Path) -> None:
    source = text
    if as_file:
        source = str(tmp_path / "board.txt")
        Path(source).write_text(f"the best of today\n{text}\n")
    assert load_board(source, PUZZLE) == (PUZZLE, BOARD)


@settings(deadline=None)
@given(case=boards(), seed=st.integers(0, 1000))
def test_any_letters_find_the_puzzle(case: tuple[Puzzle, Board], seed: int) -> None:
    """On small puzzles several maps of letters may fit; each shows the same board up to renamed colours."""
    puzzle, board = case
    try:
        again = load_board(relettered(viewer_url(puzzle, board), seed), puzzle)[1]
    except InputError as error:
        assert "in several ways" in str(error)
        return
    result, expected = verify(puzzle, again), verify(puzzle, board)
    shown = puzzle.cells > 1  # without numbers the one piece of a 1 x 1 board looks like an empty cell
    assert result.score == expected.score and result.mismatches == expected.mismatches
    assert not shown or result.placed == expected.placed


def test_a_piece_grey_on_all_sides_between_holes_comes_back() -> None:
    puzzle = Puzzle(np.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]), 4, 1, holes=(1,))
    for placements in ([0, -1, 4, 8], [-1, -1, 4, 8]):
        board = Board(np.array(placements), 4, 1).with_blanks(puzzle)
        assert load_board(viewer_url(puzzle, board), puzzle)[1] == board


def test_letters_that_match_in_several_ways_are_asked_about() -> None:
    assert load_board(relettered(URL, 5), PUZZLE)[1] == BOARD
    lone = Board(np.where(np.arange(30) == 8, BOARD.placements, -1), 6, 5)  # one inner piece
    url = relettered(viewer_url(PUZZLE, lone), 5)
    with pytest.raises(InputError, match="in several ways, which place different pieces; expected board_pieces"):
        read(url, puzzle=PUZZLE)


@pytest.mark.parametrize("order", MOTIFS_ORDERS)
def test_motifs_order_stated_absent_or_wrong(order: str) -> None:
    url = viewer_url(PUZZLE, BOARD, motifs_order=order)
    assert url != URL and url.endswith(f"&motifs_order={order}")
    assert read(url, puzzle=PUZZLE).notes == (f"motifs_order {order}",)
    for wrong in ("", "jef", "marie", "nobody", "abdcefghij"):
        assert load_board(url.replace(f"&motifs_order={order}", f"&motifs_order={wrong}"), PUZZLE)[1] == BOARD
    assert read(url.partition("&motifs")[0], puzzle=PUZZLE, format=f"url:{order}").notes == (f"motifs_order {order}",)
    own, board = load_board(url)  # alone, it has the default letters' colours
    assert np.array_equal(board.colours(own), BOARD.colours(PUZZLE))


def test_a_cell_that_is_no_piece_is_named() -> None:
    with pytest.raises(InputError, match=r"row 1, column 2 \(cell 8, from 0\) shows 'zzzz', no piece of planted-11"):
        read(with_edges(URL, 8, "zzzz"), puzzle=PUZZLE)
    with pytest.raises(InputError, match="no piece of planted-11"):
        read(with_edges(relettered(URL, 1), 8, "zzzz"), puzzle=PUZZLE)


def test_twins_are_taken_in_turn_and_a_piece_too_many_lies_twice() -> None:
    puzzle, board = planted(3, 5, 5, 1)  # one colour: nine identical inner pieces, symmetric all round
    again = load_board(viewer_url(puzzle, board).partition("&board_pieces")[0], puzzle)[1]
    assert verify(puzzle, again).complete
    placements = BOARD.placements.copy()
    placements[8] = placements[7]
    twice = viewer_url(PUZZLE, Board(placements, 6, 5))
    for url in (twice, relettered(twice, 2)):
        problems = verify(PUZZLE, load_board(url, PUZZLE)[1]).problems
        assert [problem for problem in problems if "is placed twice" in problem]


def test_the_piece_of_a_clue_is_taken_on_its_cell_and_elsewhere_last() -> None:
    bare, board = planted(3, 5, 5, 1)
    cells = [7, 18]
    puzzle = bare.with_clues(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in cells)
    url = viewer_url(puzzle, board).partition("&board_pieces")[0]
    again = load_board(url, puzzle)[1]
    assert verify(puzzle, again).complete and (again.placements[cells] // 4 == board.placements[cells] // 4).all()
    empty = Board(np.where(np.isin(np.arange(25), cells), -1, board.placements), 5, 5)
    partial = load_board(viewer_url(puzzle, empty).partition("&board_pieces")[0], puzzle)[1]
    assert not {clue.piece for clue in puzzle.clues} & set((partial.placements // 4).tolist())
    small, lone = planted(3, 2, 2, 1)
    with pytest.raises(InputError, match="expected 5 x 5 as in planted-3"):
        load_board(viewer_url(small, lone), puzzle)


def test_board_pieces_choose_between_identical_pieces_and_yield_to_the_edges() -> None:
    puzzle, board = planted(3, 5, 5, 1)
    assert (load_board(viewer_url(puzzle, board), puzzle)[1].placements // 4 == board.placements // 4).all()
    head, _, digits = URL.partition("board_pieces=")
    swapped = head + "board_pieces=" + digits[3:6] + digits[:3] + digits[6:]
    document = read(swapped, puzzle=PUZZLE)
    assert document.board == BOARD and "another piece than board_edges shows on 2 cells" in document.notes[-1]


def test_a_square_of_another_viewer(tmp_path: Path) -> None:
    puzzle, board = planted(12, 5, 5, 9)
    path = tmp_path / "text.txt"
    url = viewer_url(puzzle, board).replace("board_w=5&board_h=5", "puzzle_size=5").partition("&board_pieces")[0]
    path.write_text(url.replace("e2.bucas.name/#", "eternity2.dev/?"))
    assert load_board(str(path), puzzle)[1] == board


def test_a_piece_shown_twice_is_named_by_its_cells() -> None:
    edges = URL.partition("board_edges=")[2]
    inner = edges[4 * 8 : 4 * 9]
    notes = "; ".join(read(with_edges(URL.partition("&board_pieces")[0], 9, inner)).notes)
    assert "(cell 8, from 0) and row 1, column 3 (cell 9, from 0) show the same piece" in notes


def test_a_mirrored_board_is_recognised() -> None:
    mirrored = puzzle_in_view(PUZZLE, View(0, mirrored=True))
    url = viewer_url(mirrored, board_from_view(BOARD, View(0, mirrored=True))).partition("&board_pieces")[0]
    with pytest.raises(InputError, match="mirror images of the pieces"):
        read(url, puzzle=PUZZLE)
