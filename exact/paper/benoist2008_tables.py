"""Tables 1, 2 and 3 of Benoist & Bourreau 2008 from a list of runs, beside the figures of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from exact.paper.benoist2008 import METHODS, REFERENCE, ROW_SCAN, ExperimentRun, Plan
from lns_support.text_table import markdown

# (label, from, to): seconds that the fastest method took on an instance
CLASSES = (
    ("< 1 s", 0.0, 1.0),
    ("1 s to 10 s", 1.0, 10.0),
    ("10 s to 3 min", 10.0, 180.0),
    ("3 min to 1 h", 180.0, 3600.0),
)
PAPER_REFERENCE = "MinOffer"  # the paper's reference has no heuristic of its own
# First entry: the paper's figures, arithmetic means of ratios over the instances that its backtracker finished, as rows
# 1-4, 5-19 and 20-31 of its table 1 show. Second entry: the geometric means of the same rows.
_TABLE_2 = {
    "nodes": (("4.3", "1760", "2720", "-"), ("2.9", "377", "407", "321")),
    "time": (("-", "13.4", "23.8", "-"), ("-", "2.9", "3.5", "2.7")),
}
_TABLE_3 = {
    "MinExpectedOffer": {"time": ("25%", "18%", "15%", "7%"), "nodes": ("25%", "24%", "24%", "18%")},
    REFERENCE: {"time": ("29%", "19%", "45%", "29%"), "nodes": ("28%", "33%", "52%", "39%")},
    "MinExpectedRatio": {"time": ("14%", "18%", "39%", "23%"), "nodes": ("24%", "27%", "47%", "34%")},
    "MaxExpectedFiltering": {},
}
# method -> (the method that it is compared with; the paper's changes of all nodes, of all time, and the geometric means
# of its table 1: of nodes, of time). The paper's 51%, 24% and 30% are changes of the totals, as its table 1 shows; it
# does not say which means its figures of shaving are. The parts are measured with the default, MinExpectedGap, too.
_NO_FIGURES = ("", "", "", "")
_ABLATIONS = {
    "MinOffer without backjumping": (PAPER_REFERENCE, ("+51%", "+32%", "+62%", "+41%")),
    "MinOffer without preemption": (PAPER_REFERENCE, ("+24%", "-6%", "+23%", "-13%")),
    "MinOffer with shaving": (PAPER_REFERENCE, ("-78%", "-66%", "", "")),
    "MinOffer, random cell": (PAPER_REFERENCE, _NO_FIGURES),
    "without backjumping": (REFERENCE, _NO_FIGURES),
    "without preemption": (REFERENCE, _NO_FIGURES),
    "with shaving": (REFERENCE, _NO_FIGURES),
    "with quick shaving": (REFERENCE, _NO_FIGURES),
    "with bounds of 4.2": (REFERENCE, ("about -2%", "", "", "")),
    "with single colours": (REFERENCE, _NO_FIGURES),
    "without motifs 3, 4": (REFERENCE, _NO_FIGURES),
}
_TABLE_1_PARTS = ("without backjumping", "without preemption", "with shaving")
_NAMES = {REFERENCE: "MinExpectedGap"}

Table = dict[str, dict[str, ExperimentRun]]  # instance -> method -> run


def tables(runs: Iterable[ExperimentRun], plan: Plan) -> str:
    """All tables as Markdown text.

    Parameters
    ----------
    runs : iterable of ExperimentRun
        Instances that no method finished are left out of the tables.
    plan : Plan
        The plan of the runs, for the caption.
    """
    table: Table = {}
    for run in runs:
        table.setdefault(run.instance, {})[run.method] = run
    drawn = len(table)
    table = {name: row for name, row in table.items() if any(run.finished for run in row.values())}
    order = sorted(table, key=lambda name: best_time(table[name]))
    kept = [table[name] for name in order]
    parts = [
        f"{drawn} instances, {len(kept)} finished by some method; {plan.budget:g} s of processor time for each method "
        f"({plan.budget * plan.patience:g} s for the row scan where ColorPairs finishes); seed {plan.seed}.",
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
    ]
    return "\n\n".join(parts)


def best_time(row: dict[str, ExperimentRun]) -> float:
    """Seconds of the fastest method that finished, of those in the paper's table 1 and the default."""
    timed = (PAPER_REFERENCE, REFERENCE, ROW_SCAN, "MinOffer without backjumping", "MinOffer without preemption")
    return min((run.seconds for method, run in row.items() if method in timed and run.finished), default=math.inf)


def ratio(pairs: Sequence[tuple[ExperimentRun, ExperimentRun]], what: str) -> float | None:
    """The geometric mean of first over second, of "nodes" or "seconds" (``what``); None without pairs."""
    if not pairs:
        return None
    logs = [math.log(max(getattr(a, what), 1e-5) / max(getattr(b, what), 1e-5)) for a, b in pairs]
    return math.exp(sum(logs) / len(logs))


