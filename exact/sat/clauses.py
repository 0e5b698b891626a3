"""Families of clauses as streams of blocks: int32 arrays of shape (clauses, literals), literals as in DIMACS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.int32]
_ROWS = 200_000  # clauses in a block, about; a stream holds one block in memory


def clause(literals: Sequence[int] | Block) -> Block:
    """One clause as a block."""
    return np.asarray(literals, dtype=np.int32).reshape(1, -1)


def units(literals: Iterable[int] | Block) -> Block:
    """Unit clauses."""
    array = literals if isinstance(literals, np.ndarray) else np.fromiter(literals, dtype=np.int32)
    return np.ascontiguousarray(array, dtype=np.int32).reshape(-1, 1)


def exactly_one_counters(groups: Block, first_auxiliary: int) -> Iterator[Block]:
    """Exactly one variable of each row is true, by Sinz's sequential counter (CP 2005).

    For n variables it takes n-1 auxiliary variables s_1..s_{n-1} ("one of the first i is true"), 3n-4 clauses for at
    most one, and one clause for at least one.

    Parameters
    ----------
    groups : ndarray of int32, shape (groups, n)
        Variables.
    first_auxiliary : int
        Number of the first auxiliary variable; they are numbered row by row.

    Yields
    ------
    ndarray of int32
        Blocks of clauses.
    """
    yield from (groups[at : at + _ROWS // 8 + 1] for at in range(0, len(groups), _ROWS // 8 + 1))
    count, n = groups.shape
    if n == 1:
        return
    for at in range(0, count, max(1, _ROWS // n)):
        x = groups[at : at + max(1, _ROWS // n)]
        s = first_auxiliary + np.arange(at * (n - 1), (at + len(x)) * (n - 1), dtype=np.int32).reshape(len(x), n - 1)
        yield _pairs(-x[:, :-1], s)  # x_i -> s_i
        yield _pairs(-s[:, :-1], s[:, 1:])  # s_{i-1} -> s_i
        yield _pairs(-x[:, 1:], -s)  # x_i -> not s_{i-1}


def at_most_one_pairs(groups: Block) -> Iterator[Block]:
    """At most one variable of each row of ``groups`` is true, by n(n-1)/2 binary clauses."""
    first, second = np.triu_indices(groups.shape[1], 1)
    step = max(1, _ROWS // max(1, len(first)))
    for at in range(0, len(groups), step):
        rows = groups[at : at + step]
        yield _pairs(-rows[:, first], -rows[:, second])


def exactly_one_pairs(groups: Block) -> Iterator[Block]:
    """Exactly one variable of each row of ``groups`` is true: at most one by n(n-1)/2 binary clauses."""
    yield groups
    yield from at_most_one_pairs(groups)


def _pairs(left: Block, right: Block) -> Block:
    return np.stack([left.reshape(-1), right.reshape(-1)], axis=1)
