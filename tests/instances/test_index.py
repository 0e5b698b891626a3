"""Each row of ../shared/cases/INDEX.md is read as what it is or refused for its reason; small files of each kind."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import decode
from lns.instances.formats import parse, read_board, read_puzzle, with_clues
from lns.instances.generate import other_rules
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted
from tests.shared_data import SHARED, shared

E2, P10, P11, P57 = "@eternity2.txt", "10_pieces_top", "11_pieces_nesw", "57_pieces"
# Row, file, and of a puzzle: width, height, most seams, words of a note.
PUZZLES = [
    (10, "10_pieces_top", 16, 16, 480, "112 and 113 are swapped"),
    (11, "11_pieces_nesw", 16, 16, 480, "in the usual numbering"),
    (12, "12_pieces_nswe", 16, 16, 480, "112 and 113 are swapped"),
    (13, "13_", 12, 6, 126, "pieces:6x12 is the other way"),
    (14, "14_", 7, 7, 84, "a header of 0: no hints"),
    (15, "15_puzzle", 10, 10, 180, "bounded, signed, width, height: framed"),
    (16, "16_", 2, 2, 4, "without frame"),
    (17, "17_", 4, 4, 24, "4 clues"),
    (18, "18_", 16, 16, 480, "4 of 5 official clues"),
    (19, "19_meta2010_10x10.txt", 10, 10, 180, ""),
    (22, "22_", 16, 16, 480, "mirror image of Eternity II"),
    (23, "23_", 3, 3, 12, "as the file names it"),
    (26, "26_", 6, 12, 126, "72 pieces, as stated"),
    (27, "27_", 16, 16, 480, "colour 2 is the rim"),
    (31, "31_", 16, 16, 480, "x,y,rotation"),
    (32, "32_pieces", 4, 3, 17, "width 4, height 3"),
    (34, "34_pieces", 6, 6, 60, "the type of the piece"),
    (38, "38_", 16, 16, 480, "in the usual numbering"),
    (45, "45_", 3, 3, 12, "sides are halves: B/B meets B/T (--puzzle-format pieces:equal: equal sides meet)"),
    (48, "48_", 3, 3, 12, "sides are halves: B meets b"),
    (49, "49_", 4, 4, 24, "without frame (--puzzle-format pieces:rim=COLOUR names the colour of a rim"),
    (51, "51_", 5, 7, 58, "n rows and m columns"),
    (54, "54_", 4, 4, 24, "side order up right down left, as up left right down leaves too many sides alone"),
    (55, "55_", 6, 6, 60, "two blocks of the same 36 pieces"),
    (57, "57_pieces", 12, 6, 126, "no size stated"),
    (60, "60_", 12, 6, 126, "no size stated"),
    (61, "61_", 2, 2, 4, ""),
]
# Row, file, puzzle, and of a board: score, pieces placed, broken rules, words of a note.
BOARDS = [
    (1, "01_", E2, 470, 256, 0, "motifs_order jblackwood"),
    (2, "02_", E2, 469, 256, 0, "1 of 5 official clues, with the starter clue"),
    (3, "03_", E2, 467, 256, 0, "default letters"),
    (4, "04_", E2, 438, 256, 0, "motifs_order jef"),
    (5, "05_", P11, 0, 5, 0, "5 of 5 official clues"),
    (6, "06_", E2, 429, 230, 0, "motifs_order jblackwood"),
    (7, "07_", None, 24, 16, 0, "counts from 0"),
    (8, "08_", E2, 465, 256, 0, "5 of 5 official clues"),
    (9, "09_", E2, 465, 256, 0, "left out: lines 1-5, 7"),
    (10, "10_board_465_pieceid", P10, 465, 256, 0, "5 of 5 official clues"),
    (10, "10_board_465_rot90", P10, 465, 256, 0, "after a turn of 270 degrees"),
    (10, "10_hints", P10, 0, 5, 0, "5 of 5 official clues"),
    (11, "11_clues", P11, 0, 5, 0, "5 of 5 official clues"),
    (15, "15_solution", "15_puzzle", 180, 100, 0, "a picture of a board"),
    (17, "17_", None, 24, 16, 0, "tiles in place"),
    (19, "19_meta2010_10x10_solution", "19_meta2010_10x10.txt", 100, 100, 0, "base0"),
    (28, "28_tetravex_left_top_right_bottom_3x3_solution", None, 12, 9, 0, "left out: lines 1, 4"),
    (30, "30_", None, 12, 9, 0, "a picture"),
    (32, "32_solution", "32_pieces", 17, 12, 0, "bottom"),
    (37, "37_", None, 60, 36, 0, "letters in place"),
    (39, "39_", P11, 327, 177, 0, "left out: line 17 ('Pieces: 176.')"),
    (40, "40_", E2, 467, 256, 0, "left out: lines 1-3"),
    (41, "41_", E2, 459, 256, 0, "1 of 5 official clues"),
    (42, "42_", E2, 447, 256, 0, "5 of 5 official clues"),
    (44, "44_", "07_", 0, 0, 0, "the text has 2 boards; only the first is read"),
    (55, "55_", None, 60, 36, 0, "the puzzle, and a board of it"),
    (55, "55_", "55_", 60, 36, 0, "words of Tetravex"),
    (57, "57_save", P57, 47, 40, 0, "2 sections that agree, 40 pieces each"),
    (57, "57_save", P57, 47, 40, 0, "line 108: the 32 pieces that are not placed"),
]
# Row, file, puzzle, and what the sentence says.
REFUSED = [
    (5, "05_", None, "a partial board does not define its puzzle"),
    (6, "06_", None, "a partial board does not define its puzzle"),
    (10, "10_board_465_pieceid", None, "the pieces are named by number; expected the puzzle with it (--puzzle"),
    (10, "10_hints", None, "look like clues"),
    (11, "11_clues", None, "--clues FILE"),
    (19, "19_meta2010_10x10_solution", None, "expected the puzzle with it"),
    (25, "25_", None, "15 of 16 pieces; missing: id 4; 3 corner pieces"),
    (28, "28_tetravex_left_top_right_bottom_3x3.txt", None, "--puzzle-format pieces:unframed or pieces:tetravex"),
    (32, "32_solution", None, "the pieces are named by number"),
    (34, "34_board", None, "a list of cell types and clues"),
    (34, "34_board", "34_pieces", "without a clue"),
    (44, "44_", None, "pieces with compass letters"),
    (52, "52_", None, ":2: 7 hexagonal pieces (6 sides); expected squares"),
    (57, "57_save", None, "look like clues"),
    (59, "59_", None, "look like clues"),
    (59, "59_", P57, ":40: 40 clues, read as base1,yx,from0,top,turn-last,cw,turn0: piece 56 is placed twice: row 5"),
]


def case(name: str) -> str:
    if name.startswith("@"):
        return str(shared("instances", name[1:]))
    [path] = [path for path in sorted((SHARED / "cases").glob("*")) if path.name.startswith(name)] or [
        shared("cases", name)
    ]
    return str(path)


def puzzle_of(name: str | None) -> Puzzle | None:
    return None if name is None else read_puzzle(case(name)).puzzle


def test_no_row_is_forgotten() -> None:
    rows = {int(row) for row in re.findall(r"^\| ([0-9]+) \|", shared("cases", "INDEX.md").read_text(), re.M)}
    assert rows == {row for row, *_ in (*PUZZLES, *BOARDS, *REFUSED)}


@pytest.mark.parametrize(("row", "name", "width", "height", "most", "says"), PUZZLES)
def test_puzzles(row: int, name: str, width: int, height: int, most: int, says: str) -> None:
    document = read_puzzle(case(name))
    assert document.puzzle is not None
    assert (document.puzzle.width, document.puzzle.height, document.puzzle.max_score) == (width, height, most)
    assert says in "; ".join(document.notes)


@pytest.mark.parametrize(("row", "name", "mate", "score", "placed", "broken", "says"), BOARDS)
def test_boards(row: int, name: str, mate: str | None, score: int, placed: int, broken: int, says: str) -> None:
    document = read_board(case(name), puzzle_of(mate))
    assert document.puzzle is not None and document.board is not None
    found = verify(document.puzzle, document.board)
    assert (found.score, found.placed, len(found.violations)) == (score, placed, broken)
    assert says in "; ".join(document.notes)


@pytest.mark.parametrize(("row", "name", "mate", "says"), REFUSED)
def test_what_is_refused(row: int, name: str, mate: str | None, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_board(case(name), puzzle_of(mate))
    assert says in str(refused.value)


def test_clues_of_a_file_and_clues_apart() -> None:
    assert len(read_puzzle(case("31_")).puzzle.clues) == 8  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r":40: .*piece 56 is placed twice"):
        with_clues(read_puzzle(case(P57)), case("59_"))


PIECES = "1 0 2 1 0\n2 0 0 1 2\n3 1 3 0 0\n4 1 0 0 3\n"  # id, up right down left: solved in this order
SQUARE = Puzzle(np.array([[0, 2, 1, 0], [0, 0, 1, 2], [1, 3, 0, 0], [1, 0, 0, 3]]), 2, 2, name="square")
LARGE, LAID = planted(5, 6, 6, 9)
WORDS = ["7321 0214 3132", "1660 4616 2161", "0870 6728 1247"]  # up left right down, solved
CLUES = [f"{pair[0] + 1} {cell // 6} {cell % 6} {pair[1]}" for cell, pair in enumerate(LAID.pairs()) if pair]
CELLS = [" ".join(f"{pair[0] + 1}/{pair[1]}" for pair in LAID.pairs()[at : at + 6] if pair) for at in range(0, 36, 6)]
PAIRS = [line.replace("/", " ") for row in CELLS for line in row.split()]
QUADS = [" ".join(map(str, quad)) for quad in LARGE.pieces.tolist()]
NUMBERED = [f"{number} {quad}" for number, quad in enumerate(QUADS, start=1)]
LAID_QUADS = [" ".join(map(str, quad)) for quad in LAID.colours(LARGE).tolist()]


def text(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def changed(lines: list[str], at: int, line: str) -> str:
    return text(*lines[:at], line, *lines[at + 1 :])


SMALL_PUZZLES = {
    "a comment after a semicolon or a percent sign": ("; bord\n% rim\n" + PIECES, ""),
    "MiniZinc": ("n = 2;\nm = 2;\nTiles = [| 0,2,1,0\n | 0,0,1,2\n | 1,3,0,0\n | 1,0,0,3 |];\n", ""),
    "a list of a program": ("const tiles = [[0,2,1,0],\n[0,0,1,2],\n[1,3,0,0],\n[1,0,0,3]]\n", "line 1 ('const"),
    "JSON by its content": ('{"k": [[0,2,1,0],[0,0,1,2],[1,3,0,0],[1,0,0,3]], "by": "me"}', "left out: by of the JSON"),
    "a header that is the side": ("2\n" + PIECES, "a header of 2: the side of the board"),
    "a line of marks": ("?!\n------\n" + PIECES, "left out: line 1 ('?!')"),
    "a line of words": ("Pieces\n" + PIECES, "left out: line 1 ('Pieces')"),
    "a gap in the ids": (PIECES.replace("4 1", "9 1"), "no piece has the id 4, 5, 6, 7, 8, up to 9"),
}
SMALL_REFUSED: dict[str, tuple[str, Puzzle | None, str]] = {
    "triangles": ("1 0 2 1\n2 0 0 1\n3 1 3 0\n4 1 0 0\n5 1 3 3\n", None, "5 triangular pieces (3 sides)"),
    "triangles without numbers": ("0 2 9\n7 0 1\n8 3 0\n7 0 9\n", None, "4 triangular pieces"),
    "hexagons": (text(*["7 0 2 1 4 5"] * 7), None, "7 hexagonal pieces (6 sides)"),
    "hexagons in JSON": ('{"n":2,"m":2,"tiles":[[1,2,3,4,5,6],[1,2,3,4,5,6]]}', None, "has 6 sides"),
    "hexagons of halves": ("r/a r/b g/a g/b b/a b/b\n" * 7, None, ":1: 7 hexagonal pieces"),
    "letters among halves": ("+1 -1 +2 -2\n" * 3 + "a b c d\n", None, ":4: sides a, b, c, d among such as +1, -1,"),
    "numbered hexagons of halves": (text(*(f"{i},r/a,r/b,g/a,g/b,b/a,b/b" for i in range(7))), None, "7 hexagonal"),
    "numbered triangles of halves": (text(*(f"{i} -{i} +{i} -{i + 1}" for i in range(1, 8))), None, "7 triangular"),
    "halves behind a label": ("tile: r/a, g/b, b/a, r/b\n" * 4, None, "no line with the four sides"),
    "halves of large numbers": ("+1234567 -1 +1 -2\n" * 4, None, "a number with a sign, +1"),
    "parts that are no halves": ("a/B c/D e/F g/H\na/B c/D e/X g/H\n" * 4, None, "two halves of each picture"),
    "a sign": ("Tiles = [|0,-2,1,0\n|0,0,1,-2\n|1,3,0,0\n|1,0,0,3|]\n", None, "sign"),
    "a number after the pieces": (PIECES + "7\n", None, ":5: '7' among pieces"),
    "a piece left out": (text(*NUMBERED[:14], *NUMBERED[15:]), None, "35 pieces; missing: id 15; no colour is on as"),
    "a word of three digits": (changed(WORDS, 1, "1660 461 2161"), None, ":2: '461' among words of four digits"),
    "a word too few": (changed(WORDS, 1, "1660 4616"), None, ":2: 2 words; expected 3 as in the other rows"),
    "the same pieces twice": (text(*WORDS, *WORDS), None, "the same 9 pieces twice"),
    "letters without a size": ("R G B R\nG B B R\nB B B B\nR R R G\n", None, "rim=COLOUR"),
    "a clue twice": (changed(CLUES, 8, CLUES[7]), LARGE, f":9: .*piece {CLUES[7].split()[0]} "),
    "a clue outside": (changed(CLUES, 8, CLUES[8][:-3] + "9 1"), LARGE, ":9: .* a place outside the board"),
    "a clue of no piece": (changed(CLUES, 8, "99 1 2 0"), LARGE, ":9: .*piece 99 on row 1, column 2"),
    "a clue turned too often": (changed(CLUES, 8, CLUES[8][:-1] + "7"), LARGE, ":9: .*has 7 quarter turns"),
    "a clue with a number too many": (changed(CLUES, 8, CLUES[8] + " 3"), LARGE, ":9: 5 numbers; expected 4"),
    "a piece of a board": (changed(CELLS, 2, CELLS[2].replace(" ", " 9", 1)), LARGE, ":3: piece 9.* on row 2"),
    "a turn of a board": (changed(CELLS, 2, CELLS[2][:-1] + "7"), LARGE, ":3: piece .* on row 2, column 5"),
    "a cell missing": (changed(CELLS, 2, CELLS[2].rsplit(" ", 1)[0]), LARGE, ":3: 35 cells; expected 36"),
    "a cell that is no pair": (changed(CELLS, 2, CELLS[2].replace("/", "", 1)), LARGE, ":3: "),
    "a line of pieces and turns from 0": (changed(PAIRS, 29, "7 x"), LARGE, ":30: cell 29 (piece, rotation) is 'x'"),
    "a number of pieces that is wrong": ("ntiles: 3\n" + PIECES, None, ":5: 4 of 3 pieces; expected all 3"),
    "colours of no piece": (changed(LAID_QUADS, 14, "9 9 9 9"), LARGE, ":15: row 2, column 2 .* shows 9 9 9 9, no"),
    "a mark among numbers": (changed(LAID_QUADS, 7, "."), LARGE, ":8: piece 8 of 36 has 1 entries, '.'"),
    "sections that differ": (text(*CLUES[:9], *CLUES[:8], "30 3 3 1"), LARGE, ":18: '30 3 3 1' is there 1 time, most"),
}


@pytest.mark.parametrize("name", SMALL_PUZZLES)
def test_small_puzzles(name: str) -> None:
    content, says = SMALL_PUZZLES[name]
    for ending in ("\n", "\r\n", "\r"):
        document = parse(decode(content.replace("\n", ending).encode(), "file"), name="square")
        assert document.puzzle == SQUARE
        assert says in "; ".join(document.notes)


@pytest.mark.parametrize("name", SMALL_REFUSED)
def test_small_files_are_refused_for_their_reason(name: str) -> None:
    content, puzzle, says = SMALL_REFUSED[name]
    with pytest.raises(InputError) as refused:
        parse(content, puzzle=puzzle)
    sentence = str(refused.value.at("file"))
    assert re.search(says, sentence) or says in sentence, sentence


@pytest.mark.parametrize("mark", [b"# ", b"// ", b"; ", b"c "])
def test_comments_in_any_encoding(mark: bytes) -> None:
    data = mark + "bord extérieur".encode("latin-1") + b"\n" + PIECES.encode()
    assert parse(decode(data, "file"), name="square").puzzle == SQUARE
    with pytest.raises(InputError, match=r"file:2: byte 0xe9 is not UTF-8"):
        decode(b"# x\nbord ext\xe9rieur # x\n", "file")
    with pytest.raises(InputError, match=r"file:41: byte 0xb3 is not UTF-8"):  # beyond what the comments had before
        decode(data[: data.index(b"\n") + 1] * 40 + b"\xb3", "file")


@pytest.mark.parametrize("order", ["ulrd", "urdl", "udlr"])
def test_words_in_the_order_that_counting_allows(order: str) -> None:
    made = other_rules("tetravex", 6, 6, 9, seed=3)
    quads = [dict(zip("urdl", quad, strict=True)) for quad in made.solution.colours(made.puzzle).tolist()]
    words = ["".join(str(quad[side] - 1) for side in order) for quad in quads]
    for content in (text(*(" ".join(words[at : at + 6]) for at in range(0, 36, 6))), " ".join(["6", *words])):
        puzzle = parse(content).puzzle
        assert puzzle is not None and not puzzle.turns
        board = Board(4 * np.arange(36, dtype=np.int32), 6, 6)
        assert verify(puzzle, board).score == 60


def test_an_order_that_is_named_and_refuted_is_not_assumed() -> None:
    rows = [",".join(map(str, (i + 1, *quad))) for i, quad in enumerate(LARGE.pieces.tolist())]
    document = parse(text("id,top,bottom,left,right", *rows))
    assert document.puzzle is not None and np.array_equal(document.puzzle.pieces, LARGE.pieces)
    assert any("the file names the sides up down left right" in note for note in document.notes)


def test_two_blocks_of_the_same_pieces_are_puzzle_and_board() -> None:
    for blocks in ((QUADS, LAID_QUADS), (LAID_QUADS, QUADS)):
        document = parse(text("6 6", *blocks[0], "", *blocks[1]))
        assert document.puzzle is not None and document.board is not None
        assert verify(document.puzzle, document.board).score == LARGE.max_score
        assert "two blocks of the same 36 pieces" in document.notes[0]


def test_the_same_placements_twice_are_one_board() -> None:
    lines = [f"{line.split()[1]},{line.split()[2]} {line.split()[0]} {line.split()[3]}" for line in CLUES[:20]]
    others = " ".join(line.split()[0] for line in CLUES[20:])
    document = parse(text("# order", *lines[::-1], "# all", *lines, "# unused", others), puzzle=LARGE)
    assert document.board is not None and document.board.placements.tolist()[:20] == LAID.placements.tolist()[:20]
    said = "; ".join(document.notes)
    assert "2 sections that agree, 20 pieces each" in said and "line 44: the 16 pieces that are not placed" in said


def test_advice_is_what_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(PIECES)
    (tmp_path / "clues.txt").write_text("1 0 1 1\n")
    document = read_puzzle(str(tmp_path / "p.txt"))
    with pytest.raises(InputError, match=r"as a first line '(# clues:[a-z0-9,-]+)'") as refused:
        with_clues(document, str(tmp_path / "clues.txt"))
    line = re.search("first line '(.*?)'", str(refused.value))
    assert line is not None
    (tmp_path / "clues.txt").write_text(f"{line[1]}\n1 0 1 1\n")
    found = with_clues(document, str(tmp_path / "clues.txt")).puzzle
    assert found is not None and len(found.clues) == 1
