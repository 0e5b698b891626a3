"""Find or count the fillings of a grid, by a search of this project or the library xcover; the first found is verified.

The weights and the test of zones are from section III of the report of Perrin & Beaujard (see
`lns.exact.polyominoes.grid`), the race of weights on several processes is from section VI.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import pairwise
from math import factorial, prod
from threading import Event
from typing import Any

import numpy as np

from lns.exact.child_process import Emit, run_in_process
from lns.exact.cover.search import library_covers
from lns.exact.driver import PausedSearch, Progress, ProgressCallback, Turns
from lns.exact.execution import Request, build_and_run, solve_in_child, timed
from lns.exact.optional_deps import require
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.polyominoes.grid import RACE, WEIGHTS, Grid
from lns.exact.polyominoes.model import FillingSearch, build_model
from lns.instances.errors import InputError

COUNTING_WEIGHT = "descender"  # the default for counting, where the order of pieces hardly matters
CONVENTION = "rotated and mirrored fillings counted; equal pieces swapped count once"
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class FillResult:
    """The result of `fill`, `race` and `fill_by_library`."""

    status: SolveStatus
    solutions: int  # fillings found so far; rotated and mirrored ones count, equal pieces swapped do not
    nodes: int | None  # placements tested; None if the library does not report them
    seconds: float
    filling: tuple[str, ...] | None  # the first filling found, verified, as rows of piece names
    options: int  # placements in the model: those of equal pieces count once, in counts symmetric ones of one piece too
    pruned: int = 0  # placements rejected only because they leave a zone of free cells that no pieces can fill
    weight: str = ""  # weight of the search that found a filling or ended; empty if no search did
    branches: int = 0  # placements after which a search went deeper, plus one for the start of each search
    deepest: int = 0  # largest number of pieces that a search had placed at one time


def fill(
    grid: Grid, weight: str | Sequence[str] | None = None, *, zones: bool = True, dead_ends: bool = True, **fields: Any
) -> FillResult:
    """Find the first filling of a grid, or count all (Perrin & Beaujard, section III).

    ``weight`` says which pieces are tried first: it is a key of WEIGHTS, "none" for the order in which the grid lists
    the pieces, or "race" for searches with all weights that take turns; given a sequence of weights, searches with
    these weights take turns. The default is "race", or "descender" when counting. ``zones`` rejects placements that
    leave a zone of free cells which no pieces can fill. ``dead_ends`` rejects placements that leave a cell or a piece
    without a placement; the search of the report does not reject them, and tests more placements.

    ``fields`` are ``count_all``, ``nodes`` (placements tested), ``seconds``, ``on_progress`` and ``processor_time`` of
    `lns.exact.execution.Request`. When counting, one of several symmetric fillings is searched for, but all count.

    Raises InputError if the weight is unknown, if a race is to count all, or if the grid is too large.
    """
    request = Request(**fields)
    weight = weight or (COUNTING_WEIGHT if request.count_all else RACE)
    weights = [*WEIGHTS] if weight == RACE else [weight] if isinstance(weight, str) else weight
    if request.count_all and len(weights) > 1:
        raise InputError("a race ends at the first filling; expected one weight to count all")
    searches: dict[str, FillingSearch] = {}  # by weight: the search with this weight

    def begin() -> PausedSearch:
        model = build_model(grid, reduced=request.count_all)
        for name in timed(weights):
            searches[name] = FillingSearch(model, name, zones=zones, dead_ends=dead_ends)
        return Turns(searches)

    outcome = build_and_run(begin, request)
    every = [*searches.values()]
    return FillResult(
        outcome.status,
        outcome.solutions,
        outcome.nodes,
        outcome.seconds,
        filling=searches[outcome.answered_by].first_filling() if outcome.answered_by else None,
        options=every[0].model.options if every else 0,
        pruned=sum(search.pruned for search in every),
        weight=outcome.answered_by,
        branches=sum(search.branches for search in every),
        deepest=max((search.deepest for search in every), default=0),
    )


def race(
    grid: Grid, workers: int, *, nodes: int | None = None, on_progress: ProgressCallback | None = None, **fields: Any
) -> FillResult:
    """Find a filling of a grid with all `WEIGHTS` on several processes, until one finds it or proves that none exists.

    Each of the ``workers`` processes, at most one for each weight, has a share of the weights and of the budget
    ``nodes``, and its searches take turns. The ``fields`` are ``zones`` and ``seconds`` of `fill`. Nodes, in the result
    and in progress, are totals of all processes, as each last reported; the other counts are those of the process
    that answers or got deepest. Raises InputError as `fill` or without workers, ChildProcessError if a process crashes.
    """
    if workers < 1:
        raise InputError(f"{workers} workers; expected 1 or more")
    shares = [[*WEIGHTS][at::workers] for at in range(min(workers, len(WEIGHTS)))]
    own = fields | {"nodes": None if nodes is None else -(-nodes // len(shares))}
    told: dict[int, Progress | FillResult] = {}  # the last message of each process
    over, began, interrupted = Event(), time.perf_counter(), False

    def search_share(at: int) -> None:
        def receive(message: Progress | FillResult) -> bool:
            if not over.is_set():
                told[at] = message
                if _decides(message):
                    over.set()
            return over.is_set()

        run_in_process(_search_share, grid, shares[at], own, receive=receive)

    def nodes_told() -> int:
        return sum(message.nodes or 0 for message in told.values())

    with ThreadPoolExecutor(len(shares)) as pool:
        searching = {pool.submit(search_share, at) for at in range(len(shares))}
        try:
            while searching and not over.is_set():
                ended, searching = wait(searching, _LOOK_SECONDS, FIRST_COMPLETED)
                for search in ended:
                    search.result()  # raises the exception, if any, of the search's process
                if on_progress is not None:
                    explored = (each.explored for each in [*told.values()] if isinstance(each, Progress))
                    on_progress(Progress(nodes_told(), 0, time.perf_counter() - began, max(explored, default=0.0)))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            over.set()
    spent = FillResult(SolveStatus.BUDGET_SPENT, 0, 0, 0.0, None, build_model(grid).options)
    results = (message for message in told.values() if isinstance(message, FillResult))
    best = max(results, key=lambda result: (_decides(result), result.deepest), default=spent)
    status = SolveStatus.INTERRUPTED if interrupted and not _decides(best) else best.status
    return replace(best, status=status, nodes=nodes_told(), seconds=time.perf_counter() - began)


def _search_share(emit: Emit, grid: Grid, weights: Sequence[str], own: dict[str, Any]) -> None:
    """Call `fill` with the given weights, as the task of a process; send progress, then the result."""
    emit(fill(grid, weights, **own, on_progress=emit))


def _decides(message: Progress | FillResult) -> bool:
    return isinstance(message, FillResult) and message.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)


def fill_by_library(grid: Grid, *, count_all: bool = False, seconds: float | None = None) -> FillResult:
    """Find the first filling or count all with the library xcover, which reports no nodes, in a child process.

    ``seconds`` limits elapsed time, without compilation. Raises InputError if xcover is not installed or the grid is
    too large, and ChildProcessError if the process crashes.
    """
    require("cover", "the solver xcover")
    first: list[Any] = []
    model = build_model(grid)
    request = Request(count_all, seconds=seconds, on_solution=first.append)
    found = solve_in_child(_cover_by_library, grid, request, prepare="xcover")
    filling = model.filling(np.array(first[0], dtype=np.int32)) if first else None
    swapped = prod(map(factorial, model.copies.tolist()))
    return FillResult(found.status, -(-found.solutions // swapped), None, found.seconds, filling, model.options)


def _cover_by_library(emit: Emit, grid: Grid, request: Request) -> None:
    """Search in a child process; send the first filling, and outcomes that count equal pieces as different."""
    began, model, count = time.perf_counter(), build_model(grid), 0
    options, numbers = [], []
    for number, (first, last) in enumerate(pairwise(model.begin.tolist())):
        *cells, kind = model.item[first:last].tolist()
        for name in model.names[kind - model.cells]:
            options.append([*map(str, cells), f"piece {name}"])
            numbers.append(number)

    def report(status: SolveStatus) -> None:
        emit(Outcome(status, count, None, time.perf_counter() - began))

    items = [*map(str, range(model.cells)), *(f"piece {name}" for names in model.names for name in names)]
    for chosen in library_covers(options, items, []) if items else ([],):  # no items: one filling without options
        count += 1
        if count == 1:
            emit([numbers[option] for option in chosen])
        if not request.count_all:
            break
        if count.bit_count() == 1:  # reports when the count is a power of two
            report(SolveStatus.BUDGET_SPENT)
    report(SolveStatus.SOLVED if count else SolveStatus.INFEASIBLE)
