"""The pool of boards, and the base class of operators, which free cells of a board and fill them again.

A *member* of the pool is a full board near the best. A better board that is made from it, or another board to which an
operator moves, takes its place; all boards of one place, one after the other, are a *line*. The lines of a *family*
began with boards that share the prefix that the construction filled first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.engine import FoundBoard, Saved, State, Statistics, saved_board, saved_placements, verified_board
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.node_equivalents import REGION_NODE

REMEMBERED = 1 << 14  # most boards, most families and most questions about regions that the pool remembers
ELSEWHERE = -1  # stands in place of an operator's index for a board from outside this loop
LEAST_NODES, BUDGET_SHARE = 10_000, 0.005  # region's node limit early on: LEAST_NODES or, if more, a share of all work
FAMILY_SHARE = 0.6  # constructed boards of a family agree on this share of the cells, those that were filled first


@dataclass(eq=False)
class Member:
    """A full board in the pool."""

    board: Board
    score: int
    order: IntArray | None = None  # cells in the order in which the construction filled them, if it made the board
    best: int = -1  # score with which the member entered the pool; boards to which it then moves are no better
    idle: int = 0  # node equivalents spent on the member since it entered the pool or `Pool.rest` chose it
    family: int = 0  # hash of the prefix filled first or, without ``order``, of the board; taken over from a parent
    done: dict[str, int] = field(default_factory=dict)  # by operator: number of regions searched or passed over

    def __post_init__(self) -> None:
        self.best = max(self.best, self.score)
        if not self.family:
            prefix = slice(None) if self.order is None else self.order[: int(FAMILY_SHARE * len(self.order))]
            self.family = digest(self.board.placements[prefix])

    def become(self, found: FoundBoard) -> None:
        """Replace the member's board by another, of which all regions then count as not searched yet."""
        self.board, self.score, self.done = found.board, found.score, {}


class Freed(NamedTuple):
    """A member's board and those of its cells that are freed."""

    member: Member | None  # the member; None if a whole new board shall be made
    cells: tuple[int, ...] = ()
    nodes: int = 0  # most placements of a repair that fills cells in fixed orders; 0: the operator's own limit


WHOLE_BOARD = Freed(None)


class Found(NamedTuple):
    """A full board that a repair found."""

    board: Board
    origin: str  # name of the part that found it, in statistics and reports
    order: IntArray | None = None  # cells in the order in which the construction filled them, if it made the board
    score: int | None = None  # score that the operator reports, to be verified; None: not reported

    def verified(self, puzzle: Puzzle) -> FoundBoard:
        """Return the board with its score; raises AssertionError if it is not legal or has another score."""
        return verified_board(puzzle, self.board, self.origin, self.score)


class Repaired(NamedTuple):
    """Result of a repair."""

    boards: list[Found]  # boards found, in the order of discovery
    cost: float  # cost of the repair in node equivalents
    moved: Found | None = None  # a board that is no better than the freed board, but may replace it


class Operator(Saved):
    """Base class of the operators of `lns.loop.search_loop.SearchLoop`, which verifies the boards that they return."""

    name: str  # name of the operator in tables, statistics and messages
    makes_boards = False  # whether the operator makes whole boards, so that it can make the first board
    proves = False  # whether its repair is exact: a search that ends in time finds or excludes a better refill

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        """Choose a board and the cells to free (here all); None if the operator can do nothing for score ``wanted``."""
        return WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        """Search for a board better than the freed board or, if all cells are free, for a board of score ``wanted``."""
        raise NotImplementedError

    @property
    def statistics(self) -> Statistics:
        """Statistics of the work that this operator has done so far."""
        return Statistics()


Neighbourhood = Callable[[Puzzle, Member], Iterator[tuple[int, ...]]]
"""A function that lists the regions of a board that are worth freeing, the most promising first."""


def digest(placements: IntArray, key: int = 0) -> int:
    """Return a 62-bit hash of placements; another ``key`` gives another hash."""
    found = blake2b(placements.tobytes(), digest_size=8, key=key.to_bytes(8, "little"))
    return int.from_bytes(found.digest(), "little") >> 2


def _remember(memory: dict[int, int], key: int, value: int) -> None:
    """Put ``key`` with its ``value`` at the end of a memory; if the memory is full, forget its oldest key."""
    memory.pop(key, None)
    if len(memory) >= REMEMBERED:
        del memory[next(iter(memory))]
    memory[key] = value


