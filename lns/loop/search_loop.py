"""One island: the loop as an engine, with statistics, boards that come from elsewhere, and its state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lns.engine import FoundBoard, State, Statistics, saved_board, saved_counters, saved_placements
from lns.instances.board import Board
from lns.loop.construction import component
from lns.loop.loop import Loop
from lns.loop.pool import ELSEWHERE


class SearchLoop(Loop):
    """An `lns.engine.Engine` that is a `Loop`. Its operators and parameters are those of the loop."""

    @property
    def statistics(self) -> Statistics:
        done = sum((operator.statistics for operator in self.operators), Statistics())
        new, later, failures = self.chooser.counts(self.names)
        return replace(done, boards=self.boards, new_boards=new, found_later=later, failures=failures)

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a better board.

        The first island re-solves the regions of a start board at once. Beside a construction no island re-solves those
        of another island's board, since that one does so itself.
        """
        if score <= self.best_score:
            return
        is_start = self.best is None and (self.island == 0 or self.keeps_half)
        super().inject_incumbent(board, score)
        if is_start and self.keeps_half:
            self.pool.anchor = board
        if is_start or self.construction is None:
            self.pool.offer(FoundBoard(board, score, "elsewhere"), ELSEWHERE)
            self.starts_from_board = is_start and self.construction is not None

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        counters = self.best_score, self.boards, int(self.starts_from_board)
        state: State = {
            "best": saved_placements(self.best),
            "counters": np.array(counters),
            "random": self.random.copy(),
        }
        parts = {"pool": self.pool.state(self.names), "chooser": self.chooser.state()}
        parts |= {operator.name: operator.state() for operator in self.operators}
        return state | {f"{part}.{key}": value for part, arrays in parts.items() for key, value in arrays.items()}

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle and these parameters."""
        self.best, self.best_score = saved_board(self.puzzle, state["best"], int(state["counters"][0]))
        self.boards, starts_from_board = saved_counters(state["counters"][1:])
        self.starts_from_board = bool(starts_from_board)
        self.random[:] = state["random"]
        self.pool.restore(component(state, "pool."), self.names)
        self.chooser.restore(component(state, "chooser."))
        for operator in self.operators:
            operator.restore(component(state, f"{operator.name}."))
