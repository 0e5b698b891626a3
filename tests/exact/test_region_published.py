"""The table of windows: resumable, and honest about what is proven."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from exact.region.published import main, worst_rows
from instances.board import Board
from instances.formats import viewer_url, write
from tests.instances.small_puzzles import planted


def test_the_table_is_made_resumed_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, solution = planted(6, 6, 6, 6)
    placements = solution.placements.copy()
    placements[[14, 15]] = placements[[15, 14]]
    jumbled = Board(placements, 6, 6)
    assert worst_rows(puzzle, jumbled, 2) in (1, 2)
    write(tmp_path / "p.json", None, puzzle, None)
    with (tmp_path / "boards.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["score", "board_edges"])
        for score, board in ((470, solution), (468, jumbled)):
            edges = viewer_url(puzzle, board).split("board_edges=")[1].split("&")[0]
            writer.writerow([score, edges])
    results = tmp_path / "results.csv"
    arguments = [str(tmp_path / "boards.csv"), "--puzzle", str(tmp_path / "p.json"), "--results", str(results)]
    assert main([*arguments, "--rows", "2,3"]) == 0
    text = capsys.readouterr().out
    assert text.count("\nboard ") + text.startswith("board ") == 4
    assert "| 2 | 467 to 470 | 2 | 2 | 1 | 0 |" in text and "| 3 | all | 2 | 2 | 1 | 0 |" in text
    with results.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["status"] for line in lines] == ["optimal", "improved and optimal"] * 2
    assert all(line["score"] == line["bound"] == str(puzzle.max_score) for line in lines)
    assert main([*arguments, "--rows", "2,3"]) == 0
    assert capsys.readouterr().out.startswith("| full rows")  # nothing left to do
    assert main([*arguments, "--rows", "3", "--all-windows", "--from-score", "470"]) == 0
    assert capsys.readouterr().out.count("board 0 (470)") == 3
    assert main([*arguments, "--rows", "3", "--all-windows"]) == 0
    assert capsys.readouterr().out.count("board ") == 3
    assert main([*arguments, "--rows", "9"]) == 2
    capsys.readouterr()
    assert main([*arguments, "--rows", "2", "--without", "speed"]) == 2
    assert "expected some of balance, look, curves, prices, backjumping" in capsys.readouterr().err
    assert main([*arguments[:-1], str(tmp_path / "urgent.csv"), "--rows", "2", "--order", "urgent"]) == 0
    assert "| 2 | all | 2 | 2 | 1 | 0 |" in capsys.readouterr().out
    others = [*arguments[:-1], str(tmp_path / "others.csv"), "--rows", "2", "--without", "prices,look,balance,curves"]
    assert main(others) == 0
    assert "| 2 | all | 2 | 2 | 1 | 0 |" in capsys.readouterr().out
