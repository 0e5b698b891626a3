"""The search for the best refill of one region: which searches take turns, and what they prove together."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from exact.driver import StepSizer
from exact.region import scalar
from exact.region.budget import Budget, SearchCosts
from exact.region.lagrangian import LagrangianSearch
from exact.region.options import RegionOptions
from exact.region.plan import make_state, plan_region
from exact.region.result import OnImprove, OnProgress, RegionResult, RegionStatus
from exact.region.scheme import RegionShape
from exact.region.searches import DynamicSearch, Search, StaticSearch
from exact.region.spend_curves import make_spend_curves
from exact.region.state import EXHAUSTED, FOUND, PAUSED, RegionPlan, RegionState
from instances.board import EMPTY, Board
from instances.duplicates import normalise_clue_pieces
from instances.puzzle import Puzzle
from instances.verify import Verification, verify
from lns_support.errors import BoardError

_FIRST_ATTEMPT = 100_000  # nodes of the first search for a better refill, before the proof by deepening begins
_TRY_ALL = 20_000  # nodes; a level that cost less is repeated by all searches, to find the fastest
_TRY_SOME = 1_000_000  # nodes; a level that cost less is repeated by two other searches
_FIRST_TURN = 200_000  # nodes of the first turn of each search, if several take turns
_TABLE_STEPS = 25  # steps of filling tables that take as long as a node without prices
_PRICE_DELAY = 0.5  # nodes searched before prices are set, as a share of the cost of setting them
_PRICE_CHECK = 50_000  # nodes searched before that cost is computed
_NEVER = 1 << 62
_PROBED_LEVELS = 3  # levels below the question at which both orders are tried then
_PROBE = 500_000  # node equivalents of such an attempt


class RegionSearch:
    """The search for the best refill of one region.

    Mismatches are counted on the joints of the region. The score of the whole board is ``base`` + ``joints`` -
    mismatches, where ``base`` counts the matches that do not touch the region.
    """

    def __init__(self, puzzle: Puzzle, board: Board, cells: list[int], options: RegionOptions) -> None:
        self.puzzle = puzzle
        self.given = board
        self.cells = cells
        self.options = options
        self.given_verification = verify(puzzle, board)
        self.longest_turn = max(1, options.dynamic_after)  # node equivalents of the first attempts and turns
        start = with_clues(puzzle, board, cells)
        clue_cells = {clue.cell for clue in puzzle.fixed}
        free = np.array([cell for cell in cells if cell not in clue_cells], dtype=np.int64)
        outside = start.placements.copy()
        outside[free] = EMPTY
        self.outside = outside
        self.plan: RegionPlan = plan_region(puzzle, free.tolist(), filled=outside >= 0)
        self.joints = int((self.plan.around >= 0).sum()) // 2 + len(self.plan.outside)
        self.base = self._score_outside(start, free)
        self.used = np.zeros(puzzle.cells, dtype=np.uint8)
        self.used[outside[outside >= 0] >> 2] = 1
        self.spare = max(0, int((self.used == 0).sum()) - len(free))
        self.priced: LagrangianSearch | None = None
        self.costs = SearchCosts()
        self.shape = RegionShape(puzzle, self.plan, self.spare, options.halved_from)
        self._question = self.shape, self.used, outside, options
        self.searches: dict[str, Search] = {"scheme": StaticSearch(*self._question)}
        self.best = start
        verification = self.given_verification if start == board else verify(puzzle, start)
        occupied = start.placements[free] >= 0
        if occupied.any() and not occupied.all() and not verification.violations:
            self.best = fill_empty_cells(puzzle, start, free.tolist())
            verification = verify(puzzle, self.best)
        # mismatches of the best refill so far; joints + 1 if the board has no legal one
        legal = occupied.any() and not verification.violations
        self.incumbent = self.base + self.joints - verification.score if legal else self.joints + 1
        self.lower_bound = 0  # every refill has at least this many mismatches

    def _score_outside(self, start: Board, free: npt.NDArray[np.int64]) -> int:
        """The matches that do not touch the region. Raises BoardError if the board breaks a rule outside the region."""
        given = self.given_verification
        if start != self.given or given.violations or (start.placements[free] < 0).any():
            return verify_rest(self.puzzle, Board(self.outside, self.puzzle.width, self.puzzle.height)).score
        freed = set(free.tolist())
        missed = sum(first in freed or second in freed for first, second in given.mismatches)
        return given.score - (self.joints - missed)

    def use_dynamic_order(self) -> None:
        """Search in the dynamic order only."""
        self.searches = {}
        self.add_dynamic_order()

    def add_dynamic_order(self) -> None:
        """Search in the dynamic order too."""
        self.searches["dynamic"] = DynamicSearch(*self._question)

    def use_cyclic_curves(self) -> None:
        """Search by cyclic spend curves too, in a fixed order; in bands they are often faster than a search scheme."""
        curves = make_spend_curves(self.puzzle, self.plan.cells)
        state = make_state(self.plan, self.used, self.outside, self.spare)
        cyclic = {name: StaticSearch(*self._question, each, state) for name, each in curves.items()}
        self.searches = cyclic | self.searches

    # -- the search ------------------------------------------------------------------------------------------------

    def run(
        self,
        target: int | None,
        prices: bool | int | None,
        budget: Budget,
        on_progress: OnProgress | None,
        on_improve: OnImprove | None,
    ) -> RegionResult:
        """Search until the best refill is proven, the target is reached or refuted, or the budget is spent."""
        # mismatches that the target allows; -1 = it cannot be reached, None = no target
        self.allowed = None if target is None else max(-1, min(self.joints, self.base + self.joints - target))
        interrupted = False
        self.budget, self.on_progress, self.on_improve = budget, on_progress, on_improve
        _compile(self)
        budget.start()
        try:
            self.delays_prices = prices is None  # until they are worth their time
            self.price_delay = (  # nodes
                _PRICE_CHECK if prices is None else 0 if prices is True else _NEVER if prices is False else prices
            )
            first = next(iter(self.searches.values())).state
            self._raise_bound(min(int(first.bound[0]) * self.options.balance, self.incumbent))
            if self.price_delay == 0 and not self._settled:
                self._consider_prices()
            self._search()
        except KeyboardInterrupt:
            interrupted = True
        return self._result(interrupted)

    def _search(self) -> None:
        """Alternate searches for a better refill, each with four times the nodes, and levels of the deepening proof."""
        attempt_nodes = min(_FIRST_ATTEMPT, self.longest_turn)
        while not self._settled and not self.budget.spent:
            goal = self._goal
            if self.allowed is not None:  # one question: no better board is wanted, and no lower level is of use
                self._decide_level(goal)
                continue
            if goal > self.lower_bound:
                cheapest = self.costs.ranked(self.searches, goal)[0]
                if self._attempt(cheapest, goal, attempt_nodes) == FOUND:
                    continue
            while not self._settled and not self.budget.spent:
                before = self.budget.nodes
                self._decide_level(self.lower_bound)
                if self.budget.nodes - before > attempt_nodes:
                    break  # the next level will take longer, so search for a better refill again
            attempt_nodes *= 4

    @property
    def _goal(self) -> int:
        """Mismatches that the next refill may have."""
        return self.incumbent - 1 if self.allowed is None else min(self.incumbent - 1, self.allowed)

    @property
    def _settled(self) -> bool:
        """Whether the search is over: no refill is better, or the target is reached or refuted."""
        return self._goal < self.lower_bound or (self.allowed is not None and self.incumbent <= self.allowed)

    def _decide_level(self, r: int) -> None:
        """Decide whether some refill has at most ``r`` mismatches; if that was cheap, find the fastest search."""
        ranked = self.costs.ranked(self.searches, r)
        if self.priced is not None:
            self._attempt("prices", r, _NEVER)
            return
        first: dict[int, str] = {}  # those that run side by side, each in its own state
        for name in ranked:
            first.setdefault(id(self.searches[name].state), name)
        winner, status = self._race(list(first.values()), r)
        if status != EXHAUSTED:
            return
        cost = self.costs.of(winner)
        least = min(_TRY_ALL, self.options.dynamic_after)
        others = [name for name in ranked if name != winner and (name != "dynamic" or cost >= least)]
        if cost < self.options.compare_after:
            return
        for name in others[: len(others) if cost < _TRY_ALL else 2 if cost < _TRY_SOME else 0]:
            if self._settled or self.budget.spent or self.priced is not None:
                break
            if self._attempt(name, r, int(cost)) == EXHAUSTED:
                cost = self.costs.of(name)

    def _race(self, names: list[str], r: int) -> tuple[str, int]:
        """Run searches for at most ``r`` mismatches in turns, which grow, until one ends; (its name, its status).

        PAUSED if the budget is spent or prices are set.
        """
        used = dict.fromkeys(names, 0)  # nodes
        goal = min(_FIRST_TURN, self.longest_turn)  # node equivalents of each search
        while True:
            for name in names:
                search = self.searches[name]
                if name == "dynamic" and len(names) > 1 and goal <= self.options.dynamic_after:
                    continue
                if used[name] == 0:
                    if name == "dynamic" and len(names) > 1:
                        self._probe(names, r)
                        names = self.costs.worth_a_turn(names, r)
                        if self._settled or self.budget.spent or name not in names:
                            break
                    search.start(r)
                limit = None if len(names) == 1 else max(0, goal // search.NODE_COST - used[name])
                status, nodes = self._run(search, limit)
                used[name] += nodes
                if status == PAUSED:
                    if self.budget.spent or self.priced is not None:
                        return name, PAUSED
                    continue
                if status == EXHAUSTED:
                    cost = used[name] * search.NODE_COST
                    self.costs.record(name, r, cost)
                    for other in names:
                        unfinished = used[other] * self.searches[other].NODE_COST
                        if unfinished > cost:
                            self.costs.record(other, r, unfinished, ended=False)
                    self._raise_bound(r + 1)
                return name, status
            if self._settled or self.budget.spent:
                return names[0], PAUSED
            goal *= 2

    def _probe(self, names: list[str], r: int) -> None:
        """Learn what searches cost by short attempts at the levels below ``r``, each in a state of its own."""
        probes = {name: self.searches[name].copy() for name in names}
        for level in range(max(self.lower_bound, r - _PROBED_LEVELS), r):
            for name, probe in probes.items():
                if self._settled or self.budget.spent:
                    return
                probe.start(level)
                limit = max(1, min(_PROBE, self.longest_turn) // probe.NODE_COST)
                status, nodes = self._run(probe, limit)
                cost = float(nodes * probe.NODE_COST)
                if status == EXHAUSTED:
                    self._raise_bound(level + 1)
                self.costs.record(name, level, cost, ended=status == EXHAUSTED)
                if status == FOUND:
                    return

    def _attempt(self, name: str, r: int, limit: int) -> int:
        """Search for at most ``r`` mismatches within ``limit`` node equivalents; FOUND, EXHAUSTED or PAUSED."""
        search = self.searches[name] if self.priced is None else self.priced
        search.start(r)
        status, nodes = self._run(search, max(1, limit // search.NODE_COST))
        cost = nodes * search.NODE_COST
        if status == EXHAUSTED:
            self._raise_bound(r + 1)
        if status == EXHAUSTED or (status == PAUSED and cost >= limit):
            self.costs.record(name, r, cost, ended=status == EXHAUSTED)
        return status

    def _run(self, search: Search, limit: int | None) -> tuple[int, int]:
        """Continue a search by ``limit`` nodes at most, or until prices are set; returns its status and the nodes."""
        started, priced = self.budget.nodes, self.priced
        end = _NEVER if limit is None else started + limit
        while True:
            status, nodes = search.advance(self.budget.step(min(end, self.price_delay) - self.budget.nodes))
            self.budget.use(nodes, search.NODE_COST)
            if status == FOUND:
                self._accept(search.state)
            elif status == PAUSED and self.budget.nodes >= self.price_delay and not self.budget.spent:
                self._consider_prices()
            if status != PAUSED or self.priced is not priced or self.budget.spent or self.budget.nodes >= end:
                return status, self.budget.nodes - started
            self._report_progress()

    # -- prices ----------------------------------------------------------------------------------------------------

    def _consider_prices(self) -> None:
        """Set prices, or decide after how many nodes that is worth its time."""
        priced = LagrangianSearch(*self._question)
        cost = priced.steps // _TABLE_STEPS
        if priced.steps == 0:
            self.price_delay = _NEVER
            return
        if self.delays_prices and self.price_delay < _PRICE_DELAY * cost:
            affordable = self.budget.limit is None or cost <= self.budget.limit
            self.price_delay = math.ceil(_PRICE_DELAY * cost) if affordable else _NEVER
            return
        priced.set_prices(self._goal, lambda: self.budget.spent)
        self.priced, self.price_delay, self.budget.sizer = priced, _NEVER, StepSizer()
        self._raise_bound(min(priced.bound, self.incumbent))

    # -- bounds and incumbent --------------------------------------------------------------------------------------

    def _raise_bound(self, mismatches: int) -> None:
        self.lower_bound = max(self.lower_bound, mismatches)
        self._report_progress()

    def _report_progress(self) -> None:
        if self.on_progress is not None:
            total = self.base + self.joints
            bound = total - min(self.lower_bound, self.incumbent)
            self.on_progress(total - self.incumbent, bound, self.budget.nodes, self.budget.elapsed)

    def _accept(self, state: RegionState) -> None:
        """Verify the refill that was found and make it the incumbent if it is better."""
        placements = self.outside.copy()
        placements[self.plan.cells] = state.refill
        board = Board(placements, self.puzzle.width, self.puzzle.height)
        mismatches = int(state.scalars[scalar.BEST])
        verification = verify(self.puzzle, board)
        if verification.score != self.base + self.joints - mismatches or verification.violations:
            raise AssertionError(f"a refill with {mismatches} mismatches does not verify: {verification}")
        if mismatches < self.incumbent:
            self.best, self.incumbent = board, mismatches
            if self.on_improve is not None:
                self.on_improve(board)
            self._report_progress()

    def _result(self, interrupted: bool) -> RegionResult:
        total, score_before, allowed = self.base + self.joints, self.given_verification.score, self.allowed
        if self.lower_bound > self.joints and self.incumbent > self.joints:
            raise AssertionError("the search found no refill, although there is one")
        bound = total - min(self.lower_bound, self.incumbent)
        has_refill = self.incumbent <= self.joints
        proven = has_refill and self.lower_bound >= self.incumbent
        reached = has_refill and allowed is not None and self.incumbent <= allowed
        improved = has_refill and (total - self.incumbent > score_before or bool(self.given_verification.violations))
        replaced = improved or (has_refill and self.best.placed > self.given.placed)
        status = (
            (RegionStatus.IMPROVED_OPTIMAL if improved else RegionStatus.OPTIMAL) if proven
            else RegionStatus.INTERRUPTED if interrupted
            else RegionStatus.TARGET_REACHED if reached
            else RegionStatus.IMPROVED if improved
            else RegionStatus.TARGET_REFUTED if allowed is not None and self.lower_bound > allowed
            else RegionStatus.BUDGET_SPENT
        )  # fmt: skip
        score = total - self.incumbent if replaced else score_before
        return RegionResult(
            status=status,
            board=self.best if replaced else self.given,
            score=score,
            score_before=score_before,
            bound=max(bound, score),
            nodes=self.budget.nodes,
            work=self.budget.work,
            seconds=self.budget.elapsed,
            cells=tuple(self.cells),
            legal=has_refill or not self.given_verification.violations,
        )


_compiled: set[tuple[type[Search], bool]] = set()  # kinds of searches whose kernels this process has compiled or loaded


def _compile(search: RegionSearch) -> None:
    """Compile or load the kernels of a search before its clock starts."""
    filters = search.options.preemption or search.options.instantiation
    for each in search.searches.values():
        if each is next(iter(search.searches.values())) or (type(each), filters) not in _compiled:
            each.start(-1)
            each.advance(0)
            _compiled.add((type(each), filters))


# -- boards ------------------------------------------------------------------------------------------------------------


def with_clues(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """The board with the clues of the region placed, replacing the pieces on their cells.

    Identical pieces exchange numbers so that no other cell has the piece of a clue (see `normalise_clue_pieces`).
    """
    placements = normalise_clue_pieces(puzzle, board, cells).placements.copy()
    for clue in puzzle.fixed:
        if clue.cell in cells:
            placements[clue.cell] = clue.piece * 4 + clue.rotation
    return Board(placements, puzzle.width, puzzle.height)


def fill_empty_cells(puzzle: Puzzle, board: Board, cells: list[int]) -> Board:
    """A legal board with the empty ones of ``cells`` filled, in order, each by the free piece that matches most.

    Pieces of clues are not used. A legal piece always remains.
    """
    placements = board.placements.copy()
    unused = np.ones(puzzle.cells, dtype=bool)
    unused[placements[placements >= 0] >> 2] = False
    unused[[clue.piece for clue in puzzle.fixed]] = False
    for cell in cells:
        if placements[cell] >= 0:
            continue
        fits = np.repeat(unused, 4) & puzzle.fits(cell)
        matches = fits.astype(int)
        for side, other in puzzle.neighbours(cell):
            if placements[other] >= 0:
                matches += fits & (puzzle.oriented[:, side] == puzzle.oriented[placements[other], side ^ 2])
        placements[cell] = matches.argmax()
        unused[placements[cell] >> 2] = False
    return Board(placements, puzzle.width, puzzle.height)


def verify_rest(puzzle: Puzzle, rest: Board) -> Verification:
    """Verify the board without the pieces of the region. Raises BoardError if it breaks a rule."""
    verification = verify(puzzle, rest)
    if verification.violations:
        raise BoardError(f"the board breaks a rule outside the region: {verification.violations[0]}")
    return verification
