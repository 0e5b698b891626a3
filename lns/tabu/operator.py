"""Tabu search as an operator of the loop: walks from random boards or from boards of the pool, with kicks."""

from __future__ import annotations

import numpy as np

from lns import node_equivalents
from lns.engine import State, Statistics, check_numbers, expect, saved_board
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.loop.operator import WHOLE_BOARD, Found, Freed, Repaired
from lns.loop.pool import Pool
from lns.params import TabuParams
from lns.rng import random_state
from lns.tabu import kernel
from lns.tabu.search import TabuSearch

SAVED = ("placed", "tabu_until", "visited_step", "visited_hash", "scalars", "best_placed", "random")  # of TabuState
SHORT_WALK = 3  # kicks without a new best after which a walk from a board of the pool ends


class Tabu:
    """Frees the whole board; each repair is some moves of a walk.

    After ``patience`` moves for each cell of the board without a new best, a walk is kicked: it continues from its last
    best board with a few random exchanges. After ``kicks`` kicks without a new best the next walk begins: at a random
    board, or at one of the pool.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of at most 1024 cells.
    params : TabuParams
        Parameters of the walks.
    seed, island : int
        Random seed of the run and number of the island; together they give the random numbers.
    from_pool : bool
        Whether all walks begin at boards of the pool, and end soon. Else only one that was given and is better than
        all that was found is walked from.

    References
    ----------
    Lourenço, Martin & Stützle 2003 (iterated local search).
    """

    name, makes_boards, proves = "tabu", True, False

    def __init__(self, puzzle: Puzzle, params: TabuParams, seed: int, island: int, *, from_pool: bool = False) -> None:
        self.params, self.from_pool = params, from_pool
        self.most_kicks = min(params.kicks, SHORT_WALK) if from_pool else params.kicks
        self.tabu = TabuSearch(puzzle, random_state(seed, island), params.tenure)
        self.idle_from = 0  # step at which the walk last improved or was kicked
        self.walk_best = self.best = -1  # best score of the walk, and of all walks
        self.kicks = 0  # since the walk last improved; most_kicks + 1: a new walk is due
        self.started = False

    @property
    def statistics(self) -> Statistics:
        return Statistics(moves=self.tabu.moves_evaluated)

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        members = pool.ranked()
        if self.from_pool:
            is_due = not self.started or self.kicks > self.most_kicks
            return Freed(members[int(rng.integers(len(members)))] if is_due else None) if members else None
        return Freed(members[0]) if members and members[0].score > self.best else WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        before = self.tabu.moves_evaluated
        if freed.member is not None:
            self._start(freed.member.board, freed.member.score)
        elif not self.started or self.kicks > self.most_kicks:
            self._start(None, -1)
        kick_at = self.idle_from + self.params.patience * self.tabu.puzzle.cells
        self.tabu.run(min(self.params.steps, kick_at - self.tabu.steps_made))
        improved = self._improved()
        if not improved and self.tabu.steps_made >= kick_at:
            self.kicks += 1
            self.idle_from = self.tabu.steps_made
            if self.kicks <= self.most_kicks:
                self.tabu.restart_from_best()
                self.tabu.kick(self.params.kick)
                improved = self._improved()
        boards = [Found(self.tabu.best, self.name)] if improved and self.walk_best >= wanted else []
        return Repaired(boards, (self.tabu.moves_evaluated - before) * node_equivalents.TABU_MOVE)

    def _start(self, board: Board | None, score: int) -> None:
        self.tabu.start(board)
        self.started, self.kicks, self.walk_best, self.idle_from = True, 0, score, self.tabu.steps_made
        self.best = max(self.best, score)

    def _improved(self) -> bool:
        """Whether the walk has a new best; it is recorded."""
        if self.tabu.best_score <= self.walk_best:
            return False
        self.walk_best, self.idle_from, self.kicks = self.tabu.best_score, self.tabu.steps_made, 0
        self.best = max(self.best, self.walk_best)
        return True

    def state(self) -> State:
        return {
            **{f"tabu.{name}": getattr(self.tabu.state, name).copy() for name in SAVED},
            "counters": np.array([self.walk_best, self.best, self.idle_from, self.kicks, self.started]),
        }

    def restore(self, state: State) -> None:
        puzzle = self.tabu.puzzle
        self.walk_best, self.best, self.idle_from, self.kicks, started = state["counters"].tolist()
        self.started = bool(started)
        scores = [self.tabu.score, self.tabu.best_score]
        if self.started:
            board, score = saved_board(puzzle, state["tabu.placed"])
            scores = [score, saved_board(puzzle, state["tabu.best_placed"])[1]]
            self.tabu.start(board)  # fills the derived arrays
        for name in SAVED:
            getattr(self.tabu.state, name)[...] = state[f"tabu.{name}"]
        scalars = self.tabu.state.scalars
        check_numbers({"tabu.tabu.scalars": scalars[: kernel.HASH]})
        longest = (puzzle.cells + 2 * self.params.tenure) * kernel.TENURE_UNIT
        consistent = [self.tabu.score, self.tabu.best_score] == scores and self.walk_best <= self.tabu.best_score
        expect(consistent and 0 < scalars[kernel.TENURE] <= longest, "tabu walk")
