"""3-partition problems encoded as puzzles, and their solutions decoded (Jolivet 2008, section 3, after Demaine).

Each number a becomes a bar of a pieces in a row, joined by a colour of its own. A frame one piece thick leaves room for
m rows of length S. A row of the solution holds three bars, which are a triple of sum S.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate.portable_random import PortableRandom
from lns.instances.puzzle import DOWN, MAX_CELLS, RIGHT, Puzzle, canonical, rotate

ENDS, FLANKS, NORTH, EAST, SOUTH, WEST = 1, 2, 3, 4, 5, 6
FIRST_BAR = 7

Triple = tuple[int, int, int]


def three_partition(numbers: Sequence[int], seed: int = 0) -> Puzzle:
    """Encode a 3-partition problem as a puzzle that has a perfect board just when the problem has a solution.

    The ends of the bars and the left and right sides of the frame have the colour ENDS; the flanks of the bars and the
    top and bottom of the frame have the colour FLANKS. The frame's pieces are joined by the colours NORTH, EAST, SOUTH
    and WEST along its four sides, so that the frame has one position up to rotation.

    The numbers are 3m of sum m * S, each strictly between S/4 and S/2. The board is (S + 2) x (m + 2) with 3m + 6
    colours. Raises InputError if the numbers are not of that form, or the board would have too many cells.
    """
    count, total = len(numbers), sum(numbers)
    if count == 0 or count % 3 or total % (count // 3):
        raise InputError(f"{count} numbers of sum {total}; expected 3m numbers whose sum is a multiple of m")
    triples = count // 3
    size = total // triples
    out_of_range = [a for a in numbers if not size < 4 * a < 2 * size]
    if out_of_range:
        raise InputError(f"the number {out_of_range[0]} is not strictly between S/4 and S/2 with S = {size}")
    if (size + 2) * (triples + 2) > MAX_CELLS:
        raise InputError(f"a board of {size + 2} x {triples + 2} cells; expected at most {MAX_CELLS}")
    quads = [(0, NORTH, WEST, 0), (0, 0, EAST, NORTH), (EAST, 0, 0, SOUTH), (WEST, SOUTH, 0, 0)]
    quads += [(0, NORTH, FLANKS, NORTH), (FLANKS, SOUTH, 0, SOUTH)] * size
    quads += [(WEST, ENDS, WEST, 0), (EAST, 0, EAST, ENDS)] * triples
    for index, length in enumerate(numbers):
        own = FIRST_BAR + index
        for at in range(length):
            quads.append((FLANKS, ENDS if at == length - 1 else own, FLANKS, ENDS if at == 0 else own))
    random = PortableRandom(seed)
    random.shuffle(quads)
    pieces = np.array([rotate(quad, random.below(4)) for quad in quads], dtype=np.int32)
    return Puzzle(pieces, size + 2, triples + 2, name=f"three-partition-{'-'.join(map(str, numbers))}")


def numbers_of(puzzle: Puzzle) -> list[int]:
    """The numbers that a puzzle of `three_partition` encodes, in increasing order.

    A bar of a pieces has a - 1 inner joints of its own colour; a bar of one piece has ENDS on both ends.
    """
    colours = Counter(int(colour) for colour in puzzle.pieces.ravel() if colour >= FIRST_BAR)
    single = sum(canonical(quad) == canonical((FLANKS, ENDS, FLANKS, ENDS)) for quad in puzzle.pieces.tolist())
    return sorted([1] * single + [1 + count // 2 for count in colours.values()])


def triples_of(puzzle: Puzzle, board: Board, numbers: Sequence[int]) -> list[Triple]:
    """Decode a perfect board, in any rotation, of a puzzle that encodes ``numbers``: a triple for each row of bars.

    Raises InputError if the board shows no triples of these numbers.
    """
    inner = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)[1:-1, 1:-1]
    towards = RIGHT
    if not (inner[:, 0, [1, 3]] == ENDS).any():  # the rows of bars run downwards
        inner, towards = inner.transpose(1, 0, 2), DOWN
    triples = []
    for row in inner[:, :, towards].tolist():
        ends = [at + 1 for at, colour in enumerate(row) if colour == ENDS]
        lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
        if len(lengths) != 3 or ends[-1] != len(row):
            raise InputError("the board shows no triples of equal sum; expected a solution of the puzzle")
        triples.append((lengths[0], lengths[1], lengths[2]))
    if sorted(length for triple in triples for length in triple) != sorted(numbers):
        raise InputError("the bars on the board are not the numbers given; expected a solution of their puzzle")
    return triples
