"""The commands compare, cnf, decode, solvers, isomorphic, generate --unique and paper of `lns exact`."""

from __future__ import annotations

import errno
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lns.cli.main import main
from lns.exact import csv_records
from lns.exact.blocks import Blocks
from lns.exact.child_process import ExitReason, ProcessResult
from lns.exact.compare import (
    COMPILATION_SECONDS,
    STARTUP_SECONDS,
    ComparisonRow,
    Question,
    compare,
    compile_solver,
    read_rows,
    run_solver,
    table,
)
from lns.exact.paper import bailleux2025, cuvillier2010, jolivet2008, runs
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import three_partition, triples_of, uniform
from lns.instances.puzzle import Puzzle

pytest.importorskip("pysat")


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_unknown_nodes_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "compare", "like-e2-4x4", "--solvers", "sat:half-3", "rowscan", "--json"]) == 0
    assert [row["nodes"] is None for row in printed_json(capsys)["rows"]] == [True, False]
    assert main(["exact", "solve", "like-e2-4x4", "--solver", "sat:half-3", "--json"]) == 0
    assert printed_json(capsys)["nodes"] is None
    assert main(["exact", "solve", "like-e2-4x4", "--solver", "sat:half-3"]) == 0
    assert "the library does not report them" in capsys.readouterr().out


def test_compare_counts_refuses_and_reuses_rows(tmp_path: Path) -> None:
    puzzle = uniform(5, 3, 3, seed=1).puzzle
    csv = tmp_path / "rows.csv"
    question = Question(count_all=True, seconds=30.0)
    rows = list(compare([("small", puzzle)], ["rowscan", "dlx", "sat:half-2", "blocks", "sls:rsaps"], question, csv))
    assert len({row.solutions for row in rows[:3]}) == 1
    assert [row.status for row in rows] == ["solved"] * 3 + ["refused"] * 2
    assert "even width" in rows[3].note
    assert all(row.megabytes > 10 for row in rows[:3])
    assert "clauses" in rows[2].size
    assert list(read_rows(csv).values()) == rows
    before = csv.read_text()
    again = list(compare([("small", puzzle)], ["rowscan", "dlx"], question, csv))
    assert again == rows[:2]
    assert csv.read_text() == before
    assert len(table(rows).splitlines()) == 6
    cut_off = [replace(rows[0], status="budget spent", solutions=found, size="") for found in (0, 5)]
    assert "size" in table(rows) and "size" not in table(cut_off)
    assert re.search("budget spent +- ", table(cut_off)) and "at least 5" in table(cut_off)
    csv.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv:1: other columns .*question.*; expected a new file"):
        read_rows(csv)
    cut = before.splitlines()[1].rsplit(",", 3)[0]  # behind the megabytes, as a full disk may leave it
    for line in ("small,rowscan,solved,1,2,x,3,,", "small,rowscan", cut, "\udcff"):
        csv.write_bytes((before.splitlines()[0] + "\n" + line + "\n").encode(errors="surrogateescape"))
        with pytest.raises(InputError, match="no record of a run"):
            read_rows(csv)


def test_a_failed_write_leaves_the_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    csv, real = tmp_path / "rows.csv", Path.open
    csv_records.append(csv, ComparisonRow("small", "rowscan", "solved", 1))
    before = csv.read_bytes()

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if len(data) < 10:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data[:10])

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda self, mode, buffering: Full(self, mode.replace("b", "")))
        with pytest.raises(OSError, match=re.escape(f"{os.strerror(errno.ENOSPC)}: '{csv}'")):
            csv_records.append(csv, ComparisonRow("small", "dlx", "solved", 1))
    assert csv.read_bytes() == before and Path.open is real
    csv.write_bytes(before.rstrip())  # as an editor may leave it
    csv_records.append(csv, ComparisonRow("small", "dlx", "solved", 1))
    assert [row.solver for row in csv_records.read(csv, ComparisonRow)] == ["rowscan", "dlx"]
    csv.write_bytes(b"")
    assert csv_records.read(csv, ComparisonRow) == []
    csv_records.append(csv, ComparisonRow("small", "dlx", "solved", 1))
    assert [row.solver for row in csv_records.read(csv, ComparisonRow)] == ["dlx"]


