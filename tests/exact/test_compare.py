"""The commands compare, cnf, decode, solvers and isomorphic of `lns exact`, and generate --unique."""

import errno
import io
import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from lns.cli.main import main
from lns.exact.compare import ComparisonRow, append_row, compare, read_rows, table
from lns.exact.execution import Request
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import three_partition, uniform
from lns.instances.puzzle import Puzzle

pytest.importorskip("pysat")


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_unknown_nodes_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "compare", "like-e2-4x4", "--solvers", "sat:half-3", "rowscan", "--json"]) == 0
    assert [row["nodes"] is None for row in printed_json(capsys)["rows"]] == [True, False]
    solve = ["exact", "solve", "like-e2-4x4", "--solver", "sat:half-3"]
    assert main([*solve, "--json"]) == 0 and printed_json(capsys)["nodes"] is None
    assert main(solve) == 0 and "the library does not report them" in capsys.readouterr().out


def test_compare_counts_refuses_and_reuses_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = uniform(5, 3, 3, seed=1).puzzle
    csv = tmp_path / "rows.csv"
    request = Request(count_all=True, seconds=30.0)
    rows = list(compare([("small", puzzle)], ["rowscan", "dlx", "sat:half-2", "blocks", "sls:rsaps"], request, csv))
    assert len({row.solutions for row in rows[:3]}) == 1
    assert [row.status for row in rows] == ["solved"] * 3 + ["refused"] * 2
    assert "even width" in rows[3].note
    assert all(row.megabytes > 10 for row in rows[:3])
    assert "clauses" in rows[2].size
    assert list(read_rows(csv).values()) == rows
    before = csv.read_text()
    again = list(compare([("small", puzzle)], ["rowscan", "dlx"], request, csv))
    assert again == rows[:2]
    assert csv.read_text() == before
    assert len(table(rows).splitlines()) == 6
    cut_off = [replace(rows[0], status="budget spent", solutions=found, size="") for found in (0, 5)]
    assert "size" in table(rows) and "size" not in table(cut_off)
    assert re.search("budget spent +- ", table(cut_off)) and "at least 5" in table(cut_off)
    monkeypatch.setattr("lns.exact.compare.SPARE_SECONDS", 1e-9)
    (ended,) = compare([("small", puzzle)], ["rowscan"], Request(seconds=0.0))
    assert (ended.status, ended.note) == ("budget spent", "time limit")
    cut = before.splitlines()[1].rsplit(",", 3)[0]  # behind the megabytes, as a full disk may leave it
    for line in ("small,rowscan,solved,1,2,x,3,,", "small,rowscan", cut, "\udcff"):
        csv.write_bytes((before.splitlines()[0] + "\n" + line + "\n").encode(errors="surrogateescape"))
        with pytest.raises(InputError, match="no record of a run"):
            read_rows(csv)


def test_a_failed_write_leaves_the_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    csv, real = tmp_path / "rows.csv", Path.open
    append_row(csv, asdict(ComparisonRow("small", "rowscan", "solved", 1)))
    before = csv.read_bytes()

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if len(data) < 10:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data[:10])

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda self, mode, buffering: Full(self, mode.replace("b", "")))
        with pytest.raises(OSError, match=re.escape(f"{os.strerror(errno.ENOSPC)}: '{csv}'")):
            append_row(csv, asdict(ComparisonRow("small", "dlx", "solved", 1)))
    assert csv.read_bytes() == before and Path.open is real
    csv.write_bytes(before.rstrip())  # as an editor may leave it
    append_row(csv, asdict(ComparisonRow("small", "dlx", "solved", 1)))
    assert [solver for _, solver, _ in read_rows(csv)] == ["rowscan", "dlx"]
    csv.write_bytes(b"")
    assert read_rows(csv) == {}
    append_row(csv, asdict(ComparisonRow("small", "dlx", "solved", 1)))
    assert [solver for _, solver, _ in read_rows(csv)] == ["dlx"]


def test_rows_are_reused_only_for_the_same_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, Request]] = []

    def run(instance: str, puzzle: Puzzle, solver: str, request: Request) -> ComparisonRow:
        made.append((puzzle.sha256, request))
        return ComparisonRow(instance, solver, "solved", len(made))

    monkeypatch.setattr("lns.exact.compare.run_solver", run)
    plain, csv = Request(seconds=60.0), tmp_path / "rows.csv"
    changes: list[dict[str, Any]] = [
        {}, {"count_all": True}, {"seconds": 600.0}, {"seconds": None}, {"memory": 500_000_000}, {"fix_corner": True},
        {"sat_solver": "minisat"}, {"seed": 1},
    ]  # fmt: skip
    first, other = (uniform(3, 3, 3, seed=seed).puzzle for seed in (1, 2))
    asked = [(first, replace(plain, **change)) for change in changes] + [(other, plain)]
    rows = [row for puzzle, request in asked for row in compare([("p", puzzle)], ["dlx"], request, csv)]
    assert made == [(puzzle.sha256, request) for puzzle, request in asked]
    assert [row for puzzle, request in asked for row in compare([("p", puzzle)], ["dlx"], request, csv)] == rows
    assert len(made) == len(asked) == len(csv.read_text().splitlines()) - 1
    with pytest.raises(InputError, match="no such directory"):
        next(compare([("p", first)], ["no solver"], plain, tmp_path / "absent" / "rows.csv"))


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
    answer.write_text("s SATISFIABLE\nv 1 -999999999 0\n")
    assert main(decode) == 2
    assert "variable 999999999 is of another formula" in capsys.readouterr().err


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
    assert main(["generate", "--from-3-partition", *"334343", "-o", str(bars)]) == 0
    assert load_puzzle(str(bars)) == three_partition([3, 3, 4, 3, 4, 3])
    assert main(["generate", "--unique", "max", "--colours", "3"]) == 2
    assert main(["generate"]) == 2
