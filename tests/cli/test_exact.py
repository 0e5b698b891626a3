"""`lns exact`: counts, first solutions, statuses, exit codes, the experiment."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from exact.compare import Question, compare
from instances.board import Board
from instances.formats import load_board, write
from instances.generate import corner_cells, uniform
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.cli.main import main
from lns_support.files import atomic_write
from tests.cli.run_program import ROOT, program, wait_for

PUZZLE = uniform(4, 4, 4, 7).puzzle
HARD = uniform(10, 10, 8, 1).with_clues(corner_cells(10, 10)).puzzle


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("p.json", None, PUZZLE, None)
    write("hard.json", None, HARD, None)
    # two pieces of a 2x2 with colours that meet nowhere else
    write("none.json", None, Puzzle([[0, 1, 1, 0], [0, 1, 1, 0], [0, 2, 1, 0], [0, 1, 3, 0]], 2, 2), None)


def said(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_both_solvers_count_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    counts = set()
    for solver in ("colorpairs", "rowscan"):
        assert main(["exact", "count", "p.json", "--solver", solver, "--json", "--quiet"]) == 0
        answer = said(capsys)
        assert answer["status"] == "solved" and answer["convention"] == "all rotations counted"
        counts.add(answer["solutions"])
    assert len(counts) == 1
    assert main(["exact", "count", "p.json", "--fix-corner", "--json", "--quiet"]) == 0
    fixed = said(capsys)
    assert fixed["solutions"] == int(str(counts.pop())) // 4 and "top left corner" in str(fixed["convention"])


def test_every_switch_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    switches = "--no-motifs --no-instantiation --no-opposite --no-preemption --no-backjumping --shaving --values"
    more = "--single-colours --shared-edges --cycles --heuristic max-expected-filtering"
    assert main(["exact", "count", "p.json"]) == 0
    plain = capsys.readouterr().out.splitlines()[:3]
    assert main(["exact", "count", "p.json", *switches.split(), *more.split()]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == plain


def test_the_first_solution_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "solve", "p.json", "--json", "-o", "board.json", "--quiet"]) == 0
    answer = said(capsys)
    puzzle, board = load_board("board.json", PUZZLE)
    assert verify(puzzle, board).score == PUZZLE.max_score
    assert board.pairs() == answer["placements"]
    assert load_board(str(answer["url"]), PUZZLE)[1] is not None
    assert main(["exact", "solve", "p.json", "-o", "board.json", "--force", "--quiet"]) == 0


def test_a_solution_with_too_many_colours_for_a_url_is_printed_as_placements(
    capsys: pytest.CaptureFixture[str],
) -> None:
    puzzle = uniform(6, 6, 60, 1).puzzle
    write("many.json", None, puzzle, None)
    for more in ([], ["--all"]):
        assert main(["exact", "solve", "many.json", "--json", "--quiet", *more]) == 0
        assert said(capsys)["solutions"]
        assert main(["exact", "solve", "many.json", "--quiet", *more]) == 0
        out = capsys.readouterr().out
        assert "viewer URL has no letter" in out
        pairs = json.loads(out.partition("placements  ")[2].splitlines()[0])
        assert verify(puzzle, Board.from_pairs(pairs, 6, 6)).score == puzzle.max_score
    assert main(["exact", "solve", "many.json", "--quiet", "-o", "many.url"]) == 2
    assert "more colours than URLs have letters" in capsys.readouterr().err
    assert main(["exact", "solve", "many.json", "--json", "--quiet", "-o", "many.board.json"]) == 0
    assert said(capsys)["url"] == ""
    assert load_board("many.board.json")[0] == puzzle


def test_pieces_of_the_start_board_stay(capsys: pytest.CaptureFixture[str]) -> None:
    """Every solution is found from its own first pieces; one that lies wrongly leaves none."""
    assert main(["exact", "solve", "p.json", "--all", "--json", "--quiet"]) == 0
    boards = said(capsys)["boards"]
    assert isinstance(boards, list) and len(boards) > 1
    corner, inner = tuple(boards[0][0]), tuple(boards[0][5])
    for laid in ({0: corner}, {0: corner, 5: inner}, {5: (inner[0], inner[1] ^ 2)}):
        expected = sum(all(tuple(board[cell]) == pair for cell, pair in laid.items()) for board in boards)
        begun = Board.from_pairs([laid.get(cell) for cell in range(16)], 4, 4)
        write("begun.json", None, PUZZLE, begun)
        for solver in ("colorpairs", "rowscan"):
            question = ["p.json", "--start", "begun.json", "--solver", solver, "--json", "--quiet"]
            assert main(["exact", "count", *question]) == (0 if expected else 1)
            assert said(capsys)["solutions"] == expected
    assert main(["exact", "solve", "p.json", "--start", "begun.json", "--all", "-o", "completed", "--quiet"]) == 1
    assert not list(Path("completed").iterdir())
    write("begun.json", None, PUZZLE, Board.from_pairs([corner, *[None] * 15], 4, 4))
    capsys.readouterr()
    assert main(["exact", "solve", "p.json", "--start", "begun.json", "-o", "completed.json", "--json", "--quiet"]) == 0
    assert said(capsys)["instance_sha256"] == PUZZLE.sha256
    again, board = load_board("completed.json")
    assert again == PUZZLE and verify(PUZZLE, board).score == PUZZLE.max_score and board.pairs()[0] == list(corner)
    upside_down = Board.from_pairs([[boards[0][0][0], boards[0][0][1] ^ 2], *[None] * 15], 4, 4)
    write("illegal.json", None, PUZZLE, upside_down)
    capsys.readouterr()
    assert main(["exact", "count", "p.json", "--start", "illegal.json", "--quiet"]) == 2
    assert "illegal.json: the start board is not legal" in capsys.readouterr().err


def test_all_solutions_are_listed_or_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "count", "p.json", "--json", "--quiet"]) == 0
    count = said(capsys)["solutions"]
    assert main(["exact", "solve", "p.json", "--all", "--json", "--quiet"]) == 0
    answer = said(capsys)
    boards = answer["boards"]
    assert isinstance(boards, list) and answer["solutions"] == count == len(boards)
    assert all(verify(PUZZLE, Board.from_pairs(board, 4, 4)).score == PUZZLE.max_score for board in boards)
    assert main(["exact", "solve", "p.json", "--all", "--quiet"]) == 0
    assert len({line for line in capsys.readouterr().out.splitlines() if line.startswith("url")}) == count
    assert main(["exact", "solve", "p.json", "--all", "--quiet", "-o", "boards"]) == 0
    assert f"{count} boards in boards" in capsys.readouterr().out
    written = sorted(Path("boards").iterdir())
    assert [path.name for path in written] == [f"{number + 1:06d}.json" for number in range(len(boards))]
    assert [load_board(str(path), PUZZLE)[1].pairs() for path in written] == boards
    assert main(["exact", "solve", "p.json", "--all", "-o", "boards"]) == 2
    assert "with --all expected a new directory" in capsys.readouterr().err


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "xcc"])
def test_a_directory_that_fills_up_ends_the_search_with_what_was_found(
    solver: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if solver == "xcc":
        pytest.importorskip("xcover")
    room = iter(range(3))

    def full_after_three(path: Path, data: str | bytes) -> None:
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        atomic_write(path, data)

    monkeypatch.setattr("lns.cli.exact.atomic_write", full_after_three)
    assert main(["exact", "solve", "p.json", "--all", "--solver", solver, "--quiet", "-o", "boards"]) == 2
    told = capsys.readouterr()
    assert "status      interrupted" in told.out and "solutions   at least " in told.out
    assert "written     3 boards in boards" in told.out
    assert told.err == f"lns: boards/000004.json: {os.strerror(errno.ENOSPC)}\n"
    assert sorted(path.name for path in Path("boards").iterdir()) == ["000001.json", "000002.json", "000003.json"]
    assert main(["exact", "solve", "p.json", "--all", "--solver", solver, "--quiet", "--json", "-o", "more"]) == 2
    answer = said(capsys)
    assert answer["status"] == "interrupted" and answer["solutions"] and answer["output"] == "more"


def test_a_listed_board_is_written_whole_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write("clues.json", None, uniform(2, 2, 2, 1).with_clues(range(4)).puzzle, None)
    monkeypatch.setattr(os, "fsync", full)
    assert main(["exact", "solve", "p.json", "--all", "--quiet", "--json", "-o", "boards"]) == 2
    assert said(capsys)["solutions"] == 1
    assert not list(Path("boards").iterdir())
    assert main(["exact", "solve", "clues.json", "--all", "--quiet", "-o", "boards"]) == 2  # found before any node
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--solver", "colorpair"], "did you mean 'colorpairs'"),
        (["--solver", "sls:rsaps"], "cannot"),
        (["--force"], "--force is for a single board"),
    ],
)
def test_a_refused_search_leaves_no_directory(
    more: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["exact", "solve", "p.json", "--all", "--quiet", "-o", "boards", *more]) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("boards").exists()


def test_compare_reads_its_puzzles_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pysat")
    Path("t.txt").write_text("0 1 0 2\n0 3 4 1\n")  # only the first one left of the second one matches
    ask = ["exact", "compare", "t.txt", "--solvers", "sat:half-2", "--count", "--json"]
    assert main(ask) == 2
    capsys.readouterr()
    assert main([*ask, "--puzzle-format", "pieces:tetravex,2x1"]) == 0
    rows = said(capsys)["rows"]
    assert isinstance(rows, list)
    assert rows[0]["solutions"] == 1


def test_a_table_is_continued_by_the_same_question_only(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["exact", "compare", "p.json", "--solvers", "rowscan", "--json", "-o", "c.csv"]
    counts = []
    for more in ([], ["--count"], []):
        assert main([*ask, *more]) == 0
        rows = said(capsys)["rows"]
        assert isinstance(rows, list)
        counts.append(rows[0]["solutions"])
    assert counts[0] == counts[2] == 1 < counts[1]
    assert len(Path("c.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan"])
@pytest.mark.parametrize("job", ["count", "solve"])
def test_no_solution_is_exit_1(solver: str, job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", job, "none.json", "--solver", solver, "--json"]) == 1
    answer = said(capsys)
    assert (answer["status"], answer["solutions"]) == ("infeasible", 0)


def test_budgets_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "count", "hard.json", "--nodes", "5000", "--json", "--quiet"]) == 0
    answer = said(capsys)
    assert (answer["status"], answer["nodes"]) == ("budget spent", 5000)
    for solver in ("colorpairs", "rowscan"):
        began = time.process_time()  # at most the time that has passed, however busy the machine is
        assert main(["exact", "count", "hard.json", "--time", "0.5", "--solver", solver, "--quiet"]) == 0
        assert time.process_time() - began < 2.0
        said_of_it = capsys.readouterr().out
        assert re.search(r"solutions   (none found yet; undecided|at least [1-9])", said_of_it)
        assert re.search(r"time        0\.\d{3} s, ", said_of_it)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["count", "p.json", "--solver", "colorpair"], "did you mean 'colorpairs'"),
        (["count", "p.json", "--heuristic", "min-ofer"], "did you mean 'min-offer'"),
        (["count", "p.json", "--solver", "rowscan", "--shaving"], "has none of these options"),
        (["solve", "missing.txt"], "missing.txt"),
        (["count", "p.json", "--time", "0"], "no duration"),
        (["count", "p.json", "--nodes", "-3"], "whole number"),
        (["solve", "p.json", "-o", "nowhere/board.json"], "no such directory"),
        (["guess", "p.json"], "unknown job 'guess': expected one of count, solve"),
        (["paper"], "PAPER"),
        (["paper", "benoist"], "unknown paper 'benoist': did you mean 'benoist2008'?"),
        (["paper", "knuth"], "unknown paper 'knuth': expected one of benoist2008, perrin_iq, bailleux2025"),
        (["tray", "--count"], "unknown job 'tray': did you mean 'polyomino'?"),
        (["paper", "bailleux2025", "--colours", "3"], "expected no --colours"),
        (["paper", "benoist2008", "--colours", "3"], "expected no --colours"),
        (
            ["paper", "benoist2008", "--sizes", "6"],
            "'6' is none of the sizes of benoist2008; expected some of 7, 8, 9, 10",
        ),
        (["paper", "benoist2008", "--solvers", "dlx"], "'dlx' is none of the solvers of benoist2008"),
        (["paper", "jolivet2008", "--solvers", "cp"], "expected some of dlx:binary, zig-zag"),
        (["solve", "p.json", "--all", "-o", "no/boards"], "no such directory"),
        (["solve", "p.json", "--all", "-o", "p.json"], "with --all expected a new directory"),
        (["solve", "p.json", "-o", "p.json"], "p.json: this exists already"),
        (["count", "p.json", "--solver", "rowscan", "--sat-solver", "x"], "--sat-solver has no effect on solver 'row"),
        (["count", "p.json", "--memory", "9"], "--memory has no effect on solver 'colorpairs'; it is for sat:..., cp"),
        (["solve", "p.json", "--solver", "sat:half-2", "--seed", "0"], "--seed has no effect on solver 'sat:half-2'"),
        (["cnf", "p.json", "--encoding", "half-2", "-o", ".", "--force"], ".: this is a directory; expected"),
        (["cnf", "p.json", "--encoding", "half-2", "-o", "no/x"], "no: there is no such directory"),
        (["solve", "p.json", "-o", "x.txt"], "x.txt: format benoist carries no board"),
        (["count", "p.json", "--solver", "cp", "--memory", "9e17"], "MB are too many; expected at most 9,000,000,"),
        (["compare", "p.json", "--memory", "9223372036855"], "MB are too many; expected at most 9,000,000,"),
        (["count", "p.json", "--start-number", "2"], "--start-number is about the board of --start; expected --start"),
        (["trace", "p.json", "--start-format", "url"], "--start-format is about the board of --start"),
        (["trace", "small", "--solver", "polyomino", "--clues", "c.txt"], "--clues is for puzzles; expected none with"),
        (["compare", "p.json", "-o", "/proc/self/rows.csv"], "/proc/self/rows.csv: "),
        (["compare", "p.json", "-o", "p.json"], "p.json:1: other columns than expected"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.startswith("lns: ") and error.count("\n") == 1


def test_a_formula_is_written_through_no_link_and_over_no_other_file(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    Path("f.cnf.part").symlink_to(precious)
    assert main(["exact", "cnf", "p.json", "--encoding", "half-2", "-o", "f.cnf"]) == 0
    assert Path("f.cnf").read_text().startswith("c ") and not list(Path().glob(".lns-*"))
    assert precious.read_text() == "mine" and Path("f.cnf.part").is_symlink()


def test_a_table_is_tried_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr("exact.compare.run_solver", searched)
    assert main(["exact", "compare", "p.json", "-o", "/proc/self/rows.csv"]) == 2
    with pytest.raises(AssertionError):
        next(compare([("p", PUZZLE)], ["rowscan"], Question(), Path("new.csv")))
    assert not Path("new.csv").exists()


def test_a_formula_is_synced_to_disk_or_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert main(["exact", "cnf", "p.json", "--encoding", "half-2", "-o", "f.cnf"]) == 2
    told = capsys.readouterr()
    assert told.err == f"lns: f.cnf: {os.strerror(errno.ENOSPC)}\n" and not told.out
    assert not Path("f.cnf").exists() and not list(Path().glob(".lns-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_search_with_the_solutions_so_far(number: signal.Signals, tmp_path: Path) -> None:
    write("many.json", None, uniform(6, 6, 2, 1).puzzle, None)
    boards = tmp_path / "boards"
    question = [str(tmp_path / "many.json"), "--all", "-o", str(boards), "--solver", "rowscan", "--json"]
    with program("exact", "solve", *question) as process:
        wait_for(lambda: boards.is_dir() and any(boards.iterdir()), "a solution", 300.0)  # compiles where need be
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 130
    answer = json.loads(out)
    assert answer["status"] == "interrupted" and answer["solutions"] > 0 and answer["nodes"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("stdout", ["> /dev/full", "| true"])
@pytest.mark.parametrize("words", ["--json", "--quiet"])
def test_the_board_is_written_even_if_stdout_is_closed_or_full(stdout: str, words: str) -> None:
    command = f"{sys.executable} -m lns exact solve p.json {words} -o board.json {stdout}"
    subprocess.run(["bash", "-c", command], env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert verify(PUZZLE, load_board("board.json", PUZZLE)[1]).score == PUZZLE.max_score


@pytest.mark.slow
def test_the_experiment_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "paper", "benoist2008", "--budget", "0.3", "--per-size", "1", "-o", "runs.csv"]) == 0
    said_ = capsys.readouterr()
    assert "**Table 2." in said_.out and "**Table 3." in said_.out
    assert "7x7-c6-s1 ColorPairs" in said_.err and Path("runs.csv").read_text().startswith("size,colours,seed")


def test_trace_prints_each_step_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lns.cli.main import main

    assert main(["exact", "trace", "like-e2-4x4", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "solved" and answer["steps"][-1][3] == "solution"
    path = tmp_path / "steps.html"
    assert main(["exact", "trace", "like-e2-4x4", "--solver", "rowscan", "-o", str(path)]) == 0
    text = path.read_text()
    assert "import {" not in text and "\nexport " not in text and "</script>" in text
    assert main(["exact", "trace", "like-e2-4x4", "--solver", "cp"]) == 2
    assert "expected one of colorpairs" in capsys.readouterr().err
