"""Jolivet 2008: the search of a tree, paths (figure 3), searched puzzles (tables 3 and 4), estimates (2.5).

Each part has planned runs and a text. The puzzles that a search finds are kept in the rows: the note is the text of
their joints, which `lns.exact.paper.design.joints_of` reads.

References
----------
T. Jolivet, "Eternity II : puzzles, algorithmique et complexité", ENS de Lyon, 2008, sections
2.1 (figure 3), 2.5, 4.2 (table 3) and 5.2 (tables 4 and 5).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial

import numpy as np

from lns.exact.blocks import Blocks, count_inner_blocks
from lns.exact.compare import ComparisonRow
from lns.exact.cover.search import Cover
from lns.exact.driver import run_search
from lns.exact.outcome import SolveStatus
from lns.exact.paper.design import distinct_pieces, fewest_colours, improve
from lns.exact.paper.runs import BUDGET_SPENT, Plan, PlannedRun, Rows, crossed, mean_of, rounded
from lns.exact.text_table import aligned
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle

CODES = {"dlx": "unary", "dlx:binary": "binary"}
# The paper has two codes of colours and does not say which its tables used; the measured counts fit the binary one.

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
BARRIER_METHODS = {"zig-zag": 1000, "dlx:binary": 1, "dlx": 1, "grouping": 50}
"""Method -> how many times cheaper its nodes are than those of dlx."""
MOST_BARRIER_NODES = 100_000  # of dlx
SAMPLES = 300_000


def random_puzzle(width: int, height: int, colours: int, seed: int) -> Puzzle:
    """A puzzle with uniform colours and the upper left corner of its planted solution fixed."""
    return uniform(width, height, colours, seed).with_clues([0]).puzzle


def tree(puzzle: Puzzle, method: str, nodes: int) -> tuple[Cover | Blocks, float]:
    """Search the tree of ``method`` to its end or for ``nodes`` nodes.

    Returns
    -------
    search : Cover or Blocks
    seconds : float
        Of processor time, with the matrix or the list of blocks, without compilation.

    Raises
    ------
    KeyboardInterrupt
        If interrupted.
    """
    _compile(method)
    begun = time.process_time()
    search = _new_search(puzzle, method)
    status, _ = run_search(search, count_all=True, nodes=nodes, seconds=None)
    if status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return search, time.process_time() - begun


def _new_search(puzzle: Puzzle, method: str) -> Cover | Blocks:
    if method in CODES:
        return Cover(puzzle, CODES[method], all_four=True)
    return Blocks(puzzle, 1 if method == "zig-zag" else 2, all_four=True)


@cache
def _compile(method: str) -> None:
    _new_search(random_puzzle(2, 2, 1, 1), method).advance(0, True)


# -- figure 3: the sum of the constraints is the number of joints whatever the path, so that only their order matters --


def path_runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan a scan along each path of each puzzle of `PATH_CLASSES`."""
    for side, colours in PATH_CLASSES:
        for name in PATHS if side in plan.sizes else ():
            for seed in plan.seeds:
                instance = f"{side}x{side}-c{colours}-s{seed}"
                make = partial(_along, instance, (side, side, colours, seed), name, plan.nodes)
                yield PlannedRun(instance, f"path:{name}", "all solutions", make, plan.nodes)


def _along(instance: str, shape: tuple[int, int, int, int], name: str, nodes: int) -> ComparisonRow:
    order = path(name, shape[0], shape[1])
    search = scan_along(random_puzzle(*shape), order, nodes)
    status = "solved" if search.exhausted else BUDGET_SPENT
    return ComparisonRow(instance, f"path:{name}", status, search.solutions, search.nodes)


def path_text(by_class: Rows) -> str:
    """Figure 3: local constraints along each path of a 4x4 board, and mean nodes by class."""
    puzzle = uniform(4, 4, 4, 1).puzzle
    classes = [f"{n}x{n}, {k} colours" for n, k in PATH_CLASSES]
    lines = [["path", "constraints by place on a 4x4 board", "sum", *classes]]
    for name in PATHS:
        counts = constraints(path(name, 4, 4), puzzle)
        line = [name, " ".join(map(str, counts)), str(sum(counts))]
        for side, colours in PATH_CLASSES:
            chosen = by_class[f"{side}x{side}-c{colours}", f"path:{name}"]
            mark = ">" if any(row.status == BUDGET_SPENT for row in chosen) else ""
            line.append(mark + rounded(mean_of([row.nodes for row in chosen])))
        lines.append(line)
    return "figure 3: local constraints by path, and mean nodes\n" + aligned(lines)


