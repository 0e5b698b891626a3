"""Explanations of dead ends of the dynamic search: sets of decisions that suffice, as bit sets over depths.

A *decision* is the placement made at a depth. A set E of decisions *explains* a dead end if no refill within the caps
(the most mismatches of a stage or the region) agrees with all of E. The functions add decisions to ``s.explanation``,
like those of `lns.exact.colorpairs.explain`. E depends on the kind of dead end:

- A stage or the region exceeds its cap. E has the decisions that spent mismatches and those on the neighbours that they
  mismatch; for each open cell that the bound counts with m > 0 mismatches, the decisions on its neighbours and those
  that placed a piece which would have fewer than m there; for each colour pair that more cells demand than pieces
  offer, the decisions on the neighbours of these cells and those that placed a piece of the colour pair. Proof: a
  refill that agrees with E has at least as many mismatches on the decided cells. On a counted cell it has a piece that
  is free now, with m mismatches or more, because E places every piece with fewer elsewhere; likewise for the pieces of
  a colour pair. (If the cell had m mismatches at an earlier depth already, the neighbours decided before that depth
  suffice.)
- Every candidate of the cell decided at depth d has failed. E has the explanations of these failures, without d, and an
  explanation why one mismatch more than the cell's maximal level would exceed a cap. If no cap limits the cell, the
  latter has only the decisions that placed pieces which fit the cell.
- A task of a stage has failed. Its cap may depend on the mismatches spent before the stage; E has the decisions that
  spent them, as every explanation that uses a cap has all decisions that spent mismatches. So no refill that agrees
  with E has more mismatches left to spend, and the tasks of the stage together miss no refill.

Where no mismatch is left to spend, each open cell of the stage, or of the region, has exactly its least mismatches. A
cell with one candidate needs that piece. If a colour pair counts as many cells as it has free pieces (`count_pairs`),
they need all these pieces. No other cell may have a needed piece (preemption, Benoist & Bourreau 2008, 4.1). A needed
piece is recorded with an explanation: why no mismatch is left to spend, and why cell or colour pair has no other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lns.exact.colorpairs import explain
from lns.exact.colorpairs.state import SLOTS, State, Tables, counter
from lns.exact.kernels.bits import bit, lowest_bit
from lns.exact.kernels.jit import inline_flat_kernel
from lns.exact.region.scheme import SearchScheme
from lns.exact.region.state import NO_BIT, RegionState, Spending

# arguments of kernels, as numpy integers so that no kernel is compiled anew for each value
NO_LIMIT: Any = np.int64(0)  # no cap limits the mismatches of a cell
STAGE: Any = np.int64(1)  # the cap of the stage limits the mismatches of a cell
REGION: Any = np.int64(2)  # the cap of the region limits the mismatches of a cell
NO_CELL: Any = np.int64(-1)
NO_MISMATCH: Any = np.int64(0)
ONE_MISMATCH: Any = np.int64(1)
_NOW: Any = np.int64(1 << 30)  # an index after all rows of `min_level`: all known sides count
_NO_PIECE, _SEVERAL = -1, -2
_NO_BITS = np.uint64(0)
_ALL_TURNS = np.uint64(15)


# -- candidates of a cell by level, the number of their mismatches with the cell's known sides -------------------------


@inline_flat_kernel
def known_colours(s: State, cell: int) -> int:
    """Return the number of known sides of a cell that are not grey."""
    known = 0
    for side in range(4):
        known += s.side[cell * 4 + side] > 0
    return known


@inline_flat_kernel
def count_mismatches(t: Tables, s: State, p: Spending, cell: int, word: int, row: int) -> Any:
    """Count the mismatches of 64 oriented pieces with the sides of a cell known at depth ``row`` - 1.

    Return three words, whose bits are the binary digits of these counts: ones, twos and fours.
    """
    ones = twos = fours = _NO_BITS
    for side in range(4):
        colour = s.side[cell * 4 + side]
        if colour <= 0:
            continue
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.level[neighbour] >= row - 1:
            continue
        missed = ~p.mask[(side * t.colours + colour) * len(p.free) + word]
        carry = ones & missed
        ones ^= missed
        fours ^= twos & carry
        twos ^= carry
    return ones, twos, fours


@inline_flat_kernel
def with_level(pool: Any, ones: Any, twos: Any, fours: Any, level: int) -> Any:
    """Return the pieces of the word ``pool`` that have ``level`` mismatches, by the words of `count_mismatches`."""
    pool &= ones if level & 1 else ~ones
    pool &= twos if level & 2 else ~twos
    return pool & (fours if level & 4 else ~fours)


@inline_flat_kernel
def candidates(t: Tables, s: State, p: Spending, cell: int, level: int, word: int) -> Any:
    """Return the free oriented pieces with exactly ``level`` mismatches on a cell, as a word of a bit set."""
    ones, twos, fours = count_mismatches(t, s, p, cell, word, 1 << 30)
    return with_level(p.free[word] & p.fit[cell * len(p.free) + word], ones, twos, fours, level)


@inline_flat_kernel
def least_level(t: Tables, s: State, p: Spending, cell: int, level: int, known: int) -> tuple[int, int]:
    """Return the least mismatches of a free piece on a cell, from ``level`` on, and its bit; NO_BIT for ``known``."""
    least, witness = known, NO_BIT
    for word in range(len(p.free)):
        pool = p.free[word] & p.fit[cell * len(p.free) + word]
        if pool:
            ones, twos, fours = count_mismatches(t, s, p, cell, word, 1 << 30)
            for each in range(level, least):
                found = with_level(pool, ones, twos, fours, each)
                if found:
                    least, witness = each, (word << 6) + lowest_bit(found)
                    break
            if least == level:
                break
    return least, witness


@inline_flat_kernel
def first_piece(bits: Any, word: int) -> int:
    """Return the piece of the lowest bit of ``bits``, the word with index ``word`` of a bit set of oriented pieces."""
    return int((word * 64 + lowest_bit(bits)) >> 2)


@inline_flat_kernel
def is_member(t: Tables, p: Spending, stage: int, cell: int) -> bool:
    """Return whether a cell belongs to the block of a stage, the cells that the stage fills."""
    return bool(p.members[stage * t.words + (cell >> 6)] & bit(cell))


@inline_flat_kernel
def turns_of(piece: Any) -> Any:
    """Return the bits of all rotations of a piece, as a mask for word ``piece >> 4`` of a set of oriented pieces."""
    return _ALL_TURNS << np.uint64((piece & 15) * 4)


@inline_flat_kernel
def has_twin(t: Tables, piece: int) -> bool:
    """Return whether ``piece`` + 1 is a duplicate of ``piece``, and so is free only while ``piece`` is placed."""
    return piece + 1 < t.pieces and t.previous_duplicate[piece + 1] >= 0


# -- Demand - Offer of colour pairs ----------------------------------------------------------------------------------


@inline_flat_kernel
def count_pairs(t: Tables, s: State, p: Spending, depth: int, skipped: int) -> tuple[int, int]:
    """Count open cells but ``skipped``, each by one colour pair; return the sums of deficits in stage and region.

    The deficit of a colour pair is the number of cells that it counts beyond its free pieces: so many cells have a
    mismatch. A cell is counted by the colour pair with the least Offer - Demand of those that it demands, and only if a
    free piece may match all its known sides. So all deficits and the least mismatches of all cells add up to a lower
    bound.
    """
    for cell in range(t.cells):
        p.pair_count[p.own_pair[cell]] = 0
        p.stage_pair_count[p.own_pair[cell]] = 0
        p.own_pair[cell] = 0
    in_stage = in_region = 0
    for cell in range(t.cells):
        if s.cell_pair_count[cell] == 0 or s.grid[cell] >= 0 or cell == skipped or p.min_level[depth + 1, cell]:
            continue
        own, least = 0, 1 << 30
        for i in range(s.cell_pair_count[cell]):
            pair = s.cell_pairs[cell * SLOTS + i]
            if s.offer[pair] - s.demand[pair] < least:
                own, least = pair, s.offer[pair] - s.demand[pair]
        p.own_pair[cell] = own
        p.pair_count[own] += 1
        in_region += p.pair_count[own] > s.offer[own]
        if is_member(t, p, p.stage[depth], cell):
            p.stage_pair_count[own] += 1
            in_stage += p.stage_pair_count[own] > s.offer[own]
    return in_stage, in_region


@inline_flat_kernel
def _counted(t: Tables, p: Spending, depth: int, limit: int, cell: int) -> int:
    """Return how many cells the colour pair that counts ``cell`` counts in ``limit`` (STAGE, REGION), 0 if none."""
    pair = p.own_pair[cell]
    if pair == 0 or limit != STAGE:
        return int(p.pair_count[pair]) if pair else 0
    return int(p.stage_pair_count[pair]) if is_member(t, p, p.stage[depth], cell) else 0


@inline_flat_kernel
def _explain_pair(t: Tables, s: State, cell: int, pair: int) -> None:
    """Add the neighbours because of which ``cell`` demands a colour pair, and the placements of the pair's pieces."""
    explain.add_demanding_neighbours(t, s, cell, t.pair_first[pair], t.pair_second[pair], t.pair_span[pair])
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        explain.add_piece(s, t.pair_piece[i])


