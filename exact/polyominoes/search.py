"""Fillings of a tray: found, counted, and verified; by a search of our own, and by the library xcover."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import cycle, pairwise
from math import factorial, prod

import numpy as np

from exact.cover.kernel import DESCENDING, EXHAUSTED, LEVEL, NODES, SOLUTIONS
from exact.driver import CountedSearch, ProgressCallback, explored_by_tries, run_search
from exact.outcome import NODES_UNKNOWN, SolveStatus
from exact.polyominoes.kernel import PRUNED, advance, initial_state
from exact.polyominoes.model import IntArray, Model, build
from exact.polyominoes.shapes import WEIGHTS
from exact.polyominoes.tray import Tray, problems
from lns_support.child_process import Emit, ExitReason, run_in_process
from lns_support.errors import InputError
from lns_support.optional_deps import require

RACE = "race"  # all weights in turn, until one of them has a filling
COUNTED_BY = "descender"  # when all are counted the order hardly matters
SLICE = 1000  # nodes of a turn
FIRST_STEP = 5  # on large trays a node takes 10 ms
CONVENTION = "turned and mirrored fillings counted; equal pieces swapped count once"


@dataclass(frozen=True)
class Filled:
    """``solutions`` as CONVENTION says, ``nodes``: placements tested, or `NODES_UNKNOWN`; ``pruned``: those of them
    that were
    given up for a zone that cannot be filled alone; ``filling``: the first one found, verified, or None; ``weight``: of
    the search that ended, "" where none did."""

    status: SolveStatus
    solutions: int
    nodes: int
    seconds: float
    filling: tuple[str, ...] | None
    options: int
    pruned: int = 0
    weight: str = ""


class Fillings(CountedSearch):
    """A paused search. ``weight``: one of WEIGHTS, by which pieces are tried; ``zones``: whether the zones that a
    placement leaves are tested (both seed 001, III).
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(self, model: Model, weight: str, *, zones: bool = True) -> None:
        self.model, self.weight, self.zones = model, weight, zones
        self.state = initial_state(model, WEIGHTS[weight])
        self.counters = self.state.counters

    @property
    def explored(self) -> float:
        """Share of the tree that is done, as if sibling subtrees were equal."""
        levels = int(self.counters[LEVEL]) + 1 - int(self.counters[DESCENDING])  # the last may not be begun yet
        return explored_by_tries(self.state.next_try, self.state.end_try, levels)

    @property
    def pruned(self) -> int:
        return int(self.counters[PRUNED])

    @property
    def ended(self) -> Fillings | None:
        """Itself, once it has a filling, or knows that there is none."""
        return self if self.solutions or self.exhausted else None

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` placements, or to the end, or to the next solution when ``stop_at_first``."""
        m = self.model
        advance(
            self.state, m.begin, m.item, m.images, m.beside, m.cells, m.sizes, self.zones, budget, stop_at_first
        )  # fmt: skip

    def first_filling(self) -> tuple[str, ...] | None:
        """The first solution found, None before there is one. Raises RuntimeError for one that is none."""
        return _checked(self.model, self.state.first) if self.solutions else None


class Race:
    """Searches by all weights, SLICE nodes in turn, until one of them ends: few are quick, and no weight is always
    (seed 001, VI, runs them in threads)."""

    def __init__(self, model: Model, *, zones: bool = True) -> None:
        self.searches = [Fillings(model, weight, zones=zones) for weight in WEIGHTS]
        self.ended: Fillings | None = None
        self._turns = cycle(self.searches)
        self._now, self._rest = next(self._turns), SLICE

    @property
    def nodes(self) -> int:
        return sum(one.nodes for one in self.searches)

    @property
    def pruned(self) -> int:
        return sum(one.pruned for one in self.searches)

    @property
    def solutions(self) -> int:
        return 0 if self.ended is None else self.ended.solutions

    @property
    def exhausted(self) -> bool:
        return self.ended is not None and self.ended.exhausted

    @property
    def explored(self) -> float:
        return max(one.explored for one in self.searches)

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` placements in all, or to the first solution: a race counts none beyond it."""
        limit = self.nodes + budget
        while self.ended is None:
            if self._rest <= 0:
                self._now, self._rest = next(self._turns), SLICE
            before = self._now.nodes
            self._now.advance(min(self._rest, limit - self.nodes), True)
            self._rest -= self._now.nodes - before
            self.ended = self._now.ended
            if self.nodes >= limit:
                return


def fill(
    tray: Tray,
    weight: str | None = None,
    *,
    zones: bool = True,
    count_all: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    report: ProgressCallback | None = None,
    processor: bool = False,
) -> Filled:
    """The first filling of ``tray``, or the number of all, where images of one another are searched once.

    ``weight``: by default the RACE of all, or COUNTED_BY where all are counted. Budgets as for
    `exact.driver.run_search`.
    Raises InputError for a weight that is not known, and where the tray is too large.
    """
    if weight is None:
        weight = COUNTED_BY if count_all else RACE
    if weight not in (RACE, *WEIGHTS):
        raise InputError(f"unknown weight '{weight}'; expected {RACE}, {', '.join(WEIGHTS)}")
    if count_all and weight == RACE:
        raise InputError("a race ends at the first filling; expected one weight to count all")
    model = build(tray, reduced=count_all)
    search = Race(model, zones=zones) if weight == RACE else Fillings(model, weight, zones=zones)
    status, spent = run_search(
        search, count_all=count_all, nodes=nodes, seconds=seconds, on_progress=report, processor_time=processor,
        first_step=FIRST_STEP,
    )  # fmt: skip
    ended = search.ended
    filling, by = (ended.first_filling(), ended.weight) if ended else (None, "")
    return Filled(status, search.solutions, search.nodes, spent, filling, model.options, search.pruned, by)


def fill_by_library(tray: Tray, *, count_all: bool = False, seconds: float | None = None) -> Filled:
    """The same by xcover, which tells no nodes, in a child process. Raises InputError without it, ChildProcessError
    when it crashes."""
    require("cover", "the solver xcover")
    model = build(tray)
    told: list[tuple[int, list[int], bool, float]] = []
    ended = run_in_process(_cover_by_library, tray, count_all, receive=told.append, seconds=seconds)
    found, first, exhausted, spent = told[-1] if told else (0, [], False, 0.0)
    filling = _checked(model, np.array(first, dtype=np.int32)) if found else None
    if ended.reason is ExitReason.INTERRUPTED:
        status, spent = SolveStatus.INTERRUPTED, ended.seconds
    elif exhausted or (found and not count_all):
        status = SolveStatus.SOLVED if found else SolveStatus.INFEASIBLE
    else:
        status, spent = SolveStatus.BUDGET_SPENT, ended.seconds
    swapped = prod(map(factorial, model.copies.tolist()))
    return Filled(status, -(-found // swapped), NODES_UNKNOWN, spent, filling, model.options)


def _cover_by_library(emit: Emit, tray: Tray, count_all: bool) -> None:
    """A child's task: (fillings with equal pieces apart, options of the first one, whether these are all, seconds)."""
    from xcover import covers

    list(covers([["0"], ["1"]], primary=["0", "1"]))  # compiles, or loads machine code; a single item is too few for it
    began = time.perf_counter()
    model = build(tray)
    options, numbers = [], []
    for number, (first, last) in enumerate(pairwise(model.begin.tolist())):
        *cells, kind = model.item[first:last].tolist()
        for name in model.names[kind - model.cells]:
            options.append([*map(str, cells), f"piece {name}"])
            numbers.append(number)
    items = [*map(str, range(model.cells)), *(f"piece {name}" for names in model.names for name in names)]
    if not items:  # full already
        emit((1, [], True, time.perf_counter() - began))
        return
    found, first_found = 0, list[int]()
    reachable = {item for option in options for item in option}
    for chosen in covers(options, primary=items) if reachable.issuperset(items) else ():
        found += 1
        if found == 1:
            first_found = [numbers[int(option)] for option in chosen]
        if found.bit_count() == 1:  # now and then
            emit((found, first_found, False, time.perf_counter() - began))
        if not count_all:
            break
    emit((found, first_found, count_all or not found, time.perf_counter() - began))


def _checked(model: Model, options: IntArray) -> tuple[str, ...]:
    filling = model.filling(options)
    if wrong := problems(model.tray, filling):
        raise RuntimeError(f"this is no filling, the search is at fault: {'; '.join(wrong)}")
    return filling