PATHS = ("rows", "snake", "diagonals", "spiral", "rim first", "chessboard")


def path(name: str, width: int, height: int) -> list[int]:
    """The cells of a board in the order of a path of `PATHS`.

    ``rows`` is the paper's choice. ``chessboard`` visits cells of one colour first, which no neighbour constrains.
    """
    cells = [(row, column) for row in range(height) for column in range(width)]
    if name == "snake":
        cells.sort(key=lambda cell: (cell[0], cell[1] if cell[0] % 2 == 0 else -cell[1]))
    elif name == "diagonals":
        cells.sort(key=lambda cell: (cell[0] + cell[1], cell[0]))
    elif name == "spiral":
        cells = _spiral(width, height)
    elif name == "rim first":
        rim = _spiral(width, height)[: len(cells) - max(0, width - 2) * max(0, height - 2)]
        cells = rim + [cell for cell in cells if cell not in rim]
    elif name == "chessboard":
        cells.sort(key=lambda cell: (cell[0] + cell[1]) % 2)
    return [row * width + column for row, column in cells]


def _spiral(width: int, height: int) -> list[tuple[int, int]]:
    """The cells from the upper left corner inwards, clockwise."""
    left = {(row, column) for row in range(height) for column in range(width)}
    row, column, step = 0, 0, (0, 1)
    cells = []
    while left:
        cells.append((row, column))
        left.remove((row, column))
        if (row + step[0], column + step[1]) not in left:
            step = (step[1], -step[0])
        row, column = row + step[0], column + step[1]
    return cells


def constraints(order: list[int], puzzle: Puzzle) -> list[int]:
    """For each cell of a path, the number of its neighbours earlier on the path."""
    place = {cell: at for at, cell in enumerate(order)}
    return [sum(place[other] < at for _, other in puzzle.neighbours(cell)) for at, cell in enumerate(order)]


def scan_along(puzzle: Puzzle, order: list[int], nodes: int) -> Blocks:
    """Search the tree of a path to its end, or for ``nodes`` nodes; the empty board is one."""
    search = Blocks(puzzle, 1, order, all_four=True)
    search.advance(nodes - 1, False)
    return search


# -- tables 3 and 4: searched puzzles -------------------------------------------------------------------------------


def hard_runs(plan: Plan, classes: Iterable[tuple[int, int]]) -> Iterator[PlannedRun]:
    """Plan a search for a hard puzzle of each class (side, colours)."""
    for side, colours in classes:
        yield _search_run(plan, side, side, colours, "hard", f"hardest of {plan.trees} boards")


def single_runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan a search for a puzzle with a single solution: as many colours as the paper's bound, and one less."""
    for (width, height), bound in TABLE_4.items():
        for colours in (bound, bound - 1):
            if max(width, height) in plan.sizes and colours >= fewest_colours(width, height, symmetric=False):
                what = f"single solution among {plan.trees} boards"
                yield _search_run(plan, width, height, colours, "single", what)


def _search_run(plan: Plan, width: int, height: int, colours: int, goal: str, what: str) -> PlannedRun:
    name, question = f"{width}x{height}-c{colours}", f"{what}; {plan.nodes} nodes a tree; seed {plan.seed}"

    def make() -> ComparisonRow:
        begun = time.process_time()
        found = improve(width, height, colours, goal, trees=plan.trees, nodes=plan.nodes, seed=plan.seed)
        best = next(iter(deque(found, maxlen=1)), None)
        seconds = time.process_time() - begun
        if best is None:
            return ComparisonRow(name, goal, BUDGET_SPENT, seconds=seconds)
        status = "solved" if goal == "hard" or best.solutions == 1 else BUDGET_SPENT
        return ComparisonRow(name, goal, status, best.solutions, best.nodes, seconds, note=best.text)

    return PlannedRun(name, goal, question, make)


