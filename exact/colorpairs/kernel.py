"""The search by ColorPairs: open a stack frame (choose a cell), try pieces on the cell, jump back after a failure.

``counters[FRAME_OPEN]`` says whether the stack frame of the current depth is open: a search can pause after any node.

Shaving (Benoist & Bourreau 2008, 5.1) tries oriented pieces on the cells with two or more known sides at a node, and
undoes each trial. The paper's shaving tries all these cells, each until two oriented pieces pass, and a trial applies
all filters until nothing changes. Quick shaving is weaker: only while no cell has three known sides, it tries the cells
where at most one oriented piece passes a test of each colour pair by itself, and a trial is only the placement.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lns.exact.colorpairs import branching, explain
from lns.exact.colorpairs.branching import NO_CELL
from lns.exact.colorpairs.moves import NO_CAUSE, assign, place, show_side, unassign
from lns.exact.colorpairs.options import Options
from lns.exact.colorpairs.state import I32, ROOT, SLOTS, State, Switches, Tables, build_tables, counter, empty_state
from lns.exact.driver import CountedSearch, explored_share
from lns.exact.kernels.bits import bit, lowest_bit
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.piece_classes import merge_duplicates
from lns.instances.board import Board
from lns.instances.puzzle import GREY, Puzzle

NO_COLOUR = -1
# what `next_forced` can return
NOTHING_FORCED, FORCED, WITHOUT_VALUE, CONTRADICTED = range(4)
# what `try_value` can return
PLACED, SOLUTION, REFUTED, FAILED = range(4)


@flat_kernel
def prepare(t: Tables, s: State, clue_cells: I32, clue_values: I32, exact: bool) -> bool:
    """Set the sides in ``t.shown``, then place clues; return False at a contradiction (of sides: only if ``exact``)."""
    for cell in range(t.cells):
        for side in range(4):
            colour = t.shown[cell * 4 + side]
            if colour >= 0 and show_side(t, s, cell, side, colour, exact) >= 0 and exact:
                return False
    for i in range(len(clue_cells)):
        cause, _ = assign(t, s, clue_cells[i], clue_values[i], ROOT, 0, True, True)
        if cause >= 0:
            return False
    return True


@inline_flat_kernel
def open_frame(t: Tables, s: State, w: Switches, depth: int, with_shaving: bool | None) -> bool:
    """Choose the cell of a depth and list pieces to try there; return False at a dead end, explained if backjumping."""
    start = s.frame_end[depth - 1] if depth else 0
    explain.clear(t, s.conflict, depth)
    s.preempted_height[depth] = s.counters[counter.PREEMPTED]
    s.frame_next[depth] = start
    s.frame_pair[depth] = 0
    cell = NO_CELL
    three_sided = s.counters[counter.THREE_SIDED] > 0
    if not three_sided:
        cause, cell = branching.propagate(t, s, w)
        if cause >= 0:
            s.counters[counter.CONTRADICTIONS] += 1
            if w.backjumping:
                explain.explain_cause(t, s, cause, s.nb_preempted[cause] > 0)
            return False
    colour = NO_COLOUR
    if cell == NO_CELL and not three_sided and w.single_colours and w.instantiation and depth:
        last = s.grid[s.frame_cell[depth - 1]]
        for side in range(4):
            shown = t.beyond[last * 4 + side]
            if colour < 0 and shown and s.colour_demand[shown] == 1 and s.colour_offer[shown] == 1:
                cell, colour = branching.cell_demanding_colour(t, s, shown), shown
    if with_shaving is not None:  # noqa: SIM102 (with a test of its own, numba drops the branch for None)
        if cell == NO_CELL and (w.shaving or not three_sided):
            shaved, end, dead = shave(t, s, w, depth, start)
            if dead:
                return False
            if shaved != NO_CELL:
                s.frame_cell[depth] = shaved
                s.frame_end[depth] = end
                return True
    if cell == NO_CELL and three_sided:
        cell = branching.best_cell(t, s, w, s.three_sided, branching.BY_MOTIF_1_2)
    if cell == NO_CELL and w.motifs:
        cell = branching.best_cell(t, s, w, s.surrounded, branching.BY_MOTIF_3_4)
    if cell == NO_CELL:
        cell = branching.best_cell(t, s, w, s.surrounded, branching.BY_URGENCY)
        if w.random_cell and cell != NO_CELL:
            cell = branching.random_cell_of(t, s, s.cell_pairs[cell * SLOTS])
    if cell == NO_CELL:
        cell, colour = branching.cell_without_pair(t, s)
    s.frame_cell[depth] = cell
    if colour >= 0:
        s.frame_pair[depth] = -1 - colour
        s.frame_end[depth] = branching.list_colour_values(t, s, cell, colour, start)
        return True
    pair = branching.smallest_offer_pair(s, w, cell)
    s.frame_pair[depth] = pair
    s.frame_end[depth] = branching.list_values(t, s, w, cell, pair, start)
    if w.values:
        branching.sort_values(t, s, pair, start, s.frame_end[depth])
    return True


@flat_kernel
def search(t: Tables, s: State, w: Switches, budget: int, stop_at_first: bool, with_shaving: bool | None) -> None:
    """Search ``budget`` nodes more, or to the end of the tree, or to the next solution if ``stop_at_first``.

    A node is a placement tried: a piece that matches all known sides of the chosen cell. ``with_shaving``: None if the
    search never shaves, so that the machine code of shaving is left out.
    """
    depth = s.counters[counter.DEPTH]
    frame_open = s.counters[counter.FRAME_OPEN] != 0
    limit = s.counters[counter.NODES] + budget
    while True:
        failed = False
        if not frame_open:
            frame_open = True
            if not open_frame(t, s, w, depth, with_shaving):
                failed = True
                explain.clear(t, s.conflict, depth)
                explain.add_to_conflict(t, s, depth)
        elif s.frame_next[depth] == s.frame_end[depth]:
            failed = True
            if w.backjumping:
                explain.clear(t, s.explanation, 0)
                skip_preempted = w.preemption and s.counters[counter.THREE_SIDED] == 0
                explain.explain_values(t, s, s.frame_cell[depth], s.frame_pair[depth], skip_preempted)
                explain.add_to_conflict(t, s, depth)
        elif s.counters[counter.NODES] >= limit:
            break
        else:
            outcome = try_value(t, s, w, depth)
            failed = outcome == FAILED
            if outcome == PLACED:
                depth += 1
                frame_open = False
                s.counters[counter.DEEPEST] = max(s.counters[counter.DEEPEST], depth)
            elif outcome == SOLUTION and stop_at_first:
                break
        if failed:
            target = explain.last_conflict(s, t.words, depth) if w.backjumping else depth - 1
            s.counters[counter.LEVELS_JUMPED] += depth - 1 - target
            if target < 0:
                s.counters[counter.EXHAUSTED] = 1
                break
            explain.add(t, s.conflict, target, s.conflict, depth)
            s.conflict[target * t.words + (target >> 6)] &= ~bit(target)
            while depth > target:
                branching.undo_preemptions(t, s, s.preempted_height[depth])
                depth -= 1
                unassign(t, s, s.frame_cell[depth], 4, depth, w.colours)
    s.counters[counter.DEPTH] = depth
    s.counters[counter.FRAME_OPEN] = frame_open


@inline_flat_kernel
def try_value(t: Tables, s: State, w: Switches, depth: int) -> int:
    """Place the next oriented piece on the cell of ``depth``; return PLACED, SOLUTION, REFUTED or FAILED.

    The piece stays on the board only after PLACED. REFUTED: if backjumping, the explanation was added to the conflict
    set of the depth. FAILED: the explanation does not need this placement, so every piece fails on the cell.
    """
    s.counters[counter.NODES] += 1
    cell, value = s.frame_cell[depth], s.values[s.frame_next[depth]]
    s.frame_next[depth] += 1
    cause, shown = place(t, s, w, cell, value, depth)
    if cause < 0 and depth + 1 < t.empty:
        return PLACED
    if cause < 0:
        if s.counters[counter.SOLUTIONS] == 0:
            for c in range(t.cells):
                s.first_solution[c] = s.grid[c]
        s.counters[counter.SOLUTIONS] += 1
        s.counters[counter.DEEPEST] = t.empty
        unassign(t, s, cell, shown, depth, w.colours)
        for level in range(depth):  # after a solution the search must not jump, so every level is in the conflict set
            s.conflict[depth * t.words + (level >> 6)] |= bit(level)
        return SOLUTION
    s.counters[counter.CONTRADICTIONS] += 1
    if w.backjumping:
        explain.explain_cause(t, s, cause, False)
    unassign(t, s, cell, shown, depth, w.colours)
    if w.backjumping:
        if not explain.explains_level(s, depth):
            explain.clear(t, s.conflict, depth)
            explain.add_to_conflict(t, s, depth)
            return FAILED
        explain.add_to_conflict(t, s, depth)
        s.conflict[depth * t.words + (depth >> 6)] &= ~bit(depth)
    return REFUTED


# -- shaving -----------------------------------------------------------------------------------------------------------


@inline_flat_kernel
def next_forced(t: Tables, s: State, w: Switches, frame: int, start: int) -> tuple[int, int]:
    """Return the next deduction on the board, and the contradicted colour pair after CONTRADICTED, else NO_CAUSE.

    FORCED: only the oriented piece ``s.values[start]`` fits the cell recorded in stack frame ``frame``. WITHOUT_VALUE:
    none fits that cell. While no cell has three known sides, the filters are those of `propagate`. Otherwise preemption
    is not sound (4.1): then the cells tested are those with three or more known sides and, with ``w.instantiation``,
    those that alone demand a colour pair of at most one free piece.
    """
    three_sided = s.counters[counter.THREE_SIDED] > 0
    single = NO_CELL
    if not three_sided:
        cause, single = branching.propagate(t, s, w)
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
            pair = branching.smallest_offer_pair(s, w, cell)
            end = branching.list_values(t, s, w, cell, pair, start)
            if end == start or (end == start + 1 and w.instantiation):
                s.frame_cell[frame] = cell
                s.frame_pair[frame] = pair
                return (WITHOUT_VALUE if end == start else FORCED), NO_CAUSE
    return NOTHING_FORCED, NO_CAUSE


@inline_flat_kernel
def is_refuted(t: Tables, s: State, w: Switches, cell: int, oriented: int, depth: int, start: int) -> bool:
    """Return whether the filters refute ``oriented`` on ``cell``; in quick shaving, whether its placement alone fails.

    The piece is placed at level ``depth``, and pieces that it forces at deeper levels (their stack frames are unused);
    all are removed again. If backjumping, ``s.explanation`` then explains the refutation by levels up to ``depth``.
    ``start``: index from which on ``s.values`` is free.
    """
    s.counters[counter.SHAVING_TESTS] += 1
    s.frame_cell[depth] = cell
    value = oriented
    last = depth
    answer = NOTHING_FORCED
    while True:
        cause, shown = place(t, s, w, s.frame_cell[last], value, last)
        s.preempted_height[last + 1] = s.counters[counter.PREEMPTED]
        with_preempted = False
        if cause < 0 and w.shaving and last + 1 < t.empty:
            answer, cause = next_forced(t, s, w, last + 1, start)
            if answer == FORCED:
                last += 1
                value = s.values[start]
                continue
            with_preempted = cause >= 0 and s.nb_preempted[cause] > 0
        if cause >= 0:
            answer = CONTRADICTED
            if w.backjumping:
                explain.explain_cause(t, s, cause, with_preempted)
        break
    if answer == WITHOUT_VALUE:
        explain.clear(t, s.explanation, 0)
    frame = last + 1
    while frame >= depth:
        if frame <= last:
            branching.undo_preemptions(t, s, s.preempted_height[frame + 1])
            unassign(t, s, s.frame_cell[frame], shown, frame, w.colours)
            shown = 4
        if w.backjumping and frame > depth:
            without_value = answer == WITHOUT_VALUE and frame == last + 1
            if without_value or (answer > FORCED and frame <= last and explain.explains_level(s, frame)):
                s.explanation[frame >> 6] &= ~bit(frame)
                skip_preempted = w.preemption and s.counters[counter.THREE_SIDED] == 0
                explain.explain_values(t, s, s.frame_cell[frame], s.frame_pair[frame], skip_preempted)
        frame -= 1
    return answer > FORCED


@inline_flat_kernel
def shave(t: Tables, s: State, w: Switches, depth: int, start: int) -> tuple[int, int, bool]:
    """Try the oriented pieces that fit cells with two or more known sides, until a cell keeps at most one of them.

    Called while no cell has three known sides, or at any node for the paper's shaving (``w.shaving``). A cell is left
    once two of its pieces pass; in quick shaving it is not tried at all if two pass `branching.passes_quick_check`.

    Return (the cell with at most one piece left or NO_CELL, end of the cell's pieces in ``s.values``, whether the node
    is contradicted whatever the cell holds). The latter is found only if backjumping; ``s.explanation`` then explains
    it. Otherwise the conflict set of ``depth`` has the explanations of the refuted pieces of the returned cell.
    """
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            pair = branching.smallest_offer_pair(s, w, cell)
            end = branching.list_values(t, s, w, cell, pair, start)
            kept = start
            if not w.shaving:
                passing = 0
                for i in range(start, end):
                    passing += passing < 2 and branching.passes_quick_check(t, s, cell, s.values[i], pair)
                if passing > 1:
                    continue
            for i in range(start, end):
                value = s.values[i]
                if not is_refuted(t, s, w, cell, value, depth, end):
                    s.values[kept] = value
                    kept += 1
                    if kept > start + 1:
                        break
                elif w.backjumping:
                    if not explain.explains_level(s, depth):
                        return cell, start, True
                    explain.add_to_conflict(t, s, depth)
            if kept <= start + 1:
                s.conflict[depth * t.words + (depth >> 6)] &= ~bit(depth)
                s.frame_pair[depth] = pair
                return cell, kept, False
            explain.clear(t, s.conflict, depth)
    return NO_CELL, start, False


class ColorPairs(CountedSearch):
    """A ColorPairs search of a puzzle (Benoist & Bourreau 2008) that can pause, for `lns.exact.execution.run_search`.

    ``seed``: random seed, used by ``options.random_cell`` only. Raises InputError for more than `MAX_COLOURS` colours.
    """

    def __init__(self, puzzle: Puzzle, options: Options | None = None, seed: int = 0) -> None:
        self.puzzle = puzzle
        self.options = Options() if options is None else options
        if min(puzzle.width, puzzle.height) < 2 or puzzle.rules:  # perhaps the rim is not one closed ring of pieces
            self.options = replace(self.options, cycles=False)
        if not puzzle.framed or puzzle.mates:  # the bound assumes that each side meets a side of its own colour
            self.options = replace(self.options, shared_edges=False)
        self.classes = merge_duplicates(puzzle)
        self._tables, self._class_of_piece = build_tables(self.classes, self.options)
        self._state = empty_state(self._tables, self.options, any_pair=puzzle.framed, seed=seed)
        wanted = self._tables.shown.reshape(-1, 4)
        for colour in {*wanted[wanted > GREY].tolist()}:  # the colours other than grey that sides on the rim must have
            self._state.colour_demand[colour] = (wanted == colour).any(axis=1).sum()
        self.counters = self._state.counters
        self._switches = Switches.of(self.options)
        first_piece = {number: piece for piece, number in reversed(list(enumerate(self._class_of_piece)))}
        clues = [
            (cell, first_piece[number] * 4 + turn) for cell, (number, turn) in sorted(self.classes.clue_class.items())
        ]
        self._tables = self._tables._replace(empty=puzzle.cells - len(clues))
        cells, values = np.array(clues, dtype=np.int32).reshape(-1, 2).T.copy()
        if not prepare(self._tables, self._state, cells, values, True):
            self._state.counters[counter.EXHAUSTED] = 1
        elif self._tables.empty == 0:
            self._state.first_solution[:] = self._state.grid
            self._state.counters[[counter.SOLUTIONS, counter.EXHAUSTED]] = 1

    @property
    def explored(self) -> float:
        """Share of the search tree searched so far, as if sibling subtrees had equal sizes."""
        if self.exhausted:
            return 1.0
        depth = int(self.counters[counter.DEPTH])
        ends = [0, *self._state.frame_end[: depth + 1].tolist()]
        following = self._state.frame_next[: depth + 1].tolist()
        return explored_share(
            (max(0, following[level] - ends[level] - (level < depth)), ends[level + 1] - ends[level])
            for level in range(depth + 1)
        )

    @property
    def details(self) -> dict[str, float]:
        """Counts of this search so far by name, such as contradictions and preemptions."""
        names = "deepest", "contradictions", "preemptions", "levels_jumped", "shaving_tests"
        return {name: float(self.counters[getattr(counter, name.upper())]) for name in names}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Search ``budget`` nodes more, or to the end of the tree, or to the next solution if ``stop_at_first``."""
        if not self.exhausted:
            shaving = True if self.options.shaving or self.options.quick_shaving else None
            search(self._tables, self._state, self._switches, budget, stop_at_first, shaving)

    def first_board(self) -> Board | None:
        """Return the first solution found, None before there is one."""
        if self.solutions == 0:
            return None
        oriented = [self._class_of_piece[value >> 2] * 4 + (value & 3) for value in self._state.first_solution.tolist()]
        return self.classes.board(oriented)
