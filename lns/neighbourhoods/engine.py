"""The large-neighbourhood search as an engine: operators change one board at a time.

A *descent* begins with the board of a new beam, or with an injected board. Operators change its current board, chosen
by their gains per node (`OperatorWeights`). After ``patience`` nodes without a new best of the descent the next one
begins, from an elite or from a new beam. Beams need a rectangle, a frame, and pieces that may be turned; for all other
puzzles (`Puzzle.rules`) short tabu walks take their place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.construct.beam_engine import BeamEngine
from lns.engine import (
    BaseEngine,
    FoundBoard,
    State,
    Statistics,
    check_found,
    saved_board,
    saved_counters,
    saved_placements,
)
from lns.neighbourhoods.elites import Elites
from lns.neighbourhoods.local import MOVES_OF_A_NODE
from lns.neighbourhoods.operator_weights import OVERHEAD, OperatorWeights
from lns.neighbourhoods.operators import make_operators, operator_names
from lns.neighbourhoods.walked_board import walked_board
from lns.params import Params
from lns.rng import generator, random_state
from lns_support.errors import InputError


def accepts(score: int, current: int, best: int, slack: int) -> bool:
    """Whether a board of ``score`` replaces the current one.

    It must not be worse than the current board, or not worse than ``best`` (of the descent) less ``slack``: record-to-
    record travel (Dueck 1993). Without slack only sideways moves and gains are accepted.
    """
    return score >= current or score >= best - slack


class LnsEngine(BaseEngine):
    """One island of ``--engine lns``.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle to search.
    params : Params
        Parameters of the search.
    seed : int
        Random seed of the run.
    island : int
        Number of the island; each has its own random numbers.
    operators : sequence of str, optional
        Names of the operators, in a fixed order; all that are known in this process by default.
    beams : bool
        Whether descents begin from new beams too. Without them they begin from elites that the caller adds.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        seed: int,
        island: int,
        operators: Sequence[str] | None = None,
        *,
        beams: bool = True,
    ) -> None:
        super().__init__()
        self.beams = beams
        self.puzzle, self.params, self.settings = puzzle, params, params.neighbourhoods
        self.random = random_state(seed, island)
        if not puzzle.rules:
            BeamEngine(puzzle, params, self.random)  # raises InputError for a puzzle that no beam can fill
        else:  # without the operator that is a beam
            operators = [name for name in (operators or operator_names()) if name != "suffix"]
        self.elites = Elites(puzzle, self.settings.elites, self.settings.elite_distance)
        self.operators = list(make_operators(params.construct, params.beam, operators).items())
        self.weights = OperatorWeights(len(self.operators), self.settings.half_life)
        self.expected_best_score = None
        self.current: Board | None = None
        self.current_score = self.descent_best = -1
        self.idle_nodes = 0  # nodes since the last new best of the descent
        self.prefixes = self.beam_nodes = 0
        self.failed_beams = 0  # in a row: beams without a prefix that reached the cut
        # each operator's placements; the last entry is the cost of tabu walks, of puzzles without beams
        self.operator_nodes = np.zeros(len(self.operators) + bool(puzzle.rules), dtype=np.int64)

    @property
    def statistics(self) -> Statistics:
        names = [*(name for name, _ in self.operators), *(["tabu"] if self.puzzle.rules else [])]
        nodes = dict(zip(names, self.operator_nodes.tolist(), strict=True))
        return Statistics(beam_nodes=self.beam_nodes, beam_prefixes=self.prefixes, boards=self.boards, operators=nodes)

    def step(self, target: int, *, wanted: int = 0) -> None:
        """Call one operator, or begin a descent; a perfect board is kept."""
        if self.best_score == self.puzzle.max_score:
            return
        if self.current is None:
            self._construct()
        elif self.idle_nodes > self.settings.patience:
            self._restart()
        else:
            self._apply_operator(self.current)

    def _apply_operator(self, board: Board) -> None:
        rng = generator(self.random)
        number = self.weights.draw(rng)
        name, operator = self.operators[number]
        move = operator(self.puzzle, board, rng, self.settings.nodes)
        self.operator_nodes[number] += move.nodes
        self.idle_nodes += move.nodes + OVERHEAD
        self.weights.update(number, move.score - self.descent_best, move.nodes)
        if move.board != board and accepts(move.score, self.current_score, self.descent_best, self.settings.slack):
            self._take(move.board, move.score, name)

    def _construct(self) -> None:
        """Begin a descent from a new beam, or walk."""
        if self.puzzle.rules:
            board, score, moves = walked_board(self.puzzle, self.random, self.params.tabu)
            self.operator_nodes[-1] += moves // MOVES_OF_A_NODE
            self._begin(None, -1)
            self._take(board, score, "tabu")
            return
        beam = BeamEngine(self.puzzle, self.params, self.random, self.failed_beams)
        beam.complete()
        self.beam_nodes += beam.nodes
        self.prefixes += beam.prefixes
        self.failed_beams = beam.failed_beams
        assert beam.best is not None, "a beam that dies leaves a filled board"
        self._begin(None, -1)
        self._take(beam.best, beam.best_score, beam.origin)

    def _restart(self) -> None:
        """Begin a descent from an elite; from a new beam while the pool has room, and at times later."""
        rng = generator(self.random)
        if self.beams and (not self.elites.full or rng.random() < self.settings.new_beam_share):
            self._construct()
        else:
            self._begin(*self.elites.draw(rng))

    def _begin(self, board: Board | None, score: int) -> None:
        self.current, self.current_score, self.descent_best, self.idle_nodes = board, score, score, 0

    def _take(self, board: Board, score: int, origin: str) -> None:
        """Make ``board`` the current one; report it if it is a new best of the descent."""
        found_board = FoundBoard(board, score, origin)
        check_found(self.puzzle, found_board)
        self.current, self.current_score = board, score
        if score >= self.descent_best:
            self.elites.add(board, score)
        if score > self.descent_best:
            self.descent_best, self.idle_nodes = score, 0
            self.report(found_board)
        self.take_if_best(found_board)  # a descent may begin with a better board than `best`

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Add a better board to the elites; begin a descent from it if there is none yet."""
        if score > self.best_score:
            super().inject_incumbent(board, score)
            self.elites.add(board, score)
            if self.current is None:
                self._begin(board, score)

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        counts = self.descent_best, self.idle_nodes, self.boards, self.prefixes, self.beam_nodes, self.failed_beams
        return {
            "best": saved_placements(self.best),
            "current": saved_placements(self.current),
            "elites": self.elites.state(),
            "weights": self.weights.state(),
            "operator_nodes": self.operator_nodes.copy(),
            "counters": np.array(counts),
            "random": self.random.copy(),
        }

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle and these parameters."""
        self.elites.restore(state["elites"])
        self.weights.restore(state["weights"])
        self.operator_nodes[:] = saved_counters(state["operator_nodes"])
        self.random[:] = state["random"]
        self.descent_best, *others = map(int, state["counters"])
        self.idle_nodes, self.boards, self.prefixes, self.beam_nodes, self.failed_beams = saved_counters(others)
        self.best, self.best_score = saved_board(self.puzzle, state["best"])
        self.current, self.current_score = saved_board(self.puzzle, state["current"])
        if not self.current_score <= self.descent_best <= self.best_score:
            raise InputError("checkpoint: the scores contradict the boards")
