"""Plain-Python oracles: every solution of a tiny puzzle, by trying everything. Shared with no search, on purpose."""

from __future__ import annotations

from instances.puzzle import Puzzle, rotate


def all_boards(puzzle: Puzzle) -> set[tuple[tuple[int, int, int, int], ...]]:
    """Every perfect board as its colours by cell; identical pieces swapped give the same one."""
    pieces = puzzle.pieces.tolist()
    clues = {clue.cell: (clue.piece, clue.rotation) for clue in puzzle.clues}
    pinned = {clue.piece for clue in puzzle.clues}
    found: set[tuple[tuple[int, int, int, int], ...]] = set()
    laid: list[tuple[int, int, int, int]] = []
    used: set[int] = set()

    def extend(cell: int) -> None:
        if cell == puzzle.cells:
            found.add(tuple(laid))
            return
        up_rim, right_rim, down_rim, left_rim = puzzle.rim_sides(cell)
        choices = (
            [clues[cell]]
            if cell in clues
            else [(p, r) for p in range(puzzle.cells) if p not in pinned for r in range(4)]
        )
        for piece, rotation in choices:
            if piece in used:
                continue
            up, right, down, left = quad = rotate(pieces[piece], rotation)
            if (up == 0, right == 0, down == 0, left == 0) != (up_rim, right_rim, down_rim, left_rim):
                continue
            if not left_rim and laid[cell - 1][1] != left:
                continue
            if not up_rim and laid[cell - puzzle.width][2] != up:
                continue
            used.add(piece)
            laid.append(quad)
            extend(cell + 1)
            laid.pop()
            used.remove(piece)

    extend(0)
    return found


def count_solutions(puzzle: Puzzle) -> int:
    """How many perfect boards differ in their colours."""
    return len(all_boards(puzzle))
