"""`lns improve`: what it prints, writes and refuses, and what Ctrl-C leaves behind."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from instances.board import Board
from instances.draw.heatmap import svg_map, terminal_map
from instances.formats import load_board, viewer_url, write
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.cli.main import main
from tests.cli.run_program import program
from tests.instances.small_puzzles import planted

PUZZLE, SOLUTION = planted(8, 7, 6, 6, clues=2)


def swapped() -> Board:
    """The solution with two inner pieces that are no clues exchanged."""
    clues = {clue.cell for clue in PUZZLE.clues}
    one, other = [cell for cell in (8, 9, 10, 15, 16, 17) if cell not in clues][:2]
    placements = SOLUTION.placements.copy()
    placements[[one, other]] = placements[[other, one]]
    return Board(placements, 7, 6)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """(puzzle, board) on disk."""
    write(tmp_path / "p.json", None, PUZZLE, None)
    write(tmp_path / "b.url", "url", PUZZLE, swapped())
    return str(tmp_path / "p.json"), str(tmp_path / "b.url")


def improve_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    status = main(["improve", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_the_most_urgent_cell_first_proves_the_same(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, board_file = files
    question = [board_file, "--puzzle", puzzle_file, "--rows", "1:3", "--nodes", "1000000"]
    for method in (["--order", "urgent"], ["--order", "urgent", "--no-backjumping"], ["--order", "static"]):
        status, answer = improve_json(capsys, *question, *method)
        assert status == 0 and answer["status"] == "optimal" and answer["score"] == PUZZLE.max_score
    assert main(["improve", *question, "--no-backjumping"]) == 2
    assert "--no-backjumping is for --order urgent" in capsys.readouterr().err


def test_rows_are_improved_to_a_proven_optimum_and_written(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    out = tmp_path / "better.json"
    status, answer = improve_json(
        capsys, board_file, "--puzzle", puzzle_file, "--rows", "1:3", "--nodes", "1000000", "-o", str(out)
    )
    assert status == 0 and answer["status"] == "optimal" and answer["improved"]
    assert answer["score"] == answer["bound"] == PUZZLE.max_score > int(str(answer["score_before"]))
    _, board = load_board(str(out), PUZZLE)
    judged = verify(PUZZLE, board)
    assert judged.valid and judged.score == PUZZLE.max_score
    assert load_board(str(answer["url"]), PUZZLE)[1] == board
    status, answer = improve_json(capsys, str(out), "--puzzle", puzzle_file, "--rows", "1:3")
    assert status == 0 and answer["status"] == "optimal" and not answer["improved"]


def test_a_target_that_is_not_reached_is_the_answer_no(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    before = verify(PUZZLE, swapped()).score
    rows = [board_file, "--puzzle", puzzle_file, "--rows", "4:6"]  # not those with the mismatches
    status, answer = improve_json(capsys, *rows, "--target", str(before + 1))
    assert status == 1 and answer["score"] == before == answer["bound"]
    assert improve_json(capsys, *rows)[0] == 0
    status, answer = improve_json(capsys, *rows[:-1], "1:3", "--target", str(before + 1))
    assert status == 0 and int(str(answer["score"])) > before


def test_files_are_not_written_over_unless_forced(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = [files[1], "--puzzle", files[0], "--window", "2x4", "--everywhere", "--nodes", "1000"]
    for option in ("-o", "--svg"):
        there = tmp_path / "there.url"
        there.write_text("mine")
        assert main(["improve", *region, option, str(there)]) == 2
        assert "there.url: this exists already" in capsys.readouterr().err and there.read_text() == "mine"
        pipe = tmp_path / f"pipe{option}"
        os.mkfifo(pipe)
        assert main(["improve", *region, option, str(pipe), "--force"]) == 2
        assert "is a pipe" in capsys.readouterr().err and pipe.is_fifo()
        assert main(["improve", *region, option, str(there), "--force"]) == 0
        assert there.read_text() != "mine"


def test_around_mismatches_is_what_happens_without_a_region_and_says_so_in_words(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    assert main(["improve", board_file, "--puzzle", puzzle_file]) == 0
    text = capsys.readouterr().out
    assert "a better refill, and none is better than this" in text and f"of {PUZZLE.max_score}, before" in text
    assert main(["improve", board_file, "--puzzle", puzzle_file, "--around-mismatches", "--donors", "2"]) == 0
    assert "2 of them donors" in capsys.readouterr().out


def test_a_url_defines_its_own_puzzle(capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = improve_json(capsys, viewer_url(PUZZLE, swapped()), "--cells", "8-10,15,16-17")
    assert status == 0 and answer["status"] == "optimal" and answer["score"] == PUZZLE.max_score
    assert answer["cells"] == 6


def test_everywhere_ends_with_a_map(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, board_file = files
    svg, out = tmp_path / "map.svg", tmp_path / "out.url"
    arguments = [board_file, "--puzzle", puzzle_file, "--window", "2x4", "--everywhere", "--nodes", "500000"]
    assert main(["improve", *arguments, "--svg", str(svg), "-o", str(out)]) == 0
    text = capsys.readouterr().out
    assert "20 of 20 searched" in text and "windows improved: 1" in text and "windows open: budget spent: 0" in text
    assert svg.read_text().startswith("<svg") and svg.read_text().count("<rect") == 1 + 20 + 3
    assert verify(PUZZLE, load_board(str(out), PUZZLE)[1]).score == PUZZLE.max_score
    status, answer = improve_json(capsys, *arguments)
    assert status == 0 and answer["windows"] == {"proven": 19, "improved": 1, "open": 0, "total": 20}
    assert answer["status"] == "optimal"


def test_clues_outlive_files_that_name_their_puzzle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board from a file that knows its puzzle, improved into another file, and that one improved again."""
    write(tmp_path / "p.json", None, PUZZLE, None)
    write(tmp_path / "a.json", None, PUZZLE, swapped(), instance="p.json")
    for source, target in (("a", "b"), ("b", "c")):
        arguments = [str(tmp_path / f"{source}.json"), "--rows", "1:3", "-o", str(tmp_path / f"{target}.json")]
        assert improve_json(capsys, *arguments)[1]["score"] == PUZZLE.max_score
        assert load_board(str(tmp_path / f"{target}.json"))[0] == PUZZLE
    (tmp_path / "p.json").unlink()  # only the url is left: said, as it knows no clues
    assert main(["improve", str(tmp_path / "a.json"), "--rows", "1:3"]) == 0
    assert "taken from the url" in capsys.readouterr().err


