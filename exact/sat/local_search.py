"""Local search for a model of a formula, by the five rules of Cuvillier & Szymkowiak 2010 (1.2.2.1).

Local search cannot prove that there is no model. In each step of a walk a rule picks the variable to flip, or -1 for no
flip; a flip updates the scores of variables. Parameters are the defaults of the rules' authors. Where the papers of the
authors are silent, or differ from the published program (UBCSAT, Tompkins & Hoos 2004), the rules follow the program.
Unless the name of a solver ends in '-raw', unit clauses are propagated before the search, which would otherwise find
the values of the variables in them step by step.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from lns.exact.driver import PausedSearch
from lns.exact.execution import Request, build_and_run, check_time, timed
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.outcome import Outcome
from lns.exact.piece_classes import allowed_placements
from lns.exact.sat.clauses import Block, simplify, units
from lns.exact.sat.encodings import Triangles
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle

RULES = ("adaptnovelty+", "adaptg2wsat", "rsaps", "dcrwalk", "irots")
ADAPTNOVELTY, ADAPTG2WSAT, RSAPS, DCRWALK = range(4)  # indexes of rules in `RULES`; the last, IRoTS, needs no name
WALK = 0.01  # probability of a step that flips a random variable (AdaptNovelty+, RSAPS)
# theta, phi of the adaptive noise: after theta*clauses steps without improvement the noise grows by phi * (1 - noise)
HOOS, LI_WEI_ZHANG = (1 / 6, 1 / 5), (1 / 5, 1 / 10)
SCALE, SMOOTH, MIN_GAIN, MAX_WEIGHT = 1.3, 0.8, 0.1, 1000.0  # parameters of SAPS, see `scale`, `smooth`, `pick_rsaps`
DELTA, THETA, TIE = 0.1, 1 / 6, 1e-9  # parameters of RSAPS, see `pick_rsaps`; scores closer than TIE are equal
FIRST_SMOOTHING = 0.05
ACCEPT_WORSE = 0.1  # probability that IRoTS keeps the worse of two assignments
LOCAL, PERTURBATION = 0, 1
STEP, FALSE, BEST, DECREASING = range(4)  # indices in `Walk.integers`, as are the names of the next line
LAST_CHANGE, PHASE, PHASE_BEGIN, PHASE_END, PHASE_BEST, KEPT, TENURE, INTEGERS = range(4, 12)
NOISE = 0  # index in `Walk.reals` of the noise, a probability that some rules adapt
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# -- a formula and a walk over its assignments ------------------------------------------------------------------------


class Formula(NamedTuple):
    """A CNF formula. A variable v, counted from 0, is written as the literal 2*v, and its negation as 2*v + 1."""

    begin: Longs  # (clauses+1,): where each clause begins in `literal`
    literal: Ints  # literals of all clauses, clause after clause
    occurrence_begin: Longs  # (2*variables+1,): where the clauses of each literal begin in `occurrence`
    occurrence: Ints  # indexes of the clauses that contain each literal, literal after literal


class Walk(NamedTuple):
    """State of a walk over the assignments of a formula. V is the number of variables, C the number of clauses."""

    value: npt.NDArray[np.uint8]  # (V,): the present assignment, 1 for true
    true_count: Annotated[Ints, "C"]  # number of true literals of each clause
    critical: Annotated[Ints, "C"]  # xor of the variables of each clause's true literals; if one is true, its variable
    score: Annotated[Ints, "V"]  # clauses that a flip of each variable makes true, minus clauses that it makes false
    weight: Annotated[Floats, "C", 1]  # weight of each clause (RSAPS)
    weighted: Annotated[Floats, "V"]  # like `score`, but with the weights of the clauses
    false_clauses: Annotated[Ints, "C"]  # the first integers[FALSE] entries are the false clauses
    false_at: Annotated[Ints, "C"]  # index in `false_clauses` of each false clause
    last_flip: Annotated[Longs, "V", -1]  # step of the last flip of each variable, -1 = never
    promising: Annotated[Ints, "V"]  # the first integers[DECREASING] entries are G2WSAT's promising variables
    is_promising: Annotated[npt.NDArray[np.bool_], "V"]  # whether each variable is in `promising`
    next_literal: Annotated[Ints, "C"]  # DCRWalk: index in each clause of the literal to flip when the clause is picked
    picked: Annotated[Longs, "C"]  # DCRWalk: how often each clause was picked
    false_steps: Annotated[Longs, "C"]  # DCRWalk: at how many steps each clause was false
    kept: npt.NDArray[np.uint8]  # (V,): IRoTS: the assignment to which the walk may return
    integers: Annotated[Longs, INTEGERS]  # whole numbers of the walk, at the indices `STEP` to `TENURE`
    reals: Annotated[Floats, NOISE + 1]  # real numbers of the walk, at the index `NOISE`
    random: npt.NDArray[np.uint64]  # (2,): state of the random number generator


def formula_of(blocks: Iterable[Block], variables: int) -> Formula:
    """Return the formula that blocks of clauses make (see `lns.exact.sat.clauses`)."""
    lengths, flat = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for block in timed(blocks):
        lengths.append(np.full(len(block), block.shape[1], dtype=np.int64))
        flat.append(np.where(block > 0, 2 * block - 2, -2 * block - 1).reshape(-1).astype(np.int32))
    begin, literal = np.cumsum(np.concatenate(lengths)), np.concatenate(flat)
    check_time()
    shape = len(begin) - 1, 2 * variables
    by_literal = csr_array((np.ones(len(literal), dtype=np.bool_), literal, begin), shape=shape).tocsc()
    return Formula(begin, literal, by_literal.indptr.astype(np.int64), by_literal.indices.astype(np.int32))


def random_walk(formula: Formula, seed: int) -> Walk:
    """Return a walk that begins at a random assignment."""
    variables, clauses = (len(formula.occurrence_begin) - 1) // 2, len(formula.begin) - 1
    source = np.random.SeedSequence(seed)
    value = np.random.Generator(np.random.PCG64(source)).integers(0, 2, variables, dtype=np.uint8)
    walk = allocate(
        Walk,
        {"V": variables, "C": clauses},
        value=value,
        kept=value.copy(),
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
    """Return a uniform random number in [0, 1), by the generator xorshift64*."""
    x = walk.random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    walk.random[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@inline_flat_kernel
def below(walk: Walk, bound: int) -> int:
    """Return a uniform random integer from 0 to ``bound`` - 1."""
    return int(draw(walk) * bound)


@inline_flat_kernel
def list_false(walk: Walk, c: int) -> None:
    """Add clause ``c`` to the list of false clauses."""
    walk.false_clauses[walk.integers[FALSE]] = c
    walk.false_at[c] = walk.integers[FALSE]
    walk.integers[FALSE] += 1


@flat_kernel
def recount(formula: Formula, walk: Walk) -> None:
    """Compute all counts and scores, and the list of false clauses, from the assignment and the clause weights."""
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
    """Change both scores of v. A score made positive by another variable's flip makes v promising (G2WSAT)."""
    before = walk.score[v]
    walk.score[v] = before + change
    walk.weighted[v] += change * weight
    if before <= 0 and before + change > 0 and v != flipped and not walk.is_promising[v]:
        walk.promising[walk.integers[DECREASING]] = v
        walk.is_promising[v] = True
        walk.integers[DECREASING] += 1


