"""The main engine: construct, finish exactly, keep the best, ask for one edge more; rework the damage of the best."""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.errors import InputError
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.construct.constructor import Constructor
from lns.construct.derive import MOST_SLIPS, Aim, Fit, best_fit, best_schedule, schedule_for
from lns.construct.schedule import favoured_colours
from lns.engine import Find, State, Statistics
from lns.neighbourhoods import windows
from lns.neighbourhoods.assign import fill
from lns.params import Params
from lns.rng import RandomState, random_state

BARREN_STEPS = 40  # steps in a row without a prefix that reaches the tail, after which the schedule is loosened


class Search:
    """One island of the main engine. Boards are judged by `instances.verify` before they count."""

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, island: int) -> None:
        self.puzzle, self.params = puzzle, params
        self.random: RandomState = random_state(seed, island)
        self.fit: Fit | None = None
        self.aim: Aim | None = None
        self.constructor: Constructor | None = None
        self.barren = 0
        self.best: Board | None = None
        self.best_score = -1
        self.origin = ""
        self.boards = 0
        self.quiet = 0  # steps since the last new best
        self.region = 0  # the next region of the best board to rework
        self.window_nodes = 0
        self._regions: list[tuple[int, ...]] | None = None
        self._finds: list[Find] = []

    @property
    def exhausted(self) -> bool:
        return False

    @property
    def statistics(self) -> Statistics:
        built = self.constructor
        if built is None:
            return Statistics(window_nodes=self.window_nodes, boards=self.boards)
        return Statistics(built.nodes, built.prefixes, built.tail_nodes, self.window_nodes, self.boards)

    def step(self, target: int) -> None:
        """Rework one region of a best board that has stood for a while; else construct, to beat the best by one."""
        self.quiet += 1
        if self.best is not None and self.quiet > self.params.windows.patience and self._rework(self.best):
            return
        built = self.constructor or self._begin()
        prefixes = built.prefixes
        wanted = min(self.best_score + 1, self.params.engine.boards_from or self.puzzle.max_score + 1)
        found = built.run(self.params.engine.step_nodes, wanted)
        if found is not None:
            self._offer(found, "construct")
        elif self.best is None:  # the first steps may not get to the tail: a full board all the same
            self._offer(fill(self.puzzle, Board(built.placements(), self.puzzle.width, self.puzzle.height)), "fill")
        self.barren = 0 if built.prefixes > prefixes else self.barren + 1
        if built.exhausted or self.barren >= BARREN_STEPS:
            self._loosen(built)

    def _rework(self, best: Board) -> bool:
        """Re-solve the next region of the best board; False when all have been."""
        if self._regions is None:
            self._regions = windows.regions(self.puzzle, best) if self.params.windows.nodes else []
        if self.region >= len(self._regions):
            return False
        result = windows.improve(self.puzzle, best, self._regions[self.region], self.params.windows.nodes)
        self.region += 1
        self.window_nodes += result.nodes
        if result.improved:
            self._offer(result.board, "windows")
            self.quiet = self.params.windows.patience  # its neighbours are worth a look at once
        return True

    def _begin(self) -> Constructor:
        """Measure the instance and derive the schedule to begin with."""
        self.fit, self.aim = best_fit(self.puzzle, self.params.construct, self.random)
        return self._build()

    def _build(self) -> Constructor:
        assert self.fit is not None and self.aim is not None
        schedule = schedule_for(self.fit, self.aim, self.puzzle, self.params.construct)
        self.constructor = Constructor(self.puzzle, self.params.construct, schedule, self.random)
        return self.constructor

    def _loosen(self, built: Constructor) -> None:
        """Aim one edge lower: the schedule was too strict to get anywhere, or has been searched whole."""
        assert self.fit is not None and self.aim is not None
        self.barren = 0
        misses = min(self.aim.mismatches + 1, self.puzzle.max_score)
        self.aim = best_schedule(self.fit, self.puzzle, self.params.construct, misses)
        built.follow(schedule_for(self.fit, self.aim, self.puzzle, self.params.construct))

    def _offer(self, board: Board, origin: str) -> None:
        judged = verify(self.puzzle, board)
        if not judged.valid:
            raise AssertionError(f"{origin} returned an illegal board: {judged.problems[0]}")
        self.boards += 1
        self._finds.append(Find(board, judged.score, origin))
        if judged.score > self.best_score:
            self._adopt(board, judged.score, origin)

    def _adopt(self, board: Board, score: int, origin: str) -> None:
        self.best, self.best_score, self.origin = board, score, origin
        self.quiet = self.region = 0
        self._regions = None

    def drain(self) -> list[Find]:
        finds, self._finds = self._finds, []
        return finds

    def meet(self, board: Board, score: int) -> None:
        if score > self.best_score:
            self._adopt(board, score, "elsewhere")
            if self.constructor is None:  # a board to start from
                self.quiet = self.params.windows.patience

    # -- state: everything above, as flat arrays ---------------------------------------------------------------------

    def state(self) -> State:
        none = np.zeros(0, dtype=np.int32)
        state: State = {
            "best": none if self.best is None else self.best.placements,
            "counters": np.array(
                [self.best_score, self.boards, self.barren, self.quiet, self.region, self.window_nodes]
            ),
            "random": self.random.copy(),
            "fit.exact": np.zeros(0),
            "fit.slipping": np.zeros(0),
            "fit.numbers": np.zeros(0),
            "aim.unlock": np.zeros(0, dtype=np.int64),
            "aim.numbers": np.zeros(0),
        }
        if self.fit is not None and self.aim is not None and self.constructor is not None:
            state["fit.exact"], state["fit.slipping"] = self.fit.exact, self.fit.slipping
            state["fit.numbers"] = np.array([self.fit.height, self.fit.first_unlock])
            state["aim.unlock"] = self.aim.unlock
            state["aim.numbers"] = np.array([self.aim.mismatches, self.aim.rate])
        built = {} if self.constructor is None else self.constructor.state()
        for name, dtype in Constructor.STATE.items():
            state[f"construct.{name}"] = built.get(name, np.zeros(0, dtype=dtype))
        return state

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError where it does not fit this puzzle."""
        cells, puzzle = self.puzzle.cells, self.puzzle
        self.best_score, self.boards, self.barren, self.quiet, self.region, self.window_nodes = map(
            int, state["counters"]
        )
        self.random[:] = state["random"]
        best = np.asarray(state["best"])
        self.best = Board(best.astype(np.int32), puzzle.width, puzzle.height) if len(best) else None
        self._regions = None
        if len(state["fit.exact"]) == 0:
            return
        exact, slipping = (np.asarray(state[f"fit.{name}"], dtype=np.float64) for name in ("exact", "slipping"))
        unlock = np.asarray(state["aim.unlock"], dtype=np.int64)
        if len(exact) != cells or len(slipping) != cells or len(state["fit.numbers"]) != 2:
            raise InputError("the saved measurements are of another puzzle")
        if len(unlock) > MOST_SLIPS or len(state["aim.numbers"]) != 2 or (unlock < 0).any() or (unlock > cells).any():
            raise InputError("the saved slip schedule is of another puzzle")
        height, first_unlock = (float(value) for value in state["fit.numbers"])
        mismatches, rate = (float(value) for value in state["aim.numbers"])
        if not (0 <= height <= 2 and 0 <= first_unlock <= cells and 0 <= mismatches <= puzzle.max_score):
            raise InputError("the saved schedule has numbers out of range")
        params = self.params.construct
        favoured = favoured_colours(puzzle, params.quota_rim, params.quota_inner) if height > 0 else ()
        self.fit = Fit(exact, slipping, favoured, height, int(first_unlock))
        self.aim = Aim(int(mismatches), unlock, rate)
        part = "construct."
        built = {name[len(part) :]: value for name, value in state.items() if name.startswith(part)}
        if any(len(value) == 0 for value in built.values()):
            raise InputError("the saved construction is not whole")
        self._build().restore(built)
