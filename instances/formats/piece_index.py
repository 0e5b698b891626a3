"""From the colours that lie on the cells to the pieces that have them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from instances.board import Board
from instances.formats.base import Quad
from instances.puzzle import Puzzle, canonical, rotate
from lns_support.errors import InputError


class PieceIndex:
    """The pieces of a puzzle by their colours: canonical quad -> piece numbers in file order, those of clues last."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.pieces: list[list[int]] = puzzle.pieces.tolist()
        self.by_colours: dict[Quad, list[int]] = defaultdict(list)
        bound = {clue.piece for clue in puzzle.clues}
        for piece in sorted(range(len(self.pieces)), key=lambda piece: piece in bound):
            self.by_colours[canonical(self.pieces[piece])].append(piece)

    def strangers(self, quads: Sequence[Quad | None]) -> list[int]:
        """Cells whose quad is no piece of the puzzle."""
        return [cell for cell, quad in enumerate(quads) if quad is not None and canonical(quad) not in self.by_colours]

    def board(self, quads: Sequence[Quad | None], numbers: Sequence[int | None] | None = None) -> tuple[Board, int]:
        """The board that shows ``quads``, and how many of ``numbers`` (pieces, where stated) its colours contradict.

        Of identical pieces the stated one is taken, else the clue's on the cell of a clue, else the k-th for the k-th
        cell that shows them. When all are used one lies twice, which `instances.verify` then names. Raises InputError
        at a quad that is no piece.
        """
        chosen: list[int | None] = [None] * len(quads)
        used: set[int] = set()
        contradicted = 0

        def shows(cell: int, piece: int) -> bool:
            quad = quads[cell]
            return quad is not None and piece in self.by_colours.get(canonical(quad), ())

        for cell, stated in enumerate(numbers or ()):
            if stated is None or quads[cell] is None:
                continue
            if not shows(cell, stated):
                contradicted += 1
            elif stated not in used:
                chosen[cell] = stated
                used.add(stated)
        for clue in self.puzzle.clues:
            if chosen[clue.cell] is None and clue.piece not in used and shows(clue.cell, clue.piece):
                chosen[clue.cell] = clue.piece
                used.add(clue.piece)
        taken: Counter[Quad] = Counter()
        pairs: list[tuple[int, int] | None] = []
        for cell, quad in enumerate(quads):
            if quad is None:
                pairs.append(None)
                continue
            piece = chosen[cell]
            if piece is None:
                kind = canonical(quad)
                twins = self.by_colours.get(kind)
                if twins is None:
                    raise InputError(f"{self.puzzle.cell_label(cell)}: {quad} is no piece of {self.puzzle.name}")
                while taken[kind] < len(twins) and twins[taken[kind]] in used:
                    taken[kind] += 1
                piece = twins[min(taken[kind], len(twins) - 1)]
                used.add(piece)
            colours = self.pieces[piece]
            pairs.append((piece, next(turns for turns in range(4) if rotate(colours, turns) == quad)))
        return Board.from_pairs(pairs, self.puzzle.width, self.puzzle.height), contradicted
