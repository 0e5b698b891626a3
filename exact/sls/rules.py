"""The five rules: which variable to flip next, each with its authors' default parameters. -1: no flip in this step."""

from __future__ import annotations

import numpy as np

from exact.jit import flat_kernel, inline_flat_kernel
from exact.sls.state import (
    BEST,
    DECREASING,
    FALSE,
    KEPT,
    LAST_CHANGE,
    NOISE,
    PHASE,
    PHASE_BEST,
    PHASE_END,
    STEP,
    TENURE,
    below,
    draw,
    flip,
    recount,
)

RULES = ("adaptnovelty+", "adaptg2wsat", "rsaps", "dcrwalk", "irots")
ADAPTNOVELTY, ADAPTG2WSAT, RSAPS, DCRWALK, IROTS = range(5)
assert (ADAPTNOVELTY, IROTS) == (0, 4)

THETA, PHI = 1 / 6, 1 / 5  # adaptive noise (Hoos, AAAI 2002)
WALK = 0.01  # probability of a random walk step (AdaptNovelty+, RSAPS)
DIVERSIFY = 0.05  # probability of the least recently flipped variable (Novelty++, Li & Huang 2005)
SCALE, SMOOTH, DELTA, ENOUGH = 1.3, 0.8, 0.1, 0.1  # SAPS (Hutter, Tompkins, Hoos, CP 2002)
LEAST_SMOOTHING, HEAVY = 0.02, 100.0  # ours: without a floor the weights outgrow the numbers during long stagnation
TIE = 1e-9


@inline_flat_kernel
def adapt_noise(walk, clauses):  # type: ignore[no-untyped-def]
    """More noise after clauses/6 steps without a better assignment, less after each better one."""
    numbers = walk.numbers
    if numbers[FALSE] < numbers[BEST]:
        walk.reals[NOISE] -= walk.reals[NOISE] * PHI / 2
        numbers[BEST] = numbers[FALSE]
        numbers[LAST_CHANGE] = numbers[STEP]
    elif numbers[STEP] - numbers[LAST_CHANGE] > clauses * THETA:
        walk.reals[NOISE] += (1 - walk.reals[NOISE]) * PHI
        numbers[BEST] = numbers[FALSE]
        numbers[LAST_CHANGE] = numbers[STEP]


@inline_flat_kernel
def novelty(formula, walk, c):  # type: ignore[no-untyped-def]
    """The best variable of the clause; if it was flipped last of them, the second best with the noise's probability."""
    best, second, youngest = -1, -1, -1
    for at in range(formula.begin[c], formula.begin[c + 1]):
        v = formula.literal[at] >> 1
        if youngest < 0 or walk.flipped[v] > walk.flipped[youngest]:
            youngest = v
        if best < 0 or better(walk, v, best):
            best, second = v, best
        elif second < 0 or better(walk, v, second):
            second = v
    if best == youngest and second >= 0 and walk.flipped[best] >= 0 and draw(walk) < walk.reals[NOISE]:
        return second
    return best


@inline_flat_kernel
def better(walk, v, than):  # type: ignore[no-untyped-def]
    """By score, then by the time since its last flip."""
    if walk.score[v] != walk.score[than]:
        return walk.score[v] > walk.score[than]
    return walk.flipped[v] < walk.flipped[than]


@inline_flat_kernel
def any_of(formula, walk, c):  # type: ignore[no-untyped-def]
    """A random variable of a clause."""
    return formula.literal[formula.begin[c] + below(walk, formula.begin[c + 1] - formula.begin[c])] >> 1


@flat_kernel
def pick_adaptnovelty(formula, walk):  # type: ignore[no-untyped-def]
    """AdaptNovelty+ (Hoos, AAAI 2002): Novelty+ in a random false clause, noise adapted to progress."""
    adapt_noise(walk, len(walk.true))
    c = walk.broken[below(walk, walk.numbers[FALSE])]
    if draw(walk) < WALK:
        return any_of(formula, walk, c)
    return novelty(formula, walk, c)


