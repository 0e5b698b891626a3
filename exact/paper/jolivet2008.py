"""Jolivet 2008: sizes of search trees (table 1), difficulty by colours (2), hard instances (3), levels (figure 6).

As in the paper, each tree is searched to its end (all solutions), solutions are counted up to rotation, identical
pieces and equal orientations are told apart, and the empty board is a node. Rotated boards are left out by fixing the
upper left corner of the planted solution; table 2 of the paper implies that it did so too, on rectangles as well. The
paper does not say how its puzzles were made; here the colour of each inner edge is drawn uniformly.

References
----------
T. Jolivet, "Eternity II : puzzles, algorithmique et complexité", ENS de Lyon, 2008, sections
2.1 to 2.3 (methods), 2.4 and 4 (tables).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import stdev

from lns.exact.compare import ComparisonRow
from lns.exact.paper import jolivet2008_searches as searches
from lns.exact.paper.jolivet2008_searches import CODES, random_puzzle, tree
from lns.exact.paper.runs import BUDGET_SPENT, NAN, Plan, PlannedRun, Rows, crossed, mean_of, plot_curves, rounded
from lns.exact.text_table import aligned

METHODS = ("dlx:binary", "zig-zag", "grouping", "dlx")
PARTS = ("paths", "hard", "single", "eternity")  # figure 3, the searches of tables 3 and 4, section 2.5

# (side, colours) -> the paper's means for the three methods; None where it gives none. The paper has two rows "6x6, 8
# colours"; the second one, whose figures continue the series, is taken for 9 colours.
TABLE_1: dict[tuple[int, int], tuple[float | None, float | None, float | None]] = {
    (3, 3): (24, 36, None), (3, 4): (16, 23, None),
    (4, 2): (18474, 79090, 15214), (4, 3): (422, 1578, 209), (4, 4): (111, 203, 50), (4, 5): (53, 83, 20),
    (5, 4): (19320, 62218, None), (5, 5): (1292, 2659, None),
    (6, 6): (75851, 112636, 43163), (6, 7): (7762, 4063, 2077), (6, 8): (3686, 1107, 335), (6, 9): (968, 411, 117),
    (8, 10): (None, 387114, 206123), (8, 11): (None, 23992, 8819), (8, 15): (12420, 863, 150),
    (8, 20): (1608, 279, 30),
    (10, 15): (None, 141085, 43281), (10, 17): (None, 16357, 25358), (10, 20): (None, 3475, 288),
    (10, 25): (18941, 1005, 61),
    (12, 20): (None, 236994, 57477), (12, 25): (None, 13748, 1088), (12, 30): (None, 4484, 92),
    (12, 35): (None, 2180, 64), (12, 60): (5839, 354, 42),
    (16, 30): (None, 2152269, 237045), (16, 35): (None, 358719, 4376), (16, 45): (None, 57130, 144),
    (16, 55): (None, 17309, 88),
}  # fmt: skip
TOO_SLOW = "too slow"  # what the paper has instead of a figure for DLX from 8x8 on

# (width, height) -> the paper's DLX difficulty for 2, 3, ... 9 colours
TABLE_2: dict[tuple[int, int], tuple[int | None, ...]] = {
    (3, 4): (5, 15, 14, 14, 14, 14, 13, 13),
    (4, 4): (6, 36, 30, 29, 26, 24, 23, 21),
    (4, 5): (None, 59, 137, 76, 56, 45, 43, 34),
    (5, 5): (None, 101, 1720, 353, 208, 132, 108, 71),
    (5, 6): (None, None, 12084, 4505, 1426, 564, 354, 177),
    (6, 6): (None, None, None, 369376, 16895, 3528, 1926, 623),
}
_COLOURS = range(2, 10)  # of table 2

# (side, colours) -> (record, mean) of the zig-zag's difficulty
TABLE_3: dict[tuple[int, int], tuple[int, int | None]] = {
    (4, 4): (931, 53), (5, 4): (20304, 2752), (5, 5): (15209, 561), (5, 6): (10832, 214), (6, 6): (1973183, 18904),
    (7, 8): (13866018, 156101), (8, 8): (488081445, None), (8, 10): (67613577, 192861), (10, 14): (10881092, 746794),
}  # fmt: skip

# nodes by level of the paper's hard, easy small and easy large tree
FIGURE_6: tuple[tuple[int, ...], ...] = (
    (1, 1, 2, 6, 9, 33, 104, 146, 80, 126, 121, 51, 24, 18, 10, 5, 1),
    (1, 1, 2, 2, 3, 3, 3, 2, 2, 4, 2, 2, 1, 1, 1, 1, 1),
    (1, 1, 3, 15, 24, 42, 175, 510, 576, 1848, 3760, 3504, 4184, 4384, 2880, 1728, 1728),
)

PLAN = Plan(
    sizes=(3, 4, 5, 6),
    solvers=METHODS + PARTS,
    colours=tuple(sorted({k for _, k in TABLE_1} | set(_COLOURS) | {14})),
    per_size=20,
    nodes=1_000_000,
    slow=3,
    trees=100,
)
FULL = replace(
    PLAN, sizes=(3, 4, 5, 6, 7, 8, 10, 12, 16), per_size=200, nodes=2_000_000_000, slow=10, trees=20_000
)  # fmt: skip
CUT, ESTIMATE = ">", "~"  # put before a mean where trees were cut: it is a lower bound, or an estimate


def _classes(plan: Plan, table: Mapping[tuple[int, int], object]) -> dict[str, tuple[int, int]]:
    """The rows of table 1 or 3 in a plan: label -> (side, colours)."""
    keys = [(side, colours) for side, colours in table if side in plan.sizes and colours in plan.colours]
    return {f"{side}x{side}, {colours} colours": (side, colours) for side, colours in keys}


def _shapes(plan: Plan) -> dict[str, tuple[int, int]]:
    """The rows of table 2 in a plan: label -> (width, height)."""
    return {f"{width}x{height}": (width, height) for width, height in TABLE_2 if max(width, height) in plan.sizes}


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan a run for each puzzle of each class, and those of the parts of `lns.exact.paper.jolivet2008_searches`."""
    wanted = [
        (side, side, colours, method)
        for side, colours in _classes(plan, TABLE_1).values()
        for method in METHODS
        if method != "grouping" or side % 2 == 0
    ]
    for width, height in _shapes(plan).values():
        figures = zip(_COLOURS, TABLE_2[width, height], strict=True)
        known = [colours for colours, figure in figures if figure is not None and colours in plan.colours]
        wanted += [(width, height, colours, "dlx:binary") for colours in known]
    wanted += [(side, side, colours, "zig-zag") for side, colours in _classes(plan, TABLE_3).values()]
    for width, height, colours, method in dict.fromkeys(wanted):
        if method not in plan.solvers:
            continue
        side = max(width, height)
        is_slow = side >= 8 and method in CODES and TABLE_1.get((side, colours), (None,))[0] is None
        for seed in plan.seeds[: plan.slow] if is_slow else plan.seeds:
            name = f"{_name(width, height, colours)}-s{seed}"
            make = partial(_measure, name, (width, height, colours, seed), method, plan.nodes)
            yield PlannedRun(name, method, "all solutions of the uniform puzzle", make, plan.nodes)
    parts: dict[str, Callable[[Plan], Iterator[PlannedRun]]] = {
        "paths": searches.path_runs,
        "hard": partial(searches.hard_runs, classes=_classes(plan, TABLE_3).values()),
        "single": searches.single_runs,
        "eternity": searches.barrier_runs,
    }
    for part, planned in parts.items():
        if part in plan.solvers:
            yield from planned(plan)


