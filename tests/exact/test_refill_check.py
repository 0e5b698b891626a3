"""The second opinion on a region (`lns.exact.sat.refill`): what brute force says, whatever the search says."""

import json
from pathlib import Path

import numpy as np
import pytest

import lns
from lns.api import improving
from lns.cli.main import main
from lns.exact import optional_deps
from lns.exact.region.resolve import RegionResult, RegionStatus
from lns.exact.region.windows import window
from lns.exact.sat import refill
from lns.exact.sat.refill import SOLVER, CheckAnswer, check_refills, search_refill
from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.formats import load_board, write
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.small_regions import FAULTS, KINDS, best_refill, break_rule, breaks_a_rule_outside, small_board
from tests.instances.small_puzzles import planted
from tests.shared_data import published_boards

pytest.importorskip("pysat")
PUZZLE, SOLUTION = planted(8, 7, 6, 6, clues=2)
CELLS = lns.cells.rows(PUZZLE, 1, 3)
FIRST, SECOND = [cell for cell in (8, 9, 10, 15, 16) if cell not in {clue.cell for clue in PUZZLE.clues}][:2]


def damaged() -> Board:
    """The solution with two inner pieces that are no clues exchanged."""
    return SOLUTION.with_pieces([FIRST, SECOND], SOLUTION.placements[[SECOND, FIRST]])


