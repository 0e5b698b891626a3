"""`lns generate` as its user meets it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import lns
from lns.exact.outcome import Outcome, SolveStatus
from lns.instances.formats import load_board, load_puzzle
from lns.instances.generate.planted import PortableRandom, plant
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.cli.conftest import Typed

pytestmark = pytest.mark.usefixtures("here")


def test_to_the_screen(typed: Typed) -> None:
    lines = typed("generate like-e2 --width 4 --seed 3").out.splitlines()
    assert lines[:3] == ["4", "6", "0"] and len(lines) == 3 + 16


def test_puzzle_and_solution_apart(typed: Typed) -> None:
    said = typed("generate uniform --width 7 --colours 5 --fix-corners --clues 1 -o p.txt --solution p.solution.txt")
    assert said.out == "p.txt: uniform-7x7-c5-s0, 49 pieces, 5 colours, 5 clues\n"
    puzzle, board = load_board("p.solution.txt", load_puzzle("p.txt"))
    assert {clue.cell for clue in puzzle.clues} == {0, 6, 24, 42, 48}
    judged = verify(puzzle, board)
    assert judged.valid and judged.score == judged.max_score == 84


def test_rectangles_with_clues_are_text_on_the_screen(typed: Typed) -> None:
    puzzle = lns.load_puzzle(typed("generate like-e2 --width 5 --height 3 --clues 2").out)
    assert (puzzle.width, puzzle.height, len(puzzle.clues)) == (5, 3, 2)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("tetravex --width 3 --colours 3", "tetravex-3x3-c3-s0, 9 pieces, 3 colours, 0 clues"),
        ("unframed --width 3 --height 2 --clues 1", "unframed-3x2-c7-s0, 6 pieces, 6 colours, 1 clue"),
        ("triangle --side 3 --colours 2", "triangle-3-c2-s0, 9 pieces, 2 colours, 0 clues"),
        ("diamond --side 3 --clues 13", "diamond-3-c3-s0, 13 pieces, 3 colours, 13 clues"),
    ],
)
def test_puzzles_by_other_rules(options: str, line: str, typed: Typed) -> None:
    assert typed(f"generate {options} -o p.json --solution p.solution.txt").out == f"p.json: {line}\n"
    found = typed.facts("verify p.solution.txt --puzzle p.json")
    assert found["full"] and found["score"] == found["max_score"]
    assert json.loads(typed(f"generate {options}").out)["schema"] == 1


def test_json(typed: Typed) -> None:
    facts = typed.facts("generate balanced-torus --width 5 --seed 8 -o torus.json")
    expected = {"name": "balanced-torus-5x5-c3-s8", "width": 5, "height": 5, "colours": 3, "clues": [], "seed": 8}
    expected |= {"max_score": 40, "sha256": load_puzzle("torus.json").sha256, "output": "torus.json"}
    assert facts == expected | {"solution": None, "text": None}


@pytest.mark.parametrize(
    ("right", "status"),
    [
        ([1, 2, 3, 1], 0),  # both ends equal, so that the board and its rotated copy are both counted
        ([1, 2, 2, 1], 0),  # its own rotated copy
        ([1, 1, 2, 2, 1, 1], 2),  # the piece 1-1 may lie elsewhere
    ],
)
def test_a_single_solution_is_recognised_if_every_corner_piece_has_an_identical_one(
    right: list[int], status: int, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    cells = len(right) + 1
    row = plant([*right, 0], [0] * cells, cells, 1, PortableRandom(1), "row")
    monkeypatch.setattr("lns.instances.generate.unique", lambda *arguments: row)
    typed("generate --unique max --width 9 -o row.json", status)


def test_the_proofs_of_the_largest_board_end_with_their_time(typed: Typed) -> None:
    began = time.monotonic()
    assert "was proven unique in" in typed("generate --unique max --width 64 -o p.txt --time 1", 2).err
    assert not Path("p.txt").exists() and time.monotonic() - began < 20.0, "the machine may be busy"


@pytest.mark.parametrize("stopped_at", [1, 2])  # while ColorPairs is compiled, and in the first proof
def test_an_interrupted_proof_ends_the_command(stopped_at: int, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    asked: list[object] = []

    def interrupted(puzzle: object, **options: object) -> Outcome:
        asked.append(puzzle)
        status = SolveStatus.INTERRUPTED if len(asked) == stopped_at else SolveStatus.SOLVED
        return Outcome(status, 0, 0, 0.0)

    monkeypatch.setattr("lns.exact.solvers.count", interrupted)
    typed("generate --unique max --width 5 -o p.txt", 130)
    assert len(asked) == stopped_at and not Path("p.txt").exists()


def test_compiling_does_not_count_as_time_of_the_proofs(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    cells: list[int] = []

    def count(puzzle: Puzzle, **options: object) -> Outcome:
        cells.append(puzzle.cells)
        if len(cells) > 1:
            return Outcome(SolveStatus.SOLVED, 1, 0, 0.0)
        time.sleep(3.0)  # the first call compiles
        return Outcome(SolveStatus.BUDGET_SPENT, 0, 0, 3.0)

    monkeypatch.setattr("lns.exact.solvers.count", count)
    typed("generate --unique max --width 5 -o p.txt --time 2")
    assert cells == [4, 25]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("foo", "unknown kind of puzzle 'foo'; expected uniform, balanced-torus, like-e2, unframed"),
        ("like-e2 --colours 9", "expected two numbers of colours, not one"),
        ("uniform --rim-colours 3", "expected one number"),
        ("uniform --width 0", "a board of 0 x 0"),
        ("uniform --width -3 --height 4", "a board of -3 x 4"),
        ("uniform --width 99999999 --clues 3", "expected 1 to 4096 cells"),
        ("uniform --colours 0", "0 colours; expected 1 to 4096"),
        ("balanced-torus --width 3 --height 4", "expected a square"),
        ("like-e2 --rim-colours 1", "4 corner pieces"),
        ("like-e2 --clues 257", "257 clues for a board of 16 x 16; expected 0 to 256"),
        ("like-e2 --clues -1", "-1 clues"),
        ("like-e2 --seed -1", "seed -1; expected 0 or more"),
        ("like-e2 --width x", "invalid int value: 'x'"),
        ("like-e2 --format url", "format url carries a board"),
        ("like-e2 --format nothing", "unknown format 'nothing'"),
        ("like-e2 --time 1", "--time is for the proofs of --unique"),
        ("triangle --width 3", "a triangle has one size; expected its side, not width or height"),
        ("tetravex --side 3", "only triangle and diamond have one"),
        ("--unique max --side 4", "--side is for the kinds triangle and diamond; expected none here"),
        ("--from-3-partition 3 3 4 --side 5", "--side is for the kinds triangle and diamond; expected none here"),
        ("diamond --side 0", "a diamond of side 0; expected 1 or more"),
        ("triangle --side 99", "a board of 197 x 99"),
        ("diamond --side 3 --clues 14", "14 clues for a board of 5 x 5; expected 0 to 13"),
        ("diamond --side 3 --fix-corners", "a diamond has no four corners to fix"),
        (
            "tetravex -o p.txt",
            "p.txt: format benoist cannot say that a puzzle has no frame and no turns; expected",
        ),
        ("like-e2 -o p.odd", "p.odd: the name does not say the format"),
        ("like-e2 -o p.txt --solution ./p.txt", "the same file name"),
        ("like-e2 -o nowhere/p.txt", "nowhere: there is no such directory"),
        ("like-e2 -o p.txt --solution no/s", "no: there is no such directory"),
    ],
)
def test_what_cannot_be_made(options: str, sentence: str, typed: Typed) -> None:
    assert sentence in typed.refused(f"generate {options}") and not list(Path().iterdir())