def test_rows_are_reused_only_for_the_same_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_made: list[tuple[str, Question]] = []

    def run_solver(instance: str, puzzle: Puzzle, solver: str, question: Question) -> ComparisonRow:
        runs_made.append((puzzle.sha256, question))
        return ComparisonRow(instance, solver, "solved", len(runs_made))

    monkeypatch.setattr("lns.exact.compare.run_solver", run_solver)
    puzzle, csv = uniform(3, 3, 3, seed=1).puzzle, tmp_path / "rows.csv"
    plain = Question()
    others = [
        replace(plain, count_all=True),
        replace(plain, seconds=600.0),
        replace(plain, seconds=None),
        replace(plain, memory=500_000_000),
        replace(plain, fix_corner=True),
        replace(plain, sat_solver="minisat"),
        replace(plain, seed=1),
    ]
    questions = [(puzzle, question) for question in [plain, *others]] + [(uniform(3, 3, 3, seed=2).puzzle, plain)]
    first = [row for puzzle, question in questions for row in compare([("p", puzzle)], ["dlx"], question, csv)]
    assert runs_made == [(puzzle.sha256, question) for puzzle, question in questions]
    assert [row for puzzle, question in questions for row in compare([("p", puzzle)], ["dlx"], question, csv)] == first
    assert len(runs_made) == len(questions) == len(csv.read_text().splitlines()) - 1


def test_an_output_in_no_directory_is_refused_before_the_runs(tmp_path: Path) -> None:
    puzzle = uniform(5, 3, 3, seed=1).puzzle
    with pytest.raises(InputError, match="no such directory"):
        next(compare([("small", puzzle)], ["no solver"], Question(), tmp_path / "absent" / "rows.csv"))


@pytest.mark.parametrize("encoding", ["half-3", "triangles"])
def test_cnf_and_decode(tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str) -> None:
    from pysat.formula import CNF
    from pysat.solvers import Solver

    formula = tmp_path / "p.cnf"
    assert main(["exact", "cnf", "like-e2-4x4", "--encoding", encoding, "-o", str(formula), "--json"]) == 0
    sizes = printed_json(capsys)
    cnf = CNF(from_file=str(formula))
    assert len(cnf.clauses) == sizes["clauses"] == sum(sizes["families"].values())
    assert main(["exact", "cnf", "like-e2-4x4", "--encoding", encoding, "-o", str(formula)]) == 2  # it exists
    with Solver(name="cadical195", bootstrap_with=cnf) as solver:
        assert solver.solve()
        model = solver.get_model()
    answer = tmp_path / "answer.txt"
    answer.write_text("s SATISFIABLE\nv " + " ".join(map(str, model)) + " 0\n")
    board = tmp_path / "board.json"
    decode = ["exact", "decode", str(answer), "like-e2-4x4", "--encoding", encoding, "--json"]
    capsys.readouterr()
    assert main([*decode, "-o", str(board)]) == 0
    assert printed_json(capsys)["score"] == 24
    assert main(["verify", str(board), "--puzzle", "like-e2-4x4"]) == 0
    assert main([*decode, "-o", str(board)]) == 2  # it exists
    assert main([*decode, "-o", str(board), "--force"]) == 0
    capsys.readouterr()
    answer.write_text("s SATISFIABLE\nv " + " ".join(str(-abs(literal)) for literal in model) + " 0\n")
    assert main(decode) == 1
    assert printed_json(capsys)["status"] == "not a solution"
    answer.write_text("s UNSATISFIABLE\n")
    assert main(decode) == 1
    assert printed_json(capsys)["status"] == "infeasible"
    answer.write_bytes(b"\xff\xfe")
    assert main(decode) == 2


def test_an_answer_to_another_formula_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("s SATISFIABLE\nv 1 -999999999 0\n")
    assert main(["exact", "decode", str(answer), "like-e2-4x4", "--encoding", "half-2"]) == 2
    assert "variable 999999999 is of another formula" in capsys.readouterr().err


def test_decode_accepts_every_file_type_it_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("s UNSATISFIABLE\n")
    with pytest.raises(SystemExit):
        main(["exact", "decode", "--help"])
    named = re.search(r"write the board to FILE \((.*?)\)", re.sub(r"\s+", " ", capsys.readouterr().out))
    assert named is not None
    for ending in re.split(", | or ", named[1]):
        board = str(tmp_path / f"board{ending}")
        assert main(["exact", "decode", str(answer), "like-e2-4x4", "--encoding", "half-3", "-o", board]) == 1, ending


def test_the_list_of_solvers_and_encodings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "solvers", "--json"]) == 0
    names = {entry["name"]: entry for entry in printed_json(capsys)["solvers"]}
    assert names["sat:half-3"]["extra"] == "sat"
    assert not names["sls:irots"]["counts"]
    assert main(["exact", "cnf", "like-e2-4x4", "--encoding", "half-4"]) == 2
    assert "did you mean 'half-3'" in capsys.readouterr().err


