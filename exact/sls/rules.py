"""The five rules: which variable to flip next, each with its authors' default parameters. -1: no flip in this step.

The seed names the papers. Where those are silent, or differ from the program that their authors published (UBCSAT,
Tompkins & Hoos 2004, whose names of the rules the seed uses), the rules do as the program does.
"""

from __future__ import annotations

from exact.sls.state import (
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
from lns_support.jit import flat_kernel, inline_flat_kernel

RULES = ("adaptnovelty+", "adaptg2wsat", "rsaps", "dcrwalk", "irots")
ADAPTNOVELTY, ADAPTG2WSAT, RSAPS, DCRWALK, IROTS = range(5)
assert (ADAPTNOVELTY, IROTS) == (0, 4)

WALK = 0.01  # probability of a random walk step (AdaptNovelty+, RSAPS)
# adaptive noise: steps by number of clauses, and the share by which it grows
HOOS = (1 / 6, 1 / 5)
LI_WEI_ZHANG = (1 / 5, 1 / 10)
SCALE, SMOOTH, ENOUGH, HEAVY = 1.3, 0.8, 0.1, 1000.0  # SAPS
DELTA, THETA = 0.1, 1 / 6  # its reactive smoothing
TIE = 1e-9
ACCEPT_WORSE = 0.1  # IRoTS
LOCAL, DISTURBING = 0, 1


@inline_flat_kernel
def adapt_noise(walk: Walk, clauses: int, parameters: tuple[float, float]) -> None:
    """Hoos, AAAI 2002: more noise after theta*clauses steps without a better assignment, less after each better one.

    Less by phi/2, as his program does; the paper prints 2 phi.
    """
    theta, phi = parameters
    numbers = walk.numbers
    if numbers[FALSE] < numbers[BEST]:
        walk.reals[NOISE] -= walk.reals[NOISE] * phi / 2
    elif numbers[STEP] - numbers[LAST_CHANGE] > clauses * theta:
        walk.reals[NOISE] += (1 - walk.reals[NOISE]) * phi
    else:
        return
    numbers[BEST] = numbers[FALSE]
    numbers[LAST_CHANGE] = numbers[STEP]


@inline_flat_kernel
def novelty_plus(formula: Formula, walk: Walk, walk_probability: float) -> int:
    """Novelty in a random false clause, now and then any of its variables."""
    c = walk.broken[below(walk, walk.numbers[FALSE])]
    if draw(walk) < walk_probability:
        return int(formula.literal[formula.begin[c] + below(walk, formula.begin[c + 1] - formula.begin[c])] >> 1)
    return int(novelty(formula, walk, c))


@inline_flat_kernel
def novelty(formula: Formula, walk: Walk, c: int) -> int:
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
def better(walk: Walk, v: int, than: int) -> bool:
    """By score, then by the time since its last flip."""
    if walk.score[v] != walk.score[than]:
        return bool(walk.score[v] > walk.score[than])
    return bool(walk.flipped[v] < walk.flipped[than])


@flat_kernel
def pick_adaptnovelty(formula: Formula, walk: Walk) -> int:
    """AdaptNovelty+ (Hoos, AAAI 2002): Novelty+ in a random false clause, noise adapted to progress."""
    adapt_noise(walk, len(walk.true), HOOS)
    return novelty_plus(formula, walk, WALK)


@flat_kernel
def pick_adaptg2wsat(formula: Formula, walk: Walk) -> int:
    """AdaptG2WSAT (Li, Wei, Zhang, SAT 2007): the best promising decreasing variable, else adaptive Novelty+.

    As UBCSAT's adaptg2wsat: theta 1/5, phi 1/10, and walks with a tenth of the noise.
    """
    adapt_noise(walk, len(walk.true), LI_WEI_ZHANG)
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
        return int(best)
    return novelty_plus(formula, walk, walk.reals[NOISE] / 10)


@flat_kernel
def pick_rsaps(formula: Formula, walk: Walk) -> int:
    """RSAPS (Hutter, Tompkins, Hoos, CP 2002): descend in clause weights; in a minimum scale and perhaps smooth them.

    NOISE holds the probability of smoothing. It grows by 2 delta of what is missing to 1 after each better assignment,
    and shrinks to delta of it after theta*clauses steps without one, as UBCSAT's rsaps does; that also sets it to 0
    after each smoothing, which solves far fewer puzzles and is left out.
    """
    numbers = walk.numbers
    if numbers[STEP] - numbers[LAST_CHANGE] > len(walk.true) * THETA:
        walk.reals[NOISE] *= DELTA
        numbers[BEST], numbers[LAST_CHANGE] = numbers[FALSE], numbers[STEP]
    elif numbers[FALSE] < numbers[BEST]:
        walk.reals[NOISE] += 2 * DELTA * (1 - walk.reals[NOISE])
        numbers[BEST], numbers[LAST_CHANGE] = numbers[FALSE], numbers[STEP]
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
        return int(best)
    if draw(walk) < WALK:
        return below(walk, len(walk.score))
    scale(formula, walk)
    if draw(walk) < walk.reals[NOISE]:
        smooth(walk)
    return -1


@inline_flat_kernel
def scale(formula: Formula, walk: Walk) -> None:
    """The false clauses weigh more; all weights are divided by `HEAVY` when one of these has passed it (SAPS 1.0)."""
    heaviest = 0.0
    for at in range(walk.numbers[FALSE]):
        c = walk.broken[at]
        added = (SCALE - 1) * walk.weight[c]
        walk.weight[c] += added
        heaviest = max(heaviest, walk.weight[c])
        for i in range(formula.begin[c], formula.begin[c + 1]):
            walk.weighted[formula.literal[i] >> 1] += added
    if heaviest > HEAVY:
        for c in range(len(walk.weight)):
            walk.weight[c] /= HEAVY
        for v in range(len(walk.weighted)):
            walk.weighted[v] /= HEAVY


@inline_flat_kernel
def smooth(walk: Walk) -> None:
    """All weights towards their mean; scores are linear in the weights, so no clause is visited."""
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
    """DCRWalk (Tompkins & Hoos, Canadian AI 2006): conflict-directed random walk without chance.

    Of the false clauses the one that was picked least often for the steps that it was false, the first of these; its
    literals in turn.
    """
    pick = -1
    for at in range(walk.numbers[FALSE]):
        c = walk.broken[at]
        walk.unmet[c] += 1
        if pick < 0:
            pick = c
            continue
        left, right = walk.picked[c] * walk.unmet[pick], walk.picked[pick] * walk.unmet[c]
        if left < right or (left == right and c < pick):
            pick = c
    walk.picked[pick] += 1
    at = walk.next[pick]
    walk.next[pick] = (at + 1) % (formula.begin[pick + 1] - formula.begin[pick])
    return int(formula.literal[formula.begin[pick] + at] >> 1)


@flat_kernel
def pick_irots(formula: Formula, walk: Walk) -> int:
    """IRoTS (Smyth, Hoos, Stützle, Canadian AI 2003): robust tabu search (Taillard 1991) in an iterated local search.

    n variables: a local phase ends n²/4 steps after its last better assignment. What it left is kept or, with
    probability 0.9 if it is worse and 0.1 if not, what was kept before is restored; 9n/10 steps of longer tenure
    disturb it.
    """
    numbers = walk.numbers
    n, step = len(walk.score), numbers[STEP]
    if step == 0:
        numbers[KEPT] = -1
        begin_phase(walk, LOCAL)
    elif numbers[PHASE] == DISTURBING:
        if step == numbers[PHASE_END]:
            begin_phase(walk, LOCAL)
    elif numbers[FALSE] < numbers[PHASE_BEST]:
        numbers[PHASE_BEST] = numbers[FALSE]
        numbers[PHASE_END] = step + n * n // 4
    elif step > numbers[PHASE_END]:
        keep_or_restore(formula, walk)
        begin_phase(walk, DISTURBING)
    if step % n == 0:
        numbers[TENURE] = tenure(walk)
    numbers[BEST] = min(numbers[BEST], numbers[FALSE])
    recent = max(step - numbers[TENURE], numbers[PHASE_BEGIN])
    best, ties = -1, 0
    for v in range(n):
        if walk.flipped[v] >= recent:  # tabu, unless it leads to the best assignment of all
            if numbers[FALSE] - walk.score[v] < numbers[BEST]:
                return int(v)
        elif step - walk.flipped[v] > 10 * n:  # not flipped for long
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
    """From now on nothing flipped before is tabu."""
    numbers = walk.numbers
    n = len(walk.score)
    numbers[PHASE] = phase
    numbers[PHASE_BEGIN] = numbers[STEP]
    numbers[PHASE_BEST] = numbers[FALSE]
    numbers[PHASE_END] = numbers[STEP] + (n * n // 4 if phase == LOCAL else max(1, 9 * n // 10))
    numbers[TENURE] = tenure(walk)


@inline_flat_kernel
def tenure(walk: Walk) -> int:
    """Within a quarter of n/10 + 4, or, when disturbing, of half the steps of that phase."""
    n = len(walk.score)
    middle = n // 10 + 4 if walk.numbers[PHASE] == LOCAL else 9 * n // 20
    return middle - middle // 4 + below(walk, 2 * (middle // 4) + 1)


@inline_flat_kernel
def keep_or_restore(formula: Formula, walk: Walk) -> None:
    """Of the assignment of now and the kept one the better with probability 0.9, else the other; it is kept then."""
    numbers = walk.numbers
    no_worse = numbers[FALSE] <= numbers[KEPT]
    if numbers[KEPT] < 0 or no_worse == (draw(walk) >= ACCEPT_WORSE):
        for v in range(len(walk.kept)):
            walk.kept[v] = walk.value[v]
        numbers[KEPT] = numbers[FALSE]
    else:
        for v in range(len(walk.kept)):
            walk.value[v] = walk.kept[v]
        recount(formula, walk)


@flat_kernel
def advance(formula: Formula, walk: Walk, rule: int, steps: int) -> int:
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
            flip(formula, walk, v)
        walk.numbers[STEP] += 1
        done += 1
    return done
