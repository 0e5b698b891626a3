"""The choice of a cell and of the oriented pieces to try on it (Benoist & Bourreau 2008, 4.1 and 5.1)."""

from __future__ import annotations

import numpy as np

from lns.exact.colorpairs.explain import add, clear, demand_side, explain_pair, fits
from lns.exact.colorpairs.moves import NO_CAUSE
from lns.exact.colorpairs.options import Heuristic
from lns.exact.colorpairs.state import SLOTS, U64, State, Switches, Tables, counter
from lns.exact.kernels.bits import lowest_bit
from lns.exact.kernels.jit import inline_flat_kernel

NO_CELL = -1
BY_MOTIF_1_2, BY_MOTIF_3_4, BY_URGENCY = range(3)  # argument ``by`` of `best_cell`: how it scores cells
_BIG = 1 << 30
_MIN_OFFER, _MIN_EXPECTED_OFFER, _MIN_EXPECTED_GAP, _MIN_EXPECTED_RATIO, _, _ROW_MAJOR = map(int, Heuristic)


@inline_flat_kernel
def available(s: State, w: Switches, pair: int) -> int:
    """Count a colour pair's free pieces; those that other pairs preempt count only if a cell has three known sides."""
    if w.preemption and s.counters[counter.THREE_SIDED] == 0:
        return int(s.offer[pair] - s.nb_preempted[pair])
    return int(s.offer[pair])


@inline_flat_kernel
def preempt(t: Tables, s: State, w: Switches, pair: int) -> bool:
    """Preempt free pieces of a colour pair not preempted yet; return whether another demanded pair loses one (4.1)."""
    other_loses = False
    is_first = True
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        piece = t.pair_piece[i]
        if s.cell_of[piece] >= 0 or s.preempted_by[piece]:
            continue
        if is_first:
            is_first = False
            s.counters[counter.PREEMPTIONS] += 1
            if w.backjumping:
                clear(t, s.explanation, 0)
                explain_pair(t, s, pair, s.nb_preempted[pair] > 0)
                clear(t, s.preemption_reason, pair)
                add(t, s.preemption_reason, pair, s.explanation, 0)
        s.preempted_by[piece] = pair
        s.preempted[s.counters[counter.PREEMPTED]] = piece
        s.counters[counter.PREEMPTED] += 1
        for j in range(t.piece_pair_count[piece]):
            other = t.piece_pairs[piece * SLOTS + j]
            if other != pair:
                s.nb_preempted[other] += 1
                other_loses |= s.demand[other] > 0
    return other_loses


@inline_flat_kernel
def undo_preemptions(t: Tables, s: State, height: int) -> None:
    """Undo preemptions until the stack ``s.preempted`` of preempted pieces has ``height`` entries."""
    while s.counters[counter.PREEMPTED] > height:
        s.counters[counter.PREEMPTED] -= 1
        piece = s.preempted[s.counters[counter.PREEMPTED]]
        pair = s.preempted_by[piece]
        s.preempted_by[piece] = 0
        for j in range(t.piece_pair_count[piece]):
            other = t.piece_pairs[piece * SLOTS + j]
            if other != pair:
                s.nb_preempted[other] -= 1


@inline_flat_kernel
def propagate(t: Tables, s: State, w: Switches) -> tuple[int, int]:
    """Preempt pieces until nothing changes, or a contradiction or an instantiation is found (3.1, 4.1).

    Return (contradicted colour pair or NO_CAUSE, cell of the instantiation or NO_CELL). Call this function only while
    no cell has three known sides, so that every cell with two known sides demands one colour pair.
    """
    changed = True
    while changed:
        changed = False
        for word in range(t.words):
            cells = s.surrounded[word]
            while cells:
                cell = (word << 6) + lowest_bit(cells)
                cells &= cells - np.uint64(1)
                pair = s.cell_pairs[cell * SLOTS]
                demand = s.demand[pair]
                pieces = s.offer[pair] - s.nb_preempted[pair]
                if demand >= pieces:
                    if demand > pieces:
                        return pair, NO_CELL
                    if demand == 1 and w.instantiation:
                        return NO_CAUSE, cell
                    if w.preemption:
                        changed |= preempt(t, s, w, pair)
    return NO_CAUSE, NO_CELL


@inline_flat_kernel
def expected_offer(t: Tables, s: State, pair: int) -> float:
    """Return the expected number of free pieces left to a colour pair, the sum of their `probability` (5.1)."""
    total = 0.0
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        piece = t.pair_piece[i]
        if s.cell_of[piece] < 0:
            total += probability(t, s, piece, pair)
    return total


