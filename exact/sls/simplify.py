"""Unit propagation of a formula before a local search, which otherwise learns forced values step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from exact.building import Check, each_after, unlimited
from exact.sat.clauses import Block


class Simplified(NamedTuple):
    """A formula in which no variable has a forced value, unless it is `unchanged`."""

    blocks: list[Block]  # clauses in the new numbers
    kept: Block  # int32 (variables,): number in the original formula of each variable, counted from 1
    forced: Block  # int32: literals of the original formula that are true in every model

    def model(self, literals: list[int]) -> list[int]:
        """A model of the original formula from one of this one, as DIMACS literals."""
        own = [int(self.kept[abs(literal) - 1]) * (1 if literal > 0 else -1) for literal in literals]
        return sorted([*own, *self.forced.tolist()], key=abs)


def simplify(blocks: Iterable[Block], variables: int, check: Check = unlimited) -> Simplified:
    """Apply unit propagation until nothing changes, and number the remaining variables anew.

    Parameters
    ----------
    blocks : iterable of ndarray of int32, shape (clauses, literals)
        Clauses, literals as in DIMACS.
    variables : int
        Number of variables.
    check : callable
        Called between the blocks.

    Returns
    -------
    Simplified
        Without clauses that are true and literals that are false. If propagation finds a contradiction, the formula
        is returned as it is.
    """
    value = np.zeros(variables + 1, dtype=np.int32)  # 1 true, -1 false, 0 free
    original = clauses = list(each_after(check, blocks))
    while True:
        units = np.concatenate([np.zeros(0, np.int32), *(block[:, 0] for block in clauses if block.shape[1] == 1)])
        new = units[value[np.abs(units)] != np.sign(units)]
        if not len(new):
            break
        value[np.abs(new)] = np.sign(new)
        clauses = [shorter for block in each_after(check, clauses) for shorter in _shorter(block, value)]
        if any(block.shape[1] == 0 for block in clauses):
            return unchanged(original, variables)
    longer = [block for block in clauses if block.shape[1] != 1]
    kept = np.flatnonzero(value[1:] == 0).astype(np.int32) + 1
    number = np.zeros(variables + 1, dtype=np.int32)
    number[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    forced = np.flatnonzero(value).astype(np.int32)
    return Simplified(
        blocks=[number[np.abs(block)] * np.sign(block) for block in each_after(check, longer)],
        kept=kept,
        forced=forced * value[forced],
    )


def unchanged(blocks: Iterable[Block], variables: int) -> Simplified:
    """The formula as it is, with no value forced."""
    return Simplified(list(blocks), np.arange(1, variables + 1, dtype=np.int32), np.zeros(0, np.int32))


def _shorter(block: Block, value: Block) -> list[Block]:
    """The clauses of a block that are not true yet, without false literals, as blocks of one length each."""
    truth = value[np.abs(block)] * np.sign(block)
    open_ = ~(truth == 1).any(axis=1)
    block, free = block[open_], truth[open_] == 0
    length = free.sum(axis=1)
    found = []
    for size in np.unique(length).tolist():
        of_size = length == size
        found.append(block[of_size][free[of_size]].reshape(np.count_nonzero(of_size), size))
    return found
