"""Boards as TikZ figures, like those of Jolivet 2008 (appendix A, *render*)."""

from __future__ import annotations

from lns.instances.board import Board
from lns.instances.draw.palette import CLUE, EMPTY, GREY, MISMATCH, hex_code, rgb
from lns.instances.draw.scene import scene
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle

# the two ends of each side of a cell, clockwise; y grows downwards
_ENDS = {UP: ((0, 0), (1, 0)), RIGHT: ((1, 0), (1, 1)), DOWN: ((1, 1), (0, 1)), LEFT: ((0, 1), (0, 0))}


def render(puzzle: Puzzle, board: Board | None) -> str:
    """A board, or for None all pieces in file order, apart from each other, as a whole LaTeX document.

    Its class is standalone. A cell is one unit wide: change ``x`` and ``y`` of the picture to scale it. Colours after
    the 40th repeat the first ones. Raises BoardError if the board has another shape than the puzzle.
    """
    picture = scene(puzzle, board)
    pitch = 1.15 if picture.sheet else 1
    corners = [(column * pitch, row * pitch) for row in range(picture.height) for column in range(picture.width)]
    squares = {
        name: [_square(*corners[cell], inset) for cell in cells]
        for name, cells, inset in (
            ("empty", picture.empty, 0),
            ("piece", picture.filled, 0),
            ("clue", sorted(picture.clues), 0.1),
        )
    }
    triangles = {
        colour: [f"{_side(*corners[cell], side)}--{_at(*corners[cell], 0.5, 0.5)}--cycle" for cell, side in sides]
        for colour, sides in picture.by_colour.items()
    }
    bars = [_side(*corners[cell], side) for cell, side in sorted(picture.wrong)]
    lines = [
        r"\documentclass[tikz,border=2pt]{standalone}",
        f"% {_comment(picture.caption)}",
        *(rf"\definecolor{{side{colour}}}{{HTML}}{{{hex_code(rgb(colour))}}}" for colour in triangles),
        rf"\definecolor{{empty}}{{HTML}}{{{hex_code(EMPTY)}}}",
        rf"\definecolor{{rim}}{{HTML}}{{{hex_code(GREY)}}}",
        rf"\definecolor{{clue}}{{HTML}}{{{hex_code(CLUE)}}}",
        rf"\definecolor{{mismatch}}{{HTML}}{{{hex_code(MISMATCH)}}}",
        r"\begin{document}",
        r"\begin{tikzpicture}[x=6mm, y=-6mm, line join=round]",
        *_paths("fill=empty, draw=rim, thin", squares["empty"]),
        *(line for colour in triangles for line in _paths(f"fill=side{colour}", triangles[colour])),
        *_paths("draw=black, thin", squares["piece"]),
        *_paths("draw=black, line width=1.6pt", squares["clue"]),
        *_paths("draw=clue, line width=.8pt", squares["clue"]),
        *_paths("draw=white, line width=2.4pt", bars),
        *_paths("draw=mismatch, line width=1.6pt", bars),
        r"\end{tikzpicture}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _paths(style: str, pieces: list[str]) -> list[str]:
    """The lines of one \\path of all ``pieces``, or none without pieces."""
    return [rf"\path[{style}]", *("  " + piece for piece in pieces), "  ;"] if pieces else []


def _square(x: float, y: float, inset: float) -> str:
    return f"{_at(x, y, inset, inset)} rectangle {_at(x, y, 1 - inset, 1 - inset)}"


def _side(x: float, y: float, side: int) -> str:
    return "--".join(_at(x, y, *end) for end in _ENDS[side])


def _at(x: float, y: float, across: float, along: float) -> str:
    return f"({x + across:.6g},{y + along:.6g})"


def _comment(text: str) -> str:
    """``text`` in ASCII, so that every TeX engine reads the comment."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
