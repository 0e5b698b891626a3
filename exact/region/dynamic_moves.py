"""The move of a dynamic search: the one of ColorPairs (`exact.colorpairs.moves`), colour balance and free pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.colorpairs.moves import assign, show_side, unassign
from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.balance import balance_bound, change_balance
from exact.region.dynamic_state import Spending
from exact.region.kernel import SPARE
from exact.region.state import OUTSIDE, RIM, VACANT, RegionPlan, RegionState
from lns_support.bits import bit
from lns_support.jit import flat_kernel, inline_flat_kernel

_ALL_TURNS = np.uint64(15)


@flat_kernel
def show_surroundings(t: Tables, s: State, p: Spending, plan: RegionPlan) -> None:
    """Show the rim and the laid pieces to the cells of an empty region, and free all pieces."""
    p.vacant[0] = 0
    for cell in range(t.cells):
        for side in range(4):
            p.vacant[0] += plan.around[cell, side] == VACANT
            colour = t.shown[cell * 4 + side]
            if colour >= 0:
                show_side(t, s, cell, side, colour, False)
    for piece in range(t.pieces):
        if t.previous_duplicate[piece] < 0:
            p.free[piece >> 4] |= turns_of(piece)


@inline_flat_kernel
def turns_of(piece: Any) -> Any:
    """The bits of all rotations of a piece, as a mask of their word ``piece >> 4``."""
    return _ALL_TURNS << np.uint64((piece & 15) * 4)


@inline_flat_kernel
def place_piece(
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, depth: int, cell: int, oriented: int
) -> None:
    """Place an oriented piece on a cell: update pairs, known sides, balances and free pieces."""
    piece = oriented >> 2
    origin = p.origin[oriented]
    vacant = p.vacant[depth]
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        colour = plan.quads[origin, side]
        joint = plan.joint_at[cell, side]
        if beyond == VACANT:
            change_balance(plan, state, colour, -1)
            vacant -= 1
        elif beyond == OUTSIDE or s.grid[beyond] >= 0:
            required = state.joint_colour[joint]
            if required != colour:
                change_balance(plan, state, required, 1)
                change_balance(plan, state, colour, -1)
        else:
            change_balance(plan, state, colour, -2)
            state.joint_colour[joint] = colour
    assign(t, s, cell, oriented, depth, depth, False, False)
    state.refill[cell] = origin
    p.vacant[depth + 1] = vacant
    state.spent[depth + 1] = state.spent[depth] + state.level[depth]
    state.bound[depth + 1] = balance_bound(state, vacant, state.scalars[SPARE])
    p.free[piece >> 4] &= ~turns_of(piece)
    p.placed[piece >> 4] |= turns_of(piece)
    twin = p.twin[piece]
    if twin >= 0:
        p.free[twin >> 4] |= turns_of(twin)


@inline_flat_kernel
def remove_piece(t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, depth: int) -> None:
    """Undo `place_piece`."""
    cell = p.cell[depth]
    oriented = s.grid[cell]
    piece = oriented >> 2
    twin = p.twin[piece]
    if twin >= 0:
        p.free[twin >> 4] &= ~turns_of(twin)
    p.placed[piece >> 4] &= ~turns_of(piece)
    p.free[piece >> 4] |= turns_of(piece)
    unassign(t, s, cell, 4, depth, False)
    origin = p.origin[oriented]
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        colour = plan.quads[origin, side]
        if beyond == VACANT:
            change_balance(plan, state, colour, 1)
        elif beyond == OUTSIDE or s.grid[beyond] >= 0:
            required = state.joint_colour[plan.joint_at[cell, side]]
            if required != colour:
                change_balance(plan, state, required, -1)
                change_balance(plan, state, colour, 1)
        else:
            change_balance(plan, state, colour, 2)


@inline_flat_kernel
def is_member(t: Tables, p: Spending, stage: int, cell: int) -> bool:
    """Whether a cell belongs to the block of a stage."""
    return bool(p.members[stage * t.words + (cell >> 6)] & bit(cell))
