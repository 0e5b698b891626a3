"""An oracle in plain Python: every solution of a tiny puzzle, by trying everything. It shares no code with a search."""

from __future__ import annotations

from functools import cache

from instances.puzzle import Puzzle, rotate

Quad = tuple[int, int, int, int]
Look = tuple[Quad, ...]


@cache
def all_boards(puzzle: Puzzle) -> frozenset[Look]:
    """Every perfect board as its colours by cell; boards with swapped duplicate pieces are the same."""
    clues = {clue.cell: (clue.piece, clue.rotation) for clue in puzzle.clues}
    clue_pieces = {clue.piece for clue in puzzle.clues}
    free = [(piece, turn) for piece in range(puzzle.cells) if piece not in clue_pieces for turn in range(4)]
    pieces = puzzle.pieces.tolist()
    choices: list[list[tuple[int, Quad]]] = []  # by cell: the pieces and quads that its rim or its clue allows
    for cell in range(puzzle.cells):
        quads = [(piece, rotate(pieces[piece], turn)) for piece, turn in ([clues[cell]] if cell in clues else free)]
        choices.append([(p, quad) for p, quad in quads if tuple(side == 0 for side in quad) == puzzle.rim_sides(cell)])
    boards: set[Look] = set()
    placed: list[Quad] = []
    used: set[int] = set()

    def extend(cell: int) -> None:
        if cell == puzzle.cells:
            boards.add(tuple(placed))
            return
        left = placed[cell - 1][1] if cell % puzzle.width else 0
        up = placed[cell - puzzle.width][2] if cell >= puzzle.width else 0
        for piece, quad in choices[cell]:
            if quad[3] == left and quad[0] == up and piece not in used:
                used.add(piece)
                placed.append(quad)
                extend(cell + 1)
                placed.pop()
                used.remove(piece)

    extend(0)
    return frozenset(boards)


def count_solutions(puzzle: Puzzle) -> int:
    """How many perfect boards differ in their colours."""
    return len(all_boards(puzzle))
