"""The search of one island: the loop, with the boards that come and go, statistics, and its state."""

from __future__ import annotations

from dataclasses import replace

from lns.engine import FoundBoard, Saved, State, Statistics, component, joined, saved_board, saved_placements
from lns.instances.board import Board
from lns.loop.loop import Loop
from lns.loop.pool import ELSEWHERE


class SearchLoop(Loop, Saved):
    """The search of one island: operators, a pool of boards, and a chooser.

    Budgets are nodes, not seconds: the same seed and the same number of steps give the same boards, and a loop restored
    from a state continues exactly as the one that it was taken from. Every board that it returns is verified.

    The first one of ``operators`` that makes whole boards makes the first board. ``keeps_half``: at least half of the
    cells of the start board stay as they are. ``best_score`` is -1 before the first board; ``origin`` is the part that
    made the best one, "elsewhere" for an injected one, and "" after `restore`.
    """

    SAVED = ("best_score", "boards", "starts_from_board", "random")

    def pop_boards(self) -> list[FoundBoard]:
        """The boards found since the last call, in the order of discovery; injected boards are not among them."""
        found_boards, self._found_boards = self._found_boards, []
        return found_boards

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a full legal board of a verified score that was found elsewhere, if it is better.

        The first island re-solves the regions of a start board at once; beside a construction, none does so with the
        board of another island.
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

    @property
    def statistics(self) -> Statistics:
        """What was done so far."""
        done = sum((operator.statistics for operator in self.operators), Statistics())
        new, later, failures = self.chooser.counts(self.names)
        return replace(done, boards=self.boards, new_boards=new, found_later=later, failures=done.failures | failures)

    def state(self) -> State:
        """Everything that a new loop needs to continue this search."""
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
