"""Tabu search as the rest of the program sees it: boards in, better boards out, state that can be saved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.rng import RandomState, generator
from lns.tabu import kernel
from lns.tabu.kernel import BEST, CHANGED, EVALUATED, SCORE, STEP, TENURE, Frame, Walk
from lns_support.errors import InputError

SEEN_SLOTS = 1 << 16


def frame_of(puzzle: Puzzle) -> Frame:
    """The flat view of ``puzzle`` that the kernels need; clue cells belong to no group and so never move."""
    cells, colours1 = puzzle.cells, puzzle.colours + 1
    neighbour = np.full((cells, 4), cells, dtype=np.int32)
    for cell in range(cells):
        grey = puzzle.rim_sides(cell)
        for side, step in enumerate((-puzzle.width, 1, puzzle.width, -1)):
            if not grey[side]:
                neighbour[cell, side] = cell + step
    groups = _groups(puzzle)
    group = np.array([cell for group in groups for cell in group], dtype=np.int32)
    sizes = [len(group) for group in groups]
    group_start = np.cumsum([0, *sizes]).astype(np.int32)
    position = np.full(cells, -1, dtype=np.int32)
    position[group] = np.arange(len(group))
    sides = puzzle.oriented.astype(np.int64) + colours1 * np.arange(4)
    by_colour = np.argsort(sides.T.ravel(), kind="stable")
    counts = np.bincount(sides.ravel(), minlength=4 * colours1)
    zobrist = np.random.Generator(np.random.PCG64(1)).integers(0, 2**64, (cells, 4 * cells), dtype=np.uint64)
    return Frame(
        puzzle.oriented.astype(np.int16),
        neighbour,
        group,
        group_start,
        np.repeat(group_start[1:], sizes),
        position,
        (by_colour % (4 * cells)).astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        zobrist,
        colours1,
    )


def _groups(puzzle: Puzzle) -> list[list[int]]:
    """Cells that may exchange pieces: those of the same shape, but for clues."""
    pinned = {clue.cell for clue in puzzle.clues}
    groups: dict[int, list[int]] = {}
    for cell in range(puzzle.cells):
        if cell not in pinned:
            groups.setdefault(_shape_of(puzzle.rim_sides(cell)), []).append(cell)
    return list(groups.values())


def _shape_of(grey: tuple[bool, bool, bool, bool]) -> int:
    """Number of a pattern of grey sides, the same for its rotations."""
    return min(sum(grey[(side + turn) % 4] << side for side in range(4)) for turn in range(4))


def random_board(puzzle: Puzzle, rng: np.random.Generator) -> Board:
    """A full board that keeps rim and clues and is random otherwise."""
    placed = np.full(puzzle.cells, -1, dtype=np.int32)
    for clue in puzzle.clues:
        placed[clue.cell] = clue.piece * 4 + clue.rotation
    free = np.ones(puzzle.cells, dtype=bool)
    free[[clue.piece for clue in puzzle.clues]] = False
    greys = puzzle.oriented == 0
    shapes = np.array([_shape_of(tuple(grey)) for grey in (puzzle.pieces == 0).tolist()])
    for cells in _groups(puzzle):
        shape = _shape_of(puzzle.rim_sides(cells[0]))
        pieces = np.flatnonzero(free & (shapes == shape))
        rng.shuffle(pieces)
        for cell, piece in zip(cells, pieces, strict=True):
            legal = np.flatnonzero((greys[piece * 4 : piece * 4 + 4] == puzzle.rim_sides(cell)).all(axis=1))
            placed[cell] = piece * 4 + rng.choice(legal)
    return Board(placed, puzzle.width, puzzle.height)


@dataclass
class TabuSearch:
    """Tabu search on one puzzle. ``tenure``: steps for which a move's way back is forbidden at the start."""

    puzzle: Puzzle
    random: RandomState
    tenure: int = 12

    def __post_init__(self) -> None:
        cells = self.puzzle.cells
        if cells > 1024:
            raise InputError(f"tabu search keeps a table of cells x pieces; {cells} cells are more than its 1024")
        self.frame = frame_of(self.puzzle)
        blocks = -(-len(self.frame.group) // kernel.BLOCK) * kernel.BLOCK
        self.walk = Walk(
            np.full(cells, -1, dtype=np.int32),
            np.zeros((cells, 4 * cells), dtype=np.int8),
            np.zeros((cells, cells), dtype=np.int8),
            np.full(cells, -1, dtype=np.int32),
            np.zeros(blocks, dtype=np.int8),
            np.full((blocks, blocks), kernel.NO_PAIR, dtype=np.int8),
            np.zeros((cells, cells), dtype=np.int64),
            np.full(SEEN_SLOTS, -1, dtype=np.int64),
            np.zeros(SEEN_SLOTS, dtype=np.uint64),
            np.zeros(7, dtype=np.int64),
            np.zeros(cells, dtype=np.int32),
            self.random,
        )
        self.walk.scalars[TENURE] = self.tenure * kernel.TENURE_UNIT

    def start(self, board: Board | None = None) -> None:
        """Begin at ``board`` (full, legal), or at a random board, with ``tenure`` as it was given."""
        if board is None:
            board = random_board(self.puzzle, generator(self.random))
        self.walk.scalars[[TENURE, CHANGED]] = self.tenure * kernel.TENURE_UNIT, self.walk.scalars[STEP]
        kernel.prepare(self.frame, self.walk, board.placements)

    def run(self, steps: int, target: int | None = None) -> None:
        """``steps`` moves; stops early when the best score reaches ``target``."""
        kernel.steps(self.frame, self.walk, steps, self.puzzle.max_score if target is None else target)

    def kick(self, swaps: int) -> None:
        """Exchange up to ``swaps`` random pairs."""
        kernel.kick(self.frame, self.walk, swaps)

    def restart_from_best(self) -> None:
        """Go back to the best board met, the last of those as good; the tenure stays."""
        kernel.prepare(self.frame, self.walk, self.walk.record.copy())

    @property
    def best(self) -> Board:
        return Board(self.walk.record, self.puzzle.width, self.puzzle.height)

    @property
    def best_score(self) -> int:
        return int(self.walk.scalars[BEST])

    @property
    def score(self) -> int:
        return int(self.walk.scalars[SCORE])

    @property
    def steps_made(self) -> int:
        return int(self.walk.scalars[STEP])

    @property
    def moves_evaluated(self) -> int:
        return int(self.walk.scalars[EVALUATED])

    @property
    def board(self) -> Board:
        """The board as it lies now."""
        return Board(self.walk.placed, self.puzzle.width, self.puzzle.height)
