"""The search: one loop that opens a frame (chooses a cell), tries its values, fails and jumps back. No recursion.

``counters[TRYING]`` says whether the frame of the current depth is open, so that the loop can pause after any node.
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.branching import (
    NO_CELL,
    crowded_cell,
    few_survivors,
    has_bit,
    list_colour_values,
    list_values,
    lone_colour_cell,
    motif_cell,
    propagate,
    release,
    sort_values,
    tightest_pair,
    urgent_cell,
)
from exact.colorpairs.colours import colour_cause
from exact.colorpairs.explain import explain, explain_values
from exact.colorpairs.moves import assign, show_side, unassign
from exact.colorpairs.state import (
    CONTRADICTIONS,
    CROWDED,
    DEEPEST,
    DEPTH,
    EXHAUSTED,
    LEVELS_JUMPED,
    NODES,
    PREEMPTED,
    ROOT,
    SHAVED,
    SOLUTIONS,
    TRYING,
    State,
    Switches,
)
from exact.colorpairs.tables import SLOTS, Tables
from lns_support.bits import bit, highest_bit, lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel


@flat_kernel
def prepare(t: Tables, s: State, clue_cells: np.ndarray, clue_values: np.ndarray) -> bool:
    """Show the rim, then place the clues; False when a pair is contradicted at once."""
    for cell in range(t.cells):
        for side in range(4):
            if t.neighbour[cell * 4 + side] < 0 and show_side(t, s, cell, side, 0) >= 0:
                return False
    for i in range(len(clue_cells)):
        cause, _ = assign(t, s, clue_cells[i], clue_values[i], ROOT, 0, True)
        if cause >= 0:
            return False
    return True


@inline_flat_kernel
def place(t: Tables, s: State, w: Switches, cell: int, oriented: int, depth: int, colours: bool) -> tuple[int, int]:
    """`assign`, then the bounds on single colours where they are switched on."""
    cause, shown = assign(t, s, cell, oriented, depth, depth, colours)
    if cause < 0 and colours:
        cause = colour_cause(t, s, w, oriented)
    return cause, shown


@inline_flat_kernel
def shave(t: Tables, s: State, w: Switches, depth: int, start: int, colours: bool) -> tuple[int, int, bool]:
    """Try each value of each surrounded cell (5.1): (cell with at most one value left or NO_CELL, end of its values,
    whether the node is contradicted whatever the cell, explained in ``s.explanation``).

    Called while every surrounded cell demands one pair; `few_survivors` finds the cells worth the real trial.
    What refuted the other values of that cell is added to the frame's conflict.
    """
    conflict = depth * t.words
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            pair = s.cell_pairs[cell * SLOTS]
            if not few_survivors(t, s, cell, pair):
                continue
            end = list_values(t, s, w, cell, pair, start)
            kept = start
            for i in range(start, end):
                value = s.values[i]
                cause, shown = place(t, s, w, cell, value, depth, colours)
                s.counters[SHAVED] += 1
                if cause < 0:
                    s.values[kept] = value
                    kept += 1
                elif w.backjumping:
                    explain(t, s, cause, False)
                    for k in range(t.words):
                        s.conflict[conflict + k] |= s.explanation[k]
                unassign(t, s, cell, shown, depth, colours)
                if cause >= 0 and w.backjumping and not has_bit(s, depth):
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
    s.preempted_mark[depth] = s.counters[PREEMPTED]
    s.frame_next[depth] = start
    s.frame_pair[depth] = 0
    cell = NO_CELL
    if s.counters[CROWDED]:
        cell = crowded_cell(t, s, w)
    else:
        cause, cell = propagate(t, s, w)
        if cause >= 0:
            s.counters[CONTRADICTIONS] += 1
            if w.backjumping:
                explain(t, s, cause, s.taken[cause] > 0)
            return False
    if cell == NO_CELL and w.single_colours and w.instantiation and depth:
        last = s.grid[s.frame_cell[depth - 1]]
        for side in range(4):
            colour = t.quad[last * 4 + side]
            if colour and s.asking[colour] == 1 and s.having[colour] == 1:
                cell = lone_colour_cell(t, s, colour)
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
        cell = motif_cell(t, s, w)
    if cell == NO_CELL:
        cell = urgent_cell(t, s, w)
    pair = tightest_pair(t, s, w, cell)
    s.frame_cell[depth] = cell
    s.frame_pair[depth] = pair
    s.frame_end[depth] = list_values(t, s, w, cell, pair, start)
    if w.values:
        sort_values(t, s, pair, start, s.frame_end[depth])
    return True


@flat_kernel
def search(t: Tables, s: State, w: Switches, empty: int, budget: int, stop_at_first: bool) -> None:
    """Go on for ``budget`` nodes, or to the end of the tree, or to the next solution when ``stop_at_first``.

    A node is a placement tried: a piece that fits all known sides of the chosen cell. ``empty``: cells without a clue.
    """
    words = t.words
    colours = w.single_colours or w.shared_edges or w.cycles
    depth = s.counters[DEPTH]
    trying = s.counters[TRYING] != 0
    limit = s.counters[NODES] + budget
    while True:
        failed = False
        if not trying:
            trying = True
            if not open_frame(t, s, w, depth, colours):
                failed = True
                for k in range(words):
                    s.conflict[depth * words + k] = s.explanation[k]
        elif s.frame_next[depth] == s.frame_end[depth]:
            failed = True
            if w.backjumping:
                for k in range(words):
                    s.explanation[k] = s.conflict[depth * words + k]
                respect_taken = w.preemption and s.counters[CROWDED] == 0
                explain_values(t, s, s.frame_cell[depth], s.frame_pair[depth], respect_taken)
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
                trying = False
                if depth > s.counters[DEEPEST]:
                    s.counters[DEEPEST] = depth
                continue
            if cause < 0:
                if s.counters[SOLUTIONS] == 0:
                    for c in range(t.cells):
                        s.first[c] = s.grid[c]
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
                if has_bit(s, depth):
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
                release(t, s, s.preempted_mark[depth])
                depth -= 1
                unassign(t, s, s.frame_cell[depth], 4, depth, colours)
    s.counters[DEPTH] = depth
    s.counters[TRYING] = trying
