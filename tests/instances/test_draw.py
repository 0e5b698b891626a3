"""Pictures, checked by reading their content back instead of comparing them with stored pictures."""

from __future__ import annotations

import copy
import io
import pickle
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances.board import Board
from lns.instances.draw import Scene, palette, svg, terminal
from lns.instances.draw.palette import EMPTY, GREY, MISMATCH, MOTIFS, PALETTE, hex_code, inked, rgb, xterm
from lns.instances.formats import parse
from lns.instances.generate import clue_cells, family, like_e2, uniform
from lns.instances.pairing import describe
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}


def changed(board: Board, changes: dict[int, int]) -> Board:
    """``board`` with other oriented pieces on some cells."""
    placements = board.placements.copy()
    for cell, oriented in changes.items():
        placements[cell] = oriented
    return Board(placements, board.width, board.height)


def any_board(puzzle: Puzzle, seed: int) -> Board:
    """Pieces anywhere in any rotation, some twice, some that do not exist, some cells empty."""
    random = np.random.default_rng(seed)
    return Board(random.integers(-puzzle.cells, 5 * puzzle.cells, puzzle.cells), puzzle.width, puzzle.height)


def d_of(root: ET.Element, colour: tuple[int, int, int], attribute: str = "fill") -> str:
    """The path data painted in a colour."""
    return "".join(
        path.get("d", "")
        for path in root.iterfind(".//s:path", NAMESPACE)
        if path.get(attribute) == f"#{hex_code(colour)}"
    )


def triangles(root: ET.Element, colour: tuple[int, int, int]) -> int:
    return len(re.findall(r"l-?12-?12z|l-?12 12z", d_of(root, colour)))


def test_svg_has_four_triangles_a_piece_in_its_colours_on_their_sides() -> None:
    puzzle, board = like_e2(5, 3, seed=1)
    root = ET.fromstring(svg.render(puzzle, board))
    for colour, count in Counter(puzzle.pieces.ravel().tolist()).items():
        assert triangles(root, rgb(colour)) == count
    assert d_of(root, MISMATCH, "stroke") == ""
    assert root.get("viewBox") == f"0 0 {5 * 24 + 16} {3 * 24 + 16}"
    assert (root.get("width"), root.get("height")) == ("204", "132")
    one = Puzzle([[1, 2, 3, 4]], 1, 1, framed=False)
    root = ET.fromstring(svg.render(one, Board([0], 1, 1)))  # the cell is from 8 to 32
    paths = ["M8 8h24l-12 12z", "M32 8v24l-12-12z", "M8 32h24l-12-12z", "M8 8v24l12-12z"]
    assert [d_of(root, rgb(colour)) for colour in (1, 2, 3, 4)] == paths