def _measure(instance: str, shape: tuple[int, int, int, int], method: str, nodes: int) -> ComparisonRow:
    """Search the tree of `random_puzzle` (``*shape``): its solutions, its nodes and the processor time as a row."""
    search, seconds = tree(random_puzzle(*shape), method, nodes)
    status = "solved" if search.exhausted else BUDGET_SPENT
    return ComparisonRow(instance, method, status, search.solutions, search.nodes, seconds)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of tables 1, 2 and 3 with the paper's figures in brackets, and the nodes by level of three trees.

    The three trees are searched by this function. They are left out if some of the planned rows are missing, as after
    Ctrl-C.
    """
    by_class = Rows(rows)
    parts = [_table_1(by_class, plan), times(by_class, plan), _table_2(by_class, plan), _table_3(by_class, plan)]
    parts.append(_conjecture(by_class))
    if "paths" in plan.solvers:
        parts.append(searches.path_text(by_class))
    if "single" in plan.solvers:
        parts += [searches.single_text(rows), searches.bound_text()]
    if "eternity" in plan.solvers:
        parts.append(searches.barrier_text(rows))
    missing = len(list(runs(plan))) - len(rows)
    parts.append(f"figure 6 d: left out, {missing} runs are missing" if missing else _levels(plan))
    return "\n\n".join(parts)


def _name(width: int, height: int, colours: int) -> str:
    return f"{width}x{height}-c{colours}"


def _mean_and_error(values: Sequence[float], rows: Sequence[ComparisonRow], mark: str) -> str:
    """The mean and its standard error, after ``mark`` if some trees were cut."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else NAN
    is_cut = any(row.status == BUDGET_SPENT for row in rows)
    return f"{mark if is_cut else ''}{rounded(mean_of(values))}±{rounded(error)}"


