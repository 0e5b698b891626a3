"""The main engine: construct, finish exactly, keep the best; then ask for one edge more."""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.construct.constructor import Constructor
from lns.engine import State, Statistics
from lns.params import Params
from lns.rng import random_state


class Search:
    """One island of the main engine. Boards are judged by `instances.verify` before they count."""

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        self.puzzle, self.params = puzzle, params
        self.constructor = Constructor(puzzle, params.construct, random_state(seed, island))
        self.best: Board | None = None
        self.best_score = -1
        self.origin = ""
        self.boards = 0

    @property
    def exhausted(self) -> bool:
        return self.constructor.exhausted

    @property
    def statistics(self) -> Statistics:
        built = self.constructor
        return Statistics(nodes=built.nodes, prefixes=built.prefixes, tail_nodes=built.tail_nodes, boards=self.boards)

    def step(self, target: int) -> None:
        """Construct for a step; whatever beats the best becomes the best, and the next has to beat that."""
        found = self.constructor.run(self.params.engine.step_nodes, self.best_score + 1)
        if found is not None:
            self.boards += 1
            self._offer(found, "construct")

    def _offer(self, board: Board, origin: str) -> None:
        judged = verify(self.puzzle, board)
        if not judged.valid:
            raise AssertionError(f"{origin} returned an illegal board: {judged.problems[0]}")
        if judged.score > self.best_score:
            self.best, self.best_score, self.origin = board, judged.score, origin

    def meet(self, board: Board, score: int) -> None:
        if score > self.best_score:
            self.best, self.best_score, self.origin = board, score, "elsewhere"

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        return {
            **{f"construct.{name}": value for name, value in self.constructor.state().items()},
            "best": none if self.best is None else self.best.placements,
            "counters": np.array([self.best_score, self.boards]),
        }

    def restore(self, state: State) -> None:
        part = "construct."
        self.constructor.restore({name[len(part) :]: value for name, value in state.items() if name.startswith(part)})
        self.best_score, self.boards = map(int, state["counters"])
        best = state["best"]
        self.best = Board(best.astype(np.int32), self.puzzle.width, self.puzzle.height) if len(best) else None
