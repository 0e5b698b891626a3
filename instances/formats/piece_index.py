"""Find the pieces of a puzzle by their colours, and from the colours on the cells the board."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from instances.board import Board
from instances.formats.base import Quad
from instances.puzzle import Puzzle, canonical, rotate
from lns_support.errors import InputError


class PieceIndex:
    """The pieces of a puzzle by their colours.

    ``by_colours`` maps the canonical form of a piece to the numbers of all such pieces: file order, those that clues
    name last.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.pieces: list[list[int]] = puzzle.pieces.tolist()
        self.by_colours: dict[Quad, list[int]] = defaultdict(list)
        clue_pieces = {clue.piece for clue in puzzle.clues}
        for piece in sorted(range(len(self.pieces)), key=lambda piece: piece in clue_pieces):
            self.by_colours[canonical(self.pieces[piece])].append(piece)

    def cells_without_piece(self, quads: Sequence[Quad | None]) -> list[int]:
        """The cells whose colours are those of no piece."""
        return [cell for cell, quad in enumerate(quads) if quad is not None and canonical(quad) not in self.by_colours]

    def board(self, quads: Sequence[Quad | None], numbers: Sequence[int | None] | None = None) -> tuple[Board, int]:
        """The board that shows given colours, and how many stated ``numbers`` are contradicted by their colours.

        Among identical pieces the stated one is chosen; without a statement, the clue's piece on the cell of a clue;
        otherwise the pieces in the order of the index; of pieces that may not be turned those first that need no turn.
        If the cells show more of them than exist, the last one is placed repeatedly, which `instances.verify` reports.
        Raises InputError for a cell that shows colours of no piece.
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
        if not self.puzzle.turns:
            for cell, quad in enumerate(quads):
                alike = () if quad is None or chosen[cell] is not None else self.by_colours.get(canonical(quad), ())
                unturned = (each for each in alike if each not in used and tuple(self.pieces[each]) == quad)
                if (piece := next(unturned, None)) is not None:
                    chosen[cell] = piece
                    used.add(piece)
        next_index: Counter[Quad] = Counter()
        pairs: list[tuple[int, int] | None] = []
        for cell, quad in enumerate(quads):
            if quad is None:
                pairs.append(None)
                continue
            piece = chosen[cell]
            if piece is None:
                form = canonical(quad)
                identical = self.by_colours.get(form)
                if identical is None:
                    raise InputError(f"{self.puzzle.cell_label(cell)}: {quad} is no piece of {self.puzzle.name}")
                while next_index[form] < len(identical) and identical[next_index[form]] in used:
                    next_index[form] += 1
                piece = identical[min(next_index[form], len(identical) - 1)]
                used.add(piece)
            colours = self.pieces[piece]
            pairs.append((piece, next(turns for turns in range(4) if rotate(colours, turns) == quad)))
        return Board.from_pairs(pairs, self.puzzle.width, self.puzzle.height), contradicted
