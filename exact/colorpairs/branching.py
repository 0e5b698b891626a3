"""Where to branch and with which values (seed 000, 4.1 and 5.1)."""

from __future__ import annotations

import numpy as np

from exact.colorpairs.explain import explain_pair, fits, position
from exact.colorpairs.moves import NO_CAUSE
from exact.colorpairs.options import Heuristic
from exact.colorpairs.state import CROWDED, PREEMPTED, PREEMPTIONS, State, Switches
from exact.colorpairs.tables import SLOTS, Tables
from lns_support.bits import bit, lowest_bit
from lns_support.jit import inline_flat_kernel

NO_CELL = -1
_BIG = 1 << 30
_MIN_OFFER = int(Heuristic.MIN_OFFER)
_MIN_EXPECTED_OFFER = int(Heuristic.MIN_EXPECTED_OFFER)
_MIN_EXPECTED_GAP = int(Heuristic.MIN_EXPECTED_GAP)
_MIN_EXPECTED_RATIO = int(Heuristic.MIN_EXPECTED_RATIO)
_ROW_MAJOR = int(Heuristic.ROW_MAJOR)


@inline_flat_kernel
def available(s: State, w: Switches, pair: int) -> int:
    """Pieces that Offer(pair) can count on: |Offer| - nbPreempted, |Offer| while a cell has three known sides."""
    if w.preemption and s.counters[CROWDED] == 0:
        return int(s.offer[pair] - s.taken[pair])
    return int(s.offer[pair])


@inline_flat_kernel
def preempt(t: Tables, s: State, w: Switches, pair: int) -> bool:
    """Mark the pieces of Offer(pair), all needed by Demand(pair); True when another demanded pair loses one (4.1)."""
    disturbed = False
    first_time = True
    for i in range(t.member_start[pair], t.member_start[pair + 1]):
        piece = t.member[i]
        if s.where[piece] >= 0 or s.preempted_by[piece]:
            continue
        if first_time:
            first_time = False
            s.counters[PREEMPTIONS] += 1
            if w.backjumping:
                for word in range(t.words):
                    s.explanation[word] = 0
                explain_pair(t, s, pair, s.taken[pair] > 0)
                for word in range(t.words):
                    s.reason[pair * t.words + word] = s.explanation[word]
        s.preempted_by[piece] = pair
        s.preempted[s.counters[PREEMPTED]] = piece
        s.counters[PREEMPTED] += 1
        for j in range(t.piece_pair_count[piece]):
            other = t.piece_pairs[piece * SLOTS + j]
            if other != pair:
                s.taken[other] += 1
                disturbed |= s.demand[other] > 0
    return disturbed


@inline_flat_kernel
def release(t: Tables, s: State, height: int) -> None:
    """Undo the preemptions above ``height`` of their stack."""
    while s.counters[PREEMPTED] > height:
        s.counters[PREEMPTED] -= 1
        piece = s.preempted[s.counters[PREEMPTED]]
        pair = s.preempted_by[piece]
        s.preempted_by[piece] = 0
        for j in range(t.piece_pair_count[piece]):
            other = t.piece_pairs[piece * SLOTS + j]
            if other != pair:
                s.taken[other] -= 1


@inline_flat_kernel
def propagate(t: Tables, s: State, w: Switches) -> tuple[int, int]:
    """Contradiction, instantiation, preemption to a fixpoint: (contradicted pair or NO_CAUSE, forced cell or NO_CELL).

    Called while no cell has three known sides, so that every surrounded cell demands one pair.
    """
    again = True
    while again:
        again = False
        for word in range(t.words):
            cells = s.surrounded[word]
            while cells:
                cell = (word << 6) + lowest_bit(cells)
                cells &= cells - np.uint64(1)
                pair = s.cell_pairs[cell * SLOTS]
                demand = s.demand[pair]
                pieces = s.offer[pair] - s.taken[pair]
                if demand >= pieces:
                    if demand > pieces:
                        return pair, NO_CELL
                    if demand == 1 and w.instantiation:
                        return NO_CAUSE, cell
                    if w.preemption:
                        again |= preempt(t, s, w, pair)
    return NO_CAUSE, NO_CELL


@inline_flat_kernel
def expected_offer(t: Tables, s: State, pair: int) -> float:
    """E(|Offer(pair)|): the sum over its pieces of P(piece -> pair) (5.1)."""
    total = 0.0
    for i in range(t.member_start[pair], t.member_start[pair + 1]):
        piece = t.member[i]
        if s.where[piece] < 0:
            total += probability(t, s, piece, pair)
    return total


