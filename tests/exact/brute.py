"""An oracle in plain Python: every solution of a tiny puzzle, by trying everything. It shares no code with a search."""

from __future__ import annotations

from functools import cache

from instances.puzzle import Puzzle, rotate

Quad = tuple[int, int, int, int]
Look = tuple[Quad, ...]


@cache
def all_boards(puzzle: Puzzle) -> frozenset[Look]:
    """Every perfect board as its colours by cell; boards with swapped duplicate pieces are the same.

    A hole shows grey on all sides.
    """
    holes = set(puzzle.holes)
    clues = {clue.cell: (clue.piece, clue.rotation) for clue in puzzle.clues}
    clue_pieces = {clue.piece for clue in puzzle.clues}
    turns = range(4) if puzzle.turns else (0,)
    free = [(piece, turn) for piece in range(puzzle.piece_count) if piece not in clue_pieces for turn in turns]
    pieces = puzzle.pieces.tolist()
    choices: list[list[tuple[int, Quad]]] = []  # by cell: the pieces and quads that its rim or its clue allows
    for cell in range(puzzle.cells):
        if cell in holes:
            choices.append([(-1 - cell, (0, 0, 0, 0))])
            continue
        quads = [(piece, rotate(pieces[piece], turn)) for piece, turn in ([clues[cell]] if cell in clues else free)]
        row, column = divmod(cell, puzzle.width)
        outside = row == 0, column == puzzle.width - 1, row == puzzle.height - 1, column == 0
        beyond = cell - puzzle.width, cell + 1, cell + puzzle.width, cell - 1
        grey = [puzzle.framed if out else other in holes for out, other in zip(outside, beyond, strict=True)]
        choices.append([(p, quad) for p, quad in quads if [side == 0 for side in quad] == grey])
    boards: set[Look] = set()
    placed: list[Quad] = []
    used: set[int] = set()

    def extend(cell: int) -> None:
        if cell == puzzle.cells:
            boards.add(tuple(placed))
            return
        left = placed[cell - 1][1] if cell % puzzle.width else None
        up = placed[cell - puzzle.width][2] if cell >= puzzle.width else None
        for piece, quad in choices[cell]:
            if piece not in used and (left is None or quad[3] == left) and (up is None or quad[0] == up):
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
