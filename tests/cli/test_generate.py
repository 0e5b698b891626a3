"""`lns generate` as its user meets it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import lns
from exact.outcome import Outcome, SolveStatus
from instances.formats import load_board, load_puzzle
from instances.generate.planted import plant
from instances.generate.portable_random import PortableRandom
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.cli.main import main


def test_to_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "like-e2", "--width", "4", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["4", "6", "0"]
    assert len(lines) == 3 + 16


def test_puzzle_and_solution_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, solution_file = tmp_path / "p.txt", tmp_path / "p.solution.txt"
    options = ["--width", "7", "--colours", "5", "--fix-corners", "--clues", "1"]
    assert main(["generate", "uniform", *options, "-o", str(puzzle_file), "--solution", str(solution_file)]) == 0
    assert capsys.readouterr().out == f"{puzzle_file}: uniform-7x7-c5-s0, 49 pieces, 5 colours, 5 clues\n"
    puzzle, board = load_board(str(solution_file), load_puzzle(str(puzzle_file)))
    assert {clue.cell for clue in puzzle.clues} == {0, 6, 24, 42, 48}
    judged = verify(puzzle, board)
    assert judged.valid and judged.score == judged.max_score == 84


def test_rectangles_with_clues_are_text_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "like-e2", "--width", "5", "--height", "3", "--clues", "2"]) == 0
    puzzle = lns.load_puzzle(capsys.readouterr().out)
    assert (puzzle.width, puzzle.height, len(puzzle.clues)) == (5, 3, 2)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("tetravex --width 3 --colours 3", "tetravex-3x3-c3-s0, 9 pieces, 3 colours, 0 clues"),
        ("unframed --width 3 --height 2 --clues 1", "unframed-3x2-c7-s0, 6 pieces, 6 colours, 1 clue"),
        ("triangle --side 3 --colours 2", "triangle-3-c2-s0, 9 pieces, 2 colours, 0 clues"),
        ("diamond --side 3 --clues 13", "diamond-3-c3-s0, 13 pieces, 3 colours, 13 clues"),
    ],
)
def test_puzzles_by_other_rules(options: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, solution_file = str(tmp_path / "p.json"), str(tmp_path / "p.solution.txt")
    assert main(["generate", *options.split(), "-o", puzzle_file, "--solution", solution_file]) == 0
    assert capsys.readouterr().out == f"{puzzle_file}: {line}\n"
    assert main(["verify", solution_file, "--puzzle", puzzle_file, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["full"] and value["score"] == value["max_score"]
    assert main(["generate", *options.split()]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "torus.json"
    assert main(["generate", "balanced-torus", "--width", "5", "--seed", "8", "-o", str(target), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    puzzle = load_puzzle(str(target))
    assert value == {
        "name": "balanced-torus-5x5-c3-s8",
        "width": 5,
        "height": 5,
        "colours": 3,
        "clues": [],
        "seed": 8,
        "max_score": 40,
        "sha256": puzzle.sha256,
        "output": str(target),
        "solution": None,
        "text": None,
    }


@pytest.mark.parametrize(
    ("right", "status"),
    [
        ([1, 2, 3, 1], 0),  # both ends equal, so that the board and its rotated copy are both counted
        ([1, 2, 2, 1], 0),  # its own rotated copy
        ([1, 1, 2, 2, 1, 1], 2),  # the piece 1-1 may lie elsewhere
    ],
)
def test_a_single_solution_is_recognised_if_every_corner_piece_has_an_identical_one(
    right: list[int], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = len(right) + 1
    row = plant([*right, 0], [0] * cells, cells, 1, PortableRandom(1), "row")
    monkeypatch.setattr("instances.generate.unique", lambda *arguments: row)
    assert main(["generate", "--unique", "max", "--width", "9", "-o", str(tmp_path / "row.json")]) == status


def test_the_proofs_of_the_largest_board_end_with_their_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    command = ["generate", "--unique", "max", "--width", "64", "-o", str(tmp_path / "p.txt"), "--time", "1"]
    assert main(command) == 2 and not list(tmp_path.iterdir())
    assert time.monotonic() - began < 20.0  # the machine may be busy
    assert "was proven unique in" in capsys.readouterr().err
    assert main(["generate", "like-e2", "--time", "1"]) == 2
    assert "--time is for the proofs of --unique" in capsys.readouterr().err


@pytest.mark.parametrize("stopped_at", [1, 2])  # while ColorPairs is compiled, and in the first proof
def test_an_interrupted_proof_ends_the_command(
    stopped_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def interrupted(puzzle: object, **options: object) -> Outcome:
        asked.append(puzzle)
        status = SolveStatus.INTERRUPTED if len(asked) == stopped_at else SolveStatus.SOLVED
        return Outcome(status, 0, 0, 0.0)

    monkeypatch.setattr("exact.solvers.count", interrupted)
    assert main(["generate", "--unique", "max", "--width", "5", "-o", str(tmp_path / "p.txt")]) == 130
    assert len(asked) == stopped_at and not list(tmp_path.iterdir())


def test_compiling_does_not_count_as_time_of_the_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells: list[int] = []

    def count(puzzle: Puzzle, **options: object) -> Outcome:
        cells.append(puzzle.cells)
        if len(cells) > 1:
            return Outcome(SolveStatus.SOLVED, 1, 0, 0.0)
        time.sleep(3.0)  # the first call compiles
        return Outcome(SolveStatus.BUDGET_SPENT, 0, 0, 3.0)

    monkeypatch.setattr("exact.solvers.count", count)
    words = ["generate", "--unique", "max", "--width", "5", "-o", str(tmp_path / "p.txt"), "--time", "2"]
    assert main(words) == 0
    assert cells == [4, 25]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("foo", "unknown kind of puzzle 'foo'; expected uniform, balanced-torus, like-e2, unframed"),
        ("like-e2 --colours 9", "expected two numbers of colours, not one"),
        ("uniform --rim-colours 3", "expected one number"),
        ("uniform --width 0", "a board of 0 x 0"),
        ("uniform --width -3 --height 4", "a board of -3 x 4"),
        ("uniform --width 99999999 --clues 3", "expected 1 to 4096 cells"),
        ("uniform --colours 0", "0 colours; expected 1 to 4096"),
        ("balanced-torus --width 3 --height 4", "expected a square"),
        ("like-e2 --rim-colours 1", "4 corner pieces"),
        ("like-e2 --clues 257", "257 clues for a board of 16 x 16; expected 0 to 256"),
        ("like-e2 --clues -1", "-1 clues"),
        ("like-e2 --seed -1", "seed -1; expected 0 or more"),
        ("like-e2 --width x", "invalid int value: 'x'"),
        ("like-e2 --format url", "format url carries a board"),
        ("like-e2 --format nothing", "unknown format 'nothing'"),
        ("triangle --width 3", "a triangle has one size; expected its side, not width or height"),
        ("tetravex --side 3", "only triangle and diamond have one"),
        ("--unique max --side 4", "--side is for the kinds triangle and diamond; expected none here"),
        ("--from-3-partition 3 3 4 --side 5", "--side is for the kinds triangle and diamond; expected none here"),
        ("diamond --side 0", "a diamond of side 0; expected 1 or more"),
        ("triangle --side 99", "a board of 197 x 99"),
        ("diamond --side 3 --clues 14", "14 clues for a board of 5 x 5; expected 0 to 13"),
        ("diamond --side 3 --fix-corners", "a diamond has no four corners to fix"),
        (
            "tetravex -o p.txt",
            "p.txt: format benoist cannot say that a puzzle has no frame and no turns; expected json",
        ),
        ("like-e2 -o p.odd", "p.odd: the name does not say the format"),
        ("like-e2 -o p.txt --solution ./p.txt", "the same file name"),
        ("like-e2 -o nowhere/p.txt", "nowhere: there is no such directory"),
    ],
)
def test_what_cannot_be_made(
    options: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", *options.split()]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert sentence in output.err
    assert output.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("mine")
    assert main(["generate", "like-e2", "-o", str(old)]) == 2
    assert main(["generate", "like-e2", "-o", str(new), "--solution", str(old)]) == 2
    assert capsys.readouterr().err.count("this exists already") == 2
    assert (old.read_text(), new.exists()) == ("mine", False)
    assert main(["generate", "like-e2", "-o", str(old), "--force"]) == 0
    assert load_puzzle(str(old)).cells == 256


def test_nothing_is_written_where_one_of_two_files_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle = tmp_path / "p.txt"
    assert main(["generate", "like-e2", "--width", "4", "-o", str(puzzle), "--solution", f"{tmp_path}/no/s"]) == 2
    assert capsys.readouterr().err == f"lns: {tmp_path}/no: there is no such directory\n" and not puzzle.exists()
