"""The search for the best refill of one region: which searches take turns, and what they prove together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from copy import copy
from typing import NamedTuple

from lns.exact.colorpairs.state import counter
from lns.exact.driver import StepSizer
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region, make_state
from lns.exact.region.searches import DynamicSearch, LagrangianSearch, Search, make_spend_curves
from lns.exact.region.state import EXHAUSTED, FOUND, PAUSED, RegionState
from lns.instances.board import Board
from lns.instances.verify import verify

_FIRST_ATTEMPT = 100_000  # most nodes of the first search for a better refill, before the proof begins
_TRY_ALL = 20_000  # node equivalents; a step of the proof that took less is repeated by all searches, to compare them
_TRY_SOME = 1_000_000  # node equivalents; a step of the proof that took less is repeated by two other searches
_FIRST_TURN = 200_000  # node equivalents of the first turn of each search, if several take turns
_TABLE_STEPS = 25  # steps of filling cost tables that take as long as a node without prices
_PRICE_DELAY = 0.5  # nodes searched before prices are set, as a share of the nodes that setting them costs
_PRICE_CHECK = 50_000  # nodes searched before the cost of setting prices is estimated
_NEVER = 1 << 62
_PROBED_LEVELS = 3  # how many numbers of mismatches below the one to be decided `_probe` tries
_PROBE = 500_000  # most node equivalents of an attempt of `_probe`
_HOPELESS = math.log(8.0)  # logarithm: a search with more than 8 times the least expected cost gets no turn


class Reports(NamedTuple):
    """Functions that a region search calls to report its progress, None = no report."""

    progress: Callable[[int, int, int, float], None] | None = None  # takes score, bound, nodes, seconds
    improve: Callable[[Board], None] | None = None  # takes every better board, verified, when it is found


class Budget:
    """A budget of nodes and seconds (None = no limit) and what is spent of it; ``work``: node equivalents spent."""

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.limit = _NEVER if nodes is None else nodes
        self.seconds = math.inf if seconds is None else seconds
        self.nodes = self.work = 0
        self.sizer = StepSizer()
        self.started = self._step_started = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the search."""
        return time.perf_counter() - self.started

    @property
    def spent(self) -> bool:
        """Whether the limit of nodes or of seconds is reached."""
        return self.nodes >= self.limit or self.elapsed >= self.seconds

    def step(self, most: int) -> int:
        """Start the clock of the next step of a search and return how many nodes it may take, at most ``most``."""
        self._step_started = time.perf_counter()
        return min(most, self.sizer.step, self.limit - self.nodes)

    def use(self, nodes: int, node_cost: int) -> None:
        """Count the nodes of a finished step, each worth ``node_cost`` node equivalents, and resize the next step."""
        now = time.perf_counter()
        self.nodes += nodes
        self.work += nodes * node_cost
        self.sizer.update(nodes, now - self._step_started, self.started + self.seconds - now)


