"""Jolivet 2008 (seed 003): tree sizes (table 1), difficulty by colours (2), hard instances (3), nodes by level (figure
6).

Trees are whole (all solutions), solutions are counted up to rotation with equal pieces and equal orientations told
apart, and the empty board is a node, all as in the seed. One corner piece is fixed to leave out rotated boards. The
seed does not say how its puzzles were drawn; here each inner edge has a colour drawn uniformly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from exact.blocks.search import Blocks
from exact.compare import Row
from exact.cover.search import Cover
from exact.driver import drive
from exact.paper.runs import GAVE_UP, Run, columns, mean, rounded
from exact.solvers import corner_fixed
from instances.generate import uniform
from instances.puzzle import Puzzle

METHODS = ("dlx:binary", "zig-zag", "grouping", "dlx")
# The seed has both codes of colours and does not say which its tables used: measured, the binary one.

# (side, colours) -> the seed's means for the three methods, None where it gives none; table 1's second '8 colours' of
# 6x6 and its lines above 8x8 are left out
TABLE_1: dict[tuple[int, int], tuple[float | None, float | None, float | None]] = {
    (3, 3): (24, 36, None), (3, 4): (16, 23, None),
    (4, 2): (18474, 79090, 15214), (4, 3): (422, 1578, 209), (4, 4): (111, 203, 50), (4, 5): (53, 83, 20),
    (5, 4): (19320, 62218, None), (5, 5): (1292, 2659, None),
    (6, 6): (75851, 112636, 43163), (6, 7): (7762, 4063, 2077), (6, 8): (3686, 1107, 335),
}  # fmt: skip

# (width, height) -> the seed's DLX difficulty for 2, 3, ... 9 colours
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
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    per_class: int = 40
    nodes: int = 3_000_000
    """Trees beyond are given up; their class's mean is then a lower bound and marked '>'."""
    table_1: tuple[tuple[int, int], ...] = tuple(TABLE_1)
    table_2: tuple[tuple[int, int], ...] = ((3, 4), (4, 4), (4, 5), (5, 5))
    table_3: tuple[tuple[int, int], ...] = ((4, 4), (5, 4), (5, 5), (5, 6))
    seed: int = 1


FULL = Plan(200, 2_000_000_000, tuple(TABLE_1), tuple(TABLE_2), tuple(TABLE_3))


CODES = {"dlx": "unary", "dlx:binary": "binary"}


def tree(puzzle: Puzzle, method: str, nodes: int) -> Cover | Blocks:
    """The whole tree of ``method`` with one corner fixed, or its first ``nodes`` nodes."""
    fixed = corner_fixed(puzzle)[0][0] if puzzle.width == puzzle.height else puzzle
    search: Cover | Blocks
    if method in CODES:
        search = Cover(fixed, CODES[method], all_four=True)
    else:
        search = Blocks(fixed, 1 if method == "zig-zag" else 2, all_four=True)
    drive(search, count_all=True, nodes=nodes, seconds=None)
    return search


