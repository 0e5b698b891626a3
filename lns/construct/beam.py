"""Beam search in a fixed order of the cells: of all children of the prefixes of one length, the best are kept.

The value of a prefix is the number of favoured half-edges that it has used, minus ``break_cost`` for each break. So
while pieces fit everywhere, the beam uses up the favoured colours, as the quotas of the constructor do; later it avoids
breaks. Among children of equal value the choice is random. A prefix is stored as one placement and the index of its
parent, the prefix without that placement. The exact tails after the prefixes at the cut are searched best prefix first.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct import candidates as packed
from lns.construct.candidates import CandidateTables, Int64Array, build_tables, oriented_piece, padded_positions
from lns.construct.population import Population, append_child, is_used, new_population
from lns.construct.tail import NOT_FOUND, TailPlan, TailWorkspace, plan_tail, solve_tail
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import kernel
from lns.instances.board import EMPTY, Board
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.params import BeamParams
from lns.rng import RandomState, generator, random_below

Paths = npt.NDArray[np.int16]
"""Prefixes of equal length, int16 (prefixes, length): the oriented piece placed at each depth."""


class BeamPlan(NamedTuple):
    """Read-only inputs of a beam."""

    tables: CandidateTables
    column: Int64Array  # int64 (cells,): by depth, board column of the cell
    break_cost: int  # value that a prefix loses by a break, in favoured half-edges
    fan_out: int  # most children generated from one prefix
    min_value: int  # lower bound of the values of all prefixes


class LayerWorkspace(NamedTuple):
    """Arrays for all children generated from one layer; the next layer is selected from these children."""

    parent: Annotated[IntArray, "width * fan_out"]  # by child: index of its parent in the layer before
    candidate: Annotated[Int64Array, "width * fan_out"]  # by child: the packed candidate that it adds to its parent
    value: Annotated[Int64Array, "width * fan_out"]  # by child: its value minus `BeamPlan.min_value`
    sorted: Annotated[IntArray, "width * fan_out"]  # indexes of the selected children, best first
    counts: Annotated[Int64Array, "values"]  # by ``value``: number of children; in the sort, next place in ``sorted``


@kernel
def extend_layer(
    plan: BeamPlan,
    depth: int,
    current: Population,
    prefix_count: int,
    extended: Population,
    work: LayerWorkspace,
    parent: IntArray,
    placed: Paths,
    random: RandomState,
) -> tuple[int, int]:
    """Extend prefixes by the cell of ``depth`` and select the best children, at most the width of the beam.

    ``current`` holds ``prefix_count`` prefixes sorted by value (``gain``), best first. ``extended`` receives the
    selected children, best first; ``parent``, int32 (width,), the index of each child's parent; ``placed``, int16
    (width,), the oriented piece that each child adds. ``random`` decides among children of the lowest value selected.
    Returns (number of children selected, number of children generated).
    """
    width, counts, min_value, row, column = len(current.gain), work.counts, plan.min_value, plan.tables.row, plan.column
    list_start, candidates, base = plan.tables.list_start, plan.tables.candidates, plan.tables.base[depth]
    gain = current.gain
    counts[:] = 0
    generated = kept = 0
    threshold = 0  # least value with which a child may be selected: fewer than `width` children so far have more
    for i in range(prefix_count):
        if gain[i] + packed.MAX_FAVOURED - min_value < threshold:
            break
        at = list_start[base + current.right[i, row[depth]] + current.down[i, column[depth]]]
        children = 0
        while children < plan.fan_out:
            candidate = candidates[at]
            at += 1
            added = candidate >> packed.GAIN_SHIFT
            if added == packed.LIST_END_GAIN:
                break
            if is_used(current, i, candidate & packed.PIECE_MASK):
                continue
            if added < -(packed.BREAK_COST // 2):
                added += packed.BREAK_COST - plan.break_cost
            value = gain[i] + added - min_value
            if value < threshold:  # candidate lists are sorted, so later candidates are not better
                break
            work.parent[generated] = i
            work.candidate[generated] = candidate
            work.value[generated] = value
            counts[value] += 1
            generated += 1
            children += 1
            kept += 1
            while kept - counts[threshold] >= width:
                kept -= counts[threshold]
                threshold += 1
    if generated == 0:
        return 0, 0
    # counting sort of the children, best first; which children of the value `threshold` are selected is random
    undecided, open_places = counts[threshold], width - (kept - counts[threshold])
    place = 0
    for value in range(len(counts) - 1, threshold - 1, -1):
        place += counts[value]
        counts[value] = place - counts[value]
    selected = 0
    for child in range(generated):
        value = work.value[child]
        if value < threshold:
            continue
        if value == threshold:
            undecided -= 1
            if random_below(random, undecided + 1) >= open_places:
                continue
            open_places -= 1
        work.sorted[counts[value]] = child
        counts[value] += 1
        selected += 1
    for place in range(selected):
        child = work.sorted[place]
        candidate = work.candidate[child]
        append_child(current, work.parent[child], extended, place, row[depth], column[depth], candidate)
        extended.gain[place] = work.value[child] + min_value
        parent[place], placed[place] = work.parent[child], oriented_piece(candidate)
    return selected, generated


@kernel
def search_tails(
    paths: Paths,
    position: Int64Array,
    padded_width: int,
    tail: TailPlan,
    work: TailWorkspace,
    max_mismatches: int,
    node_limit: int,
    tail_node_limit: int,
) -> tuple[int, int, int, int]:
    """Search the exact tails of prefixes; see `Tails.search`.

    ``position``: `padded_positions` of the cells by depth; ``padded_width``: number of cells in a row of the padded
    board; ``work.found`` receives the oriented pieces of the tail if a board is found. Returns (number of prefixes
    searched or skipped, number of tails searched, number of nodes, mismatches of the board or NOT_FOUND).
    """
    quads, colour_count = tail.quads, tail.colour_count
    cells, cut = len(quads) >> 2, paths.shape[1]
    used = np.zeros(cells + 1, dtype=np.uint8)
    right = np.zeros((cells // (padded_width - 1) + 1) * padded_width, dtype=np.int64)
    down = np.zeros_like(right)
    tails = nodes = 0
    for i in range(len(paths)):
        if nodes >= node_limit:
            return i, tails, nodes, NOT_FOUND
        used[:] = 0
        breaks = 0
        for depth in range(cut):
            here, oriented = position[depth], np.int64(paths[i, depth])
            used[oriented >> 2] = 1
            breaks += int(right[here - 1] != quads[oriented, LEFT] * colour_count)
            breaks += int(down[here - padded_width] != quads[oriented, UP])
            right[here] = quads[oriented, RIGHT] * colour_count
            down[here] = quads[oriented, DOWN]
        if breaks > max_mismatches:
            continue
        mismatches, tail_nodes = solve_tail(tail, work, used, right, down, max_mismatches - breaks, tail_node_limit)
        tails += 1
        nodes += tail_nodes
        if mismatches >= 0:
            return i + 1, tails, nodes, breaks + mismatches
    return len(paths), tails, nodes, NOT_FOUND


def beam_tables(
    puzzle: Puzzle, order: IntArray, cut: int, favoured: tuple[int, ...], random: RandomState
) -> CandidateTables:
    """Build the candidate tables of a beam, with breaks at every depth; ``random`` orders candidates of equal gain."""
    return build_tables(puzzle, order, np.ones(puzzle.cells, dtype=bool), favoured, generator(random), cut)


class BeamSearch:
    """One beam, from the empty board to prefixes of ``cut`` cells; it may be stopped and resumed between two layers.

    ``order``: int32 (cells,), cells by depth; ``tables``: made by `beam_tables`; ``random``: state of a random
    generator, which the search advances.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        order: IntArray,
        cut: int,
        tables: CandidateTables,
        params: BeamParams,
        random: RandomState,
    ) -> None:
        self.puzzle, self.cut, self.params, self.random = puzzle, cut, params, random
        cells, width = puzzle.cells, params.width
        self._plan = BeamPlan(
            tables=tables,
            column=order.astype(np.int64) % puzzle.width,
            break_cost=params.break_cost,
            fan_out=params.fan_out,
            min_value=-params.break_cost * (cells + 1),
        )
        self._current, self._extended = (new_population(width, puzzle.width, puzzle.height, 1) for _ in range(2))
        children = width * params.fan_out
        values = packed.MAX_FAVOURED * cells - self._plan.min_value + 1
        self._work = allocate(LayerWorkspace, {"width * fan_out": children, "values": values})
        # both by layer and prefix: index of its parent in the layer before; oriented piece on the layer's cell
        self._parent, self._placed = np.zeros((cut, width), dtype=np.int32), np.zeros((cut, width), dtype=np.int16)
        self.depth = 0  # length of the current prefixes
        self.prefix_count = 1  # number of current prefixes; 0 if none could be extended

    def run(self, children: int) -> int:
        """Grow layers, up to the cut or a dead end, until ``children`` children are generated; return their number."""
        generated = 0
        while generated < children and self.depth < self.cut and self.prefix_count:
            parent, placed = self._parent[self.depth], self._placed[self.depth]
            selected, more = extend_layer(
                self._plan, self.depth, self._current, self.prefix_count, self._extended, self._work, parent, placed,
                self.random,
            )  # fmt: skip
            generated += more
            if selected:
                self._current, self._extended = self._extended, self._current
                self.depth += 1
            self.prefix_count = selected
        return generated

    def paths(self, count: int) -> Paths:
        """Return the first ``count`` prefixes of the last non-empty layer: oriented pieces, int16 (count, depth)."""
        paths = np.empty((count, self.depth), dtype=np.int16)
        index = np.arange(count)
        for depth in range(self.depth - 1, -1, -1):
            paths[:, depth] = self._placed[depth, index]
            index = self._parent[depth, index]
        return paths

    @property
    def values(self) -> Int64Array:
        """Values of the current prefixes, int64 (prefix_count,), best first."""
        return self._current.gain[: self.prefix_count]

    def resume(self, paths: Paths, values: Int64Array) -> None:
        """Continue from legal prefixes, in the form of `paths`, and their values, in the form of `values`."""
        self.prefix_count, self.depth = count, _ = paths.shape
        right, down, used, gain = self._current
        gain[:count] = values
        right[:], down[:], used[:] = 0, 0, 0
        indexes = np.arange(count)
        for at, oriented in enumerate(paths.T.astype(np.int64)):
            quads, piece = self.puzzle.oriented[oriented], oriented >> 2
            right[:count, self._plan.tables.row[at]] = quads[:, RIGHT] * self._plan.tables.colour_count
            down[:count, self._plan.column[at]] = quads[:, DOWN]
            used[indexes, piece >> 6] |= np.uint64(1) << (piece & 63).astype(np.uint64)
            self._parent[at, :count], self._placed[at, :count] = indexes, oriented


