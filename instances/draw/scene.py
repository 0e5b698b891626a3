"""The content of a picture, the same for every output format: colours by cell, clues and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate
from instances.verify import verify

Quad = tuple[int, int, int, int]


@dataclass(frozen=True)
class Scene:
    """A board, or all pieces of a puzzle in file order, ready to be drawn. Cells are in row-major order.

    Attributes
    ----------
    width, height : int
        Number of columns and rows.
    quads : tuple of (int, int, int, int) or None
        Colours up, right, down, left of each cell; None for an empty cell.
    pieces : tuple of int or None
        The piece on each cell, counted from 0; None for an empty cell.
    wrong : frozenset of (int, int)
        (cell, side) of every joint of two cells whose colours differ, given at the cell above or to the left, and of
        every side that is not grey where it must be: on the rim of a board with a frame, and towards a hole.
    clues : frozenset of int
        The cells of clues.
    name : str
        Name of the puzzle, safe to print.
    caption : str
        One line that describes the picture.
    sheet : bool
        True for the pieces of a puzzle, drawn apart from each other; False for a board.
    holes : frozenset of int
        Cells that are not drawn; their quads are None.
    framed : bool
        Whether the board lies in a grey frame.
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
    holes: frozenset[int] = frozenset()
    framed: bool = True


def scene(puzzle: Puzzle, board: Board | None) -> Scene:
    """Collect what a picture shows.

    Parameters
    ----------
    puzzle : Puzzle
    board : Board or None
        None for all pieces of the puzzle as they lie in the file.

    Returns
    -------
    Scene

    Raises
    ------
    BoardError
        If the board has another shape than the puzzle.
    """
    name = printable_name(puzzle)
    colours = puzzle.pieces.tolist()
    if board is None:
        unused = range(puzzle.piece_count, puzzle.cells)
        return Scene(
            width=puzzle.width,
            height=puzzle.height,
            quads=(*(rotate(quad, 0) for quad in colours[: puzzle.piece_count]), *(None for _ in unused)),
            pieces=(*range(puzzle.piece_count), *(None for _ in unused)),
            wrong=frozenset(),
            clues=frozenset(),
            name=name,
            caption=f"{name}: {puzzle.piece_count} pieces, {puzzle.shape_and_rules}",
            sheet=True,
            holes=frozenset(unused),
            framed=puzzle.framed,
        )
    verification = verify(puzzle, board)
    quads: list[Quad | None] = []
    pieces: list[int | None] = []
    wrong = {(a, RIGHT if b == a + 1 and puzzle.width > 1 else DOWN) for a, b in verification.mismatches}
    for cell, oriented in enumerate(board.placements.tolist()):
        piece, rotation = divmod(oriented, 4)
        exists = 0 <= piece < puzzle.piece_count  # a board from elsewhere may name pieces that do not exist
        quad = rotate(colours[piece], rotation) if exists else None
        quads.append(quad)
        pieces.append(piece if exists else None)
        if quad is not None:
            wrong |= {(cell, side) for side, grey in enumerate(puzzle.grey_sides(cell)) if grey and quad[side] != GREY}
    caption = f"{name}: score {verification.score} of {verification.max_score}"
    if not verification.full:
        caption += f", {verification.placed} of {verification.cells} pieces"
    elif verification.mismatches:
        caption += f", {len(verification.mismatches)} mismatched"
    if verification.problems:
        caption += ", not valid"
    return Scene(
        width=puzzle.width,
        height=puzzle.height,
        quads=tuple(quads),
        pieces=tuple(pieces),
        wrong=frozenset(wrong),
        clues=frozenset(clue.cell for clue in puzzle.clues),
        name=name,
        caption=caption,
        holes=frozenset(puzzle.holes),
        framed=puzzle.framed,
    )


def printable_name(puzzle: Puzzle) -> str:
    """The puzzle's name with every character that cannot be printed replaced by '?'; it may come from a pasted URL."""
    return "".join(c if c.isprintable() else "?" for c in puzzle.name)
