"""Jolivet 2008 beyond trees of random puzzles: paths (figure 3), searched puzzles (tables 3 and 4), estimates (2.5).

Each part has planned runs and a text. The puzzles that a search finds are kept in the rows: the note is the text of
their joints, which `exact.paper.design.joints_of` reads.

References
----------
T. Jolivet, "Eternity II : puzzles, algorithmique et complexité", ENS de Lyon, 2008, sections
2.1 (figure 3), 2.5, 4.2 (table 3) and 5.2 (tables 4 and 5).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from exact.blocks.search import Blocks
from exact.compare import ComparisonRow
from exact.cover.search import Cover
from exact.driver import run_search
from exact.outcome import SolveStatus
from exact.paper.block_count import count_inner_blocks
from exact.paper.design import Design, distinct_pieces, fewest_colours, improve
from exact.paper.paths import PATHS, constraints, path, scan_along
from exact.paper.runs import BUDGET_SPENT, PlannedRun, mean_of, rounded
from instances.formats import load_puzzle
from instances.generate import uniform
from lns_support.text_table import aligned

# (width, height) -> the paper's upper bound on the colours of a puzzle with a single solution
TABLE_4: dict[tuple[int, int], int] = {
    (width, height): bound
    for height, bounds in (
        (3, (3, 3, 3, 3, 4, 4, 4, 5)), (4, (3, 4, 4, 5, 5, 6, 6)), (5, (4, 5, 5, 6, 7, 7)), (6, (5, 6, 7, 8, 8)),
        (7, (7, 8, 9, 10)), (8, (8, 9, 10)), (9, (9, 10)), (10, (10,)),
    )
    for width, bound in enumerate(bounds, 11 - len(bounds))
}  # fmt: skip
# side -> the paper's lower bound
TABLE_5 = {4: 2, 5: 3, 6: 3, 7: 4, 9: 4, 10: 5, 13: 5}
PATH_CLASSES = ((4, 3), (4, 4), (5, 5), (6, 7))  # (side, colours) of the puzzles on which paths are compared
BARRIER_INSTANCE = "like-e2-16x16"
BARRIER_METHODS = ("zig-zag", "dlx:binary", "dlx", "grouping")
BARRIER_SHARE = {"zig-zag": 1000, "grouping": 50}  # nodes of these are so many times cheaper than those of dlx
SAMPLES = 300_000


# -- figure 3 -------------------------------------------------------------------------------------------------------


def path_runs(per_class: int, sides: Sequence[int], seed: int, nodes: int) -> Iterator[PlannedRun]:
    """Plan a scan along each path of each puzzle of `PATH_CLASSES`."""
    for side, colours in PATH_CLASSES:
        if side not in sides:
            continue
        for name in PATHS:
            for number in range(seed, seed + per_class):
                instance = f"{side}x{side}-c{colours}-s{number}"
                make = partial(_along, instance, (side, colours, number), name, nodes)
                yield PlannedRun(instance, f"path:{name}", "all solutions", make, nodes)


def _along(instance: str, key: tuple[int, int, int], name: str, nodes: int) -> ComparisonRow:
    side, colours, seed = key
    puzzle = uniform(side, side, colours, seed).with_clues([0]).puzzle
    count, solutions, _, exhausted = scan_along(puzzle, path(name, side, side), nodes)
    return ComparisonRow(instance, f"path:{name}", "solved" if exhausted else BUDGET_SPENT, solutions, count)


def path_text(rows: Sequence[ComparisonRow]) -> str:
    """Figure 3: local constraints along each path of a 4x4 board, and mean nodes by class."""
    puzzle = uniform(4, 4, 4, 1).puzzle
    lines = [
        ["path", "constraints by place on a 4x4 board", "sum", *(f"{n}x{n}, {k} colours" for n, k in PATH_CLASSES)]
    ]
    for name in PATHS:
        counts = constraints(path(name, 4, 4), puzzle)
        line = [name, " ".join(map(str, counts)), str(sum(counts))]
        for side, colours in PATH_CLASSES:
            start = f"{side}x{side}-c{colours}-"
            chosen = [row for row in rows if row.solver == f"path:{name}" and row.instance.startswith(start)]
            mark = ">" if any(row.status == BUDGET_SPENT for row in chosen) else ""
            line.append(mark + rounded(mean_of([row.nodes for row in chosen])))
        lines.append(line)
    return "figure 3: local constraints by path, and mean nodes\n" + aligned(lines)


# -- tables 3 and 4: searched puzzles -------------------------------------------------------------------------------


def hard_runs(classes: Sequence[tuple[int, int]], trees: int, nodes: int, seed: int) -> Iterator[PlannedRun]:
    """Plan a search for a hard puzzle of each class (side, colours)."""
    for side, colours in classes:
        name = f"{side}x{side}-c{colours}"
        question = f"hardest of {trees} boards; {nodes} nodes a tree; seed {seed}"
        make = partial(_searched, name, (side, side), colours, "hard", trees, nodes, seed)
        yield PlannedRun(name, "hard", question, make)


def single_runs(sides: Sequence[int], trees: int, nodes: int, seed: int) -> Iterator[PlannedRun]:
    """Plan a search for a puzzle with a single solution: as many colours as the paper's bound, and one less."""
    for (width, height), bound in TABLE_4.items():
        for colours in (bound, bound - 1):
            if max(width, height) in sides and colours >= fewest_colours(width, height, symmetric=False):
                name = f"{width}x{height}-c{colours}"
                question = f"single solution among {trees} boards; {nodes} nodes a tree; seed {seed}"
                make = partial(_searched, name, (width, height), colours, "single", trees, nodes, seed)
                yield PlannedRun(name, "single", question, make)


