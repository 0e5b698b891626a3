"""The verifier, which counts the score of a board and finds the rules that the board breaks.

The verifier is plain Python and on purpose shares no code with any search, so that it cannot repeat a search's errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate

_Quad = tuple[int, int, int, int]
_SIDES = ("upper", "right", "lower", "left")


@dataclass(frozen=True)
class Verification:
    """The result of `verify`.

    Attributes
    ----------
    valid : bool
        True if ``problems`` is empty. A partial board can be valid.
    score : int
        Number of matched inner edges. An edge beside an empty cell, or between two grey sides, never counts.
    max_score : int
        Number of inner edges of the board.
    placed, cells : int
        Number of cells with a piece, and number of all cells; neither counts holes.
    mismatches : tuple of (int, int)
        Pairs of neighbouring cells that both hold a piece and whose facing colours do not match.
    problems : tuple of str
        One sentence for each broken rule: the ``violations``, then one for each clue whose cell is empty.
    violations : tuple of str
        One sentence for each rule that the placed pieces break.
    rim_faults : int
        Number of sides on the rim or towards a hole that do not have the colour required there. Such sides
        belong to no inner edge, so the score does not count them.
    faulty : tuple of int
        The cells that the violations name, in ascending order.
    """

    valid: bool
    score: int
    max_score: int
    placed: int
    cells: int
    mismatches: tuple[tuple[int, int], ...]
    problems: tuple[str, ...]
    violations: tuple[str, ...]
    rim_faults: int = 0
    faulty: tuple[int, ...] = ()

    @property
    def seams(self) -> int:
        """Number of matched inner edges, the same as ``score``; some other programs count ``conflicts`` instead."""
        return self.score

    @property
    def conflicts(self) -> int:
        """Number of mismatches plus number of rim faults; some other programs report this sum."""
        return len(self.mismatches) + self.rim_faults

    @property
    def full(self) -> bool:
        """True if every cell of the board, holes aside, has a piece."""
        return self.placed == self.cells

    @property
    def complete(self) -> bool:
        """True for a full board that breaks no rule, whatever its score."""
        return self.valid and self.full


@checked
def verify(puzzle: Puzzle, board: Board) -> Verification:
    """Count the score of a board and check it against the rules.

    The rules are: each piece at most once, or as often as it has copies, grey sides exactly where the puzzle has them
    (on the rim and towards holes; without frame only towards holes), the puzzle's rim colour, if any, along the outer
    edge, no piece turned if the puzzle forbids turns, nothing on a hole but a blank, the colours of each clue on its
    cell. A mismatch on an inner edge breaks no rule, but costs one point. Two sides match if their colours are mates,
    or if they are equal, not grey, and have no mates.

    Parameters
    ----------
    puzzle : Puzzle
        The rules: pieces, clues, frame, turns, holes, mates, rim and copies.
    board : Board
        Any board of the puzzle's shape, partial or full.

    Returns
    -------
    Verification

    Raises
    ------
    BoardError
        If the board has another shape than the puzzle.
    """
    board.check_shape(puzzle)
    violations: dict[str, list[int]] = {}  # sentence about a broken rule -> cells that the sentence names
    turned, required, joints = _tables(puzzle)
    quads: list[_Quad | None] = []
    cells_of: dict[int, list[int]] = {}
    holes, piece_count, label = set(puzzle.holes), puzzle.piece_count, puzzle.cell_label
    rim_faults = 0
    for cell, oriented in enumerate(board.placements.tolist()):
        quads.append(None)
        piece = oriented // 4
        if oriented < 0 or (cell in holes and piece >= piece_count):
            continue
        if cell in holes:
            violations[f"{label(cell)} is a hole, and holds piece {piece + 1}"] = [cell]
            continue
        if piece >= piece_count:
            violations[f"{label(cell)} holds piece {piece + 1}; the puzzle has {piece_count}"] = [cell]
            continue
        most, before = puzzle.copies[piece] if puzzle.copies else 1, cells_of.setdefault(piece, [])
        if most and len(before) >= most:
            often = "twice" if most == 1 else f"more often than its {most} copies allow"
            said = f"piece {piece + 1} is placed {often}: {label(before[0])} and {label(cell)}"
            violations[said] = [before[0], cell]
        before.append(cell)
        quad = quads[cell] = turned[oriented]
        if not puzzle.turns and quad != turned[piece * 4]:
            violations[f"{label(cell)}: piece {piece + 1} is turned, which this puzzle forbids"] = [cell]
        for side, (colour, wanted) in enumerate(zip(quad, required[cell], strict=True)):
            if wanted is not None and colour != wanted:
                rim_faults += 1
                expected = f"; expected {wanted}" * (wanted != GREY)
                said = f"{label(cell)}: its {_SIDES[side]} side on the rim has colour {colour}{expected}"
                violations[said] = [cell]
            elif wanted is None and colour == GREY:
                where = "inside the board" if puzzle.framed or not puzzle.rim_sides(cell)[side] else "without a frame"
                violations[f"{label(cell)}: its {_SIDES[side]} side is grey {where}"] = [cell]

    missing: list[str] = []
    for clue in puzzle.clues:
        there = quads[clue.cell]
        if there is None:
            missing.append(f"the clue on {label(clue.cell)} is missing: piece {clue.piece + 1}")
        elif there != turned[clue.piece * 4 + clue.rotation]:  # only the colours are compared
            said = f"the clue on {label(clue.cell)} is not respected: piece {clue.piece + 1} belongs there"
            violations[said] = [clue.cell]

    score = 0
    mismatches: list[tuple[int, int]] = []
    mates = dict(puzzle.mates) | {other: one for one, other in puzzle.mates}
    for cell, side, other in joints:
        here, there = quads[cell], quads[other]
        if here is None or there is None:
            continue
        if mates.get(here[side], here[side]) == there[side ^ 2] != GREY:
            score += 1
        else:
            mismatches.append((cell, other))
    return Verification(
        valid=not violations and not missing,
        score=score,
        max_score=puzzle.max_score,
        placed=sum(quad is not None for quad in quads),
        cells=len(quads) - len(holes),
        mismatches=tuple(mismatches),
        problems=(*violations, *missing),
        violations=tuple(violations),
        rim_faults=rim_faults,
        faulty=tuple(sorted({cell for cells in violations.values() for cell in cells})),
    )


@lru_cache(maxsize=8)
def _tables(puzzle: Puzzle) -> tuple[list[_Quad], list[tuple[int | None, ...]], list[tuple[int, int, int]]]:
    """Return the colours of each oriented piece, the colours that each cell requires, and all inner edges.

    An inner edge is (cell, side, neighbour), from the left or upper cell.
    """
    turned = [rotate(quad, rotation) for quad in puzzle.pieces.tolist() for rotation in range(4)]
    cells = range(puzzle.cells)
    joints = [(c, side, other) for c in cells for side, other in puzzle.neighbours(c) if side in (RIGHT, DOWN)]
    return turned, [puzzle.required_sides(cell) for cell in cells], joints
