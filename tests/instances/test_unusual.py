"""Puzzles without frame, without turns and with holes: what a puzzle, a board, a score and a file of them are."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import parse, render
from lns.instances.generate import KINDS, Planted, family, other_rules
from lns.instances.puzzle import GREY, Clue, Puzzle
from lns.instances.verify import verify

SQUARE = [[1, 2, 3, 4], [2, 3, 4, 5], [1, 2, 4, 5], [2, 4, 1, 5]]
CORNERS = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1]]


def some(kind: str, seed: int) -> Planted:
    size = {"triangle": "3", "diamond": "3"}.get(kind, "3x4")
    return family(f"{kind}:{size}")(seed)


def test_a_usual_puzzle_keeps_its_hash_and_has_no_rules_of_its_own() -> None:
    puzzle = family("uniform:3x3:3")(1).puzzle
    assert puzzle.sha256 == Puzzle(puzzle.pieces, 3, 3, name="other").sha256
    assert puzzle.sha256 == "1c4156fb8060f0fa78c700388f36c5cd96b0fcd58eff2470fb2e28fc0e4b5aeb"
    assert puzzle.rules == () and puzzle.unusual_fields() == {}


def test_rules_are_part_of_the_identity() -> None:
    turned, unturned = Puzzle(SQUARE, 2, 2, framed=False), Puzzle(SQUARE, 2, 2, framed=False, turns=False)
    assert turned != unturned
    assert unturned.rules == ("no frame", "no turns") and "no turns" in repr(unturned)


def test_without_frame_no_side_is_grey_and_every_side_of_the_edge_is_free() -> None:
    puzzle = Puzzle(SQUARE, 2, 2, framed=False)
    assert puzzle.grey_sides(0) == (False,) * 4 and puzzle.rim_sides(0) == (True, False, False, True)
    assert puzzle.max_score == 4 and puzzle.fits(0).all()


def test_without_turns_grey_sides_are_compared_as_they_are() -> None:
    assert Puzzle(CORNERS, 2, 2, turns=False).fits(0).tolist() == [True] + 15 * [False]


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
    placements = solution.without_blanks(puzzle).placements.copy()
    placements[[0, 1]] = placements[1], -1
    problems = verify(puzzle, Board(placements, 3, 3)).problems
    assert problems[0].startswith("row 0, column 0 (cell 0, from 0) is a hole, and holds piece ")
    with pytest.raises(InputError, match=r"names row 0, column 0 [(]cell 0, from 0[)], a hole"):
        puzzle.with_clues([Clue(0, 0, 0)])


@pytest.mark.parametrize(
    ("pieces", "shape", "rules", "words"),
    [
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": (9,)}, "a hole names cell 9; expected 0 to 8"),
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": (4, 4)}, "two holes name row 1"),
        ([[0, 0, 0, 0]] * 9, (3, 3), {"holes": range(9)}, "every cell"),
        ([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]], (3, 1), {"holes": (1,)}, "3 x 1 with 1 holes; expected 2"),
        (
            [SQUARE[0], [2, 0, 4, 5], *SQUARE[2:]],
            (2, 2),
            {"framed": False},
            "piece 2 has the colours 2 0 4 5; expected",
        ),
        (SQUARE, (2, 2), {}, "where the board needs"),
        ([*CORNERS[:3], CORNERS[0]], (2, 2), {"turns": False}, "2 pieces that are grey up, left only where"),
    ],
)
def test_impossible_puzzles_are_refused(
    pieces: list[list[int]], shape: tuple[int, int], rules: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Puzzle(pieces, *shape, **rules)


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(KINDS[3:]), seed=st.integers(0, 1000))
def test_planted_boards_are_perfect_and_come_back_from_files(kind: str, seed: int) -> None:
    puzzle, solution = some(kind, seed).puzzle, some(kind, seed).solution
    found = verify(puzzle, solution)
    assert found.complete and found.score == found.max_score == puzzle.max_score
    assert parse(render("json", puzzle, None)[0]).puzzle == puzzle
    for form in ("best", "solution"):
        assert parse(render(form, puzzle, solution)[0], puzzle=puzzle).board == solution, form
    shown = parse(render("url", puzzle, solution)[0], puzzle=puzzle).board  # a symmetric piece may come back turned
    assert shown is not None and (shown.colours(puzzle) == solution.colours(puzzle)).all()


def test_grey_shows_only_towards_holes_without_frame() -> None:
    puzzle = Puzzle([[1, 0, 1, 1], [1, 1, 1, 0]], 3, 1, holes=(1,), framed=False)
    assert puzzle.grey_sides(0) == (False, True, False, False) and GREY not in puzzle.pieces[0, [0, 2, 3]]
    assert puzzle.max_score == 0 and verify(puzzle, Board([0, -1, 4], 3, 1)).complete