def single_text(rows: Sequence[ComparisonRow]) -> str:
    """Table 4: the fewest colours with which a single-solution puzzle was found, and the lower bound by counting."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.solver == "single":
            shape, _, colours = row.instance.partition("-c")
            found.setdefault(shape, []).extend([int(colours)] if row.solutions == 1 else [])

    def cell(height: int, width: int) -> str:
        if width < height or (shape := f"{width}x{height}") not in found:
            return ""
        low = fewest_colours(width, height, symmetric=False)
        return f"{low}..{min(found[shape], default='?')} ({TABLE_4[width, height]})"

    sides = {str(side): side for side in range(3, 11)}
    head = "table 4: colours of puzzles with a single solution: lower bound .. fewest found (the paper's bound)\n"
    return head + crossed("", sides, sides, cell)


# -- table 5 --------------------------------------------------------------------------------------------------------


def bound_text() -> str:
    """Table 5: numbers of distinct pieces, counted, beside the printed formula, and the lower bounds that follow."""
    lines = [["colours", "corner", "rim", "inner", "inner by the paper's formula", "inner, not symmetric"]]
    for c in range(1, 7):
        corner, rim, inner, turning = distinct_pieces(c)
        # c + 4 C(c,2) + 6 C(c,3) + 6 C(c,4)
        printed = c + 2 * c * (c - 1) + c * (c - 1) * (c - 2) + c * (c - 1) * (c - 2) * (c - 3) // 4
        lines.append(list(map(str, (c, corner, rim, inner, printed, turning))))
    bounds = [["side", "all pieces", "no symmetric ones", "paper"]]
    for side in range(3, 17):
        paper = next((bound for last, bound in TABLE_5.items() if side <= last), "-")
        both = [fewest_colours(side, side, symmetric=symmetric) for symmetric in (True, False)]
        bounds.append(list(map(str, (side, *both, paper))))
    return (
        "table 5: distinct pieces by colours, listed\n"
        + aligned(lines)
        + "\n\nlower bounds on the colours of a single-solution puzzle; the paper counts both orientations of a\n"
        + "symmetric piece, so its single solutions have none\n"
        + aligned(bounds)
    )


# -- 2.5: Eternity II -----------------------------------------------------------------------------------------------


def barrier_runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan the estimate of the number of 4x4 blocks, and a search by each method that reports its deepest level."""
    yield PlannedRun(BARRIER_INSTANCE, "4x4 blocks", f"{SAMPLES} samples; seed 1", _block_row)
    for method, cheaper in BARRIER_METHODS.items():
        budget = min(plan.nodes, MOST_BARRIER_NODES) * cheaper
        make = partial(_deepest, method, budget)
        yield PlannedRun(BARRIER_INSTANCE, f"depth:{method}", f"deepest level; {budget} nodes", make)


def _block_row() -> ComparisonRow:
    begun = time.process_time()
    mean, error = count_inner_blocks(load_puzzle(BARRIER_INSTANCE), 4, SAMPLES, 1)
    note, seconds = f"{mean:.2e} +- {error:.1e}", time.process_time() - begun
    return ComparisonRow(BARRIER_INSTANCE, "4x4 blocks", "solved", nodes=SAMPLES, seconds=seconds, note=note)


def _deepest(method: str, nodes: int) -> ComparisonRow:
    search, seconds = tree(load_puzzle(BARRIER_INSTANCE), method, nodes)
    deepest = int(np.flatnonzero(search.state.per_level).max()) * (4 if method == "grouping" else 1)
    figures = search.solutions, search.nodes, seconds
    return ComparisonRow(BARRIER_INSTANCE, f"depth:{method}", BUDGET_SPENT, *figures, note=f"{deepest} pieces")


def barrier_text(rows: Sequence[ComparisonRow]) -> str:
    """Section 2.5: the number of 4x4 blocks, and the deepest level that each method reached."""
    lines = [["on " + BARRIER_INSTANCE, "nodes", "seconds", "result"]]
    chosen = [row for row in rows if row.instance == BARRIER_INSTANCE]
    lines += [[row.solver, f"{row.nodes:,}", rounded(row.seconds), row.note] for row in chosen]
    head = "section 2.5: inner 4x4 blocks (the paper: over 2e14 blocks of all kinds), deepest levels (210 to 220)\n"
    return head + aligned(lines)
