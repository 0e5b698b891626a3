"""What there is to draw, the same for every kind of picture: colours by cell, clues, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate
from instances.verify import verify

Quad = tuple[int, int, int, int]


@dataclass(frozen=True)
class Scene:
    """A board, or the pieces of a puzzle in file order, ready to be drawn. Cells row-major.

    ``quads``: colours up, right, down, left by cell, None where empty. ``pieces``: piece by cell, 0-based, None where
    empty. ``wrong``: (cell, side) of every joint that does not match, named at the cell above or left of it, and of
    every side on the rim that is not grey. ``caption``: one line in words. ``sheet``: pieces, not a board.
    """

    width: int
    height: int
    quads: tuple[Quad | None, ...]
    pieces: tuple[int | None, ...]
    wrong: frozenset[tuple[int, int]]
    clues: frozenset[int]
    name: str
    caption: str
    sheet: bool = False


def scene(puzzle: Puzzle, board: Board | None) -> Scene:
    """The scene of ``board``; of all pieces, as they lie in the file, where there is none.

    Raises InputError when the board has another shape than the puzzle.
    """
    name = "".join(c if c.isprintable() else "?" for c in puzzle.name)  # it may come from a pasted URL
    every = puzzle.pieces.tolist()
    shape = puzzle.width, puzzle.height
    if board is None:
        caption = f"{name}: {puzzle.cells} pieces, {puzzle.width} x {puzzle.height}"
        quads: list[Quad | None] = [rotate(quad, 0) for quad in every]
        whole = tuple(range(puzzle.cells))
        return Scene(*shape, tuple(quads), whole, frozenset(), frozenset(), name, caption, sheet=True)
    judged = verify(puzzle, board)
    quads, pieces = [], []
    wrong = {(a, RIGHT if b == a + 1 and puzzle.width > 1 else DOWN) for a, b in judged.mismatches}
    for cell, oriented in enumerate(board.placements.tolist()):
        piece, rotation = divmod(oriented, 4)
        lies = 0 <= piece < puzzle.cells  # a board found elsewhere may name pieces that do not exist
        quads.append(rotate(every[piece], rotation) if lies else None)
        pieces.append(piece if lies else None)
        quad = quads[-1]
        if quad is not None:
            wrong |= {(cell, side) for side, rim in enumerate(puzzle.rim_sides(cell)) if rim and quad[side] != GREY}
    caption = f"{name}: score {judged.score} of {judged.max_score}"
    if not judged.full:
        caption += f", {judged.placed} of {judged.cells} pieces"
    elif judged.mismatches:
        caption += f", {len(judged.mismatches)} mismatched"
    if judged.problems:
        caption += ", not valid"
    clues = frozenset(clue.cell for clue in puzzle.clues)
    return Scene(*shape, tuple(quads), tuple(pieces), frozenset(wrong), clues, name, caption)
