"""Small puzzles with a planted solution, for tests; few colours make identical and symmetric pieces common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from lns.instances.board import EMPTY, Board
from lns.instances.puzzle import Clue, Puzzle, canonical, rotate


def planted(
    seed: int,
    width: int,
    height: int,
    colours: int,
    clues: int = 0,
    *,
    border_colours: int = 0,
    holes: tuple[int, ...] = (),
    framed: bool = True,
    turns: bool = True,
    rim: int = 0,
) -> tuple[Puzzle, Board]:
    """(puzzle, its solution): every inner joint has a uniform colour from 1 to ``colours``.

    ``border_colours``: the joints between two cells on the rim have as many colours of their own; 0 = those of all.
    ``rim``: the colour of all outer sides of a board without frame, if not 0.
    """
    rng = np.random.default_rng(seed)
    across = np.zeros((height, width + 1), dtype=np.int32)
    across[:, 1:-1] = rng.integers(1, colours + 1, (height, width - 1))
    down = np.zeros((height + 1, width), dtype=np.int32)
    down[1:-1] = rng.integers(1, colours + 1, (height - 1, width))
    if not framed:
        across[:, [0, -1]] = rng.integers(1, colours + 1, (height, 2))
        down[[0, -1]] = rng.integers(1, colours + 1, (2, width))
    if rim:
        across[:, [0, -1]] = down[[0, -1]] = rim
    if border_colours:
        across[[0, -1], 1:-1] = rng.integers(colours + 1, colours + border_colours + 1, (2, width - 1))
        down[1:-1, [0, -1]] = rng.integers(colours + 1, colours + border_colours + 1, (height - 1, 2))
    for row, column in (divmod(cell, width) for cell in holes):
        across[row, column : column + 2] = down[row : row + 2, column] = 0
    quads = np.stack([down[:-1], across[:, 1:], down[1:], across[:, :-1]], axis=2).reshape(-1, 4)
    cell_of = rng.permutation(np.setdiff1d(np.arange(width * height), holes))  # by piece, where it lies
    rotation = rng.integers(0, 4 if turns else 1, len(cell_of))  # piece -> its rotation there
    pieces = np.array([np.roll(quads[cell], -turn) for cell, turn in zip(cell_of, rotation, strict=True)])
    placements = np.full(width * height, EMPTY, dtype=np.int32)
    placements[cell_of] = 4 * np.arange(len(cell_of)) + rotation
    pinned = rng.permutation(len(cell_of))[:clues].tolist()
    given = tuple(Clue(int(cell_of[piece]), piece, int(rotation[piece])) for piece in pinned)
    puzzle = Puzzle(pieces, width, height, given, f"planted-{seed}", holes=holes, framed=framed, turns=turns, rim=rim)
    return puzzle, Board(placements, width, height).with_blanks(puzzle)


def with_mates(puzzle: Puzzle, board: Board, seed: int, share: float = 0.6) -> Puzzle:
    """The puzzle of a perfect ``board`` with a mate for a ``share`` of its colours, at least one.

    One side of each joint of such a colour, and some outer sides that may have any colour, get the mate instead.
    """
    rng = np.random.default_rng(seed)
    pieces, colours = puzzle.pieces.copy(), puzzle.colours
    paired = rng.random(colours + 1) < share
    paired[rng.integers(colours + 1)] = True
    paired[0] = False
    for cell, oriented in enumerate(board.placements.tolist()):
        beyond = dict(puzzle.neighbours(cell))
        for side, required in enumerate(puzzle.required_sides(cell)):
            if required is None and beyond.get(side, cell) >= cell and paired[puzzle.turned[oriented, side]]:
                changed = (cell, side) if rng.random() < 0.5 else (beyond[side], side ^ 2) if side in beyond else None
                if changed is not None:
                    there = int(board.placements[changed[0]])
                    pieces[there // 4, (changed[1] - there) % 4] += colours
    mates = tuple((int(colour), int(colour) + colours) for colour in np.flatnonzero(paired))
    return replace(puzzle, pieces=pieces, mates=mates, name=f"{puzzle.name}-mates")


def of_any_rules(seed: int, most: int = 36, unusual: float = 0.0) -> tuple[Puzzle, Board]:
    """(puzzle, its solution) of at most ``most`` cells, up to 6 x 6, each rule of `Puzzle` with or without the others.

    Few colours, so that identical and symmetric pieces occur. ``unusual``: the share of those with mates, and of those
    with a rim of an ordinary colour.
    """
    rng = np.random.default_rng(seed)
    while True:
        width, height = (int(n) for n in rng.integers(1, 7, 2))
        if 3 <= width * height <= most:
            break
    framed = bool(rng.random() < 0.7)
    holes: tuple[int, ...] = ()
    if rng.random() < 0.35:
        count = int(rng.integers(1, 1 + max(1, width * height // 4)))
        holes = tuple(rng.permutation(width * height)[:count].tolist())
    other = np.random.default_rng([seed, 1])  # so that the puzzles without them are those of any ``unusual``
    mates, rim = (other.random(2) < unusual).tolist()
    framed &= not rim
    puzzle, board = planted(
        int(rng.integers(1 << 30)),
        width,
        height,
        int(rng.integers(1, 9)),
        min(int(rng.integers(0, 4)), width * height - len(holes)) if rng.random() < 0.5 else 0,
        border_colours=int(rng.integers(1, 4)) if framed and rng.random() < 0.4 else 0,
        holes=holes,
        framed=framed,
        turns=bool(rng.random() < 0.65),
        rim=int(rim),
    )
    return (with_mates(puzzle, board, seed) if mates and puzzle.colours else puzzle), board


def exchanged(board: Board, *cells: int) -> Board:
    """The board with what lies on these cells in the opposite order: the pieces of two cells exchanged."""
    placements = board.placements.copy()
    placements[[*cells]] = placements[[*reversed(cells)]]
    return Board(placements, board.width, board.height)


def rules_of(puzzle: Puzzle) -> set[str]:
    """The rules of a puzzle and what else its pieces or shape have that a search could get wrong."""
    pieces = puzzle.pieces[: puzzle.piece_count].tolist()
    kinds = {canonical(quad) if puzzle.turns else tuple(quad) for quad in pieces}
    border = {quad[(side + 1) % 4] for quad in pieces for side in range(4) if quad[side] == 0} - {0}
    present = {
        "clues": bool(puzzle.clues),
        "one row": min(puzzle.width, puzzle.height) == 1,
        "identical pieces": len(kinds) < len(pieces),
        "symmetric pieces": any(rotate(quad, 2) == tuple(quad) for quad in pieces),
        "several border colours": puzzle.framed and len(border) > 1,
    }
    return {*puzzle.rules, *(name for name, there in present.items() if there)} or {"none"}


@st.composite
def puzzles(draw: st.DrawFn, square: bool = False, max_clues: int = 3) -> tuple[Puzzle, Board]:
    """A puzzle of at most 5 x 5 and its solution."""
    width = draw(st.integers(1, 5))
    height = width if square else draw(st.integers(1, 5))
    clues = draw(st.integers(0, min(max_clues, width * height)))
    return planted(draw(st.integers(0, 2**32)), width, height, draw(st.integers(1, 6)), clues)


@st.composite
def boards(draw: st.DrawFn, square: bool = False) -> tuple[Puzzle, Board]:
    """A puzzle and its solution with up to four cells changed: emptied, or with any oriented piece."""
    puzzle, board = draw(puzzles(square=square))
    placements = board.placements.copy()
    for cell in draw(st.lists(st.integers(0, puzzle.cells - 1), max_size=4)):
        placements[cell] = draw(st.integers(-1, 4 * puzzle.cells - 1))
    return puzzle, Board(placements, puzzle.width, puzzle.height)


def renumbered(puzzle: Puzzle, board: Board, seed: int) -> tuple[Puzzle, Board]:
    """The same set of pieces, clues and board in another numbering of pieces and colours, listed in other rotations."""
    rng = np.random.default_rng(seed)
    paired = (colour for pair in puzzle.mates for colour in pair)
    colours = sorted({*puzzle.pieces.ravel().tolist(), *paired, puzzle.rim} - {0})
    names = np.zeros(max([0, *colours]) + 1, dtype=np.int32)
    names[colours] = rng.permutation(len(colours)) + 1
    count = puzzle.piece_count
    number, turns = rng.permutation(count), rng.integers(0, 4, count) * puzzle.turns
    pieces = np.empty((count, 4), dtype=np.int32)
    for piece in range(count):
        pieces[number[piece]] = np.roll(names[puzzle.pieces[piece]], turns[piece])

    def other(piece: int, rotation: int) -> tuple[int, int]:
        return int(number[piece]), int(rotation - turns[piece]) % 4

    pairs = board.without_blanks(puzzle).pairs()
    return (
        replace(
            puzzle,
            pieces=pieces,
            clues=tuple(Clue(clue.cell, *other(clue.piece, clue.rotation)) for clue in puzzle.clues),
            name=f"{puzzle.name}-renumbered",
            mates=tuple((int(names[one]), int(names[other])) for one, other in puzzle.mates),
            rim=int(names[puzzle.rim]),
            copies=tuple(puzzle.copies[piece] for piece in np.argsort(number)) if puzzle.copies else (),
        ),
        Board.from_pairs([pair and other(*pair) for pair in pairs], board.width, board.height).with_blanks(puzzle),
    )


def with_copies(puzzle: Puzzle, seed: int) -> Puzzle:
    """The puzzle with each different piece once, in as many copies as it had, more, or any number; and a few more
    pieces. It has the solutions that it had, as colours; one with holes is returned as it is."""
    if puzzle.holes:
        return puzzle
    rng = np.random.default_rng(seed)
    first: dict[tuple[int, ...], int] = {}
    copies: list[int] = []
    quads: list[list[int]] = []
    turned: list[tuple[int, int]] = []  # by piece: its number now, and the turn that makes it look as before
    for quad in puzzle.pieces.tolist():
        number = first.setdefault(canonical(quad) if puzzle.turns else tuple(quad), len(quads))
        if number == len(quads):
            quads.append(quad)
            copies.append(0)
        copies[number] += 1
        turned.append((number, next(turn for turn in range(4) if rotate(quads[number], turn) == tuple(quad))))
    copies = [int(rng.choice([0, number, number, number + 1])) for number in copies]
    for quad in rng.integers(1, max(2, puzzle.colours + 1), (int(rng.integers(0, 4)), 4)).tolist():
        look = canonical(quad) if puzzle.turns else tuple(quad)
        if first.setdefault(look, len(quads)) == len(quads):
            quads.append(quad)
            copies.append(int(rng.choice([0, 1, 2])))
    named = ((clue.cell, clue.rotation, *turned[clue.piece]) for clue in puzzle.clues)
    clues = (Clue(cell, number, (turn + rotation) % 4) for cell, rotation, number, turn in named)
    return replace(puzzle, pieces=np.array(quads, np.int32), clues=tuple(clues), copies=tuple(copies))
