"""Check by a SAT solver, not by the region searches, the claim that no refill of a region gives more than some score.

Nothing of `lns.exact.region` is used. The formula has a variable for each way to lay a piece on a cell (identical
pieces share it), for each colour at each side of a cell, and for the mismatch at each edge inside the region. A
sequential counter (Sinz 2005) bounds the number of mismatches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lns.exact.child_process import Emit, ExitReason, run_in_process
from lns.instances.board import EMPTY, Board
from lns.instances.piece_set import normalise_clue_pieces
from lns.instances.puzzle import Puzzle, canonical
from lns.instances.verify import verify

SOLVER = "glucose42"
"""The SAT solver of the check, by its name in python-sat."""


class CheckAnswer(StrEnum):
    """Result of the check of a claim that no refill gives the board more than a given score."""

    PROVED = "proved"
    OPEN = "open"  # undecided: the time was over, or the check was interrupted
    CONTRADICTED = "contradicted"  # a refill with more than that score was found


@dataclass(frozen=True)
class Check:
    """The result of `check_refills`."""

    answer: CheckAnswer
    seconds: float  # elapsed time of the check
    board: Board | None = None  # a verified board that contradicts the claim
    interrupted: bool = False  # whether Ctrl-C ended the check


def check_refills(puzzle: Puzzle, board: Board, cells: Collection[int], score: int, seconds: float | None) -> Check:
    """Check whether some legal refill of the region ``cells`` gives the whole board more than ``score``.

    Only ``cells`` may change; each of them gets a piece, a cell with a clue gets its clue. ``board`` may break rules
    inside the region. ``score`` is the claimed maximum, and ``seconds`` a limit of elapsed time, None for no limit.

    Raises RuntimeError if the solver's board does not verify, and ChildProcessError if the solver crashes.
    """
    found: list[list[int] | None] = []
    ended = run_in_process(search_refill, puzzle, board, list(cells), score, receive=found.append, seconds=seconds)
    if not found:
        return Check(CheckAnswer.OPEN, ended.seconds, interrupted=ended.reason is ExitReason.INTERRUPTED)
    if found[0] is None:
        return Check(CheckAnswer.PROVED, ended.seconds)
    better = Board(np.array(found[0], dtype=np.int32), puzzle.width, puzzle.height)
    verification = verify(puzzle, better)
    changed = (better.without_blanks(puzzle).colours(puzzle) != board.without_blanks(puzzle).colours(puzzle)).any(1)
    if verification.violations or verification.score <= score or {*np.flatnonzero(changed).tolist()} - {*cells}:
        raise RuntimeError(f"{SOLVER} found a refill that does not verify: {verification}")
    return Check(CheckAnswer.CONTRADICTED, ended.seconds, better)


def search_refill(emit: Emit, puzzle: Puzzle, board: Board, cells: list[int], score: int) -> None:
    """Send, from a child process, the placements of a board with more than ``score``, or None if there is none."""
    from pysat.solvers import Solver

    model = Refills(puzzle, board, cells)
    if not model.demand(score + 1):
        emit(None)
        return
    with Solver(name=SOLVER, bootstrap_with=model.clauses) as solver:
        emit(model.placements(solver.get_model()) if solver.solve() else None)


class Refills:
    """A formula whose models are the legal refills of a region; ``clauses`` lists its clauses as DIMACS literals."""

    def __init__(self, puzzle: Puzzle, board: Board, cells: Collection[int]) -> None:
        self.puzzle, self.clauses, self._variables = puzzle, list[list[int]](), 0
        clues = {clue.cell: clue.oriented for clue in puzzle.fixed}
        free = sorted({*cells} - clues.keys())
        outside, given = normalise_clue_pieces(puzzle, board, cells), [cell for cell in clues if cell in cells]
        outside = outside.with_pieces(free, EMPTY).with_pieces(given, [clues[cell] for cell in given])
        self._outside = outside.placements
        self._score_outside = verify(puzzle, outside).score
        used = {*(self._outside >> 2).tolist(), *(oriented >> 2 for oriented in clues.values())}
        self._pieces: dict[tuple[int, ...], list[int]] = defaultdict(list)  # colours, up to rotation -> free pieces
        for piece in sorted({*range(puzzle.piece_count)} - used):
            quad = puzzle.pieces[piece].tolist()
            self._pieces[canonical(quad) if puzzle.turns else tuple(quad)].append(piece)
        # variable of a placement -> cell, key of its pieces in ``_pieces``, colours by side of the cell
        self._laid: dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]] = {}
        sides = self._place(free)
        self._missed = self._join(free, sides, outside.colours(puzzle))

    def demand(self, score: int) -> bool:
        """Add clauses that demand at least ``score`` of the whole board; return False if it is out of reach."""
        most = self._score_outside + len(self._missed) - score  # most edges of the region that may mismatch
        if most >= 0:
            self._at_most(self._missed, most)
        return most >= 0

    def placements(self, model: list[int]) -> list[int]:
        """Return the oriented piece of each cell of the whole board that a model describes."""
        left = {look: list(pieces) for look, pieces in self._pieces.items()}
        placements: list[int] = self._outside.tolist()
        for cell, look, turned in (self._laid[variable] for variable in model if variable in self._laid):
            piece = left[look].pop()
            turns = [tuple(quad) for quad in self.puzzle.turned[4 * piece : 4 * piece + 4].tolist()]
            placements[cell] = 4 * piece + turns.index(turned)
        return placements

    def _place(self, free: list[int]) -> dict[tuple[int, int], dict[int, int]]:
        """Add clauses that lay one piece on each cell, no piece twice; return (cell, side) -> colour -> variable."""
        sides: dict[tuple[int, int], dict[int, int]] = {}
        by_look: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for cell in free:
            here, fits = dict[int, tuple[int, ...]](), self.puzzle.fits(cell)  # here: variable of placement -> colours
            for look, pieces in self._pieces.items():
                ways = range(4 * pieces[0], 4 * pieces[0] + 4)
                for turned in sorted({tuple(self.puzzle.turned[way].tolist()) for way in ways if fits[way]}):
                    laid = self._new()
                    self._laid[laid], here[laid] = (cell, look, turned), turned
                    by_look[look].append(laid)
            self._exactly_one([*here])
            for side in range(4):
                shows: dict[int, list[int]] = defaultdict(list)
                for laid, colours in here.items():
                    shows[colours[side]].append(laid)
                sides[cell, side] = {colour: self._any_of(those) for colour, those in shows.items()}
                self._exactly_one([*sides[cell, side].values()])
        exhausted = sum(len(self._pieces[look]) for look in by_look) == len(free)
        for look, those in by_look.items():
            self._at_most(those, len(self._pieces[look]))
            if exhausted:  # all free pieces are needed: a redundant clause that says so helps the solver
                self.clauses.append(those)
        return sides

    def _join(self, free: list[int], sides: dict[tuple[int, int], dict[int, int]], shown: np.ndarray) -> list[int]:
        """Add clauses for the edges of the region; return, for each, a literal that is true if the edge mismatches.

        ``shown`` has the colours of the pieces outside, by cell and side. The literals are sorted along the longer side
        of the region. So the counter of `demand` tells how many edges mismatch on one side of each line across the
        region, which makes proofs short.
        """
        all_missed, mate = list[tuple[int, int]](), self.puzzle.mate.tolist()
        row_and_column = np.divmod(np.arange(self.puzzle.cells), self.puzzle.width)
        along = max(row_and_column, key=lambda number: len(np.unique(number[free]))).tolist()
        for cell in free:
            for side, other in self.puzzle.neighbours(cell):
                here, there = sides[cell, side], sides.get((other, side ^ 2))
                place = along[cell] + along[other]
                if there is None and shown[other, 0] >= 0:
                    all_missed.append((place, -(here.get(mate[shown[other, side ^ 2]]) or self._any_of([]))))
                elif there is not None and other > cell:
                    all_missed.append((place, missed := self._new()))
                    for first, second in ((here, there), (there, here)):
                        for colour, variable in first.items():
                            those = [second[mate[colour]]] if mate[colour] in second else []
                            self.clauses.append([-variable, missed, *those])
        return [missed for _, missed in sorted(all_missed, key=lambda joint: joint[0])]

    def _new(self) -> int:
        self._variables += 1
        return self._variables

    def _any_of(self, literals: list[int]) -> int:
        """Return a new variable that is true if and only if one of the literals is true."""
        some = self._new()
        self.clauses += [[-literal, some] for literal in literals] + [[-some, *literals]]
        return some

    def _exactly_one(self, literals: list[int]) -> None:
        self.clauses.append(literals)
        self._at_most(literals, 1)

    def _at_most(self, literals: list[int], bound: int) -> None:
        from pysat.card import CardEnc, EncType

        if bound < len(literals):
            encoded = CardEnc.atmost(literals, bound, top_id=self._variables, encoding=EncType.seqcounter)
            self._variables = max(self._variables, encoded.nv)
            self.clauses += encoded.clauses
