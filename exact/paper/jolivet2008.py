"""Repeat tables 1 to 5 of Jolivet 2008: sizes of search trees, difficulty by colours, hard and single-solution puzzles.

Figures 3 (paths) and 6 d (nodes by level) and sections 2.4 (times) and 2.5 (estimates) are repeated too.
`lns.exact.paper.design` says how the nodes of a tree are counted. Rotated copies of a solution are excluded by fixing
the upper left corner piece of the planted solution; table 2 of the paper implies that the paper did the same, on
rectangles too. The paper does not say how its puzzles were made; here the colour of each inner edge is drawn uniformly.
The note of a result row keeps the puzzle that a search found, as a text of colours that `design.joints_of` reads.

References
----------
T. Jolivet, "Eternity II : puzzles, algorithmique et complexité", ENS de Lyon, 2008, sections
2.1 to 2.3 (methods, figure 3), 2.4, 2.5, 4 (tables 1 to 3) and 5.2 (tables 4 and 5).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import comb
from statistics import stdev

import numpy as np

from lns.exact.blocks import count_inner_blocks
from lns.exact.compare import ComparisonRow, PlannedRun, Runs
from lns.exact.paper import design
from lns.exact.paper.runs import BUDGET_SPENT, NAN, Plan, Rows, crossed, grouped, mean_of, rounded
from lns.exact.text_table import aligned
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform

METHODS = ("dlx:binary", "zig-zag", "grouping", "dlx")
PARTS = ("paths", "hard", "single", "eternity")  # more experiments: figure 3, searches of tables 3 and 4, section 2.5

# (side, colours) -> the paper's mean number of nodes for each of the first three `METHODS`; None where none is given.
# The paper has two rows "6x6, 8 colours"; the second row, whose figures continue the series, is taken for 9 colours.
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
TOO_SLOW = "too slow"  # what table 1 of the paper has in place of some means of DLX, from 8x8 on

# (width, height) -> the paper's mean nodes per solution of DLX for 2, 3, ... 9 colours; None where none is given
TABLE_2: dict[tuple[int, int], tuple[int | None, ...]] = {
    (3, 4): (5, 15, 14, 14, 14, 14, 13, 13),
    (4, 4): (6, 36, 30, 29, 26, 24, 23, 21),
    (4, 5): (None, 59, 137, 76, 56, 45, 43, 34),
    (5, 5): (None, 101, 1720, 353, 208, 132, 108, 71),
    (5, 6): (None, None, 12084, 4505, 1426, 564, 354, 177),
    (6, 6): (None, None, None, 369376, 16895, 3528, 1926, 623),
}
_COLOURS = range(2, 10)  # numbers of colours in table 2

# (side, colours) -> the paper's record and mean of the zig-zag's nodes per solution; None where it gives no mean
TABLE_3: dict[tuple[int, int], tuple[int, int | None]] = {
    (4, 4): (931, 53), (5, 4): (20304, 2752), (5, 5): (15209, 561), (5, 6): (10832, 214), (6, 6): (1973183, 18904),
    (7, 8): (13866018, 156101), (8, 8): (488081445, None), (8, 10): (67613577, 192861), (10, 14): (10881092, 746794),
}  # fmt: skip

# number of nodes with 0, 1, ... 16 placed pieces in three 4x4 trees of the paper: hard, easy and small, easy and large
FIGURE_6: tuple[tuple[int, ...], ...] = (
    (1, 1, 2, 6, 9, 33, 104, 146, 80, 126, 121, 51, 24, 18, 10, 5, 1),
    (1, 1, 2, 2, 3, 3, 3, 2, 2, 4, 2, 2, 1, 1, 1, 1, 1),
    (1, 1, 3, 15, 24, 42, 175, 510, 576, 1848, 3760, 3504, 4184, 4384, 2880, 1728, 1728),
)

# (width, height) -> the paper's upper bound on the fewest colours of a puzzle with a single solution
TABLE_4: dict[tuple[int, int], int] = {
    (width, height): bound
    for height, bounds in (
        (3, (3, 3, 3, 3, 4, 4, 4, 5)), (4, (3, 4, 4, 5, 5, 6, 6)), (5, (4, 5, 5, 6, 7, 7)), (6, (5, 6, 7, 8, 8)),
        (7, (7, 8, 9, 10)), (8, (8, 9, 10)), (9, (9, 10)), (10, (10,)),
    )
    for width, bound in enumerate(bounds, 11 - len(bounds))
}  # fmt: skip
# the paper's lower bounds on the colours of a puzzle with a single solution, by the largest side to which each applies
TABLE_5 = {4: 2, 5: 3, 6: 3, 7: 4, 9: 4, 10: 5, 13: 5}
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
PATH_CLASSES = ((4, 3), (4, 4), (5, 5), (6, 7))  # (side, colours) of the puzzles on which `design.PATHS` are compared
ETERNITY = "like-e2-16x16"
CHEAPER = {"zig-zag": 1000, "dlx:binary": 1, "dlx": 1, "grouping": 50}
"""Method -> factor of the node limit in section 2.5: about so many nodes of the method take as long as one of dlx."""
MOST_NODES, SAMPLES = 100_000, 300_000  # node limit of dlx on `ETERNITY`; random samples for counting blocks
CUT, ESTIMATE = ">", "~"  # marks of a mean, if the node limit ended some searches: a lower bound, an estimate


# -- runs -------------------------------------------------------------------------------------------------------------


def runs(plan: Plan) -> Runs:
    """Yield a planned run for each puzzle and method of tables 1 to 3, then the runs of the `PARTS` in ``plan``."""
    wanted = [(side, side, k, method) for side, k in _classes(plan, TABLE_1).values() for method in METHODS]
    for shape, figures in TABLE_2.items():
        known = zip(_COLOURS, figures, strict=True) if max(shape) in plan.sizes else ()
        wanted += [(*shape, k, "dlx:binary") for k, figure in known if k in plan.colours and figure is not None]
    wanted += [(side, side, k, "zig-zag") for side, k in _classes(plan, TABLE_3).values()]
    for width, height, colours, method in dict.fromkeys(wanted):
        side = max(width, height)
        is_slow = side >= 8 and method in design.CODES and TABLE_1.get((side, colours), (None,))[0] is None
        if method in plan.solvers and (method != "grouping" or side % 2 == 0):
            for seed in plan.seeds[: plan.slow] if is_slow else plan.seeds:
                question = "all solutions of the uniform puzzle"
                yield _tree_run((width, height, colours, seed), method, question, plan.nodes)
    if "paths" in plan.solvers:
        for (side, colours), name, seed in product(PATH_CLASSES, design.PATHS, plan.seeds):
            if side in plan.sizes:
                yield _tree_run((side, side, colours, seed), f"path:{name}", "all solutions", plan.nodes)
    if "hard" in plan.solvers:
        for side, colours in _classes(plan, TABLE_3).values():
            yield _search_run(plan, (side, side, colours), "hard", f"hardest of {plan.trees} boards")
    if "single" in plan.solvers:
        for (width, height), bound in TABLE_4.items():
            for colours in (bound, bound - 1) if max(width, height) in plan.sizes else ():
                if colours >= design.fewest_colours(width, height, symmetric=False):
                    what = f"single solution among {plan.trees} boards"
                    yield _search_run(plan, (width, height, colours), "single", what)
    if "eternity" in plan.solvers:
        yield PlannedRun(ETERNITY, "4x4 blocks", f"{SAMPLES} samples; seed 1", _blocks_row)
        for method, cheaper in CHEAPER.items():
            budget = min(plan.nodes, MOST_NODES) * cheaper
            make = partial(_deepest, method, budget)
            yield PlannedRun(ETERNITY, f"depth:{method}", f"deepest level; {budget} nodes", make)


def _name(width: int, height: int, colours: int) -> str:
    return f"{width}x{height}-c{colours}"


def _classes(plan: Plan, table: Mapping[tuple[int, int], object]) -> dict[str, tuple[int, int]]:
    """Return the classes of ``table``, which is table 1 or 3, that are in ``plan``: label -> (side, colours)."""
    keys = [(side, colours) for side, colours in table if side in plan.sizes and colours in plan.colours]
    return {f"{side}x{side}, {colours} colours": (side, colours) for side, colours in keys}


def _tree_run(shape: tuple[int, int, int, int], method: str, question: str, nodes: int) -> PlannedRun:
    """Plan a search of the whole tree of a random puzzle of ``shape`` (width, height, colours, seed)."""
    name = f"{_name(*shape[:3])}-s{shape[3]}"

    def make() -> ComparisonRow:
        limit = nodes - 1 if method.startswith("path:") else nodes  # for paths, the node limit includes the empty board
        search, seconds = design.tree(design.random_puzzle(*shape), method, limit)
        status = "solved" if search.exhausted else BUDGET_SPENT
        return ComparisonRow(name, method, status, search.solutions, search.nodes, seconds)

    return PlannedRun(name, method, question, make, f"{nodes} nodes")


def _search_run(plan: Plan, shape: tuple[int, int, int], goal: str, what: str) -> PlannedRun:
    """Plan a search for a puzzle of ``shape`` (width, height, colours) that fits the ``goal``, 'hard' or 'single'."""
    name = _name(*shape)

    def make() -> ComparisonRow:
        begun = time.process_time()
        found = design.improve(*shape, goal, trees=plan.trees, nodes=plan.nodes, seed=plan.seed)
        best = next(iter(deque(found, maxlen=1)), None)
        seconds = time.process_time() - begun
        if best is None:
            return ComparisonRow(name, goal, BUDGET_SPENT, seconds=seconds)
        status = "solved" if goal == "hard" or best.solutions == 1 else BUDGET_SPENT
        return ComparisonRow(name, goal, status, best.solutions, best.nodes, seconds, note=best.text)

    return PlannedRun(name, goal, f"{what}; {plan.nodes} nodes a tree; seed {plan.seed}", make)


def _blocks_row() -> ComparisonRow:
    begun = time.process_time()
    mean, error = count_inner_blocks(load_puzzle(ETERNITY), 4, SAMPLES, 1)
    note, seconds = f"{mean:.2e} +- {error:.1e}", time.process_time() - begun
    return ComparisonRow(ETERNITY, "4x4 blocks", "solved", nodes=SAMPLES, seconds=seconds, note=note)


def _deepest(method: str, nodes: int) -> ComparisonRow:
    search, seconds = design.tree(load_puzzle(ETERNITY), method, nodes)
    deepest = int(np.flatnonzero(search.state.per_level).max()) * (4 if method == "grouping" else 1)
    figures = search.solutions, search.nodes, seconds
    return ComparisonRow(ETERNITY, f"depth:{method}", BUDGET_SPENT, *figures, note=f"{deepest} pieces")


# -- tables -----------------------------------------------------------------------------------------------------------


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Return tables 1 to 5 (in brackets the paper's values), sections 2.4 and 2.5, and figures 3 and 6 d, as text.

    For figure 6 d this function itself searches trees, but not if planned rows are missing, as after Ctrl-C.
    """
    by_class = grouped(rows)
    parts = [*_trees_text(by_class, plan), _conjecture(by_class)]
    if "paths" in plan.solvers:
        parts.append(_paths_text(by_class))
    if "single" in plan.solvers:
        parts += [_single_text(rows), _bounds_text()]
    if "eternity" in plan.solvers:
        lines = [["on " + ETERNITY, "nodes", "seconds", "result"]]
        chosen = [row for row in rows if row.instance == ETERNITY]
        lines += [[row.solver, f"{row.nodes:,}", rounded(row.seconds), row.note] for row in chosen]
        head = "section 2.5: inner 4x4 blocks (the paper: over 2e14 blocks of all kinds), deepest levels (210 to 220)\n"
        parts.append(head + aligned(lines))
    missing = len(list(runs(plan))) - len(rows)
    parts.append(f"figure 6 d: left out, {missing} runs are missing" if missing else _levels(plan))
    return "\n\n".join(parts)