@flat_kernel
def flip(formula: Formula, walk: Walk, v: int) -> None:
    """Flip the value of variable v, and update counts, scores and the list of false clauses."""
    was_true = 2 * v + (1 - walk.value[v])
    walk.value[v] = 1 - walk.value[v]
    for at in range(formula.occurrence_begin[was_true ^ 1], formula.occurrence_begin[(was_true ^ 1) + 1]):
        c = formula.occurrence[at]
        weight = walk.weight[c]
        if walk.true_count[c] == 0:  # c becomes true: no other flip makes it true any more, a flip of v makes it false
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
        if walk.true_count[c] == 0:  # c becomes false: a flip of any of its variables makes it true
            gain(walk, v, v, 1, weight)
            for i in range(formula.begin[c], formula.begin[c + 1]):
                gain(walk, formula.literal[i] >> 1, v, 1, weight)
            list_false(walk, c)
        elif walk.true_count[c] == 1:
            gain(walk, walk.critical[c], v, -1, weight)
    walk.last_flip[v] = walk.integers[STEP]


# -- rules ------------------------------------------------------------------------------------------------------------


@inline_flat_kernel
def adapt_noise(walk: Walk, clauses: int, theta: float, phi: float) -> None:
    """Raise the noise after theta*clauses steps without a better assignment; lower it after each better assignment.

    The rule is from Hoos, AAAI 2002. The noise falls by phi/2 of its value, as in his program; the paper prints 2 phi.
    """
    integers = walk.integers
    if integers[FALSE] < integers[BEST]:
        walk.reals[NOISE] -= walk.reals[NOISE] * phi / 2
    elif integers[STEP] - integers[LAST_CHANGE] > clauses * theta:
        walk.reals[NOISE] += (1 - walk.reals[NOISE]) * phi
    else:
        return
    integers[BEST], integers[LAST_CHANGE] = integers[FALSE], integers[STEP]


