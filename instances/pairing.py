"""Whether the colours of a puzzle can pair up, and the best score that is left if they cannot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lns.instances.puzzle import GREY, Puzzle


@dataclass(frozen=True)
class Pairing:
    """What the numbers of half-edges say about every board of a puzzle."""

    odd_colours: tuple[int, ...]  # an odd number of half-edges along the rim, or inside: one of each is left over
    best_possible: int  # no board has a higher score; boards may not reach it for other reasons
    max_score: int  # number of inner edges

    def __str__(self) -> str:
        """A sentence about the colours that cannot pair up; empty if all can."""
        if not self.odd_colours:
            return ""
        named = ", ".join(map(str, self.odd_colours[:8])) + (", ..." if len(self.odd_colours) > 8 else "")
        which = f"colour {named} has" if len(self.odd_colours) == 1 else f"colours {named} have"
        return (
            f"no board is perfect, as {which} an odd number of half-edges; "
            f"at most {self.best_possible} of {self.max_score} can match"
        )


def half_edges(puzzle: Puzzle) -> tuple[Counter[int], Counter[int]]:
    """Half-edges of each colour: those that can only lie along the rim, next to a grey side of their piece; all others.

    Grey is left out.
    """
    along_rim: Counter[int] = Counter()
    inside: Counter[int] = Counter()
    for quad in puzzle.pieces[: puzzle.piece_count].tolist():
        for side, colour in enumerate(quad):
            if colour != GREY:
                beside_grey = GREY in (quad[(side + 1) % 4], quad[(side + 3) % 4])
                (along_rim if beside_grey else inside)[colour] += 1
    return along_rim, inside


def pairing(puzzle: Puzzle) -> Pairing:
    """Count half-edges of each colour, apart those that can only lie along the rim where the two kinds never meet.

    An edge whose sides differ takes one half-edge of each of two colours. So ``n`` colours with an odd number of
    half-edges cause at least ``n / 2`` mismatches. Without a frame the sides on the outer edge match nothing, so that
    nothing follows.
    """
    if not puzzle.framed:
        return Pairing((), puzzle.max_score, puzzle.max_score)
    along_rim, inside = half_edges(puzzle)
    apart = not puzzle.holes and min(puzzle.width, puzzle.height) > 1
    odd = [
        [colour for colour, count in counts.items() if count % 2]
        for counts in ((along_rim, inside) if apart else (along_rim + inside,))
    ]
    best = puzzle.max_score - sum(-(-len(colours) // 2) for colours in odd)
    return Pairing(tuple(sorted({colour for colours in odd for colour in colours})), best, puzzle.max_score)
