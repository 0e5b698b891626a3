"""The programs that measure the exact searches: tables, continuation, errors."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lns.exact.compare import read_rows
from lns.exact.measurements import damaged_windows, main, read_boards, windows
from lns.exact.paper.bailleux2025 import with_swapped_sides
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import viewer_url, write
from lns.instances.generate import balanced_torus
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted


def swapped(board: Board, a: int, b: int) -> Board:
    placements = board.placements.copy()
    placements[[a, b]] = placements[[b, a]]
    return Board(placements, board.width, board.height)


def edges(puzzle: Puzzle, board: Board) -> str:
    """The letters of a viewer URL."""
    return viewer_url(puzzle, board).split("board_edges=")[1].split("&")[0]


@dataclass
class Collection:
    """A puzzle of 6x6, its solution and a board with two pieces swapped, in a file of boards."""

    puzzle: Puzzle
    solution: Board
    damaged: Board
    folder: Path
    capsys: pytest.CaptureFixture[str]
    file: str = "boards.csv"

    def write_boards(self, *boards: tuple[int, Board]) -> None:
        with (self.folder / "boards.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["score", "board_edges"]] + [[s, edges(self.puzzle, b)] for s, b in boards])

    def run(self, program: str, *options: str, status: int = 0) -> str:
        """What a program prints: its table, or the error."""
        self.capsys.readouterr()
        assert (
            main([program, str(self.folder / self.file), "--puzzle", str(self.folder / "p.json"), *options]) == status
        )
        captured = self.capsys.readouterr()
        return captured.err if status else captured.out


@pytest.fixture
def boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Collection:
    monkeypatch.chdir(tmp_path)  # default directory of the results
    puzzle, solution = planted(6, 6, 6, 6)
    made = Collection(puzzle, solution, swapped(solution, 14, 15), tmp_path, capsys)
    write(tmp_path / "p.json", None, puzzle, None)
    made.write_boards((470, solution), (468, made.damaged))
    return made


def test_the_table_of_full_rows_is_printed_and_continued(boards: Collection) -> None:
    assert [score for score, _ in read_boards(Path("boards.csv"), boards.puzzle)] == [470, 468]
    text = boards.run("full-rows", "--rows", "2,3")
    assert text.count("\nboard ") + text.startswith("board ") == 4
    assert "| 2 | 467 to 470 | 2 | 2 | 1 | 0 |" in text and "| 3 | all | 2 | 2 | 1 | 0 |" in text
    results = Path("windows.csv")
    with results.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["status"] for line in lines] == ["optimal", "improved and optimal"] * 2
    assert [line["first"] in places for line, places in zip(lines, ("0", "12"), strict=False)] == [True] * 2, (
        "the worst"
    )
    assert all(line["score"] == line["bound"] == str(boards.puzzle.max_score) for line in lines)
    assert boards.run("full-rows", "--rows", "2,3").startswith("| full rows"), "nothing is left to do"
    assert boards.run("full-rows", "--rows", "3", "--all-windows", "--from-score", "470").count("board 0 (470)") == 3
    assert boards.run("full-rows", "--rows", "3", "--all-windows").count("board ") == 3
    before = results.read_text()
    assert boards.run("full-rows", "--rows", "2", "--without", "prices").count("board ") == 2, "another question"
    boards.write_boards((468, boards.damaged))
    assert boards.run("full-rows", "--rows", "2").startswith("| full rows"), "another number of a known board"
    assert results.read_text().startswith(before)
    results.write_text("board,rows\n")
    assert "windows.csv:1: other columns than expected (board, published, rows" in boards.run("full-rows", status=2)


@pytest.mark.parametrize("options", [["--order", "dynamic"], ["--without", "prices,lookahead,balance,curves"]])
def test_full_rows_are_proven_in_other_orders_and_without_parts(boards: Collection, options: list[str]) -> None:
    assert "| 2 | all | 2 | 2 | 1 | 0 |" in boards.run("full-rows", "--rows", "2", *options)


@pytest.mark.parametrize("file", ["boards.csv", "boards.jsonl"])
def test_the_table_of_one_edge_more_counts_decided_and_improved_windows(boards: Collection, file: str) -> None:
    score, boards.file = verify(boards.puzzle, boards.damaged).score, file
    boards.write_boards((score, boards.damaged))
    line = {"score": score, "oriented": boards.damaged.placements.tolist()}
    Path("boards.jsonl").write_text(json.dumps(line) + "\n")
    lines = boards.run("one-edge-more", "--windows", "2x3,1x1", "--share", "0.9").splitlines()
    found = len(damaged_windows(boards.puzzle, [boards.damaged], "2x3", 0.9))
    assert 0 < found < 20 and lines[2].startswith(f"| 2x3 | {found} of {found} | {found} | ")
    assert lines[3].startswith("| 1x1 | 0 |") and lines[3].count("|") == lines[0].count("|")
    assert "| 2x3 | 0 |" in boards.run("one-edge-more", "--windows", "2x3", "--from-score", "1000")
    Path("boards.jsonl").write_text(json.dumps(line) + "\n{}\n")
    if file == "boards.jsonl":
        assert "boards.jsonl:2: " in boards.run("one-edge-more", status=2)


def test_damaged_windows_hold_their_share_of_the_mismatches() -> None:
    puzzle, board = planted(3, 6, 5, 5)
    damaged = swapped(board, 7, 22)
    pairs = verify(puzzle, damaged).mismatches
    found = [cells for _, cells in damaged_windows(puzzle, [damaged], "2x2", 0.5)]
    assert len(list(windows(puzzle, damaged, "2x2"))) == 20
    for held, cells in windows(puzzle, damaged, "2x2"):
        assert held == sum(not set(cells).isdisjoint(pair) for pair in pairs)
        assert (held >= 0.5 * len(pairs)) == (cells in found)
    assert damaged_windows(puzzle, [board], "2x2", 0.5) == []


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
def test_an_invalid_file_of_boards_is_one_sentence(boards: Collection, text: str | None, expected: str) -> None:
    Path("boards.csv").unlink()
    if text is not None:
        Path("boards.csv").write_text(text.format(edges=edges(boards.puzzle, boards.solution)))
    for program in ("compare-orders", "full-rows", "one-edge-more"):
        said = boards.run(program, status=2)
        assert expected in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("full-rows --rows 9", "unknown shape '9x6'; expected HxW on a board of 6x6"),
        ("full-rows --without speed", "expected some of balance, lookahead, curves, prices, backjumping"),
        ("full-rows --order urgent", "expected one of auto, static, dynamic"),
        ("one-edge-more --windows 7x2", "unknown shape '7x2'; expected HxW on a board of 6x6"),
        ("compare-orders --shapes 8x2", "unknown shape '8x2'"),
        ("compare-orders --shapes far", "expected HxW on the board, touched, around or scatteredN"),
    ],
)
def test_what_is_not_known_is_one_sentence(boards: Collection, words: str, expected: str) -> None:
    program, *options = words.split()
    said = boards.run(program, *options, status=2)
    assert expected in said and said.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    ["compare-orders b --puzzle p --every 0", "full-rows b --puzzle p --seconds 0", "infeasible 5 --per-size 0",
     "infeasible 5 --seconds nan", "one-edge-more b --puzzle p --nodes 0"],
)  # fmt: skip
def test_limits_that_are_not_possible_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert f"{words.split()[-2]}: {words.split()[-1]} is not possible; expected" in capsys.readouterr().err


def test_swapped_puzzles_keep_their_colours_and_have_no_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pysat")
    puzzle = balanced_torus(4, 4, 1).puzzle
    changed = with_swapped_sides(puzzle)
    assert np.array_equal(np.sort(changed.pieces.ravel()), np.sort(puzzle.pieces.ravel()))
    assert (changed.pieces != puzzle.pieces).sum() == 2
    rows = tmp_path / "rows.csv"
    assert main(["infeasible", "4", "--per-size", "1", "-o", str(rows)]) == 0
    assert [row.status for row in read_rows(rows).values()] == ["infeasible"] * 4
    assert capsys.readouterr().out.count(", 1 of 1") == 4
    for sides in (["1"], ["5", "3"]):
        assert main(["infeasible", *sides]) == 2
        assert "expected sides of 4 or more" in capsys.readouterr().err
    with pytest.raises(InputError, match="expected two to swap"):
        with_swapped_sides(balanced_torus(3, 3, 1).puzzle)  # one inner piece
