"""Grids of polyominoes in colour: every cell has the colour and the letter of its piece, every border its line."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lns.cli.main import main
from lns.exact.polyominoes import draw
from lns.exact.polyominoes.grid import parse, render
from lns.instances.draw.palette import PALETTE, hex_code, xterm

GRID = parse("AAB\n.CB\n.C#\n\nAA\n\nBB\n\nCC\n\n<<\n")
FILLED = ("AAB", "<CB", "<C#")
_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("colour", ["256", "truecolor"])
def test_a_cell_has_the_colour_of_its_piece_in_a_terminal(colour: draw.Colour) -> None:
    assert draw.terminal(GRID, FILLED, "none") == "AAB\n<CB\n<C#"
    lines = draw.terminal(GRID, FILLED, colour).split("\n")
    for row, line in zip(FILLED, lines, strict=True):
        cells = re.findall(r"\x1b\[48;[25];([\d;]+?);38;[25];[\d;]+m(\S) ", line)
        assert [sign for _, sign in cells] == [sign for sign in row if sign != "#"]
        for code, sign in cells:
            value = PALETTE["ABC<".index(sign)]
            assert code == (str(xterm(value)) if colour == "256" else "{};{};{}".format(*value))
        assert line.endswith("\x1b[0m")


def test_an_svg_has_a_square_and_a_letter_for_each_cell_and_lines_between_pieces() -> None:
    picture = ElementTree.fromstring(draw.svg(GRID, FILLED))
    group = picture.find(f"{_SVG}g")
    path = picture.find(f"{_SVG}path")
    assert group is not None and path is not None
    letters = [text.text for text in group.iter(f"{_SVG}text")]
    assert letters == [sign for sign in "".join(FILLED) if sign != "#"]
    fills = [square.get("fill") for square in group.iter(f"{_SVG}rect")]
    assert fills == [f"#{hex_code(PALETTE['ABC<'.index(sign or '')])}" for sign in letters]
    lines = len(re.findall("M", path.get("d") or ""))
    assert lines == 18, "12 on the rim, 2 at the blocked cell counted in it, 6 inside"
    free = ElementTree.fromstring(draw.svg(GRID, GRID.rows))
    assert [text.text for text in free.iter(f"{_SVG}text")] == list("AABCBC"), "free cells have no letter"


def test_the_command_draws_fillings_cuts_and_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.txt").write_text(render(GRID))
    assert main(["exact", "polyomino", str(tmp_path / "t.txt"), "--quiet", "--svg", str(tmp_path / "t.svg")]) == 0
    assert capsys.readouterr().out.startswith("AAB\n<CB\n<C#\n"), "no terminal, no colour"
    assert (tmp_path / "t.svg").read_text() == draw.svg(GRID, FILLED)
    assert main(["exact", "polyomino", str(tmp_path / "t.txt"), "--quiet", "--colour", "always"]) == 0
    assert capsys.readouterr().out.startswith("\x1b[48;")
    assert main(["exact", "polyomino", "--cut", "4x4", "--svg", str(tmp_path / "c.svg")]) == 0
    assert len(ElementTree.parse(tmp_path / "c.svg").findall(f".//{_SVG}text")) == 16
