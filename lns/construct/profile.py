"""How fast favoured colours can be used up: what the poorest prefix of a beam has used by each depth.

A search that asks for that at every depth is meant to keep about as many prefixes at one depth as at another, as the
beam does.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from instances.puzzle import IntArray, Puzzle
from lns.construct.beam import Beam
from lns.params import Beam as BeamParams
from lns.rng import random_state

WIDTH, FAN_OUT = 4096, 64
BEAMS = 3  # the profile is their mean
EASE, EASE_SLOPE = 0.8, 0.6  # a search begins with one prefix: at first less is asked for
SEED = 0  # the same for every run: the profile belongs to the puzzle


def profile(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    """Favoured half-edges used by depth, (cells,), never falling, up to depth ``cut``.

    Clues are taken for free pieces: they may cost a few half-edges, and few beams pass them without a slip.
    """
    return _profile(puzzle.with_clues(()), tuple(order.tolist()), favoured, cut)


@lru_cache(maxsize=64)  # an island that is restored, every few seconds in some runs, needs those of all its courses
def _profile(puzzle: Puzzle, cells: tuple[int, ...], favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    order = np.array(cells, dtype=np.int32)
    params = BeamParams(width=WIDTH, fan_out=FAN_OUT)
    used = np.zeros((BEAMS, puzzle.cells))
    for number in range(BEAMS):
        beam = Beam(puzzle, order, cut, favoured, params, random_state(SEED, number))
        while beam.depth < cut and beam.alive:
            depth = beam.depth
            beam.run(1)
            used[number, depth] = beam.worth[-1] if beam.alive else 0
    ease = np.minimum(1.0, EASE + EASE_SLOPE * np.arange(puzzle.cells) / puzzle.cells)
    ease[: puzzle.width] = 0.0
    return tuple((ease * np.maximum.accumulate(used, axis=1).mean(axis=0)).tolist())
