"""The main engine: construct prefixes, finish each exactly, look for one edge more; re-solve regions of the best board.

A few beams make the first board. Beams also take over where the construction reaches no exact tail: some boards of
30x30 cells need more breaks than a break schedule can hold.
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

ALL_REGIONS_DONE = 2**31  # more than any board has regions


class MainEngine:
    """One island of the main engine; an `lns.engine.Engine`.

    Every board is checked by `instances.verify` before it counts.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle, turned and renumbered as `lns.orientation.Orientation` does.
    params : Params
        Parameters of all components.
    seed, island : int
        Random seed of the run and number of this island; together they give the random stream.
    partition : tuple of int
        (part, parts): the part of the prefixes that this island searches, see `Constructor`.
    views : sequence of View
        Symmetries from which the board may be filled, see `QuotaBandit`.
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
        self.steps_without_gain = 0
        self.edges_by_regions = 0  # edges that region re-solves have added to the best board
        self.next_region = 0  # number of the next region of the best board to re-solve
        self.window_nodes = self.beam_nodes = self.beam_prefixes = 0
        self.failed_beams = 0  # beams in a row that reached no exact tail
        self._regions: list[tuple[int, ...]] | None = None
        self._found_boards: list[FoundBoard] = []

    @property
    def exhausted(self) -> bool:
        return False

    @property
    def expected_best_score(self) -> float | None:
        """Expected best score of the construction so far, plus the edges that regions have added to the best board."""
        constructed = self.bandit.expected_best_score(self.constructor) if self.constructor else None
        return None if constructed is None else min(constructed + self.edges_by_regions, self.puzzle.max_score)

    @property
    def statistics(self) -> Statistics:
        arms = self.bandit.arms
        done = Statistics(
            window_nodes=self.window_nodes,
            arms=len(arms),
            colour_sets=len({(arm.view, arm.colour_set) for arm in arms if arm.scale_percent}),
            boards=self.boards,
            beam_nodes=self.beam_nodes,
            beam_prefixes=self.beam_prefixes,
        )
        if constructor := self.constructor:
            done += Statistics(
                nodes=constructor.nodes, prefixes=constructor.prefixes, tail_nodes=constructor.tail_nodes
            )
        return done

    def step(self, target: int, *, floor: int = 0, wanted: int = 0) -> None:
        """Work for about ``params.engine.step_nodes`` nodes.

        The first step makes a board by beams. A later one constructs, or re-solves one region of a best board that has
        stood for a while. As long as no construction reaches the exact tail, beams get as many nodes as it does.

        Parameters
        ----------
        target : int
            Unused; part of the engine interface.
        floor : int
            Every constructed board of this score or more is reported, also when better ones are known. 0: as
            ``params.engine.search_floor`` says.
        wanted : int
            The score that the construction aims at. 0: one edge more than the best.
        """
        if self.best is None:
            self._open()
            return
        self.steps_without_gain += 1
        if self.steps_without_gain > self.params.windows.patience and self._may_rework() and self._rework(self.best):
            return
        wanted = wanted or self.best_score + 1
        mismatches = self.puzzle.max_score - wanted
        constructor = self.constructor or self._start_construction(mismatches)
        if constructor.restart_due or self.bandit.should_abandon(constructor, mismatches):
            self._restart(constructor, mismatches)
        if self.params.engine.beams and self.bandit.no_prefix_found and self.beam_nodes <= constructor.nodes:
            self._run_beams(1)
            return
        floor = floor or self.params.engine.search_floor or self.puzzle.max_score + 1
        board = constructor.run(self.params.engine.step_nodes, min(wanted, floor))
        if board is not None:
            self._offer(board, "construct")

    def _open(self) -> None:
        """Make a first full board, by beams if there are any, else by assignment."""
        self._run_beams(self.params.engine.beams)
        if self.best is None:
            empty = np.full(self.puzzle.cells, -1, dtype=np.int32)
            self._offer(fill(self.puzzle, Board(empty, self.puzzle.width, self.puzzle.height)), "fill")

    def _run_beams(self, number: int) -> None:
        """Run ``number`` whole beams, each for boards better than the best."""
        beam = BeamEngine(self.puzzle, self.params, self.random, self.failed_beams)
        if self.best is not None:
            beam.inject_incumbent(self.best, self.best_score)
        for _ in range(number):
            beam.complete()
        self.beam_nodes += beam.nodes
        self.beam_prefixes += beam.prefixes
        self.failed_beams = beam.failed_beams
        for found in beam.pop_boards():
            self._offer(found.board, found.origin)

    def _may_rework(self) -> bool:
        """Whether regions have had less than their share of the nodes. A start board is reworked first of all."""
        constructor = self.constructor
        return constructor is None or self.window_nodes <= self.params.windows.share * constructor.nodes

    def _rework(self, best: Board) -> bool:
        """Re-solve the next region of the best board; False if none is left."""
        if self._regions is None:
            self._regions = windows.rework_regions(self.puzzle, best) if self.params.windows.nodes else []
        if self.next_region >= len(self._regions):
            return False
        result = resolve(self.puzzle, best, self._regions[self.next_region], nodes=self.params.windows.nodes)
        self.next_region += 1
        self.window_nodes += result.nodes
        if result.improved:
            self._offer(result.board, "windows")
            self.steps_without_gain = self.params.windows.patience  # the regions of the new board come next
        return True

    def _start_construction(self, mismatches: int) -> Constructor:
        """Measure the instance and start the constructor with the first break schedule."""
        schedule = self.bandit.choose_schedule(mismatches)
        self.constructor = Constructor(self.puzzle, self.params.construct, schedule, self.random, self.partition)
        return self.constructor

    def _restart(self, constructor: Constructor, mismatches: int) -> None:
        """Update the bandit with the restart that has ended, and start the next one."""
        self.bandit.learn(constructor)
        schedule = self.bandit.choose_schedule(mismatches)
        constructor.restart(schedule, self.bandit.nodes_before)

    def _offer(self, board: Board, origin: str) -> None:
        found = verified_board(self.puzzle, board, origin)
        self.boards += 1
        self._found_boards.append(found)
        if found.score > self.best_score:
            self._adopt(*found)

    def _adopt(self, board: Board, score: int, origin: str) -> None:
        self.edges_by_regions = self.edges_by_regions + score - self.best_score if origin == "windows" else 0
        self.best, self.best_score, self.origin = board, score, origin
        self.steps_without_gain = self.next_region = 0
        self._regions = None

    def pop_boards(self) -> list[FoundBoard]:
        found_boards, self._found_boards = self._found_boards, []
        return found_boards

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a better board.

        The first island re-solves the regions of a start board at once. No island re-solves those of another island's
        board, since that one does so itself, and a region has the same result everywhere.
        """
        if score > self.best_score:
            is_start = self.best is None and self.island == 0
            self._adopt(board, score, "elsewhere")
            if is_start:
                self.steps_without_gain = self.params.windows.patience
            else:
                self.next_region = ALL_REGIONS_DONE

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        totals = self.window_nodes, self.beam_nodes, self.beam_prefixes, self.edges_by_regions, self.failed_beams
        state: State = {
            "best": none if self.best is None else self.best.placements,
            "counters": np.array([self.best_score, self.boards, self.steps_without_gain, self.next_region, *totals]),
            "random": self.random.copy(),
            "partition": np.array(self.partition),
        }
        state.update({f"bandit.{name}": value for name, value in self.bandit.state().items()})
        construction = {} if self.constructor is None else self.constructor.state()
        for name, dtype in Constructor.STATE.items():
            state[f"construct.{name}"] = construction.get(name, np.zeros(0, dtype=dtype))
        return state

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle."""
        puzzle = self.puzzle
        self.best_score = int(state["counters"][0])
        self.boards, self.steps_without_gain, self.next_region, *totals = saved_counters(state["counters"][1:])
        self.window_nodes, self.beam_nodes, self.beam_prefixes, self.edges_by_regions, self.failed_beams = totals
        self.random[:] = state["random"]
        self._restore_partition(*saved_counters(state["partition"]))
        best = np.asarray(state["best"])
        self.best = Board(best.astype(np.int32), puzzle.width, puzzle.height) if len(best) else None
        score = -1 if self.best is None else legal_score(puzzle, self.best)
        if self.best_score != score:
            raise InputError(f"checkpoint: saved score {self.best_score}, but the saved board scores {score}")
        self._regions = None
        bandit, construction = (_component(state, prefix) for prefix in ("bandit.", "construct."))
        if len(bandit["priors"]) == 0:
            return
        if any(len(value) == 0 for value in construction.values()):
            raise InputError("checkpoint: arrays of the construction are empty; expected all of them")
        self.bandit.restore(bandit)
        schedule = self.bandit.schedule()
        self.constructor = Constructor(puzzle, self.params.construct, schedule, self.random, self.partition)
        self.constructor.restore(construction)

    def _restore_partition(self, part: int, parts: int) -> None:
        """Keep the saved part, since the parts of the other islands are those of the saved run.

        If the run now has a multiple of the saved number of parts, this island searches only its new, smaller part of
        the saved one; the new islands search the rest.
        """
        if part >= parts:
            raise InputError(f"checkpoint: part {part} of the prefixes out of range; expected 0 to {parts - 1}")
        new_part, new_parts = self.partition
        if new_parts % parts or new_part % parts != part:
            self.partition = part, parts


def _component(state: State, prefix: str) -> State:
    """The arrays whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
