"""Operators that make whole boards: the construction, a beam, and a greedy fill where these two cannot work."""

from __future__ import annotations

import numpy as np

from lns.assignment import fill
from lns.construct.beam_engine import BeamEngine
from lns.construct.constructor import Constructor
from lns.construct.quota_bandit import QuotaBandit
from lns.engine import State, Statistics, saved_counters
from lns.greedy import greedy_board
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import cells_from_view
from lns.loop.operator import WHOLE_BOARD, Found, Freed, Repaired
from lns.loop.pool import Pool
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import random_state

FILL_COST = 100_000.0  # node equivalents of a greedy fill, about


class Construction:
    """The construction: frees the whole board, and fills it by a depth-first search with scheduled breaks.

    Parameters
    ----------
    orientation : Orientation
        How the island sees the puzzle, and its part of the prefixes.
    params : Params
        Parameters of all components.
    seed, island : int
        Random seed of the run and number of this island; together they give the random stream.
    near_misses : int
        Boards that miss the wanted score by at most so many edges are returned too.
    """

    name, makes_boards, proves = "construct", True, False

    def __init__(self, orientation: Orientation, params: Params, seed: int, island: int, near_misses: int = 0) -> None:
        self.orientation, self.params, self.near_misses = orientation, params, near_misses
        self.partition = orientation.partition
        self.random = random_state(seed, island)
        self.bandit = QuotaBandit(orientation.puzzle, params.construct, self.random, orientation.views)
        self.constructor: Constructor | None = None
        self.floor = params.engine.search_floor  # boards of this score are returned, whatever is wanted

    @property
    def statistics(self) -> Statistics:
        arms = self.bandit.arms
        done = Statistics(
            arms=len(arms), colour_sets=len({(arm.view, arm.colour_set) for arm in arms if arm.scale_percent})
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
        mismatches = max(0, self.orientation.puzzle.max_score - wanted)
        expected = sum(self.bandit.boards(mismatches, self.constructor)) if self.constructor else 0.0
        return spent / expected if expected else spent

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        return WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        """Construct for about ``params.engine.step_nodes`` nodes, or until a board is found."""
        before, puzzle = self.statistics.node_equivalents, self.orientation.puzzle
        mismatches = puzzle.max_score - wanted
        if self.constructor is None:
            schedule = self.bandit.choose_schedule(mismatches)
            self.constructor = Constructor(puzzle, self.params.construct, schedule, self.random, self.partition)
        elif self.constructor.restart_due or self.bandit.should_abandon(self.constructor, mismatches):
            self.bandit.learn(self.constructor)
            self.constructor.restart(self.bandit.choose_schedule(mismatches), self.bandit.nodes_before)
        least = min(wanted - self.near_misses, self.floor or wanted)
        board = self.constructor.run(self.params.engine.step_nodes, least)
        found = []
        if board is not None:
            view = cells_from_view(puzzle, self.constructor.schedule.view)
            order = self.orientation.cells[view[self.constructor.schedule.order]]
            found.append(Found(self.orientation.from_engine(board), self.name, order))
        return Repaired(found, float(self.statistics.node_equivalents - before))

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        state: State = {"random": self.random.copy(), "partition": np.array(self.partition)}
        state.update({f"bandit.{name}": value for name, value in self.bandit.state().items()})
        constructor = {} if self.constructor is None else self.constructor.state()
        for name, dtype in Constructor.STATE.items():
            state[f"constructor.{name}"] = constructor.get(name, np.zeros(0, dtype=dtype))
        return state

    def restore(self, state: State) -> None:
        self.random[:] = state["random"]
        self._restore_partition(*saved_counters(state["partition"]))
        bandit, construction = (component(state, prefix) for prefix in ("bandit.", "constructor."))
        if len(bandit["priors"]) == 0:
            return
        if any(len(value) == 0 for value in construction.values()):
            raise InputError("checkpoint: arrays of the construction are empty; expected all of them")
        self.bandit.restore(bandit)
        self.constructor = Constructor(
            self.orientation.puzzle, self.params.construct, self.bandit.schedule(), self.random, self.partition
        )
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


class Beam:
    """Frees the whole board, and fills it by a beam search and exact tails.

    Parameters
    ----------
    orientation, params, seed, island
        As for `Construction`.
    whole : bool
        Whether a repair runs a whole beam; else some of its layers or tails.
    """

    name, makes_boards, proves = "beam", True, False

    def __init__(self, orientation: Orientation, params: Params, seed: int, island: int, *, whole: bool) -> None:
        self.orientation, self.whole = orientation, whole
        self.engine = BeamEngine(orientation.puzzle, params, random_state(seed, island))

    @property
    def statistics(self) -> Statistics:
        return Statistics(beam_nodes=self.engine.nodes, beam_prefixes=self.engine.prefixes)

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        return WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        before, puzzle = self.statistics.node_equivalents, self.orientation.puzzle
        if self.whole:
            self.engine.complete()
        else:
            self.engine.step(puzzle.max_score)
        boards = [Found(self.orientation.from_engine(one.board), one.origin) for one in self.engine.pop_boards()]
        return Repaired(boards, float(self.statistics.node_equivalents - before))

    def state(self) -> State:
        return self.engine.state()

    def restore(self, state: State) -> None:
        self.engine.restore(state)


class Fill:
    """Frees the whole board, and fills it greedily, or by assignments: a first board in a moment.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of any rules.
    orientation : Orientation or None
        How the construction sees it; None: it cannot fill this puzzle.
    """

    name, makes_boards, proves = "fill", True, False

    def __init__(self, puzzle: Puzzle, orientation: Orientation | None) -> None:
        self.puzzle, self.orientation, self.calls = puzzle, orientation, 0

    @property
    def statistics(self) -> Statistics:
        return Statistics()

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        return None if self.calls or pool.members else WHOLE_BOARD  # it makes the first board only

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        self.calls += 1
        if self.orientation is None:
            board = greedy_board(self.puzzle).board
        else:
            seen = self.orientation.puzzle
            board = self.orientation.from_engine(fill(seen, Board.empty(seen)))
        return Repaired([Found(board, self.name)], FILL_COST)

    def state(self) -> State:
        return {"calls": np.array([self.calls])}

    def restore(self, state: State) -> None:
        (self.calls,) = saved_counters(state["calls"])


def component(state: State, prefix: str) -> State:
    """The arrays whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
