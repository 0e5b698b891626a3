"""Counts of a puzzle's pieces and half-edges: a description as text, and whether all half-edges can be matched."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lns.instances.puzzle import GREY, Puzzle, canonical
from lns.instances.text import count_of


@dataclass(frozen=True)
class Pairing:
    """What the number of half-edges of each colour implies for every board of a puzzle."""

    odd_colours: tuple[int, ...]  # colours (of two mates, both) that leave half-edges unmatched on every board
    best_possible: int  # upper bound on the score that follows from the numbers of half-edges
    max_score: int  # number of inner edges of the board
    why: str = "an odd number of half-edges"

    def __str__(self) -> str:
        """Return a sentence about the colours in ``odd_colours``; an empty string if there are none."""
        if not self.odd_colours:
            return ""
        named = ", ".join(map(str, self.odd_colours[:8])) + (", ..." if len(self.odd_colours) > 8 else "")
        which = f"colour {named} has" if len(self.odd_colours) == 1 else f"colours {named} have"
        return f"no board is perfect, as {which} {self.why}; at most {self.best_possible} of {self.max_score} can match"


def half_edges(puzzle: Puzzle) -> tuple[Counter[int], Counter[int]]:
    """Count the half-edges of each colour: those along the rim (next to a grey side of their piece), and all others.

    Returns two counters, each with its colours in ascending order and without grey.
    """
    quads = puzzle.pieces[: puzzle.piece_count]
    beside_grey = (np.roll(quads, 1, axis=1) == GREY) | (np.roll(quads, -1, axis=1) == GREY)
    along_rim, inside = quads[(quads != GREY) & beside_grey], quads[(quads != GREY) & ~beside_grey]
    return Counter(sorted(along_rim.tolist())), Counter(sorted(inside.tolist()))


def pairing(puzzle: Puzzle) -> Pairing:
    """Find the colours (of two mates, both) that leave half-edges unmatched on every board, and bound the score.

    A colour that matches itself has an unmatched half-edge if the number of its half-edges is odd. Of two mates, the
    more frequent colour has as many unmatched half-edges as the two numbers differ by. Two unmatched half-edges make a
    mismatch. On boards without holes, half-edges along the rim only meet each other, and are counted apart. Nothing
    follows on a board without frame, whose outer sides match nothing, or if pieces may be left over.
    """
    if not puzzle.framed or puzzle.copies:
        return Pairing((), puzzle.max_score, puzzle.max_score)
    along_rim, inside = half_edges(puzzle)
    apart = not puzzle.holes and min(puzzle.width, puzzle.height) > 1
    best, odd = puzzle.max_score, set()
    for counts in (along_rim, inside) if apart else (along_rim + inside,):
        left = {
            colour: count - counts[mate] if (mate := int(puzzle.mate[colour])) != colour else count % 2
            for colour, count in counts.items()
        }
        odd |= {colour for colour, count in left.items() if count}
        best -= -(-sum(count for count in left.values() if count > 0) // 2)
    why = Pairing.why + ", or another than their mates" * bool(puzzle.mates)
    return Pairing(tuple(sorted(odd)), best, puzzle.max_score, why)


def piece_kinds(puzzle: Puzzle) -> dict[str, int]:
    """Return how many pieces are corners (two or more grey sides), edges (one) and inner pieces (none), by name."""
    grey = (puzzle.pieces[: puzzle.piece_count] == GREY).sum(axis=1)
    return {"corners": int((grey > 1).sum()), "edges": int((grey == 1).sum()), "inner": int((grey == 0).sum())}


def describe(puzzle: Puzzle) -> str:
    """Return lines of text about the board, pieces, colours and clues of a puzzle, each ending with a newline."""
    quads = puzzle.pieces[: puzzle.piece_count].tolist()
    corners, edges, inner = piece_kinds(puzzle).values()
    different = len({canonical(quad) if puzzle.turns else tuple(quad) for quad in quads})
    symmetric = sum(quad[:2] == quad[2:] for quad in quads)  # number of pieces that half a turn leaves unchanged
    along_rim, inside = half_edges(puzzle)
    colours, both = along_rim.keys() | inside.keys(), along_rim.keys() & inside.keys()
    lines = [
        f"board       {puzzle.shape_and_rules}, {puzzle.max_score} inner edges",
        f"pieces      {count_of(corners, 'corner')}, {count_of(edges, 'edge')}, {inner} inner; {different} different, "
        f"{symmetric} rotationally symmetric",
        f"colours     {len(colours)}, {len(both)} of them both along the rim and inside",
        f"along rim   {_counts(along_rim)}",
        f"inside      {_counts(inside)}",
    ]
    if unpaired := str(pairing(puzzle)):
        lines.append(f"pairing     {unpaired}")
    counted = " (rows, columns and cells from 0; pieces and rotations from 1, as in text files)" if puzzle.clues else ""
    lines.append(f"clues       {len(puzzle.clues)}{counted}")
    for clue in puzzle.clues:
        lines.append(f"  {puzzle.cell_label(clue.cell)}: piece {clue.piece + 1}, rotation {clue.rotation + 1}")
    return "".join(line + "\n" for line in lines)


def _counts(half_edges: dict[int, int]) -> str:
    """Return a text: '5 colours, 24 half-edges each', or '5 colours, 24 to 26 half-edges each' if counts differ."""
    if not half_edges:
        return "no colours"
    low, high = min(half_edges.values()), max(half_edges.values())
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{count_of(len(half_edges), 'colour')}, {each} half-edges each"
