"""The search loop: open a frame (choose a cell), try its values, and jump back after a failure.

``counters[FRAME_OPEN]`` says whether the frame of the current depth is open, so that the loop can pause after any node.
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.branching import (
    NO_CELL,
    cell_demanding_colour,
    cell_without_pair,
    explains_level,
    list_colour_values,
    list_values,
    most_urgent_cell,
    motif_1_2_cell,
    motif_3_4_cell,
    propagate,
    smallest_offer_pair,
    sort_values,
    undo_preemptions,
)
from exact.colorpairs.colours import place
from exact.colorpairs.explain import explain, explain_values
from exact.colorpairs.moves import assign, show_side, unassign
from exact.colorpairs.shaving import shave
from exact.colorpairs.state import (
    CONTRADICTIONS,
    DEEPEST,
    DEPTH,
    EXHAUSTED,
    FRAME_OPEN,
    LEVELS_JUMPED,
    NODES,
    PREEMPTED,
    ROOT,
    SOLUTIONS,
    THREE_SIDED,
    State,
    Switches,
)
from exact.colorpairs.tables import Tables
from lns_support.bits import bit, highest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel


@flat_kernel
def prepare(t: Tables, s: State, clue_cells: np.ndarray, clue_values: np.ndarray) -> bool:
    """Set the sides known from outside and place the clues; False if that is a contradiction already."""
    for cell in range(t.cells):
        for side in range(4):
            colour = t.shown[cell * 4 + side]
            if colour >= 0 and show_side(t, s, cell, side, colour, True) >= 0:
                return False
    for i in range(len(clue_cells)):
        cause, _ = assign(t, s, clue_cells[i], clue_values[i], ROOT, 0, True, True)
        if cause >= 0:
            return False
    return True


@inline_flat_kernel
def open_frame(
    t: Tables, s: State, w: Switches, depth: int, empty: int, colours: bool, with_shaving: bool | None
) -> bool:
    """Choose the cell of this depth and list its values; False on a contradiction, explained in ``s.explanation``."""
    start = s.frame_end[depth - 1] if depth else 0
    for word in range(t.words):
        s.conflict[depth * t.words + word] = 0
    s.preempted_height[depth] = s.counters[PREEMPTED]
    s.frame_next[depth] = start
    s.frame_pair[depth] = 0
    cell = NO_CELL
    three_sided = s.counters[THREE_SIDED] > 0
    if not three_sided:
        cause, cell = propagate(t, s, w)
        if cause >= 0:
            s.counters[CONTRADICTIONS] += 1
            if w.backjumping:
                explain(t, s, cause, s.nb_preempted[cause] > 0)
            return False
    if cell == NO_CELL and not three_sided and w.single_colours and w.instantiation and depth:
        last = s.grid[s.frame_cell[depth - 1]]
        for side in range(4):
            colour = t.quad[last * 4 + side]
            if colour and s.colour_demand[colour] == 1 and s.colour_offer[colour] == 1:
                cell = cell_demanding_colour(t, s, colour)
                s.frame_cell[depth] = cell
                s.frame_pair[depth] = -1 - colour
                s.frame_end[depth] = list_colour_values(t, s, cell, colour, start)
                return True
    if with_shaving is not None:  # noqa: SIM102 (alone, numba leaves the branch out of the machine code for None)
        if cell == NO_CELL and (w.shaving or not three_sided):
            shaved, end, dead = shave(t, s, w, depth, empty, start, colours)
            if dead:
                return False
            if shaved != NO_CELL:
                s.frame_cell[depth] = shaved
                s.frame_end[depth] = end
                return True
    if cell == NO_CELL and three_sided:
        cell = motif_1_2_cell(t, s, w)
    if cell == NO_CELL and w.motifs:
        cell = motif_3_4_cell(t, s, w)
    if cell == NO_CELL:
        cell = most_urgent_cell(t, s, w)
    if cell == NO_CELL:
        cell, colour = cell_without_pair(t, s)
        s.frame_cell[depth] = cell
        s.frame_pair[depth] = -1 - colour
        s.frame_end[depth] = list_colour_values(t, s, cell, colour, start)
        return True
    pair = smallest_offer_pair(s, w, cell)
    s.frame_cell[depth] = cell
    s.frame_pair[depth] = pair
    s.frame_end[depth] = list_values(t, s, w, cell, pair, start)
    if w.values:
        sort_values(t, s, pair, start, s.frame_end[depth])
    return True


@flat_kernel
def search(
    t: Tables, s: State, w: Switches, empty: int, budget: int, stop_at_first: bool, with_shaving: bool | None
) -> None:
    """Go on for ``budget`` nodes, or to the end of the tree, or to the next solution if ``stop_at_first``.

    A node is a placement tried: a piece that matches all known sides of the chosen cell. ``empty``: cells without clue.
    ``with_shaving``: None without any shaving, so that its code is compiled only for those who use it.
    """
    words = t.words
    colours = w.single_colours or w.shared_edges or w.cycles
    depth = s.counters[DEPTH]
    frame_open = s.counters[FRAME_OPEN] != 0
    limit = s.counters[NODES] + budget
    while True:
        failed = False
        if not frame_open:
            frame_open = True
            if not open_frame(t, s, w, depth, empty, colours, with_shaving):
                failed = True
                for k in range(words):
                    s.conflict[depth * words + k] = s.explanation[k]
        elif s.frame_next[depth] == s.frame_end[depth]:
            failed = True
            if w.backjumping:
                for k in range(words):
                    s.explanation[k] = s.conflict[depth * words + k]
                skip_preempted = w.preemption and s.counters[THREE_SIDED] == 0
                explain_values(t, s, s.frame_cell[depth], s.frame_pair[depth], skip_preempted)
                for k in range(words):
                    s.conflict[depth * words + k] = s.explanation[k]
        else:
            if s.counters[NODES] >= limit:
                break
            s.counters[NODES] += 1
            cell = s.frame_cell[depth]
            value = s.values[s.frame_next[depth]]
            s.frame_next[depth] += 1
            cause, shown = place(t, s, w, cell, value, depth, colours)
            if cause < 0 and depth + 1 < empty:
                depth += 1
                frame_open = False
                if depth > s.counters[DEEPEST]:
                    s.counters[DEEPEST] = depth
                continue
            if cause < 0:
                if s.counters[SOLUTIONS] == 0:
                    for c in range(t.cells):
                        s.first_solution[c] = s.grid[c]
                s.counters[SOLUTIONS] += 1
                s.counters[DEEPEST] = empty
                unassign(t, s, cell, shown, depth, colours)
                for level in range(depth):  # a solution depends on every level: step back one by one
                    s.conflict[depth * words + (level >> 6)] |= bit(level)
                if stop_at_first:
                    break
                continue
            s.counters[CONTRADICTIONS] += 1
            if w.backjumping:
                explain(t, s, cause, False)
            unassign(t, s, cell, shown, depth, colours)
            if w.backjumping:
                if explains_level(s, depth):
                    for k in range(words):
                        s.conflict[depth * words + k] |= s.explanation[k]
                    s.conflict[depth * words + (depth >> 6)] &= ~bit(depth)
                else:  # refuted without this placement
                    failed = True
                    for k in range(words):
                        s.conflict[depth * words + k] = s.explanation[k]
        if failed:
            target = depth - 1
            if w.backjumping:
                target = -1
                for k in range(words):
                    if s.conflict[depth * words + k]:
                        target = (k << 6) + highest_bit(s.conflict[depth * words + k])
                s.counters[LEVELS_JUMPED] += depth - 1 - target
            if target < 0:
                s.counters[EXHAUSTED] = 1
                break
            for k in range(words):
                s.conflict[target * words + k] |= s.conflict[depth * words + k]
            s.conflict[target * words + (target >> 6)] &= ~bit(target)
            while depth > target:
                undo_preemptions(t, s, s.preempted_height[depth])
                depth -= 1
                unassign(t, s, s.frame_cell[depth], 4, depth, colours)
    s.counters[DEPTH] = depth
    s.counters[FRAME_OPEN] = frame_open
