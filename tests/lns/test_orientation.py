"""Boards are filled from their best side; to the outside nothing is turned."""

import pytest

from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.engines import make_engine
from lns.instances.formats import load_puzzle
from lns.instances.generate import family
from lns.instances.symmetry import View, board_from_view, board_in_view, puzzle_in_view, rotate_board, rotate_puzzle
from lns.instances.verify import verify
from lns.orientation import Orientation
from lns.params import Params, from_dict
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.construct_parts import WHOLE_TREE, clues_of, schedule_of, standing
from tests.lns.loop_parts import of_rules, steps

QUICK = from_dict({"construct": {"population": 300}, "engine": {"step_nodes": 200_000}})


def with_clue(puzzle, solution, cell):
    return puzzle.with_clues(clues_of(solution, [cell]))


@pytest.mark.parametrize(
    ("width", "height", "clue", "turns"),
    [
        # without a clue rows are short, and as a quarter turn leads to the same boards, all islands turn it alike
        (5, 5, None, [0, 0, 0, 0]), (4, 6, None, [0]), (6, 4, None, [1]), (9, 1, None, [1]), (1, 9, None, [0]),
        (1, 1, None, [0]),
        # a clue is met early; a column of the right side becomes the upper row; rows stay short
        (5, 5, (0, 1), [0]), (5, 5, (4, 3), [2]), (5, 5, (1, 4), [3]), (5, 5, (3, 0), [1]), (4, 6, (5, 0), [2]),
        (6, 4, (0, 5), [3]),
        # islands turn the board their own way, if it is nearly as good
        (16, 16, (8, 7), [1, 2, 0, 3, 1]),  # the starter clue of Eternity II: all four are
        (16, 16, (1, 7), [0, 0, 0]),  # met late by all other turns
        (16, 16, (6, 4), [1, 0, 1]),  # met in the fifth row, or in the seventh
        (6, 10, (5, 2), [2, 0, 2]),
    ],
)  # fmt: skip
def test_the_board_is_turned_so_that_it_is_filled_well(width, height, clue, turns):
    puzzle, solution = planted(1, width, height, 6)
    puzzle = puzzle if clue is None else with_clue(puzzle, solution, clue[0] * width + clue[1])
    assert [Orientation.of_island(puzzle, island).turns for island in range(len(turns))] == turns
    assert rotate_puzzle(puzzle, turns[0]).width == min(width, height)


def test_views_are_all_good_quarter_turns_and_their_mirror_images():
    plain, solution = planted(1, 16, 16, 6)
    assert all(Orientation.of_island(plain, island).views == (View(0), View(0, True)) for island in (0, 3))
    starter = with_clue(plain, solution, 8 * 16 + 7)
    for island, turns in enumerate([1, 2, 0, 3, 1]):
        views = Orientation.of_island(starter, island).views
        assert views[0] == View(0, False) and len(set(views)) == 8
        assert [view.mirrored for view in views] == [False] * 4 + [True] * 4
        sides = {puzzle_in_view(rotate_puzzle(starter, turns), view).clues[0].cell for view in views}
        assert sides == {8 * 16 + 7, 8 * 16 + 8, 7 * 16 + 7, 7 * 16 + 8}, "the same sides for all islands"
    late = with_clue(plain, solution, 1 * 16 + 7)  # met late from the other sides
    assert Orientation.of_island(late).views == (View(0, False), View(0, True))
    tall = with_clue(*planted(1, 6, 10, 6), 5 * 6 + 2)
    assert all(
        puzzle_in_view(rotate_puzzle(tall, Orientation.of_island(tall).turns), view).width == 6
        for view in Orientation.of_island(tall).views
    )


def test_prefixes_are_partitioned_among_islands():
    plain, solution = planted(1, 16, 16, 6)
    assert [Orientation.of_island(plain, island, 3).partition for island in range(3)] == [(0, 3), (1, 3), (2, 3)]
    assert Orientation.of_island(plain, 0, 1).partition == (0, 1)
    assert Orientation.of_island(plain, 4, 2).partition == (4, 5), "an island of an earlier session with more workers"
    engine = make_engine("auto", with_clue(plain, solution, 8 * 16 + 7), QUICK, 1, 4, 6)
    assert engine.construction.partition == (4, 6) and len(engine.construction.bandit.views) == 8
    assert make_engine("construct", planted(1, 8, 8, 4)[0], QUICK, 1, 1, 2).construction.partition == (1, 2)


