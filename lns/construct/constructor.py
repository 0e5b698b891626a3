"""The constructor: prefixes by depth-first search, each finished exactly, full boards out."""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.errors import InputError
from instances.puzzle import Puzzle
from lns.construct import kernel, tables
from lns.construct.kernel import Plan, Prefix
from lns.construct.schedule import Schedule, derive
from lns.construct.tail import plan_tail
from lns.engine import State
from lns.params import Construct
from lns.rng import RandomState, generator

MAX_COLOURS = 500  # the candidate tables hold colours x colours lists a kind of cell


class Constructor:
    """Depth-first search of one schedule, resumable at any node.

    ``state()`` is all of it; the candidate tables are made again from the number of the shuffle.
    """

    def __init__(self, puzzle: Puzzle, params: Construct, random: RandomState) -> None:
        if puzzle.colours > MAX_COLOURS:
            raise InputError(f"{puzzle.name} has {puzzle.colours} colours; the optimizer takes at most {MAX_COLOURS}")
        self.puzzle = puzzle
        self.params = params
        self.random = random
        self.schedule: Schedule = derive(puzzle, params)
        self.tail, self._work = plan_tail(puzzle, self.schedule.order, self.schedule.cut)
        self._finds = np.zeros(puzzle.cells, dtype=np.int32)
        self.counters = np.zeros(4, dtype=np.int64)
        self.shuffle_seed = self.shuffled_at = self._prefixes_before = 0
        self.exhausted = False
        cells, width = puzzle.cells, puzzle.width + 1
        row, column = np.divmod(self.schedule.order.astype(np.int64), puzzle.width)
        self._position = (row + 1) * width + column + 1
        self.prefix = Prefix(
            cursor=np.zeros(cells + 1, dtype=np.int64),
            chosen=np.zeros(cells, dtype=np.int64),
            gain=np.zeros(cells + 1, dtype=np.int64),
            used=np.zeros(cells + 1, dtype=np.uint8),
            right=np.zeros((puzzle.height + 1) * width, dtype=np.int64),
            down=np.zeros((puzzle.height + 1) * width, dtype=np.int64),
            scalars=np.zeros(2, dtype=np.int64),
            visits=np.zeros(cells + 1, dtype=np.int64),
        )
        self.reshuffle()

    def reshuffle(self) -> None:
        """Begin again at the empty board with candidates in another order."""
        self.shuffle_seed = int(generator(self.random).integers(2**62))
        self._make_plan()
        self.prefix.scalars[0] = 0
        self.prefix.used[:] = 0
        self.prefix.cursor[0] = self.plan.tables.index[self.plan.tables.base[0]]
        self.shuffled_at = self.nodes
        self._prefixes_before = self.prefixes

    def _make_plan(self) -> None:
        chance = np.random.Generator(np.random.PCG64(self.shuffle_seed))
        schedule = self.schedule
        made = tables.build(self.puzzle, schedule.order, schedule.may_slip, schedule.favoured, chance)
        self.plan = Plan(made, self._position, schedule.need, self.puzzle.width + 1, schedule.cut)

    def run(self, nodes: int, target: int) -> Board | None:
        """Search for ``nodes`` more nodes, or until a full board of at least ``target`` is found; that board, or None.

        ``exhausted`` turns True when the whole tree of the schedule has been searched.
        """
        limit = self.nodes + nodes
        while self.nodes < limit:
            if self._time_to_reshuffle():
                self.reshuffle()
            status = kernel.construct(
                self.plan,
                self.prefix,
                self.tail,
                self._work,
                self._finds,
                self.counters,
                self.puzzle.max_score - target,
                min(limit, self.nodes + self.params.patience_nodes),
                self.params.tail_nodes,
            )
            if status == kernel.REACHED:
                placed = np.empty(self.puzzle.cells, dtype=np.int32)
                placed[self.schedule.order] = self._finds
                return Board(placed, self.puzzle.width, self.puzzle.height)
            if status == kernel.EXHAUSTED:
                self.exhausted = True
                return None
        return None

    def _time_to_reshuffle(self) -> bool:
        """After a fixed number of nodes, or sooner where a shuffle leads to no prefix at all."""
        since = self.nodes - self.shuffled_at
        barren = self.prefixes == self._prefixes_before
        return since >= (self.params.patience_nodes if barren else self.params.reshuffle_nodes)

    @property
    def nodes(self) -> int:
        """Placements made so far, those of the exact tails not counted."""
        return int(self.prefix.scalars[1])

    @property
    def prefixes(self) -> int:
        """Prefixes that reached the exact tail."""
        return int(self.counters[0])

    @property
    def tail_nodes(self) -> int:
        return int(self.counters[2])

    def state(self) -> State:
        return {
            **{f"prefix.{name}": value.copy() for name, value in self.prefix._asdict().items()},
            "counters": self.counters.copy(),
            "shuffle": np.array([self.shuffle_seed, self.shuffled_at, self._prefixes_before, self.exhausted]),
            "random": self.random.copy(),
        }

    def restore(self, state: State) -> None:
        for name, value in self.prefix._asdict().items():
            value[...] = state[f"prefix.{name}"]
        self.counters[:] = state["counters"]
        self.shuffle_seed, self.shuffled_at, self._prefixes_before, exhausted = map(int, state["shuffle"])
        self.exhausted = bool(exhausted)
        self.random[:] = state["random"]
        self._make_plan()
