"""The shipped instances are what their commands write, byte for byte, and have their solutions and clues."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.instances.formats import load_board, load_puzzle, viewer_url
from lns.instances.verify import verify

DATA = Path(__file__).resolve().parents[2] / "instances" / "data"
NAMES = sorted(path.name.removesuffix(".txt") for path in DATA.glob("*.txt") if ".solution" not in path.name)


def test_the_commands_in_the_readme_write_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in re.findall(r"^lns (generate .*)$", (DATA / "README.md").read_text(), re.MULTILINE):
        assert main(shlex.split(command)) == 0, command
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes() for path in DATA.iterdir() if path.name != "README.md"}
    assert made.keys() == shipped.keys()
    assert [name for name in made if made[name] != shipped[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_instance_and_its_solution(name: str) -> None:
    puzzle = load_puzzle(name)
    assert puzzle.name == name
    _, board = load_board(str(DATA / f"{name}.solution.txt"), puzzle)
    result = verify(puzzle, board)
    assert result.valid and result.full and result.score == result.max_score
    assert load_board(viewer_url(puzzle, board), puzzle)[1] == board


def test_the_default_instance_and_its_clues() -> None:
    plain, one, five = (load_puzzle(f"like-e2-16x16{suffix}") for suffix in ("", "-clue1", "-clue5"))
    assert (plain.pieces == one.pieces).all() and (plain.pieces == five.pieces).all()
    assert [clue.cell for clue in plain.clues] == []
    assert [clue.cell for clue in one.clues] == [135]
    assert [clue.cell for clue in five.clues] == [34, 45, 135, 210, 221]


def test_the_picture_of_the_readme_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """lns show instances/data/like-e2-16x16.solution.txt --puzzle like-e2-16x16 --svg docs/solved-board.svg --force"""
    picture = tmp_path / "board.svg"
    solution = str(DATA / "like-e2-16x16.solution.txt")
    assert main(["show", solution, "--puzzle", "like-e2-16x16", "--svg", str(picture)]) == 0
    assert picture.read_bytes() == (DATA.parents[1] / "docs" / "solved-board.svg").read_bytes()