def _difficulty(rows: Sequence[ComparisonRow]) -> list[float]:
    """Nodes divided by solutions. For a cut tree an estimate from those found, or a lower bound if there is none."""
    return [row.nodes / max(1, row.solutions) for row in rows]


def _table_1(by_class: Rows, plan: Plan) -> str:
    def cell(key: tuple[int, int], method: str) -> str:
        (side, colours), chosen = key, by_class[_name(key[0], *key), method]
        paper = dict(zip(METHODS, TABLE_1[side, colours], strict=False)).get(method)
        known = rounded(paper) if paper is not None else TOO_SLOW if method == "dlx:binary" else ""
        text = _mean_and_error([row.nodes for row in chosen], chosen, CUT) if chosen else "-"
        return f"{text} ({known})" if chosen and known else text

    text = crossed("mean nodes", _classes(plan, TABLE_1), dict(zip(METHODS, METHODS, strict=True)), cell)
    return f"Jolivet 2008, table 1: {plan.per_size} puzzles for each class (the paper's means)\n{text}"


def times(by_class: Rows, plan: Plan) -> str:
    """Section 2.4: mean seconds of the trees of table 1. Rows without a time, of old files, are left out."""

    def cell(key: tuple[int, int], method: str) -> str:
        seconds = mean_of([row.seconds for row in by_class[_name(key[0], *key), method] if row.seconds >= 0])
        return "-" if seconds != seconds else f"{seconds:.4f}"

    text = crossed("mean seconds", _classes(plan, TABLE_1), dict(zip(METHODS, METHODS, strict=True)), cell)
    return f"section 2.4: processor time of a tree, with the matrix or the list of blocks\n{text}"


def _table_2(by_class: Rows, plan: Plan) -> str:
    def cell(shape: tuple[int, int], colours: int) -> str:
        chosen, figure = by_class[_name(*shape, colours), "dlx:binary"], TABLE_2[shape][colours - _COLOURS[0]]
        known = figure is not None and bool(chosen)
        return f"{_mean_and_error(_difficulty(chosen), chosen, ESTIMATE)} ({figure})" if known else "-"

    columns = {str(colours): colours for colours in _COLOURS}
    text = crossed("dlx:binary nodes / solutions", _shapes(plan), columns, cell)
    return f"table 2: mean difficulty by number of colours\n{text}"