def test_svg_marks_mismatches_empty_cells_clues_and_numbers() -> None:
    puzzle, board = like_e2(4, 4, seed=1, clues=5)
    board = changed(board, {0: -1, 6: int(board.placements[6]) ^ 1})
    root = ET.fromstring(svg.render(puzzle, board, piece_numbers=True))
    assert d_of(root, MISMATCH, "stroke").count("M") == len(verify(puzzle, board).mismatches) > 0
    assert d_of(root, EMPTY).count("M") == 1 and d_of(root, (255, 255, 255), "stroke").count("M") == 5
    numbers = [int(text.text or "") for text in root.iterfind(".//s:text", NAMESPACE)]
    labels = [*range(board.width), *range(board.height)]
    assert numbers == [int(oriented) // 4 + 1 for oriented in board.placements if oriented >= 0] + labels


def test_names_are_escaped() -> None:
    puzzle, board = like_e2(3, 3, seed=1)
    named = replace(puzzle, name="<&\"'> \x00\x1b[31m\ud800\uffff Ü")
    root = ET.fromstring(svg.render(named, board).encode())
    assert root.findtext("s:title", namespaces=NAMESPACE) == "<&\"'> ??[31m?? Ü: score 12 of 12"
    text = svg.tikz(replace(puzzle, name="a\n\\input{x} é"), board)
    assert "% a?\\input{x} ?: score 12 of 12" in text.splitlines()


def test_each_colour_has_its_motif_unless_flat_ones_are_chosen() -> None:
    generated = uniform(12, 12, 60, seed=1)
    puzzle, board = generated.puzzle, generated.solution
    assert puzzle.colours > len(MOTIFS)
    plain, drawn = (svg.render(puzzle, board, motifs=chosen) for chosen in (False, True))
    kinds = {palette.motif(colour) for colour in range(1, puzzle.colours + 1)}
    assert drawn.count("<path") - plain.count("<path") == puzzle.colours
    assert drawn.count('fill="none" stroke-width="1.1"') == sum(hollow for _, hollow in kinds)
    assert len(kinds) == min(puzzle.colours, 2 * len(MOTIFS))
    assert rgb(0) == GREY and rgb(41) == rgb(1)
    assert len({(rgb(colour), palette.motif(colour)) for colour in range(1, 201)}) == 200


@settings(max_examples=80, deadline=None)
@given(
    width=st.integers(1, 6),
    height=st.integers(1, 6),
    colours=st.sampled_from([1, 3, 60, 4000]),
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 90),
)
def test_every_board_can_be_drawn_in_every_format(
    width: int, height: int, colours: int, seed: int, columns: int
) -> None:
    bare = uniform(width, height, colours, seed)
    puzzle = bare.with_clues(clue_cells(width, height, min(2, width * height), seed)).puzzle
    for board in (any_board(puzzle, seed), bare.solution, Board.empty(puzzle), None):
        ET.fromstring(svg.render(puzzle, board, piece_numbers=True))
        check_tikz(svg.tikz(puzzle, board))
        for value in (puzzle, board, board and board.of(puzzle)):
            assert value is None or ET.fromstring(value._repr_html_()).tag in ("figure", "code")
        modes: tuple[terminal.Colour, ...] = ("none", "256", "truecolor")
        for mode in modes:
            lines = terminal.render(puzzle, board, colour=mode, width=columns).splitlines()
            assert max(len(plain(line)) for line in lines) <= max(columns, width)


def check_tikz(text: str) -> None:
    """Balanced, every colour defined before use, every path closed by a semicolon, plain ASCII."""
    assert text.isascii()
    body = text[text.index(r"\begin{tikzpicture}") : text.index(r"\end{tikzpicture}")]
    assert body.count(r"\path[") == body.count(";")
    used = set(re.findall(r"(?:fill|draw)=(\w+)", body)) - {"black", "white"}
    assert used <= set(re.findall(r"\\definecolor\{(\w+)\}", text))
    for opening, closing in ("()", "[]", "{}"):
        assert text.count(opening) == text.count(closing)


def test_tikz_draws_triangles_bars_and_clues() -> None:
    puzzle, board = like_e2(4, 4, seed=1, clues=5)
    board = changed(board, {6: int(board.placements[6]) ^ 1})
    text = svg.tikz(puzzle, board)
    assert text.count("--cycle") == 4 * 16
    assert "(0,0)--(1,0)--(0.5,0.5)--cycle" in text  # the upper side of the first cell, grey
    bars = text[text.index("draw=mismatch") :]
    assert bars[: bars.index(";")].count("--") == len(verify(puzzle, board).mismatches) > 0
    clues = text[text.index("draw=clue") :]
    assert clues[: clues.index(";")].count("rectangle") == 5


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def pixels(text: str) -> list[list[str]]:
    """The picture read back from half blocks: rows of colours as their codes, '' = the terminal's own background."""
    rows: list[list[str]] = []
    for line in text.splitlines()[text[0] == " " :]:  # without the numbers of the columns
        upper: list[str] = []
        lower: list[str] = []
        for codes, blocks in re.findall(r"\x1b\[([0-9;]*)m(▀+)", line):
            colours = re.fullmatch(r"38;([25][0-9;]+?);(?:48;([25][0-9;]+)|49)", codes)
            assert colours, codes
            upper += [colours[1]] * len(blocks)
            lower += [colours[2] or ""] * len(blocks)
        rows += [upper, lower]
    return rows


def true(colour: tuple[int, int, int]) -> str:
    return "2;{};{};{}".format(*colour)


