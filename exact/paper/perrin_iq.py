"""IQ Puzzler Pro report (seed 001): which weight finds fillings soonest, what the test of zones saves, large trays.

The report shows its levels as pictures only. Here a level is a filling of the game with all but some pieces taken away,
and a tray is cut as there (`exact.polyominoes.cut`). A node is a placement that was tested, as in the report, whose
search goes on where a cell or a piece has no place left: it counts more of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median

from exact.compare import ComparisonRow
from exact.outcome import SolveStatus
from exact.paper.runs import GAVE_UP, PlannedRun, columns, rounded
from exact.polyominoes.cut import cut
from exact.polyominoes.model import build
from exact.polyominoes.search import RACE, fill, fill_by_library
from exact.polyominoes.shapes import WEIGHTS
from exact.polyominoes.text import IQ_PUZZLER_PRO, parse, render
from exact.polyominoes.tray import BLOCKED, FREE, Tray
from instances.generate.portable_random import PortableRandom

NO_ZONES = "-no-zones"
LIBRARY = "xcover"
METHODS = (RACE, *WEIGHTS, f"descender{NO_ZONES}", LIBRARY)

# (width, height) -> what the report tells of its trays
TRAYS: dict[tuple[int, int], str] = {
    (12, 6): "solved",
    (12, 12): "4,313 in 1 s",
    (16, 10): "37; 6,396 in 5 s",
    (60, 5): "solved",
    (60, 6): "not in 840,000, 15 min",
}
LEVELS: dict[int, str] = {0: "tens of ms", 4: "145, 73 with zones", 8: "25"}
"""Pieces that lie on a level -> what the report tells of its levels, which may be others."""


@dataclass(frozen=True)
class Plan:
    """``per_size`` trays and levels of each kind; ``sizes``: widths; ``seconds`` of processor time for a run, of the
    clock for the library."""

    per_size: int = 10
    seconds: float = 5.0
    sizes: tuple[int, ...] = (11, 12, 16, 60)
    solvers: tuple[str, ...] = METHODS
    seed: int = 1

    @property
    def classes(self) -> list[tuple[str, str]]:
        """Name of each class of trays, and the report's word on it."""
        levels = [(f"game, {lying} lie", told) for lying, told in LEVELS.items() if 11 in self.sizes]
        return levels + [(f"{wide}x{high}", told) for (wide, high), told in TRAYS.items() if wide in self.sizes]


FULL = Plan(per_size=50, seconds=900.0)


def level(lying: int, seed: int) -> Tray:
    """The game with ``lying`` pieces on it that leave some filling."""
    game, draws = parse(IQ_PUZZLER_PRO), PortableRandom(seed)
    names, options = list(game.pieces), build(game)
    while True:  # one piece anywhere, and a filling around it
        option = draws.below(options.options)
        *cells, kind = options.item[options.begin[option] : options.begin[option + 1]].tolist()
        [name] = options.names[kind - options.cells]
        found = fill(Tray(game.filled({name: [game.free[cell] for cell in cells]}), game.pieces), nodes=100_000)
        if found.filling is not None:
            break
    draws.shuffle(names)
    kept = {BLOCKED, *names[:lying]}
    rows = tuple("".join(sign if sign in kept else FREE for sign in row) for row in found.filling)
    return Tray(rows, game.pieces)


def trays(plan: Plan, name: str) -> Iterator[Tray]:
    """Those of a class."""
    seeds = range(plan.seed, plan.seed + plan.per_size)
    if name.startswith("game"):
        yield from (level(int(name.split()[1]), seed) for seed in seeds)
    else:
        width, height = map(int, name.split("x"))
        yield from (cut(width, height, seed)[0] for seed in seeds)


def measure(instance: str, tray: Tray, method: str, seconds: float) -> ComparisonRow:
    """The first filling by a method, as a row. Raises KeyboardInterrupt, as half a run is none."""
    if method == LIBRARY:
        found = fill_by_library(tray, seconds=seconds)
    else:
        weight, zones = method.removesuffix(NO_ZONES), not method.endswith(NO_ZONES)
        found = fill(tray, weight, zones=zones, seconds=seconds, processor=True)
    if found.status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    size = f"{found.options:,} placements"
    return ComparisonRow(instance, method, str(found.status), found.solutions, found.nodes, found.seconds, size=size)


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Each tray of each class by each method."""
    for name, _ in plan.classes:
        for number, tray in enumerate(trays(plan, name), plan.seed):
            digest = sha256(render(tray).encode()).hexdigest()[:12]
            question = f"first filling; {plan.seconds:.12g} s; sha256 {digest}"
            for method in plan.solvers:
                instance = f"{name} s{number}"
                yield PlannedRun(instance, method, question, partial(measure, instance, tray, method, plan.seconds))


def _class(rows: Sequence[ComparisonRow], name: str, method: str) -> list[ComparisonRow]:
    return [row for row in rows if row.solver == method and row.instance.rpartition(" ")[0] == name]


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Placements tested and seconds, medians over the trays of a class; the report's figures in the last column."""
    return (
        f"seed 001: {plan.per_size} trays a class, {plan.seconds:g} s a run; median of the placements tested, and how "
        f"many were not filled in time (report: one tray each)\n{_table(rows, plan, 'nodes')}\n\n"
        f"median milliseconds\n{_table(rows, plan, 'seconds')}"
    )


def _table(rows: Sequence[ComparisonRow], plan: Plan, what: str) -> str:
    methods = [method for method in plan.solvers if not (what == "nodes" and method == LIBRARY)]
    lines = [["tray", *methods, "report"]]
    for name, told in plan.classes:
        line = [name]
        for method in methods:
            found = _class(rows, name, method)
            failed = sum(row.status == GAVE_UP for row in found)
            values = [row.nodes if what == "nodes" else 1000 * row.seconds for row in found]
            if not found:
                line.append("-")
                continue
            middle = f"{median(values):,.0f}" if what == "nodes" else rounded(median(values))
            cut_off = ">" if 2 * failed >= len(found) else ""
            line.append(f"{cut_off}{middle}" + (f" ({failed} not)" if failed else ""))
        lines.append([*line, told])
    return columns(lines)


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Placements tested by class and method, a point a tray."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row.instance.rpartition(" ")[0] for row in rows))
    methods = [method for method in METHODS if method != LIBRARY]
    figure, axes = plt.subplots(figsize=(8, 4))
    for at, method in enumerate(methods):
        found = [(names.index(row.instance.rpartition(" ")[0]), row) for row in rows if row.solver == method]
        axes.plot(
            [place + (at - len(methods) / 2) / (1.5 * len(methods)) for place, _ in found],
            [max(1, row.nodes) for _, row in found],
            ".",
            label=method,
        )
    axes.set(ylabel="placements tested", yscale="log", xticks=range(len(names)), xticklabels=names)
    axes.legend(fontsize="x-small")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
