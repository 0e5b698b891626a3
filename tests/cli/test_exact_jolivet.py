"""`lns exact design`, `graph`, `triples`: searched puzzles and reductions of Jolivet 2008 on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exact.compare import ComparisonRow
from instances.formats import load_puzzle
from instances.generate import uniform
from lns.cli.main import main
from lns_support import csv_records


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_design_is_written_and_goes_on_from_its_joints(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--width", "4", "--colours", "4", "--seed", "2"]
    assert main(["exact", "design", "hard", *options, "--trees", "30", "-o", "hard.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["written", "hard.json"]
    best = lines[-2]
    assert main(["exact", "design", "hard", *options, "--trees", "1", "--joints", best.split()[-1]]) == 0
    assert capsys.readouterr().out.splitlines() == [best]
    puzzle = load_puzzle("hard.json")
    assert (puzzle.width, puzzle.height, len(puzzle.clues)) == (4, 4, 1) and puzzle.colours <= 4


def test_a_single_solution_and_the_proof_that_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "design", "single", "--width", "3", "--colours", "2", "--every"]) == 1
    assert capsys.readouterr().out == "0 of 4,096 colourings of 3 x 3 have a single solution up to rotation\n"
    assert main(["exact", "design", "single", "--width", "3", "--colours", "3", "--trees", "5000"]) == 0
    assert "nodes, 1 solution, difficulty" in capsys.readouterr().out.splitlines()[-1]
    assert main(["exact", "design", "single", "--width", "3", "--colours", "1", "--trees", "3"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["easy", "--width", "3", "--colours", "2"], "unknown goal 'easy'; expected hard or single"),
        (["hard", "--width", "3", "--colours", "2", "--every"], "expected the goal single"),
        (["single", "--width", "5", "--colours", "3", "--every"], "expected at most 16,777,216"),
        (["hard", "--width", "3", "--colours", "2", "--joints", "12"], "2 joints; a board of 3 x 3 has 12"),
        (["hard", "--width", "2", "--colours", "2", "--joints", "1021"], "the character '0'; expected the digits 1"),
        (["hard", "--width", "3", "--colours", "40", "--trees", "3"], "40 colours; expected 1 to 35, one digit or"),
        (["hard", "--width", "1", "--colours", "1", "--trees", "3"], "a board of 1 x 1; expected two rows and two"),
        (["single", "--width", "2", "--height", "1", "--colours", "2"], "a board of 2 x 1; expected two rows and two"),
        (["single", "--width", "2", "--height", "1", "--colours", "40", "--every"], "40 colours; expected 1 to 35"),
        *(
            (
                ["single", "--width", "2", "--colours", "2", "--every", name, value],
                "tries all colourings; expected no --joints, --trees",
            )
            for name, value in (("--joints", "1111"), ("--trees", "9"), ("--nodes", "9"), ("--seed", "0"))
        ),
    ],
)
def test_bad_designs_are_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "design", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_partition_there_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--from-3-partition", *["3", "3", "4", "3", "4", "3"], "-o", "p.json"]) == 0
    assert main(["exact", "solve", "p.json", "--solver", "rowscan", "-o", "b.json", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["exact", "triples", "p.json", "b.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sum"] == 10 and sorted(map(sorted, answer["triples"])) == [[3, 3, 4], [3, 3, 4]]
    assert main(["exact", "triples", "p.json", "b.json"]) == 0
    assert [line.split(" = ")[1] for line in capsys.readouterr().out.splitlines()] == ["10", "10"]


def test_graphs_are_compared_and_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text("# a path and a lone node\nx y\ny z\nlone\n")
    Path("b.txt").write_text("1 3\n2\n3 4\n")
    Path("c.txt").write_text("1 3\n3 4\n4 2\n")
    assert main(["exact", "graph", "a.txt", "b.txt", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["isomorphic"] and answer["nodes"]["y"] == "3" and answer["nodes"]["lone"] == "2"
    assert main(["exact", "graph", "a.txt", "c.txt"]) == 1
    assert main(["exact", "graph", "a.txt", "-o", "pieces.txt"]) == 0
    capsys.readouterr()
    assert main(["exact", "graph", "pieces.txt", "--pieces"]) == 0
    assert capsys.readouterr().out == "2 3\n3 4\n5\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a b c\n", [], "g.txt:1: 'a b c'; expected two different nodes, or one alone"),
        ("\na a\n", [], "g.txt:2: 'a a'; expected two different nodes"),
        ("0 2 3\n", ["--pieces"], "g.txt:1: '0 2 3'; expected the four colours of a piece"),
        (f"0 2 1 {'9' * 5000}\n", ["--pieces"], "999…'; expected the four colours of a piece"),
        ("# one piece\n0 2 3 4\n", ["--pieces"], "g.txt:2: the piece (0, 2, 3, 4) encodes no node of a graph"),
        ("0 2 3 1\n", ["--pieces"], "g.txt: node 2 has the neighbour 3, which does not name it"),
        ("0 2 1 1\n", ["--pieces", "-o", "new.txt"], "expected no -o with it"),
        ("0 2 1 1\n", ["--pieces", "g.txt"], "unrecognized arguments"),
        ("0 2 1 1\n", ["g.txt", "--pieces"], "expected no second file with it"),
    ],
)
def test_bad_graphs_are_refused(
    text: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("g.txt").write_text(text)
    assert main(["exact", "graph", "g.txt", *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "known"),
    [
        (["perrin_iq", "--sizes", "13"], "some of the sizes 11, 12, 16, 60"),
        (["outcome", "--sizes", "1"], "some of the sizes 5, 6, 7, 8, 9, 10"),
        (["cuvillier2010", "--sizes", "2", "--colours", "16"], "the sizes 2, 3, 4, 5, 6, 7, 8 and the colours 2, 3, 4"),
    ],
)
def test_sizes_that_a_paper_does_not_have_are_refused(
    options: list[str], known: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["exact", "paper", *options]) == 2
    error = capsys.readouterr().err
    assert f"{options[0]} has no run with these options; expected some of" in error and known in error


def test_only_cuvillier2010_has_puzzles_with_all_colours(capsys: pytest.CaptureFixture[str]) -> None:
    tiny = ["--sizes", "2", "--colours", "4", "--solvers", "sls:rsaps", "--all-colours", "-o", "rows.csv"]
    assert main(["exact", "paper", "cuvillier2010", "--per-size", "5", *tiny]) == 0
    rows = Path("rows.csv").read_text()
    planted = [uniform(2, 2, 4, seed, all_colours=True).puzzle for seed in range(1, 6)]
    assert all(puzzle.sha256[:12] in rows for puzzle in planted)
    for paper in ("outcome", "benoist2008"):
        assert main(["exact", "paper", paper, "--all-colours"]) == 2
        assert f"{paper} has no such puzzles; expected no --all-colours" in capsys.readouterr().err


def test_missing_runs_of_a_paper_are_named_and_made(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["exact", "paper", "jolivet2008", "--sizes", "3", "--colours", "3", "4", "-o", "rows.csv"]
    assert main([*small, "--show"]) == 2
    assert "--show prints the tables of finished runs; expected -o with a file of them" in capsys.readouterr().err
    assert main([*small, "--per-size", "2", "--solvers", "zig-zag"]) == 0
    before = Path("rows.csv").read_text()
    capsys.readouterr()
    assert main([*small, "--per-size", "3", "--solvers", "zig-zag", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "2 runs are missing (1 of 3x3-c3 by zig-zag, 1 of 3x3-c4 by zig-zag); without --show they are made" in shown
    assert Path("rows.csv").read_text() == before
    assert main([*small, "--per-size", "3", "--solvers", "zig-zag"]) == 0
    assert Path("rows.csv").read_text().startswith(before)
    assert main([*small, "--per-size", "3", "--solvers", "zig-zag", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "no run is missing" in shown and "not shown" not in shown
    assert main([*small, "--per-size", "1", "--solvers", "zig-zag", "--show"]) == 0
    assert "4 rows of rows.csv not shown: expected the options of their runs" in capsys.readouterr().out


def test_missing_runs_of_the_other_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    question = "all solutions; 8.0 s"
    for row in (
        ComparisonRow("7x7-c6-s1", "ColorPairs", "solved", 1, 10, 0.1, question=question),
        ComparisonRow("8x8-c8-s1", "ColorPairs", "budget spent", 0, 10, 8.0, question=question),
        ComparisonRow("8x8-c8-s1", "row scan", "budget spent", 0, 10, 8.0, question=question),
    ):
        csv_records.append(Path("b.csv"), row)
    arguments = ["exact", "paper", "benoist2008", "--sizes", "7", "8", "--per-size", "1", "--solvers", "MinOffer"]
    assert main([*arguments, "-o", "b.csv", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "2 instances, 1 finished by some method" in shown
    assert "2 runs are missing (1 of 7x7-c6 by row scan, 1 of 7x7-c6 by MinOffer)" in shown


def test_the_comparison_of_all_methods_draws_its_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["exact", "paper", "outcome", "--sizes", "5", "--colours", "20", "--solvers", "rowscan", "xcc"]
    assert main([*small, "-o", "rows.csv"]) == 0
    said = capsys.readouterr().out
    for name in ("fastest", "methods", "solved"):
        assert f"rows-{name}.svg" in said
        assert Path(f"rows-{name}.svg").read_text().startswith("<svg")
    before = Path("rows.csv").read_text()
    assert main([*small, "-o", "rows.csv"]) == 0
    assert Path("rows.csv").read_text() == before
    capsys.readouterr()
    assert main([*small, "-o", "rows.csv", "--show"]) == 0
    assert "no run is missing" in capsys.readouterr().out
