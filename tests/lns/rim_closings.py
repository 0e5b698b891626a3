"""How the rim can still be closed, found by trying everything: the twin of the closings of `lns.construct.endgame`."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from lns.construct.constructor import Constructor
from lns.construct.endgame_plan import RELEASE


def closes(search: Constructor, prefix: tuple[int, ...]) -> bool:
    """Whether what is free behind the last cell that KEEPS could close the rim; by trying all."""
    puzzle, order, plan = search.puzzle, search.schedule.order, search.plan.endgame.closing
    if not (plan.rule == RELEASE).any():
        return True
    behind = search.plan.prefix.endgame_start + int(np.flatnonzero(plan.rule == RELEASE)[0]) + 1
    quads = {int(cell): puzzle.oriented[oriented] for cell, oriented in zip(order, prefix, strict=False)}
    length, width = len(plan.is_corner), puzzle.width
    first = width * (puzzle.height - int(np.flatnonzero(plan.is_corner)[0]) - 1) + width - 1
    colour = quads[first - width][2]
    used = {oriented >> 2 for oriented in prefix[:behind]} | {clue.piece for clue in puzzle.clues}
    ends = {}  # by piece: as it lies on the right side or in its lower corner
    for oriented, quad in enumerate(puzzle.oriented.tolist()):
        if quad[1] == 0 and quad[0] and oriented >> 2 not in used:
            ends[oriented >> 2] = quad[0], quad[2] or quad[3], quad[2] == 0
    for chosen in permutations(ends, length):
        near = colour
        for piece, corner in zip(chosen, plan.is_corner, strict=True):
            if ends[piece][0] != near or ends[piece][2] != corner:
                break
            near = ends[piece][1]
        else:
            return True
    return False
