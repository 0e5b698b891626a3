"""Record searches step by step: what is decided, what is taken back, and why.

A kernel is advanced by one node at a time, and its state is read after each node. A SAT solver reports its decisions
and assignments (`lns.exact.sat.steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lns.exact import rowscan as scans
from lns.exact.colorpairs.kernel import ColorPairs
from lns.exact.colorpairs.state import counter as pairs
from lns.exact.cover import kernel as covers
from lns.exact.cover.search import Cover
from lns.exact.kernels.bits import bit
from lns.exact.outcome import SolveStatus
from lns.exact.registry import solver_for
from lns.exact.rowscan import RowScan
from lns.exact.sat.steps import Painting, paintings
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of

PLACED, REFUSED, SOLUTION = "placed", "refused", "solution"
MAX_STEPS = 100_000


@dataclass(frozen=True)
class Step:
    """One node of a search."""

    depth: int  # number of decisions in force before this node
    cell: int  # the cell that this node decides
    oriented: int  # the oriented piece that is tried on the cell
    outcome: str  # "placed", "refused" or "solution"
    depth_after: int  # number of decisions in force after this node: depth + 1 if the piece stays, else depth or fewer
    why: str = ""  # what the search found at this node, in words; empty if there is nothing to say


@dataclass(frozen=True)
class Trace:
    """The first steps of a search."""

    solver: str
    steps: tuple[Step, ...] | tuple[Painting, ...]  # of type `Painting` for a SAT solver, else `Step`
    status: SolveStatus  # how the search ended within these steps; BUDGET_SPENT if the search had more steps


def trace(puzzle: Puzzle, solver: str = "colorpairs", *, steps: int = 5000) -> Trace:
    """Search for the first solution and record each node, or each step of a SAT solver, up to ``steps``.

    Raises InputError if the solver is not in `TRACED` or refuses the puzzle, or if ``steps`` is not 1 to `MAX_STEPS`.
    """
    if solver not in TRACED:
        raise InputError(f"solver '{solver}' cannot be watched step by step; expected one of {', '.join(TRACED)}")
    solver_for(solver, puzzle, count_all=False)
    if not 1 <= steps <= MAX_STEPS:
        raise InputError(f"{steps} steps; expected 1 to {MAX_STEPS:,}")
    if solver in _SAT:
        return Trace(solver, *paintings(puzzle, steps, restricted=_SAT[solver]))
    recorded: list[Step] = []
    for step in TREE_SEARCHES[solver](puzzle):
        recorded.append(step)
        if step.outcome == SOLUTION or len(recorded) == steps:
            status = SolveStatus.SOLVED if step.outcome == SOLUTION else SolveStatus.BUDGET_SPENT
            return Trace(solver, tuple(recorded), status)
    return Trace(solver, tuple(recorded), SolveStatus.INFEASIBLE)


def _colorpairs(puzzle: Puzzle) -> Iterator[Step]:
    """Yield each node of ColorPairs as a step, until the search is complete."""
    search = ColorPairs(puzzle)
    state, counters = search._state, search.counters
    search.advance(0, False)  # takes no node, but chooses the first cell
    while not search.exhausted:
        depth = int(counters[pairs.DEPTH])
        cell, value = int(state.frame_cell[depth]), int(state.values[state.frame_next[depth]])
        piece_class, turn = search._class_of_piece[value >> 2], value & 3
        before = counters.copy()
        search.advance(1, False)
        after = 0 if search.exhausted else int(counters[pairs.DEPTH])
        stands = counters[pairs.DEEPEST] > depth and after > depth
        outcome = SOLUTION if search.solutions else PLACED if stands else REFUSED
        why = "" if search.solutions else _pairs_reason(search, before, depth, after)
        member, own_turn = search.classes.members[piece_class][0]
        yield Step(depth, cell, member * 4 + (own_turn + turn) % 4, outcome, after, why)


def _pairs_reason(search: ColorPairs, before: np.ndarray, depth: int, after: int) -> str:
    """Return in words what ColorPairs found at a node, from its counters before and after the node."""
    change, state = search.counters - before, search._state
    parts = []
    if change[pairs.CONTRADICTIONS]:
        parts.append("contradiction: more cells demand a pair of colours than pieces offer it")
    if change[pairs.PREEMPTIONS]:
        parts.append(f"preemption of {count_of(int(change[pairs.PREEMPTIONS]), 'piece')}")
    if change[pairs.LEVELS_JUMPED]:
        parts.append(f"jumps over {count_of(int(change[pairs.LEVELS_JUMPED]), 'decision')} without a part in it")
    if after <= depth and not search.exhausted:
        words = len(state.conflict) // len(state.frame_cell)
        conflict = state.conflict[after * words : (after + 1) * words]
        levels = [level + 1 for level in range(after) if conflict[level >> 6] & np.uint64(bit(level))]
        if levels:
            parts.append(f"conflict set: decisions {', '.join(map(str, levels))}")
    return "; ".join(parts)


def _rowscan(puzzle: Puzzle) -> Iterator[Step]:
    """Yield each node of the row scan as a step."""
    search, depth = RowScan(puzzle), 0
    while True:
        nodes = search.nodes
        search.advance(1, False)
        if search.nodes == nodes:
            break
        after, is_solved = int(search.counters[scans.DEPTH]), search.solutions > 0
        at = after if is_solved else after - 1
        chosen = int(search.state.first[at] if is_solved else search.state.chosen[at + puzzle.width])
        member, turn = search.tables.classes.members[(chosen & 0x1FFF) - 1][0]
        oriented = member * 4 + (turn + (chosen >> 13 & 3)) % 4
        taken = depth - at
        why = f"{taken} taken back: no piece fitted {puzzle.cell_label(depth)}" if taken > 0 else ""
        yield Step(at, at, oriented, SOLUTION if is_solved else PLACED, after, why)
        depth = after


def _dlx(puzzle: Puzzle) -> Iterator[Step]:
    """Yield each node of exact cover as a step, after the next call of the kernel, which shows if it is a solution."""
    search, last = Cover(puzzle), None
    while not search.exhausted:
        nodes = search.nodes
        search.advance(1, False)
        if last is not None:
            is_solved = search.solutions > 0
            yield replace(last, outcome=SOLUTION, depth_after=int(search.counters[covers.LEVEL])) if is_solved else last
        last = None
        if search.nodes > nodes:
            at, option, placed = covers.last_choice(search.state)
            why = "" if placed else "some cell or piece has no option left"
            cell, oriented = int(search.model.cell[option]), int(search.model.oriented[option])
            outcome, after = PLACED if placed else REFUSED, int(search.counters[covers.LEVEL])
            last = Step(at, cell, oriented, outcome, after, why)
    if last is not None:
        yield last


TREE_SEARCHES: dict[str, Callable[[Puzzle], Iterator[Step]]] = {
    "colorpairs": _colorpairs,
    "rowscan": _rowscan,
    "dlx": _dlx,
}
"""The searches whose nodes are recorded as steps, by solver name."""

_SAT = {"sat:triangles": False, "sat:triangles-restricted": True}
"""SAT solver -> whether its decisions are restricted to the variables of pieces and orientations."""

TRACED = (*TREE_SEARCHES, *_SAT)
"""The names of the solvers that `trace` can record."""
