"""Whether the colours of a puzzle can pair up, and the best score that is left if they cannot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from instances.puzzle import GREY, Puzzle


@dataclass(frozen=True)
class Pairing:
    """What the numbers of half-edges say about every board of a puzzle.

    Attributes
    ----------
    odd_colours : tuple of int
        Colours with an odd number of half-edges along the rim, or inside: one of each is left over.
    best_possible : int
        No board has a higher score than this. Boards may not reach it for other reasons.
    max_score : int
        Number of inner edges.
    """

    odd_colours: tuple[int, ...]
    best_possible: int
    max_score: int

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


def pairing(puzzle: Puzzle) -> Pairing:
    """Count half-edges of each colour, apart those that can only lie along the rim where the two kinds never meet.

    An edge whose sides differ takes one half-edge of each of two colours. So ``n`` colours with an odd number of
    half-edges cause at least ``n / 2`` mismatches. Without a frame the sides on the outer edge match nothing, so that
    nothing follows.

    Parameters
    ----------
    puzzle : Puzzle

    Returns
    -------
    Pairing
    """
    if not puzzle.framed:
        return Pairing((), puzzle.max_score, puzzle.max_score)
    apart = not puzzle.holes and min(puzzle.width, puzzle.height) > 1
    counts: Counter[tuple[bool, int]] = Counter()
    for quad in puzzle.pieces[: puzzle.piece_count].tolist():
        for side, colour in enumerate(quad):
            if colour != GREY:
                along_rim = apart and GREY in (quad[(side + 1) % 4], quad[(side + 3) % 4])
                counts[along_rim, colour] += 1
    odd = [key for key, count in counts.items() if count % 2]
    mismatches = sum(-(-sum(rim is kind for rim, _ in odd) // 2) for kind in (True, False))
    return Pairing(tuple(sorted({colour for _, colour in odd})), puzzle.max_score - mismatches, puzzle.max_score)
