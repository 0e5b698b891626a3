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

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import stdev

from exact.blocks.search import Blocks
from exact.compare import ComparisonRow
from exact.cover.search import Cover
from exact.driver import run_search
from exact.outcome import SolveStatus
from exact.paper.jolivet2008_searches import (
    barrier_runs,
    barrier_text,
    bound_text,
    hard_runs,
    path_runs,
    path_text,
    single_runs,
    single_text,
)
from exact.paper.runs import BUDGET_SPENT, PlannedRun, mean_of, rounded
from instances.generate import uniform
from instances.puzzle import Puzzle
from lns_support.text_table import aligned

METHODS = ("dlx:binary", "zig-zag", "grouping", "dlx")
PARTS = ("paths", "hard", "single", "eternity")  # figure 3, the searches of tables 3 and 4, section 2.5
CODES = {"dlx": "unary", "dlx:binary": "binary"}
# The paper has two codes of colours and does not say which its tables used; the measured counts fit the binary one.

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


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each class of the tables with one of ``sizes`` (longer side) and ``colours``.

    ``nodes``: limit of a tree, a larger one is cut there; ``solvers``: some of METHODS and PARTS; ``seed``: seed of the
    first puzzle of each class, the next ones count up; ``slow``: puzzles of a class that the paper calls too slow for
    DLX; ``trees``: boards that a search for a hard or single-solution puzzle tries.
    """

    per_size: int = 20
    nodes: int = 1_000_000
    sizes: tuple[int, ...] = (3, 4, 5, 6)
    colours: tuple[int, ...] = tuple(sorted({k for _, k in TABLE_1} | set(range(2, 10)) | {14}))
    solvers: tuple[str, ...] = METHODS + PARTS
    seed: int = 1
    slow: int = 3
    trees: int = 100

    def instances(self, side: int, colours: int, method: str) -> int:
        """Number of puzzles of a class."""
        is_slow = side >= 8 and method in CODES and TABLE_1.get((side, colours), (None,))[0] is None
        return min(self.per_size, self.slow) if is_slow else self.per_size

    @property
    def table_1(self) -> list[tuple[int, int]]:
        """(side, colours) of the rows of table 1 in this plan."""
        return [(side, k) for side, k in TABLE_1 if side in self.sizes and k in self.colours]

    @property
    def table_2(self) -> list[tuple[int, int]]:
        """(width, height) of the rows of table 2 in this plan."""
        return [shape for shape in TABLE_2 if max(shape) in self.sizes]

    @property
    def table_3(self) -> list[tuple[int, int]]:
        """(side, colours) of the rows of table 3 in this plan."""
        return [(side, k) for side, k in TABLE_3 if side in self.sizes and k in self.colours]


FULL = Plan(200, 2_000_000_000, sizes=(3, 4, 5, 6, 7, 8, 10, 12, 16), slow=10, trees=20_000)


MOST_BARRIER_NODES = 100_000  # of dlx; the other methods have more, in proportion to their speed
CUT, ESTIMATE = ">", "~"  # put before a mean where trees were cut: it is a lower bound, or an estimate


def random_puzzle(width: int, height: int, colours: int, seed: int) -> Puzzle:
    """A puzzle with uniform colours and the upper left corner of its planted solution fixed."""
    return uniform(width, height, colours, seed).with_clues([0]).puzzle


def new_search(puzzle: Puzzle, method: str) -> Cover | Blocks:
    """A search by ``method`` before its first node, with its matrix or its blocks."""
    if method in CODES:
        return Cover(puzzle, CODES[method], all_four=True)
    return Blocks(puzzle, 1 if method == "zig-zag" else 2, all_four=True)


def tree(puzzle: Puzzle, method: str, nodes: int) -> Cover | Blocks:
    """Search the tree of ``method`` to its end or for ``nodes`` nodes. Raises KeyboardInterrupt if interrupted."""
    search = new_search(puzzle, method)
    status, _ = run_search(search, count_all=True, nodes=nodes, seconds=None)
    if status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return search


@cache
def compile_once(method: str) -> None:
    """Compile the kernels of ``method``, or load their machine code, on a tiny puzzle."""
    new_search(random_puzzle(2, 2, 1, 1), method).advance(0, True)


def measure(instance: str, shape: tuple[int, int, int, int], method: str, nodes: int) -> ComparisonRow:
    """Search the tree of `random_puzzle` (``*shape``): its solutions, its nodes and the processor time as a row.

    The time includes the matrix or the list of blocks, and no compilation.
    """
    compile_once(method)
    puzzle = random_puzzle(*shape)
    begun = time.process_time()
    search = tree(puzzle, method, nodes)
    seconds = time.process_time() - begun
    status = "solved" if search.exhausted else BUDGET_SPENT
    return ComparisonRow(instance, method, status, search.solutions, search.nodes, seconds)


def classes(plan: Plan) -> list[tuple[int, int, int, str]]:
    """(width, height, colours, method) of the classes of all tables, each once."""
    wanted: dict[tuple[int, int, int, str], None] = {}
    for side, colours in plan.table_1:
        for method in METHODS:
            if method == "grouping" and side % 2:
                continue
            wanted[side, side, colours, method] = None
    for width, height in plan.table_2:
        for colours, figure in enumerate(TABLE_2[width, height], 2):
            if figure is not None and colours in plan.colours:
                wanted[width, height, colours, "dlx:binary"] = None
    for side, colours in plan.table_3:
        wanted[side, side, colours, "zig-zag"] = None
    return [each for each in wanted if each[-1] in plan.solvers]


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan a run for each puzzle of each class, and those of the parts of `exact.paper.jolivet2008_searches`."""
    yield from _tree_runs(plan)
    if "paths" in plan.solvers:
        yield from path_runs(plan.per_size, plan.sizes, plan.seed, plan.nodes)
    if "hard" in plan.solvers:
        yield from hard_runs(plan.table_3, plan.trees, plan.nodes, plan.seed)
    if "single" in plan.solvers:
        yield from single_runs(plan.sizes, plan.trees, plan.nodes, plan.seed)
    if "eternity" in plan.solvers:
        yield from barrier_runs(min(plan.nodes, MOST_BARRIER_NODES))


