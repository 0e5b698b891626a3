"""Colours that cannot pair up: the bound holds for every board, and is told before a search."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lns
from lns.cli.main import main
from lns.instances.board import Board
from lns.instances.pairing import pairing
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted


def best_score(puzzle: Puzzle) -> int:
    """By trying all boards of two rows: each cell takes a corner in its only legal rotation."""
    best = -1
    for pieces in itertools.permutations(range(puzzle.cells)):
        for turns in itertools.product(range(4), repeat=puzzle.cells):
            placements = np.array([4 * piece + turn for piece, turn in zip(pieces, turns, strict=True)])
            verification = verify(puzzle, Board(placements, puzzle.width, puzzle.height))
            if verification.complete:
                best = max(best, verification.score)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_no_board_is_better_than_the_bound(seed: int) -> None:
    colours = np.random.default_rng(seed).integers(1, 4, size=(4, 2))
    mates = ((1, 2),) * (seed % 2)
    puzzle = Puzzle(np.array([(0, right, down, 0) for right, down in colours]), 2, 2, mates=mates)
    assert best_score(puzzle) <= pairing(puzzle).best_possible


def test_planted_puzzles_pair_up() -> None:
    for seed in range(5):
        puzzle, _ = planted(seed, 5, 4, 3)
        assert pairing(puzzle).best_possible == puzzle.max_score and str(pairing(puzzle)) == ""


def test_it_is_said_at_once_with_the_best_score_that_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = planted(3, 4, 4, 3)[0].pieces.copy()
    inner = next(number for number, quad in enumerate(pieces) if 0 not in quad)
    pieces[inner, 0] = pieces[inner, 0] % 3 + 1
    puzzle = Puzzle(pieces, 4, 4, name="odd")
    found = pairing(puzzle)
    assert len(found.odd_colours) == 2 and found.best_possible == 23
    assert "odd number of half-edges, or another than their mates;" in str(pairing(replace(puzzle, mates=((8, 9),))))
    lns.save(puzzle, tmp_path / "odd.json")
    assert main(["show", str(tmp_path / "odd.json")]) == 0
    sentence = "have an odd number of half-edges; at most 23 of 24 can match"
    assert sentence in capsys.readouterr().out
    command = ["solve", str(tmp_path / "odd.json"), "--workers", "1", "--time", "60", "--engine", "tabu"]
    assert main([*command, "--target", "24", "--run-dir", str(tmp_path / "no")]) == 2
    assert "a target of 24 cannot be reached: no board is perfect, as colours" in capsys.readouterr().err
    assert main([*command, "--run-dir", str(tmp_path / "run")]) == 0
    captured = capsys.readouterr()
    assert sentence in captured.err
    for said in ("23 of 24, 1 mismatch: no board has fewer\n", "no better board is possible"):
        assert said in captured.out and "lns resume" not in captured.out


def test_json_needs_width_height_and_pieces_only() -> None:
    puzzle = lns.load_puzzle('{"width": 1, "height": 2, "pieces": [[0, 0, 1, 0], [1, 0, 0, 0]]}')
    assert (puzzle.width, puzzle.height, puzzle.max_score) == (1, 2, 1)
    with pytest.raises(lns.InputError, match="'schema'"):
        lns.load_puzzle('{"schema": 7, "width": 1, "height": 2, "pieces": [[0, 0, 1, 0], [1, 0, 0, 0]]}')


def test_the_shipped_instances_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instances"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("like-e2-3x3 ") and any("5 clues" in line for line in lines)
    for name in (line.split()[0] for line in lines):
        assert lns.load_puzzle(name).name == name
