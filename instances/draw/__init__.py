"""Pictures of puzzles and boards. A `Scene` is the content of a picture, the same for every output format.

Boards
    `svg` and `terminal`: each has a function ``render(puzzle, board)`` that returns the picture as text; `svg` also
    makes LaTeX documents and the pictures of notebooks. `palette` holds the colours.
Reports
    `page`: the skeleton, tables and charts of an HTML report, and maps of values over the positions of windows.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from lns.instances.board import Board
from lns.instances.draw.palette import GREY as GREY_RGB
from lns.instances.draw.palette import NO_FRAME, Rgb, inked, rgb
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle
from lns.instances.verify import verify

Quad = list[int]  # colours up, right, down, left of a piece
Side = tuple[int, int]  # a cell, and the index of one of its sides


class Scene:
    """The content of a picture: of a board or, without a board, of all pieces of a puzzle, row by row in file order.

    Raises BoardError if the board has another shape than the puzzle.

    Attributes
    ----------
    sheet : bool
        True if the pieces of a puzzle are drawn, with gaps between them, instead of a board.
    width, height : int
        Number of columns and rows.
    pieces : list of int or None
        The index of the piece on each cell; None for an empty cell or a hole.
    quads : list of tuple or None
        Colours up, right, down, left of each cell; None for an empty cell or a hole.
    wrong : set of (int, int)
        (cell, side) of every joint whose sides do not match, seen from the upper or left cell of the joint, and of
        every side on the rim or towards a hole without the colour required there.
    clues, holes : set of int
        Cells with a clue, and holes; without a board no cells, and the places left over after the last piece.
    first_mate : dict of int to int
        A dict from the second of two mates to the first.
    caption : str
        One line that describes the picture, safe to print.
    """

    def __init__(self, puzzle: Puzzle, board: Board | None) -> None:
        self.puzzle, self.sheet, self.width = puzzle, board is None, puzzle.width
        self.height = puzzle.height if board is not None else -(-len(puzzle.pieces) // puzzle.width)
        cells = self.width * self.height
        placements = range(0, 4 * cells, 4) if board is None else board.placements.tolist()
        # cells with pieces that the puzzle does not have, on a board from elsewhere, are shown empty
        shown = [oriented if 0 <= oriented < 4 * puzzle.piece_count else None for oriented in placements]
        turned = puzzle.turned.tolist()
        self.pieces = [None if oriented is None else oriented // 4 for oriented in shown]
        self.quads: list[Quad | None] = [None if oriented is None else turned[oriented] for oriented in shown]
        self.clues = set() if board is None else {clue.cell for clue in puzzle.clues}
        self.holes = set(range(puzzle.piece_count, cells) if board is None else puzzle.holes)
        self.first_mate = {second: first for first, second in puzzle.mates}
        self.wrong: set[Side] = set()
        if board is None:
            self.caption = f"{puzzle.printable_name}: {puzzle.piece_count} pieces, {puzzle.shape_and_rules}"
            return
        found = verify(puzzle, board)
        self.wrong = {(a, RIGHT if b == a + 1 and puzzle.width > 1 else DOWN) for a, b in found.mismatches}
        for cell, quad in enumerate(self.quads):
            sides = enumerate(zip(puzzle.required_sides(cell), quad or (), strict=False))
            self.wrong |= {(cell, side) for side, (required, colour) in sides if required not in (None, colour)}
        self.caption = f"{puzzle.printable_name}: score {found.score} of {found.max_score}"
        if not found.full:
            self.caption += f", {found.placed} of {found.cells} pieces"
        elif found.mismatches:
            self.caption += f", {len(found.mismatches)} mismatched"
        if found.problems:
            self.caption += ", not valid"

    @property
    def rim(self) -> int:
        """The colour prescribed for the outer edge of a board, if not grey; else, and without a board, GREY."""
        return GREY if self.sheet else self.puzzle.rim

    @property
    def ground(self) -> Rgb:
        """The colour of the area around the board."""
        return GREY_RGB if self.puzzle.framed else rgb(self.puzzle.rim) if self.puzzle.rim else NO_FRAME

    def hue(self, colour: int) -> Rgb:
        """Return the colour in which a side is drawn, the same for the two mates of a pair."""
        return rgb(self.first_mate.get(colour, colour))

    def flat(self, colour: int) -> Rgb:
        """Return the `hue`, made darker or lighter for the second mate of a pair, for pictures without motifs."""
        return inked(self.hue(colour)) if colour in self.first_mate else self.hue(colour)

    @cached_property
    def empty(self) -> list[int]:
        """The cells, holes aside, that have no piece."""
        return [cell for cell, quad in enumerate(self.quads) if quad is None and cell not in self.holes]

    @cached_property
    def filled(self) -> list[int]:
        """The cells with a piece."""
        return [cell for cell, quad in enumerate(self.quads) if quad is not None]

    @cached_property
    def by_colour(self) -> dict[int, list[Side]]:
        """The sides (cell, side) that have each colour, in ascending order of the colours."""
        found = defaultdict[int, list[Side]](list)
        for cell, quad in enumerate(self.quads):
            for side, colour in enumerate(quad or ()):
                found[colour].append((cell, side))
        return dict(sorted(found.items()))