def _tree_runs(plan: Plan) -> Iterator[PlannedRun]:
    for width, height, colours, method in classes(plan):
        for index in range(plan.instances(max(width, height), colours, method)):
            seed = plan.seed + index
            name = f"{width}x{height}-c{colours}-s{seed}"
            make = partial(measure, name, (width, height, colours, seed), method, plan.nodes)
            yield PlannedRun(name, method, "all solutions of the uniform puzzle", make, plan.nodes)


def _class(rows: Sequence[ComparisonRow], width: int, height: int, colours: int, method: str) -> list[ComparisonRow]:
    return [row for row in rows if row.solver == method and row.instance.startswith(f"{width}x{height}-c{colours}-")]


def _mean_and_error(values: Sequence[float], rows: Sequence[ComparisonRow], mark: str) -> str:
    """The mean and its standard error, after ``mark`` if some trees were cut."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return (
        mark if any(row.status == BUDGET_SPENT for row in rows) else ""
    ) + f"{rounded(mean_of(values))}±{rounded(error)}"


def _difficulty(rows: Sequence[ComparisonRow]) -> list[float]:
    """Nodes divided by solutions. For a cut tree an estimate from those found, or a lower bound if there is none."""
    return [row.nodes / max(1, row.solutions) for row in rows]


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of tables 1, 2 and 3 with the paper's figures in brackets, and the nodes by level of three trees.

    The three trees are searched by this function. They are left out if some of the planned rows are missing, as after
    Ctrl-C.
    """
    lines = [["mean nodes", *METHODS]]
    for side, colours in plan.table_1:
        line = [f"{side}x{side}, {colours} colours"]
        for method, paper in zip(METHODS, (*TABLE_1[side, colours], None), strict=True):
            chosen = _class(rows, side, side, colours, method)
            known = f" ({TOO_SLOW})" if method == "dlx:binary" else ""
            known = known if paper is None else f" ({rounded(paper)})"
            line.append("-" if not chosen else f"{_mean_and_error([row.nodes for row in chosen], chosen, CUT)}{known}")
        lines.append(line)
    text = f"Jolivet 2008, table 1: {plan.per_size} puzzles for each class (the paper's means)\n" + aligned(lines)
    text += "\n\n" + times(rows, plan)
    lines = [["dlx:binary nodes / solutions", *map(str, range(2, 10))]]
    for width, height in plan.table_2:
        line = [f"{width}x{height}"]
        for colours, figure in enumerate(TABLE_2[width, height], 2):
            chosen = _class(rows, width, height, colours, "dlx:binary")
            line.append(
                "-"
                if figure is None or not chosen
                else f"{_mean_and_error(_difficulty(chosen), chosen, ESTIMATE)} ({figure})"
            )
        lines.append(line)
    text += "\n\ntable 2: mean difficulty by number of colours\n" + aligned(lines)
    lines = [["zig-zag nodes / solutions", "hardest drawn", "hardest searched", "mean"]]
    for side, colours in plan.table_3:
        chosen = _class(rows, side, side, colours, "zig-zag")
        values = _difficulty(chosen)
        record, average = TABLE_3[side, colours]
        searched = [row for row in rows if row.solver == "hard" and row.instance == f"{side}x{side}-c{colours}"]
        if values or searched:
            lines.append(
                [
                    f"{side}x{side}, {colours} colours",
                    rounded(max(values)) if values else "-",
                    f"{rounded(max(_difficulty(searched))) if searched else '-'} ({record})",
                    f"{_mean_and_error(values, chosen, ESTIMATE) if values else '-'} ({average or '-'})",
                ]
            )
    text += "\n\ntable 3: the hardest found and the mean (the paper's)\n" + aligned(lines)
    text += "\n\n" + conjecture(rows)
    if "paths" in plan.solvers:
        text += "\n\n" + path_text(rows)
    if "single" in plan.solvers:
        text += "\n\n" + single_text(rows) + "\n\n" + bound_text()
    if "eternity" in plan.solvers:
        text += "\n\n" + barrier_text(rows)
    missing = len(list(runs(plan))) - len(rows)
    return text + "\n\n" + (f"figure 6 d: left out, {missing} runs are missing" if missing else levels(plan))