@inline_flat_kernel
def probability(t: Tables, s: State, piece: int, pair: int) -> float:
    """P(piece -> pair): that no other pair takes the piece, as if they were independent (5.1)."""
    product = 1.0
    for j in range(t.piece_pair_count[piece]):
        other = t.piece_pairs[piece * SLOTS + j]
        demand = s.demand[other]
        if demand > 0 and other != pair:
            product *= 1.0 - demand / s.offer[other]
    return product


@inline_flat_kernel
def urgency(t: Tables, s: State, w: Switches, pair: int) -> float:
    """The criterion to be minimised over the demanded pairs (5.1)."""
    if w.heuristic == _MIN_OFFER:
        return float(available(s, w, pair))
    expected = expected_offer(t, s, pair)
    if w.heuristic == _MIN_EXPECTED_OFFER:
        return expected
    if w.heuristic == _MIN_EXPECTED_GAP:
        return float(expected - s.demand[pair])
    if w.heuristic == _MIN_EXPECTED_RATIO:
        return float(expected / s.demand[pair])
    return float(expected - s.offer[pair])


@inline_flat_kernel
def tightest_pair(t: Tables, s: State, w: Switches, cell: int) -> int:
    """The pair with the fewest pieces among those that ``cell`` demands."""
    best, fewest = 0, _BIG
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        pieces = available(s, w, pair)
        if pieces < fewest:
            best, fewest = pair, pieces
    return best


@inline_flat_kernel
def crowded_cell(t: Tables, s: State, w: Switches) -> int:
    """Motifs 1 and 2: a cell with four known sides, else with three; among equals the tightest."""
    best, best_score = NO_CELL, _BIG
    for word in range(t.words):
        cells = s.crowded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            score = s.offer[tightest_pair(t, s, w, cell)] - (s.known[cell] << 20)
            if score < best_score:
                best, best_score = cell, score
    return best


@inline_flat_kernel
def motif_cell(t: Tables, s: State, w: Switches) -> int:
    """Motif 3: two known sides and a surrounded neighbour; else motif 4: beside a cell with one known side and two
    surrounded neighbours. Among equals the tightest; NO_CELL when there is none."""
    best, best_score = NO_CELL, _BIG
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            score = _BIG
            if s.beside[cell]:
                score = available(s, w, s.cell_pairs[cell * SLOTS])
            else:
                for side in range(4):
                    neighbour = t.neighbour[cell * 4 + side]
                    if (
                        neighbour >= 0
                        and s.grid[neighbour] < 0
                        and s.known[neighbour] == 1
                        and s.beside[neighbour] >= 2
                    ):
                        score = available(s, w, s.cell_pairs[cell * SLOTS]) + (1 << 20)
            if score < best_score:
                best, best_score = cell, score
    return best


