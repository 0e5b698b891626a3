"""Pictures of puzzles and boards: the content of a picture, the same for every output format, as a `Scene`.

Boards
    `svg` and `terminal`: each has a function ``render(puzzle, board)`` that returns the picture as text; `svg.tikz` and
    the pictures of a notebook are beside them. `palette` holds the colours.
Reports
    `page`: the frame, tables and charts of an HTML report, and a map of values over the positions of a window.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lns.instances.board import Board
from lns.instances.draw.palette import GREY as GREY_RGB
from lns.instances.draw.palette import NO_FRAME, Rgb, inked, rgb
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate
from lns.instances.verify import verify

Quad = tuple[int, int, int, int]
Side = tuple[int, int]  # a cell, and one of its sides


@dataclass(frozen=True)
class Scene:
    """A board, or all pieces of a puzzle in file order, ready to be drawn. Cells are in row-major order."""

    puzzle: Puzzle
    sheet: bool  # the pieces of a puzzle, drawn apart from each other, and no board
    width: int
    height: int
    quads: tuple[Quad | None, ...]  # colours up, right, down, left of each cell; None for an empty cell
    pieces: tuple[int | None, ...]  # the piece on each cell, from 0; None for an empty cell
    # every joint of two cells that do not match, at the cell above or to the left, and every side on the rim or towards
    # a hole that has not the colour it must have there
    wrong: frozenset[Side]
    clues: frozenset[int]  # cells
    holes: frozenset[int]  # cells that are not drawn; their quads are None
    first_mate: Mapping[int, int]  # the first mate of each second one of a pair
    caption: str  # one line that describes the picture, safe to print

    @property
    def rim(self) -> int:
        """The colour that the outer edge of a board must have; GREY with a frame, or if it may have any."""
        return GREY if self.sheet else self.puzzle.rim

    @property
    def ground(self) -> Rgb:
        """What is seen around the board."""
        return GREY_RGB if self.puzzle.framed else rgb(self.puzzle.rim) if self.puzzle.rim else NO_FRAME

    def hue(self, colour: int) -> Rgb:
        """The colour in which a side is drawn, the same for the two mates of a pair."""
        return rgb(self.first_mate.get(colour, colour))

    def flat(self, colour: int) -> Rgb:
        """The same where no motif tells the second mate of a pair from the first."""
        return inked(self.hue(colour)) if colour in self.first_mate else self.hue(colour)

    @cached_property
    def empty(self) -> list[int]:
        """The cells without a piece that are no holes."""
        return [cell for cell, quad in enumerate(self.quads) if quad is None and cell not in self.holes]

    @cached_property
    def filled(self) -> list[int]:
        """The cells with a piece."""
        return [cell for cell, quad in enumerate(self.quads) if quad is not None]

    @cached_property
    def by_colour(self) -> dict[int, list[Side]]:
        """The sides of each colour, in order of the colours."""
        found = defaultdict[int, list[Side]](list)
        for cell, quad in enumerate(self.quads):
            for side, colour in enumerate(quad or ()):
                found[colour].append((cell, side))
        return dict(sorted(found.items()))


def scene(puzzle: Puzzle, board: Board | None) -> Scene:
    """What a picture of a board shows, or for None one of all pieces as they lie in the file.

    Raises BoardError if the board has another shape than the puzzle.
    """
    height = puzzle.height if board is not None else -(-len(puzzle.pieces) // puzzle.width)
    cells = puzzle.width * height
    placements = [4 * piece for piece in range(cells)] if board is None else board.placements.tolist()
    # a board from elsewhere may name pieces that do not exist
    shown = [divmod(oriented, 4) if 0 <= oriented < 4 * puzzle.piece_count else None for oriented in placements]
    colours = puzzle.pieces.tolist()
    quads = tuple(None if each is None else rotate(colours[each[0]], each[1]) for each in shown)
    wrong: set[Side] = set()
    if board is None:
        caption = f"{puzzle.printable_name}: {puzzle.piece_count} pieces, {puzzle.shape_and_rules}"
    else:
        found = verify(puzzle, board)
        wrong = {(a, RIGHT if b == a + 1 and puzzle.width > 1 else DOWN) for a, b in found.mismatches}
        for cell, quad in enumerate(quads):
            for side, required in enumerate(puzzle.required_sides(cell)):
                if quad is not None and required not in (None, quad[side]):
                    wrong.add((cell, side))
        caption = f"{puzzle.printable_name}: score {found.score} of {found.max_score}"
        if not found.full:
            caption += f", {found.placed} of {found.cells} pieces"
        elif found.mismatches:
            caption += f", {len(found.mismatches)} mismatched"
        if found.problems:
            caption += ", not valid"
    return Scene(
        puzzle,
        sheet=board is None,
        width=puzzle.width,
        height=height,
        quads=quads,
        pieces=tuple(None if each is None else each[0] for each in shown),
        wrong=frozenset(wrong),
        clues=frozenset(clue.cell for clue in puzzle.clues if board is not None),
        holes=frozenset(range(puzzle.piece_count, cells) if board is None else puzzle.holes),
        first_mate={second: first for first, second in puzzle.mates},
        caption=caption,
    )
