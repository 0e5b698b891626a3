"""The construction as a part of the loop: the constructor, and the bandit that chooses what each restart searches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from instances.symmetry import IDENTITY_VIEW, View, cells_from_view
from lns.assignment import fill
from lns.construct.constructor import Constructor
from lns.construct.quota_bandit import QuotaBandit
from lns.engine import BaseEngine, State, Statistics, saved_board, saved_counters, saved_placements, verified_board
from lns.loop.candidates import Candidate
from lns.params import Params
from lns.rng import RandomState, random_state
from lns_support.errors import InputError


class Construction(BaseEngine):
    """One island of ``--engine construct``, and a part of `lns.loop.search_loop.SearchLoop`.

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
    near_misses : int
        Boards that miss the wanted score by at most so many edges are candidates too.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        seed: int,
        island: int,
        partition: tuple[int, int] = (0, 1),
        views: Sequence[View] = (IDENTITY_VIEW,),
        near_misses: int = 0,
    ) -> None:
        super().__init__()
        self.puzzle, self.params, self.partition, self.near_misses = puzzle, params, partition, near_misses
        self.random: RandomState = random_state(seed, island)
        self.bandit = QuotaBandit(puzzle, params.construct, self.random, views)
        self.constructor: Constructor | None = None
        self._candidates: list[Candidate] = []

    @property
    def expected_best_score(self) -> float | None:
        """Expected best score of the construction so far."""
        return self.bandit.expected_best_score(self.constructor) if self.constructor else None

    @property
    def statistics(self) -> Statistics:
        arms = self.bandit.arms
        done = Statistics(
            arms=len(arms),
            colour_sets=len({(arm.view, arm.colour_set) for arm in arms if arm.scale_percent}),
            boards=self.boards,
        )
        if constructor := self.constructor:
            done += Statistics(
                nodes=constructor.nodes, prefixes=constructor.prefixes, tail_nodes=constructor.tail_nodes
            )
        return done

    @property
    def no_prefix_found(self) -> bool:
        """Whether all quotas and no quota were tried, and no exact tail was reached."""
        return self.constructor is not None and self.bandit.no_prefix_found

    def price(self, wanted: int) -> float:
        """Node equivalents that a board of ``wanted`` costs on average; while none is expected, all that were spent."""
        spent = float(self.statistics.node_equivalents)
        mismatches = max(0, self.puzzle.max_score - wanted)
        expected = sum(self.bandit.boards(mismatches, self.constructor)) if self.constructor else 0.0
        return spent / expected if expected else spent

    def step(self, target: int, *, floor: int = 0, wanted: int = 0) -> None:
        """Construct for about ``params.engine.step_nodes`` nodes, or until a board is found.

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
            empty = np.full(self.puzzle.cells, -1, dtype=np.int32)
            board = fill(self.puzzle, Board(empty, self.puzzle.width, self.puzzle.height))
            self.report(verified_board(self.puzzle, board, "fill"))
            return
        wanted = wanted or self.best_score + 1
        mismatches = self.puzzle.max_score - wanted
        constructor = self.constructor or self._start(mismatches)
        if constructor.restart_due or self.bandit.should_abandon(constructor, mismatches):
            self._restart(constructor, mismatches)
        reported = min(wanted, floor or self.params.engine.search_floor or wanted)
        returned = min(reported, wanted - self.near_misses)
        constructed = constructor.run(self.params.engine.step_nodes, returned)
        if constructed is None:
            return
        found = verified_board(self.puzzle, constructed, "construct")
        if self.near_misses:
            view = cells_from_view(self.puzzle, constructor.schedule.view)
            self._candidates.append(Candidate(constructed, found.score, view[constructor.schedule.order]))
        if found.score >= reported:
            self.report(found)

    def _start(self, mismatches: int) -> Constructor:
        """Measure the instance and start the constructor with the first break schedule."""
        schedule = self.bandit.choose_schedule(mismatches)
        self.constructor = Constructor(self.puzzle, self.params.construct, schedule, self.random, self.partition)
        return self.constructor

    def _restart(self, constructor: Constructor, mismatches: int) -> None:
        """Update the bandit with the restart that has ended, and start the next one."""
        self.bandit.learn(constructor)
        schedule = self.bandit.choose_schedule(mismatches)
        constructor.restart(schedule, self.bandit.nodes_before)

    def pop_candidates(self) -> list[Candidate]:
        """The constructed boards since the last call that miss the wanted score by at most ``near_misses`` edges."""
        candidates, self._candidates = self._candidates, []
        return candidates

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        state: State = {
            "best": saved_placements(self.best),
            "counters": np.array([self.best_score, self.boards]),
            "random": self.random.copy(),
            "partition": np.array(self.partition),
        }
        state.update({f"bandit.{name}": value for name, value in self.bandit.state().items()})
        constructor = {} if self.constructor is None else self.constructor.state()
        for name, dtype in Constructor.STATE.items():
            state[f"constructor.{name}"] = constructor.get(name, np.zeros(0, dtype=dtype))
        return state

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle."""
        puzzle = self.puzzle
        self.best, self.best_score = saved_board(puzzle, state["best"], int(state["counters"][0]))
        (self.boards,) = saved_counters(state["counters"][1:])
        self.random[:] = state["random"]
        self._restore_partition(*saved_counters(state["partition"]))
        bandit, construction = (component(state, prefix) for prefix in ("bandit.", "constructor."))
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


def component(state: State, prefix: str) -> State:
    """The arrays whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
