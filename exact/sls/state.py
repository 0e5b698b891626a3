"""The flat arrays of a formula and of a walk over its assignments, and the flip that keeps all scores up to date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import flat_kernel, inline_flat_kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# whole numbers of a walk; the rest belongs to single rules
STEP, FALSE, BEST, LAST_CHANGE, DECREASING, PHASE, PHASE_BEGIN, PHASE_END, PHASE_BEST, KEPT, TENURE, NUMBERS = range(12)
NOISE, REALS = range(2)
assert NUMBERS
assert REALS


class Formula(NamedTuple):
    """A literal is ``2*variable + 1`` when negated, variables from 0. Clause c: ``literal[begin[c]:begin[c+1]]``.

    ``seen[seen_begin[l]:seen_begin[l+1]]``: the clauses with literal l.
    """

    begin: Longs
    literal: Ints
    seen_begin: Longs
    seen: Ints


class Walk(NamedTuple):
    """``score[v]``: clauses repaired minus clauses broken by flipping v; ``weighted[v]``: the same in clause weights.

    ``true[c]``: true literals; ``critical[c]``: exclusive or of their variables. ``broken[:FALSE]``: the false clauses,
    ``broken_at``: where each stands. ``flipped[v]``: step of the last flip, -1 = never. ``promising``: G2WSAT's
    list. ``next``, ``picked``, ``unmet``: DCRWalk's next literal by clause, how often it was picked, and found false.
    ``kept``: the assignment that IRoTS may restore.
    """

    value: npt.NDArray[np.uint8]
    true: Ints
    critical: Ints
    score: Ints
    weight: Floats
    weighted: Floats
    broken: Ints
    broken_at: Ints
    flipped: Longs
    promising: Ints
    is_promising: npt.NDArray[np.bool_]
    next: Ints
    picked: Longs
    unmet: Longs
    kept: npt.NDArray[np.uint8]
    numbers: Longs
    reals: Floats
    random: npt.NDArray[np.uint64]


def formula_of(blocks: Iterable[npt.NDArray[np.int32]], variables: int) -> Formula:
    """From blocks of clauses in DIMACS literals, each of shape (clauses, literals)."""
    lengths: list[npt.NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
    flat: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    for block in blocks:
        lengths.append(np.full(len(block), block.shape[1], dtype=np.int64))
        flat.append(np.where(block > 0, 2 * block - 2, -2 * block - 1).reshape(-1).astype(np.int32))
    begin, literal = np.cumsum(np.concatenate(lengths)), np.concatenate(flat)
    clause = np.repeat(np.arange(len(begin) - 1, dtype=np.int32), np.diff(begin))
    order = np.argsort(literal, kind="stable")
    seen_begin = np.searchsorted(literal[order], np.arange(2 * variables + 1)).astype(np.int64)
    return Formula(begin, literal, seen_begin, np.ascontiguousarray(clause[order]))


def random_walk(formula: Formula, seed: int) -> Walk:
    """A walk that stands on a random assignment."""
    variables, clauses = (len(formula.seen_begin) - 1) // 2, len(formula.begin) - 1
    source = np.random.SeedSequence(seed)
    value = np.random.Generator(np.random.PCG64(source)).integers(0, 2, variables, dtype=np.uint8)
    walk = Walk(
        value=value,
        true=np.zeros(clauses, dtype=np.int32),
        critical=np.zeros(clauses, dtype=np.int32),
        score=np.zeros(variables, dtype=np.int32),
        weight=np.ones(clauses),
        weighted=np.zeros(variables),
        broken=np.zeros(clauses, dtype=np.int32),
        broken_at=np.zeros(clauses, dtype=np.int32),
        flipped=np.full(variables, -1, dtype=np.int64),
        promising=np.zeros(variables, dtype=np.int32),
        is_promising=np.zeros(variables, dtype=np.bool_),
        next=np.zeros(clauses, dtype=np.int32),
        picked=np.zeros(clauses, dtype=np.int64),
        unmet=np.zeros(clauses, dtype=np.int64),
        kept=value.copy(),
        numbers=np.zeros(NUMBERS, dtype=np.int64),
        reals=np.zeros(REALS),
        random=source.generate_state(2, np.uint64) | np.uint64(1),
    )
    recount(formula, walk)
    walk.numbers[BEST] = walk.numbers[FALSE]
    for variable in np.flatnonzero(walk.score > 0):
        walk.promising[walk.numbers[DECREASING]] = variable
        walk.is_promising[variable] = True
        walk.numbers[DECREASING] += 1
    return walk


@inline_flat_kernel
def draw(walk: Walk) -> float:
    """xorshift64*: a uniform number in [0, 1)."""
    x = walk.random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    walk.random[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@inline_flat_kernel
def below(walk: Walk, bound: int) -> int:
    """A uniform whole number from 0 to ``bound`` - 1."""
    return int(draw(walk) * bound)


@flat_kernel
def recount(formula: Formula, walk: Walk) -> None:
    """All counts and scores of the assignment, from nothing; weights stay."""
    for v in range(len(walk.score)):
        walk.score[v], walk.weighted[v] = 0, 0.0
    walk.numbers[FALSE] = 0
    for c in range(len(walk.true)):
        count, variables = 0, 0
        for at in range(formula.begin[c], formula.begin[c + 1]):
            literal = formula.literal[at]
            if walk.value[literal >> 1] != literal & 1:
                count += 1
                variables ^= literal >> 1
        walk.true[c], walk.critical[c] = count, variables
        if count == 0:
            walk.broken[walk.numbers[FALSE]] = c
            walk.broken_at[c] = walk.numbers[FALSE]
            walk.numbers[FALSE] += 1
            for at in range(formula.begin[c], formula.begin[c + 1]):
                walk.score[formula.literal[at] >> 1] += 1
                walk.weighted[formula.literal[at] >> 1] += walk.weight[c]
        elif count == 1:
            walk.score[variables] -= 1
            walk.weighted[variables] -= walk.weight[c]


@inline_flat_kernel
def gain(walk: Walk, v: int, flipped: int, change: int, weight: float) -> None:
    """Add to a variable's scores; one that becomes decreasing by another's flip is promising (G2WSAT)."""
    before = walk.score[v]
    walk.score[v] = before + change
    walk.weighted[v] += change * weight
    if before <= 0 and before + change > 0 and v != flipped and not walk.is_promising[v]:
        walk.promising[walk.numbers[DECREASING]] = v
        walk.is_promising[v] = True
        walk.numbers[DECREASING] += 1


@flat_kernel
def flip(formula: Formula, walk: Walk, v: int) -> None:
    """Change the value of variable v."""
    was_true = 2 * v + (1 - walk.value[v])
    walk.value[v] = 1 - walk.value[v]
    for at in range(formula.seen_begin[was_true ^ 1], formula.seen_begin[(was_true ^ 1) + 1]):
        c = formula.seen[at]
        weight = walk.weight[c]
        if walk.true[c] == 0:  # repaired: nobody else can repair it, v can break it
            for i in range(formula.begin[c], formula.begin[c + 1]):
                gain(walk, formula.literal[i] >> 1, v, -1, weight)
            gain(walk, v, v, -1, weight)
            walk.numbers[FALSE] -= 1
            last = walk.broken[walk.numbers[FALSE]]
            walk.broken[walk.broken_at[c]] = last
            walk.broken_at[last] = walk.broken_at[c]
        elif walk.true[c] == 1:
            gain(walk, walk.critical[c], v, 1, weight)
        walk.true[c] += 1
        walk.critical[c] ^= v
    for at in range(formula.seen_begin[was_true], formula.seen_begin[was_true + 1]):
        c = formula.seen[at]
        weight = walk.weight[c]
        walk.true[c] -= 1
        walk.critical[c] ^= v
        if walk.true[c] == 0:  # broken: all its variables can repair it
            gain(walk, v, v, 1, weight)
            for i in range(formula.begin[c], formula.begin[c + 1]):
                gain(walk, formula.literal[i] >> 1, v, 1, weight)
            walk.broken[walk.numbers[FALSE]] = c
            walk.broken_at[c] = walk.numbers[FALSE]
            walk.numbers[FALSE] += 1
        elif walk.true[c] == 1:
            gain(walk, walk.critical[c], v, -1, weight)
    walk.flipped[v] = walk.numbers[STEP]
