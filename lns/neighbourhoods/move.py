"""Operators that are functions from a board to a move: those of users, and the built-in ones that change a board."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lns import node_equivalents
from lns.engine import State, Statistics
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.verify import verify
from lns.loop.operator import Found, Freed, Repaired
from lns.loop.pool import Pool

OVERRUN = 100  # times its nodes that an operator may take


class Move(NamedTuple):
    """Result of an operator."""

    board: Board  # full and legal; the given board if nothing was found
    score: int  # matched inner edges of ``board``
    nodes: int  # cost in placements of a region re-solve in fixed orders


OperatorFunction = Callable[[Puzzle, Board, np.random.Generator, int], Move]
"""``operator(puzzle, board, rng, nodes)``: changes a board and returns the changed one.

``board`` is full and legal; ``nodes`` is a budget in placements of a region re-solve, kept approximately. Clues, border
and the set of pieces are kept. The score does not fall, unless the operator's docstring says so. ``rng`` is the only
state: the same arguments give the same move.
"""


def mismatched_pairs(puzzle: Puzzle, board: Board) -> IntArray:
    """Pairs of neighbouring cells whose edge does not match.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the board.
    board : Board
        Full board.

    Returns
    -------
    int32 array (mismatches, 2)
        Horizontal pairs first, each row-major.
    """
    colours = puzzle.oriented[board.placements].reshape(puzzle.height, puzzle.width, 4)
    cells = np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width)
    across = colours[:, :-1, 1] != colours[:, 1:, 3]
    down = colours[:-1, :, 2] != colours[1:, :, 0]
    first = np.concatenate([cells[:, :-1][across], cells[:-1][down]])
    second = np.concatenate([cells[:, 1:][across], cells[1:][down]])
    return np.stack([first, second], axis=1).astype(np.int32)


class MoveOperator:
    """An operator that is a function of a board, which it changes; the boards of users' operators are verified.

    Parameters
    ----------
    name : str
        Name in the table of operators.
    puzzle : Puzzle
        Puzzle of the boards.
    function : callable
        See `OperatorFunction`.
    nodes : int
        Its budget, in placements of a region re-solve.
    """

    makes_boards = proves = False

    def __init__(self, name: str, puzzle: Puzzle, function: OperatorFunction, nodes: int) -> None:
        self.name, self.puzzle, self.function, self.nodes = name, puzzle, function, nodes
        self.nodes_spent = 0

    @property
    def statistics(self) -> Statistics:
        return Statistics(operators={self.name: self.nodes_spent})

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        members = pool.ranked() if wanted <= self.puzzle.max_score else []
        return Freed(members[0], nodes=pool.budget(self.nodes)) if members else None

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        assert freed.member is not None
        board, score = freed.member.board, freed.member.score
        nodes = freed.nodes or self.nodes
        move = self.function(self.puzzle, board, rng, nodes)
        self._check(move)
        self.nodes_spent += int(move.nodes)
        cost = int(move.nodes) * node_equivalents.REGION_NODE
        found = Found(move.board, self.name, freed.member.order)
        if move.score > score:
            return Repaired([found], cost)
        return Repaired([], cost, found if move.board != board else None)

    def _check(self, move: object) -> None:
        """Raise InputError unless a move is one, is legal and says the right score."""
        if not isinstance(move, Move) or not isinstance(move.board, Board) or not _is_count(move.nodes):
            raise InputError(
                f"operator '{self.name}' returned {type(move).__name__}; expected Move(board, score, nodes)"
            )
        verdict = verify(self.puzzle, move.board)
        if not verdict.complete:
            problem = (*verdict.problems, "cells are empty")[0]
            raise InputError(f"operator '{self.name}' returned a board that is not full and legal: {problem}")
        if verdict.score != move.score:
            raise InputError(f"operator '{self.name}' returned a board of {verdict.score} as one of {move.score}")
        if move.nodes > OVERRUN * self.nodes:
            raise InputError(f"operator '{self.name}' took {move.nodes} nodes; expected about {self.nodes}")

    def state(self) -> State:
        return {"nodes": np.array([self.nodes_spent])}

    def restore(self, state: State) -> None:
        (self.nodes_spent,) = state["nodes"].tolist()


def _is_count(nodes: object) -> bool:
    return isinstance(nodes, int | np.integer) and 0 <= int(nodes) < 2**40
