"""`lns verify`: what it prints, what it answers, and that it stays light."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lns.instances.board import Board
from lns.instances.formats import best_json, viewer_url, write
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import planted
from tests.shared_data import published_boards, shared

PUZZLE, BOARD = planted(21, 6, 4, 5, clues=2)
URL = viewer_url(PUZZLE, BOARD)


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write("p.json", None, PUZZLE, None)


def verify(url: str) -> list[str]:
    return ["verify", url, "--puzzle", "p.json"]


def test_a_perfect_board(typed: Typed) -> None:
    expected = {"valid": True, "score": 38, "max_score": 38, "problems": [], "placed": 24, "cells": 24, "full": True}
    expected |= {"mismatches": 0, "seams": 38, "rim_faults": 0, "name": "planted-21", "sha256": PUZZLE.sha256}
    assert typed.facts(verify(URL)) == expected | {"format": "url", "notes": ["default letters"]}
    said = typed(verify(URL))
    assert "38 of 38 matched inner edges" in said.out and "planted-21, 6 x 4, 2 clues" in said.out
    assert "yes\n" in said.out and said.err == ""


def test_a_partial_board_is_valid_as_far_as_it_goes(typed: Typed) -> None:
    clued = {clue.cell for clue in PUZZLE.clues}
    placements = BOARD.placements.copy()
    placements[[cell for cell in range(24) if cell not in clued][:5]] = -1
    partial = verify(viewer_url(PUZZLE, Board(placements, 6, 4)))
    answer = typed.facts(partial)
    assert answer["valid"] and not answer["full"] and answer["placed"] == 19
    assert "the board is not full" in typed(partial).out


def test_broken_rules_are_named_and_answered_with_1(typed: Typed) -> None:
    placements = BOARD.placements.copy()
    placements[7] = placements[0]  # a corner inside: twice, and grey on two sides
    broken = verify(viewer_url(PUZZLE, Board(placements, 6, 4)))
    answer = typed.facts(broken, 1)
    assert not answer["valid"] and answer["mismatches"] == 38 - answer["score"] > 0
    assert sum("grey inside" in problem for problem in answer["problems"]) == 2
    assert any("is placed twice" in problem for problem in answer["problems"])
    assert "NO: " in typed(broken, 1).out


def test_best_json_finds_its_instance_and_a_false_score_is_noted(typed: Typed) -> None:
    fields = best_json(PUZZLE, BOARD, instance="p.json", seed=0, elapsed_s=1.0)
    Path("best.json").write_text(json.dumps(fields | {"score": 36}))
    answer = typed.facts("verify best.json")
    assert answer["sha256"] == PUZZLE.sha256 and answer["score"] == 38
    assert answer["notes"] == ["the file says score 36; the board has 38"]


def test_a_published_board_alone_and_on_its_instance(typed: Typed) -> None:
    score, _, edges = published_boards()[0]
    url = f"https://e2.bucas.name/#puzzle=X&board_w=16&board_h=16&board_edges={edges}"
    for more in ([], ["--puzzle", str(shared("instances", "eternity2_clue1.txt"))]):
        answer = typed.facts(["verify", url, *more])
        assert answer["score"] == score and answer["max_score"] == 480 and answer["full"]


def test_verify_imports_no_engine_and_no_numba() -> None:
    program = (
        "import sys; from lns.cli.main import main; status = main(sys.argv[1:]);"
        "heavy = {'numba', 'scipy', 'optuna', 'tqdm', 'matplotlib'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    command = [sys.executable, "-c", program, *verify(URL)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
