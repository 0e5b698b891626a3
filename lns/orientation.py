"""Any engine on the board as it is filled best: turned on the way in, turned back on the way out."""

from __future__ import annotations

from collections.abc import Callable

from instances.board import Board
from instances.puzzle import Puzzle
from instances.symmetry import View, rotate_board, rotate_puzzle
from lns.engine import Engine, FoundBoard, State, Statistics, verified_board

LATER = 2  # rows that a clue may be met later, on average, from a side that is good all the same


def best_quarter_turns(puzzle: Puzzle, island: int = 0) -> int:
    """Clockwise quarter turns after which filling row by row from the top makes the best boards.

    With clues no two turns lead to the same boards, so each ``island`` begins with the next of the good ones.
    """
    good = _good_turns(puzzle)
    return good[island % len(good)]


def island_views(puzzle: Puzzle, island: int = 0) -> tuple[View, ...]:
    """From where the board may be seen that ``island`` turned by its `best_quarter_turns`: as it is, then from the
    other sides.

    Filled from each of them it gets other boards, as the trees of the best prefixes are soon searched
    (`lns.construct.novelty`): with clues from each good side, and in the mirror, where the same upper rows are laid,
    but
    the last ones, with all breaks, are filled from the other end; that is no difference in a single column.
    """
    good, turns = _good_turns(puzzle), best_quarter_turns(puzzle, island)
    first = good.index(turns)
    order = [(turn - turns) % 4 for turn in good[first:] + good[:first]]
    mirrors = (False, True) if min(puzzle.width, puzzle.height) > 1 else (False,)
    return tuple(View(turn, mirrored) for mirrored in mirrors for turn in order)


def _good_turns(puzzle: Puzzle) -> list[int]:
    """The best first.

    Rows are as short as can be, since fewer edges are open then between what is filled and what is not. Of the turns
    that allow it the one that meets the clues soonest is taken: a clue cuts the search down by a factor, and what was
    made before it pays for that. Others are good if they meet the clues nearly as soon; without clues all are one.
    """
    shortest = min(puzzle.width, puzzle.height)
    met = {}  # the cells of the clues, summed, by turns
    for turns in range(4):
        turned = rotate_puzzle(puzzle, turns)
        if turned.width == shortest:
            met[turns] = sum(clue.cell for clue in turned.clues)
    near = min(met.values()) + LATER * shortest * len(puzzle.clues)
    good = sorted((turns for turns in met if met[turns] <= near), key=met.__getitem__)
    return good if puzzle.clues else good[:1]


def prefix_partition(island: int, islands: int) -> tuple[int, int]:
    """(place of the ``island`` among those that share all prefixes out, how many these are): see `Search.restore`."""
    return island, max(islands, island + 1)


class OrientedEngine:
    """``make`` makes the engine for the turned puzzle; outside it is one for ``puzzle``. Its state is the engine's."""

    def __init__(self, puzzle: Puzzle, turns: int, make: Callable[[Puzzle], Engine]) -> None:
        self.puzzle, self.turns = puzzle, turns
        self.engine = make(rotate_puzzle(puzzle, turns))

    @property
    def best(self) -> Board | None:
        return None if self.engine.best is None else rotate_board(self.engine.best, -self.turns)

    @property
    def best_score(self) -> int:
        return self.engine.best_score

    @property
    def origin(self) -> str:
        return self.engine.origin

    @property
    def exhausted(self) -> bool:
        return self.engine.exhausted

    @property
    def expected_best_score(self) -> float | None:
        return self.engine.expected_best_score

    @property
    def statistics(self) -> Statistics:
        return self.engine.statistics

    def step(self, target: int) -> None:
        self.engine.step(target)

    def inject_incumbent(self, board: Board, score: int) -> None:
        self.engine.inject_incumbent(rotate_board(board, self.turns), score)

    def pop_boards(self) -> list[FoundBoard]:
        """The finds, judged once more as they lie on the board of ``puzzle``."""
        return [
            verified_board(self.puzzle, rotate_board(find.board, -self.turns), find.origin)
            for find in self.engine.pop_boards()
        ]

    def state(self) -> State:
        return self.engine.state()

    def restore(self, state: State) -> None:
        self.engine.restore(state)
