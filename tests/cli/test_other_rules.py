"""The commands on puzzles without frame, without turns and with holes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exact.solvers import count
from instances.formats import load_puzzle
from instances.puzzle import Puzzle
from lns.cli.main import main
from tests.shared_data import shared

KINDS = {"tetravex": "--width 4", "unframed": "--width 3 --colours 6", "triangle": "--side 4", "diamond": "--side 3"}


def made(kind: str, directory: Path) -> tuple[str, str]:
    """Files of a puzzle and its solution."""
    puzzle, solution = str(directory / "p.json"), str(directory / "p.solution.txt")
    assert main(["generate", kind, *KINDS[kind].split(), "--seed", "2", "-o", puzzle, "--solution", solution]) == 0
    return puzzle, solution


def answer(capsys: pytest.CaptureFixture[str], *command: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*command, "--json"]) == status
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_solve_resume_verify_and_improve(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, _ = made(kind, tmp_path)
    puzzle, run = load_puzzle(puzzle_file), str(tmp_path / "run")
    options = ["--time", "20", "--workers", "1", "--seed", "1", "--run-dir", run, "--target", str(puzzle.max_score - 2)]
    best = answer(capsys, "solve", puzzle_file, *options, "--quiet")
    assert best["score"] >= puzzle.max_score - 2 and best["max_score"] == puzzle.max_score
    assert [cell for cell, pair in enumerate(best["placements"]) if pair is None] == list(puzzle.holes)
    board = f"{run}/best.json"
    found = answer(capsys, "verify", board)
    assert found["valid"] and found["full"] and found["score"] == best["score"]
    assert found["cells"] == puzzle.piece_count
    again = answer(capsys, "resume", run, "--time", "1", "--quiet")
    assert again["score"] >= best["score"]
    improved = answer(capsys, "improve", board, "--rows", f"0:{puzzle.height}", "--time", "5")
    assert improved["score"] >= best["score"] and len(improved["placements"]) == puzzle.cells
    assert [improved["placements"][cell] for cell in puzzle.holes] == [None] * len(puzzle.holes)


@pytest.mark.parametrize("kind", KINDS)
def test_count_and_solve_agree(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, solution_file = made(kind, tmp_path)
    first = answer(capsys, "exact", "count", puzzle_file)
    second = answer(capsys, "exact", "count", puzzle_file, "--solver", "rowscan")
    assert first["solutions"] == second["solutions"] > 0
    solved = answer(capsys, "exact", "solve", puzzle_file)
    holes = load_puzzle(puzzle_file).holes
    assert [cell for cell, pair in enumerate(solved["placements"]) if pair is None] == list(holes)
    started = answer(capsys, "exact", "count", puzzle_file, "--start", solution_file)
    assert started["solutions"] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("solve {} --engine beam --time 1", "engine beam fills rectangles with a frame"),
        ("solve {} --engine construct --time 1", "engine construct fills rectangles with a frame"),
        ("estimate {} --time 1", "an estimate is one of the construction, which takes no puzzle with"),
        ("exact solve {} --solver blocks", "solver blocks takes no puzzle with"),
        ("exact solve {} --solver cp:table", "solver cp:table takes no puzzle with"),
        ("convert {} p.txt", "cannot say that a puzzle has"),
    ],
)
def test_what_is_refused(
    kind: str, command: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    puzzle_file, _ = made(kind, tmp_path)
    capsys.readouterr()
    assert main(command.format(puzzle_file).split()) == 2
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.json", "p.solution.txt"]


def test_show_says_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, solution_file = made("diamond", tmp_path)
    facts = answer(capsys, "show", puzzle_file)
    assert (facts["framed"], facts["turns"], len(facts["holes"])) == (True, True, 12)
    assert sum(facts["pieces"].values()) == 13
    assert main(["show", puzzle_file]) == 0
    assert "board       5 x 5, 12 holes, 16 inner edges" in capsys.readouterr().out
    assert main(["verify", solution_file, "--puzzle", puzzle_file]) == 0
    assert "5 x 5, 12 holes, sha256" in capsys.readouterr().out


def rows(name: str) -> list[list[int]]:
    """The numbers of a public file, line by line, without its header."""
    lines = shared("cases", name).read_text().splitlines()[1:]
    return [[int(number) for number in line.split()] for line in lines]


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "dlx"])
def test_a_public_tetravex_has_one_solution(solver: str) -> None:
    pieces = [
        [up + 1, right + 1, down + 1, left + 1]
        for left, up, right, down in rows("28_tetravex_left_top_right_bottom_3x3.txt")
    ]
    outcome = count(Puzzle(pieces, 3, 3, framed=False, turns=False), solver)
    assert outcome.solutions == 1 and outcome.board is not None
    assert [oriented >> 2 for oriented in outcome.board.placements.tolist()] == [0, 1, 8, 3, 2, 4, 5, 6, 7]


def test_a_public_puzzle_without_frame() -> None:
    puzzle = Puzzle(rows("16_puzzle_unbounded_2x2.txt"), 2, 2, framed=False)
    assert puzzle.max_score == 4
    assert {count(puzzle, solver).solutions for solver in ("colorpairs", "rowscan", "dlx")} == {24}