def test_a_16x16_board_fits_80_columns_and_its_cells_are_pinwheels() -> None:
    puzzle, board = like_e2(16, 16, seed=1)
    text = terminal.render(puzzle, board, colour="truecolor", width=82)
    first, *lines = plain(text).splitlines()
    assert first.split() == [*map(str, range(16))] and len(lines) == 40 and {len(line) for line in lines} == {82}
    assert [line[:3] for line in lines if line[:3].strip()] == [f"{row:>2} " for row in range(16)]
    rows = pixels(text)
    assert len(plain(terminal.render(puzzle, board, colour="truecolor")).splitlines()[0]) <= 80
    up, right, down, left = (true(rgb(colour)) for colour in board.colours(puzzle)[17].tolist())
    cell = [row[5:9] for row in rows[5:9]]
    assert cell == [[up, up, up, right], [left, up, right, right], [left, left, down, right], [left, down, down, down]]


def test_mismatches_are_red_bars_and_clues_white_frames() -> None:
    puzzle, board = like_e2(4, 4, seed=1, clues=1)  # the clue is cell 9
    board = changed(board, {6: int(board.placements[6]) ^ 1})
    rows = pixels(terminal.render(puzzle, board, colour="truecolor", width=21))  # 4 pixels a cell and a gap of one
    red = {(y, x) for y, row in enumerate(rows) for x, value in enumerate(row) if value == true(MISMATCH)}
    expected = set()
    for a, b in verify(puzzle, board).mismatches:
        top, left = (5 * part for part in divmod(a, 4))
        expected |= {(top + i, left + 4) if b == a + 1 else (top + 4, left + i) for i in range(4)}
    assert red == expected
    white = {(y, x) for y, row in enumerate(rows) for x, value in enumerate(row) if value == true((255, 255, 255))}
    frame = {(y, x) for y in range(9, 15) for x in range(4, 10)} - {(y, x) for y in range(10, 14) for x in range(5, 9)}
    assert white == frame - red


