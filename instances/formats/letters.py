"""Which letter is which colour: told by the pieces themselves.

A board in letters and a puzzle in colours are given; wanted is an injective map, grey to grey, under which every quad
on the board is a piece of the puzzle. Backtracking over the quads, the most constrained first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

from instances.formats.base import Quad
from instances.formats.piece_index import PieceIndex
from instances.puzzle import GREY, canonical, rotate
from lns_support.errors import InputError

Pattern = tuple[int | None, int | None, int | None, int | None]

_WORK = 3_000_000  # quads looked at before the search gives up: a few seconds


def match_letters(quads: Sequence[Quad | None], index: PieceIndex) -> tuple[dict[int, int], bool] | None:
    """(letter -> colour, whether no other map does), or None where there is none.

    Maps that use each piece once are preferred to those that do not. Raises InputError when the search takes too long.
    """
    needed = Counter(canonical(quad) for quad in quads if quad is not None)
    patterns = _patterns(index)
    for each_once in (True, False):
        found = _Search(needed, index, patterns, each_once).solutions()
        first = next(found, None)
        if first is not None:
            try:
                return first, next(found, None) is None
            except InputError:  # too long to tell
                return first, False
    return None


def _patterns(index: PieceIndex) -> dict[Pattern, list[Quad]]:
    """The distinct oriented quads of the puzzle by every pattern of known and unknown (None) sides."""
    oriented = {rotate(kind, turns) for kind in index.by_colours for turns in range(4)}
    table: dict[Pattern, list[Quad]] = defaultdict(list)
    for quad in sorted(oriented):
        for a, b, c, d in product((True, False), repeat=4):
            table[
                quad[0] if a else None, quad[1] if b else None, quad[2] if c else None, quad[3] if d else None
            ].append(quad)
    return dict(table)


def _roles(kinds: Counter[Quad]) -> dict[int, Counter[tuple[bool, ...]]]:
    """How often each colour stands beside which greys: (grey to the right, opposite, to the left) of the side."""
    roles: dict[int, Counter[tuple[bool, ...]]] = defaultdict(Counter)
    for quad, count in kinds.items():
        for side, colour in enumerate(quad):
            roles[colour][tuple(quad[(side + turn) % 4] == GREY for turn in (1, 2, 3))] += count
    return roles


class _Search:
    def __init__(
        self, needed: Counter[Quad], index: PieceIndex, patterns: dict[Pattern, list[Quad]], each_once: bool
    ) -> None:
        self.needed = needed
        self.patterns = patterns
        self.each_once = each_once
        self.supply = {kind: len(twins) for kind, twins in index.by_colours.items()}
        self.work = 0
        here, there = _roles(needed), _roles(Counter(self.supply))
        self.allowed = {
            letter: {
                colour
                for colour, available in there.items()
                if (colour == GREY) == (letter == GREY)
                and (not each_once or all(available[role] >= count for role, count in roles.items()))
            }
            for letter, roles in here.items()
        }

    def solutions(self) -> Iterator[dict[int, int]]:
        waiting = [{GREY: GREY}]
        while waiting:
            known = waiting.pop()
            further = self._further(known)
            if further is None:
                yield known
            else:
                waiting.extend(reversed(further))

    def _further(self, known: dict[int, int]) -> list[dict[int, int]] | None:
        """The extensions of ``known`` by the quad with the fewest pieces left: none at a dead end.

        None = every letter is known and all is well.
        """
        self.work += len(self.needed)
        if self.work > _WORK:
            raise InputError(
                "the letters could not be matched to the colours in reasonable time; "
                "expected default letters or a motifs_order"
            )
        best: Quad | None = None
        fewest = 0
        used: Counter[Quad] = Counter()
        for quad, count in self.needed.items():
            pattern = _pattern(quad, known)
            options = self.patterns.get(pattern)
            if not options:
                return []
            if None not in pattern:
                kind = canonical(options[0])
                used[kind] += count
                if self.each_once and used[kind] > self.supply[kind]:
                    return []
            elif best is None or len(options) < fewest:
                best, fewest = quad, len(options)
        return None if best is None else self._extensions(known, best)

    def _extensions(self, known: dict[int, int], quad: Quad) -> list[dict[int, int]]:
        """``known`` with the letters of ``quad`` added, in every way that makes it a piece."""
        taken = set(known.values())
        found: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
        for colours in self.patterns[_pattern(quad, known)]:
            added: dict[int, int] = {}
            for letter, colour in zip(quad, colours, strict=True):
                if letter in known:
                    continue
                if added.setdefault(letter, colour) != colour or colour in taken or colour not in self.allowed[letter]:
                    break
            else:
                if len(set(added.values())) == len(added):
                    found.setdefault(tuple(sorted(added.items())), {**known, **added})
        return list(found.values())


def _pattern(quad: Quad, known: dict[int, int]) -> Pattern:
    a, b, c, d = quad
    return known.get(a), known.get(b), known.get(c), known.get(d)
