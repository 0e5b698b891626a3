"""Beam search as an engine: one randomised beam after the other, the last cells of each filled by exact tails."""

from __future__ import annotations

import numpy as np

from lns.assignment import fill
from lns.construct.beam import BeamSearch
from lns.construct.beam_kernel import Paths, search_tails
from lns.construct.candidates import check_colours, is_unclued_piece
from lns.construct.order import padded_positions
from lns.construct.schedule import favoured_colours
from lns.construct.schedule_search import beam_tail_cut, cell_order
from lns.construct.tail import plan_tail
from lns.engine import Engine, State, Statistics, saved_board, saved_counters, saved_placements, verified_board
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import GREY, IntArray, Puzzle
from lns.node_equivalents import BEAM_CHILD
from lns.params import Params
from lns.rng import RandomState

MAX_PLACED = 2**25  # most pieces in all prefixes of a layer, as all of them are in a checkpoint
NO_BEAM = -1  # depth between two beams


class BeamEngine(Engine):
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
        self.puzzle, self.params, self.random = puzzle, params, random
        self.prefixes = self.nodes = 0
        self.failed_beams = failed_beams  # beams in a row that ended before the cut
        self._order = cell_order(puzzle, params.construct)
        self._cut = beam_tail_cut(puzzle, params.beam)
        self._tail, self._work = plan_tail(puzzle, self._order, self._cut)
        self._position = padded_positions(self._order, puzzle.width)
        self._beam: BeamSearch | None = None  # the beam that is growing
        self._seed = self.random.copy()  # random state from which the tables of the beam were shuffled
        self._paths: Paths = np.zeros((0, self._cut), dtype=np.int16)  # prefixes at the cut that are not completed yet

    @property
    def statistics(self) -> Statistics:
        return Statistics(beam_nodes=self.nodes, beam_prefixes=self.prefixes, boards=self.boards)

    def step(self, target: int, *, wanted: int = 0) -> None:
        """Grow some layers of the beam, or search some of its exact tails, or begin the next beam."""
        if len(self._paths):
            self._finish()
            return
        beam = self._beam or self._begin()
        self.nodes += beam.run(int(self.params.engine.step_nodes / BEAM_CHILD))
        if beam.depth == self._cut:
            self._paths, self._beam, self.failed_beams = beam.paths(beam.prefix_count), None, 0
        elif not beam.prefix_count or self.best is None:
            board = fill(self.puzzle, self._board(beam.paths(1)[0]))
            self.report(verified_board(self.puzzle, board, "fill"))
            if not beam.prefix_count:
                self._beam, self.failed_beams = None, self.failed_beams + 1

    def complete(self) -> None:
        """Run one whole beam, from the empty board to its last tail."""
        self.step(self.puzzle.max_score)
        while self._beam is not None or len(self._paths):
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
            self._paths, 0, self._position, puzzle.width + 1, self._tail, self._work,
            most - wanted, self.params.engine.step_nodes, self.params.construct.tail_nodes,
        )  # fmt: skip
        last, self._paths = self._paths[:done], self._paths[done:]
        self.prefixes += searched
        self.nodes += nodes
        if mismatches >= 0:
            placed = np.append(last[-1], self._work.found)
            self.report(verified_board(puzzle, self._board(placed), "beam"))

    def _board(self, placed: IntArray) -> Board:
        """The board with the pieces ``placed``, by depth."""
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placements[self._order[: len(placed)]] = placed
        return Board(placements, self.puzzle.width, self.puzzle.height)

    # -- state: the prefixes of the current layer ---------------------------------------------------------------------

    def state(self) -> State:
        paths, values, depth = self._paths, np.zeros(0, dtype=np.int64), self._cut if len(self._paths) else NO_BEAM
        if self._beam is not None:
            paths, values, depth = self._beam.paths(self._beam.prefix_count), self._beam.values.copy(), self._beam.depth
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
        paths = np.ascontiguousarray(paths[:, : max(depth, 0)])
        if (
            not NO_BEAM <= depth <= self._cut
            or (depth == NO_BEAM) != (len(paths) == 0)
            or len(paths) > self.params.beam.width
            or len(values) != len(paths) * (NO_BEAM < depth < self._cut)
            or not self._are_legal(paths)
        ):
            raise InputError("checkpoint: the saved beam does not fit this puzzle and these parameters")
        self._beam, self._paths = None, paths
        if len(values):
            self.random[:] = state["seed"]
            self._begin().resume(paths, values)
            self._paths = paths[:0]
        self.random[:] = state["random"]
        self._seed = state["seed"].astype(np.uint64)

    def _are_legal(self, paths: Paths) -> bool:
        """Whether saved prefixes hold known pieces, each at most once, and keep the rim and the clues."""
        puzzle, unclued = self.puzzle, is_unclued_piece(self.puzzle)
        if paths.size and not 0 <= paths.min() <= paths.max() < 4 * puzzle.cells:
            return False
        pieces = np.sort(paths >> 2, axis=1)
        if (pieces[:, 1:] == pieces[:, :-1]).any():
            return False
        clues = {clue.cell: clue.oriented for clue in puzzle.clues}
        for cell, oriented in zip(self._order.tolist(), paths.T, strict=False):
            fits = oriented == clues[cell] if cell in clues else unclued[oriented >> 2]
            if not fits.all() or ((puzzle.oriented[oriented] == GREY) != puzzle.rim_sides(cell)).any():
                return False
        return True
