"""Find the pieces of a puzzle by their colours, and the colours of a puzzle by the letters of a viewer URL."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats.base import Quad
from lns.instances.puzzle import GREY, Puzzle, canonical, rotate

_Pattern = tuple[int | None, ...]  # four colours, None for unknown ones

MOST_MAPS = 64  # looked at; a board with more is as ambiguous as one with so many
_MAX_QUADS = 3_000_000  # quads examined before the search for letters gives up: a few seconds


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
        self._shown = {rotate(quad, turns) for quad in self.by_colours for turns in range(4)}

    def cells_without_piece(self, quads: Sequence[Quad | None]) -> list[int]:
        """The cells whose colours are those of no piece."""
        return [cell for cell, quad in enumerate(quads) if quad is not None and quad not in self._shown]

    def board(self, quads: Sequence[Quad | None], numbers: Sequence[int | None] | None = None) -> tuple[Board, int]:
        """The board that shows given colours, and how many stated ``numbers`` are contradicted by their colours.

        Among identical pieces the stated one is chosen; without a statement, the clue's piece on the cell of a clue;
        otherwise the pieces in the order of the index; of pieces that may not be turned those first that need no turn.
        If the cells show more of them than exist, the last one is placed repeatedly, which `lns.instances.verify`
        reports. Raises InputError for a cell that shows colours of no piece.
        """
        forms = {cell: canonical(quad) for cell, quad in enumerate(quads) if quad is not None}
        alike = {cell: self.by_colours.get(form, []) for cell, form in forms.items()}
        for cell, identical in alike.items():
            if not identical:
                raise InputError(f"{self.puzzle.cell_label(cell)}: {quads[cell]} is no piece of {self.puzzle.name}")
        stated = [(cell, piece) for cell, piece in enumerate(numbers or ()) if piece is not None and cell in alike]
        wishes = [*stated, *((clue.cell, clue.piece) for clue in self.puzzle.clues)]
        if not self.puzzle.turns:
            lying = ((cell, piece) for cell, identical in alike.items() for piece in identical)
            wishes += [(cell, piece) for cell, piece in lying if tuple(self.pieces[piece]) == quads[cell]]
        chosen: dict[int, int] = {}
        used: set[int] = set()
        for cell, piece in wishes:
            if cell not in chosen and piece not in used and piece in alike.get(cell, ()):
                chosen[cell] = piece
                used.add(piece)
        waiting = {form: (each for each in self.by_colours[form] if each not in used) for form in {*forms.values()}}
        pairs: list[tuple[int, int] | None] = [None] * len(quads)
        for cell, identical in alike.items():
            piece = chosen[cell] if cell in chosen else next(waiting[forms[cell]], identical[-1])
            pairs[cell] = piece, next(turns for turns in range(4) if rotate(self.pieces[piece], turns) == quads[cell])
        contradicted = sum(piece not in alike[cell] for cell, piece in stated)
        return Board.from_pairs(pairs, self.puzzle.width, self.puzzle.height), contradicted


def match_letters(
    quads: Sequence[Quad | None], index: PieceIndex, numbers: Sequence[int | None] | None = None
) -> list[dict[int, int]]:
    """The one-to-one maps from letters to colours under which quads of letters are pieces, at most `MOST_MAPS`.

    Grey is grey. With ``numbers`` only maps under which every numbered cell shows its piece. Maps that use each piece
    at most once come first. Raises InputError if the search takes too long.
    """
    needed = Counter(canonical(quad) for quad in quads if quad is not None)
    stated: dict[Quad, Quad] = {}
    for quad, piece in zip(quads, numbers or (), strict=False):
        if quad is not None and piece is not None:
            if not 0 <= piece < len(index.pieces):
                return []
            shown = canonical(index.pieces[piece])
            if stated.setdefault(canonical(quad), shown) != shown:
                return []
    for each_once in (True, False):
        if maps := list(islice(_Search(needed, index, stated, each_once).maps(), MOST_MAPS)):
            return maps
    return []


class _Search:
    """A depth-first search for maps of letters, over the quads with the fewest matching pieces first.

    ``stated`` has the piece that a quad must be; with ``each_once`` no piece may be used more often than it exists.
    """

    def __init__(self, needed: Counter[Quad], index: PieceIndex, stated: Mapping[Quad, Quad], each_once: bool) -> None:
        self.needed = needed
        self.supply = Counter({piece: len(numbers) for piece, numbers in index.by_colours.items()})
        self.stated = {quad: {rotate(piece, turns) for turns in range(4)} for quad, piece in stated.items()}
        self.each_once = each_once
        self.examined = 0
        self.oriented: dict[_Pattern, list[Quad]] = defaultdict(list)  # by every pattern of known and unknown sides
        for quad in sorted({rotate(piece, turns) for piece in self.supply for turns in range(4)}):
            for pattern in product(*((colour, None) for colour in quad)):
                self.oriented[pattern].append(quad)

    def maps(self) -> Iterator[dict[int, int]]:
        """All maps, in a fixed order."""
        waiting = [{GREY: GREY}]
        while waiting:
            assigned = waiting.pop()
            if (unknown := self._unknown(assigned)) is None:
                continue
            if unknown:
                quad = min(unknown, key=lambda quad: len(unknown[quad]))
                waiting.extend(reversed(self._extensions(assigned, quad, unknown[quad])))
            else:
                yield assigned

    def _unknown(self, assigned: Mapping[int, int]) -> dict[Quad, list[Quad]] | None:
        """What each quad with an unknown letter may show; None if some quad can be no piece, or too many are one."""
        self.examined += len(self.needed)
        if self.examined > _MAX_QUADS:
            raise InputError(
                "the letters could not be matched to the colours in reasonable time; "
                "expected default letters or a motifs_order"
            )
        unknown: dict[Quad, list[Quad]] = {}
        used: Counter[Quad] = Counter()
        for quad, count in self.needed.items():
            pattern = tuple(map(assigned.get, quad))
            options = self.oriented.get(pattern, [])
            if quad in self.stated:
                options = [each for each in options if each in self.stated[quad]]
            if not options:
                return None
            if None in pattern:
                unknown[quad] = options
            else:
                used[canonical(options[0])] += count
        return None if self.each_once and not used <= self.supply else unknown

    def _extensions(self, assigned: dict[int, int], quad: Quad, options: Sequence[Quad]) -> list[dict[int, int]]:
        """A partial map with the letters of ``quad`` added, in every way that makes the quad a piece."""
        taken = set(assigned.values())
        extensions: dict[frozenset[tuple[int, int]], dict[int, int]] = {}
        for colours in options:
            pairs = frozenset(pair for pair in zip(quad, colours, strict=True) if pair[0] not in assigned)
            added = dict(pairs)
            one_to_one = len(pairs) == len(added) == len(set(added.values())) and taken.isdisjoint(added.values())
            if one_to_one and all((letter == GREY) == (colour == GREY) for letter, colour in added.items()):
                extensions.setdefault(pairs, {**assigned, **added})
        return list(extensions.values())