def _mean_and_error(values: Sequence[float], rows: Sequence[ComparisonRow], mark: str) -> str:
    """Return the mean of ``values`` ± standard error as text, after the `_mark` of the rows; '-' without values."""
    if not values:
        return "-"
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else NAN
    return f"{_mark(rows, mark)}{rounded(mean_of(values))}±{rounded(error)}"


def _mark(rows: Sequence[ComparisonRow], mark: str) -> str:
    """Return ``mark`` if the node limit ended the search of some row, else an empty text."""
    return mark if any(row.status == BUDGET_SPENT for row in rows) else ""


def difficulty(rows: Sequence[ComparisonRow]) -> list[float]:
    """Return for each row nodes per solution (nodes, if none was found), an estimate if the search did not end."""
    return [row.nodes / max(1, row.solutions) for row in rows]


def _trees_text(by_class: Rows, plan: Plan) -> list[str]:
    """Return tables 1 to 3, and the mean times of section 2.4, which ignore rows of old files that have no time."""

    def nodes(key: tuple[int, int], method: str) -> str:
        chosen = by_class[_name(key[0], *key), method]
        paper = dict(zip(METHODS, TABLE_1[key], strict=False)).get(method)
        known = rounded(paper) if paper is not None else TOO_SLOW if method == "dlx:binary" else ""
        text = _mean_and_error([row.nodes for row in chosen], chosen, CUT)
        return f"{text} ({known})" if chosen and known else text

    def seconds(key: tuple[int, int], method: str) -> str:
        mean = mean_of([row.seconds for row in by_class[_name(key[0], *key), method] if row.seconds >= 0])
        return "-" if mean != mean else f"{mean:.4f}"

    def difficulty_of(shape: tuple[int, int], colours: int) -> str:
        chosen, figure = by_class[_name(*shape, colours), "dlx:binary"], TABLE_2[shape][colours - _COLOURS[0]]
        known = figure is not None and bool(chosen)
        return f"{_mean_and_error(difficulty(chosen), chosen, ESTIMATE)} ({figure})" if known else "-"

    classes, methods = _classes(plan, TABLE_1), {method: method for method in METHODS}
    shapes = {f"{width}x{height}": (width, height) for width, height in TABLE_2 if max(width, height) in plan.sizes}
    table_3 = [["zig-zag nodes / solutions", "hardest drawn", "hardest searched", "mean"]]
    for label, key in _classes(plan, TABLE_3).items():
        drawn, searched = (by_class[_name(key[0], *key), method] for method in ("zig-zag", "hard"))
        record, average = TABLE_3[key]
        if drawn or searched:
            hardest = [rounded(max(difficulty(found), default=NAN)) for found in (drawn, searched)]
            mean = _mean_and_error(difficulty(drawn), drawn, ESTIMATE)
            table_3.append([label, hardest[0], f"{hardest[1]} ({record})", f"{mean} ({average or '-'})"])
    return [
        f"Jolivet 2008, table 1: {plan.per_size} puzzles for each class (the paper's means)\n"
        + crossed("mean nodes", classes, methods, nodes),
        "section 2.4: processor time of a tree, with the matrix or the list of blocks\n"
        + crossed("mean seconds", classes, methods, seconds),
        "table 2: mean difficulty by number of colours\n"
        + crossed("dlx:binary nodes / solutions", shapes, {str(k): k for k in _COLOURS}, difficulty_of),
        "table 3: the hardest found and the mean (the paper's)\n" + aligned(table_3),
    ]


