"""Exact re-solves of regions of all boards near the best: the last cells of the construction, and all the damage.

A board that misses the wanted score by an edge or two is common where one that has it is rare. Its last cells in the
order of the construction, where breaks were allowed by a schedule, are freed and searched exactly for one edge more:
first the fewest cells, then more (escalation). Boards one edge short are also freed around their mismatches. A board
that gains an edge is a candidate itself, so that edges are gained one after the other. Regions of one shape and size
are an *operator*. How often it is called depends on what it gains (`lns.loop.payoff`), and whether its regions are
searched by ColorPairs or in fixed orders depends on what either has cost (`lns.loop.order_choice`).
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from exact.region.options import RegionOptions
from exact.region.resolve import resolve
from exact.region.result import RegionStatus
from instances.board import Board
from instances.puzzle import Puzzle
from lns import node_equivalents
from lns.engine import FoundBoard, State, Statistics, verified_board
from lns.loop.candidates import Candidate, Candidates
from lns.loop.order_choice import OrderChoice
from lns.loop.payoff import Payoffs
from lns.neighbourhoods.regions import MOST_CELLS, SHAPES, regions_by_shape
from lns.params import ReworkParams

REMEMBERED = 4096  # regions that are not searched again, since another board had the same pieces around them


class Region(NamedTuple):
    """A region to re-solve."""

    operator: int
    cells: tuple[int, ...]


class Rework:
    """The candidates of an island, and the operators that re-solve their regions.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the boards.
    params : ReworkParams
        Sizes, node budgets and shares.

    Attributes
    ----------
    candidates : Candidates
        Boards whose regions are still to be searched.
    payoffs : Payoffs
        What each operator has gained.
    orders : OrderChoice
        In which order the regions of each operator are searched.
    """

    def __init__(self, puzzle: Puzzle, params: ReworkParams) -> None:
        self.puzzle, self.params = puzzle, params
        longest = min(puzzle.cells, MOST_CELLS)
        sizes = (params.suffix + i * params.suffix_step for i in range(params.suffixes))
        self.suffixes = tuple(dict.fromkeys(min(size, longest) for size in sizes))
        self.operators = (
            *(f"suffix-{size}" for size in self.suffixes),
            *SHAPES,
            *(f"suffix-{size}-short-{short}" for short in range(2, params.near_misses + 1) for size in self.suffixes),
        )
        self.candidates = Candidates(puzzle, params.candidates)
        self.payoffs = Payoffs(self.operators)
        self.orders = OrderChoice(len(self.operators))
        self._searched: deque[int] = deque(maxlen=REMEMBERED)  # keys of regions that were searched
        self._regions: tuple[Board, int, list[Region]] | None = None  # of the board that was reworked last

    @property
    def statistics(self) -> Statistics:
        """What each operator did, in placements in fixed orders; those of ColorPairs apart, counted as as many."""
        nodes = (self.orders.cost / node_equivalents.REGION_NODE).astype(np.int64).tolist()
        counts: dict[str, int] = {}
        for name, (static, dynamic) in zip(self.operators, nodes, strict=True):
            counts |= {_origin(name, "static"): static, _origin(name, "dynamic"): dynamic}
        return Statistics(operators={name: count for name, count in counts.items() if count})

    @property
    def cost(self) -> int:
        """Node equivalents of all operators."""
        return int(self.payoffs.cost.sum())

    def next_region(self, wanted: int, total: float, *, all_regions: bool = False) -> tuple[Candidate, Region] | None:
        """The next region that is worth its cost; None if there is none.

        Suffixes of all candidates come first, those of the size that gains most before others, since there are few of
        them; then the other regions of the best candidate. Regions that are not worth it are passed over for good:
        there are always new candidates.

        Parameters
        ----------
        wanted : int
            The score that is searched for.
        total : float
            Node equivalents of the whole search.
        all_regions : bool
            Whether all regions are worth it, as those of a board to start from are.
        """
        self.candidates.keep(wanted - max(1, self.params.near_misses), wanted - 1)
        while self.candidates.members:
            candidate = max(self.candidates.members, key=lambda member: self._value_of_suffix(member, wanted))
            regions = self._regions_of(candidate, wanted)
            if candidate.done >= len(regions):
                self.candidates.remove(candidate)
                continue
            region = regions[candidate.done]
            pays = all_regions or self.payoffs.pays(region.operator, self.params.share, total)
            if pays and self._key(candidate, region) not in self._searched:
                return candidate, region
            candidate.done += 1
        return None

    def _value_of_suffix(self, candidate: Candidate, wanted: int) -> float:
        """What the next suffix of a candidate is worth; 0 if it has none."""
        has_suffix = candidate.order is not None and candidate.done < len(self.suffixes)
        return self.payoffs.value(self._operator(candidate.done, wanted - candidate.score)) if has_suffix else 0.0

    def _operator(self, suffix: int, short: int) -> int:
        """Number of the operator that re-solves a suffix of boards so many edges short, as gains differ widely."""
        first = 0 if short <= 1 else len(SHAPES) + (short - 1) * len(self.suffixes)
        return first + suffix

    def search(self, candidate: Candidate, region: Region, price: float) -> FoundBoard | None:
        """Search a region for a refill with which the board has one edge more; that board if there is one.

        A candidate that has gained is not searched any further, since the better board has the same regions.

        Parameters
        ----------
        candidate, region
            As `next_region` returned them.
        price : float
            Node equivalents that the construction pays for a board with one edge more than the candidate.
        """
        name, goal = self.operators[region.operator], candidate.score + 1
        order = self.orders.next_order(region.operator)
        nodes = node_equivalents.region_nodes(self.params.nodes, order)
        result = resolve(
            self.puzzle, candidate.board, region.cells, target=goal, nodes=nodes, options=RegionOptions(order=order)
        )
        self._searched.append(self._key(candidate, region))
        candidate.done += 1
        gained = result.score >= goal
        if gained:
            self.candidates.remove(candidate)
        cost = node_equivalents.region(result.nodes, order)
        self.orders.record(region.operator, order, cost, result.status is not RegionStatus.BUDGET_SPENT)
        self.payoffs.record(region.operator, cost, price, gained)
        return verified_board(self.puzzle, result.board, _origin(name, order)) if gained else None

    def _regions_of(self, candidate: Candidate, wanted: int) -> list[Region]:
        """All regions of a candidate, in the order in which they are searched."""
        short = wanted - candidate.score
        if self._regions is None or self._regions[0] is not candidate.board or self._regions[1] != short:
            regions = []
            if candidate.order is not None:
                cells = candidate.order.tolist()
                regions = [
                    Region(self._operator(i, short), tuple(cells[-size:])) for i, size in enumerate(self.suffixes)
                ]
            if short <= 1:
                regions += [
                    Region(self.operators.index(shape), cells)
                    for shape, cells in regions_by_shape(self.puzzle, candidate.board)
                ]
            self._regions = candidate.board, short, regions
        return self._regions[2]

    def _key(self, candidate: Candidate, region: Region) -> int:
        """A number for the question: the region, the pieces around it, and the score that is searched for."""
        around, goal = candidate.board.placements.copy(), candidate.score + 1
        around[list(region.cells)] = -1
        digest = blake2b(around.tobytes(), digest_size=8, key=goal.to_bytes(8, "little"))
        return int.from_bytes(digest.digest(), "little")

    def state(self) -> State:
        return {
            **self.candidates.state(),
            "payoffs": self.payoffs.state(),
            "order_choice": self.orders.state(),
            "searched": np.array(list(self._searched), dtype=np.uint64),
        }

    def restore(self, state: State) -> None:
        """Continue from `state`; raises InputError if it does not fit this puzzle and these parameters."""
        self.candidates.restore(state)
        self.payoffs.restore(state["payoffs"])
        self.orders.restore(state["order_choice"])
        self._searched = deque((int(key) for key in state["searched"]), maxlen=REMEMBERED)
        self._regions = None


def _origin(operator: str, order: str) -> str:
    """The name under which statistics and boards show an operator whose region was searched in an order."""
    return f"{operator}-colorpairs" if order == "dynamic" else operator
