"""The five rules of Cuvillier & Szymkowiak 2010 (1.2.2.1): which variable to flip next; -1 is no flip in this step.

Parameters are the defaults of the rules' authors. Where the papers are silent, or differ from the published program
(UBCSAT, Tompkins & Hoos 2004), the rules follow the program.
"""

from __future__ import annotations

from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.sls.state import (
    BEST,
    DECREASING,
    FALSE,
    KEPT,
    LAST_CHANGE,
    NOISE,
    PHASE,
    PHASE_BEGIN,
    PHASE_BEST,
    PHASE_END,
    STEP,
    TENURE,
    Formula,
    Walk,
    below,
    draw,
    flip,
    recount,
)

RULES = ("adaptnovelty+", "adaptg2wsat", "rsaps", "dcrwalk", "irots")
ADAPTNOVELTY, ADAPTG2WSAT, RSAPS, DCRWALK, IROTS = range(5)
assert (ADAPTNOVELTY, IROTS) == (0, 4)

WALK = 0.01  # probability of a random walk step (AdaptNovelty+, RSAPS)
# adaptive noise, (theta, phi): it grows by phi of the rest after theta*clauses steps without improvement
HOOS = (1 / 6, 1 / 5)
LI_WEI_ZHANG = (1 / 5, 1 / 10)
SCALE, SMOOTH, MIN_GAIN, MAX_WEIGHT = 1.3, 0.8, 0.1, 1000.0  # SAPS
DELTA, THETA = 0.1, 1 / 6  # RSAPS: reactive smoothing
TIE = 1e-9
ACCEPT_WORSE = 0.1  # IRoTS
LOCAL, PERTURBATION = 0, 1


@inline_flat_kernel
def adapt_noise(walk: Walk, clauses: int, parameters: tuple[float, float]) -> None:
    """Hoos, AAAI 2002: more noise after theta*clauses steps without a better assignment, less after each better one.

    The decrease is by phi/2, as in his program; the paper prints 2 phi.
    """
    theta, phi = parameters
    integers = walk.integers
    if integers[FALSE] < integers[BEST]:
        walk.reals[NOISE] -= walk.reals[NOISE] * phi / 2
    elif integers[STEP] - integers[LAST_CHANGE] > clauses * theta:
        walk.reals[NOISE] += (1 - walk.reals[NOISE]) * phi
    else:
        return
    integers[BEST] = integers[FALSE]
    integers[LAST_CHANGE] = integers[STEP]


@inline_flat_kernel
def novelty_plus(formula: Formula, walk: Walk, walk_probability: float) -> int:
    """Novelty in a random false clause; with ``walk_probability`` a random variable of it."""
    c = walk.false_clauses[below(walk, walk.integers[FALSE])]
    if draw(walk) < walk_probability:
        return int(formula.literal[formula.begin[c] + below(walk, formula.begin[c + 1] - formula.begin[c])] >> 1)
    return int(novelty(formula, walk, c))


@inline_flat_kernel
def novelty(formula: Formula, walk: Walk, c: int) -> int:
    """The best variable of clause c; if it was the last one flipped, with probability NOISE the second best."""
    best, second, youngest = -1, -1, -1
    for at in range(formula.begin[c], formula.begin[c + 1]):
        v = formula.literal[at] >> 1
        if youngest < 0 or walk.last_flip[v] > walk.last_flip[youngest]:
            youngest = v
        if best < 0 or better(walk, v, best):
            best, second = v, best
        elif second < 0 or better(walk, v, second):
            second = v
    if best == youngest and second >= 0 and walk.last_flip[best] >= 0 and draw(walk) < walk.reals[NOISE]:
        return second
    return best


@inline_flat_kernel
def better(walk: Walk, v: int, than: int) -> bool:
    """True if v has a higher score, or an equal score and an earlier last flip."""
    if walk.score[v] != walk.score[than]:
        return bool(walk.score[v] > walk.score[than])
    return bool(walk.last_flip[v] < walk.last_flip[than])


@flat_kernel
def pick_adaptnovelty(formula: Formula, walk: Walk) -> int:
    """AdaptNovelty+ (Hoos, AAAI 2002): Novelty+ in a random false clause, noise adapted to progress."""
    adapt_noise(walk, len(walk.true_count), HOOS)
    return novelty_plus(formula, walk, WALK)


