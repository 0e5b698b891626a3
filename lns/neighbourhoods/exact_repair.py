"""The exact repair: it frees regions of boards in the pool and re-solves them, in fixed cell orders or by ColorPairs.

Both searches are exact; which one is cheaper depends on the size and shape of a region. A `RegionOperator` uses the
search that has cost less per decided region so far, and for every eighth region the other search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from lns import node_equivalents
from lns.engine import State, Statistics
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import MAX_REGION
from lns.exact.region.resolve import RegionResult, resolve
from lns.instances.board import EMPTY, Board
from lns.instances.puzzle import Puzzle
from lns.loop import pool as pools
from lns.loop.pool import Found, Freed, Member, Neighbourhood, Operator, Pool, Repaired
from lns.neighbourhoods.regions import Cells, windows
from lns.params import NeighbourhoodsParams

ORDERS = ("static", "dynamic")
"""Cell orders of `lns.exact.region.options.RegionOptions`: fixed orders, and the dynamic order of ColorPairs."""
TRY_OTHER = 8  # one region in this many is searched in the cell order that has cost more
SIDEWAYS = 0.5  # with `moves`: share of the regions without a better refill that are searched for an equally good one
PRIOR_DECIDED = 0.5  # added to the number of decided regions, so that the cost per decided region is finite
ALL_DONE = 2**31  # in `Member.done`, in place of a number of regions: all regions are done

CERTIFIED = 8  # most boards that `Certificate` searches, one per family
GROWTH, MAX_TRIES = 4, 6  # factor by which the nodes grow with each search of a window, and most searches of a window
PROVEN = -1  # in place of a window's number of searches, once it is proven that the window has no better refill


class RegionOperator(Operator):
    """An operator that frees the regions of one neighbourhood in turn and searches them exactly for better refills.

    ``nodes``: most placements of one search in fixed orders, fewer early in a run; ColorPairs gets as many placements
    as cost the same. ``moves``: whether an equally good refill may replace the board, to have new regions to search.
    """

    proves = True
    SAVED = ("cost", "tries", "decided")

    def __init__(self, name: str, puzzle: Puzzle, neighbourhood: Neighbourhood, nodes: int, *, moves: bool) -> None:
        self.name, self.puzzle, self.neighbourhood, self.nodes, self.moves = name, puzzle, neighbourhood, nodes, moves
        # sums by cell order: node equivalents, regions searched, and regions decided (no better refill exists)
        self.cost, self.tries, self.decided = np.zeros((3, len(ORDERS)))
        self._regions: tuple[Board | None, Iterator[Cells]] = None, iter(())  # last board, its regions not searched yet

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        for member in pool.ranked() if wanted <= self.puzzle.max_score else ():
            for cells in self._regions_of(member):
                member.done[self.name] = member.done.get(self.name, 0) + 1
                if pool.is_new_question(member, cells, member.score + 1):
                    return Freed(member, cells, pool.budget(self.nodes))
            member.done[self.name] = ALL_DONE
        return None

    def _regions_of(self, member: Member) -> Iterator[Cells]:
        """Return the regions of a member of the pool that this operator has neither searched nor passed over."""
        done = member.done.get(self.name, 0)
        if done == ALL_DONE:
            return iter(())
        if self._regions[0] is not member.board:
            self._regions = member.board, islice(self.neighbourhood(self.puzzle, member), done, None)
        return self._regions[1]

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        member = freed.member
        assert member is not None
        board, score, order = member.board, member.score, self._next_order()
        cost = 0.0
        while (result := self._resolve(board, freed, score + 1, order)).score > score:
            board, score = result.board, result.score
            cost += node_equivalents.region(result.nodes, order)
        cost += node_equivalents.region(result.nodes, order)
        number, origin = ORDERS.index(order), f"{self.name}-colorpairs" if order == "dynamic" else self.name
        self.cost[number] += cost
        self.tries[number] += 1
        self.decided[number] += result.bound <= score
        if score > member.score:
            return Repaired([Found(board, origin, member.order)], cost)
        if not self.moves or rng.random() >= SIDEWAYS:
            return Repaired([], cost)
        placed = member.board.placements.copy()  # freed cells are emptied, so that any refill of equal score is found
        placed[list(freed.cells)] = EMPTY
        result = self._resolve(Board(placed, self.puzzle.width, self.puzzle.height), freed, member.score, "static")
        more = node_equivalents.region(result.nodes)
        self.cost[0] += more
        is_other = result.score >= score and result.board.placed == board.placed and result.board != board
        return Repaired([], cost + more, Found(result.board, origin, member.order) if is_other else None)

    def _resolve(self, board: Board, freed: Freed, target: int, order: str) -> RegionResult:
        nodes = node_equivalents.region_nodes(freed.nodes or self.nodes, order)
        return resolve(self.puzzle, board, freed.cells, target=target, nodes=nodes, options=RegionOptions(order=order))

    def _next_order(self) -> str:
        """Return the order of the cells, one of `ORDERS`, in which the next region is searched."""
        if not self.tries.all():
            return ORDERS[int(np.argmin(self.tries))]
        cheaper = int(np.argmin(self.cost / (self.decided + PRIOR_DECIDED)))
        return ORDERS[1 - cheaper if self.tries.sum() % TRY_OTHER == 0 else cheaper]

    @property
    def statistics(self) -> Statistics:
        static, dynamic = (self.cost / node_equivalents.REGION_NODE).astype(int).tolist()
        counts = {self.name: static, f"{self.name}-colorpairs": dynamic}
        return Statistics(operators={name: count for name, count in counts.items() if count})


class Certificate(Operator):
    """An operator that frees windows around mismatches of the best boards, to prove that none has a better refill.

    The operator may spend a share of all work since the best score was reached, so that the proofs for boards that are
    soon beaten cost little. A window that a search leaves undecided is searched again with more nodes once all other
    undecided windows have been searched as often, at most `MAX_TRIES` times in all.
    """

    name, proves = "certificate", True
    SAVED = ("score", "spent_before", "cost", "all_nodes")

    def __init__(self, puzzle: Puzzle, params: NeighbourhoodsParams) -> None:
        self.puzzle, self.nodes, self.share = puzzle, params.nodes, params.certificate
        sizes = {"rows": (3, puzzle.width), "columns": (puzzle.height, 3)}
        full = {name: shape for name, shape in sizes.items() if math.prod(shape) <= MAX_REGION}
        self.shapes = {"5x6": [(5, 6), (6, 5)], "4x8": [(4, 8), (8, 4)]}
        self.shapes[f"3 full {' or '.join(full)}"] = [*full.values()]
        self.score, self.spent_before, self.cost, self.all_nodes = -1, 0.0, 0.0, 0
        self._begin()

    def _begin(self) -> None:
        self._members: list[Member] = []
        self._windows: list[tuple[Member, str, Cells]] = []  # (board, name of the shape, cells) of each window
        self._tries: list[int] = []  # number of searches of each window, or PROVEN

    @property
    def statistics(self) -> Statistics:
        certificate = {}
        for shape in self.shapes:
            tries = [n for (_, name, _), n in zip(self._windows, self._tries, strict=True) if name == shape]
            if tries:
                certificate[shape] = self.score, tries.count(PROVEN), len(tries)
        return Statistics(operators={self.name: self.all_nodes} if self.all_nodes else {}, certificate=certificate)

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        if not pool.members or wanted > self.puzzle.max_score:
            return None
        best = max(member.score for member in pool.members)
        if best > self.score:
            self.score, self.spent_before, self.cost = best, pool.spent, 0.0
            self._begin()
        if self.score < wanted - 1:
            return None  # a board better than all of this pool is known
        for member in pool.members:
            is_new = all(of.family != member.family for of in self._members)
            if member.score == self.score and is_new and len(self._members) < CERTIFIED:
                self._add(Member(member.board, member.score, member.order, family=member.family))
        if self.cost > self.share * (pool.spent - self.spent_before):
            return None
        left = [(tries, number) for number, tries in enumerate(self._tries) if 0 <= tries < MAX_TRIES]
        if not left:
            return None
        self._asked = min(left)[1]
        return Freed(self._windows[self._asked][0], self._windows[self._asked][2])

    def _add(self, member: Member) -> None:
        self._members.append(member)
        for name, shapes in self.shapes.items():
            self._windows += [(member, name, cells) for cells in windows(self.puzzle, member.board, shapes)]
        self._tries += [0] * (len(self._windows) - len(self._tries))

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        member, tries = freed.member, self._tries[self._asked]
        assert member is not None
        nodes, options = self.nodes * GROWTH**tries, RegionOptions(order="auto")
        result = resolve(self.puzzle, member.board, freed.cells, target=self.score + 1, nodes=nodes, options=options)
        cost = node_equivalents.region(result.work)
        self.cost += cost
        self.all_nodes += int(cost / node_equivalents.REGION_NODE)
        if result.score > self.score:
            return Repaired([Found(result.board, self.name, member.order)], cost)
        self._tries[self._asked] = PROVEN if result.bound <= self.score else tries + 1
        return Repaired([], cost)

    def state(self) -> State:
        return super().state() | {
            "members": pools.members_to_rows(self._members, self.puzzle.cells),
            "tries": np.array(self._tries, dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._begin()
        for member in pools.members_of_rows(self.puzzle, state["members"]):
            self._add(member)
        self._tries = state["tries"].tolist()
