"""Tabu search as an engine: walks from random boards, with kicks when a walk no longer improves."""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import BaseEngine, State, Statistics, saved_board, saved_counters, saved_placements, verified_board
from lns.params import Params
from lns.rng import random_state
from lns.tabu import kernel
from lns.tabu.search import TabuSearch
from lns_support.errors import InputError

SAVED = ("placed", "tabu_until", "visited_step", "visited_hash", "scalars", "best_placed", "random")  # of TabuState


class TabuEngine(BaseEngine):
    """One island of ``--engine tabu``.

    After ``patience`` moves for each cell of the board without a new best, a walk is kicked: it continues from its last
    best board with a few random exchanges. After ``kicks`` kicks without a new best a walk begins at a random board.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of at most 1024 cells.
    params : Params
        Parameters of the search.
    seed : int
        Random seed of the run.
    island : int
        Number of the island; each has its own random numbers.

    References
    ----------
    Lourenço, Martin & Stützle 2003 (iterated local search).
    """

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        super().__init__("tabu")
        self.params = params.tabu
        self.tabu = TabuSearch(puzzle, random_state(seed, island), self.params.tenure)
        self.expected_best_score = None
        self.idle_from = 0  # step at which the walk last improved or was kicked
        self.walk_best = -1
        self.kicks = 0  # since the walk last improved; params.kicks + 1: a new walk is due
        self.started = False

    @property
    def statistics(self) -> Statistics:
        return Statistics(moves=self.tabu.moves_evaluated, boards=self.boards)

    def step(self, target: int, *, wanted: int = 0) -> None:
        if not self.started or self.kicks > self.params.kicks:
            self.tabu.start()
            self.started, self.kicks, self.walk_best, self.idle_from = True, 0, -1, self.tabu.steps_made
        kick_at = self.idle_from + self.params.patience * self.tabu.puzzle.cells
        self.tabu.run(min(self.params.steps, kick_at - self.tabu.steps_made), target)
        if not self._improved() and self.tabu.steps_made >= kick_at:
            self.kicks += 1
            self.idle_from = self.tabu.steps_made
            if self.kicks <= self.params.kicks:
                self.tabu.restart_from_best()
                self.tabu.kick(self.params.kick)
                self._improved()

    def _improved(self) -> bool:
        """Whether the walk has a new best; it is recorded."""
        if self.tabu.best_score <= self.walk_best:
            return False
        self.walk_best, self.idle_from, self.kicks = self.tabu.best_score, self.tabu.steps_made, 0
        if self.walk_best > self.best_score:
            self.report(verified_board(self.tabu.puzzle, self.tabu.best, "tabu"))
        return True

    def inject_incumbent(self, board: Board, score: int) -> None:
        if score > self.best_score:
            super().inject_incumbent(board, score)
            self.tabu.start(board)
            self.started, self.kicks, self.walk_best, self.idle_from = True, 0, score, self.tabu.steps_made

    def state(self) -> State:
        return {
            **{f"tabu.{name}": getattr(self.tabu.state, name).copy() for name in SAVED},
            "best": saved_placements(self.best),
            "counters": np.array(
                [self.best_score, self.idle_from, self.walk_best, self.kicks, self.started, self.boards]
            ),
        }

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle."""
        puzzle, self.walk_best = self.tabu.puzzle, int(state["counters"][2])
        self.best, self.best_score = saved_board(puzzle, state["best"], int(state["counters"][0]))
        self.idle_from, self.kicks, started, self.boards = saved_counters(state["counters"][[1, 3, 4, 5]])
        self.started = bool(started)
        scores = [self.tabu.score, self.tabu.best_score]
        if self.started:
            board, score = saved_board(puzzle, state["tabu.placed"])
            scores = [score, saved_board(puzzle, state["tabu.best_placed"])[1]]
            self.tabu.start(board)  # fills the derived arrays
        for name in SAVED:
            getattr(self.tabu.state, name)[...] = state[f"tabu.{name}"]
        scalars = self.tabu.state.scalars
        saved_counters(scalars[[kernel.STEP, kernel.CHANGED, kernel.EVALUATED]])
        longest = self.tabu.puzzle.cells * kernel.TENURE_UNIT + 2 * self.params.tenure * kernel.TENURE_UNIT
        consistent = [self.tabu.score, self.tabu.best_score] == scores and self.walk_best <= self.tabu.best_score
        if not consistent or not 0 < scalars[kernel.TENURE] <= longest:
            raise InputError("checkpoint: the scores or the tenure of the tabu walk are out of range")
