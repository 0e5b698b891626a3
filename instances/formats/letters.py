"""Find which letter of a viewer URL stands for which colour of a puzzle.

Given a board in letters and a puzzle in colours, the search finds a one-to-one map from letters to colours, grey to
grey, under which the letters of every cell are those of a piece. It backtracks over the cells' quads, the most
constrained first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product

from instances.formats.base import Quad
from instances.formats.piece_index import PieceIndex
from instances.puzzle import GREY, canonical, rotate
from lns_support.errors import InputError

Pattern = tuple[int | None, int | None, int | None, int | None]

MOST_MAPS = 64  # looked at; a board with more is as ambiguous as one with so many
_MAX_QUADS = 3_000_000  # quads examined before the search gives up: a few seconds


def match_letters(
    quads: Sequence[Quad | None], index: PieceIndex, numbers: Sequence[int | None] | None = None
) -> list[dict[int, int]]:
    """The maps from letters to colours under which the quads of letters are pieces, at most `MOST_MAPS`.

    With ``numbers`` only maps under which every numbered cell shows its piece. Maps that use each piece at most once
    come first. Raises InputError if the search takes too long.
    """
    needed = Counter(canonical(quad) for quad in quads if quad is not None)
    patterns = _patterns(index)
    stated: dict[Quad, Quad] = {}
    for quad, piece in zip(quads, numbers or (), strict=False):
        if quad is not None and piece is not None:
            if not 0 <= piece < len(index.pieces):
                return []
            shown = canonical(index.pieces[piece])
            if stated.setdefault(canonical(quad), shown) != shown:
                return []
    for each_once in (True, False):
        maps = list(islice(_Search(needed, index, patterns, each_once, stated).solutions(), MOST_MAPS))
        if maps:
            return maps
    return []


def _patterns(index: PieceIndex) -> dict[Pattern, list[Quad]]:
    """The distinct oriented pieces of the puzzle by every pattern of known and unknown (None) sides."""
    oriented = {rotate(piece, turns) for piece in index.by_colours for turns in range(4)}
    table: dict[Pattern, list[Quad]] = defaultdict(list)
    for quad in sorted(oriented):
        for a, b, c, d in product((True, False), repeat=4):
            table[
                quad[0] if a else None, quad[1] if b else None, quad[2] if c else None, quad[3] if d else None
            ].append(quad)
    return dict(table)


def _roles(pieces: Counter[Quad]) -> dict[int, Counter[tuple[bool, ...]]]:
    """How often each colour has which role: which of the other sides, clockwise from its own, are grey."""
    roles: dict[int, Counter[tuple[bool, ...]]] = defaultdict(Counter)
    for quad, count in pieces.items():
        for side, colour in enumerate(quad):
            roles[colour][tuple(quad[(side + turn) % 4] == GREY for turn in (1, 2, 3))] += count
    return roles


class _Search:
    """A depth-first search for maps; with ``each_once`` no piece may be used more often than it exists."""

    def __init__(
        self,
        needed: Counter[Quad],
        index: PieceIndex,
        patterns: dict[Pattern, list[Quad]],
        each_once: bool,
        stated: dict[Quad, Quad],
    ) -> None:
        self.needed = needed
        self.stated = stated
        self.patterns = patterns
        self.each_once = each_once
        self.supply = {piece: len(numbers) for piece, numbers in index.by_colours.items()}
        self.examined = 0
        letter_roles, colour_roles = _roles(needed), _roles(Counter(self.supply))
        self.allowed = {
            letter: {
                colour
                for colour, available in colour_roles.items()
                if (colour == GREY) == (letter == GREY)
                and (not each_once or all(available[role] >= count for role, count in roles.items()))
            }
            for letter, roles in letter_roles.items()
        }

    def solutions(self) -> Iterator[dict[int, int]]:
        """All maps, in a fixed order."""
        waiting = [{GREY: GREY}]
        while waiting:
            assigned = waiting.pop()
            extensions = self._branch(assigned)
            if extensions is None:
                yield assigned
            else:
                waiting.extend(reversed(extensions))

    def _branch(self, assigned: dict[int, int]) -> list[dict[int, int]] | None:
        """The extensions of a partial map by the letters of the quad with the fewest matching pieces.

        An empty list is a dead end; None means that the map is complete and valid.
        """
        self.examined += len(self.needed)
        if self.examined > _MAX_QUADS:
            raise InputError(
                "the letters could not be matched to the colours in reasonable time; "
                "expected default letters or a motifs_order"
            )
        best: Quad | None = None
        fewest = 0
        used: Counter[Quad] = Counter()
        for quad, count in self.needed.items():
            pattern = _pattern(quad, assigned)
            options = self._options(quad, pattern)
            if not options:
                return []
            if None not in pattern:
                piece = canonical(options[0])
                used[piece] += count
                if self.each_once and used[piece] > self.supply[piece]:
                    return []
            elif best is None or len(options) < fewest:
                best, fewest = quad, len(options)
        return None if best is None else self._extensions(assigned, best)

    def _options(self, quad: Quad, pattern: Pattern) -> list[Quad]:
        """The oriented pieces that a quad of letters may show, only the stated one if its cell is numbered."""
        piece = self.stated.get(quad)
        if piece is None:
            return self.patterns.get(pattern, [])
        oriented = {rotate(piece, turns) for turns in range(4)}
        return sorted(
            colours for colours in oriented if all(a is None or a == b for a, b in zip(pattern, colours, strict=True))
        )

    def _extensions(self, assigned: dict[int, int], quad: Quad) -> list[dict[int, int]]:
        """A partial map with the letters of ``quad`` added, in every way that makes the quad a piece."""
        taken = set(assigned.values())
        extensions: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
        for colours in self._options(quad, _pattern(quad, assigned)):
            added: dict[int, int] = {}
            for letter, colour in zip(quad, colours, strict=True):
                if letter in assigned:
                    continue
                if added.setdefault(letter, colour) != colour or colour in taken or colour not in self.allowed[letter]:
                    break
            else:
                if len(set(added.values())) == len(added):
                    extensions.setdefault(tuple(sorted(added.items())), {**assigned, **added})
        return list(extensions.values())


def _pattern(quad: Quad, assigned: dict[int, int]) -> Pattern:
    """The colours of a quad of letters, None for letters without a colour."""
    a, b, c, d = quad
    return assigned.get(a), assigned.get(b), assigned.get(c), assigned.get(d)
