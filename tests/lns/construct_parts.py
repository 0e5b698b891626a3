"""Parts that the tests of the construction share: schedules, candidate lists, prefixes, how the rim can be closed."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from lns.construct import candidates, kernel
from lns.construct.candidates import DOWN_SHIFT, GAIN_SHIFT, LIST_END_GAIN, RIGHT_SHIFT, ROTATION_SHIFT
from lns.construct.constructor import Constructor
from lns.construct.endgame import REACHED
from lns.construct.endgame_plan import RELEASE
from lns.construct.schedule import BreakSchedule
from lns.instances.board import Board
from lns.instances.puzzle import RIGHT, Clue, IntArray, Puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View
from lns.params import ConstructParams

WHOLE_TREE = ConstructParams(restart_nodes_without_prefix=10**9, restart_nodes=10**9)


def clues_of(board: Board, cells: Sequence[int]) -> list[Clue]:
    """Clues that pin the pieces of some cells of a board."""
    return sorted(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in cells)


def schedule_of(
    order: IntArray,
    unlock: Sequence[int] = (),
    tail: int = 6,
    *,
    favoured: tuple[int, ...] = (),
    floor: IntArray | None = None,
    begin: int = 0,
    view: View = IDENTITY_VIEW,
) -> BreakSchedule:
    """A schedule whose breaks unlock at these depths; no half-edges are asked for, unless a floor is given."""
    floor, cells = np.zeros(len(order), dtype=np.int32) if floor is None else floor, len(order)
    return BreakSchedule(order, np.array(unlock, dtype=np.int64), floor, favoured, cells - tail, begin, view)


def list_of(
    puzzle: Puzzle, made: candidates.CandidateTables, depth: int, left: int, up: int, shown: int = RIGHT
) -> list[tuple[int, int]]:
    """(oriented piece, gain) of a candidate list, read as the kernel reads it; ``shown``: the side shown sideways."""
    at = made.list_start[made.base[depth] + left * made.colour_count + up]
    found = []
    while (made.candidates[at] >> GAIN_SHIFT) != LIST_END_GAIN:
        word = int(made.candidates[at])
        oriented = (word & 0x1FFF) * 4 + ((word >> ROTATION_SHIFT) & 3)
        quad = puzzle.oriented[oriented]
        assert (word >> DOWN_SHIFT) & 0xFFF == quad[2]
        assert (word >> RIGHT_SHIFT) & 0x1FFFFF == quad[shown] * made.colour_count
        found.append((oriented, word >> GAIN_SHIFT))
        at += 1
    return found


def standing(search: Constructor) -> tuple[int, ...]:
    """The prefix that stands now: oriented pieces by depth."""
    words = search.prefix.chosen[: max(0, int(search.prefix.scalars[0]))].tolist()
    return tuple((word & 0x1FFF) * 4 + (word >> ROTATION_SHIFT & 3) for word in words)


def prefixes_of(search: Constructor, nodes: int = 10**9) -> tuple[int, list[tuple[int, ...]]]:
    """(status, prefixes met) of so many more nodes."""
    limit, found = search.nodes + nodes, []
    while (status := kernel.next_prefix(search.plan, search.arrays, limit)) == REACHED:
        found.append(standing(search))
    return status, found


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
    ends = [  # of each free piece as it lies on the right side or in its lower corner: near, far, whether a corner
        (quad[0], quad[2] or puzzle.mate[quad[3]], quad[2] == 0)
        for oriented, quad in enumerate(puzzle.oriented.tolist())
        if quad[1] == 0 and quad[0] and oriented >> 2 not in used
    ]
    fits = (
        [near for near, _, _ in laid] == [colour, *[far for _, far, _ in laid[:-1]]]
        and [corner for _, _, corner in laid] == plan.is_corner.tolist()
        for laid in permutations(ends, length)
    )
    return any(fits)
