"""`lns verify`: what it prints, what it answers, and that it stays light."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instances.board import Board
from instances.formats import best_json, viewer_url, write
from lns.cli.main import main
from tests.instances.small_puzzles import planted
from tests.shared_data import published_boards, shared

PUZZLE, BOARD = planted(21, 6, 4, 5, clues=2)


@pytest.fixture
def puzzle_file(tmp_path: Path) -> str:
    path = tmp_path / "p.json"
    write(path, None, PUZZLE, None)
    return str(path)


def verify_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["verify", *arguments, "--json"])
    said = capsys.readouterr()
    assert said.err == "" and said.out.count("\n") == 1
    return status, json.loads(said.out)


def test_a_perfect_board(puzzle_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = verify_json(capsys, viewer_url(PUZZLE, BOARD), "--puzzle", puzzle_file)
    assert status == 0
    assert answer == {
        "valid": True,
        "score": 38,
        "max_score": 38,
        "problems": [],
        "placed": 24,
        "cells": 24,
        "full": True,
        "mismatches": 0,
        "seams": 38,
        "rim_faults": 0,
        "name": "planted-21",
        "sha256": PUZZLE.sha256,
        "format": "url",
        "notes": ["default letters"],
    }
    assert main(["verify", viewer_url(PUZZLE, BOARD), "--puzzle", puzzle_file]) == 0
    text = capsys.readouterr().out
    assert "38 of 38 matched inner edges" in text and "planted-21, 6 x 4, 2 clues" in text and "yes\n" in text


def test_a_partial_board_is_valid_as_far_as_it_goes(puzzle_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    clued = {clue.cell for clue in PUZZLE.clues}
    placements = BOARD.placements.copy()
    emptied = [cell for cell in range(24) if cell not in clued][:5]
    placements[emptied] = -1
    url = viewer_url(PUZZLE, Board(placements, 6, 4))
    status, answer = verify_json(capsys, url, "--puzzle", puzzle_file)
    assert status == 0 and answer["valid"] and not answer["full"] and answer["placed"] == 19
    assert main(["verify", url, "--puzzle", puzzle_file]) == 0
    assert "the board is not full" in capsys.readouterr().out


def test_broken_rules_are_named_and_answered_with_1(puzzle_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    placements = BOARD.placements.copy()
    placements[7] = placements[0]  # a corner inside: twice, and grey on two sides
    url = viewer_url(PUZZLE, Board(placements, 6, 4))
    status, answer = verify_json(capsys, url, "--puzzle", puzzle_file)
    assert status == 1 and not answer["valid"] and answer["mismatches"] == 38 - answer["score"] > 0
    assert sum("grey inside" in problem for problem in answer["problems"]) == 2
    assert any("is placed twice" in problem for problem in answer["problems"])
    assert main(["verify", url, "--puzzle", puzzle_file]) == 1
    assert "NO: " in capsys.readouterr().out


def test_best_json_finds_its_instance_and_a_false_score_is_noted(
    puzzle_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    best = Path(puzzle_file).with_name("best.json")
    best.write_text(json.dumps(best_json(PUZZLE, BOARD, instance="p.json", seed=0, elapsed_s=1.0) | {"score": 40 - 4}))
    status, answer = verify_json(capsys, str(best))
    assert status == 0 and answer["sha256"] == PUZZLE.sha256 and answer["score"] == 38
    assert answer["notes"] == ["the file says score 36; the board has 38"]


def test_a_given_format_overrides_recognition(
    tmp_path: Path, puzzle_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "board"
    write(path, "solution", PUZZLE, BOARD)
    assert verify_json(capsys, str(path), "--puzzle", puzzle_file, "--format", "solution")[0] == 0
    assert main(["verify", str(path), "--puzzle", puzzle_file, "--format", "url"]) == 2
    assert "no viewer URL here" in capsys.readouterr().err


def test_a_published_board_alone_and_on_its_instance(capsys: pytest.CaptureFixture[str]) -> None:
    score, _, edges = published_boards()[0]
    url = f"https://e2.bucas.name/#puzzle=X&board_w=16&board_h=16&board_edges={edges}"
    for more in ([], ["--puzzle", str(shared("instances", "eternity2_clue1.txt"))]):
        status, answer = verify_json(capsys, url, *more)
        assert status == 0 and answer["score"] == score and answer["max_score"] == 480 and answer["full"]


def test_verify_imports_no_engine_and_no_numba(puzzle_file: str) -> None:
    program = (
        "import sys; from lns.cli.main import main; status = main(sys.argv[1:]);"
        "heavy = {'numba', 'scipy', 'optuna', 'tqdm', 'matplotlib'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    command = [sys.executable, "-c", program, "verify", viewer_url(PUZZLE, BOARD), "--puzzle", puzzle_file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_control_characters_of_a_name_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    url = viewer_url(PUZZLE, BOARD).replace("puzzle=planted-21", "puzzle=a%1b%5b31mb")
    assert main(["verify", url]) == 0
    assert "\x1b" not in capsys.readouterr().out
