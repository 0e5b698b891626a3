"""Regions of tiny boards under every rule, boards that break one, and what the best refill scores, by trying all."""

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.formats import load_board, load_puzzle
from lns.instances.generate import family
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.fuzz_region import Window, best_score, renamed
from tests.instances.small_puzzles import planted, with_mates
from tests.shared_data import published_boards, shared

KINDS = (
    "framed", "few colours", "tetravex:3x3:2", "tetravex:2x3:1", "tetravex:1x4:2", "unframed:3x3:1", "unframed:3x2:3",
    "triangle:2:1", "diamond:2:2", "a hole", "a hole, no turns", "mates", "a rim", "a hole, a rim, mates",
    "a rim, mates, no turns",
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
    elif ":" not in kind:
        puzzle, board = planted(
            seed, 3, 3, 2, holes=(4,) * kind.startswith("a hole"), framed=kind == "mates", turns="no turns" not in kind,
            rim=int("a rim" in kind),
        )  # fmt: skip
        puzzle = with_mates(puzzle, board, seed) if "mates" in kind else puzzle
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
    return bool(verify(puzzle, board.with_pieces([*cells], EMPTY)).violations)


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


def best_refill(puzzle: Puzzle, board: Board, cells: Collection[int]) -> int | None:
    """The best score of all legal refills; None if there is none."""
    return best_score(Window(puzzle, board, [*cells]))
