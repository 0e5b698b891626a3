"""3-partition as a puzzle (Jolivet 2008, seed 003, section 3, after Demaine & Demaine), and its answer read back.

Each number a becomes a bar of a pieces in a row, glued by a colour of its own; a frame one piece thick leaves room for
m rows of length S. A row of the solution is three bars: a triple of sum S.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instances.board import Board
from instances.generate.portable_random import PortableRandom
from instances.puzzle import MAX_CELLS, Puzzle, rotate
from lns_support.errors import InputError

ENDS, FLANKS, NORTH, EAST, SOUTH, WEST = 1, 2, 3, 4, 5, 6
FIRST_BAR = 7

Triple = tuple[int, int, int]


def three_partition(numbers: Sequence[int], seed: int = 0) -> Puzzle:
    """A puzzle that is solvable just when ``numbers`` split into triples of equal sum; (S+2) x (m+2), 3m+6 colours.

    Ends of bars and the frame's sides have the colour A, their flanks and the frame's top and bottom the colour B. The
    frame's pieces are joined along its four sides by the colours N, E, S, W, so that it can lie in one way up to
    rotation. Raises InputError unless there are 3m numbers, each strictly between S/4 and S/2, and the board is small
    enough.
    """
    count, total = len(numbers), sum(numbers)
    if count == 0 or count % 3 or total % (count // 3):
        raise InputError(f"{count} numbers of sum {total}; expected 3m numbers whose sum is a multiple of m")
    triples = count // 3
    size = total // triples
    outside = [a for a in numbers if not size < 4 * a < 2 * size]
    if outside:
        raise InputError(f"the number {outside[0]} is not strictly between S/4 and S/2 with S = {size}")
    if (size + 2) * (triples + 2) > MAX_CELLS:
        raise InputError(f"a board of {size + 2} x {triples + 2} cells; expected at most {MAX_CELLS}")
    quads = [(0, NORTH, WEST, 0), (0, 0, EAST, NORTH), (EAST, 0, 0, SOUTH), (WEST, SOUTH, 0, 0)]
    quads += [(0, NORTH, FLANKS, NORTH), (FLANKS, SOUTH, 0, SOUTH)] * size
    quads += [(WEST, ENDS, WEST, 0), (EAST, 0, EAST, ENDS)] * triples
    for index, length in enumerate(numbers):
        own = FIRST_BAR + index
        for at in range(length):
            quads.append((FLANKS, ENDS if at == length - 1 else own, FLANKS, ENDS if at == 0 else own))
    draws = PortableRandom(seed)
    draws.shuffle(quads)
    pieces = np.array([rotate(quad, draws.below(4)) for quad in quads], dtype=np.int32)
    return Puzzle(pieces, size + 2, triples + 2, name=f"three-partition-{'-'.join(map(str, numbers))}")


def triples_of(puzzle: Puzzle, board: Board, numbers: Sequence[int]) -> list[Triple]:
    """The triples that a perfect ``board`` of `three_partition` shows, row by row of bars.

    Raises InputError when the board shows none.
    """
    inner = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)[1:-1, 1:-1]
    onward = 1
    if not (inner[:, 0, [1, 3]] == ENDS).any():  # the board lies on its side
        inner, onward = inner.transpose(1, 0, 2), 2
    found = []
    for row in inner[:, :, onward].tolist():
        ends = [at + 1 for at, colour in enumerate(row) if colour == ENDS]
        lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
        if len(lengths) != 3 or ends[-1] != len(row):
            raise InputError("the board shows no triples of equal sum; expected a solution of the puzzle")
        found.append((lengths[0], lengths[1], lengths[2]))
    if sorted(length for triple in found for length in triple) != sorted(numbers):
        raise InputError("the bars on the board are not the numbers given; expected a solution of their puzzle")
    return found
