"""`lns improve`: what it prints, writes and refuses, and what Ctrl-C leaves behind."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import lns
from exact.region import region_search, warmup
from exact.region.result import RegionStatus
from instances.board import Board
from instances.draw.heatmap import svg_map, terminal_map
from instances.formats import load_board, viewer_url, write
from instances.puzzle import Clue, Puzzle
from instances.verify import verify
from lns.cli import improve_everywhere
from lns.cli.improve_region import status_in_words
from lns.cli.main import main
from lns.terminal import progress
from tests.cli.run_program import ROOT, program, wait_for
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


def test_the_dynamic_order_proves_the_same(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, board_file = files
    question = [board_file, "--puzzle", puzzle_file, "--rows", "1:3", "--nodes", "1000000"]
    for method in (["--order", "dynamic"], ["--order", "dynamic", "--no-backjumping"], ["--order", "static"]):
        status, answer = improve_json(capsys, *question, *method)
        assert status == 0 and answer["status"] == "optimal" and answer["score"] == PUZZLE.max_score
    assert main(["improve", *question, "--no-backjumping"]) == 2
    assert "--no-backjumping is for --order dynamic" in capsys.readouterr().err


def test_heuristics_and_filters_prove_the_same_in_another_tree(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    question = [board_file, "--puzzle", puzzle_file, "--rows", "0:4", "--nodes", "1000000"]
    nodes = set()
    for method in ([], ["--heuristic", "min-expected-gap"], ["--preemption"], ["--instantiation"]):
        status, answer = improve_json(capsys, *question, "--order", "dynamic", *method)
        assert status == 0 and answer["status"] == "optimal" and answer["score"] == PUZZLE.max_score
        nodes.add(answer["nodes"])
    assert len(nodes) >= 3
    for method in (["--heuristic", "min-offer"], ["--preemption"], ["--instantiation"]):
        assert main(["improve", *question, "--order", "static", *method]) == 2
        assert "are for --order dynamic or auto" in capsys.readouterr().err
    assert main(["improve", *question, "--heuristic", "min-ofer"]) == 2
    assert "did you mean 'min-offer'?" in capsys.readouterr().err
    windows = [*question[:3], "--window", "2x3", "--everywhere", "--order", "dynamic", "--preemption"]
    assert main(["improve", *windows, "--heuristic", "row-major"]) == 0


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


def test_the_answer_ends_with_its_score_and_file(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    out = tmp_path / "better.json"
    assert main(["improve", board_file, "--puzzle", puzzle_file, "--rows", "1-2", "-o", str(out)]) == 0
    labels = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert labels == ["url", "region", "score", "status", "search", "written"], "a URL may fill a terminal"
    assert main(["improve", str(out)]) == 0
    assert capsys.readouterr().out.startswith("region      0 cells: the board has no mismatch\n")
    result = lns.improve(PUZZLE, swapped(), lns.cells.rows(PUZZLE, 1, 3))
    before = verify(PUZZLE, swapped())
    stopped = dataclasses.replace(result, status=RegionStatus.INTERRUPTED, bound=PUZZLE.max_score)
    assert status_in_words(stopped, before).startswith("interrupted: a better way to fill the region; at most ")
    stopped = dataclasses.replace(stopped, score=result.score_before)
    assert status_in_words(stopped, before).startswith("interrupted: nothing better found; at most ")


def test_the_windows_say_what_they_wait_for(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warmup.warm_up("static")
    monkeypatch.setattr(progress, "WAIT_S", 0.0)
    monkeypatch.setattr(improve_everywhere, "warm_up", lambda order: time.sleep(2.5))
    assert main(["improve", files[1], "--puzzle", files[0], "--everywhere", "--window", "1x2"]) == 0
    assert "starting, 2 s" in capsys.readouterr().err


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


def test_a_target_that_is_reached_already_says_so(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    puzzle_file, board_file = files
    before = verify(PUZZLE, swapped()).score
    question = [board_file, "--puzzle", puzzle_file, "--rows", "1:3", "--target", str(before)]
    assert main(["improve", *question]) == 0
    text = capsys.readouterr().out
    assert "status      target reached: at most " in text and "search      0 nodes" in text
    status, answer = improve_json(capsys, *question)
    assert status == 0 and answer["status"] == "target reached" and answer["score"] == before and not answer["improved"]


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


def test_board_and_map_are_two_files(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = [files[1], "--puzzle", files[0], "--window", "2x4", "--everywhere", "--nodes", "1000"]
    target = tmp_path / "same.url"
    assert main(["improve", *region, "-o", str(target), "--svg", f"{tmp_path}/./same.url"]) == 2
    assert "two outputs have the same file name" in capsys.readouterr().err and not target.exists()


def test_a_board_of_too_many_colours_for_a_url_is_printed_as_placements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle, solved = planted(3, 6, 5, 40)
    placements = solved.placements.copy()
    placements[[7, 8]] = placements[[8, 7]]
    write(tmp_path / "p.json", None, puzzle, None)
    write(tmp_path / "b.json", None, puzzle, Board(placements, 6, 5))
    question = [str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json")]
    for region in (["--cells", "7-8"], ["--window", "1x3", "--everywhere"]):
        status, answer = improve_json(capsys, *question, *region)
        assert status == 0 and answer["url"] == "" and answer["placements"] == solved.pairs()
        assert main(["improve", *question, *region]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("url         - (a viewer URL has no letter"), "the answer comes last"
        assert lines[1] == f"placements  {json.dumps(solved.pairs())}"


def test_without_a_region_the_cells_around_the_mismatches_are_freed(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle_file, board_file = files
    assert main(["improve", board_file, "--puzzle", puzzle_file]) == 0
    text = capsys.readouterr().out
    assert (
        "a better way to fill the region, and none is better than this" in text
        and f"of {PUZZLE.max_score}, before" in text
    )
    assert main(["improve", board_file, "--puzzle", puzzle_file, "--around-mismatches", "--donors", "2"]) == 0
    assert "2 of them donors" in capsys.readouterr().out


def test_a_board_without_letters_is_refused_as_a_url_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle, solved = planted(3, 6, 5, 40)
    write(tmp_path / "p.json", None, puzzle, None)
    write(tmp_path / "b.json", None, puzzle, solved)
    question = [str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json"), "-o", str(tmp_path / "out.url")]
    for region in (["--rows", "1:3"], ["--window", "2x2", "--everywhere"]):
        assert main(["improve", *question, *region]) == 2
        told = capsys.readouterr()
        assert "more colours than URLs have letters" in told.err and told.out == ""
    assert not (tmp_path / "out.url").exists()


def test_a_board_that_is_legal_again_is_shown_whatever_its_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clue turned round: to lay it costs matches."""
    clue = next(clue for clue in PUZZLE.clues if not any(PUZZLE.rim_sides(clue.cell)))
    puzzle = PUZZLE.with_clues([dataclasses.replace(clue, rotation=clue.rotation ^ 2)])
    write(tmp_path / "p.json", None, puzzle, None)
    for cells in (f"{clue.cell}", f"{clue.cell},{8 if clue.cell != 8 else 9}"):
        question = [viewer_url(PUZZLE, SOLUTION), "--puzzle", str(tmp_path / "p.json"), "--cells", cells]
        assert main(["improve", *question]) == 0
        lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
        assert lines["status"].startswith("optimal: no other legal refill") and "broke 1 rule" in lines["score"]
        assert int(lines["score"].split()[0]) < puzzle.max_score
        assert verify(puzzle, load_board(lines["url"], puzzle)[1]).complete


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
    assert "20 of 20 searched" in text and "windows improved: 1" in text and "windows open, budget spent: 0" in text
    assert svg.read_text().startswith("<svg") and svg.read_text().count("<rect") == 1 + 20 + 3
    assert verify(PUZZLE, load_board(str(out), PUZZLE)[1]).score == PUZZLE.max_score
    status, answer = improve_json(capsys, *arguments)
    assert status == 0 and answer["windows"] == {"proven": 19, "improved": 1, "open": 0, "total": 20}
    assert answer["status"] == "optimal"