def times(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Section 2.4: mean seconds of the trees of table 1. Rows without a time, of old files, are left out."""
    lines = [["mean seconds", *METHODS]]
    for side, colours in plan.table_1:
        chosen = [_class(rows, side, side, colours, method) for method in METHODS]
        seconds = [mean_of([row.seconds for row in of_method if row.seconds >= 0]) for of_method in chosen]
        lines.append([f"{side}x{side}, {colours} colours", *("-" if s != s else f"{s:.4f}" for s in seconds)])
    return "section 2.4: processor time of a tree, with the matrix or the list of blocks\n" + aligned(lines)


def conjecture(rows: Sequence[ComparisonRow]) -> str:
    """Section 5.2: solutions by colours, the puzzles with a single one, and the colours of the most difficult class.

    The paper conjectures that single solutions begin where the difficulty does.
    """
    lines = [["mean solutions, dlx:binary", *map(str, range(2, 10)), "first single", "peak"]]
    for width, height in TABLE_2:
        line, single, difficulty = [f"{width}x{height}"], "-", {}
        for colours in range(2, 10):
            chosen = [row for row in _class(rows, width, height, colours, "dlx:binary") if row.status != BUDGET_SPENT]
            line.append(rounded(mean_of([row.solutions for row in chosen])))
            alone = sum(row.solutions == 1 for row in chosen)
            if alone and single == "-":
                single = f"{colours} ({alone} of {len(chosen)})"
            if chosen:
                difficulty[colours] = mean_of(_difficulty(chosen))
        peak = max(difficulty, key=difficulty.__getitem__) if difficulty else "-"
        lines.append([*line, single, str(peak)])
    return "section 5.2: mean solutions by colours (the paper at 4x4: 7000 with 2, 40 with 3)\n" + aligned(lines)


def levels(plan: Plan) -> str:
    """The text of figure 6 d: nodes by level of the zig-zag for a hard, an easy small and an easy large 4x4 tree."""
    seeds = range(plan.seed, plan.seed + plan.per_size)
    trees = [tree(random_puzzle(4, 4, colours, seed), "zig-zag", plan.nodes) for colours in (2, 4, 7) for seed in seeds]
    complete = [search for search in trees if search.exhausted]
    if not complete:
        return f"figure 6 d: no 4x4 tree ended within {plan.nodes:,} nodes"
    hard = max(complete, key=lambda search: search.nodes / search.solutions)
    small, large = min(complete, key=lambda search: search.nodes), max(complete, key=lambda search: search.nodes)
    shown = (hard, small, large)
    lines = [["level", "hard", "easy, small", "easy, large"]]
    counts = [search.state.per_level.tolist() for search in shown]
    for level, published in enumerate(zip(*FIGURE_6, strict=True)):
        lines.append(
            [str(level), *(f"{own[level]:,} ({paper:,})" for own, paper in zip(counts, published, strict=True))]
        )
    sums = zip(counts, FIGURE_6, strict=True)
    lines.append(["nodes", *(f"{sum(own):,} ({sum(paper):,})" for own, paper in sums)])
    return "figure 6 d: nodes by level, 4x4; the last level holds the solutions (the paper's in brackets)\n" + aligned(
        lines
    )


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Draw table 2, the phase transition, to the image file ``path``. Needs matplotlib."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for width, height in TABLE_2:
        points = {}
        for colours in range(2, 10):
            values = _difficulty(_class(rows, width, height, colours, "dlx:binary"))
            if values:
                points[colours] = mean_of(values)
        if points:
            axes.plot(list(points), list(points.values()), marker="o", label=f"{width}x{height}")
    axes.set(xlabel="colours", ylabel="DLX nodes / solutions, mean", yscale="log")
    if axes.lines:
        axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
