"""The search loop: open a frame (choose a cell), try its values, and jump back after a failure.

``counters[FRAME_OPEN]`` says whether the frame of the current depth is open, so that the loop can pause after any node.
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.branching import (
    NO_CELL,
    at_most_one_passes,
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
from exact.colorpairs.colours import colour_cause
from exact.colorpairs.explain import explain, explain_values
from exact.colorpairs.moves import assign, show_side, unassign
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
    SHAVING_TESTS,
    SOLUTIONS,
    THREE_SIDED,
    State,
    Switches,
)
from exact.colorpairs.tables import SLOTS, Tables
from lns_support.bits import bit, highest_bit, lowest_bit
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
def place(t: Tables, s: State, w: Switches, cell: int, oriented: int, depth: int, colours: bool) -> tuple[int, int]:
    """`assign`, then the bounds on single colours if they are switched on; (cause or NO_CAUSE, sides shown)."""
    cause, shown = assign(t, s, cell, oriented, depth, depth, colours, True)
    if cause < 0 and colours:
        cause = colour_cause(t, s, w, oriented)
    return cause, shown


@inline_flat_kernel
def shave(t: Tables, s: State, w: Switches, depth: int, start: int, colours: bool) -> tuple[int, int, bool]:
    """Shaving (5.1): try each value of each surrounded cell.

    Returns (a cell with at most one value left or NO_CELL, the end of its values, True if the node is contradicted
    whatever the cell holds). In the last case the reason is in ``s.explanation``. Called while every surrounded cell
    demands one pair. Only cells that pass `at_most_one_passes` are tried. The reasons against the other values of the
    returned cell are added to the conflict of the frame.
    """
    conflict = depth * t.words
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            pair = s.cell_pairs[cell * SLOTS]
            if not at_most_one_passes(t, s, cell, pair):
                continue
            end = list_values(t, s, w, cell, pair, start)
            kept = start
            for i in range(start, end):
                value = s.values[i]
                cause, shown = place(t, s, w, cell, value, depth, colours)
                s.counters[SHAVING_TESTS] += 1
                if cause < 0:
                    s.values[kept] = value
                    kept += 1
                elif w.backjumping:
                    explain(t, s, cause, False)
                    for k in range(t.words):
                        s.conflict[conflict + k] |= s.explanation[k]
                unassign(t, s, cell, shown, depth, colours)
                if cause >= 0 and w.backjumping and not explains_level(s, depth):
                    return cell, start, True
                if kept > start + 1:
                    break
            if kept <= start + 1:
                s.conflict[conflict + (depth >> 6)] &= ~bit(depth)
                s.frame_pair[depth] = pair
                return cell, kept, False
            for k in range(t.words):
                s.conflict[conflict + k] = 0
    return NO_CELL, start, False


@inline_flat_kernel
def open_frame(t: Tables, s: State, w: Switches, depth: int, colours: bool) -> bool:
    """Choose the cell of this depth and list its values; False on a contradiction, explained in ``s.explanation``."""
    start = s.frame_end[depth - 1] if depth else 0
    for word in range(t.words):
        s.conflict[depth * t.words + word] = 0
    s.preempted_height[depth] = s.counters[PREEMPTED]
    s.frame_next[depth] = start
    s.frame_pair[depth] = 0
    cell = NO_CELL
    if s.counters[THREE_SIDED]:
        cell = motif_1_2_cell(t, s, w)
    else:
        cause, cell = propagate(t, s, w)
        if cause >= 0:
            s.counters[CONTRADICTIONS] += 1
            if w.backjumping:
                explain(t, s, cause, s.nb_preempted[cause] > 0)
            return False
    if cell == NO_CELL and w.single_colours and w.instantiation and depth:
        last = s.grid[s.frame_cell[depth - 1]]
        for side in range(4):
            colour = t.quad[last * 4 + side]
            if colour and s.colour_demand[colour] == 1 and s.colour_offer[colour] == 1:
                cell = cell_demanding_colour(t, s, colour)
                s.frame_cell[depth] = cell
                s.frame_pair[depth] = -1 - colour
                s.frame_end[depth] = list_colour_values(t, s, cell, colour, start)
                return True
    if w.shaving and cell == NO_CELL:
        shaved, end, dead = shave(t, s, w, depth, start, colours)
        if dead:
            return False
        if shaved != NO_CELL:
            s.frame_cell[depth] = shaved
            s.frame_end[depth] = end
            return True
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
    pair = smallest_offer_pair(t, s, w, cell)
    s.frame_cell[depth] = cell
    s.frame_pair[depth] = pair
    s.frame_end[depth] = list_values(t, s, w, cell, pair, start)
    if w.values:
        sort_values(t, s, pair, start, s.frame_end[depth])
    return True


@flat_kernel
def search(t: Tables, s: State, w: Switches, empty: int, budget: int, stop_at_first: bool) -> None:
    """Go on for ``budget`` nodes, or to the end of the tree, or to the next solution if ``stop_at_first``.

    A node is a placement tried: a piece that matches all known sides of the chosen cell. ``empty``: cells without clue.
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
            if not open_frame(t, s, w, depth, colours):
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
