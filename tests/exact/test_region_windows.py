"""Choice of regions: windows, cells around mismatches, donors."""

import numpy as np
import pytest

from lns.exact.region.options import RegionOptions
from lns.exact.region.windows import around_mismatches, choose_donors, sweep_windows
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted


@pytest.mark.parametrize("options", [RegionOptions(), RegionOptions("dynamic")])
def test_sweep_windows_visits_all_windows_and_keeps_improvements(options: RegionOptions) -> None:
    puzzle, board = planted(4, 6, 5, 4)
    start = board.with_pieces([7, 8], board.placements[[8, 7]])
    results = list(sweep_windows(puzzle, start, 2, 3, nodes=100_000, options=options))
    assert [(window.row, window.column) for window in results] == [
        (row, column) for row in range(4) for column in range(4)
    ]
    assert results[-1].result.score == puzzle.max_score > verify(puzzle, start).score
    assert sum(window.result.improved for window in results) == 1 and all(each.result.proven for each in results)
    assert list(sweep_windows(puzzle, start, 2, 3, seconds=lambda: 0.0)) == []


def test_donors_are_apart_from_the_cells_around_mismatches() -> None:
    puzzle, board = planted(4, 9, 9, 6)
    start = board.with_pieces([30, 31], board.placements[[31, 30]])
    cells = around_mismatches(puzzle, start)
    assert {30, 31, 21, 22, 39, 40, 29, 32} <= set(cells)
    donors = choose_donors(puzzle, start, cells, 4)
    assert len(donors) == 4 and not set(donors) & set(cells)
    assert all(abs(a - b) not in (1, 9) for a in donors for b in [*donors, *cells])
    with pytest.raises(InputError, match="donors"):
        choose_donors(puzzle, start, cells, 80)


def test_donors_of_a_single_column_have_the_mismatched_colours() -> None:
    column = [(0, 1), (2, 3), (3, 3), (3, 3), (3, 1), (1, 2), (2, 0)]  # upper and lower colour; 1 meets 2 at the top
    puzzle = Puzzle(np.array([[up, 0, down, 0] for up, down in column], dtype=np.int32), 1, 7)
    assert choose_donors(puzzle, Board(np.arange(7, dtype=np.int32) * 4, 1, 7), [0, 1], 1) == [5]