def _searched(
    name: str, shape: tuple[int, int], colours: int, goal: str, trees: int, nodes: int, seed: int
) -> ComparisonRow:
    begun = time.process_time()
    best: Design | None = None
    for best in improve(*shape, colours, goal, trees=trees, nodes=nodes, seed=seed):  # noqa: B007
        pass
    seconds = time.process_time() - begun
    if best is None:
        return ComparisonRow(name, goal, BUDGET_SPENT, seconds=seconds)
    status = "solved" if goal == "hard" or best.solutions == 1 else BUDGET_SPENT
    return ComparisonRow(name, goal, status, best.solutions, best.nodes, seconds, note=best.text)


def single_text(rows: Sequence[ComparisonRow]) -> str:
    """Table 4: the fewest colours with which a single-solution puzzle was found, and the lower bound by counting."""
    found: dict[str, int] = {}
    for row in rows:
        if row.solver == "single" and row.solutions == 1:
            shape, _, colours = row.instance.partition("-c")
            found[shape] = min(int(colours), found.get(shape, 99))
    tried = {row.instance.partition("-c")[0] for row in rows if row.solver == "single"}
    lines = [["", *map(str, range(3, 11))]]
    for height in range(3, 11):
        line = [str(height)]
        for width in range(3, 11):
            shape = f"{width}x{height}"
            if width < height or shape not in tried:
                line.append("")
                continue
            low = fewest_colours(width, height, symmetric=False)
            line.append(f"{low}..{found.get(shape, '?')} ({TABLE_4[width, height]})")
        lines.append(line)
    return (
        "table 4: colours of puzzles with a single solution: lower bound .. fewest found (the paper's bound)\n"
        + aligned(lines)
    )


# -- table 5 --------------------------------------------------------------------------------------------------------


def bound_text() -> str:
    """Table 5: numbers of distinct pieces, counted, beside the printed formula, and the lower bounds that follow."""
    lines = [["colours", "corner", "rim", "inner", "inner by the paper's formula", "inner, not symmetric"]]
    for colours in range(1, 7):
        corner, rim, inner, turning = distinct_pieces(colours)
        lines.append([str(colours), *map(str, (corner, rim, inner, _printed(colours), turning))])
    bounds = [["side", "all pieces", "no symmetric ones", "paper"]]
    for side in range(3, 17):
        paper = next((bound for last, bound in TABLE_5.items() if side <= last), None)
        both = [fewest_colours(side, side, symmetric=symmetric) for symmetric in (True, False)]
        bounds.append([str(side), *map(str, both), "-" if paper is None else str(paper)])
    return (
        "table 5: distinct pieces by colours, listed\n"
        + aligned(lines)
        + "\n\nlower bounds on the colours of a single-solution puzzle; the paper counts both orientations of a\n"
        + "symmetric piece, so its single solutions have none\n"
        + aligned(bounds)
    )


def _printed(c: int) -> int:
    """The paper's number of inner pieces: c + 4 C(c,2) + 6 C(c,3) + 6 C(c,4)."""
    return c + 2 * c * (c - 1) + c * (c - 1) * (c - 2) + c * (c - 1) * (c - 2) * (c - 3) // 4


# -- 2.5: Eternity II -----------------------------------------------------------------------------------------------


def barrier_runs(nodes: int) -> Iterator[PlannedRun]:
    """Plan the estimate of the number of 4x4 blocks, and a search by each method that reports its deepest level."""
    question = f"{SAMPLES} samples; seed 1"
    yield PlannedRun(BARRIER_INSTANCE, "4x4 blocks", question, partial(_block_row, BARRIER_INSTANCE))
    for method in BARRIER_METHODS:
        budget = nodes * BARRIER_SHARE.get(method, 1)
        make = partial(_deepest, BARRIER_INSTANCE, method, budget)
        yield PlannedRun(BARRIER_INSTANCE, f"depth:{method}", f"deepest level; {budget} nodes", make)


def _block_row(instance: str) -> ComparisonRow:
    begun = time.process_time()
    mean, error = count_inner_blocks(load_puzzle(instance), 4, SAMPLES, 1)
    note = f"{mean:.2e} +- {error:.1e}"
    return ComparisonRow(
        instance, "4x4 blocks", "solved", nodes=SAMPLES, seconds=time.process_time() - begun, note=note
    )


def _deepest(instance: str, method: str, nodes: int) -> ComparisonRow:
    begun = time.process_time()
    puzzle = load_puzzle(instance)
    search: Cover | Blocks
    if method.startswith("dlx"):
        search = Cover(puzzle, "binary" if method.endswith("binary") else "unary", all_four=True)
    else:
        search = Blocks(puzzle, 1 if method == "zig-zag" else 2, all_four=True)
    status, _ = run_search(search, count_all=True, nodes=nodes, seconds=None)
    if status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    deepest = int(np.flatnonzero(search.state.per_level).max()) * (4 if method == "grouping" else 1)
    seconds = time.process_time() - begun
    note = f"{deepest} pieces"
    return ComparisonRow(instance, f"depth:{method}", BUDGET_SPENT, search.solutions, search.nodes, seconds, note=note)


def barrier_text(rows: Sequence[ComparisonRow]) -> str:
    """Section 2.5: the number of 4x4 blocks, and the deepest level that each method reached."""
    lines = [["on " + BARRIER_INSTANCE, "nodes", "seconds", "result"]]
    for row in rows:
        if row.instance == BARRIER_INSTANCE:
            lines.append([row.solver, f"{row.nodes:,}", rounded(row.seconds), row.note])
    return (
        "section 2.5: inner 4x4 blocks (the paper: over 2e14 blocks of all kinds), deepest levels (210 to 220)\n"
        + aligned(lines)
    )
