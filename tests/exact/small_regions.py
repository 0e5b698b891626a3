"""Regions of tiny boards under every rule, boards that break one, and what the best refill scores, by trying all."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.formats import load_board, load_puzzle
from lns.instances.generate import family
from lns.instances.puzzle import Clue, Puzzle, canonical, rotate
from lns.instances.verify import verify
from tests.fuzz_region import renamed
from tests.instances.small_puzzles import planted
from tests.shared_data import published_boards, shared

Quad = tuple[int, ...]
KINDS = (
    "framed", "few colours", "tetravex:3x3:2", "tetravex:2x3:1", "tetravex:1x4:2", "unframed:3x3:1", "unframed:3x2:3",
    "triangle:2:1", "diamond:2:2", "a hole", "a hole, no turns",
)  # fmt: skip
FAULTS = (
    "turned", "exchanged", "twice", "another piece on a clue's cell", "no piece on a clue's cell",
    "a clue's piece elsewhere", "no such piece", "a piece on a hole", "a blank elsewhere", "empty cells", "none",
)  # fmt: skip


def small_board(rng: np.random.Generator, kind: str) -> tuple[Puzzle, Board]:
    """A puzzle with up to three clues, and a solution in which identical pieces have any of their names."""
    seed = int(rng.integers(1000))
    if kind in ("framed", "few colours"):
        width, height = (int(n) for n in rng.integers(2, 5, 2))
        puzzle, board = planted(seed, width, height, int(rng.integers(1, 3) if kind == "few colours" else 5))
    elif kind.startswith("a hole"):
        puzzle, board = planted(seed, 3, 3, 2, holes=(4,), framed=False, turns=kind == "a hole")
    else:
        puzzle, board = family(kind)(seed).puzzle, family(kind)(seed).solution
    real = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
    chosen = rng.permutation(real)[: int(rng.integers(0, 4))].tolist()
    puzzle = puzzle.with_clues([Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in chosen])
    return puzzle, renamed(rng, puzzle, board)


def break_rule(rng: np.random.Generator, puzzle: Puzzle, placements: np.ndarray, fault: str, cells: list[int]) -> None:
    """Break a rule in some of ``cells``, in place, if that can be."""
    real = rng.permutation([cell for cell in cells if cell not in puzzle.holes]).tolist()
    holes = [cell for cell in cells if cell in puzzle.holes]
    clues = [clue.cell for clue in puzzle.clues if clue.cell in real]
    if fault == "turned":
        for cell in real[:2]:
            placements[cell] += (placements[cell] >= 0) * (int(rng.integers(4)) - placements[cell] % 4)
    elif fault == "exchanged" and len(real) > 1:
        placements[real[:2]] = placements[real[1::-1]]
    elif fault == "twice" and real:
        placements[real[0]] = rng.choice(placements)
    elif fault == "another piece on a clue's cell" and clues:
        placements[clues[0]] = 4 * int(rng.integers(puzzle.piece_count))
    elif fault == "no piece on a clue's cell" and clues:
        placements[clues[0]] = EMPTY
    elif fault == "a clue's piece elsewhere" and clues:
        placements[real[0]], placements[clues[0]] = placements[clues[0]], EMPTY
    elif fault == "no such piece" and real:
        placements[real[0]] = 4 * puzzle.cells + int(rng.integers(40))
    elif fault == "a piece on a hole" and holes:
        placements[holes[0]] = int(rng.integers(4 * puzzle.piece_count))
    elif fault == "a blank elsewhere" and real and puzzle.holes:
        placements[real[0]] = 4 * puzzle.piece_count
    elif fault == "empty cells":
        placements[[cell for cell in real if rng.random() < 0.4]] = EMPTY


def breaks_a_rule_outside(puzzle: Puzzle, board: Board, cells: Collection[int]) -> bool:
    """Whether the board breaks a rule without the pieces of the region."""
    placements = board.placements.copy()
    placements[[*cells]] = EMPTY
    return bool(verify(puzzle, Board(placements, puzzle.width, puzzle.height)).violations)


def published(number: int) -> tuple[Puzzle, Board]:
    """Eternity II and one of the boards of it that were published."""
    puzzle = load_puzzle(str(shared("instances", "eternity2.txt")))
    edges = published_boards()[number][2]
    return load_board(f"https://e2.bucas.name/#puzzle=e2&board_w=16&board_h=16&board_edges={edges}", puzzle)


def run_script(script: str, variable: str) -> None:
    """Run Python code in a process of its own with an environment variable set to 1; it must not fail."""
    root = Path(__file__).resolve().parent.parent.parent
    environment = os.environ | {variable: "1", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def look(puzzle: Puzzle, quad: Quad) -> Quad:
    """The same for two pieces just if they are identical."""
    return canonical(quad) if puzzle.turns else tuple(map(int, quad))


def best_refill(puzzle: Puzzle, board: Board, cells: Collection[int]) -> int | None:
    """The best score of all legal refills; None if there is none. Plain depth-first search, by looks."""
    clues = {clue.cell: clue for clue in puzzle.clues}
    free = sorted({*cells} - clues.keys() - {*puzzle.holes})
    shown: dict[int, Quad] = {}
    for cell in range(puzzle.cells):
        oriented = int(board.placements[cell])
        if cell in puzzle.holes:
            continue
        if cell in cells and cell in clues:
            shown[cell] = rotate(puzzle.pieces[clues[cell].piece], clues[cell].rotation)
        elif cell not in cells and oriented >= 0:
            shown[cell] = rotate(puzzle.pieces[oriented >> 2], oriented & 3)
    unused = Counter(look(puzzle, quad) for quad in puzzle.pieces[: puzzle.piece_count].tolist())
    unused.subtract(look(puzzle, quad) for quad in shown.values())
    if min(unused.values()) < 0:
        return None
    for cell in clues.keys() - shown.keys():  # kept for the clue, unless it lies elsewhere
        piece = look(puzzle, puzzle.pieces[clues[cell].piece])
        unused[piece] = max(0, unused[piece] - 1)
    outside = [int(oriented) if cell in shown and cell not in cells else EMPTY for cell, oriented in
               enumerate(board.placements)]  # fmt: skip
    for cell in clues.keys() & {*cells}:
        outside[cell] = clues[cell].oriented
    base = verify(puzzle, Board(np.array(outside), puzzle.width, puzzle.height)).score
    best: int | None = None

    def fill(depth: int, score: int) -> None:
        nonlocal best
        if depth == len(free):
            best = score if best is None else max(best, score)
            return
        cell = free[depth]
        rest = sum(len(puzzle.neighbours(later)) for later in free[depth:])
        if best is not None and score + rest <= best:
            return
        for piece in [piece for piece, count in unused.items() if count]:
            for quad in {rotate(piece, turn) for turn in range(4 if puzzle.turns else 1)}:
                if tuple(colour == 0 for colour in quad) != puzzle.grey_sides(cell):
                    continue
                matched = sum(
                    shown[other][(side + 2) % 4] == quad[side]
                    for side, other in puzzle.neighbours(cell)
                    if other in shown
                )
                shown[cell] = quad
                unused[piece] -= 1
                fill(depth + 1, score + matched)
                unused[piece] += 1
                del shown[cell]

    fill(0, base)
    return best