def test_256_colours_show_the_palette_exactly() -> None:
    steps = (0, 95, 135, 175, 215, 255)
    numbers = [xterm(value) - 16 for value in PALETTE]
    assert [(steps[n // 36], steps[n // 6 % 6], steps[n % 6]) for n in numbers] == [*PALETTE]
    assert len({*numbers, xterm(GREY) - 16}) == 41 and xterm((255, 0, 0)) == 196


def test_letters() -> None:
    pieces = [[0, 1, 2, 0], [0, 0, 3, 1], [2, 4, 0, 0], [3, 0, 0, 4]]
    puzzle = Puzzle(np.array(pieces), 2, 2)
    whole = Board(np.array([0, 4, 8, 12]), 2, 2)
    assert terminal.render(puzzle, whole) == "  0   1\n0 + b +\n  c   d\n1 + e +\n"
    assert terminal.render(puzzle, whole, width=6, height=3) == "+ b +\nc   d\n+ e +\n", "no room for the numbers"
    assert terminal.render(puzzle, changed(whole, {1: -1})) == "  0   1\n0 +b  .\n  c   d\n1 + e +\n"
    crossed = changed(whole, {0: 4 + 3, 1: 0 + 1})  # the two upper corners change places
    assert terminal.render(puzzle, crossed) == "   0   1\n0  +d!c+\n  b!c b!d\n1  + e +\n"
    names = {0: "a", 1: "b", 25: "z", 26: "A", 51: "Z", 52: "aa", 53: "ab", 52 + 52**2: "aaa"}
    assert {colour: terminal.letter(colour) for colour in names} == names
    halves = parse("R/T,G/B,R/B,W/T\nR/B,G/T,W/B,R/T\nG/B,W/T,R/T,W/B\nR/B,W/B,G/T,R/B\n").puzzle
    assert halves is not None and terminal.render(halves, None).startswith("  R/T      R/B\nW/T+G/B  R/T+G/T\n")
    framed = parse("_AB_ __CA\nBC__ C__C\n", format="cells:urdl,top")
    assert framed.puzzle is not None
    assert terminal.render(framed.puzzle, framed.board) == "  0   1\n0 + A +\n  B   C\n1 + C +\n"
    holed, board = planted(1, 4, 1, 3, holes=(0,), framed=False)
    assert terminal.render(holed, board).splitlines()[0].split() == ["0", "1", "2", "3"]
    puzzle, board = like_e2(3, 3, seed=1, clues=1)
    assert terminal.render(puzzle, board).splitlines()[3][6] == "#"
    turned = changed(board, {0: int(board.placements[0]) ^ 2})
    first, second, *_ = terminal.render(puzzle, turned).splitlines()[1:]
    assert "!" in first and second[2:].lstrip().startswith("!")


def test_a_narrow_terminal_shows_one_character_for_each_cell() -> None:
    puzzle, board = like_e2(16, 16, seed=1, clues=1)
    board = changed(board, {17: -1, 40: int(board.placements[40]) ^ 1})
    first, *lines = terminal.render(puzzle, board, width=40).splitlines()
    assert first == "   0123456789012345" and [line[:3] for line in lines] == [f"{row:>2} " for row in range(16)]
    assert [line[3:] for line in lines] == terminal.render(puzzle, board, width=18).splitlines()
    signs = "".join(line[3:] for line in lines)
    assert len(signs) == 256 and signs[17] == "." and signs[8 * 16 + 7] == "#"
    wrong = Counter(cell for pair in verify(puzzle, board).mismatches for cell in pair)
    assert {cell: int(sign) for cell, sign in enumerate(signs) if sign.isdigit()} == dict(wrong)
    coloured = terminal.render(puzzle, board, colour="256", width=30)
    assert plain(coloured).splitlines() == [first, *lines]
    assert "\x1b[48;5;196" in coloured


def test_a_low_terminal_shows_every_mismatch() -> None:
    """A 16x16 board in 80x24: a dot a piece, and red between the dots of each mismatch."""
    puzzle, board = like_e2(16, 16, seed=1, clues=1)
    board = changed(board, {40: int(board.placements[40]) ^ 1, 200: int(board.placements[200]) ^ 2})
    mismatches = verify(puzzle, board).mismatches
    text = terminal.render(puzzle, board, colour="truecolor", width=80, height=20)
    above, *lines = text.splitlines()
    assert above == "   " + " ".join(str(column % 10) for column in range(16)), "the last digits"
    assert len(lines) == 16 and {len(plain(line)) for line in lines} == {3 + 31}
    red = 0
    for codes, signs in re.findall("\x1b\\[([0-9;]+)m(▀+)", text):
        red += len(signs) * (codes.startswith("38;2;255;0;0") + codes.endswith("48;2;255;0;0"))
    assert red == len(mismatches) > 0
    assert "a dot is a piece" in terminal.legend(puzzle, board, colour="truecolor", width=80, height=20)
    assert len(terminal.render(puzzle, board, width=80, height=20).splitlines()) == 17
    assert len(terminal.render(puzzle, board, width=80).splitlines()) == 32
    assert "b!c is a mismatch" in terminal.legend(puzzle, board, width=80)


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, "none"),
        ({"TERM": "dumb"}, "none"),
        ({}, "none"),
    ],
)
def test_the_colours_that_a_terminal_shows(environ: dict[str, str], expected: str) -> None:
    assert terminal.capability(_Terminal(io.BytesIO(), encoding="utf-8"), environ) == expected
    assert terminal.capability(_Terminal(io.BytesIO(), encoding="ascii"), environ) == "none"
    assert terminal.capability(io.StringIO(), environ) == "none"


def test_the_description_of_a_puzzle() -> None:
    text = describe(like_e2(16, 16, seed=1, clues=1).puzzle)
    assert "pieces      4 corners, 56 edges, 196 inner; 256 different, 0 rotationally symmetric\n" in text
    assert "along rim   5 colours, 24 half-edges each\ninside      17 colours, 48 to 50 half-edges each\n" in text
    assert "  row 8, column 7 (cell 135, from 0): piece " in text


