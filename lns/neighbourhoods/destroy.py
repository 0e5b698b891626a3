"""Operators that free some cells around the damage and re-solve them exactly (`exact.region`).

They differ in the shape of what they free (`lns.neighbourhoods.regions`). Where no refill is better, another one as
good is often taken: the next regions then see another board.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exact.region.resolve import RegionOptions, resolve
from instances.board import EMPTY, Board
from instances.puzzle import Puzzle
from lns.neighbourhoods.move import Move, Operator, mismatched_pairs

_OPTIONS = RegionOptions(order="auto", prices=False)
SIDEWAYS = 0.5  # share of the re-solves without a gain after which a refill as good is looked for


def destroy_and_repair(choose: Callable[[Puzzle, Board, np.random.Generator], list[int]]) -> Operator:
    """The operator that re-solves what ``choose`` draws; a board without damage stays as it is."""

    def operator(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        if not len(mismatched_pairs(puzzle, board)):
            return Move(board, puzzle.max_score, 0)
        cells = choose(puzzle, board, rng)
        result = resolve(puzzle, board, cells, nodes=nodes, options=_OPTIONS)
        if result.improved or rng.random() >= SIDEWAYS:
            return Move(result.board, result.score, result.work)
        other = _another(puzzle, board, cells, result.score, nodes)
        return other._replace(nodes=result.work + other.nodes)

    return operator


def _another(puzzle: Puzzle, board: Board, cells: list[int], score: int, nodes: int) -> Move:
    """The first refill of ``cells`` that the search finds with ``score``, the score of ``board``, or more."""
    placed = board.placements.copy()
    placed[cells] = EMPTY
    emptied = Board(placed, puzzle.width, puzzle.height)
    result = resolve(puzzle, emptied, cells, target=score, nodes=nodes, options=_OPTIONS)
    if result.score < score or result.board.placed < board.placed:
        return Move(board, score, result.work)
    return Move(result.board, result.score, result.work)
