"""Tabu search as an engine of its own: walk, kick when nothing improves, start again now and then."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import FoundBoard, State, Statistics, legal_score, saved_counters, verified_board
from lns.params import Params
from lns.rng import random_state
from lns.tabu import kernel
from lns.tabu.search import TabuSearch
from lns_support.errors import InputError

SAVED = ("placed", "until", "seen", "seen_hash", "scalars", "record", "random")  # the rest of a walk follows from these


class TabuEngine:
    """One walk at a time from a random board; after ``patience`` moves a cell without a new best, a kick from the best.

    An iterated local search (Lourenço, Martin & Stützle 2003) that accepts boards as good as the best: from the last
    one of these each kick goes. After ``kicks`` of them without a new best another walk begins.
    """

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        self.params = params.tabu
        self.tabu = TabuSearch(puzzle, random_state(seed, island), self.params.tenure)
        self.best: Board | None = None
        self.best_score = -1
        self.origin = "tabu"
        self.exhausted, self.expected_best_score = False, None
        self.since = 0  # step at which the walk was last seen to improve, or kicked
        self.walk_best = -1
        self.kicks = 0  # since the walk last improved; one more than are made when another is due
        self.boards = 0
        self.started = False
        self._finds: list[FoundBoard] = []

    @property
    def statistics(self) -> Statistics:
        return Statistics(moves=self.tabu.moves_evaluated, boards=self.boards)

    def step(self, target: int) -> None:
        if not self.started or self.kicks > self.params.kicks:
            self.tabu.start()
            self.started, self.kicks, self.walk_best, self.since = True, 0, -1, self.tabu.steps_made
        left = self.since + self.params.patience * self.tabu.puzzle.cells - self.tabu.steps_made
        self.tabu.run(min(self.params.steps, left), target)
        if not self._improved() and self.tabu.steps_made >= self.since + self.params.patience * self.tabu.puzzle.cells:
            self.kicks += 1
            self.since = self.tabu.steps_made
            if self.kicks <= self.params.kicks:
                self.tabu.restart_from_best()
                self.tabu.kick(self.params.kick)
                self._improved()

    def _improved(self) -> bool:
        """Whether the walk has a new best, which is noted."""
        if self.tabu.best_score <= self.walk_best:
            return False
        self.walk_best, self.since, self.kicks = self.tabu.best_score, self.tabu.steps_made, 0
        if self.walk_best > self.best_score:
            find = verified_board(self.tabu.puzzle, self.tabu.best, "tabu")
            self.best, self.best_score, self.origin = find
            self._finds.append(find)
            self.boards += 1
        return True

    def pop_boards(self) -> list[FoundBoard]:
        finds, self._finds = self._finds, []
        return finds

    def inject_incumbent(self, board: Board, score: int) -> None:
        if score > self.best_score:
            self.best, self.best_score, self.origin = board, score, "elsewhere"
            self.tabu.start(board)
            self.started, self.kicks, self.walk_best, self.since = True, 0, score, self.tabu.steps_made

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        return {
            **{f"walk.{name}": getattr(self.tabu.walk, name).copy() for name in SAVED},
            "best": none if self.best is None else self.best.placements,
            "counters": np.array([self.best_score, self.since, self.walk_best, self.kicks, self.started, self.boards]),
        }

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError when its boards break a rule."""
        self.best_score, self.walk_best = int(state["counters"][0]), int(state["counters"][2])
        self.since, self.kicks, started, self.boards = saved_counters(state["counters"][[1, 3, 4, 5]])
        self.started = bool(started)
        self.best = self._saved(state["best"])[0] if len(state["best"]) else None
        scores = [self.tabu.score, self.tabu.best_score]
        if self.started:
            placed, record = self._saved(state["walk.placed"]), self._saved(state["walk.record"])
            scores = [placed[1], record[1]]
            self.tabu.start(placed[0])  # fills what follows from the board
        for name in SAVED:
            getattr(self.tabu.walk, name)[...] = state[f"walk.{name}"]
        scalars = self.tabu.walk.scalars
        saved_counters(scalars[[kernel.STEP, kernel.CHANGED, kernel.EVALUATED]])
        longest = self.tabu.puzzle.cells * kernel.TENURE_UNIT + 2 * self.params.tenure * kernel.TENURE_UNIT
        fits = [self.tabu.score, self.tabu.best_score] == scores and self.walk_best <= self.tabu.best_score
        if not fits or not 0 < scalars[kernel.TENURE] <= longest:
            raise InputError("the saved walk has numbers out of range")

    def _saved(self, placements: npt.NDArray[np.generic]) -> tuple[Board, int]:
        """A saved board and its score, which is counted again."""
        puzzle = self.tabu.puzzle
        board = Board(placements.astype(np.int32), puzzle.width, puzzle.height)
        return board, legal_score(puzzle, board)