def _conjecture(by_class: Rows) -> str:
    """Return the table of section 5.2 as text: mean solutions by board and number of colours, of searches that ended.

    The last columns have the fewest colours with which some puzzle has one solution (and how many have), and the number
    of colours of the highest mean difficulty; the paper conjectures that single solutions begin where difficulty rises.
    """
    lines = [["mean solutions, dlx:binary", *map(str, _COLOURS), "first single", "peak"]]
    for shape in TABLE_2:
        rows = {k: [row for row in by_class[_name(*shape, k), "dlx:binary"] if row.status != BUDGET_SPENT]
                for k in _COLOURS}  # fmt: skip
        solutions = {k: [row.solutions for row in ended] for k, ended in rows.items()}
        single = (f"{k} ({each.count(1)} of {len(each)})" for k, each in solutions.items() if 1 in each)
        hardest = {k: mean_of(difficulty(ended)) for k, ended in rows.items() if ended}
        peak = max(hardest, key=hardest.__getitem__, default="-")
        means = [rounded(mean_of(each)) for each in solutions.values()]
        lines.append(["{}x{}".format(*shape), *means, next(single, "-"), str(peak)])
    return "section 5.2: mean solutions by colours (the paper at 4x4: 7000 with 2, 40 with 3)\n" + aligned(lines)


