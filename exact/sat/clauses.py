"""Clauses in blocks: constraints such as "exactly one variable is true", unit propagation, and the DIMACS format.

A block is an int32 array of shape (clauses, literals): clauses of equal length. A literal is a variable, counted from
1, or minus the variable for its negation (as in DIMACS). A formula is a stream of blocks, so that only one block at a
time need be in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.execution import timed
from lns.instances.errors import InputError

Block = npt.NDArray[np.int32]
_ROWS = 200_000  # approximate limit on the clauses in a block


def clause(literals: Sequence[Any] | Block) -> Block:
    """Return a block that has one clause, with the given literals."""
    return np.asarray(literals, dtype=np.int32).reshape(1, -1)


def units(literals: Sequence[Any] | Block) -> Block:
    """Return a block that has a unit clause for each of the given literals."""
    return np.asarray(literals, dtype=np.int32).reshape(-1, 1)


def exactly_one_counters(groups: Block, first_auxiliary: int) -> Iterator[Block]:
    """Yield clauses for "exactly one variable of each row of ``groups`` is true", by Sinz's counter (CP 2005).

    A row of n > 1 variables needs n-1 auxiliary variables s_i ("one of the first i is true"), 3n-4 clauses for "at most
    one", and one clause for "at least one". Auxiliary variables are numbered row by row from ``first_auxiliary``.
    """
    yield from (groups[at : at + _ROWS // 8 + 1] for at in range(0, len(groups), _ROWS // 8 + 1))
    count, n = groups.shape
    step = max(1, _ROWS // n)
    for at in range(0, count if n > 1 else 0, step):
        x = groups[at : at + step]
        s = first_auxiliary + np.arange(at * (n - 1), (at + len(x)) * (n - 1), dtype=np.int32).reshape(len(x), n - 1)
        yield _pairs(-x[:, :-1], s)  # x_i implies s_i
        yield _pairs(-s[:, :-1], s[:, 1:])  # s_{i-1} implies s_i
        yield _pairs(-x[:, 1:], -s)  # x_i implies not s_{i-1}


def at_most_counter(row: Block, most: int, first_auxiliary: int) -> Iterator[Block]:
    """Yield clauses for "at most ``most`` of the n variables in ``row`` are true", by Sinz's sequential counter.

    The ``n * most`` auxiliary variables s(i, j) mean "more than j of the first i variables are true", for j < ``most``.
    """
    s = first_auxiliary + np.arange(len(row) * most, dtype=np.int32).reshape(-1, most)
    yield _pairs(-row, s[:, 0])
    yield _pairs(-s[:-1], s[1:])
    yield _pairs(-row[1:], -s[:-1, -1])
    own = np.repeat(row[1:, None], most - 1, axis=1)
    yield np.stack([-own.reshape(-1), -s[:-1, :-1].reshape(-1), s[1:, 1:].reshape(-1)], axis=1)


def at_most_one_pairs(groups: Block) -> Iterator[Block]:
    """Yield clauses for "at most one variable of each row of ``groups`` is true": one for each two of its variables."""
    first, second = np.triu_indices(groups.shape[1], 1)
    step = max(1, _ROWS // max(1, len(first)))
    for rows in (groups[at : at + step] for at in range(0, len(groups), step)):
        yield _pairs(-rows[:, first], -rows[:, second])


def exactly_one_pairs(groups: Block) -> Iterator[Block]:
    """Yield clauses for "exactly one variable of each row of ``groups`` is true", by `at_most_one_pairs`."""
    yield groups
    yield from at_most_one_pairs(groups)


def _pairs(left: Block, right: Block) -> Block:
    return np.stack([left.reshape(-1), right.reshape(-1)], axis=1)


class Simplified(NamedTuple):
    """The result of `simplify`: an equivalent formula without unit clauses, or the unchanged formula."""

    blocks: list[Block]  # clauses, their variables numbered anew from 1
    kept: Block  # int32 (variables,): for each new variable, the variable of the original formula
    forced: Block  # int32: literals of the original formula that unit propagation made true

    def model(self, literals: list[int]) -> list[int]:
        """Return the model of the original formula that extends a model of this formula, as DIMACS literals."""
        own = [int(self.kept[abs(literal) - 1]) * (1 if literal > 0 else -1) for literal in literals]
        return sorted([*own, *self.forced.tolist()], key=abs)


def simplify(blocks: Iterable[Block], variables: int, *, propagate: bool = True) -> Simplified:
    """Apply unit propagation until nothing changes, and number the remaining variables anew.

    Clauses that became true and literals that became false are removed. The formula is returned unchanged if
    ``propagate`` is false, or if propagation finds a contradiction.
    """
    value = np.zeros(variables + 1, dtype=np.int32)  # by variable: 1 true, -1 false, 0 not assigned
    whole = clauses = list(timed(blocks))
    while propagate:
        single = np.concatenate([value[:0], *(block[:, 0] for block in clauses if block.shape[1] == 1)])
        new = single[value[np.abs(single)] != np.sign(single)]
        if not len(new):
            clauses = [block for block in clauses if block.shape[1] != 1]
            break
        value[np.abs(new)] = np.sign(new)
        clauses = [shorter for block in timed(clauses) for shorter in _shorter(block, value)]
        if any(block.shape[1] == 0 for block in clauses):
            return simplify(whole, variables, propagate=False)
    kept, forced = (np.flatnonzero(chosen).astype(np.int32) for chosen in (value == 0, value))
    if len(forced):
        number = np.cumsum(value == 0, dtype=np.int32) - 1  # new number of each variable that is not assigned, from 1
        clauses = [number[np.abs(block)] * np.sign(block) for block in timed(clauses)]
    return Simplified(clauses, kept[1:], forced * value[forced])


def _shorter(block: Block, value: Block) -> list[Block]:
    """Return the clauses of a block that are not yet true, without their false literals, as a block for each length."""
    truth = value[np.abs(block)] * np.sign(block)
    is_open = ~(truth == 1).any(axis=1)
    block, free = block[is_open], truth[is_open] == 0
    length = free.sum(axis=1)
    found = []
    for size in np.unique(length):
        at = length == size
        found.append(block[at][free[at]].reshape(np.count_nonzero(at), size))
    return found


def lines_of(block: Block, rows: int = 20_000) -> Iterator[str]:
    """Yield the clauses of a block as DIMACS text, up to ``rows`` at a time; each clause is a line that ends in 0."""
    row = "%d " * block.shape[1] + "0\n"
    for at in range(0, len(block), rows):
        part = block[at : at + rows]
        yield row * len(part) % tuple(part.reshape(-1).tolist())


def read_answer(text: str, source: str) -> list[int] | None:
    """Return the literals of the model in a solver's answer ``text``, or None if the answer is 'unsatisfiable'.

    The text is the output of a competition solver (lines ``s SATISFIABLE`` and ``v 1 -2 ... 0``) or minisat's result
    file (``SAT`` and a line of literals). Raises InputError, which names ``source``, if the text has no such answer.
    """
    satisfiable, literals = True, list[int]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "c":
            continue
        verdict = " ".join(words[words[0] == "s" :]).upper()
        if verdict in ("SAT", "SATISFIABLE", "UNSAT", "UNSATISFIABLE"):
            satisfiable = not verdict.startswith("UN")
        elif words[0] in ("s", "INDET") or verdict == "UNKNOWN":
            raise InputError(f"'{line.strip()}' is no answer; expected SATISFIABLE or UNSATISFIABLE", source, number)
        elif words[0] == "v" or re.fullmatch(r"-?[0-9]+", words[0]):
            for word in words[words[0] == "v" :]:
                if not re.fullmatch(r"-?[0-9]{1,10}", word):
                    raise InputError(f"'{word}' in a line of values; expected a whole number", source, number)
                literals.append(int(word))
    if not satisfiable:
        return None
    model = [literal for literal in literals if literal]
    if not model:
        raise InputError("there is no model; expected 's SATISFIABLE' and lines of values ('v 1 -2 ... 0')", source)
    return model
