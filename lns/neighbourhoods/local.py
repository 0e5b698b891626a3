"""Small operators: an assignment, exchanges that keep the score, and a short tabu walk.

Alone they seldom gain anything on a good board. They lead from one board to others as good, on which the damage lies
elsewhere and the re-solves have new regions to work on.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.assignment import matched_edges, matching_edges, placement_matches, reassign
from lns.exact.region.windows import with_neighbours
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.neighbourhoods.move import Move, mismatched_pairs
from lns.tabu.search import MAX_CELLS, TabuSearch

ASSIGNED = 128  # cells at once, at most
EXCHANGES = 8
KICKED = 4  # random exchanges before a walk, at most
WALK = 2  # tabu moves between two looks at the board
LOOKS = 400  # at most
# what takes as long as one placement of a re-solve (`process_time`, 16x16)
PAIRS_OF_A_NODE = 1  # pieces tried on a cell by an assignment
MOVES_OF_A_NODE = round(node_equivalents.REGION_NODE / node_equivalents.TABU_MOVE)  # tabu moves evaluated
SQUARES_OF_A_NODE = 1.15  # cells x cells, for the tables of a walk
NODES_OF_AN_EXCHANGE = 14_000


def assign(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """Free many cells of which no two touch, some of them at the damage, and lay their pieces as well as can be.

    The best permutation is found (Schaus & Deville 2008, section 4); chance decides among equals.
    """
    pinned = {clue.cell for clue in puzzle.fixed}
    most = int(min(ASSIGNED, (nodes * PAIRS_OF_A_NODE) ** 0.5))
    damaged = rng.permutation(np.unique(mismatched_pairs(puzzle, board))).tolist()
    blocked: set[int] = set(pinned)
    cells: list[int] = []
    for cell in [*damaged, *rng.permutation(puzzle.cells).tolist()]:
        if cell not in blocked and len(cells) < most:
            cells.append(cell)
            blocked |= with_neighbours(puzzle, [cell])
    if not cells:
        return Move(board, matched_edges(puzzle, board.placements), 0)
    free = np.array(cells, dtype=np.int32)
    placed = reassign(puzzle, board.placements, free, rng.permutation(board.placements[free] >> 2))
    after = Board(placed, puzzle.width, puzzle.height)
    return Move(after, matched_edges(puzzle, after.placements), len(cells) ** 2 // PAIRS_OF_A_NODE)


def exchange(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """Some exchanges of two pieces that fit each other's places as well as their own, the first one at the damage."""
    placed = board.placements.copy()
    pinned = np.zeros(puzzle.cells, dtype=bool)
    pinned[[clue.cell for clue in puzzle.fixed]] = True
    made = 0
    for turn in range(max(1, min(EXCHANGES, nodes // NODES_OF_AN_EXCHANGE))):
        near = np.unique(mismatched_pairs(puzzle, board)) if turn == 0 else np.arange(puzzle.cells)
        near = near[~pinned[near]]
        if len(near):
            _exchange(puzzle, placed, int(rng.choice(near)), pinned, rng)
            made += 1
    after = Board(placed, puzzle.width, puzzle.height)
    return Move(after, matched_edges(puzzle, after.placements), made * NODES_OF_AN_EXCHANGE)


def _exchange(
    puzzle: Puzzle, placed: IntArray, cell: int, pinned: npt.NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """Exchange the piece on ``cell`` with one elsewhere such that no match is lost, if there is one."""
    all_cells, all_pieces = np.arange(puzzle.cells, dtype=np.int32), placed >> 2
    here, rotation_here = placement_matches(
        puzzle, placed, all_cells[cell : cell + 1], all_pieces
    )  # every piece on this cell
    there, rotation_there = placement_matches(
        puzzle, placed, all_cells, all_pieces[cell : cell + 1]
    )  # this piece on every cell
    matches = np.zeros((puzzle.height, puzzle.width), dtype=np.int32)
    across, down = matching_edges(puzzle, placed)
    matches[:, :-1] += across
    matches[:, 1:] += across
    matches[:-1] += down
    matches[1:] += down
    now = matches.reshape(-1)
    keeps = (here[0] + there[:, 0] >= now[cell] + now) & ~pinned
    keeps[list(with_neighbours(puzzle, [cell]))] = False
    partners = np.flatnonzero(keeps)
    if len(partners):
        other = int(rng.choice(partners))
        piece, other_piece = placed[cell] >> 2, placed[other] >> 2
        placed[cell] = other_piece * 4 + rotation_here[0, other]
        placed[other] = piece * 4 + rotation_there[other, 0]


def perturb(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """A few random exchanges, then tabu moves until the score is back; the best board on the way, maybe a worse one."""
    score = matched_edges(puzzle, board.placements)
    if puzzle.cells > MAX_CELLS or len(puzzle.fixed) == puzzle.cells:
        return Move(board, score, 0)
    tabu = _tabu_search(puzzle)
    tabu.random[:] = rng.integers(2**64, size=4, dtype=np.uint64)
    evaluated_before = tabu.moves_evaluated
    begun = int(puzzle.cells**2 / SQUARES_OF_A_NODE)
    tabu.start(board)
    tabu.kick(int(rng.integers(1, KICKED + 1)))
    found, reached = board, -1
    for _ in range(LOOKS):
        evaluated = tabu.moves_evaluated - evaluated_before
        if reached >= score or evaluated >= max(nodes - begun, begun) * MOVES_OF_A_NODE:
            break
        tabu.run(WALK, score + 1)
        if tabu.score > reached and tabu.board != board:
            found, reached = tabu.board, tabu.score
    if reached < 0:
        found, reached = board, score
    return Move(found, reached, begun + (tabu.moves_evaluated - evaluated_before) // MOVES_OF_A_NODE + 1)


@lru_cache(maxsize=4)
def _tabu_search(puzzle: Puzzle) -> TabuSearch:
    """The tables of all walks on a puzzle; a walk that begins clears what the one before has left."""
    return TabuSearch(puzzle, np.zeros(4, dtype=np.uint64))
