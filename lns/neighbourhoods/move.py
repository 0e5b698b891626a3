"""Operators that are functions from a board to a move, built-in or of users, and the operator `Regrow`.

The small built-in ones are an assignment, exchanges that lose no match, and a short tabu walk. They change a board so
that there are new regions to re-solve. `Suffix` and `Regrow` fill about half of a board anew.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lns import node_equivalents
from lns.assignment import matched_edges, matching_edges, placement_matches, reassign
from lns.construct.beam import BeamSearch, Paths, Tails, beam_tables
from lns.construct.candidates import CandidateTables
from lns.construct.schedule import beam_tail_cut, cell_order, favoured_colours
from lns.engine import State, Statistics, component, joined
from lns.exact.region.windows import with_neighbours
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, BoolArray, Clue, IntArray, Puzzle
from lns.instances.symmetry import View, board_from_view, board_in_view, puzzle_in_view
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD, Found, Freed, Operator, Pool, Repaired
from lns.orientation import Orientation
from lns.params import BeamParams, ConstructParams, Params
from lns.rng import random_state
from lns.tabu.search import MAX_CELLS, TabuSearch

OVERRUN = 100  # a call of a user's operator may report at most this many times the nodes allowed
CALL_SECONDS = 60.0  # seconds after which a call of a user's operator is ended
TICKS = 10  # waits into which the time limit of a call is split; a suspension of the process counts as one wait at most
ASSIGNED = 128  # most cells that one assignment frees
EXCHANGES = 8
KICKED = 4  # most random exchanges of pieces before a tabu walk
WALK = 2  # moves of a tabu walk between two checks of its board
LOOKS = 400  # most checks of the board in one tabu walk
# Numbers of tabu moves evaluated, and of table entries (cells x cells) set up for a tabu walk, that take as long as one
# placement of a region re-solve (by `process_time`, 16x16).
MOVES_OF_A_NODE = round(node_equivalents.REGION_NODE / node_equivalents.TABU_MOVE)
SQUARES_OF_A_NODE = 1.15
NODES_OF_AN_EXCHANGE = 14_000
KEPT = (0.4, 0.6)  # least and largest share of the board that `Suffix` keeps
NARROWEST, WIDEST = 16, 16_384  # least and largest width of the beam of `Suffix`, in prefixes
CHILD_NODES = node_equivalents.BEAM_CHILD / node_equivalents.REGION_NODE
LEAST_CELLS = 9  # cells of the smallest board that `Suffix` searches
POPULATION = 200  # prefixes in a population of `Regrow`: few, as it searches many small trees
TREE_COST = 4_000_000.0  # approximate node equivalents of setting up one tree of `Regrow`


class Move(NamedTuple):
    """The result of one call of an operator function."""

    board: Board  # full and legal; the given board if nothing was found
    score: int  # matched inner edges of ``board``
    nodes: int  # cost, in placements of region re-solves in fixed orders


OperatorFunction = Callable[[Puzzle, Board, np.random.Generator, int], Move]
"""A function ``operator(puzzle, board, rng, nodes)`` that returns a changed copy of a board as a `Move`.

