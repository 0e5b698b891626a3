"""Every format is written and read back, on small puzzles with identical and symmetric pieces; formats are detected."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances import formats
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import Document, best_json, load_board, load_puzzle, parse, read, render, viewer_url, write
from lns.instances.generate import other_rules
from lns.instances.puzzle import Clue, Puzzle, canonical, rotate
from lns.instances.verify import verify
from tests.instances.small_puzzles import boards, planted, puzzles

quick = settings(deadline=None)  # the machine may be busy


def through(format: str, puzzle: Puzzle, board: Board | None = None, *, named: bool = False) -> Document:
    """Write in ``format`` and read again: what the format of a text without a name is, is detected."""
    text = render(format, puzzle, board, instance="nowhere")[0]
    known = puzzle if board is not None else None
    document = parse(text, puzzle=known, format=format if named else None, name=puzzle.name)
    assert document.format == format.partition(":")[0]
    return document


def canonicals(puzzle: Puzzle | None) -> list[tuple[int, int, int, int]]:
    assert puzzle is not None
    return [canonical(quad) for quad in puzzle.pieces.tolist()]


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ({"clues": [[0, 36, 0]]}, "entry 0 of 'clues': found '36'"),
        ({"turns": 0}, "'turns': found '0'"),
        ({"holes": [36]}, "entry 0 of 'holes'"),
        ({"framed": None}, "'framed'"),
        ({"mates": [[1, 1]]}, "mate"),
    ],
)
def test_a_rule_in_json_is_never_left_out(field: dict[str, object], sentence: str) -> None:
    puzzle, _ = planted(1, 6, 6, 5)
    fields = {"width": 6, "height": 6, "pieces": puzzle.pieces.tolist()}
    assert parse(json.dumps(fields)).puzzle == puzzle
    with pytest.raises(InputError, match=sentence):
        parse(json.dumps(fields | field))
    assert parse(json.dumps(fields | {"clue": [[0, 0, 0]]})).notes == ("left out: clue of the JSON",)
    others = {"rows": 6, "cols": 6, "tiles": puzzle.pieces.tolist(), "clues": "none"}
    assert any("left out: clues" in note for note in parse(json.dumps(others)).notes), "JSON of another program"


@quick
@given(case=puzzles(), square=puzzles(square=True))
def test_a_format_carries_every_puzzle_of_its_kind(case: tuple[Puzzle, Board], square: tuple[Puzzle, Board]) -> None:
    """json and quads carry every shape and clues, benoist squares, csv16 squares without the turns of clues."""
    again = through("json", case[0]).puzzle
    assert again == case[0] and again is not None and again.name == case[0].name
    assert through("quads", case[0]).puzzle == case[0] and not render("quads", case[0], None)[1]
    puzzle = square[0]
    assert through("benoist", puzzle).puzzle == puzzle
    again = through("csv16", puzzle).puzzle
    turns = {clue.piece: clue.rotation for clue in puzzle.clues}
    expected = [rotate(quad, turns.get(piece, 0)) for piece, quad in enumerate(puzzle.pieces.tolist())]
    assert again is not None and [tuple(quad) for quad in again.pieces.tolist()] == expected
    assert again.clues == tuple(Clue(clue.cell, clue.piece, 0) for clue in puzzle.clues)


def test_quads_carry_a_strip_whose_ends_look_like_corners_in_another_order() -> None:
    strip = Puzzle(np.array([[0, 0, 0, 2], [0, 1, 0, 2], [1, 0, 2, 0], [2, 0, 0, 0]]), 1, 4, name="case")
    for puzzle in (strip, strip.with_clues([Clue(0, 0, 3)])):
        assert through("quads", puzzle).puzzle == puzzle


@quick
@given(case=puzzles(square=True), order=st.permutations("urdl").map("".join))
def test_e2pieces_are_read_in_all_24_orders_if_named(case: tuple[Puzzle, Board], order: str) -> None:
    assert through(f"e2pieces:{order}", case[0], named=True).puzzle == case[0].with_clues([])


@pytest.mark.parametrize("order", ["urdl", "rdlu", "dlur", "lurd", "udlr", "ulrd"])
def test_e2pieces_order_is_detected_and_noted(order: str) -> None:
    for seed in range(5):
        puzzle, _ = planted(seed, 8, 8, 7)
        document = through(f"e2pieces:{order}", puzzle)
        assert canonicals(document.puzzle) == canonicals(puzzle)  # the four cyclic orders are one
        assert "side order up" in document.notes[0] and "detected" in document.notes[0]


def test_e2pieces_with_several_possible_orders_are_refused_unless_named() -> None:
    text = "0 0 1 1\n" * 4 + "0 1 2 3\n0 2 3 1\n0 3 1 2\n0 1 1 1\n1 1 1 1\n"  # 3 x 3, its rim is balanced either way
    with pytest.raises(InputError, match="several side orders; expected one to be named as format: e2pieces:urdl or"):
        parse(text)
    for order, quad in (("urdl", [0, 1, 2, 3]), ("ulrd", [0, 2, 3, 1])):
        puzzle = parse(text, format=f"e2pieces:{order}").puzzle
        assert puzzle is not None and puzzle.pieces[4].tolist() == quad


@quick
@given(case=boards())
def test_a_format_carries_every_board(case: tuple[Puzzle, Board]) -> None:
    puzzle, board = case
    assert through("best", *case).board == board
    assert through("solution", *case, named=True).board == board
    assert puzzle.cells == 1 or through("solution", *case).format == "solution"
    again = through("url", puzzle, board).board  # up to identical pieces
    assert again is not None and np.array_equal(board.colours(puzzle), again.colours(puzzle))
    assert load_board(viewer_url(puzzle, board), puzzle)[1] == again
    pieces = [pair[0] for pair in board.pairs() if pair]
    if len(set(pieces)) == len(pieces):
        assert verify(puzzle, again).problems == verify(puzzle, board).problems


def test_best_json_has_the_fields_of_schema_1_in_order() -> None:
    puzzle, board = planted(1, 3, 2, 3)
    best = best_json(puzzle, board, instance="a.txt", seed=7, elapsed_s=1.5)
    names = "schema instance instance_sha256 width height score max_score placements seed elapsed_s url"
    assert list(best) == [*names.split(), "set_sha256", "numbering"]
    assert best["schema"] == 1 and best["score"] == best["max_score"] == 7 and best["seed"] == 7
    assert best["placements"] == board.pairs() and best["url"].startswith("https://e2.bucas.name/#puzzle=planted-1&")


def test_best_json_finds_its_instance_beside_it_then_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, board = planted(1, 4, 3, 3, clues=2)
    here, best = tmp_path / "here", tmp_path / "runs" / "best.json"
    for folder in (here, best.parent):
        folder.mkdir()
    monkeypatch.chdir(here)
    best.write_text(json.dumps(best_json(puzzle, board, instance="p.json", seed=0, elapsed_s=0)))
    own, shown = load_board(str(best))  # nowhere: its url defines the puzzle, without clues
    assert own.clues == () and verify(own, shown).score == puzzle.max_score
    write("p.json", None, puzzle, None)
    assert load_board(str(best)) == (puzzle, board)
    write(best.with_name("p.json"), None, planted(2, 4, 3, 3)[0], None)  # another puzzle of that name does not count
    document = read(str(best))
    assert document.puzzle == puzzle and "is another puzzle" in document.notes[0] and document.instance == "p.json"
    monkeypatch.chdir(tmp_path)
    assert load_board(str(best))[0] == own
    write(best.with_name("instance.json"), None, puzzle, None)  # the copy in a run directory
    document = read("runs/best.json")
    assert document.puzzle == puzzle and document.instance == "runs/instance.json"


def test_best_json_whose_instance_is_a_url_or_cannot_be_found() -> None:
    puzzle, board = load_board(viewer_url(*planted(1, 4, 3, 3)))
    best = best_json(puzzle, board, instance=viewer_url(puzzle, board), seed=0, elapsed_s=0)
    document = parse(json.dumps(best))
    assert (document.puzzle, document.board) == (puzzle, board)
    document = parse(json.dumps(best | {"instance": "gone.txt", "url": ""}))
    assert document.puzzle is None
    assert document.notes == ("instance 'gone.txt' not found, and there is no url to define it",)


def test_best_json_of_halves_finds_its_csv_and_else_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    halves = "ID,Top,Right,Bottom,Left\n0,R/T,G/T,R/B,G/B\n1,G/T,R/T,G/B,R/B\n2,R/B,G/T,G/T,R/T\n3,G/B,R/B,R/B,G/T\n"
    Path("scramble.csv").write_text(halves)
    puzzle = load_puzzle("scramble.csv")
    assert puzzle.rules == ("no frame", "mates")
    write("best.json", None, puzzle, Board([0, 4, 8, 12], 2, 2), instance="scramble.csv")
    assert read("best.json").puzzle == puzzle
    Path("scramble.csv").unlink()
    with pytest.raises(InputError, match=r"'scramble.csv' not found; .* holds no pieces; expected.*--puzzle"):
        load_board("best.json")


def test_a_format_that_cannot_carry_it_says_so() -> None:
    puzzle, board = planted(1, 6, 6, 200)
    with pytest.raises(InputError, match="letters for the colours 1 to 25"):
        viewer_url(puzzle, board)
    assert best_json(puzzle, board, instance="x", seed=0, elapsed_s=0)["url"] == ""


def test_pieces_that_may_not_be_turned() -> None:
    """Each of the two is the other one turned; turns are counted from another side."""
    quads = np.array([[1, 2, 1, 1], [1, 1, 1, 2]], dtype=np.int32)
    puzzle, board = Puzzle(quads, 2, 1, framed=False, turns=False), Board([4, 0], 2, 1)
    url = viewer_url(puzzle, board).partition("&board_pieces")[0]
    assert load_board(url, puzzle) == (puzzle, board)
    made = other_rules("tetravex", 4, 3, 9, seed=2)
    text = render("cells", made.puzzle, made.solution)[0].partition("\n")[2]  # without the name of the convention
    assert parse(text.replace("/0", "/2"), puzzle=made.puzzle).board == made.solution


def test_bom_crlf_and_old_mac_ends_are_tolerated(tmp_path: Path) -> None:
    puzzle, _ = planted(1, 4, 4, 3, clues=1)
    text = render("benoist", puzzle, None)[0]
    path = tmp_path / "p.txt"
    for variant in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.replace("\n", " \n\n")):
        path.write_bytes(variant.encode())
        assert load_puzzle(str(path)) == puzzle


def test_shipped_instances_are_found_by_name_and_a_file_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, board = planted(1, 4, 4, 3)
    other, _ = planted(2, 4, 4, 3)
    data = tmp_path / "data"
    data.mkdir()
    write(data / "mine.txt", None, puzzle, None)
    monkeypatch.setattr("lns.instances.formats.base.shipped_instances", lambda: {"mine": data / "mine.txt"})
    monkeypatch.setattr("lns.instances.formats.viewer.shipped_instances", lambda: {"mine": data / "mine.txt"})
    monkeypatch.chdir(tmp_path)
    assert load_puzzle("mine") == puzzle and load_puzzle("mine").name == "mine"
    assert read(viewer_url(load_puzzle("mine"), board)).notes[0].startswith("shipped instance mine")
    with pytest.raises(InputError, match="did you mean 'mine'"):
        load_puzzle("minee")
    write(tmp_path / "mine", "benoist", other, None)
    assert load_puzzle("mine") == other


@pytest.mark.parametrize("name", ["盤" * 80 + ".json", "b" * 255], ids=["wide", "long"])
def test_atomic_write_takes_every_name_that_a_file_may_have(name: str, tmp_path: Path) -> None:
    formats.atomic_write(tmp_path / name, "new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_atomic_write_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    formats.atomic_write(path, "old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        formats.atomic_write(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    for target in (tmp_path / "absent" / "a.json", tmp_path):
        with pytest.raises(OSError, match=re.escape(str(target))):
            formats.atomic_write(target, "x")


SMALL, LAID = planted(5, 6, 6, 9)


@pytest.mark.parametrize(("base", "sign"), [(0, 1), (0, -1), (1, 1), (1, -1)])
@pytest.mark.parametrize("rows", ["top", "bottom"])
@pytest.mark.parametrize("offset", [0, 2])
def test_piece_and_turn_in_every_convention(base: int, sign: int, rows: str, offset: int) -> None:
    entries = [f"{pair[0] + base}/{sign * (pair[1] - offset) % 4}" for pair in LAID.pairs() if pair]
    lines = [" ".join(entries[at : at + 6]) for at in range(0, 36, 6)]
    assert parse("\n".join(lines if rows == "top" else lines[::-1]), puzzle=SMALL).board == LAID


@pytest.mark.parametrize("turns", [True, False])
def test_puzzles_without_frame_as_text(turns: bool) -> None:
    pieces = np.array([[8, 2, 3, 4], [1, 5, 6, 2], [3, 7, 7, 1], [6, 1, 2, 7]])
    puzzle = Puzzle(pieces, 2, 2, name="p", framed=False, turns=turns)
    assert parse(render("pieces", puzzle, None)[0]).puzzle == puzzle
    with pytest.raises(InputError, match="no side order"):
        render("pieces:udlr", puzzle, None)


def test_words_of_four_digits_are_a_tetravex() -> None:
    puzzle = parse("7321 @0214\n1660 4616\n").puzzle  # up left right down
    assert puzzle is not None and (puzzle.width, puzzle.height, puzzle.rules) == (2, 2, ("no frame", "no turns"))
    assert puzzle.pieces[0].tolist() == [8, 3, 2, 4] and [clue.cell for clue in puzzle.clues] == [1]


def test_every_format_and_dialect_is_listed() -> None:
    listed = formats.examples()
    assert all(f"{name}" in listed for name in formats.FORMATS)
    assert all(example in listed and about in listed for example, about in formats.DIALECTS.items())


def test_clues_are_written_and_read_as_they_lie(tmp_path: Path) -> None:
    write(tmp_path / "clues.txt", "clues", SMALL, LAID)
    with pytest.raises(InputError):
        load_puzzle("like-e2-6x6", clues=str(tmp_path / "clues.txt"))
    write(tmp_path / "p.json", None, SMALL, None)
    found = load_puzzle(str(tmp_path / "p.json"), clues=str(tmp_path / "clues.txt"))
    assert [clue.oriented for clue in found.clues] == LAID.placements.tolist()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_picture_of_any_width_defines_its_puzzle(width: int) -> None:
    puzzle, solution = planted(6, width, 4, 5)
    document = parse(render("picture", puzzle, solution)[0], format="cells")
    assert document.puzzle is not None and document.board is not None
    assert np.array_equal(document.board.colours(document.puzzle), solution.colours(puzzle))
