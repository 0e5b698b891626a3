"""Shaving (Benoist & Bourreau 2008, 5.1): try the values of the surrounded cells at a node, and undo each trial.

The paper's shaving tries every value of every cell with two or more known sides, and each trial applies all filters to
their fixpoint. Quick shaving is weaker: it tries the cells where at most one value passes a test of single pairs, while
no cell has three known sides, and its trial is the placement alone. A trial is a kernel of its own, compiled only when
some shaving is on.
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.branching import (
    NO_CELL,
    at_most_one_passes,
    explains_level,
    list_values,
    propagate,
    smallest_offer_pair,
    undo_preemptions,
)
from exact.colorpairs.colours import place
from exact.colorpairs.explain import explain, explain_values
from exact.colorpairs.moves import NO_CAUSE, unassign
from exact.colorpairs.state import PREEMPTED, SHAVING_TESTS, THREE_SIDED, State, Switches
from exact.colorpairs.tables import SLOTS, Tables
from lns_support.bits import bit, lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

# answers of `next_forced`
NOTHING_FORCED, FORCED, WITHOUT_VALUE, CONTRADICTED = range(4)


@inline_flat_kernel
def next_forced(t: Tables, s: State, w: Switches, frame: int, start: int) -> tuple[int, int]:
    """The next deduction on the board, and the contradicted pair if it is a contradiction.

    FORCED: the cell recorded in ``frame`` has one value, ``s.values[start]``. WITHOUT_VALUE: it has none. While no cell
    has three known sides, the filters are those of `propagate`. Otherwise preemption is not sound (4.1); then the
    values of each cell with three or more known sides are listed, and of each other cell whose pair has one piece and
    one cell.
    """
    three_sided = s.counters[THREE_SIDED] > 0
    single = NO_CELL
    if not three_sided:
        cause, single = propagate(t, s, w)
        if cause >= 0:
            return CONTRADICTED, cause
        if single == NO_CELL:
            return NOTHING_FORCED, NO_CAUSE
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            if three_sided:
                pair = s.cell_pairs[cell * SLOTS]
                if s.known_sides[cell] == 2 and (s.demand[pair] > 1 or s.offer[pair] > 1 or not w.instantiation):
                    continue
            elif cell != single:
                continue
            pair = smallest_offer_pair(s, w, cell)
            end = list_values(t, s, w, cell, pair, start)
            if end == start or (end == start + 1 and w.instantiation):
                s.frame_cell[frame] = cell
                s.frame_pair[frame] = pair
                return (WITHOUT_VALUE if end == start else FORCED), NO_CAUSE
    return NOTHING_FORCED, NO_CAUSE


@flat_kernel
def is_refuted(
    t: Tables, s: State, w: Switches, cell: int, oriented: int, depth: int, empty: int, start: int, colours: bool
) -> bool:
    """True if ``oriented`` on ``cell`` is refuted: by all filters, or in quick shaving by the placement alone.

    The value is placed at level ``depth`` and what follows from it at the levels above, whose frames are free. The
    reason is in ``s.explanation``, in levels up to ``depth``; the board is afterwards as before. ``start``: free space
    in ``s.values``.
    """
    s.counters[SHAVING_TESTS] += 1
    s.frame_cell[depth] = cell
    value = oriented
    last = depth
    answer = NOTHING_FORCED
    while True:
        cause, shown = place(t, s, w, s.frame_cell[last], value, last, colours)
        s.preempted_height[last + 1] = s.counters[PREEMPTED]
        with_preempted = False
        if cause < 0 and w.shaving and last + 1 < empty:
            answer, cause = next_forced(t, s, w, last + 1, start)
            if answer == FORCED:
                last += 1
                value = s.values[start]
                continue
            with_preempted = cause >= 0 and s.nb_preempted[cause] > 0
        if cause >= 0:
            answer = CONTRADICTED
            if w.backjumping:
                explain(t, s, cause, with_preempted)
        break
    if answer == WITHOUT_VALUE:
        for word in range(t.words):
            s.explanation[word] = 0
    frame = last + 1
    while frame >= depth:
        if frame <= last:
            undo_preemptions(t, s, s.preempted_height[frame + 1])
            unassign(t, s, s.frame_cell[frame], shown, frame, colours)
            shown = 4
        if w.backjumping and frame > depth:
            without_value = answer == WITHOUT_VALUE and frame == last + 1
            if without_value or (answer > FORCED and frame <= last and explains_level(s, frame)):
                s.explanation[frame >> 6] &= ~bit(frame)
                explain_values(
                    t, s, s.frame_cell[frame], s.frame_pair[frame], w.preemption and s.counters[THREE_SIDED] == 0
                )
        frame -= 1
    return answer > FORCED


@inline_flat_kernel
def shave(t: Tables, s: State, w: Switches, depth: int, empty: int, start: int, colours: bool) -> tuple[int, int, bool]:
    """Try each value of each surrounded cell.

    Called while no cell has three known sides, or with ``w.shaving``, the paper's, which needs no such condition.

    Returns (a cell with at most one value left or NO_CELL, the end of its values, True if the node is contradicted
    whatever the cell holds). In the last case the reason is in ``s.explanation``. The reasons against the other values
    of the returned cell are added to the conflict of the frame. A cell is left as soon as two of its values pass.
    """
    conflict = depth * t.words
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            pair = smallest_offer_pair(s, w, cell)
            if not w.shaving and not at_most_one_passes(t, s, cell, pair):
                continue
            end = list_values(t, s, w, cell, pair, start)
            kept = start
            for i in range(start, end):
                value = s.values[i]
                if not is_refuted(t, s, w, cell, value, depth, empty, end, colours):
                    s.values[kept] = value
                    kept += 1
                    if kept > start + 1:
                        break
                elif w.backjumping:
                    if not explains_level(s, depth):
                        return cell, start, True
                    for k in range(t.words):
                        s.conflict[conflict + k] |= s.explanation[k]
            if kept <= start + 1:
                s.conflict[conflict + (depth >> 6)] &= ~bit(depth)
                s.frame_pair[depth] = pair
                return cell, kept, False
            for k in range(t.words):
                s.conflict[conflict + k] = 0
    return NO_CELL, start, False
