"""Puzzles whose pieces have copies, or may be used any number of times: counted, refused by name, read and drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lns
import lns.exact
from lns.api.files import placed_as_clues
from lns.exact.region.resolve import resolve
from lns.exact.registry import SOLVERS
from lns.exact.sat.encodings import encode
from lns.exact.trace import trace
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import parse, render
from lns.instances.piece_set import set_sha256, translate
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.exact.brute import TooMany, count_solutions
from tests.exact.counting import proven
from tests.fuzz_exact import others
from tests.instances.small_puzzles import of_any_rules, with_copies

QUADS = np.array([[1, 1, 1, 2], [1, 2, 2, 1], [2, 1, 2, 2]])


def small(copies: tuple[int, ...] = (0, 2, 1), **rules: object) -> Puzzle:
    return Puzzle(QUADS, 2, 2, framed=False, copies=copies, **rules)


def test_every_solver_that_takes_them_counts_what_brute_force_counts() -> None:
    pytest.importorskip("pysat")
    asked = solvable = seed = 0
    while asked < 30:
        seed += 1
        puzzle = with_copies(of_any_rules(seed, most=9, unusual=0.4)[0], seed)
        try:
            expected = count_solutions(puzzle, 20_000)
        except TooMany:
            continue
        if not puzzle.copies or expected > 1000:
            continue
        asked, solvable = asked + 1, solvable + (expected > 0)
        counts = {name: count() for name, count in others(puzzle, expected).items()}
        assert len(counts) >= 4 and set(counts.values()) == {expected}, (seed, expected, counts)
    assert solvable > 20


def test_the_tiles_of_jeandel_and_rao_fill_a_square() -> None:
    """An aperiodic set of 11 tiles (arXiv:1506.06492): right, top, left, bottom."""
    tiles = ["2421", "2220", "1131", "1232", "3133", "0131", "0001", "3102", "0212", "1214", "3312"]
    quads = np.array([[1 + int(tile[side]) for side in (1, 0, 3, 2)] for tile in tiles])
    five, eight = (Puzzle(quads, side, side, framed=False, turns=False, copies=(0,) * 11) for side in (5, 8))
    assert {proven(five, solver) for solver in ("rowscan", "dlx", "xcc:counted")} == {9172}
    pytest.importorskip("pysat")
    board = lns.exact.solve(eight, "sat:half-2").board
    assert board is not None and verify(eight, board).complete


def test_a_board_begun_with_is_finished() -> None:
    puzzle, solution = lns.generate("wang", width=4, colours=2, seed=4)
    half = Board(np.where(np.arange(16) < 8, solution.placements, -1), 4, 4)
    begun = placed_as_clues(puzzle, half)
    assert len(begun.clues) == 8 > len({clue.piece for clue in begun.clues})
    assert placed_as_clues(begun, Board.empty(puzzle)) == begun
    for solver in ("rowscan", "dlx", "auto"):
        assert lns.exact.count(begun, solver).solutions == count_solutions(begun) > 0
    for solver in ("rowscan", "dlx"):
        assert trace(small(), solver).steps[-1].outcome == "solution"


def test_the_verifier_counts_the_copies() -> None:
    puzzle = small()
    often = verify(puzzle, Board(np.array([4, 4, 4, 0]), 2, 2))
    assert often.violations == (
        "piece 2 is placed more often than its 2 copies allow: row 0, column 0 (cell 0, from 0) and row 1, column 0 "
        "(cell 2, from 0)",
    )
    assert verify(puzzle, Board(np.array([8, 8, 0, 0]), 2, 2)).violations[0].startswith("piece 3 is placed twice: ")
    assert verify(puzzle, Board(np.array([0, 0, 0, 0]), 2, 2)).complete
    assert verify(puzzle, Board(np.array([0, 0, 12, -1]), 2, 2)).violations == (
        "row 1, column 0 (cell 2, from 0) holds piece 4; the puzzle has 3",
    )


@pytest.mark.parametrize(
    "made, sentence",
    [
        (lambda: small((1, 2)), "2 numbers of copies for 3 pieces; expected one for each"),
        (lambda: small((1, 1, -1)), "a number of copies is -1; expected 0 (any number) to 4096"),
        (lambda: small((1, 1, 1)), "the pieces do not fit a board of 2 x 2: 3 inner pieces where the board needs 4"),
        (lambda: small((2, 2, 2), clues=(Clue(0, 0, 0), Clue(1, 0, 1), Clue(2, 0, 0))),
         "more clues place piece 1 (from 1) than it has copies"),
        (lambda: small((2, 1, 1), clues=tuple(Clue(cell, 1, 0) for cell in (0, 3))),
         "more clues place piece 2 (from 1) than it has copies"),
        (lambda: small((1, 1, 2), clues=(Clue(0, 3, 0),)), "a clue names piece 4; expected 1 to 3"),
        (lambda: lns.generate("wang", width=3, mates=1),
         "mates for the tiles of wang-3x3-c3-s0, of which any number may be used; expected none"),
        (lambda: Puzzle(QUADS[[0, 0]], 2, 2, framed=False, copies=(0, 1)),
         "pieces 1 and 2 are the same; expected one with more copies"),
        (lambda: Puzzle(QUADS, 2, 2, framed=False, holes=(3,), copies=(0, 0, 0)),
         "a board has holes and pieces that may be left over; expected copies or holes"),
    ],
)  # fmt: skip
def test_copies_that_cannot_be_are_refused(made, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        made()
    assert str(error.value) == sentence


def test_copies_of_which_none_is_left_over_are_pieces_of_their_own() -> None:
    puzzle = small((1, 1, 2), clues=(Clue(3, 2, 1), Clue(0, 2, 0)))
    assert puzzle.copies == () and puzzle.pieces.tolist() == QUADS[[0, 1, 2, 2]].tolist()
    assert puzzle.clues == (Clue(0, 2, 0), Clue(3, 3, 1)) and puzzle.rules == ("no frame",)
    assert lns.exact.count(puzzle, "colorpairs").solutions == count_solutions(puzzle)


def test_what_does_not_take_copies_says_so(tmp_path: Path) -> None:
    puzzle, corners = small(), Puzzle([[0, 1, 1, 0]], 2, 2, copies=(0,))
    board = lns.exact.solve(puzzle, "rowscan").board
    refused = [name for name, entry in SOLVERS.items() if "copies" in entry.refuses]
    assert {*SOLVERS} - {*refused} == {
        "auto", "rowscan", "dlx", "dlx:binary", "xcc:counted",
        *(f"sat:{name}{suffix}" for name in ("full-4", "full-2", "half-3", "half-2") for suffix in ("", "-pairs")),
    }  # fmt: skip
    for name in refused:
        with pytest.raises(InputError, match=r"takes no puzzle with .*copies; expected another solver, such as row"):
            lns.exact.solve(puzzle, name)
    expected = "takes no puzzle whose pieces have copies; expected `lns exact solve` or `count`$"
    asked: list[tuple[Callable[[], object], str]] = [
        (lambda: encode("triangles", puzzle), "takes no puzzle with copies"),
        (lambda: trace(puzzle, "colorpairs"), "takes no puzzle with copies"),
        *((lambda engine=engine: lns.solve(puzzle, time=1, engine=engine, progress=None), f"^solve {expected}")
          for engine in ("auto", "lns", "tabu", "construct")),
        (lambda: lns.polish(puzzle, board, time=1), f"^polish {expected}"),
        (lambda: lns.improve(puzzle, board), f"^improve {expected}"),
        (lambda: resolve(puzzle, board, [0, 1]), f"^a search of a region {expected}"),
        (lambda: lns.tune(puzzle, study=tmp_path / "study", trials=1), f"^tune {expected}"),
        (lambda: lns.estimate(corners, time=1), "which takes no puzzle with copies"),
    ]  # fmt: skip
    for ask, sentence in asked:
        with pytest.raises(InputError, match=sentence):
            ask()
    assert lns.count(corners, "rowscan").solutions == count_solutions(corners) == 1


def test_files_keep_them(tmp_path: Path) -> None:
    long = Puzzle(QUADS, 3, 1, copies=(0, 5, 0), framed=False)
    for puzzle in (small(), small((0, 0, 0), turns=False, clues=(Clue(1, 2, 0),)), long):
        lns.save(puzzle, tmp_path / "p.json")
        again = lns.load_puzzle(tmp_path / "p.json")
        assert again == puzzle and again.copies == puzzle.copies
        found = lns.exact.solve(puzzle, "rowscan").board
        if found is not None:
            for form in ("best", "url", "solution"):
                (tmp_path / form).write_text(render(form, puzzle, found, instance=str(tmp_path / "p.json"))[0])
                loaded = lns.load_board(tmp_path / form, puzzle)
                assert loaded.colours(puzzle).tolist() == found.colours(puzzle).tolist()
    with pytest.raises(InputError, match="format quads cannot say that a puzzle has no frame and copies; expected js"):
        render("quads", small(), None)
    with pytest.raises(InputError, match="carries no copies"):
        render("tetravex", small((0, 0, 0), turns=False), None)


def test_text_says_any_number_of_each() -> None:
    for puzzle in (small((0, 0, 0)), lns.generate("wang", width=4, seed=2).puzzle):
        text, _ = render("pieces", puzzle, None)
        assert ", any number of each\n" in text
        assert parse(text, name=puzzle.name).puzzle == puzzle
    with pytest.raises(InputError, match="format pieces cannot say no frame and copies; expected json"):
        render("pieces", small(), None)


def test_planted_wang_tiles_fill_the_board() -> None:
    for seed, (width, height, colours) in enumerate([(1, 1, 1), (5, 3, 2), (8, 8, 4)]):
        puzzle, solution = lns.generate("wang", width=width, height=height, colours=colours, seed=seed)
        assert puzzle.copies == (0,) * len(puzzle.pieces) and not puzzle.framed and not puzzle.turns
        assert verify(puzzle, solution).complete and verify(puzzle, solution).score == puzzle.max_score
        assert puzzle == lns.generate("wang", width=width, height=height, colours=colours, seed=seed).puzzle


def test_the_set_of_pieces_knows_them() -> None:
    puzzle = small()
    assert set_sha256(puzzle) != set_sha256(small((2, 0, 1)))
    listed = Puzzle(QUADS[[2, 0, 1]], 2, 2, framed=False, copies=(1, 0, 2))
    board = lns.exact.solve(puzzle, "rowscan").board
    assert board is not None and set_sha256(listed) == set_sha256(puzzle)
    assert verify(listed, translate(board, puzzle, listed)).complete
