"""From an instance to a schedule: which colours are favoured, what schedules can reach, where the endgame begins."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from lns.construct.candidates import BREAK_COST, MAX_BREAKS
from lns.construct.schedule import (
    ChildMeans,
    Quota,
    ScheduleForecast,
    best_schedule,
    break_schedule,
    cell_order,
    colour_classes,
    favoured_colours,
    initial_forecast,
    max_mismatches,
    measure_children,
    right_columns,
)
from lns.engines import make_engine
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2
from lns.instances.puzzle import Clue
from lns.params import ConstructParams, EngineParams, Params
from lns.rng import random_state
from tests.instances.small_puzzles import planted


def test_favoured_colours_are_those_of_the_fewest_pieces():
    puzzle = load_puzzle("like-e2-8x8")
    outer, inner = colour_classes(puzzle)
    for sizes in ((0, 0), (1, 2), (2, 1), (9, 2)):
        sets = product(combinations(outer, min(sizes[0], len(outer))), combinations(inner, sizes[1]))
        carried = {a + b: int(np.isin(puzzle.pieces, a + b).any(axis=1).sum()) for a, b in sets}
        assert favoured_colours(puzzle, *sizes) == min(carried, key=lambda colours: (carried[colours], colours))


@pytest.mark.parametrize(
    "size, colours, wanted, favoured",
    [
        ((8, 8), 8, 2, 2), ((16, 16), 17, 1, 1), ((16, 16), 17, 2, 2), ((16, 16), 17, 8, 8), ((12, 20), 17, 2, 2),
        ((18, 18), 18, 2, 3), ((20, 20), 20, 2, 3), ((20, 20), 20, 0, 0), ((18, 20), 20, 2, 3), ((24, 24), 24, 2, 5),
        ((24, 24), 12, 2, 3), ((24, 24), 8, 2, 2), ((24, 24), 8, 3, 3), ((40, 40), 51, 2, 7),
    ],
)  # fmt: skip
def test_boards_larger_than_16x16_favour_more_inner_colours_in_proportion(size, colours, wanted, favoured):
    puzzle = like_e2(*size, inner_colours=colours, seed=1).puzzle
    inner = set(colour_classes(puzzle)[1])
    chosen = favoured_colours(puzzle, 1, wanted)
    assert len(inner & set(chosen)) == favoured and len(chosen) == favoured + 1
    if favoured > wanted:  # more than it was asked for: they have a quota
        assert np.isin(puzzle.pieces, chosen).sum() < BREAK_COST


def test_more_breaks_than_any_schedule_can_spend_are_cut_to_the_most_possible():
    puzzle, params = load_puzzle("like-e2-10x10"), ConstructParams(population=300, quota_scale=0.0)
    fit = measure_children(puzzle, cell_order(puzzle, params), params.population, Quota(), random_state(1))
    assert fit is not None
    most = max_mismatches(puzzle, params)
    assert most == MAX_BREAKS - 1 + params.tail
    assert initial_forecast(fit, puzzle, params).mismatches < 20
    never = initial_forecast(replace(fit, exact=fit.exact / 1e6, breaking=fit.breaking / 1e6), puzzle, params)
    assert never.mismatches == most
    rates = [best_schedule(fit, puzzle, params, mismatches).rate for mismatches in (most, most + 1, puzzle.max_score)]
    assert rates[0] == rates[1] == rates[2] > 0


def test_the_band_is_filled_from_both_ends_where_clues_lie_in_both_halves_of_it():
    params, five = ConstructParams(), load_puzzle("like-e2-16x16-clue5")
    assert right_columns(five, params) == 3
    first = [divmod(int(cell), 16) for cell in cell_order(five, params, 3)[192:208]]
    assert first == [(row, column) for column in (15, 14, 13, 0) for row in range(12, 16)]
    low = [clue for clue in five.clues if clue.cell >= 192]
    for clues in ([], low[:1], low[1:]):
        assert right_columns(five.with_clues(clues), params) == 0
    assert right_columns(five, replace(params, tail=3)) == 0, "the column where both parts meet is the tail's"
    assert right_columns(five, replace(params, column_major_fraction=5 / 16)) == 0, "of 80 cells the endgame takes 64"
    assert right_columns(replace(five, mates=((6, 7),)), params) == 0
    assert right_columns(five, replace(params, column_major_skip=13)) == 0, "the column where both meet is the last"
    assert right_columns(five, replace(params, column_major_skip=12)) == 3


@pytest.mark.parametrize(("fraction", "skip", "columns"), [(0.25, 0, 2), (0.25, 5, 2), (0.25, 6, 0), (0.5, 0, 0)])
def test_boards_are_as_good_as_the_construction_counts_them_from_both_ends(fraction, skip, columns):
    puzzle, board = planted(5, 8, 8, 5)
    puzzle = puzzle.with_clues(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in (9, 14, 49, 54))
    construct = ConstructParams(column_major_fraction=fraction, column_major_skip=skip, population=200)
    params = Params(construct=construct, engine=EngineParams(search_floor=95))
    search = make_engine("construct", puzzle, params, 1, 0)
    assert search.construction is not None
    turned = search.construction.orientation.puzzle
    assert right_columns(turned, params.construct) == columns, "no quota may hold in half of the rows"
    for _ in range(25):  # each board is verified, with the score that the construction counts
        search.step(wanted=112)
    assert search.boards > 20


def fit_of(children: dict[int, float], cells: int) -> ChildMeans:
    """One exact child everywhere, other numbers from some depths on; few break."""
    exact = np.ones(cells)
    for depth, number in children.items():
        exact[depth:] = number
    return ChildMeans(exact, np.full(cells, 0.1), Quota())


@pytest.mark.parametrize(
    ("children", "first_break", "begins"),
    [
        ({}, 120, 80),  # where it can begin first, if few prefixes come there
        ({70: 3.0, 80: 0.5}, 120, 120),  # else where they are fewest, before the first break
        ({70: 3.0, 80: 0.5}, 90, 90),
        ({70: 3.0, 80: 0.5, 85: 2.0, 90: 0.9}, 120, 85),
        ({70: 3.0, 80: 0.5}, 75, 80),  # lists with breaks are long
        ({70: 3.0}, 120, 80),  # they only get more
        ({0: 1e6, 70: 3e6, 80: 5e5}, 120, 80),  # more than any number
        ({0: 1e6, 80: 0.5}, 120, 120),
    ],
)
def test_the_endgame_begins_where_few_prefixes_come(children, first_break, begins):
    puzzle = load_puzzle("like-e2-12x12")
    aim = ScheduleForecast(2, np.array([first_break, 130]), 0.0)
    schedule = break_schedule(
        fit_of(children, puzzle.cells), aim, puzzle, ConstructParams(), cell_order(puzzle, ConstructParams())
    )
    assert schedule.endgame_depth == begins
