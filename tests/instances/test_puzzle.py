"""The puzzle: representation, identity, checks and unusual rules; the verifier against a count on arrays."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.formats import parse, render
from lns.instances.generate import KINDS, family, other_rules
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, Puzzle, rotate
from lns.instances.verify import verify
from tests.instances.small_puzzles import boards, planted

SQUARE = [[1, 2, 3, 4], [2, 3, 4, 5], [1, 2, 4, 5], [2, 4, 1, 5]]
CORNERS = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1]]


def test_rotation_is_clockwise() -> None:
    assert rotate((1, 2, 3, 4), 1) == (4, 1, 2, 3)  # what was on the left is now up
    assert rotate((1, 2, 3, 4), 4) == (1, 2, 3, 4)


def test_neighbours_lie_on_the_board_and_see_each_other() -> None:
    puzzle, _ = planted(1, 3, 4, 3)
    assert puzzle.neighbours(0) == [(RIGHT, 1), (DOWN, 3)] and puzzle.neighbours(11) == [(UP, 8), (LEFT, 10)]
    assert puzzle.neighbours(4) == [(UP, 1), (RIGHT, 5), (DOWN, 7), (LEFT, 3)]
    column, _ = planted(1, 1, 4, 3)
    assert column.neighbours(1) == [(UP, 0), (DOWN, 2)]


def test_identity_is_shape_pieces_clues_and_rules_not_the_name() -> None:
    puzzle, board = planted(1, 3, 4, 3)
    named = Puzzle(puzzle.pieces, 3, 4, name="another")
    assert puzzle == named and hash(puzzle) == hash(named) and puzzle.sha256 == named.sha256
    clued = puzzle.with_clues([Clue(5, *divmod(int(board.placements[5]), 4))])
    assert clued != puzzle and clued.with_clues([]) == puzzle
    assert Puzzle(np.roll(puzzle.pieces, 1, axis=1), 3, 4) != puzzle
    unframed, unturned = Puzzle(SQUARE, 2, 2, framed=False), Puzzle(SQUARE, 2, 2, framed=False, turns=False)
    assert unframed != unturned and unturned.rules == ("no frame", "no turns") and "no turns" in repr(unturned)
    usual = family("uniform:3x3:3")(1).puzzle
    assert usual.sha256 == "1c4156fb8060f0fa78c700388f36c5cd96b0fcd58eff2470fb2e28fc0e4b5aeb"
    assert usual.rules == () and usual.unusual_fields() == {}


def test_grey_and_free_sides_of_unusual_boards() -> None:
    unframed = Puzzle(SQUARE, 2, 2, framed=False)
    assert unframed.grey_sides(0) == (False,) * 4 and unframed.rim_sides(0) == (True, False, False, True)
    assert unframed.max_score == 4 and unframed.fits(0).all()
    assert Puzzle(CORNERS, 2, 2, turns=False).fits(0).tolist() == [True] + 15 * [False]
    holed = Puzzle([[1, 0, 1, 1], [1, 1, 1, 0]], 3, 1, holes=(1,), framed=False)
    assert holed.grey_sides(0) == (False, True, False, False) and GREY not in holed.pieces[0, [0, 2, 3]]
    assert holed.max_score == 0 and verify(holed, Board([0, -1, 4], 3, 1)).complete


def test_a_puzzle_cannot_be_changed() -> None:
    puzzle, board = planted(1, 3, 3, 3)
    for array in (puzzle.pieces, puzzle.oriented, board.placements):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("pieces", "shape", "rules", "words"),
    [
        (CORNERS, (0, 0), {}, "a board of 0 x 0"),
        (CORNERS, (300, 300), {}, "expected 1 to 4096 cells"),
        (CORNERS, (3, 2), {}, "4 pieces"),
        (CORNERS, (4, 1), {}, "do not fit a board of 4 x 1"),
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": (9,)}, "a hole names cell 9; expected 0 to 8"),
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": (4, 4)}, "two holes name row 1"),
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": range(9)}, "every cell"),
        ([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]], (3, 1), {"holes": (1,)}, "3 x 1 with 1 holes; expected 2"),
        ([SQUARE[0], [2, 0, 4, 5], *SQUARE[2:]], (2, 2), {"framed": False}, "piece 2 has the colours 2 0 4 5; "),
        (SQUARE, (2, 2), {}, "4 inner pieces where the board needs 0, 0 corner pieces .* needs 4"),
        ([*CORNERS[:3], CORNERS[0]], (2, 2), {"turns": False}, "2 pieces that are grey up, left only where"),
    ],
)
def test_impossible_puzzles_are_refused(
    pieces: list[list[int]], shape: tuple[int, int], rules: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Puzzle(pieces, *shape, **rules)


def test_wrong_clues_are_refused() -> None:
    puzzle, board = planted(2, 4, 4, 3)
    good = [Clue(cell, *pair) for cell, pair in enumerate(board.pairs()) if pair]
    assert puzzle.with_clues(good).clues == tuple(good)
    corner, turned = good[0].piece, (good[0].rotation + 1) % 4
    for clues, says in [
        ([Clue(16, corner, 0)], "cell 16"),
        ([Clue(0, 16, 0)], "piece 17"),
        ([Clue(0, 0, 4)], "rotation 5"),
        ([good[5], replace(good[6], cell=5)], "two clues for row 1, column 1"),
        ([good[5], replace(good[5], cell=6)], "two clues place piece"),
        ([replace(good[0], cell=5)], "expected grey"),
        ([Clue(0, corner, turned)], "expected grey"),
    ]:
        with pytest.raises(InputError, match=says):
            puzzle.with_clues(clues)


def test_colours_are_renumbered_without_gaps_and_boards_stay_what_they_are():
    puzzle, solution = planted(5, 5, 4, 5, 1)
    assert puzzle.renumbered() is puzzle
    shifted = Puzzle(np.where(puzzle.pieces > 0, puzzle.pieces * 7 + 600, 0), 5, 4, puzzle.clues, "far")
    dense = shifted.renumbered()
    assert np.array_equal(dense.pieces, puzzle.pieces) and dense.clues == shifted.clues and dense.name == "far"
    assert verify(shifted, solution) == verify(dense, solution)
    squares = Puzzle([[1, 2, 1, 2]] * 4, 2, 2, framed=False, mates=((5, 6),), rim=5).renumbered()
    assert (squares.rim, squares.mates) == (3, ((3, 4),))  # colours of no piece


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_pairs_and_back(case: tuple[Puzzle, Board]) -> None:
    _, board = case
    again = Board.from_pairs(board.pairs(), board.width, board.height)
    assert again == board and hash(again) == hash(board)
    assert board.placed == sum(pair is not None for pair in board.pairs())


def test_a_board_has_the_cells_of_its_shape_and_any_negative_number_is_empty() -> None:
    puzzle, _ = planted(1, 3, 2, 3)
    assert Board(np.full(6, -7), 3, 2) == Board.empty(puzzle) and Board.empty(puzzle).placed == 0
    assert set(Board.empty(puzzle).placements.tolist()) == {EMPTY}
    with pytest.raises(InputError, match="5 placements for a board of 3 x 2; expected 6"):
        Board(np.zeros(5), 3, 2)
    assert Board(np.arange(6), 3, 2) != Board(np.arange(6), 2, 3)


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_verify_agrees_with_a_count_on_arrays(case: tuple[Puzzle, Board]) -> None:
    puzzle, board = case
    result = verify(puzzle, board)
    quads = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)
    filled = quads[:, :, 0] >= 0
    joints = [
        (quads[:, :-1, 1], quads[:, 1:, 3], filled[:, :-1] & filled[:, 1:]),
        (quads[:-1, :, 2], quads[1:, :, 0], filled[:-1] & filled[1:]),
    ]
    score = sum(int(((a == b) & (a > 0) & both).sum()) for a, b, both in joints)
    assert result.score == score
    assert len(result.mismatches) == sum(int(both.sum()) for *_, both in joints) - score
    rim = np.zeros((puzzle.height, puzzle.width, 4), dtype=bool)
    rim[0, :, 0] = rim[:, -1, 1] = rim[-1, :, 2] = rim[:, 0, 3] = True
    pieces = [pair[0] for pair in board.pairs() if pair]
    clues = all(
        (quads.reshape(-1, 4)[clue.cell] == puzzle.oriented[4 * clue.piece + clue.rotation]).all()
        for clue in puzzle.clues
    )
    no_colour_on_rim_nor_grey_inside = bool((((quads == 0) == rim) | ~filled[:, :, None]).all())
    assert result.valid == (no_colour_on_rim_nor_grey_inside and clues and len(set(pieces)) == len(pieces))
    assert result.placed == len(pieces)


def test_a_repeated_piece_and_grey_inside_are_reported() -> None:
    puzzle, board = planted(3, 4, 4, 4)
    result = verify(puzzle, board.with_pieces(5, board.placements[0]))
    where = "row 0, column 0 (cell 0, from 0) and row 1, column 1 (cell 5, from 0)"
    assert f"piece {int(board.placements[0]) // 4 + 1} is placed twice: {where}" in result.problems
    assert sum("is grey inside the board" in problem for problem in result.problems) == 2
    assert not result.valid


def test_a_missing_clue_is_a_problem_and_a_wrong_piece_a_violation() -> None:
    puzzle, board = planted(4, 4, 4, 4, clues=1)
    [clue] = puzzle.clues
    missing = verify(puzzle, board.with_pieces(clue.cell, -1))
    assert "is missing" in missing.problems[0] and len(missing.problems) == 1
    assert not missing.valid and not missing.violations, "an empty cell of a clue is a problem but no violation"
    other = (clue.cell + 1) % 16
    moved = verify(puzzle, board.with_pieces([clue.cell, other], board.placements[[other, clue.cell]]))
    assert any("is not respected" in problem for problem in moved.violations) and moved.violations == moved.problems


def test_a_piece_that_does_not_exist_is_reported_and_another_shape_refused() -> None:
    puzzle, board = planted(5, 3, 3, 4)
    assert "holds piece 101; the puzzle has 9" in verify(puzzle, board.with_pieces(4, 400)).problems[0]
    with pytest.raises(InputError, match="the board is 9 x 1"):
        verify(puzzle, Board(board.placements, 9, 1))


def test_a_turned_piece_breaks_a_rule_unless_it_looks_unturned() -> None:
    quads = [[1, 2, 3, 4], [1, 2, 1, 2]]
    puzzle = Puzzle(quads, 2, 1, framed=False, turns=False)
    assert verify(puzzle, Board([0, 4], 2, 1)).valid and verify(puzzle, Board([0, 6], 2, 1)).valid
    (problem,) = verify(puzzle, Board([1, 4], 2, 1)).problems
    assert problem == "row 0, column 0 (cell 0, from 0): piece 1 is turned, which this puzzle forbids"
    with pytest.raises(InputError, match="a clue has rotation 2; expected 1, as pieces are not turned"):
        puzzle.with_clues([Clue(0, 0, 1)])


@pytest.mark.parametrize("side", [1, 2, 3, 4, 11])
def test_triangles_and_diamonds_have_the_cells_of_the_paper(side: int) -> None:
    three, four = (other_rules(kind, side, side, 3, 1).puzzle for kind in ("triangle", "diamond"))
    rows = Counter(cell // three.width for cell in range(three.cells) if cell not in three.holes)
    assert three.piece_count == side**2 and [rows[row] for row in range(side)] == [2 * row + 1 for row in range(side)]
    assert four.piece_count == side**2 + (side - 1) ** 2


def test_a_board_with_holes_counts_only_seams_between_its_cells() -> None:
    made = other_rules("diamond", 2, 2, 2, 3)
    puzzle, solution = made.puzzle, made.solution
    assert puzzle.max_score == 4 and puzzle.holes == (0, 2, 6, 8)
    found = verify(puzzle, solution)
    assert (found.score, found.placed, found.cells, found.complete) == (4, 5, 5, True)
    assert verify(puzzle, solution.without_blanks(puzzle)) == found
    assert [puzzle.grey_sides(cell) for cell in (1, 4)] == [(True, True, False, True), (False,) * 4]
    assert puzzle.neighbours(1) == [(2, 4)] and puzzle.neighbours(0) == []
    moved = solution.without_blanks(puzzle).with_pieces([0, 1], [solution.placements[1], -1])
    problems = verify(puzzle, moved).problems
    assert problems[0].startswith("row 0, column 0 (cell 0, from 0) is a hole, and holds piece ")
    with pytest.raises(InputError, match=r"names row 0, column 0 [(]cell 0, from 0[)], a hole"):
        puzzle.with_clues([Clue(0, 0, 0)])


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(KINDS[3:]), seed=st.integers(0, 1000))
def test_planted_boards_are_perfect_and_come_back_from_files(kind: str, seed: int) -> None:
    puzzle, solution = family(f"{kind}:{'3' if kind in ('triangle', 'diamond') else '3x4'}")(seed)
    found = verify(puzzle, solution)
    assert found.complete and found.score == found.max_score == puzzle.max_score
    assert parse(render("json", puzzle, None)[0]).puzzle == puzzle
    for form in ("best", "solution"):
        assert parse(render(form, puzzle, solution)[0], puzzle=puzzle).board == solution, form
    shown = parse(render("url", puzzle, solution)[0], puzzle=puzzle).board  # a symmetric piece may come back turned
    assert shown is not None and (shown.colours(puzzle) == solution.colours(puzzle)).all()
