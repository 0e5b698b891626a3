"""Tabu search on full boards: every step makes the best allowed move, a swap of two pieces or a rotation of one.

Moves are evaluated incrementally. ``matches[cell, oriented]`` is the number of edges that an oriented piece would match
on a cell, given the pieces on neighbouring cells; ``best_matches[piece, cell]`` is the maximum over the legal rotations
of a piece. Placing a piece changes these entries only for neighbouring cells, and there only for pieces that show the
old or the new colour to the cell. ``swap_matches`` is the sum of the matches of two cells after a swap of their
pieces, so a few vector operations on one of its rows decide whether a swap of that row's cell can be the best move.

After Glover 1989 (tabu search with aspiration), Battiti & Tecchiolli 1994 (reactive tenure), and Schaus & Deville 2008,
section 3 (the swap-and-rotate neighbourhood).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import inline_kernel, kernel
from lns.instances.puzzle import BoolArray, IntArray
from lns.rng import random_below

# Added to the matches of a rotation that a cell does not allow, such as one with grey inside. The score change of a
# swap after which two pieces lie in such rotations still fits a byte.
ILLEGAL = -30
BLOCK = 256  # the length of the rows of swap_matches is a multiple of it, so vector instructions leave no remainder
NO_CELL: Any = np.int64(-1)  # a NumPy type: numba would compile kernels again for a Python constant
NO_ROTATION: Any = np.int64(0)  # a NumPy type for the same reason as NO_CELL
NO_SWAP = np.int8(-100)  # swap_matches of two cells that may not swap their pieces, or are neighbours
Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class TabuProblem(NamedTuple):
    """The puzzle as flat arrays. n: number of cells and of pieces. A group has cells that may swap their pieces."""

    edge_colours: npt.NDArray[np.int16]  # int16 (4n, 4): colours of each oriented piece by side
    neighbour: IntArray  # int32 (n, 4): neighbour of each cell by side; n if there is none
    legal: BoolArray  # bool (n, 4n): whether a cell allows an oriented piece
    group_cells: IntArray  # int32 (m,): the m cells that may change, group after group; indexes of it are "positions"
    group_first: IntArray  # int32 (m,): for each position, first position of its group
    group_end: IntArray  # int32 (m,): for each position, last position of its group, plus one
    group_position: IntArray  # int32 (n,): position of each cell in group_cells; -1 if it may not change
    pieces_showing: IntArray  # int32 (16n,): for each side and colour in turn, oriented pieces with this colour there
    showing_start: IntArray  # int32 (4*colour_count + 1,): first index in pieces_showing by side*colour_count + colour
    zobrist: Words  # uint64 (n, 4n): by cell and oriented piece, random numbers; the hash is the xor of a board's
    colour_count: int  # number of colours, grey included


class TabuState(NamedTuple):
    """State of a walk. n, m, positions: see `TabuProblem`. b: m rounded up to a multiple of BLOCK. 2^k: hash slots."""

    placed: Annotated[IntArray, "n", -1]  # oriented piece on each cell
    matches: Annotated[Int8Array, ("n", "4n")]  # by cell and oriented piece, edges that it would match there
    best_matches: Annotated[Int8Array, ("n", "n")]  # by piece and cell, most matches over the piece's rotations
    piece_position: Annotated[IntArray, "n", -1]  # position of the cell on which each piece lies; -1: fixed piece
    current_matches: Annotated[Int8Array, "b"]  # matches of the piece at each position
    # by two positions, the lower first: matches of both after a swap of their pieces
    swap_matches: Annotated[Int8Array, ("b", "b"), int(NO_SWAP)]
    tabu_until: Annotated[Int64Array, ("n", "n")]  # by cell and piece, step until which it may not return or turn there
    visited_step: Annotated[Int64Array, "2^k", -1]  # by low bits of a board's hash, step of the last visit; -1: none
    visited_hash: Annotated[Words, "2^k"]  # by low bits of a board's hash, full hash of the board visited last
    scalars: Annotated[Int64Array, 7]  # numbers of the walk, at the indexes SCORE to HASH
    best_placed: Annotated[IntArray, "n", -1]  # best board of the walk; of equally good ones the last
    random: Words  # uint64 (4,): state of the random generator xoshiro256**


# Indexes of `TabuState.scalars`: score, best score, step, tenure * TENURE_UNIT, step at which the tenure last changed,
# number of moves evaluated, hash of the board.
SCORE, BEST, STEP, TENURE, CHANGED, EVALUATED, HASH = range(7)
TENURE_UNIT = 16


@inline_kernel
def _update_best_matches(state: TabuState, cell: int, at: int, piece: int) -> None:
    """Update ``best_matches`` and ``swap_matches`` of a piece and a cell at position ``at`` from ``matches``."""
    first = piece * 4
    top = state.matches[cell, first]
    for rotation in range(1, 4):
        top = max(top, state.matches[cell, first + rotation])
    change = top - state.best_matches[piece, cell]
    if change == 0:
        return
    state.best_matches[piece, cell] = top
    home = state.piece_position[piece]
    if at >= 0 and home >= 0:
        low, high = min(at, home), max(at, home)
        if state.swap_matches[low, high] != NO_SWAP:
            state.swap_matches[low, high] += change


@kernel
def place(problem: TabuProblem, state: TabuState, cell: int, oriented: int) -> None:
    """Place ``oriented`` on ``cell`` and update the matches of its neighbours.

    The entries of ``swap_matches`` for the cell itself are left to `_update_swaps`.
    """
    before = state.placed[cell]
    for side in range(4):
        other = problem.neighbour[cell, side]
        if other == len(state.placed):
            continue
        facing = (side + 2) % 4
        at = problem.group_position[other]
        for step in range(2):
            colour = problem.edge_colours[before if step == 0 else oriented, side]
            if colour <= 0:
                continue
            key = facing * problem.colour_count + colour
            change = np.int8(-1 if step == 0 else 1)
            for k in range(problem.showing_start[key], problem.showing_start[key + 1]):
                shown = problem.pieces_showing[k]
                state.matches[other, shown] += change
                _update_best_matches(state, other, at, shown >> 2)
        if at >= 0:
            state.current_matches[at] = state.matches[other, state.placed[other]]
    state.placed[cell] = oriented
    if problem.group_position[cell] >= 0:
        state.current_matches[problem.group_position[cell]] = state.matches[cell, oriented]


@inline_kernel
def _update_swaps(problem: TabuProblem, state: TabuState, at: int) -> None:
    """Update ``piece_position`` and ``swap_matches`` for the position ``at``, whose piece has changed."""
    cell = problem.group_cells[at]
    piece = state.placed[cell] >> 2
    state.piece_position[piece] = at
    for k in range(len(problem.group_cells)):
        low, high = min(at, k), max(at, k)
        if state.swap_matches[low, high] != NO_SWAP:
            there = problem.group_cells[k]
            state.swap_matches[low, high] = (
                state.best_matches[state.placed[there] >> 2, cell] + state.best_matches[piece, there]
            )


@kernel
def reset(problem: TabuProblem, state: TabuState, placed: npt.NDArray[np.int32]) -> None:
    """Begin a walk at the full board ``placed``: compute every derived array, clear tabu list and visited boards."""
    cells = len(placed)
    code = np.uint64(0)
    state.placed[:] = state.best_placed[:] = placed
    state.piece_position[:] = state.visited_step[:] = -1
    state.swap_matches[:], state.tabu_until[:] = NO_SWAP, 0
    for cell in range(cells):
        for oriented in range(4 * cells):
            matches = 0 if problem.legal[cell, oriented] else ILLEGAL
            for side in range(4):
                other = problem.neighbour[cell, side]
                colour = problem.edge_colours[oriented, side]
                if colour != 0 and other != cells and problem.edge_colours[placed[other], (side + 2) % 4] == colour:
                    matches += 1
            state.matches[cell, oriented] = matches
        for piece in range(cells):
            _update_best_matches(state, cell, NO_CELL, piece)
        code ^= problem.zobrist[cell, placed[cell]]
    for at in range(len(problem.group_cells)):
        cell = problem.group_cells[at]
        state.current_matches[at] = state.matches[cell, placed[cell]]
        for k in range(at + 1, problem.group_end[at]):
            near, other = problem.neighbour[cell], problem.group_cells[k]
            if near[0] != other and near[1] != other and near[2] != other and near[3] != other:
                state.swap_matches[at, k] = 0
    for at in range(len(problem.group_cells)):
        _update_swaps(problem, state, at)
    state.scalars[SCORE] = state.scalars[BEST] = _score_of(state)
    state.scalars[HASH] = np.int64(code)


@inline_kernel
def _rotation_of(state: TabuState, cell: int, piece: int) -> int:
    """Return the rotation of ``piece`` with the most matches on ``cell``; ties are broken at random."""
    wanted = state.best_matches[piece, cell]
    found = -1
    ties = 0
    for rotation in range(4):
        if state.matches[cell, piece * 4 + rotation] == wanted:
            ties += 1
            if ties == 1 or random_below(state.random, ties) == 0:
                found = rotation
    return found


@inline_kernel
def _best_swap_change(state: TabuState, at: int) -> int:
    """Return the score change of the best swap with a later position, tabu or not; at most NO_SWAP if there is none."""
    first = at // BLOCK * BLOCK
    row, now = state.swap_matches[at, first:], state.current_matches[first:]
    top = NO_SWAP
    for k in range(len(row)):
        top = max(top, np.int8(row[k] - now[k]))  # in bytes, so that vector instructions do many at once
    return np.int64(top) - state.current_matches[at]


@kernel
def run_moves(problem: TabuProblem, state: TabuState, count: int, target: int) -> None:
    """Make ``count`` moves; fewer if the best score reaches ``target``.

    Each is the best allowed move; ties are broken at random. A move is allowed if it is not tabu or if it improves the
    best score of the walk (aspiration). A step without an allowed move counts as a move.
    """
    scalars = state.scalars
    for _ in range(count):
        step, score = scalars[STEP], scalars[SCORE]
        move_a, move_b, move_rotation = NO_CELL, NO_CELL, NO_ROTATION
        top = -20  # greatest score change so far; at first more than that of any illegal swap
        aspiration = scalars[BEST] - score  # a tabu move is allowed if it changes the score by more than this
        ties = evaluated = 0
        for i in range(len(problem.group_cells)):
            a = np.int64(problem.group_cells[i])
            here = state.placed[a]
            piece_a = here >> 2
            now_a = np.int64(state.current_matches[i])
            for rotation in range(4):  # moves that turn the piece on cell a
                turned = piece_a * 4 + rotation
                if turned == here or state.matches[a, turned] < 0:
                    continue
                evaluated += 1
                delta = np.int64(state.matches[a, turned]) - now_a
                if delta < top:
                    continue
                if state.tabu_until[a, piece_a] > step and delta <= aspiration:
                    continue
                ties = ties + 1 if delta == top else 1
                if ties == 1 or random_below(state.random, ties) == 0:
                    move_a, move_b, move_rotation = a, NO_CELL, rotation
                top = delta
            evaluated += problem.group_end[i] - i - 1
            if _best_swap_change(state, i) < top:
                continue
            for j in range(i + 1, problem.group_end[i]):
                delta = np.int64(state.swap_matches[i, j]) - now_a - np.int64(state.current_matches[j])
                if delta < top:
                    continue
                b = np.int64(problem.group_cells[j])
                piece_b = state.placed[b] >> 2
                if (state.tabu_until[a, piece_b] > step or state.tabu_until[b, piece_a] > step) and delta <= aspiration:
                    continue
                ties = ties + 1 if delta == top else 1
                if ties == 1 or random_below(state.random, ties) == 0:
                    move_a, move_b = a, b
                top = delta
        scalars[EVALUATED] += evaluated
        scalars[STEP] = step + 1
        if move_a < 0:  # no move is allowed: all are tabu
            scalars[TENURE] = max(TENURE_UNIT, scalars[TENURE] * 9 // 10)
            continue
        _apply_move(problem, state, move_a, move_b, move_rotation)
        scalars[SCORE] = score + top
        if scalars[SCORE] >= scalars[BEST]:  # of equal scores keep the last board, so kicks start from different ones
            scalars[BEST] = scalars[SCORE]
            state.best_placed[:] = state.placed
            if scalars[BEST] >= target:
                return
        _adapt_tenure(state)


@inline_kernel
def _apply_move(problem: TabuProblem, state: TabuState, a: int, b: int, rotation: int) -> None:
    """Swap the pieces of cells a and b, or turn that of a (b < 0); a move back is tabu for tenure to 2*tenure steps."""
    scalars = state.scalars
    tenure = max(1, scalars[TENURE] // TENURE_UNIT)
    end = scalars[STEP] + tenure + random_below(state.random, tenure + 1)
    code = np.uint64(scalars[HASH])
    old_a = state.placed[a]
    piece_a = old_a >> 2
    state.tabu_until[a, piece_a] = end
    if b < 0:
        new_a = piece_a * 4 + rotation
        place(problem, state, a, new_a)
        code ^= problem.zobrist[a, old_a] ^ problem.zobrist[a, new_a]
    else:
        old_b = state.placed[b]
        piece_b = old_b >> 2
        state.tabu_until[b, piece_b] = end
        new_a = piece_b * 4 + _rotation_of(state, a, piece_b)
        new_b = piece_a * 4 + _rotation_of(state, b, piece_a)
        place(problem, state, a, new_a)
        place(problem, state, b, new_b)
        _update_swaps(problem, state, problem.group_position[a])
        _update_swaps(problem, state, problem.group_position[b])
        code ^= problem.zobrist[a, old_a] ^ problem.zobrist[a, new_a]
        code ^= problem.zobrist[b, old_b] ^ problem.zobrist[b, new_b]
    scalars[HASH] = np.int64(code)


@inline_kernel
def _adapt_tenure(state: TabuState) -> None:
    """Make the tenure longer if the board was visited before, shorter if the tenure has not changed for a while."""
    scalars = state.scalars
    code = np.uint64(scalars[HASH])
    slot = code & np.uint64(len(state.visited_step) - 1)
    if state.visited_step[slot] >= 0 and state.visited_hash[slot] == code:
        scalars[TENURE] = min(scalars[TENURE] * 11 // 10 + TENURE_UNIT, np.int64(len(state.placed)) * TENURE_UNIT)
        scalars[CHANGED] = scalars[STEP]
    elif scalars[STEP] - scalars[CHANGED] > 4 * (scalars[TENURE] // TENURE_UNIT) + 50:
        scalars[TENURE] = max(TENURE_UNIT, scalars[TENURE] * 9 // 10)
        scalars[CHANGED] = scalars[STEP]
    state.visited_step[slot] = scalars[STEP]
    state.visited_hash[slot] = code


@inline_kernel
def _score_of(state: TabuState) -> int:
    """Return the score of the current board: half the matches of all cells, as two cells count each matched edge."""
    matches = 0
    for cell in range(len(state.placed)):
        matches += state.matches[cell, state.placed[cell]]
    return matches // 2


@kernel
def kick(problem: TabuProblem, state: TabuState, swaps: int) -> None:
    """Swap up to ``swaps`` pairs of pieces at random, each pair within a group, whatever that costs in score.

    Pieces of neighbouring cells may be swapped too: otherwise some boards would be out of reach, as on 2x2 cells only
    diagonal swaps would remain.
    """
    for _ in range(swaps if len(problem.group_cells) else 0):
        i = random_below(state.random, len(problem.group_cells))
        size = problem.group_end[i] - problem.group_first[i]
        if size < 2:
            continue
        j = problem.group_first[i] + random_below(state.random, size)
        a, b = np.int64(problem.group_cells[i]), np.int64(problem.group_cells[j])
        matches = min(state.best_matches[state.placed[b] >> 2, a], state.best_matches[state.placed[a] >> 2, b])
        if a != b and matches >= 0:  # each piece is allowed on the cell of the other
            _apply_move(problem, state, a, b, NO_ROTATION)
    state.scalars[SCORE] = _score_of(state)
    if state.scalars[SCORE] >= state.scalars[BEST]:
        state.scalars[BEST] = state.scalars[SCORE]
        state.best_placed[:] = state.placed
