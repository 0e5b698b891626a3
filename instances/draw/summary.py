"""A puzzle in words: its pieces, colours and clues."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from instances.puzzle import GREY, Puzzle, canonical


@dataclass(frozen=True)
class Summary:
    """What a puzzle is made of.

    ``corners``, ``edges``, ``inner``: pieces with two or more, one, and no grey sides. ``along_rim``: half-edges by
    colour that can only lie along the rim (beside a grey side); ``inside``: all others. ``different``: pieces up to
    rotation. ``symmetric``: pieces that some turn leaves unchanged.
    """

    corners: int
    edges: int
    inner: int
    along_rim: dict[int, int]
    inside: dict[int, int]
    different: int
    symmetric: int


def summarise(puzzle: Puzzle) -> Summary:
    """Count pieces and colours of ``puzzle``."""
    quads = puzzle.pieces.tolist()
    greys = Counter(min(2, quad.count(GREY)) for quad in quads)
    along_rim: Counter[int] = Counter()
    inside: Counter[int] = Counter()
    for quad in quads:
        for side, colour in enumerate(quad):
            if colour != GREY:
                beside_grey = GREY in (quad[(side + 1) % 4], quad[(side + 3) % 4])
                (along_rim if beside_grey else inside)[colour] += 1
    different = set(map(canonical, quads))
    symmetric = sum(quad[:2] == quad[2:] for quad in quads)
    return Summary(
        greys[2],
        greys[1],
        greys[0],
        dict(sorted(along_rim.items())),
        dict(sorted(inside.items())),
        len(different),
        symmetric,
    )


def describe(puzzle: Puzzle) -> str:
    """The summary in a few lines, ending in a newline."""
    summary = summarise(puzzle)
    colours, both = summary.along_rim.keys() | summary.inside.keys(), summary.along_rim.keys() & summary.inside.keys()
    lines = [
        f"board       {puzzle.width} x {puzzle.height}, {puzzle.max_score} inner edges",
        f"pieces      {summary.corners} corners, {summary.edges} edges, {summary.inner} inner; "
        f"{summary.different} different, {summary.symmetric} rotationally symmetric",
        f"colours     {len(colours)}, {len(both)} of them both along the rim and inside",
        f"along rim   {_counts(summary.along_rim)}",
        f"inside      {_counts(summary.inside)}",
        f"clues       {len(puzzle.clues)}",
    ]
    for clue in puzzle.clues:
        lines.append(f"  {puzzle.cell_label(clue.cell)}: piece {clue.piece + 1}, rotation {clue.rotation + 1}")
    return "".join(line + "\n" for line in lines)


def _counts(half_edges: dict[int, int]) -> str:
    if not half_edges:
        return "no colours"
    low, high = min(half_edges.values()), max(half_edges.values())
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{len(half_edges)} colours, {each} half-edges each"
