"""Random small windows against a plain search: `python -m tests.fuzz_region [seconds] [seed]`."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from exact.region.resolve import RegionOptions, RegionResult, RegionStatus, resolve
from instances.board import EMPTY, Board
from instances.puzzle import Clue, Puzzle, canonical, rotate
from instances.verify import verify
from tests.instances.small_puzzles import planted


@dataclass(frozen=True)
class Window:
    """A region small enough for `best_score`."""

    puzzle: Puzzle
    board: Board
    cells: list[int]
    donors: list[int]


def random_window(seed: int) -> Window:
    """A region of a small shuffled board; few colours, so that identical and symmetric pieces occur."""
    rng = np.random.default_rng(seed)
    width, height = (int(n) for n in rng.integers(1, 7, 2))
    if width * height < 3:
        width += 3
    colours = int(rng.integers(1, 9))
    puzzle, board = planted(seed, width, height, colours, int(rng.integers(0, 4)) if rng.random() < 0.5 else 0)
    share = float(rng.choice([0.0, 0.2, 1.0]))
    if rng.random() < 0.3:
        puzzle = _with_clues_of_identical_pieces(rng, puzzle, board)
    clues = {clue.cell for clue in puzzle.clues}
    board = _shuffled(rng, puzzle, board, [c for c in range(puzzle.cells) if c not in clues and rng.random() < share])
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
    if rng.random() < 0.2:  # clues too, as long as they are freed
        board = _shuffled(rng, puzzle, board, [cell for cell in (*cells, *donors) if board.placements[cell] >= 0])
    if rng.random() < 0.7:
        board = renamed(rng, puzzle, board)
    return Window(puzzle, board, cells, donors)


def _with_clues_of_identical_pieces(rng: np.random.Generator, puzzle: Puzzle, board: Board) -> Puzzle:
    """The puzzle with one to three clues of its solution whose pieces have identical copies."""
    count = Counter(canonical(quad) for quad in puzzle.pieces.tolist())
    candidates = [cell for cell, quad in enumerate(board.colours(puzzle).tolist()) if count[canonical(quad)] > 1]
    chosen = rng.permutation(candidates)[: int(rng.integers(1, 4))].tolist()
    return puzzle.with_clues(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in chosen)


def renamed(rng: np.random.Generator, puzzle: Puzzle, board: Board) -> Board:
    """The same colours, with identical pieces and equal rotations exchanged at random, on clue cells too."""
    by_colours: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        by_colours[canonical(quad)].append(piece)
    new_piece = {
        piece: int(other)
        for group in by_colours.values()
        for piece, other in zip(group, rng.permutation(group), strict=True)
    }
    placements = board.placements.copy()
    for cell, oriented in enumerate(board.placements.tolist()):
        if oriented >= 0:
            turns = (puzzle.oriented.reshape(-1, 4, 4)[new_piece[oriented >> 2]] == puzzle.oriented[oriented]).all(
                axis=1
            )
            placements[cell] = new_piece[oriented >> 2] * 4 + rng.choice(np.flatnonzero(turns))
    return Board(placements, puzzle.width, puzzle.height)


def _shuffled(rng: np.random.Generator, puzzle: Puzzle, board: Board, movable: list[int]) -> Board:
    """Swap pieces among the ``movable`` cells where they fit the rim."""
    placements = board.placements.copy()
    for cell in movable:
        other = int(rng.choice(movable))
        here, there = (_fitting(puzzle, placements[c] >> 2, d) for c, d in ((other, cell), (cell, other)))
        if here and there:
            placements[cell], placements[other] = rng.choice(here), rng.choice(there)
            if cell == other:
                placements[cell] = rng.choice(here)
    return Board(placements, puzzle.width, puzzle.height)


def _fitting(puzzle: Puzzle, piece: int, cell: int) -> list[int]:
    """The oriented pieces of ``piece`` that have the rim colour exactly on the rim sides of ``cell``."""
    grey = puzzle.rim_sides(cell)
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
    """The best score of all refills by plain depth-first search; None if there is no refill.

    It works on colours: identical pieces are not distinguished.
    """
    puzzle = window.puzzle
    clues = {clue.cell: clue.piece * 4 + clue.rotation for clue in puzzle.clues}
    placements = window.board.placements.copy()
    region = sorted({*window.cells, *window.donors})
    free = [cell for cell in region if cell not in clues]
    for cell in region:
        placements[cell] = clues.get(cell, EMPTY)
    quads = [tuple(quad) for quad in puzzle.oriented.tolist()]
    shown = [quads[oriented] if oriented >= 0 else None for oriented in placements.tolist()]
    unused = Counter(canonical(quad) for quad in puzzle.pieces.tolist())
    unused.subtract(canonical(quad) for quad in shown if quad is not None)
    unused.subtract(canonical(quads[clue]) for cell, clue in clues.items() if shown[cell] is None)
    assert min(unused.values()) >= 0
    fitting = {
        cell: [
            (kind, quad)
            for kind in unused
            for quad in sorted({rotate(kind, turn) for turn in range(4)})
            if tuple(colour == 0 for colour in quad) == puzzle.rim_sides(cell)
        ]
        for cell in free
    }
    base = verify(puzzle, Board(placements, puzzle.width, puzzle.height)).score
    joints = sum(  # of the free cells, inside the region and to filled cells
        shown[other] is not None or other in free[i + 1 :]
        for i, cell in enumerate(free)
        for _, other in puzzle.neighbours(cell)
    )
    best = joints + 1

    def fill(depth: int, missed: int) -> None:
        nonlocal best
        if missed >= best:
            return
        if depth == len(free):
            best = missed
            return
        cell = free[depth]
        known = [
            (side, quad[side ^ 2]) for side, other in puzzle.neighbours(cell) if (quad := shown[other]) is not None
        ]
        options = [
            (sum(quad[side] != asked for side, asked in known), kind, quad)
            for kind, quad in fitting[cell]
            if unused[kind]
        ]
        for misses, kind, quad in sorted(options):
            shown[cell] = quad
            unused[kind] -= 1
            fill(depth + 1, missed + misses)
            unused[kind] += 1
        shown[cell] = None

    fill(0, 0)
    return None if best > joints else base + joints - best


def check(window: Window, expected: int | None, **options: Any) -> RegionResult:
    """Resolve the window; AssertionError if the result differs from ``expected`` or breaks a rule."""
    result = resolve(window.puzzle, window.board, window.cells, donors=window.donors, options=RegionOptions(**options))
    verification = verify(window.puzzle, result.board)
    assert result.proven, result
    assert result.status in (RegionStatus.OPTIMAL, RegionStatus.IMPROVED_OPTIMAL), result
    assert result.score == verification.score == result.bound == expected, (result, verification, expected)
    assert (
        result.improved == (result.status == RegionStatus.IMPROVED_OPTIMAL)
        or not verify(window.puzzle, window.board).valid
    )
    region = {*window.cells, *window.donors}
    shown, before = (board.colours(window.puzzle) for board in (result.board, window.board))
    for cell in range(window.puzzle.cells):
        if cell not in region:
            assert (shown[cell] == before[cell]).all(), cell
        else:
            assert result.board.placements[cell] >= 0, cell
    assert not verification.violations, verification.violations
    return result


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
            check(window, expected, lookahead=False)
            check(window, expected, curves=False)
            check(window, expected, prices=True)
            check(window, expected, prices=True, balance=False, lookahead=False)
            check(window, expected, order="dynamic")
            check(window, expected, order="dynamic", backjumping=False)
            check(window, expected, order="dynamic", balance=False, curves=False)
            check(window, expected, order="dynamic", preemption=True, instantiation=True)
            check(window, expected, order="dynamic", heuristic="min-expected-gap", balance=False)
            check(window, expected, order="auto")
        except BaseException:
            print(f"seed {seed + checked}", file=sys.stderr)
            raise
        checked += 1
    return checked


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(main(*(float(a) for a in arguments[:1]), *(int(a) for a in arguments[1:2])), "windows")
