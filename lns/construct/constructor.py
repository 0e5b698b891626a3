"""The constructor: prefixes by depth-first search, each finished exactly, full boards out."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import Puzzle
from instances.symmetry import board_from_view, puzzle_in_view
from lns import node_equivalents
from lns.construct import candidate_tables, endgame, kernel, packed_candidate
from lns.construct.endgame import EXHAUSTED, REACHED
from lns.construct.endgame_plan import plan_endgame
from lns.construct.kernel import ConstructorPlan, ConstructorState, PrefixPlan, PrefixState
from lns.construct.order import padded_positions
from lns.construct.schedule import BreakSchedule
from lns.construct.tail import plan_tail
from lns.engine import State, saved_counters
from lns.params import ConstructParams
from lns.rng import RandomState, generator
from lns_support.errors import InputError

SHARE = 8  # a shuffle that leads to prefixes lasts this part of the nodes made before under its colours and view,
LONGEST = 10  # within one and this many times `restart_nodes`
DEALT = 16  # cells without a clue, whose pieces say which island goes on behind them


class Constructor:
    """Depth-first search of one schedule, resumable at any node.

    ``lot``: (i, n): of n islands that share the prefixes out this is the i-th. Under a quota each begins with first
    cells of its own (DEALT of them), so that no two meet the same prefix from the same side; without one, and on the
    smallest boards, all search all.

    ``state()`` is all of it: the candidate tables are made again from the number of the shuffle, the sets of the
    endgame from the bits of pieces.
    """

    # the arrays of ``state()`` and their types
    STATE: ClassVar[dict[str, str]] = {
        "cursor": "int64", "scalars": "int64", "child_counts": "int64", "counters": "int64",
        "prefixes_by_breaks": "int64", "tail_outcomes": "int64", "frontier_keys": "uint64", "restart": "int64",
        "piece_bits": "int64", "random": "uint64",
    }  # fmt: skip

    def __init__(
        self,
        puzzle: Puzzle,
        params: ConstructParams,
        schedule: BreakSchedule,
        random: RandomState,
        partition: tuple[int, int] = (0, 1),
    ) -> None:
        if len(schedule.unlock) >= packed_candidate.MAX_BREAKS:
            raise InputError(
                f"a schedule of {len(schedule.unlock)} breaks; expected fewer than {packed_candidate.MAX_BREAKS}"
            )
        candidate_tables.check_colours(puzzle)
        self.puzzle = puzzle
        self.params = params
        self.random = random
        self.partition = partition
        self.schedule = schedule
        self.counters = np.zeros(kernel.COUNTERS, dtype=np.int64)
        self.prefixes_by_breaks = np.zeros(packed_candidate.MAX_BREAKS, dtype=np.int64)
        self.tail_outcomes = np.zeros(kernel.MISMATCH_BINS + 1, dtype=np.int64)
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
        """Begin at the empty board by another schedule of the same order and cut, candidates in another order.

        The board may be seen from another side, as long as its rows are as short.

        ``before``: nodes of earlier shuffles that favoured the same colours from the same side.
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
        tables = self.plan.prefix.tables
        self.prefix.cursor[0] = tables.list_start[tables.base[0]]
        self.restarted_at = self.nodes
        self._prefixes_before, self._tail_nodes_before = self.prefixes, self.tail_nodes
        self.counters[kernel.NEXT_SAMPLE] = self.nodes

    def _make_plan(self) -> None:
        chance = np.random.Generator(np.random.PCG64(self.restart_seed))
        schedule = self.schedule
        puzzle = self.puzzle_in_view = puzzle_in_view(self.puzzle, schedule.view)
        made = candidate_tables.build_tables(
            puzzle, schedule.order, schedule.may_break, schedule.favoured, chance, schedule.cut
        )
        ahead = candidate_tables.rim_look_ahead(puzzle, schedule.order, made.base, schedule.cut)
        begin, cut = schedule.endgame_depth, schedule.cut
        width, dealt = puzzle.width + 1, self._dealt() if schedule.favoured else 0
        prefix_plan = PrefixPlan(
            tables=made,
            position=self._position,
            min_gain=schedule.least_gain,
            rim_look_ahead=ahead,
            padded_width=width,
            endgame_start=begin,
            cut=cut,
            partition_depth=dealt,
            partition=self.partition[0],
            partitions=self.partition[1],
        )
        endgame_plan, endgame_state = plan_endgame(puzzle, schedule.order, begin, cut, schedule.allowed, chance)
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

    def _dealt(self) -> int:
        """The depth of the prefixes that are dealt out among islands, or 0."""
        clued = [clue.cell for clue in self.puzzle_in_view.clues]
        free = np.flatnonzero(~np.isin(self.schedule.order[: self.schedule.endgame_depth], clued))
        return int(free[DEALT - 1]) + 1 if self.partition[1] > 1 and len(free) >= DEALT else 0

    def run(self, nodes: int, target: int) -> Board | None:
        """Search for ``nodes`` more nodes, or until a full board of at least ``target`` is found; that board, or None.

        Ends sooner where this shuffle is ``over``.
        """
        status = kernel.construct(
            self.plan,
            self.arrays,
            self.puzzle.max_score - target,
            min(self.nodes + nodes, self._restart_at()),
            self.params.tail_nodes,
        )
        if status == REACHED:
            placed = np.empty(self.puzzle.cells, dtype=np.int32)
            placed[self.schedule.order] = self.arrays.found
            return board_from_view(
                Board(placed, self.puzzle_in_view.width, self.puzzle_in_view.height), self.schedule.view
            )
        self.exhausted = status == EXHAUSTED
        return None

    @property
    def restart_due(self) -> bool:
        """Whether it is time to ``begin`` again: the tree is searched whole, or this shuffle has had its share."""
        return self.exhausted or self.nodes >= self._restart_at()

    def _restart_at(self) -> int:
        """After a number of nodes that grows with those before, or soon where a shuffle leads to no prefix at all.

        Most shuffles lead nowhere, and one that leads somewhere goes on to: the longer it lasts, the less is lost.
        """
        if self.no_prefix_found:
            return self.restarted_at + self.params.restart_nodes_without_prefix
        usual = self.params.restart_nodes
        return self.restarted_at + min(max(usual, self.nodes_before // SHARE), LONGEST * usual)

    @property
    def no_prefix_found(self) -> bool:
        """Whether this shuffle has not led to a prefix yet."""
        return self.prefixes == self._prefixes_before

    @property
    def frontier_keys(self) -> npt.NDArray[np.uint64]:
        """Keys of stems that this shuffle met: see `lns.construct.novelty`."""
        return self.prefix.frontier_keys[1 : int(self.prefix.frontier_keys[0]) + 1]

    @property
    def nodes_since_restart(self) -> int:
        return self.nodes - self.restarted_at

    @property
    def nodes(self) -> int:
        """Placements so far, with those that were seen to fail before they were made; without those of exact tails."""
        return int(self.prefix.scalars[1])

    @property
    def prefixes(self) -> int:
        """Prefixes that reached the exact tail."""
        return int(self.counters[kernel.PREFIXES])

    @property
    def tail_nodes(self) -> int:
        return int(self.counters[kernel.TAIL_NODES])

    @property
    def node_equivalents_since_restart(self) -> float:
        """Of its exact tails too."""
        return self.nodes_since_restart + node_equivalents.exact_tails(
            self.prefixes - self._prefixes_before, self.tail_nodes - self._tail_nodes_before
        )

    def state(self) -> State:
        return {
            "cursor": self.prefix.cursor.copy(),
            "scalars": self.prefix.scalars.copy(),
            "child_counts": self.prefix.child_counts.copy(),
            "counters": self.counters.copy(),
            "prefixes_by_breaks": self.prefixes_by_breaks.copy(),
            "tail_outcomes": self.tail_outcomes.copy(),
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

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError when its cursors do not lead through the candidate lists."""
        if any(len(state[name]) != len(value) for name, value in self.state().items()):
            raise _foreign()
        self.random[:] = state["random"]
        self.counters[:] = saved_counters(state["counters"])
        self.restart_seed, *marks, exhausted, self.nodes_before = saved_counters(state["restart"])
        self.restarted_at, self._prefixes_before, self._tail_nodes_before = marks
        self.exhausted = bool(exhausted)
        self.prefixes_by_breaks[:] = saved_counters(state["prefixes_by_breaks"])
        self.tail_outcomes[:] = saved_counters(state["tail_outcomes"])
        self.prefix.child_counts[:] = saved_counters(state["child_counts"])
        if state["frontier_keys"][0] > kernel.MAX_FRONTIER_KEYS:
            raise _foreign()
        self.prefix.frontier_keys[:] = state["frontier_keys"]
        self.prefix.scalars[:] = int(state["scalars"][0]), *saved_counters(state["scalars"][1:])
        wait = max(kernel.TAIL_SAMPLE_NODES, kernel.TAIL_SAMPLE_COST_FACTOR * self.tail_nodes)
        next_sample = int(self.counters[kernel.NEXT_SAMPLE]) - wait
        before = self.restarted_at, self._prefixes_before, self._tail_nodes_before, next_sample
        now = self.nodes, self.prefixes, self.tail_nodes, self.nodes
        if any(one > other for one, other in zip(before, now, strict=True)):
            raise _foreign()
        self._make_plan()
        if not endgame.assign_bits(
            self.plan.endgame, self.arrays.endgame, np.asarray(state["piece_bits"], dtype=np.int64)
        ):
            raise _foreign()
        self._replay(np.asarray(state["cursor"]).tolist(), int(state["scalars"][0]))

    def _replay(self, cursors: list[int], depth: int) -> None:
        """Lay the prefix again by its cursors, each checked against its list: the kernel's memory depends on it."""
        plan, prefix, made = self.plan.prefix, self.prefix, self.plan.prefix.tables
        if not kernel.NOT_STARTED <= depth <= plan.cut:
            raise _foreign()
        prefix.used[:] = 0
        prefix.gain[0] = 0
        prefix.cursor[0] = made.list_start[made.base[0]]
        begin = plan.endgame_start
        for at in range(min(depth, begin, self.puzzle.cells - 1) + 1):
            here = int(self._position[at])
            start = int(made.list_start[made.base[at] + prefix.right[here - 1] + prefix.down[here - plan.padded_width]])
            tried = made.candidates[start : max(start, cursors[at])]  # the list up to the candidate that lies there
            if (
                start + len(tried) != cursors[at]
                or (tried >> packed_candidate.GAIN_SHIFT == packed_candidate.LIST_END_GAIN).any()
            ):
                if at == begin:
                    break  # no list is read there: its cursor is whatever was there
                raise _foreign()
            prefix.cursor[at] = cursors[at]
            if at == min(depth, begin):
                break
            laid = int(tried[-1]) if len(tried) else packed_candidate.LIST_END_GAIN << packed_candidate.GAIN_SHIFT
            piece = laid & int(packed_candidate.PIECE_MASK)
            prefix.gain[at + 1] = prefix.gain[at] + (laid >> packed_candidate.GAIN_SHIFT)
            if prefix.gain[at + 1] < plan.min_gain[at] or prefix.used[piece]:
                raise _foreign()
            prefix.used[piece] = 1
            prefix.chosen[at] = laid
            prefix.right[here] = laid >> packed_candidate.RIGHT_SHIFT & packed_candidate.RIGHT_MASK
            prefix.down[here] = laid >> packed_candidate.DOWN_SHIFT & packed_candidate.DOWN_MASK
        if depth > begin:
            spent = (packed_candidate.BREAK_COST - 1 - int(prefix.gain[begin])) // packed_candidate.BREAK_COST
            end, work = self.plan.endgame, self.arrays.endgame
            endgame.start_endgame(end, work, prefix.used, prefix.right, prefix.down, spent)
            if not endgame.replay_cursors(end, work, np.array(cursors[begin:depth], dtype=np.int64)):
                raise _foreign()
            endgame.place_pieces(
                end, work, depth, prefix.cursor, prefix.chosen, prefix.gain, prefix.used, prefix.right, prefix.down
            )  # fmt: skip


def _foreign() -> InputError:
    return InputError("the saved construction does not belong to this puzzle and these parameters")