@flat_kernel
def pick_adaptg2wsat(formula, walk):  # type: ignore[no-untyped-def]
    """AdaptG2WSAT (Li, Wei, Zhang, SAT 2007): the best promising decreasing variable, else adaptive Novelty++."""
    adapt_noise(walk, len(walk.true))
    best, at = -1, 0
    while at < walk.numbers[DECREASING]:
        v = walk.promising[at]
        if walk.score[v] <= 0:
            walk.is_promising[v] = False
            walk.numbers[DECREASING] -= 1
            walk.promising[at] = walk.promising[walk.numbers[DECREASING]]
            continue
        if best < 0 or better(walk, v, best):
            best = v
        at += 1
    if best >= 0:
        return best
    c = walk.broken[below(walk, walk.numbers[FALSE])]
    if draw(walk) < DIVERSIFY:
        oldest = formula.literal[formula.begin[c]] >> 1
        for i in range(formula.begin[c] + 1, formula.begin[c + 1]):
            v = formula.literal[i] >> 1
            if walk.flipped[v] < walk.flipped[oldest]:
                oldest = v
        return oldest
    return novelty(formula, walk, c)


@flat_kernel
def pick_rsaps(formula, walk):  # type: ignore[no-untyped-def]
    """RSAPS (Hutter, Tompkins, Hoos, CP 2002): descend in clause weights; in a minimum scale the false clauses'
    weights.

    NOISE holds the probability of smoothing, which falls while nothing better is found (reactive).
    """
    numbers = walk.numbers
    if numbers[FALSE] < numbers[BEST]:
        walk.reals[NOISE] += 2 * DELTA * (1 - walk.reals[NOISE])
        numbers[BEST] = numbers[FALSE]
        numbers[LAST_CHANGE] = numbers[STEP]
    elif numbers[STEP] - numbers[LAST_CHANGE] > len(walk.true) * THETA:
        walk.reals[NOISE] = max(LEAST_SMOOTHING, walk.reals[NOISE] * (1 - DELTA))
        numbers[BEST] = numbers[FALSE]
        numbers[LAST_CHANGE] = numbers[STEP]
    best, ties = -1, 0
    for at in range(numbers[FALSE]):
        c = walk.broken[at]
        for i in range(formula.begin[c], formula.begin[c + 1]):
            v = formula.literal[i] >> 1
            if best < 0 or walk.weighted[v] > walk.weighted[best] + TIE:
                best, ties = v, 1
            elif v != best and walk.weighted[v] > walk.weighted[best] - TIE:
                ties += 1
                if below(walk, ties) == 0:
                    best = v
    if walk.weighted[best] > ENOUGH:
        return best
    if draw(walk) < WALK:
        return any_of(formula, walk, walk.broken[below(walk, numbers[FALSE])])
    for at in range(numbers[FALSE]):
        c = walk.broken[at]
        added = (SCALE - 1) * walk.weight[c]
        walk.weight[c] += added
        for i in range(formula.begin[c], formula.begin[c + 1]):
            walk.weighted[formula.literal[i] >> 1] += added
    if draw(walk) < walk.reals[NOISE]:
        smooth(walk)
    return -1


@inline_flat_kernel
def smooth(walk):  # type: ignore[no-untyped-def]
    """All weights towards their mean; scores are linear in the weights, so no clause is visited.

    Where the mean is heavy, all are divided by it, which changes no comparison.
    """
    mean = 0.0
    for c in range(len(walk.weight)):
        mean += walk.weight[c]
    mean /= len(walk.weight)
    unit = 1.0 / mean if mean > HEAVY else 1.0
    for c in range(len(walk.weight)):
        walk.weight[c] = unit * (SMOOTH * walk.weight[c] + (1 - SMOOTH) * mean)
    for v in range(len(walk.score)):
        walk.weighted[v] = unit * (SMOOTH * walk.weighted[v] + (1 - SMOOTH) * mean * walk.score[v])


