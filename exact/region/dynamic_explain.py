"""Explanations of dead ends of the dynamic search: sets of decisions that suffice for them, as bit sets over depths.

A set E of decisions *explains* a dead end if no refill within the caps agrees with all of E. The functions add to
``s.explanation``, like those of `exact.colorpairs.explain`.

- The stage or the region is over its cap. E: the decisions that spent mismatches, with the pieces that these are with;
  for each open cell that the bound counts with m > 0 mismatches, its decided neighbours and the decisions that placed a
  piece which would have fewer than m; for each pair that more cells demand than pieces offer it, the neighbours of
  these cells and the decisions that placed a piece of the pair. Proof: a refill that agrees with E spends at least as
  much before. On a counted cell it has either a piece that is free now, with m mismatches or more, or a piece with
  fewer, but E places every copy of that piece elsewhere; likewise for the pieces of a pair. (If the m mismatches were
  there at an earlier depth already, the neighbours of that depth suffice.)
- Every candidate of the cell decided at depth d has failed. E: the explanations of these failures, without d; and the
  explanation of the cap that would be exceeded if this cell had one mismatch more than its maximal level. If no cap
  limits the cell: only the decisions that placed pieces.
- A task of a stage has failed. Its cap may depend on the mismatches spent before the stage; E has these decisions,
  since every explanation that uses a cap has all decisions that spent mismatches. So no refill that agrees with E has
  more left to spend, and the tasks of the stage together miss none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.colorpairs.explain import add_demanding_neighbours, add_neighbour, add_placement
from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_levels import candidates, count_mismatches, first_piece, with_level
from exact.region.dynamic_moves import is_member, turns_of
from exact.region.dynamic_pairs import count_pairs
from exact.region.dynamic_stages import explain_spent
from exact.region.dynamic_state import NO_LIMIT, STAGE, Spending
from exact.region.kernel import ALLOWED
from exact.region.state import RegionState
from lns_support.bits import bit, highest_bit
from lns_support.jit import inline_flat_kernel

_NOW: Any = np.int64(1 << 30)  # instead of a row: all known sides count
NO_CELL: Any = np.int64(-1)
NO_MISMATCH: Any = np.int64(0)
ONE_MISMATCH: Any = np.int64(1)


@inline_flat_kernel
def clear_explanation(t: Tables, s: State) -> None:
    """Begin an explanation."""
    for word in range(t.words):
        s.explanation[word] = np.uint64(0)


@inline_flat_kernel
def add_to_conflict(t: Tables, s: State, depth: int) -> None:
    """Add the explanation to the conflict set of ``depth``."""
    for word in range(t.words):
        s.conflict[depth * t.words + word] |= s.explanation[word]


@inline_flat_kernel
def explain_all(s: State, depth: int) -> None:
    """Add all earlier decisions."""
    for earlier in range(depth):
        s.explanation[earlier >> 6] |= bit(earlier)


@inline_flat_kernel
def explain_cell(t: Tables, s: State, p: Spending, cell: int, mismatches: int, row: int, words: int) -> None:
    """Explain why an open cell has at least ``mismatches`` mismatches, by what was known at depth ``row`` - 1."""
    for side in range(4):
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.side[cell * 4 + side] > 0 and s.level[neighbour] < row - 1:
            add_neighbour(t, s, cell, side)
    explain_pieces(t, s, p, cell, mismatches, row, words)


@inline_flat_kernel
def explain_pieces(t: Tables, s: State, p: Spending, cell: int, mismatches: int, row: int, words: int) -> None:
    """Add the decisions that placed a piece with fewer than ``mismatches`` mismatches on an open cell."""
    for word in range(words):
        pool = p.placed[word] & p.fit[cell * words + word]
        if pool:
            ones, twos, fours = count_mismatches(t, s, p, cell, word, words, row)
            for level in range(mismatches):
                bits = with_level(pool, ones, twos, fours, level)
                while bits:
                    piece = first_piece(bits, word)
                    add_placement(s, s.cell_of[piece])
                    bits &= ~turns_of(piece)


@inline_flat_kernel
def explain_limit(
    t: Tables,
    s: State,
    p: Spending,
    state: RegionState,
    depth: int,
    limit: int,
    cell: int,
    mismatches: int,
    words: int,
) -> None:
    """Explain why the stage or the region (``limit``) is over its cap if ``cell`` has ``mismatches`` mismatches.

    NO_CELL: because of the other cells alone. NO_LIMIT: explain only why no free piece has fewer mismatches.
    """
    if limit == NO_LIMIT:
        explain_pieces(t, s, p, cell, mismatches, _NOW, words)
        return
    if cell != NO_CELL:
        explain_cell(t, s, p, cell, mismatches, _NOW, words)
    explain_spent(t, s, p, state, depth)
    cap = min(state.cap[depth], state.scalars[ALLOWED]) if limit == STAGE else state.scalars[ALLOWED]
    missing = cap + 1 - state.spent[depth] - mismatches
    for other in range(t.cells):
        least: Any = np.int64(p.min_level[depth + 1, other])
        counted = least > 0 and s.grid[other] < 0 and other != cell
        if missing > 0 and counted and (limit != STAGE or is_member(t, p, p.stage[depth], other)):
            explain_cell(t, s, p, other, least, _row_then(p, depth, other), words)
            missing -= least
    if missing > 0:
        count_pairs(t, s, p, depth, limit, cell)
        _explain_pairs(t, s, p)


@inline_flat_kernel
def _row_then(p: Spending, depth: int, cell: int) -> int:
    """The first row in which the least mismatches of an open cell have their value of ``depth``."""
    row = depth + 1
    while row > 1 and p.min_level[row - 1, cell] == p.min_level[depth + 1, cell]:
        row -= 1
    return row


@inline_flat_kernel
def _explain_pairs(t: Tables, s: State, p: Spending) -> None:
    """Explain the pairs that more of the counted cells demand than free pieces offer."""
    for cell in range(t.cells):
        pair = p.own_pair[cell]
        if pair and p.pair_count[pair] > s.offer[pair]:
            explain_pair(t, s, cell, pair)


@inline_flat_kernel
def explain_pair(t: Tables, s: State, cell: int, pair: int) -> None:
    """Explain why ``cell`` demands a pair, and which of its pieces are placed."""
    add_demanding_neighbours(t, s, cell, t.pair_first[pair], t.pair_second[pair], t.pair_span[pair])
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        placed_on = s.cell_of[t.pair_piece[i]]
        if placed_on >= 0:
            add_placement(s, placed_on)


@inline_flat_kernel
def explain_held(t: Tables, s: State, p: Spending, cell: int, level: int, words: int) -> Any:
    """Add the recorded reasons why other cells need the free pieces that have ``level`` mismatches on ``cell``."""
    for word in range(words):
        bits = candidates(t, s, p, p.free, cell, level, word, words)
        while bits:
            piece = first_piece(bits, word)
            bits &= ~turns_of(piece)
            if is_held(t, p, piece, cell):
                for k in range(t.words):
                    s.explanation[k] |= p.reason[piece * t.words + k]


@inline_flat_kernel
def is_held(t: Tables, p: Spending, piece: int, cell: int) -> bool:
    """Whether another cell or pair than that of ``cell`` needs a piece."""
    holder = p.holder[piece]
    if holder < 0 or holder == cell:
        return False
    return bool(holder < t.cells or holder - t.cells != p.own_pair[cell])


@inline_flat_kernel
def conflict_is_complete(s: State, words: int, depth: int) -> bool:
    """Whether the conflict set of ``depth`` has all earlier decisions already."""
    last = depth >> 6
    for word in range(last):
        if ~s.conflict[depth * words + word]:
            return False
    return bool(s.conflict[depth * words + last] == bit(depth) - np.uint64(1))


@inline_flat_kernel
def last_conflict(s: State, words: int, depth: int) -> int:
    """The depth of the last decision in the conflict set of ``depth``, -1 = none."""
    for back in range(words):
        word = words - 1 - back
        if s.conflict[depth * words + word]:
            return int(word * 64 + highest_bit(s.conflict[depth * words + word]))
    return -1