def _paths_text(by_class: Rows) -> str:
    """Return figure 3 as a table with a row for each path: `constraints` on a 4x4 board, and mean nodes by class."""
    puzzle = uniform(4, 4, 4, 1).puzzle
    classes = [f"{side}x{side}, {colours} colours" for side, colours in PATH_CLASSES]
    lines = [["path", "constraints by place on a 4x4 board", "sum", *classes]]
    for name in design.PATHS:
        counts = design.constraints(design.path(name, 4, 4), puzzle)
        lines.append([name, " ".join(map(str, counts)), str(sum(counts))])
        for side, colours in PATH_CLASSES:
            chosen = by_class[_name(side, side, colours), f"path:{name}"]
            lines[-1].append(_mark(chosen, CUT) + rounded(mean_of([row.nodes for row in chosen])))
    return "figure 3: local constraints by path, and mean nodes\n" + aligned(lines)


def _single_text(rows: Sequence[ComparisonRow]) -> str:
    """Return table 4 by board size: a lower bound on the colours of a single-solution puzzle, and the fewest found."""
    tried = [row for row in rows if row.solver == "single"]

    def cell(height: int, width: int) -> str:
        found = [row for row in tried if row.instance.startswith(f"{width}x{height}-c")]
        if width < height or not found:
            return ""
        low = design.fewest_colours(width, height, symmetric=False)
        single = (int(row.instance.split("-c")[1]) for row in found if row.solutions == 1)
        return f"{low}..{min(single, default='?')} ({TABLE_4[width, height]})"

    sides = {str(side): side for side in range(3, 11)}
    head = "table 4: colours of puzzles with a single solution: lower bound .. fewest found (the paper's bound)\n"
    return head + crossed("", sides, sides, cell)