def test_isomorphic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = tmp_path / "renamed.txt"
    puzzle = load_puzzle("like-e2-4x4")
    swap = {0: 0, **{colour: puzzle.colours + 1 - colour for colour in range(1, puzzle.colours + 1)}}
    lines = [" ".join(str(swap[colour]) for colour in quad) for quad in puzzle.pieces.tolist()[::-1]]
    renamed.write_text("\n".join(["4", str(puzzle.colours), "0", *lines]) + "\n")
    assert main(["exact", "isomorphic", str(renamed), "--json"]) == 0
    answer = printed_json(capsys)
    assert answer["with"] == "like-e2-4x4"
    assert answer["renaming"] == {str(colour): other for colour, other in swap.items()}
    assert answer["moved_pieces"][0] == [1, 16]  # the list is the other way round
    assert main(["exact", "isomorphic", "like-e2-4x4", "like-e2-5x5"]) == 1


def test_generate_by_construction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "unique.txt"
    assert main(["generate", "--unique", "m+n-2", "--width", "4", "-o", str(made)]) == 0
    assert main(["exact", "count", str(made), "--solver", "rowscan", "--fix-corner", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["solutions"] == 1
    bars = tmp_path / "bars.txt"
    numbers = [3, 3, 4, 3, 4, 3]
    assert main(["generate", "--from-3-partition", *map(str, numbers), "-o", str(bars)]) == 0
    puzzle = load_puzzle(str(bars))
    assert puzzle == three_partition(numbers)
    solved = tmp_path / "solved.json"
    assert main(["exact", "solve", str(bars), "--solver", "rowscan", "--quiet", "-o", str(solved)]) == 0
    from lns.instances.formats import read

    board = read(str(solved), puzzle=puzzle).board
    assert board is not None
    assert all(sum(triple) == 10 for triple in triples_of(puzzle, board, numbers))
    assert main(["generate", "--unique", "max", "--colours", "3"]) == 2
    assert main(["generate"]) == 2


def test_a_first_compilation_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "unique.txt"
    for compiled in (True, False):
        monkeypatch.setattr("lns.exact.kernels.cache.is_compiled", lambda module, known=compiled: known)
        assert main(["generate", "--unique", "max", "--width", "3", "-o", str(made), "--force"]) == 0
        assert ("compiling" in capsys.readouterr().err) is not compiled


def test_what_a_solver_compiles_counts_neither_as_its_time_nor_as_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, first_runs = [], []

    def run_in_process(
        task: object, puzzle: Puzzle, solver: str, question: Question, *, seconds: float, memory: int | None = None,
        **others: object,
    ) -> ProcessResult:  # fmt: skip
        (first_runs if memory is None else limits).append((solver, puzzle.cells, seconds))
        return ProcessResult(ExitReason.TIME, seconds, 0)

    monkeypatch.setattr("lns.exact.compare.run_in_process", run_in_process)
    compile_solver.cache_clear()
    for compiled in (True, False):
        monkeypatch.setattr("lns.exact.compare.is_compiled", lambda module, known=compiled: known)
        for solver in ("rowscan", "xcc"):
            run_solver("small", uniform(3, 3, 2).puzzle, solver, Question(seconds=4.0, memory=10**9))
    long, names = 4 + COMPILATION_SECONDS, ("rowscan", "xcc")
    assert limits == [("rowscan", 9, 4 + STARTUP_SECONDS), *[(name, 9, long) for name in ("xcc", *names)]]
    assert first_runs == [("xcc", 4, COMPILATION_SECONDS), ("rowscan", 4, COMPILATION_SECONDS)], "once each"
    compile_solver.cache_clear()


@pytest.mark.parametrize(
    ("paper", "small", "title"),
    [
        (bailleux2025, {"sizes": (4,), "per_size": 1, "seconds": 20.0}, "Bailleux 2025, tables 4 to 7"),
        (jolivet2008, {"per_size": 2, "nodes": 20_000, "sizes": (4,)}, "Jolivet 2008, table 1"),
        (cuvillier2010, {"sizes": (3,), "colours": (3,), "per_size": 1, "seconds": 1.5}, "Cuvillier & Szymkowiak 2010"),
    ],
)
def test_experiments_of_the_papers_at_a_small_scale(
    paper: Any, small: dict[str, Any], title: str, tmp_path: Path
) -> None:
    plan, csv = replace(paper.PLAN, **small), tmp_path / "rows.csv"
    rows = list(runs.run_experiment(paper.runs(plan), csv))
    assert rows
    assert list(runs.run_experiment(paper.runs(plan), csv)) == rows
    assert len(csv.read_text().splitlines()) == len(rows) + 1
    assert title in paper.tables(rows, plan)
    pytest.importorskip("matplotlib")
    paper.plot(rows, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_an_interrupted_run_adds_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a tree in the file would count as measured, and never be searched again."""
    ended: list[int] = []

    def interrupted_in_the_third(search: Blocks, budget: int, stop_at_first: bool) -> None:
        if budget and len(ended) == 2:
            raise KeyboardInterrupt
        if budget:
            ended.append(budget)
        advance(search, budget, stop_at_first)

    advance = Blocks.advance
    monkeypatch.setattr(Blocks, "advance", interrupted_in_the_third)
    csv, plan = (
        tmp_path / "rows.csv",
        replace(jolivet2008.PLAN, per_size=1, nodes=100, sizes=(4,), solvers=("zig-zag",)),
    )
    with pytest.raises(KeyboardInterrupt):
        list(runs.run_experiment(jolivet2008.runs(plan), csv))
    assert len(read_rows(csv)) == len(ended) == 2
    assert jolivet2008.tables(list(read_rows(csv).values()), plan).endswith("left out, 2 runs are missing")


def test_trees_are_timed_and_rows_without_a_time_are_not_run_again(tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    plan = replace(jolivet2008.PLAN, per_size=2, nodes=100, sizes=(4,), colours=(4,), solvers=("zig-zag",))
    timed = list(runs.run_experiment(jolivet2008.runs(plan), csv))
    assert len(timed) == 2 and all(0 < row.seconds < 10 for row in timed)
    csv.unlink()
    untimed = [replace(row, seconds=-1.0) for row in timed]
    for row in untimed:
        csv_records.append(csv, row)
    assert list(runs.run_experiment(jolivet2008.runs(plan), csv)) == untimed
    assert f"{timed[1].seconds:.4f}" in jolivet2008.times(runs.Rows([untimed[0], timed[1]]), plan)
    assert jolivet2008.times(runs.Rows(untimed), plan).split()[-4:] == ["-"] * 4


def test_a_tree_that_ended_answers_for_every_limit_and_one_that_was_cut_for_its_own(tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    plan = replace(jolivet2008.PLAN, per_size=20, nodes=150, sizes=(4,), colours=(4,), solvers=("zig-zag",))
    longer, longest = replace(plan, nodes=200), replace(plan, nodes=10**6)
    cut = list(runs.run_experiment(jolivet2008.runs(plan), csv))
    ended = [row for row in cut if row.status == "solved"]
    assert 0 < len(ended) < len(cut) == 20
    assert {row.question for row in ended} == {"all solutions of the uniform puzzle"}
    assert {row.question for row in cut if row not in ended} == {"all solutions of the uniform puzzle; 150 nodes"}
    again = list(runs.run_experiment(jolivet2008.runs(longer), csv))
    assert [row for row in again if row in cut] == ended, "only trees that were cut are searched again"
    whole = list(runs.run_experiment(jolivet2008.runs(longest), csv))
    assert {row.status for row in whole} == {"solved"} and [row for row in whole if row in ended] == ended
    size = csv.stat().st_size
    for asked in (plan, longer, longest):
        assert list(runs.run_experiment(jolivet2008.runs(asked), csv)) == whole
    assert csv.stat().st_size == size


def test_without_a_tree_that_ended_there_are_no_levels() -> None:
    plan = replace(jolivet2008.PLAN, per_size=1, nodes=10, sizes=(4,), solvers=("zig-zag",))
    text = jolivet2008.tables([run.make() for run in jolivet2008.runs(plan)], plan)
    assert "table 1" in text and text.endswith("figure 6 d: no 4x4 tree ended within 10 nodes")


@pytest.mark.parametrize(
    ("paper", "small"),
    [
        (bailleux2025, {"sizes": (3,), "per_size": 1, "seconds": 20.0, "solvers": ("rowscan",)}),
        (cuvillier2010, {"sizes": (2,), "colours": (2,), "per_size": 1, "solvers": ("sls:rsaps",)}),
    ],
)
def test_another_budget_adds_other_rows(paper: Any, small: dict[str, Any], tmp_path: Path) -> None:
    csv, plan = tmp_path / "rows.csv", replace(paper.PLAN, **small)
    first = list(runs.run_experiment(paper.runs(plan), csv))
    other = list(runs.run_experiment(paper.runs(replace(plan, seconds=plan.seconds + 1)), csv))
    assert len(csv.read_text().splitlines()) == len(first) + len(other) + 1
    assert list(runs.run_experiment(paper.runs(plan), csv)) == first
    assert len({(row.instance, row.solver, row.question) for row in first + other}) == len(first + other)


def test_the_csv_may_not_be_the_file_of_the_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "fig.PNG"
    for paper in ("benoist2008", "jolivet2008"):
        assert main(["exact", "paper", paper, "-o", str(picture)]) == 2
        assert "fig.PNG: the plot is written beside the rows" in capsys.readouterr().err and not picture.exists()