@inline_flat_kernel
def urgent_cell(t: Tables, s: State, w: Switches) -> int:
    """The cell of the most urgent demanded pair."""
    best, best_score = NO_CELL, 1e300
    for word in range(t.words):
        cells = s.surrounded[word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            if w.heuristic == _ROW_MAJOR:
                return cell
            score = urgency(t, s, w, s.cell_pairs[cell * SLOTS])
            if score < best_score:
                best, best_score = cell, score
    return best


@inline_flat_kernel
def list_values(t: Tables, s: State, w: Switches, cell: int, pair: int, start: int) -> int:
    """The oriented pieces to try on ``cell``, into ``s.values`` from ``start``; where they end.

    They fit all known sides; of identical pieces the first free one only; pieces that another pair has preempted are
    left out while no cell has three known sides.
    """
    end = start
    respect_taken = w.preemption and s.counters[CROWDED] == 0
    turn = position(t, s, cell, pair)
    for i in range(t.entry_start[pair], t.entry_start[pair + 1]):
        piece = t.entry[i] >> 2
        if s.where[piece] >= 0:
            continue
        if t.twin[piece] >= 0 and s.where[t.twin[piece]] < 0:
            continue
        if respect_taken and s.preempted_by[piece] and s.preempted_by[piece] != pair:
            continue
        oriented = piece * 4 + ((t.entry[i] + turn) & 3)
        if fits(t, s, cell, oriented):
            s.values[end] = oriented
            end += 1
    return end


@inline_flat_kernel
def starves(t: Tables, s: State, pair: int, piece: int, own: int) -> bool:
    """Whether one more cell for ``pair`` is too many once ``piece`` is placed on a cell that demanded ``own``."""
    spare = s.offer[pair] - s.demand[pair]
    if pair == own:
        spare += 1
    if spare != 1:
        return bool(spare < 1)
    offers = False
    for i in range(t.piece_pair_count[piece]):
        offers |= t.piece_pairs[piece * SLOTS + i] == pair
    return offers


@inline_flat_kernel
def survives(t: Tables, s: State, cell: int, oriented: int, own: int) -> bool:
    """False when placing ``oriented`` on ``cell`` is seen to fail without doing it: one pair at a time."""
    piece = oriented >> 2
    for i in range(t.piece_pair_count[piece]):
        pair = t.piece_pairs[piece * SLOTS + i]
        if pair != own and s.demand[pair] > 0 and s.demand[pair] == s.offer[pair]:
            return False
    for direction in range(4):
        neighbour = t.neighbour[cell * 4 + direction]
        if neighbour < 0 or s.grid[neighbour] >= 0:
            continue
        base = neighbour * 4
        colour = t.quad[oriented * 4 + direction]
        before = s.side[base + ((direction + 1) & 3)]
        if before >= 0 and starves(t, s, t.consecutive[before * t.colours + colour], piece, own):
            return False
        after = s.side[base + ((direction + 3) & 3)]
        if after >= 0 and starves(t, s, t.consecutive[colour * t.colours + after], piece, own):
            return False
        across = s.side[base + direction]
        if across >= 0 and starves(t, s, t.opposite[colour * t.colours + across], piece, own):
            return False
    return True


@inline_flat_kernel
def few_survivors(t: Tables, s: State, cell: int, pair: int) -> bool:
    """Whether at most one value of ``cell`` passes `survives`; looks at no more than it must."""
    turn = position(t, s, cell, pair)
    found = 0
    for i in range(t.entry_start[pair], t.entry_start[pair + 1]):
        piece = t.entry[i] >> 2
        if s.where[piece] >= 0 or (s.preempted_by[piece] and s.preempted_by[piece] != pair):
            continue
        if t.twin[piece] >= 0 and s.where[t.twin[piece]] < 0:
            continue
        oriented = piece * 4 + ((t.entry[i] + turn) & 3)
        if fits(t, s, cell, oriented) and survives(t, s, cell, oriented, pair):
            found += 1
            if found > 1:
                return False
    return True


@inline_flat_kernel
def sort_values(t: Tables, s: State, pair: int, start: int, end: int) -> None:
    """Most probable pieces first (5.1); equals keep their order."""
    for i in range(start, end):
        value = s.values[i]
        worth = probability(t, s, value >> 2, pair)
        place = i
        while place > start and s.worth[place - 1] < worth:
            s.values[place] = s.values[place - 1]
            s.worth[place] = s.worth[place - 1]
            place -= 1
        s.values[place] = value
        s.worth[place] = worth


@inline_flat_kernel
def lone_colour_cell(t: Tables, s: State, colour: int) -> int:
    """The empty cell that asks for ``colour``."""
    for cell in range(t.cells):
        if s.grid[cell] < 0:
            for side in range(4):
                if s.side[cell * 4 + side] == colour:
                    return cell
    return NO_CELL


@inline_flat_kernel
def list_colour_values(t: Tables, s: State, cell: int, colour: int, start: int) -> int:
    """The orientations of the one free piece with ``colour`` that fit ``cell``; where they end in ``s.values``."""
    end = start
    for i in range(t.holder_start[colour], t.holder_start[colour + 1]):
        piece = t.holder[i]
        if s.where[piece] >= 0:
            continue
        for rotation in range(4):
            oriented = piece * 4 + rotation
            if looks_new(t, oriented) and fits(t, s, cell, oriented):
                s.values[end] = oriented
                end += 1
    return end


@inline_flat_kernel
def looks_new(t: Tables, oriented: int) -> bool:
    """Whether no smaller rotation of the piece looks the same."""
    for rotation in range(oriented & 3):
        same = True
        for side in range(4):
            same &= t.quad[((oriented & ~3) + rotation) * 4 + side] == t.quad[oriented * 4 + side]
        if same:
            return False
    return True


@inline_flat_kernel
def has_bit(s: State, level: int) -> bool:
    """Whether the explanation holds ``level``."""
    return bool(s.explanation[level >> 6] & bit(level))
