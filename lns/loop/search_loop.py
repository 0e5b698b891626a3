"""The loop of all engines: parts that make or change full boards, each with a share of the time.

``auto`` has all parts. A beam makes the first board. The construction makes boards from ever new prefixes. Those near
the best are candidates, whose regions are re-solved exactly (`lns.loop.rework`). Side parts work on single boards: the
large-neighbourhood search on elites, and tabu search where the construction makes no boards. A part that gains boards
of the wanted score for less than the construction pays is called as often as it does (`lns.loop.payoff`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.construct.beam_engine import BeamEngine
from lns.engine import BaseEngine, Engine, FoundBoard, State, Statistics, saved_board, saved_counters, saved_placements
from lns.loop.candidates import Candidate
from lns.loop.construction import Construction, component
from lns.loop.payoff import Payoffs
from lns.loop.rework import Rework
from lns.neighbourhoods.engine import LnsEngine
from lns.params import Params

MAX_SIDE_SHARE = 0.1  # of the search, for a side part however much it gains


class SearchLoop(BaseEngine):
    """One island: an `lns.engine.Engine` made of parts, which are engines too.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle, turned and renumbered as `lns.orientation.Orientation` does.
    params : Params
        Parameters of all components.
    main : Engine
        The part that has the time that no other part takes.
    opening : BeamEngine, optional
        Makes the first board, and boards as long as the construction reaches no exact tail.
    sides : mapping of str to Engine, optional
        Parts with a share of the time, by name.
    rework : Rework, optional
        Re-solves of regions of candidates.
    island : int
        Number of this island; the first one re-solves the regions of a start board.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        main: Engine,
        *,
        opening: BeamEngine | None = None,
        sides: Mapping[str, Engine] | None = None,
        rework: Rework | None = None,
        island: int = 0,
    ) -> None:
        super().__init__()
        self.puzzle, self.params, self.island = puzzle, params, island
        self.main, self.opening, self.sides, self.rework = main, opening, dict(sides or {}), rework
        self.payoffs = Payoffs(tuple(self.sides))
        self.unaided_score = -1  # best score of a board to which no side part and no re-solve has added an edge
        self.has_start_board = False  # whether regions of a start board are still to be re-solved

    @property
    def expected_best_score(self) -> float | None:
        """Expected best score of the main part, plus the edges by which the others' best board is above its own."""
        expected = self.main.expected_best_score
        return None if expected is None else min(expected + self.edges_by_others, self.puzzle.max_score)

    @property
    def edges_by_others(self) -> int:
        """Edges by which the best board is above the best one that the main part has made."""
        return max(0, self.best_score - self.unaided_score)  # a candidate may be better than what was reported so far

    @property
    def statistics(self) -> Statistics:
        done = sum((part.statistics for part in self._parts().values()), Statistics())
        if self.rework is not None:
            done += self.rework.statistics
        return replace(done, boards=self.boards)

    @property
    def _construction(self) -> Construction | None:
        """The main part, if it is the construction and has begun."""
        return self.main if isinstance(self.main, Construction) and self.main.constructor is not None else None

    def _parts(self) -> dict[str, Engine]:
        """All parts that are engines, by the names under which their state is saved."""
        opening = {} if self.opening is None else {"opening": self.opening}
        return {"main": self.main, **opening, **self.sides}

    def step(self, target: int, *, wanted: int = 0) -> None:
        """Let one part search a little.

        The first step makes a board. In later ones the regions of candidates come first, as far as they are worth their
        cost, then the side parts that have cost less than their share; the main part has the rest.

        Parameters
        ----------
        target : int
            Score at which a tabu search stops.
        wanted : int
            The score that other parts look for. 0: one edge more than the best board.
        """
        if self.best is None:
            self._open(target)
            return
        wanted = wanted or self.best_score + 1
        if not self._rework_a_region(wanted):
            self._step_part(self._next_part(), target, wanted)

    def _open(self, target: int) -> None:
        """Make a first board."""
        if self.opening is None:
            self._step_part("main", target, 0)
            return
        for _ in range(self.params.engine.beams):
            self._run_beam(self.opening)

    def _run_beam(self, opening: BeamEngine) -> None:
        """Run one whole beam for boards better than the best."""
        opening.complete()
        self._collect("opening", opening)

    def _rework_a_region(self, wanted: int) -> bool:
        """Re-solve one region of a candidate; False if none is worth it now."""
        rework = self.rework
        if rework is None or not rework.candidates.members or wanted > self.puzzle.max_score:
            return False
        total, price = self.statistics.node_equivalents, self._price(wanted)
        if not self.has_start_board and (price == 0 or rework.cost > self.params.rework.max_share * total):
            return False  # nothing is known yet of what a board costs, or regions have cost enough
        chosen = rework.next_region(wanted, total, all_regions=self.has_start_board)
        if chosen is None:
            self.has_start_board = False
            return False
        candidate, region = chosen
        found = rework.search(candidate, region, self._price(candidate.score + 1))
        if found is not None:
            if found.score >= min(wanted, self.params.engine.search_floor or wanted):
                self._offer(found, "rework")
            self._add_candidate(Candidate(found.board, found.score, candidate.order))
        return True

    def _next_part(self) -> str:
        """The name of the part that comes next."""
        construction = self._construction
        if construction is None:
            return "main"
        failing, total = construction.no_prefix_found, self.statistics.node_equivalents
        for number, name in enumerate(self.sides):
            if (failing or name != "tabu") and self._is_due(number, total):  # tabu search only where no board is made
                return name
        if self.opening is not None and failing and self.opening.nodes <= construction.statistics.nodes:
            return "opening"
        return "main"

    def _is_due(self, number: int, total: float) -> bool:
        share = MAX_SIDE_SHARE if self.payoffs.value(number) >= 1.0 else self.params.engine.side_share
        return bool(self.payoffs.cost[number] < share * total)

    def _price(self, wanted: int) -> float:
        """Node equivalents that the construction pays for a board of the score ``wanted``; 0 if it has not begun."""
        construction = self._construction
        return 0.0 if construction is None else construction.price(wanted)

    def _step_part(self, name: str, target: int, wanted: int) -> None:
        part = self._parts()[name]
        if name == "opening" and self.opening is not None:
            self._run_beam(self.opening)
            return
        before = part.statistics.node_equivalents
        part.step(target, wanted=wanted)
        found = self._collect(name, part)
        if name in self.sides:
            cost = part.statistics.node_equivalents - before
            gained = any(board.score >= wanted for board in found)
            self.payoffs.record(self.payoffs.names.index(name), cost, self._price(wanted), gained)

    def _collect(self, name: str, part: Engine) -> list[FoundBoard]:
        """Take over the boards that a part has found, and return them. Of a side part only good ones are reported."""
        floor = min(self.best_score + 1, self.params.engine.search_floor or self.puzzle.max_score + 1)
        boards = part.pop_boards()
        for found in boards:
            if name == "main" or found.score >= floor:
                self._offer(found, name)
        if isinstance(part, Construction):
            for candidate in part.pop_candidates():
                self.unaided_score = max(self.unaided_score, candidate.score)
                self._add_candidate(candidate)
        elif name != "main" and boards and boards[-1].score == self.best_score:
            self._add_candidate(Candidate(boards[-1].board, self.best_score))
        return boards

    def _add_candidate(self, candidate: Candidate) -> None:
        """Let a board's regions be re-solved, and operators of side parts work on it."""
        if self.rework is not None:
            self.rework.candidates.add(candidate)
        for side in self.sides.values():
            if isinstance(side, LnsEngine):
                side.elites.add(candidate.board, candidate.score)

    def _offer(self, found: FoundBoard, name: str) -> None:
        is_best = found.score > self.best_score
        self.report(found)
        if is_best:
            self._inject_into_parts(found.board, found.score, name)

    def _inject_into_parts(self, board: Board, score: int, name: str) -> None:
        """Make a new best board known to all parts."""
        if name != "rework" and name not in self.sides:
            self.unaided_score = score
        for other in self._parts().values():
            other.inject_incumbent(board, score)

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take over a better board.

        The first island re-solves the regions of a start board at once. No island re-solves those of another island's
        board, since that one does so itself.
        """
        if score <= self.best_score:
            return
        is_start = self.best is None and self.island == 0
        super().inject_incumbent(board, score)
        self._inject_into_parts(board, score, "elsewhere")
        if is_start and self.rework is not None:
            self.has_start_board = True
            self.rework.candidates.add(Candidate(board, score))

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        counters = self.best_score, self.boards, self.edges_by_others, int(self.has_start_board)
        state: State = {
            "best": saved_placements(self.best),
            "counters": np.array(counters),
            "payoffs": self.payoffs.state(),
        }
        saved = {name: part.state() for name, part in self._parts().items()}
        if self.rework is not None:
            saved["rework"] = self.rework.state()
        for name, arrays in saved.items():
            state.update({f"{name}.{key}": value for key, value in arrays.items()})
        return state

    def restore(self, state: State) -> None:
        """Continue from ``state``; raises InputError if it does not fit this puzzle and these parameters."""
        self.best, self.best_score = saved_board(self.puzzle, state["best"], int(state["counters"][0]))
        self.boards, edges_by_others, has_start_board = saved_counters(state["counters"][1:])
        self.unaided_score = self.best_score - edges_by_others
        self.has_start_board = bool(has_start_board)
        self.payoffs.restore(state["payoffs"])
        for name, part in self._parts().items():
            part.restore(component(state, f"{name}."))
        if self.rework is not None:
            self.rework.restore(component(state, "rework."))