@flat_kernel
def pick_dcrwalk(formula, walk):  # type: ignore[no-untyped-def]
    """DCRWalk (Tompkins & Hoos 2006): conflict-directed random walk, deterministic: clauses and literals in turn."""
    c = walk.broken[walk.numbers[STEP] % walk.numbers[FALSE]]
    at = walk.next[c]
    walk.next[c] = (at + 1) % (formula.begin[c + 1] - formula.begin[c])
    return formula.literal[formula.begin[c] + at] >> 1


@flat_kernel
def pick_irots(formula, walk):  # type: ignore[no-untyped-def]
    """IRoTS (Smyth, Hoos, Stützle 2003): robust tabu search inside an iterated local search.

    Local phases (PHASE 0) end n²/4 steps after their last best assignment, n variables; then 9n/10 steps with a tenure
    of n/2 disturb it (PHASE 1). A phase that ended worse is undone with probability 0.9.
    """
    numbers = walk.numbers
    n = len(walk.score)
    if numbers[STEP] == 0 or (numbers[PHASE] == 1 and numbers[STEP] >= numbers[PHASE_END]):
        numbers[PHASE] = 0
        numbers[TENURE] = n // 10 + 4
        numbers[PHASE_END] = numbers[STEP] + n * n // 4
        numbers[PHASE_BEST] = numbers[FALSE] + 1
    elif numbers[PHASE] == 0 and numbers[STEP] >= numbers[PHASE_END]:
        if numbers[PHASE_BEST] <= numbers[KEPT] or draw(walk) >= 0.9:
            for v in range(n):
                walk.kept[v] = walk.best[v]
            numbers[KEPT] = numbers[PHASE_BEST]
        for v in range(n):
            walk.value[v] = walk.kept[v]
        recount(formula, walk)
        numbers[PHASE] = 1
        numbers[TENURE] = n // 2
        numbers[PHASE_END] = numbers[STEP] + 9 * n // 10
    if numbers[PHASE] == 0:
        if numbers[FALSE] < numbers[PHASE_BEST]:
            numbers[PHASE_BEST] = numbers[FALSE]
            numbers[PHASE_END] = numbers[STEP] + n * n // 4
            for v in range(n):
                walk.best[v] = walk.value[v]
        if numbers[STEP] % n == 0:
            numbers[TENURE] = max(1, (n // 10 + 4) // 2 + below(walk, n // 10 + 5))
    best, ties = -1, 0
    for v in range(n):
        tabu = walk.flipped[v] >= 0 and numbers[STEP] - walk.flipped[v] <= numbers[TENURE]
        if numbers[STEP] - walk.flipped[v] > 10 * n:  # not flipped for long
            return v
        if tabu and numbers[FALSE] - walk.score[v] >= numbers[PHASE_BEST]:
            continue
        if best < 0 or walk.score[v] > walk.score[best]:
            best, ties = v, 1
        elif walk.score[v] == walk.score[best]:
            ties += 1
            if below(walk, ties) == 0:
                best = v
    return best if best >= 0 else below(walk, n)


@flat_kernel
def advance(formula, walk, rule, steps):  # type: ignore[no-untyped-def]
    """Walk for ``steps`` steps or until nothing is false; steps done."""
    done = 0
    while done < steps and walk.numbers[FALSE] > 0:
        if rule == ADAPTNOVELTY:
            v = pick_adaptnovelty(formula, walk)
        elif rule == ADAPTG2WSAT:
            v = pick_adaptg2wsat(formula, walk)
        elif rule == RSAPS:
            v = pick_rsaps(formula, walk)
        elif rule == DCRWALK:
            v = pick_dcrwalk(formula, walk)
        else:
            v = pick_irots(formula, walk)
        if v >= 0:
            flip(formula, walk, np.int64(v))
        walk.numbers[STEP] += 1
        done += 1
    return done
