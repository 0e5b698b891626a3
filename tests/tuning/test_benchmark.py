"""The ladder: honest counting, rows by name, a table that grows."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from instances.board import Board
from instances.formats import load_puzzle
from lns.cli.main import main
from lns.distinct_boards import DistinctBoards
from lns.engine import FoundBoard, Statistics
from lns.params import from_dict
from lns_support.csv_records import append_row
from lns_support.errors import InputError
from tuning import bench, benchmark, benchmark_run
from tuning.objective import count_board

TWENTY_SECONDS = benchmark.BenchmarkOptions(time=20.0, seeds=1, workers=1)
ONE_SECOND = benchmark.BenchmarkOptions(time=1.0, seeds=1, workers=1)


def test_boards_that_differ_in_few_cells_count_once_by_the_best():
    distinct_boards, scores = DistinctBoards(), []
    board = np.arange(100)
    near, far = board.copy(), board.copy()
    near[:19] += 1
    far[50:70] += 1
    for placements, score in ((board, 5), (near, 7), (far, 6), (board, 3)):
        count_board(distinct_boards, scores, FoundBoard(Board(placements, 10, 10), score, ""))
    assert scores == [7, 6]


def test_distinct_boards_match_a_plain_comparison():
    """Of boards that are changed a little, again and again, and of others among them; more than are compared first."""
    chance = np.random.default_rng(1)
    distinct_boards, plain = DistinctBoards(), []
    board = np.arange(100)
    for number in range(1500):
        if number % 5 == 4:
            board = chance.permutation(100) if number % 2 else plain[chance.integers(len(plain))].copy()
        board = board.copy()
        board[chance.integers(100, size=9)] = chance.integers(400, size=9)
        alike = [at for at, other in enumerate(plain) if (other != board).sum() < 20]
        found = distinct_boards.find(board)
        assert found in alike if alike else found is None
        if found is None:
            assert distinct_boards.add(board) == len(plain)
            plain.append(board)
    assert distinct_boards.count == len(plain) > 200


def test_rates_count_boards_at_or_above_a_score():
    runs = [
        benchmark.BenchmarkRun(1, 9, {9: 1.0}, {8: 3, 9: 1}, 1.0, 1800.0),
        benchmark.BenchmarkRun(2, 8, {8: 1.0}, {8: 4}, 1.0, 1800.0),
    ]
    assert benchmark.boards_by_score(runs, 2) == {8: 4.0, 9: 0.5}


def test_a_run_reaches_what_it_says(tmp_path):
    puzzle = load_puzzle("like-e2-5x5")
    one = benchmark.run_benchmark(puzzle, from_dict({"construct": {"population": 200}}), 1, TWENTY_SECONDS)
    assert one.score == puzzle.max_score == max(one.reached)
    row = benchmark.table_row("like-e2-5x5", puzzle, [one, one], TWENTY_SECONDS, "test")
    assert row["best"] == row["worst"] == row["median"] == 40
    assert row["peak_mb"] == "" or 50 < row["peak_mb"] < 5000
    table = tmp_path / "t.csv"
    append_row(table, benchmark.FIELDS, row)
    append_row(table, benchmark.FIELDS, row)
    with table.open(newline="") as file:
        assert [line["best"] for line in csv.DictReader(file)] == ["40", "40"]


def test_a_row_begins_a_line_whatever_the_last_one_looks_like(tmp_path):
    table, row = tmp_path / "t.csv", dict.fromkeys(benchmark.FIELDS, "1")
    table.touch()  # killed before the first line was written
    benchmark.check_table(table)
    append_row(table, benchmark.FIELDS, row)
    table.write_text(table.read_text().rstrip())
    append_row(table, benchmark.FIELDS, row)
    assert table.read_text().splitlines() == [",".join(benchmark.FIELDS), *[",".join(row.values())] * 2]


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else is known of another process's memory")
def test_the_memory_of_a_run_excludes_earlier_runs(monkeypatch):
    class Search:
        best_score, elapsed, statistics = 9, 1.0, Statistics()

        def __init__(self, puzzle, params, seed, workers, engine, min_score):
            self.pids, self.sizes = {}, {1: (100, 300), 2: (100,)}[seed]

        def pop_boards(self):
            return []

        def run(self, seconds, target, on_report):
            for megabytes in self.sizes:  # the first worker dies, and another one takes its place
                code = f"taken = b'x' * ({megabytes} << 20); print(flush=True); input()"
                with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as worker:
                    worker.stdout.readline()
                    self.pids[0] = worker.pid
                    on_report(self)
                    worker.communicate(b"\n")

    monkeypatch.setattr(benchmark_run, "Archipelago", Search)
    puzzle, rows = load_puzzle("like-e2-5x5"), []
    for seed in (1, 2):
        one = benchmark.run_benchmark(puzzle, from_dict({}), seed, ONE_SECOND)
        rows.append(benchmark.table_row("like-e2-5x5", puzzle, [one], ONE_SECOND, ""))
    assert 150 < rows[0]["peak_mb"] - rows[1]["peak_mb"] < 250


def test_rows_by_name(capsys):
    with pytest.raises(InputError, match="no row 'zzz'; expected one of"):
        benchmark.select_rows(["zzz"], Path("nowhere"), 1)
    assert dict(benchmark.benchmark_instances(Path("nowhere"), 1))["meta16"] is None
    assert main(["ladder", "--rows", "meta16", "--data", "nowhere"]) == 2
    assert "nowhere: the row meta16 needs meta16.txt" in capsys.readouterr().err


def test_the_help_names_every_row(capsys):
    with pytest.raises(SystemExit):
        main(["ladder", "--help"])
    told = capsys.readouterr().out.split("rows, in this order:")[1].split()
    rows = [name for name, _ in benchmark.benchmark_instances(Path(), 1)]
    assert [word for word in told if word in rows] == rows


def test_a_table_that_cannot_be_written_is_refused_before_the_runs(tmp_path, capsys):
    (tmp_path / "other.csv").write_text("a,b\n")
    for table, sentence in (
        (tmp_path / "other.csv", "other.csv:1: no table of the benchmark"),
        (tmp_path / "no" / "t.csv", "no such"),
    ):
        assert main(["ladder", "--rows", "like-e2-16x16", "--table", str(table)]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder where nobody can make files")
def test_a_table_where_no_file_can_be_made_is_refused_before_the_runs(capsys):
    assert main(["ladder", "--rows", "like-e2-16x16", "--table", "/proc/self/t.csv"]) == 2
    assert "no file can be made" in capsys.readouterr().err


def test_complete_rows_are_printed_if_a_later_one_fails(monkeypatch, capsys):
    def run(puzzle, params, seed, *_):
        if puzzle.name.startswith("like-e2-12x20"):
            raise KeyboardInterrupt
        return benchmark.BenchmarkRun(seed, 9, {9: 1.0}, {}, 1.0, 1.0)

    monkeypatch.setattr(benchmark, "run_benchmark", run)
    assert main(["ladder", "--rows", "like-e2-20x20", "like-e2-12x20", "--seeds", "2", "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert [(row["instance"], row["scores"]) for row in told["rows"]] == [("like-e2-20x20", [9, 9])]


def test_the_best_board_of_each_run_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "SHIPPED", ("like-e2-5x5",))
    folder = tmp_path / "new" / "boards"
    arguments = ["--rows", "like-e2-5x5", "--seeds", "2", "--first-seed", "3", "--workers", "1", "--time", "0.5"]
    assert main(["ladder", *arguments, "--boards", str(folder), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert sorted(path.name for path in folder.iterdir()) == ["like-e2-5x5-3.json", "like-e2-5x5-4.json"]
    for seed, score in zip((3, 4), row["scores"], strict=True):
        path = folder / f"like-e2-5x5-{seed}.json"
        fields = json.loads(path.read_text())
        assert (fields["instance"], fields["seed"], fields["score"]) == ("like-e2-5x5", seed, score)
        assert main(["verify", str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["score"] == score


def test_a_folder_for_boards_that_cannot_be_made_is_refused_before_the_runs(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["ladder", "--rows", "like-e2-16x16", "--boards", str(tmp_path / "file" / "boards")]) == 2
    error = capsys.readouterr().err
    assert "cannot be made" in error and "boards" in error and error.count("\n") == 1


@pytest.mark.parametrize("engine,unit", [("tabu", "M moves/s"), ("lns", "M nodes/s")])
def test_a_row_gives_the_unit_of_its_rate(monkeypatch, capsys, engine, unit):
    monkeypatch.setattr(
        benchmark,
        "run_benchmark",
        lambda puzzle, params, seed, *_: benchmark.BenchmarkRun(seed, 9, {9: 1.0}, {}, 1e6, 1.0),
    )
    assert main(["ladder", "--rows", "like-e2-12x20", "--seeds", "1", "--engine", engine]) == 0
    assert f"; 1.0 {unit}" in capsys.readouterr().out


def test_a_row_of_later_seeds_says_so(monkeypatch, capsys):
    monkeypatch.setattr(
        benchmark,
        "run_benchmark",
        lambda puzzle, params, seed, *_: benchmark.BenchmarkRun(seed, seed, {seed: 1.0}, {}, 1.0, 1.0),
    )
    rows = ["ladder", "--rows", "like-e2-12x20", "--seeds", "2", "--note", "mine", "--json"]
    for first, scores, note in (("1", [1, 2], "mine"), ("3", [3, 4], "seeds from 3 on; mine")):
        assert main([*rows, "--first-seed", first]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert (row["scores"], row["seeds"], row["note"]) == (scores, 2, note)


def test_fresh_rows_depend_on_the_seed():
    def fresh(seed):
        made = dict(benchmark.benchmark_instances(Path("nowhere"), seed))
        return [made[name]() for name in benchmark.FRESH]

    first, second = fresh(1)
    assert (first.width, first.height, first.colours) == (16, 16, 22) and first != second
    assert fresh(2)[0] == second and fresh(1) == [first, second]


def test_the_bench_times_whole_commands():
    assert 0 < bench.seconds_of(["--help"], runs=1) < 60


def test_the_bench_measures_the_time_to_the_first_board():
    what, figure = next(iter(bench.construction(load_puzzle("like-e2-6x6"), 0.2)))
    assert what == "first board and measurement" and 0 < float(figure.split()[0]) < 60
