"""The large-neighbourhood search as an engine of its own: destroy and re-solve one board, by operators that earn it.

A line of boards begins with a beam, or with a board met elsewhere. Operators change it for as long as it improves; then
the search goes on from another elite or from a new beam.
"""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.construct.beam_engine import BeamEngine
from lns.engine import OPERATORS as NAMES
from lns.engine import FoundBoard, State, Statistics, legal_score, saved_counters, verified_board
from lns.neighbourhoods.elites import Elites
from lns.neighbourhoods.operator_weights import OVERHEAD, Choice
from lns.neighbourhoods.operators import operators
from lns.params import Params
from lns.rng import generator, random_state
from lns_support.errors import InputError


def accepts(score: int, current: int, line: int, slack: int) -> bool:
    """Whether a board takes the place of the current one: never worse than it, or than ``slack`` below the line's best.

    With slack this is record-to-record travel (Dueck 1993); without, sideways moves only.
    """
    return score >= current or score >= line - slack


class LnsEngine:
    """One island of ``--engine lns``. Boards are judged by `instances.verify` before they count."""

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        self.puzzle, self.params, self.own = puzzle, params, params.neighbourhoods
        self.random = random_state(seed, island)
        BeamEngine(puzzle, params, self.random)  # refuses what no beam can be made for, before the run begins
        self.elites = Elites(puzzle, self.own.elites, self.own.apart)
        self.operators = operators(params.construct, params.beam)
        self.choice = Choice(len(NAMES), self.own.memory)
        self.best: Board | None = None
        self.best_score = -1
        self.origin, self.expected_best_score = "", None
        self.current: Board | None = None
        self.score = self.line = -1  # of the current board, of the best one of its line
        self.quiet = 0  # nodes since the line has improved
        self.boards = self.prefixes = self.beam_nodes = 0
        self.failed_beams = 0  # beams in a row that did not get to the cut
        self.operator_nodes = np.zeros(len(NAMES), dtype=np.int64)
        self._finds: list[FoundBoard] = []

    @property
    def exhausted(self) -> bool:
        """Nothing is better than a board without a mismatch."""
        return self.best_score == self.puzzle.max_score

    @property
    def statistics(self) -> Statistics:
        nodes = dict(zip(NAMES, self.operator_nodes.tolist(), strict=True))
        return Statistics(beam_nodes=self.beam_nodes, beam_prefixes=self.prefixes, boards=self.boards, **nodes)

    def step(self, target: int) -> None:
        """Once an operator, or the beginning of a line."""
        if self.exhausted:
            return
        if self.current is None:
            self._construct()
        elif self.quiet > self.own.patience:
            self._begin_again()
        else:
            self._change(self.current)

    def _change(self, board: Board) -> None:
        chance = generator(self.random)
        number = self.choice.draw(chance)
        move = self.operators[NAMES[number]](self.puzzle, board, chance, self.own.nodes)
        self.operator_nodes[number] += move.nodes
        self.quiet += move.nodes + OVERHEAD
        self.choice.learn(number, move.score - self.line, move.nodes)
        if move.board != board and accepts(move.score, self.score, self.line, self.own.slack):
            self._take(move.board, move.score, NAMES[number])

    def _construct(self) -> None:
        """A line from a new beam."""
        beam = BeamEngine(self.puzzle, self.params, self.random, self.failed_beams)
        beam.complete()
        self.beam_nodes += beam.nodes
        self.prefixes += beam.prefixes
        self.failed_beams = beam.failed_beams
        assert beam.best is not None, "a beam that dies leaves a filled board"
        self._begin(None, -1)
        self._take(beam.best, beam.best_score, beam.origin)

    def _begin_again(self) -> None:
        """A line from another elite; from a new beam while the pool has room, and now and then later."""
        chance = generator(self.random)
        if not self.elites.full or chance.random() < self.own.fresh:
            self._construct()
        else:
            self._begin(*self.elites.draw(chance))

    def _begin(self, board: Board | None, score: int) -> None:
        self.current, self.score, self.line, self.quiet = board, score, score, 0

    def _take(self, board: Board, score: int, origin: str) -> None:
        """Make ``board`` the current one; it counts as a find when it is the best of its line."""
        find = verified_board(self.puzzle, board, origin)
        if find.score != score:
            raise AssertionError(f"{origin} says {score} of a board that is worth {find.score}")
        self.current, self.score = board, score
        if score >= self.line:
            self.elites.add(board, score)
        if score > self.line:
            self.line, self.quiet = score, 0
            self.boards += 1
            self._finds.append(find)
        if score > self.best_score:
            self.best, self.best_score, self.origin = board, score, origin

    def pop_boards(self) -> list[FoundBoard]:
        finds, self._finds = self._finds, []
        return finds

    def inject_incumbent(self, board: Board, score: int) -> None:
        """A better board joins the elites; it is worked on at once only where nothing else is."""
        if score > self.best_score:
            self.best, self.best_score, self.origin = board, score, "elsewhere"
            self.elites.add(board, score)
            if self.current is None:
                self._begin(board, score)

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        return {
            "best": none if self.best is None else self.best.placements,
            "current": none if self.current is None else self.current.placements,
            "elites": self.elites.state(),
            "weights": self.choice.state(),
            "operator_nodes": self.operator_nodes.copy(),
            "counters": np.array(
                [self.line, self.quiet, self.boards, self.prefixes, self.beam_nodes, self.failed_beams]
            ),
            "random": self.random.copy(),
        }

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError where it does not fit this puzzle and these parameters."""
        self.elites.restore(state["elites"])
        self.choice.restore(state["weights"])
        self.operator_nodes[:] = state["operator_nodes"]
        self.random[:] = state["random"]
        self.line, *others = map(int, state["counters"])
        self.quiet, self.boards, self.prefixes, self.beam_nodes, self.failed_beams = saved_counters(others)
        self.best, self.best_score = self._saved(state, "best")
        self.current, self.score = self._saved(state, "current")
        if not self.score <= self.line <= self.best_score:
            raise InputError("the saved scores contradict the saved boards")

    def _saved(self, state: State, name: str) -> tuple[Board | None, int]:
        """A saved board and its score, which is counted again; (None, -1) where there is none."""
        if len(state[name]) == 0:
            return None, -1
        board = Board(state[name].astype(np.int32), self.puzzle.width, self.puzzle.height)
        return board, legal_score(self.puzzle, board)