# -- explanations of exceeded caps -------------------------------------------------------------------------------------


@inline_flat_kernel
def explain_spent(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> None:
    """Add the decisions before ``depth`` that spent mismatches, and those on neighbours that mismatch their pieces."""
    for earlier in range(depth):
        if state.level[earlier] == 0:
            continue
        cell = p.cell[earlier]
        explain.add_placement(s, cell)
        for side in range(4):
            known = s.side[cell * 4 + side]
            if known > 0 and known != t.quad[s.grid[cell] * 4 + side]:
                explain.add_neighbour(t, s, cell, side)


@inline_flat_kernel
def explain_check(t: Tables, s: State, p: Spending, scheme: SearchScheme, stage: int) -> None:
    """Explain the outcome SEARCHED: add the decisions on part A of a split stage and its neighbours filled before."""
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]
    for word in range(t.words):
        cells = p.members[before * t.words + word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            explain.add_placement(s, cell)
            for side in range(4):
                beyond = t.neighbour[cell * 4 + side]
                if beyond >= 0 and scheme.filled[own, beyond]:
                    explain.add_placement(s, beyond)


@inline_flat_kernel
def explain_limit(
    t: Tables, s: State, p: Spending, state: RegionState, depth: int, limit: int, cell: int, mismatches: int
) -> None:
    """Explain why the stage or the region (``limit``) exceeds its cap if ``cell`` has ``mismatches`` mismatches.

    If ``cell`` is NO_CELL, ``mismatches`` are added to the least mismatches of all open cells. If ``limit`` is
    NO_LIMIT, explain only why no free piece has fewer mismatches on ``cell``.
    """
    if limit == NO_LIMIT:
        _explain_pieces(t, s, p, cell, mismatches, _NOW)
        return
    if cell != NO_CELL:
        _explain_cell(t, s, p, cell, mismatches, _NOW)
    explain_spent(t, s, p, state, depth)
    cap = min(state.cap[depth], state.counters[counter.ALLOWED]) if limit == STAGE else state.counters[counter.ALLOWED]
    missing = cap + 1 - state.spent[depth] - mismatches
    for other in range(t.cells):
        least: Any = np.int64(p.min_level[depth + 1, other])
        counted = least > 0 and s.grid[other] < 0 and other != cell
        if missing > 0 and counted and (limit != STAGE or is_member(t, p, p.stage[depth], other)):
            row = depth + 1  # reduced below to the first row with the same least mismatches
            while row > 1 and p.min_level[row - 1, other] == p.min_level[depth + 1, other]:
                row -= 1
            _explain_cell(t, s, p, other, least, row)
            missing -= least
    if missing > 0:
        count_pairs(t, s, p, depth, cell)
        for other in range(t.cells):
            pair = p.own_pair[other]
            if _counted(t, p, depth, limit, other) > s.offer[pair]:
                _explain_pair(t, s, other, pair)


@inline_flat_kernel
def _explain_cell(t: Tables, s: State, p: Spending, cell: int, mismatches: int, row: int) -> None:
    """Explain why an open cell has at least ``mismatches`` mismatches, by the sides known at depth ``row`` - 1."""
    for side in range(4):
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.side[cell * 4 + side] > 0 and s.level[neighbour] < row - 1:
            explain.add_neighbour(t, s, cell, side)
    _explain_pieces(t, s, p, cell, mismatches, row)


@inline_flat_kernel
def _explain_pieces(t: Tables, s: State, p: Spending, cell: int, mismatches: int, row: int) -> None:
    """Add the decisions that placed pieces which would have fewer than ``mismatches`` mismatches on an open cell."""
    for word in range(len(p.free)):
        pool = p.fit[cell * len(p.free) + word] & ~p.free[word]  # unplaced duplicates too: `add_piece` ignores them
        if pool:
            ones, twos, fours = count_mismatches(t, s, p, cell, word, row)
            for level in range(mismatches):
                bits = with_level(pool, ones, twos, fours, level)
                while bits:
                    piece = first_piece(bits, word)
                    explain.add_piece(s, piece)
                    bits &= ~turns_of(piece)


# -- preemption and instantiation --------------------------------------------------------------------------------------


@inline_flat_kernel
def preempt(t: Tables, s: State, p: Spending, state: RegionState, depth: int, limit: int) -> tuple[int, int]:
    """Record the pieces that open cells need, as no mismatch is left to spend in the stage or region (``limit``).

    Return a cell without candidate, which ``s.explanation`` then explains, and a cell with only one; NO_CELL if none.
    """
    for piece in range(t.pieces):
        p.holder[piece] = -1
    count_pairs(t, s, p, depth, NO_CELL)
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
            piece = only_piece(t, s, p, cell, level, False)
            pair = p.own_pair[cell]
            is_pair = piece == _SEVERAL and pair > 0 and _counted(t, p, depth, limit, cell) == s.offer[pair]
            if piece == _SEVERAL and not is_pair:
                continue
            if not explained:
                explained = True
                explain.clear(t, s.explanation, 0)
                explain_limit(t, s, p, state, depth, limit, NO_CELL, ONE_MISMATCH)
                explain.clear(t, p.nothing_left, 0)
                explain.add(t, p.nothing_left, 0, s.explanation, 0)
            if piece >= 0 and single == NO_CELL:
                single = cell
            if piece >= 0 and (p.holder[piece] == cell or has_twin(t, piece)):
                continue
            if is_pair and _unheld_piece(t, s, p, pair) < 0:
                continue
            explain.clear(t, s.explanation, 0)
            explain.add(t, s.explanation, 0, p.nothing_left, 0)
            if is_pair:
                for other in range(t.cells):
                    if p.own_pair[other] == pair and _counted(t, p, depth, limit, other):
                        _explain_pair(t, s, other, pair)
                while _unheld_piece(t, s, p, pair) >= 0:
                    _hold(t, s, p, _unheld_piece(t, s, p, pair), t.cells + pair)
            else:
                _explain_cell(t, s, p, cell, level + 1, _NOW)
                only_piece(t, s, p, cell, level, True)
                if piece < 0:
                    return cell, single
                _hold(t, s, p, piece, cell)
            changed = True
    return NO_CELL, single


@inline_flat_kernel
def only_piece(t: Tables, s: State, p: Spending, cell: int, level: int, explained: bool) -> int:
    """Return the only free piece with ``level`` mismatches on a cell, apart from pieces needed elsewhere.

    _NO_PIECE: there is none; _SEVERAL: there are more. ``explained``: add why other candidates are needed elsewhere.
    """
    only = _NO_PIECE
    for word in range(len(p.free)):
        bits = candidates(t, s, p, cell, level, word)
        while bits:
            piece = first_piece(bits, word)
            bits &= ~turns_of(piece)
            if not is_held(t, p, piece, cell):
                only = piece if only == _NO_PIECE else _SEVERAL
                if only == _SEVERAL and not explained:
                    return _SEVERAL
            elif explained:
                explain.add(t, s.explanation, 0, p.reason, piece)
    return only


@inline_flat_kernel
def is_held(t: Tables, p: Spending, piece: int, cell: int) -> bool:
    """Return whether a piece is needed by another cell than ``cell``, or by a colour pair not counting ``cell``."""
    holder = p.holder[piece]
    if holder < 0 or holder == cell:
        return False
    return bool(holder < t.cells or holder - t.cells != p.own_pair[cell])


@inline_flat_kernel
def _unheld_piece(t: Tables, s: State, p: Spending, pair: int) -> int:
    """Return the first free piece of a colour pair that no cell or colour pair needs; _NO_PIECE if there is none."""
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        if s.cell_of[t.pair_piece[i]] < 0 and p.holder[t.pair_piece[i]] < 0:
            return int(t.pair_piece[i])
    return _NO_PIECE


@inline_flat_kernel
def _hold(t: Tables, s: State, p: Spending, piece: int, holder: int) -> None:
    """Record that a cell or colour pair (``holder``) needs a piece, for the reason in ``s.explanation``."""
    p.holder[piece] = holder
    explain.clear(t, p.reason, piece)
    explain.add(t, p.reason, piece, s.explanation, 0)