@inline_flat_kernel
def better(walk: Walk, v: int, than: int) -> bool:
    """Return whether variable v has a higher score than variable ``than``, or an equal one and an earlier last flip."""
    if walk.score[v] != walk.score[than]:
        return bool(walk.score[v] > walk.score[than])
    return bool(walk.last_flip[v] < walk.last_flip[than])


@inline_flat_kernel
def novelty_plus(formula: Formula, walk: Walk, walk_probability: float) -> int:
    """Pick a variable of a random false clause by Novelty+: with ``walk_probability`` a random one, else the best.

    If the best is the variable of the clause flipped last, the noise is the probability that the second best is picked.
    """
    c = walk.false_clauses[below(walk, walk.integers[FALSE])]
    begin, end = formula.begin[c], formula.begin[c + 1]
    if draw(walk) < walk_probability:
        return int(formula.literal[begin + below(walk, end - begin)] >> 1)
    best, second, youngest = -1, -1, -1
    for at in range(begin, end):
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


@flat_kernel
def pick_adaptnovelty(formula: Formula, walk: Walk) -> int:
    """Pick a variable by AdaptNovelty+ (Hoos, AAAI 2002): Novelty+ with a noise that is adapted to progress."""
    adapt_noise(walk, len(walk.true_count), *HOOS)
    return novelty_plus(formula, walk, WALK)


@flat_kernel
def pick_adaptg2wsat(formula: Formula, walk: Walk) -> int:
    """Pick a variable by AdaptG2WSAT (Li, Wei, Zhang, SAT 2007): the best promising one, else one by adaptive Novelty+.

    The parameters are those of UBCSAT's adaptg2wsat: theta 1/5, phi 1/10, walk probability a tenth of the noise.
    """
    adapt_noise(walk, len(walk.true_count), *LI_WEI_ZHANG)
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
    return int(best) if best >= 0 else novelty_plus(formula, walk, walk.reals[NOISE] / 10)


@inline_flat_kernel
def scale(formula: Formula, walk: Walk) -> None:
    """Multiply weights of false clauses by `SCALE`, then divide all by `MAX_WEIGHT` if one exceeds it (as SAPS 1.0)."""
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
    """Move all clause weights towards their mean, and adapt the weighted scores, which are linear in the weights."""
    mean = 0.0
    for c in range(len(walk.weight)):
        mean += walk.weight[c]
    mean /= len(walk.weight)
    for c in range(len(walk.weight)):
        walk.weight[c] = SMOOTH * walk.weight[c] + (1 - SMOOTH) * mean
    for v in range(len(walk.score)):
        walk.weighted[v] = SMOOTH * walk.weighted[v] + (1 - SMOOTH) * mean * walk.score[v]