class RegionSearch:
    """The search for the best refill of a region.

    ``ways``: the searches that take turns, in the order of their first turns: "scheme" (by a search scheme), "cyclic"
    (by spend curves, often faster in bands) or "dynamic" (in the dynamic order).
    """

    def __init__(self, region: Region, options: RegionOptions, *ways: str) -> None:
        self.region, self.options = region, options
        self.longest_turn = max(1, options.dynamic_after)  # most node equivalents of the first attempts and turns
        self.searches: list[Search] = []
        for way in ways:
            if way == "cyclic":
                state = make_state(region)
                curves = make_spend_curves(region.puzzle, region.plan.cells)
                self.searches += [Search(region, options, each, state) for each in curves]
            else:
                self.searches.append({"scheme": Search, "dynamic": DynamicSearch}[way](region, options))
        prices = options.prices if "scheme" in ways else False
        self.delays_prices = prices is None  # whether prices are set only once that is worth its time
        self.price_delay = (  # nodes to be searched before prices are considered
            _PRICE_CHECK if prices is None else 0 if prices is True else _NEVER if prices is False else prices
        )
        self.priced: LagrangianSearch | None = None
        self.best, self.incumbent = region.start, region.mismatches  # board with the best refill so far; its mismatches
        self.lower_bound = 0  # every refill has at least this many mismatches

    def run(self, target: int | None, budget: Budget, reports: Reports) -> bool:
        """Search until a best refill is proven, the target decided or the budget spent; return False after Ctrl-C."""
        most = self.region.joints
        # mismatches that the target score allows; -1 = it cannot be reached, None = no target
        self.allowed = None if target is None else max(-1, min(most, self.region.base + most - target))
        self.budget, self.reports = budget, reports
        _compile(self)
        budget.started = time.perf_counter()
        try:
            self._raise_bound(min(int(self.searches[0].state.bound[0]) * self.options.balance, self.incumbent))
            if self.price_delay == 0 and not self._settled:
                self._consider_prices()
            self._search()
        except KeyboardInterrupt:
            return False
        return True

    def _search(self) -> None:
        """Alternate attempts at a better refill, within more and more nodes, and steps of the proof."""
        attempt_nodes = min(_FIRST_ATTEMPT, self.longest_turn)
        while not self._ends:
            goal = self._goal
            if self.allowed is not None:  # with a target, only whether it can be reached is decided
                self._decide_level(goal)
                continue
            if goal > self.lower_bound and self._attempt(self.ranked(goal)[0], goal, attempt_nodes) == FOUND:
                continue
            while not self._ends:
                before = self.budget.nodes
                self._decide_level(self.lower_bound)
                if self.budget.nodes - before > attempt_nodes:
                    break  # the next step of the proof will take longer, so try to find a better refill again
            attempt_nodes *= 4

    @property
    def _goal(self) -> int:
        """The most mismatches of a refill that is still worth finding."""
        return self.incumbent - 1 if self.allowed is None else min(self.incumbent - 1, self.allowed)

    @property
    def _settled(self) -> bool:
        """Whether it is proven that no refill is better, or the target is reached or refuted."""
        return self._goal < self.lower_bound or (self.allowed is not None and self.incumbent <= self.allowed)

    @property
    def _ends(self) -> bool:
        return self._settled or self.budget.spent

    def ranked(self, r: int) -> list[Search]:
        """Return the searches by the expected cost of searching for ``r`` mismatches; those not tried yet come last."""
        return sorted(self.searches, key=lambda search: (search.known is None, search.log_cost(r)))

    def _decide_level(self, r: int) -> None:
        """Decide whether a refill has at most ``r`` mismatches; other searches repeat a proof of medium cost."""
        if self.priced is not None:
            self._attempt(self.priced, r, _NEVER)
            return
        ranked = self.ranked(r)
        first: dict[int, Search] = {}  # by id of a state: the best search that uses it; these take turns
        for search in ranked:
            first.setdefault(id(search.state), search)
        winner, status = self._race(list(first.values()), r)
        if status != EXHAUSTED or winner.cost < self.options.compare_after:
            return
        cost = winner.cost
        slow = cost >= min(_TRY_ALL, self.options.dynamic_after)  # if so, try the dynamic order too
        others = [each for each in ranked if each is not winner and (slow or not isinstance(each, DynamicSearch))]
        for search in others[: len(others) if cost < _TRY_ALL else 2 if cost < _TRY_SOME else 0]:
            if self._ends or self.priced is not None:
                break
            if self._attempt(search, r, int(cost)) == EXHAUSTED:
                cost = search.cost

    def _race(self, racing: list[Search], r: int) -> tuple[Search, int]:
        """Run searches for ``r`` mismatches in growing turns; return the first to end or be stopped, and its status."""
        used = dict.fromkeys(racing, 0)  # nodes that each search has taken in this race
        goal = min(_FIRST_TURN, self.longest_turn)  # node equivalents that each search may have taken after its turn
        while True:
            for search in racing:
                joins = isinstance(search, DynamicSearch) and len(racing) > 1
                if joins and goal <= self.options.dynamic_after:
                    continue
                if used[search] == 0:
                    if joins:
                        self._probe(racing, r)
                        least = min(each.log_cost(r) for each in racing)
                        racing = [each for each in racing if each.log_cost(r) <= least + _HOPELESS]
                        if self._ends or search not in racing:
                            break
                    search.start(r)
                status, nodes = self._run(
                    search, _NEVER if len(racing) == 1 else goal // search.NODE_COST - used[search]
                )
                used[search] += nodes
                if status == PAUSED:
                    if self.budget.spent or self.priced is not None:
                        return search, PAUSED
                    continue
                if status == EXHAUSTED:
                    search.record(r, used[search])
                    for other in racing:
                        if used[other] * other.NODE_COST > search.cost:
                            other.record(r, used[other], ended=False)
                    self._raise_bound(r + 1)
                return search, status
            if self._ends:
                return racing[0], PAUSED
            goal *= 2

    def _probe(self, racing: list[Search], r: int) -> None:
        """Learn what searches cost by short attempts at fewer than ``r`` mismatches, each in a state of its own."""
        probes = [(search, copy(search)) for search in racing]
        for _, probe in probes:
            probe.state = make_state(self.region)
        for level in range(max(self.lower_bound, r - _PROBED_LEVELS), r):
            for search, probe in probes:
                if self._ends:
                    return
                probe.start(level)
                status, nodes = self._run(probe, max(1, min(_PROBE, self.longest_turn) // probe.NODE_COST))
                if status == EXHAUSTED:
                    self._raise_bound(level + 1)
                search.record(level, nodes, ended=status == EXHAUSTED)
                if status == FOUND:
                    return

    def _attempt(self, search: Search, r: int, limit: int) -> int:
        """Search for ``r`` mismatches, with prices if set, within ``limit`` node equivalents; return a status."""
        search = self.priced or search
        search.start(r)
        status, nodes = self._run(search, max(1, limit // search.NODE_COST))
        if status == EXHAUSTED:
            self._raise_bound(r + 1)
        if status == EXHAUSTED or (status == PAUSED and nodes * search.NODE_COST >= limit):
            search.record(r, nodes, ended=status == EXHAUSTED)
        return status

    def _run(self, search: Search, limit: int) -> tuple[int, int]:
        """Continue a search by ``limit`` nodes at most, or until prices are set; return its status and its nodes."""
        started, priced = self.budget.nodes, self.priced
        end = started + max(0, limit)
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

    def _consider_prices(self) -> None:
        """Set prices now, or decide after how many nodes it is worth the time to set them."""
        priced = LagrangianSearch(self.region, self.options)
        cost = priced.steps // _TABLE_STEPS
        if priced.steps == 0:
            self.price_delay = _NEVER
        elif self.delays_prices and self.price_delay < _PRICE_DELAY * cost:
            self.price_delay = math.ceil(_PRICE_DELAY * cost) if cost <= self.budget.limit else _NEVER
        else:
            priced.set_prices(self._goal, lambda: self.budget.spent)
            self.priced, self.price_delay, self.budget.sizer = priced, _NEVER, StepSizer()
            self._raise_bound(min(priced.bound, self.incumbent))

    def _raise_bound(self, mismatches: int) -> None:
        self.lower_bound = max(self.lower_bound, mismatches)
        self._report_progress()

    def _report_progress(self) -> None:
        if self.reports.progress is not None:
            total = self.region.base + self.region.joints
            bound = total - min(self.lower_bound, self.incumbent)
            self.reports.progress(total - self.incumbent, bound, self.budget.nodes, self.budget.elapsed)

    def _accept(self, state: RegionState) -> None:
        """Verify the refill that a search has found, and make it the incumbent if it is better."""
        region, mismatches = self.region, int(state.counters[counter.BEST])
        board = region.start.with_pieces(region.plan.cells, state.refill)
        verification = verify(region.puzzle, board)
        if verification.score != region.base + region.joints - mismatches or verification.violations:
            raise AssertionError(f"a refill with {mismatches} mismatches does not verify: {verification}")
        if mismatches < self.incumbent:
            self.best, self.incumbent = board, mismatches
            if self.reports.improve is not None:
                self.reports.improve(board)
            self._report_progress()


_compiled: set[tuple[type[Search], bool]] = set()  # kinds of searches whose kernels this process has compiled or loaded


def _compile(search: RegionSearch) -> None:
    """Compile the kernels of a search, or load them from disk, before its clock starts."""
    filters = search.options.preemption or search.options.instantiation
    for each in search.searches:
        if each is search.searches[0] or (type(each), filters) not in _compiled:
            each.start(-1)
            each.advance(0)
            _compiled.add((type(each), filters))
