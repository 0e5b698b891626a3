"""The exact repair: frees regions of the boards in the pool and re-solves them, in fixed orders or by ColorPairs.

Both searches are exact, so they give the same answers; which one is cheaper depends on size and shape. It is learnt:
each operator uses the order that has cost less for each region that it decided, and now and then the other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from lns import node_equivalents
from lns.engine import State, Statistics
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import RegionResult, resolve
from lns.instances.board import EMPTY, Board
from lns.instances.puzzle import Puzzle
from lns.loop.operator import Found, Freed, Neighbourhood, Repaired
from lns.loop.pool import Member, Pool

ORDERS = ("static", "dynamic")
"""Orders of `lns.exact.region.options.RegionOptions`; the second is ColorPairs."""
TRY_OTHER = 8  # each eighth region is searched in the other order
SIDEWAYS = 0.5  # share of the regions without a gain whose refill as good is looked for
_PRIOR_DECIDED = 0.5  # so that an order that has decided no region has a cost too


class RegionOperator:
    """Frees the regions of one neighbourhood, one after the other, and re-solves them exactly for one edge more.

    Parameters
    ----------
    name : str
        Name in the table of operators.
    puzzle : Puzzle
        Puzzle of the boards.
    neighbourhood : callable
        Lists the regions of a member.
    nodes : int
        Most placements in fixed orders of one region, fewer early in a run; ColorPairs gets as many as cost the same.
    moves : bool
        Whether a refill as good as the board may take its place, so that the next regions see another board.
    """

    makes_boards, proves = False, True

    def __init__(self, name: str, puzzle: Puzzle, neighbourhood: Neighbourhood, nodes: int, *, moves: bool) -> None:
        self.name, self.puzzle, self.neighbourhood, self.nodes, self.moves = name, puzzle, neighbourhood, nodes, moves
        self.cost, self.tries, self.decided = np.zeros(2), np.zeros(2), np.zeros(2)  # of regions, in each of `ORDERS`
        self._regions: tuple[Board | None, Iterator[tuple[int, ...]]] = None, iter(())  # of the board freed last

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        for member in pool.ranked() if wanted <= self.puzzle.max_score else ():
            for cells in self._regions_of(member):
                member.done[self.name] = member.done.get(self.name, 0) + 1
                if pool.is_new_question(member, cells, member.score + 1):
                    return Freed(member, cells, pool.budget(self.nodes))
            member.done[self.name] = ALL_DONE
        return None

    def _regions_of(self, member: Member) -> Iterator[tuple[int, ...]]:
        """The regions of a member that are not done."""
        done = member.done.get(self.name, 0)
        if done == ALL_DONE:
            return iter(())
        if self._regions[0] is not member.board:
            self._regions = member.board, islice(self.neighbourhood(self.puzzle, member), done, None)
        return self._regions[1]

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        assert freed.member is not None
        board, score = freed.member.board, freed.member.score
        order = self._next_order()
        cost, improved = 0.0, False
        while True:
            result = self._resolve(board, freed, score + 1, order)
            cost += node_equivalents.region(result.nodes, order)
            if result.score <= score:
                break
            board, score, improved = result.board, result.score, True
        decided = result.bound <= score
        self._record(order, cost, decided)
        origin = f"{self.name}-colorpairs" if order == "dynamic" else self.name
        if improved:
            return Repaired([Found(board, origin, freed.member.order)], cost)
        moved = None
        if self.moves and rng.random() < SIDEWAYS:
            moved, more = self._as_good(freed, origin)
            self.cost[0] += more
            cost += more
        return Repaired([], cost, moved)

    def _resolve(self, board: Board, freed: Freed, target: int, order: str) -> RegionResult:
        nodes = node_equivalents.region_nodes(freed.nodes or self.nodes, order)
        return resolve(self.puzzle, board, freed.cells, target=target, nodes=nodes, options=RegionOptions(order=order))

    def _as_good(self, freed: Freed, origin: str) -> tuple[Found | None, float]:
        """The first refill that the search finds with the score of the board, if it is another one; and its cost."""
        assert freed.member is not None
        board, score = freed.member.board, freed.member.score
        placed = board.placements.copy()
        placed[list(freed.cells)] = EMPTY
        result = self._resolve(Board(placed, board.width, board.height), freed, score, "static")
        is_other = result.score >= score and result.board.placed == board.placed and result.board != board
        found = Found(result.board, origin, freed.member.order) if is_other else None
        return found, node_equivalents.region(result.nodes)

    # -- which order ---------------------------------------------------------------------------------------------------

    def _next_order(self) -> str:
        """The order in which the next region is searched."""
        if not self.tries.all():
            return ORDERS[int(np.argmin(self.tries))]
        cheaper = int(np.argmin(self.cost / (self.decided + _PRIOR_DECIDED)))
        return ORDERS[1 - cheaper if self.tries.sum() % TRY_OTHER == 0 else cheaper]

    def _record(self, order: str, cost: float, decided: bool) -> None:
        number = ORDERS.index(order)
        self.cost[number] += cost
        self.tries[number] += 1
        self.decided[number] += decided

    @property
    def statistics(self) -> Statistics:
        static, dynamic = (self.cost / node_equivalents.REGION_NODE).astype(int).tolist()
        counts = {self.name: static, f"{self.name}-colorpairs": dynamic}
        return Statistics(operators={name: count for name, count in counts.items() if count})

    def state(self) -> State:
        return {"orders": np.array([self.cost, self.tries, self.decided])}

    def restore(self, state: State) -> None:
        self.cost, self.tries, self.decided = state["orders"].copy()
        self._regions = None, iter(())


ALL_DONE = 2**31  # count of the regions of a member when none is left
