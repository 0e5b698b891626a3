"""The programs that measure the exact searches: tables, continuation, errors."""

import csv
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from lns.exact.compare import read_rows
from lns.exact.measurements import main, read_boards, regions_of
from lns.exact.paper.bailleux2025 import with_swapped_sides
from lns.exact.region.resolve import RegionStatus, resolve
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import viewer_url, write
from lns.instances.generate import balanced_torus
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted

GOOD = "score,board_edges\n470,{edges}\n"


def edges(puzzle: Puzzle, board: Board) -> str:
    """The letters of a viewer URL."""
    return viewer_url(puzzle, board).split("board_edges=")[1].split("&")[0]


@dataclass
class Collection:
    """A puzzle of 6x6, its solution and a board with two pieces swapped, in a file of boards."""

    puzzle: Puzzle
    solution: Board
    damaged: Board
    capsys: pytest.CaptureFixture[str]
    file: str = "boards.csv"

    def write_boards(self, *boards: tuple[int, Board]) -> None:
        with Path("boards.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["score", "board_edges"]] + [[s, edges(self.puzzle, b)] for s, b in boards])

    def run(self, options: str, status: int = 0) -> str:
        """What `regions` prints: its table, or the error."""
        self.capsys.readouterr()
        assert main(["regions", self.file, "--puzzle", "p.json", *options.split()]) == status
        captured = self.capsys.readouterr()
        return captured.err if status else captured.out


@pytest.fixture
def boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Collection:
    monkeypatch.chdir(tmp_path)
    puzzle, solution = planted(6, 6, 6, 6)
    made = Collection(puzzle, solution, solution.with_pieces([14, 15], solution.placements[[15, 14]]), capsys)
    write(tmp_path / "p.json", None, puzzle, None)
    made.write_boards((470, solution), (468, made.damaged))
    return made


def test_the_table_of_regions_is_printed_and_continued(boards: Collection) -> None:
    assert [score for score, _ in read_boards(Path("boards.csv"), boards.puzzle)] == [470, 468]
    text = boards.run("--shapes 2x6,3x6 -o rows.csv")
    assert "| 2x6 | 467 to 470 | static | 2 | 2 | 1 |" in text and "| 3x6 | all | static | 2 | 2 | 1 |" in text
    rows = Path("rows.csv")
    best, before = boards.puzzle.max_score, verify(boards.puzzle, boards.damaged).score
    notes = [row.note.split("; ")[:2] for row in read_rows(rows).values()]
    found = f"{best}, at most {best}"
    assert notes == [[f"{best} -> {found}", "optimal"], [f"{before} -> {found}", "improved and optimal"]] * 2
    first = rows.read_text()
    assert boards.run("--shapes 2x6,3x6 -o rows.csv") == text and rows.read_text() == first, "nothing is left to do"

    def lines_after(options: str) -> int:
        boards.run(f"{options} -o rows.csv")
        return len(rows.read_text().splitlines())

    assert lines_after("--shapes 3x6 --share 0") == 5 + 3 + 3, "all windows but the worst"
    assert lines_after("--shapes 2x6 --orders auto") == 11 + 2, "another order"
    assert lines_after("--shapes 2x6 --edge-more") == 13 + 2, "another question"
    boards.write_boards((468, boards.damaged))
    assert lines_after("--shapes 2x6 --seconds 3") == 15, "a proven region of a known board"
    assert rows.read_text().startswith(first)


def test_orders_are_compared(boards: Collection) -> None:
    text = boards.run("--shapes 2x4,scattered6,around,touched --orders all")
    lines = [line.split(" | ")[:6] for line in text.splitlines() if "| all |" in line]
    regions = {"2x4": "2", "scattered6": "2", "around": "1", "touched": "1"}  # the solution has no mismatch
    assert len(lines) == 4 * 9 and all(line[3] == line[4] == regions[line[0].strip("| ")] for line in lines)
    assert [line[2] for line in lines[:3]] == ["static", "static, no prices", "auto"]
    text = boards.run("--shapes 2x6 --every 2 --orders dynamic --nodes 8e6")
    assert "| 2x6 | all | dynamic | 1 | 1 | 0 |" in text
    with mock.patch("lns.exact.measurements.resolve") as interrupted:
        result = resolve(boards.puzzle, boards.solution, [0, 1], seconds=1.0)
        interrupted.return_value = replace(result, status=RegionStatus.INTERRUPTED)
        boards.run("--shapes 2x4", 130)
    assert interrupted.call_count == 1


@pytest.mark.parametrize("file", ["boards.csv", "boards.jsonl"])
def test_regions_are_searched_for_one_edge_more(boards: Collection, file: str) -> None:
    score, boards.file = verify(boards.puzzle, boards.damaged).score, file
    boards.write_boards((score, boards.damaged))
    line = {"score": score, "oriented": boards.damaged.placements.tolist()}
    Path("boards.jsonl").write_text(json.dumps(line) + "\n")
    found = len(regions_of(boards.puzzle, boards.damaged, "2x3", 0.9, 0))
    text = boards.run("--shapes 2x3 --share 0.9 --edge-more --orders auto")
    assert 0 < found < 20 and f"| 2x3 | all | auto | {found} | {found} | " in text
    assert "| 2x3 | all | auto | 1 | 1 | " in boards.run("--shapes 2x3 --share 0.9 --sample 1 --orders auto")
    if file == "boards.jsonl":
        Path("boards.jsonl").write_text(json.dumps(line) + "\n{}\n")
        assert "boards.jsonl:2: " in boards.run("", 2)


INVALID = (
    ("", None, "boards.csv: no such file"),
    ("", "", "boards.csv: the file has no row with a board; expected 1 or more"),
    ("", "score,edges\n470,abc\n", "boards.csv:2: no score and board; expected the columns score and board_edges"),
    ("", "score,board_edges\nmany,{edges}\n", "boards.csv:2: no score and board"),
    ("", "score,board_edges\n470\n", "boards.csv:2: no score and board"),
    ("", "score,board_edges\n470,{edges}\n470,abc\n", "boards.csv:3: board_edges has 3 letters"),
    ("--shapes 9x6", GOOD, "unknown shape '9x6'; expected HxW on a board of 6x6, touched, around or scatteredN"),
    ("--shapes far", GOOD, "unknown shape 'far'"),
    ("--orders urgent", GOOD, "expected one of auto, static, dynamic"),
)


@pytest.mark.parametrize(("options", "text", "expected"), INVALID)
def test_what_is_invalid_is_one_sentence(boards: Collection, options: str, text: str | None, expected: str) -> None:
    Path("boards.csv").unlink()
    if text is not None:
        Path("boards.csv").write_text(text.format(edges=edges(boards.puzzle, boards.solution)))
    said = boards.run(options, 2)
    assert expected in said and said.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    ["regions b --puzzle p --every 0", "regions b --puzzle p --seconds 0", "infeasible 5 --per-size 0",
     "infeasible 5 --seconds nan", "regions b --puzzle p --nodes 0"],
)  # fmt: skip
def test_limits_that_are_not_possible_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert f"{words.split()[-2]}: {words.split()[-1]} is not possible; expected" in capsys.readouterr().err


def test_the_speed_of_the_row_scan_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rowscan-speed", "like-e2-5x5", "--nodes", "500"]) == 0
    assert re.fullmatch(r"like-e2-5x5: \d+\.\d M placements/s over 500 placements\n", capsys.readouterr().out)


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
