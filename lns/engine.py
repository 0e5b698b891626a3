"""What engines have in common: an island is a loop of steps, counted in nodes, so that time bends no trajectory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns import node_equivalents
from lns_support.errors import InputError

State = dict[str, npt.NDArray[np.generic]]
"""Everything a search needs to go on, as flat arrays by name: what a checkpoint holds and what travels in a task.

Names, dtypes and shapes are those of a new engine's state, except that an array which is empty there may have any
length along its first axis. A state may come from a file that somebody else sent: ``restore`` raises InputError for
values that a kernel could not bear.
"""


MAX_SAVED_COUNTER = 2**62  # of a saved counter: what a session adds to it still fits 64 bits


def saved_counters(saved: npt.ArrayLike) -> list[int]:
    """Saved counters as numbers; raises InputError where one is not 0 to MOST_SAVED."""
    values = np.asarray(saved, dtype=np.int64)
    if values.size and not 0 <= values.min() <= values.max() <= MAX_SAVED_COUNTER:
        raise InputError("a saved counter is out of range")
    return [int(value) for value in values]


class FoundBoard(NamedTuple):
    """A full legal board that an engine made. ``origin``: the part that made it."""

    board: Board
    score: int
    origin: str


def verified_board(puzzle: Puzzle, board: Board, origin: str) -> FoundBoard:
    """The find that ``board`` is, by the independent verifier; AssertionError if it is not full and legal."""
    found = verify(puzzle, board)
    if not found.complete:
        raise AssertionError(f"{origin} returned an illegal board: {'; '.join(found.problems) or 'not full'}")
    return FoundBoard(board, found.score, origin)


def legal_score(puzzle: Puzzle, board: Board) -> int:
    """The verified score of a saved board; InputError unless it is full and legal."""
    found = verify(puzzle, board)
    if not found.complete:
        raise InputError("a saved board is not a full legal board of this puzzle")
    return found.score


OPERATORS = ("block", "band", "cluster", "comb", "path", "donors", "suffix", "assign", "exchange", "perturb")


@dataclass
class Statistics:
    """What was done, counted in the kernels; sums over islands are meaningful."""

    nodes: int = 0  # placements of the constructor
    prefixes: int = 0  # prefixes of the constructor that reached the exact tail
    tail_nodes: int = 0  # placements of those tails
    window_nodes: int = 0  # placements of the region re-solves
    beam_nodes: int = 0  # children that a beam looked at, and placements of its tails
    beam_prefixes: int = 0  # prefixes of beams that reached the exact tail
    arms: int = 0  # quotas whose pieces were measured by populations
    colour_sets: int = 0  # sets of favoured colours, whose quotas were computed, counted from each side
    boards: int = 0  # full boards found
    moves: int = 0  # tabu moves evaluated
    # OPERATORS of the large-neighbourhood search: placements of re-solves, or what takes as long
    block: int = 0
    band: int = 0
    cluster: int = 0
    comb: int = 0
    path: int = 0
    donors: int = 0
    suffix: int = 0
    assign: int = 0
    exchange: int = 0
    perturb: int = 0

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def placements(self) -> int:
        """What `rate` counts: placements, or tabu moves where nothing was placed."""
        placed = self.nodes + self.tail_nodes + self.window_nodes + self.beam_nodes + sum(self.operators.values())
        return placed if self.nodes or not self.moves else self.moves

    @property
    def unit(self) -> str:
        return "nodes" if self.nodes or not self.moves else "moves"

    @property
    def operators(self) -> dict[str, int]:
        """Work of the large-neighbourhood search by operator."""
        return {name: getattr(self, name) for name in OPERATORS}

    def node_equivalents_by_part(self) -> dict[str, int]:
        """What each part took, under the names that finds give as their origin, in nodes of the constructor.

        Moves evaluated for a tabu search of its own.
        """
        parts = {
            "construct": self.nodes + node_equivalents.exact_tails(self.prefixes, self.tail_nodes),
            "beam": self.beam_nodes * node_equivalents.BEAM_CHILD + node_equivalents.exact_tails(self.beam_prefixes, 0),
            "windows": self.window_nodes * node_equivalents.REGION_NODE,
            **{name: nodes * node_equivalents.REGION_NODE for name, nodes in self.operators.items()},
            "tabu": self.moves,
        }
        return {name: int(nodes) for name, nodes in parts.items() if nodes}

    @property
    def node_equivalents(self) -> int:
        """Of all parts together."""
        return sum(self.node_equivalents_by_part().values())

    def summary(self, seconds: float) -> str:
        """For the closing lines."""
        parts = []
        if self.nodes:
            parts.append(f"{self.nodes / 1e6:,.0f} M nodes")
        if self.beam_nodes:
            parts.append(f"{self.beam_nodes / 1e6:,.0f} M nodes of beams")
        if finished := self.prefixes + self.beam_prefixes:
            parts.append(f"{finished:,} prefixes finished exactly")
        if self.window_nodes:
            parts.append(f"{self.window_nodes / 1e6:,.0f} M nodes in regions")
        if operated := sum(self.operators.values()):
            parts.append(f"{operated / 1e6:,.0f} M nodes in neighbourhoods")
        if self.moves:
            parts.append(f"{self.moves / 1e6:,.0f} M tabu moves evaluated")
        return ", ".join([*parts, self.rate(seconds)])

    def rate(self, seconds: float) -> str:
        """Work a second, of all workers together."""
        return f"{self.placements / max(seconds, 1e-9) / 1e6:.1f} M {self.unit}/s"


class Engine(Protocol):
    """What an island runs. ``best`` is a full legal board, or None before the first; ``best_score`` then -1."""

    @property
    def best(self) -> Board | None: ...

    @property
    def best_score(self) -> int: ...

    @property
    def origin(self) -> str: ...

    @property
    def exhausted(self) -> bool: ...

    @property
    def expected_best_score(self) -> float | None:
        """The best score to be expected of all that was searched so far, lucky or not; None where nothing tells it."""

    @property
    def statistics(self) -> Statistics: ...

    def step(self, target: int) -> None:
        """Mostly some tens of milliseconds of work, counted in nodes or moves; a whole beam where one is begun.

        ``target``: the tabu walk stops there; the others look for one edge more than their best.
        """

    def inject_incumbent(self, board: Board, score: int) -> None:
        """Take note of a better board from elsewhere."""

    def pop_boards(self) -> list[FoundBoard]:
        """The boards found since the last call, in the order they were found; those met elsewhere are not finds."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...
