"""Preemption and instantiation (Benoist & Bourreau 2008, 3.1 and 4.1) where no mismatch is left to spend.

Then each open cell of the stage, or of the region, has exactly its least mismatches. A cell with one candidate needs
that piece; as many cells as a pair has pieces need these. No other cell may have them. The reason is recorded with each
such piece: why nothing is left to spend, and why the cell or the pair has no other piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_explain import (
    NO_CELL,
    ONE_MISMATCH,
    clear_explanation,
    explain_cell,
    explain_held,
    explain_limit,
    explain_pair,
    is_held,
)
from exact.region.dynamic_levels import candidates, first_piece, known_colours
from exact.region.dynamic_moves import is_member, turns_of
from exact.region.dynamic_pairs import count_pairs
from exact.region.dynamic_state import STAGE, Spending
from exact.region.state import RegionState
from lns_support.jit import inline_flat_kernel

_SEVERAL = -2
_NOW = 1 << 30  # all known sides count


@inline_flat_kernel
def preempt(
    t: Tables, s: State, p: Spending, state: RegionState, depth: int, limit: int, words: int
) -> tuple[int, int]:
    """Record the pieces that cells need, until nothing changes; (cell without a candidate, cell with one candidate).

    NO_CELL if there is none. The first is explained in ``s.explanation``.
    """
    for piece in range(t.pieces):
        p.holder[piece] = -1
    count_pairs(t, s, p, depth, limit, NO_CELL)
    single = NO_CELL
    explained = False
    changed = True
    while changed:
        changed = False
        for cell in range(t.cells):
            if s.grid[cell] >= 0 or (limit == STAGE and not is_member(t, p, p.stage[depth], cell)):
                continue
            if known_colours(s, cell) == 0:
                continue
            level: Any = np.int64(p.min_level[depth + 1, cell])
            piece = _only_piece(t, s, p, cell, level, words)
            pair = p.own_pair[cell]
            is_pair = piece == _SEVERAL and pair > 0 and p.pair_count[pair] == s.offer[pair]
            if piece == _SEVERAL and not is_pair:
                continue
            if not explained:
                explained = True
                clear_explanation(t, s)
                explain_limit(t, s, p, state, depth, limit, NO_CELL, ONE_MISMATCH, words)
                for word in range(t.words):
                    p.nothing_left[word] = s.explanation[word]
            if is_pair:
                changed |= _hold_pair(t, s, p, pair)
                continue
            if piece >= 0:
                if single == NO_CELL:
                    single = cell
                if p.holder[piece] == cell or p.twin[piece] >= 0:
                    continue
            _start_reason(t, s, p)
            explain_cell(t, s, p, cell, level + 1, _NOW, words)
            explain_held(t, s, p, cell, level, words)
            if piece < 0:
                return cell, single
            _hold(t, s, p, piece, cell)
            changed = True
    return NO_CELL, single


@inline_flat_kernel
def _start_reason(t: Tables, s: State, p: Spending) -> None:
    """Begin an explanation with the reason why nothing is left to spend."""
    for word in range(t.words):
        s.explanation[word] = p.nothing_left[word]


@inline_flat_kernel
def _only_piece(t: Tables, s: State, p: Spending, cell: int, level: int, words: int) -> int:
    """The only free piece with ``level`` mismatches on a cell that no other cell needs; -1 = none, or _SEVERAL."""
    only = -1
    for word in range(words):
        bits = candidates(t, s, p, p.free, cell, level, word, words)
        while bits:
            piece = first_piece(bits, word)
            bits &= ~turns_of(piece)
            if is_held(t, p, piece, cell):
                continue
            if only >= 0:
                return _SEVERAL
            only = piece
    return only


@inline_flat_kernel
def _hold(t: Tables, s: State, p: Spending, piece: int, holder: int) -> None:
    """Record that a cell or pair needs a piece, with the explanation."""
    p.holder[piece] = holder
    for word in range(t.words):
        p.reason[piece * t.words + word] = s.explanation[word]


@inline_flat_kernel
def _hold_pair(t: Tables, s: State, p: Spending, pair: int) -> bool:
    """Record that the cells counted by a pair need all its pieces; whether that is new."""
    is_new = False
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        piece = t.pair_piece[i]
        if s.cell_of[piece] >= 0 or p.holder[piece] >= 0:
            continue
        if not is_new:
            is_new = True
            _start_reason(t, s, p)
            for other in range(t.cells):
                if p.own_pair[other] == pair:
                    explain_pair(t, s, other, pair)
        _hold(t, s, p, piece, t.cells + pair)
    return is_new


@inline_flat_kernel
def exclude_held(t: Tables, s: State, p: Spending, depth: int, cell: int, level: int, words: int) -> None:
    """Exclude the pieces that other cells need from the candidates of ``cell``, decided at ``depth``.

    The reasons against those with ``level`` mismatches, its only level, are in ``s.explanation`` then.
    """
    clear_explanation(t, s)
    explain_held(t, s, p, cell, level, words)
    for piece in range(t.pieces):
        if is_held(t, p, piece, cell):
            p.excluded[depth * words + (piece >> 4)] |= turns_of(piece)
