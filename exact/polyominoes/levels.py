"""Levels of IQ Puzzler Pro: the game with some pieces placed, to be completed by the others.

The shipped levels were made by `make_level`; they are not those of the game. Each has one filling. A tier is the number
of pieces that are left to place.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import combinations

from lns.exact.polyominoes.grid import BLOCKED, FREE, IQ_PUZZLER_PRO, Grid, parse
from lns.exact.polyominoes.model import build_model
from lns.exact.polyominoes.search import fill
from lns.instances.errors import InputError
from lns.instances.generate.planted import PortableRandom

TIERS = {"easy": 4, "medium": 6, "hard": 8, "expert": 9}
"""Pieces to place by tier."""

_COMPLETION_NODES = 100_000
_COUNT_NODES = 3_000_000


@cache
def levels() -> dict[str, Grid]:
    """The shipped levels by name, tier by tier: 'easy-1' and so on."""
    directory = files("lns.exact.polyominoes") / "levels"
    found: dict[str, Grid] = {}
    for tier in TIERS:
        texts = sorted((directory / tier).iterdir(), key=lambda file: file.name)
        found |= {f"{tier}-{number}": parse(file.read_text()) for number, file in enumerate(texts, 1)}
    return found


def find_level(name: str) -> Grid:
    """A shipped level by name. Raises InputError if there is none."""
    found = levels()
    if name not in found:
        raise InputError(
            f"there is no level '{name}'; expected {', '.join(TIERS)}, with -1 to -{len(found) // len(TIERS)}"
        )
    return found[name]


def random_level(placed: int, seed: int) -> Grid:
    """The game with ``placed`` pieces on it, drawn at random, that can be completed in one way or several."""
    game, draws = parse(IQ_PUZZLER_PRO), PortableRandom(seed)
    filling = _random_filling(game, draws)
    names = list(game.pieces)
    draws.shuffle(names)
    return _without(game, filling, names[placed:])


def make_level(loose: int, seed: int) -> Grid:
    """The game with all but ``loose`` pieces on it, that can be completed in exactly one way.

    Parameters
    ----------
    loose : int
        Pieces to place, 1 to 11.
    seed : int

    Returns
    -------
    Grid

    Raises
    ------
    InputError
        If the number of pieces is out of range.
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
                break  # another filling


def _random_filling(game: Grid, draws: PortableRandom) -> tuple[str, ...]:
    """A filling around a random placement of a random piece."""
    model = build_model(game)
    while True:
        option = draws.below(model.options)
        *cells, kind = model.item[model.begin[option] : model.begin[option + 1]].tolist()
        [name] = model.names[kind - model.cells]
        started = Grid(game.filled({name: [game.free[cell] for cell in cells]}), game.pieces)
        found = fill(started, nodes=_COMPLETION_NODES).filling
        if found is not None:
            return found


def _without(game: Grid, filling: tuple[str, ...], taken: list[str] | tuple[str, ...]) -> Grid:
    """A filling from which some pieces are taken."""
    kept = {BLOCKED, *game.pieces} - set(taken)
    return Grid(tuple("".join(sign if sign in kept else FREE for sign in row) for row in filling), game.pieces)
