"""The pool: the boards that the operators of the loop free and repair, and what is known of them.

A *member* is a full board near the best. It is improved in a line: a board with a better score, or one as good that an
operator moved to, takes its place. Members of a *family* share the prefix that the construction filled first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from lns.engine import FoundBoard, State, expect, legal_score, saved_board, saved_placements
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.node_equivalents import REGION_NODE

REMEMBERED = 1 << 14  # questions that are not asked again, since another board had the same pieces around the cells
KNOWN = 1 << 14  # boards that are recognised when they are found again
ELSEWHERE = -1  # instead of the number of an operator, for a board that was given
LEAST_NODES, BUDGET_SHARE = 10_000, 0.005  # budget of a region early in a run
FAMILY_SHARE = 0.6  # of the cells of the construction order, from the first on


@dataclass(eq=False)
class Member:
    """A full board whose regions are freed.

    Attributes
    ----------
    board : Board
    score : int
    order : int32 (cells,) or None
        Cells in the order in which the construction filled them; None for a board that was made otherwise.
    best : int
        Best score of its line.
    idle : int
        Node equivalents that its line has cost since it last gained an edge.
    family : int
        A number for the prefix that the construction filled first; of the board itself if there is no order.
    done : dict of str to int
        Regions of each operator that were searched or passed over.
    """

    board: Board
    score: int
    order: IntArray | None = None
    best: int = -1
    idle: int = 0
    family: int = 0
    done: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = max(self.best, self.score)
        if not self.family:
            prefix = slice(None) if self.order is None else self.order[: int(FAMILY_SHARE * len(self.order))]
            self.family = digest(self.board.placements[prefix])


def digest(placements: IntArray, key: int = 0) -> int:
    """A number of 62 bits for placements; ``key`` tells apart questions about the same ones."""
    found = blake2b(placements.tobytes(), digest_size=8, key=key.to_bytes(8, "little"))
    return int.from_bytes(found.digest(), "little") >> 2


class Pool:
    """At most ``size`` members, the best first; of equal ones the latest first.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the boards.
    size : int
        Members at most.
    patience : int
        Node equivalents without a gain after which other members come first.

    Attributes
    ----------
    members : list of Member
    boards_by_score : int64 (puzzle.max_score + 1,)
        New boards that were offered, by score.
    spent : float
        Node equivalents of all operators.
    anchor : Board or None
        A board of which at least half of the cells stay in every board of the pool.
    """

    def __init__(self, puzzle: Puzzle, size: int, patience: int) -> None:
        self.puzzle, self.size, self.patience = puzzle, size, patience
        self.members: list[Member] = []
        self.spent = 0.0
        self.anchor: Board | None = None
        self.boards_by_score = np.zeros(puzzle.max_score + 1, dtype=np.int64)
        self._known: dict[int, int] = {}  # digest of a board -> number of the operator that found it
        self._best_scores: dict[int, int] = {}  # by family
        self._searched: deque[int] = deque(maxlen=REMEMBERED)
        self._searched_set: set[int] = set()

    def admits(self, board: Board) -> bool:
        """Whether a board is near enough to the anchor."""
        return self.anchor is None or 2 * board.distance(self.anchor) <= self.puzzle.cells

    def offer(
        self, found: FoundBoard, operator: int, *, order: IntArray | None = None, parent: Member | None = None
    ) -> tuple[int | None, bool]:
        """Add a board that an operator found; it takes the place of ``parent``, the member that it was made from.

        If there is no room, the worst of the other members leaves.

        Parameters
        ----------
        found : FoundBoard
            The verified board.
        operator : int
            Number of the operator, or ELSEWHERE.
        order : int32 (cells,), optional
            Cells in the order in which they were filled.
        parent : Member, optional
            The member from which it was made.

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
        if first is not None:
            if parent is not None:
                self._return(parent, found)
            return first, False
        if parent is not None:
            self.remove(parent)
        if len(self._known) >= KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = operator
        self.boards_by_score[found.score] += 1
        member = Member(found.board, found.score, order, family=0 if parent is None else parent.family)
        others = sorted(self.members, key=lambda other: -other.score)[: self.size - 1]
        self.members = sorted([member, *others], key=lambda other: -other.score)
        is_gain = found.score > self._best_scores.get(member.family, -1)
        if is_gain:
            self._best_scores.pop(member.family, None)
            if len(self._best_scores) >= KNOWN:
                del self._best_scores[next(iter(self._best_scores))]
            self._best_scores[member.family] = found.score
        return None, is_gain

    def _return(self, member: Member, found: FoundBoard) -> None:
        """Let a known board take the place of a member's, which leaves if another one has that board."""
        if any(other.board == found.board for other in self.members if other is not member):
            self.remove(member)
        else:
            member.board, member.score, member.done = found.board, found.score, {}

    def move(self, member: Member, found: FoundBoard, slack: int) -> None:
        """Let another board take the place of a member's, unless it is worse than that, and by more than ``slack``
        than the best of the line: record-to-record travel (Dueck 1993)."""
        if found.score >= member.score or found.score >= member.best - slack:
            member.board, member.score, member.done = found.board, found.score, {}

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

    # -- questions: is there a refill of these cells with this score? --------------------------------------------------

    def is_new_question(self, member: Member, cells: tuple[int, ...], wanted: int) -> bool:
        """Whether no board with the same pieces around the cells was searched for this score; it is remembered."""
        around = member.board.placements.copy()
        around[list(cells)] = -1
        key = digest(around, wanted)
        if key in self._searched_set:
            return False
        if len(self._searched) == REMEMBERED:
            self._searched_set.discard(self._searched[0])
        self._searched.append(key)
        self._searched_set.add(key)
        return True

    # -- state ---------------------------------------------------------------------------------------------------------

    def state(self, operators: tuple[str, ...]) -> State:
        """Everything above as flat arrays, one row a member; ``operators`` name the columns of what is done."""
        members, cells = self.members, self.puzzle.cells
        none = np.full(cells, -1, dtype=np.int32)
        return {
            "boards": np.array([m.board.placements for m in members], dtype=np.int32).reshape(-1, cells),
            "orders": np.array([none if m.order is None else m.order for m in members], dtype=np.int32).reshape(
                -1, cells
            ),
            "lines": np.array([(m.best, m.idle, m.family) for m in members], dtype=np.int64).reshape(-1, 3),
            "done": np.array([[m.done.get(name, 0) for name in operators] for m in members], dtype=np.int64).reshape(
                -1, len(operators)
            ),
            "boards_by_score": self.boards_by_score.copy(),
            "spent": np.array([self.spent]),
            "anchor": saved_placements(self.anchor),
            "known": np.array(list(self._known.items()), dtype=np.int64).reshape(-1, 2),
            "families": np.array(list(self._best_scores.items()), dtype=np.int64).reshape(-1, 2),
            "searched": np.array(list(self._searched), dtype=np.int64),
        }

    def restore(self, state: State, operators: tuple[str, ...]) -> None:
        """Continue from `state`; InputError for illegal boards, orders that are none, and unknown operators."""
        rows = (state[name] for name in ("boards", "orders", "lines", "done"))
        self.members = []
        for placements, order, (best, idle, family), done in zip(*rows, strict=True):
            ordered = bool((order >= 0).all())
            expect(not ordered or np.array_equal(np.sort(order), np.arange(len(order))), "order of a board in the pool")
            board = Board(placements.astype(np.int32), self.puzzle.width, self.puzzle.height)
            score, counts = legal_score(self.puzzle, board), dict(zip(operators, done.tolist(), strict=True))
            given = order.astype(np.int32) if ordered else None
            self.members.append(Member(board, score, given, int(best), int(idle), int(family), counts))
        self.boards_by_score = state["boards_by_score"].astype(np.int64)
        self.anchor, _ = saved_board(self.puzzle, state["anchor"])
        (self.spent,) = state["spent"].tolist()
        self._known = dict(state["known"].tolist())
        expect(max(self._known.values(), default=ELSEWHERE) < len(operators), "operator of a known board")
        self._best_scores = dict(state["families"].tolist())
        self._searched = deque(state["searched"].tolist(), maxlen=REMEMBERED)
        self._searched_set = set(self._searched)