@flat_kernel
def pick_rsaps(formula: Formula, walk: Walk) -> int:
    """Pick by RSAPS (Hutter, Tompkins, Hoos, CP 2002) the variable of best weighted score, if above `MIN_GAIN`.

    Otherwise pick a random variable with probability `WALK`, else none, but scale and perhaps smooth clause weights.
    The noise is the probability of smoothing. As in UBCSAT's rsaps, a better assignment raises it by 2 * `DELTA` of its
    distance to 1, and `THETA` * clauses steps without a better assignment multiply it by `DELTA`. UBCSAT also sets it
    to 0 after each smoothing; this is left out, because it makes far fewer puzzles solvable in the same time.
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


@flat_kernel
def pick_dcrwalk(formula: Formula, walk: Walk) -> int:
    """Pick a variable by DCRWalk (Tompkins & Hoos, Canadian AI 2006): conflict-directed walk, made deterministic.

    The rule picks the false clause with the lowest ratio of times picked to steps at which it was false (the first of
    several), and in it the variable that follows, in a circle, the one picked there last.
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


@inline_flat_kernel
def tenure(walk: Walk) -> int:
    """Return a tenure of IRoTS: n/10 + 4 steps, or in a perturbation half of its steps, changed by up to a quarter."""
    n = len(walk.score)
    middle = n // 10 + 4 if walk.integers[PHASE] == LOCAL else 9 * n // 20
    return middle - middle // 4 + below(walk, 2 * (middle // 4) + 1)


