"""The table of windows that are searched for one edge more."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lns.exact.measurements.one_edge_more import damaged_windows, main
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import viewer_url, write
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted


def test_the_table_counts_decided_and_improved_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, board = planted(3, 6, 6, 5)
    placements = board.placements.copy()
    placements[[7, 8]] = placements[[8, 7]]
    damaged = Board(placements, 6, 6)
    edges = viewer_url(puzzle, damaged).split("board_edges=")[1].split("&")[0]
    (tmp_path / "boards.csv").write_text(f"score,board_edges\n{verify(puzzle, damaged).score},{edges}\n")
    line = {"score": verify(puzzle, damaged).score, "oriented": placements.tolist()}
    (tmp_path / "boards.jsonl").write_text(json.dumps(line) + "\n")
    write(tmp_path / "p.json", None, puzzle, None)
    for name in ("boards.csv", "boards.jsonl"):
        arguments = [str(tmp_path / name), "--puzzle", str(tmp_path / "p.json")]
        assert main([*arguments, "--windows", "2x3,1x1", "--share", "0.9"]) == 0
        lines = capsys.readouterr().out.splitlines()
        windows = len(damaged_windows(puzzle, [damaged], "2x3", 0.9))
        assert 0 < windows < 20 and lines[2].startswith(f"| 2x3 | {windows} of {windows} | {windows} | ")
        assert lines[3].startswith("| 1x1 | 0 |") and lines[3].count("|") == lines[0].count("|")
        assert main([*arguments, "--windows", "2x3", "--from-score", "1000"]) == 0
        assert "| 2x3 | 0 |" in capsys.readouterr().out
        assert main([*arguments, "--without", "luck"]) == 2
        assert "expected some of balance" in capsys.readouterr().err
    (tmp_path / "boards.jsonl").write_text("{}\n")
    assert main([str(tmp_path / "boards.jsonl"), "--puzzle", str(tmp_path / "p.json")]) == 2
    assert "line 1" in capsys.readouterr().err


def test_damaged_windows_hold_their_share_of_the_mismatches() -> None:
    puzzle, board = planted(3, 6, 5, 5)
    placements = board.placements.copy()
    placements[[7, 22]] = placements[[22, 7]]
    damaged = Board(placements, 6, 5)
    pairs = verify(puzzle, damaged).mismatches
    windows = damaged_windows(puzzle, [damaged], "2x2", 0.5)
    for row in range(4):
        for column in range(5):
            cells = [6 * row + column, 6 * row + column + 1, 6 * row + column + 6, 6 * row + column + 7]
            touched = np.sum([not set(cells).isdisjoint(pair) for pair in pairs])
            assert (touched >= 0.5 * len(pairs)) == any(cells == other for _, other in windows)
    assert damaged_windows(puzzle, [board], "2x2", 0.5) == []
    with pytest.raises(InputError, match="unknown shape '7x2'; expected HxW on a board of 5x6"):
        damaged_windows(puzzle, [damaged], "7x2", 0.5)
