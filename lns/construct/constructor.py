"""The constructor: depth-first search for prefixes of the board, each of which is finished by an exact tail."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.construct import endgame, kernel
from lns.construct.candidates import (
    BREAK_COST,
    GAIN_SHIFT,
    LIST_END_GAIN,
    MAX_BREAKS,
    Int64Array,
    build_tables,
    check_colours,
)
from lns.construct.endgame import COUNTS_PER_DEPTH, DEPTH, EXHAUSTED, NODES, REACHED
from lns.construct.endgame_plan import PrefixState, assign_bit, plan_endgame
from lns.construct.kernel import ConstructorPlan, ConstructorState, PrefixPlan, plan_depths
from lns.construct.schedule import BreakSchedule, quota_end
from lns.construct.tail import plan_tail
from lns.engine import State, check_numbers, expect
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import board_from_view, puzzle_in_view
from lns.params import ConstructParams
from lns.rng import RandomState, generator

NODES_BEFORE_DIVISOR = 8  # a restart that reaches exact tails lasts nodes_before / 8 nodes,
MAX_RESTART_FACTOR = 10  # but at least `restart_nodes`, and at most this many times as much
SURPLUS_BINS = 9  # numbers of surplus half-edges that are told apart; the last one stands for all larger ones
PARTITION_CELLS = 16  # prefixes with this many cells without a clue are partitioned among the islands


class Constructor:
    """Depth-first search under a break schedule; it can be interrupted and resumed at any node.

    A restart searches the tree of one break schedule with its candidates in a new random order. When `restart_due`
    says so, the caller starts the next one with `restart`.

    Parameters
    ----------
    puzzle, params
        The puzzle as the engine fills it, and the parameters of the construction.
    schedule : BreakSchedule
        The first schedule. Later ones have the same cell order and cut, and views with rows as long. InputError if it
        has too many breaks, or the puzzle too many colours.
    random : uint64 (4,)
        Random state, shared with the engine.
    partition : tuple of int
        (part, parts). Under a quota, prefixes of `PARTITION_CELLS` cells are partitioned by a hash of their pieces, and
        only those of this part are searched; so no two islands search the same tree. Without a quota, and on the
        smallest boards, every island searches all prefixes.

    Notes
    -----
    Candidate tables and endgame sets are not part of `state`; they are rebuilt from the random seed of the restart and
    from the bits that the endgame has assigned to pieces.
    """

    # arrays of `state`; those of `UNSIGNED` are uint64, the others int64
    STATE = (
        "cursor", "scalars", "child_counts", "counters", "prefixes_by_breaks", "tail_outcomes", "surplus_counts",
        "frontier_keys", "restart", "piece_bits", "random",
    )  # fmt: skip
    UNSIGNED = ("frontier_keys", "random")

    def __init__(
        self,
        puzzle: Puzzle,
        params: ConstructParams,
        schedule: BreakSchedule,
        random: RandomState,
        partition: tuple[int, int] = (0, 1),
    ) -> None:
        if len(schedule.unlock) >= MAX_BREAKS:
            raise InputError(f"break schedule: {len(schedule.unlock)} breaks; expected fewer than {MAX_BREAKS}")
        check_colours(puzzle)
        self.puzzle, self.params, self.random, self.partition = puzzle, params, random, partition
        self.counters = _zeros(kernel.COUNTERS)
        # of the present restart: prefixes that reached the exact tail, by breaks spent
        self.prefixes_by_breaks = _zeros(MAX_BREAKS)
        # a sample of its exact tails, by their fewest mismatches; the last entry counts those without a result
        self.tail_outcomes = _zeros(kernel.MISMATCH_BINS + 1)
        # a sample of its prefixes that got past the quota, by the favoured half-edges used beyond those demanded
        self.surplus_counts = _zeros(SURPLUS_BINS)
        cells, positions = puzzle.cells, (puzzle.height + 1) * (puzzle.width + 1)
        self.prefix = PrefixState(
            cursor=_zeros(cells + 1),
            chosen=_zeros(cells),
            gain=_zeros(cells + 1),
            used=np.zeros(cells + 1, dtype=np.uint8),
            right=_zeros(positions),
            down=_zeros(positions),
            scalars=_zeros(2),
            child_counts=_zeros(cells * COUNTS_PER_DEPTH),
            frontier_keys=np.zeros(kernel.MAX_FRONTIER_KEYS + 1, dtype=np.uint64),
        )
        self.restart(schedule)

    def restart(self, schedule: BreakSchedule, nodes_before: int = 0) -> None:
        """Start again at the empty board, with candidates in a new random order.

        ``nodes_before``: node equivalents of earlier restarts with the same colours and view, which make it longer.
        """
        self.schedule, self.nodes_before = schedule, nodes_before
        self.exhausted = False  # whether its tree was searched completely
        self._seed = int(generator(self.random).integers(2**62))
        self._make_plan()
        prefix = self.prefix
        prefix.scalars[DEPTH], prefix.cursor[0] = kernel.NOT_STARTED, self._first_cursor
        for counts in self._counts().values():
            counts[:] = 0
        prefix.used[:], prefix.frontier_keys[:] = 0, 0
        self._before = self.nodes, self.prefixes, self.tail_nodes  # of earlier restarts
        self.counters[kernel.NEXT_SAMPLE] = self.nodes

    def _make_plan(self) -> None:
        chance = np.random.Generator(np.random.PCG64(self._seed))
        schedule, order, cut = self.schedule, self.schedule.order, self.schedule.cut
        start = schedule.endgame_depth
        puzzle = self.puzzle_in_view = puzzle_in_view(self.puzzle, schedule.view)
        tables = build_tables(puzzle, order, schedule.allowed > 0, schedule.favoured, chance, cut)
        prefix_plan = PrefixPlan(
            tables=tables,
            depths=plan_depths(puzzle, schedule, tables.base),
            heads=tables.candidates[tables.list_start],
            padded_width=puzzle.width + 1,
            endgame_start=start,
            cut=cut,
            partition_depth=self._partition_depth() if schedule.favoured else 0,
            partition=self.partition[0],
            partitions=self.partition[1],
        )
        endgame_plan, endgame_state = plan_endgame(puzzle, order, start, cut, schedule.allowed, chance)
        tail_plan, tail_workspace = plan_tail(puzzle, order, cut)
        self.plan = ConstructorPlan(prefix=prefix_plan, endgame=endgame_plan, tail=tail_plan)
        self.arrays = ConstructorState(
            prefix=self.prefix,
            endgame=endgame_state,
            tail=tail_workspace,
            found=np.zeros(puzzle.cells, dtype=np.int32),
            counters=self.counters,
            prefixes_by_breaks=self.prefixes_by_breaks,
            tail_outcomes=self.tail_outcomes,
        )

    @property
    def _first_cursor(self) -> int:
        """Where the list of the first cell begins."""
        tables = self.plan.prefix.tables
        return int(tables.list_start[tables.base[0]])

    def _partition_depth(self) -> int:
        """Depth behind `PARTITION_CELLS` cells without a clue; 0 if prefixes are not partitioned."""
        clued = [clue.cell for clue in self.puzzle_in_view.clues]
        free = np.flatnonzero(~np.isin(self.schedule.order[: self.schedule.endgame_depth], clued))
        partitioned = self.partition[1] > 1 and len(free) >= PARTITION_CELLS
        return int(free[PARTITION_CELLS - 1]) + 1 if partitioned else 0

    def run(self, nodes: int, target: int) -> Board | None:
        """Search on for at most ``nodes`` nodes, or until the restart is due or a board is found.

        Returns a full board of at least the score ``target``, or None; the next call continues behind it.
        """
        mismatches, limit = self.puzzle.max_score - target, min(self.nodes + nodes, self._restart_at())
        status = kernel.construct(self.plan, self.arrays, mismatches, limit, self.params.tail_nodes)
        self._sample_surplus()
        if status == REACHED:
            puzzle, placed = self.puzzle_in_view, np.empty(self.puzzle.cells, dtype=np.int32)
            placed[self.schedule.order] = self.arrays.found
            return board_from_view(Board(placed, puzzle.width, puzzle.height), self.schedule.view)
        self.exhausted = status == EXHAUSTED
        return None

    def _sample_surplus(self) -> None:
        """Add the prefix that is open now to `surplus_counts`, if it has got past the quota."""
        end = quota_end(self.puzzle.cells)
        if self.schedule.favoured and end <= min(int(self.prefix.scalars[DEPTH]), self.plan.prefix.endgame_start):
            surplus = int(self.prefix.gain[end]) - int(self.schedule.quota_floor[end - 1])
            self.surplus_counts[min(surplus, SURPLUS_BINS - 1)] += 1

    @property
    def restart_due(self) -> bool:
        """Whether the tree is exhausted, or the restart has made its share of nodes."""
        return self.exhausted or self.nodes >= self._restart_at()

    def _restart_at(self) -> int:
        """Number of nodes at which the restart ends: early if it has reached no exact tail, as most restarts do not.

        One that has reached some goes on to do so, and has more nodes the more its colours were searched before.
        """
        shortest = self.params.restart_nodes
        length = min(max(shortest, self.nodes_before // NODES_BEFORE_DIVISOR), MAX_RESTART_FACTOR * shortest)
        return self._before[0] + (self.params.restart_nodes_without_prefix if self.no_prefix_found else length)

    @property
    def no_prefix_found(self) -> bool:
        """Whether the present restart has not reached an exact tail yet."""
        return self.prefixes == self._before[1]

    @property
    def frontier_keys(self) -> npt.NDArray[np.uint64]:
        """Sampled frontier keys of the present restart, uint64 (keys,): see `lns.construct.quota_arm`."""
        return self.prefix.frontier_keys[1 : int(self.prefix.frontier_keys[0]) + 1]

    @property
    def nodes(self) -> int:
        """Placements of all restarts, including those that look-ahead rejected; without those of exact tails."""
        return int(self.prefix.scalars[NODES])

    @property
    def prefixes(self) -> int:
        """Prefixes of all restarts that reached the exact tail."""
        return int(self.counters[kernel.PREFIXES])

    @property
    def tail_nodes(self) -> int:
        """Placements of exact tails, in all restarts."""
        return int(self.counters[kernel.TAIL_NODES])

    @property
    def nodes_since_restart(self) -> int:
        """Placements of the present restart."""
        return self.nodes - self._before[0]

    @property
    def node_equivalents_since_restart(self) -> float:
        """Cost of the present restart, its exact tails included (`lns.node_equivalents`)."""
        nodes, prefixes, tail_nodes = self._before
        tails = node_equivalents.exact_tails(self.prefixes - prefixes, self.tail_nodes - tail_nodes)
        return self.nodes - nodes + tails

    # -- state -------------------------------------------------------------------------------------------------------

    def _counts(self) -> dict[str, Int64Array]:
        """What is counted of the present restart, by its name in `state`."""
        names = ("prefixes_by_breaks", "tail_outcomes", "surplus_counts")
        return {"child_counts": self.prefix.child_counts, **{name: getattr(self, name) for name in names}}

    def state(self) -> State:
        depth, cursors = int(self.prefix.scalars[DEPTH]), self.prefix.cursor.copy()
        # only the cursors of the open path; those behind it are left over from earlier prefixes and mean nothing
        cursors[depth + (depth < self.plan.prefix.endgame_start) :] = 0  # the endgame reads none at its depth
        return {name: counts.copy() for name, counts in self._counts().items()} | {
            "counters": self.counters.copy(),
            "cursor": cursors,
            "scalars": self.prefix.scalars.copy(),
            "frontier_keys": self.prefix.frontier_keys.copy(),
            "restart": np.array([self._seed, *self._before, self.exhausted, self.nodes_before]),
            "piece_bits": self.arrays.endgame.piece_of_bit.copy(),
            "random": self.random.copy(),
        }

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError unless its cursors lead through the candidate lists."""
        check_numbers(state)
        for name, counts in [*self._counts().items(), ("counters", self.counters)]:
            counts[:] = state[name]
        self._seed, *before, exhausted, self.nodes_before = state["restart"].tolist()
        self._before, self.exhausted = (before[0], before[1], before[2]), bool(exhausted)
        self.random[:], self.prefix.frontier_keys[:] = state["random"], state["frontier_keys"]
        depth, nodes = state["scalars"].tolist()
        wait = max(kernel.TAIL_SAMPLE_NODES, kernel.TAIL_SAMPLE_COST_FACTOR * self.tail_nodes)
        _expect(bool(self.prefix.frontier_keys[0] <= kernel.MAX_FRONTIER_KEYS) and depth <= self.schedule.cut)
        _expect(bool(self.counters[kernel.NEXT_SAMPLE] <= nodes + wait) and before[0] <= nodes)
        self._make_plan()
        bits = {bit: piece for bit, piece in enumerate(state["piece_bits"].tolist()) if piece != -1}
        _expect(set(bits.values()) <= set(range(self.puzzle.cells)) and len(set(bits.values())) == len(bits))
        for bit, piece in bits.items():
            assign_bit(self.plan.endgame, self.arrays.endgame, piece, bit)
        self._replay(state["cursor"].tolist(), depth)
        self.prefix.scalars[:], self.prefix.child_counts[:] = (depth, nodes), state["child_counts"]

    def _replay(self, cursors: list[int], depth: int) -> None:
        """Place the saved prefix again, cell by cell, by a search that begins each list one before the saved cursor.

        A cursor is the index of the next candidate in a cell's list. It is checked first, since kernels do not check.
        """
        prefix, start = self.prefix, self.plan.prefix.endgame_start
        plan, candidates = self.plan.prefix._replace(partition_depth=0), self.plan.prefix.tables.candidates
        prefix.used[:], prefix.gain[0], prefix.cursor[0] = 0, 0, self._first_cursor
        for at in range(min(depth + 1, start)):
            cursor, first = cursors[at], int(prefix.cursor[at])
            tried = candidates[first : max(first, cursor)]
            _expect(first + len(tried) == cursor and not (tried >> GAIN_SHIFT == LIST_END_GAIN).any())
            prefix.cursor[at] = cursor
            if at < depth:
                prefix.cursor[at] -= 1
                prefix.scalars[:] = at, 0
                kernel.search_lists(plan, prefix, 1)
                _expect(cursor != first and prefix.cursor[at] == cursor and prefix.scalars[0] == at + 1)
        if depth > start:
            spent = (BREAK_COST - 1 - int(prefix.gain[start])) // BREAK_COST
            endgame.start_endgame(self.plan.endgame, self.arrays.endgame, prefix.used, prefix.right, prefix.down, spent)
            in_endgame = np.array(cursors[start:depth], dtype=np.int64)
            _expect(endgame.replay_cursors(self.plan.endgame, self.arrays.endgame, in_endgame))
            kernel.place_pieces(self.plan.endgame, self.arrays.endgame, prefix, depth)


def _zeros(size: int) -> Int64Array:
    return np.zeros(size, dtype=np.int64)


def _expect(fits: bool) -> None:
    expect(fits, "construction")