@inline_flat_kernel
def probability(t: Tables, s: State, piece: int, pair: int) -> float:
    """Return the probability that no colour pair but ``pair`` uses a piece, as if pairs were independent (5.1)."""
    product = 1.0
    for j in range(t.piece_pair_count[piece]):
        other = t.piece_pairs[piece * SLOTS + j]
        demand = s.demand[other]
        if demand > 0 and other != pair:
            product *= 1.0 - demand / s.offer[other]
    return product


@inline_flat_kernel
def urgency(t: Tables, s: State, w: Switches, pair: int) -> float:
    """Return the number by which the heuristic ranks a demanded colour pair (5.1); the least number wins."""
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
def smallest_offer_pair(s: State, w: Switches, cell: int) -> int:
    """Return the colour pair with the fewest available pieces among those that ``cell`` demands."""
    best, fewest = 0, _BIG
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        pieces = available(s, w, pair)
        if pieces < fewest:
            best, fewest = pair, pieces
    return best


@inline_flat_kernel
def best_cell(t: Tables, s: State, w: Switches, cells: U64, by: int) -> int:
    """Return the first cell with the least score in the set ``cells``; NO_CELL if no cell has a score (5.1).

    ``by`` says what the score is. BY_MOTIF_1_2: cells with four known sides come before those with three; of equals,
    the cell whose scarcest colour pair has the fewest free pieces. BY_MOTIF_3_4: `motif_score`. BY_URGENCY: `urgency`
    of the colour pair that the cell demands; with the heuristic ROW_MAJOR, all cells have the same score.
    """
    best, least = NO_CELL, float(_BIG)
    for word in range(t.words):
        members = cells[word]
        while members:
            cell = (word << 6) + lowest_bit(members)
            members &= members - np.uint64(1)
            score = 0.0
            if by == BY_MOTIF_1_2:
                score = float(s.offer[smallest_offer_pair(s, w, cell)] - (s.known_sides[cell] << 20))
            elif by == BY_MOTIF_3_4:
                score = float(motif_score(t, s, w, cell))
            elif w.heuristic != _ROW_MAJOR:
                score = urgency(t, s, w, s.cell_pairs[cell * SLOTS])
            if score < least:
                best, least = cell, score
    return best


@inline_flat_kernel
def motif_score(t: Tables, s: State, w: Switches, cell: int) -> int:
    """Return how many pieces are `available` to a cell of motif 3, that number + 2**20 for motif 4, else _BIG (5.1).

    The cell has two known sides. Motif 3: an empty neighbour has two known sides or more. Motif 4: an empty neighbour
    has one known side, and two or more neighbours with two known sides or more, of which the cell is one.
    """
    if s.surrounded_neighbours[cell]:
        return available(s, w, s.cell_pairs[cell * SLOTS])
    for side in range(4):
        near = t.neighbour[cell * 4 + side]
        if near >= 0 and s.grid[near] < 0 and s.known_sides[near] == 1 and s.surrounded_neighbours[near] >= 2:
            return available(s, w, s.cell_pairs[cell * SLOTS]) + (1 << 20)
    return _BIG


