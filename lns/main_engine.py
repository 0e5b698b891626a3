"""The main engine: construct, finish exactly, keep the best, ask for one edge more; rework the damage of the best.

Beams begin, and go on where no construction gets through: some boards of 30x30 need more breaks than it can spend.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exact.region.resolve import resolve
from instances.board import Board
from instances.puzzle import Puzzle
from instances.symmetry import IDENTITY_VIEW, View
from lns.assignment import fill
from lns.construct.beam_engine import BeamEngine
from lns.construct.constructor import Constructor
from lns.construct.quota_bandit import QuotaBandit
from lns.engine import FoundBoard, State, Statistics, legal_score, saved_counters, verified_board
from lns.neighbourhoods import windows
from lns.params import Params
from lns.rng import RandomState, random_state
from lns_support.errors import InputError

ALL_DONE = 2**31  # more than any board has regions


class MainEngine:
    """One island of the main engine. Boards are judged by `instances.verify` before they count.

    ``lot``: (i, n): its part of the prefixes that n islands share out (`Constructor`); ``views``: see `QuotaBandit`.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        seed: int,
        island: int,
        partition: tuple[int, int] = (0, 1),
        views: Sequence[View] = (IDENTITY_VIEW,),
    ) -> None:
        self.puzzle, self.params, self.island, self.partition = puzzle, params, island, partition
        self.random: RandomState = random_state(seed, island)
        self.bandit = QuotaBandit(puzzle, params.construct, self.random, views)
        self.constructor: Constructor | None = None
        self.best: Board | None = None
        self.best_score = -1
        self.origin = ""
        self.boards = 0
        self.quiet = 0  # steps since the last new best
        self.lifted = 0  # edges that regions have added to the best board
        self.region = 0  # the next region of the best board to rework
        self.window_nodes = self.beam_nodes = self.beam_prefixes = 0
        self.failed_beams = 0  # beams in a row that did not get to the cut
        self._regions: list[tuple[int, ...]] | None = None
        self._finds: list[FoundBoard] = []

    @property
    def exhausted(self) -> bool:
        return False

    @property
    def expected_best_score(self) -> float | None:
        """By the prefixes of the construction, and by what regions have added to the best board."""
        constructed = self.bandit.expected_best_score(self.constructor) if self.constructor else None
        return None if constructed is None else min(constructed + self.lifted, self.puzzle.max_score)

    @property
    def statistics(self) -> Statistics:
        made = Statistics(
            window_nodes=self.window_nodes,
            arms=len(self.bandit.arms),
            colour_sets=len({(arm.view, arm.colour_set) for arm in self.bandit.arms if arm.scale_percent}),
            boards=self.boards,
            beam_nodes=self.beam_nodes,
            beam_prefixes=self.beam_prefixes,
        )
        if built := self.constructor:
            made += Statistics(nodes=built.nodes, prefixes=built.prefixes, tail_nodes=built.tail_nodes)
        return made

    def step(self, target: int) -> None:
        """First some beams; then construct, to beat the best by one, or rework a region of a best that has stood.

        Every other node is a beam's as long as the construction leads nowhere.
        """
        if self.best is None:
            self._open()
            return
        self.quiet += 1
        if self.quiet > self.params.windows.patience and self._may_rework() and self._rework(self.best):
            return
        built = self.constructor or self._begin()
        if built.restart_due or self.bandit.should_abandon(built, self._mismatches):
            self._begin_again(built)
        if self.params.engine.beams and self.bandit.no_prefix_found and self.beam_nodes <= built.nodes:
            self._beams(1)
            return
        wanted = min(self.best_score + 1, self.params.engine.search_floor or self.puzzle.max_score + 1)
        found = built.run(self.params.engine.step_nodes, wanted)
        if found is not None:
            self._offer(found, "construct")

    def _open(self) -> None:
        """A good full board at once: some beams, or the plainest of fills."""
        self._beams(self.params.engine.beams)
        if self.best is None:
            empty = np.full(self.puzzle.cells, -1, dtype=np.int32)
            self._offer(fill(self.puzzle, Board(empty, self.puzzle.width, self.puzzle.height)), "fill")

    def _beams(self, number: int) -> None:
        """So many beams, each from the empty board to its last tail, for boards better than the best."""
        beam = BeamEngine(self.puzzle, self.params, self.random, self.failed_beams)
        if self.best is not None:
            beam.inject_incumbent(self.best, self.best_score)
        for _ in range(number):
            beam.complete()
        self.beam_nodes += beam.nodes
        self.beam_prefixes += beam.prefixes
        self.failed_beams = beam.failed_beams
        for find in beam.pop_boards():
            self._offer(find.board, find.origin)

    def _may_rework(self) -> bool:
        """Whether regions have not had their share yet; a board to start from is worked on before all else."""
        built = self.constructor
        return built is None or self.window_nodes <= self.params.windows.share * built.nodes

    def _rework(self, best: Board) -> bool:
        """Re-solve the next region of the best board; False when all have been."""
        if self._regions is None:
            self._regions = windows.rework_regions(self.puzzle, best) if self.params.windows.nodes else []
        if self.region >= len(self._regions):
            return False
        result = resolve(self.puzzle, best, self._regions[self.region], nodes=self.params.windows.nodes)
        self.region += 1
        self.window_nodes += result.nodes
        if result.improved:
            self._offer(result.board, "windows")
            self.quiet = self.params.windows.patience  # its neighbours are worth a look at once
        return True

    @property
    def _mismatches(self) -> int:
        """That a better board has at most."""
        return self.puzzle.max_score - self.best_score - 1

    def _begin(self) -> Constructor:
        """Measure the instance, and choose what to search first."""
        schedule = self.bandit.choose_schedule(self._mismatches)
        self.constructor = Constructor(self.puzzle, self.params.construct, schedule, self.random, self.partition)
        return self.constructor

    def _begin_again(self, built: Constructor) -> None:
        """Learn from the shuffle that is over, and choose what to search next."""
        self.bandit.learn(built)
        schedule = self.bandit.choose_schedule(self._mismatches)
        built.restart(schedule, self.bandit.nodes_before)

    def _offer(self, board: Board, origin: str) -> None:
        find = verified_board(self.puzzle, board, origin)
        self.boards += 1
        self._finds.append(find)
        if find.score > self.best_score:
            self._adopt(*find)

    def _adopt(self, board: Board, score: int, origin: str) -> None:
        self.lifted = self.lifted + score - self.best_score if origin == "windows" else 0
        self.best, self.best_score, self.origin = board, score, origin
        self.quiet = self.region = 0
        self._regions = None

    def pop_boards(self) -> list[FoundBoard]:
        finds, self._finds = self._finds, []
        return finds

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a better board. One to start from is reworked at once, by the first island.

        The damage of another is the business of the island that found it: regions are the same everywhere.
        """
        if score > self.best_score:
            to_start_from = self.best is None and self.island == 0
            self._adopt(board, score, "elsewhere")
            if to_start_from:
                self.quiet = self.params.windows.patience
            else:
                self.region = ALL_DONE

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        efforts = self.window_nodes, self.beam_nodes, self.beam_prefixes, self.lifted, self.failed_beams
        state: State = {
            "best": none if self.best is None else self.best.placements,
            "counters": np.array([self.best_score, self.boards, self.quiet, self.region, *efforts]),
            "random": self.random.copy(),
            "partition": np.array(self.partition),
        }
        state.update({f"bandit.{name}": value for name, value in self.bandit.state().items()})
        built = {} if self.constructor is None else self.constructor.state()
        for name, dtype in Constructor.STATE.items():
            state[f"construct.{name}"] = built.get(name, np.zeros(0, dtype=dtype))
        return state

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError where it does not fit this puzzle."""
        puzzle = self.puzzle
        self.best_score = int(state["counters"][0])
        self.boards, self.quiet, self.region, *efforts = saved_counters(state["counters"][1:])
        self.window_nodes, self.beam_nodes, self.beam_prefixes, self.lifted, self.failed_beams = efforts
        self.random[:] = state["random"]
        number, islands = saved_counters(state["partition"])
        if number >= islands:
            raise InputError("the saved island is none of so many")
        if self.partition[1] % islands or self.partition[0] % islands != number:
            # its part is kept, as those of the others are told apart by it; where there are twice or more times as many
            # islands now, it keeps a part of it, and leaves the rest to the new ones
            self.partition = number, islands
        best = np.asarray(state["best"])
        self.best = Board(best.astype(np.int32), puzzle.width, puzzle.height) if len(best) else None
        if self.best_score != (-1 if self.best is None else legal_score(puzzle, self.best)):
            raise InputError("the saved score contradicts the saved board")
        self._regions = None
        known, built = (_part(state, part) for part in ("bandit.", "construct."))
        if len(known["fits"]) == 0:
            return
        if any(len(value) == 0 for value in built.values()):
            raise InputError("the saved construction is not whole")
        self.bandit.restore(known)
        self.constructor = Constructor(
            puzzle, self.params.construct, self.bandit.schedule(), self.random, self.partition
        )
        self.constructor.restore(built)


def _part(state: State, name: str) -> State:
    """The arrays under ``name``, by the rest of their names."""
    return {whole.removeprefix(name): value for whole, value in state.items() if whole.startswith(name)}
