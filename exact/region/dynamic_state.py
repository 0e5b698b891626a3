"""The state of a dynamic search: that of ColorPairs (`lns.exact.colorpairs.state`), and what spending mismatches adds.

Pieces, cells and colours have the numbers of `lns.exact.colorpairs.state`: the freed pieces from 0, duplicates one
after the other; cells by their number in the region; colours without gaps. *Bits* of a set of oriented pieces are piece
* 4 + rotation. Of `RegionState`, `shows` and `placed` are by these bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.moves import assign, show_side, unassign
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.colorpairs.state import I32, State, Switches, Tables, arrays, colours_by_axis, empty_state, make_tables
from lns.exact.kernels.bits import bit, lowest_bit, popcount
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.region import scalar
from lns.exact.region.kernel import balance_bound, change_balance
from lns.exact.region.options import RegionOptions
from lns.exact.region.plan import Region
from lns.exact.region.scheme import SearchScheme
from lns.exact.region.state import OUTSIDE, RIM, VACANT, Ints, RegionPlan, RegionState, Words

DOM_DEG = -1  # instead of a `Heuristic`: fewest candidates, divided by the open neighbours
NO_BIT = -1
_NO_BITS = np.uint64(0)
_ALL_TURNS = np.uint64(15)


class Spending(NamedTuple):
    """What the search of a region of n cells with at most r mismatches needs in addition to the ColorPairs state.

    N: freed pieces, B: 64-bit words of a set of oriented pieces, W: of a set of cells.
    """

    origin: Ints  # int64 (4N,): the oriented piece of the puzzle
    fit: Words  # uint64 (n*B,): oriented pieces whose grey sides fit a cell, each look once
    mask: Words  # uint64 (4*K*B,): oriented pieces with a colour on a side
    free: Words  # uint64 (B,): oriented pieces that may be placed
    placed: Words  # uint64 (B,): oriented pieces that are placed
    min_level: npt.NDArray[np.uint8]  # uint8 (n+2, n): row d+1: least mismatches of each open cell at depth d
    witness: I32  # int32 (n+2, n): row d+1: the bit of a free piece that has them, NO_BIT = unknown
    vacant: Ints  # int64 (n+1,): vacant joints of the open cells at a depth
    cell: Ints  # int64 (n+1,): the cell decided at a depth
    max_level: Ints  # int64 (n+1,): mismatches that it may have
    limit: Ints  # int64 (n+1,): what allows it no more: STAGE, REGION or NO_LIMIT
    stage: Ints  # int64 (n+1,): the stage that is filled at a depth
    stage_left: Ints  # int64 (n+1,): open cells of that stage
    members: Words  # uint64 (stages*W,): the cells of each stage
    own_pair: I32  # int32 (n,): the pair by which an open cell is counted, 0 = none
    pair_count: I32  # int32 (P,): open cells counted by a pair
    stage_pair_count: I32  # int32 (P,): those of the stage
    holder: I32  # int32 (N,): the cell, or n + the pair, that needs a piece; -1 = none
    reason: Words  # uint64 (N*W,): explanation of that, as a set of depths
    nothing_left: Words  # uint64 (W,): explanation why no mismatch is left to spend
    excluded: Words  # uint64 ((n+1)*B,): oriented pieces that other cells need, by depth


class DynamicArrays(NamedTuple):
    """The arrays of a dynamic search."""

    tables: Tables
    pairs: State
    spending: Spending


def switches_of(options: RegionOptions) -> Switches:
    """The parts of the search that can be switched off."""
    names = ("backjumping", "pairs", "preemption", "instantiation")
    heuristic = DOM_DEG if options.heuristic == "dom-deg" else int(Heuristic.of(options.heuristic))
    chosen = {name: getattr(options, name) for name in names}
    return Switches.of(Options())._replace(heuristic=heuristic, **chosen)


def make_arrays(region: Region) -> DynamicArrays:
    """The arrays of a region, before its first cell is decided."""
    plan, turns = region.plan, region.puzzle.turns
    free = np.flatnonzero(region.free)
    group = np.where(plan.identical[free] >= 0, plan.identical[free], free)
    by_group = np.argsort(group, kind="stable")
    free, group = free[by_group], group[by_group]
    oriented = (free[:, None] * 4 + np.arange(4)).ravel()
    colours = colours_by_axis(plan.quads, turns, int(plan.quads.max()))
    outside = {int(joint): int(colours[region.outside[cell], side]) for joint, cell, side in plan.outside}
    values = np.unique(np.concatenate([[0], colours[oriented].ravel(), list(outside.values())]).astype(np.int64))
    quads = np.searchsorted(values, colours[oriented])
    shown = np.full(plan.around.shape, -1, dtype=np.int32)
    shown[plan.around == RIM] = 0
    beyond = plan.around == OUTSIDE
    shown[beyond] = np.searchsorted(values, [outside[joint] for joint in plan.joint_at[beyond].tolist()])
    tables = make_tables(
        quads=quads[::4],
        class_of_piece=group,
        colours=len(values),
        neighbour=np.where(plan.around >= 0, plan.around, -1).astype(np.int32).ravel(),
        shown=shown.ravel(),
        turns=turns,
        opposite_pairs=True,
    )
    made = DynamicArrays(tables, empty_state(tables, Options()), _spending(plan, tables, oriented, quads))
    _show_surroundings(*made, plan)
    return made


def _spending(plan: RegionPlan, tables: Tables, oriented: Ints, quads: Ints) -> Spending:
    n, words, pairs = len(plan.cells), max(1, -(-len(oriented) // 64)), len(tables.pair_first)

    def as_set(members: npt.NDArray[np.bool_]) -> Words:
        chosen, bits = np.flatnonzero(members), np.zeros(words, dtype=np.uint64)
        np.bitwise_or.at(bits, chosen >> 6, np.uint64(1) << (chosen & 63).astype(np.uint64))
        return bits

    looks, patterns = plan.distinct[oriented] > 0, plan.pattern_of[oriented]
    by_pattern = [as_set(looks & (patterns == pattern)) for pattern in range(len(plan.kind_of))]

    return Spending(
        origin=oriented.astype(np.int64),
        fit=np.concatenate([by_pattern[pattern] for pattern in plan.pattern_at]),
        mask=np.concatenate([as_set(quads[:, side] == c) for side in range(4) for c in range(tables.colours)]),
        min_level=np.zeros((n + 2, n), dtype=np.uint8),
        witness=np.full((n + 2, n), NO_BIT, dtype=np.int32),
        **arrays(np.int64, n + 1, "vacant", "cell", "max_level", "limit", "stage", "stage_left"),
        **arrays(np.int32, n, "own_pair"),
        **arrays(np.int32, pairs, "pair_count", "stage_pair_count"),
        **arrays(np.int32, tables.pieces, "holder"),
        **arrays(np.uint64, words, "free", "placed"),
        **arrays(np.uint64, 0, "members"),
        **arrays(np.uint64, tables.pieces * tables.words, "reason"),
        **arrays(np.uint64, tables.words, "nothing_left"),
        **arrays(np.uint64, (n + 1) * words, "excluded"),
    )


@flat_kernel
def _show_surroundings(t: Tables, s: State, p: Spending, plan: RegionPlan) -> None:
    """Show the rim and the laid pieces to the cells of an empty region, and free all pieces."""
    for cell in range(t.cells):
        for side in range(4):
            p.vacant[0] += plan.around[cell, side] == VACANT
            colour = t.shown[cell * 4 + side]
            if colour >= 0:
                show_side(t, s, cell, side, colour, False)
    for piece in range(t.pieces):
        if t.previous_duplicate[piece] < 0:
            p.free[piece >> 4] |= turns_of(piece)


def members_of(scheme: SearchScheme, words: int) -> Words:
    """uint64 (stages*words,): the cells of each stage, as sets."""
    stage = np.repeat(np.arange(len(scheme.length)), scheme.length)
    offset = np.arange(len(stage)) - (np.cumsum(scheme.length) - scheme.length)[stage]
    number = scheme.members[scheme.first_member[stage] + offset]
    bits = np.zeros(len(scheme.length) * words, dtype=np.uint64)
    np.bitwise_or.at(bits, stage * words + (number >> 6), np.uint64(1) << (number & 63).astype(np.uint64))
    return bits


@inline_flat_kernel
def is_member(t: Tables, p: Spending, stage: int, cell: int) -> bool:
    """Whether a cell belongs to the block of a stage."""
    return bool(p.members[stage * t.words + (cell >> 6)] & bit(cell))


# -- moves: those of ColorPairs, colour balance and free pieces -----------------------------------------------------


@inline_flat_kernel
def turns_of(piece: Any) -> Any:
    """The bits of all rotations of a piece, as a mask of their word ``piece >> 4``."""
    return _ALL_TURNS << np.uint64((piece & 15) * 4)


@inline_flat_kernel
def has_twin(t: Tables, piece: int) -> bool:
    """Whether the next piece is a duplicate, which may be placed once ``piece`` is."""
    return piece + 1 < t.pieces and t.previous_duplicate[piece + 1] >= 0


@inline_flat_kernel
def place_piece(
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, depth: int, cell: int, oriented: int
) -> None:
    """Place an oriented piece on a cell: update pairs, known sides, balances and free pieces."""
    piece = oriented >> 2
    state.placed[cell] = oriented * 4
    vacant = p.vacant[depth] - _change_balances(s, plan, state, cell, -1)
    assign(t, s, cell, oriented, depth, depth, False, False)
    state.refill[cell] = p.origin[oriented]
    p.vacant[depth + 1] = vacant
    state.spent[depth + 1] = state.spent[depth] + state.level[depth]
    state.bound[depth + 1] = balance_bound(state, vacant, state.scalars[scalar.SPARE])
    _toggle_piece(t, p, piece)


@inline_flat_kernel
def remove_piece(t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, depth: int) -> None:
    """Undo `place_piece`."""
    cell = p.cell[depth]
    _toggle_piece(t, p, s.grid[cell] >> 2)
    unassign(t, s, cell, 4, depth, False)
    _change_balances(s, plan, state, cell, 1)


@inline_flat_kernel
def _toggle_piece(t: Tables, p: Spending, piece: int) -> None:
    """Take a piece from the free ones or return it; its next duplicate is free while it is not."""
    p.free[piece >> 4] ^= turns_of(piece)
    p.placed[piece >> 4] ^= turns_of(piece)
    if has_twin(t, piece):
        p.free[(piece + 1) >> 4] ^= turns_of(piece + 1)


@inline_flat_kernel
def _change_balances(s: State, plan: RegionPlan, state: RegionState, cell: int, change: int) -> int:
    """Change the balance for the piece of a cell, before it is placed (-1) or after (+1); returns vacant sides."""
    vacant = 0
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        colour = state.shows[state.placed[cell] + side]
        joint = plan.joint_at[cell, side]
        if beyond == VACANT:
            change_balance(plan, state, colour, change)
            vacant += 1
        elif beyond == OUTSIDE or s.grid[beyond] >= 0:
            required = state.joint_colour[joint]
            if required != colour:
                change_balance(plan, state, required, -change)
                change_balance(plan, state, colour, change)
        else:
            change_balance(plan, state, colour, 2 * change)
            state.joint_colour[joint] = colour
    return vacant


# -- candidates of a cell by level, the number of their mismatches with its known sides ------------------------------


@inline_flat_kernel
def known_colours(s: State, cell: int) -> int:
    """The number of sides of a cell towards a piece."""
    known = 0
    for side in range(4):
        known += s.side[cell * 4 + side] > 0
    return known


@inline_flat_kernel
def count_mismatches(t: Tables, s: State, p: Spending, cell: int, word: int, row: int) -> Any:
    """The mismatches of 64 oriented pieces with the known sides of a cell, as binary digits: ones, twos, fours.

    ``row``: only sides that were known at depth ``row`` - 1 count.
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
    """The members of a set whose number of mismatches is ``level``."""
    pool &= ones if level & 1 else ~ones
    pool &= twos if level & 2 else ~twos
    return pool & (fours if level & 4 else ~fours)


@inline_flat_kernel
def candidates(t: Tables, s: State, p: Spending, cell: int, level: int, word: int) -> Any:
    """The free oriented pieces that fit a cell with exactly ``level`` mismatches."""
    ones, twos, fours = count_mismatches(t, s, p, cell, word, 1 << 30)
    return with_level(p.free[word] & p.fit[cell * len(p.free) + word], ones, twos, fours, level)


@inline_flat_kernel
def count_candidates(t: Tables, s: State, p: Spending, cell: int, level: int) -> int:
    """The number of free oriented pieces that fit a cell with exactly ``level`` mismatches."""
    count = 0
    for word in range(len(p.free)):
        count += popcount(candidates(t, s, p, cell, level, word))
    return count


@inline_flat_kernel
def least_level(t: Tables, s: State, p: Spending, cell: int, level: int, known: int) -> tuple[int, int]:
    """The least mismatches of a free piece on a cell, at least ``level``, and the bit of such a piece.

    (``known``, NO_BIT) if no piece has fewer than ``known``.
    """
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
    """The piece of the lowest member of a word of a set of oriented pieces."""
    return int((word * 64 + lowest_bit(bits)) >> 2)