class TailsSearched(NamedTuple):
    """The result of `Tails.search`."""

    prefixes: int  # number of prefixes searched, or skipped for too many breaks; ``board`` completes the last of these
    tails: int  # number of exact tails searched
    nodes: int  # number of placements in these exact tails
    board: Board | None
    mismatches: int  # mismatches of ``board``, or NOT_FOUND if it is None


class Tails:
    """The search of exact tails after prefixes of ``cut`` cells; ``order``: int32 (cells,), cells by depth."""

    def __init__(self, puzzle: Puzzle, order: IntArray, cut: int) -> None:
        self.puzzle, self.order, self.cut = puzzle, order, cut
        self._plan, self._work = plan_tail(puzzle, order, cut)
        self._position = padded_positions(order, puzzle.width)

    def search(self, paths: Paths, most: int, nodes: int, tail_nodes: int) -> TailsSearched:
        """Search the tail of each prefix in turn until one makes a full board with at most ``most`` mismatches.

        The search also ends once the tails have taken ``nodes`` nodes in all; one tail takes at most ``tail_nodes``.
        """
        done, tails, made, mismatches = search_tails(
            paths, self._position, self.puzzle.width + 1, self._plan, self._work, most, nodes, tail_nodes
        )
        found = mismatches != NOT_FOUND
        board = self.board(np.append(paths[done - 1], self._work.found)) if found else None
        return TailsSearched(done, tails, made, board, mismatches)

    def board(self, placed: IntArray) -> Board:
        """Return a board with the oriented pieces ``placed`` on the first cells of the order; other cells are empty."""
        placements = np.full(self.puzzle.cells, EMPTY, dtype=np.int32)
        placements[self.order[: len(placed)]] = placed
        return Board(placements, self.puzzle.width, self.puzzle.height)
