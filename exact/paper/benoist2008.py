"""The experiment of seed 000 (section 6): instances, methods, and a log of runs that can be continued.

Instances: every inner edge uniform in 1..K, four corners fixed. The paper does not say which K it used; `COLOURS`
are the values around which a size is neither trivial nor hopeless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exact.colorpairs.options import Heuristic, Options
from exact.outcome import SolveStatus
from exact.request import Request
from exact.solvers import solve, solve_request
from instances.generate import corner_cells, uniform
from instances.puzzle import Puzzle
from lns_support import csv_records

ROW_SCAN = "row scan"
REFERENCE = "ColorPairs"
METHODS: dict[str, Options | None] = {  # None: not ColorPairs
    REFERENCE: Options(),
    ROW_SCAN: None,
    "without backjumping": Options(backjumping=False),
    "without preemption": Options(preemption=False),
    "with shaving": Options(shaving=True),
    "with bounds of 4.2": Options(shared_edges=True, cycles=True),
    "with single colours": Options(single_colours=True),
    "without motifs 3, 4": Options(motifs=False),
    "MinOffer": Options(heuristic=Heuristic.MIN_OFFER),
    "MinExpectedOffer": Options(heuristic=Heuristic.MIN_EXPECTED_OFFER),
    "MinExpectedRatio": Options(heuristic=Heuristic.MIN_EXPECTED_RATIO),
    "MaxExpectedFiltering": Options(heuristic=Heuristic.MAX_EXPECTED_FILTERING),
}
COLOURS = {7: (6, 5), 8: (8, 7), 9: (10, 9), 10: (12, 11)}


@dataclass(frozen=True)
class Plan:
    """``per_size`` instances of each size, colours and seeds in turn.

    ``budget``: seconds of processor time for a method on an instance. Where the reference finishes, the row scan gets
    ``patience`` times as many, because it is what the others are measured against. ``methods``: names in `METHODS`,
    the reference and the row scan first.
    """

    sizes: tuple[int, ...] = (7, 8, 9, 10)
    per_size: int = 3
    budget: float = 8.0
    seed: int = 1
    patience: float = 12.0
    methods: tuple[str, ...] = tuple(METHODS)

    def instances(self) -> Iterator[tuple[int, int, int]]:
        """(size, colours, seed) of each."""
        for size in self.sizes:
            for index in range(self.per_size):
                colours = COLOURS[size]
                yield size, colours[index % len(colours)], self.seed + index // len(colours)


SMALL = Plan()
FULL = Plan(per_size=35, budget=3600.0, patience=1.0)


@dataclass(frozen=True)
class ExperimentRun:
    """One method on one instance; ``seconds`` and ``budget`` are of processor time."""

    size: int
    colours: int
    seed: int
    method: str
    budget: float
    status: str
    solutions: int
    nodes: int
    seconds: float

    @property
    def instance(self) -> str:
        return f"{self.size}x{self.size}-c{self.colours}-s{self.seed}"

    @property
    def finished(self) -> bool:
        return self.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)

    def told(self) -> str:
        return f"{self.instance} {self.method}: {self.status}, {self.nodes:,} nodes, {self.seconds:.2f} s"


def instance(size: int, colours: int, seed: int) -> Puzzle:
    """The puzzle with its four corners fixed."""
    return uniform(size, size, colours, seed).with_clues(corner_cells(size, size)).puzzle


def run_experiment(plan: Plan, log: Path | None = None) -> Iterator[ExperimentRun]:
    """Every method on every instance that the reference or the row scan finishes; runs in ``log`` are not repeated.

    Raises InputError for a log of another form, RuntimeError when two methods disagree on the number of solutions.
    """
    known = [] if log is None else csv_records.read(log, ExperimentRun)
    done = {(run.size, run.colours, run.seed, run.method, run.budget): run for run in known}
    for solver in ("rowscan", "colorpairs"):  # compiled before anything is timed
        solve(instance(3, 2, 1), solver=solver)
    for size, colours, seed in plan.instances():
        puzzle = instance(size, colours, seed)
        runs: list[ExperimentRun] = []
        for method in plan.methods:
            if len(runs) == 2 and not any(run.finished for run in runs):
                break
            patient = method == ROW_SCAN and runs[0].finished
            budget = plan.budget * (plan.patience if patient else 1.0)
            run = done.get((size, colours, seed, method, budget))
            if run is None:
                solver = "rowscan" if method == ROW_SCAN else "colorpairs"
                options = METHODS[method] or Options()
                request = Request(count_all=True, seconds=budget, options=options, processor_time=True)
                outcome = solve_request(puzzle, request, solver)
                if outcome.status is SolveStatus.INTERRUPTED:
                    raise KeyboardInterrupt
                run = ExperimentRun(
                    size,
                    colours,
                    seed,
                    method,
                    budget,
                    str(outcome.status),
                    outcome.solutions,
                    outcome.nodes,
                    outcome.seconds,
                )
                if log is not None:
                    csv_records.append(log, run)
            runs.append(run)
            counts = {run.solutions for run in runs if run.finished}
            if len(counts) > 1:
                raise RuntimeError(f"{run.instance}: methods disagree on the number of solutions: {counts}")
            yield run