def test_everywhere_proves_only_what_holds_for_the_board_at_the_end(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A window proven before another one changed the board is no proof, nor are the windows that were looked at."""
    puzzle_file, _ = files
    placements = SOLUTION.placements.copy()
    free = [cell for cell in range(8, 34) if cell % 7 not in (0, 6)]
    free = [cell for cell in free if cell not in {clue.cell for clue in PUZZLE.clues}]
    placements[free] = np.random.default_rng(3).permutation(placements[free])
    url = viewer_url(PUZZLE, Board(placements, 7, 6))
    arguments = ["--puzzle", puzzle_file, "--window", "2x2", "--everywhere", "--nodes", "100000"]
    improved = 0
    for _ in range(30):
        status, answer = improve_json(capsys, url, *arguments)
        score, before = int(str(answer["score"])), int(str(answer["score_before"]))
        assert status == 0 and int(str(answer["bound"])) >= score
        if score == before:
            break
        assert answer["status"] == "improved" and answer["bound"] == PUZZLE.max_score
        improved, url = improved + 1, str(answer["url"])
    assert improved and answer["status"] == "optimal" and answer["bound"] == answer["score"]


def test_maps_count_and_leave_unvisited_places_blank() -> None:
    legend = {"a": ("#", (0, 0, 0), "good"), "b": ("?", (9, 9, 9), "less & good")}
    grid = [["a", "b"], ["a", ""]]
    assert terminal_map(grid, legend).splitlines() == [
        "     0 1", "   0 # ?", "   1 #", "  #  good: 2", "  ?  less & good: 1",
    ]  # fmt: skip
    assert "less &amp; good: 1" in svg_map(grid, legend, "a < b") and "a &lt; b" in svg_map(grid, legend, "a < b")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--cells", "3,999"], "cell 999, off the board"),
        (["--cells", "9-3"], "no list of cells"),
        (["--cells", ""], "no list of cells"),
        (["--cells", "3,3"], "twice"),
        (["--rows", "4:4"], "rows 4:4"),
        (["--rows", "-1:4"], "expected"),
        (["--rows", "0:99"], "rows 0:99"),
        (["--window", "2x99", "--everywhere"], "does not fit"),
        (["--window", "2x2"], "go together"),
        (["--everywhere"], "go together"),
        (["--rows", "0:1", "--cells", "3"], "exclude each other"),
        (["--rows", "0:1", "--svg", "x.svg"], "map of --everywhere"),
        (["--rows", "0:1", "--donors", "99"], "99 donors"),
        (["--rows", "0:1", "--nodes", "0"], "expected 1 or more"),
        (["--rows", "0:1", "--target", "999"], "--target 999 is more than a board"),
        (["--rows", "0:1", "-o", "nowhere/x.json"], "nowhere: there is no such directory"),
        (["--rows", "0:1", "-o", "x.xyz"], "x.xyz: the name does not say the format"),
        (["--rows", "0:1", "-o", "x.csv"], "x.csv: format csv16 carries no board"),
        (["--window", "2x2", "--everywhere", "--svg", "nowhere/x.svg"], "nowhere: there is no such directory"),
    ],
)
def test_bad_input_is_one_sentence(
    files: tuple[str, str], arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["improve", files[1], "--puzzle", files[0], *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1


def test_boards_that_cannot_be_used(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, solved = planted(9, 7, 6, 6)
    write(tmp_path / "other.url", "url", other, solved)
    assert main(["improve", str(tmp_path / "other.url"), "--puzzle", files[0], "--rows", "0:1"]) == 2
    assert "other.url" in capsys.readouterr().err
    placements = SOLUTION.placements.copy()
    placements[40] = placements[39]
    write(tmp_path / "twice.url", "url", PUZZLE, Board(placements, 7, 6))
    assert main(["improve", str(tmp_path / "twice.url"), "--puzzle", files[0], "--rows", "0:1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["improve", files[1], "--puzzle", files[0]]) == 0
    write(tmp_path / "solved.url", "url", PUZZLE, SOLUTION)
    assert main(["improve", str(tmp_path / "solved.url"), "--puzzle", files[0]]) == 2
    assert "no mismatch" in capsys.readouterr().err


def hard_board(tmp_path: Path) -> tuple[str, Puzzle]:
    """A large region of a jumbled board: no proof within minutes."""
    puzzle, board = planted(5, 16, 16, 20)
    rng = np.random.default_rng(1)
    inner = [16 * row + column for row in range(3, 12) for column in range(1, 15)]
    placements = board.placements.copy()
    placements[inner] = rng.permutation(placements[inner])
    write(tmp_path / "hard.json", None, puzzle, None)
    write(tmp_path / "hard.url", "url", puzzle, Board(placements, 16, 16))
    return str(tmp_path / "hard.json"), puzzle


def test_ctrl_c_leaves_the_best_board_so_far(tmp_path: Path) -> None:
    puzzle_file, puzzle = hard_board(tmp_path)
    out = tmp_path / "so-far.url"
    before = verify(puzzle, load_board(str(tmp_path / "hard.url"), puzzle)[1]).score
    arguments = [str(tmp_path / "hard.url"), "--puzzle", puzzle_file, "--rows", "3:12", "--time", "10m", "-o", str(out)]
    assert main(["improve", *arguments, "--nodes", "1000", "--json"]) == 0  # compiles where need be
    out.unlink()
    with program("improve", *arguments, "--json") as process:
        try:
            process.wait(timeout=6)
            raise AssertionError(process.communicate())
        except Exception as error:
            assert "timed out" in str(error), error
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=20)
        assert process.returncode == 130
    answer = json.loads(text)
    assert answer["status"] == "interrupted" and answer["score"] > before
    assert verify(puzzle, load_board(str(out), puzzle)[1]).score == answer["score"]