def test_a_window_that_fills_a_hole_invalidates_earlier_proofs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the same score: 1 of a - b - c, then d, which goes with b only."""
    a, b, c, d = (0, 1, 0, 0), (0, 5, 0, 1), (0, 6, 0, 1), (0, 0, 0, 5)
    puzzle = Puzzle([a, b, c, d], 4, 1, (Clue(0, 0, 0),))
    write(tmp_path / "p.json", None, puzzle, None)
    write(tmp_path / "b.json", None, puzzle, Board(np.array([0, 4, 8, -1], dtype=np.int32), 4, 1))
    question = [str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json"), "--window", "1x2", "--everywhere"]
    _, answer = improve_json(capsys, *question)
    assert (answer["score_before"], answer["score"]) == (1, 1)
    assert answer["status"] == "open" and answer["bound"] == 3
    _, whole = improve_json(capsys, *question[:3], "--rows", "0:1")
    assert whole["score"] == 2 and whole["status"] == "optimal"


def test_clues_are_kept_in_files_that_name_their_puzzle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        (["--rows", "4-"], "'4-' is no range of rows"),
        (["--rows", "99"], "rows 99:100"),
        (["--rows", "4:4"], "rows 4:4"),
        (["--rows", "-1:4"], "expected"),
        (["--rows", "0:99"], "rows 0:99"),
        (["--window", "2x99", "--everywhere"], "does not fit"),
        (["--window", "2x2"], "expected both or neither"),
        (["--everywhere"], "expected both or neither"),
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
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"{tmp_path / 'twice.url'}: the board breaks a rule outside" in error
    assert main(["improve", files[1], "--puzzle", files[0]]) == 0
    placements[40] = -1
    write(tmp_path / "part.json", None, PUZZLE, Board(placements, 7, 6))
    assert main(["improve", str(tmp_path / "part.json"), "--puzzle", files[0]]) == 2
    assert f"{tmp_path / 'part.json'}: the board has no mismatch" in capsys.readouterr().err


def hard_board(tmp_path: Path) -> tuple[str, Puzzle]:
    """A large region of a jumbled board: no proof within minutes."""
    puzzle, board = planted(5, 16, 16, 11)
    rng = np.random.default_rng(1)
    inner = [16 * row + column for row in range(3, 12) for column in range(1, 15)]
    placements = board.placements.copy()
    placements[inner] = rng.permutation(placements[inner])
    write(tmp_path / "hard.json", None, puzzle, None)
    write(tmp_path / "hard.url", "url", puzzle, Board(placements, 16, 16))
    return str(tmp_path / "hard.json"), puzzle


ROWS = ["--rows", "3:12", "--time", "10m"]
WINDOWS = [
    "--window",
    "9x16",
    "--everywhere",
    "--nodes",
    "1000000000000",
]  # the first one takes longer than anybody has


@contextlib.contextmanager
def improving(tmp_path: Path, *region: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], int]]]:
    """The program at work on `hard_board`, after its first find; and how much better the file on the disk is."""
    puzzle_file, puzzle = hard_board(tmp_path)
    board_file, out = tmp_path / "hard.url", tmp_path / "so-far.url"

    def score(path: Path) -> int:
        return verify(puzzle, load_board(str(path), puzzle)[1]).score

    with program("improve", str(board_file), "--puzzle", puzzle_file, *region, "-o", str(out), "--json") as process:
        wait_for(out.exists, "a better board", 300.0)  # compiles where need be
        yield process, lambda: score(out) - score(board_file)


@pytest.mark.parametrize("region", [ROWS, WINDOWS])
def test_better_boards_are_on_the_disk_long_before_the_end(region: list[str], tmp_path: Path) -> None:
    with improving(tmp_path, *region) as (process, gain):
        process.kill()
        process.communicate()
        assert gain() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "region"),
    [(signal.SIGINT, ROWS), (signal.SIGTERM, ROWS), (signal.SIGHUP, ROWS), (signal.SIGTERM, WINDOWS)],
)
def test_signals_end_the_search_with_the_best_board_so_far(
    number: signal.Signals, region: list[str], tmp_path: Path
) -> None:
    with improving(tmp_path, *region) as (process, gain):
        process.send_signal(number)
        text, _ = process.communicate(timeout=20)
        assert process.returncode == 130
        answer = json.loads(text)
        assert answer["status"] == "interrupted" and answer["score"] - answer["score_before"] == gain() > 0


@pytest.mark.slow
@pytest.mark.parametrize("stdout", ["> /dev/full", "| true"])
def test_the_board_is_written_even_if_stdout_is_closed_or_full(
    stdout: str, files: tuple[str, str], tmp_path: Path
) -> None:
    for number, region in enumerate((["--rows", "1:3"], ["--window", "2x4", "--everywhere", "--svg", "map.svg"])):
        out = tmp_path / f"{number}.url"
        arguments = [files[1], "--puzzle", files[0], *region, "--nodes", "500000", "-o", str(out), "--json"]
        command = f"{sys.executable} -m lns improve {shlex.join(arguments)} {stdout}"
        subprocess.run(["bash", "-c", command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
        assert verify(PUZZLE, load_board(str(out), PUZZLE)[1]).score == PUZZLE.max_score
    assert (tmp_path / "map.svg").exists()


def test_the_answer_is_printed_even_if_its_file_cannot_be_written(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "b.url")

    monkeypatch.setattr("instances.formats.write", full)
    status, answer = improve_json(
        capsys, files[1], "--puzzle", files[0], "--rows", "1:3", "-o", str(tmp_path / "o.url")
    )
    assert status == 2 and answer["score"] == PUZZLE.max_score


def test_an_identical_piece_on_the_cell_of_a_clue_proves_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of seven with a clue for a piece whose twin lies on its cell; two others are exchanged."""
    chain = [(0, 1), (1, 1), (1, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    puzzle = Puzzle(np.array([(0, right, 0, left) for left, right in chain], dtype=np.int32), 7, 1, (Clue(1, 1, 0),))
    write(tmp_path / "p.json", None, puzzle, None)
    for name, pieces in (("own", [0, 1, 2, 4, 3, 5, 6]), ("twin", [0, 2, 1, 4, 3, 5, 6])):
        board, out = tmp_path / f"{name}.json", tmp_path / f"{name}-better.json"
        write(board, None, puzzle, Board(np.array(pieces) * 4, 7, 1), instance="p.json")
        for region in (["--cells", "2-5"], ["--cells", "1,3,4"], ["--window", "1x3", "--everywhere"]):
            for order in ("static", "dynamic"):
                arguments = [str(board), "--puzzle", str(tmp_path / "p.json"), *region, "--order", order]
                status, answer = improve_json(capsys, *arguments, "-o", str(out), "--force")
                assert (status, answer["score"], answer["score_before"], answer["status"]) == (0, 6, 3, "optimal")
                assert verify(puzzle, load_board(str(out), puzzle)[1]).complete
        status, answer = improve_json(capsys, *arguments[:3], "--cells", "2-3")
        assert (status, answer["score"], answer["status"], answer["improved"]) == (0, 3, "optimal", False)


@pytest.mark.slow
def test_kernels_are_compiled_before_the_clock_starts(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = iter([3.0])
    monkeypatch.setattr(region_search, "_compile", lambda search: time.sleep(next(slow, 0.0)))
    monkeypatch.setattr(warmup, "is_compiled", lambda module: False)
    warmup.warm_up.cache_clear()
    arguments = [files[1], "--puzzle", files[0], "--window", "2x4", "--everywhere", "--time", "2.5"]
    assert main(["improve", *arguments]) == 0
    said = capsys.readouterr()
    assert "20 of 20 searched" in said.out and said.err.count("compiling the kernels") == 1
    warmup.warm_up.cache_clear()  # it has not compiled anything


@pytest.mark.parametrize("order", ["static", "dynamic"])
def test_a_warm_kernel_is_never_compiled_again(order: str) -> None:
    """The small board of the warm-up asks for the same machine code as any other, prices included."""
    script = (
        "import sys, numba\n"
        "from exact.region import warmup\n"
        "from exact.region.resolve import RegionOptions, resolve\n"
        "from tests.instances.small_puzzles import planted\n"
        "from instances.board import Board\n"
        "def compiled():\n"
        "    modules = [module for name, module in sys.modules.items() if name.startswith('exact.region')]\n"
        "    kernels = {one for module in modules for one in vars(module).values() if hasattr(one, 'signatures')}\n"
        "    return sorted((one.__module__, one.__name__, len(one.signatures)) for one in kernels)\n"
        f"warmup.warm_up({order!r})\n"
        "before = compiled()\n"
        "puzzle, board = planted(1, 9, 8, 5, clues=1)\n"
        "placements = board.placements.copy()\n"
        "placements[[10, 12]] = placements[[12, 10]]\n"
        f"options = RegionOptions(order={order!r}, prices=True)\n"
        "resolve(puzzle, Board(placements, 9, 8), range(9, 27), nodes=100_000, options=options)\n"
        "assert compiled() == before and any(signatures for *_, signatures in before), (before, compiled())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 3)])
def test_a_perfect_board_is_optimal(
    width: int, height: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle, board = planted(1, width, height, 2)
    write(tmp_path / "p.json", None, puzzle, None)
    write(tmp_path / "b.json", None, puzzle, board, instance="p.json")
    out = tmp_path / "o.json"
    for region in ([], ["--around-mismatches", "--donors", "1"], ["--cells", "0"]):
        arguments = [str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json"), *region, "-o", str(out), "--force"]
        status, answer = improve_json(capsys, *arguments)
        assert status == 0 and answer["status"] == "optimal" and not answer["improved"] and answer["nodes"] == 0
        assert answer["score"] == answer["score_before"] == answer["bound"] == puzzle.max_score
        assert load_board(str(out), puzzle)[1] == board
    assert main(["improve", str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json")]) == 0
    assert "status      optimal: " in capsys.readouterr().out