``board`` is full and legal, and so is the copy. ``nodes`` is a budget in placements of region re-solves, to be kept
approximately. The score does not fall, unless the operator's docstring says so. ``rng`` is the only state: equal
arguments, with ``rng`` in an equal state, give the same move.
"""


class MoveOperator(Operator):
    """An operator that calls a function; ``nodes`` is the budget of a call, in placements of region re-solves."""

    SAVED = ("nodes_spent",)

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
        member = freed.member
        assert member is not None
        move = self.function(self.puzzle, member.board, rng, freed.nodes or self.nodes)
        self.nodes_spent += int(move.nodes)
        cost = int(move.nodes) * node_equivalents.REGION_NODE
        found = Found(move.board, self.name, member.order, move.score)
        if move.score > member.score:
            return Repaired([found], cost)
        return Repaired([], cost, found if move.board != member.board else None)


def guarded(function: OperatorFunction, nodes: int) -> OperatorFunction:
    """Wrap a user's function: raise InputError if a call returns no move, reports too many nodes, or ends too late.

    The function may have an attribute ``call_seconds``, a time limit of a call in place of `CALL_SECONDS`. The returned
    board is not checked here, as the loop verifies the boards of all operators.
    """
    seconds = float(getattr(function, "call_seconds", CALL_SECONDS))

    def call(puzzle: Puzzle, board: Board, rng: np.random.Generator, budget: int) -> Move:
        try:
            with _ended_after(seconds):
                move = function(puzzle, board, rng, budget)
        except _CallOver:
            raise InputError(f"a call did not end within {seconds:g} s (its call_seconds)") from None
        is_move = isinstance(move, Move) and isinstance(move.board, Board) and isinstance(move.nodes, int | np.integer)
        if not is_move or not 0 <= move.nodes < 2**40:
            raise InputError(f"it returned {type(move).__name__}; expected Move(board, score, nodes)")
        if move.nodes > OVERRUN * nodes:
            raise InputError(f"it took {move.nodes} nodes; expected about {nodes} at most")
        return move

    return call


class _CallOver(BaseException):
    """Raised in a call of an operator that takes too long; ``except Exception`` in the operator does not catch this."""


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Raise `_CallOver` in the body of this context if the body takes over ``seconds``, in whichever thread it runs.

    Compiled code and calls that wait are not interrupted: the error is raised once they have returned to Python.
    """
    thread, lock, over = threading.get_ident(), threading.Lock(), threading.Event()

    def watch() -> None:
        if not any(over.wait(seconds / TICKS) for _ in range(TICKS)):
            with lock:
                if not over.is_set():
                    _raise_in(thread, _CallOver)

    threading.Thread(target=watch, name="lns-operator-watch", daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()
        _raise_in(thread, None)  # take back an error that is still to be raised


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise ``error`` in a thread at its next bytecode; None takes back an error that was not raised yet."""
    raised = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


def mismatched_pairs(puzzle: Puzzle, board: Board) -> IntArray:
    """Return the two cells of each mismatch of a full board, int32 (mismatches, 2), horizontal neighbours first."""
    colours = puzzle.oriented[board.placements].reshape(puzzle.height, puzzle.width, 4)
    cells = np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width)
    across = colours[:, :-1, RIGHT] != colours[:, 1:, LEFT]
    down = colours[:-1, :, DOWN] != colours[1:, :, UP]
    first = np.concatenate([cells[:, :-1][across], cells[:-1][down]])
    second = np.concatenate([cells[:, 1:][across], cells[1:][down]])
    return np.stack([first, second], axis=1).astype(np.int32)


def assign(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """Free many cells of which no two touch, first those with mismatches, and put their pieces back in the best way.

    The permutation of the pieces is optimal (Schaus & Deville 2008, section 4); ties are broken at random.
    """
    most = int(min(ASSIGNED, nodes**0.5))
    damaged = rng.permutation(np.unique(mismatched_pairs(puzzle, board))).tolist()
    blocked = {clue.cell for clue in puzzle.fixed}
    cells: list[int] = []
    for cell in [*damaged, *rng.permutation(puzzle.cells).tolist()]:
        if cell not in blocked and len(cells) < most:
            cells.append(cell)
            blocked |= with_neighbours(puzzle, [cell])
    free = np.array(cells, dtype=np.int32)
    placed = reassign(puzzle, board.placements, free, rng.permutation(board.placements[free] >> 2))
    return _move_to(puzzle, placed, len(cells) ** 2)


def exchange(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """Make up to `EXCHANGES` exchanges of two pieces, none of which lowers the score; the first is at a mismatch."""
    placed, pinned, made = board.placements.copy(), np.zeros(puzzle.cells, dtype=bool), 0
    pinned[[clue.cell for clue in puzzle.fixed]] = True
    for turn in range(max(1, min(EXCHANGES, nodes // NODES_OF_AN_EXCHANGE))):
        near = np.unique(mismatched_pairs(puzzle, board)) if turn == 0 else np.arange(puzzle.cells)
        near = near[~pinned[near]]
        if len(near):
            _exchange(puzzle, placed, int(rng.choice(near)), pinned, rng)
            made += 1
    return _move_to(puzzle, placed, made * NODES_OF_AN_EXCHANGE)


def _move_to(puzzle: Puzzle, placed: IntArray, nodes: int) -> Move:
    return Move(Board(placed, puzzle.width, puzzle.height), matched_edges(puzzle, placed), nodes)


def _exchange(puzzle: Puzzle, placed: IntArray, cell: int, pinned: BoolArray, rng: np.random.Generator) -> None:
    """Exchange the piece on ``cell`` with a random piece not beside it so that the score does not fall, if possible."""
    cells, pieces = np.arange(puzzle.cells, dtype=np.int32), placed >> 2
    # most matches, with the rotation that gives them: of each piece on ``cell``, and of this cell's piece on each cell
    here, rotation_here = placement_matches(puzzle, placed, cells[cell : cell + 1], pieces)
    there, rotation_there = placement_matches(puzzle, placed, cells, pieces[cell : cell + 1])
    across, down = (np.pad(matching, 1).astype(np.int32) for matching in matching_edges(puzzle, placed))
    now = (across[1:-1, :-1] + across[1:-1, 1:] + down[:-1, 1:-1] + down[1:, 1:-1]).ravel()
    keeps = (here[0] + there[:, 0] >= now[cell] + now) & ~pinned
    keeps[list(with_neighbours(puzzle, [cell]))] = False
    if keeps.any():
        other = int(rng.choice(np.flatnonzero(keeps)))
        placed[cell] = pieces[other] * 4 + rotation_here[0, other]
        placed[other] = pieces[cell] * 4 + rotation_there[other, 0]


def perturb(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """Exchange random pieces, then walk by tabu search until the old score is reached; return the best new board seen.

    If the walk does not reach the old score in time, the new board is worse than the given one.
    """
    score = matched_edges(puzzle, board.placements)
    if puzzle.cells > MAX_CELLS or len(puzzle.fixed) == puzzle.cells:
        return Move(board, score, 0)
    tabu = _tabu_search(puzzle)
    tabu.random[:] = rng.integers(2**64, size=4, dtype=np.uint64)
    begun, evaluated_before = int(puzzle.cells**2 / SQUARES_OF_A_NODE), tabu.moves_evaluated
    most = evaluated_before + max(nodes - begun, begun) * MOVES_OF_A_NODE
    tabu.start(board)
    tabu.kick(int(rng.integers(1, KICKED + 1)))
    found, reached = board, -1
    for _ in range(LOOKS):
        if reached >= score or tabu.moves_evaluated >= most:
            break
        tabu.run(WALK, score + 1)
        if tabu.score > reached and tabu.board != board:
            found, reached = tabu.board, tabu.score
    cost = begun + (tabu.moves_evaluated - evaluated_before) // MOVES_OF_A_NODE + 1
    return Move(found, score if reached < 0 else reached, cost)


@lru_cache(maxsize=4)
def _tabu_search(puzzle: Puzzle) -> TabuSearch:
    """Return the tabu search that all walks on a puzzle share: it is set up once, and cleared when a walk starts."""
    return TabuSearch(puzzle, np.zeros(4, dtype=np.uint64))


@dataclass(frozen=True)
class Suffix:
    """The very large neighbourhood: about half of the cells, the first in fill order, stay; a beam refills the others.

    The board is turned first so that as many mismatches as possible lie in the half that is filled again. Half of the
    time the board is mirrored too, so that below the same upper rows the last rows are filled from right to left.
    """

    construct: ConstructParams
    beam: BeamParams

    def __call__(self, puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        """Search for a board of no lower score by a beam, as wide as ``nodes`` allow, from a prefix of the board."""
        score = matched_edges(puzzle, board.placements)
        if puzzle.cells < LEAST_CELLS:
            return Move(board, score, 0)
        share = float(rng.uniform(*KEPT))
        view = self._view(puzzle, board, share, mirrored=bool(rng.integers(2)))
        seen_puzzle, seen_board = puzzle_in_view(puzzle, view), board_in_view(board, view)
        tails = Tails(seen_puzzle, cell_order(seen_puzzle, self.construct), beam_tail_cut(puzzle, self.beam))
        kept = seen_board.placements[tails.order[: min(round(share * puzzle.cells), tails.cut)]]
        paths, made = self._grow(tails, kept, nodes, rng)
        found, spent = self._finish(tails, paths, score, max(nodes - made, nodes // 4))
        after = board if found is None else board_from_view(found, view)
        return Move(after, matched_edges(puzzle, after.placements), made + spent)

    def _grow(self, tails: Tails, kept: IntArray, nodes: int, rng: np.random.Generator) -> tuple[Paths, int]:
        """Return prefixes up to the cut that begin with ``kept``; and the cost in placements of region re-solves."""
        layer = CHILD_NODES * self.beam.fan_out * max(1, tails.cut - len(kept))
        params = replace(self.beam, width=min(max(int(nodes / layer), NARROWEST), WIDEST))
        random = rng.integers(2**64, size=4, dtype=np.uint64)
        tables = _tables(tails.puzzle, self.construct, tails.cut)
        beam = BeamSearch(tails.puzzle, tails.order, tails.cut, tables, params, random)
        beam.resume(kept.astype(np.int16)[None, :], np.zeros(1, dtype=np.int64))  # any value does for a single prefix
        children = beam.run(nodes)  # a limit in children, meant for beams of the least width
        return beam.paths(beam.prefix_count if beam.depth == tails.cut else 0), int(CHILD_NODES * children)

    def _finish(self, tails: Tails, paths: Paths, score: int, nodes: int) -> tuple[Board | None, int]:
        """Return the best full board of at least ``score`` that completes one of ``paths``, or None; and the cost."""
        found, spent, mismatches = None, 0.0, tails.puzzle.max_score - score
        while len(paths) and spent < nodes and mismatches >= 0:
            node_limit = int((nodes - spent) * node_equivalents.REGION_NODE / node_equivalents.TAIL_NODE) + 1
            done = tails.search(paths, mismatches, node_limit, self.construct.tail_nodes)
            spent += node_equivalents.exact_tails(done.tails, done.nodes) / node_equivalents.REGION_NODE
            paths = paths[done.prefixes :]
            if done.board is not None:
                found, mismatches = done.board, done.mismatches - 1
        return found, int(spent)

    def _view(self, puzzle: Puzzle, board: Board, share: float, *, mirrored: bool) -> View:
        """Return the one of four views in which the first ``share`` of the cells filled has the fewest mismatches."""

        def mismatches(view: View) -> int:
            seen_puzzle, seen_board = puzzle_in_view(puzzle, view), board_in_view(board, view)
            prefix = cell_order(seen_puzzle, self.construct)[: round(share * puzzle.cells)]
            return int(np.isin(mismatched_pairs(seen_puzzle, seen_board), prefix).all(axis=1).sum())

        return min((View(turns, mirrored) for turns in range(4)), key=mismatches)


@lru_cache(maxsize=16)
def _tables(puzzle: Puzzle, construct: ConstructParams, cut: int) -> CandidateTables:
    rim, inner = construct.border_colours, construct.inner_colours
    favoured = favoured_colours(puzzle, rim, inner) if construct.quota_scale else ()
    return beam_tables(puzzle, cell_order(puzzle, construct), cut, favoured, random_state(0, 0))


class Regrow(Operator):
    """An operator that frees half of the start board (without one, of the pool's best board) and constructs it anew."""

    name = "regrow"
    SAVED = ("cost",)

    def __init__(self, puzzle: Puzzle, params: Params) -> None:
        self.puzzle, self.cost = puzzle, 0.0
        self.params = replace(params, construct=replace(params.construct, population=POPULATION))
        self._keep(np.zeros(0, dtype=np.int32))

    def _keep(self, kept: IntArray) -> None:
        """Begin a construction with the placements ``kept`` (-1 on a free cell) as clues; an empty array gives none."""
        clues = {Clue(cell, *divmod(oriented, 4)) for cell, oriented in enumerate(kept.tolist()) if oriented >= 0}
        orientation = Orientation.of_island(self.puzzle.with_clues(clues | set(self.puzzle.clues)))
        self.kept, self.construction = kept, Construction(orientation, self.params, seed=0, island=0)

    @property
    def statistics(self) -> Statistics:
        return Statistics(operators={self.name: int(self.cost / node_equivalents.REGION_NODE)})

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        if not pool.members or wanted > self.puzzle.max_score:
            return None
        kept = self.kept if len(self.kept) else self._clean_half(pool.anchor or pool.ranked()[0].board)
        if kept is not None and kept is not self.kept:
            self._keep(kept)
            self.construction.random[:] = rng.integers(2**64, size=4, dtype=np.uint64)
        return None if kept is None else WHOLE_BOARD

    def _clean_half(self, board: Board) -> IntArray | None:
        """Return placements, -1 on the cells (but clues) of a half that touches every mismatch; None if none does."""
        pairs, clued = mismatched_pairs(self.puzzle, board), [clue.cell for clue in self.puzzle.clues]
        cells = np.arange(self.puzzle.cells).reshape(self.puzzle.height, self.puzzle.width)
        for turns in range(4):
            free = np.setdiff1d(np.rot90(cells, turns).ravel()[-(cells.size // 2) :], clued)
            if len(free) and (not len(pairs) or np.isin(pairs, free).any(axis=1).all()):
                kept = board.placements.copy()
                kept[free] = -1
                return kept
        return None

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        trees = sum(arm.restarts for arm in self.construction.bandit.arms)
        found, cost, _ = self.construction.repair(freed, wanted, rng)
        cost += (sum(arm.restarts for arm in self.construction.bandit.arms) - trees) * TREE_COST
        self.cost += cost
        return Repaired([one._replace(origin=self.name) for one in found], cost)

    def state(self) -> State:
        return super().state() | {"kept": self.kept} | joined({"construct": self.construction.state()})

    def restore(self, state: State) -> None:
        super().restore(state)
        self._keep(state["kept"].astype(np.int32))
        self.construction.restore(component(state, "construct"))