def _table_3(by_class: Rows, plan: Plan) -> str:
    lines = [["zig-zag nodes / solutions", "hardest drawn", "hardest searched", "mean"]]
    for label, key in _classes(plan, TABLE_3).items():
        drawn, searched = (by_class[_name(key[0], *key), method] for method in ("zig-zag", "hard"))
        record, average = TABLE_3[key]
        if drawn or searched:
            hardest = [rounded(max(_difficulty(found), default=NAN)) for found in (drawn, searched)]
            mean = _mean_and_error(_difficulty(drawn), drawn, ESTIMATE) if drawn else "-"
            lines.append([label, hardest[0], f"{hardest[1]} ({record})", f"{mean} ({average or '-'})"])
    return "table 3: the hardest found and the mean (the paper's)\n" + aligned(lines)


def _conjecture(by_class: Rows) -> str:
    """Section 5.2: solutions by colours, the puzzles with a single one, and the colours of the most difficult class.

    The paper conjectures that single solutions begin where the difficulty does.
    """
    lines = [["mean solutions, dlx:binary", *map(str, _COLOURS), "first single", "peak"]]
    for width, height in TABLE_2:
        line, single, difficulty = [f"{width}x{height}"], "-", {}
        for colours in _COLOURS:
            of_class = by_class[_name(width, height, colours), "dlx:binary"]
            chosen = [row for row in of_class if row.status != BUDGET_SPENT]
            line.append(rounded(mean_of([row.solutions for row in chosen])))
            alone = sum(row.solutions == 1 for row in chosen)
            if alone and single == "-":
                single = f"{colours} ({alone} of {len(chosen)})"
            if chosen:
                difficulty[colours] = mean_of(_difficulty(chosen))
        peak = max(difficulty, key=difficulty.__getitem__) if difficulty else "-"
        lines.append([*line, single, str(peak)])
    return "section 5.2: mean solutions by colours (the paper at 4x4: 7000 with 2, 40 with 3)\n" + aligned(lines)


def _levels(plan: Plan) -> str:
    """The text of figure 6 d: nodes by level of the zig-zag for a hard, an easy small and an easy large 4x4 tree."""
    puzzles = [random_puzzle(4, 4, colours, seed) for colours in (2, 4, 7) for seed in plan.seeds]
    trees = [tree(puzzle, "zig-zag", plan.nodes)[0] for puzzle in puzzles]
    complete = [search for search in trees if search.exhausted]
    if not complete:
        return f"figure 6 d: no 4x4 tree ended within {plan.nodes:,} nodes"
    hard = max(complete, key=lambda search: search.nodes / search.solutions)
    small, large = min(complete, key=lambda search: search.nodes), max(complete, key=lambda search: search.nodes)
    counts = [search.state.per_level.tolist() for search in (hard, small, large)]
    named = [(str(level), *figures) for level, figures in enumerate(zip(*counts, *FIGURE_6, strict=True))]
    named.append(("nodes", *map(sum, counts), *map(sum, FIGURE_6)))
    lines = [["level", "hard", "easy, small", "easy, large"]]
    lines += [[name, *(f"{figures[at]:,} ({figures[at + 3]:,})" for at in range(3))] for name, *figures in named]
    head = "figure 6 d: nodes by level, 4x4; the last level holds the solutions (the paper's in brackets)\n"
    return head + aligned(lines)


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Draw table 2, the phase transition, to the image file ``path``. Needs matplotlib."""
    by_class = Rows(rows)
    curves: dict[str, dict[int, float]] = {}
    for width, height in TABLE_2:
        for colours in _COLOURS:
            if values := _difficulty(by_class[_name(width, height, colours), "dlx:binary"]):
                curves.setdefault(f"{width}x{height}", {})[colours] = mean_of(values)
    plot_curves(path, curves, "colours", "DLX nodes / solutions, mean")
