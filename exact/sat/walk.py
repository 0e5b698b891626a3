"""The arrays of a formula and of a walk over its assignments, and the flip, which keeps all scores up to date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.execution import Check, unlimited
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
STEP, FALSE, BEST, DECREASING, OF_RULES, INTEGERS = 0, 1, 2, 3, 4, 11  # of a walk; from OF_RULES on used by rules only
NOISE = 0  # the one real number


class Formula(NamedTuple):
    """A CNF formula. A literal is 2*variable for the variable, 2*variable + 1 for its negation; variables from 0."""

    begin: Longs  # (clauses+1,): where each clause begins in `literal`
    literal: Ints  # literals, clause after clause
    occurrence_begin: Longs  # (2*variables+1,): where each literal begins in `occurrence`
    occurrence: Ints  # the clauses that contain a literal, literal after literal


class Walk(NamedTuple):
    """A walk over the assignments of a formula. V: variables, C: clauses."""

    value: npt.NDArray[np.uint8]  # (V,): the assignment
    true_count: Ints  # (C,): true literals of a clause
    critical: Ints  # (C,): exclusive or of the variables of its true literals
    score: Ints  # (V,): clauses that a flip makes true, minus clauses that it makes false
    weight: Floats  # (C,): clause weights (RSAPS)
    weighted: Floats  # (V,): the score in clause weights
    false_clauses: Ints  # (C,): the first integers[FALSE] entries are the false clauses
    false_at: Ints  # (C,): where a false clause is in `false_clauses`
    last_flip: Longs  # (V,): step of the last flip, -1 = never
    promising: Ints  # (V,): the first integers[DECREASING] entries are G2WSAT's promising variables
    is_promising: npt.NDArray[np.bool_]  # (V,): the variable is in that list
    next_literal: Ints  # (C,): DCRWalk: the literal of a clause to flip next
    picked: Longs  # (C,): DCRWalk: how often a clause was picked
    false_steps: Longs  # (C,): DCRWalk: at how many steps a clause was false
    kept: npt.NDArray[np.uint8]  # (V,): IRoTS: the assignment that may be restored
    integers: Longs  # (INTEGERS,): see the names above
    reals: Floats  # (NOISE + 1,): see the names above
    random: npt.NDArray[np.uint64]  # (2,): state of the random number generator


def formula_of(blocks: Iterable[Ints], variables: int, check: Check = unlimited) -> Formula:
    """The formula of blocks of clauses (see `lns.exact.sat.clauses`); ``check`` is called between them."""
    lengths, flat = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    count = np.zeros(2 * variables, dtype=np.int64)  # clauses that contain a literal
    for block in blocks:
        check()
        lengths.append(np.full(len(block), block.shape[1], dtype=np.int64))
        flat.append(np.where(block > 0, 2 * block - 2, -2 * block - 1).reshape(-1).astype(np.int32))
        count += np.bincount(flat[-1], minlength=len(count))
    formula = Formula(
        begin=np.cumsum(np.concatenate(lengths)),
        literal=np.concatenate(flat),
        occurrence_begin=np.concatenate([lengths[0], np.cumsum(count)]),
        occurrence=np.empty(count.sum(), dtype=np.int32),
    )
    end, first = formula.occurrence_begin[:-1].copy(), 0
    for sizes in lengths[1:]:
        check()
        list_occurrences(formula, end, first, first + len(sizes))
        first += len(sizes)
    return formula


@flat_kernel
def list_occurrences(formula: Formula, end: Longs, first: int, last: int) -> None:
    """Add the clauses from ``first`` to ``last`` - 1 to `Formula.occurrence`; ``end``: where each list ends so far."""
    for c in range(first, last):
        for at in range(formula.begin[c], formula.begin[c + 1]):
            literal = formula.literal[at]
            formula.occurrence[end[literal]] = c
            end[literal] += 1


def random_walk(formula: Formula, seed: int) -> Walk:
    """A walk that begins at a random assignment."""
    variables, clauses = (len(formula.occurrence_begin) - 1) // 2, len(formula.begin) - 1
    source = np.random.SeedSequence(seed)
    value = np.random.Generator(np.random.PCG64(source)).integers(0, 2, variables, dtype=np.uint8)
    walk = Walk(
        value=value,
        true_count=np.zeros(clauses, dtype=np.int32),
        critical=np.zeros(clauses, dtype=np.int32),
        score=np.zeros(variables, dtype=np.int32),
        weight=np.ones(clauses),
        weighted=np.zeros(variables),
        false_clauses=np.zeros(clauses, dtype=np.int32),
        false_at=np.zeros(clauses, dtype=np.int32),
        last_flip=np.full(variables, -1, dtype=np.int64),
        promising=np.zeros(variables, dtype=np.int32),
        is_promising=np.zeros(variables, dtype=np.bool_),
        next_literal=np.zeros(clauses, dtype=np.int32),
        picked=np.zeros(clauses, dtype=np.int64),
        false_steps=np.zeros(clauses, dtype=np.int64),
        kept=value.copy(),
        integers=np.zeros(INTEGERS, dtype=np.int64),
        reals=np.zeros(NOISE + 1),
        random=source.generate_state(2, np.uint64) | np.uint64(1),
    )
    recount(formula, walk)
    walk.integers[BEST] = walk.integers[FALSE]
    for variable in np.flatnonzero(walk.score > 0):
        walk.promising[walk.integers[DECREASING]] = variable
        walk.is_promising[variable] = True
        walk.integers[DECREASING] += 1
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
    """A uniform integer from 0 to ``bound`` - 1."""
    return int(draw(walk) * bound)


@inline_flat_kernel
def list_false(walk: Walk, c: int) -> None:
    """Add a clause to the false ones."""
    walk.false_clauses[walk.integers[FALSE]] = c
    walk.false_at[c] = walk.integers[FALSE]
    walk.integers[FALSE] += 1


@flat_kernel
def recount(formula: Formula, walk: Walk) -> None:
    """Compute all counts and scores of the assignment from scratch; weights are kept."""
    for v in range(len(walk.score)):
        walk.score[v], walk.weighted[v] = 0, 0.0
    walk.integers[FALSE] = 0
    for c in range(len(walk.true_count)):
        count, variables = 0, 0
        for at in range(formula.begin[c], formula.begin[c + 1]):
            literal = formula.literal[at]
            if walk.value[literal >> 1] != literal & 1:
                count += 1
                variables ^= literal >> 1
        walk.true_count[c], walk.critical[c] = count, variables
        if count == 0:
            list_false(walk, c)
            for at in range(formula.begin[c], formula.begin[c + 1]):
                walk.score[formula.literal[at] >> 1] += 1
                walk.weighted[formula.literal[at] >> 1] += walk.weight[c]
        elif count == 1:
            walk.score[variables] -= 1
            walk.weighted[variables] -= walk.weight[c]


@inline_flat_kernel
def gain(walk: Walk, v: int, flipped: int, change: int, weight: float) -> None:
    """Change the scores of v; if the flip of another variable makes its score positive, v is promising (G2WSAT)."""
    before = walk.score[v]
    walk.score[v] = before + change
    walk.weighted[v] += change * weight
    if before <= 0 and before + change > 0 and v != flipped and not walk.is_promising[v]:
        walk.promising[walk.integers[DECREASING]] = v
        walk.is_promising[v] = True
        walk.integers[DECREASING] += 1


@flat_kernel
def flip(formula: Formula, walk: Walk, v: int) -> None:
    """Flip the value of variable v."""
    was_true = 2 * v + (1 - walk.value[v])
    walk.value[v] = 1 - walk.value[v]
    for at in range(formula.occurrence_begin[was_true ^ 1], formula.occurrence_begin[(was_true ^ 1) + 1]):
        c = formula.occurrence[at]
        weight = walk.weight[c]
        if walk.true_count[c] == 0:  # becomes true: no other flip makes it true, a flip of v makes it false
            for i in range(formula.begin[c], formula.begin[c + 1]):
                gain(walk, formula.literal[i] >> 1, v, -1, weight)
            gain(walk, v, v, -1, weight)
            walk.integers[FALSE] -= 1
            last = walk.false_clauses[walk.integers[FALSE]]
            walk.false_clauses[walk.false_at[c]] = last
            walk.false_at[last] = walk.false_at[c]
        elif walk.true_count[c] == 1:
            gain(walk, walk.critical[c], v, 1, weight)
        walk.true_count[c] += 1
        walk.critical[c] ^= v
    for at in range(formula.occurrence_begin[was_true], formula.occurrence_begin[was_true + 1]):
        c = formula.occurrence[at]
        weight = walk.weight[c]
        walk.true_count[c] -= 1
        walk.critical[c] ^= v
        if walk.true_count[c] == 0:  # becomes false: a flip of any of its variables makes it true
            gain(walk, v, v, 1, weight)
            for i in range(formula.begin[c], formula.begin[c + 1]):
                gain(walk, formula.literal[i] >> 1, v, 1, weight)
            list_false(walk, c)
        elif walk.true_count[c] == 1:
            gain(walk, walk.critical[c], v, -1, weight)
    walk.last_flip[v] = walk.integers[STEP]
