"""The pool of boards, and what an operator of the loop is: it frees cells of a board and repairs what it has freed.

A *member* of the pool is a full board near the best. It is improved in a line: a board with a better score, or one as
good that an operator moved to, takes its place. Members of a *family* share the prefix that the construction filled
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from lns.engine import FoundBoard, State, Statistics, expect, legal_score, saved_board, saved_placements
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.node_equivalents import REGION_NODE

REMEMBERED = 1 << 14  # boards and families that are recognised when they are found again, and questions
ELSEWHERE = -1  # instead of the number of an operator, for a board that was given
LEAST_NODES, BUDGET_SHARE = 10_000, 0.005  # budget of a region early in a run
FAMILY_SHARE = 0.6  # of the cells of the construction order, from the first on


@dataclass(eq=False)
class Member:
    """A full board whose regions are freed."""

    board: Board
    score: int
    order: IntArray | None = None  # cells in the order in which the construction filled them, if it did
    best: int = -1  # best score of its line
    idle: int = 0  # node equivalents that its line has cost since it last gained an edge
    family: int = 0  # a number for the prefix that the construction filled first; of the whole board without an order
    done: dict[str, int] = field(default_factory=dict)  # regions of each operator that were searched or passed over

    def __post_init__(self) -> None:
        self.best = max(self.best, self.score)
        if not self.family:
            prefix = slice(None) if self.order is None else self.order[: int(FAMILY_SHARE * len(self.order))]
            self.family = digest(self.board.placements[prefix])

    def become(self, found: FoundBoard) -> None:
        """Let another board take the place of this one; its regions are searched from the first one on."""
        self.board, self.score, self.done = found.board, found.score, {}


# -- operators ---------------------------------------------------------------------------------------------------------


class Freed(NamedTuple):
    """A board and the cells of it that are freed."""

    member: Member | None  # None: all cells of no board, the whole board is made anew
    cells: tuple[int, ...] = ()
    nodes: int = 0  # most placements in fixed orders of the repair, if its work is counted in these


WHOLE_BOARD = Freed(None)


class Found(NamedTuple):
    """A full board that a repair found."""

    board: Board
    origin: str  # name under which statistics and reports show it
    order: IntArray | None = None  # cells in the order in which the construction filled them
    score: int | None = None  # that it is said to have, if it is


class Repaired(NamedTuple):
    """What a repair did."""

    boards: list[Found]  # in the order of discovery
    cost: float  # node equivalents
    moved: Found | None = None  # a board that takes the place of the freed one, though it is not better


class Operator(Protocol):
    """An operator of `lns.loop.search_loop.SearchLoop`, which verifies its boards.

    Attributes
    ----------
    name : str
        Name in the table, in statistics and in messages.
    makes_boards : bool
        Whether it makes whole boards, and so can make the first one.
    proves : bool
        Whether its repair is exact: what it does not find is proven not to exist.
    """

    name: str
    makes_boards: bool
    proves: bool

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        """Choose a board and the cells to free; None if there is nothing to do for a board of score ``wanted``."""

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        """Search for a board that is better than the freed one, or of the score ``wanted`` if that is a whole board."""

    @property
    def statistics(self) -> Statistics:
        """What was done so far."""

    def state(self) -> State:
        """Everything that a new operator needs to go on; without the pool."""

    def restore(self, state: State) -> None:
        """Go on from a state. Raises InputError if it does not fit the puzzle or the parameters."""


class Neighbourhood(Protocol):
    """The regions of a board that are worth freeing, the most promising first."""

    def __call__(self, puzzle: Puzzle, member: Member, /) -> Iterator[tuple[int, ...]]:
        """Cells of each region."""


# -- the pool ----------------------------------------------------------------------------------------------------------


def digest(placements: IntArray, key: int = 0) -> int:
    """A number of 62 bits for placements; ``key`` tells apart questions about the same ones."""
    found = blake2b(placements.tobytes(), digest_size=8, key=key.to_bytes(8, "little"))
    return int.from_bytes(found.digest(), "little") >> 2


def _remember(memory: dict[int, int], key: int, value: int) -> None:
    """Put ``key`` at the end of a memory; the oldest one is forgotten if there are too many."""
    memory.pop(key, None)
    if len(memory) >= REMEMBERED:
        del memory[next(iter(memory))]
    memory[key] = value


class Pool:
    """At most ``size`` members, the best first; of equal ones the latest first.

    One that has cost ``patience`` node equivalents without a gain comes last.
    """

    def __init__(self, puzzle: Puzzle, size: int, patience: int) -> None:
        self.puzzle, self.size, self.patience = puzzle, size, patience
        self.members: list[Member] = []
        self.spent = 0.0  # node equivalents of all operators
        self.anchor: Board | None = None  # a board of which at least half of the cells stay in every board of the pool
        self.boards_by_score = np.zeros(puzzle.max_score + 1, dtype=np.int64)  # new boards that were offered
        self._known: dict[int, int] = {}  # digest of a board -> number of the operator that found it
        self._best_scores: dict[int, int] = {}  # by family
        self._searched: dict[int, int] = {}  # digests of questions

    def admits(self, board: Board) -> bool:
        """Whether a board is near enough to the anchor."""
        return self.anchor is None or 2 * board.distance(self.anchor) <= self.puzzle.cells

    def offer(
        self, found: FoundBoard, operator: int, *, order: IntArray | None = None, parent: Member | None = None
    ) -> tuple[int | None, bool]:
        """Add a board that an operator found; it takes the place of ``parent``, the member that it was made from.

        If there is no room, the worst of the other members leaves. ``operator``: its number, or ELSEWHERE.

        Returns
        -------
        first : int or None
            None for a new board; else the number of the operator that found it first.
        is_gain : bool
            Whether it is a new board, and the first one of its family with this score: boards come in groups that
            differ in a few pieces.
        """
        key = digest(found.board.placements)
        first = self._known.get(key)
        if parent is not None:
            if first is None or any(other.board == found.board for other in self.members if other is not parent):
                self.remove(parent)
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
        """Let another board take the place of a member's, unless it is worse than that, and by more than ``slack``
        than the best of the line: record-to-record travel (Dueck 1993)."""
        if found.score >= member.score or found.score >= member.best - slack:
            member.become(found)

    def give_to(self, board: Board, operator: int) -> None:
        """Count a known board as one that another operator found."""
        self._known[digest(board.placements)] = operator

    def remove(self, member: Member) -> None:
        """Remove a board, if it is one of the members."""
        self.members = [other for other in self.members if other is not member]

    def keep(self, low: int, high: int) -> None:
        """Remove all members with a score below ``low`` or above ``high``."""
        self.members = [member for member in self.members if low <= member.score <= high]

    def ranked(self) -> list[Member]:
        """The members, those first that have gained an edge within their patience, then the better ones."""
        return sorted(self.members, key=lambda member: (member.idle // self.patience, -member.score))

    @property
    def is_tired(self) -> bool:
        """Whether every member has cost its patience without a gain."""
        return all(member.idle >= self.patience for member in self.members)

    def rest(self, rng: np.random.Generator) -> None:
        """Give a random member its patience back; the probability falls linearly with the rank."""
        ranks = np.arange(len(self.members), 0, -1.0)
        if len(ranks):
            self.members[int(rng.choice(len(ranks), p=ranks / ranks.sum()))].idle = 0

    def budget(self, most: int) -> int:
        """Placements that the repair of a region may take: ``most``, but only a small share of what was spent."""
        return min(most, max(LEAST_NODES, int(BUDGET_SHARE * self.spent / REGION_NODE)))

    def price(self, score: int) -> float:
        """Node equivalents that a board of ``score`` has cost on average; all that were spent if there was none."""
        return self.spent / max(1, int(self.boards_by_score[score:].sum()))

    def is_new_question(self, member: Member, cells: tuple[int, ...], wanted: int) -> bool:
        """Whether no refill of these cells, with the same pieces around them, was searched for this score.

        The question is remembered.
        """
        around = member.board.placements.copy()
        around[list(cells)] = -1
        key = digest(around, wanted)
        if key in self._searched:
            return False
        _remember(self._searched, key, 0)
        return True

    # -- state ---------------------------------------------------------------------------------------------------------

    def state(self, operators: tuple[str, ...]) -> State:
        """Everything above as flat arrays, one row a member; ``operators`` name the columns of what is done."""
        members, cells = self.members, self.puzzle.cells
        boards, orders = members_to_rows(members, cells)
        done = [[member.done.get(name, 0) for name in operators] for member in members]
        return {
            "boards": boards,
            "orders": orders,
            "lines": np.array([(m.best, m.idle, m.family) for m in members], dtype=np.int64).reshape(-1, 3),
            "done": np.array(done, dtype=np.int64).reshape(-1, len(operators)),
            "boards_by_score": self.boards_by_score.copy(),
            "spent": np.array([self.spent]),
            "anchor": saved_placements(self.anchor),
            "known": np.array(list(self._known.items()), dtype=np.int64).reshape(-1, 2),
            "families": np.array(list(self._best_scores.items()), dtype=np.int64).reshape(-1, 2),
            "searched": np.array(list(self._searched), dtype=np.int64),
        }

    def restore(self, state: State, operators: tuple[str, ...]) -> None:
        """Continue from `state`; InputError for illegal boards, orders that are none, and unknown operators."""
        self.members = members_of_rows(self.puzzle, state["boards"], state["orders"])
        for member, line, done in zip(self.members, state["lines"].tolist(), state["done"].tolist(), strict=True):
            best, member.idle, family = line
            member.best, member.family = max(best, member.score), family or member.family
            member.done = dict(zip(operators, done, strict=True))
        self.boards_by_score = state["boards_by_score"].astype(np.int64)
        self.anchor, _ = saved_board(self.puzzle, state["anchor"])
        (self.spent,) = state["spent"].tolist()
        self._known = dict(state["known"].tolist())
        expect(max(self._known.values(), default=ELSEWHERE) < len(operators), "operator of a known board")
        self._best_scores = dict(state["families"].tolist())
        self._searched = dict.fromkeys(state["searched"].tolist(), 0)


def members_to_rows(members: list[Member], cells: int) -> tuple[IntArray, IntArray]:
    """Boards and orders of members, int32 (members, cells) each; an order of -1 stands for none."""
    none = np.full(cells, -1, dtype=np.int32)
    boards = np.array([member.board.placements for member in members], dtype=np.int32)
    orders = np.array([none if member.order is None else member.order for member in members], dtype=np.int32)
    return boards.reshape(-1, cells), orders.reshape(-1, cells)


def members_of_rows(puzzle: Puzzle, boards: npt.NDArray[np.generic], orders: npt.NDArray[np.generic]) -> list[Member]:
    """Members from rows of a state; InputError for illegal boards and for orders that are none."""
    members = []
    for placements, given in zip(boards, orders, strict=True):
        order, board = given.astype(np.int32), Board(placements.astype(np.int32), puzzle.width, puzzle.height)
        ordered = bool((order >= 0).all())
        expect(not ordered or np.array_equal(np.sort(order), np.arange(len(order))), "order of a board")
        members.append(Member(board, legal_score(puzzle, board), order if ordered else None))
    return members
