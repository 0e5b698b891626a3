"""The constructor: depth-first search for prefixes of the board, each of which is finished by an exact tail."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import Puzzle
from instances.symmetry import board_from_view, puzzle_in_view
from lns import node_equivalents
from lns.construct import candidates, endgame, kernel
from lns.construct.candidates import (
    BREAK_COST,
    GAIN_SHIFT,
    LIST_END_GAIN,
    MAX_BREAKS,
)
from lns.construct.endgame import EXHAUSTED, REACHED
from lns.construct.endgame_plan import PrefixState, assign_bit, plan_endgame
from lns.construct.kernel import ConstructorPlan, ConstructorState, PrefixPlan, plan_depths
from lns.construct.order import padded_positions
from lns.construct.schedule import BreakSchedule, quota_end
from lns.construct.tail import plan_tail
from lns.engine import State, saved_counters
from lns.params import ConstructParams
from lns.rng import RandomState, generator
from lns_support.errors import InputError

NODES_BEFORE_DIVISOR = 8  # a restart that reaches exact tails lasts nodes_before / 8 nodes,
MAX_RESTART_FACTOR = 10  # but at least `restart_nodes`, and at most this many times as much
SURPLUS_BINS = 9  # numbers of surplus half-edges that are told apart; the last one stands for all larger ones
PARTITION_CELLS = 16  # prefixes with this many cells without a clue are partitioned among the islands


class Constructor:
    """Depth-first search under a break schedule; it can be interrupted and resumed at any node.

    A restart searches the tree of one break schedule with its candidates in a new random order. It ends when the tree
    is exhausted or `restart_due` says so; then the caller starts the next one with `restart`.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle as the engine fills it.
    params : ConstructParams
        Parameters of the construction.
    schedule : BreakSchedule
        The first schedule. Later ones must have the same cell order and cut.
    random : uint64 (4,)
        Random state, shared with the engine.
    partition : tuple of int
        (part, parts). Under a quota, prefixes of `PARTITION_CELLS` cells are partitioned by a hash of their pieces, and
        only those of this part are searched; so no two islands search the same tree. Without a quota, and on the
        smallest boards, every island searches all prefixes.

    Attributes
    ----------
    exhausted : bool
        Whether the tree of the present restart was searched completely.
    nodes_before : int
        Node equivalents of earlier restarts with the same favoured colours and view.
    prefixes_by_breaks : int64 (MAX_BREAKS,)
        Prefixes of the present restart that reached the exact tail, by breaks spent.
    tail_outcomes : int64 (MISMATCH_BINS + 1,)
        A sample of its exact tails, by their fewest mismatches; the last entry counts those without a result.
    surplus_counts : int64 (SURPLUS_BINS,)
        A sample of its prefixes that have got past the quota, by the favoured half-edges that they used until then
        beyond those that the quota demands.

    Raises
    ------
    InputError
        If the schedule has too many breaks, or the puzzle too many colours.

    Notes
    -----
    Candidate tables and endgame sets are not part of `state`; they are rebuilt from the random seed of the restart and
    from the bits that the endgame has assigned to pieces.
    """

    # arrays of `state` and their dtypes
    STATE: ClassVar[dict[str, str]] = {
        "cursor": "int64", "scalars": "int64", "child_counts": "int64", "counters": "int64",
        "prefixes_by_breaks": "int64", "tail_outcomes": "int64", "surplus_counts": "int64", "frontier_keys": "uint64",
        "restart": "int64", "piece_bits": "int64", "random": "uint64",
    }  # fmt: skip

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
        candidates.check_colours(puzzle)
        self.puzzle = puzzle
        self.params = params
        self.random = random
        self.partition = partition
        self.schedule = schedule
        self.counters = np.zeros(kernel.COUNTERS, dtype=np.int64)
        self.prefixes_by_breaks = np.zeros(MAX_BREAKS, dtype=np.int64)
        self.tail_outcomes = np.zeros(kernel.MISMATCH_BINS + 1, dtype=np.int64)
        self.surplus_counts = np.zeros(SURPLUS_BINS, dtype=np.int64)
        self.restart_seed = self.restarted_at = self._prefixes_before = self._tail_nodes_before = 0
        self.exhausted = False
        cells, width = puzzle.cells, puzzle.width + 1
        self._position = padded_positions(self.schedule.order, puzzle.width)
        self.prefix = PrefixState(
            cursor=np.zeros(cells + 1, dtype=np.int64),
            chosen=np.zeros(cells, dtype=np.int64),
            gain=np.zeros(cells + 1, dtype=np.int64),
            used=np.zeros(cells + 1, dtype=np.uint8),
            right=np.zeros((puzzle.height + 1) * width, dtype=np.int64),
            down=np.zeros((puzzle.height + 1) * width, dtype=np.int64),
            scalars=np.zeros(2, dtype=np.int64),
            child_counts=np.zeros(cells * endgame.COUNTS_PER_DEPTH, dtype=np.int64),
            frontier_keys=np.zeros(kernel.MAX_FRONTIER_KEYS + 1, dtype=np.uint64),
        )
        self.restart(schedule)

    def restart(self, schedule: BreakSchedule, nodes_before: int = 0) -> None:
        """Start again at the empty board, with candidates in a new random order.

        Parameters
        ----------
        schedule : BreakSchedule
            A schedule with the cell order and cut of the first one. Its view may differ if its rows are as long.
        nodes_before : int
            Node equivalents of earlier restarts with the same favoured colours and view; more of them make this
            restart longer.
        """
        self.schedule = schedule
        self.nodes_before = nodes_before
        self.exhausted = False
        self.restart_seed = int(generator(self.random).integers(2**62))
        self._make_plan()
        self.prefix.scalars[0] = kernel.NOT_STARTED
        self.prefix.used[:] = 0
        self.prefix.child_counts[:] = 0
        self.prefix.frontier_keys[:] = 0
        self.prefixes_by_breaks[:] = 0
        self.tail_outcomes[:] = 0
        self.surplus_counts[:] = 0
        tables = self.plan.prefix.tables
        self.prefix.cursor[0] = tables.list_start[tables.base[0]]
        self.restarted_at = self.nodes
        self._prefixes_before, self._tail_nodes_before = self.prefixes, self.tail_nodes
        self.counters[kernel.NEXT_SAMPLE] = self.nodes

    def _make_plan(self) -> None:
        random = np.random.Generator(np.random.PCG64(self.restart_seed))
        schedule = self.schedule
        puzzle = self.puzzle_in_view = puzzle_in_view(self.puzzle, schedule.view)
        start, cut = schedule.endgame_depth, schedule.cut
        tables = candidates.build_tables(puzzle, schedule.order, schedule.may_break, schedule.favoured, random, cut)
        prefix_plan = PrefixPlan(
            tables=tables,
            depths=plan_depths(
                self._position,
                schedule.least_gain,
                tables.base,
                candidates.rim_look_ahead(puzzle, schedule.order, tables.base, cut),
            ),
            heads=tables.candidates[tables.list_start],
            padded_width=puzzle.width + 1,
            endgame_start=start,
            cut=cut,
            partition_depth=self._partition_depth() if schedule.favoured else 0,
            partition=self.partition[0],
            partitions=self.partition[1],
        )
        endgame_plan, endgame_state = plan_endgame(puzzle, schedule.order, start, cut, schedule.allowed, random)
        tail_plan, tail_workspace = plan_tail(puzzle, schedule.order, cut)
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

    def _partition_depth(self) -> int:
        """Depth behind `PARTITION_CELLS` cells without a clue; 0 if prefixes are not partitioned."""
        clued = [clue.cell for clue in self.puzzle_in_view.clues]
        free = np.flatnonzero(~np.isin(self.schedule.order[: self.schedule.endgame_depth], clued))
        partitioned = self.partition[1] > 1 and len(free) >= PARTITION_CELLS
        return int(free[PARTITION_CELLS - 1]) + 1 if partitioned else 0

    def run(self, nodes: int, target: int) -> Board | None:
        """Search on.

        Parameters
        ----------
        nodes : int
            Nodes to make at most. The search stops before if the restart is due.
        target : int
            Least score of a board to return.

        Returns
        -------
        Board or None
            A full board of at least ``target``, as soon as one is found; the next call continues behind it.
        """
        status = kernel.construct(
            self.plan,
            self.arrays,
            self.puzzle.max_score - target,
            min(self.nodes + nodes, self._restart_at()),
            self.params.tail_nodes,
        )
        self._sample_surplus()
        if status == REACHED:
            placed = np.empty(self.puzzle.cells, dtype=np.int32)
            placed[self.schedule.order] = self.arrays.found
            return board_from_view(
                Board(placed, self.puzzle_in_view.width, self.puzzle_in_view.height), self.schedule.view
            )
        self.exhausted = status == EXHAUSTED
        return None

    def _sample_surplus(self) -> None:
        """Add the prefix that is open now to `surplus_counts`, if it has got past the quota."""
        end = quota_end(self.puzzle.cells)
        if self.schedule.favoured and end <= min(int(self.prefix.scalars[0]), self.plan.prefix.endgame_start):
            surplus = int(self.prefix.gain[end]) - int(self.schedule.quota_floor[end - 1])
            self.surplus_counts[min(surplus, SURPLUS_BINS - 1)] += 1

    @property
    def restart_due(self) -> bool:
        """Whether the tree is exhausted, or the restart has made its share of nodes."""
        return self.exhausted or self.nodes >= self._restart_at()

    def _restart_at(self) -> int:
        """Number of nodes at which the restart ends.

        Early if it has reached no exact tail, as most restarts do not. One that has reached some goes on to do so, and
        is given more nodes the more its colours were searched before.
        """
        if self.no_prefix_found:
            return self.restarted_at + self.params.restart_nodes_without_prefix
        shortest = self.params.restart_nodes
        wanted = max(shortest, self.nodes_before // NODES_BEFORE_DIVISOR)
        return self.restarted_at + min(wanted, MAX_RESTART_FACTOR * shortest)

    @property
    def no_prefix_found(self) -> bool:
        """Whether the present restart has not reached an exact tail yet."""
        return self.prefixes == self._prefixes_before

    @property
    def frontier_keys(self) -> npt.NDArray[np.uint64]:
        """Sampled frontier keys of the present restart, uint64 (keys,): see `lns.construct.novelty`."""
        return self.prefix.frontier_keys[1 : int(self.prefix.frontier_keys[0]) + 1]

    @property
    def nodes_since_restart(self) -> int:
        return self.nodes - self.restarted_at

    @property
    def nodes(self) -> int:
        """Placements of all restarts, including those that look-ahead rejected; without those of exact tails."""
        return int(self.prefix.scalars[1])

    @property
    def prefixes(self) -> int:
        """Prefixes of all restarts that reached the exact tail."""
        return int(self.counters[kernel.PREFIXES])

    @property
    def tail_nodes(self) -> int:
        """Placements of exact tails, in all restarts."""
        return int(self.counters[kernel.TAIL_NODES])

    @property
    def node_equivalents_since_restart(self) -> float:
        """Cost of the present restart, its exact tails included (`lns.node_equivalents`)."""
        return self.nodes_since_restart + node_equivalents.exact_tails(
            self.prefixes - self._prefixes_before, self.tail_nodes - self._tail_nodes_before
        )

    def state(self) -> State:
        return {
            "cursor": self._cursors(),
            "scalars": self.prefix.scalars.copy(),
            "child_counts": self.prefix.child_counts.copy(),
            "counters": self.counters.copy(),
            "prefixes_by_breaks": self.prefixes_by_breaks.copy(),
            "tail_outcomes": self.tail_outcomes.copy(),
            "surplus_counts": self.surplus_counts.copy(),
            "frontier_keys": self.prefix.frontier_keys.copy(),
            "restart": np.array(
                [
                    self.restart_seed,
                    self.restarted_at,
                    self._prefixes_before,
                    self._tail_nodes_before,
                    self.exhausted,
                    self.nodes_before,
                ]
            ),
            "piece_bits": self.arrays.endgame.piece_of_bit.copy(),
            "random": self.random.copy(),
        }

    def _cursors(self) -> npt.NDArray[np.int64]:
        """The cursors of the open path; those behind it are left over from earlier prefixes and mean nothing."""
        depth = int(self.prefix.scalars[0])
        cursors = self.prefix.cursor.copy()
        cursors[depth + (depth < self.plan.prefix.endgame_start) :] = 0  # the endgame reads none at its depth
        return cursors

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError unless its cursors lead through the candidate lists."""
        if any(len(state[name]) != len(value) for name, value in self.state().items()):
            raise _inconsistent()
        self.random[:] = state["random"]
        self.counters[:] = saved_counters(state["counters"])
        self.restart_seed, *marks, exhausted, self.nodes_before = saved_counters(state["restart"])
        self.restarted_at, self._prefixes_before, self._tail_nodes_before = marks
        self.exhausted = bool(exhausted)
        self.prefixes_by_breaks[:] = saved_counters(state["prefixes_by_breaks"])
        self.tail_outcomes[:] = saved_counters(state["tail_outcomes"])
        self.surplus_counts[:] = saved_counters(state["surplus_counts"])
        self.prefix.child_counts[:] = saved_counters(state["child_counts"])
        if state["frontier_keys"][0] > kernel.MAX_FRONTIER_KEYS:
            raise _inconsistent()
        self.prefix.frontier_keys[:] = state["frontier_keys"]
        self.prefix.scalars[:] = int(state["scalars"][0]), *saved_counters(state["scalars"][1:])
        wait = max(kernel.TAIL_SAMPLE_NODES, kernel.TAIL_SAMPLE_COST_FACTOR * self.tail_nodes)
        next_sample = int(self.counters[kernel.NEXT_SAMPLE]) - wait
        before = self.restarted_at, self._prefixes_before, self._tail_nodes_before, next_sample
        now = self.nodes, self.prefixes, self.tail_nodes, self.nodes
        if any(earlier > later for earlier, later in zip(before, now, strict=True)):
            raise _inconsistent()
        self._make_plan()
        pieces = state["piece_bits"].tolist()
        owners = [piece for piece in pieces if piece != -1]
        if len(set(owners)) < len(owners) or not all(0 <= piece < self.puzzle.cells for piece in owners):
            raise _inconsistent()
        for bit, piece in enumerate(pieces):
            if piece >= 0:
                assign_bit(self.plan.endgame, self.arrays.endgame, piece, bit)
        self._replay(state["cursor"].tolist(), int(state["scalars"][0]))
        self.prefix.scalars[:] = state["scalars"]
        self.prefix.child_counts[:] = state["child_counts"]

    def _replay(self, cursors: list[int], depth: int) -> None:
        """Place the saved prefix again, cell by cell, by a search that begins each list one before the saved cursor.

        A cursor is the index of the next candidate in a cell's list. It is checked first, since kernels do not check.
        """
        prefix, start = self.prefix, self.plan.prefix.endgame_start
        plan, candidates = self.plan.prefix._replace(partition_depth=0), self.plan.prefix.tables.candidates
        if not kernel.NOT_STARTED <= depth <= plan.cut:
            raise _inconsistent()
        prefix.used[:] = 0
        prefix.gain[0] = 0
        prefix.cursor[0] = plan.tables.list_start[plan.tables.base[0]]
        for at in range(min(depth + 1, start)):
            cursor, first = cursors[at], int(prefix.cursor[at])
            tried = candidates[first : max(first, cursor)]
            if first + len(tried) != cursor or (tried >> GAIN_SHIFT == LIST_END_GAIN).any():
                raise _inconsistent()
            prefix.cursor[at] = cursor
            if at < depth:
                prefix.cursor[at] -= 1
                prefix.scalars[:] = at, 0
                kernel.search_lists(plan, prefix, 1)
                if cursor == first or prefix.cursor[at] != cursor or prefix.scalars[0] != at + 1:
                    raise _inconsistent()
        if depth > start:
            spent = (BREAK_COST - 1 - int(prefix.gain[start])) // BREAK_COST
            endgame.start_endgame(self.plan.endgame, self.arrays.endgame, prefix.used, prefix.right, prefix.down, spent)
            in_endgame = np.array(cursors[start:depth], dtype=np.int64)
            if not endgame.replay_cursors(self.plan.endgame, self.arrays.endgame, in_endgame):
                raise _inconsistent()
            endgame.place_pieces(self.plan.endgame, self.arrays.endgame, prefix, depth)


def _inconsistent() -> InputError:
    return InputError("checkpoint: the saved construction does not fit this puzzle and these parameters")
