"""Random small regions against a plain search: ``python -m tests.fuzz_region [QUESTIONS [SEED [UNUSUAL]]]``.

A question is a region of a random board under random rules (`of_any_rules`), and options: every order, part and
heuristic, with what starts only in long searches from the first thousand nodes on. UNUSUAL: the share of puzzles with
mates, and of those with a rim of an ordinary colour. The answers come from `best_score`, which imports nothing of the
region search.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress, islice
from typing import Any

import numpy as np

from lns.exact.colorpairs.options import Heuristic
from lns.exact.region.options import HALVED_FROM, ORDERS, RegionOptions
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve
from lns.instances.board import EMPTY, Board
from lns.instances.errors import BoardError
from lns.instances.puzzle import Clue, Puzzle, canonical, rotate
from lns.instances.verify import verify
from tests.instances.small_puzzles import of_any_rules, rules_of

HEURISTICS = ["dom-deg", *(heuristic.label for heuristic in Heuristic)]
LATER = [0, 10, 100, 1000]  # nodes after which parts of long searches begin
QUESTIONS_OF_A_WINDOW = 10


@dataclass(frozen=True)
class Window:
    """A region small enough for `best_score`."""

    puzzle: Puzzle
    board: Board
    cells: list[int]

    @cached_property
    def expected(self) -> int | None:
        """`best_score` of the window."""
        return best_score(self)


def random_window(seed: int, unusual: float = 0.0) -> Window:
    """A region of a small shuffled board; few colours, so that identical and symmetric pieces occur."""
    rng = np.random.default_rng(seed)
    puzzle, board = of_any_rules(seed, unusual=unusual)
    share = float(rng.choice([0.0, 0.2, 1.0]))
    if rng.random() < 0.3:
        puzzle = _with_clues_of_identical_pieces(rng, puzzle, board)
    clues = {clue.cell for clue in puzzle.fixed}
    board = _shuffled(rng, puzzle, board, [c for c in range(puzzle.cells) if c not in clues and rng.random() < share])
    count = min(int(rng.integers(3, 10)), puzzle.cells)
    if rng.random() < 0.15 and max(puzzle.width, puzzle.height) >= 4 and min(puzzle.width, puzzle.height) >= 2:
        cells = _band(rng, puzzle)
    elif rng.random() < 0.7:  # a block or a strip
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
        board = Board(placements, puzzle.width, puzzle.height).with_blanks(puzzle)
        cells, donors = cells[:5], donors[:1]
    if rng.random() < 0.2:  # clues too, as long as they are freed
        freed = [cell for cell in cells + donors if board.placements[cell] >= 0 and cell not in puzzle.holes]
        board = _shuffled(rng, puzzle, board, freed)
    if rng.random() < 0.7:
        board = renamed(rng, puzzle, board)
    return Window(puzzle, board, cells + donors)


def kind_of(puzzle: Puzzle, quad: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    """What identical pieces have in common: their colours, turned as far as pieces may be turned."""
    return canonical(quad) if puzzle.turns else tuple(quad)


def _with_clues_of_identical_pieces(rng: np.random.Generator, puzzle: Puzzle, board: Board) -> Puzzle:
    """The puzzle with one to three clues of its solution whose pieces have identical copies."""
    count = Counter(kind_of(puzzle, quad) for quad in puzzle.pieces.tolist())
    cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
    candidates = [c for c in cells if count[kind_of(puzzle, puzzle.pieces[board.placements[c] >> 2].tolist())] > 1]
    chosen = rng.permutation(candidates)[: int(rng.integers(1, 4))].tolist()
    return puzzle.with_clues(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in chosen)


def renamed(rng: np.random.Generator, puzzle: Puzzle, board: Board) -> Board:
    """The same colours, with identical pieces and equal rotations exchanged at random, on clue cells too."""
    by_colours: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        if piece < puzzle.piece_count:
            by_colours[kind_of(puzzle, quad)].append(piece)
    new_piece = {
        piece: int(other)
        for group in by_colours.values()
        for piece, other in zip(group, rng.permutation(group), strict=True)
    }
    placements = board.placements.copy()
    for cell, oriented in enumerate(board.placements.tolist()):
        if oriented >> 2 in new_piece:
            piece = new_piece[oriented >> 2]
            same = (puzzle.oriented.reshape(-1, 4, 4)[piece] == puzzle.oriented[oriented]).all(axis=1)
            placements[cell] = piece * 4 + rng.choice(np.flatnonzero(same))
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
    return [4 * int(piece) + turn for turn in np.flatnonzero(puzzle.fits(cell).reshape(-1, 4)[piece])]


def _rectangle(rng: np.random.Generator, puzzle: Puzzle, tall: int, wide: int) -> list[int]:
    top, left = int(rng.integers(0, puzzle.height - tall + 1)), int(rng.integers(0, puzzle.width - wide + 1))
    return [(top + i) * puzzle.width + left + j for i in range(tall) for j in range(wide)]


def _block(rng: np.random.Generator, puzzle: Puzzle, count: int) -> list[int]:
    tall = int(rng.integers(1, min(count, puzzle.height) + 1))
    return _rectangle(rng, puzzle, tall, min(max(1, count // tall), puzzle.width))


def _band(rng: np.random.Generator, puzzle: Puzzle) -> list[int]:
    """Two rows or columns of four or five cells: cyclic spend curves are for bands."""
    wide = puzzle.width >= 4 and (puzzle.height < 4 or rng.random() < 0.5)
    length = min(puzzle.width if wide else puzzle.height, int(rng.integers(4, 6)))
    return _rectangle(rng, puzzle, *((2, length) if wide else (length, 2)))


def best_score(window: Window) -> int | None:
    """The best score of all refills by plain depth-first search; None if there is no refill.

    It works on colours: identical pieces are not distinguished.
    """
    puzzle = window.puzzle
    clues = {clue.cell: clue.piece * 4 + clue.rotation for clue in puzzle.fixed}
    placements = window.board.with_blanks(puzzle).placements.copy()
    region = sorted(window.cells)
    free = [cell for cell in region if cell not in clues]
    for cell in region:
        placements[cell] = clues.get(cell, EMPTY)
    quads = [tuple(quad) for quad in puzzle.turned.tolist()]
    mates = dict(puzzle.mates) | {other: one for one, other in puzzle.mates}
    shown = [quads[oriented] if oriented >= 0 else None for oriented in placements.tolist()]
    own = [kind_of(puzzle, quad) for quad in puzzle.pieces.tolist()]
    unused = Counter(own)
    unused.subtract(own[oriented >> 2] for oriented in placements.tolist() if oriented >= 0)
    if min(unused.values()) < 0:
        return None
    for cell in (cell for cell in clues if shown[cell] is None):  # kept for the clue, unless it lies elsewhere
        unused[own[clues[cell] >> 2]] = max(0, unused[own[clues[cell] >> 2]] - 1)
    fitting = {
        cell: [
            (kind, quad)
            for kind in unused
            for quad in sorted({rotate(kind, turn) for turn in range(4 if puzzle.turns else 1)})
            if tuple(colour == 0 for colour in quad) == puzzle.grey_sides(cell)
            and all(colour in (0, puzzle.rim or colour) for colour in compress(quad, puzzle.rim_sides(cell)))
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
            (side, mates.get(quad[side ^ 2], quad[side ^ 2]))
            for side, other in puzzle.neighbours(cell)
            if (quad := shown[other]) is not None
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
    result = resolve(window.puzzle, window.board, window.cells, options=RegionOptions(**options))
    verification = verify(window.puzzle, result.board)
    assert result.proven, result
    assert result.status in (RegionStatus.OPTIMAL, RegionStatus.IMPROVED_OPTIMAL), result
    assert result.score == verification.score == result.bound == expected, (result, verification, expected)
    improved = result.status == RegionStatus.IMPROVED_OPTIMAL
    assert result.improved == improved or not verify(window.puzzle, window.board).valid
    shown, before = (board.colours(window.puzzle) for board in (result.board, window.board))
    for cell in range(window.puzzle.cells):
        if cell not in window.cells:
            assert (shown[cell] == before[cell]).all(), cell
        else:
            assert result.board.placements[cell] >= 0, cell
    assert not verification.violations, verification.violations
    return result


def random_options(rng: np.random.Generator) -> dict[str, Any]:
    """An order, parts of the search switched off or on, and thresholds that small regions reach."""

    def switch(probability: float) -> bool:
        return bool(rng.random() < probability)

    return {
        "order": str(rng.choice(ORDERS)),
        "balance": switch(0.7),
        "curves": switch(0.7),
        "prices": (None, True, False, int(rng.choice(LATER)))[int(rng.integers(4))],
        "backjumping": switch(0.7),
        "pairs": switch(0.8),
        "preemption": switch(0.5),
        "instantiation": switch(0.5),
        "heuristic": str(rng.choice(HEURISTICS)),
        "dynamic_after": int(rng.choice(LATER)),
        "compare_after": int(rng.choice(LATER)),
        "halved_from": HALVED_FROM if rng.random() < 0.3 else (2, 4, 6, 8),
    }


def questions(seed: int, windows: int, unusual: float = 0.0) -> Iterator[tuple[int, Window, dict[str, Any]]]:
    """Each window with default options, then with random ones: (its seed, the window, options)."""
    for window_seed in range(seed, seed + windows):
        window, rng = random_window(window_seed, unusual), np.random.default_rng([window_seed, 1])
        yield window_seed, window, {}
        for _ in range(QUESTIONS_OF_A_WINDOW - 1):
            yield window_seed, window, random_options(rng)


def ask(window: Window, options: dict[str, Any], target: bool) -> None:
    """`check` the best refill, or, with ``target``, that the best score is reached and one more is refuted."""
    if window.expected is None:  # no piece is left that fits the rim
        with suppress(BoardError):
            raise AssertionError(resolve(window.puzzle, window.board, window.cells, options=RegionOptions(**options)))
        return
    if not target:
        check(window, window.expected, **options)
        return
    for more in (0, 1):
        target, asked = window.expected + more, RegionOptions(**options)
        result = resolve(window.puzzle, window.board, window.cells, target=target, options=asked)
        verification = verify(window.puzzle, result.board)
        refuted = result.bound == window.expected or not result.legal  # else the bound is the score of the given board
        assert (result.score >= window.expected) if not more else refuted, result
        assert result.status != (RegionStatus.TARGET_REACHED if more else RegionStatus.TARGET_REFUTED), result
        assert verification.score == result.score <= window.expected or verification.violations, result


def ask_all(questions: Iterable[tuple[Puzzle, str, Callable[[], object]]], count: int) -> int:
    """Ask so many questions, each by a call that raises for a wrong answer; how many were answered wrongly.

    Prints how many had each rule.
    """
    rules: Counter[str] = Counter()
    wrong = 0
    for puzzle, what, answer in islice(questions, count):
        try:
            answer()
        except Exception as error:
            wrong += 1
            print(f"{what}: {type(error).__name__}: {error}", file=sys.stderr)
        rules.update(rules_of(puzzle))
    print(", ".join(f"{rule} {100 * n / count:.0f}%" for rule, n in rules.most_common()))
    print(f"{count} questions, {wrong} wrong")
    return wrong


def main(count: int = 10_000, seed: int = 0, unusual: float = 0.0) -> int:
    """Ask ``count`` questions, and return how many were answered wrongly."""
    asked = enumerate(questions(seed, -(-count // QUESTIONS_OF_A_WINDOW), unusual))
    each = (
        (window.puzzle, f"window {window_seed}, {options}", partial(ask, window, options, target=number % 3 == 2))
        for number, (window_seed, window, options) in asked
    )
    return ask_all(each, count)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *map(float, sys.argv[3:4])) > 0)
