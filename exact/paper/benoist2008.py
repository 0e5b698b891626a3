"""Repeat tables 1 to 3 of Benoist & Bourreau 2008, section 6: ColorPairs, its variants, and other methods.

The colour of every inner edge is drawn uniformly from 1..K, and the four corner pieces are clues. The paper does not
say which K it used; `COLOURS` has, for each side, two values of K for which puzzles are neither trivial nor out of
reach.

References
----------
T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import geometric_mean, mean

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.compare import ComparisonRow, Runs
from lns.exact.execution import Request
from lns.exact.paper.runs import Plan, solver_run
from lns.exact.text_table import markdown
from lns.instances.generate import corner_cells, uniform
from lns.instances.puzzle import Puzzle

ROW_SCAN, REFERENCE = "row scan", "ColorPairs"
MIN_OFFER = "MinOffer"  # ColorPairs with the heuristic MinOffer: what the paper compares variants to
_MIN_OFFER = Options(heuristic=Heuristic.MIN_OFFER)
METHODS: dict[str, Options | str] = {  # title in tables -> options of ColorPairs, or name of another solver
    REFERENCE: Options(),
    ROW_SCAN: "rowscan",
    "without backjumping": Options(backjumping=False),
    "without preemption": Options(preemption=False),
    "with shaving": Options(shaving=True),
    "with quick shaving": Options(quick_shaving=True),
    "with bounds of 4.2": Options(shared_edges=True, cycles=True),
    "with single colours": Options(single_colours=True),
    "without motifs 3, 4": Options(motifs=False),
    MIN_OFFER: _MIN_OFFER,
    "MinOffer, random cell": replace(_MIN_OFFER, random_cell=True),
    "MinOffer without backjumping": replace(_MIN_OFFER, backjumping=False),
    "MinOffer without preemption": replace(_MIN_OFFER, preemption=False),
    "MinOffer with shaving": replace(_MIN_OFFER, shaving=True),
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
Instance = Mapping[str, ComparisonRow]
"""The results on one puzzle: title of the method -> row."""
PLAN = Plan(tuple(COLOURS), WITHOUT_CP, per_size=3, seconds=8.0, patience=12.0)
FULL = Plan(tuple(COLOURS), tuple(METHODS), per_size=35, seconds=3600.0)


def instance(size: int, colours: int, seed: int) -> Puzzle:
    """Return a puzzle of ``size`` x ``size`` cells with uniformly drawn colours; its corner pieces are clues."""
    return uniform(size, size, colours, seed).with_clues(corner_cells(size, size)).puzzle


def runs(plan: Plan) -> Runs:
    """Yield a planned run of each method on each puzzle. Puzzles of a size alternate between two numbers of colours.

    If `REFERENCE` and `ROW_SCAN` ran and neither finished a puzzle, the methods after them skip it. If `REFERENCE`
    finished it, solvers other than ColorPairs get ``plan.patience`` times the seconds. Raises RuntimeError if two
    methods that finished count different numbers of solutions.
    """
    for size, index in product(plan.sizes, range(plan.per_size)):
        colours, seed = COLOURS[size][index % 2], plan.seed + index // 2
        puzzle, name = instance(size, colours, seed), f"{size}x{size}-c{colours}-s{seed}"
        done: dict[str, ComparisonRow] = {}
        for method in plan.solvers:
            first_two = [done.get(REFERENCE), done.get(ROW_SCAN)]
            if method not in (REFERENCE, ROW_SCAN) and all(row and not row.is_finished for row in first_two):
                continue
            chosen = METHODS[method]
            solver, options = (chosen, Options()) if isinstance(chosen, str) else ("colorpairs", chosen)
            patient = isinstance(chosen, str) and _has(done, REFERENCE)
            seconds = plan.seconds * (plan.patience if patient else 1.0)
            request = Request(count_all=True, seconds=seconds, options=options)
            question = f"all solutions; {seconds!r} s"
            row = yield solver_run(name, puzzle, solver, request, label=method, question=question)
            if row is not None:
                done[method] = row
            counts = {each.solutions for each in done.values() if each.is_finished}
            if len(counts) > 1:
                raise RuntimeError(f"methods disagree on the solutions of {name}: {sorted(counts)}")


# -- tables -----------------------------------------------------------------------------------------------------------

CLASSES = {
    "< 1 s": (0.0, 1.0),
    "1 s to 10 s": (1.0, 10.0),
    "10 s to 3 min": (10.0, 180.0),
    "3 min to 1 h": (180.0, 3600.0),
}
"""Class of puzzles -> range of the seconds of the fastest method (see `best_time`), the upper end excluded."""
# Nodes and time of the row scan divided by those of ColorPairs, by class. First the figures of the paper's table 2:
# arithmetic means over the puzzles that the row scan finished, as rows 1-4, 5-19 and 20-31 of the paper's table 1 show.
# Then the geometric means over the rows of each class.
TABLE_2 = {
    "nodes": (("4.3", "1760", "2720", "-"), ("2.9", "377", "407", "321")),
    "time": (("-", "13.4", "23.8", "-"), ("-", "2.9", "3.5", "2.7")),
}
TABLE_3 = {
    "MinExpectedOffer": {"time": ("25%", "18%", "15%", "7%"), "nodes": ("25%", "24%", "24%", "18%")},
    REFERENCE: {"time": ("29%", "19%", "45%", "29%"), "nodes": ("28%", "33%", "52%", "39%")},
    "MinExpectedRatio": {"time": ("14%", "18%", "39%", "23%"), "nodes": ("24%", "27%", "47%", "34%")},
    "MaxExpectedFiltering": {},
}
# method -> the paper's change of total nodes and of total time, then the geometric mean change of nodes and of time
# computed from the rows of its table 1; empty where the paper has none. For shaving the paper does not say of what its
# figures are changes. Methods "MinOffer..." are compared with MinOffer, "with..." with the default, MinExpectedGap.
_PARTS = {
    "MinOffer without backjumping": ("+51%", "+32%", "+62%", "+41%"),
    "MinOffer without preemption": ("+24%", "-6%", "+23%", "-13%"),
    "MinOffer with shaving": ("-78%", "-66%", "", ""),
    "MinOffer, random cell": ("",) * 4,
    **{method: ("",) * 4 for method in METHODS if method.startswith("with")},
    "with bounds of 4.2": ("about -2%", "", "", ""),
}
_NAMES = {REFERENCE: "MinExpectedGap"}
FIELDS = {"nodes": "nodes", "time": "seconds"}
# the methods of the paper's table 1, and the default; the fastest of them decides the class of a puzzle
_TIMED = (ROW_SCAN, REFERENCE, MIN_OFFER, "MinOffer without backjumping", "MinOffer without preemption")

Pairs = Sequence[tuple[ComparisonRow, ComparisonRow]]
Mean = Callable[[list[float]], float]


def tables(rows: Iterable[ComparisonRow], plan: Plan) -> str:
    """Return all tables as Markdown text; puzzles that no method finished are left out."""
    rows = list(rows)
    drawn, kept = {row.instance for row in rows}, finished(rows)
    return "\n\n".join([
        f"{len(drawn)} instances, {len(kept)} finished by some method; {plan.seconds:g} s of processor time for each "
        f"method ({plan.seconds * plan.patience:g} s for the row scan where ColorPairs finishes); seed {plan.seed}.",
        "**Table 1. Results** (seconds / million nodes; `>` = budget spent)",
        _table_1(kept),
        "**Table 2. ColorPairs against the row scan**, with MinOffer as in the paper and with MinExpectedGap (in "
        "brackets: instances; ≥: the row scan did not finish some; the other means: instances that both finish)",
        _table_2(kept),
        "**Parts of ColorPairs** (change against MinOffer, in the other rows against the default, MinExpectedGap, over "
        "instances that both finish: of the sums, and geometric means; in brackets the paper's)",
        _parts(kept),
        "**Table 3. Heuristics against MinOffer** (time and nodes saved)",
        _table_3(kept),
    ])  # fmt: skip


def finished(rows: Iterable[ComparisonRow]) -> list[Instance]:
    """Return the results on each puzzle that at least one method finished, sorted by `best_time`."""
    drawn: dict[str, dict[str, ComparisonRow]] = {}
    for row in rows:
        drawn.setdefault(row.instance, {})[row.solver] = row
    return sorted((done for done in drawn.values() if any(row.is_finished for row in done.values())), key=best_time)


def best_time(done: Instance) -> float:
    """Return the seconds of the fastest method of `_TIMED` that finished a puzzle; infinite if none finished."""
    return min((done[method].seconds for method in _TIMED if _has(done, method)), default=math.inf)


def ratio(pairs: Pairs, what: str, average: Mean = geometric_mean) -> float | None:
    """Return the mean ratio of ``what``, "nodes" or "seconds", of the first to the second rows; None without pairs."""
    ratios = [max(getattr(a, what), 1e-5) / max(getattr(b, what), 1e-5) for a, b in pairs]
    return average(ratios) if ratios else None


def of_sums(pairs: Pairs, what: str) -> float | None:
    """Return the sum of ``what`` over the first rows, divided by the sum over the second rows; None without pairs."""
    first, second = (sum(getattr(pair[at], what) for pair in pairs) for at in (0, 1))
    return float(first / max(second, 1e-5)) if pairs else None


def _has(done: Instance, method: str) -> bool:
    return method in done and done[method].is_finished


def both(kept: Sequence[Instance], a: str, b: str) -> Pairs:
    return [(done[a], done[b]) for done in kept if _has(done, a) and _has(done, b)]


def by_class(kept: Sequence[Instance]) -> list[list[Instance]]:
    return [[done for done in kept if low <= best_time(done) < high] for low, high in CLASSES.values()]


def _beside(own: Sequence[str], paper: Sequence[str], before: str = "") -> list[str]:
    """Return the entries ``own``, each followed in brackets by ``before`` and the paper's entry if there is one."""
    return [f"{entry} ({before}{known})" if known else entry for entry, known in zip(own, paper, strict=True)]