def arithmetic(pairs: Sequence[tuple[ExperimentRun, ExperimentRun]], what: str) -> float | None:
    """The arithmetic mean of the same ratios, which the paper uses; None without pairs."""
    if not pairs:
        return None
    return float(sum(max(getattr(a, what), 1e-5) / max(getattr(b, what), 1e-5) for a, b in pairs) / len(pairs))


def of_sums(pairs: Sequence[tuple[ExperimentRun, ExperimentRun]], what: str) -> float | None:
    """The sum of the first over the sum of the second; None without pairs."""
    if not pairs:
        return None
    return float(sum(getattr(a, what) for a, _ in pairs) / max(sum(getattr(b, what) for _, b in pairs), 1e-5))


def _both(rows: Sequence[dict[str, ExperimentRun]], a: str, b: str) -> list[tuple[ExperimentRun, ExperimentRun]]:
    return [(row[a], row[b]) for row in rows if _finished(row, a) and _finished(row, b)]


def _in_class(rows: Sequence[dict[str, ExperimentRun]], low: float, high: float) -> list[dict[str, ExperimentRun]]:
    return [row for row in rows if low <= best_time(row) < high]


def _table_1(rows: Sequence[dict[str, ExperimentRun]]) -> str:
    methods = [ROW_SCAN, REFERENCE, PAPER_REFERENCE, *(f"{PAPER_REFERENCE} {part}" for part in _TABLE_1_PARTS)]
    methods += [method for method in METHODS if method.startswith("CP") and any(method in row for row in rows)]
    lines = []
    for row in rows:
        cells = []
        for method in methods:
            run = row.get(method)
            cells.append(
                "" if run is None else f"{'' if run.finished else '>'}{run.seconds:.2f} / {run.nodes / 1e6:.3f}"
            )
        first = next(run for run in row.values() if run.finished)
        lines.append([first.instance, str(first.solutions), *cells])
    return markdown(["instance", "solutions", *methods], lines)


def _table_2(rows: Sequence[dict[str, ExperimentRun]]) -> str:
    lines = []
    for method in (PAPER_REFERENCE, REFERENCE):
        for what, field in (("nodes", "nodes"), ("time", "seconds")):
            means: list[list[str]] = [[], [], []]
            for _, low, high in CLASSES:
                inside = [row for row in _in_class(rows, low, high) if _finished(row, method) and ROW_SCAN in row]
                both = _both(inside, ROW_SCAN, method)
                geometric = ratio([(row[ROW_SCAN], row[method]) for row in inside], field)
                at_least = "" if len(both) == len(inside) else "≥ "
                means[0].append("-" if geometric is None else f"{at_least}{geometric:.3g} ({len(inside)})")
                for place, value in ((1, arithmetic(both, field)), (2, ratio(both, field))):
                    means[place].append("-" if value is None else f"{value:.3g} ({len(both)})")
            name = f"{_NAMES.get(method, method)}: {what}"
            lines.append([f"{name} divided by, geometric mean over all", *means[0]])
            if method == PAPER_REFERENCE:
                means[1:] = (
                    list(map(_beside, own, paper)) for own, paper in zip(means[1:], _TABLE_2[what], strict=True)
                )
            lines.append([f"{name}, arithmetic mean", *means[1]])
            lines.append([f"{name}, geometric mean", *means[2]])
    return markdown(["when the best takes", *(label for label, _, _ in CLASSES)], lines)


def _finished(row: dict[str, ExperimentRun], method: str) -> bool:
    return method in row and row[method].finished


def _beside(own: str, paper: str) -> str:
    return f"{own} (paper {paper})"


def _parts(rows: Sequence[dict[str, ExperimentRun]]) -> str:
    lines = []
    for method, (reference, paper) in _ABLATIONS.items():
        pairs = _both(rows, method, reference)
        changes = [mean(pairs, what) for mean in (of_sums, ratio) for what in ("nodes", "seconds")]
        cells = [f"{_change(own)}{f' ({known})' if known else ''}" for own, known in zip(changes, paper, strict=True)]
        lines.append([method, *cells, str(len(pairs))])
    return markdown(["", "all nodes", "all time", "nodes, geometric mean", "time, geometric mean", "instances"], lines)


def _table_3(rows: Sequence[dict[str, ExperimentRun]]) -> str:
    lines = []
    for method, paper in _TABLE_3.items():
        for what, field in (("time", "seconds"), ("nodes", "nodes")):
            cells = []
            for index, (_, low, high) in enumerate(CLASSES):
                value = ratio(_both(_in_class(rows, low, high), method, PAPER_REFERENCE), field)
                saved = "-" if value is None else f"{1 - value:.0%}"
                cells.append(saved + (f" (paper {paper[what][index]})" if paper else ""))
            lines.append([f"{_NAMES.get(method, method)}, {what} saved", *cells])
    return markdown(["when the best takes", *(label for label, _, _ in CLASSES)], lines)


def _change(value: float | None) -> str:
    return "-" if value is None else f"{value - 1:+.0%}"


assert all(method in METHODS for method in (*_ABLATIONS, *_TABLE_3))
