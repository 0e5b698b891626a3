"""`--pin`: cells of the start board that every part of the search leaves alone, also after `lns resume`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lns import cells as cell_lists
from lns.api.files import pinned
from lns.engines import ENGINES
from lns.instances.board import Board
from lns.instances.formats import load_board, write
from lns.instances.puzzle import Clue
from lns.instances.verify import verify
from lns.params import to_toml
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import read_run
from lns.terminal.options import cell_list
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import planted
from tests.lns.run_parts import QUICK

PUZZLE, SOLUTION = planted(8, 7, 6, 6, clues=2)
ROWS = list(range(7, 21))
SOLVE = "solve p.json --start b.json --params quick.toml --workers 1 --seed 1 --quiet --run-dir"


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    """A start: the solution with the inner pieces of lower rows turned upside down, and one cell of the last empty."""
    placements = SOLUTION.placements.copy()
    clues = {clue.cell for clue in PUZZLE.clues}
    inner = [cell for cell in (22, 23, 24, 25, 26, 29, 30, 31, 32, 33) if cell not in clues]
    placements[inner] = np.roll(placements[inner], 3)
    placements[41] = -1
    write("p.json", None, PUZZLE, None)
    write("b.json", None, PUZZLE, Board(placements, 7, 6))
    Path("quick.toml").write_text(to_toml(QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_pinned_cells_stay_in_every_board_and_after_a_resume(engine: str, typed: Typed) -> None:
    run = Path("run")
    typed(f"{SOLVE} run --pin r1-2 --engine {engine} --min-score 0 --steps 30")
    asked, puzzle = read_run(run)
    assert puzzle == PUZZLE and asked.instance_sha256 == PUZZLE.sha256
    assert {pin.cell for pin in asked.pins} == set(ROWS) - {clue.cell for clue in PUZZLE.clues}
    typed("resume run --steps 30 --quiet")
    boards = [entry.board for entry in BoardLogReader(run, PUZZLE).read()]
    assert len(boards) > 1
    for board in boards:
        assert (board.placements[ROWS] == SOLUTION.placements[ROWS]).all() and verify(PUZZLE, board).valid
    typed("verify run/best.json --puzzle p.json")
    assert json.loads((run / "best.json").read_text())["instance_sha256"] == PUZZLE.sha256


def test_a_best_board_without_the_pins_is_set_aside(typed: Typed, caplog: pytest.LogCaptureFixture) -> None:
    typed(f"{SOLVE} run --pin r1-2 --engine tabu --steps 1")
    typed("solve p.json --engine tabu --steps 1 --run-dir other --quiet --workers 1 --seed 1")
    Path("run/best.json").write_bytes(Path("other/best.json").read_bytes())
    typed("resume run --steps 1 --quiet")
    assert "not a board that keeps the pinned cells" in caplog.text and Path("run/best.unusable.json").exists()
    _, board = load_board("run/best.json", PUZZLE)
    assert (board.placements[ROWS] == SOLUTION.placements[ROWS]).all()


@pytest.mark.parametrize(
    ("pin", "expected"),
    [
        ("r6", "the list names row 6, off the board; expected 0 to 5"),
        ("3,42", "the list names cell 42, off the board; expected 0 to 41"),
        ("9-3", "'9-3' is no list of cells"),
        ("x", "'x' is no list of cells"),
        ("40-41", "row 5, column 6 (cell 41, from 0), which is empty on the start board"),
        ("22-33", "which do not match; expected at most one of them"),
        ("r0-5", "leave no cell free"),
    ],
)
def test_bad_pins_are_one_sentence_and_leave_nothing(pin: str, expected: str, typed: Typed) -> None:
    assert expected in typed.refused(f"{SOLVE} run --pin {pin}") and not Path("run").exists()


def test_pins_need_a_start_board(typed: Typed) -> None:
    refused = typed.refused("solve p.json --pin 3 --run-dir run")
    assert "pins keep cells of a start board; expected a start board beside them" in refused


def test_a_pin_that_contradicts_a_clue_yet_to_be_laid_is_refused(typed: Typed) -> None:
    clue = next(clue for clue in PUZZLE.clues if not any(PUZZLE.rim_sides(clue.cell)))
    beside = clue.cell + 1 if not any(PUZZLE.rim_sides(clue.cell + 1)) else clue.cell - 1
    placements = np.full(42, -1, dtype=np.int32)
    right = int(SOLUTION.placements[beside])
    solve = f"{SOLVE} run --pin {beside} --steps 1 --engine tabu"
    placements[beside] = right ^ 2  # upside down
    write("b.json", None, PUZZLE, Board(placements, 7, 6))
    assert "which do not match" in typed.refused(solve) and not Path("run").exists()
    placements[beside] = right
    write("b.json", None, PUZZLE, Board(placements, 7, 6))
    typed(solve)


def test_a_start_board_with_the_piece_of_a_clue_on_another_cell_is_refused(typed: Typed) -> None:
    clue = PUZZLE.clues[0]
    alike = [cell for cell in range(42) if PUZZLE.rim_sides(cell) == PUZZLE.rim_sides(clue.cell)]
    placements = np.full(42, -1, dtype=np.int32)
    placements[next(cell for cell in alike if cell != clue.cell)] = clue.piece * 4 + clue.rotation
    write("b.json", None, PUZZLE, Board(placements, 7, 6))
    refused = typed.refused(f"{SOLVE} run")
    assert f"(cell {clue.cell}, from 0), where a clue wants it" in refused and not Path("run").exists()


def test_an_identical_piece_on_the_cell_of_a_clue_takes_the_number_of_the_clue() -> None:
    """Two pieces made identical: the second lies on the first one's clue cell, the first where the second would be."""
    pieces = PUZZLE.pieces.copy()
    cells = [int(np.flatnonzero(SOLUTION.placements // 4 == piece)[0]) for piece in range(42)]
    first, second = (int(SOLUTION.placements[cell]) // 4 for cell in (8, 33))
    pieces[second] = np.roll(pieces[first], 1)
    placements = np.full(42, -1, dtype=np.int32)
    placements[cells[first]] = second * 4 + 3  # shows the colours of the first, unturned
    placements[cells[second]] = first * 4
    puzzle = type(PUZZLE)(pieces, 7, 6, (Clue(cells[first], first, 0),))
    board = Board(placements, 7, 6)
    assert verify(puzzle, board).valid
    (pin,) = pinned(puzzle, board, board, [cells[second]])
    assert pin == Clue(cells[second], second, 3)
    puzzle.with_clues([*puzzle.clues, pin])


def test_lists_of_cells() -> None:
    assert cell_lists.parse(cell_list("3, 10-12,r1"), PUZZLE) == [3, 10, 11, 12, 7, 8, 9, 10, 11, 12, 13]