def test_holes_are_left_out_of_every_picture() -> None:
    puzzle, solution = family("diamond:2:2")(1)
    text = terminal.render(puzzle, solution).splitlines()
    assert [line.strip().count("+") for line in text] == [0, 1, 0, 3, 0, 1] and "." not in "".join(text)
    root = ET.fromstring(svg.render(puzzle, solution))
    assert d_of(root, EMPTY) == "" and sum(triangles(root, rgb(colour)) for colour in range(3)) == 4 * 5
    assert svg.tikz(puzzle, solution).count("rectangle") == 5
    narrow = terminal.render(puzzle, solution, width=3).splitlines()
    assert narrow == [" +", "+++", " +"]
    sheet = Scene(family("triangle:2:2")(1).puzzle, None)
    assert len(sheet.filled) == 4 and "4 pieces, 3 x 2, 2 holes" in sheet.caption


@pytest.mark.parametrize("framed", [True, False])
def test_sides_on_the_edge_are_wrong_only_with_a_frame(framed: bool) -> None:
    quads = [[0, 1, 0, 0], [0, 0, 0, 1]] if framed else [[2, 1, 3, 2], [2, 3, 2, 1]]
    puzzle = Puzzle(quads, 2, 1, framed=framed)
    text = terminal.render(puzzle, Board([0, 4], 2, 1))
    assert "!" not in text and ("c" in text) != framed
    ground = ET.fromstring(svg.render(puzzle, Board([0, 4], 2, 1))).find("s:rect", NAMESPACE)
    assert ground is not None and (ground.get("fill") == f"#{hex_code(GREY)}") == framed
    assert Scene(puzzle, Board([1, 4], 2, 1)).wrong  # turned: grey inside, or a mismatch


MATES = ((1, 2), (3, 4), (5, 6))


def test_mates_are_drawn_as_a_motif_and_a_hole_of_its_shape() -> None:
    puzzle = Puzzle([[1, 3, 1, 1], [2, 5, 6, 4], [2, 5, 6, 4], [6, 5, 2, 6]], 2, 2, framed=False, mates=MATES)
    board = Board([0, 4, 8, 12], 2, 2)  # mates but for the lower right joint
    wrong = verify(puzzle, board).mismatches
    assert wrong == ((1, 3),)
    root = ET.fromstring(svg.render(puzzle, board))
    assert len(re.findall("M", d_of(root, MISMATCH, "stroke"))) == 1
    counts = Counter(puzzle.pieces.ravel().tolist())
    for first, hole in MATES:
        assert triangles(root, rgb(first)) == counts[first] + counts[hole]
        assert d_of(root, rgb(first)).count("M") == counts[first] + 2 * counts[hole]  # triangles, and motifs on plates
        assert triangles(root, rgb(hole)) == 0
    plates = [path for path in root.iterfind(".//s:path", NAMESPACE) if "9.5" in path.get("d", "")]
    assert len(plates) == len({*counts} & {hole for _, hole in MATES})
    flat = ET.fromstring(svg.render(puzzle, board, motifs=False))
    for first, hole in MATES:
        assert [triangles(flat, colour) for colour in (rgb(first), inked(rgb(first)))] == [counts[first], counts[hole]]
    assert len({inked(rgb(colour)) for colour in range(1, 41)} | {*PALETTE}) == 80
    letters = terminal.render(puzzle, board)
    assert letters.count("!") == 1 and letters.count("-") == 3
    assert "b-c mates" in terminal.legend(puzzle, board)
    check_tikz(svg.tikz(puzzle, board))


