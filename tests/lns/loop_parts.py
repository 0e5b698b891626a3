"""Parts that the tests of the loop share: boards with a little damage, and engines that are interrupted."""

from collections.abc import Callable

import numpy as np

from lns.engine import verified_board
from lns.instances.board import Board
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.loop.construction import Beam
from lns.loop.pool import WHOLE_BOARD, Pool
from lns.loop.search_loop import SearchLoop
from lns.orientation import Orientation
from lns.params import from_dict
from tests.instances.small_puzzles import planted, with_mates

REFUSED = [
    "tetravex:4x3:3", "unframed:3x4:4", "triangle:3:3", "diamond:3:3", "tetravex:1x5:2", "diamond:2:2", "rim:4x4:3",
    "rim:5x1:2", "mates rim:3x4:3", "mates tetravex:4x3:3", "mates diamond:3:3",
]  # fmt: skip
"""Families that the construction cannot take: without a frame, without turns, with holes, with a rim of a colour."""
RULES = [*REFUSED, "mates uniform:4x4:3", "mates uniform:5x4:2"]


def of_rules(text: str, seed: int) -> tuple[Puzzle, Board]:
    """A puzzle and its solution: of a family, or 'rim:WIDTHxHEIGHT:COLOURS'; 'mates' before it gives colours mates."""
    kind = text.removeprefix("mates ")
    if kind.startswith("rim:"):
        width, height, colours = (int(number) for number in kind[4:].replace("x", ":").split(":"))
        puzzle, solution = planted(seed, width, height, colours, framed=False, rim=1)
    else:
        puzzle, solution = family(kind)(seed).puzzle, family(kind)(seed).solution
    return (puzzle if kind == text else with_mates(puzzle, solution, seed)), solution


def damaged(seed: int, width: int = 6, height: int = 6, *, swaps: int = 1, colours: int = 7) -> tuple[Puzzle, Board]:
    """A planted puzzle, and its solution with so many pairs of inner pieces exchanged."""
    puzzle, solution = planted(seed, width, height, colours)
    return puzzle, exchanged(puzzle, solution, np.random.default_rng(seed), swaps)


def exchanged(puzzle: Puzzle, board: Board, rng: np.random.Generator, swaps: int = 1) -> Board:
    """A copy of a board with some pairs of inner pieces exchanged; no match is looked for."""
    placed, (width, height) = board.placements.copy(), (puzzle.width, puzzle.height)
    inner = [row * width + column for row in range(1, height - 1) for column in range(1, width - 1)]
    for _ in range(swaps):
        one, other = rng.choice(inner, 2, replace=False)
        placed[[one, other]] = placed[[other, one]]
    return Board(placed, width, height)


def good_board(puzzle: Puzzle) -> Board:
    """A beam's: damaged in a few places only."""
    beam = Beam(Orientation.of_island(puzzle), from_dict({"beam": {"width": 100}}), 1, 0, whole=True)
    return beam.repair(WHOLE_BOARD, 0, np.random.default_rng(1)).boards[-1].board


def pool_with(puzzle: Puzzle, *boards: Board) -> Pool:
    pool = Pool(puzzle, 64, 10**9)
    pool.spent = 1e12  # late in a run: all nodes may be used
    for board in boards:
        pool.offer(verified_board(puzzle, board, "start"), 0, order=np.arange(puzzle.cells, dtype=np.int32))
    return pool


def steps(search: SearchLoop, count: int, *, wanted: int = 0) -> SearchLoop:
    for _ in range(count):
        search.step(wanted=wanted)
    return search


def assert_same_state(one: SearchLoop, other: SearchLoop) -> None:
    state = other.state()
    for name, value in one.state().items():
        assert np.array_equal(value, state[name]), name
    assert one.best == other.best and one.statistics == other.statistics


def interrupted(make: Callable[[int], SearchLoop], times: int, go_on: Callable[[SearchLoop], object]) -> SearchLoop:
    """An engine that was asked to go on so many times, and is the same as one that was saved each time before.

    ``make`` makes one from a seed.
    """
    whole, part = make(1), make(1)
    for number in range(times):
        state, part = part.state(), make(2 + number)
        part.restore({name: value.copy() for name, value in state.items()})
        go_on(whole)
        go_on(part)
        assert_same_state(whole, part)
    return whole