@pytest.mark.parametrize("engine", ["auto", "construct", "beam", "tabu", "lns"])
@pytest.mark.parametrize(
    ("width", "height", "clues", "mates"), [(7, 3, 0, False), (4, 4, 1, False), (5, 3, 3, False), (7, 4, 2, True)]
)
def test_boards_are_those_of_the_puzzle(engine, width, height, clues, mates):
    """Also what an engine makes of a board from elsewhere."""
    puzzle, solution = planted(width + clues, width, height, 4, clues)
    puzzle = with_mates(puzzle, solution, 1) if mates else puzzle
    made = steps(make_engine(engine, puzzle, QUICK, 1, 0), 20)
    best = verify(puzzle, made.best)
    assert best.valid and best.full and best.score == made.best_score
    finds = made.pop_boards()
    assert max(find.score for find in finds) == made.best_score
    assert all(verify(puzzle, find.board).valid and verify(puzzle, find.board).score == find.score for find in finds)
    other = make_engine(engine, puzzle, QUICK, 1, 0)
    other.inject_incumbent(solution, puzzle.max_score)
    assert steps(other, 1).best == solution and other.best_score == puzzle.max_score


def test_pinned_lower_rows_come_first():
    """Met at the end instead, they would hardly ever fit what was filled before."""
    puzzle, solution = family("like-e2:10")(1)
    puzzle = puzzle.with_clues(clues_of(solution, range(60, 100)))
    engine = make_engine("auto", puzzle, Params(), 1, 0)
    while engine.best_score < puzzle.max_score and engine.statistics.placements < 50_000_000:
        engine.step()
    assert engine.best_score == puzzle.max_score


@pytest.mark.parametrize("mates", [False, True])
def test_islands_with_other_turns_see_the_same_from_the_same_side(mates):
    """So that the prefixes that are dealt out among them are the same ones."""
    puzzle, solution = planted(2, 10, 10, 5)
    puzzle = with_clue(with_mates(puzzle, solution, 2, 0.3) if mates else puzzle, solution, 5 * 10 + 5)
    made = []
    for turns in range(4):
        schedule = schedule_of(comb_order(10, 10, 3), [50, 60, 70], favoured=(1,), view=View((2 - turns) % 4, True))
        built = Constructor(rotate_puzzle(puzzle, turns), WHOLE_TREE, schedule, random_state(5), (1, 2))
        built.run(50_000, puzzle.max_score)
        made.append((built.puzzle_in_view, built.plan.prefix.partition_depth, standing(built)))
    assert made[0][0] == puzzle_in_view(puzzle, View(2, True)) and made[0][1] == 16 and len(made[0][2]) > 36
    assert made[1:] == made[:1] * 3


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("text", ["mates uniform:5x4:3", "rim:5x4:3", "mates rim:3x4:4", "mates diamond:3:3"])
def test_views_keep_mates_and_rims(text, turns, mirrored):
    puzzle, solution = of_rules(text, 3)
    view = View(turns, mirrored)
    seen, board = puzzle_in_view(puzzle, view), board_in_view(solution, view)
    assert verify(seen, board.of(seen).with_blanks(seen)).score == seen.max_score == puzzle.max_score
    assert (seen.mates, seen.rim) == (puzzle.mates, puzzle.rim) and board_from_view(board, view) == solution


def test_the_cells_of_an_orientation_are_those_of_the_given_puzzle() -> None:
    puzzle, solution = planted(1, 6, 4, 5)
    orientation = Orientation.of_island(puzzle)
    assert orientation.turns == 1 and sorted(orientation.cells.tolist()) == list(range(24))
    seen = rotate_board(solution, 1).placements >> 2
    assert (seen == (solution.placements >> 2)[orientation.cells]).all()
    assert orientation.from_engine(rotate_board(solution, 1)) == solution


@pytest.mark.parametrize("engine", ["construct", "beam"])
def test_a_puzzle_and_the_same_puzzle_turned_are_searched_alike(engine):
    """What is turned is only the point of view: the boards of both are the same, turned."""
    wide = rotate_puzzle(load_puzzle("like-e2-12x20"), 1)
    turns = Orientation.of_island(wide).turns
    one, other = (steps(make_engine(engine, each, QUICK, 1, 0), 3) for each in (wide, rotate_puzzle(wide, turns)))
    assert turns == 1 and rotate_board(one.best, turns) == other.best