class Pool:
    """The boards that operators change: at most ``size`` members.

    When a board enters, the members are sorted by falling score, the latest first among equals. `ranked` puts last
    those on which at least ``patience`` node equivalents were spent without a gain.
    """

    def __init__(self, puzzle: Puzzle, size: int, patience: int) -> None:
        self.puzzle, self.size, self.patience = puzzle, size, patience
        self.members: list[Member] = []
        self.spent = 0.0  # node equivalents that all operators have spent
        self.anchor: Board | None = None  # a board with which every board of the pool shares at least half of the cells
        self.boards_by_score = np.zeros(puzzle.max_score + 1, dtype=np.int64)  # by score: number of new boards offered
        self._known: dict[int, int] = {}  # digest of a board -> index of the operator that found it
        self._best_scores: dict[int, int] = {}  # hash of a family -> best score of its boards
        self._searched: dict[int, int] = {}  # digests of the searches that `is_new_question` was asked about

    def admits(self, board: Board) -> bool:
        """Return whether a board shares at least half of its cells with the anchor; True without an anchor."""
        return self.anchor is None or 2 * board.distance(self.anchor) <= self.puzzle.cells

    def offer(
        self, found: FoundBoard, operator: int, *, order: IntArray | None = None, parent: Member | None = None
    ) -> tuple[int | None, bool]:
        """Add a new board that an operator found; the member ``parent`` from which the board was made leaves the pool.

        A known board is not added, but takes the place of ``parent`` if it is not in the pool. If there is no room, the
        worst of the other members leaves. ``operator``: index of the operator, or ELSEWHERE. Returns (index of the
        operator that found the board before, None for a new board; whether the board is a gain). A gain is new and
        better than all earlier boards of its family, since most boards of a family differ in only a few pieces.
        """
        key = digest(found.board.placements)
        first = self._known.get(key)
        if parent is not None:
            if first is None or any(other.board == found.board for other in self.members if other is not parent):
                self.members = [other for other in self.members if other is not parent]
            else:
                parent.become(found)
        if first is not None:
            return first, False
        _remember(self._known, key, operator)
        self.boards_by_score[found.score] += 1
        member = Member(found.board, found.score, order, family=0 if parent is None else parent.family)
        others = sorted(self.members, key=lambda other: -other.score)[: self.size - 1]
        self.members = sorted([member, *others], key=lambda other: -other.score)
        is_gain = found.score > self._best_scores.get(member.family, -1)
        if is_gain:
            _remember(self._best_scores, member.family, found.score)
        return None, is_gain

    def move(self, member: Member, found: FoundBoard, slack: int) -> None:
        """Replace a member's board by ``found`` if ``found`` is no worse, or at most ``slack`` below `Member.best`."""
        if found.score >= member.score or found.score >= member.best - slack:  # record-to-record travel (Dueck 1993)
            member.become(found)

    def give_to(self, board: Board, operator: int) -> None:
        """Record a known board as found by the operator of index ``operator``."""
        self._known[digest(board.placements)] = operator

    def keep(self, score: int) -> None:
        """Remove all members with another score than ``score``."""
        self.members = [member for member in self.members if member.score == score]

    def ranked(self) -> list[Member]:
        """Return the members sorted by how often ``patience`` was spent without a gain, then by falling score."""
        return sorted(self.members, key=lambda member: (member.idle // self.patience, -member.score))

    @property
    def is_tired(self) -> bool:
        """True if at least ``patience`` node equivalents were spent on every member, if any, without a gain."""
        return all(member.idle >= self.patience for member in self.members)

    def rest(self, rng: np.random.Generator) -> None:
        """Set the idle work of a random member to 0; the probability falls linearly with its position in the pool."""
        ranks = np.arange(len(self.members), 0, -1.0)
        if len(ranks):
            self.members[int(rng.choice(len(ranks), p=ranks / ranks.sum()))].idle = 0

    def budget(self, most: int) -> int:
        """Return how many placements the repair of a region may take: ``most``, or fewer early in a run."""
        return min(most, max(LEAST_NODES, int(BUDGET_SHARE * self.spent / REGION_NODE)))

    def price(self, score: int) -> float:
        """Return the node equivalents spent for each new board of at least ``score``, or all if none was found."""
        return self.spent / max(1, int(self.boards_by_score[score:].sum()))

    def is_new_question(self, member: Member, cells: tuple[int, ...], wanted: int) -> bool:
        """Return whether a search (these cells, pieces elsewhere, wanted score) is not remembered yet; remember it."""
        around = member.board.placements.copy()
        around[list(cells)] = -1
        key = digest(around, wanted)
        if key in self._searched:
            return False
        _remember(self._searched, key, 0)
        return True

    def state(self, operators: tuple[str, ...]) -> State:
        """Return the pool as arrays; ``operators``: names of the operators, in the order of the columns of ``done``."""
        done = [[member.done.get(name, 0) for name in operators] for member in self.members]
        known = {"known": self._known, "families": self._best_scores, "searched": self._searched}
        return {
            "members": members_to_rows(self.members, self.puzzle.cells),
            "done": np.array(done, dtype=np.int64).reshape(-1, len(operators)),
            "boards_by_score": self.boards_by_score.copy(),
            "spent": np.array(self.spent),
            "anchor": saved_placements(self.anchor),
            **{name: np.array(list(of.items()), dtype=np.int64).reshape(-1, 2) for name, of in known.items()},
        }

    def restore(self, state: State, operators: tuple[str, ...]) -> None:
        """Continue from a state that `state` returned for the same ``operators``."""
        self.members = members_of_rows(self.puzzle, state["members"])
        for member, done in zip(self.members, state["done"].tolist(), strict=True):
            member.done = dict(zip(operators, done, strict=True))
        self.boards_by_score[:], self.spent = state["boards_by_score"], float(state["spent"])
        self.anchor = saved_board(self.puzzle, state["anchor"])
        self._known, self._best_scores, self._searched = (
            dict(state[name].tolist()) for name in ("known", "families", "searched")
        )


def members_to_rows(members: list[Member], cells: int) -> npt.NDArray[np.int64]:
    """Return a row per member: board, order (-1: none), score, best, idle, family; int64 (members, 2 * cells + 4)."""
    rows = [
        [*m.board.placements, *([-1] * cells if m.order is None else m.order), m.score, m.best, m.idle, m.family]
        for m in members
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 2 * cells + 4)


def members_of_rows(puzzle: Puzzle, rows: npt.NDArray[np.generic]) -> list[Member]:
    """Return the members from the rows of `members_to_rows`."""
    members = []
    for row in rows.astype(np.int64):
        board, order = np.split(row[:-4].astype(np.int32), 2)
        made = Board(board, puzzle.width, puzzle.height)
        score, best, idle, family = row[-4:].tolist()
        members.append(Member(made, score, None if order[0] < 0 else order, best, idle, family))
    return members