@inline_flat_kernel
def begin_phase(walk: Walk, phase: int) -> None:
    """Begin a phase of IRoTS, `LOCAL` or `PERTURBATION`; variables flipped before it are not tabu."""
    integers, n = walk.integers, len(walk.score)
    integers[PHASE], integers[PHASE_BEGIN], integers[PHASE_BEST] = phase, integers[STEP], integers[FALSE]
    integers[PHASE_END] = integers[STEP] + (n * n // 4 if phase == LOCAL else max(1, 9 * n // 10))
    integers[TENURE] = tenure(walk)


@inline_flat_kernel
def keep_or_restore(formula: Formula, walk: Walk) -> None:
    """Go on from, and keep, the better of the current and the kept assignment; at chance `ACCEPT_WORSE` the worse."""
    integers = walk.integers
    no_worse = integers[FALSE] <= integers[KEPT]
    keeps = integers[KEPT] < 0 or no_worse == (draw(walk) >= ACCEPT_WORSE)
    for v in range(len(walk.kept)):
        if keeps:
            walk.kept[v] = walk.value[v]
        else:
            walk.value[v] = walk.kept[v]
    if keeps:
        integers[KEPT] = integers[FALSE]
    else:
        recount(formula, walk)


@flat_kernel
def pick_irots(formula: Formula, walk: Walk) -> int:
    """Pick a variable by IRoTS (Smyth, Hoos, Stützle, Canadian AI 2003), with the robust tabu search of Taillard 1991.

    With n variables, a local phase ends n²/4 steps after its last better assignment. Its result replaces the kept
    assignment with probability 0.9 if it is not worse and 0.1 if it is; otherwise the kept assignment is restored. Then
    a perturbation follows, 9n/10 steps with a longer tenure.
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
        integers[PHASE_BEST], integers[PHASE_END] = integers[FALSE], step + n * n // 4
    elif step > integers[PHASE_END]:
        keep_or_restore(formula, walk)
        begin_phase(walk, PERTURBATION)
    if step % n == 0:
        integers[TENURE] = tenure(walk)
    integers[BEST] = min(integers[BEST], integers[FALSE])
    recent = max(step - integers[TENURE], integers[PHASE_BEGIN])
    best, ties = -1, 0
    for v in range(n):
        if walk.last_flip[v] >= recent:  # v is tabu, unless its flip gives the best assignment so far
            if integers[FALSE] - walk.score[v] < integers[BEST]:
                return int(v)
        elif step - walk.last_flip[v] > 10 * n:  # v was not flipped for a long time
            return int(v)
        elif best < 0 or walk.score[v] > walk.score[best]:
            best, ties = v, 1
        elif walk.score[v] == walk.score[best]:
            ties += 1
            if below(walk, ties) == 0:
                best = v
    return int(best) if best >= 0 else below(walk, n)


@flat_kernel
def advance(formula: Formula, walk: Walk, rule: int, steps: int) -> int:
    """Walk by a rule for ``steps`` steps, or until no clause is false; return the number of steps done."""
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


# -- the search -------------------------------------------------------------------------------------------------------


class LocalSearch(PausedSearch):
    """Local search over the assignments of a CNF formula. Nodes are steps.

    The search cannot prove that there is no model, so it is never exhausted. ``blocks`` has the clauses (see
    `lns.exact.sat.clauses`), and ``rule`` is one of `RULES`.
    """

    exhausted = False
    first_step = 1  # nodes of the first call of `advance`, since a node that changes all weights takes long

    def __init__(self, blocks: Iterable[Block], variables: int, rule: str, seed: int = 0) -> None:
        self._rule = RULES.index(rule)
        self._formula = formula_of(blocks, variables)
        check_time()
        self._walk = random_walk(self._formula, seed)
        if self._rule == RSAPS:
            self._walk.reals[NOISE] = FIRST_SMOOTHING

    @property
    def nodes(self) -> int:
        return int(self._walk.integers[STEP])

    @property
    def solutions(self) -> int:
        return int(self._walk.integers[FALSE] == 0)

    @property
    def details(self) -> dict[str, float]:
        return {"variables": float(len(self._walk.value)), "false_clauses": float(self._walk.integers[FALSE])}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Walk for ``budget`` steps, or until the first model is found."""
        advance(self._formula, self._walk, self._rule, budget)

    def model(self) -> list[int]:
        """Return the present assignment, a model or not, as DIMACS literals."""
        return [index if value else -index for index, value in enumerate(self._walk.value.tolist(), 1)]


class BoardWalk(LocalSearch):
    """Local search on the encoding 'triangles' of a puzzle.

    The encoding has no clause that says which cells a corner or rim piece may lie on, so a local search has to find it
    out repeatedly. If ``simplified``, unit clauses are added that forbid each piece on the cells where it fits in no
    rotation, and unit clauses are propagated. A formula of 256 cells takes some gigabytes of memory.
    """

    def __init__(self, puzzle: Puzzle, rule: str, simplified: bool, seed: int) -> None:
        check_time()
        self._encoding = encoding = Triangles(puzzle)
        wrong = np.ones(encoding.piece.shape, dtype=np.bool_)  # true: the piece fits on the cell in no rotation
        for cell in range(puzzle.cells):
            wrong[[oriented >> 2 for oriented in allowed_placements(puzzle, cell)], cell] = False
        added = [units(-encoding.piece[wrong])] if simplified else []
        clauses = chain(encoding.clauses(), added)
        self._simple = simplify(clauses, encoding.variables, propagate=simplified)
        super().__init__(self._simple.blocks, len(self._simple.kept), rule, seed)

    def first_board(self) -> Board | None:
        return self._encoding.board(self._simple.model(self.model())) if self.solutions else None


def run_sls(rule: str, simplified: bool, puzzle: Puzzle, request: Request) -> Outcome:
    """Run the solver 'sls:RULE' or, if not ``simplified``, 'sls:RULE-raw'."""
    LocalSearch([units([1])], 1, rule).advance(0, True)  # compiles the kernels, or loads them, before the clock starts
    return build_and_run(lambda: BoardWalk(puzzle, rule, simplified, request.seed), request)
