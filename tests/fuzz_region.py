"""Random small windows against a plain search: `python -m tests.fuzz_region [seconds] [seed]`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from exact.region.resolve import RegionResult, Status, resolve
from instances.board import EMPTY, Board
from instances.puzzle import Puzzle
from instances.verify import verify
from tests.instances.small_puzzles import planted


@dataclass(frozen=True)
class Window:
    """A question small enough for the oracle."""

    puzzle: Puzzle
    board: Board
    cells: list[int]
    donors: list[int]


def random_window(seed: int) -> Window:
    """Boards of 2 x 2 to 6 x 5 cells: planted, then jumbled; few colours, so that twins and symmetric pieces occur."""
    rng = np.random.default_rng(seed)
    width, height = (int(n) for n in rng.integers(1, 7, 2))
    if width * height < 3:
        width += 3
    colours = int(rng.integers(1, 9))
    puzzle, board = planted(seed, width, height, colours, int(rng.integers(0, 4)) if rng.random() < 0.5 else 0)
    board = _jumbled(rng, puzzle, board, float(rng.choice([0.0, 0.2, 1.0])))
    count = min(int(rng.integers(3, 10)), puzzle.cells)
    if rng.random() < 0.7:  # a block or a strip
        cells = _block(rng, puzzle, count)
    else:
        cells = rng.permutation(puzzle.cells)[:count].tolist()
    donors: list[int] = []
    if rng.random() < 0.3 and len(cells) < min(9, puzzle.cells):
        others = [cell for cell in range(puzzle.cells) if cell not in cells]
        donors = rng.permutation(others)[: max(1, min(9 - len(cells), 3))].tolist()
    if rng.random() < 0.25:  # a partial board
        placements = board.placements.copy()
        placements[rng.random(puzzle.cells) < 0.2] = EMPTY
        board = Board(placements, width, height)
        cells, donors = cells[:5], donors[:1]
    return Window(puzzle, board, cells, donors)


def _jumbled(rng: np.random.Generator, puzzle: Puzzle, board: Board, share: float) -> Board:
    """Swap pieces of the same kind of cell and turn them back to the rim; clues stay."""
    placements = board.placements.copy()
    clues = {clue.cell for clue in puzzle.clues}
    movable = [cell for cell in range(puzzle.cells) if cell not in clues and rng.random() < share]
    for cell in movable:
        other = int(rng.choice(movable))
        here, there = (_fitting(puzzle, placements[c] >> 2, d) for c, d in ((other, cell), (cell, other)))
        if here and there:
            placements[cell], placements[other] = rng.choice(here), rng.choice(there)
            if cell == other:
                placements[cell] = rng.choice(here)
    return Board(placements, puzzle.width, puzzle.height)


def _fitting(puzzle: Puzzle, piece: int, cell: int) -> list[int]:
    """Oriented pieces of ``piece`` that have their grey exactly on the rim of ``cell``."""
    grey = puzzle.grey_sides(cell)
    return [
        int(piece) * 4 + turn
        for turn in range(4)
        if tuple(colour == 0 for colour in puzzle.oriented[int(piece) * 4 + turn].tolist()) == grey
    ]


def _block(rng: np.random.Generator, puzzle: Puzzle, count: int) -> list[int]:
    tall = int(rng.integers(1, min(count, puzzle.height) + 1))
    wide = min(max(1, count // tall), puzzle.width)
    top, left = int(rng.integers(0, puzzle.height - tall + 1)), int(rng.integers(0, puzzle.width - wide + 1))
    return [(top + i) * puzzle.width + left + j for i in range(tall) for j in range(wide)]


def best_score(window: Window) -> int | None:
    """The oracle: the best score over all refills, by plain depth-first search; None where there is no refill."""
    puzzle = window.puzzle
    placements = window.board.placements.copy()
    clues = {clue.cell: clue.piece * 4 + clue.rotation for clue in puzzle.clues}
    region = sorted({*window.cells, *window.donors})
    free = [cell for cell in region if cell not in clues]
    for cell in region:
        placements[cell] = clues.get(cell, EMPTY)
    reserved = {clue.piece for clue in puzzle.clues}
    pieces = [piece for piece in range(puzzle.cells) if piece not in reserved and not (placements >> 2 == piece).any()]
    fitting = {cell: [o for piece in pieces for o in _fitting(puzzle, piece, cell)] for cell in free}
    quads = puzzle.oriented.tolist()
    step = (-puzzle.width, 1, puzzle.width, -1)
    base = verify(puzzle, Board(placements, puzzle.width, puzzle.height)).score
    joints = 0  # of the free cells, inside the region and to filled cells
    for i, cell in enumerate(free):
        for side in range(4):
            if not puzzle.grey_sides(cell)[side]:
                other = cell + step[side]
                joints += placements[other] >= 0 or other in free[i + 1 :]
    best = joints + 1
    lying = placements.tolist()
    taken: set[int] = set()

    def fill(depth: int, missed: int) -> None:
        nonlocal best
        if missed >= best:
            return
        if depth == len(free):
            best = missed
            return
        cell = free[depth]
        grey = puzzle.grey_sides(cell)
        options = []
        for oriented in fitting[cell]:
            if oriented >> 2 in taken:
                continue
            misses = sum(
                not grey[side]
                and lying[cell + step[side]] >= 0
                and quads[oriented][side] != quads[lying[cell + step[side]]][(side + 2) % 4]
                for side in range(4)
            )
            options.append((misses, oriented))
        for misses, oriented in sorted(options):
            lying[cell] = oriented
            taken.add(oriented >> 2)
            fill(depth + 1, missed + misses)
            taken.remove(oriented >> 2)
        lying[cell] = EMPTY

    fill(0, 0)
    return None if best > joints else base + joints - best


def check(window: Window, expected: int | None, **options: Any) -> RegionResult:
    """Solve and compare; AssertionError where the answer is not the oracle's."""
    answer = resolve(window.puzzle, window.board, window.cells, donors=window.donors, **options)
    judged = verify(window.puzzle, answer.board)
    assert answer.proven, answer
    assert answer.status in (Status.OPTIMAL, Status.IMPROVED_OPTIMAL), answer
    assert answer.score == judged.score == answer.bound == expected, (answer, judged, expected)
    assert (
        answer.improved == (answer.status == Status.IMPROVED_OPTIMAL) or not verify(window.puzzle, window.board).valid
    )
    region = {*window.cells, *window.donors}
    for cell in range(window.puzzle.cells):
        if cell not in region:
            assert answer.board.placements[cell] == window.board.placements[cell], cell
        else:
            assert answer.board.placements[cell] >= 0, cell
    assert not judged.broken, judged.broken
    return answer


def main(seconds: float = 60.0, seed: int = 0) -> int:
    """Check random windows for ``seconds``; returns how many were checked."""
    check(random_window(0), best_score(random_window(0)))  # compiles before the clock starts
    began = time.perf_counter()
    checked = 0
    while time.perf_counter() - began < seconds:
        window = random_window(seed + checked)
        expected = best_score(window)
        try:
            check(window, expected)
            check(window, expected, balance=False)
            check(window, expected, look=False)
            check(window, expected, curves=False)
            check(window, expected, prices=True)
            check(window, expected, prices=True, balance=False, look=False)
            check(window, expected, order="urgent")
            check(window, expected, order="urgent", backjumping=False)
            check(window, expected, order="urgent", balance=False, curves=False)
            check(window, expected, order="auto")
        except BaseException:
            print(f"seed {seed + checked}", file=sys.stderr)
            raise
        checked += 1
    return checked


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(main(*(float(a) for a in arguments[:1]), *(int(a) for a in arguments[1:2])), "windows")
