"""An estimate of the number of square blocks of inner pieces (Jolivet 2008, 2.5)."""

from __future__ import annotations

import numpy as np

from exact.piece_multiplicity import allowed_placements
from instances.puzzle import GREY, Puzzle
from lns_support.jit import kernel


def count_inner_blocks(puzzle: Puzzle, side: int, samples: int, seed: int) -> tuple[float, float]:
    """Estimate the number of blocks of ``side`` x ``side`` inner pieces with matching joints, rotated copies once.

    Knuth's estimate: a random descent of the tree of a row scan, weighted by the product of its numbers of children, is
    an unbiased estimate of the number of leaves.

    Returns
    -------
    float, float
        The mean, and its standard error.
    """
    quads = np.ascontiguousarray(puzzle.oriented, dtype=np.int32)
    middle = puzzle.height // 2 * puzzle.width + puzzle.width // 2
    free = puzzle.with_clues([])
    inner = np.array(allowed_placements(free, middle, all_four=True), dtype=np.int32)
    inner = inner[(quads[inner] != GREY).all(axis=1)]
    weights = _sample(quads, inner, side, samples, np.random.default_rng(seed).random((samples, side * side)))
    weights /= 4
    return float(weights.mean()), float(weights.std(ddof=1) / np.sqrt(samples))


@kernel
def _sample(quads, inner, side, samples, draws):  # type: ignore[no-untyped-def]
    """The weight of each random descent; ``draws``: numbers in [0, 1) that choose the children."""
    cells = side * side
    weights = np.zeros(samples)
    placed = np.zeros(cells, dtype=np.int64)
    fitting = np.zeros(len(inner), dtype=np.int64)
    for at in range(samples):
        weight = 1.0
        for cell in range(cells):
            count = 0
            for value in inner:
                if cell % side and quads[value, 3] != quads[placed[cell - 1], 1]:
                    continue
                if cell >= side and quads[value, 0] != quads[placed[cell - side], 2]:
                    continue
                is_free = True
                for before in range(cell):
                    is_free &= placed[before] >> 2 != value >> 2
                if is_free:
                    fitting[count] = value
                    count += 1
            weight *= count
            if count == 0:
                break
            placed[cell] = fitting[int(draws[at, cell] * count)]
        weights[at] = weight
    return weights
