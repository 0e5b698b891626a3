"""The search of one island: free some or all cells of a board, fill them again, and learn which operators pay.

The construction is an operator that frees the whole board. With it, the boards one edge below the wanted score form
the pool, from which the other operators take the boards that they change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lns.engine import FoundBoard, Saved, State, Statistics, component, joined, saved_board, saved_placements
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.loop.chooser import Chooser
from lns.loop.pool import ELSEWHERE, Freed, Operator, Pool, Repaired
from lns.params import Params
from lns.rng import RandomState, generator


class SearchLoop(Saved):
    """The search of one island: operators, a pool of boards, and a chooser.

    Budgets are counted in nodes, so the same seed and the same number of steps give the same boards, also if the loop
    is saved and restored in between, unless a graphics card was at work. Every board that a loop returns is verified.
    ``keeps_half``: whether at least half of the cells of a start board must keep their pieces. ``best_score`` is -1
    before the first board; ``origin`` names the part of the engine that made the best board: "elsewhere" for an
    injected board, "" before the first board and after `restore`.
    """

    SAVED = ("best_score", "boards", "starts_from_board", "random")

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        operators: Sequence[Operator],
        random: RandomState,
        island: int = 0,
        *,
        keeps_half: bool = False,
    ) -> None:
        self.best: Board | None = None
        self.best_score, self.origin, self.boards, self.keeps_half = -1, "", 0, keeps_half
        self._found_boards: list[FoundBoard] = []
        self.puzzle, self.operators, self.random, self.island = puzzle, tuple(operators), random, island
        self.names = tuple(operator.name for operator in operators)
        self.settings, self.search_floor = params.neighbourhoods, params.engine.search_floor
        self.pool = Pool(puzzle, self.settings.pool, self.settings.patience)
        self.chooser = Chooser(self.operators, self.settings.floor)
        self.construction = self.chooser.construction
        self.starts_from_board = False  # whether a start board has regions that were not re-solved yet

    def pop_boards(self) -> list[FoundBoard]:
        """Return the wanted or best boards found since the last call, in order of discovery, without injected ones."""
        found_boards, self._found_boards = self._found_boards, []
        return found_boards

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a full legal board of verified score from elsewhere, if it is better than the best board here.

        A start board, injected before the first board, enters the pool of the first island (if ``keeps_half``, of every
        island); with a construction, its regions are re-solved first. Other boards enter only without a construction.
        """
        if score <= self.best_score:
            return
        is_start = self.best is None and (self.island == 0 or self.keeps_half)
        self.best, self.best_score, self.origin = board, score, "elsewhere"
        if is_start and self.keeps_half:
            self.pool.anchor = board
        if is_start or self.construction is None:
            self.pool.offer(FoundBoard(board, score, "elsewhere"), ELSEWHERE)
            self.starts_from_board = is_start and self.construction is not None

    def step(self, *, wanted: int = 0) -> None:
        """Let one operator work for tens of milliseconds, or for one beam; the work is counted in nodes or moves.

        ``wanted``: the score to look for, even if a better board is known; 0 stands for the best score plus one.
        """
        rng, wanted = generator(self.random), wanted or self.best_score + 1
        if self.construction is not None:
            self.pool.keep(wanted - 1)
        elif self.best_score == self.puzzle.max_score:
            return
        if self.best is None:
            order = self.chooser.makers
        elif self.starts_from_board:
            order = [number for number in self.chooser.by_value(rng, None) if self.operators[number].proves]
        else:
            order = self.chooser.order(rng, self.pool, self.settings.new_board_share)
        for number in order:
            operator = self.operators[number]
            try:
                freed = operator.free(self.pool, wanted, rng)
                if freed is not None:
                    self._take(number, freed, operator.repair(freed, wanted, rng), wanted)
                    return
            except Exception as error:
                self.chooser.switch_off(number, error)
        self.starts_from_board = False

    def _take(self, number: int, freed: Freed, repaired: Repaired, wanted: int) -> None:
        """Offer a repair's boards to the pool, keep wanted or new best ones for `pop_boards`; let the chooser learn."""
        operator, parent, gained = self.operators[number], freed.member, 0
        goal = wanted if parent is None else parent.score + 1
        price = self.pool.price(goal) if self.construction is None else self.construction.price(goal)
        for found in repaired.boards:
            verified = found.verified(self.puzzle)
            if not self.pool.admits(found.board):
                continue
            first, is_gain = self.pool.offer(verified, number, order=found.order, parent=parent)
            gained += is_gain and verified.score >= goal
            if first is not None and first not in (number, ELSEWHERE) and operator is self.construction:
                self.chooser.found_later(first)
                self.pool.give_to(found.board, number)
            if verified.score >= min(wanted, self.search_floor or wanted, self.best_score + 1):
                self.boards += 1
                self._found_boards.append(verified)
                if verified.score > self.best_score:
                    self.best, self.best_score, self.origin = verified
        if parent is not None and not gained:
            parent.idle += int(repaired.cost)
            moved = None if repaired.moved is None else repaired.moved.verified(self.puzzle)
            if moved is not None and self.pool.admits(moved.board):
                self.pool.move(parent, moved, self.settings.slack)
        self.pool.spent += repaired.cost
        self.chooser.record(number, repaired.cost, price, gained)

    @property
    def statistics(self) -> Statistics:
        """Statistics of the work that all operators have done so far."""
        done = sum((operator.statistics for operator in self.operators), Statistics())
        new, later, failures = self.chooser.counts()
        return replace(done, boards=self.boards, new_boards=new, found_later=later, failures=done.failures | failures)

    def state(self) -> State:
        """Return everything that a new loop needs to continue this search."""
        parts = {"pool": self.pool.state(self.names), "chooser": self.chooser.state()}
        parts |= {operator.name: operator.state() for operator in self.operators}
        return super().state() | {"best": saved_placements(self.best)} | joined(parts)

    def restore(self, state: State) -> None:
        """Continue from the state of a loop of the same puzzle, parameters and operators."""
        super().restore(state)
        self.best = saved_board(self.puzzle, state["best"])
        self.pool.restore(component(state, "pool"), self.names)
        self.chooser.restore(component(state, "chooser"))
        for operator in self.operators:
            operator.restore(component(state, operator.name))
