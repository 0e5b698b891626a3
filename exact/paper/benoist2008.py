"""Benoist & Bourreau 2008, section 6: the methods on random puzzles, and a CSV log of runs that can be continued.

The colour of every inner edge is drawn uniformly from 1..K, and the four corners are fixed. The paper does not say
which K it used; `COLOURS` has, for each size, the values at which puzzles are neither trivial nor out of reach.

References
----------
T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008, section 6.
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
METHODS: dict[str, Options | str] = {  # options of ColorPairs, or the name of another solver
    REFERENCE: Options(),
    ROW_SCAN: "rowscan",
    "without backjumping": Options(backjumping=False),
    "without preemption": Options(preemption=False),
    "with shaving": Options(shaving=True),
    "with quick shaving": Options(quick_shaving=True),
    "with bounds of 4.2": Options(shared_edges=True, cycles=True),
    "with single colours": Options(single_colours=True),
    "without motifs 3, 4": Options(motifs=False),
    "MinOffer": Options(heuristic=Heuristic.MIN_OFFER),
    "MinOffer, random cell": Options(heuristic=Heuristic.MIN_OFFER, random_cell=True),
    "MinOffer without backjumping": Options(heuristic=Heuristic.MIN_OFFER, backjumping=False),
    "MinOffer without preemption": Options(heuristic=Heuristic.MIN_OFFER, preemption=False),
    "MinOffer with shaving": Options(heuristic=Heuristic.MIN_OFFER, shaving=True),
    "MinExpectedOffer": Options(heuristic=Heuristic.MIN_EXPECTED_OFFER),
    "MinExpectedRatio": Options(heuristic=Heuristic.MIN_EXPECTED_RATIO),
    "MaxExpectedFiltering": Options(heuristic=Heuristic.MAX_EXPECTED_FILTERING),
    "CP, Element": "cp:element",
    "CP, Element, AllDifferent": "cp:element-alldifferent",
    "CP, table": "cp:table",
    "CP, table, AllDifferent": "cp:table-alldifferent",
}
WITHOUT_CP = tuple(method for method in METHODS if not method.startswith("CP"))
COLOURS = {7: (6, 5), 8: (8, 7), 9: (10, 9), 10: (12, 11)}


@dataclass(frozen=True)
class Plan:
    """The runs of the experiment.

    Parameters
    ----------
    sizes : tuple of int
        Sides of the boards, keys of `COLOURS`.
    per_size : int
        Instances of each size; they take the numbers of colours of their size in turn.
    budget : float
        Seconds of processor time for a method on an instance.
    seed : int
        Seed of the first instance of each size and number of colours; the next ones count up.
    patience : float
        The row scan and the CP models get this many times `budget` on instances that the reference finishes, because
        they are compared with it.
    methods : tuple of str
        Keys of `METHODS`; the first two are `REFERENCE` and `ROW_SCAN`.
    """

    sizes: tuple[int, ...] = (7, 8, 9, 10)
    per_size: int = 3
    budget: float = 8.0
    seed: int = 1
    patience: float = 12.0
    methods: tuple[str, ...] = WITHOUT_CP

    def instances(self) -> Iterator[tuple[int, int, int]]:
        """(size, colours, seed) of each instance."""
        for size in self.sizes:
            for index in range(self.per_size):
                colours = COLOURS[size]
                yield size, colours[index % len(colours)], self.seed + index // len(colours)


SMALL = Plan()
FULL = Plan(per_size=35, budget=3600.0, patience=1.0, methods=tuple(METHODS))


@dataclass(frozen=True)
class ExperimentRun:
    """The result of one method on one instance; a row of the log. ``seconds`` and ``budget`` are processor time."""

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
        """The name of the instance, like 7x7-c6-s1: size, colours, seed."""
        return f"{self.size}x{self.size}-c{self.colours}-s{self.seed}"

    @property
    def finished(self) -> bool:
        """Whether the search was complete within its budget."""
        return self.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)

    def describe(self) -> str:
        """Instance, method and result in one line."""
        return f"{self.instance} {self.method}: {self.status}, {self.nodes:,} nodes, {self.seconds:.2f} s"


def instance(size: int, colours: int, seed: int) -> Puzzle:
    """A puzzle of ``size`` x ``size`` cells with uniform colours, its four corners fixed as clues."""
    return uniform(size, size, colours, seed).with_clues(corner_cells(size, size)).puzzle


def finished_runs(plan: Plan, log: Path) -> tuple[list[ExperimentRun], list[tuple[int, int, str]]]:
    """The runs of a plan that a log holds, and (size, colours, method) of those that it lacks.

    Methods are not tried on an instance that neither the reference nor the row scan finished.
    """
    budgets = {plan.budget, plan.budget * plan.patience}
    logged = {
        (run.size, run.colours, run.seed, run.method): run
        for run in csv_records.read(log, ExperimentRun)
        if run.budget in budgets
    }
    rows, missing = [], []
    for size, colours, seed in plan.instances():
        found = [logged.get((size, colours, seed, method)) for method in plan.methods]
        rows += [run for run in found if run is not None]
        hopeless = all(run is not None and not run.finished for run in found[:2])
        missing += [
            (size, colours, method)
            for run, method in zip(found, plan.methods, strict=True)
            if run is None and not hopeless
        ]
    return rows, missing


def run_experiment(plan: Plan, log: Path | None = None) -> Iterator[ExperimentRun]:
    """Run every method on every instance that the reference or the row scan finishes.

    Parameters
    ----------
    plan : Plan
    log : Path, optional
        CSV file of finished runs. Runs that it holds are not repeated; each new run is appended.

    Yields
    ------
    ExperimentRun
        One for each method and instance.

    Raises
    ------
    InputError
        If the log has other columns.
    RuntimeError
        If two methods count different numbers of solutions.
    """
    logged = [] if log is None else csv_records.read(log, ExperimentRun)
    if log is not None:
        csv_records.check_appendable(log)
    finished = {(run.size, run.colours, run.seed, run.method, run.budget): run for run in logged}
    for solver in ("rowscan", "colorpairs"):  # compiled before anything is timed
        solve(instance(3, 2, 1), solver=solver)
    for size, colours, seed in plan.instances():
        puzzle = instance(size, colours, seed)
        runs: list[ExperimentRun] = []
        for method in plan.methods:
            if len(runs) == 2 and not any(run.finished for run in runs):
                break
            chosen = METHODS[method]
            patient = isinstance(chosen, str) and runs[0].finished
            budget = plan.budget * (plan.patience if patient else 1.0)
            run = finished.get((size, colours, seed, method, budget))
            if run is None:
                solver = chosen if isinstance(chosen, str) else "colorpairs"
                options = Options() if isinstance(chosen, str) else chosen
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
