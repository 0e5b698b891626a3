"""A first board where no beam can make one: the best board of a short tabu walk from a random board."""

from __future__ import annotations

from instances.board import Board
from instances.puzzle import Puzzle
from lns.assignment import matched_edges
from lns.params import TabuParams
from lns.rng import RandomState, generator
from lns.tabu.search import MAX_CELLS, TabuSearch, random_board

STEPS_OF_A_CELL = 20


def walked_board(puzzle: Puzzle, random: RandomState, params: TabuParams) -> tuple[Board, int, int]:
    """A full legal board and its score.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of any rules.
    random : uint64 array (4,)
        Random state, which is advanced.
    params : TabuParams
        Parameters of the walk.

    Returns
    -------
    board : Board
        Of more than 1024 cells a random board, as tabu search takes no more.
    score : int
        Its matched inner edges.
    moves : int
        Moves evaluated; 0 of a random board.
    """
    if puzzle.cells > MAX_CELLS:
        board = random_board(puzzle, generator(random))
        return board, matched_edges(puzzle, board.placements), 0
    tabu = TabuSearch(puzzle, random, params.tenure)
    tabu.start()
    tabu.run(STEPS_OF_A_CELL * puzzle.piece_count)
    return tabu.best, tabu.best_score, tabu.moves_evaluated
