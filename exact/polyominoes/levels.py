"""Grids to be filled: random cuts into polyominoes (Perrin & Beaujard, VI), and levels of IQ Puzzler Pro.

A level is the game with some pieces placed, which a player completes with the other pieces. The shipped levels were
made by `make_level` and have exactly one filling each; they are not the levels sold with the game. A tier is the levels
with the same number of pieces left to place.
"""

from __future__ import annotations

import string
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations

from lns.exact.polyominoes.grid import (
    BLOCKED,
    FREE,
    IQ_PUZZLER_PRO,
    MAX_CELLS,
    Cell,
    Grid,
    Shape,
    bounding_box,
    neighbours,
    normal,
    orientations,
    parse,
)
from lns.exact.polyominoes.model import build_model
from lns.exact.polyominoes.search import fill
from lns.instances.errors import InputError
from lns.instances.generate.planted import PortableRandom

TIERS = {"easy": 4, "medium": 6, "hard": 8, "expert": 9}
"""Tier of levels -> number of pieces left to place."""

_COMPLETION_NODES = 100_000
_COUNT_NODES = 3_000_000
MAX_PIECES = 50  # most pieces of a cut by default, as in the report of Perrin & Beaujard
MIN_CELLS = 2  # fewest cells of a piece by default
ATTEMPTS, REPAIRS = 20, 60  # for a cut with limits: most attempts, and most steps of an attempt per cell of the grid
GROWTHS = 6  # most pieces grown in a step until one is within the limits; then a neighbouring piece has to change
_NAMES = string.ascii_uppercase + string.ascii_lowercase + string.digits + "".join(map(chr, range(0x3B1, 0x3CA)))


@dataclass(frozen=True)
class CutLimits:
    """Limits on the pieces into which a grid is cut."""

    smallest: int = MIN_CELLS  # fewest cells of a piece
    largest: int = 5
    longest: int | None = None  # most cells along the longer side of the bounding box; None is any number
    thinnest: int = 1  # fewest cells along the shorter side of the bounding box; 2 excludes straight pieces
    distinct: bool = False  # whether pieces that are equal up to rotation and reflection are excluded

    def __post_init__(self) -> None:
        wrong = f"pieces of {self.smallest} to {self.largest} cells" * (not 1 <= self.smallest <= self.largest)
        if self.longest is not None and not 1 <= self.thinnest <= self.longest:
            wrong = wrong or f"pieces at least {self.thinnest} and at most {self.longest} cells long"
        if wrong:
            raise InputError(f"{wrong}; expected the smaller number first, 1 or more")

    def allow(self, piece: Sequence[Cell], used: Collection[Shape]) -> bool:
        """Return whether a piece is within the limits; ``used``: first orientation of the shape of each other piece."""
        fits = self.smallest <= len(piece) and min(bounding_box(piece)) >= self.thinnest and self.may_grow_to(piece)
        return fits and not (self.distinct and orientations(normal(piece))[0] in used)

    def may_grow_to(self, piece: Sequence[Cell]) -> bool:
        """Return whether a piece, which may be unfinished, is not too large and not too long."""
        return len(piece) <= self.largest and (self.longest is None or max(bounding_box(piece)) <= self.longest)


def cut_grid(
    width: int, height: int, seed: int, max_pieces: int = MAX_PIECES, limits: CutLimits | None = None
) -> tuple[Grid, tuple[str, ...]]:
    """Cut a grid into random polyominoes.

    From each cell that is still free, row by row, a piece grows breadth first to a random size of 2 to
    min(width, height) cells; a piece that cannot reach its size is dropped. Each remaining cell is added to the
    smallest neighbouring piece. With limits, pieces grow to a random size within the limits; a piece that still breaks
    a limit is joined to a neighbouring piece or, if that breaks a limit too, such a piece is taken apart and cut anew.

    Returns the empty grid with its pieces, and the filling that the cut gives. Raises InputError if the size of the
    grid or the number of pieces is out of range (87 names exist), or if no cut within the limits was found.
    """
    if min(width, height) < MIN_CELLS or width * height > MAX_CELLS:
        raise InputError(
            f"{width} x {height} cannot be cut; expected sides of {MIN_CELLS} or more, and {MAX_CELLS:,} cells at most"
        )
    if not 1 <= max_pieces <= len(_NAMES):
        raise InputError(f"{max_pieces} pieces; expected 1 to {len(_NAMES)}, the number of names")
    draws = PortableRandom(seed)
    cells = [(row, column) for row in range(height) for column in range(width)]
    pieces = _cut_freely(cells, min(width, height), max_pieces, draws) if limits is None else None
    for _ in range(ATTEMPTS):
        pieces = pieces or _cut_within(cells, max_pieces, limits or CutLimits(), draws)
    if pieces is None:
        raise InputError(
            f"no cut of {width} x {height} into at most {max_pieces} pieces within these limits was found; expected "
            "wider limits, more pieces or another seed"
        )
    named = dict(zip(_NAMES, pieces, strict=False))
    grid = Grid((FREE * width,) * height, {name: normal(piece) for name, piece in named.items()})
    return grid, grid.filled(named)


def _cut_freely(cells: Sequence[Cell], largest: int, max_pieces: int, draws: PortableRandom) -> list[list[Cell]]:
    """Return the pieces of a cut without limits: grown to ``largest`` cells at most, then extended by cells left."""
    free = dict.fromkeys(cells)
    pieces: list[list[Cell]] = []
    for cell in cells:
        if cell in free and len(pieces) < max_pieces:
            size = MIN_CELLS + draws.below(largest - MIN_CELLS + 1)
            piece = _grow(cell, size, free, draws)
            if len(piece) == size:
                pieces.append(piece)
                for covered in piece:
                    del free[covered]
    owner = {cell: number for number, piece in enumerate(pieces) for cell in piece}
    for cell in free:  # row by row, so the cell above or to the left belongs to a piece
        adjacent = {owner[other] for other in neighbours(cell) if other in owner}
        smallest = min(adjacent, key=lambda number: (len(pieces[number]), number))
        pieces[smallest].append(cell)
        owner[cell] = smallest
    return pieces