def _bounds_text() -> str:
    """Return table 5: numbers of distinct pieces, listed and by the paper's formula, and lower bounds on colours."""
    lines = [["colours", "corner", "rim", "inner", "inner by the paper's formula", "inner, not symmetric"]]
    for c in range(1, 7):
        corner, rim, inner, turning = design.distinct_pieces(c)
        printed = c + 4 * comb(c, 2) + 6 * comb(c, 3) + 6 * comb(c, 4)
        lines.append(list(map(str, (c, corner, rim, inner, printed, turning))))
    bounds = [["side", "all pieces", "no symmetric ones", "paper"]]
    for side in range(3, 17):
        paper = next((bound for last, bound in TABLE_5.items() if side <= last), "-")
        both = [design.fewest_colours(side, side, symmetric=symmetric) for symmetric in (True, False)]
        bounds.append(list(map(str, (side, *both, paper))))
    return (
        "table 5: distinct pieces by colours, listed\n"
        + aligned(lines)
        + "\n\nlower bounds on the colours of a single-solution puzzle; the paper counts both orientations of a\n"
        + "symmetric piece, so its single solutions have none\n"
        + aligned(bounds)
    )


def _levels(plan: Plan) -> str:
    """Return figure 6 d as text: zig-zag nodes by placed pieces in a hard, an easy small and an easy large 4x4 tree."""
    puzzles = [design.random_puzzle(4, 4, colours, seed) for colours in (2, 4, 7) for seed in plan.seeds]
    trees = [design.tree(puzzle, "zig-zag", plan.nodes)[0] for puzzle in puzzles]
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
