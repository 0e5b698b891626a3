"""The tables of windows on published boards: contents, continuation, errors."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lns.exact.measurements import compare_orders
from lns.exact.measurements.boards import read_boards
from lns.exact.measurements.full_rows import main, worst_rows
from lns.instances.board import Board
from lns.instances.formats import viewer_url, write
from tests.instances.small_puzzles import planted


def test_the_table_is_printed_and_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, solution = planted(6, 6, 6, 6)
    placements = solution.placements.copy()
    placements[[14, 15]] = placements[[15, 14]]
    shuffled = Board(placements, 6, 6)
    assert worst_rows(puzzle, shuffled, 2) in (1, 2)
    write(tmp_path / "p.json", None, puzzle, None)
    with (tmp_path / "boards.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["score", "board_edges"])
        for score, board in ((470, solution), (468, shuffled)):
            edges = viewer_url(puzzle, board).split("board_edges=")[1].split("&")[0]
            writer.writerow([score, edges])
    assert [score for score, _ in read_boards(tmp_path / "boards.csv", puzzle)] == [470, 468]
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
    before = results.read_text()
    assert main([*arguments, "--rows", "2", "--without", "prices"]) == 0  # another question
    assert capsys.readouterr().out.count("board ") == 2
    boards = (tmp_path / "boards.csv").read_text()
    header, _, second = boards.splitlines()
    (tmp_path / "boards.csv").write_text(f"{header}\n{second}\n")
    assert main([*arguments, "--rows", "2"]) == 0  # the second board is the first now: it is known
    assert capsys.readouterr().out.startswith("| full rows")
    (tmp_path / "boards.csv").write_text(boards)
    assert results.read_text().startswith(before)
    assert main([*arguments, "--rows", "9"]) == 2
    capsys.readouterr()
    assert main([*arguments, "--rows", "2", "--without", "speed"]) == 2
    assert "expected some of balance, lookahead, curves, prices, backjumping" in capsys.readouterr().err
    assert main([*arguments[:-1], str(tmp_path / "dynamic.csv"), "--rows", "2", "--order", "dynamic"]) == 0
    assert "| 2 | all | 2 | 2 | 1 | 0 |" in capsys.readouterr().out
    others = [
        *arguments[:-1],
        str(tmp_path / "others.csv"),
        "--rows",
        "2",
        "--without",
        "prices,lookahead,balance,curves",
    ]
    assert main(others) == 0
    assert "| 2 | all | 2 | 2 | 1 | 0 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "boards.csv: no such file"),
        ("", "boards.csv:1: there is no column 'score'; expected score, board_edges"),
        ("score,edges\n470,abc\n", "boards.csv:1: there is no column 'board_edges'; expected score, board_edges"),
        ("score,board_edges\n", "boards.csv: the file has no row with a board; expected 1 or more"),
        ("score,board_edges\n\nmany,{edges}\n", "boards.csv:3: score is 'many'; expected a number"),
        ("score,board_edges\n470\n", "boards.csv:2: the line is too short; expected score, board_edges"),
        ("score,board_edges\n470,{edges}\n470,abc\n", "boards.csv:3: board_edges has 3 letters"),
        ('score,board_edges\n470,"{edges}', "boards.csv: the file is not valid CSV: unexpected end of data"),
    ],
)
def test_an_invalid_file_of_boards_raises_one_sentence(
    text: str | None,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # default directory of the results
    puzzle, solution = planted(6, 4, 4, 4)
    write(tmp_path / "p.json", None, puzzle, None)
    edges = viewer_url(puzzle, solution).split("board_edges=")[1].split("&")[0]
    if text is not None:
        (tmp_path / "boards.csv").write_text(text.format(edges=edges))
    arguments = [str(tmp_path / "boards.csv"), "--puzzle", str(tmp_path / "p.json")]
    for command in (compare_orders.main, main):
        assert command([*arguments, "--seconds", "1"]) == 2
        captured = capsys.readouterr()
        assert expected in captured.err and captured.err.count("\n") == 1 and captured.out == ""


def test_an_invalid_results_file_raises_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, solution = planted(6, 4, 4, 4)
    write(tmp_path / "p.json", None, puzzle, None)
    edges = viewer_url(puzzle, solution).split("board_edges=")[1].split("&")[0]
    (tmp_path / "boards.csv").write_text(f"score,board_edges\n470,{edges}\n")
    (tmp_path / "results.csv").write_text("board,rows\n")
    arguments = [str(tmp_path / "boards.csv"), "--puzzle", str(tmp_path / "p.json")]
    assert main([*arguments, "--results", str(tmp_path / "results.csv")]) == 2
    assert "results.csv:1: other columns than expected (board, published, rows" in capsys.readouterr().err
