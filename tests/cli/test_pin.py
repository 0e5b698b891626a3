"""`lns solve --pin` and `lns polish`: cells that stay, also after `lns resume`, and boards that become better."""

import json
from pathlib import Path

import numpy as np
import pytest

import lns
from lns.engines import ENGINES
from lns.instances.board import Board
from lns.instances.formats import load_board, write
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import read_run
from tests.cli.conftest import PUZZLE, SOLUTION, Typed
from tests.instances.small_puzzles import exchanged, planted
from tests.shared_data import shared

ROWS = list(range(7, 21))
SOLVE = "solve p.json --start part.json --params quick.toml --workers 1 --seed 1 --quiet --run-dir"


pytestmark = pytest.mark.usefixtures("boards", "params")


@pytest.mark.slow
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "gpu"])  # which needs a card
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
    assert "not a full legal board: " in caplog.text and Path("run/best.unusable.json").exists()
    _, board = load_board("run/best.json", PUZZLE)
    assert (board.placements[ROWS] == SOLUTION.placements[ROWS]).all()


WHOLE, SOLVED = planted(3, 8, 8, 6, clues=2)


def damaged(swaps: int, seed: int = 1) -> Board:
    """The solution with some inner pieces exchanged, none of them a clue."""
    rng, clues = np.random.default_rng(seed), {clue.cell for clue in WHOLE.clues}
    inner = [8 * row + column for row in range(1, 7) for column in range(1, 7) if 8 * row + column not in clues]
    return exchanged(SOLVED, *rng.choice(inner, 2 * swaps, replace=False).tolist())


POLISH = "polish given.json --puzzle whole.json --time 60 --run-dir run --quiet --workers 1 --seed 1"


def test_a_damaged_board_is_mended_and_saved(typed: Typed) -> None:
    write("given.json", None, WHOLE, damaged(3))
    write("whole.json", None, WHOLE, None)
    best = typed.facts(POLISH)
    puzzle, board = load_board("run/best.json", WHOLE)
    found = verify(puzzle, board)
    assert best["score"] == found.score == WHOLE.max_score and found.valid, "with its clues"


def test_a_board_that_does_not_become_better_is_said_to_be_the_best(typed: Typed) -> None:
    puzzle, board = planted(3, 4, 4, 4)
    pieces = puzzle.pieces.copy()
    pieces[pieces == 4] = 3
    pieces[tuple(np.argwhere(pieces == 1)[0])] = 4  # which no other side has
    other = Puzzle(pieces, 4, 4)
    write("whole.json", None, other, None)
    write("given.json", None, other, board)
    said = typed(POLISH).out
    assert "nothing better than the given board was found; best.json holds that board" in said
    assert load_board("run/best.json", other)[1] == board


def test_half_of_the_cells_stay_and_only_those_that_are_free_change() -> None:
    board = damaged(6)
    before = verify(WHOLE, board).score
    result = lns.polish(WHOLE, board, steps=60, time=600, workers=1, seed=1, progress=None)
    assert result.board is not None and result.score > before
    assert 2 * result.board.distance(board) <= WHOLE.cells
    few = damaged(1, seed=4)
    free = sorted({cell for pair in verify(WHOLE, few).mismatches for cell in pair})
    result = lns.polish(WHOLE, few, free=free, steps=30, time=600, workers=1, seed=1, progress=None)
    assert result.board is not None and result.score == WHOLE.max_score
    assert set(np.flatnonzero(result.board.placements != few.placements).tolist()) <= set(free)


def test_it_ends_when_all_windows_are_proven_and_says_so() -> None:
    puzzle = lns.generate("like-e2", width=5, height=5, seed=3)[0]
    start = lns.solve(puzzle, engine="beam", steps=3, workers=1, seed=1, progress=None).board
    assert start is not None
    params = {"neighbourhoods": {"certificate": 0.5}}
    result = lns.polish(puzzle, start, time=600, workers=1, seed=1, params=params, progress=None)
    assert result.score < puzzle.max_score
    assert result.why == "all listed regions are proven: nothing better within them"
    certificate = result.statistics.certificate_of(result.score)
    assert certificate and all(shape["proven"] == shape["windows"] for shape in certificate.values())


@pytest.mark.parametrize(("clues", "held"), [("", 5), (" --clues none", 0)])
def test_official_clues_that_a_board_from_elsewhere_holds_stay(clues: str, held: int, typed: Typed) -> None:
    boards = shared("boards", "eternity2_boards.csv")
    puzzle = lns.load_puzzle(shared("instances", "eternity2.txt"))
    Path("b.url").write_text(lns.viewer_url(puzzle, lns.load_board(boards, puzzle, number=17)))
    typed(f"polish b.url{clues} --time 0.01 --run-dir run --quiet --workers 1")
    assert len(read_run(Path("run"))[1].clues) == held
