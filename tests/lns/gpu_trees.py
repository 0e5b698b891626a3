"""Trees of the construction on small boards, searched by the processor and by the lanes of a card; also as a program.

``python -m tests.lns.gpu_trees`` compares them on the card that `lns.gpu.card.CudaCard` finds, which is numba's
simulator with ``NUMBA_ENABLE_CUDASIM=1``.
"""

from __future__ import annotations

import sys

import numpy as np

from lns.construct import candidates
from lns.construct.constructor import Constructor
from lns.construct.endgame import NODES, REACHED
from lns.construct.kernel import search_lists
from lns.construct.schedule import BreakSchedule
from lns.gpu import lanes as lane
from lns.gpu.card import Card, CudaCard
from lns.gpu.search import next_prefixes
from lns.instances.puzzle import Puzzle
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.construct_parts import WHOLE_TREE, clues_of, schedule_of

Found = list[tuple[int, ...]]  # prefixes at the cut, as indices behind the candidate of each depth, in order
TREES, LANES, LONGEST = 50, 4, 2_000  # boards, lanes, most nodes of a tree


def tree(number: int) -> tuple[Puzzle, BreakSchedule]:
    """A small board, perhaps with clues or mates, and a schedule with some breaks and perhaps a quota."""
    rng = np.random.default_rng(number)
    width, height = (int(size) for size in rng.integers(3, 7, 2))
    puzzle, board = planted(number, width, height, int(rng.integers(3, 6)))
    puzzle = with_mates(puzzle, board, number) if number % 5 == 4 else puzzle
    if number % 3 == 0:
        puzzle = puzzle.with_clues(clues_of(board, sorted(rng.choice(puzzle.cells, 2, replace=False).tolist())))
    tail = int(rng.integers(1, 4))
    cut = puzzle.cells - tail
    unlock = sorted(rng.integers(cut // 3, cut, int(rng.integers(0, 4))).tolist())
    order = candidates.comb_order(width, height, 1 + number % 2)
    favoured = (1,) if number % 4 == 0 else ()
    floor = np.zeros(puzzle.cells, dtype=np.int32)
    if favoured:
        floor[2 : cut // 3] = 1
    return puzzle, schedule_of(order, unlock, tail, favoured=favoured, floor=floor, begin=cut)


def on_processor(puzzle: Puzzle, schedule: BreakSchedule) -> tuple[int, Found]:
    """Nodes and finds of the whole tree, or of its first `LONGEST` nodes."""
    search = Constructor(puzzle, WHOLE_TREE, schedule, random_state(1, 0))
    found: Found = []
    while search_lists(search.plan.prefix, search.prefix, LONGEST) == REACHED:
        found.append(tuple(search.prefix.cursor[: schedule.cut].tolist()))
    return search.nodes, found


def on_card(card: Card, puzzle: Puzzle, schedule: BreakSchedule, first: int, turns: int) -> tuple[int, Found]:
    """The same by lanes that share the prefixes of length ``first``; nodes include those of the prefixes."""
    search = Constructor(puzzle, WHOLE_TREE, schedule, random_state(1, 0))
    out = np.zeros((LONGEST, first), dtype=np.int32)
    count = next_prefixes(search.plan.prefix._replace(endgame_start=first), search.prefix, out, LONGEST)
    slots = max(1, -(-count // LANES))
    plan = lane.lane_plan(search.plan.prefix, first, lanes=LANES, slots=slots, turns=turns, prefix_nodes=10**9)
    state = lane.lane_state(plan, len(search.prefix.right))
    queue = state.queue.reshape(slots, first, LANES)
    for number, cursors in enumerate(out[:count]):
        queue[number // LANES, :, number % LANES] = cursors
    scalars = state.scalars.reshape(lane.SCALARS, LANES)
    for idle in range(count, slots * LANES):  # the last prefixes of some lanes lack: theirs stand one slot later
        queue[1:, :, idle % LANES] = queue[:-1, :, idle % LANES].copy()
        scalars[lane.TAKEN, idle % LANES] = 1
    card.load(plan, state)
    nodes, found = int(search.prefix.scalars[NODES]), []
    while True:
        card.launch()
        after = card.wait()
        nodes += int(after[lane.NODES].sum())
        found += [tuple(stack.tolist()) for stack in card.prefixes(np.flatnonzero(after[lane.AT_CUT]))]
        if ((after[lane.DEPTH] == lane.NO_PREFIX) & (after[lane.TAKEN] == slots)).all():
            return nodes, found


def compared(number: int, card: Card, turns: int) -> str:
    """What differs for a tree, or ""."""
    puzzle, schedule = tree(number)
    nodes, found = on_processor(puzzle, schedule)
    if nodes >= LONGEST:
        return "too long"
    first = 1 + number % max(1, schedule.cut - 2)
    there, finds = on_card(card, puzzle, schedule, first, turns)
    if nodes != there:
        return f"{nodes} nodes, on the card {there}"
    return "" if sorted(found) == sorted(finds) and len(set(finds)) == len(finds) else "other prefixes"


def numbers() -> list[int]:
    """The first `TREES` trees of at most `LONGEST` nodes, most of which have prefixes at the cut."""
    fit = (number for number in range(10_000) if on_processor(*tree(number))[0] < LONGEST)
    return [next(fit) for _ in range(TREES)]


if __name__ == "__main__":
    wrong = {number: said for number in numbers() if (said := compared(number, CudaCard(LANES), 100_000))}
    print(wrong or f"{TREES} trees are equal")
    sys.exit(bool(wrong))
