"""An oracle in plain Python: every solution of a tiny puzzle, by trying everything. It shares no code with a search."""

from __future__ import annotations

from collections import Counter
from functools import cache

from lns.instances.puzzle import Puzzle, rotate

Quad = tuple[int, int, int, int]
Look = tuple[Quad, ...]


class TooMany(Exception):
    """There is more to try than was allowed."""


@cache
def all_boards(puzzle: Puzzle, most: int | None = None) -> frozenset[Look]:
    """Every perfect board as its colours by cell; boards with swapped duplicate pieces are the same.

    A hole shows grey on all sides. Raises `TooMany` after ``most`` placements.
    """
    holes, mate = set(puzzle.holes), {c: c for c in range(10_000)} | dict(puzzle.mates)
    mate |= {other: one for one, other in puzzle.mates}
    pieces = puzzle.pieces.tolist()

    def looks(piece: int) -> frozenset[Quad]:
        """A piece as it may be placed: what identical pieces have in common."""
        return frozenset(rotate(pieces[piece], turn) for turn in (range(4) if puzzle.turns else (0,)))

    clues = {clue.cell: (looks(clue.piece), rotate(pieces[clue.piece], clue.rotation)) for clue in puzzle.clues}
    left = [copies or puzzle.cells for copies in puzzle.copies] or [1] * puzzle.piece_count
    for clue in puzzle.clues:
        left[clue.piece] -= 1
    free: Counter[frozenset[Quad] | None] = Counter()
    for piece, number in enumerate(left):
        free[looks(piece)] += number
    choices: list[list[tuple[frozenset[Quad] | None, Quad]]] = []  # by cell, what its rim or its clue allows
    for cell in range(puzzle.cells):
        if cell in holes:
            choices.append([(None, (0, 0, 0, 0))])
            continue
        row, column = divmod(cell, puzzle.width)
        outside = row == 0, column == puzzle.width - 1, row == puzzle.height - 1, column == 0
        beyond = cell - puzzle.width, cell + 1, cell + puzzle.width, cell - 1
        grey = [puzzle.framed if out else other in holes for out, other in zip(outside, beyond, strict=True)]
        rim = {side for side, out in enumerate(outside) if out and puzzle.rim}
        quads = [(None, clues[cell][1])] if cell in clues else [(kind, quad) for kind in free for quad in kind]
        fitting = [(kind, quad) for kind, quad in quads if [side == 0 for side in quad] == grey]
        choices.append([one for one in fitting if all(one[1][side] == puzzle.rim for side in rim)])
    boards: set[Look] = set()
    placed: list[Quad] = []
    tried = 0

    def extend(cell: int) -> None:
        nonlocal tried
        if cell == puzzle.cells:
            boards.add(tuple(placed))
            return
        left = mate[placed[cell - 1][1]] if cell % puzzle.width else None
        up = mate[placed[cell - puzzle.width][2]] if cell >= puzzle.width else None
        for kind, quad in choices[cell]:
            if (kind is None or free[kind]) and (left is None or quad[3] == left) and (up is None or quad[0] == up):
                tried += 1
                if most is not None and tried > most:
                    raise TooMany
                free[kind] -= 1
                placed.append(quad)
                extend(cell + 1)
                placed.pop()
                free[kind] += 1

    extend(0)
    return frozenset(boards)


def count_solutions(puzzle: Puzzle, most: int | None = None) -> int:
    """How many perfect boards differ in their colours; `TooMany` after ``most`` placements."""
    return len(all_boards(puzzle, most))


def rotations(puzzle: Puzzle, board: Look) -> set[Look]:
    """The different boards among the turns of one that keep the shape: two, or four of a square."""
    boards, width, height = [board], puzzle.width, puzzle.height
    for _ in range(3):
        rows = [list(boards[-1][at : at + width]) for at in range(0, len(board), width)]
        boards.append(tuple(rotate(quad, 1) for column in zip(*rows[::-1], strict=True) for quad in column))
        width, height = height, width
    return set(boards if width == height else boards[::2])


def rotated_copies_once(puzzle: Puzzle) -> int:
    """How many perfect boards there are if the rotated copies of one count once."""
    return len({min(rotations(puzzle, board)) for board in all_boards(puzzle)})
