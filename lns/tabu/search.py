"""Tabu search: a walk from full board to full board, and the operator of the search loop that makes such walks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.assignment import with_rim
from lns.engine import State, Statistics, component, joined, saved_board
from lns.exact.kernels import allocate
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import BoolArray, IntArray, Puzzle
from lns.loop.pool import WHOLE_BOARD, Found, Freed, Operator, Pool, Repaired
from lns.params import TabuParams
from lns.rng import RandomState, generator, random_state
from lns.tabu import kernel
from lns.tabu.kernel import BEST, CHANGED, EVALUATED, SCORE, STEP, TENURE, TabuProblem, TabuState

VISITED_SLOTS = 1 << 16  # most visited boards that the reactive tenure remembers
MAX_CELLS = 1024
# fields of `TabuState` that are saved with the operator; the others follow from them
WALK = ("placed", "tabu_until", "visited_step", "visited_hash", "scalars", "best_placed", "random")
SHORT_WALK = 3  # most kicks without a new best score in a walk of the operator with ``from_pool``


def tabu_problem(puzzle: Puzzle) -> TabuProblem:
    """Make the kernels' arrays of ``puzzle``. Cells of clues and holes belong to no group, so they never change."""
    cells, colour_count = puzzle.cells, puzzle.colours + 1
    beyond, groups = np.array(puzzle.beyond, dtype=np.int32), _groups(puzzle).values()
    group_cells = np.array([cell for group in groups for cell in group], dtype=np.int32)
    sizes = np.array([len(group) for group in groups], dtype=np.int32)
    ends = np.cumsum(sizes, dtype=np.int32)
    group_position = np.full(cells, -1, dtype=np.int32)
    group_position[group_cells] = np.arange(len(group_cells))
    keys = puzzle.oriented.astype(np.int64) + colour_count * np.arange(4)
    counts = np.bincount(keys.ravel(), minlength=4 * colour_count)
    zobrist = np.random.Generator(np.random.PCG64(1)).integers(0, 2**64, (cells, 4 * cells), dtype=np.uint64)
    return TabuProblem(
        edge_colours=puzzle.oriented.astype(np.int16),
        neighbour=np.where(beyond < 0, np.int32(cells), beyond),
        legal=np.array([puzzle.fits(cell) for cell in range(cells)]),
        group_cells=group_cells,
        group_first=np.repeat(ends - sizes, sizes),
        group_end=np.repeat(ends, sizes),
        group_position=group_position,
        pieces_showing=(np.argsort(keys.T.ravel(), kind="stable") % (4 * cells)).astype(np.int32),
        showing_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        zobrist=zobrist,
        colour_count=colour_count,
    )


def _groups(puzzle: Puzzle) -> dict[int, npt.NDArray[np.intp]]:
    """Return, by kind (such as corner, border, inner), the cells whose pieces may be swapped with each other.

    Cells of clues and holes are left out. If the rim has an ordinary colour, pieces may not fit on all cells of a kind.
    """
    kinds = _kinds(puzzle, np.array([puzzle.grey_sides(cell) for cell in range(puzzle.cells)]))
    kinds[[clue.cell for clue in puzzle.fixed]] = -1
    return {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds.tolist()) if kind >= 0}


def _kinds(puzzle: Puzzle, grey: BoolArray) -> IntArray:
    """Return a kind, as a number, for each row of grey sides, bool (n, 4); equal for turned rows if pieces may turn."""
    turned = [np.roll(grey, turn, axis=1) @ (1, 2, 4, 8) for turn in range(4 if puzzle.turns else 1)]
    kinds: IntArray = np.min(turned, axis=0).astype(np.int32)
    return kinds


def random_board(puzzle: Puzzle, rng: np.random.Generator) -> Board:
    """Make a random full legal board. Raises InputError if none fits a rim that has an ordinary colour."""
    placed = np.full(puzzle.cells, -1, dtype=np.int32)
    free = np.ones(puzzle.cells, dtype=bool)
    for clue in puzzle.fixed:
        placed[clue.cell], free[clue.piece] = clue.oriented, False
    if puzzle.rim:
        placed = with_rim(puzzle, placed, rng.permutation(np.flatnonzero(free)).astype(np.int32))
        free[placed[placed >= 0] >> 2] = False
    kinds = _kinds(puzzle, puzzle.pieces == 0)
    for kind, cells in _groups(puzzle).items():
        pieces = np.flatnonzero(free & (kinds == kind))
        rng.shuffle(pieces)
        for cell, piece in zip(cells[placed[cells] < 0].tolist(), pieces.tolist(), strict=True):
            placed[cell] = piece * 4 + rng.choice(np.flatnonzero(puzzle.fits(cell)[piece * 4 : piece * 4 + 4]))
    return Board(placed, puzzle.width, puzzle.height)


