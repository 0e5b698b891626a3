"""A SAT solver whose decisions can be restricted to an interval of variables, after minisat.

It learns clauses from conflicts, on flat arrays: two watched literals, the first unique implication point, activities
of variables (VSIDS), saved phases, and Luby restarts (Eén & Sörensson 2003), and learnt clauses kept by the number of
their levels (Audemard & Simon 2009). Variables of the interval are decided first; the others only once all of these
have a value, so that the search stays complete.

A literal is 2*variable + 1 if it is negated, variables count from 0. A clause at ``c`` of the arena is: its size, its
number of levels (0 for a clause of the formula), the next watches of its first two literals, and its literals.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT", Université d'Artois, 2010,
section 3.2: the option -i=DEBUT-FIN.
N. Eén and N. Sörensson, "An extensible SAT-solver", SAT 2003.
G. Audemard and L. Simon, "Predicting learnt clauses quality in modern SAT solvers", IJCAI 2009.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel

Ints = npt.NDArray[np.int32]

UNKNOWN, SATISFIABLE, UNSATISFIABLE = 0, 1, 2
# integers of a search: literals that have a value, those whose consequences were derived, decisions that stand
TRAIL, DONE, LEVEL, CONFLICTS, DECISIONS = range(5)
# variables in the heap, the part of the arena in use, learnt clauses in it, conflicts at which to restart, restarts,
# learnt clauses at which half of them are dropped
HEAP, USED, LEARNT, RESTART_AT, RESTARTS, REDUCE_AT = range(5, 11)
# of `learn`: the last stamp, size of the learnt clause, literals of the present level that are not resolved yet
STAMP, SIZE, OPEN, INTEGERS = range(11, 15)
GROWTH, REALS = 0, 1
HEAD = 4  # entries of a clause before its literals
NO_REASON, NO_CONFLICT = -1, -1
DECAY, TOO_LARGE = 0.95, 1e100
RESTART_UNIT, FIRST_LEARNT, MORE_LEARNT = 100, 4000, 1000
MOST_LEVELS = 63
FREE, TRUE, FALSE = 0, 1, 2


class Solver(NamedTuple):
    """The state of a paused search."""

    binary_begin: Ints  # int32 (literals + 1,): where the clauses of two literals of a literal begin in `binary`
    binary: Ints  # int32: what a true literal implies by clauses of two literals
    arena: Ints  # int32: the other clauses
    watch: Ints  # int32 (literals,): first watch of a literal, 2*clause + 0 or 1; -1 = none
    value: npt.NDArray[np.int8]  # int8 (literals,): FREE, TRUE or FALSE
    level: Ints  # int32 (variables,): level at which a variable got its value
    reason: Ints  # int32 (variables,): clause that implied it, NO_REASON, or -2 - literal for a clause of two literals
    trail: Ints  # int32 (variables,): literals in the order of their values
    level_begin: Ints  # int32 (variables + 1,): length of the trail before each decision
    phase: npt.NDArray[np.int8]  # int8 (variables,): sign of the last value
    first: npt.NDArray[np.bool_]  # bool (variables,): whether a variable is of the interval
    activity: npt.NDArray[np.float64]  # float64 (variables,)
    heap: Ints  # int32 (variables,): free variables, best first
    heap_at: Ints  # int32 (variables,): position in the heap, -1 = none
    seen: npt.NDArray[np.bool_]  # bool (variables,): workspace of `learn`
    learnt: Ints  # int32 (variables,): workspace of `learn`: the learnt clause
    stamp: Ints  # int32 (variables + 1,): workspace: levels counted
    counts: Ints  # int32 (MOST_LEVELS + 1,): workspace: learnt clauses by number of levels
    integers: npt.NDArray[np.int64]  # int64 (INTEGERS,)
    reals: npt.NDArray[np.float64]  # float64 (REALS,)


@inline_flat_kernel
def better(s: Solver, a: int, b: int) -> bool:
    """Whether variable a is decided before b."""
    if s.first[a] != s.first[b]:
        return bool(s.first[a])
    return bool(s.activity[a] > s.activity[b])


@inline_flat_kernel
def put(s: Solver, v: int, at: int) -> None:
    """Set the variable at a position of the heap."""
    s.heap[at], s.heap_at[v] = v, at


@inline_flat_kernel
def sift_up(s: Solver, v: int, at: int) -> None:
    while at > 0 and better(s, v, s.heap[(at - 1) >> 1]):
        put(s, s.heap[(at - 1) >> 1], at)
        at = (at - 1) >> 1
    put(s, v, at)


@inline_flat_kernel
def pop(s: Solver) -> int:
    """Take the best variable from the heap."""
    best = s.heap[0]
    s.integers[HEAP] -= 1
    s.heap_at[best] = -1
    end = s.integers[HEAP]
    if end == 0:
        return int(best)
    v, at, child = s.heap[end], 0, 1
    while child < end:
        if child + 1 < end and better(s, s.heap[child + 1], s.heap[child]):
            child += 1
        if not better(s, s.heap[child], v):
            break
        put(s, s.heap[child], at)
        at, child = child, 2 * child + 1
    put(s, v, at)
    return int(best)


@inline_flat_kernel
def bump(s: Solver, v: int) -> None:
    """Raise the activity of a variable."""
    s.activity[v] += s.reals[GROWTH]
    if s.activity[v] > TOO_LARGE:
        for other in range(len(s.activity)):
            s.activity[other] /= TOO_LARGE
        s.reals[GROWTH] /= TOO_LARGE
    if s.heap_at[v] >= 0:
        sift_up(s, v, s.heap_at[v])


@inline_flat_kernel
def assign(s: Solver, literal: int, reason: int) -> None:
    """Make a free literal true."""
    s.value[literal] = TRUE
    s.value[literal ^ 1] = FALSE
    s.level[literal >> 1], s.reason[literal >> 1] = s.integers[LEVEL], reason
    s.trail[s.integers[TRAIL]] = literal
    s.integers[TRAIL] += 1


@inline_flat_kernel
def cancel_until(s: Solver, level: int) -> None:
    """Take back all values above a level."""
    if s.integers[LEVEL] <= level:
        return
    for at in range(s.integers[TRAIL] - 1, s.level_begin[level] - 1, -1):
        literal = s.trail[at]
        s.value[literal] = FREE
        s.value[literal ^ 1] = FREE
        v = literal >> 1
        s.phase[v] = literal & 1
        if s.heap_at[v] < 0:
            s.integers[HEAP] += 1
            sift_up(s, v, s.integers[HEAP] - 1)
    s.integers[TRAIL] = s.integers[DONE] = s.level_begin[level]
    s.integers[LEVEL] = level


@inline_flat_kernel
def propagate(s: Solver) -> tuple[int, int]:
    """Unit propagation. Returns (NO_CONFLICT, 0), (clause, 0), or (-2 - a, b) for the false clause of literals a, b."""
    while s.integers[DONE] < s.integers[TRAIL]:
        true = s.trail[s.integers[DONE]]
        s.integers[DONE] += 1
        false = true ^ 1
        for at in range(s.binary_begin[true], s.binary_begin[true + 1]):
            implied = s.binary[at]
            if s.value[implied] == FALSE:
                return -2 - implied, false
            if s.value[implied] == FREE:
                assign(s, implied, -2 - false)
        node = s.watch[false]
        before = -1  # the watch whose next one is `node`
        while node >= 0:
            c, side = node >> 1, node & 1
            following = s.arena[c + 2 + side]
            other = s.arena[c + HEAD + 1 - side]
            if s.value[other] == TRUE:
                before, node = node, following
                continue
            found, end = c + HEAD + 2, c + HEAD + s.arena[c]
            while found < end and s.value[s.arena[found]] == FALSE:
                found += 1
            if found < end:
                literal = s.arena[found]
                s.arena[found], s.arena[c + HEAD + side] = false, literal
                if before < 0:
                    s.watch[false] = following
                else:
                    s.arena[(before >> 1) + 2 + (before & 1)] = following
                s.arena[c + 2 + side] = s.watch[literal]
                s.watch[literal] = node
                node = following
                continue
            if s.value[other] == FALSE:
                return c, 0
            assign(s, other, c)
            before, node = node, following
    return NO_CONFLICT, 0


@inline_flat_kernel
def see(s: Solver, literal: int) -> None:
    """Note a false literal of a reason: count it if it is of the present level, else add it to the learnt clause."""
    v = literal >> 1
    if s.seen[v] or s.level[v] == 0:
        return
    s.seen[v] = True
    bump(s, v)
    if s.level[v] == s.integers[LEVEL]:
        s.integers[OPEN] += 1
    else:
        s.learnt[s.integers[SIZE]] = literal
        s.integers[SIZE] += 1


@inline_flat_kernel
def learn(s: Solver, conflict: int, second: int) -> int:
    """Derive the clause of the first unique implication point into ``learnt``; returns its size.

    Its first literal is the one that it will imply.
    """
    s.integers[SIZE], s.integers[OPEN] = 1, 0
    at = s.integers[TRAIL] - 1
    reason, own = conflict, -1
    while True:
        if reason <= -2:
            see(s, -2 - reason)
            if own < 0:
                see(s, second)
        else:
            for place in range(reason + HEAD, reason + HEAD + s.arena[reason]):
                if s.arena[place] != own:
                    see(s, s.arena[place])
        while not s.seen[s.trail[at] >> 1]:
            at -= 1
        own = s.trail[at]
        at -= 1
        s.seen[own >> 1] = False
        s.integers[OPEN] -= 1
        if s.integers[OPEN] == 0:
            break
        reason = s.reason[own >> 1]
    s.learnt[0] = own ^ 1
    size = s.integers[SIZE]
    kept = 1
    for place in range(1, size):  # drop literals that follow from others of the clause
        reason = s.reason[s.learnt[place] >> 1]
        needed = reason == NO_REASON
        if reason <= -2:
            v = (-2 - reason) >> 1
            needed = not s.seen[v] and s.level[v] > 0
        elif not needed:
            for inner in range(reason + HEAD, reason + HEAD + s.arena[reason]):
                v = s.arena[inner] >> 1
                if v != s.learnt[place] >> 1 and not s.seen[v] and s.level[v] > 0:
                    needed = True
                    break
        if needed:
            s.learnt[kept], s.learnt[place] = s.learnt[place], s.learnt[kept]
            kept += 1
    for place in range(size):
        s.seen[s.learnt[place] >> 1] = False
    return kept


@inline_flat_kernel
def attach(s: Solver, c: int) -> None:
    """Watch the first two literals of a clause."""
    for side in range(2):
        literal = s.arena[c + HEAD + side]
        s.arena[c + 2 + side] = s.watch[literal]
        s.watch[literal] = 2 * c + side


@inline_flat_kernel
def keep_learnt(s: Solver, size: int) -> None:
    """Go back to where the learnt clause implies its first literal, keep the clause, and assign the literal."""
    if size == 1:
        cancel_until(s, 0)
        assign(s, s.learnt[0], NO_REASON)
        return
    s.integers[STAMP] += 1
    levels, deepest = 0, 1
    for place in range(size):
        level = s.level[s.learnt[place] >> 1]
        if s.stamp[level] != s.integers[STAMP]:
            s.stamp[level] = s.integers[STAMP]
            levels += 1
        if place > 1 and level > s.level[s.learnt[deepest] >> 1]:
            deepest = place
    s.learnt[1], s.learnt[deepest] = s.learnt[deepest], s.learnt[1]
    cancel_until(s, s.level[s.learnt[1] >> 1])
    c = s.integers[USED]
    s.arena[c], s.arena[c + 1] = size, levels
    for place in range(size):
        s.arena[c + HEAD + place] = s.learnt[place]
    s.integers[USED] += HEAD + size
    s.integers[LEARNT] += 1
    attach(s, c)
    assign(s, s.learnt[0], c)


@inline_flat_kernel
def reduce_learnt(s: Solver) -> None:
    """At level 0: drop the learnt clauses of many levels, about half, and clauses that are true; watch all anew."""
    counts = s.counts
    for levels in range(MOST_LEVELS + 1):
        counts[levels] = 0
    c = 0
    while c < s.integers[USED]:
        counts[min(s.arena[c + 1], MOST_LEVELS)] += s.arena[c + 1] > 0
        c += HEAD + s.arena[c]
    limit, below = 2, counts[1] + counts[2]
    while limit < MOST_LEVELS - 1 and below + counts[limit + 1] <= s.integers[LEARNT] // 2:
        limit += 1
        below += counts[limit]
    for literal in range(len(s.watch)):
        s.watch[literal] = -1
    for at in range(s.integers[TRAIL]):
        s.reason[s.trail[at] >> 1] = NO_REASON
    c = end = learnt = 0
    while c < s.integers[USED]:
        size, following = s.arena[c], c + HEAD + s.arena[c]
        keep = s.arena[c + 1] <= limit  # a clause of the formula has 0
        for at in range(c + HEAD, following):
            keep &= s.value[s.arena[at]] != TRUE
        if keep:
            for at in range(HEAD + size):
                s.arena[end + at] = s.arena[c + at]
            attach(s, end)
            learnt += s.arena[end + 1] > 0
            end += HEAD + size
        c = following
    s.integers[USED], s.integers[LEARNT] = end, learnt
    s.integers[REDUCE_AT] = max(s.integers[REDUCE_AT], 2 * learnt) + MORE_LEARNT


@inline_flat_kernel
def luby(number: int) -> int:
    """The Luby sequence 1 1 2 1 1 2 4 ..., from 0."""
    size, power = 1, 0
    while size < number + 1:
        size, power = 2 * size + 1, power + 1
    while size - 1 != number:
        size = (size - 1) >> 1
        power -= 1
        number %= size
    return 1 << power


@flat_kernel
def advance(s: Solver, conflicts: int) -> int:
    """Search for ``conflicts`` conflicts, to an answer, or until the arena may be full. Returns the answer."""
    limit = s.integers[CONFLICTS] + conflicts
    while True:
        conflict, second = propagate(s)
        if conflict != NO_CONFLICT:
            s.integers[CONFLICTS] += 1
            if s.integers[LEVEL] == 0:
                return UNSATISFIABLE
            keep_learnt(s, learn(s, conflict, second))
            s.reals[GROWTH] /= DECAY
            continue
        if s.integers[CONFLICTS] >= limit or s.integers[USED] + len(s.value) + HEAD > len(s.arena):
            return UNKNOWN
        if s.integers[CONFLICTS] >= s.integers[RESTART_AT]:
            s.integers[RESTARTS] += 1
            s.integers[RESTART_AT] = s.integers[CONFLICTS] + RESTART_UNIT * luby(s.integers[RESTARTS])
            cancel_until(s, 0)
            if s.integers[LEARNT] >= s.integers[REDUCE_AT]:
                reduce_learnt(s)
        v = -1
        while s.integers[HEAP] > 0:
            v = pop(s)
            if s.value[2 * v] == FREE:
                break
            v = -1
        if v < 0:
            return SATISFIABLE
        s.integers[DECISIONS] += 1
        s.level_begin[s.integers[LEVEL]] = s.integers[TRAIL]
        s.integers[LEVEL] += 1
        assign(s, 2 * v + int(s.phase[v]), NO_REASON)


@flat_kernel
def begin(s: Solver, units: Ints) -> int:
    """Watch all clauses of the arena and make the literals of unit clauses true. Returns the answer."""
    c = 0
    while c < s.integers[USED]:
        attach(s, c)
        c += HEAD + s.arena[c]
    for literal in units:
        if s.value[literal] == FALSE:
            return UNSATISFIABLE
        if s.value[literal] == FREE:
            assign(s, literal, NO_REASON)
    return UNKNOWN


_STEP = 2000  # conflicts


class Cdcl:
    """A search for a model of a formula, with the methods of python-sat's solvers that `lns.exact.sat.search` calls.

    Parameters
    ----------
    interval : (int, int), optional
        First and last variable that are decided before all others. Default: all are equal.
    """

    def __init__(self, interval: tuple[int, int] | None = None) -> None:
        self._interval = interval
        self._blocks: list[Ints] = []
        self._state: Solver | None = None  # None: not begun
        self._answer = UNKNOWN
        self._earlier = {"decisions": 0, "conflicts": 0}  # of earlier answers
        self._conflict_limit = 0

    def append_formula(self, block: Ints, no_return: bool = True) -> None:
        """Add clauses before the first answer: int32 of shape (clauses, literals), literals as in DIMACS."""
        self._blocks.append(block)

    def add_clause(self, literals: list[int]) -> None:
        """Add a clause; the next answer is searched for from the start."""
        self._earlier, self._state = self.accum_stats(), None
        self._blocks.append(np.array([literals], dtype=np.int32))

    def conf_budget(self, conflicts: int) -> None:
        """Limit the conflicts of `solve_limited`."""
        self._conflict_limit = conflicts

    def dec_budget(self, decisions: int) -> None:
        raise NotImplementedError("it limits conflicts only")

    def solve(self) -> bool:
        """Whether there is a model."""
        return self._search(np.inf) is True

    def solve_limited(self) -> bool | None:
        """Whether there is a model; None if the budget of conflicts is spent. The next call goes on."""
        return self._search(self._conflict_limit)

    def decided(self) -> list[int]:
        """The decisions that stand, in their order, as DIMACS literals."""
        state = self._begun()
        literals = state.trail[state.level_begin[: state.integers[LEVEL]]].tolist()
        return [-(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1 for literal in literals]

    def get_model(self) -> list[int]:
        """The model as DIMACS literals, after an answer that there is one."""
        positive = self._begun().value[::2] == TRUE
        return [index if true else -index for index, true in enumerate(positive.tolist(), 1)]

    def accum_stats(self) -> dict[str, int]:
        """Decisions and conflicts of all answers."""
        own = (0, 0) if self._state is None else self._state.integers[[DECISIONS, CONFLICTS]].tolist()
        return {name: self._earlier[name] + count for name, count in zip(("decisions", "conflicts"), own, strict=True)}

    def _search(self, conflicts: float) -> bool | None:
        state = self._begun()
        limit = state.integers[CONFLICTS] + conflicts
        while self._answer == UNKNOWN and state.integers[CONFLICTS] < limit:
            self._answer = advance(state, int(min(_STEP, limit - state.integers[CONFLICTS])))
            if state.integers[USED] + len(state.value) + HEAD > len(state.arena):
                state = state._replace(arena=np.concatenate([state.arena, np.zeros_like(state.arena)]))
                self._state = state
        return None if self._answer == UNKNOWN else self._answer == SATISFIABLE

    def _begun(self) -> Solver:
        """The state of the search, which begins if it has not."""
        if self._state is not None:
            return self._state
        variables = max((int(np.abs(block).max()) for block in self._blocks if block.size), default=1)
        rows = [np.where(block > 0, 2 * block - 2, -2 * block - 1).astype(np.int32) for block in self._blocks]
        units = np.concatenate([np.zeros(0, np.int32), *(block[:, 0] for block in rows if block.shape[1] == 1)])
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *(block for block in rows if block.shape[1] == 2)])
        causes = np.concatenate([pairs[:, 0], pairs[:, 1]]) ^ 1
        order = np.argsort(causes, kind="stable")
        clauses = [
            np.hstack([np.tile(np.array([block.shape[1], 0, -1, -1], np.int32), (len(block), 1)), block]).ravel()
            for block in rows
            if block.shape[1] > 2
        ]
        arena = np.concatenate([*clauses, np.zeros(1 << 20, np.int32)])
        first = np.full(variables, self._interval is None)
        if self._interval is not None:
            first[self._interval[0] - 1 : self._interval[1]] = True
        heap = np.argsort(~first, kind="stable").astype(np.int32)
        integers = np.zeros(INTEGERS, dtype=np.int64)
        integers[[HEAP, USED]] = variables, len(arena) - (1 << 20)
        integers[[RESTART_AT, REDUCE_AT]] = RESTART_UNIT, FIRST_LEARNT
        state = self._state = Solver(
            binary_begin=np.searchsorted(causes[order], np.arange(2 * variables + 1)).astype(np.int32),
            binary=np.concatenate([pairs[:, 1], pairs[:, 0]])[order],
            arena=arena,
            watch=np.full(2 * variables, -1, dtype=np.int32),
            value=np.zeros(2 * variables, dtype=np.int8),
            level=np.zeros(variables, dtype=np.int32),
            reason=np.full(variables, NO_REASON, dtype=np.int32),
            trail=np.zeros(variables, dtype=np.int32),
            level_begin=np.zeros(variables + 1, dtype=np.int32),
            phase=np.ones(variables, dtype=np.int8),
            first=first,
            activity=np.zeros(variables),
            heap=heap,
            heap_at=np.argsort(heap).astype(np.int32),
            seen=np.zeros(variables, dtype=np.bool_),
            learnt=np.zeros(variables + 1, dtype=np.int32),
            stamp=np.zeros(variables + 1, dtype=np.int32),
            counts=np.zeros(MOST_LEVELS + 1, dtype=np.int32),
            integers=integers,
            reals=np.ones(REALS),
        )
        self._answer = begin(state, units)
        if any(block.shape == (len(block), 0) and len(block) for block in rows):
            self._answer = UNSATISFIABLE
        return state