@flat_kernel
def pick_adaptg2wsat(formula: Formula, walk: Walk) -> int:
    """AdaptG2WSAT (Li, Wei, Zhang, SAT 2007): the best promising decreasing variable, else adaptive Novelty+.

    As UBCSAT's adaptg2wsat: theta 1/5, phi 1/10, and a walk probability of a tenth of the noise.
    """
    adapt_noise(walk, len(walk.true_count), LI_WEI_ZHANG)
    best, at = -1, 0
    while at < walk.integers[DECREASING]:
        v = walk.promising[at]
        if walk.score[v] <= 0:
            walk.is_promising[v] = False
            walk.integers[DECREASING] -= 1
            walk.promising[at] = walk.promising[walk.integers[DECREASING]]
            continue
        if best < 0 or better(walk, v, best):
            best = v
        at += 1
    if best >= 0:
        return int(best)
    return novelty_plus(formula, walk, walk.reals[NOISE] / 10)


@flat_kernel
def pick_rsaps(formula: Formula, walk: Walk) -> int:
    """RSAPS (Hutter, Tompkins, Hoos, CP 2002): descend in clause weights; in a minimum scale and perhaps smooth them.

    NOISE is the probability of smoothing. It grows by 2 delta of its distance to 1 after each better assignment, and is
    multiplied by delta after theta*clauses steps without one, as in UBCSAT's rsaps. UBCSAT also sets it to 0 after
    each smoothing; that solves far fewer puzzles and is left out.
    """
    integers = walk.integers
    if integers[STEP] - integers[LAST_CHANGE] > len(walk.true_count) * THETA:
        walk.reals[NOISE] *= DELTA
        integers[BEST], integers[LAST_CHANGE] = integers[FALSE], integers[STEP]
    elif integers[FALSE] < integers[BEST]:
        walk.reals[NOISE] += 2 * DELTA * (1 - walk.reals[NOISE])
        integers[BEST], integers[LAST_CHANGE] = integers[FALSE], integers[STEP]
    best, ties = -1, 0
    for at in range(integers[FALSE]):
        c = walk.false_clauses[at]
        for i in range(formula.begin[c], formula.begin[c + 1]):
            v = formula.literal[i] >> 1
            if best < 0 or walk.weighted[v] > walk.weighted[best] + TIE:
                best, ties = v, 1
            elif v != best and walk.weighted[v] > walk.weighted[best] - TIE:
                ties += 1
                if below(walk, ties) == 0:
                    best = v
    if walk.weighted[best] > MIN_GAIN:
        return int(best)
    if draw(walk) < WALK:
        return below(walk, len(walk.score))
    scale(formula, walk)
    if draw(walk) < walk.reals[NOISE]:
        smooth(walk)
    return -1


@inline_flat_kernel
def scale(formula: Formula, walk: Walk) -> None:
    """Scale the weights of false clauses; all weights are divided by `MAX_WEIGHT` if one exceeds it (SAPS 1.0)."""
    heaviest = 0.0
    for at in range(walk.integers[FALSE]):
        c = walk.false_clauses[at]
        added = (SCALE - 1) * walk.weight[c]
        walk.weight[c] += added
        heaviest = max(heaviest, walk.weight[c])
        for i in range(formula.begin[c], formula.begin[c + 1]):
            walk.weighted[formula.literal[i] >> 1] += added
    if heaviest > MAX_WEIGHT:
        for c in range(len(walk.weight)):
            walk.weight[c] /= MAX_WEIGHT
        for v in range(len(walk.weighted)):
            walk.weighted[v] /= MAX_WEIGHT


@inline_flat_kernel
def smooth(walk: Walk) -> None:
    """Move all weights towards their mean; scores are linear in the weights and need no pass over the clauses."""
    mean = 0.0
    for c in range(len(walk.weight)):
        mean += walk.weight[c]
    mean /= len(walk.weight)
    for c in range(len(walk.weight)):
        walk.weight[c] = SMOOTH * walk.weight[c] + (1 - SMOOTH) * mean
    for v in range(len(walk.score)):
        walk.weighted[v] = SMOOTH * walk.weighted[v] + (1 - SMOOTH) * mean * walk.score[v]


