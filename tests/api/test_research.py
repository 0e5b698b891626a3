"""The commands of researchers as functions: compare, collect, merge, status, convert, cnf, decode."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

import lns

PUZZLE, SOLUTION = lns.generate("like-e2", width=4, seed=1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs of one puzzle."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        lns.solve(PUZZLE, run_dir=folder / f"run-{seed}", steps=1, workers=1, seed=seed, progress=None)
    return folder


def test_status_of_a_folder_is_a_row_a_run(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = lns.status(runs)
    assert [row["state"] for row in found.records()] == ["ended"] * 2 and len(found.summary().splitlines()) >= 3
    assert [run.history.best_score for run in found.runs] == [run.score for run in found.runs]
    monkeypatch.chdir(runs)
    assert lns.status().records() == [row | {"run_dir": Path(row["run_dir"]).name} for row in found.records()]
    assert lns.status([runs / "run-2"], min_score=0).records()[0]["min_score"] == 0
    for read in (lns.status, lns.collect):
        with pytest.raises(lns.InputError, match="no run directory"):
            read([tmp_path, runs])
        told: list[lns.InputError] = []
        assert len(read([tmp_path, runs], on_error=told.append).records()) >= 2 and len(told) == 1  # type: ignore[arg-type]


def test_collected_boards_are_verified_drawn_and_written(runs: Path, tmp_path: Path) -> None:
    found = lns.collect(runs, min_score=1, output=tmp_path / "boards")
    best = found.boards[0]
    assert [one.score for one in found.boards] == sorted((one.score for one in found.boards), reverse=True)
    assert lns.verify(best.puzzle, best.board).score == best.score == found.records()[0]["score"]
    assert lns.load_board(best.file).of(PUZZLE) == best.board and found._repr_html_().startswith("<figure")
    assert len(lns.collect(runs, top=1).boards) == 1 and lns.collect(runs, min_score=25).board is None
    with pytest.raises(lns.InputError, match="top is 0"):
        lns.collect(runs, top=0)


def test_solvers_are_compared_and_a_file_is_continued(tmp_path: Path) -> None:
    told: list[str] = []
    asked = {"count": True, "output": tmp_path / "runs.csv", "on_row": lambda row: told.append(row.solver)}
    found = lns.compare({"mine": PUZZLE}, ["rowscan", "sls:adaptg2wsat"], **asked)
    counted, refused = found.records()
    assert (counted["instance"], counted["solutions"]) == ("mine", lns.count(PUZZLE).solutions)
    assert refused["status"] == "refused" and "cannot count" in refused["note"]
    assert refused["nodes"] is found.rows[1].nodes is None
    assert lns.compare({"mine": PUZZLE}, ["rowscan", "sls:adaptg2wsat"], **asked) == found and len(told) == 4
    assert "rowscan" in found.summary() and not found.interrupted
    other = lns.Puzzle(lns.generate("like-e2", width=4, seed=2).puzzle.pieces, 4, 4, name=PUZZLE.name)
    assert len(lns.compare([PUZZLE, other], "rowscan").rows) == 2
    with pytest.raises(lns.InputError, match="did you mean 'rowscan'"):
        lns.compare(PUZZLE, "rowscn")


def test_an_interrupted_comparison_keeps_its_rows() -> None:
    found = lns.compare(PUZZLE, ("rowscan", "dlx"), on_row=mock.Mock(side_effect=KeyboardInterrupt))
    assert [row.solver for row in found.rows] == ["rowscan"] and found.interrupted


def test_puzzles_and_boards_are_converted(tmp_path: Path) -> None:
    url = lns.convert(SOLUTION, to="url")
    assert lns.load_board(url.text.strip(), PUZZLE) == SOLUTION and url._repr_html_().startswith("<figure")
    found = lns.convert(url.text.strip(), tmp_path / "board.solution.txt", puzzle=PUZZLE, turn=90)
    assert found.format == "url" and (tmp_path / "board.solution.txt").read_text() == found.text
    again = lns.load_board(tmp_path / "board.solution.txt", PUZZLE)
    assert lns.verify(PUZZLE, again).score == PUZZLE.max_score and again != SOLUTION
    there = lns.convert(PUZZLE, to="json", mirror=True)
    assert lns.convert(there.puzzle, to="json", mirror=True).puzzle == PUZZLE and there.puzzle != PUZZLE
    seen = lns.convert(SOLUTION, to="url", puzzle=PUZZLE, mirror=True)
    assert lns.verify(seen.puzzle, seen.board).score == PUZZLE.max_score


def test_a_formula_and_its_answers(tmp_path: Path) -> None:
    formula = lns.cnf(PUZZLE, "half-2", tmp_path / "p.cnf")
    text = (tmp_path / "p.cnf").read_text()
    assert str(formula) == text and f"p cnf {formula.variables} {formula.clauses}\n" in text
    assert sum(row["clauses"] for row in formula.records()) == formula.clauses
    assert formula.summary().startswith("half-2 of ") and "<td>" in formula._repr_html_()
    for unsolvable in ("s UNSATISFIABLE\n", "s UNSATISFIABLE"):
        assert lns.decode(unsolvable, PUZZLE, "half-2").status == "infeasible"
    for no_answer, message in ((b"v 1 0", r"\(bytes\); expected a string"), (tmp_path / "no.txt", "No such file")):
        with pytest.raises(lns.InputError, match=message):
            lns.decode(no_answer, PUZZLE, "half-2")
    wrong = lns.decode(range(-formula.variables, 0), PUZZLE, "half-2")
    assert wrong.status == "not a solution" and wrong.records()[0]["url"] is None
    for answer in ([formula.variables + 1], [0], f"v {formula.variables + 1} 0\n"):
        with pytest.raises(lns.InputError, match="is of another formula"):
            lns.decode(answer, PUZZLE, "half-2")
    (tmp_path / "binary").write_bytes(b"\xff\n")
    with pytest.raises(lns.InputError, match="not a text of ASCII"):
        lns.decode(tmp_path / "binary", PUZZLE, "half-2")
    with pytest.raises(lns.InputError, match="half"):
        lns.cnf(PUZZLE, "halve-2")
