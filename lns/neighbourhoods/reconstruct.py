"""The very large neighbourhood: keep about the first half of the construction order, search the rest again by a beam.

The board is turned first so that as much of its damage as possible lies in the half that is searched again. Every other
time it is mirrored too: then the last rows, below the same upper rows, are filled from the right to the left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from lns.assignment import matched_edges
from lns.construct.beam import BeamSearch, beam_tables
from lns.construct.beam_kernel import Paths, search_tails
from lns.construct.candidates import CandidateTables
from lns.construct.order import padded_positions
from lns.construct.schedule import favoured_colours
from lns.construct.schedule_search import beam_tail_cut, cell_order
from lns.construct.tail import plan_tail
from lns.instances.board import Board
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.symmetry import View, board_from_view, board_in_view, puzzle_in_view
from lns.neighbourhoods.move import Move, mismatched_pairs
from lns.node_equivalents import BEAM_CHILD, REGION_NODE, TAIL_NODE, exact_tails
from lns.params import BeamParams, ConstructParams
from lns.rng import random_state

KEPT = (0.4, 0.6)  # share of the board that stays
NARROWEST, WIDEST = 16, 16_384  # prefixes of the beam
CHILD_NODES = BEAM_CHILD / REGION_NODE  # what a child of the beam takes, in nodes of a re-solve
LEAST_CELLS = 9  # smaller boards are left to the other operators


@dataclass(frozen=True)
class Suffix:
    """The operator, by the order, colours and beam of a run's parameters."""

    construct: ConstructParams
    beam: BeamParams

    def __call__(self, puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        """A beam from a prefix of the board, as wide as ``nodes`` allow; its tails are searched for one not worse."""
        score = matched_edges(puzzle, board.placements)
        if puzzle.cells < LEAST_CELLS:
            return Move(board, score, 0)
        share = float(rng.uniform(*KEPT))
        view = self._view(puzzle, board, share, mirrored=bool(rng.integers(2)))
        seen_puzzle, seen_board = puzzle_in_view(puzzle, view), board_in_view(board, view)
        order = _order(seen_puzzle, self.construct)
        cut = beam_tail_cut(puzzle, self.beam)
        kept = min(round(share * puzzle.cells), cut)
        paths, made = self._grow(seen_puzzle, order, seen_board.placements[order[:kept]], cut, nodes, rng)
        remaining_nodes = max(nodes - made, nodes // 4)
        found, spent = _finish(seen_puzzle, order, paths, score, remaining_nodes, self.construct.tail_nodes)
        if found is None:
            return Move(board, score, made + spent)
        after = board_from_view(found, view)
        return Move(after, matched_edges(puzzle, after.placements), made + spent)

    def _grow(
        self, puzzle: Puzzle, order: IntArray, kept: IntArray, cut: int, nodes: int, rng: np.random.Generator
    ) -> tuple[Paths, int]:
        """Prefixes of ``cut`` cells that begin with ``kept``, (n, cut), and the nodes that they took."""
        layer = CHILD_NODES * self.beam.fan_out * max(1, cut - len(kept))
        width = min(max(int(nodes / layer), NARROWEST), WIDEST)
        random = rng.integers(2**64, size=4, dtype=np.uint64)
        tables = _tables(puzzle, self.construct, cut)
        beam = BeamSearch(puzzle, order, cut, tables, replace(self.beam, width=width), random)
        beam.resume(kept.astype(np.int16)[None, :], np.zeros(1, dtype=np.int64))  # worth the same for all
        children = beam.run(nodes)  # in children: the width keeps the budget, this only ends the narrowest
        reached = beam.prefix_count if beam.depth == cut else 0
        return (beam.paths(reached) if reached else np.zeros((0, cut), dtype=np.int16)), int(CHILD_NODES * children)

    def _view(self, puzzle: Puzzle, board: Board, share: float, *, mirrored: bool) -> View:
        """The view from which a prefix of this share has the fewest mismatches in it."""

        def mismatches(view: View) -> int:
            seen_puzzle, seen_board = puzzle_in_view(puzzle, view), board_in_view(board, view)
            prefix = np.zeros(puzzle.cells, dtype=bool)
            prefix[_order(seen_puzzle, self.construct)[: round(share * puzzle.cells)]] = True
            return int(prefix[mismatched_pairs(seen_puzzle, seen_board)].all(axis=1).sum())

        return min((View(turns, mirrored) for turns in range(4)), key=mismatches)


def _finish(
    puzzle: Puzzle, order: IntArray, paths: Paths, score: int, nodes: int, tail_nodes: int
) -> tuple[Board | None, int]:
    """The best full board of at least ``score`` that the paths lead to within ``nodes``, if any; (board, nodes).

    Nodes are those of a re-solve.
    """
    cut, found, spent, done = paths.shape[1], None, 0.0, 0
    plan, work = plan_tail(puzzle, order, cut)
    position = padded_positions(order, puzzle.width)
    mismatches = puzzle.max_score - score
    while done < len(paths) and spent < nodes and mismatches >= 0:
        node_limit = int((nodes - spent) * REGION_NODE / TAIL_NODE) + 1
        more, searched, made, tail_mismatches = search_tails(
            paths, done, position, puzzle.width + 1, plan, work, mismatches, node_limit, tail_nodes
        )
        done, spent = done + more, spent + exact_tails(searched, made) / REGION_NODE
        if tail_mismatches >= 0:
            placed = np.empty(puzzle.cells, dtype=np.int32)
            placed[order[:cut]], placed[order[cut:]] = paths[done - 1], work.found
            found, mismatches = Board(placed, puzzle.width, puzzle.height), tail_mismatches - 1
    return found, int(spent)


@lru_cache(maxsize=16)
def _order(puzzle: Puzzle, construct: ConstructParams) -> IntArray:
    return cell_order(puzzle, construct)


@lru_cache(maxsize=16)
def _tables(puzzle: Puzzle, construct: ConstructParams, cut: int) -> CandidateTables:
    rim, inner = construct.border_colours, construct.inner_colours
    favoured = favoured_colours(puzzle, rim, inner) if construct.quota_scale else ()
    return beam_tables(puzzle, _order(puzzle, construct), cut, favoured, random_state(0, 0))
