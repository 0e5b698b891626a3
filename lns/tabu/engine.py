"""Tabu search as an engine of its own: walk, kick when nothing improves, start again now and then."""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import State, Statistics
from lns.params import Params
from lns.rng import random_state
from lns.tabu.search import Tabu

KICKS_PER_START = 20


class TabuEngine:
    """One walk at a time from a random board; after ``patience`` moves without a new best, a kick from the best."""

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        self.params = params.tabu
        self.tabu = Tabu(puzzle, random_state(seed, island), self.params.tenure)
        self.best: Board | None = None
        self.best_score = -1
        self.origin = "tabu"
        self.exhausted = False
        self.since = 0  # step of the walk's last improvement
        self.walk_best = -1
        self.kicks = 0
        self.started = False

    @property
    def statistics(self) -> Statistics:
        return Statistics(moves=self.tabu.moves_evaluated)

    def step(self, target: int) -> None:
        if not self.started or self.kicks > KICKS_PER_START:
            self.tabu.start()
            self.started, self.kicks, self.walk_best, self.since = True, 0, -1, self.tabu.steps_made
        self.tabu.run(self.params.steps, target)
        if self.tabu.best_score > self.walk_best:
            self.walk_best, self.since = self.tabu.best_score, self.tabu.steps_made
        elif self.tabu.steps_made - self.since > self.params.patience:
            self.tabu.restart_from_best()
            self.tabu.kick(self.params.kick)
            self.kicks += 1
            self.since = self.tabu.steps_made
        if self.walk_best > self.best_score:
            self.best, self.best_score, self.origin = self.tabu.best, self.walk_best, "tabu"

    def meet(self, board: Board, score: int) -> None:
        if score > self.best_score:
            self.best, self.best_score = board, score
            self.tabu.start(board)
            self.started, self.walk_best, self.since = True, score, self.tabu.steps_made

    def state(self) -> State:
        walk = self.tabu.walk
        none = np.zeros(0, dtype=np.int32)
        return {
            **{f"walk.{name}": value.copy() for name, value in walk._asdict().items()},
            "best": none if self.best is None else self.best.placements,
            "counters": np.array([self.best_score, self.since, self.walk_best, self.kicks, self.started]),
        }

    def restore(self, state: State) -> None:
        for name, value in self.tabu.walk._asdict().items():
            value[...] = state[f"walk.{name}"]
        self.best_score, self.since, self.walk_best, self.kicks, started = map(int, state["counters"])
        self.started = bool(started)
        puzzle = self.tabu.puzzle
        self.best = Board(state["best"].astype(np.int32), puzzle.width, puzzle.height) if len(state["best"]) else None
