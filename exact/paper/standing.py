"""Summarize how far the papers' tables are reproduced: the papers' figures, ours from the rows so far, missing runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import geometric_mean
from typing import NamedTuple

from lns.exact.compare import ComparisonRow
from lns.exact.paper import bailleux2025, benoist2008, cuvillier2010, jolivet2008, perrin_iq
from lns.exact.paper.runs import NAN, Rows, grouped, mean_of, rounded, times
from lns.exact.text_table import markdown

_NAMED = 3  # number of classes with missing runs that a line names at most; the others are only counted


class Cell(NamedTuple):
    """A class of instances in a table of a paper, with the paper's figure and ours."""

    table: str
    name: str
    paper: float | None  # the paper's figure; None = it has none for this class
    ours: float  # our figure; NaN = not measured
    rows: Sequence[ComparisonRow]
    instances: int  # number of instances that a complete experiment has in this class


def standing(rows: Mapping[str, Iterable[ComparisonRow]]) -> str:
    """Return a Markdown table with a line for each table of the papers.

    ``rows``: paper -> result rows. Of those of one instance and solver only one counts: the fastest that finished, if
    any, else the fastest.
    """
    lines = []
    for name, cells in _CELLS.items():
        best: dict[tuple[str, str], ComparisonRow] = {}
        for row in sorted(rows.get(name, ()), key=lambda row: (not row.is_finished, row.seconds)):
            best.setdefault((row.instance, row.solver), row)
        tables: dict[str, list[Cell]] = {}
        for cell in cells(grouped(best.values())):
            tables.setdefault(cell.table, []).append(cell)
        lines += [[name, table, *_line(of_table)] for table, of_table in tables.items()]
    header = ["paper", "table", "classes", "instances", "largest class measured: the paper's, ours"]
    return markdown([*header, "ours / the paper's, geometric mean", "hours", "open"], lines)


def _line(cells: Sequence[Cell]) -> list[str]:
    measured = [cell for cell in cells if cell.rows]
    compared = [cell for cell in measured if cell.paper and cell.ours > 0]
    lacking = [f"{cell.name} ({len(cell.rows)})" for cell in cells if len(cell.rows) < cell.instances]
    largest = compared[-1] if compared else None
    return [
        f"{len(measured)} of {len(cells)}",
        f"{sum(len(cell.rows) for cell in cells):,} of {sum(cell.instances for cell in cells):,}",
        f"{largest.name}: {rounded(largest.paper or NAN)}, {rounded(largest.ours)}" if largest else "-",
        rounded(geometric_mean(cell.ours / (cell.paper or NAN) for cell in compared)) if compared else "-",
        f"{sum(max(0.0, row.seconds) for cell in cells for row in cell.rows) / 3600:.2f}",
        ", ".join(lacking[:_NAMED]) + f" and {len(lacking) - _NAMED} more" * (len(lacking) > _NAMED) or "-",
    ]


def _bailleux(rows: Rows) -> Iterator[Cell]:
    for encoding, figures in bailleux2025.PAPER.items():
        for n, (*_, seconds) in figures.items():
            chosen = rows[f"balanced-torus-{n}x{n}-c{n}", f"sat:{encoding}"]
            yield Cell(f"4 to 7, {encoding}: seconds", f"{n}x{n}", seconds, mean_of(times(chosen)), chosen, 100)


def _benoist(rows: Rows) -> Iterator[Cell]:
    """Yield the classes of tables 2 and 3: geometric means of nodes or seconds divided by those of MinOffer."""
    classes = benoist2008.by_class(benoist2008.finished(row for chosen in rows.values() for row in chosen))
    means: dict[str, tuple[str, str, Sequence[str]]] = {}
    for field, (_, geometric) in benoist2008.TABLE_2.items():
        means[f"2, {field}: row scan / MinOffer"] = benoist2008.ROW_SCAN, field, geometric
    for method, saved in benoist2008.TABLE_3.items():
        means |= {f"3, {field}: {method} / MinOffer": (method, field, figures) for field, figures in saved.items()}
    for table, (method, field, printed) in means.items():
        for name, done, paper, instances in zip(benoist2008.CLASSES, classes, printed, (4, 15, 12, 1), strict=True):
            pairs = benoist2008.both(done, method, benoist2008.MIN_OFFER)
            ours = benoist2008.ratio(pairs, benoist2008.FIELDS[field])
            yield Cell(table, name, _number(paper), NAN if ours is None else ours, [row for _, row in pairs], instances)


def _number(text: str) -> float | None:
    """Return a printed figure as a number, None for "-"; a percentage saved (25%) becomes the share left (0.75)."""
    if text == "-":
        return None
    return 1 - float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _cuvillier(rows: Rows) -> Iterator[Cell]:
    method_of = {table: method for method, (_, _, _, table) in reversed(cuvillier2010.METHODS.items())}
    for table, figures in cuvillier2010.PAPER.items():
        for size, colours in sorted((size, colours) for colours, sizes in figures.items() for size in sizes):
            seconds, solved = figures[colours][size]
            chosen = rows[f"{size}-c{colours}", method_of[table]]
            name, mean = f"{size} pieces, {colours} colours", mean_of(times(chosen))
            paper = seconds / solved if solved else None
            yield Cell(f"{table}, {method_of[table]}: seconds of a solved puzzle", name, paper, mean, chosen, 100)


def _jolivet(rows: Rows) -> Iterator[Cell]:
    full = jolivet2008.FULL.per_size

    def cell(table: str, shape: tuple[int, int, int], method: str, paper: float | None, *, nodes: bool) -> Cell:
        chosen = rows["{}x{}-c{}".format(*shape), method]
        values = [row.nodes for row in chosen] if nodes else jolivet2008.difficulty(chosen)
        return Cell(table, "{}x{}, {} colours".format(*shape), paper, mean_of(values), chosen, full)

    for at, method in enumerate(jolivet2008.METHODS[:3]):
        for (side, colours), means in jolivet2008.TABLE_1.items():
            if means[at] is not None:
                yield cell(f"1, {method}: nodes", (side, side, colours), method, means[at], nodes=True)
    for shape, figures in jolivet2008.TABLE_2.items():
        for colours, figure in enumerate(figures, 2):
            if figure is not None:
                yield cell("2: difficulty", (*shape, colours), "dlx:binary", figure, nodes=False)
    for (side, colours), (_, mean) in jolivet2008.TABLE_3.items():
        yield cell("3: mean difficulty", (side, side, colours), "zig-zag", mean, nodes=False)
    for shape, bound in jolivet2008.TABLE_4.items():
        name = "{}x{}".format(*shape)
        of_shape = [row for (each, method), chosen in rows.items() if method == "single" for row in chosen
                    if each.startswith(f"{name}-c")]  # fmt: skip
        found = min((int(row.instance.split("-c")[1]) for row in of_shape if row.solutions == 1), default=NAN)
        yield Cell("4: colours of a single solution", name, bound, found, of_shape[:1], 1)


def _perrin(rows: Rows) -> Iterator[Cell]:
    for shape in perrin_iq.GRIDS:
        name = "{}x{}".format(*shape)
        yield Cell("VI: grids, final version", name, None, NAN, rows[name, "descender-no-dead-ends"], 1)


_CELLS = {
    "benoist2008": _benoist,
    "perrin_iq": _perrin,
    "bailleux2025": _bailleux,
    "jolivet2008": _jolivet,
    "cuvillier2010": _cuvillier,
}
