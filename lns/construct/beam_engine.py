"""Beam search as an engine: one randomised beam after the other, the last cells of each filled by exact tails."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.assignment import fill
from lns.construct.beam import BeamSearch
from lns.construct.beam_kernel import Paths, search_tails
from lns.construct.candidates import check_colours, is_unclued_piece
from lns.construct.order import padded_positions
from lns.construct.schedule import favoured_colours
from lns.construct.schedule_search import beam_tail_cut, cell_order
from lns.construct.tail import plan_tail
from lns.engine import BaseEngine, State, Statistics, saved_board, saved_counters, saved_placements, verified_board
from lns.node_equivalents import BEAM_CHILD
from lns.params import Params
from lns.rng import RandomState
from lns_support.errors import InputError

MAX_PLACED = 2**25  # most pieces in all prefixes of a layer, as all of them are in a checkpoint
NO_BEAM = -1  # depth between two beams


class BeamEngine(BaseEngine):
    """Runs one beam after the other. Each grows prefixes to the cut; exact tails then complete them.

    A beam ends before the cut if no prefix has a child, mostly because the border pieces of a colour are used up. Its
    deepest prefix is then completed by assignment; the next beam favours inner colours only, the one after it none.

    Parameters
    ----------
    puzzle, params, random
        As for every engine.
    failed_beams : int
        Number of beams in a row that ended before the cut, in an earlier engine of the same search.
    """

    def __init__(self, puzzle: Puzzle, params: Params, random: RandomState, failed_beams: int = 0) -> None:
        check_colours(puzzle)
        if params.beam.width * puzzle.cells > MAX_PLACED:
            raise InputError(
                f"parameter beam.width is {params.beam.width}; "
                f"expected at most {MAX_PLACED // puzzle.cells} on a board of {puzzle.cells} cells"
            )
        super().__init__("beam")
        self.puzzle, self.params = puzzle, params
        self.random = random
        self.expected_best_score = None
        self.prefixes = self.nodes = 0
        self.failed_beams = failed_beams  # beams in a row that ended before the cut
        self._order = cell_order(puzzle, params.construct)
        self._cut = beam_tail_cut(puzzle, params.beam)
        self._tail, self._work = plan_tail(puzzle, self._order, self._cut)
        self._position = padded_positions(self._order, puzzle.width)
        self._beam: BeamSearch | None = None  # the beam that is growing
        self._seed = self.random.copy()  # random state from which the tables of the beam were shuffled
        self._paths: Paths = np.zeros((0, self._cut), dtype=np.int16)  # prefixes of a beam at the cut
        self._next = 0  # the next of these to complete

    @property
    def statistics(self) -> Statistics:
        return Statistics(beam_nodes=self.nodes, beam_prefixes=self.prefixes, boards=self.boards)

    def step(self, target: int, *, wanted: int = 0) -> None:
        """Grow some layers of the beam, or search some of its exact tails, or begin the next beam."""
        if self._next < len(self._paths):
            self._finish()
            return
        beam = self._beam or self._begin()
        self.nodes += beam.run(int(self.params.engine.step_nodes / BEAM_CHILD))
        if beam.depth == self._cut:
            self._paths, self._next, self._beam, self.failed_beams = beam.paths(beam.prefix_count), 0, None, 0
        elif not beam.prefix_count or self.best is None:
            placed = self._placements(beam.paths(1)[0])
            board = fill(self.puzzle, Board(placed, self.puzzle.width, self.puzzle.height))
            self.report(verified_board(self.puzzle, board, "fill"))
            if not beam.prefix_count:
                self._beam, self.failed_beams = None, self.failed_beams + 1

    def complete(self) -> None:
        """Run one whole beam, from the empty board to its last tail."""
        self.step(self.puzzle.max_score)
        while self._beam is not None or self._next < len(self._paths):
            self.step(self.puzzle.max_score)

    def _begin(self) -> BeamSearch:
        self._seed = self.random.copy()
        params = self.params.construct
        rim = params.border_colours if self.failed_beams == 0 and params.quota_scale else 0
        inner = params.inner_colours if self.failed_beams <= 1 and params.quota_scale else 0
        favoured = favoured_colours(self.puzzle, rim, inner)
        self._beam = BeamSearch(self.puzzle, self._order, self._cut, favoured, self.params.beam, self.random)
        return self._beam

    def _finish(self) -> None:
        """Search the exact tails of the next prefixes at the cut, until one makes a board of the wanted score."""
        most, puzzle = self.puzzle.max_score, self.puzzle
        wanted = min(self.best_score + 1, self.params.engine.search_floor or most + 1)
        done, searched, nodes, mismatches = search_tails(
            self._paths, self._next, self._position, puzzle.width + 1, self._tail, self._work,
            most - wanted, self.params.engine.step_nodes, self.params.construct.tail_nodes,
        )  # fmt: skip
        self._next += done
        self.prefixes += searched
        self.nodes += nodes
        if mismatches >= 0:
            placed = self._placements(self._paths[self._next - 1])
            placed[self._order[self._cut :]] = self._work.found
            self.report(verified_board(puzzle, Board(placed, puzzle.width, puzzle.height), "beam"))

    def _placements(self, path: npt.NDArray[np.int16]) -> IntArray:
        placed = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placed[self._order[: len(path)]] = path
        return placed

    def _check(self, paths: Paths) -> None:
        """Check saved prefixes, since kernels do not: known pieces, each at most once, the rim and the clues kept.

        Raises InputError if they fail a check.
        """
        puzzle, order = self.puzzle, self._order[: paths.shape[1]]
        if paths.size and (paths.min() < 0 or paths.max() >= 4 * puzzle.cells):
            raise InputError("checkpoint: a prefix of the beam has a piece that the puzzle does not have")
        pieces = np.sort(paths >> 2, axis=1)
        if (pieces[:, 1:] == pieces[:, :-1]).any():
            raise InputError("checkpoint: a prefix of the beam has a piece twice")
        clues = {clue.cell: clue.oriented for clue in puzzle.clues}
        unclued = is_unclued_piece(puzzle)
        for depth, cell in enumerate(order.tolist()):
            oriented = paths[:, depth]
            fits = oriented == clues[cell] if cell in clues else unclued[oriented >> 2]
            if not fits.all() or ((puzzle.oriented[oriented] == 0) != np.array(puzzle.rim_sides(cell))).any():
                raise InputError(
                    "checkpoint: a prefix of the beam has another piece than a clue wants, or breaks the rim"
                )

    # -- state: the prefixes of the current layer ---------------------------------------------------------------------

    def state(self) -> State:
        paths, values, depth = self._paths[self._next :], np.zeros(0, dtype=np.int64), NO_BEAM
        if self._beam is not None:
            depth = self._beam.depth
            paths, values = self._beam.paths(self._beam.prefix_count), self._beam.values.copy()
        elif len(paths):
            depth = self._cut
        padded_paths = np.full((len(paths), self.puzzle.cells), -1, dtype=np.int16)
        padded_paths[:, : paths.shape[1]] = paths
        return {
            "best": saved_placements(self.best),
            "counters": np.array([self.best_score, self.boards, self.prefixes, self.nodes, self.failed_beams, depth]),
            "random": self.random.copy(),
            "seed": self._seed.copy(),
            "paths": padded_paths,
            "values": values,
        }

    def restore(self, state: State) -> None:
        """Continue from a saved state. Raises InputError if it does not fit this puzzle and these parameters."""
        self.best, self.best_score = saved_board(self.puzzle, state["best"], int(state["counters"][0]))
        depth = int(state["counters"][-1])
        self.boards, self.prefixes, self.nodes, self.failed_beams = saved_counters(state["counters"][1:-1])
        paths, values = state["paths"].astype(np.int16), state["values"].astype(np.int64)
        if not NO_BEAM <= depth <= self._cut or (depth == NO_BEAM) != (len(paths) == 0):
            raise InputError(
                f"checkpoint: a beam of {len(paths)} prefixes at depth {depth}; expected a depth of 0 to {self._cut}"
            )
        if len(paths) > self.params.beam.width or len(values) != len(paths) * (NO_BEAM < depth < self._cut):
            raise InputError(
                f"checkpoint: a beam of {len(paths)} prefixes and {len(values)} values; "
                f"expected at most {self.params.beam.width} prefixes, each with its value"
            )
        paths = np.ascontiguousarray(paths[:, : max(depth, 0)])
        self._check(paths)
        self._beam, self._paths, self._next = None, paths, 0
        if len(values):
            self.random[:] = state["seed"]
            self._begin().resume(paths, values)
            self._paths = paths[:0]
        self.random[:] = state["random"]
        self._seed = state["seed"].astype(np.uint64)