@inline_flat_kernel
def random_cell_of(t: Tables, s: State, pair: int) -> int:
    """Return a random cell of those that demand a colour pair, drawn with the generator splitmix64."""
    s.random[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = s.random[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    skipped = np.int64(mixed >> np.uint64(32)) * s.demand[pair] >> 32
    for word in range(t.words):
        cells = s.demand_set[pair * t.words + word]
        while cells:
            if skipped == 0:
                return (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            skipped -= 1
    return NO_CELL


@inline_flat_kernel
def is_next_free(t: Tables, s: State, piece: int) -> bool:
    """Return whether a piece is free and its previous duplicate, if there is one, is placed."""
    if s.cell_of[piece] >= 0:
        return False
    before = t.previous_duplicate[piece]
    return bool(before < 0 or s.cell_of[before] >= 0)


@inline_flat_kernel
def list_values(t: Tables, s: State, w: Switches, cell: int, pair: int, start: int) -> int:
    """Write the oriented pieces to try on ``cell`` to ``s.values`` from index ``start``; return the end index.

    Those pieces have the colour pair, which the cell demands, and fit the cell (`fits`). Of duplicate pieces only the
    first free one is listed. Pieces that another colour pair preempts are left out while no cell has three known sides.
    """
    end = start
    skip_preempted = w.preemption and s.counters[counter.THREE_SIDED] == 0
    turn = demand_side(t, s, cell, pair)
    for i in range(t.pair_oriented_start[pair], t.pair_oriented_start[pair + 1]):
        piece = t.pair_oriented[i] >> 2
        if not is_next_free(t, s, piece):
            continue
        if skip_preempted and s.preempted_by[piece] and s.preempted_by[piece] != pair:
            continue
        oriented = piece * 4 + ((t.pair_oriented[i] + turn) & 3)
        if fits(t, s, cell, oriented):
            s.values[end] = oriented
            end += 1
    return end


@inline_flat_kernel
def exceeds_offer(t: Tables, s: State, pair: int, piece: int, own: int) -> bool:
    """Return whether a colour pair has more cells than pieces once another cell demands it and ``piece`` is placed.

    The cell that ``piece`` fills demands the colour pair ``own``.
    """
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
def passes_quick_check(t: Tables, s: State, cell: int, oriented: int, own: int) -> bool:
    """Return whether ``oriented`` on ``cell`` leaves enough pieces to each colour pair that is tested.

    Each colour pair of the piece, and each that an empty neighbour then demands, is tested by itself. ``own``: the
    colour pair that ``cell`` demands.
    """
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
        colour = t.beyond[oriented * 4 + direction]
        before = s.side[base + ((direction + 1) & 3)]
        if before >= 0 and exceeds_offer(t, s, t.consecutive[before * t.colours + colour], piece, own):
            return False
        after = s.side[base + ((direction + 3) & 3)]
        if after >= 0 and exceeds_offer(t, s, t.consecutive[colour * t.colours + after], piece, own):
            return False
        across = s.side[base + direction]
        if across >= 0 and exceeds_offer(t, s, t.opposite[colour * t.colours + across], piece, own):
            return False
    return True


@inline_flat_kernel
def sort_values(t: Tables, s: State, pair: int, start: int, end: int) -> None:
    """Sort ``s.values[start:end]`` by decreasing `probability` for a colour pair (5.1); the sort is stable."""
    for i in range(start, end):
        value = s.values[i]
        chance = probability(t, s, value >> 2, pair)
        place = i
        while place > start and s.value_probability[place - 1] < chance:
            s.values[place] = s.values[place - 1]
            s.value_probability[place] = s.value_probability[place - 1]
            place -= 1
        s.values[place] = value
        s.value_probability[place] = chance


@inline_flat_kernel
def cell_demanding_colour(t: Tables, s: State, colour: int) -> int:
    """Return the first empty cell with a known side of ``colour``; NO_CELL if there is none."""
    for cell in range(t.cells):
        if s.grid[cell] < 0:
            for side in range(4):
                if s.side[cell * 4 + side] == colour:
                    return cell
    return NO_CELL


@inline_flat_kernel
def cell_without_pair(t: Tables, s: State) -> tuple[int, int]:
    """Choose an empty cell and the colour of a known side of that cell; for when no empty cell has two known sides.

    That happens on boards without frame. The colour with the fewest free pieces is taken. If no empty cell has a known
    side, return the first empty cell and the colour K = ``t.colours``, which stands for any colour.
    """
    best, best_colour, fewest = NO_CELL, t.colours, _BIG
    for cell in range(t.cells):
        if s.grid[cell] >= 0:
            continue
        if best == NO_CELL:
            best = cell
        for side in range(4):
            colour = s.side[cell * 4 + side]
            if colour < 0:
                continue
            free = 0
            for i in range(t.colour_piece_start[colour], t.colour_piece_start[colour + 1]):
                free += s.cell_of[t.colour_piece[i]] < 0
            if free < fewest:
                best, best_colour, fewest = cell, colour, free
    return best, best_colour


@inline_flat_kernel
def list_colour_values(t: Tables, s: State, cell: int, colour: int, start: int) -> int:
    """List oriented pieces like `list_values`, but by a colour, not a colour pair; K = ``t.colours`` stands for any."""
    end = start
    for i in range(t.colour_oriented_start[colour], t.colour_oriented_start[colour + 1]):
        oriented = t.colour_oriented[i]
        if is_next_free(t, s, oriented >> 2) and fits(t, s, cell, oriented):
            s.values[end] = oriented
            end += 1
    return end
