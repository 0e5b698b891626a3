"""The construction on a graphics card: lanes extend prefixes to the cut, and the processor searches the exact tails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lns.construct import candidates as packed
from lns.construct.beam import Tails
from lns.construct.constructor import Constructor
from lns.construct.endgame import DEPTH, NODES, REACHED
from lns.construct.endgame_plan import PrefixState
from lns.construct.kernel import PrefixPlan, search_lists
from lns.construct.schedule import BreakSchedule
from lns.engine import Statistics
from lns.exact.kernels.jit import flat_kernel
from lns.gpu import check_size
from lns.gpu import lanes as lane
from lns.gpu.card import Card
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.symmetry import board_from_view
from lns.params import ConstructParams

SLOTS = 4  # most prefixes that wait in the queue of a lane
TURNS = 20_000  # most turns of a lane (see `lns.gpu.lanes`) in a launch; how long they take on a card is not measured
PREFIX_NODES = 20_000_000  # most nodes of a lane below one prefix
LEAST_LAUNCHES = 50  # fewest launches in a search tree before the card may take the tree of another restart
NODES_BELOW = 10_000  # fewest nodes that a prefix for a lane should have below it, on average
FIRST_NODES = 20_000_000  # most nodes that the processor searches for the first prefixes of a tree
REFILL_NODES = 5_000_000  # most nodes that the processor searches for new prefixes during a launch
NO_LIMIT = 1 << 62  # a number of nodes that is never reached


@flat_kernel
def next_prefixes(plan: PrefixPlan, prefix: PrefixState, out: lane.Int32Array, node_limit: int) -> int:
    """Fill the rows of ``out``, int32 (prefixes, length), with the next prefixes of that length; return their number.

    A row has, by depth, the index of the placed candidate, plus one. There are fewer prefixes than rows if the tree
    ends, or if the search has made ``node_limit`` nodes, those of earlier calls included.
    """
    for number in range(len(out)):
        if search_lists(plan, prefix, node_limit) != REACHED:
            return number
        for depth in range(plan.endgame_start):
            out[number, depth] = prefix.cursor[depth]
    return len(out)


class CardSearch:
    """The construction on a card: it continues the search of a tree that a restart on the processor has begun.

    Prefixes that can be extended to the cut are rare, and close to each other in the search tree. So the processor
    looks for them, restart by restart. In a tree in which it has found some, the lanes continue from the node at which
    the processor stopped. The boards found depend only on the restarts and on the numbers of lanes and turns.

    Parameters
    ----------
    puzzle, params
        As in `Constructor`. Raises InputError if the puzzle has too many pieces or colours for the lanes.
    card : Card
        The graphics card, or its stand-in, that runs the lanes.
    """

    def __init__(self, puzzle: Puzzle, params: ConstructParams, card: Card) -> None:
        check_size(puzzle)
        self.puzzle, self.params, self.card = puzzle, params, card
        self.turns, self.first_nodes, self.bytes = TURNS, FIRST_NODES, 0  # ``bytes``: memory used on the card
        self.statistics = Statistics(card_lanes=card.lanes)  # ``nodes`` counts only those of the processor
        self.schedule: BreakSchedule | None = None  # schedule of the tree that the card searches, None if it has none
        self._launches = 0  # number of launches in the present tree

    @property
    def takes_tree(self) -> bool:
        """Whether the card can take a tree: it has none, or has searched its tree for `LEAST_LAUNCHES` launches."""
        return self.schedule is None or self._launches >= LEAST_LAUNCHES

    def take(self, constructor: Constructor) -> None:
        """Take over the tree of a restart that has reached exact tails, from its present node on, and launch."""
        self.schedule, self._plan, self._launches = constructor.schedule, constructor.plan, 0
        self._tails = Tails(constructor.puzzle_in_view, self.schedule.order, self.schedule.cut)
        lanes, first = self.card.lanes, length_of_prefixes(constructor)
        self._prefix_plan = self._plan.prefix._replace(endgame_start=first)
        self._prefix = prefix_before(constructor, first)
        plan = lane.lane_plan(
            self._plan.prefix, first, lanes=lanes, slots=SLOTS, turns=self.turns, prefix_nodes=PREFIX_NODES
        )
        state = lane.lane_state(plan, len(self._prefix.right))
        self._queue = state.queue.reshape(SLOTS, first, lanes)
        self._no_more = False
        scalars = state.scalars.reshape(lane.SCALARS, lanes)
        scalars[lane.TAKEN] = SLOTS
        self.card.load(plan, state)
        self.bytes = sum(array.nbytes for array in (*plan, *state))
        self._find_prefixes(SLOTS * lanes, self.first_nodes)
        self._hand_out(scalars)
        self.card.launch()

    def _find_prefixes(self, count: int, nodes: int) -> None:
        """Search at most ``nodes`` nodes for ``count`` more prefixes, which the lanes get before the next launch."""
        out = np.zeros((count, self._queue.shape[1]), dtype=np.int32)
        before = int(self._prefix.scalars[NODES])
        self._waiting = out[: next_prefixes(self._prefix_plan, self._prefix, out, before + nodes)]
        made = int(self._prefix.scalars[NODES]) - before
        self.statistics.nodes += made
        self._no_more = len(self._waiting) < count and made < nodes

    def _hand_out(self, scalars: lane.Int32Array) -> None:
        """Put the prefixes found into free slots of the queues, before those that wait there. The slots suffice."""
        number, changed = 0, []
        for slot in range(SLOTS - 1, -1, -1):  # from the last slot on: each lane gets one prefix before any gets two
            free = np.flatnonzero(scalars[lane.TAKEN] > slot)[: len(self._waiting) - number]
            if len(free):
                self._queue[slot][:, free] = self._waiting[number : number + len(free)].T
                scalars[lane.TAKEN, free] = slot
                number += len(free)
                changed.append(slot)
        self._waiting = self._waiting[number:]
        self.card.fill(self._queue, changed, scalars)

    def collect(self, mismatches: int) -> list[Board]:
        """Wait for the launch, start another unless the tree ended; return the boards with at most ``mismatches``."""
        scalars = self.card.wait()
        self._launches += 1
        self.statistics.card_nodes += int(scalars[lane.NODES].sum())
        self.statistics.card_turns += int(scalars[lane.WORKED].sum())
        self.statistics.card_capacity += self.turns * self.card.lanes
        stacks = self.card.prefixes(np.flatnonzero(scalars[lane.AT_CUT]))
        idle = ((scalars[lane.DEPTH] == lane.NO_PREFIX) & (scalars[lane.TAKEN] == SLOTS)).all()
        if idle and not len(self._waiting) and not self._no_more:
            self._find_prefixes(SLOTS * self.card.lanes, self.first_nodes)
        ended = idle and not len(self._waiting)
        if len(self._waiting):
            self._hand_out(scalars)
        if not ended:  # while the card searches, the processor finds prefixes and searches exact tails
            self.card.launch()
            free = int(scalars[lane.TAKEN].sum())
            if 2 * free > SLOTS * self.card.lanes and not self._no_more:
                self._find_prefixes(free, REFILL_NODES)
        boards = list(self._finished(stacks, mismatches))
        if ended:
            self.schedule = None
        return boards

    def _finished(self, stacks: IntArray, mismatches: int) -> Iterator[Board]:
        """Yield the boards of at most ``mismatches`` mismatches that exact tails make of the prefixes in ``stacks``."""
        assert self.schedule is not None
        laid = self._plan.prefix.tables.candidates[stacks - 1]
        paths = ((laid & packed.PIECE_MASK) * 4 + (laid >> packed.ROTATION_SHIFT & 3)).astype(np.int16)
        while len(paths):
            done = self._tails.search(paths, mismatches, NO_LIMIT, self.params.tail_nodes)
            paths = paths[done.prefixes :]
            self.statistics.prefixes += done.tails
            self.statistics.tail_nodes += done.nodes
            if done.board is not None:
                yield board_from_view(done.board, self.schedule.view)


def length_of_prefixes(constructor: Constructor) -> int:
    """Return the length in cells of the prefixes for the lanes, from the nodes of the present restart at each depth.

    It is the greatest length at which the restart has at least `NODES_BELOW` nodes for each prefix, but not less than 1
    or the length at which islands partition the prefixes, and neither beyond the start of the endgame nor at the cut.
    """
    least = max(0, constructor.plan.prefix.partition_depth - 1)
    end = min(constructor.plan.prefix.endgame_start, constructor.plan.prefix.cut - 1)
    by_depth = constructor.prefix.child_counts.reshape(constructor.puzzle.cells, -1).sum(axis=1)[:end]
    few = NODES_BELOW * by_depth <= constructor.nodes
    return max(1, min(end, int(np.flatnonzero(few).max(initial=least)) + 1))


def prefix_before(constructor: Constructor, length: int) -> PrefixState:
    """Return a copy of the state of a search, with its prefix shortened to ``length`` cells if it has more."""
    prefix = PrefixState._make(array.copy() for array in constructor.prefix)
    depth = min(length, int(prefix.scalars[DEPTH]))
    prefix.used[:] = 0
    prefix.used[prefix.chosen[:depth] & packed.PIECE_MASK] = 1
    prefix.scalars[DEPTH] = depth
    return prefix
