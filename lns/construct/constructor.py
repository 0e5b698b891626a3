"""The constructor: depth-first search for prefixes of the board, which exact tails then complete to full boards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct import kernel
from lns.construct.candidates import Bitsets, FloatArray, build_tables, check_colours
from lns.construct.endgame import COUNTS_PER_DEPTH, DEPTH, EXHAUSTED, NODES, REACHED
from lns.construct.endgame_plan import PrefixState, assign_bit, plan_endgame
from lns.construct.kernel import ConstructorPlan, ConstructorState, PrefixPlan, plan_depths
from lns.construct.schedule import BreakSchedule, quota_end
from lns.construct.tail import plan_tail
from lns.engine import State, Statistics
from lns.exact.kernels import allocate
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import board_from_view, puzzle_in_view
from lns.params import ConstructParams
from lns.rng import RandomState, generator

RECENT_SHARE = 1 / 3  # `Constructor.recent` fades by a factor e in this share of ``restart_nodes`` node equivalents
SURPLUS_BINS = 9  # bins of the histogram of surpluses, 0 to 8 half-edges; the last bin also counts larger surpluses
LEAST_TREE = 2**14  # fewest nodes of a tree that is remembered once it was searched completely
PARTITION_CELLS = 16  # prefixes that have filled this many cells, clue cells not counted, are partitioned among islands


class Constructor:
    """One restart of the depth-first search; it can be interrupted and resumed at any node.

    It searches the tree of one break schedule, with the candidates in a new random order. Once `restart_due` is true,
    the caller may make a new constructor. ``random``, uint64 (4,), is the state of the engine's random generator.

    ``partition``: (index of this part, number of parts). Under a quota, prefixes that have filled `PARTITION_CELLS`
    cells are partitioned by a hash of their pieces, and only the prefixes of this part are searched; so no two islands
    search the same tree. Without a quota, and on the smallest boards, every island searches all prefixes.

    ``searched``, uint64 (`kernel.SEARCHED_SIZE`,), at first zeros: trees that earlier restarts searched completely,
    which are not searched again, and to which this restart adds its own. Without it every tree is searched.

    Candidate tables and sets of the endgame are not part of `state`; they are rebuilt from the random seed of the
    restart and from the bits that the endgame has assigned to pieces. Raises InputError for too many colours.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: ConstructParams,
        schedule: BreakSchedule,
        random: RandomState,
        partition: tuple[int, int] = (0, 1),
        searched: Bitsets | None = None,
    ) -> None:
        check_colours(puzzle)
        self.puzzle, self.params, self.schedule, self.random = puzzle, params, schedule, random
        self._searched = np.zeros(0, dtype=np.uint64) if searched is None else searched
        self.partition, self.exhausted = partition, False  # exhausted: whether the tree was searched completely
        self._seed = int(generator(random).integers(2**62))
        self._make_plan()

    def _make_plan(self) -> None:
        """Make the candidate tables from the random seed, and the arrays of a search that has not begun."""
        chance = np.random.Generator(np.random.PCG64(self._seed))
        schedule, order, cut = self.schedule, self.schedule.order, self.schedule.cut
        start, cells = schedule.endgame_depth, self.puzzle.cells
        puzzle = self.puzzle_in_view = puzzle_in_view(self.puzzle, schedule.view)
        tables = build_tables(puzzle, order, schedule.allowed > 0, schedule.favoured, chance, cut)
        free = np.flatnonzero(~np.isin(order[:start], [clue.cell for clue in puzzle.clues]))
        is_partitioned = schedule.favoured and self.partition[1] > 1 and len(free) >= PARTITION_CELLS
        partition_depth = int(free[PARTITION_CELLS - 1]) + 1 if is_partitioned else 0
        prefix_plan = PrefixPlan(
            tables=tables,
            depths=plan_depths(puzzle, schedule, tables.base, remembers=len(self._searched) > 0),
            heads=tables.candidates[tables.list_start],
            padded_width=puzzle.width + 1,
            endgame_start=start,
            cut=cut,
            partition_depth=partition_depth,
            partition=self.partition[0],
            partitions=self.partition[1],
            mismatches=min(schedule.mismatches, kernel.MAX_MISMATCHES),
            least_tree=LEAST_TREE,
        )
        endgame_plan, endgame_state = plan_endgame(puzzle, order, start, cut, schedule.allowed, chance)
        tail_plan, tail_workspace = plan_tail(puzzle, order, cut)
        self.plan = ConstructorPlan(prefix=prefix_plan, endgame=endgame_plan, tail=tail_plan)
        sizes = {"cells": cells, "cells + 1": cells + 1, "positions": (puzzle.height + 1) * (puzzle.width + 1)}
        sizes |= {"cells * COUNTS_PER_DEPTH": cells * COUNTS_PER_DEPTH}
        sizes |= {"MAX_FRONTIER_KEYS + 1": kernel.MAX_FRONTIER_KEYS + 1}
        prefix = allocate(PrefixState, sizes, searched=self._searched)
        prefix.scalars[DEPTH], prefix.cursor[0] = kernel.NOT_STARTED, tables.list_start[tables.base[0]]
        self.prefix, parts = prefix, {"prefix": prefix, "endgame": endgame_state, "tail": tail_workspace}
        self.arrays: ConstructorState = allocate(ConstructorState, sizes, **parts)
        # by surplus in favoured half-edges: number of sampled prefixes that got past the end of the quota
        self.surplus_counts = np.zeros(SURPLUS_BINS, dtype=np.int64)
        self.recent = np.zeros_like(self._totals)  # like `_totals`, but earlier numbers fade (`RECENT_SHARE`)

    def run(self, nodes: int, target: int) -> Board | None:
        """Continue the search for about ``nodes`` nodes, or until `restart_due` becomes true or a board is found.

        Return a full board that scores at least ``target``, or None; the next call continues where this call stopped.
        """
        mismatches, limit, before = self.puzzle.max_score - target, self.nodes + nodes, self._totals
        limit = limit if self.restart_due else min(limit, self._length)
        status = kernel.construct(self.plan, self.arrays, mismatches, limit, self.params.tail_nodes)
        done = self._totals - before
        self.recent = self.recent * np.exp(-done[-1] / (RECENT_SHARE * self.params.restart_nodes)) + done
        end = quota_end(self.puzzle.cells)
        if self.schedule.favoured and end <= min(int(self.prefix.scalars[DEPTH]), self.plan.prefix.endgame_start):
            surplus = int(self.prefix.gain[end]) - int(self.schedule.quota_floor[end - 1])
            self.surplus_counts[min(surplus, SURPLUS_BINS - 1)] += 1
        if status == REACHED:
            puzzle, placed = self.puzzle_in_view, np.empty(self.puzzle.cells, dtype=np.int32)
            placed[self.schedule.order] = self.arrays.found
            return board_from_view(Board(placed, puzzle.width, puzzle.height), self.schedule.view)
        self.exhausted = status == EXHAUSTED
        return None

    @property
    def _totals(self) -> FloatArray:
        """The prefixes that reached the exact tail, by breaks spent, and the node equivalents, as one array."""
        return np.append(self.arrays.prefixes_by_breaks, float(self.statistics.node_equivalents))

    @property
    def restart_due(self) -> bool:
        """Whether the tree is exhausted, or this restart has made the nodes of a usual one (`_length`)."""
        return self.exhausted or self.nodes >= self._length

    @property
    def _length(self) -> int:
        """Number of nodes of a usual restart: few as long as the restart has not reached an exact tail."""
        return self.params.restart_nodes_without_prefix if self.no_prefix_found else self.params.restart_nodes

    @property
    def no_prefix_found(self) -> bool:
        """Whether this restart has not reached an exact tail yet."""
        return self.prefixes == 0

    @property
    def frontier_keys(self) -> npt.NDArray[np.uint64]:
        """The sampled frontier keys of this restart, uint64 (keys,): see `lns.construct.quota_arm.PrefixNovelty`."""
        return self.prefix.frontier_keys[1 : int(self.prefix.frontier_keys[0]) + 1]

    @property
    def nodes(self) -> int:
        """Number of placements, also of those that the look-ahead to the next cell rejects, but not in exact tails."""
        return int(self.prefix.scalars[NODES])

    @property
    def prefixes(self) -> int:
        """Number of prefixes that reached the exact tail."""
        return int(self.arrays.counters[kernel.PREFIXES])

    @property
    def statistics(self) -> Statistics:
        """Counts of the work that this restart has done, including the placements in exact tails."""
        tail_nodes = int(self.arrays.counters[kernel.TAIL_NODES])
        return Statistics(nodes=self.nodes, prefixes=self.prefixes, tail_nodes=tail_nodes)

    def _arrays(self) -> State:
        """Return the arrays of `state` by name, except ``restart``: seed and `exhausted`."""
        arrays, endgame = self.arrays, self.arrays.endgame
        parts = (
            (self, ("surplus_counts", "recent", "random")),
            (arrays, ("counters", "prefixes_by_breaks", "tail_outcomes")),
            (endgame, ("levels", "piece_of_bit")),
            (endgame.closing, ("closings", "end_colour", "reserved")),
        )
        named = {name: getattr(part, name) for part, names in parts for name in names}
        return self.prefix._asdict() | named | {"closing": endgame.closing.scalars}

    def state(self) -> State:
        """Return all that a constructor of the same puzzle, parameters and schedule needs to continue the search."""
        restart = np.array([self._seed, self.exhausted])
        return {"restart": restart} | {name: array.copy() for name, array in self._arrays().items()}

    def restore(self, state: State) -> None:
        self._seed, self.exhausted = int(state["restart"][0]), bool(state["restart"][1])
        self._make_plan()
        for bit, piece in enumerate(state["piece_of_bit"].tolist()):
            if piece >= 0:
                assign_bit(self.plan.endgame, self.arrays.endgame, piece, bit)
        for name, array in self._arrays().items():
            array[...] = state[name]
