"""A certificate for the best boards: which windows around their damage are proven to have no better refill."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns import node_equivalents
from lns.engine import State, Statistics, expect, legal_score
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import resolve
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.loop.operator import Found, Freed, Repaired
from lns.loop.pool import Member, Pool
from lns.neighbourhoods.regions import Cells, windows
from lns.params import NeighbourhoodsParams

MAX_BOARDS = 8  # of the best score, one a family
GROWTH = 4  # times more nodes for a window that was left open, each time
MAX_TRIES = 6
PROVEN = -1  # instead of the number of tries


class Certificate:
    """Frees windows of some shapes around the damage of the best boards, until each is proven to be optimal.

    It costs at most a share of what was searched since the best score was reached, so a best board that lasts is
    certified. A window that is left open is searched again with more nodes when all others are done.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the boards.
    params : NeighbourhoodsParams
        Nodes of a window at first, and the share.
    """

    name, makes_boards, proves = "certificate", False, True

    def __init__(self, puzzle: Puzzle, params: NeighbourhoodsParams) -> None:
        self.puzzle, self.nodes, self.share = puzzle, params.nodes, params.certificate
        self.shapes = {
            "5x6": ((5, 6), (6, 5)),
            "4x8": ((4, 8), (8, 4)),
            "3 full rows or columns": ((3, puzzle.width), (puzzle.height, 3)),
        }
        self.score, self.spent_before, self.cost, self.all_nodes = -1, 0.0, 0.0, 0
        self.members: list[Member] = []
        self.tries: list[npt.NDArray[np.int64]] = []  # of each window of each board; PROVEN
        self._windows: list[list[tuple[str, Cells]]] = []
        self._asked = 0, 0  # board and window that was freed last

    @property
    def statistics(self) -> Statistics:
        certificate = {}
        for shape in self.shapes:
            of_shape = [
                tries[[name == shape for name, _ in windows]]
                for tries, windows in zip(self.tries, self._windows, strict=True)
            ]
            count = sum(len(tries) for tries in of_shape)
            if count:
                certificate[shape] = (self.score, sum(int((tries == PROVEN).sum()) for tries in of_shape), count)
        return Statistics(operators={self.name: self.all_nodes} if self.all_nodes else {}, certificate=certificate)

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        if not pool.members or wanted > self.puzzle.max_score:
            return None
        best = max(member.score for member in pool.members)
        if best > self.score:
            self.score, self.spent_before, self.cost = best, pool.spent, 0.0
            self.members, self.tries, self._windows = [], [], []
        if self.score < wanted - 1:
            return None  # a better board was found elsewhere
        self._add_boards(pool)
        if self.cost > self.share * (pool.spent - self.spent_before):
            return None
        openness = [(tries[number], board, number) for board, tries in enumerate(self.tries) for number in _open(tries)]
        if not openness:
            return None
        _, board, number = min(openness)
        self._asked = board, number
        return Freed(self.members[board], self._windows[board][number][1])

    def _add_boards(self, pool: Pool) -> None:
        families = {member.family for member in self.members}
        for member in pool.members:
            if member.score == self.score and member.family not in families and len(self.members) < MAX_BOARDS:
                families.add(member.family)
                self._add(Member(member.board, member.score, member.order, family=member.family))

    def _add(self, member: Member) -> None:
        found = [
            (name, cells)
            for name, shapes in self.shapes.items()
            for cells in windows(self.puzzle, member.board, shapes)
        ]
        self.members.append(member)
        self._windows.append(found)
        self.tries.append(np.zeros(len(found), dtype=np.int64))

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        assert freed.member is not None
        board, number = self._asked
        nodes = self.nodes * GROWTH ** int(self.tries[board][number])
        options = RegionOptions(order="auto")
        result = resolve(
            self.puzzle, freed.member.board, freed.cells, target=self.score + 1, nodes=nodes, options=options
        )
        cost = node_equivalents.region(result.work)
        self.cost += cost
        self.all_nodes += int(cost / node_equivalents.REGION_NODE)
        if result.score > self.score:
            return Repaired([Found(result.board, self.name, freed.member.order)], cost)
        proven = result.bound <= self.score
        self.tries[board][number] = PROVEN if proven else self.tries[board][number] + 1
        return Repaired([], cost)

    def state(self) -> State:
        members, cells = self.members, self.puzzle.cells
        none = np.full(cells, -1, dtype=np.int32)
        rows = [(m.board.placements, none if m.order is None else m.order) for m in members]
        return {
            "boards": np.array(rows, dtype=np.int32).reshape(-1, 2, cells),
            "families": np.array([m.family for m in members], dtype=np.int64),
            "tries": np.concatenate([np.zeros(0, dtype=np.int64), *self.tries]),
            "counters": np.array([self.score, self.spent_before, self.cost, self.all_nodes], dtype=np.float64),
        }

    def restore(self, state: State) -> None:
        self.members, self.tries, self._windows = [], [], []
        score, self.spent_before, self.cost, all_nodes = state["counters"].tolist()
        self.score, self.all_nodes, tries = int(score), int(all_nodes), state["tries"]
        for (placements, order), family in zip(state["boards"], state["families"].tolist(), strict=True):
            board = Board(placements.astype(np.int32), self.puzzle.width, self.puzzle.height)
            expect(legal_score(self.puzzle, board) == self.score, "score of the certificate")
            self._add(Member(board, self.score, None if (order < 0).any() else order.astype(np.int32), family=family))
            count = len(self.tries[-1])
            self.tries[-1][:], tries = tries[:count], tries[count:]


def _open(tries: npt.NDArray[np.int64]) -> list[int]:
    """The first window of those that were tried least, if any is open: one is enough to choose from."""
    left = np.flatnonzero((tries >= 0) & (tries < MAX_TRIES))
    return [int(left[np.argmin(tries[left])])] if len(left) else []