class TabuSearch:
    """Tabu walks on one puzzle, one after the other. Raises InputError for more than `MAX_CELLS` cells.

    ``random`` is the state of the random generator, uint64 (4,), which the walks advance; ``tenure`` is the tenure in
    steps at the start of a walk.
    """

    def __init__(self, puzzle: Puzzle, random: RandomState, tenure: int = 12) -> None:
        cells = puzzle.cells
        if cells > MAX_CELLS:
            raise InputError(f"{cells} cells are too many for the tables of tabu search; expected at most {MAX_CELLS}")
        self.puzzle, self.random, self.tenure = puzzle, random, tenure
        self.problem = tabu_problem(puzzle)
        positions = -(-len(self.problem.group_cells) // kernel.BLOCK) * kernel.BLOCK
        sizes = {"n": cells, "4n": 4 * cells, "b": positions, "2^k": VISITED_SLOTS}
        self.state = allocate(TabuState, sizes, random=random)
        self.state.scalars[TENURE] = tenure * kernel.TENURE_UNIT

    def start(self, board: Board | None = None) -> None:
        """Begin a walk at ``board`` (full and legal) or at a random board, with the initial tenure."""
        if board is None:
            board = random_board(self.puzzle, generator(self.random))
        self.state.scalars[[TENURE, CHANGED]] = self.tenure * kernel.TENURE_UNIT, self.state.scalars[STEP]
        kernel.reset(self.problem, self.state, board.placements.copy())  # numba compiles anew for read-only arrays

    def run(self, steps: int, target: int | None = None) -> None:
        """Make ``steps`` moves; fewer if the best score reaches ``target`` (default: a perfect board)."""
        kernel.run_moves(self.problem, self.state, steps, self.puzzle.max_score if target is None else target)

    def kick(self, swaps: int) -> None:
        """Swap up to ``swaps`` random pairs of pieces, whatever that costs in score."""
        kernel.kick(self.problem, self.state, swaps)

    @property
    def best(self) -> Board:
        """The best board of the walk; of several with that score the last."""
        return Board(self.state.best_placed, self.puzzle.width, self.puzzle.height)

    @property
    def board(self) -> Board:
        """The current board."""
        return Board(self.state.placed, self.puzzle.width, self.puzzle.height)

    best_score = property(lambda self: int(self.state.scalars[BEST]), doc="Score of `best`.")
    score = property(lambda self: int(self.state.scalars[SCORE]), doc="Score of `board`.")
    steps_made = property(lambda self: int(self.state.scalars[STEP]), doc="Steps of all walks.")
    moves_evaluated = property(lambda self: int(self.state.scalars[EVALUATED]), doc="Moves evaluated in all walks.")


class Tabu(Operator):
    """An operator that frees the whole board; each repair is some moves of a tabu walk.

    After ``patience`` moves for each cell of the board without a new best score, a walk is kicked: it continues from
    its best board with a few random swaps. After ``kicks`` kicks without a new best score the next walk begins: at a
    random board, or at one of the pool (iterated local search: Lourenço, Martin & Stützle 2003). With ``from_pool`` all
    walks begin at boards of the pool, and end after few kicks; else walks begin at random boards, but as soon as the
    pool has a board better than all boards of the walks so far, a walk begins at its best.
    """

    name, makes_boards = "tabu", True
    SAVED = ("walk_best", "best", "idle_from", "kicks", "started")

    def __init__(self, puzzle: Puzzle, params: TabuParams, seed: int, island: int, *, from_pool: bool = False) -> None:
        self.params, self.from_pool = params, from_pool
        self.most_kicks = min(params.kicks, SHORT_WALK) if from_pool else params.kicks
        self.tabu = TabuSearch(puzzle, random_state(seed, island), params.tenure)
        self.idle_from = 0  # step at which the walk began, improved or was kicked last
        self.walk_best = self.best = -1  # best score of the present walk, and of all walks
        self.kicks = 0  # kicks since the last new best score; at most_kicks + 1 a new walk is due
        self.started = False

    @property
    def statistics(self) -> Statistics:
        return Statistics(moves=self.tabu.moves_evaluated)

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        members = pool.ranked()
        if self.from_pool:
            is_due = not self.started or self.kicks > self.most_kicks
            return Freed(members[int(rng.integers(len(members)))] if is_due else None) if members else None
        return Freed(members[0]) if members and members[0].score > self.best else WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        before = self.tabu.moves_evaluated
        if freed.member is not None:
            self._start(freed.member.board, freed.member.score)
        elif not self.started or self.kicks > self.most_kicks:
            self._start(None, -1)
        kick_at = self.idle_from + self.params.patience * self.tabu.puzzle.cells
        self.tabu.run(min(self.params.steps, kick_at - self.tabu.steps_made))
        improved = self._improved()
        if not improved and self.tabu.steps_made >= kick_at:
            self.kicks += 1
            self.idle_from = self.tabu.steps_made
            if self.kicks <= self.most_kicks:
                kernel.reset(self.tabu.problem, self.tabu.state, self.tabu.state.best_placed.copy())
                self.tabu.kick(self.params.kick)
                improved = self._improved()
        boards = [Found(self.tabu.best, self.name)] if improved and self.walk_best >= wanted else []
        return Repaired(boards, (self.tabu.moves_evaluated - before) * node_equivalents.TABU_MOVE)

    def _start(self, board: Board | None, score: int) -> None:
        self.tabu.start(board)
        self.started, self.kicks, self.walk_best, self.idle_from = True, 0, score, self.tabu.steps_made
        self.best = max(self.best, score)

    def _improved(self) -> bool:
        """Record the best score of the walk if it is a new one; return whether it is."""
        if self.tabu.best_score <= self.walk_best:
            return False
        self.walk_best, self.idle_from, self.kicks = self.tabu.best_score, self.tabu.steps_made, 0
        self.best = max(self.best, self.walk_best)
        return True

    def state(self) -> State:
        return super().state() | joined({"walk": {name: getattr(self.tabu.state, name).copy() for name in WALK}})

    def restore(self, state: State) -> None:
        super().restore(state)
        walk = component(state, "walk")
        if self.started:  # compute the arrays that are not saved
            self.tabu.start(saved_board(self.tabu.puzzle, walk["placed"]))
        for name in WALK:
            getattr(self.tabu.state, name)[...] = walk[name]