def _cut_within(
    cells: Sequence[Cell], max_pieces: int, limits: CutLimits, draws: PortableRandom
) -> list[list[Cell]] | None:
    """Return the pieces of a cut within ``limits``, sorted by first cell; None if no such cut was found."""
    free, pieces, used = dict.fromkeys(cells), dict[int, list[Cell]](), dict[Shape, int]()
    owner: dict[Cell, int] = {}

    def keep(number: int, piece: list[Cell]) -> None:
        pieces[number] = piece
        if limits.distinct:
            used[orientations(normal(piece))[0]] = number
        for cell in piece:
            free.pop(cell, None)
            owner[cell] = number

    least = max(limits.smallest, min(limits.largest, len(cells) // max_pieces))
    for number in range(REPAIRS * len(cells)):
        if not free:
            found = sorted(sorted(piece) for piece in pieces.values())
            return found if len(found) <= max_pieces else None
        waiting = sorted(free)
        for _ in range(GROWTHS):
            first = waiting[0] if draws.below(2) else waiting[draws.below(len(waiting))]
            piece = _grow(first, least + draws.below(limits.largest - least + 1), free, draws, limits)
            if limits.allow(piece, used):
                keep(number, piece)
                break
        if number in pieces:
            continue
        beside = sorted({owner[other] for cell in piece for other in neighbours(cell) if other in owner})
        draws.shuffle(beside)
        if not beside:
            return None
        host = next((other for other in beside if limits.allow(pieces[other] + piece, used)), None)
        taken = beside[0] if host is None else host
        used = {shape: other for shape, other in used.items() if other != taken}
        freed = pieces.pop(taken)
        if host is not None:
            keep(number, freed + piece)
            continue
        for cell in freed:
            free[cell] = None
            del owner[cell]
    return None


def _grow(
    first: Cell, size: int, free: dict[Cell, None], draws: PortableRandom, limits: CutLimits | None = None
) -> list[Cell]:
    """Return a piece of up to ``size`` free cells, grown from ``first`` at random, breadth first, within ``limits``."""
    waiting, piece = deque([first]), list[Cell]()
    while waiting and len(piece) < size:
        cell = waiting.popleft()
        if cell in free and cell not in piece and (limits is None or limits.may_grow_to([*piece, cell])):
            piece.append(cell)
            directions = list(neighbours(cell))
            draws.shuffle(directions)
            waiting.extend(directions)
    return piece


# -- levels of IQ Puzzler Pro ---------------------------------------------------------------------------------------


@cache
def levels() -> dict[str, Grid]:
    """Return the shipped levels by name, tier by tier: 'easy-1' and so on."""
    directory = files("lns.exact.polyominoes") / "levels"
    found: dict[str, Grid] = {}
    for tier in TIERS:
        texts = sorted((directory / tier).iterdir(), key=lambda file: file.name)
        found |= {f"{tier}-{number}": parse(file.read_text()) for number, file in enumerate(texts, 1)}
    return found


def find_level(name: str) -> Grid:
    """Return a shipped level by name. Raises InputError if there is none."""
    found = levels()
    if name not in found:
        raise InputError(
            f"there is no level '{name}'; expected {', '.join(TIERS)}, with -1 to -{len(found) // len(TIERS)}"
        )
    return found[name]


def random_level(placed: int, seed: int) -> Grid:
    """Return the game with ``placed`` random pieces on it, which can be completed in at least one way."""
    game, draws = parse(IQ_PUZZLER_PRO), PortableRandom(seed)
    filling = _random_filling(game, draws)
    names = list(game.pieces)
    draws.shuffle(names)
    return _without(game, filling, names[placed:])


def make_level(loose: int, seed: int) -> Grid:
    """Return the game with all but ``loose`` pieces on it, which can be completed in exactly one way.

    Raises InputError unless ``loose`` is 1 to 11.
    """
    game, draws = parse(IQ_PUZZLER_PRO), PortableRandom(seed)
    names = list(game.pieces)
    if not 1 <= loose < len(names):
        raise InputError(f"a level with {loose} pieces to place; expected 1 to {len(names) - 1}")
    while True:
        filling = _random_filling(game, draws)
        draws.shuffle(names)
        for chosen in combinations(names, loose):
            level = _without(game, filling, chosen)
            if fill(level, count_all=True, nodes=_COUNT_NODES).solutions == 1:
                return level
            if draws.below(10) == 0:
                break  # go on with another random filling


def _random_filling(game: Grid, draws: PortableRandom) -> tuple[str, ...]:
    """Return a filling of the game that contains a random placement, drawn from all placements of all pieces."""
    model = build_model(game)
    while True:
        option = draws.below(model.options)
        *cells, kind = model.item[model.begin[option] : model.begin[option + 1]].tolist()
        [name] = model.names[kind - model.cells]
        started = Grid(game.filled({name: [game.free[cell] for cell in cells]}), game.pieces)
        found = fill(started, nodes=_COMPLETION_NODES).filling
        if found is not None:
            return found


def _without(game: Grid, filling: tuple[str, ...], taken: Collection[str]) -> Grid:
    """Return a filling as a grid from which the pieces ``taken`` have been removed."""
    kept = {BLOCKED, *game.pieces} - set(taken)
    return Grid(tuple("".join(sign if sign in kept else FREE for sign in row) for row in filling), game.pieces)