def refilled(puzzle: Puzzle, board: Board, cells: list[int], score: int) -> Board | None:
    """A refill of this score at least."""
    found: list[list[int] | None] = []
    search_refill(found.append, puzzle, board, cells, score - 1)
    return None if found[0] is None else Board(np.array(found[0], dtype=np.int32), puzzle.width, puzzle.height)


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_has_refills_up_to_the_best_score_and_none_above(kind: str) -> None:
    imperfect = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        puzzle, board = small_board(rng, kind)
        cells = rng.permutation(puzzle.cells)[: int(rng.integers(1, 6))].tolist()
        placements = board.placements.copy()
        placements[[cell for cell in range(puzzle.cells) if rng.random() < 0.1]] = EMPTY
        movable = [cell for cell in range(puzzle.cells) if cell not in {clue.cell for clue in puzzle.fixed}]
        for one, other in rng.permutation([*movable, *movable])[: len(movable) // 2 * 2].reshape(-1, 2):
            here, there = placements[[one, other]]
            if min(here, there) >= 0 and puzzle.fits(one)[there] and puzzle.fits(other)[here]:
                placements[[one, other]] = there, here
        break_rule(rng, puzzle, placements, FAULTS[seed % len(FAULTS)], cells)
        if seed % 5 == 0:
            break_rule(rng, puzzle, placements, "a clue's piece elsewhere", list(range(puzzle.cells)))
        board = Board(placements, puzzle.width, puzzle.height)
        if breaks_a_rule_outside(puzzle, board, cells) or (best := best_refill(puzzle, board, cells)) is None:
            continue
        found = refilled(puzzle, board, cells, best)
        assert found is not None, (seed, best)
        judged = verify(puzzle, found)
        assert judged.score == best and not judged.violations, (seed, judged, best)
        outside = [cell for cell in range(puzzle.cells) if cell not in {*cells, *puzzle.holes}]
        assert (found.colours(puzzle)[outside] == board.colours(puzzle)[outside]).all()
        assert refilled(puzzle, board, cells, best + 1) is None, (seed, best)
        imperfect += best < puzzle.max_score
    assert imperfect > 5, "not all are perfect boards"


def test_without_time_it_stays_open_and_a_board_that_does_not_verify_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check_refills(PUZZLE, damaged(), range(PUZZLE.cells), PUZZLE.max_score - 1, 0.0).answer == CheckAnswer.OPEN
    monkeypatch.setattr(refill, "run_in_process", lambda *_, receive, **__: receive(SOLUTION.placements.tolist()))
    with pytest.raises(RuntimeError, match="does not verify"):
        check_refills(PUZZLE, SOLUTION, CELLS, PUZZLE.max_score, 60)


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A search that says of every board that it is optimal; the arguments of a question."""

    def resolve(puzzle: Puzzle, board: Board, cells: list[int], **_: object) -> RegionResult:
        score = verify(puzzle, board).score
        return RegionResult(RegionStatus.OPTIMAL, board, score, score, score, 1, 0.1, tuple(cells))

    monkeypatch.setattr(improving, "resolve", resolve)
    write(tmp_path / "p.json", None, PUZZLE, None)
    write(tmp_path / "b.json", None, PUZZLE, damaged())
    return ["improve", str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json"), "--rows", "1:3"]


def test_a_search_that_lies_is_contradicted(
    lying: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*lying, "--json"]) == 0
    believed = json.loads(capsys.readouterr().out)
    assert believed["status"] == "optimal" and believed["check"] is None
    out = tmp_path / "better.json"
    assert main([*lying, "--check", "--json", "-o", str(out)]) == 70
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert (answer["check"], answer["check_solver"], answer["status"]) == ("contradicted", SOLVER, "improved")
    assert answer["check_seconds"] > 0 and answer["score"] > believed["score"] == answer["score_before"]
    judged = verify(PUZZLE, load_board(str(out), PUZZLE)[1])
    assert judged.valid and judged.score == answer["score"] <= answer["bound"]
    assert told.err.count("\n") == 1 and "fault of lns" in told.err and "report it" in told.err
    assert main([*lying, "--check"]) == 70
    text = capsys.readouterr().out
    assert "optimal" not in text and f"check       contradicted: this board was found, by {SOLVER}" in text
    turned = SOLUTION.with_pieces(0, SOLUTION.placements[0] ^ 1)  # a corner: a perfect board after a broken rule
    result = lns.improve(PUZZLE, turned, [0, 8, 9], check=True)
    assert result.check == "contradicted" and result.score == PUZZLE.max_score and not result.proven
    assert result.status not in (RegionStatus.OPTIMAL, RegionStatus.IMPROVED_OPTIMAL)


def test_true_answers_are_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = damaged()
    result = lns.improve(PUZZLE, board, CELLS, check=True)
    assert result.proven and (result.check, result.check_solver) == ("proved", SOLVER) and result.check_seconds > 0
    assert lns.improve(PUZZLE, board, CELLS).check is None
    refuted = lns.improve(PUZZLE, board, [0, 1, 2], target=PUZZLE.max_score, check=True)
    assert refuted.bound < PUZZLE.max_score and refuted.check == "proved"
    assert lns.improve(PUZZLE, SOLUTION, check=True).check == "proved", "nothing to free"
    write(tmp_path / "p.json", None, PUZZLE, None)
    write(tmp_path / "b.json", None, PUZZLE, board)
    assert main(["improve", str(tmp_path / "b.json"), "--puzzle", str(tmp_path / "p.json"), "--check"]) == 0
    assert (
        f"check       proved: no refill scores more than {PUZZLE.max_score}, by {SOLVER} in " in capsys.readouterr().out
    )


def test_what_the_check_cannot_do_is_one_sentence(
    lying: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*lying[:-2], "--everywhere", "--window", "2x2", "--check"]) == 2
    assert "--check are for one region" in capsys.readouterr().err
    monkeypatch.setattr(optional_deps, "find_spec", lambda name: None)
    assert main([*lying, "--check"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "pip install python-sat" in error
    with pytest.raises(InputError, match="pip install python-sat"):
        lns.improve(PUZZLE, SOLUTION, CELLS, check=True)


def test_an_interrupt_leaves_the_answer_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(improving, "check_refills", lambda *_: refill.Check(CheckAnswer.OPEN, 1.0, interrupted=True))
    result = lns.improve(PUZZLE, damaged(), CELLS, check=True)
    assert result.status == RegionStatus.INTERRUPTED and result.check == "open" and result.proven


FIVE = (0, 2, 11, 12, 16)  # published boards of 470 to 464


def damaged_windows(number: int) -> tuple[Puzzle, Board, list[tuple[int, list[int]]]]:
    """A published board and its windows of 4x5 and 5x4 that hold a mismatch, those with most mismatches first."""
    url = f"https://e2.bucas.name/#puzzle=e2&board_w=16&board_h=16&board_edges={published_boards()[number][2]}"
    puzzle, board = load_board(url)
    mismatches = verify(puzzle, board).mismatches
    places = [(4, 5, *place) for place in np.ndindex(13, 12)] + [(5, 4, *place) for place in np.ndindex(12, 13)]
    windows = [window(puzzle, *place) for place in places]
    inside = [sum(first in cells or second in cells for first, second in mismatches) for cells in windows]
    return puzzle, board, sorted([pair for pair in zip(inside, windows, strict=True) if pair[0]], reverse=True)


@pytest.mark.parametrize("number", FIVE)
def test_the_worst_window_of_a_published_board_is_proved(number: int) -> None:
    puzzle, board, windows = damaged_windows(number)
    result = lns.improve(puzzle, board, windows[0][1], check=True)
    assert result.proven and result.check == "proved" and result.check_seconds < 60


def test_three_whole_rows_with_ten_mismatches_are_proved() -> None:
    puzzle, board, _ = damaged_windows(5)
    result = lns.improve(puzzle, board, lns.cells.rows(puzzle, 2, 5), check=True)
    assert result.proven and result.check == "proved" and result.check_seconds < 60
