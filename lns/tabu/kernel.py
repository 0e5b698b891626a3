"""Tabu search on full boards: the best swap or rotation each step, all of them evaluated incrementally.

``fit[cell, oriented]`` holds the matches that an oriented piece would have on a cell among the cell's neighbours as
they lie, and ``best[piece, cell]`` its maximum over the rotations that keep grey on the rim. A placed colour changes
only the few entries that show it. ``pair`` holds what two cells would match with their pieces exchanged, so a row of it
tells in a few vector operations whether an exchange of a cell can be the step's best; only then are they looked at.

Sources: Glover's tabu search with aspiration; reactive tenure after Battiti & Tecchiolli 1994; the swap-and-rotate
neighbourhood is the one of the edge-matching literature (Schaus & Deville 2008, section 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.rng import random_below
from lns_support.jit import inline_kernel, kernel

ILLEGAL = -64  # fit of a rotation that would show grey inside or colour on the rim
BLOCK = 256  # positions: a multiple of what vector instructions take at once, or single ones at the end cost most
NO_PAIR = np.int8(-100)  # of two cells that may not exchange their pieces


class Frame(NamedTuple):
    """What stays. ``quads``: int16 (4n, 4). ``neighbour``: int32 (n, 4), n = none.

    ``group``: int32 cells that may exchange pieces, group after group; ``group_start``: int32 offsets; ``position``:
    int32 (n,) of a cell in ``group``, -1 for a clue's. ``group_end``: int32, by position, where its group ends.
    ``showing``: int32 oriented pieces by (side, colour); ``showing_start``: int32 offsets, side*colours1 + colour.
    ``zobrist``: uint64 (n, 4n).
    """

    quads: npt.NDArray[np.int16]
    neighbour: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]
    group_start: npt.NDArray[np.int32]
    group_end: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    showing: npt.NDArray[np.int32]
    showing_start: npt.NDArray[np.int32]
    zobrist: npt.NDArray[np.uint64]
    colours1: int


class Walk(NamedTuple):
    """The search's own state, all of it.

    ``placed``: int32 (n,) oriented piece by cell; ``fit``: int8 (n, 4n); ``best``: int8 (n, n) by piece, cell;
    ``home``: int32 (n,) by piece, the position of its cell in ``group`` (or -1); ``now``: int8 by position, the
    matches of the cell as it lies; ``pair``: int8 by two positions, the lower first, the matches of both with their
    pieces exchanged, NO_PAIR for cells of different groups and for neighbours (they see each other move: left to
    longer routes). Both are as long as whole blocks of positions, for the vector instructions.
    ``until``: int64 (n, n) by cell, piece: step until which the piece may not return to the cell.
    ``seen``: int64 (2^k,) step at which a board with this hash was last met, ``seen_hash`` its full hash.
    ``scalars``: int64 [score, best score, step, tenure*16, step of last tenure change, moves evaluated, hash].
    ``record``: int32 (n,) the best board, the one met last.
    """

    placed: npt.NDArray[np.int32]
    fit: npt.NDArray[np.int8]
    best: npt.NDArray[np.int8]
    home: npt.NDArray[np.int32]
    now: npt.NDArray[np.int8]
    pair: npt.NDArray[np.int8]
    until: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]
    seen_hash: npt.NDArray[np.uint64]
    scalars: npt.NDArray[np.int64]
    record: npt.NDArray[np.int32]
    random: npt.NDArray[np.uint64]


SCORE, BEST, STEP, TENURE, CHANGED, EVALUATED, HASH = range(7)
TENURE_UNIT = 16


@inline_kernel
def _refresh(walk: Walk, cell: int, at: int, piece: int) -> None:
    """Bring ``best`` and ``pair`` up to date with ``fit``; ``at`` is the position of ``cell``."""
    first = piece * 4
    top = walk.fit[cell, first]
    for rotation in range(1, 4):
        top = max(top, walk.fit[cell, first + rotation])
    change = top - walk.best[piece, cell]
    if change == 0:
        return
    walk.best[piece, cell] = top
    home = walk.home[piece]
    if at >= 0 and home >= 0:
        low, high = min(at, home), max(at, home)
        if walk.pair[low, high] != NO_PAIR:
            walk.pair[low, high] += change


@kernel
def put(frame: Frame, walk: Walk, cell: int, oriented: int) -> None:
    """Lay ``oriented`` on ``cell``, over what lies there; its neighbours' ``fit``, ``best`` and ``now`` follow.

    So does ``pair``, but for exchanges of the cell itself, which `_settle` brings up to date.
    """
    before = walk.placed[cell]
    for side in range(4):
        other = frame.neighbour[cell, side]
        if other == len(walk.placed):
            continue
        facing = (side + 2) % 4
        at = frame.position[other]
        for step in range(2):
            colour = frame.quads[before if step == 0 else oriented, side]
            if colour <= 0:
                continue
            key = facing * frame.colours1 + colour
            change = np.int8(-1 if step == 0 else 1)
            for k in range(frame.showing_start[key], frame.showing_start[key + 1]):
                shown = frame.showing[k]
                walk.fit[other, shown] += change
                _refresh(walk, other, at, shown >> 2)
        if at >= 0:
            walk.now[at] = walk.fit[other, walk.placed[other]]
    walk.placed[cell] = oriented
    if frame.position[cell] >= 0:
        walk.now[frame.position[cell]] = walk.fit[cell, oriented]


@inline_kernel
def _apart(frame: Frame, a: int, b: int) -> bool:
    """Whether two cells are not neighbours."""
    near = frame.neighbour[a]
    return near[0] != b and near[1] != b and near[2] != b and near[3] != b


@inline_kernel
def _settle(frame: Frame, walk: Walk, at: int) -> None:
    """What the cell at a position, with another piece now, and each other cell would match by an exchange."""
    cell = frame.group[at]
    piece = walk.placed[cell] >> 2
    walk.home[piece] = at
    for k in range(len(frame.group)):
        low, high = min(at, k), max(at, k)
        if walk.pair[low, high] != NO_PAIR:
            there = frame.group[k]
            walk.pair[low, high] = walk.best[walk.placed[there] >> 2, cell] + walk.best[piece, there]


@kernel
def prepare(frame: Frame, walk: Walk, placed: npt.NDArray[np.int32]) -> None:
    """Start from the full board ``placed``; fills every derived array of ``walk``."""
    cells = len(placed)
    score = 0
    code = np.uint64(0)
    walk.home[:] = -1
    walk.pair[:] = NO_PAIR
    for cell in range(cells):
        for oriented in range(4 * cells):
            legal = True
            matches = 0
            for side in range(4):
                other = frame.neighbour[cell, side]
                colour = frame.quads[oriented, side]
                if (colour == 0) != (other == cells):
                    legal = False
                elif other != cells and frame.quads[placed[other], (side + 2) % 4] == colour:
                    matches += 1
            walk.fit[cell, oriented] = matches if legal else matches + ILLEGAL
        for piece in range(cells):
            _refresh(walk, cell, -1, piece)
        walk.placed[cell] = placed[cell]
        walk.record[cell] = placed[cell]
        score += walk.fit[cell, placed[cell]]
        code ^= frame.zobrist[cell, placed[cell]]
        for piece in range(cells):
            walk.until[cell, piece] = 0
    for at in range(len(frame.group)):
        cell = frame.group[at]
        walk.now[at] = walk.fit[cell, placed[cell]]
        for k in range(at + 1, frame.group_end[at]):
            if _apart(frame, cell, frame.group[k]):
                walk.pair[at, k] = 0
    for at in range(len(frame.group)):
        _settle(frame, walk, at)
    walk.scalars[SCORE] = walk.scalars[BEST] = score // 2
    walk.scalars[HASH] = np.int64(code)
    walk.seen[:] = -1


@inline_kernel
def _rotation_of(walk: Walk, cell: int, piece: int) -> int:
    """One of the rotations of ``piece`` that fit best on ``cell``, by chance."""
    wanted = walk.best[piece, cell]
    found = -1
    ties = 0
    for rotation in range(4):
        if walk.fit[cell, piece * 4 + rotation] == wanted:
            ties += 1
            if ties == 1 or random_below(walk.random, ties) == 0:
                found = rotation
    return found


@inline_kernel
def _promise(frame: Frame, walk: Walk, at: int) -> int:
    """What the best exchange of a position with a later one changes, tabu or not; NO_PAIR at most if there is none."""
    first = at // BLOCK * BLOCK
    row, now = walk.pair[at, first:], walk.now[first:]
    top = NO_PAIR
    for k in range(len(row)):
        top = max(top, np.int8(row[k] - now[k]))  # in bytes: many of them at once
    return np.int64(top) - walk.now[at]


@kernel
def steps(frame: Frame, walk: Walk, count: int, target: int) -> None:
    """``count`` moves, fewer when the best score reaches ``target``: each the best that is not tabu, ties by chance."""
    cells = len(walk.placed)
    scalars = walk.scalars
    mask = np.uint64(len(walk.seen) - 1)
    for _ in range(count):
        step = scalars[STEP]
        score = scalars[SCORE]
        top = -50  # above what a pair is worth that may not be exchanged
        ties = 0
        move_a = move_b = -1
        move_rotation = 0
        wish = scalars[BEST] - score  # a tabu move must beat the record
        evaluated = 0
        for i in range(len(frame.group)):
            a = frame.group[i]
            here = walk.placed[a]
            piece_a = here >> 2
            now_a = np.int64(walk.now[i])
            for rotation in range(4):  # turn the piece of a
                turned = piece_a * 4 + rotation
                if turned == here or walk.fit[a, turned] < 0:
                    continue
                evaluated += 1
                delta = np.int64(walk.fit[a, turned]) - now_a
                if delta < top:
                    continue
                if walk.until[a, piece_a] > step and delta <= wish:
                    continue
                ties = ties + 1 if delta == top else 1
                if ties == 1 or random_below(walk.random, ties) == 0:
                    move_a, move_b, move_rotation = a, -1, rotation
                top = delta
            evaluated += frame.group_end[i] - i - 1
            if _promise(frame, walk, i) < top:
                continue
            for j in range(i + 1, frame.group_end[i]):
                delta = np.int64(walk.pair[i, j]) - now_a - np.int64(walk.now[j])
                if delta < top:
                    continue
                b = frame.group[j]
                piece_b = walk.placed[b] >> 2
                if (walk.until[a, piece_b] > step or walk.until[b, piece_a] > step) and delta <= wish:
                    continue
                ties = ties + 1 if delta == top else 1
                if ties == 1 or random_below(walk.random, ties) == 0:
                    move_a, move_b = a, b
                top = delta
        scalars[EVALUATED] += evaluated
        scalars[STEP] = step + 1
        if move_a < 0:  # everything is tabu
            scalars[TENURE] = max(TENURE_UNIT, scalars[TENURE] * 9 // 10)
            continue
        _make(frame, walk, move_a, move_b, move_rotation)
        scalars[SCORE] = score + top
        if scalars[SCORE] >= scalars[BEST]:  # the last of equal ones: kicks wander then
            scalars[BEST] = scalars[SCORE]
            walk.record[:] = walk.placed
            if scalars[BEST] >= target:
                return
        _react(walk, mask, cells)


@inline_kernel
def _make(frame: Frame, walk: Walk, a: int, b: int, rotation: int) -> None:
    """Carry out a move and forbid its way back for about ``tenure`` steps."""
    scalars = walk.scalars
    tenure = max(1, scalars[TENURE] // TENURE_UNIT)
    end = scalars[STEP] + tenure + random_below(walk.random, tenure + 1)
    code = np.uint64(scalars[HASH])
    old_a = walk.placed[a]
    piece_a = old_a >> 2
    walk.until[a, piece_a] = end
    if b < 0:
        new_a = piece_a * 4 + rotation
        put(frame, walk, a, new_a)
        code ^= frame.zobrist[a, old_a] ^ frame.zobrist[a, new_a]
    else:
        old_b = walk.placed[b]
        piece_b = old_b >> 2
        walk.until[b, piece_b] = end
        new_a = piece_b * 4 + _rotation_of(walk, a, piece_b)
        new_b = piece_a * 4 + _rotation_of(walk, b, piece_a)
        put(frame, walk, a, new_a)
        put(frame, walk, b, new_b)
        _settle(frame, walk, frame.position[a])
        _settle(frame, walk, frame.position[b])
        code ^= frame.zobrist[a, old_a] ^ frame.zobrist[a, new_a]
        code ^= frame.zobrist[b, old_b] ^ frame.zobrist[b, new_b]
    scalars[HASH] = np.int64(code)


@inline_kernel
def _react(walk: Walk, mask: np.uint64, cells: int) -> None:
    """Reactive tenure: longer when a board comes back, shorter when none has for a while."""
    scalars = walk.scalars
    code = np.uint64(scalars[HASH])
    slot = code & mask
    if walk.seen[slot] >= 0 and walk.seen_hash[slot] == code:
        scalars[TENURE] = min(scalars[TENURE] * 11 // 10 + TENURE_UNIT, np.int64(cells) * TENURE_UNIT)
        scalars[CHANGED] = scalars[STEP]
    elif scalars[STEP] - scalars[CHANGED] > 4 * (scalars[TENURE] // TENURE_UNIT) + 50:
        scalars[TENURE] = max(TENURE_UNIT, scalars[TENURE] * 9 // 10)
        scalars[CHANGED] = scalars[STEP]
    walk.seen[slot] = scalars[STEP]
    walk.seen_hash[slot] = code


@inline_kernel
def _matches(frame: Frame, walk: Walk, a: int, b: int) -> int:
    """Of two cells, a joint between them counted once."""
    one, other = walk.placed[a], walk.placed[b]
    both = np.int64(walk.fit[a, one]) + walk.fit[b, other]
    for side in range(4):
        if frame.neighbour[a, side] == b and frame.quads[one, side] == frame.quads[other, (side + 2) % 4]:
            both -= 1
    return both


@kernel
def kick(frame: Frame, walk: Walk, swaps: int) -> None:
    """Up to ``swaps`` random exchanges inside the groups, whatever they cost: a jump to another basin.

    Of neighbours too: without them a small board has parts that no walk leaves (2x2 cells only have diagonals).
    """
    groups = len(frame.group_start) - 1
    if frame.group_start[groups] == 0:
        return  # every cell is a clue
    for _ in range(swaps):
        i = random_below(walk.random, frame.group_start[groups])
        g = 0
        while frame.group_start[g + 1] <= i:
            g += 1
        size = frame.group_start[g + 1] - frame.group_start[g]
        if size < 2:
            continue
        a, b = frame.group[i], frame.group[frame.group_start[g] + random_below(walk.random, size)]
        if a == b:
            continue
        before = _matches(frame, walk, a, b)
        _make(frame, walk, a, b, 0)
        walk.scalars[SCORE] += _matches(frame, walk, a, b) - before
    if walk.scalars[SCORE] >= walk.scalars[BEST]:
        walk.scalars[BEST] = walk.scalars[SCORE]
        walk.record[:] = walk.placed