def _table_1(kept: Sequence[Instance]) -> str:
    by_library = [name for name in METHODS if name.startswith("CP") and any(name in done for done in kept)]
    methods, lines = [*_TIMED, "MinOffer with shaving", *by_library], []
    for done in kept:
        first = next(row for row in done.values() if row.is_finished)
        lines.append([first.instance, str(first.solutions)])
        for row in map(done.get, methods):
            mark = "" if row is None or row.is_finished else ">"
            lines[-1].append("" if row is None else f"{mark}{row.seconds:.2f} / {row.nodes / 1e6:.3f}")
    return markdown(["instance", "solutions", *methods], lines)


def _table_2(kept: Sequence[Instance]) -> str:
    def entry(pairs: Pairs, field: str, average: Mean = geometric_mean, before: str = "") -> str:
        value = ratio(pairs, field, average)
        return "-" if value is None else f"{before}{value:.3g} ({len(pairs)})"

    averages: dict[str, Mean] = {"arithmetic": mean, "geometric": geometric_mean}
    lines = []
    for method, (what, field) in product((MIN_OFFER, REFERENCE), FIELDS.items()):
        name = f"{_NAMES.get(method, method)}: {what}"
        tried = [[(done[ROW_SCAN], done[method]) for done in of_class if _has(done, method) and ROW_SCAN in done]
                 for of_class in by_class(kept)]  # fmt: skip
        ended = [[pair for pair in pairs if pair[0].is_finished] for pairs in tried]
        over_all = [entry(pairs, field, before="≥ " * (pairs != own)) for pairs, own in zip(tried, ended, strict=True)]
        lines.append([f"{name} divided by, geometric mean over all", *over_all])
        for (kind, average), paper in zip(averages.items(), TABLE_2[what], strict=True):
            means = [entry(pairs, field, average) for pairs in ended]
            lines.append([f"{name}, {kind} mean", *(_beside(means, paper, "paper ") if method == MIN_OFFER else means)])
    return markdown(["when the best takes", *CLASSES], lines)


def _parts(kept: Sequence[Instance]) -> str:
    lines = []
    for method, paper in _PARTS.items():
        pairs = both(kept, method, MIN_OFFER if method.startswith(MIN_OFFER) else REFERENCE)
        changes = [compared(pairs, field) for compared in (of_sums, ratio) for field in FIELDS.values()]
        cells = ["-" if change is None else f"{change - 1:+.0%}" for change in changes]
        lines.append([method, *_beside(cells, paper), str(len(pairs))])
    return markdown(["", "all nodes", "all time", "nodes, geometric mean", "time, geometric mean", "instances"], lines)


def _table_3(kept: Sequence[Instance]) -> str:
    lines = []
    for (method, paper), what in product(TABLE_3.items(), ("time", "nodes")):
        values = [ratio(both(of_class, method, MIN_OFFER), FIELDS[what]) for of_class in by_class(kept)]
        cells = ["-" if value is None else f"{1 - value:.0%}" for value in values]
        known = paper.get(what, [""] * 4)
        lines.append([f"{_NAMES.get(method, method)}, {what} saved", *_beside(cells, known, "paper ")])
    return markdown(["when the best takes", *CLASSES], lines)