def test_a_rim_has_its_colour_and_its_faults_are_marked() -> None:
    puzzle = Puzzle([[2, 1, 2, 2], [2, 3, 2, 1], [2, 2, 2, 3]], 3, 1, framed=False, rim=2)
    right, wrong = Board([0, 4, 8], 3, 1), Board([0, 5, 8], 3, 1)
    root = ET.fromstring(svg.render(puzzle, right))
    ground = root.find("s:rect", NAMESPACE)
    assert ground is not None and ground.get("fill") == f"#{hex_code(rgb(2))}" and not Scene(puzzle, right).wrong
    assert Scene(puzzle, wrong).wrong == {(0, 1), (1, 1), (1, 0), (1, 2)}
    text = terminal.render(puzzle, wrong)
    assert text.count("!") == 4 and "!" not in terminal.render(puzzle, right)
    rows = pixels(terminal.render(puzzle, right, colour="truecolor"))
    assert {*rows[0]} == {row[0] for row in rows if row[0]} == {true(rgb(2))}
    assert true(MISMATCH) in pixels(terminal.render(puzzle, wrong, colour="truecolor"))[0]
    check_tikz(svg.tikz(puzzle, wrong))
    holed = Puzzle([[2, 0, 2, 2], [2, 2, 2, 0]], 3, 1, holes=(1,), framed=False, rim=2)
    root = ET.fromstring(svg.render(holed, Board([0, -1, 4], 3, 1)))
    assert "M32 8h24v24h-24z" in d_of(root, GREY)


HOSTILE = "<script>alert('1')</script> & \"x\"\x1b[31m\n"


def test_puzzles_and_boards_have_a_repr_of_one_line() -> None:
    puzzle = like_e2(16, 16, seed=1, clues=1).puzzle
    assert repr(puzzle) == "Puzzle('like-e2-16x16-r5-i17-s1', 16x16, 22 colours, 1 clue)"
    assert repr(Puzzle(np.zeros((1, 4)), 1, 1)) == "Puzzle('puzzle', 1x1, 0 colours, 0 clues)"
    puzzle, board = planted(1, 4, 3, 3)
    assert repr(board) == "Board(4x3, 12 placed)"
    assert repr(board.of(puzzle)) == "Board(4x3, 12 placed, score 17 of 17, of 'planted-1')"
    hostile = replace(puzzle, name=HOSTILE)
    assert repr(hostile).isprintable() and repr(board.of(hostile)).isprintable()


def test_the_attached_puzzle_is_no_part_of_the_value() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    attached = board.of(puzzle)
    assert attached.puzzle is puzzle and board.puzzle is None
    assert attached == board and hash(attached) == hash(board) and pickle.dumps(attached) == pickle.dumps(board)
    for again in (pickle.loads(pickle.dumps(attached)), copy.deepcopy(attached)):
        assert again == board and again.puzzle is None


def test_a_board_with_its_puzzle_shows_colours_and_score() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    assert "<figcaption>planted-1: score 17 of 17</figcaption>" in board.of(puzzle)._repr_html_()
    named = replace(puzzle, name=HOSTILE)
    for html in (named._repr_html_(), board.of(named)._repr_html_()):
        caption = ET.fromstring(html).findtext("figcaption")
        assert "<script" not in html and (caption or "").startswith("<script>alert('1')</script> & \"x\"?[31m?: ")


def test_large_boards_are_drawn_small() -> None:
    drawn = [uniform(n, n, 3).puzzle._repr_html_() for n in (3, 16, 64)]
    sizes = [float(html.split('width="')[1].split('"')[0]) for html in drawn]
    assert sizes[0] < 150 and all(500 < size < 700 for size in sizes[1:])


# What a dichromat sees, on linear RGB: Machado, Oliveira & Fernandes 2009, table 1, severity 1.0.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# OKLab (Ottosson 2020), from linear RGB
CONES = [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.6806995, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
OPPONENTS = [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.45059371],
             [0.02590404, 0.78277177, -0.80867577]]  # fmt: skip


def least_distance(colours: Sequence[tuple[int, int, int]], vision: str) -> float:
    """100 times the least distance of two colours in OKLab, as a reader of this vision sees them."""
    part = np.array(colours) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.cbrt(np.clip(linear @ np.transpose(VISION[vision]), 0, 1) @ np.transpose(CONES)) @ np.transpose(OPPONENTS)
    distances = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    return float(100 * distances[np.triu_indices(len(colours), 1)].min())


@pytest.mark.parametrize(
    ("vision", "least"), [("normal", 11), ("protanopia", 6), ("deuteranopia", 5), ("tritanopia", 5.5)]
)
def test_colours_under_one_pattern_are_told_apart(vision: str, least: float) -> None:
    for first in range(0, len(PALETTE), 8):  # one group a line of the palette
        assert least_distance(PALETTE[first : first + 8], vision) > least, first