@flat_kernel
def pick_dcrwalk(formula: Formula, walk: Walk) -> int:
    """DCRWalk (Tompkins & Hoos, Canadian AI 2006): conflict-directed random walk, made deterministic.

    It picks the first false clause with the lowest ratio of times picked to steps false, and flips the variables of
    its literals in turn.
    """
    pick = -1
    for at in range(walk.integers[FALSE]):
        c = walk.false_clauses[at]
        walk.false_steps[c] += 1
        if pick < 0:
            pick = c
            continue
        left, right = walk.picked[c] * walk.false_steps[pick], walk.picked[pick] * walk.false_steps[c]
        if left < right or (left == right and c < pick):
            pick = c
    walk.picked[pick] += 1
    at = walk.next_literal[pick]
    walk.next_literal[pick] = (at + 1) % (formula.begin[pick + 1] - formula.begin[pick])
    return int(formula.literal[formula.begin[pick] + at] >> 1)


@flat_kernel
def pick_irots(formula: Formula, walk: Walk) -> int:
    """IRoTS (Smyth, Hoos, Stützle, Canadian AI 2003): robust tabu search (Taillard 1991) in an iterated local search.

    With n variables, a local phase ends n²/4 steps after its last better assignment. Its result replaces the kept
    assignment with probability 0.9 if it is not worse and 0.1 if it is; otherwise the kept assignment is restored. Then
    9n/10 steps with a longer tenure perturb it.
    """
    integers = walk.integers
    n, step = len(walk.score), integers[STEP]
    if step == 0:
        integers[KEPT] = -1
        begin_phase(walk, LOCAL)
    elif integers[PHASE] == PERTURBATION:
        if step == integers[PHASE_END]:
            begin_phase(walk, LOCAL)
    elif integers[FALSE] < integers[PHASE_BEST]:
        integers[PHASE_BEST] = integers[FALSE]
        integers[PHASE_END] = step + n * n // 4
    elif step > integers[PHASE_END]:
        keep_or_restore(formula, walk)
        begin_phase(walk, PERTURBATION)
    if step % n == 0:
        integers[TENURE] = tenure(walk)
    integers[BEST] = min(integers[BEST], integers[FALSE])
    recent = max(step - integers[TENURE], integers[PHASE_BEGIN])
    best, ties = -1, 0
    for v in range(n):
        if walk.last_flip[v] >= recent:  # tabu, unless it gives the best assignment so far (aspiration)
            if integers[FALSE] - walk.score[v] < integers[BEST]:
                return int(v)
        elif step - walk.last_flip[v] > 10 * n:  # not flipped for long
            return int(v)
        elif best < 0 or walk.score[v] > walk.score[best]:
            best, ties = v, 1
        elif walk.score[v] == walk.score[best]:
            ties += 1
            if below(walk, ties) == 0:
                best = v
    return int(best) if best >= 0 else below(walk, n)


@inline_flat_kernel
def begin_phase(walk: Walk, phase: int) -> None:
    """Begin a phase; flips before it are not tabu."""
    integers = walk.integers
    n = len(walk.score)
    integers[PHASE] = phase
    integers[PHASE_BEGIN] = integers[STEP]
    integers[PHASE_BEST] = integers[FALSE]
    integers[PHASE_END] = integers[STEP] + (n * n // 4 if phase == LOCAL else max(1, 9 * n // 10))
    integers[TENURE] = tenure(walk)


@inline_flat_kernel
def tenure(walk: Walk) -> int:
    """A random tenure within a quarter of n/10 + 4, or, in a perturbation, of half the steps of that phase."""
    n = len(walk.score)
    middle = n // 10 + 4 if walk.integers[PHASE] == LOCAL else 9 * n // 20
    return middle - middle // 4 + below(walk, 2 * (middle // 4) + 1)


@inline_flat_kernel
def keep_or_restore(formula: Formula, walk: Walk) -> None:
    """Keep the better of the present and the kept assignment with probability 0.9, else the other; go on from it."""
    integers = walk.integers
    no_worse = integers[FALSE] <= integers[KEPT]
    if integers[KEPT] < 0 or no_worse == (draw(walk) >= ACCEPT_WORSE):
        for v in range(len(walk.kept)):
            walk.kept[v] = walk.value[v]
        integers[KEPT] = integers[FALSE]
    else:
        for v in range(len(walk.kept)):
            walk.value[v] = walk.kept[v]
        recount(formula, walk)


@flat_kernel
def advance(formula: Formula, walk: Walk, rule: int, steps: int) -> int:
    """Walk for ``steps`` steps or until no clause is false; returns the steps done."""
    done = 0
    while done < steps and walk.integers[FALSE] > 0:
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
            flip(formula, walk, v)
        walk.integers[STEP] += 1
        done += 1
    return done
