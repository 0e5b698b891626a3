"""Small puzzles with a planted solution, for tests; few colours make identical and symmetric pieces common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from instances.board import Board
from instances.puzzle import Clue, Puzzle


def planted(seed: int, width: int, height: int, colours: int, clues: int = 0) -> tuple[Puzzle, Board]:
    """(puzzle, its solution): every inner joint has a uniform colour from 1 to ``colours``."""
    rng = np.random.default_rng(seed)
    cells = width * height
    across = np.zeros((height, width + 1), dtype=np.int32)
    across[:, 1:-1] = rng.integers(1, colours + 1, (height, width - 1))
    down = np.zeros((height + 1, width), dtype=np.int32)
    down[1:-1] = rng.integers(1, colours + 1, (height - 1, width))
    quads = np.stack([down[:-1], across[:, 1:], down[1:], across[:, :-1]], axis=2).reshape(-1, 4)
    cell_of = rng.permutation(cells)  # piece -> the cell where it lies
    turns = rng.integers(0, 4, cells)  # piece -> its rotation there
    pieces = np.array([np.roll(quads[cell], -turn) for cell, turn in zip(cell_of, turns, strict=True)])
    placements = np.empty(cells, dtype=np.int32)
    placements[cell_of] = 4 * np.arange(cells) + turns
    pinned = rng.permutation(cells)[:clues]
    puzzle = Puzzle(
        pieces,
        width,
        height,
        tuple(Clue(int(cell_of[piece]), int(piece), int(turns[piece])) for piece in pinned),
        f"planted-{seed}",
    )
    return puzzle, Board(placements, width, height)


@st.composite
def puzzles(draw: st.DrawFn, square: bool = False, max_clues: int = 3) -> tuple[Puzzle, Board]:
    """A puzzle of at most 5 x 5 and its solution."""
    width = draw(st.integers(1, 5))
    height = width if square else draw(st.integers(1, 5))
    clues = draw(st.integers(0, min(max_clues, width * height)))
    return planted(draw(st.integers(0, 2**32)), width, height, draw(st.integers(1, 6)), clues)


@st.composite
def boards(draw: st.DrawFn, square: bool = False) -> tuple[Puzzle, Board]:
    """A puzzle and its solution with up to four cells changed: emptied, or with any oriented piece."""
    puzzle, board = draw(puzzles(square=square))
    placements = board.placements.copy()
    for cell in draw(st.lists(st.integers(0, puzzle.cells - 1), max_size=4)):
        placements[cell] = draw(st.integers(-1, 4 * puzzle.cells - 1))
    return puzzle, Board(placements, puzzle.width, puzzle.height)


def renumbered(puzzle: Puzzle, board: Board, seed: int) -> tuple[Puzzle, Board]:
    """The same set of pieces, clues and board in another numbering of pieces and colours, listed in other rotations."""
    rng = np.random.default_rng(seed)
    colours = sorted(set(puzzle.pieces.ravel().tolist()) - {0})
    names = np.zeros(max([0, *colours]) + 1, dtype=np.int32)
    names[colours] = rng.permutation(len(colours)) + 1
    count = puzzle.piece_count
    number, turns = rng.permutation(count), rng.integers(0, 4, count) * puzzle.turns
    pieces = np.empty((count, 4), dtype=np.int32)
    for piece in range(count):
        pieces[number[piece]] = np.roll(names[puzzle.pieces[piece]], turns[piece])

    def other(piece: int, rotation: int) -> tuple[int, int]:
        return int(number[piece]), int(rotation - turns[piece]) % 4

    pairs = board.without_blanks(puzzle).pairs()
    return (
        replace(
            puzzle,
            pieces=pieces,
            clues=tuple(Clue(clue.cell, *other(clue.piece, clue.rotation)) for clue in puzzle.clues),
            name=f"{puzzle.name}-renumbered",
        ),
        Board.from_pairs([pair and other(*pair) for pair in pairs], board.width, board.height).with_blanks(puzzle),
    )