def measure(instance: str, puzzle: Puzzle, method: str, nodes: int) -> Row:
    """A rectangle's solutions and nodes are halved instead of fixing a corner: it has two rotations."""
    search = tree(puzzle, method, nodes)
    copies = 1 if puzzle.width == puzzle.height else 2
    status = "solved" if search.exhausted else GAVE_UP
    return Row(instance, method, status, search.solutions // copies, -(-search.nodes // copies), -1.0)


def runs(plan: Plan) -> Iterator[Run]:
    """Each class of each table; a puzzle that two tables share is run once."""
    wanted: dict[tuple[int, int, int, str], None] = {}
    for side, colours in plan.table_1:
        for method in METHODS:
            if method == "grouping" and side % 2:
                continue
            wanted[side, side, colours, method] = None
    for width, height in plan.table_2:
        for colours, figure in enumerate(TABLE_2[width, height], 2):
            if figure is not None:
                wanted[width, height, colours, "dlx:binary"] = None
    for side, colours in plan.table_3:
        wanted[side, side, colours, "zig-zag"] = None
    for width, height, colours, method in wanted:
        for index in range(plan.per_class):
            puzzle = uniform(width, height, colours, plan.seed + index).puzzle
            name = f"{width}x{height}-c{colours}-s{plan.seed + index}"
            yield Run(name, method, partial(measure, name, puzzle, method, plan.nodes))


def _class(rows: Sequence[Row], width: int, height: int, colours: int, method: str) -> list[Row]:
    return [row for row in rows if row.solver == method and row.instance.startswith(f"{width}x{height}-c{colours}-")]


def _shown(values: Sequence[float], found: Sequence[Row]) -> str:
    return (">" if any(row.status == GAVE_UP for row in found) else "") + rounded(mean(values))


def _difficulty(found: Sequence[Row]) -> list[float]:
    return [row.nodes / row.solutions for row in found if row.solutions > 0]


def tables(rows: Sequence[Row], plan: Plan) -> str:
    """Tables 1, 2 and 3 with the seed's figures in brackets, and the nodes by level of three trees."""
    lines = [["mean nodes", *METHODS]]
    for side, colours in plan.table_1:
        line = [f"{side}x{side}, {colours} colours"]
        for method, paper in zip(METHODS, (*TABLE_1[side, colours], None), strict=True):
            found = _class(rows, side, side, colours, method)
            known = "" if paper is None else f" ({rounded(paper)})"
            line.append("-" if not found else f"{_shown([row.nodes for row in found], found)}{known}")
        lines.append(line)
    text = f"seed 003, table 1: {plan.per_class} puzzles a class (the seed's means)\n" + columns(lines)
    lines = [["dlx:binary nodes / solutions", *map(str, range(2, 10))]]
    for width, height in plan.table_2:
        line = [f"{width}x{height}"]
        for colours, figure in enumerate(TABLE_2[width, height], 2):
            found = _class(rows, width, height, colours, "dlx:binary")
            line.append("-" if figure is None or not found else f"{_shown(_difficulty(found), found)} ({figure})")
        lines.append(line)
    text += "\n\ntable 2: mean difficulty by number of colours\n" + columns(lines)
    lines = [["zig-zag nodes / solutions", "record", "mean"]]
    for side, colours in plan.table_3:
        found = _class(rows, side, side, colours, "zig-zag")
        values = _difficulty(found)
        record, average = TABLE_3[side, colours]
        if values:
            lines.append(
                [
                    f"{side}x{side}, {colours} colours",
                    f"{rounded(max(values))} ({record})",
                    f"{_shown(values, found)} ({average})",
                ]
            )
    text += "\n\ntable 3: the hardest of each class, and the mean\n" + columns(lines)
    return text + "\n\n" + levels(plan)


def levels(plan: Plan) -> str:
    """Figure 6 d: nodes by level of the zig-zag for a hard, an easy small and an easy large 4x4 tree."""
    drawn = [
        tree(uniform(4, 4, colours, seed).puzzle, "zig-zag", plan.nodes) for colours in (2, 4, 7) for seed in range(8)
    ]
    whole = [search for search in drawn if search.exhausted and search.solutions]
    hard = max(whole, key=lambda search: search.nodes / search.solutions)
    small, large = min(whole, key=lambda search: search.nodes), max(whole, key=lambda search: search.nodes)
    trees = (hard, small, large)
    lines = [["level", "hard", "easy, small", "easy, large"]]
    lines += [[str(level), *(str(search.state.per_level[level]) for search in trees)] for level in range(17)]
    lines.append(["nodes", *(str(search.nodes) for search in trees)])
    lines.append(["solutions", *(str(search.solutions) for search in trees)])
    return "figure 6: nodes by level, 4x4 (the last level holds the solutions)\n" + columns(lines)


def plot(rows: Sequence[Row], path: Path) -> None:
    """Table 2 as a picture: the phase transition."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for width, height in TABLE_2:
        points = {}
        for colours in range(2, 10):
            values = _difficulty(_class(rows, width, height, colours, "dlx:binary"))
            if values:
                points[colours] = mean(values)
        if points:
            axes.plot(list(points), list(points.values()), marker="o", label=f"{width}x{height}")
    axes.set(xlabel="colours", ylabel="DLX nodes / solutions, mean", yscale="log")
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
