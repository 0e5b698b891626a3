"""The largest neighbourhood of a board: a half of it without damage stays, the construction fills the other half."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lns import node_equivalents
from lns.engine import State, Statistics, component, joined
from lns.instances.board import Board
from lns.instances.puzzle import Clue, IntArray, Puzzle
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD, Freed, Operator, Pool, Repaired
from lns.neighbourhoods.move import mismatched_pairs
from lns.orientation import Orientation
from lns.params import Params

POPULATION = 200  # prefixes that measure how many pieces fit: trees behind half a board are small, and many
TREE_COST = 4_000_000.0  # node equivalents of all that is set up for one of these trees, about


class Regrow(Operator):
    """Frees half of the start board of a pool, or of its best one, and constructs it anew for one edge more."""

    name = "regrow"
    SAVED = ("cost",)

    def __init__(self, puzzle: Puzzle, params: Params) -> None:
        self.puzzle, self.cost = puzzle, 0.0
        self.params = replace(params, construct=replace(params.construct, population=POPULATION))
        self._keep(np.zeros(0, dtype=np.int32))

    def _keep(self, kept: IntArray) -> None:
        """Begin a construction with these placements as clues, int32 (cells,), -1 for a free cell; or with none."""
        clues = {Clue(cell, *divmod(oriented, 4)) for cell, oriented in enumerate(kept.tolist()) if oriented >= 0}
        orientation = Orientation.of_island(self.puzzle.with_clues(clues | set(self.puzzle.clues)))
        self.kept, self.construction = kept, Construction(orientation, self.params, seed=0, island=0)

    @property
    def statistics(self) -> Statistics:
        return Statistics(operators={self.name: int(self.cost / node_equivalents.REGION_NODE)})

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        if not pool.members or wanted > self.puzzle.max_score:
            return None
        kept = self.kept if len(self.kept) else self._clean_half(pool.anchor or pool.ranked()[0].board)
        if kept is not None and kept is not self.kept:
            self._keep(kept)
            self.construction.random[:] = rng.integers(2**64, size=4, dtype=np.uint64)
        return None if kept is None else WHOLE_BOARD

    def _clean_half(self, board: Board) -> IntArray | None:
        """The placements of a half without a mismatch, also with the clues; None if there is none."""
        pairs, clued = mismatched_pairs(self.puzzle, board), [clue.cell for clue in self.puzzle.clues]
        cells = np.arange(self.puzzle.cells).reshape(self.puzzle.height, self.puzzle.width)
        for turns in range(4):
            free = np.setdiff1d(np.rot90(cells, turns).ravel()[-(cells.size // 2) :], clued)
            if len(free) and (not len(pairs) or np.isin(pairs, free).any(axis=1).all()):
                kept = board.placements.copy()
                kept[free] = -1
                return kept
        return None

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        trees = sum(arm.restarts for arm in self.construction.bandit.arms)
        found, cost, _ = self.construction.repair(freed, wanted, rng)
        cost += (sum(arm.restarts for arm in self.construction.bandit.arms) - trees) * TREE_COST
        self.cost += cost
        return Repaired([one._replace(origin=self.name) for one in found], cost)

    def state(self) -> State:
        return super().state() | {"kept": self.kept} | joined({"construct": self.construction.state()})

    def restore(self, state: State) -> None:
        super().restore(state)
        self._keep(state["kept"].astype(np.int32))
        self.construction.restore(component(state, "construct"))
