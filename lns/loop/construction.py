"""Operators that make whole boards: the construction, beams, and a fill, greedy where the other two cannot work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from lns.assignment import fill, greedy_board, matched_edges
from lns.construct.beam import BeamSearch, Paths, Tails, beam_tables
from lns.construct.candidates import check_colours
from lns.construct.constructor import Constructor
from lns.construct.kernel import SEARCHED_SIZE
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import BreakSchedule, beam_tail_cut, cell_order, favoured_colours
from lns.engine import State, Statistics, component, joined, pack, unpack
from lns.gpu.card import Card
from lns.gpu.search import CardSearch
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import cells_from_view
from lns.loop.pool import WHOLE_BOARD, Found, Freed, Operator, Pool, Repaired
from lns.node_equivalents import BEAM_CHILD
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import random_state

log = logging.getLogger("lns")

MAX_PLACED = 2**25  # most pieces in the prefixes of a beam (width * cells), since checkpoints hold these prefixes
FILL_COST = 100_000.0  # approximate node equivalents of a fill


class Construction(Operator):
    """The construction: frees the whole board, and fills it by a depth-first search with scheduled breaks.

    ``orientation`` is how the island sees the puzzle, with the island's part of the prefixes; ``seed`` and ``island``
    determine the random numbers. Boards that score at least ``params.engine.search_floor``, if set, are returned, too.

    With ``open_card``, a graphics card takes over the unfinished tree of an ended restart that has reached exact tails,
    unless the card has only just begun another tree. If the card fails or is missing, the search goes on without it. A
    resumed search gives the card another tree.
    """

    name, makes_boards = "construct", True
    SAVED = ("random", "done")

    def __init__(
        self,
        orientation: Orientation,
        params: Params,
        seed: int,
        island: int,
        open_card: Callable[[], Card] | None = None,
    ) -> None:
        self.orientation, self.params = orientation, params
        self.partition = orientation.partition
        self.card: CardSearch | None = None
        self._open_card, self._card_failed = open_card, False
        self.random = random_state(seed, island)
        # without a card the band, the last rows, may be filled from both ends
        self.bandit = QuotaBandit(
            orientation.puzzle, params.construct, self.random, orientation.views, both_ends=open_card is None
        )
        self.searched = np.zeros(SEARCHED_SIZE, dtype=np.uint64)  # trees that were searched, see `Constructor`
        self.constructor: Constructor | None = None  # the current restart
        self.done = np.zeros(3, dtype=np.int64)  # nodes, prefixes and exact-tail nodes of all ended restarts
        self.floor = params.engine.search_floor  # from this score on boards are returned in any case; 0: no such score

    @property
    def statistics(self) -> Statistics:
        arms, (nodes, prefixes, tail_nodes) = self.bandit.arms, self.done.tolist()
        sets = {(arm.view, arm.colour_set) for arm in arms if arm.scale_percent}
        done = Statistics(nodes, prefixes, tail_nodes, arms=len(arms), colour_sets=len(sets))
        if self._card_failed:
            done.failures = {"gpu": 1}
        if self.constructor is not None:
            done += self.constructor.statistics
        return done if self.card is None else done + self.card.statistics

    @property
    def no_prefix_found(self) -> bool:
        """True if every quota, and the search without a quota, was tried, but no exact tail was reached."""
        return self.constructor is not None and self.bandit.no_prefix_found

    def price(self, wanted: int) -> float:
        """Return the node equivalents spent, divided by the boards of score ``wanted`` or more to expect, if any."""
        spent = float(self.statistics.node_equivalents)
        mismatches = max(0, self.orientation.puzzle.max_score - wanted)
        expected = sum(self.bandit.boards(mismatches, self.constructor)) if self.constructor else 0.0
        return spent / expected if expected else spent

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        """Continue the construction for about ``params.engine.step_nodes`` nodes, or until a board is found."""
        before, puzzle = self.statistics.node_equivalents, self.orientation.puzzle
        mismatches, restart = puzzle.max_score - wanted, self.constructor
        has_card = self._open_card is not None  # a card goes on with rich trees, so restarts then end once they are due
        if restart is not None and (self.bandit.should_end(restart, mismatches) or (has_card and restart.restart_due)):
            self._give_to_card(restart)
            self.bandit.learn(restart)
            ended = restart.statistics
            self.done += ended.nodes, ended.prefixes, ended.tail_nodes
            restart = None
        if restart is None:
            restart = self.constructor = self._constructor(self.bandit.choose_schedule(mismatches))
        least = min(wanted, self.floor or wanted)
        board = restart.run(self.params.engine.step_nodes, least)
        found = [] if board is None else [self._found(board, self.name, restart.schedule)]
        found += self._of_card(puzzle.max_score - least)
        return Repaired(found, float(self.statistics.node_equivalents - before))

    def _constructor(self, schedule: BreakSchedule) -> Constructor:
        """Make the constructor of a restart with the break schedule ``schedule``."""
        puzzle, params = self.orientation.puzzle, self.params.construct
        return Constructor(puzzle, params, schedule, self.random, self.partition, self.searched)

    def _found(self, board: Board, origin: str, schedule: BreakSchedule) -> Found:
        view = cells_from_view(self.orientation.puzzle, schedule.view)
        return Found(self.orientation.from_engine(board), origin, self.orientation.cells[view[schedule.order]])

    def _give_to_card(self, constructor: Constructor) -> None:
        """Give the card the unfinished tree of an ended restart that reached exact tails, if the card takes a tree."""
        if self._open_card is None or constructor.no_prefix_found or constructor.exhausted:
            return
        with self._without_card_on_failure():
            if self.card is None:
                self.card = CardSearch(constructor.puzzle, self.params.construct, self._open_card())
            if self.card.takes_tree:
                self.card.take(constructor)

    def _of_card(self, mismatches: int) -> list[Found]:
        """Return the new boards of the card with at most ``mismatches`` mismatches, and let the card search on."""
        found: list[Found] = []
        if self._open_card is not None and self.card is not None and (schedule := self.card.schedule) is not None:
            with self._without_card_on_failure():
                found += [self._found(board, "gpu", schedule) for board in self.card.collect(mismatches)]
        return found

    @contextmanager
    def _without_card_on_failure(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # numba and the driver raise errors of many kinds
            told = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            log.warning("the search goes on without the graphics card: %s", told)
            self._open_card, self._card_failed = None, True

    def state(self) -> State:
        """Return the state, with bandit and constructor as one array of bytes, which is empty before the first step."""
        made = b""
        if self.constructor is not None:
            made = pack(joined({"bandit": self.bandit.state(), "constructor": self.constructor.state()}))
        return super().state() | {"partition": np.array(self.partition), "made": np.frombuffer(made, dtype=np.uint8)}

    def restore(self, state: State) -> None:
        """Continue from ``state``, with the part of the prefixes that ``state`` contains.

        If the number of parts is now a multiple of the saved number, a present part within the saved part is kept.
        """
        super().restore(state)
        part, parts = state["partition"].tolist()
        new_part, new_parts = self.partition
        if new_parts % parts or new_part % parts != part:
            self.partition = part, parts
        if not len(state["made"]):
            return
        made = unpack(state["made"].tobytes())
        self.bandit.restore(component(made, "bandit"))
        self.constructor = self._constructor(self.bandit.schedule())
        self.constructor.restore(component(made, "constructor"))


class Beam(Operator):
    """An operator that frees the whole board and fills it by randomised beams, one after the other, and exact tails.

    A beam ends before the cut if no prefix has a child, mostly because the border pieces of a colour are used up. The
    best prefix of its last layer is then completed by assignment; the next beam favours only inner colours, the beam
    after that no colours. The first board is also completed by assignment, from a beam that still grows. ``whole``:
    whether a repair runs a beam and all its exact tails, instead of only some layers or tails.
    """

    name, makes_boards = "beam", True
    SAVED = ("best_score", "failed_beams", "prefixes", "nodes", "random", "seed")

    def __init__(self, orientation: Orientation, params: Params, seed: int, island: int, *, whole: bool) -> None:
        puzzle = orientation.puzzle
        check_colours(puzzle)
        if params.beam.width * puzzle.cells > MAX_PLACED:
            raise InputError(
                f"parameter beam.width is {params.beam.width}; "
                f"expected at most {MAX_PLACED // puzzle.cells} on a board of {puzzle.cells} cells"
            )
        self.orientation, self.puzzle, self.params, self.whole = orientation, puzzle, params, whole
        self.random = random_state(seed, island)
        self.prefixes = self.nodes = 0
        self.best_score = -1  # best score of the boards of this operator; -1: none
        self.failed_beams = 0  # number of latest beams in a row that ended before the cut
        self._tails = Tails(puzzle, cell_order(puzzle, params.construct), beam_tail_cut(puzzle, params.beam))
        self._beam: BeamSearch | None = None  # the beam that is growing, if any
        self.seed = self.random.copy()  # random state from which the present beam's candidates were shuffled
        self._paths: Paths = np.zeros((0, self._tails.cut), dtype=np.int16)  # prefixes at the cut with tails to search

    @property
    def statistics(self) -> Statistics:
        return Statistics(beam_nodes=self.nodes, beam_prefixes=self.prefixes)

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        before, boards = self.statistics.node_equivalents, self._go_on()
        while self.whole and (self._beam is not None or len(self._paths)):
            boards += self._go_on()
        return Repaired(boards, float(self.statistics.node_equivalents - before))

    def _go_on(self) -> list[Found]:
        """Search some exact tails if prefixes wait for them; else grow some layers of the beam or of a new beam."""
        if len(self._paths):
            return self._finish()
        beam = self._beam or self._begin()
        self.nodes += beam.run(int(self.params.engine.step_nodes / BEAM_CHILD))
        if beam.depth == self._tails.cut:
            self._paths, self._beam, self.failed_beams = beam.paths(beam.prefix_count), None, 0
        elif not beam.prefix_count or self.best_score < 0:
            if not beam.prefix_count:
                self._beam, self.failed_beams = None, self.failed_beams + 1
            return [self._found(fill(self.puzzle, self._tails.board(beam.paths(1)[0])), "fill")]
        return []

    def _begin(self) -> BeamSearch:
        self.seed = self.random.copy()
        params, puzzle, order, cut = self.params.construct, self.puzzle, self._tails.order, self._tails.cut
        rim = params.border_colours if self.failed_beams == 0 and params.quota_scale else 0
        inner = params.inner_colours if self.failed_beams <= 1 and params.quota_scale else 0
        tables = beam_tables(puzzle, order, cut, favoured_colours(puzzle, rim, inner), self.random)
        self._beam = BeamSearch(puzzle, order, cut, tables, self.params.beam, self.random)
        return self._beam

    def _finish(self) -> list[Found]:
        """Search exact tails of the next prefixes at the cut, for one step or until a board scores enough to return."""
        most, step = self.puzzle.max_score, self.params.engine.step_nodes
        wanted = min(self.best_score + 1, self.params.engine.search_floor or most + 1)
        done = self._tails.search(self._paths, most - wanted, step, self.params.construct.tail_nodes)
        self._paths = self._paths[done.prefixes :]
        self.prefixes += done.tails
        self.nodes += done.nodes
        return [self._found(done.board, self.name)] if done.board is not None else []

    def _found(self, board: Board, origin: str) -> Found:
        self.best_score = max(self.best_score, matched_edges(self.puzzle, board.placements))
        return Found(self.orientation.from_engine(board), origin)

    def state(self) -> State:
        """Return the state, with the prefixes at the cut, or the growing beam's last layer of prefixes and values."""
        values, layer = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int16)
        if self._beam is not None:
            values, layer = self._beam.values.copy(), self._beam.paths(self._beam.prefix_count).ravel()
        return super().state() | {"paths": self._paths, "values": values, "layer": layer}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._beam, self._paths, values = None, state["paths"].astype(np.int16), state["values"].astype(np.int64)
        if len(values):
            self.random[:] = self.seed
            self._begin().resume(state["layer"].astype(np.int16).reshape(len(values), -1), values)
            self.random[:] = state["random"]


class Fill(Operator):
    """An operator that makes the first board quickly: by assignments or, where no construction works, greedily."""

    name, makes_boards = "fill", True
    SAVED = ("calls",)

    def __init__(self, puzzle: Puzzle, orientation: Orientation | None) -> None:
        self.puzzle, self.orientation, self.calls = puzzle, orientation, 0

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        return None if self.calls or pool.members else WHOLE_BOARD  # makes one board, and only for an empty pool

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        self.calls += 1
        if self.orientation is None:
            board = greedy_board(self.puzzle).board
        else:
            seen = self.orientation.puzzle
            board = self.orientation.from_engine(fill(seen, Board.empty(seen)))
        return Repaired([Found(board, self.name)], FILL_COST)
