"""The judge: what a board is worth and which rules it breaks. Plain Python, shared with no search, on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate
from lns_support.errors import BoardError

_SIDES = ("upper", "right", "lower", "left")


@dataclass(frozen=True)
class Verification:
    """``valid``: no rule is broken by the pieces that lie (a partial board can be valid; see ``placed``).

    ``score``: matched inner edges; grey against grey and edges at empty cells never count.
    ``mismatches``: pairs of neighbouring cells, both filled, whose colours differ.
    ``problems``: one sentence a broken rule, with its place; ``violations``: those of them about pieces that lie, so
    without the clue cells that are empty.
    """

    valid: bool
    score: int
    max_score: int
    placed: int
    cells: int
    mismatches: tuple[tuple[int, int], ...]
    problems: tuple[str, ...]
    violations: tuple[str, ...]

    @property
    def full(self) -> bool:
        return self.placed == self.cells

    @property
    def complete(self) -> bool:
        """A full board that breaks no rule."""
        return self.valid and self.full


def verify(puzzle: Puzzle, board: Board) -> Verification:
    """Judge ``board`` by the rules of ``puzzle``: each piece once, grey exactly on the rim, clues, matched inner edges.

    Raises BoardError only when the board has another shape than the puzzle.
    """
    if (board.width, board.height) != (puzzle.width, puzzle.height):
        raise BoardError(
            f"the board is {board.width} x {board.height} (width x height); "
            f"expected {puzzle.width} x {puzzle.height} as in {puzzle.name}"
        )
    violations: list[str] = []
    pieces = puzzle.pieces.tolist()
    quads: list[tuple[int, int, int, int] | None] = []
    seen: dict[int, int] = {}
    for cell, oriented in enumerate(board.placements.tolist()):
        if oriented < 0:
            quads.append(None)
            continue
        piece, rotation = divmod(oriented, 4)
        if piece >= puzzle.cells:
            violations.append(f"{puzzle.cell_label(cell)} holds piece {piece + 1}; the puzzle has {puzzle.cells}")
            quads.append(None)
            continue
        if piece in seen:
            violations.append(
                f"piece {piece + 1} lies twice: {puzzle.cell_label(seen[piece])} and {puzzle.cell_label(cell)}"
            )
        seen.setdefault(piece, cell)
        quad = rotate(pieces[piece], rotation)
        quads.append(quad)
        for side, on_rim in enumerate(puzzle.rim_sides(cell)):
            if on_rim and quad[side] != GREY:
                violations.append(
                    f"{puzzle.cell_label(cell)}: its {_SIDES[side]} side on the rim has colour {quad[side]}"
                )
            if not on_rim and quad[side] == GREY:
                violations.append(f"{puzzle.cell_label(cell)}: its {_SIDES[side]} side is grey inside the board")

    missing: list[str] = []
    for clue in puzzle.clues:
        lies = quads[clue.cell]
        wanted = rotate(pieces[clue.piece], clue.rotation)
        if lies is None:
            missing.append(f"the clue on {puzzle.cell_label(clue.cell)} is missing: piece {clue.piece + 1}")
        elif lies != wanted:  # by colours, so that an identical twin or an equal rotation counts
            violations.append(
                f"the clue on {puzzle.cell_label(clue.cell)} is not respected: piece {clue.piece + 1} belongs there"
            )

    score = 0
    mismatches: list[tuple[int, int]] = []
    for cell, quad_here in enumerate(quads):
        if quad_here is None:
            continue
        row, column = divmod(cell, puzzle.width)
        for inside, other, side in (
            (column + 1 < puzzle.width, cell + 1, RIGHT),
            (row + 1 < puzzle.height, cell + puzzle.width, DOWN),
        ):
            if not inside:
                continue
            neighbour = quads[other]
            if neighbour is None:
                continue
            if quad_here[side] == neighbour[(side + 2) % 4] != GREY:
                score += 1
            else:
                mismatches.append((cell, other))
    placed = sum(quad is not None for quad in quads)
    return Verification(
        not violations and not missing, score, puzzle.max_score, placed, puzzle.cells, tuple(mismatches),
        (*violations, *missing), tuple(violations),
    )  # fmt: skip
